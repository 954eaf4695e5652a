/* comm.h - ranks: processes that run one simulation together, each with its number. What is said
 * here to be called *together* all ranks call, in the same order and with the same arguments; if
 * they do not, or one of them ends, all that wait get an error that says which and why, and never
 * hang. A process that nobody started as a rank is rank 0 of 1, and everything works there.
 *
 * Ranks that reach each other's memory are a team: each process reserves one range of addresses,
 * in which everything that team members share lies at one place for all of them (after NCCL's
 * symmetric memory):
 *
 *     base        + stride        + 2 stride
 *     | rank 0's   | rank 1's       | rank 2's       |    the same offset in each: one window
 *       ^offset      ^offset          ^offset
 *
 * so a peer's element is base + rank * stride + offset, wherever it is asked for. One thread at a
 * time; finalizers never communicate (window.h). */
#ifndef RG_COMM_COMM_H
#define RG_COMM_COMM_H

#include "comm/boot.h"
#include "comm/space.h"
#include "memory/arena.h"

typedef struct Window Window;
typedef struct Shared Shared;
typedef struct Header Header;
typedef struct CommGpu CommGpu;
typedef struct CommNccl CommNccl;

typedef struct Comm {
  Heap *heap;
  Boot *boot;
  int32_t rank, size;           /* of all ranks */
  int32_t team_first, team_size; /* ranks whose memory is reached from here */
  uint64_t number;              /* of calls together, so far */
  bool is_lost;                 /* ranks are not at the same call any more, or one is gone: */
  Error lost;
  /* -- what a team shares */
  Arena range;
  uint64_t stride;
  Space space;
  CommGpu *gpu;                 /* gpu.h: the same of a GPU's memory; NULL: no window of that yet */
  CommNccl *nccl;               /* nccl.h; NULL: nobody asked for it yet */
  Shared *shared;               /* memories, each at its offset */
  Window *windows;              /* all that are open, by number */
  uint64_t window_count;        /* ever made */
  int outbox;                   /* far.c: a file; -1: nothing was sent yet */
  int courier;                  /* courier.h: a socket; -1: none yet */
  bool is_closing;
  Header *own;                  /* header.h: this rank's own, which the team reads */
  uint32_t epoch;               /* of barriers */
  uint64_t turns;               /* of uses of the header's buffer */
  uint64_t shows;               /* of barriers in which windows may have grown */
  int64_t patience_ns;          /* how long a barrier waits */
} Comm;

/* Together. `stride`: addresses for what each rank shares; 0: up to 4 TiB. NULL: an error. */
Comm *comm_open(Heap *heap, Boot *boot, uint64_t stride, Error *err); /* owns boot, even so */
/* Not together: the others go on, and fail only if they wait for this rank. */
void comm_close(Comm *comm);

/* -- together -- */
/* `size_bytes` of each rank, in order, into `all`. */
bool comm_gather(Comm *comm, const void *mine, uint64_t size_bytes, void *all, Error *err);
/* What any rank wrote before is seen by all after it. */
bool comm_barrier(Comm *comm, Error *err);
/* Root's bytes to all. */
bool comm_broadcast(Comm *comm, int32_t root, void *bytes, uint64_t size_bytes, Error *err);

#define COMM_REDUCE_OPS(OP) OP(SUM, "sum") OP(PRODUCT, "product") OP(MIN, "min") OP(MAX, "max")
typedef enum CommOp {
#define COMM_OP(NAME, WORD) COMM_##NAME,
  COMM_REDUCE_OPS(COMM_OP)
#undef COMM_OP
  COMM_OP_COUNT
} CommOp;
typedef enum CommType { COMM_I32, COMM_I64, COMM_F32, COMM_F64, COMM_TYPE_COUNT } CommType;
static inline uint64_t comm_type_bytes(CommType type) {
  return type == COMM_I64 || type == COMM_F64 ? 8 : 4;
}
/* Element by element over all ranks, in their order, so that all get the same to the last bit;
 * integers wrap. */
bool comm_reduce(Comm *comm, CommOp op, CommType type, void *numbers, uint64_t count, Error *err);

/* Bytes for ranks, and from them, any: the k-th parcel that goes out to a rank is its k-th that
 * comes in from here, of the same size. What team members wrote before is seen after it. */
bool comm_trade(Comm *comm, const Parcel *out, int32_t out_count, const Parcel *in,
                int32_t in_count, Error *err);

/* For tests: of how many ranks a team is, when rank k is on host hosts[k]: as many as divide every
 * run of ranks on one host, and `most` (0: any), after NCCL. */
int32_t comm_team_size(const uint64_t *hosts, int32_t count, int32_t most);
enum { COMM_TEAM_MOST = 256 };

/* This rank cannot go on: the others get `why` at their next call together. */
void comm_abort(Comm *comm, const char *why);

static inline bool comm_is_peer(const Comm *comm, int32_t rank) {
  return rank >= comm->team_first && rank < comm->team_first + comm->team_size;
}

#endif
