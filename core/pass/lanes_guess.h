/* lanes_guess.h - what is not known until it runs, guessed: how often loops turn and arms run. */
#ifndef RG_PASS_LANES_GUESS_H
#define RG_PASS_LANES_GUESS_H

#include "ir/ir.h"

typedef struct TurnGuess {
  double turns;
  bool is_known; /* both bounds are constants */
  bool is_even;  /* alike for most iterations, though the bounds depend on data */
} TurnGuess;

/* How often a serial loop turns, if both bounds are constants; else 0. */
int64_t lanes_turns(const IrInst *loop);
TurnGuess lanes_guess_turns(const IrInst *loop);

/* The share of its executions in which an `if` runs an arm. */
double lanes_guess_arm(const IrInst *inst, int arm);
/* A processor guesses it right, or needs not guess: an arm is a few operations, of which LLVM makes
 * selects. */
bool lanes_is_foreseen(const IrInst *inst);

#endif
