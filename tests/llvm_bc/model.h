/* model.h - every interleaving of a few threads in the runtime's own code: a scheduler that runs
 * them as coroutines, one atomic access at a time, and explores all choices of the next thread.
 *
 *     run from the start -- choices of the last run, one changed --> a visited state, or the end
 *
 * A state consists of the runtime's tables and memory and each thread's stack; two runs that reach
 * one state continue alike, so a visited state is not explored again. Accesses take place in order:
 * weaker orders are left to the thread sanitizer. */
#ifndef RG_TESTS_MODEL_H
#define RG_TESTS_MODEL_H

#include "forest.h"

enum { MODEL_THREADS = 3, MODEL_PHASES = 2 };

/* Steps of a thread, "w12 d10": a letter, the node, the cell, in hexadecimal.
 *   w  writes a value of its own to the cell              r  may read only that value, or zero
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

/* Explores all interleavings, up to the first failure. With three threads, only those with at most
 * so many preemptions (a thread stops although it could continue); 0: all of them. */
ModelResult model_explore(const ModelScenario *scenario, int most_preemptions);

#endif
