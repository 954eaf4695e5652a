/* range.c - the indices of a range's positions, and the bounds of its interior; for tasks that run
 * positions in rows (task_range.c), and for those that run them in any order (gpu.c).
 * Decision D-kernel-11. */
#include "base/bits.h"
#include "codegen/task.h"

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
  Element element = {.type = limit->type};
  return value_extend(g, access_load(g, element, context_slot(g, limit->slot)), limit->type);
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
