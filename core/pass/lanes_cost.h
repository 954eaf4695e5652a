/* lanes_cost.h - what a body would cost if several of its iterations ran side by side. */
#ifndef RG_PASS_LANES_COST_H
#define RG_PASS_LANES_COST_H

#include "ir/lanes.h"
#include "pass/pass.h"

typedef struct LaneSurvey {
  const PassContext *ctx;
  const IrKernel *kernel;
  const LaneFact *facts;
  int width, vector_bytes;
  int64_t turns;         /* of the loops around */
  /* cost of one iteration, of whose inner loops some may run in lanes; of `width` side by side */
  int64_t alone, beside;
  bool is_simple;        /* LLVM's vectoriser takes it */
  bool fetches, is_atomic; /* elements ahead of their use; shared ones are updated */
  const char *obstacle;  /* what has no form in lanes; NULL: nothing */
  int32_t line;          /* of the obstacle */
} LaneSurvey;

LaneSurvey lanes_survey(const PassContext *ctx, const IrKernel *kernel, const LaneBody *body);

/* A serial loop, taken by itself: its iterations may run side by side. */
LaneBody lanes_of_loop(const IrInst *loop, int width);
/* How often it turns, if both bounds are constants; else 0. */
int64_t lanes_turns(const IrInst *loop);

#endif
