/* privatise.c - sums that iterations may share are gathered in a copy of each worker, and added up once at the loop's end.
 *
 *   task 0 = range twin=1 { update add %p, %x }     atomic, for when the copies are too large for what the loop does
 *   task 1 = range { own f0; update add own plain %p, %x }
 *
 * A field qualifies when the loop does nothing with it but add and subtract, and deactivates nothing in its tree: what an
 * iteration sees allows such updates to take effect at any time before the loop ends. Worker 0 adds to the tree itself, so
 * one worker alone pays nothing; nodes are activated in the tree by whoever meets them first, and a worker's copy lies a
 * constant distance away. The device chooses between the twins at each run.
 * needs: atomics and bounds ran     keeps: the task, without its interior */
#include "pass/pass.h"
#include "pass/rewrite.h"

typedef struct Use { bool adds, other; } Use; /* of a field, in a body */

typedef struct Privatise {
  IrKernel *kernel;
  Use *uses;          /* by field */
  bool *deactivates;  /* by tree */
} Privatise;

static bool is_sum(const IrInst *inst) {
  return inst->op == IR_UPDATE && !inst->plain && (inst->imm == IR_UPDATE_ADD || inst->imm == IR_UPDATE_SUB);
}

static bool note_use(void *data, IrInst *inst) {
  Privatise *p = data;
  if (inst->op == IR_DEACTIVATE) p->deactivates[p->kernel->levels.items[inst->level].tree] = true;
  if (!rewrite_is_access(inst->op)) return true;
  Use *use = &p->uses[inst->operands[0]->field];
  *(is_sum(inst) ? &use->adds : &use->other) = true;
  return true;
}

/* Every cell of a node, or of the root's container, lies in runs, and is there once the node is. */
static bool has_plain_nodes(const SNode *node) {
  for (; node; node = node->parent)
    if (node->kind != SNODE_DENSE && node->kind != SNODE_POINTER && node->kind != SNODE_ROOT) return false;
  return true;
}

static bool qualifies(const Privatise *p, int number) {
  const IrField *field = &p->kernel->fields.items[number];
  const Use *use = &p->uses[number];
  bool has_sums = type_is_integer(field->type) || type_is(field->type, TYPE_F32) ||
                  type_is(field->type, TYPE_F64);
  return use->adds && !use->other && !p->deactivates[field->tree] && has_sums && has_plain_nodes(field->node);
}

static bool mark_own(void *data, IrInst *inst) {
  const bool *is_own = data;
  if (inst->op == IR_UPDATE && is_own[inst->operands[0]->field]) inst->own = inst->plain = true;
  return true;
}

static IrRegion *copy_body(Privatise *p, const IrRegion *body, bool *is_own) {
  IrRegion *copy = ir_copy_region(p->kernel, body, NULL, scratch_array(p->kernel->scratch, IrInst *, p->kernel->next_id));
  ir_walk(copy, mark_own, is_own);
  return copy;
}

static void make_twin(Privatise *p, IrTask *task, bool *is_own) {
  IrTask *twin = scratch_new(p->kernel->scratch, IrTask);
  *twin = *task;
  for (int f = 0; f < p->kernel->fields.count; f++)
    if (is_own[f]) vec_push(p->kernel->scratch, &twin->own, f);
  twin->body = copy_body(p, task->body, is_own);
  if (task->interior) twin->interior = copy_body(p, task->interior, is_own);
  task->has_interior = false;
  task->interior = NULL;
  task->twin = p->kernel->tasks.count;
  vec_push(p->kernel->scratch, &p->kernel->tasks, twin);
}

static void visit_task(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  Privatise p = {kernel, scratch_array(ctx->scratch, Use, kernel->fields.count), scratch_array(ctx->scratch, bool, kernel->trees.count)};
  bool *is_own = scratch_array(ctx->scratch, bool, kernel->fields.count), any = false;
  ir_walk(task->body, note_use, &p);
  for (int f = 0; f < kernel->fields.count; f++) {
    is_own[f] = qualifies(&p, f);
    any |= is_own[f];
  }
  if (any) make_twin(&p, task, is_own);
}

bool pass_privatise(PassContext *ctx, IrKernel *kernel, Error *err) {
  int count = kernel->tasks.count;
  for (int i = 0; i < count && !ctx->for_cuda; i++) {
    IrTask *task = kernel->tasks.items[i];
    bool is_lowered = task->kind == TASK_LEAVES && !task->cells;
    if (!is_lowered && !task->independent && !task->twin && !task->own.count) visit_task(ctx, kernel, task);
  }
  return true;
}
