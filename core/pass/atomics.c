/* atomics.c - an update that only one iteration can reach becomes load, op, store (`plain`).
 *
 * A loop index that stands in some axis of a place, alone but for a constant, tells two iterations apart:
 * where every index of the loop does so, the element is reached by one iteration only. That holds for a
 * field when all its writes in the body agree on those axes and constants; else the neighbour of an
 * iteration may meet it. Two entries of kernel->fields never share an element.
 * In the host region, serial loops included, one thread runs: every update there is plain. So it is where the user
 * promised `:independent()`.
 * needs: ranges     keeps: everything but the flag     leaves notes for explain() */
#include "pass/pass.h"
#include "pass/ranges.h"
#include "pass/rewrite.h"

/* Axis by axis, which loop index plus which constant all writes of a field have there. */
typedef struct Reach {
  bool seen;
  int8_t param[SNODE_MAX_AXES]; /* -1: none, or not the same everywhere */
  int64_t constant[SNODE_MAX_AXES];
} Reach;

typedef struct Atomics {
  IrKernel *kernel;
  const IrRegion *body;
  Reach *reaches; /* by field */
} Atomics;

static void meet_axis(Reach *reach, int axis, int param, int64_t constant) {
  if (!reach->seen) {
    reach->param[axis] = (int8_t)param;
    reach->constant[axis] = constant;
  } else if (reach->param[axis] != param || reach->constant[axis] != constant) {
    reach->param[axis] = -1;
  }
}

static bool note_write(void *data, IrInst *inst) {
  Atomics *a = data;
  if (!rewrite_is_write(inst->op) || inst->operands[0]->op != IR_PLACE) return true;
  const IrInst *place = inst->operands[0];
  Reach *reach = &a->reaches[place->field];
  for (int axis = 0; axis < place->operand_count; axis++) {
    IndexRange range = ranges_of(place->operands[axis]);
    meet_axis(reach, axis, ranges_exact_param(a->body, &range), range.low);
  }
  reach->seen = true;
  return true;
}

/* Does every index of the loop stand in some axis? */
static bool is_private(const Atomics *a, int field) {
  const IrField *of = &a->kernel->fields.items[field];
  unsigned met = 0;
  for (int axis = 0; axis < of->node->rank; axis++)
    if (a->reaches[field].param[axis] >= 0) met |= 1u << a->reaches[field].param[axis];
  return met == (1u << a->body->params.count) - 1;
}

/* Why it stays atomic: would this place alone tell iterations apart? */
static void note_atomic(const Atomics *a, const IrInst *update) {
  const IrInst *place = update->operands[0];
  unsigned met = 0;
  for (int axis = 0; axis < place->operand_count; axis++) {
    IndexRange range = ranges_of(place->operands[axis]);
    int param = ranges_exact_param(a->body, &range);
    if (param >= 0) met |= 1u << param;
  }
  bool is_alone = met == (1u << a->body->params.count) - 1;
  const char *name = a->kernel->fields.items[place->field].name;
  ir_note(a->kernel, update->line, "'%s' cannot be updated plainly: %s", name && name[0] ? name : "a field",
          is_alone ? "the loop writes it at other indices too"
                   : "its indices do not tell the iterations apart, so two may meet in one element");
}

static bool mark_private(void *data, IrInst *inst) {
  Atomics *a = data;
  if (inst->op != IR_UPDATE || inst->operands[0]->op != IR_PLACE) return true;
  inst->plain |= is_private(a, inst->operands[0]->field);
  if (!inst->plain) note_atomic(a, inst);
  return true;
}

static bool mark_plain(void *data, IrInst *inst) {
  if (inst->op == IR_UPDATE) inst->plain = true;
  return true;
}

bool pass_atomics(PassContext *ctx, IrKernel *kernel, Error *err) {
  ir_walk(kernel->body, mark_plain, NULL);
  for (int i = 0; i < kernel->tasks.count; i++) {
    const IrTask *task = kernel->tasks.items[i];
    if (task->kind == TASK_LEAVES && !task->cells) continue;
    if (task->independent) {
      ir_walk(task->body, mark_plain, NULL);
      continue;
    }
    Atomics a = {kernel, task->body, scratch_array(ctx->scratch, Reach, kernel->fields.count)};
    ir_walk(task->body, note_write, &a);
    ir_walk(task->body, mark_private, &a);
  }
  return true;
}
