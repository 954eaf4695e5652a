/* boot.h - how ranks reach each other before they share memory, and learn that one is gone: one
 * table, which a launcher of our own (local.c), MPI (mpi.c), or a process alone fills in.
 * A rank calls these from one thread. */
#ifndef RG_COMM_BOOT_H
#define RG_COMM_BOOT_H

#include "base/error.h"
#include "base/heap.h"

typedef struct Boot Boot;

typedef struct Parcel { int32_t rank; void *bytes; uint64_t size_bytes; } Parcel; /* to, or from */

typedef struct BootTable {
  /* Each rank's `size_bytes` bytes (as many on every rank), in the order of ranks. Returns on all
   * ranks, or fails on all that wait: when one has ended, failed or does not come in time. */
  bool (*gather)(Boot *boot, const void *mine, uint64_t size_bytes, void *all, Error *err);
  /* False: a rank has failed or ended without farewell. Never waits. */
  bool (*check)(Boot *boot, Error *err);
  /* This rank fails, and so do the others, with this sentence. */
  void (*abort)(Boot *boot, const char *why);
  void (*close)(Boot *boot); /* says farewell, and frees it */
  /* Says farewell alone, where the process ends; NULL: its end says enough. */
  void (*leave)(Boot *boot);
  /* -- for ranks that are not of one team; where they are NULL, all ranks are on one host, and it
   * goes by gather and through files (far.c) -- */
  /* The greatest of all ranks for each word; NULL: gather says as much. Returns as gather does. */
  bool (*greatest)(Boot *boot, uint64_t *words, int32_t count, Error *err);
  /* Part k of each rank's parts, each of `size_bytes`, to rank k; in the order of ranks. */
  bool (*spread)(Boot *boot, const void *parts, uint64_t size_bytes, void *all, Error *err);
  bool (*broadcast)(Boot *boot, int32_t root, void *bytes, uint64_t size_bytes, Error *err);
  /* See comm_trade. */
  bool (*trade)(Boot *boot, const Parcel *out, int32_t out_count, const Parcel *in,
                int32_t in_count, Error *err);
  /* Together: this rank's memory, which the others put to and get from. NULL: an error. */
  void *(*expose)(Boot *boot, void *memory, uint64_t size_bytes, Error *err);
  void (*conceal)(Boot *boot, void *exposed); /* together */
  /* `to` or `from`: which of the two is NULL says which way. Done when they return. */
  bool (*reach)(Boot *boot, void *exposed, int32_t rank, uint64_t at, void *to, const void *from,
                uint64_t size_bytes, Error *err);
} BootTable;

struct Boot {
  const BootTable *table;
  Heap *heap;
  int32_t rank, size;
  int64_t patience_ms;    /* how long a call waits for a rank that does not come */
  uint64_t doing;         /* the call together in which this rank is (header.h: Header.call) */
};

/* What the environment says: a rank of `regolith run`, or of MPI, once per process; else a process
 * alone, rank 0 of 1. */
Boot *boot_open(Heap *heap, Error *err);
Boot *boot_alone(Heap *heap, Error *err);
/* The rank at the other end of this socket, which it closes: see hub.h. */
Boot *boot_local(Heap *heap, int32_t rank, int32_t size, int socket, Error *err);
/* Was this process started by MPI? Then it is one of its ranks, by a library of its own. */
bool boot_is_mpi(void);
Boot *boot_mpi(Heap *heap, Error *err);
int64_t boot_patience_ms(void); /* the option RG_PATIENCE */

#endif
