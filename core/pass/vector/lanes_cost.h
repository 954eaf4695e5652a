/* lanes_cost.h - estimates the cost of a body, scalar and vectorised. */
#ifndef RG_PASS_VECTOR_LANES_COST_H
#define RG_PASS_VECTOR_LANES_COST_H

#include "ir/lanes.h"
#include "pass/pass.h"

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
  int waiting; /* enclosing loops whose lanes have different trip counts, */
  /* and those of them that never run lane by lane: each lane reads along a list of its own */
  int scattered;
  /* cost of `width` iterations: scalar, with inner loops perhaps in lanes; and vectorised */
  double scalar_cost, vector_cost;
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

/* The cost of one scalar op, relative to an addition. */
int lanes_op_cost(const IrInst *inst);

#endif
