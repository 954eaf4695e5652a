/* task_range.c - a range task: flattened positions begin..end, last axis fastest.
 * Positions are split into row segments: runs of the last axis with the other axes fixed. The first
 * segment's indices are found by division, those of later ones by counting with carry, like an
 * odometer. A task with an interior splits each segment further,
 *
 *     | checked | interior | checked |     (all checked if another axis is outside the interior)
 *
 * and emits each body once: the checked loop runs before the interior and again after it. If a
 * whole segment is inside, the masked body likewise runs before and after whole vectors, first up
 * to their alignment. Indices are counted in their own type, and clamped to it, so that LLVM sees
 * their range. */
#include "base/bits.h"
#include "codegen/task.h"

typedef struct Range {
  RangeIndices of;
  /* i64, of the segment: its position along each axis, counted from 0; along the last axis, its
   * start in the row */
  LLVMValueRef digit[SNODE_MAX_AXES];
  LLVMValueRef outer[SNODE_MAX_AXES]; /* its indices along all axes but the last */
} Range;

/* Advances the digits to the start of the next row. */
static void next_row(Codegen *g, const Range *r, LLVMValueRef digits[]) {
  int last = r->of.task->axis_count - 1;
  digits[last] = value_index(g, 0);
  LLVMValueRef carry = value_index(g, 1);
  for (int axis = last - 1; axis >= 0; axis--) {
    LLVMValueRef counted = build_add(g, r->digit[axis], carry);
    LLVMValueRef full = build_icmp(g, LLVMIntEQ, counted, r->of.extent[axis]);
    digits[axis] = axis == 0 ? counted : build_select(g, full, value_index(g, 0), counted);
    carry = build_zext(g, full, g->i64);
  }
}

/* Sets the indices of a segment along all axes but the last. */
static void set_outer(Codegen *g, const Range *r, const IrRegion *body) {
  for (int axis = 0; axis + 1 < r->of.task->axis_count; axis++)
    value_set(g, body->params.items[axis], r->outer[axis]);
}

/* for (last = from; last < to; last++) body */
static void emit_run(Codegen *g, const Range *r, const IrRegion *body, LLVMValueRef from,
                     LLVMValueRef to) {
  LLVMBasicBlockRef after = block_if(g, build_icmp(g, LLVMIntSLT, from, to), "run", "run.end");
  LLVMBasicBlockRef before = block_here(g), cells = block_new(g, "cells"),
                    again = block_new(g, "again"), leave = block_new(g, "leave");
  block_follow(g, cells);
  LLVMValueRef index = build_phi(g, from, before, "");
  set_outer(g, r, body);
  value_set(g, vec_last(&body->params), index);
  control_body(g, body, again);
  block_follow(g, again);
  LLVMValueRef next = build_nsw_add(g, index, value_like(index, 1));
  LLVMValueRef more = build_icmp(g, LLVMIntSLT, next, to);
  LLVMValueRef back = LLVMBuildCondBr(g->builder, more, cells, leave);
  build_phi_next(index, next, again);
  if (r->of.task->scalar) loop_stays_scalar(g, back);
  block_enter(g, leave);
  block_follow(g, after);
}

/* -- in lanes ---------------------------------------------------------------------------------- */

static LaneLoop loop_of(Codegen *g, const Range *r, const IrRegion *body) {
  set_outer(g, r, body);
  const IrInst *index = body->params.items[r->of.task->axis_count - 1];
  return (LaneLoop){.body = body, .index = index, .width = r->of.task->lanes};
}

static void emit_body(Codegen *g, const Range *r, LLVMValueRef from, LLVMValueRef to) {
  const IrTask *task = r->of.task;
  const IrRegion *body = task->body;
  if (task->lanes <= 1 || task->rim_scalar) return emit_run(g, r, body, from, to);
  LaneLoop loop = loop_of(g, r, body);
  lane_masked(g, &loop, from, to);
}

/* The loop that runs in whole vectors: the interior, or the body; false if neither does. */
static bool find_whole(Codegen *g, const Range *r, LaneLoop *loop) {
  const IrTask *task = r->of.task;
  if (!task->whole) return false;
  *loop = loop_of(g, r, task->interior ? task->interior : task->body);
  return true;
}

/* Returns the index at which it stops; the checked loop does the rest. */
static LLVMValueRef emit_interior(Codegen *g, const Range *r, LLVMValueRef from, LLVMValueRef to,
                                  LLVMValueRef end) {
  LaneLoop loop;
  if (find_whole(g, r, &loop)) return lane_whole(g, &loop, from, to);
  const IrTask *task = r->of.task;
  if (task->lanes > 1) {
    loop = loop_of(g, r, task->interior);
    lane_masked(g, &loop, from, to);
  } else {
    emit_run(g, r, task->interior, from, to);
  }
  return end;
}

/* -- segments ---------------------------------------------------------------------------------- */

static LLVMValueRef clamp(Codegen *g, LLVMValueRef number, LLVMValueRef low, LLVMValueRef high) {
  return call_binary(g, "llvm.smin", call_binary(g, "llvm.smax", number, low), high);
}

/* The index in low..high at which whole vectors begin, if there are enough: aligned for
 * non-temporal stores if there are any, else at a multiple of the vector length, so that contiguous
 * stores do not cross cache lines. */
static LLVMValueRef aligned(Codegen *g, const Range *r, LLVMValueRef low, LLVMValueRef high) {
  LaneLoop loop;
  if (!find_whole(g, r, &loop)) return low;
  int64_t span = lane_span(&loop);
  LLVMValueRef up = stream_begin(g, &loop, low);
  if (!up) {
    up = build_add(g, low, value_like(low, span - 1));
    up = build_and(g, up, value_like(low, -span));
  }
  LLVMValueRef rest = build_sub(g, high, up);
  LLVMValueRef many = build_icmp(g, LLVMIntSGE, rest, value_like(low, r->of.task->whole * span));
  return build_select(g, many, up, low);
}

/* The checked loop from..stop precedes the interior, and runs again after it for the rest. */
static void emit_split(Codegen *g, const Range *r, LLVMValueRef from, LLVMValueRef to) {
  const IrTask *task = r->of.task;
  int last = task->axis_count - 1;
  LLVMValueRef is_interior = value_bool(g, true), low = from, high = to;
  if (task->interior) {
    is_interior = range_is_inside(g, &r->of, r->outer, last);
    low = clamp(g, r->of.inner_begin[last], from, to);
    high = clamp(g, r->of.inner_end[last], low, to);
  }
  low = aligned(g, r, low, high);
  LLVMValueRef first_stop = build_select(g, is_interior, low, to);
  LLVMBasicBlockRef before = block_here(g), checked = block_new(g, "checked"),
                    interior = block_new(g, "interior"), after = block_new(g, "segment.end");
  block_follow(g, checked);
  LLVMValueRef start = build_phi(g, from, before, ""), stop = build_phi(g, first_stop, before, "");
  emit_body(g, r, start, stop);
  block_enter_unless(g, build_icmp(g, LLVMIntEQ, stop, to), interior, after);
  LLVMValueRef inner_from = low, inner_to = high;
  if (task->interior) {
    inner_from = call_binary(g, "llvm.smax", low, r->of.inner_begin[last]);
    inner_to = call_binary(g, "llvm.smin", high, r->of.inner_end[last]);
  }
  LLVMValueRef rest = emit_interior(g, r, inner_from, inner_to, high);
  build_phi_next(start, rest, block_here(g));
  build_phi_next(stop, to, block_here(g));
  block_jump(g, checked);
  block_enter(g, after);
}

/* Emits the segment at r->digit, truncated at the end of the positions; returns its length. */
static LLVMValueRef emit_segment(Codegen *g, Range *r, LLVMValueRef left) {
  ASSERT(r->of.task->axis_count > 0, "a segment lies along the last axis");
  const IrTask *task = r->of.task;
  int last = task->axis_count - 1;
  for (int axis = 0; axis < last; axis++) {
    LLVMValueRef at = build_add(g, r->of.begin[axis], r->digit[axis]);
    r->outer[axis] = range_index(g, &r->of, at);
  }
  LLVMValueRef in_row = build_sub(g, r->of.extent[last], r->digit[last]);
  LLVMValueRef length = last == 0 ? left : call_binary(g, "llvm.smin", left, in_row);
  LLVMValueRef first = build_add(g, r->of.begin[last], r->digit[last]);
  LLVMValueRef from = range_index(g, &r->of, first),
               to = range_index(g, &r->of, build_add(g, first, length));
  LaneLoop loop;
  if (task->interior || find_whole(g, r, &loop)) emit_split(g, r, from, to);
  else emit_body(g, r, from, to);
  return length;
}

void task_range(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end) {
  ASSERT(g->part != CODEGEN_GPU_TASKS, "a GPU runs positions in any order (gpu.c)");
  Range r;
  LLVMValueRef digits[SNODE_MAX_AXES];
  range_open(g, task, &r.of);
  stream_open(g, &r.of);
  range_split(g, &r.of, begin, digits);
  LLVMBasicBlockRef before = block_here(g), segment = block_new(g, "segment"),
                    work = block_new(g, "work");
  block_follow(g, segment);
  LLVMValueRef position = build_phi(g, begin, before, "position");
  for (int axis = 0; axis < task->axis_count; axis++)
    r.digit[axis] = build_phi(g, digits[axis], before, "");
  block_enter_if(g, build_icmp(g, LLVMIntSLT, position, end), work, g->f.finish);
  context_poll_stop(g);
  LLVMValueRef length = emit_segment(g, &r, build_sub(g, end, position));
  LLVMValueRef next = build_add(g, position, length);
  next_row(g, &r, digits);
  build_phi_next(position, next, block_here(g));
  for (int axis = 0; axis < task->axis_count; axis++)
    build_phi_next(r.digit[axis], digits[axis], block_here(g));
  block_leave(g, segment, "after");
}
