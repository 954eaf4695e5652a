/* vectorise_roots.c - quotients by square roots and their cubes in a body in lanes, which rules of
 * pass/simplify/rules.def find under fast_math. The reciprocal becomes an op of its own, which all
 * quotients by one root share:
 *
 *     %q: f32 = div.cube %a, %cube, %x    =>    %r: f32x16 = rsqrt.cube %cube, %x
 *                                               %q: f32x16 = mul %a, %r
 *
 * If %a is the product of a number that all lanes share and another one, as in m * d / r^3, the
 * shared number is multiplied with the reciprocal, so that quotients with several d share this
 * product, too. If %x is a sum of squares and a number that all lanes share, like a distance and
 * its softening, further operands give these, since code generation then knows when %x is in the
 * usual range.
 *
 * A loop that adds such quotients by cubes to a variable, and nothing else, like the attraction of
 * many bodies, saves a multiplication: a constant factor of the quotient's Newton-Raphson step
 * (llvm_bc/roots.c) is common to all of them, so the sum alone is multiplied by it, after the loop:
 *
 *     1 / sqrt(x)^3  =  1 / (k - 1) * y^3 * (k - x * y^2)        with 1 / (k - 1) near 3/2
 *
 * Decision D-codegen-07. */
#include "pass/vector/vectorise.h"

enum {
  LEAST_BITS = 128, /* of a vector, for whose lanes machines may estimate roots */
  MOST_BITS = 512,
  WHOLE = 16 /* lanes of f32 for which the common factor, or the sum of squares, is separated */
};

static bool is_whole_vector(const Vectoriser *v, Type type) {
  return type_is(type, TYPE_F32) && v->width == WHOLE;
}

/* -- reciprocals ------------------------------------------------------------------------------- */

/* Not of a number that all lanes share, whose root is scalar. */
static bool has_reciprocal(const Vectoriser *v, const IrInst *quotient) {
  int bits = v->width * type_bits(quotient->type);
  bool varies = vectorise_shape(v, quotient->operands[1]) == LANE_VARYING &&
                vectorise_shape(v, quotient->operands[2]) == LANE_VARYING;
  if (!v->kernel->fast_math || type_is(quotient->type, TYPE_F16)) return false;
  return varies && bits >= LEAST_BITS && bits <= MOST_BITS;
}

/* A sum of squares and one number that all lanes share. */
typedef struct Squares {
  const IrInst *roots[IR_MAX_SQUARES], *rest;
  int count;
} Squares;

static bool find_squares(const Vectoriser *v, Squares *s, const IrInst *x) {
  if (vectorise_shape(v, x) == LANE_UNIFORM) return s->rest ? false : (s->rest = x, true);
  if (x->op == IR_ADD)
    return find_squares(v, s, x->operands[0]) && find_squares(v, s, x->operands[1]);
  if (x->op != IR_MUL || x->operands[0] != x->operands[1] || s->count == IR_MAX_SQUARES)
    return false;
  s->roots[s->count++] = x->operands[0];
  return true;
}

static bool is_unscaled(const Vectoriser *v, const IrInst *quotient) {
  for (int i = 0; i < v->unscaled.count; i++)
    if (v->unscaled.items[i] == quotient) return true;
  return false;
}

static IrInst *write_reciprocal(Vectoriser *v, const IrInst *quotient, IrOp op) {
  Squares s = {0};
  const IrInst *x = quotient->operands[2];
  IrInst *operands[3 + IR_MAX_SQUARES] = {vectorise_lanes(v, quotient->operands[1]),
                                          vectorise_lanes(v, x)};
  int count = 2;
  if (is_whole_vector(v, quotient->type) && find_squares(v, &s, x) && s.rest) {
    operands[count++] = vectorise_scalar(v, s.rest);
    for (int i = 0; i < s.count; i++) operands[count++] = vectorise_lanes(v, s.roots[i]);
  }
  return ir_emit(&v->b, op, operands[0]->type, count, operands);
}

/* The reciprocal of an earlier quotient by the same root in this region, or a new one. */
static IrInst *reciprocal_of(Vectoriser *v, const IrInst *quotient) {
  IrOp op = quotient->op == IR_DIV_CUBE ? IR_RSQRT_CUBE : IR_RSQRT;
  bool unscaled = is_unscaled(v, quotient);
  ASSERT(!unscaled || op == IR_RSQRT_CUBE, "only cubes have a factor that is separated");
  for (IrUse *use = vectorise_lanes(v, quotient->operands[1])->uses; use; use = use->next)
    if (use->user->op == op && use->user->region == v->b.region && use->user->unscaled == unscaled)
      return use->user;
  IrInst *reciprocal = write_reciprocal(v, quotient, op);
  reciprocal->unscaled = unscaled;
  return reciprocal;
}

static bool is_uniform(const Vectoriser *v, const IrInst *inst) {
  return vectorise_shape(v, inst) == LANE_UNIFORM;
}

bool vectorise_quotient(Vectoriser *v, const IrInst *quotient) {
  if (!has_reciprocal(v, quotient)) return false;
  const IrInst *a = quotient->operands[0];
  IrInst *factor = reciprocal_of(v, quotient);
  int shared = a->op != IR_MUL ? -1 : is_uniform(v, a->operands[1]) ? 1 : 0;
  if (shared >= 0 && is_uniform(v, a->operands[shared]) && !is_uniform(v, a)) {
    factor = ir_binary(&v->b, IR_MUL, vectorise_lanes(v, a->operands[shared]), factor);
    a = a->operands[1 - shared];
  }
  ir_map_put(v->lanes, quotient, ir_binary(&v->b, IR_MUL, vectorise_lanes(v, a), factor));
  return true;
}

/* -- sums of quotients ------------------------------------------------------------------------- */

typedef struct SumSearch {
  Vectoriser *v;
  const IrRegion *body; /* of the loop */
  VEC(RootSum) sums;
  bool has_exits;
} SumSearch;

static bool has_one_use(const SumSearch *f, const IrInst *value) {
  return ir_is_inside(value, f->body) && ir_use_count(f->body, value) == 1;
}

static bool is_get(const IrInst *value, const IrInst *variable) {
  return value->op == IR_GET && value->operands[0] == variable;
}

/* The quotient that a SET adds to its variable; NULL if it does anything else. */
static const IrInst *addend_of(const SumSearch *f, const IrInst *set) {
  const IrInst *sum = set->operands[1];
  if (sum->op != IR_ADD || !has_one_use(f, sum)) return NULL;
  int own = is_get(sum->operands[0], set->operands[0]) ? 0 : 1;
  const IrInst *get = sum->operands[own], *quotient = sum->operands[1 - own];
  if (!is_get(get, set->operands[0]) || !has_one_use(f, get)) return NULL;
  bool has_factor = quotient->op == IR_DIV_CUBE && has_reciprocal(f->v, quotient);
  return has_factor && has_one_use(f, quotient) ? quotient : NULL;
}

/* Is the inst in an inner loop whose iterations may become the lanes? */
static bool has_other_lanes(const SumSearch *f, const IrInst *inst) {
  const IrRegion *in = inst->region;
  for (; in != f->body; in = in->owner->region)
    if (in->owner->op == IR_FOR && in->owner->lanes > 1) return true;
  return false;
}

static bool find_sum(void *data, IrInst *inst) {
  SumSearch *f = data;
  if (ir_effects(inst) & IR_EXIT || inst->op == IR_FAULT) return !(f->has_exits = true);
  if (inst->op != IR_SET) return true;
  const IrInst *variable = inst->operands[0];
  if (!type_is(variable->type, TYPE_F32) || ir_is_inside(variable, f->body) ||
      vectorise_shape(f->v, variable) != LANE_VARYING || has_other_lanes(f, inst))
    return true;
  const IrInst *quotient = addend_of(f, inst);
  bool is_all = quotient && ir_use_count(f->body, variable) == 2; /* GET and SET */
  if (is_all && !is_unscaled(f->v, quotient))
    vec_push(f->v->scratch, &f->sums, ((RootSum){.variable = variable, .quotient = quotient}));
  return true;
}

RootSums vectorise_begin_root_sums(Vectoriser *v, const IrInst *loop) {
  SumSearch f = {.v = v, .body = loop->regions[0]};
  if (!is_whole_vector(v, TYPE(F32)) || loop->op != IR_FOR || !ir_lanes_are_uniform(v->facts, loop))
    return (RootSums){0};
  ir_walk(loop->regions[0], find_sum, &f);
  if (f.has_exits) return (RootSums){0};
  for (int i = 0; i < f.sums.count; i++) {
    RootSum *sum = &f.sums.items[i];
    vec_push(v->scratch, &v->unscaled, sum->quotient);
    sum->outside = vectorise_lanes(v, sum->variable);
    sum->inside = ir_var(&v->b, sum->outside->type);
    ir_set(&v->b, sum->inside, ir_identity(&v->b, IR_UPDATE_ADD, sum->outside->type));
    ir_map_put(v->lanes, sum->variable, sum->inside);
  }
  return (RootSums){.items = f.sums.items, .count = f.sums.count};
}

void vectorise_end_root_sums(Vectoriser *v, const RootSums *sums) {
  for (int i = 0; i < sums->count; i++) {
    const RootSum *sum = &sums->items[i];
    IrInst *scale = ir_const_float(&v->b, sum->inside->type, IR_CUBE_SCALE);
    IrInst *scaled = ir_binary(&v->b, IR_MUL, ir_get(&v->b, sum->inside), scale);
    ir_set(&v->b, sum->outside, ir_binary(&v->b, IR_ADD, ir_get(&v->b, sum->outside), scaled));
    ir_map_put(v->lanes, sum->variable, sum->outside);
  }
}
