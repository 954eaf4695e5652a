/* update.c - warp-aggregated atomics: if all iterations of a GPU task update the same element,
 * which the pass `uniformity` finds, the active lanes of a warp do it with one atomic access.
 *
 *     i = count:add(1)     each lane gets a number: the first active lane adds for all, the others
 *                          count from its old value on. All must add the same amount. If the update
 *                          orders memory, a barrier of the lanes is on either side of the first
 *                          lane's fences
 *     s[0] = s[0] + x      if all lanes of the warp are active, their values are combined first;
 *                          else each lane updates for itself */
#include "codegen/gpu/gpu.h"

static bool counts(const IrInst *inst) {
  bool adds = inst->imm == IR_UPDATE_ADD || inst->imm == IR_UPDATE_SUB;
  Type type = inst->operands[1]->type;
  return adds && type_is_integer(type) && type_size(type) >= 4 && inst->uniform_value;
}

static bool combines(const IrInst *inst) {
  switch ((IrUpdate)inst->imm) {
  case IR_UPDATE_ADD:
  case IR_UPDATE_SUB:
  case IR_UPDATE_MIN:
  case IR_UPDATE_MAX:
  case IR_UPDATE_BAND:
  case IR_UPDATE_BOR:
  case IR_UPDATE_BXOR: return true;
  default: return false;
  }
}

static LLVMValueRef bits_in(Codegen *g, LLVMValueRef lanes) {
  return call_intrinsic(g, "llvm.ctpop", g->i32, &lanes, 1);
}

static LLVMValueRef times(Codegen *g, LLVMValueRef value, LLVMValueRef count) {
  return LLVMBuildMul(g->builder, value,
                      LLVMBuildZExtOrBitCast(g->builder, count, LLVMTypeOf(value), ""), "");
}

/* One atomic update for all active lanes; returns each lane's old value. */
static LLVMValueRef count_together(Codegen *g, IrUpdate op, Element of, LLVMValueRef place,
                                   LLVMValueRef value, bool is_ordered) {
  ASSERT(type_is_integer(of.type), "numbers are counted exactly");
  LLVMValueRef lanes = gpu_lanes_here(g), no_zero = LLVMConstInt(g->bool_type, 1, false);
  LLVMValueRef before = LLVMBuildAnd(g->builder, lanes, gpu_special(g, "lanemask.lt"), "");
  LLVMValueRef rank = bits_in(g, before), args[] = {lanes, no_zero};
  LLVMValueRef first = call_intrinsic(g, "llvm.cttz", g->i32, args, 2);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder), one = block_new(g, "one"),
                    all = block_new(g, "counted");
  LLVMValueRef is_first = LLVMBuildICmp(g->builder, LLVMIntEQ, rank, value_integer(g->i32, 0), "");
  if (is_ordered) gpu_wait(g, lanes);
  block_branch(g, is_first, one, all);
  block_enter(g, one);
  LLVMValueRef sum = times(g, value, bits_in(g, lanes));
  if (is_ordered) gpu_fence(g);
  LLVMValueRef old = atomic_rmw(g, op, of, place, sum);
  if (is_ordered) gpu_fence(g);
  LLVMValueRef none = LLVMGetUndef(LLVMTypeOf(old));
  LLVMBasicBlockRef back = LLVMGetInsertBlock(g->builder);
  block_jump(g, all);
  block_enter(g, all);
  LLVMValueRef phi = LLVMBuildPhi(g->builder, LLVMTypeOf(old), "");
  LLVMAddIncoming(phi, (LLVMValueRef[]){none, old}, (LLVMBasicBlockRef[]){from, back}, 2);
  LLVMValueRef start = gpu_from_lane(g, lanes, phi, first);
  if (is_ordered) gpu_wait(g, lanes);
  return arith_update(g, op, of.type, start, times(g, value, rank));
}

static void combine_together(Codegen *g, IrUpdate op, Element of, LLVMValueRef place,
                             LLVMValueRef value) {
  const GpuJoin join = {op, of.type};
  LLVMBasicBlockRef together = block_new(g, "together"), apart = block_new(g, "apart"),
                    one = block_new(g, "one"), out = block_new(g, "out");
  LLVMValueRef whole =
      LLVMBuildICmp(g->builder, LLVMIntEQ, gpu_lanes_here(g), value_integer(g->i32, -1), "");
  block_branch(g, whole, together, apart);
  block_enter(g, together);
  LLVMValueRef sum = gpu_join(g, value, &join), lower = gpu_special(g, "lanemask.lt");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, lower, value_integer(g->i32, 0), ""), one,
               out);
  block_enter(g, one);
  atomic_rmw(g, op, of, place, sum);
  block_jump(g, out);
  block_enter(g, apart);
  atomic_rmw(g, op, of, place, value);
  block_jump(g, out);
  block_enter(g, out);
}

bool gpu_update(Codegen *g, const IrInst *inst) {
  bool is_update = inst->op == IR_MEM_UPDATE, is_rmw = inst->op == IR_MEM_RMW;
  if (g->part != CODEGEN_GPU_TASKS || function_is_serial(g) || inst->plain ||
      !(is_update || is_rmw) || !inst->uniform)
    return false;
  IrUpdate op = (IrUpdate)inst->imm;
  const Element of = {inst->operands[1]->type, inst->alias};
  LLVMValueRef place = value_operand(g, inst, 0), value = value_operand(g, inst, 1);
  if (counts(inst)) {
    LLVMValueRef old = count_together(g, op, of, place, value, atomic_is_ordered(inst));
    if (is_rmw) value_set(g, inst, old);
    return true;
  }
  if (is_rmw || !combines(inst)) return false;
  combine_together(g, op, of, place, value);
  return true;
}
