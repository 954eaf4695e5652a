/* comm.h - ranks: numbered processes that run one simulation together. *Together* marks collective
 * functions, which all ranks must call in the same order and with the same arguments; if they do
 * not, or if one rank ends, all ranks that wait get an error that names the rank and the reason,
 * and never hang. A process that was not started as a rank is rank 0 of 1, and everything works
 * there.
 *
 * Ranks that can access each other's memory are a team: each process reserves one range of
 * addresses, a symmetric heap (after NCCL's symmetric memory), in which everything that team
 * members share is at the same offset in every process:
 *
 *     base        + stride        + 2 stride
 *     | rank 0's   | rank 1's       | rank 2's       |    the same offset in each: one window
 *       ^offset      ^offset          ^offset
 *
 * so a peer's element is at base + rank * stride + offset in every process. One thread at a time;
 * finalizers never communicate (window.h). */
#ifndef RG_COMM_COMM_H
#define RG_COMM_COMM_H

#include "comm/boot/boot.h"
#include "comm/window/space.h"
#include "memory/arena.h"

typedef struct Window Window;
typedef struct Shared Shared;
typedef struct Header Header;
typedef struct CommGpu CommGpu;
typedef struct CommNccl CommNccl;

typedef struct Comm {
  Heap *heap;
  Boot *boot;
  int32_t rank, size;            /* this rank's number, and the number of ranks */
  int32_t team_first, team_size; /* the ranks whose memory this one can access */
  uint64_t number;               /* collective calls so far */
  bool is_lost;                  /* ranks are no longer at the same call, or one has ended */
  Error lost;
  /* -- shared by a team */
  Arena range;
  uint64_t stride;
  Space space;
  CommGpu *gpu;          /* gpu.h: the same for GPU memory; NULL: no GPU window yet */
  CommNccl *nccl;        /* nccl.h; NULL: not needed yet */
  Shared *shared;        /* shared memories, each at its offset */
  Window *windows;       /* all open windows, by number */
  uint64_t window_count; /* windows ever created */
  uint64_t unmaps;       /* window.c: when we last looked for freed memory */
  int outbox;            /* far.c: a file; -1: nothing sent yet */
  int file_socket;       /* pass_files.h: a socket; -1: none yet */
  bool is_closing;
  Header *own;            /* header.h: this rank's own header, which the team reads */
  uint32_t epoch;         /* counts barriers */
  uint64_t buffer_uses;   /* of the header's buffer */
  uint64_t growth_rounds; /* barriers so far in which windows could grow */
  int64_t patience_ns;    /* how long a barrier waits */
} Comm;

/* Together. Takes over boot, even if it fails. `stride` is the size of the address range for each
 * rank's shared memory; 0: up to 4 TiB. NULL with err. */
Comm *comm_open(Heap *heap, Boot *boot, uint64_t stride, Error *err);
/* Not together: the other ranks continue, and fail only if they wait for this one. */
void comm_close(Comm *comm);

/* -- together -- */
/* Gathers `size_bytes` of each rank into `all`, in order. */
bool comm_gather(Comm *comm, const void *mine, uint64_t size_bytes, void *all, Error *err);
/* After it, all ranks see all writes of any rank before it. */
bool comm_barrier(Comm *comm, Error *err);
/* Sends root's bytes to all ranks. */
bool comm_broadcast(Comm *comm, int32_t root, void *bytes, uint64_t size_bytes, Error *err);

#define COMM_REDUCE_OPS(OP) OP(SUM, "sum") OP(PRODUCT, "product") OP(MIN, "min") OP(MAX, "max")
// clang-format off
typedef enum CommOp {
#define COMM_OP(NAME, WORD) COMM_##NAME,
  COMM_REDUCE_OPS(COMM_OP)
#undef COMM_OP
  COMM_OP_COUNT
} CommOp;
// clang-format on
/* NAME, word, C type, type in which it is computed so that integers wrap, ncclDataType_t (-1:
 * none) */
// clang-format off
#define COMM_NUMBERS(TYPE)                                                                       \
  TYPE(I32, "i32", int32_t, uint32_t, 2) TYPE(I64, "i64", int64_t, uint64_t, 4)                  \
  TYPE(F32, "f32", float, float, 7) TYPE(F64, "f64", double, double, 8)                          \
  TYPE(I8, "i8", int8_t, uint32_t, 0) TYPE(U8, "u8", uint8_t, uint32_t, 1)                       \
  TYPE(I16, "i16", int16_t, uint32_t, -1) TYPE(U16, "u16", uint16_t, uint32_t, -1)               \
  TYPE(U32, "u32", uint32_t, uint32_t, 3) TYPE(U64, "u64", uint64_t, uint64_t, 5)
typedef enum CommType {
#define COMM_NUMBER(NAME, WORD, TYPE, AS, NCCL) COMM_##NAME,
  COMM_NUMBERS(COMM_NUMBER)
#undef COMM_NUMBER
  COMM_BOOL, /* a byte, 0 or 1 */
  COMM_TYPE_COUNT
} CommType;
// clang-format on
uint64_t comm_type_bytes(CommType type);
/* Combines elements over all ranks, in rank order, so that all get the same result to the last bit;
 * integers wrap. Of booleans SUM and MAX are `or`, PRODUCT and MIN `and`. */
bool comm_reduce(Comm *comm, CommOp op, CommType type, void *numbers, uint64_t count, Error *err);

/* Exchanges any number of messages (parcels) between ranks: the k-th parcel sent to a rank is the
 * k-th that it receives from this one, and must have the same size. After it, ranks see all writes
 * of team members before it. */
bool comm_trade(Comm *comm, const Parcel *out, int32_t out_count, const Parcel *in,
                int32_t in_count, Error *err);

/* For tests: the team size if rank k is on host hosts[k]: the largest that divides every run of
 * ranks on one host, and `max_size` (0: no limit), after NCCL. */
int32_t comm_team_size(const uint64_t *hosts, int32_t count, int32_t max_size);
enum { COMM_MAX_TEAM = 256 };

/* Call this if this rank cannot continue: the others fail with `why` at their next collective
 * call. */
void comm_abort(Comm *comm, const char *why);

static inline bool comm_is_peer(const Comm *comm, int32_t rank) {
  return rank >= comm->team_first && rank < comm->team_first + comm->team_size;
}

#endif
