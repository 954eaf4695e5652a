/* tangent.c - turns a kernel into its tangent: forward-mode differentiation.
 *
 *     y = f(x)     the tangent computes y as before, and next to it the derivative of y along the
 *                  direction that is given by the derivatives of what it reads: y' = f'(x) x'
 *
 * Derivatives of elements are in the fields of their gradients. Each value that varies has a
 * derivative, emitted right behind it by the same rules that the adjoint uses (derivative.def): of
 * an op whose operands contribute separately, both directions are the same expressions. Loops and
 * branches stay as they are. */
#include "pass/gradient/tangent.h"

#include "pass/gradient/derivative.h"
#include "pass/gradient/plan.h"
#include "pass/rewrite.h"

typedef struct Tangent {
  IrKernel *kernel;
  Plans plans;
  IrInst **of; /* by id: the derivative of a value, or the variable with that of a variable */
} Tangent;

static IrBuilder after(Tangent *t, const IrInst *inst) {
  return (IrBuilder){t->kernel, inst->region, inst->next, inst->line, inst->column};
}

static bool is_active(const Tangent *t, const IrInst *value) {
  return plan_is_active(&t->plans, value);
}

/* The derivative, or 0. */
static IrInst *derivative(const Tangent *t, IrBuilder *b, const IrInst *value) {
  IrInst *known = is_active(t, value) ? t->of[value->id] : NULL;
  return known ? known : ir_zero(b, value->type);
}

static IrInst *place_of(Tangent *t, IrBuilder *b, const IrInst *access) {
  const IrInst *place = access->operands[0];
  return ir_place(b, plan_gradient(t->kernel, place->field), place->operands);
}

static IrInst *of_smooth(const Tangent *t, IrBuilder *b, IrInst *inst) {
  IrInst *sum = NULL;
  for (int k = 0; k < inst->operand_count; k++) {
    if (!is_active(t, inst->operands[k]) || !t->of[inst->operands[k]->id]) continue;
    /* the rules convert to the type of the operand; forwards it is that of the result */
    DerivativeOf of = {.op = inst->op, .type = inst->type, .result = inst};
    for (int i = 0; i < inst->operand_count; i++) of.operands[i] = inst->operands[i];
    IrInst *part = derivative_pull(b, &of, k, t->of[inst->operands[k]->id]);
    if (part) sum = sum ? ir_binary(b, IR_ADD, sum, part) : part;
  }
  return sum;
}

static IrInst *of_pick(const Tangent *t, IrBuilder *b, const IrInst *pick) {
  IrInst **values = scratch_array(t->kernel->scratch, IrInst *, pick->operand_count);
  for (int k = 1; k < pick->operand_count; k++) values[k - 1] = derivative(t, b, pick->operands[k]);
  return ir_pick(b, pick->operands[0], pick->operand_count - 1, values);
}

static void of_write(Tangent *t, IrBuilder *b, IrInst *inst) {
  bool is_update = inst->op == IR_UPDATE;
  IrInst *value = inst->operands[1];
  if (is_update && !is_active(t, value)) return;
  if (is_update && inst->imm != IR_UPDATE_ADD && inst->imm != IR_UPDATE_SUB) {
    plans_refuse(
        &t->plans, inst,
        "only sums have a derivative here, not products, minima or maxima of elements",
        "where each iteration has an element of its own: local v = x[i] * y, then x[i] = v");
    return;
  }
  IrInst *place = place_of(t, b, inst), *change = derivative(t, b, value);
  IrInst *write =
      is_update ? ir_update(b, (IrUpdate)inst->imm, place, change) : ir_store(b, place, change);
  write->further = true; /* it is outside where the element is, which is counted once */
}

static IrInst *of_value(Tangent *t, IrBuilder *b, IrInst *inst) {
  switch (inst->op) {
  case IR_VAR: return ir_var(b, inst->type);
  case IR_LOCAL_ARRAY: return ir_local_array(b, inst->type, (int)inst->imm);
  case IR_GET: return ir_get(b, t->of[inst->operands[0]->id]);
  case IR_LOCAL_GET: return ir_local_get(b, t->of[inst->operands[0]->id], inst->operands[1]);
  case IR_LOAD: return ir_load(b, place_of(t, b, inst));
  case IR_PICK: return of_pick(t, b, inst);
  default: return of_smooth(t, b, inst);
  }
}

/* Variables are set, and elements written, next to what they are the derivatives of. */
static void of_effect(Tangent *t, IrBuilder *b, IrInst *inst) {
  IrInst *of = inst->operand_count ? t->of[inst->operands[0]->id] : NULL;
  switch (inst->op) {
  case IR_SET: ir_set(b, of, derivative(t, b, inst->operands[1])); return;
  case IR_LOCAL_SET:
    ir_local_set(b, of, inst->operands[1], derivative(t, b, inst->operands[2]));
    return;
  case IR_REDUCE: {
    IrInst *change = derivative(t, b, inst->operands[1]);
    IrInst *reduce = ir_emit(b, IR_REDUCE, TYPE(NONE), 2, (IrInst *[]){of, change});
    reduce->imm = inst->imm;
    if (inst->imm != IR_UPDATE_ADD && inst->imm != IR_UPDATE_SUB)
      plans_refuse(&t->plans, inst, "only sums of a whole loop have a derivative", NULL);
    return;
  }
  default: return;
  }
}

static void walk(Tangent *t, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    IrBuilder b = after(t, inst);
    for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) walk(t, inst->regions[k]);
    bool writes =
        (inst->op == IR_STORE || inst->op == IR_UPDATE) && plan_has_gradient(&t->plans, inst);
    bool is_set = inst->op == IR_SET || inst->op == IR_LOCAL_SET || inst->op == IR_REDUCE;
    if (writes) of_write(t, &b, inst);
    else if (is_set && is_active(t, inst->operands[0])) of_effect(t, &b, inst);
    else if (!inst->regions[0] && is_active(t, inst)) t->of[inst->id] = of_value(t, &b, inst);
  }
}

bool tangent_make(Scratch *scratch, IrKernel *kernel, Error *err) {
  Tangent t = {.kernel = kernel};
  plans_find_active(&t.plans, kernel, scratch, err);
  t.of = scratch_array(scratch, IrInst *, t.plans.id_count);
  walk(&t, kernel->body);
  return !t.plans.is_refused;
}
