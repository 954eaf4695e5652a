/* window.h - windows: memory that every rank declares in the same way, and that a team's ranks read
 * and write directly. Any memory of this process can become one: its pages move to a file of memory
 * (memfd) that is mapped at the same address, and at the rank's place in every process's range.
 * Windows of the same memory share one Shared, which counts them. When the last is freed, the pages
 * become private memory of this process again.
 *
 *     field .. tree's memory (here) --pages--> memfd <--pages-- base + rank * stride + offset
 *
 * The creator of a window must keep its memory alive. Windows are opened and freed together. */
#ifndef RG_COMM_WINDOW_WINDOW_H
#define RG_COMM_WINDOW_WINDOW_H

#include "comm/comm.h"

struct Shared { /* shared memory, in whole pages */
  Shared *next;
  uint64_t number; /* the same on all ranks */
  uint8_t *here;   /* its original address on this rank */
  uint64_t size_bytes;
  uint64_t offset; /* offset in each rank's part of the range */
  int file;        /* a memfd; for GPU memory, the driver's file */
  uint64_t serial; /* for GPU memory: SymmetricHeapPart.serial; 0: host memory */
  int32_t windows;
  bool is_for_team;      /* other hosts cannot access it */
  bool is_moved_in;      /* only window_unmap frees it */
  bool grows;            /* it grows by pieces */
  struct Growth *growth; /* grow.h; NULL: it does not grow */
  /* for several teams: access to the others, one of these two */
  void *exposed;          /* boot.h; or NULL */
  struct Origin *origins; /* far.h, one per rank; or NULL */
};

/* Functions of a window that publishes tables. `publish` is called in each barrier, while no rank
 * reads the window's memory; if it fails, all ranks fail. `end` is called when the window is
 * freed. */
typedef struct WindowTables {
  bool (*publish)(void *data, Error *err); /* NULL: nothing to do, on all ranks */
  void (*end)(void *data);
  void *data;
} WindowTables;

struct Window {
  Window *next;
  uint64_t number; /* the same on all ranks */
  Comm *comm;
  Shared *shared;
  uint8_t *here;
  uint64_t offset, size_bytes;
  int32_t drop_count; /* ranks that dropped it outside a collective call */
  bool is_dropped;    /* this rank dropped it */
  bool is_announced;  /* and announced that in a collective call */
  WindowTables published;
};

/* Together: opens a window of [here, here + size_bytes), which is writable memory of this process
 * with no other data in its first and last page; or is already in a window's memory.
 * `declared` (a hash of its meaning) must be the same on all ranks. Until the window is freed, no
 * other code in the process may remap those pages. */
Window *window_open(Comm *comm, void *here, uint64_t size_bytes, uint64_t declared, Error *err);
/* Likewise, for memory that may be large and mostly empty (a tree's): it is not registered with a
 * network, so ranks of other hosts cannot access it. */
Window *window_open_for_team(Comm *comm, void *here, uint64_t size_bytes, uint64_t declared,
                             Error *err);
/* After opening a window, the caller may set window->published, on all ranks. */

/* Together: creates a window of new zeroed memory at window->here. The memory stays when the window
 * is freed: window_unmap frees it. */
Window *window_create(Comm *comm, uint64_t size_bytes, uint64_t declared, Error *err);
void window_unmap(void *here, uint64_t size_bytes);
/* The place of this rank's bytes in such memory. If it is the same on all ranks, window_at finds
 * the bytes of each rank. */
typedef struct WindowPlace {
  uint64_t memory, offset;
} WindowPlace; /* memory 0: in none */
WindowPlace window_place_of(Comm *comm, const void *bytes, uint64_t size_bytes);
uint8_t *window_at(const Comm *comm, const WindowPlace *place, int32_t rank); /* of the team */
/* Together. The pages stay at their address; peers lose access to them. */
bool window_free(Window *window, Error *err);
/* Not together, for finalizers: the window is freed in the first comm_call (header.h) after all
 * ranks have dropped it. */
void window_drop(Window *window);

/* The address here of the window of rank `rank`; NULL if that is not in the team. */
void *window_peer(const Window *window, int32_t rank);
/* Is the address in the range in which the team maps its memory? This rank's own memory has an
 * address there and its original one. */
bool window_is_peers(const Comm *comm, const uint8_t *at);
/* The innermost open window that contains the address: the smallest, and the newest of equal
 * ones. */
Window *window_find(const Comm *comm, const void *address);
/* Copy bytes to or from any rank; the other rank need not call anything. With MPI, a rank of
 * another team may have to reach its next call before the copy completes. */
bool window_put(Window *window, int32_t rank, uint64_t at, const void *bytes, uint64_t size_bytes,
                Error *err);
bool window_get(Window *window, int32_t rank, uint64_t at, void *bytes, uint64_t size_bytes,
                Error *err);

/* Private to this room: open the window of the headers; note that a rank has dropped a window, by
 * number; the address of shared memory; and functions that barriers and comm_close call. */
bool window_open_header(Comm *comm, uint64_t size_bytes, Error *err);
void window_dropped(Comm *comm, uint64_t number);
uint8_t *shared_place(const Comm *comm, const Shared *shared, int32_t rank); /* of a rank's copy */
bool windows_have_tables(const Comm *comm);
void windows_publish(Comm *comm);
void windows_close(Comm *comm);

#endif
