/* recompute.c - recomputes values of the primal where its adjoint needs them: copies insts and the
 * loops and branches around them, reads the tape, and restores the values that variables had where
 * a region was entered. */
#include "pass/gradient/adjoint.h"

/* -- primal values ----------------------------------------------------------------------------- */

IrInst *adjoint_primal(Adjoint *a, IrBuilder *b, const IrInst *value) {
  if (value->op == IR_CONST || value->op == IR_ARG) {
    IrInst *constant = ir_emit(b, value->op, value->type, 0, NULL);
    constant->imm = value->imm;
    return constant;
  }
  IrInst *again = ir_mapped(a->primal, value);
  ASSERT(again, "a needed value is computed before it is used");
  return again;
}

static IrInst *append_copy(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  IrInst *copy = ir_copy_alone(a->kernel, inst);
  for (int k = 0; k < inst->operand_count; k++)
    ir_set_operand(copy, k, adjoint_primal(a, b, inst->operands[k]));
  ir_region_append(b->region, copy);
  return copy;
}

void adjoint_copy_params(Adjoint *a, const IrRegion *from, IrRegion *to) {
  ASSERT(!to->params.count, "a region's parameters are copied once");
  for (int i = 0; i < from->params.count; i++)
    ir_map_put(a->primal, from->params.items[i],
               ir_region_param(a->kernel, to, from->params.items[i]->type));
}

static IrInst *primal_of(void *data, IrBuilder *b, const IrInst *value) {
  return adjoint_primal(data, b, value);
}

void adjoint_read_tape(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  TapePlace at = {&a->plans.tape, b, primal_of, a};
  const IrInst *trips = plan_trips(&a->plans, inst);
  if (trips) ir_map_put(a->primal, trips, tape_read(&at, trips));
  if (!tape_has(&a->plans.tape, inst)) return;
  if (inst->regions[0]) tape_enter(&at, inst);
  else ir_map_put(a->primal, inst, tape_read(&at, inst));
}

IrInst *adjoint_last(Adjoint *a, IrBuilder *b, const IrInst *loop) {
  const IrInst *trips = plan_trips(&a->plans, loop);
  if (!trips) return adjoint_primal(a, b, loop->operands[1]);
  IrInst *begin = adjoint_primal(a, b, loop->operands[0]),
         *step = adjoint_primal(a, b, loop->operands[2]);
  IrInst *steps =
      ir_binary(b, IR_SUB, adjoint_primal(a, b, trips), ir_const_int(b, trips->type, 1));
  return ir_binary(b, IR_ADD, begin, ir_binary(b, IR_MUL, ir_convert(b, steps, begin->type), step));
}

IrInst *adjoint_copy_head(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  IrInst *last = inst->op == IR_FOR ? adjoint_last(a, b, inst) : NULL,
         *copy = append_copy(a, b, inst);
  if (last) ir_set_operand(copy, 1, last);
  return copy;
}

void adjoint_copy_inst(Adjoint *a, IrBuilder *b, IrInst *inst, const bool *needed) {
  adjoint_read_tape(a, b, inst);
  if (tape_has(&a->plans.tape, inst) && !inst->regions[0]) return;
  IrInst *copy = adjoint_copy_head(a, b, inst);
  ir_map_put(a->primal, inst, copy);
  for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) {
    copy->regions[k] = ir_region_create(a->kernel, copy);
    adjoint_copy_params(a, inst->regions[k], copy->regions[k]);
    IrBuilder in = rewrite_into(b, copy->regions[k]);
    adjoint_copy_needed(a, &in, inst->regions[k], needed);
  }
}

void adjoint_copy_needed(Adjoint *a, IrBuilder *b, IrRegion *region, const bool *needed) {
  for (IrInst *inst = region->first; inst; inst = inst->next)
    if (needed[inst->id]) adjoint_copy_inst(a, b, inst, needed);
}

/* -- variables that a region needs from outside ------------------------------------------------ */

IrInst *adjoint_save(Adjoint *a, IrBuilder *b, IrInst *storage) {
  ASSERT(plan_is_storage(storage), "variables and local arrays alone are saved");
  if (storage->op == IR_VAR) return ir_get(b, storage);
  IrInst *copy = ir_local_array(b, storage->type, (int)storage->imm);
  IrInst *loop = ir_for(b, ir_i32(b, 0), ir_i32(b, storage->imm - 1), ir_i32(b, 1));
  IrBuilder in = rewrite_into(b, loop->regions[0]);
  IrInst *index = ir_index(loop);
  ir_local_set(&in, copy, index, ir_local_get(&in, storage, index));
  return copy;
}

/* A new variable, or local array, with a saved value. */
static IrInst *restore_saved(Adjoint *a, IrBuilder *b, IrInst *saved) {
  if (saved->op == IR_LOCAL_ARRAY) return adjoint_save(a, b, saved);
  IrInst *var = ir_var(b, saved->type);
  ir_set(b, var, saved);
  return var;
}

void adjoint_keep_entries(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) {
    const Plan *plan = plan_of(&a->plans, inst, k);
    for (int i = 0; plan && i < plan->entered.count; i++)
      plan->entry_values[i] = adjoint_save(a, b, adjoint_primal(a, b, plan->entered.items[i]));
  }
}

IrInst **adjoint_enter(Adjoint *a, IrBuilder *b, const Plan *plan) {
  IrInst **outer = scratch_array(a->scratch, IrInst *, plan->entered.count + 1);
  for (int i = 0; i < plan->entered.count; i++) {
    const IrInst *var = plan->entered.items[i];
    outer[i] = ir_mapped(a->primal, var);
    ir_map_put(a->primal, var, restore_saved(a, b, plan->entry_values[i]));
  }
  return outer;
}

void adjoint_leave(Adjoint *a, const Plan *plan, IrInst *const *outer) {
  for (int i = 0; i < plan->entered.count; i++)
    ir_map_put(a->primal, plan->entered.items[i], outer[i]);
}
