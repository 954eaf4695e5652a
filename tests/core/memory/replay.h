/* replay.h - replays a trace with a strategy, and measures the memory that it uses. */
#ifndef RG_TESTS_REPLAY_H
#define RG_TESTS_REPLAY_H

#include "memory/pool.h"
#include "trace.h"

typedef struct Replay {
  bool is_done;               /* false: no memory left */
  uint64_t peak;              /* bytes of the device */
  uint64_t calls, calls_warm; /* of the device; after the first two steps */
  double ns;                  /* per request or return: replay_ns */
} Replay;

/* `limit` bytes of the device; 0: as many as it takes. */
Replay replay(const Trace *trace, const MemoryConfig *config, uint64_t limit);
/* Each part of a few hundred events as fast as it was in the fastest of `times` runs, so that what
 * else the machine does is left out. */
double replay_ns(const Trace *trace, const MemoryConfig *config, int times);
/* Nothing is taken twice, and what is given back goes back at a flush, every `kernels` kernels. */
Replay replay_without_reuse(const Trace *trace, int kernels);

#endif
