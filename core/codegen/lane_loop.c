/* lane_loop.c - vectorised loops: the index advances by whole vectors, and the body is emitted once
 * for whole vectors and once under a mask, for the remaining iterations. */
#include "codegen/emit.h"

bool lane_is_sound(const IrRegion *body, int lanes) {
  const IrInst *mask = ir_lanes_mask(body);
  return mask && lanes <= IR_MAX_LANES && type_rows(mask->type) == lanes;
}

static void set_index(Codegen *g, const IrInst *index, LLVMValueRef first) {
  Type type = index->type;
  if (LLVMTypeOf(first) != value_type(g, type)) first = arith_convert(g, TYPE(I64), type, first);
  value_set(g, index, first);
}

void lane_iterations(Codegen *g, const LaneLoop *loop, LLVMValueRef first, LLVMValueRef active,
                     LLVMBasicBlockRef again) {
  const IrInst *mask = ir_lanes_mask(loop->body);
  ASSERT(mask && type_rows(mask->type) == loop->width, "a mask for the lanes of its loop");
  if (!active) active = LLVMConstAllOnes(value_type(g, mask->type));
  if (loop->nodes) task_lanes_of_nodes(g, loop->nodes, first, active);
  else set_index(g, loop->index, first);
  value_set(g, mask, active);
  control_body(g, loop->body, again);
}

static bool is_no_fault(void *data, IrInst *inst) { return inst->op != IR_FAULT; }

LLVMBasicBlockRef lane_next(Codegen *g, const LaneLoop *loop, LLVMBasicBlockRef again) {
  block_jump(g, again);
  block_enter(g, again);
  if (!ir_walk((IrRegion *)loop->body, is_no_fault, NULL)) context_poll_stop(g);
  if (loop->trips) {
    LLVMBasicBlockRef more = block_new(g, "more");
    control_back_edge(g, loop->trips, more);
    block_enter(g, more);
  }
  return LLVMGetInsertBlock(g->builder);
}

static LLVMValueRef number(LLVMValueRef like, int64_t number) {
  return value_integer(LLVMTypeOf(like), number);
}

LLVMValueRef lane_whole(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to) {
  LLVMValueRef some = LLVMBuildICmp(g->builder, LLVMIntSLT, from, to, "");
  LLVMValueRef count = LLVMBuildSelect(g->builder, some, LLVMBuildSub(g->builder, to, from, ""),
                                       number(from, 0), "");
  LLVMValueRef whole = LLVMBuildAnd(g->builder, count, number(from, -loop->width), "");
  LLVMValueRef end = LLVMBuildAdd(g->builder, from, whole, "");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), body = block_new(g, "lanes"),
                    again = block_new(g, "again"), leave = block_new(g, "lanes.end");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, whole, number(from, 0), ""), leave, body);
  block_enter(g, body);
  LLVMValueRef index = LLVMBuildPhi(g->builder, LLVMTypeOf(from), "");
  lane_iterations(g, loop, index, NULL, again);
  LLVMBasicBlockRef back = lane_next(g, loop, again);
  LLVMValueRef next = LLVMBuildAdd(g->builder, index, number(from, loop->width), "");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, next, end, ""), leave, body);
  LLVMAddIncoming(index, (LLVMValueRef[]){from, next}, (LLVMBasicBlockRef[]){before, back}, 2);
  block_enter(g, leave);
  return end;
}

LLVMValueRef lane_mask_of_bits(Codegen *g, LLVMValueRef bits, int width) {
  LLVMValueRef lanes[IR_MAX_LANES];
  if (width > 32) {
    LLVMTypeRef narrow = LLVMIntTypeInContext(g->context, (unsigned)width);
    return LLVMBuildBitCast(g->builder, LLVMBuildIntCast2(g->builder, bits, narrow, false, ""),
                            value_lanes(g->bool_type, width), "");
  }
  for (int i = 0; i < width; i++) lanes[i] = value_integer(g->i32, (int64_t)1 << i);
  LLVMValueRef each = LLVMConstVector(lanes, (unsigned)width);
  LLVMValueRef all = LLVMBuildIntCast2(g->builder, bits, g->i32, false, "");
  LLVMValueRef own = LLVMBuildAnd(g->builder, value_broadcast(g, all, width), each, "");
  return LLVMBuildICmp(g->builder, LLVMIntNE, own, LLVMConstNull(LLVMTypeOf(own)), "");
}

/* A mask of the first `count` (unsigned) lanes, or of all if there are fewer. */
static LLVMValueRef lane_first(Codegen *g, int width, LLVMValueRef count) {
  LLVMTypeRef type = LLVMTypeOf(count);
  LLVMValueRef args[] = {count, value_integer(type, width)}, lanes[IR_MAX_LANES];
  LLVMValueRef most = call_intrinsic(g, "llvm.umin", type, args, 2);
  if (LLVMGetIntTypeWidth(type) > 32) most = LLVMBuildTrunc(g->builder, most, g->i32, "");
  for (int i = 0; i < width; i++) lanes[i] = value_integer(g->i32, i);
  return LLVMBuildICmp(g->builder, LLVMIntULT, LLVMConstVector(lanes, (unsigned)width),
                       value_broadcast(g, most, width), "");
}

void lane_masked(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to) {
  LLVMBasicBlockRef body = block_new(g, "masked"), again = block_new(g, "again"),
                    leave = block_new(g, "masked.end");
  LLVMValueRef some = LLVMBuildICmp(g->builder, LLVMIntSLT, from, to, "");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder);
  block_branch(g, some, body, leave);
  block_enter(g, body);
  LLVMValueRef index = LLVMBuildPhi(g->builder, LLVMTypeOf(from), "");
  LLVMValueRef left = LLVMBuildSub(g->builder, to, index, "");
  lane_iterations(g, loop, index, lane_first(g, loop->width, left), again);
  LLVMBasicBlockRef back = lane_next(g, loop, again);
  LLVMValueRef width = number(from, loop->width);
  LLVMValueRef next = LLVMBuildAdd(g->builder, index, width, "");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntUGT, left, width, ""), body, leave);
  LLVMAddIncoming(index, (LLVMValueRef[]){from, next}, (LLVMBasicBlockRef[]){before, back}, 2);
  block_enter(g, leave);
}

enum { LONG_BODY = 300 }; /* insts; from there on only the masked copy is emitted */

static bool count_inst(void *data, IrInst *inst) {
  *(int *)data += inst->op != IR_SPLAT && inst->op != IR_STEP;
  return true;
}

/* SPLAT and STEP, which `vectorise` writes for each use of a scalar, do not count. */
bool lane_is_long(const IrRegion *body) {
  int count = 0;
  ir_walk((IrRegion *)body, count_inst, &count);
  return count > LONG_BODY;
}

void lane_loop(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to) {
  if (!lane_is_long(loop->body)) from = lane_whole(g, loop, from, to);
  lane_masked(g, loop, from, to);
}
