/* window.h - windows: memory that every rank has, declared alike, and that a team's ranks read and
 * write directly. Any memory of this process can become one: its pages move to a file of memory
 * (memfd) that is mapped at the same address, and at the place of each rank in everybody's range.
 * Windows of one memory share that; it counts them. When the last is freed, the pages become memory
 * of this process alone again.
 *
 *     field .. tree's memory (here) --pages--> memfd <--pages-- base + rank * stride + offset
 *
 * Whoever made a window keeps the memory it is of. Opened and freed together. */
#ifndef RG_COMM_WINDOW_H
#define RG_COMM_WINDOW_H

#include "comm/comm.h"

struct Shared {               /* one memory, as whole pages */
  Shared *next;
  uint64_t number;            /* the same on all ranks */
  uint8_t *here;              /* this rank's own address of it */
  uint64_t size_bytes;
  uint64_t offset;            /* from the beginning of each rank's part of the range */
  int file;                   /* memfd; of a GPU's memory, the driver's */
  uint64_t serial;            /* of a GPU's memory: CommonsPart's; 0: it is the host's */
  int32_t windows;
  bool is_for_team;           /* no other host reaches it */
  bool grows;                 /* it comes by pieces: */
  struct Growth *growth;      /* grow.h; NULL: it is there as a whole */
  /* where there are several teams: what the others are reached by, one of the two */
  void *exposed;              /* boot.h; NULL */
  struct Origin *origins;     /* far.h, of each rank; NULL */
};

/* What a rank does with a window's memory while nobody reads it, in each barrier, which a rank that
 * cannot gives up; `end` when the window is gone. */
typedef struct WindowRest {
  bool (*rest)(void *data, Error *err); /* NULL: nothing, on all ranks */
  void (*end)(void *data);
  void *data;
} WindowRest;

struct Window {
  Window *next;
  uint64_t number;            /* the same on all ranks */
  Comm *comm;
  Shared *shared;
  uint8_t *here;
  uint64_t offset, size_bytes;
  int32_t drops;              /* ranks that let go of it without a word */
  bool is_dropped;            /* this one did, and */
  bool is_told;               /* said so in a call together */
  WindowRest rest;
};

/* Together: [here, here + size_bytes), writable memory of this process, of whose first and last
 * page nobody else uses the rest; or memory that lies in a window's already. `declared` is a number
 * that must be the same on all ranks (a hash of what it is). Until it is freed no other part of the
 * process may map those pages anew. */
Window *window_open(Comm *comm, void *here, uint64_t size_bytes, uint64_t declared, Error *err);
/* Likewise, of memory that may be large and mostly empty (a tree's): it is not registered with a
 * network, so no rank of another host copies from it. */
Window *window_open_for_team(Comm *comm, void *here, uint64_t size_bytes, uint64_t declared,
                             Error *err);
/* The caller may set window->rest next, on all ranks. */
/* Together: a window of new memory, zero, at window->here, which stays when the window is freed:
 * window_unmap gives it back. */
Window *window_create(Comm *comm, uint64_t size_bytes, uint64_t declared, Error *err);
void window_unmap(void *here, uint64_t size_bytes);
/* Together. The pages stay where they are; peers lose theirs. */
bool window_free(Window *window, Error *err);
/* Not together, from a finalizer: it is freed with the first call by records (header.h: comm_call)
 * after all ranks have dropped it. */
void window_drop(Window *window);

/* The window as rank `rank` has it; NULL: that is none of the team. */
void *window_peer(const Window *window, int32_t rank);
/* Is the address in what the team's ranks map of each other? This rank's own memory lies elsewhere,
 * and there, too. */
bool window_is_peers(const Comm *comm, const uint8_t *at);
/* The innermost open window that holds the address: the smallest, of equal ones the newest. */
Window *window_find(const Comm *comm, const void *address);
/* Copies bytes to or from any rank; nobody else need call anything. With MPI a rank of another team
 * may have to come to its next call, before it is done. */
bool window_put(Window *window, int32_t rank, uint64_t at, const void *bytes, uint64_t size_bytes,
                Error *err);
bool window_get(Window *window, int32_t rank, uint64_t at, void *bytes, uint64_t size_bytes,
                Error *err);

/* For the room: what every rank's header lies in; a rank has dropped a window, by number; what
 * comm_close does; what barriers do; where memory lies. */
bool window_open_header(Comm *comm, uint64_t size_bytes, Error *err);
void window_dropped(Comm *comm, uint64_t number);
uint8_t *shared_place(const Comm *comm, const Shared *shared, int32_t rank); /* of a rank's part */
bool windows_have_rests(const Comm *comm);
void windows_rest(Comm *comm);
void windows_close(Comm *comm);

#endif
