/* privatise.c - sums that iterations may share are made in a private copy of each worker, and added
 * up once at the loop's end.
 *
 *   task 0 = range privatised=1 { update add %p, %x }    atomic, if the copies cost too much
 *   task 1 = range { private f0; update add private plain %p, %x }
 *
 * A field qualifies when the loop does nothing with it but add and subtract, and deactivates
 * nothing in its tree: what an iteration sees allows such updates to take effect at any time before
 * the loop ends. Worker 0 adds to the tree itself, so one worker alone pays nothing; nodes are
 * activated in the tree by whoever meets them first, and a private copy lies a constant distance
 * away. The device chooses between the two at each run.
 * An array's private copy is its memory as a whole, which so becomes one of the kernel's trees.
 * The task itself goes on without its interior. */
#include "pass/effects.h"
#include "pass/rewrite.h"

static bool is_only_added_to(const Effects *effects, int number) {
  const uint32_t sums = 1u << IR_UPDATE_ADD | 1u << IR_UPDATE_SUB;
  const EffectField *field = &effects->fields[number];
  if (field->verbs != EFFECT_UPDATES || field->updates & ~sums) return false;
  for (int i = field->first; i >= 0; i = effects->accesses.items[i].next)
    if (effects->accesses.items[i].inst->plain || effects->accesses.items[i].place->is_called)
      return false;
  return true;
}

/* Every cell of a node, or of the root's container, is in runs, and exists once the node does. */
static bool has_plain_nodes(const SNode *node) {
  for (; node; node = node->parent)
    if (snode_has_bits(node) || snode_has_lists(node) || snode_has(node, SNODE_UNBOUNDED))
      return false;
  return true;
}

/* A copy of an array is its memory as a whole. */
static bool is_block(const Effects *effects, const IrField *field) {
  const IrArray *array = &effects->kernel->arrays.items[field->array];
  return array->strides < 0 && !array->is_shared && array->size % type_size(field->type) == 0;
}

static bool qualifies(const Effects *effects, int number) {
  const IrField *field = &effects->kernel->fields.items[number];
  bool has_sums = type_is_integer(field->type) || type_is(field->type, TYPE_F32) ||
                  type_is(field->type, TYPE_F64);
  if (!field->node)
    return is_only_added_to(effects, number) && has_sums && is_block(effects, field);
  bool loses_cells = effects->trees[field->tree] & EFFECT_DEACTIVATES;
  return is_only_added_to(effects, number) && !loses_cells && has_sums &&
         has_plain_nodes(field->node);
}

static bool mark_private(void *data, IrInst *inst) {
  const bool *is_private = data;
  if (inst->op == IR_UPDATE && is_private[inst->operands[0]->field])
    inst->private_copy = inst->plain = true;
  return true;
}

static IrRegion *copy_body(IrKernel *kernel, const IrRegion *body, bool *is_private) {
  IrInst **map = scratch_array(kernel->scratch, IrInst *, kernel->next_id);
  IrRegion *copy = ir_copy_region(kernel, body, NULL, map);
  ir_walk(copy, mark_private, is_private);
  return copy;
}

static void make_privatised(IrKernel *kernel, IrTask *task, bool *is_private) {
  IrTask *version = scratch_new(kernel->scratch, IrTask);
  *version = *task;
  for (int f = 0; f < kernel->fields.count; f++)
    if (is_private[f]) vec_push(kernel->scratch, &version->private_fields, f);
  version->body = copy_body(kernel, task->body, is_private);
  if (task->interior) version->interior = copy_body(kernel, task->interior, is_private);
  task->has_interior = false;
  task->interior = NULL;
  task->limits.count = 0;
  task->privatised = kernel->tasks.count;
  vec_push(kernel->scratch, &kernel->tasks, version);
}

/* All numbers of an array that are added up are of one type. */
static bool agrees(const IrKernel *kernel, const bool *is_private, int number) {
  const IrField *field = &kernel->fields.items[number];
  for (int f = 0; f < number && field->array >= 0; f++) {
    const IrField *other = &kernel->fields.items[f];
    if (is_private[f] && other->array == field->array && !type_equal(other->type, field->type))
      return false;
  }
  return true;
}

/* So that the device knows its memory. */
static void give_tree(IrKernel *kernel, int number) {
  const IrField *field = &kernel->fields.items[number];
  IrArray *array = field->array >= 0 ? &kernel->arrays.items[field->array] : NULL;
  if (!array || array->tree >= 0) return;
  vec_push(kernel->scratch, &kernel->trees, (IrTree){NULL});
  array->tree = kernel->trees.count - 1;
}

static void visit_task(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  const Effects *effects = effects_of(ctx, kernel, task);
  bool *is_private = scratch_array(ctx->scratch, bool, kernel->fields.count), any = false;
  for (int f = 0; f < kernel->fields.count; f++) {
    is_private[f] = qualifies(effects, f) && agrees(kernel, is_private, f);
    any |= is_private[f];
    if (is_private[f]) give_tree(kernel, f);
  }
  if (any) make_privatised(kernel, task, is_private);
}

bool pass_privatise(PassContext *ctx, IrKernel *kernel, Error *err) {
  int count = kernel->tasks.count;
  for (int i = 0; i < count && !ctx->for_cuda; i++) {
    IrTask *task = kernel->tasks.items[i];
    bool is_lowered = task->kind == TASK_LEAVES && !task->cells;
    if (!is_lowered && !task->independent && !task->privatised && !task->private_fields.count)
      visit_task(ctx, kernel, task);
  }
  return true;
}
