/* range.c - range tasks: flattened positions begin..end, last axis fastest. The indices of a
 * position and the bounds of the interior are used by tasks of a GPU, too, which run positions in
 * any order (gpu.c). Decision D-kernel-11. On a CPU, positions are split into row segments: runs of
 * the last axis with the other axes fixed. The first segment's indices are found by division, those
 * of later ones by counting with carry, like an odometer. A task with an interior splits each
 * segment further,
 *
 *     | checked | interior | checked |     (all checked if another axis is outside the interior)
 *
 * and emits each body once: the checked loop runs before the interior and again after it. If a
 * whole segment is inside, the masked body likewise runs before and after full vectors, first up
 * to their alignment. Indices are counted in their own type, and clamped to it, so that LLVM sees
 * their range. */
#include "base/bits.h"
#include "codegen/task.h"

/* -- indices of positions ---------------------------------------------------------------------- */

/* Loads a bound, or uses its constant on a GPU, which divides every position by the extents: a
 * division by a constant becomes a multiplication. */
static LLVMValueRef load_bound(Codegen *g, const IrTask *task, int slot) {
  for (int i = 0; i < task->constants.count && g->part == CODEGEN_GPU_TASKS; i++)
    if (task->constants.items[i].slot == slot)
      return value_index(g, task->constants.items[i].value);
  return build_load(g, g->i64, context_slot(g, slot));
}

static void load_bounds(Codegen *g, RangeIndices *r) {
  for (int axis = 0; axis < r->task->axis_count; axis++) {
    r->begin[axis] = load_bound(g, r->task, r->task->bounds + 2 * axis);
    LLVMValueRef end = load_bound(g, r->task, r->task->bounds + 2 * axis + 1);
    LLVMValueRef extent = build_sub(g, end, r->begin[axis]);
    r->extent[axis] = LLVMIsAConstantInt(extent)
                          ? value_index(g, max_i64(1, (int64_t)LLVMConstIntGetZExtValue(extent)))
                          : call_binary(g, "llvm.smax", extent, value_index(g, 1));
  }
}

LLVMValueRef range_index(Codegen *g, const RangeIndices *r, LLVMValueRef wide) {
  return r->is_wide ? wide : build_trunc(g, wide, r->index);
}

/* Are there so few positions that 32 bits hold them? */
static bool is_narrow(const RangeIndices *r) {
  int64_t count = 1;
  for (int axis = 0; axis < r->task->axis_count; axis++) {
    if (!LLVMIsAConstantInt(r->extent[axis])) return false;
    int64_t extent = LLVMConstIntGetSExtValue(r->extent[axis]);
    if (extent > INT32_MAX / count) return false;
    count *= extent;
  }
  return true;
}

void range_split(Codegen *g, const RangeIndices *r, LLVMValueRef position, LLVMValueRef digits[]) {
  LLVMTypeRef type = is_narrow(r) ? g->i32 : g->i64;
  LLVMValueRef rest = build_trunc(g, position, type);
  for (int axis = r->task->axis_count - 1; axis >= 0; axis--) {
    LLVMValueRef extent = build_trunc(g, r->extent[axis], type);
    LLVMValueRef digit = axis ? build_urem(g, rest, extent) : rest;
    digits[axis] = build_zext(g, digit, g->i64);
    if (axis) rest = build_udiv(g, rest, extent);
  }
}

/* -- the interior ----------------------------------------------------------------------------- */

static LLVMValueRef index_constant(const RangeIndices *r, int64_t number) {
  int64_t most = r->is_wide ? INT64_MAX : INT32_MAX;
  return value_integer(r->index, max_i64(-most - 1, min_i64(number, most)));
}

static LLVMValueRef smaller(Codegen *g, LLVMValueRef a, LLVMValueRef b) {
  return call_binary(g, "llvm.smin", a, b);
}

/* The number in the limit's slot, as an i64. */
static LLVMValueRef number_of(Codegen *g, const IrLimit *limit) {
  LLVMValueRef number = access_load(g, (Element){limit->type, 0}, context_slot(g, limit->slot));
  return arith_convert(g, limit->type, TYPE(I64), number);
}

/* The number in the limit's slot minus its constant, clamped to the index type. */
static LLVMValueRef limit_end(Codegen *g, const RangeIndices *r, const IrLimit *limit) {
  ASSERT(limit->axis < r->task->axis_count, "a limit of an axis");
  LLVMValueRef end = build_sub(g, number_of(g, limit), value_index(g, limit->less));
  if (r->is_wide) return end;
  end = smaller(g, end, value_index(g, INT32_MAX));
  return build_trunc(g, call_binary(g, "llvm.smax", end, value_index(g, INT32_MIN)), r->index);
}

/* An end that makes the interior empty, unless the number is more than the limit's constant. */
static LLVMValueRef end_if_any(Codegen *g, const RangeIndices *r, const IrLimit *limit,
                               LLVMValueRef end) {
  LLVMValueRef holds = build_icmp(g, LLVMIntSGT, number_of(g, limit), value_index(g, limit->less));
  return build_select(g, holds, end, index_constant(r, INT64_MIN));
}

static void find_interior(Codegen *g, RangeIndices *r) {
  const IrTask *task = r->task;
  for (int axis = 0; axis < task->axis_count; axis++) {
    r->inner_begin[axis] = index_constant(r, task->interior_begin[axis]);
    r->inner_end[axis] = index_constant(r, task->interior_end[axis]);
  }
  for (int i = 0; i < task->limits.count; i++) {
    const IrLimit *limit = &task->limits.items[i];
    if (limit->begins) {
      r->inner_begin[limit->axis] =
          call_binary(g, "llvm.smax", r->inner_begin[limit->axis], limit_end(g, r, limit));
      continue;
    }
    LLVMValueRef *end = &r->inner_end[limit->axis < 0 ? 0 : limit->axis];
    *end =
        limit->axis < 0 ? end_if_any(g, r, limit, *end) : smaller(g, *end, limit_end(g, r, limit));
  }
}

void range_open(Codegen *g, const IrTask *task, RangeIndices *r) {
  ASSERT(task->axis_count >= 1 && task->axis_count <= SNODE_MAX_AXES, "a range has axes");
  *r = (RangeIndices){
      .task = task, .index = value_type(g, task->index), .is_wide = type_bits(task->index) == 64};
  load_bounds(g, r);
  if (task->interior) find_interior(g, r);
}

LLVMValueRef range_is_inside(Codegen *g, const RangeIndices *r, const LLVMValueRef indices[],
                             int count) {
  ASSERT(r->task->interior && count <= r->task->axis_count, "an interior along these axes");
  LLVMValueRef all = value_bool(g, true);
  for (int axis = 0; axis < count; axis++) {
    LLVMValueRef above = build_icmp(g, LLVMIntSGE, indices[axis], r->inner_begin[axis]);
    LLVMValueRef below = build_icmp(g, LLVMIntSLT, indices[axis], r->inner_end[axis]);
    all = build_and(g, all, build_and(g, above, below));
  }
  return all;
}

void range_indices(Codegen *g, const RangeIndices *r, LLVMValueRef position,
                   LLVMValueRef indices[]) {
  LLVMValueRef digits[SNODE_MAX_AXES];
  range_split(g, r, position, digits);
  for (int axis = 0; axis < r->task->axis_count; axis++)
    indices[axis] = range_index(g, r, build_add(g, r->begin[axis], digits[axis]));
}

/* -- segments of rows -------------------------------------------------------------------------- */

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
  LLVMBasicBlockRef cells = block_new(g, "cells"), again = block_new(g, "again"),
                    leave = block_new(g, "leave");
  LLVMValueRef index = block_loop(g, cells, from);
  set_outer(g, r, body);
  value_set(g, vec_last(&body->params), index);
  control_body(g, body, again);
  block_follow(g, again);
  LLVMValueRef next = build_nsw_add(g, index, value_like(index, 1));
  LLVMValueRef more = build_icmp(g, LLVMIntSLT, next, to);
  LLVMValueRef back = block_branch(g, more, cells, leave);
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

static void emit_body(Codegen *g, const Range *r, LLVMValueRef from, LLVMValueRef to,
                      LLVMValueRef ahead) {
  const IrTask *task = r->of.task;
  const IrRegion *body = task->body;
  if (task->lanes <= 1 || task->scalar_border) return emit_run(g, r, body, from, to);
  LaneLoop loop = loop_of(g, r, body);
  lane_masked(g, &loop, from, to, ahead);
}

/* The loop that runs in full vectors: the interior, or the body; false if neither does. */
static bool find_whole(Codegen *g, const Range *r, LaneLoop *loop) {
  const IrTask *task = r->of.task;
  if (!task->full_vectors) return false;
  *loop = loop_of(g, r, task->interior ? task->interior : task->body);
  return true;
}

/* Returns the index at which it stops; the checked loop does the rest. */
static LLVMValueRef emit_interior(Codegen *g, const Range *r, LLVMValueRef from, LLVMValueRef to,
                                  LLVMValueRef end) {
  LaneLoop loop;
  if (find_whole(g, r, &loop)) return lane_full_vectors(g, &loop, from, to);
  const IrTask *task = r->of.task;
  if (task->lanes > 1) {
    loop = loop_of(g, r, task->interior);
    lane_masked(g, &loop, from, to, NULL);
  } else {
    emit_run(g, r, task->interior, from, to);
  }
  return end;
}

/* -- segments ---------------------------------------------------------------------------------- */

static LLVMValueRef clamp(Codegen *g, LLVMValueRef number, LLVMValueRef low, LLVMValueRef high) {
  return call_binary(g, "llvm.smin", call_binary(g, "llvm.smax", number, low), high);
}

/* The index in low..high at which full vectors begin, if there are enough: aligned for
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
  LLVMValueRef many =
      build_icmp(g, LLVMIntSGE, rest, value_like(low, r->of.task->full_vectors * span));
  return build_select(g, many, up, low);
}

/* Before non-temporal stores, the last vector of the checked loop ends where full vectors begin,
 * and so at the end of a line: a store that reaches into the next line, even if a mask omits all of
 * its bytes there, delays the non-temporal store to that line. */
static LLVMValueRef lanes_before(Codegen *g, const Range *r, LLVMValueRef from, LLVMValueRef to) {
  LaneLoop loop;
  if (!r->of.task->traffic || !find_whole(g, r, &loop) || ir_lanes_alternate(loop.body))
    return NULL;
  return build_and(g, build_sub(g, from, to), value_like(from, loop.width - 1));
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
  LLVMValueRef ahead = lanes_before(g, r, from, first_stop);
  LLVMBasicBlockRef before = block_here(g), checked = block_new(g, "checked"),
                    interior = block_new(g, "interior"), after = block_new(g, "segment.end");
  LLVMValueRef start = block_loop(g, checked, from), stop = build_phi(g, first_stop, before);
  if (ahead) ahead = build_phi(g, ahead, before);
  emit_body(g, r, start, stop, ahead);
  block_enter_unless(g, build_icmp(g, LLVMIntEQ, stop, to), interior, after);
  LLVMValueRef inner_from = low, inner_to = high;
  if (task->interior) {
    inner_from = call_binary(g, "llvm.smax", low, r->of.inner_begin[last]);
    inner_to = call_binary(g, "llvm.smin", high, r->of.inner_end[last]);
  }
  LLVMValueRef rest = emit_interior(g, r, inner_from, inner_to, high);
  build_phi_next(start, rest, block_here(g));
  build_phi_next(stop, to, block_here(g));
  if (ahead) build_phi_next(ahead, value_like(to, 0), block_here(g));
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
  else emit_body(g, r, from, to, NULL);
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
  LLVMValueRef position = block_loop(g, segment, begin);
  for (int axis = 0; axis < task->axis_count; axis++)
    r.digit[axis] = build_phi(g, digits[axis], before);
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
