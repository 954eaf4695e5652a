/* range.c - the indices of a range's positions, and the bounds of its interior; for tasks that run
 * positions in rows (task_range.c), and for those that run them in any order (gpu.c).
 * Decision D-kernel-11. */
#include "base/bits.h"
#include "codegen/emit.h"

/* Loads a bound, or uses its constant on a GPU, which divides every position by the extents: a
 * division by a constant becomes a multiplication. */
static LLVMValueRef load_bound(Codegen *g, const IrTask *task, int slot) {
  for (int i = 0; i < task->constants.count && g->part == CODEGEN_GPU_TASKS; i++)
    if (task->constants.items[i].slot == slot)
      return value_index(g, task->constants.items[i].value);
  return LLVMBuildLoad2(g->builder, g->i64, context_slot(g, slot), "");
}

static void load_bounds(Codegen *g, RangeIndices *r) {
  for (int axis = 0; axis < r->task->axis_count; axis++) {
    r->begin[axis] = load_bound(g, r->task, r->task->bounds + 2 * axis);
    LLVMValueRef end = load_bound(g, r->task, r->task->bounds + 2 * axis + 1);
    LLVMValueRef args[] = {LLVMBuildSub(g->builder, end, r->begin[axis], ""), value_index(g, 1)};
    r->extent[axis] = LLVMIsAConstantInt(args[0])
                          ? value_index(g, max_i64(1, (int64_t)LLVMConstIntGetZExtValue(args[0])))
                          : call_intrinsic(g, "llvm.smax", g->i64, args, 2);
  }
}

LLVMValueRef range_index(Codegen *g, const RangeIndices *r, LLVMValueRef wide) {
  return r->is_wide ? wide : LLVMBuildTrunc(g->builder, wide, r->index, "");
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
  LLVMValueRef rest = LLVMBuildTrunc(g->builder, position, type, "");
  for (int axis = r->task->axis_count - 1; axis >= 0; axis--) {
    LLVMValueRef extent = LLVMBuildTrunc(g->builder, r->extent[axis], type, "");
    LLVMValueRef digit = axis ? LLVMBuildURem(g->builder, rest, extent, "") : rest;
    digits[axis] = LLVMBuildZExt(g->builder, digit, g->i64, "");
    if (axis) rest = LLVMBuildUDiv(g->builder, rest, extent, "");
  }
}

/* -- the interior ----------------------------------------------------------------------------- */

static LLVMValueRef index_constant(const RangeIndices *r, int64_t number) {
  int64_t most = r->is_wide ? INT64_MAX : INT32_MAX;
  return value_integer(r->index, max_i64(-most - 1, min_i64(number, most)));
}

static LLVMValueRef smaller(Codegen *g, LLVMTypeRef type, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef args[] = {a, b};
  return call_intrinsic(g, "llvm.smin", type, args, 2);
}

/* The number in the limit's slot minus its constant, clamped to the index type. */
static LLVMValueRef limit_end(Codegen *g, const RangeIndices *r, const IrLimit *limit) {
  ASSERT(limit->axis < r->task->axis_count, "a limit of an axis");
  LLVMValueRef slot = context_slot(g, limit->slot);
  LLVMValueRef extent =
      value_extend(g, access_load(g, (Element){.type = limit->type}, slot), limit->type);
  LLVMValueRef end = LLVMBuildSub(g->builder, extent, value_index(g, limit->less), "");
  if (r->is_wide) return end;
  LLVMValueRef args[] = {smaller(g, g->i64, end, value_index(g, INT32_MAX)),
                         value_index(g, INT32_MIN)};
  LLVMValueRef inside = call_intrinsic(g, "llvm.smax", g->i64, args, 2);
  return LLVMBuildTrunc(g->builder, inside, r->index, "");
}

/* An end that makes the interior empty, unless the number is more than the limit's constant. */
static LLVMValueRef end_if_any(Codegen *g, const RangeIndices *r, const IrLimit *limit,
                               LLVMValueRef end) {
  LLVMValueRef extent = value_extend(
      g, access_load(g, (Element){.type = limit->type}, context_slot(g, limit->slot)), limit->type);
  LLVMValueRef holds =
      LLVMBuildICmp(g->builder, LLVMIntSGT, extent, value_index(g, limit->less), "");
  return LLVMBuildSelect(g->builder, holds, end, index_constant(r, INT64_MIN), "");
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
      LLVMValueRef args[] = {r->inner_begin[limit->axis], limit_end(g, r, limit)};
      r->inner_begin[limit->axis] = call_intrinsic(g, "llvm.smax", r->index, args, 2);
      continue;
    }
    LLVMValueRef *end = &r->inner_end[limit->axis < 0 ? 0 : limit->axis];
    *end = limit->axis < 0 ? end_if_any(g, r, limit, *end)
                           : smaller(g, r->index, *end, limit_end(g, r, limit));
  }
}

/* An index per axis, and of a body that says what its lanes do also their mask. */
static bool has_indices(const IrTask *task, const IrRegion *body) {
  return body->params.count == task->axis_count + (ir_lanes_mask(body) != NULL);
}

static bool is_sound(const IrTask *task) {
  if (task->axis_count < 1 || task->axis_count > SNODE_MAX_AXES || !has_indices(task, task->body))
    return false;
  return !task->interior || has_indices(task, task->interior);
}

bool range_open(Codegen *g, const IrTask *task, RangeIndices *r) {
  *r = (RangeIndices){
      .task = task, .index = value_type(g, task->index), .is_wide = type_bits(task->index) == 64};
  if (!is_sound(task)) {
    codegen_fail(g, NULL, "a range task and its indices do not match");
    return false;
  }
  load_bounds(g, r);
  if (task->interior) find_interior(g, r);
  return true;
}

LLVMValueRef range_is_inside(Codegen *g, const RangeIndices *r, const LLVMValueRef indices[],
                             int count) {
  ASSERT(r->task->interior && count <= r->task->axis_count, "an interior along these axes");
  LLVMValueRef all = LLVMConstInt(g->bool_type, 1, false);
  for (int axis = 0; axis < count; axis++) {
    LLVMValueRef above =
        LLVMBuildICmp(g->builder, LLVMIntSGE, indices[axis], r->inner_begin[axis], "");
    LLVMValueRef below =
        LLVMBuildICmp(g->builder, LLVMIntSLT, indices[axis], r->inner_end[axis], "");
    all = LLVMBuildAnd(g->builder, all, LLVMBuildAnd(g->builder, above, below, ""), "");
  }
  return all;
}

void range_indices(Codegen *g, const RangeIndices *r, LLVMValueRef position,
                   LLVMValueRef indices[]) {
  LLVMValueRef digits[SNODE_MAX_AXES];
  range_split(g, r, position, digits);
  for (int axis = 0; axis < r->task->axis_count; axis++)
    indices[axis] = range_index(g, r, LLVMBuildAdd(g->builder, r->begin[axis], digits[axis], ""));
}
