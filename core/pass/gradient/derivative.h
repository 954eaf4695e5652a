/* derivative.h - the derivative of each op, read from derivative.def. */
#ifndef RG_PASS_GRADIENT_DERIVATIVE_H
#define RG_PASS_GRADIENT_DERIVATIVE_H

#include "ir/ir.h"

typedef enum DerivativeClass {
  DERIVATIVE_SMOOTH,
  DERIVATIVE_FLAT,
  DERIVATIVE_PLAIN,
  DERIVATIVE_FLOW,
  DERIVATIVE_LOST,
  DERIVATIVE_LATER
} DerivativeClass;
DerivativeClass derivative_class(IrOp op);

/* What a derivative needs: a bit per operand, and one for the result. */
enum { DERIVATIVE_NEEDS_RESULT = 1 << 3 };

/* The values of the op that the derivative of its operand k needs. */
unsigned derivative_needs(IrOp op, int k);

/* The values of one op where its derivative is emitted; NULL: not needed. */
typedef struct DerivativeOf {
  IrOp op;
  IrInst *operands[3], *result;
  Type type; /* of operand k, which may differ from that of the result */
} DerivativeOf;

/* Emits what the adjoint `g` of the result adds to that of operand k. NULL: nothing. */
IrInst *derivative_pull(IrBuilder *b, const DerivativeOf *of, int k, IrInst *g);

#endif
