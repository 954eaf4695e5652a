/* reduce.c - reductions: a worker keeps its partial in a variable of the task function, which
 * becomes a register, and combines it with the frame slot once, atomically, at the end of its call
 * (a GPU's threads combine theirs by blocks: reduce.c).
 * In a vector ROW the partial is a vector; its lanes are combined at the end. By contract a float
 * sum has no order, so its additions may be reassociated, in any kernel. */
#include <math.h>

#include "codegen/emit.h"

/* The operator that combines partials. SUB and DIV accumulate by ADD and MUL; `op` itself is
 * applied at the end. */
static IrUpdate combines_by(IrUpdate op) {
  return op == IR_UPDATE_SUB ? IR_UPDATE_ADD : op == IR_UPDATE_DIV ? IR_UPDATE_MUL : op;
}

static LLVMValueRef least_integer(LLVMTypeRef type, Type of, bool largest) {
  int bits = type_bits(of);
  uint64_t ones = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  if (!type_is_signed(of)) return value_integer(type, largest ? (int64_t)ones : 0);
  return value_integer(type, (int64_t)(largest ? ones >> 1 : (ones >> 1) + 1));
}

static LLVMValueRef identity(Codegen *g, IrUpdate op, Type type, int width) {
  LLVMTypeRef shape = value_lanes(value_type(g, type), width);
  bool is_float = type_is_float(type);
  switch (combines_by(op)) {
  case IR_UPDATE_ADD: return is_float ? value_real(shape, -0.0) : value_integer(shape, 0);
  case IR_UPDATE_MUL: return is_float ? value_real(shape, 1) : value_integer(shape, 1);
  case IR_UPDATE_MIN:
    return is_float ? value_real(shape, INFINITY) : least_integer(shape, type, true);
  case IR_UPDATE_MAX:
    return is_float ? value_real(shape, -INFINITY) : least_integer(shape, type, false);
  case IR_UPDATE_BAND: return value_integer(shape, -1);
  case IR_UPDATE_BOR:
  case IR_UPDATE_BXOR: return value_integer(shape, 0);
  default: break;
  }
  codegen_fail(g, NULL, "the operator of a reduction has no identity");
  return LLVMConstNull(shape);
}

static Share *find_share(Codegen *g, IrUpdate op, Type type, int32_t slot, int width) {
  for (int i = 0; i < g->f.shares.count; i++) {
    Share *share = &g->f.shares.items[i];
    if (share->slot == slot && share->op == op && share->width == width) return share;
  }
  LLVMTypeRef shape = value_lanes(value_type(g, type), width);
  LLVMValueRef variable = block_variable(g, shape, "share");
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMBuildStore(g->builder, identity(g, op, type, width), variable);
  block_hoist_end(g, back);
  vec_push(g->scratch, &g->f.shares, ((Share){op, type, slot, width, variable}));
  return &vec_last(&g->f.shares);
}

LLVMValueRef reduce_combine(Codegen *g, IrUpdate op, Type type, LLVMValueRef sum,
                            LLVMValueRef value) {
  LLVMValueRef result = arith_update(g, combines_by(op), type, sum, value);
  if (type_is_float(type) && LLVMIsAInstruction(result) && LLVMCanValueUseFastMathFlags(result))
    LLVMSetFastMathFlags(result, LLVMGetFastMathFlags(result) | LLVMFastMathAllowReassoc);
  return result;
}

void reduce_emit(Codegen *g, const IrInst *inst) {
  if (inst->operand_count < 2 || inst->operands[0]->op != IR_FRAME_GET || inst->imm < 0 ||
      inst->imm >= IR_UPDATE_COUNT)
    return codegen_fail(g, inst, "it names no frame slot or no operator");
  LLVMValueRef value = value_operand(g, inst, 1);
  Type type = type_element(inst->operands[1]->type);
  int width = value_width(value);
  Share *share = find_share(g, (IrUpdate)inst->imm, type, (int32_t)inst->operands[0]->imm, width);
  LLVMTypeRef shape = value_lanes(value_type(g, type), share->width);
  LLVMValueRef sum = LLVMBuildLoad2(g->builder, shape, share->variable, "");
  sum = reduce_combine(g, share->op, type, sum, value);
  LLVMBuildStore(g->builder, sum, share->variable);
}

/* `count` lanes of a vector, from lane `first` on. */
static LLVMValueRef some_lanes(Codegen *g, LLVMValueRef vector, int first, int count) {
  DEBUG_ASSERT(first + count <= value_width(vector), "lanes of the vector");
  LLVMValueRef mask[IR_MAX_LANES];
  for (int i = 0; i < count; i++) mask[i] = value_integer(g->i32, first + i);
  return LLVMBuildShuffleVector(g->builder, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                LLVMConstVector(mask, (unsigned)count), "");
}

/* Combines each lane with the identity first, so that a NaN does not become the maximum. */
LLVMValueRef reduce_lanes(Codegen *g, IrUpdate op, Type type, LLVMValueRef value,
                          LLVMValueRef mask) {
  int width = value_width(value);
  LLVMValueRef none = identity(g, op, type, width);
  value = reduce_combine(g, op, type, none, value);
  if (mask) value = LLVMBuildSelect(g->builder, mask, value, none, "");
  for (int half = width / 2; half > 1; half /= 2)
    value = reduce_combine(g, op, type, some_lanes(g, value, 0, half),
                           some_lanes(g, value, half, half));
  return reduce_combine(g, op, type, value_lane(g, value, 0), value_lane(g, value, 1));
}

static LLVMValueRef join_lanes(Codegen *g, const Share *share, LLVMValueRef lanes) {
  LLVMValueRef sum = value_lane(g, lanes, 0);
  for (int lane = 1; lane < share->width; lane++)
    sum = reduce_combine(g, share->op, share->type, sum, value_lane(g, lanes, lane));
  return sum;
}

void reduce_finish(Codegen *g) {
  int count = g->f.shares.count;
  LLVMValueRef *sums = scratch_array(g->scratch, LLVMValueRef, count);
  for (int i = 0; i < count; i++) {
    const Share *share = &g->f.shares.items[i];
    LLVMTypeRef shape = value_lanes(value_type(g, share->type), share->width);
    sums[i] = join_lanes(g, share, LLVMBuildLoad2(g->builder, shape, share->variable, ""));
  }
  if (count && g->part == CODEGEN_GPU_TASKS) return gpu_reduce(g, sums);
  for (int i = 0; i < count; i++) {
    const Share *share = &g->f.shares.items[i];
    atomic_rmw(g, share->op, (Element){.type = share->type}, context_slot(g, share->slot), sums[i]);
  }
}

LLVMValueRef reduce_take(Codegen *g, Type type) {
  LLVMValueRef total = value_integer(value_type(g, type), 0);
  for (int i = 0; i < g->f.shares.count; i++) {
    const Share *share = &g->f.shares.items[i];
    if (share->op != IR_UPDATE_ADD || !type_equal(share->type, type)) {
      codegen_fail(g, NULL, "what is counted is not what is claimed");
      return total;
    }
    LLVMTypeRef shape = value_lanes(value_type(g, type), share->width);
    LLVMValueRef sum = LLVMBuildLoad2(g->builder, shape, share->variable, "");
    total = reduce_combine(g, IR_UPDATE_ADD, type, total, join_lanes(g, share, sum));
  }
  g->f.shares.count = 0;
  return total;
}
