/* lane_loop.c - vectorised loops: the index advances by whole vectors, and the body is emitted once
 * for whole vectors and once under a mask, for the remaining iterations. */
#include "codegen/region.h"

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
  if (loop->nodes) loop->set_params(g, loop->nodes, first, active);
  else set_index(g, loop->index, first);
  value_set(g, mask, active);
  control_body(g, loop->body, again);
}

static bool is_no_fault(void *data, IrInst *inst) { return inst->op != IR_FAULT; }

LLVMBasicBlockRef lane_next(Codegen *g, const LaneLoop *loop, LLVMBasicBlockRef again) {
  block_follow(g, again);
  if (!ir_walk((IrRegion *)loop->body, is_no_fault, NULL)) context_poll_stop(g);
  if (loop->trips) {
    LLVMBasicBlockRef more = block_new(g, "more");
    control_back_edge(g, loop->trips, more);
    block_enter(g, more);
  }
  return block_here(g);
}

/* -- alternate iterations ---------------------------------------------------------------------- */

static int apart(const LaneLoop *loop) { return ir_lanes_alternate(loop->body) ? 2 : 1; }

int64_t lane_span(const LaneLoop *loop) { return (int64_t)loop->width * apart(loop); }

/* Does the operand of ALTERNATE hold at the iteration? */
static LLVMValueRef acts_at(Codegen *g, const LaneLoop *loop, const IrInst *acts,
                            LLVMValueRef iteration) {
  set_index(g, loop->index, iteration);
  region_emit_value(g, acts, loop->body);
  return value_of(g, acts);
}

/* The first iteration of from..to that lanes run: one of the first two, or none. */
static LLVMValueRef first_of(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to) {
  const IrInst *alternate = ir_lanes_alternate(loop->body);
  if (!alternate) return from;
  const IrInst *acts = alternate->operands[0];
  LLVMValueRef some = build_icmp(g, LLVMIntSLT, from, to);
  LLVMValueRef next = build_add(g, from, build_zext(g, some, LLVMTypeOf(from)));
  LLVMValueRef here = acts_at(g, loop, acts, from), there = acts_at(g, loop, acts, next);
  return build_select(g, here, from, build_select(g, there, next, to));
}

/* -- loops ------------------------------------------------------------------------------------- */

LLVMValueRef lane_whole(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to) {
  int64_t span = lane_span(loop);
  from = first_of(g, loop, from, to);
  LLVMValueRef some = build_icmp(g, LLVMIntSLT, from, to);
  LLVMValueRef count = build_select(g, some, build_sub(g, to, from), value_like(from, 0));
  LLVMValueRef whole = build_and(g, count, value_like(from, -span));
  LLVMValueRef end = build_add(g, from, whole);
  LLVMBasicBlockRef before = block_here(g), body = block_new(g, "lanes"),
                    again = block_new(g, "again"), leave = block_new(g, "lanes.end");
  block_enter_unless(g, build_is_zero(g, whole), body, leave);
  LLVMValueRef index = build_phi(g, from, before, "");
  lane_iterations(g, loop, index, NULL, again);
  LLVMBasicBlockRef back = lane_next(g, loop, again);
  LLVMValueRef next = build_add(g, index, value_like(from, span));
  build_phi_next(index, next, back);
  block_enter_if(g, build_icmp(g, LLVMIntEQ, next, end), leave, body);
  return end;
}

/* A mask of the lanes that run one of the next `count` (unsigned) iterations. */
static LLVMValueRef lane_first(Codegen *g, const LaneLoop *loop, LLVMValueRef count) {
  LLVMValueRef most = call_binary(g, "llvm.umin", count, value_like(count, lane_span(loop)));
  if (LLVMTypeOf(count) == g->i64) most = build_trunc(g, most, g->i32);
  return build_icmp(g, LLVMIntULT, value_staircase(g->i32, loop->width, apart(loop)),
                    value_broadcast(g, most, loop->width));
}

void lane_masked(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to) {
  from = first_of(g, loop, from, to);
  LLVMBasicBlockRef body = block_new(g, "masked"), again = block_new(g, "again"),
                    leave = block_new(g, "masked.end"), before = block_here(g);
  block_enter_if(g, build_icmp(g, LLVMIntSLT, from, to), body, leave);
  LLVMValueRef index = build_phi(g, from, before, "");
  LLVMValueRef left = build_sub(g, to, index), span = value_like(from, lane_span(loop));
  lane_iterations(g, loop, index, lane_first(g, loop, left), again);
  LLVMBasicBlockRef back = lane_next(g, loop, again);
  build_phi_next(index, build_add(g, index, span), back);
  block_enter_unless(g, build_icmp(g, LLVMIntUGT, left, span), leave, body);
}

void lane_loop(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to) {
  if (loop->whole) from = lane_whole(g, loop, from, to);
  lane_masked(g, loop, from, to);
}
