/* debug_number.c - integers that wrap, have no quotient, or do not fit: errors with debug = true,
 * except where wrapping is meant. Unsigned sums are modulo 2^n by definition. */
#include "lower/lower.h"

static const char *how_to_wrap(Type type) {
  return type_bits(type) < 64 ? "use an i64; unsigned integers, bit.* and explicit conversions wrap"
                              : "unsigned integers, bit.* and explicit conversions wrap";
}

static IrInst *fits(Lower *l, IrInst *value, IrInst *converted) {
  Type from = value->type, to = converted->type;
  IrInst *holds = NULL;
  if (type_bits(to) < type_bits(from))
    holds = ir_binary(&l->b, IR_EQ, ir_convert(&l->b, converted, from), value);
  if (type_is_signed(from) && type_is_unsigned(to))
    holds = lower_and(l, holds, ir_binary(&l->b, IR_GE, value, lower_number(l, from, 0)));
  if (type_is_unsigned(from) && type_is_signed(to) && type_bits(to) <= type_bits(from))
    holds = lower_and(l, holds, ir_binary(&l->b, IR_GE, converted, lower_number(l, to, 0)));
  return holds;
}

/* Does `to` hold the value's whole part? False for a NaN. */
static IrInst *has_whole(Lower *l, IrInst *value, Type to) {
  int bits = type_bits(to) - type_is_signed(to);
  double beyond = 2.0 * (double)((uint64_t)1 << (bits - 1));
  double least = type_is_signed(to) ? -beyond : 0;
  value = lower_convert(l, value, TYPE(F64));
  IrInst *low = ir_const_float(&l->b, TYPE(F64), bits > 52 && least < 0 ? least : least - 1);
  return lower_and(l, ir_binary(&l->b, bits > 52 && least < 0 ? IR_GE : IR_GT, value, low),
                   ir_binary(&l->b, IR_LT, value, ir_const_float(&l->b, TYPE(F64), beyond)));
}

bool lower_enter_wrap(Lower *l, bool may_wrap) {
  bool before = l->may_wrap;
  l->may_wrap |= may_wrap;
  return before;
}

bool lower_operator_wraps(AstOp op, Type type) {
  bool is_bits = (op >= AST_BAND && op <= AST_SAR) || op == AST_BNOT;
  bool is_sum = op == AST_ADD || op == AST_SUB || op == AST_MUL;
  return is_bits || (is_sum && type_is_unsigned(type));
}

void lower_check_convert(Lower *l, IrInst *value, IrInst *converted) {
  Type from = value->type, to = converted->type;
  IrInst *holds = NULL;
  if (!lower_checks(l, SEMA_DEBUG_ARITHMETIC) || !type_is_integer(to) || value->op == IR_CONST)
    return;
  if (type_is_float(from)) holds = has_whole(l, value, to);
  else if (type_is_integer(from) && !l->may_wrap) holds = fits(l, value, converted);
  if (!holds) return;
  const char *what = scratch_format(l->scratch, " does not fit into %s %s",
                                    type_is_signed(to) ? "an" : "a", type_text(to));
  lower_fail_unless(l, holds, RG_ERROR_ARITHMETIC, (const char *[]){"", what, NULL},
                    (IrInst *[]){value, NULL},
                    type_is_float(from) ? NULL
                                        : "to wrap on purpose, convert explicitly, as in "
                                          "rg.u8(..)");
}

/* For types below 64 bits: is a op b in an i64 equal to `result`? */
static IrInst *is_exact_narrow(Lower *l, IrOp op, IrInst *a, IrInst *b, IrInst *result) {
  Type wide = TYPE(I64);
  IrInst *exact = ir_binary(&l->b, op, ir_convert(&l->b, a, wide), ir_convert(&l->b, b, wide));
  return ir_binary(&l->b, IR_EQ, exact, ir_convert(&l->b, result, wide));
}

/* a + b wraps if both operands have the sign that the sum does not have. For a - b = r, check
 * a = r + b. */
static IrInst *is_exact_sum(Lower *l, IrInst *a, IrInst *b, IrInst *sum) {
  IrInst *overflow = ir_binary(&l->b, IR_BAND, ir_binary(&l->b, IR_BXOR, a, sum),
                               ir_binary(&l->b, IR_BXOR, b, sum));
  return ir_binary(&l->b, IR_GE, overflow, lower_number(l, a->type, 0));
}

/* a = 0 or (a * b // a = b and not a = -1 and b = least) */
static IrInst *is_exact_product(Lower *l, IrInst *a, IrInst *b, IrInst *product) {
  Type type = a->type;
  IrInst *back = ir_binary(&l->b, IR_EQ, ir_binary(&l->b, IR_FLOORDIV, product, a), b);
  IrInst *is_zero = ir_binary(&l->b, IR_EQ, a, lower_number(l, type, 0));
  IrInst *is_other = ir_binary(&l->b, IR_BOR, ir_binary(&l->b, IR_NE, a, lower_number(l, type, -1)),
                               ir_binary(&l->b, IR_NE, b, lower_number(l, type, INT64_MIN)));
  return ir_binary(&l->b, IR_BAND, ir_binary(&l->b, IR_BOR, is_zero, back), is_other);
}

static IrInst *is_exact(Lower *l, IrOp op, IrInst *a, IrInst *b, IrInst *result) {
  if (type_bits(a->type) < 64) return is_exact_narrow(l, op, a, b, result);
  if (op == IR_MUL) return is_exact_product(l, a, b, result);
  return op == IR_ADD ? is_exact_sum(l, a, b, result) : is_exact_sum(l, result, b, a);
}

void lower_check_negative(Lower *l, IrInst *value) {
  Type type = value->type;
  if (!lower_checks(l, SEMA_DEBUG_ARITHMETIC) || !type_is_integer(type) || !type_is_signed(type) ||
      l->may_wrap || value->op == IR_CONST)
    return;
  int64_t least = INT64_MIN >> (64 - type_bits(type));
  const char *text = scratch_format(l->scratch, ") is more than an %s holds", type_text(type));
  lower_fail_unless(l, ir_binary(&l->b, IR_NE, value, lower_number(l, type, least)),
                    RG_ERROR_ARITHMETIC, (const char *[]){"-(", text, NULL},
                    (IrInst *[]){value, NULL}, how_to_wrap(type));
}

static const char *sign_of(IrOp op) {
  switch (op) {
  case IR_ADD: return " + ";
  case IR_SUB: return " - ";
  case IR_MUL: return " * ";
  case IR_FLOORDIV: return " // ";
  case IR_MOD: return " % ";
  case IR_SHL: return " << ";
  case IR_SHR: return " >> ";
  default: return " ~>> ";
  }
}

static IrInst *is_count(Lower *l, IrInst *count, Type type) {
  return ir_binary(&l->b, IR_LT, ir_convert(&l->b, ir_convert(&l->b, count, TYPE(I64)), TYPE(U64)),
                   lower_number(l, TYPE(U64), type_bits(type)));
}

void lower_check_result(Lower *l, IrOp op, IrInst *a, IrInst *b, IrInst *result) {
  Type type = result->type;
  int64_t known;
  bool is_sum = op == IR_ADD || op == IR_SUB || op == IR_MUL;
  bool divides = op == IR_FLOORDIV || op == IR_MOD;
  bool shifts = op == IR_SHL || op == IR_SHR || op == IR_SAR;
  if (!lower_checks(l, SEMA_DEBUG_ARITHMETIC) || !type_is_integer(type)) return;
  const char *texts[] = {"", sign_of(op), NULL, NULL};
  IrInst *numbers[] = {a, b, NULL};
  if (is_sum && type_is_signed(type) && !l->may_wrap) {
    texts[2] = scratch_format(l->scratch, " is more than an %s holds", type_text(type));
    lower_fail_unless(l, is_exact(l, op, a, b, result), RG_ERROR_ARITHMETIC, texts, numbers,
                      how_to_wrap(type));
  } else if (divides && !(ir_is_const(b, &known) && known)) {
    texts[2] = ": a division by zero";
    lower_fail_unless(l, ir_binary(&l->b, IR_NE, b, lower_number(l, type, 0)), RG_ERROR_ARITHMETIC,
                      texts, numbers, NULL);
  } else if (shifts && !(ir_is_const(b, &known) && known >= 0 && known < type_bits(type))) {
    texts[2] = scratch_format(l->scratch,
                              ": a shift count must be from 0 to %d; others are taken modulo %d",
                              type_bits(type) - 1, type_bits(type));
    lower_fail_unless(l, is_count(l, b, type), RG_ERROR_ARITHMETIC, texts, numbers, NULL);
  }
}

/* -- reductions -------------------------------------------------------------------------------- */

/* Workers' partial sums may wrap although the result does not, depending on the schedule. So a sum
 * is also computed as an f64, and compared when the loop has ended.
 *
 *     local s = .. ; for i in ..  s += x      %exact = var f64; set %exact, s
 *                                             loop { reduce add s, x; reduce add %exact, x }
 *                                             if %exact is no i32 { fault } */
IrInst *lower_exact_of(Lower *l, const Local *local, IrUpdate op, IrInst *var) {
  bool may_wrap = op == IR_UPDATE_ADD || op == IR_UPDATE_SUB || op == IR_UPDATE_MUL;
  bool is_checked = may_wrap && type_is_integer(var->type) && type_is_signed(var->type);
  if (!is_checked || !lower_checks(l, SEMA_DEBUG_ARITHMETIC)) return NULL;
  for (int k = 0; k < l->exact.count; k++)
    if (l->exact.items[k].var == var) return l->exact.items[k].exact;
  IrBuilder b = {.kernel = l->b.kernel, .region = l->parallel->region, .before = l->parallel};
  Exact exact = {local, var, ir_var(&b, TYPE(F64)), l->expr_pos};
  ir_set(&b, exact.exact, ir_convert(&b, ir_get(&b, var), TYPE(F64)));
  vec_push(l->scratch, &l->exact, exact);
  return exact.exact;
}

void lower_check_exact(Lower *l) {
  for (int k = 0; k < l->exact.count; k++) {
    const Exact *exact = &l->exact.items[k];
    Type type = exact->var->type;
    double beyond = 2.0 * (double)((uint64_t)1 << (type_bits(type) - 2));
    IrInst *total = ir_get(&l->b, exact->exact);
    IrInst *low = ir_binary(&l->b, IR_GE, total, ir_const_float(&l->b, TYPE(F64), -beyond));
    IrInst *high = ir_binary(&l->b, IR_LT, total, ir_const_float(&l->b, TYPE(F64), beyond));
    const char *what = scratch_format(l->scratch, "'%.*s' becomes ", exact->local->name.length,
                                      exact->local->name.data);
    const char *more = scratch_format(l->scratch, ", more than an %s holds", type_text(type));
    lower_set_pos(l, exact->at);
    lower_fail_unless(l, lower_and(l, low, high), RG_ERROR_ARITHMETIC,
                      (const char *[]){what, more, NULL}, (IrInst *[]){total, NULL},
                      how_to_wrap(type));
  }
  l->exact.count = 0;
}
