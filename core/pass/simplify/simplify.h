/* simplify.h - simplifications that other passes apply to a body of their own. */
#ifndef RG_PASS_SIMPLIFY_SIMPLIFY_H
#define RG_PASS_SIMPLIFY_SIMPLIFY_H

#include "pass/pass.h"

/* fold.c: folds one body or function, of the kernel or not in it yet. */
void fold_alone(PassContext *ctx, IrKernel *kernel, IrRegion *body);
/* mem2reg.c: promotes the variables of one body or function, and folds what that changes. */
void mem2reg_alone(PassContext *ctx, IrKernel *kernel, IrRegion *body);

/* -- fold_constant.c --------------------------------------------------------------------------- */

/* All operands must be CONST; *imm receives the result. False for ops that are left to the machine:
 * mathematical functions, whose rounding depends on the libm, and the float modulo. */
bool fold_constant(const IrInst *inst, int64_t *imm);
/* Evaluates a value that depends only on `root`, which is `number`, and on constants. False: one of
 * its ops has more than three operands, or is left to the machine. */
bool fold_constant_at(const IrKernel *kernel, const IrInst *inst, const IrInst *root,
                      int64_t number, int64_t *imm);

/* -- early_exits.c ----------------------------------------------------------------------------- */

/* Replaces a LOOP that runs only once (its last inst leaves it) by its insts, if all earlier exits
 * can become arms. Exits to outer loops then cross one loop less. False: nothing changed. */
bool exits_dissolve(IrInst *loop);

/* Turns the exits that only end the loop's iteration into arms. False: some cannot become arms, and
 * nothing changed. */
bool exits_sink(IrInst *loop);

/* Which exits a loop has, also those in loops inside it. */
typedef struct LoopExits {
  bool breaks;    /* a break of just this loop */
  bool continues; /* a continue of just this loop */
  bool outer;     /* an exit to a loop around it, or a return */
} LoopExits;
LoopExits exits_of(const IrInst *loop);
/* For insts that are moved out of their loop: exits to outer loops then cross one loop less. */
void exits_cross_less(IrRegion *region);

/* -- flatten.c: if-conversion ------------------------------------------------------------------ */

/* Turns a LOOP whose last inst leaves it into straight-line code: IFs into selects, variables into
 * values. IFs, breaks of just this loop, variables and pure insts are allowed. */
void flatten_loop(IrKernel *kernel, IrInst *loop);

#endif
