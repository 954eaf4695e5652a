/* boot.h - how ranks communicate before they share memory, and detect that one has ended: a table
 * of functions, implemented for our own launcher (local.c), for MPI (mpi.c), and for a single
 * process. A rank calls these from one thread. */
#ifndef RG_COMM_BOOT_BOOT_H
#define RG_COMM_BOOT_BOOT_H

#include "base/error.h"
#include "base/heap.h"

typedef struct Boot Boot;

/* a message to or from `rank` */
typedef struct Parcel {
  int32_t rank;
  void *bytes;
  uint64_t size_bytes;
} Parcel;

typedef struct BootTable {
  /* Gathers `size_bytes` bytes of each rank (the same number on every rank), in the order of ranks.
   * Returns on all ranks, or fails on all that wait: if one has ended, failed or is late. */
  bool (*gather)(Boot *boot, const void *mine, uint64_t size_bytes, void *all, Error *err);
  /* False with err if a rank has failed, or ended without farewell. Never waits. */
  bool (*check)(Boot *boot, Error *err);
  /* This rank fails, and makes the others fail with this sentence. */
  void (*abort)(Boot *boot, const char *why);
  void (*close)(Boot *boot); /* says farewell, and frees the boot */
  /* Only says farewell, when the process ends. NULL: the end of the process is enough. */
  void (*leave)(Boot *boot);
  /* -- for ranks of different teams; if NULL, all ranks are on one host and use gather and files
   * (far.c) -- */
  /* The maximum over all ranks of each word; NULL: use gather instead. Returns as gather does. */
  bool (*maximum)(Boot *boot, uint64_t *words, int32_t count, Error *err);
  /* Sends part k of each rank, `size_bytes` long, to rank k; `all` is in the order of ranks. */
  bool (*all_to_all)(Boot *boot, const void *parts, uint64_t size_bytes, void *all, Error *err);
  bool (*broadcast)(Boot *boot, int32_t root, void *bytes, uint64_t size_bytes, Error *err);
  /* See comm_trade. */
  bool (*trade)(Boot *boot, const Parcel *out, int32_t out_count, const Parcel *in,
                int32_t in_count, Error *err);
  /* Together: exposes this rank's memory, so that others can put to it and get from it. NULL with
   * err. */
  void *(*expose)(Boot *boot, void *memory, uint64_t size_bytes, Error *err);
  void (*unexpose)(Boot *boot, void *exposed); /* called together */
  /* Copies from (`to`) or to (`from`) a rank's exposed memory; the other pointer is NULL. Done when
   * it returns. */
  bool (*reach)(Boot *boot, void *exposed, int32_t rank, uint64_t at, void *to, const void *from,
                uint64_t size_bytes, Error *err);
} BootTable;

struct Boot {
  const BootTable *table;
  Heap *heap;
  int32_t rank, size;
  int64_t patience_ms; /* how long a call waits for a missing rank */
  uint64_t doing;      /* the collective call in which this rank is (header.h: Header.call) */
};

/* Opens the boot that the environment names, once per process: for a rank of `regolith run` or of
 * MPI; otherwise a single process, rank 0 of 1. */
Boot *boot_open(Heap *heap, Error *err);
Boot *boot_alone(Heap *heap, Error *err);
/* The rank that uses this socket to the server, and owns it: see rendezvous.h. */
Boot *boot_local(Heap *heap, int32_t rank, int32_t size, int socket, Error *err);
/* Was this process started by MPI? Then boot_mpi makes it one of its ranks, through a separate
 * library. */
bool boot_is_mpi(void);
bool boot_is_rank(void); /* was the process started as one of several ranks? */
Boot *boot_mpi(Heap *heap, Error *err);
int64_t boot_patience_ms(void); /* the option RG_PATIENCE */

#endif
