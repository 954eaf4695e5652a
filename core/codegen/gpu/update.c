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

static LLVMValueRef times(Codegen *g, LLVMValueRef value, LLVMValueRef count) {
  return build_mul(g, value, LLVMBuildZExtOrBitCast(g->builder, count, LLVMTypeOf(value), ""));
}

/* One atomic update for all active lanes; returns each lane's old value. */
static LLVMValueRef count_together(Codegen *g, IrUpdate op, Element of, LLVMValueRef place,
                                   LLVMValueRef value, bool is_ordered) {
  ASSERT(type_is_integer(of.type), "numbers are counted exactly");
  LLVMValueRef lanes = gpu_lanes_here(g);
  LLVMValueRef rank =
      call_unary(g, "llvm.ctpop", build_and(g, lanes, gpu_special(g, "lanemask.lt")));
  LLVMValueRef first = call_binary(g, "llvm.cttz", lanes, value_bool(g, true));
  LLVMBasicBlockRef from = block_here(g), one = block_new(g, "one"), all = block_new(g, "counted");
  LLVMValueRef is_first = build_is_zero(g, rank);
  if (is_ordered) gpu_wait(g, lanes);
  block_enter_if(g, is_first, one, all);
  LLVMValueRef sum = times(g, value, call_unary(g, "llvm.ctpop", lanes));
  if (is_ordered) gpu_fence(g);
  LLVMValueRef old = atomic_rmw(g, op, of, place, sum);
  if (is_ordered) gpu_fence(g);
  LLVMValueRef none = LLVMGetUndef(LLVMTypeOf(old));
  LLVMBasicBlockRef back = block_here(g);
  block_follow(g, all);
  LLVMValueRef start = gpu_from_lane(g, lanes, build_either(g, none, from, old, back), first);
  if (is_ordered) gpu_wait(g, lanes);
  return arith_update(g, op, of.type, start, times(g, value, rank));
}

static void combine_together(Codegen *g, IrUpdate op, Element of, LLVMValueRef place,
                             LLVMValueRef value) {
  const GpuJoin join = {op, of.type};
  LLVMBasicBlockRef together = block_new(g, "together"), apart = block_new(g, "apart"),
                    one = block_new(g, "one"), out = block_new(g, "out");
  LLVMValueRef whole = build_icmp(g, LLVMIntEQ, gpu_lanes_here(g), value_i32(g, -1));
  block_enter_if(g, whole, together, apart);
  LLVMValueRef sum = gpu_join(g, value, &join), lower = gpu_special(g, "lanemask.lt");
  block_enter_if(g, build_is_zero(g, lower), one, out);
  atomic_rmw(g, op, of, place, sum);
  block_jump(g, out);
  block_enter(g, apart);
  atomic_rmw(g, op, of, place, value);
  block_follow(g, out);
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
  if (is_rmw || !ir_update_combines(op)) return false;
  combine_together(g, op, of, place, value);
  return true;
}
