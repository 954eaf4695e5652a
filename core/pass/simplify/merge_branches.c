/* merge_branches.c - branch merging: joins neighbouring `if`s with the same condition.
 *
 *   if %c { set %x, %a }              if %c { set %x, %a
 *   if %c { set %y, %b }      =>              set %y, %b }
 *
 * `lower_places` emits a bounds check for each number of a vector, and each of these is such an
 * `if`. Only pure insts may be between the two; those that the second `if` needs move before the
 * first, unless they depend on it. Lanes then have one mask for a whole vector, and load or store
 * its numbers together. Applies to ranges only. */
#include "pass/pass.h"
#include "pass/rewrite.h"

typedef struct Arms {
  int *stamps;  /* by id: the preceding `if`, if only pure insts are between */
  int *read;    /* by id of a VAR: likewise, for its last GET */
  IrInst *open; /* that `if`; NULL: none */
} Arms;

static bool comes_after(const Arms *arms, const IrInst *inst) {
  return arms->stamps[inst->id] == arms->open->id + 1;
}

/* Can the inst move before the open `if`? */
static bool can_rise(const Arms *arms, const IrInst *inst) {
  if (!comes_after(arms, inst)) return true;
  if (inst->op != IR_VAR && !(ir_effects(inst) & IR_PURE)) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (!can_rise(arms, inst->operands[i])) return false;
  return true;
}

static void rise(const Arms *arms, IrInst *inst) {
  DEBUG_ASSERT(arms->open->region == inst->region || !comes_after(arms, inst),
               "what comes after the branch stands next to it");
  if (!comes_after(arms, inst)) return;
  for (int i = 0; i < inst->operand_count; i++) rise(arms, inst->operands[i]);
  arms->stamps[inst->id] = 0;
  ir_remove(inst);
  ir_insert_before(arms->open, inst);
}

static bool may_join(void *data, IrInst *inst) {
  const Arms *arms = data;
  if (ir_effects(inst) & IR_EXIT) return false;
  if (inst->op == IR_SET && arms->read[inst->operands[0]->id] == arms->open->id + 1) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (!can_rise(arms, inst->operands[i])) return false;
  return true;
}

static bool raise_operands(void *data, IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++) rise(data, inst->operands[i]);
  return true;
}

static bool join(Arms *arms, IrInst *inst) {
  IrInst *open = arms->open;
  DEBUG_ASSERT(inst->op == IR_IF && (!open || open->op == IR_IF), "branches are joined");
  if (!open || open->operands[0] != inst->operands[0]) return false;
  if (ir_has_exit(open)) return false;
  for (int i = 0; i < 2; i++)
    if (!ir_walk(inst->regions[i], may_join, arms)) return false;
  for (int i = 0; i < 2; i++) {
    ir_walk(inst->regions[i], raise_operands, arms);
    rewrite_move_all(inst->regions[i], open->regions[i]);
  }
  ir_delete(inst);
  return true;
}

static void note(Arms *arms, const IrInst *inst) {
  if (!arms->open) return;
  arms->stamps[inst->id] = arms->open->id + 1;
  if (inst->op == IR_GET) arms->read[inst->operands[0]->id] = arms->open->id + 1;
  else if (inst->op != IR_VAR && !(ir_effects(inst) & IR_PURE)) arms->open = NULL;
}

static void visit_region(Arms *arms, IrRegion *region) {
  arms->open = NULL;
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (inst->op == IR_IF) {
      if (!join(arms, inst)) arms->open = inst;
    } else {
      note(arms, inst);
    }
  }
  for (IrInst *inst = region->first; inst; inst = inst->next)
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i]) visit_region(arms, inst->regions[i]);
}

bool pass_merge_branches(PassContext *ctx, IrKernel *kernel, Error *err) {
  Arms arms = {.stamps = scratch_array(ctx->scratch, int, kernel->next_id),
               .read = scratch_array(ctx->scratch, int, kernel->next_id)};
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->kind != TASK_RANGE) continue;
    visit_region(&arms, task->body);
    if (task->interior) visit_region(&arms, task->interior);
  }
  return true;
}
