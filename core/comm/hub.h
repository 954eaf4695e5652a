/* hub.h - the process in the middle: passes on what ranks gather, and tells all when one fails.
 *
 *     rank 0 --part--.            .--all parts--> rank 0
 *     rank 1 --part--+--> hub ----+--all parts--> rank 1
 *     rank 2 --part--'            '--all parts--> rank 2
 *
 * A round begins with the first part and ends with the last; what ends it early (a rank that ends,
 * fails or is late) is told to all ranks, once, and then nothing goes on. Only small things pass
 * here: what is large lies in windows. */
#ifndef RG_COMM_HUB_H
#define RG_COMM_HUB_H

#include <poll.h>

#include "base/error.h"
#include "base/heap.h"

/* What a rank's environment says. */
#define HUB_RANK "RG_RANK"
#define HUB_RANKS "RG_RANKS"
#define HUB_SOCKET "RG_RANK_SOCKET"

enum { HUB_RANKS_MOST = 256 };

typedef struct HubMember {
  int socket;             /* -1: closed */
  bool has_left;          /* said farewell, or ended well */
  uint8_t *part;          /* of this round; NULL: none yet */
  uint32_t size_bytes;
} HubMember;

typedef struct Hub {
  Heap *heap;
  HubMember members[HUB_RANKS_MOST];
  int32_t count;
  int64_t patience_ms;
  int64_t began_ms;       /* the round, with its first part; 0: there is none */
  bool is_lost;
  /* somebody else finds out how a rank ended (hub_lose, hub_left): a closed socket says nothing */
  bool is_watched;
} Hub;

/* Owns the sockets from here. patience_ms: how long a round waits for its last part; 0: as
 * RG_PATIENCE says. */
void hub_init(Hub *hub, Heap *heap, const int *sockets, int32_t count, int64_t patience_ms);
void hub_deinit(Hub *hub);
/* Waits, at most `wait_ms`, until a rank or one of `others` has something, and serves the ranks.
 * `others` hold what poll(2) said of them. */
void hub_step(Hub *hub, struct pollfd *others, int other_count, int64_t wait_ms);
bool hub_is_over(const Hub *hub);            /* all sockets are closed */
void hub_lose(Hub *hub, const char *why);    /* tells all ranks, unless they were told before */
void hub_left(Hub *hub, int32_t rank);       /* it will not come to another round */

/* Starts `ranks` processes of `argv` (NULL at its end; argv[0] is a path), each with the variables
 * above, and returns when all have ended. A signal that asks this process to end (SIGINT, SIGTERM,
 * SIGHUP) is passed on. When one of them fails, the others are told, and have `grace_ms` to end
 * before they are made to. *exit_code: that of the first that failed; 128 + number for one that a
 * signal ended; 0: none failed. One thread, and no other children. */
typedef struct HubLaunch {
  int32_t ranks;
  int64_t patience_ms, grace_ms; /* 0: as RG_PATIENCE says, 5 s */
} HubLaunch;
bool hub_launch(Heap *heap, const HubLaunch *launch, char *const *argv, int32_t *exit_code,
                Error *err);

#endif
