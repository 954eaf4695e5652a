/* lanes_guess.h - static guesses of trip counts and branch probabilities. Decision D-pass-08. */
#ifndef RG_PASS_VECTOR_LANES_GUESS_H
#define RG_PASS_VECTOR_LANES_GUESS_H

#include "pass/pass.h"

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

#endif
