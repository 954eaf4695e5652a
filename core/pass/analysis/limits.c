/* limits.c - see limits.h. A loop's bounds are slots of the frame, which the host region sets. */
#include "pass/analysis/limits.h"

#include "pass/address/address.h"

IrInst *limits_set_once(const IrKernel *kernel, int64_t slot) {
  IrInst *set = NULL;
  for (IrInst *inst = kernel->body->first; inst; inst = ir_following(inst, kernel->body)) {
    if (inst->op != IR_FRAME_SET || inst->imm != slot) continue;
    if (set) return NULL;
    set = inst;
  }
  return set;
}

/* The slot that the value equals, or -1. */
static int slot_of(const IrInst *value) {
  while (value->op == IR_CONVERT && type_is_signed(value->type) &&
         type_bits(value->type) >= type_bits(value->operands[0]->type))
    value = value->operands[0];
  return value->op == IR_ARG || value->op == IR_FRAME_LOAD ? (int)value->imm : -1;
}

/* Sets limits from slots that the host region sets only once. */
static void limit_by_frame(const IrKernel *kernel, const IrTask *task, Limits *limits) {
  for (int axis = 0; axis < task->axis_count; axis++) {
    const IrInst *begin = limits_set_once(kernel, task->bounds + 2 * axis),
                 *end = limits_set_once(kernel, task->bounds + 2 * axis + 1);
    int64_t low, high;
    if (!begin || !ir_is_const(begin->operands[0], &low)) continue;
    if (end && ir_is_const(end->operands[0], &high) && low < high)
      limits[axis] = (Limits){true, low, high - 1, -1};
    else limits[axis] = (Limits){false, low, 0, end ? slot_of(end->operands[0]) : -1};
  }
}

static void limit_by_level(const IrKernel *kernel, int level, Limits *limits) {
  const SNode *node = kernel->levels.items[level].node;
  for (int axis = 0; axis < node->rank; axis++)
    if (!snode_is_unbounded(node, axis))
      limits[axis] = (Limits){true, 0, node->shape[axis] - 1, -1};
}

void limits_find(const IrKernel *kernel, const IrTask *task, Limits limits[SNODE_MAX_AXES]) {
  for (int axis = 0; axis < SNODE_MAX_AXES; axis++)
    limits[axis] = (Limits){.low = INT64_MIN, .end = -1};
  if (task->kind == TASK_RANGE) limit_by_frame(kernel, task, limits);
  else if (task->kind == TASK_NODES || task->cells)
    limit_by_level(kernel, task->kind == TASK_NODES ? task->level : task->cells_level, limits);
}

BodyLimits limits_of_body(IrKernel *kernel, const IrTask *task, const IrRegion *body) {
  DEBUG_ASSERT(!task || body == task->body || body == task->interior, "the body is the task's");
  BodyLimits at = {.kernel = kernel, .task = task, .body = body};
  if (task) limits_find(kernel, task, at.limits);
  return at;
}

/* -- indices ----------------------------------------------------------------------------------- */

const IrArray *limits_array(const IrKernel *kernel, const IrInst *place, int axis, int64_t *size) {
  const IrField *field = &kernel->fields.items[place->field];
  const IrArray *array = field->array < 0 ? NULL : &kernel->arrays.items[field->array];
  *size = array ? address_most(array) : field->node->shape[axis];
  return array;
}

static bool holds_below(const Limits *limits, const IndexRange *range, int64_t size) {
  int64_t low, high;
  if (!limits->known || !ranges_hold_below(range, size) ||
      __builtin_add_overflow(limits->low, range->low, &low) ||
      __builtin_add_overflow(limits->high, range->high, &high))
    return false;
  return low >= 0 && high < size;
}

/* The loop may end at the array's extent itself. */
static bool holds_in_array(const Limits *limits, const IndexRange *range, const IrArray *array,
                           int axis) {
  return limits->end == array->extents + axis && ranges_hold_below(range, address_most(array)) &&
         range->high <= 0 && limits->low >= 0 && limits->low + range->low >= 0;
}

/* Is the index inside in the box of the task's interior? */
static bool holds_in_interior(const IrTask *task, int param, const IndexRange *range, int64_t size,
                              const IrArray *array, int axis) {
  DEBUG_ASSERT(task->has_interior && param < task->axis_count, "the interior has such an axis");
  if (!ranges_hold_below(range, size) || task->interior_begin[param] < -range->low) return false;
  if (!array) return task->interior_end[param] <= size - range->high;
  for (int i = 0; i < task->limits.count; i++) {
    const IrLimit *limit = &task->limits.items[i];
    if (limit->axis == param && limit->slot == array->extents + axis && limit->less >= range->high)
      return true;
  }
  return false;
}

/* Is an index that runs backwards, `7 - i`, inside because the loop's limits are known? */
static bool reversed_holds_below(const BodyLimits *at, const IndexRange *range, int64_t size) {
  IndexLine line;
  if (!ranges_line(range, at->body->params.count, at->body->params.items, &line) ||
      line.rest.count || line.factor > 0 || !ranges_line_holds_below(&line, size))
    return false;
  const Limits *limits = &at->limits[ranges_param(at->body, line.index)];
  int64_t low, high;
  return limits->known && !__builtin_sub_overflow(line.low, limits->high, &low) &&
         !__builtin_sub_overflow(line.high, limits->low, &high) && low >= 0 && high < size;
}

bool limits_prove(const BodyLimits *at, const IrInst *place, int axis, const IndexRange *range) {
  int64_t size;
  const IrArray *array = limits_array(at->kernel, place, axis, &size);
  if (!size && !array) return true;
  if (!range->known) return false;
  if (!range->base) return range->low >= 0 && range->high < (array ? address_least(array) : size);
  if (!at->task) return false;
  int param = ranges_param(at->body, range->base);
  if (param < 0) return !array && reversed_holds_below(at, range, size);
  const Limits *limits = &at->limits[param];
  return (array ? holds_in_array(limits, range, array, axis) : holds_below(limits, range, size)) ||
         (at->task->interior == at->body &&
          holds_in_interior(at->task, param, range, size, array, axis));
}
