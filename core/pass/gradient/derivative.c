/* derivative.c - reads derivative.def twice: as expressions that emit IR, and as the sets of values
 * that these use. */
#include "pass/gradient/derivative.h"

static const uint8_t classes[IR_OP_COUNT] = {
#define RULE(NAME, CLASS) [IR_##NAME] = DERIVATIVE_##CLASS,
#define PULL(NAME, K, EXPR)
#include "pass/gradient/derivative.def"
#undef PULL
#undef RULE
};

DerivativeClass derivative_class(IrOp op) {
  DerivativeClass class = (DerivativeClass)classes[op];
  ASSERT(class != DERIVATIVE_NO_ROW || !(ir_op_info[op].flags & IR_PURE), "a value has a row");
  return class;
}

/* Operand k of an op as one number. */
#define KEY(OP, K) ((OP) * 4 + (K))

/* -- as sets of values ------------------------------------------------------------------------- */

#define RULE(NAME, CLASS)
#define PULL(NAME, K, EXPR) \
  case KEY(IR_##NAME, K): return EXPR;
#define G 0u
#define A 1u
#define B 2u
#define C 4u
#define Y ((unsigned)DERIVATIVE_NEEDS_RESULT)
#define NUMBER(X) 0u
#define UNARY(OP, X) (X)
#define BINARY(OP, X, Z) ((X) | (Z))
#define CHOOSE(IF, X, Z) ((IF) | (X) | (Z))
#define TO_TYPE_OF(LIKE, X) (X)
#define TIMES(X, Z) BINARY(MUL, X, Z)
#define OVER(X, Z) BINARY(DIV, X, Z)
#define PLUS(X, Z) BINARY(ADD, X, Z)
#define MINUS(X, Z) BINARY(SUB, X, Z)
#define NEGATIVE(X) UNARY(NEG, X)

unsigned derivative_needs(IrOp op, int k) {
  switch (KEY((int)op, k)) {
#include "pass/gradient/derivative.def"
  default: return 0;
  }
}

#undef G
#undef A
#undef B
#undef C
#undef Y
#undef NUMBER
#undef UNARY
#undef BINARY
#undef CHOOSE
#undef TO_TYPE_OF
#undef PULL

/* -- as insts ---------------------------------------------------------------------------------- */

#define PULL(NAME, K, EXPR) \
  case KEY(IR_##NAME, K): return EXPR;
#define G g
#define A of->operands[0]
#define B of->operands[1]
#define C of->operands[2]
#define Y of->result
#define NUMBER(X) ir_const_float(b, of->type, X)
#define UNARY(OP, X) ir_unary(b, IR_##OP, X)
#define BINARY(OP, X, Z) ir_binary(b, IR_##OP, X, Z)
#define CHOOSE(IF, X, Z) ir_select(b, IF, X, Z)
#define TO_TYPE_OF(LIKE, X) ir_convert(b, X, of->type)

IrInst *derivative_pull(IrBuilder *b, const DerivativeOf *of, int k, IrInst *g) {
  ASSERT(derivative_class(of->op) == DERIVATIVE_SMOOTH, "the op has a derivative");
  DEBUG_ASSERT(type_is_float(of->type), "only floats have derivatives");
  switch (KEY((int)of->op, k)) {
#include "pass/gradient/derivative.def"
  default: return NULL;
  }
}
