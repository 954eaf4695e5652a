/* lanes.h - what the files of the pass `lanes` share. Decisions D-pass-02, D-pass-08. */
#ifndef RG_PASS_VECTOR_LANES_H
#define RG_PASS_VECTOR_LANES_H

#include "ir/lanes.h"
#include "pass/pass.h"

/* -- lanes_cost.c: estimates the cost of a body, scalar and vectorised ------------------------- */

typedef struct LaneSurvey {
  const PassContext *ctx;
  const IrKernel *kernel;
  const IrRegion *region;
  const LaneFact *facts;
  const IrInst *alternate; /* of the body; costs are those of the iterations with an effect */
  int width, vector_bytes;
  /* how often the surveyed code runs in one iteration; how often in a vector of `width` iterations,
   * which runs it if any lane does */
  double often, visits;
  int loops;   /* enclosing loops of the body */
  int waiting; /* enclosing loops whose lanes have different trip counts, */
  /* and those of them that never run lane by lane: each lane reads along a list of its own */
  int scattered;
  /* cost of `width` iterations: scalar, with inner loops perhaps in lanes; and vectorised */
  double scalar_cost, vector_cost;
  /* how long scalar iterations wait for values of the iteration before, in long loops; a vector
   * waits once */
  double scalar_wait;
  bool is_simple;          /* LLVM's own vectoriser handles it */
  bool gathers;            /* some lanes access elements far from each other */
  bool fetches, is_atomic; /* prefetches elements; updates shared elements atomically */
  const char *obstacle;    /* the op that cannot be vectorised; NULL: none */
  int32_t line;            /* of the obstacle */
} LaneSurvey;

LaneSurvey lanes_survey(const PassContext *ctx, const IrKernel *kernel, const LaneBody *body);

/* Surveys the whole loop with all its iterations, scalar and vectorised. */
LaneSurvey lanes_survey_loop(const PassContext *ctx, const IrKernel *kernel, const IrInst *loop,
                             int width);

/* -- lanes_cost.c: static guesses of trip counts and branch probabilities ---------------------- */

typedef struct TripGuess {
  double trips;
  bool is_known; /* both bounds are constants */
  bool is_even;  /* most lanes have a similar trip count, although the bounds depend on data */
} TripGuess;

TripGuess lanes_guess_trips(const IrInst *loop);
/* Is a loop likely to run at least `trips` iterations? Unlike lanes_guess_trips, it also counts a
 * loop whose bounds are a constant apart: long, but no reason to run it in lanes, since each lane
 * would be far from the others in memory. */
bool lanes_is_long(const IrInst *loop, int64_t trips);

/* The fraction of an `if`'s executions that run the arm. */
double lanes_guess_arm(const PassContext *ctx, const IrInst *inst, int arm);
/* Is the branch well predicted, or not needed because its arms are so short that LLVM makes selects
 * of them? */
bool lanes_is_predictable(const IrInst *inst);
/* Can the row run as straight-line code, without branches and masked accesses: does it consist of
 * full vectors that access `whole` cells, with short arms? `facts` are those of its body. */
bool lanes_is_whole_row(const LaneFact *facts, const IrInst *row, int width);

/* -- compaction.c: bodies in which few iterations have an effect, which lanes find ------------- */

/* Is it a branch, or an op that only reads, computes, or sets a variable? */
bool lanes_only_reads(const IrInst *inst);
/* If the FOR of a scalar body has such a form, and this is faster with `width` lanes: sets its
 * `lanes`, and `compacts` of its branch. */
bool compaction_choose(const PassContext *ctx, IrKernel *kernel, IrInst *loop, int width);

/* The branch without an else at the end of a region, if nothing else there has an effect, so that
 * it may run again. */
IrInst *compaction_last_branch(const IrRegion *region);

/* How an iteration of a range may be divided: lanes find those that take `branch`. */
typedef struct Compaction {
  IrInst *branch; /* NULL: the body has no such form */
  double cost;    /* of as many iterations as there are lanes, as in `whole` */
} Compaction;
/* The best division of a range's body, of which `whole` is the survey. */
Compaction compaction_of_range(const PassContext *ctx, IrKernel *kernel, const LaneBody *body,
                               const LaneSurvey *whole);
/* The branch of a body that `compacts`; else NULL. */
IrInst *compaction_branch(const IrRegion *body);

/* -- alternate.c: bodies in which only every second iteration has an effect -------------------- */

/* Their lanes are two iterations apart, as in red-black sweeps. Marks a body that is not yet in
 * lanes by ALTERNATE; false: it has no such form. */
bool alternate_mark(const PassContext *ctx, IrKernel *kernel, const LaneBody *lanes);
void alternate_unmark(IrRegion *body);
/* The bodies of a range task: all of them, or none and false. */
bool alternate_mark_task(const PassContext *ctx, IrKernel *kernel, IrTask *task, int width);
void alternate_unmark_task(IrTask *task);

/* -- piecewise.c: indices that are linear in the lanes of most vectors ------------------------- */

/* Are elements at the address adjacent in most vectors, although it is not linear? */
bool piecewise_is_run(const LaneFact *facts, const IrRegion *body, const IrInst *ptr);
/* Splits a body that is chosen for lanes by whether such indices are linear. */
void piecewise_split(const PassContext *ctx, IrKernel *kernel, const LaneBody *lanes);

/* access_shapes.c: do stores or updates like this one in its region cover all numbers of its cell,
 * of `step` bytes? Others need masks. */
bool shapes_cover_cell(const IrInst *access, int64_t step);

/* -- non_temporal.c: stores that bypass the caches. Decision D-pass-05 ------------------------- */

/* Marks such stores of a range task; `survey` is of its body. Sets `traffic` to the bytes that an
 * iteration reads and writes. */
void non_temporal_mark(const PassContext *ctx, const IrKernel *kernel, IrTask *task,
                       const LaneSurvey *survey);
/* Makes all stores of the task ordinary ones. */
void non_temporal_clear(IrTask *task);

#endif
