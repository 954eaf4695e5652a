/* header.h - the first page of what each rank shares: what it calls now, where the others say that
 * they have come to a barrier, and a buffer for what they pass on. For the room alone. */
#ifndef RG_COMM_HEADER_H
#define RG_COMM_HEADER_H

#include <stdatomic.h>

#include "comm/comm.h"
#include "comm/hub.h"

/* What ranks can call together. */
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
extern const char *const call_words[CALL_COUNT];

/* A rank has come: its epoch, by 2^32, and what it calls. */
typedef struct Slot { _Atomic uint64_t came; char pad[56]; } Slot;

enum { HEADER_BUFFER = 256 << 10 }; /* a multiple of 8 */

struct Header {
  _Atomic uint64_t call;             /* the number of the call it is in, by CALL_COUNT, and which */
  _Atomic uint64_t has_left;         /* it will not come to another one */
  char pad[48];
  Slot slots[COMM_TEAM_MOST];        /* written by each rank of the team, by its place there */
  uint64_t about[2];                 /* by turns: what must be the same on all ranks */
  uint64_t left[2];                  /* by barriers: windows_left */
  uint8_t buffer[2][HEADER_BUFFER];  /* by turns: one barrier apart */
};

/* A call together begins: every rank says which, and what must be equal on all (`declared`), with
 * up to CALL_BYTES of its own in `mine`; `all` gets those of each, CALL_BYTES apart. Whoever comes
 * with `failed` makes it fail on all ranks, with that message. */
enum { CALL_BYTES = 64 };
typedef struct CallOptions {
  CommCall call;
  uint64_t size_bytes;               /* what it is about; equal on all ranks */
  uint64_t declared;                 /* likewise */
  const void *mine;
  uint64_t mine_bytes;
  const Error *failed;               /* NULL: nothing did */
} CallOptions;
bool comm_call(Comm *comm, const CallOptions *options, uint8_t *all, Error *err);

static inline Header *comm_header(const Comm *comm, int32_t rank) {
  return (Header *)(comm->range.base + (uint64_t)(rank - comm->team_first) * comm->stride);
}
/* Does the team hold all ranks? */
static inline bool comm_is_one_team(const Comm *comm) { return comm->team_size == comm->size; }
/* All team members have come here; `call` is what they call. For calls of one team alone. */
bool comm_meet(Comm *comm, CommCall call, Error *err);
/* For what is passed on through buffers, while one team holds all ranks:
 *     comm_pass_begin, write comm_buffer(own rank), comm_pass, read comm_buffer(any rank)
 * `about` must be the same on all ranks. */
bool comm_pass_begin(Comm *comm, CommCall call, Error *err);
bool comm_pass(Comm *comm, CommCall call, uint64_t about, Error *err);
static inline uint8_t *comm_buffer(const Comm *comm, int32_t rank) {
  return comm_header(comm, rank)->buffer[comm->turns & 1];
}
static inline uint64_t comm_part(uint64_t size_bytes) { /* what goes at once */
  return size_bytes < HEADER_BUFFER ? size_bytes : HEADER_BUFFER;
}
/* Past one team: the bytes of all ranks, in memory that the caller frees; `call` is agreed on
 * first. */
bool comm_gather_part(Comm *comm, const CallOptions *call, const void *bytes, uint64_t size_bytes,
                      uint8_t **all, Error *err);
/* What all wait for failed in the boot's hands: nothing goes on. */
bool comm_lose(Comm *comm, const Error *why, Error *err);
void comm_parcel_differs(char *text, size_t text_bytes, int32_t rank, const Parcel *expected,
                         uint64_t size_bytes);
/* Moves to the next call: what the header says for those that wait. */
void comm_begin(Comm *comm, CommCall call);

#endif
