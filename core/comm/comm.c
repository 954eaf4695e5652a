/* comm.c - begins and ends communication; collective calls through the boot. */
#include "comm/comm.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bits.h"
#include "comm/window/gpu.h"
#include "comm/header.h"
#include "comm/message/nccl.h"
#include "comm/window/share.h"
#include "comm/window/window.h"

#define STRIDE_ROUND ((uint64_t)4 << 30)
/* A window of a sparse tree takes as many addresses as the budget has bytes, and many should fit.
 * Sanitizers leave few addresses to a process. */
#if defined(RG_DEBUG)
#define MAX_STRIDE ((uint64_t)256 << 30)
#else
#define MAX_STRIDE ((uint64_t)4 << 40)
#endif
#define MIN_STRIDE ((uint64_t)256 << 30)
#define STRIDES ((uint64_t)32 << 40) /* for all ranks: a quarter of a process's addresses */

static uint64_t default_stride(int32_t ranks) {
  uint64_t stride = STRIDES / (uint64_t)ranks;
  return stride > MAX_STRIDE ? MAX_STRIDE : stride < MIN_STRIDE ? MIN_STRIDE : stride;
}

const char *const call_words[CALL_COUNT] = {[CALL_NONE] = "nothing",
#define CALL(NAME, WORD) [CALL_##NAME] = WORD,
                                            CALLS(CALL)
#undef CALL
};

/* -- calls ------------------------------------------------------------------------------------- */

enum { MAX_DROPS = 8 };

typedef struct Record { /* what each rank contributes to a call */
  uint64_t call;        /* number * CALL_COUNT + which call */
  uint64_t size_bytes, declared;
  uint64_t dropped[MAX_DROPS]; /* numbers of dropped windows; 0: none */
  int32_t failed_code;
  char failed[188];
  uint8_t mine[CALL_BYTES];
} Record;

void comm_begin(Comm *comm, CommCall call) {
  comm->number++;
  comm->boot->doing = comm->number * CALL_COUNT + (uint64_t)call;
  if (comm->own) atomic_store_explicit(&comm->own->call, comm->boot->doing, memory_order_relaxed);
}

static bool mark_lost(Comm *comm, const Error *err) {
  if (!comm->is_lost) comm->lost = *err;
  comm->is_lost = true;
  comm->lost.more = NULL;
  return false;
}

bool comm_fail(Comm *comm, const Error *why, Error *err) {
  if (err) error_add(err, why);
  return mark_lost(comm, why);
}

static bool report_loss(const Comm *comm, Error *err) {
  if (err) error_add(err, &comm->lost);
  return false;
}

void comm_abort(Comm *comm, const char *why) {
  Error err = {0};
  if (!comm->is_lost) comm->boot->table->abort(comm->boot, why);
  error_set(&err, RG_ERROR_RANK, "%s", why);
  mark_lost(comm, &err);
}

static void fill_record(Comm *comm, const CallOptions *options, Record *record) {
  *record = (Record){.call = comm->number * CALL_COUNT + (uint64_t)options->call,
                     .size_bytes = options->size_bytes,
                     .declared = options->declared};
  int dropped = 0;
  for (Window *window = comm->windows; window && dropped < MAX_DROPS; window = window->next) {
    if (!window->is_dropped || window->is_announced) continue;
    window->is_announced = true;
    record->dropped[dropped++] = window->number;
  }
  if (options->mine_bytes) memcpy(record->mine, options->mine, options->mine_bytes);
  if (!options->failed || !error_is_set(options->failed)) return;
  record->failed_code = (int32_t)options->failed->code;
  snprintf(record->failed, sizeof record->failed, "%.*s", (int)sizeof record->failed - 1,
           options->failed->message);
}

static const char *word_of(uint64_t call) { return call_words[call % CALL_COUNT]; }

/* Compares records with rank 0's, so that all ranks find the same difference. */
static bool compare_records(Comm *comm, const Record *records, Error *err) {
  const Record *first = &records[0];
  for (int32_t k = 1; k < comm->size; k++) {
    const Record *other = &records[k];
    if (other->call == first->call) continue;
    error_set(err, RG_ERROR_RANK,
              "ranks do not make the same calls: call %llu of rank 0 is '%s', call %llu of rank %d "
              "is '%s'",
              (unsigned long long)(first->call / CALL_COUNT), word_of(first->call),
              (unsigned long long)(other->call / CALL_COUNT), k, word_of(other->call));
    return mark_lost(comm, err);
  }
  for (int32_t k = 0; k < comm->size; k++)
    if (records[k].failed_code)
      return error_set(err, (ErrorCode)records[k].failed_code, "%s%.*s",
                       k == comm->rank ? "" : "on another rank: ", (int)sizeof records[k].failed,
                       records[k].failed);
  for (int32_t k = 1; k < comm->size; k++) {
    if (records[k].size_bytes != first->size_bytes)
      return error_set(err, RG_ERROR_RANK, "'%s' has %llu bytes on rank 0, but %llu on rank %d",
                       word_of(first->call), (unsigned long long)first->size_bytes,
                       (unsigned long long)records[k].size_bytes, k);
    if (records[k].declared != first->declared)
      return error_set(err, RG_ERROR_RANK,
                       "the argument of '%s' is declared differently on rank "
                       "%d than on rank 0",
                       word_of(first->call), k);
  }
  return true;
}

static void record_drops(Comm *comm, const Record *records) {
  for (int32_t k = 0; k < comm->size; k++)
    for (int j = 0; j < MAX_DROPS; j++)
      if (records[k].dropped[j]) window_dropped(comm, records[k].dropped[j]);
}

/* Do all ranks agree, with nothing else to exchange? The maximum of each word, and of its
 * complement (which gives the minimum), answers that at a low cost even for many ranks. */
static bool all_agree(Comm *comm, const Record *mine, bool wants_all, bool *agrees, Error *err) {
  enum { WORDS = 4 };
  uint64_t more = (uint64_t)(wants_all || mine->failed_code || mine->dropped[0]);
  uint64_t words[2 * WORDS] = {mine->call, mine->size_bytes, mine->declared, more};
  *agrees = false;
  if (!comm->boot->table->maximum) return true;
  for (int k = 0; k < WORDS; k++) words[WORDS + k] = ~words[k];
  if (!comm->boot->table->maximum(comm->boot, words, 2 * WORDS, err)) return false;
  *agrees = !words[3];
  for (int k = 0; k < WORDS; k++) *agrees &= words[k] == ~words[WORDS + k];
  return true;
}

bool comm_call(Comm *comm, const CallOptions *options, uint8_t *all, Error *err) {
  if (comm->is_lost) return report_loss(comm, err);
  comm_begin(comm, options->call);
  Record mine;
  Error why = {0};
  bool agrees;
  fill_record(comm, options, &mine);
  if (!all_agree(comm, &mine, all, &agrees, &why)) return comm_fail(comm, &why, err);
  if (agrees) return true;
  Record *records = heap_alloc(comm->heap, (size_t)comm->size * sizeof *records);
  if (!records) {
    comm_abort(comm, "the host has no memory left");
    return report_loss(comm, err);
  }
  bool ok = comm->boot->table->gather(comm->boot, &mine, sizeof mine, records, &why);
  if (!ok) mark_lost(comm, &why);
  if (ok) record_drops(comm, records);
  ok = ok && compare_records(comm, records, &why);
  for (int32_t k = 0; ok && all && k < comm->size; k++)
    memcpy(all + (size_t)k * CALL_BYTES, records[k].mine, CALL_BYTES);
  heap_free(comm->heap, records);
  if (!ok && err) error_add(err, &why);
  return ok;
}

bool comm_gather(Comm *comm, const void *mine, uint64_t size_bytes, void *all, Error *err) {
  CallOptions call = {.call = CALL_GATHER, .size_bytes = size_bytes};
  if (!comm_call(comm, &call, NULL, err)) return false;
  Error why = {0};
  if (comm->boot->table->gather(comm->boot, mine, size_bytes, all, &why)) return true;
  /* ARGUMENT: too many bytes */
  if (why.code != RG_ERROR_ARGUMENT) return comm_fail(comm, &why, err);
  if (err) error_add(err, &why);
  return false;
}

/* -- teams ------------------------------------------------------------------------------------- */

static uint64_t gcd(uint64_t a, uint64_t b) { return b ? gcd(b, a % b) : a; }

int32_t comm_team_size(const uint64_t *hosts, int32_t count, int32_t max_size) {
  uint64_t size = max_size > 0 ? (uint64_t)max_size : 0, run = 0;
  for (int32_t k = 0; k < count; k++) {
    run++;
    if (k + 1 < count && hosts[k + 1] == hosts[k]) continue;
    size = gcd(size, run);
    run = 0;
  }
  for (uint64_t parts = 1; size; parts++)
    if (size % parts == 0 && size / parts <= COMM_MAX_TEAM) return (int32_t)(size / parts);
  return 1;
}

static bool find_team(Comm *comm, Error *err) {
  uint64_t host = share_host(), *hosts = heap_alloc(comm->heap, (size_t)comm->size * CALL_BYTES);
  if (!hosts) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left");
  const char *max_size = getenv("RG_LSA_SIZE");
  CallOptions call = {
      .call = CALL_GATHER, .declared = comm->stride, .mine = &host, .mine_bytes = sizeof host};
  bool ok = comm_call(comm, &call, (uint8_t *)hosts, err);
  for (int32_t k = 0; ok && k < comm->size; k++)
    hosts[k] = hosts[(size_t)k * CALL_BYTES / sizeof *hosts];
  if (ok) {
    comm->team_size = comm_team_size(hosts, comm->size, max_size ? atoi(max_size) : 0);
    comm->team_first = comm->rank / comm->team_size * comm->team_size;
  }
  heap_free(comm->heap, hosts);
  return ok;
}

/* -- begin and end ----------------------------------------------------------------------------- */

/* The header is in the first window, which precedes all others. */
static bool share_header(Comm *comm, Error *err) {
  uint64_t size = align_up(sizeof(Header), ARENA_LARGE_PAGE);
  comm->range.base = NULL;
  Error why = {0};
  bool ok = share_reserve(&comm->range, (uint64_t)comm->team_size * comm->stride, &why);
  CallOptions call = {.call = CALL_WINDOW, .size_bytes = size, .failed = &why};
  if (!comm_call(comm, &call, NULL, err)) return false;
  ok = ok && window_open_header(comm, size, err);
  if (ok) comm->own = comm_header(comm, comm->rank);
  return ok;
}

/* This process's Comm while it is a rank: at its exit, the process notifies the others, so that
 * they do not wait. If it is killed and cannot, the boot detects that. */
static struct {
  _Atomic(Comm *) comm;
  pid_t process;
} registered;

static void notify_exit(void) {
  Comm *comm = atomic_exchange(&registered.comm, NULL);
  if (!comm || getpid() != registered.process) return;
  atomic_store_explicit(&comm->own->has_left, 1, memory_order_release);
  if (comm->boot->table->leave) comm->boot->table->leave(comm->boot);
}

static void register_rank(Comm *comm) {
  static atomic_bool is_registered;
  registered.process = getpid();
  atomic_store(&registered.comm, comm);
  if (!atomic_exchange(&is_registered, true)) atexit(notify_exit);
}

Comm *comm_open(Heap *heap, Boot *boot, uint64_t stride, Error *err) {
  Comm *comm = heap_alloc(heap, sizeof *comm);
  if (!comm) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left");
    boot->table->close(boot);
    return NULL;
  }
  *comm = (Comm){.heap = heap,
                 .boot = boot,
                 .rank = boot->rank,
                 .size = boot->size,
                 .file_socket = -1,
                 .outbox = -1,
                 .stride = align_up(stride ? stride : default_stride(boot->size), STRIDE_ROUND),
                 .patience_ns = boot_patience_ms() * 1000000};
  space_init(&comm->space, heap, comm->stride);
  if (find_team(comm, err) && share_header(comm, err)) {
    if (comm->size > 1) register_rank(comm);
    return comm;
  }
  comm_close(comm);
  return NULL;
}

void comm_close(Comm *comm) {
  if (!comm) return;
  comm->is_closing = true;
  nccl_close(comm);
  if (comm->own && comm->size > 1) notify_exit();
  windows_close(comm);
  comm_gpu_close(comm);
  if (comm->outbox >= 0) close(comm->outbox);
  if (comm->file_socket >= 0) close(comm->file_socket);
  share_release(&comm->range, (uint64_t)comm->team_size * comm->stride);
  space_deinit(&comm->space);
  comm->boot->table->close(comm->boot);
  heap_free(comm->heap, comm);
}
