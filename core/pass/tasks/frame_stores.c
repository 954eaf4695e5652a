/* frame_stores.c - frame-store hoisting, for a GPU: sets the frame slots of consecutive tasks
 * before the first of them, since each change of the frame between two tasks would be a launch of
 * its own.
 *
 *   run 0;  %n = const 100;  frame.set 4 %n;  run 1   =>   %n = ..;  frame.set 4 %n;  run 0;  run 1
 *
 * A value may move if no task can change it, and a store to a slot if no task that it moves across
 * uses the slot. */
#include "pass/pass.h"

typedef struct Frames {
  PassContext *ctx;
  IrKernel *kernel;
  IrInst *first;     /* the RUN to move before; NULL: none since the last other effect */
  VEC(int32_t) runs; /* tasks of `first` and of the RUNs after it */
  bool *stays;       /* by inst id: it stays after `first` */
  bool *is_set;      /* by slot: a FRAME_SET of it stays after `first` */
} Frames;

/* -- which slots a task uses ------------------------------------------------------------------- */

static bool is_of_frame(const IrInst *inst) {
  return inst->op == IR_FRAME_GET || inst->op == IR_FRAME_SET || inst->op == IR_FRAME_LOAD;
}

static bool region_uses_slot(const IrRegion *region, int64_t slot) {
  for (IrInst *inst = region ? region->first : NULL; inst; inst = ir_following(inst, region))
    if (is_of_frame(inst) && inst->imm == slot) return true;
  return false;
}

static bool task_uses_slot(const IrTask *task, int64_t slot) {
  bool is_bound = task->kind == TASK_RANGE && slot >= task->bounds &&
                  slot < task->bounds + 2 * (int64_t)task->axis_count;
  for (int i = 0; i < task->limits.count; i++) is_bound |= task->limits.items[i].slot == slot;
  for (int i = 0; i < task->reductions.count; i++)
    is_bound |= task->reductions.items[i].slot == slot;
  return is_bound || region_uses_slot(task->body, slot) || region_uses_slot(task->interior, slot) ||
         region_uses_slot(task->claim, slot) ||
         (task->counts && task_uses_slot(task->counts, slot));
}

static bool is_slot_used(const Frames *f, int64_t slot) {
  for (int i = 0; i < f->runs.count; i++)
    if (task_uses_slot(f->kernel->tasks.items[f->runs.items[i]], slot)) return true;
  return f->is_set[slot];
}

/* -- moving ------------------------------------------------------------------------------------ */

/* Is the inst a value that neither sets a variable nor reads a result of a task? */
static bool is_value(const IrInst *inst) {
  return inst->op == IR_GET || (ir_effects(inst) & IR_PURE);
}

static bool can_move(const Frames *f, const IrInst *inst) {
  if (inst->op == IR_FRAME_SET ? is_slot_used(f, inst->imm) : !is_value(inst)) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (f->stays[inst->operands[i]->id]) return false;
  return true;
}

static void begin_sequence(Frames *f, IrInst *first) {
  f->first = first;
  f->runs.count = 0;
  memset(f->is_set, 0, sizeof *f->is_set * (size_t)f->kernel->frame_slots);
}

static void visit_inst(Frames *f, IrInst *inst) {
  DEBUG_ASSERT(!f->first || f->runs.count, "what moves goes before a RUN");
  if (inst->op == IR_RUN) {
    if (!f->first) begin_sequence(f, inst);
    vec_push(f->ctx->scratch, &f->runs, (int32_t)inst->imm);
  } else if (f->first && can_move(f, inst)) {
    ir_move_before(f->first, inst);
    return;
  } else if (inst->op == IR_FRAME_SET) {
    f->is_set[inst->imm] = true;
  } else if (!is_value(inst)) {
    f->first = NULL;
  }
  f->stays[inst->id] = f->first;
}

static void visit_region(Frames *f, IrRegion *region) {
  f->first = NULL;
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    visit_inst(f, inst);
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) visit_region(f, inst->regions[i]);
  }
  f->first = NULL;
}

bool pass_frame_stores(PassContext *ctx, IrKernel *kernel, Error *err) {
  if (!kernel->body) return true;
  Frames f = {.ctx = ctx,
              .kernel = kernel,
              .stays = scratch_array(ctx->scratch, bool, kernel->next_id),
              .is_set = scratch_array(ctx->scratch, bool, kernel->frame_slots + 1)};
  visit_region(&f, kernel->body);
  return true;
}
