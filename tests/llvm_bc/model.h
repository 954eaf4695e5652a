/* model.h - every interleaving of a few threads in the runtime's own code: a scheduler that runs
 * them as coroutines, one atomic access at a time, and goes through all choices of who is next.
 *
 *     run from the start -- choices of the last run, one changed --> a state met before: give up,
 * else go on to the end
 *
 * A state is the runtime's tables and memory and what each thread has on its stack; two runs that
 * reach one state go on alike, so what was met is not gone through again. Accesses take place in
 * order: what weaker orders may do is the thread sanitizer's part. */
#ifndef RG_TESTS_MODEL_H
#define RG_TESTS_MODEL_H

#include "forest.h"

enum { MODEL_THREADS = 3, MODEL_PHASES = 2 };

/* Steps of a thread, "w12 d10": a letter, the node, the cell, in hexadecimal.
 *   w  writes the cell: model_value in its payload        r  may read nothing but its value and
 * zero
 *   a  activates it      d  deactivates it                s  must find its value there */
typedef struct ModelScenario {
  const ForestRow *rows;
  int row_count;
  uint64_t budget;    /* bytes; 0: enough */
  const char *before; /* steps that one thread does first; not interleaved */
  /* NULL: fewer threads; between phases: refresh and collect */
  const char *threads[MODEL_PHASES][MODEL_THREADS];
  const char *after; /* what holds at the end, in such letters: s, and n: inactive */
} ModelScenario;

typedef struct ModelResult {
  int64_t runs, states;
  const char *wrong; /* "" when nothing was */
} ModelResult;

/* All interleavings, or the first that goes wrong. Of three threads those with at most so many
 * preemptions (a thread stops though it could go on); 0: all of them, too. */
ModelResult model_explore(const ModelScenario *scenario, int most_preemptions);

#endif
