/* tangent.c - turns a kernel into its tangent: forward-mode differentiation.
 *
 *     y = f(x)     the tangent computes y as before, and also the derivative of y along the
 * direction
 *                  that the derivatives of its inputs give: y' = f'(x) x'
 *
 * Derivatives of elements are in their companions (companion.h). Each active value has a
 * derivative, emitted right after it by the rules that the adjoint also uses (derivative.def): the
 * operands of an op contribute separately, so both directions are the same expressions. Loops and
 * branches stay as they are. */
#include "pass/gradient/gradient.h"

#include "pass/gradient/derivative.h"
#include "pass/gradient/plan.h"
#include "pass/rewrite.h"

typedef struct Tangent {
  IrKernel *kernel;
  Plans plans;
  IrMap *of; /* the derivative of a value; the variable that holds the derivative of a variable */
} Tangent;

static bool is_active(const Tangent *t, const IrInst *value) {
  return plan_is_active(&t->plans, value);
}

/* The derivative, or 0. */
static IrInst *derivative_or_zero(const Tangent *t, IrBuilder *b, const IrInst *value) {
  IrInst *known = is_active(t, value) ? ir_mapped(t->of, value) : NULL;
  return known ? known : ir_zero(b, value->type);
}

/* The variable, or local array, with the derivative of what the inst accesses. */
static IrInst *derivative_variable(const Tangent *t, const IrInst *access) {
  IrInst *var = ir_mapped(t->of, access->operands[0]);
  ASSERT(var && plan_is_storage(var), "an active variable has one for its derivative before it");
  return var;
}

static IrInst *companion_place(Tangent *t, IrBuilder *b, const IrInst *access) {
  const IrInst *place = access->operands[0];
  int field = companion_field(t->kernel, place->field, t->plans.companion);
  ASSERT(field >= 0, "an element that is active has a derivative");
  return ir_place(b, field, place->operands);
}

static IrInst *differentiate_operation(const Tangent *t, IrBuilder *b, IrInst *inst) {
  IrInst *sum = NULL;
  for (int k = 0; k < inst->operand_count; k++) {
    IrInst *change = is_active(t, inst->operands[k]) ? ir_mapped(t->of, inst->operands[k]) : NULL;
    if (!change) continue;
    /* the rules convert to the operand's type; in forward mode that is the result's */
    DerivativeOf of = {.op = inst->op, .type = inst->type, .result = inst};
    for (int i = 0; i < inst->operand_count; i++) of.operands[i] = inst->operands[i];
    IrInst *part = derivative_pull(b, &of, k, change);
    if (part) sum = sum ? ir_binary(b, IR_ADD, sum, part) : part;
  }
  return sum;
}

static IrInst *differentiate_pick(const Tangent *t, IrBuilder *b, const IrInst *pick) {
  IrInst **values = scratch_array(t->kernel->scratch, IrInst *, pick->operand_count);
  for (int k = 1; k < pick->operand_count; k++)
    values[k - 1] = derivative_or_zero(t, b, pick->operands[k]);
  return ir_pick(b, pick->operands[0], pick->operand_count - 1, values);
}

static void differentiate_store(Tangent *t, IrBuilder *b, const IrInst *inst) {
  IrInst *change = derivative_or_zero(t, b, inst->operands[1]);
  ir_store(b, companion_place(t, b, inst), change)->uncounted = true;
}

/* `further`: a write outside the shape is counted once, for the element itself. */
static void differentiate_update(Tangent *t, IrBuilder *b, const IrInst *inst) {
  IrInst *value = inst->operands[1];
  switch (plan_update_rule(&t->plans, inst)) {
  case UPDATE_ADDS:
    if (!is_active(t, value)) return;
    value = derivative_or_zero(t, b, value);
    break;
  case UPDATE_SCALES: break;
  case UPDATE_KEEPS:
  case UPDATE_CHOOSES: return; /* winners_store */
  case UPDATE_LACKS_RULE: plans_refuse_update(&t->plans, inst); return;
  }
  ir_update(b, (IrUpdate)inst->imm, companion_place(t, b, inst), value)->uncounted = true;
}

static IrInst *differentiate_value(Tangent *t, IrBuilder *b, IrInst *inst) {
  switch (inst->op) {
  case IR_VAR: return ir_var(b, inst->type);
  case IR_LOCAL_ARRAY: return ir_local_array(b, inst->type, (int)inst->imm);
  case IR_GET: return ir_get(b, derivative_variable(t, inst));
  case IR_LOCAL_GET: return ir_local_get(b, derivative_variable(t, inst), inst->operands[1]);
  case IR_LOAD: return ir_load(b, companion_place(t, b, inst));
  case IR_PICK: return differentiate_pick(t, b, inst);
  default: return differentiate_operation(t, b, inst);
  }
}

/* Emits the derivative's SET, LOCAL_SET or REDUCE. */
static void differentiate_set(Tangent *t, IrBuilder *b, IrInst *inst) {
  IrInst *of = derivative_variable(t, inst),
         *change = derivative_or_zero(t, b, inst->operands[inst->operand_count - 1]);
  switch (inst->op) {
  case IR_SET: ir_set(b, of, change); return;
  case IR_LOCAL_SET: ir_local_set(b, of, inst->operands[1], change); return;
  default: break;
  }
  ASSERT(inst->op == IR_REDUCE, "variables are set, or added to by a whole loop");
  ir_reduce(b, (IrUpdate)inst->imm, of, change);
  if (plan_update_rule(&t->plans, inst) != UPDATE_ADDS) plans_refuse_update(&t->plans, inst);
}

/* Appends or pops the derivatives together with their components. */
static void differentiate_list(Tangent *t, IrBuilder *b, IrInst *inst) {
  for (int k = 0, companion; k < plan_list_components(&t->plans, inst); k++) {
    IrInst *value = plan_list_operand(&t->plans, inst, k, &companion);
    if (!value || !is_active(t, value)) continue;
    IrInst *change = ir_mapped(t->of, value);
    if (inst->op == IR_POP) ir_set(b, change, ir_get(b, inst->operands[companion]));
    else if (change) ir_set_operand(inst, companion, change);
  }
}

static void differentiate_region(Tangent *t, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    IrBuilder b = rewrite_after(t->kernel, inst);
    for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++)
      differentiate_region(t, inst->regions[k]);
    bool writes = rewrite_is_write(inst->op) && plan_has_gradient(&t->plans, inst);
    bool is_set = inst->op == IR_SET || inst->op == IR_LOCAL_SET || inst->op == IR_REDUCE;
    if (plan_list_components(&t->plans, inst)) differentiate_list(t, &b, inst);
    else if (writes && inst->op == IR_STORE) differentiate_store(t, &b, inst);
    else if (writes) differentiate_update(t, &b, inst);
    else if (is_set && is_active(t, inst->operands[0])) differentiate_set(t, &b, inst);
    else if (!inst->regions[0] && is_active(t, inst))
      ir_map_put(t->of, inst, differentiate_value(t, &b, inst));
  }
}

/* A direction that shares memory with the gradient cannot be differentiated once more. */
static void refuse_shared(Tangent *t, const IrInst *inst) {
  bool has_place = inst->operand_count && inst->operands[0]->op == IR_PLACE;
  if (!has_place || plan_has_gradient(&t->plans, inst)) return;
  int field = inst->operands[0]->field;
  if (companion_component(t->kernel, field, COMPANION_GRADIENT) < 0) return;
  plans_refuse(&t->plans, inst,
               scratch_format(t->kernel->scratch,
                              "second derivatives need a dual of %s in addition to its gradient",
                              t->kernel->fields.items[field].name),
               "make the field with both: rg.field(T, n, { grad = true, dual = true })");
}

bool tangent_make(IrKernel *kernel, Companion companion, Error *err) {
  Tangent t = {.kernel = kernel};
  plans_find_active(&t.plans, kernel, companion, err);
  IrInst *first = companion == COMPANION_DUAL ? kernel->body->first : NULL;
  for (IrInst *inst = first; inst; inst = ir_following(inst, kernel->body)) refuse_shared(&t, inst);
  t.of = ir_map(kernel->scratch, kernel);
  differentiate_region(&t, kernel->body);
  return !t.plans.is_refused;
}
