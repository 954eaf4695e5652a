/* barrier.c - barriers, and messages through the headers' buffers.
 *
 * Barriers work as in NCCL: each rank writes the epoch into its slot at every peer, and waits until
 * all of its own slots have it. Epochs wrap; a slot is at most one ahead. Buffers alternate: a
 * buffer is reused only after the barrier that follows its last read. */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/clock.h"
#include "comm/message/far.h"
#include "comm/window/grow.h"
#include "comm/header.h"
#include "comm/message/near.h"
#include "comm/wait.h"
#include "comm/window/window.h"

static uint64_t arrival_of(const Comm *comm, int32_t rank) {
  return atomic_load_explicit(&comm->own->slots[rank - comm->team_first].arrival,
                              memory_order_acquire);
}

static bool has_arrived(const Comm *comm, int32_t rank) {
  return (int32_t)((uint32_t)(arrival_of(comm, rank) >> 32) - comm->epoch) >= 0;
}

static bool fail_on_all(Comm *comm, const Error *why, Error *err) {
  comm_abort(comm, why->message);
  if (err) error_add(err, why);
  return true;
}

/* Fails on all ranks, as `rank` makes another call than this one. */
static bool report_mismatch(Comm *comm, CommCall call, int32_t rank, CommCall theirs, Error *err) {
  Error why = {0};
  error_set(&why, RG_ERROR_RANK,
            "ranks do not make the same calls: call %llu of rank %d is '%s', of rank %d '%s'",
            (unsigned long long)comm->number, comm->rank, call_words[call], rank,
            call_words[theirs]);
  return !fail_on_all(comm, &why, err);
}

/* Has the rank arrived for this call? A rank that is one barrier ahead has already checked that. */
static bool arrived_for_call(Comm *comm, CommCall call, int32_t rank, Error *err) {
  uint64_t arrival = arrival_of(comm, rank);
  return (uint32_t)(arrival >> 32) != comm->epoch || (uint32_t)arrival == (uint32_t)call ||
         report_mismatch(comm, call, rank, (CommCall)(uint32_t)arrival, err);
}

/* Are all ranks that have begun this call, but not arrived, making the same one? */
static bool is_same_call(Comm *comm, CommCall call, Error *err) {
  for (int32_t k = comm->team_first; k < comm->team_first + comm->team_size; k++) {
    uint64_t theirs = atomic_load_explicit(&comm_header(comm, k)->call, memory_order_relaxed);
    if (theirs / CALL_COUNT != comm->number || theirs % CALL_COUNT == (uint64_t)call) continue;
    return report_mismatch(comm, call, k, (CommCall)(theirs % CALL_COUNT), err);
  }
  return true;
}

/* Has the rank left, without arriving first? */
static bool has_left(const Comm *comm, int32_t rank) {
  return atomic_load_explicit(&comm_header(comm, rank)->has_left, memory_order_acquire) &&
         !has_arrived(comm, rank);
}

static bool cannot_complete(Comm *comm, CommCall call, int32_t rank, int64_t began, Error *err) {
  Error why = {0};
  if (!comm->boot->table->check(comm->boot, &why)) {
    comm->is_lost = true;
    comm->lost = why;
    if (err) error_add(err, &why);
    return true;
  }
  if (!is_same_call(comm, call, err)) return true;
  if (has_left(comm, rank)) {
    error_set(&why, RG_ERROR_RANK, "rank %d ended, while others wait in '%s'", rank,
              call_words[call]);
    return fail_on_all(comm, &why, err);
  }
  if (clock_ns() - began < comm->patience_ns) return false;
  error_set(&why, RG_ERROR_RANK, "rank %d did not reach '%s' within %.3g s", rank, call_words[call],
            (double)comm->patience_ns * 1e-9);
  return fail_on_all(comm, &why, err);
}

static bool await_rank(Comm *comm, CommCall call, int32_t rank, Error *err) {
  Wait wait = {0};
  while (!has_arrived(comm, rank))
    if (wait_is_due(&wait) && cannot_complete(comm, call, rank, wait.began_ns, err)) return false;
  return arrived_for_call(comm, call, rank, err);
}

bool comm_team_barrier(Comm *comm, CommCall call, Error *err) {
  comm->epoch++;
  atomic_thread_fence(memory_order_release);
  for (int32_t k = 0; k < comm->team_size; k++)
    atomic_store_explicit(
        &comm_header(comm, comm->team_first + k)->slots[comm->rank - comm->team_first].arrival,
        (uint64_t)comm->epoch << 32 | (uint64_t)call, memory_order_release);
  for (int32_t k = 0; k < comm->team_size; k++)
    if (!await_rank(comm, call, comm->team_first + k, err)) return false;
  atomic_thread_fence(memory_order_seq_cst);
  return true;
}

static bool begin_call(Comm *comm, CommCall call, Error *err) {
  if (comm->is_lost) {
    if (err) error_add(err, &comm->lost);
    return false;
  }
  comm_begin(comm, call);
  return true;
}

static bool barrier_all(Comm *comm, Error *err) {
  if (!comm_is_one_team(comm)) {
    CallOptions call = {.call = CALL_BARRIER};
    return comm_call(comm, &call, NULL, err);
  }
  return begin_call(comm, CALL_BARRIER, err) && comm_team_barrier(comm, CALL_BARRIER, err);
}

/* A barrier that finds whether any rank has pieces to pass on. A rank overwrites its number of them
 * only after the barrier that follows the last read of it. */
static bool barrier_team(Comm *comm, bool *any_pending, Error *err) {
  int slot = (int)(comm->growth_rounds++ & 1);
  comm->own->pending[slot] = windows_pending_pieces(comm);
  if (!begin_call(comm, CALL_BARRIER, err) || !comm_team_barrier(comm, CALL_BARRIER, err))
    return false;
  for (int32_t k = 0; k < comm->size; k++) *any_pending |= comm_header(comm, k)->pending[slot] > 0;
  return true;
}

static bool barrier_teams(Comm *comm, bool *any_pending, Error *err) {
  uint64_t left = windows_pending_pieces(comm), theirs;
  uint8_t *all = heap_alloc(comm->heap, (size_t)comm->size * CALL_BYTES);
  if (!all) comm_abort(comm, "the host has no memory left");
  CallOptions call = {.call = CALL_BARRIER, .mine = &left, .mine_bytes = sizeof left};
  bool ok = comm_call(comm, &call, all, err);
  for (int32_t k = 0; ok && k < comm->size; k++) {
    memcpy(&theirs, all + (size_t)k * CALL_BYTES, sizeof theirs);
    *any_pending |= theirs > 0;
  }
  heap_free(comm->heap, all);
  return ok;
}

static bool barrier_growing(Comm *comm, Error *err) {
  bool any_pending = false;
  bool ok = comm_is_one_team(comm) ? barrier_team(comm, &any_pending, err)
                                   : barrier_teams(comm, &any_pending, err);
  return ok && (!any_pending || windows_grow(comm, err));
}

bool comm_barrier(Comm *comm, Error *err) {
  bool grows = windows_can_grow(comm);
  if (windows_have_tables(comm)) {
    if (!barrier_all(comm, err)) return false;
    windows_publish(comm);
  }
  return grows ? barrier_growing(comm, err) : barrier_all(comm, err);
}

/* -- messages ---------------------------------------------------------------------------------- */

bool comm_pass(Comm *comm, CommCall call, uint64_t about, Error *err) {
  comm->own->about[comm->buffer_uses & 1] = about;
  if (!comm_team_barrier(comm, call, err)) return false;
  uint64_t first = comm_header(comm, 0)->about[comm->buffer_uses & 1];
  for (int32_t k = 1; k < comm->size; k++) {
    if (comm_header(comm, k)->about[comm->buffer_uses & 1] == first) continue;
    return error_set(err, RG_ERROR_RANK,
                     "the numbers of '%s' differ between rank %d and rank 0 in their type or count",
                     call_words[call], k);
  }
  return true;
}

bool comm_pass_begin(Comm *comm, CommCall call, Error *err) {
  comm->buffer_uses++;
  return begin_call(comm, call, err);
}

bool comm_gather_part(Comm *comm, const CallOptions *call, const void *bytes, uint64_t size_bytes,
                      uint8_t **all, Error *err) {
  Error why = {0};
  *all = heap_alloc(comm->heap, (size_t)comm->size * size_bytes);
  if (!*all) comm_abort(comm, "the host has no memory left");
  bool ok = comm_call(comm, call, NULL, err);
  if (ok && !comm->boot->table->gather(comm->boot, bytes, size_bytes, *all, &why))
    ok = comm_fail(comm, &why, err);
  if (!ok) heap_free(comm->heap, *all);
  return ok;
}

/* -- broadcast --------------------------------------------------------------------------------- */

static bool broadcast_near(Comm *comm, int32_t root, uint8_t *bytes, uint64_t size_bytes,
                           Error *err) {
  if (!comm_pass_begin(comm, CALL_BROADCAST, err)) return false;
  if (comm->rank == root) memcpy(comm_buffer(comm, root), bytes, size_bytes);
  if (!comm_pass(comm, CALL_BROADCAST, size_bytes << 9 | (uint64_t)root, err)) return false;
  if (comm->rank != root) memcpy(bytes, comm_buffer(comm, root), size_bytes);
  return true;
}

static bool broadcast_far(Comm *comm, int32_t root, uint8_t *bytes, uint64_t size_bytes,
                          Error *err) {
  uint8_t *all;
  Error why = {0};
  CallOptions call = {.call = CALL_BROADCAST, .size_bytes = size_bytes, .declared = (uint64_t)root};
  if (comm->boot->table->broadcast)
    return comm_call(comm, &call, NULL, err) &&
           (comm->boot->table->broadcast(comm->boot, root, bytes, size_bytes, &why) ||
            comm_fail(comm, &why, err));
  if (!comm_gather_part(comm, &call, bytes, size_bytes, &all, err)) return false;
  memcpy(bytes, all + (uint64_t)root * size_bytes, size_bytes);
  heap_free(comm->heap, all);
  return true;
}

bool comm_broadcast(Comm *comm, int32_t root, void *bytes, uint64_t size_bytes, Error *err) {
  if (root < 0 || root >= comm->size)
    return error_set(err, RG_ERROR_ARGUMENT, "there is no rank %d: ranks are 0 to %d", root,
                     comm->size - 1);
  uint64_t at = 0;
  do { /* an empty broadcast is a call, too */
    uint64_t part = comm_part(size_bytes - at);
    uint8_t *from = (uint8_t *)bytes + at;
    bool is_near = comm_is_one_team(comm);
    if (!(is_near ? broadcast_near : broadcast_far)(comm, root, from, part, err)) return false;
    at += part;
  } while (at < size_bytes);
  return true;
}

/* -- parcels ----------------------------------------------------------------------------------- */

void comm_parcel_differs(char *text, size_t text_bytes, int32_t rank, const Parcel *expected,
                         uint64_t size_bytes) {
  snprintf(text, text_bytes, "rank %d awaits a parcel of %llu bytes from rank %d, which sends %llu",
           rank, (unsigned long long)expected->size_bytes, expected->rank,
           (unsigned long long)size_bytes);
}

static bool are_ranks(const Comm *comm, const Parcel *parcels, int32_t count, Error *err) {
  for (int32_t k = 0; k < count; k++)
    if (parcels[k].rank < 0 || parcels[k].rank >= comm->size)
      return error_set(err, RG_ERROR_ARGUMENT, "there is no rank %d: ranks are 0 to %d",
                       parcels[k].rank, comm->size - 1);
  return true;
}

bool comm_trade(Comm *comm, const Parcel *out, int32_t out_count, const Parcel *in,
                int32_t in_count, Error *err) {
  Error why = {0};
  if (!are_ranks(comm, out, out_count, err) || !are_ranks(comm, in, in_count, err)) return false;
  if (comm_is_one_team(comm)) {
    bool is_done, ok = near_trade(comm, out, out_count, in, in_count, &is_done, err);
    if (!ok || is_done) return ok;
  }
  if (!comm->boot->table->trade) return far_trade(comm, out, out_count, in, in_count, err);
  if (!begin_call(comm, CALL_TRADE, err)) return false;
  if (!comm->boot->table->trade(comm->boot, out, out_count, in, in_count, &why))
    return comm_fail(comm, &why, err);
  return comm->team_size == 1 || comm_team_barrier(comm, CALL_TRADE, err);
}
