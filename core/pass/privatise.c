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
 * An array's private copy is its memory as a whole, which so becomes one of the kernel's trees. A
 * counted array has no copies: its privatised version adds to it, plainly, and runs in one chunk.
 * The task itself goes on without its interior.
 *
 * On a GPU the threads of a block have a copy together, in the memory that they share
 * (codegen/gpu_sums.c): of elements in a tree's root, if there are few, and always, since their
 * updates would meet far away.
 *
 *   task 0 = range { sums t0 offset=0 stride=4 count=256: i32; update add private %p, %x } */
#include "pass/effects.h"
#include "pass/rewrite.h"
#include "snode/path.h"

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

/* A copy of an array is its memory as a whole; a counted one has none, so all is as well. */
static bool is_block(const Effects *effects, const IrField *field) {
  const IrArray *array = &effects->kernel->arrays.items[field->array];
  return array->strides < 0 && !array->is_shared &&
         array->size % type_size(field->type) == 0;
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
  if (!array || array->is_counted || array->tree >= 0) return;
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

/* -- blocks of a GPU --------------------------------------------------------------------------- */

/* In the root's container, or in that of a dense node below it. */
static bool describe(const IrField *field, IrBlockSum *out) {
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

/* Floats are added in another order so. */
static bool is_for_blocks(const PassContext *ctx, const Effects *effects, int number) {
  Type type = effects->kernel->fields.items[number].type;
  return qualifies(effects, number) && type_size(type) >= 4 &&
         !(ctx->keeps_order && type_is_float(type));
}

static bool mark_of_block(void *data, IrInst *inst) {
  const bool *is_private = data;
  if (inst->op == IR_UPDATE && is_private[inst->operands[0]->field]) inst->private_copy = true;
  return true;
}

static void give_blocks(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  const Effects *effects = effects_of(ctx, kernel, task);
  bool *is_private = scratch_array(ctx->scratch, bool, kernel->fields.count), any = false;
  for (int f = 0; f < kernel->fields.count; f++) {
    IrBlockSum sum;
    if (!is_for_blocks(ctx, effects, f) || !describe(&kernel->fields.items[f], &sum)) continue;
    vec_push(kernel->scratch, &task->block_sums, sum);
    is_private[f] = ir_block_bytes(task) <= IR_BLOCK_BYTES;
    if (!is_private[f]) task->block_sums.count--;
    any |= is_private[f];
  }
  if (!any) return;
  ir_walk(task->body, mark_of_block, is_private);
  if (task->interior) ir_walk(task->interior, mark_of_block, is_private);
}

bool pass_privatise(PassContext *ctx, IrKernel *kernel, Error *err) {
  int count = kernel->tasks.count;
  for (int i = 0; i < count; i++) {
    IrTask *task = kernel->tasks.items[i];
    bool is_lowered = task->kind == TASK_LEAVES && !task->cells;
    if (is_lowered || task->independent || task->privatised || task->private_fields.count ||
        task->block_sums.count)
      continue;
    if (ctx->for_cuda) give_blocks(ctx, kernel, task);
    else visit_task(ctx, kernel, task);
  }
  return true;
}
