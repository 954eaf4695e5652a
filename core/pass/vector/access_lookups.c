/* access_lookups.c - what is known about the cells of a hash that a vectorised body looks up, which
 * decides how its lanes call the runtime (pass/vector/vectorise_lookups.c). Decision D-pass-13. */
#include "ir/address.h"
#include "pass/vector/access_shapes.h"

/* Is the result of the call (`data`) unaffected by the inst? A created cell stays until one is
 * freed; a cell that was absent may also appear. */
static bool keeps_result(void *data, IrInst *inst) {
  const IrInst *call = data;
  unsigned ends = call->entry == RT_HASH_ENSURE ? IR_DEACTIVATES | IR_ONCE : IR_TOPOLOGY | IR_ONCE;
  bool changes = inst->op == IR_CALL && inst->tree == call->tree && ir_effects(inst) & ends;
  return !changes && inst->op != IR_INVOKE && !ir_is_call(inst, RT_NATIVE);
}

/* Does the result stay valid while the task runs? */
static bool is_lasting(const IrTask *task, const IrInst *call) {
  return ir_walk(task->body, keeps_result, (void *)call) &&
         (!task->interior || ir_walk(task->interior, keeps_result, (void *)call));
}

/* Do neighbouring iterations mostly look up the same cell, as of a coarser grid? */
static bool is_repeated(const IrInst *call) {
  bool divides = false;
  if (call->entry == RT_HASH_AHEAD || call->operands[0]->op != IR_TREE_ROOT) return false;
  for (int k = 1; k < call->operand_count; k++) {
    const IrInst *at = call->operands[k];
    divides |= at->op == IR_SAR || at->op == IR_SHR || at->op == IR_FLOORDIV;
    if (!ir_index_is_even(at)) return false;
  }
  return divides;
}

static bool mark_lookup(void *data, IrInst *inst) {
  const IrTask *task = data;
  bool looks_up = ir_is_call(inst, RT_HASH_FIND) || ir_is_call(inst, RT_HASH_LIVE) ||
                  ir_is_call(inst, RT_HASH_ENSURE);
  if (!looks_up || !is_lasting(task, inst)) return true;
  inst->lasting = true;
  inst->repeats = is_repeated(inst);
  return true;
}

void shapes_mark_lookups(const IrTask *task, IrRegion *body) {
  ir_walk(body, mark_lookup, (void *)task);
}
