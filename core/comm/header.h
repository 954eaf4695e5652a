/* header.h - the beginning of each rank's shared memory: its current call, slots in which the
 * others announce that they have arrived at a barrier, and a buffer for messages. Private to this
 * room. */
#ifndef RG_COMM_HEADER_H
#define RG_COMM_HEADER_H

#include <stdatomic.h>

#include "comm/comm.h"
#include "comm/boot/rendezvous.h"

/* The collective calls. */
// clang-format off
#define CALLS(CALL)                                                                          \
  CALL(GATHER, "gather") CALL(BARRIER, "barrier") CALL(BROADCAST, "broadcast")                 \
  CALL(REDUCE, "all_reduce") CALL(TRADE, "trade") CALL(WINDOW, "window")                          \
  CALL(FREE, "window free") CALL(NCCL, "all_reduce or broadcast by NCCL")
typedef enum CommCall {
  CALL_NONE,
#define CALL(NAME, WORD) CALL_##NAME,
  CALLS(CALL)
#undef CALL
  CALL_COUNT
} CommCall;
// clang-format on
extern const char *const call_words[CALL_COUNT];

/* A rank's arrival: epoch * 2^32 + its call. */
typedef struct Slot {
  _Atomic uint64_t arrival;
  char padding[56];
} Slot;

enum { HEADER_BUFFER = 256 << 10 }; /* a multiple of 8 */

struct Header {
  _Atomic uint64_t call;     /* number of its current call * CALL_COUNT + which call */
  _Atomic uint64_t has_left; /* it will not take part in another call */
  char padding[48];
  Slot slots[COMM_MAX_TEAM]; /* slot k is written by the team's rank k */
  uint64_t about[2];         /* alternating: a number that must be the same on all ranks */
  uint64_t pending[2];       /* by barrier: windows_pending_pieces */
  /* alternating: a buffer is reused only after the barrier that follows its last read */
  uint8_t buffer[2][HEADER_BUFFER];
};

/* Begins a collective call: every rank announces the call, a number that must be equal on all
 * (`declared`), and up to CALL_BYTES in `mine`; `all` receives those of each rank, CALL_BYTES
 * apart. If a rank has `failed`, the call fails on all ranks with that message. */
enum { CALL_BYTES = 64 };
typedef struct CallOptions {
  CommCall call;
  uint64_t size_bytes; /* size of the call's data; must be equal on all ranks */
  uint64_t declared;   /* likewise */
  const void *mine;
  uint64_t mine_bytes;
  const Error *failed; /* NULL: no failure */
} CallOptions;
bool comm_call(Comm *comm, const CallOptions *options, uint8_t *all, Error *err);

static inline Header *comm_header(const Comm *comm, int32_t rank) {
  return (Header *)(comm->range.base + (uint64_t)(rank - comm->team_first) * comm->stride);
}
/* Does the team contain all ranks? */
static inline bool comm_is_one_team(const Comm *comm) { return comm->team_size == comm->size; }
/* A barrier of the team; `call` is the call they must all make. For calls of one team only. */
bool comm_team_barrier(Comm *comm, CommCall call, Error *err);
/* For messages through buffers, if one team contains all ranks:
 *     comm_pass_begin, write comm_buffer(own rank), comm_pass, read comm_buffer(any rank)
 * `about` must be the same on all ranks. */
bool comm_pass_begin(Comm *comm, CommCall call, Error *err);
bool comm_pass(Comm *comm, CommCall call, uint64_t about, Error *err);
static inline uint8_t *comm_buffer(const Comm *comm, int32_t rank) {
  return comm_header(comm, rank)->buffer[comm->buffer_uses & 1];
}
static inline uint64_t comm_part(uint64_t size_bytes) { /* the bytes that are sent at a time */
  return size_bytes < HEADER_BUFFER ? size_bytes : HEADER_BUFFER;
}
/* For several teams: gathers the bytes of all ranks, after all agree on `call`, in memory that the
 * caller frees. */
bool comm_gather_part(Comm *comm, const CallOptions *call, const void *bytes, uint64_t size_bytes,
                      uint8_t **all, Error *err);
/* Call this when a call of the boot has failed: marks all ranks as lost. */
bool comm_fail(Comm *comm, const Error *why, Error *err);
void comm_parcel_differs(char *text, size_t text_bytes, int32_t rank, const Parcel *expected,
                         uint64_t size_bytes);
/* Moves to the next call, and shows it in the header to the ranks that wait. */
void comm_begin(Comm *comm, CommCall call);

#endif
