/* stored_values.c - store-to-load forwarding of symbolic places:
 *
 *     store %p, %a                       store %p, %a
 *     %b = load %q, equal to %p    =>    %b is %a
 *
 * One forward walk records, per region, the values of the elements that it has written or read. A
 * write invalidates the known elements of its field, except at places that differ by a constant in
 * some index; an RMW or CAS orders all accesses around it, so it invalidates everything. An arm
 * begins with what is known before the `if`, a loop with what it does not write itself, and an
 * iteration of a parallel loop with nothing. */
#include "pass/gradient/gradient.h"

#include "ir/facts.h"

typedef struct Known {
  const IrInst *place;
  IrInst *value;
} Known;
typedef VEC(Known) KnownList;

typedef struct Forward {
  IrKernel *kernel;
  KnownList known;
} Forward;

static bool may_be_same(const IrInst *a, const IrInst *b) {
  if (a->field != b->field) return false;
  for (int k = 0; k < a->operand_count; k++) {
    if (facts_differ(a->operands[k], b->operands[k])) return false;
  }
  return true;
}

static void invalidate_place(Forward *f, const IrInst *place) {
  int kept = 0;
  for (int i = 0; i < f->known.count; i++)
    if (!may_be_same(f->known.items[i].place, place)) f->known.items[kept++] = f->known.items[i];
  f->known.count = kept;
}

static void invalidate_field(Forward *f, int field) {
  int kept = 0;
  for (int i = 0; i < f->known.count; i++)
    if (f->known.items[i].place->field != field) f->known.items[kept++] = f->known.items[i];
  f->known.count = kept;
}

/* Invalidates all that the inst may change. */
static void invalidate_written(Forward *f, const IrInst *inst) {
  bool has_place = inst->operand_count && inst->operands[0]->op == IR_PLACE;
  if ((inst->op == IR_STORE || inst->op == IR_UPDATE) && has_place)
    invalidate_field(f, inst->operands[0]->field);
  else if (inst->op != IR_LOAD && ir_effects(inst) & (IR_WRITE | IR_UPDATE_EFFECT | IR_TOPOLOGY))
    f->known.count = 0;
}

static void invalidate_written_in(Forward *f, const IrRegion *region) {
  for (IrInst *inst = region->first; inst; inst = ir_following(inst, region))
    invalidate_written(f, inst);
}

static IrInst *find_value(const Forward *f, const IrInst *place, Type type) {
  for (int i = f->known.count - 1; i >= 0; i--)
    if (facts_same_place(f->known.items[i].place, place))
      return type_equal(f->known.items[i].value->type, type) ? f->known.items[i].value : NULL;
  return NULL;
}

static void forward_region(Forward *f, IrRegion *region);

static void forward_inside(Forward *f, IrInst *inst) {
  bool is_parallel = ir_is_unordered(inst);
  KnownList before = {0};
  for (int i = 0; i < f->known.count; i++) vec_push(f->kernel->scratch, &before, f->known.items[i]);
  for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) {
    KnownList here = {0};
    for (int i = 0; i < before.count && !is_parallel; i++)
      vec_push(f->kernel->scratch, &here, before.items[i]);
    f->known = here;
    if (inst->op != IR_IF) invalidate_written_in(f, inst->regions[k]);
    forward_region(f, inst->regions[k]);
  }
  f->known = before;
  for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++)
    invalidate_written_in(f, inst->regions[k]);
}

static void forward_inst(Forward *f, IrInst *inst) {
  const IrInst *place = inst->operand_count ? inst->operands[0] : NULL;
  bool has_place = place && place->op == IR_PLACE;
  if (inst->op == IR_LOAD && has_place) {
    IrInst *value = find_value(f, place, inst->type);
    if (value) ir_replace_uses(inst, value);
    else vec_push(f->kernel->scratch, &f->known, ((Known){place, inst}));
  } else if (inst->op == IR_STORE && has_place) {
    invalidate_place(f, place);
    vec_push(f->kernel->scratch, &f->known, ((Known){place, inst->operands[1]}));
  } else if (inst->op == IR_UPDATE && has_place) {
    invalidate_place(f, place);
  } else {
    invalidate_written(f, inst);
  }
}

static void forward_region(Forward *f, IrRegion *region) {
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    if (inst->regions[0]) forward_inside(f, inst);
    else forward_inst(f, inst);
  }
}

void stored_values_forward(IrKernel *kernel) {
  Forward forward = {.kernel = kernel};
  forward_region(&forward, kernel->body);
}
