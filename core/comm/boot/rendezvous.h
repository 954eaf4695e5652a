/* rendezvous.h - the rendezvous server: the process that starts the ranks, distributes the data
 * that they gather, and notifies all when one fails.
 *
 *     rank 0 --part--.            .--all parts--> rank 0
 *     rank 1 --part--+--> server -+--all parts--> rank 1
 *     rank 2 --part--'            '--all parts--> rank 2
 *
 * A round begins with the first part and ends with the last. If a rank ends, fails or is late, the
 * server notifies all ranks once, and all later calls fail. Only small data goes through the
 * server: large data is in windows. */
#ifndef RG_COMM_BOOT_RENDEZVOUS_H
#define RG_COMM_BOOT_RENDEZVOUS_H

#include <poll.h>

#include "base/error.h"
#include "base/heap.h"

/* Environment variables of a rank. */
#define RENDEZVOUS_RANK "RG_RANK"
#define RENDEZVOUS_RANKS "RG_RANKS"
#define RENDEZVOUS_SOCKET "RG_RANK_SOCKET"

enum { RENDEZVOUS_MAX_RANKS = 256 };

typedef struct RendezvousMember {
  int socket;    /* -1: closed */
  bool has_left; /* said farewell, or ended normally */
  uint8_t *part; /* its part of this round; NULL: none yet */
  uint32_t size_bytes;
} RendezvousMember;

typedef struct Rendezvous {
  Heap *heap;
  RendezvousMember members[RENDEZVOUS_MAX_RANKS];
  int32_t count;
  int64_t patience_ms;
  int64_t began_ms; /* when the round's first part came; 0: no round */
  bool is_lost;
  /* the caller detects how a rank ended (rendezvous_fail, rendezvous_note_left), so a closed socket
   * is ignored */
  bool is_watched;
} Rendezvous;

/* Takes over the sockets. patience_ms: how long a round waits for its last part; 0: RG_PATIENCE. */
void rendezvous_init(Rendezvous *server, Heap *heap, const int *sockets, int32_t count,
                     int64_t patience_ms);
void rendezvous_deinit(Rendezvous *server);
/* Waits, at most `wait_ms`, for a rank or one of `others`, and serves the ranks. `others` are
 * filled as by poll(2). */
void rendezvous_step(Rendezvous *server, struct pollfd *others, int other_count, int64_t wait_ms);
bool rendezvous_is_over(const Rendezvous *server);         /* are all sockets closed? */
void rendezvous_fail(Rendezvous *server, const char *why); /* notifies all ranks, once */
void rendezvous_note_left(Rendezvous *server,
                          int32_t rank); /* the rank will not take part in another round */

/* Starts `ranks` processes of `argv` (NULL-terminated; argv[0] is a path), each with the variables
 * above, and returns when all have ended. Signals that request an end (SIGINT, SIGTERM, SIGHUP) are
 * passed on. When a process fails, the others are notified, and have `grace_ms` to end before they
 * are killed. *exit_code is that of the first that failed, 128 + number if a signal ended it, 0 if
 * none failed. For a process with one thread and no other children. */
typedef struct RendezvousLaunch {
  int32_t ranks;
  int64_t patience_ms, grace_ms; /* 0: RG_PATIENCE; 5 s */
} RendezvousLaunch;
bool rendezvous_launch(Heap *heap, const RendezvousLaunch *launch, char *const *argv,
                       int32_t *exit_code, Error *err);

#endif
