/* grow.c - see grow.h. Windows that all ranks have dropped may be freed during a round, so each
 * round looks them up by number. Decision D-comm-06. */
#include "comm/window/grow.h"

#include <string.h>
#include <unistd.h>

#include "comm/window/pass_files.h"
#include "comm/window/gpu.h"
#include "comm/header.h"

/* What a rank announces about the piece that it passes on; size_bytes 0: none left. */
typedef struct PassedPiece {
  Sender sender;
  uint64_t window, size_bytes;
  int32_t number;
} PassedPiece;
_Static_assert(sizeof(PassedPiece) <= CALL_BYTES, "it comes with the call");

Growth *growth_create(Comm *comm) {
  return heap_alloc(comm->heap, sizeof(Growth) + (size_t)comm->team_size * sizeof(int32_t));
}

bool windows_can_grow(const Comm *comm) {
  for (const Shared *shared = comm->shared; shared; shared = shared->next)
    if (shared->growth) return true;
  return false;
}

/* The number of pieces; 0 if the memory was freed under its window. */
static int32_t pieces_of(const Comm *comm, const Shared *shared) {
  if (!shared->here || !comm->gpu->base) return 0;
  return comm->gpu->table->pieces(comm->gpu->data, (uint64_t)(uintptr_t)shared->here,
                                  shared->serial);
}

uint64_t windows_pending_pieces(const Comm *comm) {
  uint64_t left = 0;
  for (const Shared *shared = comm->shared; shared; shared = shared->next) {
    int32_t pieces = shared->growth ? pieces_of(comm, shared) : 0;
    if (shared->growth && pieces > shared->growth->passed)
      left += (uint64_t)(pieces - shared->growth->passed);
  }
  return left;
}

static Shared *find_number(const Comm *comm, uint64_t number) {
  Shared *shared = comm->shared;
  while (shared && (shared->number != number || !shared->growth)) shared = shared->next;
  return shared;
}

/* Chooses the first piece that is left; `before` was just passed on, but other ranks may not have
 * it yet. */
static int choose_piece(const Comm *comm, const PassedPiece *before, PassedPiece *next,
                        Error *err) {
  *next = (PassedPiece){0};
  for (const Shared *shared = comm->shared; shared; shared = shared->next) {
    if (!shared->growth) continue;
    bool is_next = before->size_bytes && before->window == shared->number;
    int32_t number = shared->growth->passed + is_next;
    SymmetricHeapPart piece = {.file = -1};
    if (number >= pieces_of(comm, shared)) continue;
    if (!comm->gpu->table->piece(comm->gpu->data, (uint64_t)(uintptr_t)shared->here, number, &piece,
                                 err))
      return -1;
    next->window = shared->number;
    next->number = number;
    next->size_bytes = piece.size_bytes;
    return piece.file;
  }
  return -1;
}

static PassedPiece passed_by(const uint8_t *all, int32_t rank) {
  PassedPiece passed;
  memcpy(&passed, all + (size_t)rank * CALL_BYTES, sizeof passed);
  return passed;
}

static bool any_passed(const Comm *comm, const uint8_t *all) {
  for (int32_t k = 0; k < comm->size; k++)
    if (passed_by(all, k).size_bytes) return true;
  return false;
}

/* Maps a piece, unless it was already mapped in a round that failed on another rank. */
static bool map_piece(Comm *comm, int32_t rank, const PassedPiece *passed, int file, Error *err) {
  Shared *shared = find_number(comm, passed->window);
  int32_t *held = shared ? &shared->growth->held[rank - comm->team_first] : NULL;
  if (!held || passed->number < *held) return true;
  uint64_t address = (uint64_t)(uintptr_t)shared_place(comm, shared, rank);
  if (!comm->gpu->table->extend(comm->gpu->data, address, passed->size_bytes, file, err))
    return false;
  ++*held;
  return true;
}

static bool map_pieces(Comm *comm, int file, const uint8_t *all, int *files, Error *err) {
  bool ok = pass_files(comm, file, all, files, err);
  for (int32_t k = 0; k < comm->team_size; k++) {
    int32_t rank = comm->team_first + k;
    PassedPiece passed = passed_by(all, rank);
    if (passed.size_bytes)
      ok = ok && map_piece(comm, rank, &passed, rank == comm->rank ? file : files[k], err);
    if (files[k] >= 0) close(files[k]);
  }
  return ok;
}

static void record_passed(const Comm *comm, const PassedPiece *passed) {
  Shared *shared = passed->size_bytes ? find_number(comm, passed->window) : NULL;
  if (shared) shared->growth->passed = passed->number + 1;
}

/* Runs one round, which also reports the previous round's failure. `all` and `files` are buffers
 * for what others pass. */
static bool run_round(Comm *comm, PassedPiece *mine, Error *failed, uint8_t *all, int *files,
                      bool *is_done, Error *err) {
  PassedPiece next = {0};
  int file = error_is_set(failed) ? -1 : choose_piece(comm, mine, &next, failed);
  pass_files_sender(comm, file, &next.sender, failed);
  CallOptions call = {
      .call = CALL_WINDOW, .mine = &next, .mine_bytes = sizeof next, .failed = failed};
  bool ok = comm_call(comm, &call, all, err);
  if (ok) record_passed(comm, mine);
  *is_done = !ok || !any_passed(comm, all);
  if (!*is_done) map_pieces(comm, file, all, files, failed);
  if (file >= 0) close(file);
  *mine = next;
  return ok;
}

bool windows_grow(Comm *comm, Error *err) {
  uint8_t *all = heap_alloc(comm->heap, (size_t)comm->size * CALL_BYTES);
  int *files = heap_alloc(comm->heap, (size_t)comm->team_size * sizeof *files);
  PassedPiece mine = {0};
  Error failed = {0};
  bool is_done = !all || !files, ok = true;
  if (is_done) {
    comm_abort(comm, "the host has no memory left for a window");
    ok = comm_fail(comm, &comm->lost, err);
  }
  while (!is_done) ok = run_round(comm, &mine, &failed, all, files, &is_done, err);
  heap_free(comm->heap, files);
  heap_free(comm->heap, all);
  return ok;
}
