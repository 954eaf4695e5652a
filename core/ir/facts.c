/* facts.c - see facts.h. */
#include "ir/facts.h"

#include "base/bits.h"

enum { MOST_VISITS = 64 };

/* -- equality ---------------------------------------------------------------------------------- */

bool facts_same_operation(const IrInst *a, const IrInst *b) {
  bool same = a->op == b->op && type_equal(a->type, b->type) && a->imm == b->imm &&
              a->field == b->field && a->level == b->level && a->entry == b->entry &&
              a->tree == b->tree && a->axis_count == b->axis_count &&
              a->operand_count == b->operand_count;
#define NUMBER(member) same &= a->member == b->member;
#define FLAG(member) same &= a->member == b->member;
#define ATTRIBUTE(member, word, kind, ops) kind(member)
#include "ir/attribute.def"
#undef ATTRIBUTE
#undef FLAG
#undef NUMBER
  for (int k = 0; same && a->offset && k < SNODE_MAX_AXES; k++) same = a->offset[k] == b->offset[k];
  for (int k = 0; same && a->extent && k < SNODE_MAX_AXES; k++) same = a->extent[k] == b->extent[k];
  return same;
}

static bool is_same(const IrInst *a, const IrInst *b, bool through_loads, int *budget) {
  if (a == b) return true;
  if (!a || !b || --*budget < 0) return false;
  bool repeats = (ir_effects(a) & IR_PURE) && a->op != IR_PARAM;
  if (!repeats && !(through_loads && a->op == IR_LOAD)) return false;
  if (!facts_same_operation(a, b)) return false;
  for (int i = 0; i < a->operand_count; i++)
    if (!is_same(a->operands[i], b->operands[i], through_loads, budget)) return false;
  return true;
}

bool facts_same_value(const IrInst *a, const IrInst *b) {
  int budget = MOST_VISITS;
  return is_same(a, b, false, &budget);
}

bool facts_same_text(const IrInst *a, const IrInst *b) {
  int budget = MOST_VISITS;
  return is_same(a, b, true, &budget);
}

/* -- invariance -------------------------------------------------------------------------------- */

static bool is_invariant(const IrInst *value, const IrRegion *region, int *budget) {
  if (!ir_is_inside(value, region)) return true;
  if (--*budget < 0 || value->op == IR_PARAM || !(ir_effects(value) & IR_PURE)) return false;
  for (int i = 0; i < value->operand_count; i++)
    if (!is_invariant(value->operands[i], region, budget)) return false;
  return true;
}

bool facts_is_invariant(const IrInst *value, const IrRegion *region) {
  int budget = MOST_VISITS;
  return is_invariant(value, region, &budget);
}

bool facts_uses_only_outside(const IrInst *inst, const IrRegion *region) {
  for (int i = 0; i < inst->operand_count; i++)
    if (ir_is_inside(inst->operands[i], region)) return false;
  return true;
}

static bool is_of_launch(const IrInst *value, int *budget) {
  if (--*budget < 0) return false;
  switch (value->op) {
  case IR_CONST:
  case IR_ARG:
  case IR_FRAME_GET:
  case IR_TREE_ROOT: return true;
  case IR_PARAM:
  case IR_PLACE:
  case IR_CELL:
  case IR_RANDOM: return false;
  default: break;
  }
  if (!(ir_effects(value) & IR_PURE) || !value->operand_count) return false;
  for (int i = 0; i < value->operand_count; i++)
    if (!is_of_launch(value->operands[i], budget)) return false;
  return true;
}

bool facts_is_of_launch(const IrInst *value) {
  int budget = MOST_VISITS;
  return is_of_launch(value, &budget);
}

/* -- sums -------------------------------------------------------------------------------------- */

const IrInst *facts_split_constant(const IrInst *value, int64_t *constant) {
  int64_t number;
  for (*constant = 0; value->op == IR_ADD || value->op == IR_SUB; value = value->operands[0]) {
    if (!ir_is_const(value->operands[1], &number) ||
        (value->op == IR_ADD ? __builtin_add_overflow(*constant, number, constant)
                             : __builtin_sub_overflow(*constant, number, constant)))
      break;
  }
  return value;
}

typedef struct Opening {
  const IrRegion *scope;
  Affine *out;
  int budget;
} Opening;

static bool add_term(Affine *sum, const IrInst *value, int64_t factor) {
  for (int i = 0; i < sum->count; i++) {
    if (!facts_same_value(sum->values[i], value)) continue;
    if (__builtin_add_overflow(sum->factors[i], factor, &sum->factors[i])) return false;
    if (sum->factors[i]) return true;
    sum->values[i] = sum->values[--sum->count];
    sum->factors[i] = sum->factors[sum->count];
    return true;
  }
  if (sum->count == FACTS_MOST_TERMS) return false;
  sum->values[sum->count] = value;
  sum->factors[sum->count++] = factor;
  return true;
}

static bool open_sum(Opening *o, const IrInst *value, int64_t factor);

/* Opens a product with a constant; `fold` makes the constant the right operand, so tries it
 * first. */
static bool open_product(Opening *o, const IrInst *value, int64_t factor) {
  int64_t by, product;
  for (int side = 1; side >= 0; side--)
    if (ir_is_const(value->operands[side], &by))
      return !__builtin_mul_overflow(factor, by, &product) &&
             (!product || open_sum(o, value->operands[1 - side], product));
  return add_term(o->out, value, factor);
}

static bool widens(const IrInst *convert) {
  Type from = convert->operands[0]->type, to = convert->type;
  return type_is_integer(from) && type_is_integer(to) && type_bits(to) >= type_bits(from);
}

static bool open_inside(Opening *o, const IrInst *value, int64_t factor) {
  int64_t negative, shifted, count;
  switch (value->op) {
  case IR_ADD:
    return open_sum(o, value->operands[0], factor) && open_sum(o, value->operands[1], factor);
  case IR_SUB:
    return !__builtin_sub_overflow((int64_t)0, factor, &negative) &&
           open_sum(o, value->operands[0], factor) && open_sum(o, value->operands[1], negative);
  case IR_NEG:
    return !__builtin_sub_overflow((int64_t)0, factor, &negative) &&
           open_sum(o, value->operands[0], negative);
  case IR_MUL: return open_product(o, value, factor);
  case IR_SHL:
    if (!ir_is_const(value->operands[1], &count) || count < 0 || count >= 31) break;
    return !__builtin_mul_overflow(factor, (int64_t)1 << count, &shifted) &&
           open_sum(o, value->operands[0], shifted);
  case IR_CONVERT:
    if (widens(value)) return open_sum(o, value->operands[0], factor);
    break;
  default: break;
  }
  return add_term(o->out, value, factor);
}

static bool open_sum(Opening *o, const IrInst *value, int64_t factor) {
  int64_t number, product;
  if (--o->budget < 0) return false;
  if (type_bits(value->type) < o->out->bits) o->out->bits = type_bits(value->type);
  if (ir_is_const(value, &number))
    return !__builtin_mul_overflow(number, factor, &product) &&
           !__builtin_add_overflow(o->out->constant, product, &o->out->constant);
  if (o->scope && !ir_is_inside(value, o->scope)) return add_term(o->out, value, factor);
  return open_inside(o, value, factor);
}

bool facts_affine(const IrInst *value, const IrRegion *scope, Affine *out) {
  *out = (Affine){.bits = 64};
  if (!type_is_integer(value->type)) return false;
  return open_sum(&(Opening){scope, out, MOST_VISITS}, value, 1);
}

int64_t facts_factor(const Affine *sum, const IrInst *value) {
  for (int i = 0; i < sum->count; i++)
    if (sum->values[i] == value) return sum->factors[i];
  return 0;
}

bool facts_affine_distance(const Affine *a, const Affine *b, int64_t *distance) {
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++) {
    int k = 0;
    while (k < b->count && !facts_same_value(a->values[i], b->values[k])) k++;
    if (k == b->count || a->factors[i] != b->factors[k]) return false;
  }
  return !__builtin_sub_overflow(b->constant, a->constant, distance);
}

/* -- dependence -------------------------------------------------------------------------------- */

static bool are_terms_fixed(const Affine *sum, const IrInst *param, const IrRegion *body) {
  for (int i = 0; i < sum->count; i++)
    if (sum->values[i] != param && !facts_is_invariant(sum->values[i], body)) return false;
  return true;
}

static bool is_below_wrap(int64_t constants, int bits) {
  int64_t half = bits >= 64 ? INT64_MAX : (int64_t)1 << (bits - 1);
  return constants < half && constants > -half;
}

/* k + x = l + y holds, also modulo 2^bits, for only one difference of the iterations k and l, since
 * a loop index has no more bits than the sum. With factors other than 1 and -1, indices may wrap to
 * the same element again. */
static FactsMeet meet_of_sums(const Affine *a, const Affine *b, const IrRegion *body,
                              int64_t *distance) {
  const IrInst *param = body->params.items[0];
  int64_t constants, factor = facts_factor(a, param);
  if (!facts_affine_distance(a, b, &constants) || !are_terms_fixed(a, param, body) ||
      !is_below_wrap(constants, a->bits < b->bits ? a->bits : b->bits))
    return MEET_UNKNOWN;
  if (!factor) return constants ? MEET_NEVER : MEET_UNKNOWN;
  if (factor != 1 && factor != -1) return MEET_UNKNOWN;
  *distance = factor == 1 ? -constants : constants;
  return MEET_AT;
}

/* Expands sums from outside the loop, too, if that gives few terms; else only those inside. */
FactsMeet facts_meet_on_axis(const IrInst *a, const IrInst *b, const IrInst *loop,
                             int64_t *distance) {
  const IrRegion *body = loop->regions[0], *scopes[2] = {NULL, body};
  FactsMeet meet = MEET_UNKNOWN;
  for (int i = 0; i < 2 && meet == MEET_UNKNOWN; i++) {
    Affine first, second;
    if (facts_affine(a, scopes[i], &first) && facts_affine(b, scopes[i], &second))
      meet = meet_of_sums(&first, &second, body, distance);
  }
  return meet;
}

FactsMeet facts_meet(const IrInst *a, const IrInst *b, const IrInst *loop, int64_t *distance) {
  FactsMeet known = MEET_UNKNOWN;
  DEBUG_ASSERT(a->op == IR_PLACE && b->op == IR_PLACE && a->field == b->field,
               "two places of one field are compared");
  for (int axis = 0; axis < a->operand_count; axis++) {
    int64_t here;
    FactsMeet meet = facts_meet_on_axis(a->operands[axis], b->operands[axis], loop, &here);
    if (meet == MEET_NEVER) return MEET_NEVER;
    if (meet == MEET_UNKNOWN) continue;
    if (known == MEET_AT && *distance != here) return MEET_NEVER;
    known = MEET_AT;
    *distance = here;
  }
  return known;
}
