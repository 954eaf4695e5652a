/* reduce.c - reductions: a worker keeps its partial in a variable of the task function, which
 * becomes a register, and combines it with the frame slot once, atomically, at the end of its call
 * (a GPU's threads combine theirs by blocks: gpu/combine.c).
 * In a vector ROW the partial is a vector; its lanes are combined at the end. By contract a float
 * sum has no order, so its additions may be reassociated, in any kernel. */
#include "codegen/gpu/gpu.h"

/* -- combining --------------------------------------------------------------------------------- */

/* The operator that combines partials. SUB and DIV accumulate by ADD and MUL; `op` itself is
 * applied at the end. */
static IrUpdate combines_by(IrUpdate op) {
  return op == IR_UPDATE_SUB ? IR_UPDATE_ADD : op == IR_UPDATE_DIV ? IR_UPDATE_MUL : op;
}

static LLVMValueRef identity(Codegen *g, IrUpdate op, Type type, int width) {
  return value_number(value_vector(g, type, width), type, ir_update_identity(op, type));
}

static LLVMValueRef combine(Codegen *g, IrUpdate op, Type type, LLVMValueRef sum,
                            LLVMValueRef value) {
  LLVMValueRef result = arith_update(g, combines_by(op), type, sum, value);
  if (type_is_float(type) && LLVMIsAInstruction(result) && LLVMCanValueUseFastMathFlags(result))
    LLVMSetFastMathFlags(result, LLVMGetFastMathFlags(result) | LLVMFastMathAllowReassoc);
  return result;
}

/* Combines each lane with the identity first, so that a NaN does not become the maximum. */
LLVMValueRef combine_lanes(Codegen *g, IrUpdate op, Type type, LLVMValueRef value) {
  int width = value_width(value);
  LLVMValueRef none = identity(g, op, type, width);
  value = combine(g, op, type, none, value);
  for (int half = width / 2; half > 1; half /= 2)
    value = combine(g, op, type, lanes_some(g, value, 0, half), lanes_some(g, value, half, half));
  return combine(g, op, type, value_lane(g, value, 0), value_lane(g, value, 1));
}

/* -- partials ---------------------------------------------------------------------------------- */

static Share *find_share(Codegen *g, IrUpdate op, Type type, int32_t slot, int width) {
  for (int i = 0; i < g->f.shares.count; i++) {
    Share *share = &g->f.shares.items[i];
    if (share->slot == slot && share->op == op && share->width == width) return share;
  }
  LLVMValueRef variable = block_variable_of(g, identity(g, op, type, width), "share");
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

/* Returns the sum of all partials, and removes them. */
static LLVMValueRef reduce_take(Codegen *g, Type type) {
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

/* -- aggregated atomics ------------------------------------------------------------------------ */

/* A task with aggregated atomics (pass/tasks/aggregate_atomics.c): a chunk first runs its positions
 * only to sum what they count, then claims the sum with one atomic addition; after that the body
 * takes its numbers from the cursor, a local variable.
 *
 *     counts: total = ..     claim: if (total) cursor = atomic add (counter, total)     body
 *
 * Or the body stages rows in the chunk's memory, after the cursor, which counts them:
 *
 *     cursor = 0     body     claim: if (cursor) atomic add (counter, cursor), store the rows */

static void claim(Codegen *g, const IrTask *task, LLVMValueRef total) {
  const IrRegion *region = task->claim;
  ASSERT(region->params.count == 1 && region->last, "a claim of a total, and its first number");
  LLVMBasicBlockRef some = block_new(g, "claim"), after = block_new(g, "claimed");
  build_store(g, value_like(total, 0), g->f.cursor);
  block_enter_unless(g, build_is_zero(g, total), some, after);
  value_set(g, region->params.items[0], total);
  region_emit(g, region);
  if (task->counts) build_store(g, value_of(g, region->last), g->f.cursor);
  block_follow(g, after);
}

void claim_range(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end) {
  ASSERT(task->claim && !task->counts == (task->staged > 0), "a task that counts, or stages");
  LLVMBasicBlockRef finish = g->f.finish, counted = block_new(g, "counted");
  Type type = task->claim->params.items[0]->type;
  LLVMTypeRef number = value_type(g, type);
  uint64_t words = (uint64_t)(task->staged + 7) / 8 + 1;
  LLVMTypeRef memory = task->staged ? LLVMArrayType2(g->i64, words) : number;
  g->f.cursor = block_variable(g, memory, "cursor");
  if (task->staged) build_store(g, LLVMConstNull(number), g->f.cursor);
  g->f.finish = counted; /* a stopped launch goes on there, too: its body stops at once */
  task_range(g, task->counts ? task->counts : task, begin, end);
  block_follow(g, counted);
  g->f.finish = finish;
  claim(g, task, task->counts ? reduce_take(g, type) : build_load(g, number, g->f.cursor));
  if (task->counts) task_range(g, task, begin, end);
}

void claim_cursor(Codegen *g, const IrInst *inst) {
  if (g->f.cursor) return value_set(g, inst, g->f.cursor);
  codegen_fail(g, inst, "its task does not count");
  value_set(g, inst, LLVMGetUndef(g->pointer));
}
