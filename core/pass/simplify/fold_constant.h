/* fold_constant.h - evaluates an op over constants. */
#ifndef RG_PASS_SIMPLIFY_FOLD_CONSTANT_H
#define RG_PASS_SIMPLIFY_FOLD_CONSTANT_H

#include "ir/ir.h"

/* All operands must be CONST; *imm receives the result. False for ops that are left to the machine:
 * mathematical functions, whose rounding depends on the libm, and the float modulo. */
bool fold_constant(const IrInst *inst, int64_t *imm);
/* Evaluates a value that depends only on `root`, which is `number`, and on constants. False: one of
 * its ops has more than three operands, or is left to the machine. */
bool fold_constant_at(const IrKernel *kernel, const IrInst *inst, const IrInst *root,
                      int64_t number, int64_t *imm);

#endif
