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
#include "codegen/emit.h"

typedef struct Range {
  RangeIndices of;
  /* i64, of the segment: its position along each axis, counted from 0; along the last axis, its
   * start in the row */
  LLVMValueRef digit[SNODE_MAX_AXES];
  LLVMValueRef outer[SNODE_MAX_AXES]; /* its indices along all axes but the last */
  bool in_lanes, inner_in_lanes;      /* body and interior */
} Range;

/* Advances the digits to the start of the next row. */
static void next_row(Codegen *g, const Range *r, LLVMValueRef digits[]) {
  int last = r->of.task->axis_count - 1;
  digits[last] = value_index(g, 0);
  LLVMValueRef carry = value_index(g, 1);
  for (int axis = last - 1; axis >= 0; axis--) {
    LLVMValueRef counted = LLVMBuildAdd(g->builder, r->digit[axis], carry, "");
    LLVMValueRef full = LLVMBuildICmp(g->builder, LLVMIntEQ, counted, r->of.extent[axis], "");
    digits[axis] =
        axis == 0 ? counted : LLVMBuildSelect(g->builder, full, value_index(g, 0), counted, "");
    carry = LLVMBuildZExt(g->builder, full, g->i64, "");
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
  LLVMBasicBlockRef enter = block_new(g, "run"), after = block_new(g, "run.end");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntSLT, from, to, ""), enter, after);
  block_enter(g, enter);
  Counted loop = counted_begin(g, from, to, "cells");
  set_outer(g, r, body);
  value_set(g, vec_last(&body->params), loop.index);
  control_body(g, body, loop.again);
  counted_end(g, &loop);
  block_jump(g, after);
  block_enter(g, after);
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
  if (!r->in_lanes) return emit_run(g, r, body, from, to);
  LaneLoop loop = loop_of(g, r, body);
  lane_masked(g, &loop, from, to);
}

/* The loop that runs in whole vectors: the interior, or the body; false if neither does. A task
 * that counts in lanes runs under a mask throughout: its few iterations that count are scalar, and
 * so would be all that vectors leave over. */
static bool find_whole(Codegen *g, const Range *r, LaneLoop *loop) {
  const IrTask *task = r->of.task;
  if (task->counts) return false;
  if (!(task->interior ? r->inner_in_lanes : r->in_lanes)) return false;
  if (!task->interior && lane_is_long(task->body)) return false;
  *loop = loop_of(g, r, task->interior ? task->interior : task->body);
  return true;
}

/* Returns the index at which it stops; the checked loop does the rest. */
static LLVMValueRef emit_interior(Codegen *g, const Range *r, LLVMValueRef from, LLVMValueRef to,
                                  LLVMValueRef end) {
  LaneLoop loop;
  if (find_whole(g, r, &loop)) return lane_whole(g, &loop, from, to);
  const IrTask *task = r->of.task;
  if (r->inner_in_lanes) {
    loop = loop_of(g, r, task->interior);
    lane_masked(g, &loop, from, to);
  } else {
    emit_run(g, r, task->interior, from, to);
  }
  return end;
}

/* Only the vectoriser makes such tasks, but bytes may be wrong. */
static void find_lanes(Codegen *g, Range *r) {
  const IrTask *task = r->of.task;
  r->in_lanes = task->lanes > 1 && !task->rim_scalar;
  r->inner_in_lanes = task->lanes > 1 && task->interior;
  if ((r->in_lanes && !lane_is_sound(task->body, task->lanes)) ||
      (r->inner_in_lanes && !lane_is_sound(task->interior, task->lanes))) {
    codegen_fail(g, NULL, "a task's iterations cannot be lanes");
    r->in_lanes = r->inner_in_lanes = false;
  }
}

/* -- segments ---------------------------------------------------------------------------------- */

static LLVMValueRef clamp(Codegen *g, const Range *r, LLVMValueRef number, LLVMValueRef low,
                          LLVMValueRef high) {
  LLVMValueRef args[] = {number, low};
  args[0] = call_intrinsic(g, "llvm.smax", r->of.index, args, 2);
  args[1] = high;
  return call_intrinsic(g, "llvm.smin", r->of.index, args, 2);
}

enum { MANY_VECTORS = 8 };

/* The index in low..high at which whole vectors begin, if there are many: aligned for non-temporal
 * stores if there are any, else at a multiple of the vector length, so that contiguous stores do
 * not cross cache lines. */
static LLVMValueRef aligned(Codegen *g, const Range *r, LLVMValueRef low, LLVMValueRef high) {
  LaneLoop loop;
  if (!find_whole(g, r, &loop)) return low;
  int64_t width = loop.width;
  LLVMValueRef up = stream_begin(g, &loop, low);
  if (!up) {
    up = LLVMBuildAdd(g->builder, low, value_integer(r->of.index, width - 1), "");
    up = LLVMBuildAnd(g->builder, up, value_integer(r->of.index, -width), "");
  }
  LLVMValueRef rest = LLVMBuildSub(g->builder, high, up, "");
  LLVMValueRef many = LLVMBuildICmp(g->builder, LLVMIntSGE, rest,
                                    value_integer(r->of.index, MANY_VECTORS * width), "");
  return LLVMBuildSelect(g->builder, many, up, low, "");
}

/* The checked loop from..stop precedes the interior, and runs again after it for the rest. */
static void emit_split(Codegen *g, const Range *r, LLVMValueRef from, LLVMValueRef to) {
  const IrTask *task = r->of.task;
  int last = task->axis_count - 1;
  LLVMValueRef is_interior = value_integer(g->bool_type, 1), low = from, high = to;
  if (task->interior) {
    is_interior = range_is_inside(g, &r->of, r->outer, last);
    low = clamp(g, r, r->of.inner_begin[last], from, to);
    high = clamp(g, r, r->of.inner_end[last], low, to);
  }
  low = aligned(g, r, low, high);
  LLVMValueRef first_stop = LLVMBuildSelect(g->builder, is_interior, low, to, "");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), checked = block_new(g, "checked"),
                    interior = block_new(g, "interior"), after = block_new(g, "segment.end");
  block_jump(g, checked);
  block_enter(g, checked);
  LLVMValueRef start = LLVMBuildPhi(g->builder, r->of.index, ""),
               stop = LLVMBuildPhi(g->builder, r->of.index, "");
  emit_body(g, r, start, stop);
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, stop, to, ""), after, interior);
  block_enter(g, interior);
  LLVMValueRef inner_from = low, inner_to = high;
  if (task->interior) {
    LLVMValueRef begin[] = {low, r->of.inner_begin[last]}, end[] = {high, r->of.inner_end[last]};
    inner_from = call_intrinsic(g, "llvm.smax", r->of.index, begin, 2);
    inner_to = call_intrinsic(g, "llvm.smin", r->of.index, end, 2);
  }
  LLVMValueRef rest = emit_interior(g, r, inner_from, inner_to, high);
  LLVMBasicBlockRef end = LLVMGetInsertBlock(g->builder);
  block_jump(g, checked);
  LLVMAddIncoming(start, (LLVMValueRef[]){from, rest}, (LLVMBasicBlockRef[]){before, end}, 2);
  LLVMAddIncoming(stop, (LLVMValueRef[]){first_stop, to}, (LLVMBasicBlockRef[]){before, end}, 2);
  block_enter(g, after);
}

/* Emits the segment at r->digit, truncated at the end of the positions; returns its length. */
static LLVMValueRef emit_segment(Codegen *g, Range *r, LLVMValueRef left) {
  const IrTask *task = r->of.task;
  int last = task->axis_count - 1;
  for (int axis = 0; axis < last; axis++) {
    LLVMValueRef at = LLVMBuildAdd(g->builder, r->of.begin[axis], r->digit[axis], "");
    r->outer[axis] = range_index(g, &r->of, at);
  }
  LLVMValueRef args[] = {left, LLVMBuildSub(g->builder, r->of.extent[last], r->digit[last], "")};
  LLVMValueRef length = last == 0 ? left : call_intrinsic(g, "llvm.smin", g->i64, args, 2);
  LLVMValueRef first = LLVMBuildAdd(g->builder, r->of.begin[last], r->digit[last], "");
  LLVMValueRef from = range_index(g, &r->of, first),
               to = range_index(g, &r->of, LLVMBuildAdd(g->builder, first, length, ""));
  LaneLoop loop;
  if (task->interior || find_whole(g, r, &loop)) emit_split(g, r, from, to);
  else emit_body(g, r, from, to);
  return length;
}

void task_range(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end) {
  Range r;
  LLVMValueRef digits[SNODE_MAX_AXES];
  if (!range_open(g, task, &r.of)) return;
  stream_open(g, &r.of);
  find_lanes(g, &r);
  range_split(g, &r.of, begin, digits);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), segment = block_new(g, "segment"),
                    work = block_new(g, "work");
  block_jump(g, segment);
  block_enter(g, segment);
  LLVMValueRef position = LLVMBuildPhi(g->builder, g->i64, "position");
  for (int axis = 0; axis < task->axis_count; axis++) {
    r.digit[axis] = LLVMBuildPhi(g->builder, g->i64, "");
    LLVMAddIncoming(r.digit[axis], &digits[axis], &before, 1);
  }
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntSLT, position, end, ""), work, g->f.finish);
  block_enter(g, work);
  context_poll_stop(g);
  LLVMValueRef length = emit_segment(g, &r, LLVMBuildSub(g->builder, end, position, ""));
  LLVMValueRef next = LLVMBuildAdd(g->builder, position, length, "");
  next_row(g, &r, digits);
  LLVMBasicBlockRef after = LLVMGetInsertBlock(g->builder);
  block_jump(g, segment);
  LLVMAddIncoming(position, (LLVMValueRef[]){begin, next}, (LLVMBasicBlockRef[]){before, after}, 2);
  for (int axis = 0; axis < task->axis_count; axis++)
    LLVMAddIncoming(r.digit[axis], &digits[axis], &after, 1);
  block_enter(g, block_new(g, "after"));
}
