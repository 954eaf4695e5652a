/* compare.c - comparisons that lose nothing: an i64 and an f32, a u64 and an i8 compare as numbers.
 * If one type holds both sides, they are converted to it. If none does:
 *
 *   i < f   with f as f64, 2^63 for i64 (2^64 and 0 for u64):
 *           f >= high  or  (f > low  and  i < int(ceil(f)))      NaN makes both false
 *   a < b   of signed a and u64 b:  a < 0  or  u64(a) < b */
#include <math.h>

#include "lower/lower.h"

static IrOp op_of(AstOp op) {
  switch (op) {
  case AST_EQ: return IR_EQ;
  case AST_NE: return IR_NE;
  case AST_LT: return IR_LT;
  case AST_LE: return IR_LE;
  case AST_GT: return IR_GT;
  default: return IR_GE;
  }
}

/* a op b  is  b mirrored(op) a */
static AstOp mirrored(AstOp op) {
  switch (op) {
  case AST_LT: return AST_GT;
  case AST_LE: return AST_GE;
  case AST_GT: return AST_LT;
  case AST_GE: return AST_LE;
  default: return op;
  }
}

static IrInst *compare_as(Lower *l, AstOp op, IrInst *a, IrInst *b, Type type) {
  a = lower_convert(l, a, type);
  return ir_binary(&l->b, op_of(op), a, lower_convert(l, b, type));
}

static IrInst *either(Lower *l, IrInst *a, IrInst *b) { return ir_binary(&l->b, IR_BOR, a, b); }
static IrInst *negated(Lower *l, IrInst *a) { return ir_unary(&l->b, IR_BNOT, a); }

/* A type that holds every value of both, or NONE. */
static Type common_type(Type a, Type b) {
  Type joined = a;
  type_join(a, b, &joined);
  bool a_float = type_is_float(a), b_float = type_is_float(b);
  if (a_float == b_float) {
    if (a_float || type_is_signed(a) == type_is_signed(b)) return joined;
    int unsigned_bits = type_bits(type_is_signed(a) ? b : a),
        signed_bits = type_bits(type_is_signed(a) ? a : b);
    if (unsigned_bits == 64) return TYPE(NONE);
    return unsigned_bits == 32 || signed_bits == 64 ? TYPE(I64) : TYPE(I32);
  }
  Type integer = a_float ? b : a, real = a_float ? a : b;
  if (type_bits(integer) == 64) return TYPE(NONE);
  if (type_bits(integer) == 32) return TYPE(F64);
  return type_bits(real) == 64 ? TYPE(F64) : TYPE(F32);
}

/* -- a signed integer with a u64 --------------------------------------------------------------- */

static IrInst *compare_mixed(Lower *l, AstOp op, IrInst *a, IrInst *b) {
  if (op == AST_NE) return negated(l, compare_mixed(l, AST_EQ, a, b));
  IrInst *zero = ir_const_int(&l->b, a->type, 0);
  bool is_below = op == AST_LT || op == AST_LE; /* a negative a is */
  IrInst *sign = ir_binary(&l->b, is_below ? IR_LT : IR_GE, a, zero);
  IrInst *size = compare_as(l, op, a, b, TYPE(U64));
  return is_below ? either(l, sign, size) : lower_and(l, sign, size);
}

/* -- a 64-bit integer with a float ------------------------------------------------------------- */

static IrInst *with_bound(Lower *l, IrOp op, IrInst *f, double bound) {
  return ir_binary(&l->b, op, f, ir_const_float(&l->b, TYPE(F64), bound));
}

static IrInst *with_rounded(Lower *l, IrOp op, IrInst *i, IrInst *f, IrOp round) {
  return ir_binary(&l->b, op, i, ir_convert(&l->b, ir_unary(&l->b, round, f), i->type));
}

static IrInst *compare_equal(Lower *l, IrInst *i, IrInst *f, double low, double high) {
  IrInst *above = with_bound(l, IR_GE, f, low), *below = with_bound(l, IR_LT, f, high);
  IrInst *inside = lower_and(l, above, below);
  IrInst *whole = ir_binary(&l->b, IR_EQ, ir_unary(&l->b, IR_FLOOR, f), f);
  IrInst *same = with_rounded(l, IR_EQ, i, f, IR_FLOOR);
  return lower_and(l, inside, lower_and(l, whole, same));
}

/* For `<` and `<=`, an f beyond `high` decides at once, for `>` and `>=` one beyond `low`; the
 * other bound ensures that f, rounded to an integer, is in range. */
static const struct OrderRow {
  AstOp op;
  bool is_below;
  IrOp decides, keeps, compares, rounds;
} order_rows[] = {
    {AST_LT, true, IR_GE, IR_GT, IR_LT, IR_CEIL},
    {AST_LE, true, IR_GE, IR_GE, IR_LE, IR_FLOOR},
    {AST_GT, false, IR_LT, IR_LT, IR_GT, IR_FLOOR},
    {AST_GE, false, IR_LE, IR_LT, IR_GE, IR_CEIL},
};

static IrInst *compare_with_float(Lower *l, AstOp op, IrInst *i, IrInst *f) {
  double high = ldexp(1, type_is_signed(i->type) ? 63 : 64),
         low = type_is_signed(i->type) ? -high : 0;
  f = lower_convert(l, f, TYPE(F64));
  if (op == AST_EQ) return compare_equal(l, i, f, low, high);
  if (op == AST_NE) return negated(l, compare_equal(l, i, f, low, high));
  const struct OrderRow *row = order_rows;
  while (row->op != op) row++;
  IrInst *decided = with_bound(l, row->decides, f, row->is_below ? high : low);
  IrInst *kept = with_bound(l, row->keeps, f, row->is_below ? low : high);
  IrInst *compared = with_rounded(l, row->compares, i, f, row->rounds);
  return either(l, decided, lower_and(l, kept, compared));
}

IrInst *lower_compare(Lower *l, AstOp op, IrInst *a, IrInst *b) {
  if (type_is_bool(a->type)) return ir_binary(&l->b, op_of(op), a, b);
  Type common = common_type(a->type, b->type);
  if (!type_is_none(common)) return compare_as(l, op, a, b, common);
  if (type_is_float(a->type) || (type_is_unsigned(a->type) && !type_is_float(b->type)))
    return lower_compare(l, mirrored(op), b, a);
  return type_is_float(b->type) ? compare_with_float(l, op, a, b) : compare_mixed(l, op, a, b);
}
