/* derivative.h - the derivative of each op, read from derivative.def. */
#ifndef RG_PASS_GRADIENT_DERIVATIVE_H
#define RG_PASS_GRADIENT_DERIVATIVE_H

#include "ir/ir.h"

typedef enum DerivativeClass {
  DERIVATIVE_NO_ROW,
  DERIVATIVE_SMOOTH,
  DERIVATIVE_FLAT,
  DERIVATIVE_FLOW,
  DERIVATIVE_UNREPEATABLE
} DerivativeClass;
DerivativeClass derivative_class(IrOp op);

/* What a derivative needs: a bit per operand, and one for the result. */
enum { DERIVATIVE_NEEDS_RESULT = 1 << 3 };

/* The values of the op that its derivative with respect to operand k needs. */
unsigned derivative_needs(IrOp op, int k);

/* Copies of an op's operands and result, where its derivative is emitted; NULL: not needed. */
typedef struct DerivativeOf {
  IrOp op;
  IrInst *operands[3], *result;
  Type type; /* of operand k, which may differ from that of the result */
} DerivativeOf;

/* Emits the contribution of the result's adjoint `g` to the adjoint of operand k; NULL: 0. */
IrInst *derivative_pull(IrBuilder *b, const DerivativeOf *of, int k, IrInst *g);

#endif
