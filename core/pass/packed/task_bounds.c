/* task_bounds.c - makes a loop iterate over words of several elements along its last axis, instead
 * of over elements. */
#include "pass/packed/packed.h"

#include "base/bits.h"
#include "pass/analysis/limits.h"
#include "pass/rewrite.h"

bool task_bounds_find(const IrKernel *kernel, const IrTask *task, TaskBounds *bounds) {
  ASSERT(task->kind == TASK_RANGE && task->axis_count > 0, "a range has bounds along its axes");
  int slot = task->bounds + 2 * (task->axis_count - 1);
  *bounds = (TaskBounds){.begin = limits_set_once(kernel, slot),
                         .end = limits_set_once(kernel, slot + 1)};
  return bounds->begin && bounds->end;
}

int64_t task_bounds_most(const TaskBounds *bounds) {
  int64_t end;
  return ir_is_const(bounds->end->operands[0], &end) ? end : INT64_MAX;
}

static IrInst *bound_in_body(IrBuilder *b, const IrInst *set, int per_word, Type type,
                             int32_t *slot) {
  int64_t value;
  ASSERT(set && per_word > 1, "task_bounds_find has found it, and a word has several elements");
  if (ir_is_const(set->operands[0], &value))
    return value % per_word ? ir_const_int(b, type, value) : NULL;
  *slot = b->kernel->frame_slots++;
  return ir_convert(b, ir_frame(b, IR_FRAME_GET, TYPE(I64), *slot), type);
}

IrInst *task_bounds_begin(IrBuilder *b, TaskBounds *bounds, int per_word, Type type) {
  return bound_in_body(b, bounds->begin, per_word, type, &bounds->begin_slot);
}

IrInst *task_bounds_end(IrBuilder *b, TaskBounds *bounds, int per_word, Type type) {
  return bound_in_body(b, bounds->end, per_word, type, &bounds->end_slot);
}

/* Divides the bound by the elements of a word, rounding down after adding `more`. */
static void divide_bound(IrKernel *kernel, IrInst *set, int32_t slot, int per_word, int more) {
  IrBuilder b = rewrite_before(kernel, set);
  IrInst *value = set->operands[0];
  int64_t number;
  if (ir_is_const(value, &number)) {
    ir_set_operand(set, 0, ir_i64(&b, floor_div(number + more, per_word)));
    return;
  }
  ASSERT(set->op == IR_FRAME_SET, "a bound is a slot of the frame");
  if (slot) ir_frame_set(&b, slot, value);
  if (more) value = ir_binary_const(&b, IR_ADD, value, more);
  IrInst *words = ir_binary_const(&b, IR_FLOORDIV, value, per_word);
  ir_set_operand(set, 0, words);
}

void task_bounds_to_words(IrKernel *kernel, const TaskBounds *bounds, int per_word) {
  divide_bound(kernel, bounds->begin, bounds->begin_slot, per_word, 0);
  divide_bound(kernel, bounds->end, bounds->end_slot, per_word, per_word - 1);
}
