/* facts.c - see facts.h. */
#include "ir/facts.h"

#include "base/bits.h"

/* Insts that one query visits: an index that users write has fewer. */
enum { MOST_VISITS = 64 };

/* -- equality ---------------------------------------------------------------------------------- */

bool facts_same_operation(const IrInst *a, const IrInst *b) {
  bool same = a->op == b->op && type_equal(a->type, b->type) && a->imm == b->imm &&
              a->field == b->field && a->level == b->level && a->entry == b->entry &&
              a->tree == b->tree && a->axis_count == b->axis_count &&
              a->operand_count == b->operand_count;
#define NUMBER(member) same &= a->member == b->member;
#define FLAG(member) same &= a->member == b->member;
#define SHAPE(member) same &= a->member == b->member;
#define KNOWN(member)
#define ATTRIBUTE(member, word, kind, ops) kind(member)
#include "ir/attribute.def"
#undef ATTRIBUTE
#undef KNOWN
#undef SHAPE
#undef FLAG
#undef NUMBER
  for (int k = 0; same && a->offset && k < SNODE_MAX_AXES; k++) same = a->offset[k] == b->offset[k];
  for (int k = 0; same && a->extent && k < SNODE_MAX_AXES; k++) same = a->extent[k] == b->extent[k];
  return same;
}

static bool is_same_expression(const IrInst *a, const IrInst *b, bool through_loads, int *budget) {
  if (a == b) return true;
  if (!a || !b || --*budget < 0) return false;
  bool repeats = (ir_effects(a) & IR_PURE) && a->op != IR_PARAM;
  if (!repeats && !(through_loads && a->op == IR_LOAD)) return false;
  if (!facts_same_operation(a, b)) return false;
  for (int i = 0; i < a->operand_count; i++)
    if (!is_same_expression(a->operands[i], b->operands[i], through_loads, budget)) return false;
  return true;
}

bool facts_same_value(const IrInst *a, const IrInst *b) {
  int budget = MOST_VISITS;
  return is_same_expression(a, b, false, &budget);
}

bool facts_same_values(int count, IrInst *const *a, IrInst *const *b) {
  for (int i = 0; i < count; i++)
    if (!facts_same_value(a[i], b[i])) return false;
  return true;
}

bool facts_same_place(const IrInst *a, const IrInst *b) {
  DEBUG_ASSERT(a->op == IR_PLACE && b->op == IR_PLACE, "elements are named by places");
  return a->field == b->field && facts_same_values(a->operand_count, a->operands, b->operands);
}

static bool has_index_along(const IrInst *place, const IrInst *param) {
  for (int k = 0; k < place->operand_count; k++) {
    int64_t constant;
    if (facts_split_constant(place->operands[k], &constant) == param) return true;
  }
  return false;
}

bool facts_distinguishes_iterations(const IrInst *place, const IrRegion *region) {
  for (int k = 0; k < region->params.count; k++)
    if (!has_index_along(place, region->params.items[k])) return false;
  return true;
}

bool facts_is_own_place(const IrInst *place, const IrRegion *region) {
  if (place->op != IR_PLACE || place->operand_count != region->params.count) return false;
  for (int i = 0; i < place->operand_count; i++)
    if (place->operands[i] != region->params.items[i]) return false;
  return true;
}

bool facts_same_text(const IrInst *a, const IrInst *b) {
  int budget = MOST_VISITS;
  return is_same_expression(a, b, true, &budget);
}

/* -- invariance -------------------------------------------------------------------------------- */

/* Is it pure and computed from values outside, and perhaps from parameters of the region? */
static bool is_computed(const IrInst *value, const IrRegion *region, bool by_params, int *budget) {
  if (!ir_is_inside(value, region)) return true;
  if (value->op == IR_PARAM) return by_params && value->region == region;
  if (--*budget < 0 || value->regions[0] || !(ir_effects(value) & IR_PURE)) return false;
  for (int i = 0; i < value->operand_count; i++)
    if (!is_computed(value->operands[i], region, by_params, budget)) return false;
  return true;
}

bool facts_is_invariant(const IrInst *value, const IrRegion *region) {
  int budget = MOST_VISITS;
  return is_computed(value, region, false, &budget);
}

bool facts_is_of_params(const IrInst *value, const IrRegion *region) {
  int budget = MOST_VISITS;
  return is_computed(value, region, true, &budget);
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
  case IR_TREE_ROOT:
  case IR_AMBIENT: return true;
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

bool facts_is_launch_invariant(const IrInst *value) {
  int budget = MOST_VISITS;
  return is_of_launch(value, &budget);
}

bool facts_is_frame_value(const IrInst *value) {
  for (; value->op == IR_CONVERT; value = value->operands[0]) {
    Type from = value->operands[0]->type;
    if (!type_is_integer(from) || !type_is_integer(value->type) ||
        type_bits(from) != type_bits(value->type))
      return false;
  }
  return value->op == IR_FRAME_GET;
}

static bool is_bounds_check(const IrInst *condition, int *budget) {
  if (--*budget < 0) return false;
  if (condition->op == IR_BAND)
    return is_bounds_check(condition->operands[0], budget) &&
           is_bounds_check(condition->operands[1], budget);
  return condition->op == IR_LT && condition->operands[0]->op == IR_CONVERT &&
         type_is_integer(condition->operands[0]->type) &&
         !type_is_signed(condition->operands[0]->type);
}

bool facts_is_bounds_check(const IrInst *condition) {
  int budget = MOST_VISITS;
  return is_bounds_check(condition, &budget);
}

/* Are the mask's lanes all those of the body that pass a bounds check? */
static bool are_inside(const IrInst *mask, int *budget) {
  if (mask->op != IR_MASK_AND) return is_bounds_check(mask, budget);
  bool is_whole = mask->operands[0]->op == IR_PARAM || mask->operands[0]->op == IR_CONST;
  return (is_whole || are_inside(mask->operands[0], budget)) &&
         is_bounds_check(mask->operands[1], budget);
}

static bool are_outside(const IrInst *mask, int *budget) {
  return mask->op == IR_BNOT && are_inside(mask->operands[0], budget);
}

bool facts_is_failed_bounds_check(const IrInst *condition) {
  int budget = MOST_VISITS;
  if (condition->op != IR_MASK_ANY) return false;
  const IrInst *mask = condition->operands[0];
  return are_outside(mask, &budget) ||
         (mask->op == IR_MASK_AND && are_outside(mask->operands[1], &budget));
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

typedef struct Expansion {
  const IrRegion *scope;
  Affine *out;
  int budget;
} Expansion;

static bool add_term(Affine *sum, const IrInst *value, int64_t factor) {
  DEBUG_ASSERT(factor && sum->count <= FACTS_MAX_TERMS, "a term has a factor");
  for (int i = 0; i < sum->count; i++) {
    if (!facts_same_value(sum->values[i], value)) continue;
    if (__builtin_add_overflow(sum->factors[i], factor, &sum->factors[i])) return false;
    if (sum->factors[i]) return true;
    sum->values[i] = sum->values[--sum->count];
    sum->factors[i] = sum->factors[sum->count];
    return true;
  }
  if (sum->count == FACTS_MAX_TERMS) return false;
  sum->values[sum->count] = value;
  sum->factors[sum->count++] = factor;
  return true;
}

static bool is_widening(const IrInst *convert) {
  Type from = convert->operands[0]->type, to = convert->type;
  return type_is_integer(from) && type_is_integer(to) && type_bits(to) >= type_bits(from);
}

static bool is_small_shift(const IrInst *count) {
  int64_t number;
  return ir_is_const(count, &number) && number >= 0 && number < 31;
}

/* Is the value a sum of its operands, with constant factors? */
static bool is_sum(const IrInst *value) {
  int64_t number;
  switch (value->op) {
  case IR_ADD:
  case IR_SUB:
  case IR_NEG: return true;
  case IR_MUL:
    return ir_is_const(value->operands[0], &number) || ir_is_const(value->operands[1], &number);
  case IR_SHL: return is_small_shift(value->operands[1]);
  case IR_CONVERT: return is_widening(value);
  default: return false;
  }
}

/* The width modulo which the sum's value equals the sum: 64 for a conversion that changes no
 * value. */
static int bits_of_sum(const IrInst *sum) {
  Type from = sum->operands[0]->type, to = sum->type;
  bool is_exact = sum->op == IR_CONVERT && type_bits(to) > type_bits(from) &&
                  (type_is_signed(to) || !type_is_signed(from));
  return is_exact || (sum->op == IR_CONVERT && type_equal(from, to)) ? 64 : type_bits(to);
}

static bool expand_sum(Expansion *o, const IrInst *value, int64_t factor);

static bool expand_product(Expansion *o, const IrInst *value, int64_t factor, int64_t by) {
  int64_t product;
  return !__builtin_mul_overflow(factor, by, &product) &&
         (!product || expand_sum(o, value, product));
}

static bool expand_operands(Expansion *o, const IrInst *sum, int64_t factor) {
  IrInst *const *operands = sum->operands;
  int64_t by;
  switch (sum->op) {
  case IR_ADD: return expand_sum(o, operands[0], factor) && expand_sum(o, operands[1], factor);
  case IR_SUB:
    return expand_sum(o, operands[0], factor) && expand_product(o, operands[1], factor, -1);
  case IR_NEG: return expand_product(o, operands[0], factor, -1);
  case IR_SHL: return expand_product(o, operands[0], factor, (int64_t)1 << operands[1]->imm);
  case IR_MUL: /* `fold` makes a constant the right operand */
    if (ir_is_const(operands[1], &by)) return expand_product(o, operands[0], factor, by);
    return expand_product(o, operands[1], factor, operands[0]->imm);
  default: return expand_sum(o, operands[0], factor);
  }
}

static bool expand_sum(Expansion *o, const IrInst *value, int64_t factor) {
  int64_t number, product;
  if (--o->budget < 0) return false;
  if (ir_is_const(value, &number))
    return !__builtin_mul_overflow(number, factor, &product) &&
           !__builtin_add_overflow(o->out->constant, product, &o->out->constant);
  bool is_term = (o->scope && !ir_is_inside(value, o->scope)) || !is_sum(value);
  if (is_term) return add_term(o->out, value, factor);
  if (bits_of_sum(value) < o->out->bits) o->out->bits = bits_of_sum(value);
  return expand_operands(o, value, factor);
}

bool facts_affine(const IrInst *value, const IrRegion *scope, Affine *out) {
  *out = (Affine){.bits = 64};
  if (!type_is_integer(value->type)) return false;
  return expand_sum(&(Expansion){scope, out, MOST_VISITS}, value, 1);
}

bool facts_affine_add(Affine *sum, const Affine *other, int64_t factor) {
  int64_t product;
  if (other->bits < sum->bits) sum->bits = other->bits;
  if (__builtin_mul_overflow(other->constant, factor, &product) ||
      __builtin_add_overflow(sum->constant, product, &sum->constant))
    return false;
  for (int i = 0; i < other->count; i++)
    if (__builtin_mul_overflow(other->factors[i], factor, &product) ||
        !add_term(sum, other->values[i], product))
      return false;
  return true;
}

int64_t facts_factor(const Affine *sum, const IrInst *value) {
  DEBUG_ASSERT(value->op != IR_CONST, "constants are not terms");
  for (int i = 0; i < sum->count; i++)
    if (sum->values[i] == value) return sum->factors[i];
  return 0;
}

bool facts_affine_distance(const Affine *a, const Affine *b, int64_t *distance) {
  DEBUG_ASSERT(a->count <= FACTS_MAX_TERMS && b->count <= FACTS_MAX_TERMS, "both are sums");
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++) {
    int k = 0;
    while (k < b->count && !facts_same_value(a->values[i], b->values[k])) k++;
    if (k == b->count || a->factors[i] != b->factors[k]) return false;
  }
  return !__builtin_sub_overflow(b->constant, a->constant, distance);
}

bool facts_distance(const IrInst *a, const IrInst *b, int64_t *distance) {
  Affine first, second;
  return facts_affine(a, NULL, &first) && facts_affine(b, NULL, &second) &&
         facts_affine_distance(&first, &second, distance);
}

const IrInst *facts_without_remainder(const IrInst *value, int *bits) {
  int64_t by;
  bool is_mask = value->op == IR_BAND;
  *bits = 64;
  if ((!is_mask && value->op != IR_MOD) || !ir_is_const(value->operands[1], &by)) return value;
  if (by <= 0 || by >= INT32_MAX || !is_power_of_two((uint64_t)(by + is_mask))) return value;
  *bits = log2_floor((uint64_t)(by + is_mask));
  return value->operands[0];
}

/* The inst of `region` that is or contains `inst`; NULL: it is not inside. */
static const IrInst *part_of_region(const IrRegion *region, const IrInst *inst) {
  while (inst && inst->region != region) inst = inst->region ? inst->region->owner : NULL;
  return inst;
}

static bool is_before(const IrInst *first, const IrInst *second) {
  while (first && first != second) first = first->next;
  return first && first == second;
}

/* The variable's two SETs: the first, to a constant, where it is declared, and the other. */
static bool find_sets(const IrInst *var, const IrInst **first, const IrInst **other) {
  *first = *other = NULL;
  for (const IrUse *use = var->uses; use; use = use->next) {
    const IrInst *user = use->user, **set = user->region == var->region ? first : other;
    if (user->op == IR_GET) continue;
    if (user->op != IR_SET || *set) return false;
    *set = user;
  }
  return *first && *other && (*first)->operands[1]->op == IR_CONST;
}

static bool is_get_of(const IrInst *inst, const IrInst *var) {
  return inst->op == IR_GET && inst->operands[0] == var;
}

bool facts_are_exchanged(const IrInst *a, const IrInst *b) {
  if (a->op != IR_GET || b->op != IR_GET) return false;
  const IrInst *x = a->operands[0], *y = b->operands[0], *x_first, *y_first, *x_set, *y_set;
  if (x == y || x->region != y->region || !type_equal(x->type, y->type) ||
      !find_sets(x, &x_first, &x_set) || !find_sets(y, &y_first, &y_set))
    return false;
  const IrRegion *loop = x_set->region;
  const IrInst *from_y = x_set->operands[1], *from_x = y_set->operands[1],
               *around = part_of_region(x->region, loop->owner), *reader = part_of_region(loop, a);
  if (y_set->region != loop || !is_get_of(from_y, y) || !is_get_of(from_x, x) ||
      from_x->region != loop || from_y->region != loop ||
      x_first->operands[1]->imm == y_first->operands[1]->imm || !is_before(x_first, around) ||
      !is_before(y_first, around))
    return false;
  const IrInst *early = is_before(x_set, y_set) ? x_set : y_set,
               *late = early == x_set ? y_set : x_set;
  for (const IrInst *at = early->next; at != late; at = at->next)
    if (at->op != IR_GET && !(ir_effects(at) & IR_PURE)) return false;
  return is_before(from_x, early) && is_before(from_y, early) && reader && reader->regions[0] &&
         reader == part_of_region(loop, b);
}

/* Both are sums modulo a power of two, and so are their low bits. */
bool facts_differ(const IrInst *a, const IrInst *b) {
  Affine sum, other;
  int bits, bits_of_b;
  const IrInst *x = facts_without_remainder(a, &bits), *y = facts_without_remainder(b, &bits_of_b);
  if (bits != bits_of_b) x = a, y = b, bits = 64;
  if (!facts_affine(x, NULL, &sum) || !facts_affine(y, NULL, &other)) return false;
  if (!facts_affine_add(&sum, &other, -1)) return false;
  if (sum.bits < bits) bits = sum.bits;
  for (int i = 0; i < sum.count; i++) {
    int twos = __builtin_ctzll((uint64_t)sum.factors[i]);
    if (twos < bits) bits = twos;
  }
  return (uint64_t)sum.constant & (bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX);
}

/* -- numeric loops ----------------------------------------------------------------------------- */

int64_t facts_step(const IrInst *loop) {
  int64_t step = 0;
  return loop->op == IR_FOR && ir_is_const(loop->operands[2], &step) ? step : 0;
}

bool facts_bounds(const IrInst *loop, int64_t *begin, int64_t *last) {
  return loop->op == IR_FOR && ir_is_const(loop->operands[0], begin) &&
         ir_is_const(loop->operands[1], last);
}

int64_t facts_trip_count(const IrInst *loop) {
  int64_t begin, last, step = facts_step(loop);
  if (!step || !facts_bounds(loop, &begin, &last)) return -1;
  if (step > 0 ? last < begin : begin < last) return 0;
  uint64_t distance =
      step > 0 ? (uint64_t)last - (uint64_t)begin : (uint64_t)begin - (uint64_t)last;
  uint64_t after_first = distance / (step > 0 ? (uint64_t)step : -(uint64_t)step);
  return after_first < INT64_MAX ? (int64_t)after_first + 1 : INT64_MAX;
}

bool facts_reads_after(const IrInst *load, const IrInst *store, int64_t *iterations, bool *never) {
  const IrInst *from = load->operands[0], *to = store->operands[0], *loop = load->region->owner;
  int64_t bytes, step = loop ? facts_step(loop) : 0;
  Affine index;
  if (!step || step == INT64_MIN || from->op != IR_OFFSET || to->op != IR_OFFSET) return false;
  if (from->stride != to->stride || !facts_same_value(from->operands[0], to->operands[0]))
    return false;
  if (!facts_distance(from->operands[1], to->operands[1], &bytes)) return false;
  if (!facts_affine(from->operands[1], load->region, &index)) return false;
  bytes = bytes * from->stride + to->imm - from->imm;
  int64_t moves = step * facts_factor(&index, load->region->params.items[0]) * from->stride;
  *iterations = moves ? bytes / moves : 1;
  *never = moves ? bytes % moves || *iterations <= 0 : bytes;
  return true;
}

/* -- conditions -------------------------------------------------------------------------------- */

static bool is_same_condition(const IrInst *a, const IrInst *b) {
  return a == b || (a->op == IR_GET && b->op == IR_GET && a->operands[0] == b->operands[0]);
}

/* Is the inst in the first arm of an `if` on this condition? */
static bool is_guarded_by(const IrInst *inst, const IrInst *condition) {
  for (const IrRegion *in = inst->region; in && in->owner; in = in->owner->region)
    if (in->owner->op == IR_IF && is_same_condition(in->owner->operands[0], condition))
      return in == in->owner->regions[0];
  return false;
}

IrInst *facts_implied_by(const IrInst *variable) {
  IrInst *first = NULL;
  for (const IrUse *use = variable->uses; use; use = use->next) {
    const IrInst *set = use->user;
    if (set->op == IR_SET && set->region == variable->region) {
      if (first) return NULL;
      first = set->operands[1];
    }
  }
  for (const IrUse *use = first ? variable->uses : NULL; use; use = use->next)
    if (use->user->op == IR_SET && use->user->region != variable->region &&
        !is_guarded_by(use->user, first))
      return NULL;
  return first;
}
