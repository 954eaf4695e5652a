/* planes.c - see planes.h. */
#include "pass/packed/planes.h"

#include "base/bits.h"

void planes_init(Planes *p, IrBuilder b) {
  *p = (Planes){.b = b};
  p->zero = ir_const_int(&p->b, TYPE(U32), 0);
  p->ones = ir_const_int(&p->b, TYPE(U32), UINT32_MAX);
}

bool planes_fail(Planes *p, const char *obstacle) {
  if (!p->obstacle) p->obstacle = obstacle;
  return false;
}

/* -- logic ------------------------------------------------------------------------------------- */

static IrInst *emit_logic(Planes *p, IrOp emit_logic, IrInst *x, IrInst *y) {
  DEBUG_ASSERT(type_is(x->type, TYPE_U32) && type_is(y->type, TYPE_U32), "a plane is a u32");
  return ir_binary(&p->b, emit_logic, x, y);
}

static bool are_opposite(const Planes *p, const IrInst *x, const IrInst *y) {
  return (x->op == IR_BXOR && x->operands[0] == y && x->operands[1] == p->ones) ||
         (y->op == IR_BXOR && y->operands[0] == x && y->operands[1] == p->ones);
}

IrInst *planes_and(Planes *p, IrInst *x, IrInst *y) {
  if (x == p->zero || y == p->zero || are_opposite(p, x, y)) return p->zero;
  if (x == p->ones || x == y) return y;
  return y == p->ones ? x : emit_logic(p, IR_BAND, x, y);
}

IrInst *planes_not(Planes *p, IrInst *x) {
  if (x == p->zero) return p->ones;
  if (x->op == IR_BXOR && x->operands[1] == p->ones) return x->operands[0];
  return x == p->ones ? p->zero : emit_logic(p, IR_BXOR, x, p->ones);
}

IrInst *planes_xor(Planes *p, IrInst *x, IrInst *y) {
  if (x == p->zero) return y;
  if (y == p->zero) return x;
  if (x == y) return p->zero;
  if (x == p->ones) return planes_not(p, y);
  return y == p->ones ? planes_not(p, x) : emit_logic(p, IR_BXOR, x, y);
}

IrInst *planes_or(Planes *p, IrInst *x, IrInst *y) {
  if (x == p->ones || y == p->ones || are_opposite(p, x, y)) return p->ones;
  if (x == p->zero || x == y) return y;
  return y == p->zero ? x : emit_logic(p, IR_BOR, x, y);
}

IrInst *planes_choose(Planes *p, IrInst *which, IrInst *yes, IrInst *no) {
  if (which == p->ones || yes == no) return yes;
  if (which == p->zero) return no;
  IrInst *chosen = planes_and(p, which, yes);
  return planes_or(p, chosen, planes_and(p, planes_not(p, which), no));
}

/* -- numbers ----------------------------------------------------------------------------------- */

static bool is_signed(const Sliced *x) { return x->least < 0; }

/* The number of bits that the numbers need, sign included. */
static int bits_needed(int64_t least, int64_t most) {
  int64_t largest = max_i64(most, least < 0 ? -least - 1 : 0);
  int bits = largest ? log2_floor((uint64_t)largest) + 1 : 0;
  return (int)max_i64(bits + (least < 0), 1);
}

/* A number with this range, whose planes are to be set; false: it is too large. */
static bool begin_number(Planes *p, int64_t least, int64_t most, Sliced *out) {
  ASSERT(least <= most, "a number's least value is not above its largest");
  int64_t end = (int64_t)1 << PLANES_MOST;
  if (most >= end || least < -end || bits_needed(least, most) > PLANES_MOST)
    return planes_fail(p, "its numbers are too large");
  *out = (Sliced){.count = bits_needed(least, most), .least = least, .most = most};
  return true;
}

static IrInst *plane(const Planes *p, const Sliced *x, int k) {
  ASSERT(x->count && !x->carry, "a pending carry is added before the planes are used");
  if (k < x->count) return x->planes[k];
  return is_signed(x) ? x->planes[x->count - 1] : p->zero;
}

/* Narrows the range to what the planes can hold, and drops planes that no number needs. */
static void trim(const Planes *p, Sliced *x) {
  while (x->count > 1 && !is_signed(x) && x->planes[x->count - 1] == p->zero) x->count--;
  while (x->count > 1 && is_signed(x) && x->planes[x->count - 1] == x->planes[x->count - 2])
    x->count--;
  int64_t end = (int64_t)1 << (x->count - is_signed(x));
  x->most = min_i64(x->most, end - 1);
  if (!is_signed(x)) return;
  x->least = x->planes[x->count - 1] == p->zero ? 0 : max_i64(x->least, -end);
  if (!is_signed(x)) trim(p, x);
}

Sliced planes_of_bit(IrInst *plane) { return (Sliced){1, 0, 1, {plane}, NULL}; }

static bool is_bit(const Sliced *x) { return !x->least && x->most == 1 && !x->carry; }

bool planes_of_constant(Planes *p, int64_t value, Sliced *out) {
  if (!begin_number(p, value, value, out)) return false;
  for (int k = 0; k < out->count; k++) out->planes[k] = value >> k & 1 ? p->ones : p->zero;
  return true;
}

/* -- sums -------------------------------------------------------------------------------------- */

/* Sets the planes to x + y + carry, or x + ~y + carry. */
static void add_planes(Planes *p, const Sliced *x, const Sliced *y, bool inverts, IrInst *carry,
                       Sliced *out) {
  for (int k = 0; k < out->count; k++) {
    IrInst *a = plane(p, x, k), *b = plane(p, y, k);
    if (inverts) b = planes_not(p, b);
    IrInst *half = planes_xor(p, a, b);
    out->planes[k] = planes_xor(p, half, carry);
    if (k + 1 == out->count) break;
    carry = planes_or(p, planes_and(p, a, b), planes_and(p, half, carry));
  }
  trim(p, out);
}

/* The number without its carry. */
static Sliced without_carry(const Sliced *x) {
  Sliced rest = *x;
  rest.most -= x->carry != NULL;
  rest.carry = NULL;
  return rest;
}

/* Adds a pending carry; false: the number would be too large. */
static bool add_carry(Planes *p, IrInst *carry, Sliced *x) {
  Sliced all;
  DEBUG_ASSERT(!x->carry, "a number has one carry");
  if (!carry) return true;
  x->carry = carry;
  x->most++;
  return begin_number(p, x->least, x->most, &all);
}

void planes_add_pending(Planes *p, Sliced *x) {
  if (!x->carry) return;
  Sliced rest = without_carry(x), none = {.count = 1, .planes = {p->zero}}, sum;
  if (!begin_number(p, x->least, x->most, &sum)) return;
  add_planes(p, &rest, &none, false, x->carry, &sum);
  *x = sum;
}

bool planes_add(Planes *p, Sliced *x, Sliced *y, Sliced *out) {
  const Sliced *number = is_bit(y) ? x : y, *bit = is_bit(y) ? y : x;
  if (is_bit(bit) && !number->carry) {
    *out = *number;
    return add_carry(p, bit->planes[0], out);
  }
  Sliced a = without_carry(x), b = without_carry(y);
  if (!begin_number(p, a.least + b.least, a.most + b.most + (x->carry || y->carry), out))
    return false;
  IrInst *carry = x->carry ? x->carry : y->carry;
  add_planes(p, &a, &b, false, carry ? carry : p->zero, out);
  return add_carry(p, x->carry ? y->carry : NULL, out);
}

bool planes_subtract(Planes *p, Sliced *x, Sliced *y, Sliced *out) {
  Sliced a = without_carry(x);
  planes_add_pending(p, y);
  if (!begin_number(p, a.least - y->most, a.most - y->least, out)) return false;
  add_planes(p, &a, y, true, p->ones, out);
  return add_carry(p, x->carry, out);
}

/* -- choices ----------------------------------------------------------------------------------- */

static int64_t power_of_two(int count) { return (int64_t)1 << count; }

bool planes_combine(Planes *p, IrOp by, Sliced *x, Sliced *y, Sliced *out) {
  planes_add_pending(p, x);
  planes_add_pending(p, y);
  bool has_sign = is_signed(x) || is_signed(y);
  int digits = (int)max_i64(x->count - is_signed(x), y->count - is_signed(y));
  if (!begin_number(p, has_sign ? -power_of_two(digits) : 0, power_of_two(digits) - 1, out))
    return false;
  for (int k = 0; k < out->count; k++) {
    IrInst *a = plane(p, x, k), *b = plane(p, y, k);
    out->planes[k] = by == IR_BAND  ? planes_and(p, a, b)
                     : by == IR_BOR ? planes_or(p, a, b)
                                    : planes_xor(p, a, b);
  }
  trim(p, out);
  return true;
}

bool planes_choose_number(Planes *p, IrInst *which, Sliced *yes, Sliced *no, Sliced *out) {
  if (which == p->ones || which == p->zero) {
    *out = which == p->ones ? *yes : *no;
    return true;
  }
  planes_add_pending(p, yes);
  planes_add_pending(p, no);
  if (!begin_number(p, min_i64(yes->least, no->least), max_i64(yes->most, no->most), out))
    return false;
  for (int k = 0; k < out->count; k++)
    out->planes[k] = planes_choose(p, which, plane(p, yes, k), plane(p, no, k));
  trim(p, out);
  return true;
}

/* -- tables ------------------------------------------------------------------------------------ */

typedef struct Lookup {
  const Sliced *x;
  const int64_t *values;
  int plane; /* of the value */
} Lookup;

/* The plane's bit for numbers x whose bits from `level` on are `pattern`; NULL: there is no such x.
 * */
static IrInst *table_bit(Planes *p, const Lookup *l, int level, uint32_t pattern) {
  if (!level) {
    bool is_negative = l->x->least < 0 && pattern >> (l->x->count - 1);
    int64_t n = is_negative ? (int64_t)pattern - power_of_two(l->x->count) : (int64_t)pattern;
    if (n < l->x->least || n > l->x->most) return NULL;
    return l->values[n - l->x->least] >> l->plane & 1 ? p->ones : p->zero;
  }
  IrInst *low = table_bit(p, l, level - 1, pattern),
         *high = table_bit(p, l, level - 1, pattern | 1u << (level - 1));
  if (!low || !high) return low ? low : high;
  return planes_choose(p, l->x->planes[level - 1], high, low);
}

bool planes_look_up(Planes *p, const Sliced *x, const int64_t *values, Sliced *out) {
  ASSERT(!x->carry && x->count <= PLANES_MOST_INDEX, "an index is small and has no pending carry");
  int64_t least = values[0], most = values[0];
  for (int64_t n = 1; n <= x->most - x->least; n++) {
    least = min_i64(least, values[n]);
    most = max_i64(most, values[n]);
  }
  if (!begin_number(p, least, most, out)) return false;
  for (int k = 0; k < out->count; k++)
    out->planes[k] = table_bit(p, &(Lookup){x, values, k}, x->count, 0);
  trim(p, out);
  return true;
}

/* -- words of bits ----------------------------------------------------------------------------- */

IrInst *planes_is_less(Planes *p, Sliced *x, Sliced *y) {
  Sliced difference;
  if (x->most < y->least) return p->ones;
  if (x->least >= y->most || !planes_subtract(p, x, y, &difference)) return p->zero;
  planes_add_pending(p, &difference);
  return is_signed(&difference) ? difference.planes[difference.count - 1] : p->zero;
}

IrInst *planes_are_equal(Planes *p, Sliced *x, Sliced *y) {
  if (x->most < y->least || x->least > y->most) return p->zero;
  planes_add_pending(p, x);
  planes_add_pending(p, y);
  IrInst *differ = p->zero;
  bool is_mixed = is_signed(x) != is_signed(y);
  int count =
      (int)max_i64(x->count + (is_mixed && !is_signed(x)), y->count + (is_mixed && !is_signed(y)));
  for (int k = 0; k < count; k++)
    differ = planes_or(p, differ, planes_xor(p, plane(p, x, k), plane(p, y, k)));
  return planes_not(p, differ);
}

IrInst *planes_is_any(Planes *p, Sliced *x) {
  IrInst *any = p->zero;
  planes_add_pending(p, x);
  for (int k = 0; k < x->count; k++) any = planes_or(p, any, x->planes[k]);
  return any;
}

IrInst *planes_is_positive(Planes *p, Sliced *x) {
  IrInst *any = planes_is_any(p, x);
  return is_signed(x) ? planes_and(p, any, planes_not(p, x->planes[x->count - 1])) : any;
}
