/* root_sums.c - loops in vectorised bodies that add quotients by cubes of roots to a variable, and
 * nothing else, under fast_math, like the attraction of many bodies. A constant factor of such a
 * quotient's correction (codegen/root.c), its slope, is common to all of them, so the sum alone is
 * multiplied by it, after the loop:
 *
 *     1 / sqrt(x)^3  =  1 / (k - 1) * y^3 * (k - x * y^2)        with 1 / (k - 1) near 3/2
 *
 * Loop and quotients get one number, `sloped`, where the machine estimates roots: elsewhere code
 * generation ignores it. Decision D-codegen-07. */
#include "pass/vector/access_shapes.h"

enum { WHOLE = 16 /* lanes of f32 in which codegen/root.c factors the slope out */ };

typedef struct Search {
  const Shapes *shapes;
  const IrRegion *body; /* of the loop */
  VEC(IrInst *) quotients;
  bool has_exits;
} Search;

static bool is_alone(const Search *f, const IrInst *value) {
  return ir_is_inside(value, f->body) && ir_use_count(f->body, value) == 1;
}

static bool is_get(const IrInst *value, const IrInst *variable) {
  return value->op == IR_GET && value->operands[0] == variable;
}

/* The quotient that a SET adds to its variable; NULL if it does anything else. */
static IrInst *addend_of(const Search *f, const IrInst *set) {
  const IrInst *sum = set->operands[1];
  if (sum->op != IR_ADD || !is_alone(f, sum)) return NULL;
  int own = is_get(sum->operands[0], set->operands[0]) ? 0 : 1;
  const IrInst *get = sum->operands[own];
  IrInst *quotient = sum->operands[1 - own];
  if (!is_get(get, set->operands[0]) || !is_alone(f, get)) return NULL;
  return quotient->op == IR_DIV_CUBE && is_alone(f, quotient) ? quotient : NULL;
}

/* Is the inst in an inner loop that may be turned, whose lanes are others? */
static bool may_be_turned(const Search *f, const IrInst *inst) {
  const IrRegion *in = inst->region;
  for (; in != f->body; in = in->owner->region)
    if (in->owner->op == IR_FOR && in->owner->lanes > 1) return true;
  return false;
}

static bool look(void *data, IrInst *inst) {
  Search *f = data;
  if (ir_effects(inst) & IR_EXIT || inst->op == IR_FAULT) return !(f->has_exits = true);
  if (inst->op != IR_SET) return true;
  const IrInst *variable = inst->operands[0];
  if (!type_is(variable->type, TYPE_F32) || ir_is_inside(variable, f->body) ||
      f->shapes->facts[variable->id].shape != LANE_VARYING || may_be_turned(f, inst))
    return true;
  IrInst *quotient = addend_of(f, inst);
  bool is_all = quotient && ir_use_count(f->body, variable) == 2; /* GET and SET */
  if (is_all && !quotient->sloped) vec_push(f->shapes->ctx->scratch, &f->quotients, quotient);
  return true;
}

void shapes_mark_root_sums(Shapes *s, IrInst *loop) {
  Search f = {.shapes = s, .body = loop->regions[0]};
  if (!s->kernel->fast_math || s->width != WHOLE) return;
  ir_walk(loop->regions[0], look, &f);
  if (f.has_exits || !f.quotients.count) return;
  loop->sloped = ++*s->sums;
  for (int i = 0; i < f.quotients.count; i++) f.quotients.items[i]->sloped = loop->sloped;
}
