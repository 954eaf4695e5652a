/* lanes_cost.h - what a body would cost if several of its iterations ran side by side. */
#ifndef RG_PASS_LANES_COST_H
#define RG_PASS_LANES_COST_H

#include "ir/lanes.h"
#include "pass/pass.h"

typedef struct LaneSurvey {
  const PassContext *ctx;
  const IrKernel *kernel;
  const IrRegion *region;
  const LaneFact *facts;
  int width, vector_bytes;
  /* how often what is surveyed runs in one iteration; in `width` side by side, for any of them */
  double often, visits;
  int waiting;           /* loops around whose lanes wait for each other */
  /* cost of `width` iterations one by one, inner loops perhaps in lanes; and side by side */
  double alone, beside;
  bool is_simple;        /* LLVM's vectoriser takes it */
  bool fetches, is_atomic; /* elements ahead of their use; shared ones are updated */
  const char *obstacle;  /* what has no form in lanes; NULL: nothing */
  int32_t line;          /* of the obstacle */
} LaneSurvey;

LaneSurvey lanes_survey(const PassContext *ctx, const IrKernel *kernel, const LaneBody *body);

/* A serial loop, taken by itself: its iterations may run side by side. */
LaneBody lanes_of_loop(const IrInst *loop, int width);
/* As a whole, with all its turns: one after the other, and side by side. */
LaneSurvey lanes_survey_loop(const PassContext *ctx, const IrKernel *kernel, const IrInst *loop,
                             int width);

/* Of one op, in one iteration; an addition is 1. */
int lanes_op_cost(const IrInst *inst);

#endif
