/* reduce.c - reductions: a worker keeps its partial in a variable of the task function, which
 * becomes a register, and combines it with the frame slot once, atomically, at the end of its call
 * (a GPU's threads combine theirs by blocks: reduce.c).
 * In a vector ROW the partial is a vector; its lanes are combined at the end. By contract a float
 * sum has no order, so its additions may be reassociated, in any kernel. */
#include "codegen/gpu/gpu.h"

static Share *find_share(Codegen *g, IrUpdate op, Type type, int32_t slot, int width) {
  for (int i = 0; i < g->f.shares.count; i++) {
    Share *share = &g->f.shares.items[i];
    if (share->slot == slot && share->op == op && share->width == width) return share;
  }
  LLVMValueRef variable = block_variable_of(g, combine_identity(g, op, type, width), "share");
  vec_push(g->scratch, &g->f.shares, ((Share){op, type, slot, width, variable}));
  return &vec_last(&g->f.shares);
}

static LLVMValueRef load_share(Codegen *g, const Share *share) {
  return build_load(g, LLVMGetAllocatedType(share->variable), share->variable);
}

void reduce_emit(Codegen *g, const IrInst *inst) {
  ASSERT(inst->operands[0]->op == IR_FRAME_GET, "a task combines into a slot of the frame");
  LLVMValueRef value = value_operand(g, inst, 1);
  Type type = type_element(inst->operands[1]->type);
  int width = value_width(value);
  Share *share = find_share(g, (IrUpdate)inst->imm, type, (int32_t)inst->operands[0]->imm, width);
  LLVMValueRef sum = combine(g, share->op, type, load_share(g, share), value);
  build_store(g, sum, share->variable);
}

static LLVMValueRef join_lanes(Codegen *g, const Share *share) {
  LLVMValueRef lanes = load_share(g, share), sum = value_lane(g, lanes, 0);
  for (int lane = 1; lane < share->width; lane++)
    sum = combine(g, share->op, share->type, sum, value_lane(g, lanes, lane));
  return sum;
}

void reduce_finish(Codegen *g) {
  int count = g->f.shares.count;
  LLVMValueRef *sums = scratch_array(g->scratch, LLVMValueRef, count);
  for (int i = 0; i < count; i++) sums[i] = join_lanes(g, &g->f.shares.items[i]);
  if (count && g->part == CODEGEN_GPU_TASKS) return gpu_reduce(g, sums);
  atomic_combine_shares(g, sums);
}

LLVMValueRef reduce_take(Codegen *g, Type type) {
  LLVMValueRef total = value_integer(value_type(g, type), 0);
  for (int i = 0; i < g->f.shares.count; i++) {
    const Share *share = &g->f.shares.items[i];
    ASSERT(share->op == IR_UPDATE_ADD && type_equal(share->type, type),
           "what is counted is claimed");
    total = combine(g, IR_UPDATE_ADD, type, total, join_lanes(g, share));
  }
  g->f.shares.count = 0;
  return total;
}
