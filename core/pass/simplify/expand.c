/* expand.c - instruction expansion: ops that no machine has, of numbers or of lanes, become the
 * sequences that compute them. It runs last, so that other passes see one op.
 *
 *     %r: u64 = random %key, %i, %n      =>    ten rounds of Philox4x32-10 (base/philox.h)
 *     %h: u64 = mulhi %a, %b             =>    four products of halves
 *     %k: i32 = convert %x (an f32)      =>    %k: i32 = convert inside of %x between the ends of
 *                                              the type; 0 if it is NaN
 *
 * Random numbers: the counter is the iteration followed by the block's number. LLVM merges the
 * blocks that several draws of one iteration share. Halves of 64-bit values (the low one by a mask,
 * the high one by a shift) stay 64 bits wide, since vectors multiply these without a shuffle, and
 * have no wider products.
 * Conversions: an integer outside of the type is undefined in LLVM, whose own saturating form is
 * split into lanes. What `inside` converts is then not used. Decisions D-codegen-01, D-pass-98. */
#include <math.h>

#include "base/philox.h"
#include "ir/lanes.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

/* -- random numbers ---------------------------------------------------------------------------- */

typedef struct Halves {
  IrBuilder b;
  Type type;            /* u64, or lanes of it */
  IrInst *mask, *width; /* of the low half; 32 */
} Halves;

static Halves halves_before(IrKernel *kernel, IrInst *inst) {
  Halves h = {.b = rewrite_before(kernel, inst), .type = inst->type};
  h.mask = ir_const_int(&h.b, h.type, UINT32_MAX);
  h.width = ir_const_int(&h.b, h.type, 32);
  return h;
}

static IrInst *low_half(Halves *h, IrInst *a) { return ir_binary(&h->b, IR_BAND, a, h->mask); }
static IrInst *high_half(Halves *h, IrInst *a) { return ir_binary(&h->b, IR_SHR, a, h->width); }
static IrInst *joined(Halves *h, IrInst *low, IrInst *high) {
  return ir_binary(&h->b, IR_BOR, low, ir_binary(&h->b, IR_SHL, high, h->width));
}
static IrInst *multiply(Halves *h, IrInst *a, IrInst *c) { return ir_binary(&h->b, IR_MUL, a, c); }
static IrInst *add(Halves *h, IrInst *a, IrInst *c) { return ir_binary(&h->b, IR_ADD, a, c); }

static IrInst *word_of(Halves *h, const IrInst *inst, int operand) {
  return ir_convert(&h->b, inst->operands[operand], h->type);
}

/* One Philox round on counter `c` with key `k`. */
static void philox_round(Halves *h, IrInst *c[4], IrInst *k[2]) {
  static const uint32_t multipliers[2] = PHILOX_MULTIPLIERS, steps[2] = PHILOX_STEPS;
  IrInst *product[2];
  for (int i = 0; i < 2; i++)
    product[i] = multiply(h, c[2 * i], ir_const_int(&h->b, h->type, multipliers[i]));
  for (int i = 0; i < 2; i++) {
    IrInst *mixed = ir_binary(&h->b, IR_BXOR, high_half(h, product[1 - i]), c[2 * i + 1]);
    c[2 * i] = ir_binary(&h->b, IR_BXOR, mixed, k[i]);
    c[2 * i + 1] = low_half(h, product[1 - i]);
    k[i] = low_half(h, add(h, k[i], ir_const_int(&h->b, h->type, steps[i])));
  }
}

static void expand_random(IrKernel *kernel, IrInst *inst) {
  Halves h = halves_before(kernel, inst);
  IrInst *key = word_of(&h, inst, 0), *index = word_of(&h, inst, 1), *number = word_of(&h, inst, 2);
  IrInst *one = ir_const_int(&h.b, h.type, 1), *block = ir_binary(&h.b, IR_SHR, number, one);
  IrInst *c[4] = {low_half(&h, index), high_half(&h, index), low_half(&h, block),
                  high_half(&h, block)};
  IrInst *k[2] = {low_half(&h, key), high_half(&h, key)};
  for (int round = 0; round < PHILOX_ROUNDS; round++) philox_round(&h, c, k);
  Type flag = ir_lanes_type(TYPE(BOOL), type_rows(h.type));
  IrInst *odd = ir_convert(&h.b, ir_binary(&h.b, IR_BAND, number, one), flag);
  IrInst *operands[] = {odd, joined(&h, c[2], c[3]), joined(&h, c[0], c[1])};
  rewrite_become(kernel, inst, IR_SELECT, 3, operands);
}

static void expand_mulhi(IrKernel *kernel, IrInst *inst) {
  Halves h = halves_before(kernel, inst);
  IrInst *low[2], *high[2];
  for (int i = 0; i < 2; i++) {
    IrInst *value = word_of(&h, inst, i);
    low[i] = low_half(&h, value);
    high[i] = high_half(&h, value);
  }
  IrInst *middle =
      add(&h, multiply(&h, high[0], low[1]), high_half(&h, multiply(&h, low[0], low[1])));
  IrInst *other = add(&h, multiply(&h, low[0], high[1]), low_half(&h, middle));
  IrInst *most = add(&h, multiply(&h, high[0], high[1]), high_half(&h, middle));
  IrInst *operands[] = {most, high_half(&h, other)};
  rewrite_become(kernel, inst, IR_ADD, 2, operands);
}

/* -- conversions ------------------------------------------------------------------------------- */

/* `a op c` ? yes : no, of lanes if these are */
static IrInst *choose(IrBuilder *b, IrOp op, IrInst *a, IrInst *c, IrInst *yes, IrInst *no) {
  Type flag = ir_lanes_type(TYPE(BOOL), type_rows(a->type));
  return ir_select(b, ir_emit(b, op, flag, 2, (IrInst *[]){a, c}), yes, no);
}

static IrInst *convert_inside(IrBuilder *b, IrInst *a, Type type) {
  IrInst *whole = ir_convert(b, a, type);
  whole->in_bounds = true;
  return whole;
}

/* Limits a float from below: to 0 for an unsigned type, to the least integer for a signed one. A
 * NaN becomes 0 for an unsigned type, else it stays NaN. */
static IrInst *at_least(IrBuilder *b, IrInst *a, Type to) {
  bool is_signed = type_is_signed(to);
  IrInst *least = ir_const_float(b, a->type, is_signed ? -ldexp(1, type_bits(to) - 1) : 0);
  return is_signed ? choose(b, IR_LT, a, least, least, a) : choose(b, IR_GT, a, least, a, least);
}

/* The largest integer of the type is a float if it has no more bits than floats have digits. */
static IrInst *saturated(IrBuilder *b, IrInst *a, Type to) {
  int digits = type_bits(to) - type_is_signed(to);
  double past = ldexp(1, digits);
  IrInst *x = at_least(b, a, to);
  if (digits <= type_digits(type_element(a->type))) {
    IrInst *most = ir_const_float(b, a->type, past - 1);
    return convert_inside(b, choose(b, IR_GT, x, most, most, x), to);
  }
  IrInst *end = ir_const_float(b, a->type, past);
  IrInst *most = ir_const_int(b, to, (int64_t)(~0ull >> (64 - digits)));
  return choose(b, IR_GE, x, end, most, convert_inside(b, x, to));
}

static void expand_convert(IrKernel *kernel, IrInst *inst) {
  IrBuilder b = rewrite_before(kernel, inst);
  IrInst *a = inst->operands[0];
  a = ir_convert(&b, a, ir_lanes_type(type_computed(type_element(a->type)), type_rows(a->type)));
  IrInst *whole = saturated(&b, a, inst->type);
  if (type_is_signed(type_element(inst->type)))
    whole = choose(&b, IR_NE, a, a, ir_const_int(&b, inst->type, 0), whole);
  rewrite_become(kernel, inst, whole->op, whole->operand_count, whole->operands);
  inst->in_bounds = whole->in_bounds;
  ir_delete(whole);
}

/* -- walking ----------------------------------------------------------------------------------- */

static bool saturates(const IrInst *inst) {
  return inst->op == IR_CONVERT && !inst->in_bounds && type_is_integer(type_element(inst->type)) &&
         type_is_float(type_element(inst->operands[0]->type));
}

static bool expand(void *data, IrInst *inst) {
  if (inst->op == IR_RANDOM) expand_random(data, inst);
  else if (inst->op == IR_MULHI) expand_mulhi(data, inst);
  else if (saturates(inst)) expand_convert(data, inst);
  return true;
}

bool pass_expand(PassContext *ctx, IrKernel *kernel, Error *err) {
  ir_walk_kernel(kernel, expand, kernel);
  for (int i = 0; i < kernel->tasks.count; i++) {
    const IrTask *task = kernel->tasks.items[i];
    if (task->counts) ir_walk_task(task->counts, expand, kernel);
    if (task->claim) ir_walk(task->claim, expand, kernel);
  }
  return true;
}
