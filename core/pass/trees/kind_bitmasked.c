/* kind_bitmasked.c - the `bitmasked` SNode: dense cells with a bit each. An inactive cell is zero,
 * so reads ignore the bit; a write sets it on its walk, and once more after its store if other
 * iterations may clear it (lower_places.c).
 *
 * Loops over cells go word by word: an empty word costs one test, any other word one iteration per
 * set bit. A *block* is the cells of one word: at most 64 adjacent cells along the last own axis of
 * the SNode, the *row axis*, inside one container. Blocks are numbered along that axis over the
 * whole tree.
 *
 *     for %block { %bits = active.bits l0 %i, %first, %count
 *                  bits %bits (%p) { %j = %first + %p; cells below, one by one; the body } }
 *
 * Serial loops, which visit cells in index order, can do this only if the row axis is the last one;
 * otherwise they test every cell. */
#include "pass/address/lower_places.h"
#include "pass/analysis/leaf_shape.h"
#include "pass/rewrite.h"
#include "pass/tasks/tasks.h"
#include "pass/trees/kind.h"

/* -- accesses ---------------------------------------------------------------------------------- */

static AddressMask mask_of(Address *a, const SNodeStep *step, AddressIndex cell) {
  IrInst *words = ir_offset(a->b, address_flush(a), NULL, 0, (int64_t)step->mask_offset);
  return (AddressMask){words, address_sum(a, cell)};
}

static AddressIndex descend_to_bit(Address *a, const SNodeStep *step) {
  AddressIndex cell = address_cell(a, step);
  if (a->ensures) {
    AddressMask mask = mask_of(a, step, cell);
    ir_call(a->b, RT_MASK_SET, 0, 0, 2, (IrInst *[]){mask.words, mask.cell});
    a->masks[a->mask_count++] = mask;
  }
  return cell;
}

/* An ensured bit is recorded as one of the walk's masks. */
static int name_bit(Address *a, const SNodeStep *step, IrInst **operands) {
  AddressMask mask = mask_of(a, step, address_cell(a, step));
  if (a->ensures) a->masks[a->mask_count++] = mask;
  operands[0] = mask.words;
  operands[1] = mask.cell;
  return 2;
}

/* The cells need no bounds check, since the loop stays inside the shape. */
static void lower_active_bits(Lower *l, IrInst *inst) {
  IrBuilder b = rewrite_before(l->kernel, inst);
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  const SNode *masked = level->node;
  IrInst *operands[ADDRESS_MAX_NAME + 1],
      *count = ir_convert(&b, inst->operands[inst->operand_count - 1], TYPE(I64));
  bool in_node = type_equal(inst->operands[0]->type, TYPE(PTR));
  Address a = in_node ? address_in_node(&b, level->tree, snode_node_level(masked),
                                        inst->operands[0], masked)
                      : address_from_root(&b, level->tree, masked, inst->operands);
  for (int k = 0; in_node && k < masked->rank; k++)
    a.index[k].value = ir_convert(&b, inst->operands[1 + k], TYPE(I64));
  operands[address_name(&a, masked, operands)] = count;
  bool is_visited = in_node && inst->operands[0]->op == IR_PARAM;
  bool remembers = l->task && l->task->saves_masks && (is_visited || !in_node);
  rewrite_become_call(l->kernel, inst, remembers ? RT_MASK_WAS : RT_MASK_BITS, level->tree,
                      masked->mask, 3, operands);
}

static bool lower_bits(Lower *l, IrInst *inst) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  if (inst->op == IR_ACTIVE_BITS) lower_active_bits(l, inst);
  else if (inst->op == IR_SAVE_MASKS)
    rewrite_become_call(l->kernel, inst, RT_MASK_REMEMBER, level->tree, level->node->mask, 0, NULL);
  else return false;
  return true;
}

/* -- blocks ------------------------------------------------------------------------------------ */

enum { WORD_BITS = 64 };

static int64_t row_size(const SNode *masked) { return masked->sizes[masked->axis_count - 1]; }
static int row_axis(const SNode *masked) { return masked->axes[masked->axis_count - 1]; }
static int64_t blocks_per_row(const SNode *masked) {
  return (row_size(masked) + WORD_BITS - 1) / WORD_BITS;
}

static int row_position(const SNode *masked) {
  return snode_axis_position(masked, row_axis(masked));
}

/* The number of blocks for `cells` cells along the row axis. */
static int64_t block_count(const SNode *masked, int64_t cells) {
  DEBUG_ASSERT(cells % row_size(masked) == 0, "a level is divided into whole rows");
  return cells / row_size(masked) * blocks_per_row(masked);
}

/* The body handles one cell until `leaf`; if no nodes hold the masks, the task is a range over
 * blocks of cells. */
static ActivePlan plan_words(const SNode *masked, const SNode *cells) {
  const SNode *nodes = snode_node_level(masked);
  ActivePlan plan = {.kind = TASK_LEAVES,
                     .level = nodes ? nodes : masked,
                     .has_cells = true,
                     .over = "the words of a mask"};
  if (nodes) return plan;
  plan.axis_count = masked->rank;
  for (int k = 0; k < masked->rank; k++)
    plan.counts[k] =
        k == row_position(masked) ? block_count(masked, masked->shape[k]) : masked->shape[k];
  return plan;
}

/* -- changes of masks by the body -------------------------------------------------------------- */

/* Is the place at the iteration's own index, on a level that divides the masked cells like the
 * loop's? */
static bool is_own_cell(const EffectPlace *place, const SNode *node, const SNode *masked,
                        const SNode *cells) {
  if (effects_where(place) != EFFECT_OWN || node->rank != cells->rank) return false;
  for (int k = 0; k < node->rank; k++) {
    int axis = node->level_axes[k];
    if (axis != cells->level_axes[k]) return false;
    if (snode_divisor(masked, node, axis) != snode_divisor(masked, cells, axis)) return false;
  }
  return true;
}

static bool may_change(const Effects *effects, const IrTask *task) {
  DEBUG_ASSERT(task->cells, "the task iterates over cells");
  const SNode *cells = effects->kernel->levels.items[task->cells_level].node,
              *masked = snode_sparse_level(cells);
  if (effects_of_calls(effects, masked)) return true;
  for (int i = 0; i < effects->accesses.count; i++) {
    const EffectAccess *access = &effects->accesses.items[i];
    const SNode *node = effects->kernel->fields.items[access->field].node;
    if (node && effects_access_activates(effects, access, masked) &&
        !is_own_cell(access->place, node, masked, cells))
      return true;
  }
  return false;
}

/* Marks places in the visited cell as active; it stays active, since no iteration changes masks. */
static void mark_own_cells(const Effects *effects, const SNode *masked, const SNode *cells) {
  for (int i = 0; i < effects->places.count; i++) {
    const EffectPlace *place = effects->places.items[i];
    const SNode *node = effects->kernel->fields.items[place->inst->field].node;
    place->inst->active =
        node && snode_sparse_level(node) == masked && is_own_cell(place, node, masked, cells);
  }
}

/* -- one block --------------------------------------------------------------------------------- */

/* The first cell of a block, and the number of its cells. */
static IrInst *first_cell_of_block(Nest *nest, const SNode *masked, IrInst *block, IrInst **count) {
  DEBUG_ASSERT(snode_has_bits(masked), "blocks are of words");
  int64_t size = row_size(masked), per_row = blocks_per_row(masked);
  *count = nest_number(nest, size < WORD_BITS ? size : WORD_BITS);
  if (per_row == 1) return ir_times(&nest->b, block, size);
  if (size % WORD_BITS == 0) return ir_times(&nest->b, block, WORD_BITS);
  IrInst *row = nest_divide(nest, block, per_row);
  IrInst *in_row = ir_binary(&nest->b, IR_SUB, block, ir_times(&nest->b, row, per_row));
  IrInst *before = ir_times(&nest->b, in_row, WORD_BITS);
  IrInst *left = ir_binary(&nest->b, IR_SUB, nest_number(nest, size), before);
  *count = ir_binary(&nest->b, IR_MIN, left, *count);
  return ir_binary(&nest->b, IR_ADD, ir_times(&nest->b, row, size), before);
}

/* Opens the loop over the active cells of a block; `at` are their indices at the masked level, or
 * positions in the node of `cursor`; sets that of the row axis. */
static void open_block(Nest *nest, const SNode *masked, IrInst *cursor, IrInst **at, IrInst *block,
                       bool is_parallel) {
  IrInst *operands[SNODE_MAX_AXES + 2], *count;
  int row = row_position(masked), used = 0;
  IrInst *first = first_cell_of_block(nest, masked, block, &count);
  at[row] = first;
  if (cursor) operands[used++] = cursor;
  for (int k = 0; k < masked->rank; k++) operands[used++] = at[k];
  operands[used++] = count;
  IrInst *word = ir_emit(&nest->b, IR_ACTIVE_BITS, TYPE(U64), used, operands);
  word->level = ir_add_level(nest->b.kernel, masked, masked->name);
  IrInst *bits = ir_bits(&nest->b, word, nest->index);
  bits->independent = is_parallel;
  nest->b = rewrite_into(&nest->b, bits->regions[0]);
  nest->levels++;
  at[row] = ir_binary(&nest->b, IR_ADD, first, ir_index(bits));
}

/* The index, at the loop's level, of the cells below cell `at` of a masked level; a loop if there
 * are several. */
static IrInst *open_cells_below(Nest *nest, IrInst *at, int64_t size) {
  DEBUG_ASSERT(size > 0, "a cell has a size");
  if (size == 1) return at ? at : nest_number(nest, 0);
  IrInst *local = nest_count(nest, size);
  return at ? ir_binary(&nest->b, IR_ADD, ir_times(&nest->b, at, size), local) : local;
}

/* -- in index order ---------------------------------------------------------------------------- */

static void nest_words(Nest *nest, const SNode *masked, const SNode *cells, IrInst **indices) {
  IrInst *at[SNODE_MAX_AXES];
  int row = row_position(masked), last = cells->rank - 1;
  if (cells->level_axes[last] != row_axis(masked)) {
    for (int k = 0; k < cells->rank; k++) indices[k] = nest_count(nest, cells->shape[k]);
    nest_test_cell(nest, cells, indices);
    return;
  }
  for (int k = 0; k < last; k++) indices[k] = nest_count(nest, cells->shape[k]);
  for (int k = 0; k < masked->rank; k++) {
    int axis = masked->level_axes[k];
    if (k != row)
      at[k] = nest_divide(nest, indices[snode_axis_position(cells, axis)],
                          snode_divisor(masked, cells, axis));
  }
  IrInst *block = nest_count(nest, block_count(masked, masked->shape[row]));
  open_block(nest, masked, NULL, at, block, false);
  indices[last] = open_cells_below(nest, at[row], snode_divisor(masked, cells, row_axis(masked)));
}

/* -- parallel ---------------------------------------------------------------------------------- */

/* Opens the loop over the active cells in the visited node, and returns their indices at the masked
 * level. */
static void open_in_node(Nest *nest, const SNode *node_level, const SNode *masked, IrRegion *body,
                         IrInst **at) {
  IrInst *block = NULL;
  int row = row_position(masked);
  for (int k = 0; k < masked->rank; k++) {
    int64_t cells = snode_divisor(node_level, masked, masked->level_axes[k]);
    if (k == row) block = open_cells_below(nest, NULL, block_count(masked, cells));
    else at[k] = open_cells_below(nest, NULL, cells);
  }
  open_block(nest, masked, body->params.items[0], at, block, true);
  for (int k = 0; k < masked->rank; k++) {
    int axis = masked->level_axes[k], position = snode_axis_position(node_level, axis);
    if (position < 0) continue;
    IrInst *node = ir_convert(&nest->b, body->params.items[1 + position], nest->index);
    at[k] = ir_binary(&nest->b, IR_ADD,
                      ir_times(&nest->b, node, snode_divisor(node_level, masked, axis)), at[k]);
  }
}

static IrRegion *open_task(IrKernel *kernel, IrTask *task, const SNode *node_level,
                           const SNode *masked) {
  IrRegion *body = ir_region_create(kernel, NULL);
  task->axis_count = node_level ? node_level->rank : masked->rank;
  if (node_level) ir_region_param(kernel, body, TYPE(PTR));
  for (int k = 0; k < task->axis_count; k++)
    ir_region_param(kernel, body, node_level ? TYPE(I64) : task->index);
  task->kind = node_level ? TASK_LEAVES : TASK_RANGE;
  task->cells = false;
  return body;
}

/* Do the leaves have rows of cells, each with its bits in one word? */
static bool has_rows_of_bits(const IrKernel *kernel, const IrTask *task, const SNode *masked) {
  LeafShape shape;
  if (kernel->levels.items[task->cells_level].node != masked || !snode_node_level(masked))
    return false;
  if (!leaf_shape_of_task(kernel, task, &shape)) return false;
  int32_t row = shape.extent[shape.axis_count - 1];
  return row == masked->sizes[masked->axis_count - 1] && row <= WORD_BITS;
}

/* Turns a task over cells into one over nodes (or over the range of blocks, if no nodes hold the
 * masks) with loops inside. False if a word holds a whole row: then `leaf` makes rows. */
static bool lower_task(IrKernel *kernel, IrTask *task, const Effects *effects) {
  const SNode *cells = kernel->levels.items[task->cells_level].node;
  const SNode *masked = snode_sparse_level(cells), *node_level = snode_node_level(masked);
  DEBUG_ASSERT(task->cells && masked && masked->mask >= 0,
               "bits decide which cells the task visits");
  if (has_rows_of_bits(kernel, task, masked)) return false;
  int row = row_position(masked);
  IrInst *at[SNODE_MAX_AXES] = {0};
  IrMap *with = ir_map(kernel->scratch, kernel);
  if (!task->saves_masks) mark_own_cells(effects, masked, cells);
  IrRegion *old = task->body, *body = open_task(kernel, task, node_level, masked);
  Nest nest = {.b = {.kernel = kernel, .region = body}, .index = task->index};
  if (node_level) {
    open_in_node(&nest, node_level, masked, body, at);
  } else {
    for (int k = 0; k < masked->rank; k++) at[k] = body->params.items[k];
    open_block(&nest, masked, NULL, at, at[row], true);
  }
  for (int k = 0; k < cells->rank; k++) {
    int axis = cells->level_axes[k], position = snode_axis_position(masked, axis);
    IrInst *index = open_cells_below(&nest, position < 0 ? NULL : at[position],
                                     snode_divisor(masked, cells, axis));
    ir_map_put(with, old->params.items[k], index);
  }
  rewrite_move_all(old, nest.b.region);
  rewrite_operands(nest.b.region, with);
  task->body = body;
  task->cost = tasks_cost(body);
  return true;
}

const Kind kind_bitmasked = {.descend = descend_to_bit,
                             .name = name_bit,
                             .ensure = RT_MASK_SET,
                             .live = RT_MASK_ACTIVE,
                             .clear = RT_MASK_CLEAR,
                             .count = RT_MASK_COUNT,
                             .clear_all = RT_MASK_CLEAR_ALL,
                             .lower = lower_bits,
                             .plan = plan_words,
                             .nest = nest_words,
                             .tests_each_cell = true,
                             .may_change = may_change,
                             .lower_task = lower_task};
