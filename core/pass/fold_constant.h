/* fold_constant.h - the value of an op over constants. */
#ifndef RG_PASS_FOLD_CONSTANT_H
#define RG_PASS_FOLD_CONSTANT_H

#include "ir/ir.h"

/* All operands are CONST: *imm receives the result. False for what is left to the machine:
 * mathematical functions, whose rounding depends on the libm, and the float modulo. */
bool fold_constant(const IrInst *inst, int64_t *imm);

#endif
