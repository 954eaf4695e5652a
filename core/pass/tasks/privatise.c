/* privatise.c - privatisation: workers add to elements that iterations share in private copies,
 * which are summed once, at the end of the loop.
 *
 *   task 0 = range privatised=1 { update add %p, %x }    atomic, if the copies cost too much
 *   task 1 = range { private f0; update add private nonatomic %p, %x }
 *
 * A field qualifies if the loop only adds to it and subtracts from it, and deactivates nothing in
 * its tree: no iteration can then observe whether an update takes effect before the end of the
 * loop. Worker 0 adds to the tree itself, so a single worker has no overhead; the first worker that
 * reaches a node activates it in the tree, and a private copy is at a constant distance from the
 * original. The device chooses between the two versions at each run. An array's private copy is a
 * copy of its whole memory, which therefore becomes one of the kernel's trees. A counted array has
 * no copies: its privatised version adds to the array by nonatomic updates, and runs in one chunk.
 * The original task loses its interior. If one worker runs all tasks, its updates of trees are
 * nonatomic anyway (sole_worker.c), so there is one version, unless the order of sums must be as
 * with more workers.
 *
 * On a GPU the threads of a block share one copy, in shared memory (codegen/gpu/combine.c), for
 * elements in a tree's root, if there are few. It is always used, since contended atomic updates of
 * global memory are slow.
 *
 *   task 0 = range { sums t0 offset=0 stride=4 count=256: i32; update add private %p, %x } */
#include "pass/analysis/effects.h"
#include "pass/rewrite.h"
#include "snode/path.h"

static bool is_only_added_to(const Effects *effects, int number) {
  const uint32_t sums = 1u << IR_UPDATE_ADD | 1u << IR_UPDATE_SUB;
  const EffectField *field = &effects->fields[number];
  if (field->verbs != EFFECT_UPDATES || field->updates & ~sums) return false;
  for (int i = field->first; i >= 0; i = effects->accesses.items[i].next)
    if (effects->accesses.items[i].inst->nonatomic || effects->accesses.items[i].place->is_called)
      return false;
  return true;
}

/* Are there no bits, lists or tables on the path, so that every cell exists if its node does? */
static bool has_plain_nodes(const SNode *node) {
  for (; node; node = node->parent)
    if (snode_has_bits(node) || snode_has_lists(node) || snode_has(node, SNODE_KEYED)) return false;
  return true;
}

/* Can workers have copies of the array's memory: is it contiguous, unshared, and its numbers
 * aligned? A counted array has no copies, so it qualifies, too. */
static bool is_block(const Effects *effects, const IrField *field) {
  const IrArray *array = &effects->kernel->arrays.items[field->array];
  return array->strides < 0 && !array->is_shared && array->size % type_size(field->type) == 0;
}

static bool qualifies(const Effects *effects, int number) {
  DEBUG_ASSERT(number < effects->field_count, "the field was there when effects were collected");
  const IrField *field = &effects->kernel->fields.items[number];
  bool has_sums = type_is_integer(field->type) || type_is(field->type, TYPE_F32) ||
                  type_is(field->type, TYPE_F64);
  if (!field->node)
    return is_only_added_to(effects, number) && has_sums && is_block(effects, field);
  bool loses_cells = effects->trees[field->tree] & EFFECT_DEACTIVATES;
  return is_only_added_to(effects, number) && !loses_cells && has_sums &&
         has_plain_nodes(field->node);
}

static void mark_private(const IrRegion *body, const bool *is_private, bool are_plain) {
  for (IrInst *inst = body ? body->first : NULL; inst; inst = ir_following(inst, body)) {
    if (inst->op != IR_UPDATE || !is_private[inst->operands[0]->field]) continue;
    inst->private_copy = true;
    inst->nonatomic |= are_plain;
  }
}

static IrRegion *copy_body(IrKernel *kernel, const IrRegion *body, const bool *is_private) {
  IrRegion *copy = ir_copy_region(kernel, body, NULL, NULL);
  mark_private(copy, is_private, true);
  return copy;
}

static void make_privatised(IrKernel *kernel, IrTask *task, const bool *is_private) {
  IrTask *version = scratch_new(kernel->scratch, IrTask);
  ASSERT(!task->privatised && !task->private_fields.count, "a task has one privatised version");
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

/* Do all summed numbers of an array have one type? */
static bool has_one_type(const IrKernel *kernel, const bool *is_private, int number) {
  const IrField *field = &kernel->fields.items[number];
  for (int f = 0; f < number && field->array >= 0; f++) {
    const IrField *other = &kernel->fields.items[f];
    if (is_private[f] && other->array == field->array && !type_equal(other->type, field->type))
      return false;
  }
  return true;
}

/* Makes the array one of the kernel's trees, by which the device finds its memory. */
static void give_tree(IrKernel *kernel, int number) {
  DEBUG_ASSERT(!ir_is_shared(kernel, number), "is_block has refused memory that may overlap");
  const IrField *field = &kernel->fields.items[number];
  IrArray *array = field->array >= 0 ? &kernel->arrays.items[field->array] : NULL;
  if (!array || array->is_counted || array->tree >= 0) return;
  vec_push(kernel->scratch, &kernel->trees, (IrTree){NULL});
  array->tree = kernel->trees.count - 1;
}

static void visit_task(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  const Effects *effects = effects_of(ctx, kernel, task);
  bool *is_private = scratch_array(ctx->scratch, bool, kernel->fields.count), any = false;
  for (int f = 0; f < kernel->fields.count; f++) {
    bool is_sole = ctx->has_one_worker && !ctx->keeps_order && kernel->fields.items[f].node;
    is_private[f] = !is_sole && qualifies(effects, f) && has_one_type(kernel, is_private, f);
    any |= is_private[f];
    if (is_private[f]) give_tree(kernel, f);
  }
  if (any) make_privatised(kernel, task, is_private);
}

/* -- blocks of a GPU --------------------------------------------------------------------------- */

/* Describes a field in the root's container, or in that of a dense node below it; false for any
 * other. */
static bool describe_block_sum(const IrField *field, IrBlockSum *out) {
  const SNodePath *path = field->node ? field->node->path : NULL;
  if (!path || path->node_step >= 0 || path->step_count > 2 || field->place) return false;
  const SNodeComponent *component = &field->node->components[field->component];
  bool is_root = path->step_count < 2;
  uint64_t offset = component->offset + (is_root ? 0 : path->steps[1].offset),
           stride = is_root ? (uint64_t)type_size(field->type) : component->stride,
           count = is_root ? 1 : path->steps[1].cell_count;
  if (offset > IR_BLOCK_BYTES * 16 || stride > IR_BLOCK_BYTES || count > IR_BLOCK_BYTES)
    return false;
  *out = (IrBlockSum){.tree = field->tree,
                      .offset = (int32_t)offset,
                      .stride = (int32_t)stride,
                      .count = (int32_t)count,
                      .type = field->type};
  return true;
}

/* Can a block have a copy of the field? Its sums of floats have another order. */
static bool is_for_blocks(const PassContext *ctx, const Effects *effects, int number) {
  Type type = effects->kernel->fields.items[number].type;
  return qualifies(effects, number) && type_size(type) >= 4 &&
         !(ctx->keeps_order && type_is_float(type));
}

static void give_block_copies(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  const Effects *effects = effects_of(ctx, kernel, task);
  bool *is_private = scratch_array(ctx->scratch, bool, kernel->fields.count);
  for (int f = 0; f < kernel->fields.count; f++) {
    IrBlockSum sum;
    if (!is_for_blocks(ctx, effects, f) || !describe_block_sum(&kernel->fields.items[f], &sum))
      continue;
    vec_push(kernel->scratch, &task->block_sums, sum);
    is_private[f] = ir_block_bytes(task) <= IR_BLOCK_BYTES;
    if (!is_private[f]) task->block_sums.count--;
  }
  mark_private(task->body, is_private, false);
  mark_private(task->interior, is_private, false);
}

bool pass_privatise(PassContext *ctx, IrKernel *kernel, Error *err) {
  int count = kernel->tasks.count;
  for (int i = 0; i < count; i++) {
    IrTask *task = kernel->tasks.items[i];
    bool is_lowered = task->kind == TASK_LEAVES && !task->cells;
    if (is_lowered || task->independent || task->privatised || task->private_fields.count ||
        task->block_sums.count)
      continue;
    if (ctx->target.block_copies) give_block_copies(ctx, kernel, task);
    else visit_task(ctx, kernel, task);
  }
  return true;
}
