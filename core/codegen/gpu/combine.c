/* combine.c - values that threads of a GPU combine before they reach memory. The runtime does it
 * (llvm_bc/together.c); what remains here is the update of the element, of any type.
 *
 *     reductions      at the end of a task, the threads of a block combine their partials, and one
 *                     of them updates the frame's slot
 *     i = count:add(1)   an update that all iterations make to one element, by the same amount
 *                     (the pass `uniformity` says so): the first active lane of a warp adds for
 *                     all, and the others count from its old value on
 *     s[0] = s[0] + x    one with values that differ: if all lanes of the warp are active, their
 *                     values are combined first
 *     h[k] = h[k] + 1    elements that a task only adds to, few enough for a block's shared memory
 *                     (IrTask.block_sums): the threads add to the block's copy, which is zeroed at
 *                     the start and added to the elements once, at the end. All threads of a block
 *                     reach both barriers, even in a stopped launch
 *
 * Decisions D-codegen-13, D-codegen-15. */
#include "codegen/gpu/gpu.h"

/* -- numbers as the runtime takes them --------------------------------------------------------- */

static RtScalar number_of(Type type) {
  if (type_is_float(type)) return type_size(type) == 8 ? RT_SCALAR_F64 : RT_SCALAR_F32;
  if (type_size(type) == 8) return type_is_signed(type) ? RT_SCALAR_I64 : RT_SCALAR_U64;
  return type_is_signed(type) ? RT_SCALAR_I32 : RT_SCALAR_U32;
}

static RtCombine combine_of(IrUpdate op) {
  switch (op) {
  case IR_UPDATE_MUL:
  case IR_UPDATE_DIV: return RT_COMBINE_MUL;
  case IR_UPDATE_MIN: return RT_COMBINE_MIN;
  case IR_UPDATE_MAX: return RT_COMBINE_MAX;
  case IR_UPDATE_BAND: return RT_COMBINE_AND;
  case IR_UPDATE_BOR: return RT_COMBINE_OR;
  case IR_UPDATE_BXOR: return RT_COMBINE_XOR;
  default: return RT_COMBINE_ADD;
  }
}

static LLVMTypeRef bits_type(Codegen *g, Type type) {
  return type_size(type) == 8 ? g->i64 : g->i32;
}

/* The bits of a number of 32 bits or more, extended to 64. */
static LLVMValueRef to_bits(Codegen *g, Type type, LLVMValueRef value) {
  if (type_is_float(type))
    value =
        build_bitcast(g, arith_convert(g, type, type_computed(type), value), bits_type(g, type));
  return LLVMBuildIntCast2(g->builder, value, g->i64, type_is_signed(type), "");
}

static LLVMValueRef from_bits(Codegen *g, Type type, LLVMValueRef bits) {
  if (!type_is_float(type))
    return LLVMBuildIntCast2(g->builder, bits, value_type(g, type), false, "");
  Type computed = type_computed(type);
  bits = LLVMBuildIntCast2(g->builder, bits, bits_type(g, type), false, "");
  return arith_convert(g, computed, type, build_bitcast(g, bits, value_type(g, computed)));
}

/* The bits of the number, in a variable that an entry of the runtime changes. */
static LLVMValueRef variable_of(Codegen *g, Type type, LLVMValueRef value) {
  LLVMValueRef variable = block_variable(g, g->i64, "bits");
  build_store(g, to_bits(g, type, value), variable);
  return variable;
}

static LLVMValueRef number_in(Codegen *g, Type type, LLVMValueRef variable) {
  return from_bits(g, type, build_load(g, g->i64, variable));
}

/* -- reductions -------------------------------------------------------------------------------- */

void gpu_reduce(Codegen *g, LLVMValueRef *sums) {
  enum { MOST_WARPS = 32 }; /* the hardware's limit per block */
  LLVMValueRef continues = NULL, may_exit = value_i32(g, g->f.finish != g->f.done);
  ASSERT(g->f.shares.count > 0 && g->part == CODEGEN_GPU_TASKS, "partials of a GPU's threads");
  for (int i = 0; i < g->f.shares.count; i++) {
    const Share *share = &g->f.shares.items[i];
    LLVMValueRef bits = variable_of(g, share->type, sums[i]);
    LLVMValueRef memory = gpu_shared(g, MOST_WARPS * 8, "partials");
    LLVMValueRef operands[] = {bits, memory, value_i32(g, combine_of(share->op)),
                               value_i32(g, number_of(share->type)), may_exit};
    continues = call_runtime(g, RT_BLOCK_SUM, (Callee){0}, operands, 5);
    sums[i] = number_in(g, share->type, bits);
  }
  LLVMBasicBlockRef out = block_if(g, continues, "first", "out");
  atomic_combine_shares(g, sums);
  block_follow(g, out);
}

/* -- updates of one element -------------------------------------------------------------------- */

static bool counts(const IrInst *inst) {
  bool adds = inst->imm == IR_UPDATE_ADD || inst->imm == IR_UPDATE_SUB;
  Type type = inst->operands[1]->type;
  return adds && type_is_integer(type) && type_size(type) >= 4 && inst->uniform_value;
}

static LLVMValueRef count_together(Codegen *g, const IrInst *inst, LLVMValueRef element,
                                   LLVMValueRef value) {
  Type type = inst->operands[1]->type;
  if (inst->imm == IR_UPDATE_SUB) value = build_neg(g, value);
  LLVMValueRef operands[] = {element, value_i32(g, type_size(type)),
                             value_i32(g, atomic_is_ordered(inst)), to_bits(g, type, value)};
  return from_bits(g, type, call_runtime(g, RT_WARP_COUNT, (Callee){0}, operands, 4));
}

static void combine_together(Codegen *g, IrUpdate op, Element of, LLVMValueRef element,
                             LLVMValueRef value) {
  LLVMValueRef bits = variable_of(g, of.type, value);
  LLVMValueRef operands[] = {bits, value_i32(g, combine_of(op)), value_i32(g, number_of(of.type))};
  LLVMValueRef continues = call_runtime(g, RT_WARP_SUM, (Callee){0}, operands, 3);
  LLVMBasicBlockRef out = block_if(g, continues, "one", "out");
  atomic_rmw(g, op, of, element, number_in(g, of.type, bits), false);
  block_follow(g, out);
}

bool gpu_update(Codegen *g, const IrInst *inst) {
  bool is_rmw = inst->op == IR_MEM_RMW;
  if (g->part != CODEGEN_GPU_TASKS || function_is_serial(g) || inst->nonatomic || !inst->uniform)
    return false;
  LLVMValueRef element = value_operand(g, inst, 0), value = value_operand(g, inst, 1);
  if (counts(inst)) {
    LLVMValueRef old = count_together(g, inst, element, value);
    if (is_rmw) value_set(g, inst, old);
    return true;
  }
  IrUpdate op = (IrUpdate)inst->imm;
  if (is_rmw || !ir_update_combines(op)) return false;
  combine_together(g, op, (Element){inst->operands[1]->type, inst->alias}, element, value);
  return true;
}

/* -- sums of a block --------------------------------------------------------------------------- */

/* Makes and clears the copy of one tree's elements, which begin `begin` bytes into its root. */
static void open_copy(Codegen *g, int32_t tree, int64_t begin, int64_t end) {
  int64_t words = (end - begin + 3) / 4;
  ASSERT(begin >= 0 && begin < end && begin % 4 == 0, "whole words of a root");
  LLVMValueRef copy = gpu_shared(g, words * 4, "sums");
  LLVMValueRef operands[] = {copy, value_i32(g, words)};
  call_runtime(g, RT_BLOCK_CLEAR, (Callee){0}, operands, 2);
  *context_kept(g, RT_TREE_PRIVATE_COPY, tree) = value_byte_offset(g, copy, -begin);
}

void gpu_sums_open(Codegen *g, const IrTask *task) {
  int64_t begin, end;
  for (int i = 0; i < task->block_sums.count; i++) {
    int32_t tree = task->block_sums.items[i].tree;
    if (!*context_kept(g, RT_TREE_PRIVATE_COPY, tree) && ir_block_span(task, tree, &begin, &end))
      open_copy(g, tree, begin, end);
  }
  if (task->block_sums.count) call_runtime(g, RT_BLOCK_WAIT, (Callee){0}, NULL, 0);
}

void gpu_sums_close(Codegen *g, const IrTask *task) {
  if (task->block_sums.count) call_runtime(g, RT_BLOCK_WAIT, (Callee){0}, NULL, 0);
  for (int i = 0; i < task->block_sums.count; i++) {
    const IrBlockSum *sum = &task->block_sums.items[i];
    LLVMValueRef copy = *context_kept(g, RT_TREE_PRIVATE_COPY, sum->tree);
    ASSERT(copy, "the block has a copy of the elements");
    LLVMValueRef operands[] = {copy,
                               context_of(g, RT_TREE_ROOT, sum->tree),
                               value_i32(g, sum->count),
                               value_i32(g, sum->stride),
                               value_i32(g, sum->offset),
                               value_i32(g, number_of(sum->type))};
    call_runtime(g, RT_BLOCK_ADD, (Callee){0}, operands, 6);
  }
}
