/* leaf.c - turns a loop over active cells into a loop over active leaves, which looks up
 * neighbouring leaves once per leaf.
 *
 *   task = leaves cells (%i, %j) {       task = leaves (%cursor, %x, %y) {
 *     .. load place f0 %i-1, %j ..         %n = near (-1,0) %x, %y
 *     .. store place f1 %i, %j             grid (%a) { row (%b) {
 *   }                                        .. load cell f0 offset=(-1,0) %a, %b, %n, %cursor ..
 *                                            .. store cell f1 %a, %b, %cursor   } } }
 *
 * A place whose indices are the loop's own plus constants, on a level with a cell for each cell of
 * the leaf, becomes a CELL: at the loop's own position any access is allowed, since a visited leaf
 * is active until the loop ends; elsewhere it can only be read, through one cursor per
 * (coordinates, leaf offset) that all fields share. The same holds for cells below another level
 * whose leaves have the same shape (a second buffer): the leaf there at the same coordinates, the
 * *counterpart*, gets a cursor, too, if it is active. The following stay PLACEs, which are looked
 * up from the root:
 *   - writes to other cells, and data-dependent places: they may activate;
 *   - reads of other cells of a field that the body writes elsewhere: an iteration sees its own
 *     writes, and these may be in a leaf that did not exist when the cursors were fetched;
 *   - all of a field below another level that the body writes, unless it does so in each cell: then
 *     the leaf there is created first (ENSURE);
 *   - everything in a tree in which the body deactivates.
 * Indices may be periodic: the remainder of such a sum by the extent of the loop's cells is a cell
 * at an offset, too, where the leaf before the first one is the last. Decision D-pass-115.
 * leaf_active.c handles `is_active` of cells at such offsets.
 * Keeps the order of insts; sets task->factors. */
#include "pass/trees/leaf.h"

#include "base/bits.h"
#include "pass/loops/guards.h"
#include "pass/rewrite.h"
#include "pass/trees/kind.h"

/* -- accesses of the body ---------------------------------------------------------------------- */

static bool is_at_origin(const int32_t offset[SNODE_MAX_AXES]) {
  for (int a = 0; a < SNODE_MAX_AXES; a++)
    if (offset[a]) return false;
  return true;
}

/* Does the sum of the loop's index and an offset, in 32 bits, never wrap? */
static bool never_wraps(const Leaf *l, const IndexRange *range, int k) {
  int64_t cells = snode_extent(l->shape.cells, k);
  return range->bits == 32 && cells <= INT32_MAX - max_i64(range->low, 0);
}

/* Is that sum exact wherever it is an index of the node? */
static bool is_exact(const Leaf *l, const SNode *node, const IndexRange *range, int k) {
  return never_wraps(l, range, k) || ranges_hold_below(range, snode_extent(node, k));
}

/* Is the index a sum's remainder by the extent of the loop's cells? Then subtracts whole periods
 * from the sum's constant: the rest, at most half a period, is 0 only for the visited cell. */
static bool find_periodic(const Leaf *l, const IrInst *index, int a, IndexRange *range) {
  int k = l->shape.index[a], c = l->shape.coordinate[a];
  const SNode *level = l->shape.node_level;
  bool is_mask = index->op == IR_BAND;
  int64_t by;
  if ((index->op != IR_MOD && !is_mask) || !ir_is_const(index->operands[1], &by)) return false;
  int64_t period = by + is_mask;
  if (c < 0 || period <= 0 || snode_is_unbounded(level, c) ||
      period != level->shape[c] * l->shape.extent[a] || period != snode_extent(l->shape.cells, k) ||
      (is_mask && !is_power_of_two((uint64_t)period)))
    return false;
  *range = ranges_of(index->operands[0]);
  if (ranges_exact_param(l->body, range) != k || !never_wraps(l, range, k)) return false;
  range->low -= floor_div(range->low, period) * period;
  if (range->low > period / 2) range->low -= period;
  range->high = range->low;
  return true;
}

static bool find_offset_of_cell(const Leaf *l, const SNode *node, IrInst *const *indices,
                                int32_t *offset, int32_t *periodic) {
  DEBUG_ASSERT(node->rank == l->shape.cells->rank, "it has a cell for each cell of the leaf");
  *periodic = 0;
  for (int a = 0; a < l->shape.axis_count; a++) {
    int k = l->shape.index[a];
    IndexRange range;
    if (find_periodic(l, indices[k], a, &range)) {
      if (range.low) *periodic |= 1 << l->shape.coordinate[a];
    } else {
      range = ranges_of(indices[k]);
      if (ranges_exact_param(l->body, &range) != k || !is_exact(l, node, &range, k)) return false;
    }
    if (range.low < -l->shape.extent[a] || range.low > l->shape.extent[a]) return false;
    offset[a] = (int32_t)range.low;
  }
  return true;
}

bool leaf_find_offset(const Leaf *l, const SNode *node, IrInst *const *indices, int32_t *offset,
                      int32_t *periodic) {
  return node && leaf_shape_holds(&l->shape, node) &&
         find_offset_of_cell(l, node, indices, offset, periodic);
}

enum { REMOVES_CELLS = EFFECT_DEACTIVATES | EFFECT_APPENDS | EFFECT_POPS };

/* Is the place below another level whose leaves have the same shape as the visited one, and exist
 * until the loop ends? Then the visited leaf has a *counterpart* there: the leaf at the same
 * coordinates. */
static bool is_in_counterpart(const Leaf *l, const IrInst *place) {
  const IrField *field = &l->kernel->fields.items[place->field];
  for (int k = 0; k < place->operand_count; k++)
    if (!type_is_signed(place->operands[k]->type)) return false; /* below 0 it would wrap */
  return field->node && leaf_shape_has_counterpart(&l->shape, field->node) &&
         !(l->effects->trees[field->tree] & REMOVES_CELLS);
}

/* Can the other level have a leaf wherever this one has one? */
static bool covers_leaves(const Leaf *l, const SNode *level) {
  for (int k = 0; k < level->rank; k++)
    if (!leaf_shape_is_within(l->shape.node_level, level, k)) return false;
  return true;
}

/* Does every visit of a leaf write the place, in every cell? */
static bool is_always_written(const Leaf *l, const EffectPlace *at) {
  bool is_written = false;
  for (int i = 0; i < l->effects->accesses.count; i++) {
    const EffectAccess *access = &l->effects->accesses.items[i];
    if (access->place != at || !(access->verb & EFFECT_WRITES)) continue;
    is_written |= access->inst->region == l->body;
    for (const IrInst *inst = access->inst; inst; inst = inst->previous)
      for (int r = 0; r < IR_MAX_REGIONS; r++)
        if (inst->regions[r] && ir_has_op(inst->regions[r], IR_CONTINUE)) return false;
  }
  return is_written;
}

/* Does the body query `is_active` in the tree? Then it could observe that the leaf is created
 * early. */
static bool is_queried(const Leaf *l, int tree) {
  for (int i = 0; i < l->effects->calls.count; i++) {
    const EffectCall *call = &l->effects->calls.items[i];
    if (call->tree == tree && call->op == IR_IS_ACTIVE) return true;
  }
  return false;
}

/* May the leaf of the other level be created before its first cell is written? */
static bool may_create_early(const Leaf *l, const EffectPlace *at) {
  const IrField *field = &l->kernel->fields.items[at->inst->field];
  const SNode *node = field->node;
  const SNode *level = snode_node_level(node);
  return !l->masked && !snode_has_lists(l->shape.node_level) && !snode_is_masked(node, NULL) &&
         covers_leaves(l, level) && !is_queried(l, field->tree) && is_always_written(l, at);
}

static void add_place(Leaf *l, const EffectPlace *at) {
  LeafAccess access = {.at = at, .place = at->inst, .reads = at->verbs & EFFECT_READS};
  const SNode *node = l->kernel->fields.items[at->inst->field].node;
  bool writes = at->verbs & EFFECT_WRITES;
  if (at->is_called) {
    l->written_elsewhere[at->inst->field] |= writes;
    return;
  }
  /* a write of the element sets the bit, too */
  bool sets_bit = writes && node && node != l->masked && snode_is_masked(node, l->shape.node_level);
  access.in_counterpart = is_in_counterpart(l, at->inst);
  bool has_cell = access.in_counterpart || (node && leaf_shape_holds(&l->shape, node));
  access.is_relative =
      !sets_bit && has_cell &&
      find_offset_of_cell(l, node, at->inst->operands, access.offset, &access.periodic);
  bool is_own = access.is_relative && is_at_origin(access.offset);
  access.reaches = writes && access.in_counterpart && is_own && may_create_early(l, at);
  if (writes && !(is_own && (access.reaches || !access.in_counterpart)))
    l->written_elsewhere[at->inst->field] = true;
  vec_push(l->kernel->scratch, &l->accesses, access);
}

static void find_accesses(Leaf *l) {
  unsigned changes = l->effects->trees[l->kernel->levels.items[l->task->level].tree];
  l->deactivates = changes & REMOVES_CELLS;
  for (int i = 0; i < l->effects->places.count; i++) add_place(l, l->effects->places.items[i]);
}

/* -- cursors ----------------------------------------------------------------------------------- */

bool leaf_may_look_near(const Leaf *l, const int32_t *offset) {
  int crossed = 0;
  /* the next element may be in another list */
  if (snode_has_lists(l->shape.node_level)) return false;
  for (int a = 0; a < l->shape.axis_count; a++) {
    if (!offset[a]) continue;
    if (l->shape.coordinate[a] < 0) return false;
    crossed++;
  }
  return crossed <= LEAF_CROSSED_AXES && l->nears.count <= LEAF_NEARS;
}

static bool may_read_near(const Leaf *l, const LeafAccess *access) {
  return leaf_may_look_near(l, access->offset) && !l->written_elsewhere[access->place->field];
}

/* Does the loop write each cell of a leaf's counterpart on the level? Then the counterpart is
 * created first, and all accesses use its cursor. */
static bool is_created_early(const Leaf *l, int level) {
  const SNode *counterpart = l->kernel->levels.items[level].node;
  for (int i = 0; i < l->accesses.count; i++) {
    const LeafAccess *access = &l->accesses.items[i];
    const SNode *node = l->kernel->fields.items[access->place->field].node;
    if (access->reaches && snode_node_level(node) == counterpart) return true;
  }
  return false;
}

static bool is_near(const IrInst *near, int level, const int32_t nodes[SNODE_MAX_AXES],
                    int32_t periodic) {
  return near->level == level && near->periodic == periodic &&
         !memcmp(near->offset, nodes, sizeof *nodes * SNODE_MAX_AXES);
}

int32_t leaf_crossed(const int32_t nodes[SNODE_MAX_AXES], int32_t periodic) {
  for (int k = 0; k < SNODE_MAX_AXES; k++)
    if (!nodes[k]) periodic &= ~(1 << k);
  return periodic;
}

IrInst *leaf_cursor_at(Leaf *l, int level, const int32_t nodes[SNODE_MAX_AXES], int32_t periodic) {
  ASSERT(level >= 0 && level < l->kernel->levels.count, "the level is the kernel's");
  if (level == l->task->level && is_at_origin(nodes)) return l->cursor;
  periodic = leaf_crossed(nodes, periodic);
  for (int i = 0; i < l->nears.count; i++)
    if (is_near(l->nears.items[i], level, nodes, periodic)) return l->nears.items[i];
  IrBuilder b = rewrite_before(l->kernel, l->cells);
  IrOp op = is_at_origin(nodes) && is_created_early(l, level) ? IR_ENSURE : IR_NEIGHBOUR;
  IrInst *near =
      ir_emit(&b, op, TYPE(PTR), l->leaves->params.count - 1, l->leaves->params.items + 1);
  near->level = level;
  near->periodic = periodic;
  near->axis_count = (int8_t)near->operand_count;
  memcpy(near->offset, nodes, sizeof *nodes * SNODE_MAX_AXES);
  vec_push(l->kernel->scratch, &l->nears, near);
  return near;
}

/* Adds the cursors of two leaves per axis with an offset, the lower one first; the last axis varies
 * fastest. */
static int add_cursors(Leaf *l, int level, const LeafAccess *access, IrInst **operands) {
  const int32_t *offset = access->offset;
  int axes[SNODE_MAX_AXES], crossed = 0;
  for (int a = 0; a < l->shape.axis_count; a++)
    if (offset[a]) axes[crossed++] = a;
  ASSERT(crossed <= LEAF_CROSSED_AXES, "leaf_may_look_near has refused offsets along more axes");
  for (int combination = 0; combination < 1 << crossed; combination++) {
    int32_t nodes[SNODE_MAX_AXES] = {0};
    for (int k = 0; k < crossed; k++) {
      bool second = combination >> (crossed - 1 - k) & 1;
      int32_t lower = offset[axes[k]] < 0 ? -1 : 0;
      nodes[l->shape.coordinate[axes[k]]] = lower + second;
    }
    operands[combination] = leaf_cursor_at(l, level, nodes, access->periodic);
  }
  return 1 << crossed;
}

/* -- cells ------------------------------------------------------------------------------------- */

IrInst *leaf_position(const Leaf *l, int leaf_axis) {
  DEBUG_ASSERT(leaf_axis >= 0 && leaf_axis < l->shape.axis_count, "the leaf has such an axis");
  bool is_row = leaf_axis == l->shape.axis_count - 1;
  return is_row ? l->row->regions[0]->params.items[0]
                : l->grid->regions[0]->params.items[leaf_axis];
}

static IrInst *make_cell(Leaf *l, const LeafAccess *access) {
  DEBUG_ASSERT(access->is_relative, "a cell is at an offset from the visited one");
  IrInst *operands[SNODE_MAX_AXES + (1 << LEAF_CROSSED_AXES)];
  int count = l->shape.axis_count, level = l->task->level;
  if (access->in_counterpart) {
    const SNode *counterpart = snode_node_level(l->kernel->fields.items[access->place->field].node);
    level = ir_add_level(l->kernel, counterpart, counterpart->name);
  }
  for (int a = 0; a < count; a++) operands[a] = leaf_position(l, a);
  count += add_cursors(l, level, access, operands + count);
  IrBuilder b = rewrite_before(l->kernel, access->place);
  IrInst *cell = ir_emit(&b, IR_CELL, TYPE(PLACE), count, operands);
  cell->field = access->place->field;
  cell->axis_count = (int8_t)l->shape.axis_count;
  memcpy(cell->offset, access->offset, sizeof access->offset);
  return cell;
}

/* Replaces the operand of each access by the cell of its place, if it has one. At another cell than
 * the visited one only LOADs use it. */
static void use_cells(const Leaf *l) {
  const IrRegion *row = l->row->regions[0];
  for (IrInst *inst = row->first; inst; inst = ir_following(inst, row)) {
    /* a worker's private copy is found from the root */
    if (!rewrite_is_access(inst->op) || inst->private_copy) continue;
    IrInst *cell = ir_mapped(l->with, inst->operands[0]);
    if (cell && (inst->op == IR_LOAD || is_at_origin(cell->offset))) ir_set_operand(inst, 0, cell);
  }
}

/* Why a place is looked up from the root, for explain(). */
static void note_lookup(const Leaf *l, const LeafAccess *access) {
  const IrField *field = &l->kernel->fields.items[access->place->field];
  if (!field->node) return;
  bool deactivates = l->effects->trees[field->tree] & REMOVES_CELLS;
  const char *why = deactivates ? "the loop deactivates in this tree"
                    : !access->in_counterpart && !leaf_shape_holds(&l->shape, field->node)
                        ? "it has no cell for each cell of the loop's leaf"
                    : !access->is_relative ? "an index is not the loop's own plus a small constant"
                    : access->in_counterpart && l->written_elsewhere[access->place->field]
                        ? "the loop writes it, and its leaves are not the visited ones"
                    : !access->reads ? "it is written at another cell than the loop's own"
                    : l->written_elsewhere[access->place->field]
                        ? "the loop writes it at other cells than its own"
                        : "it would need too many cursors";
  if (snode_node_level(field->node))
    ir_note(l->kernel, access->place->line, "'%s' is not cached per leaf here: %s",
            field->name && field->name[0] ? field->name : "a field", why);
}

static void make_cells(Leaf *l) {
  for (int i = 0; i < l->accesses.count; i++) {
    const LeafAccess *access = &l->accesses.items[i];
    bool is_own = access->is_relative && is_at_origin(access->offset) &&
                  (access->reaches || !access->in_counterpart);
    bool is_read = access->is_relative && access->reads && may_read_near(l, access);
    bool stays = access->in_counterpart || !l->deactivates;
    bool has_cell = l->caches && stays && (is_own || is_read);
    if (has_cell) ir_map_put(l->with, access->place, make_cell(l, access));
    else note_lookup(l, access);
  }
  use_cells(l);
}

/* -- the new body ------------------------------------------------------------------------------ */

/* Do iterations change lists of the level that they visit? Then the loop visits the elements from
 * before the loop. */
static bool changes_lists(const Leaf *l) {
  bool changes =
      l->deactivates || effects_of_calls(l->effects, l->shape.node_level) & EFFECT_ACTIVATES;
  for (int f = 0; f < l->kernel->fields.count; f++)
    changes |= l->written_elsewhere[f] && l->kernel->fields.items[f].node == l->shape.node_level;
  return changes;
}

/* The number of elements of the list that are in the node. */
static IrInst *count_elements(Leaf *l, IrBuilder *b) {
  DEBUG_ASSERT(snode_has_lists(l->shape.node_level), "elements are of lists");
  const IrLevel *level = &l->kernel->levels.items[l->task->level];
  bool changes = changes_lists(l);
  RtEntry entry = changes ? RT_DYNAMIC_WAS : RT_DYNAMIC_CELLS;
  IrInst *count = ir_call(b, entry, level->tree, level->node->manager, 1, &l->cursor);
  if (!changes || !guards_is_run(l->kernel, l->number)) return count;
  IrBuilder host = guards_host(l->kernel, l->number);
  ir_call(&host, RT_DYNAMIC_REMEMBER, level->tree, level->node->manager, 0, NULL);
  return count;
}

IrInst *leaf_row_bits(const Leaf *l, IrBuilder *b, const SNode *masked, IrInst *cursor,
                      IrInst *const *positions) {
  IrInst *operands[SNODE_MAX_AXES + 2] = {cursor};
  int rank = masked->rank, last = l->shape.axis_count - 1;
  DEBUG_ASSERT(l->shape.extent[last] <= 64, "a word holds the bits of a row");
  for (int a = 0; a < last; a++) operands[1 + l->shape.index[a]] = positions[a];
  operands[1 + l->shape.index[last]] = ir_i32(b, 0);
  operands[1 + rank] = ir_i32(b, l->shape.extent[last]);
  IrInst *bits = ir_emit(b, IR_ACTIVE_BITS, TYPE(U64), rank + 2, operands);
  bits->level = ir_add_level(l->kernel, masked, masked->name);
  return bits;
}

static void open_leaves(Leaf *l) {
  int rows = l->shape.axis_count - 1;
  l->leaves = ir_region_create(l->kernel, NULL);
  l->cursor = ir_region_param(l->kernel, l->leaves, TYPE(PTR));
  for (int k = 0; k < l->shape.node_level->rank; k++)
    ir_region_param(l->kernel, l->leaves, TYPE(I64));
  IrBuilder b = rewrite_inside(l->kernel, l->leaves, l->body->first);
  if (l->task->line) b.line = l->task->line;
  IrInst *bounds[2] = {NULL};
  if (snode_has_lists(l->shape.node_level)) {
    bounds[0] = ir_i32(&b, 0);
    bounds[1] = count_elements(l, &b);
  }
  if (rows > 0) {
    l->grid = ir_emit(&b, IR_GRID, TYPE(NONE), 0, NULL);
    l->grid->axis_count = (int8_t)rows;
    for (int a = 0; a < rows; a++) {
      l->grid->extent[a] = l->shape.extent[a];
      ir_region_param(l->kernel, l->grid->regions[0], TYPE(I32));
    }
    b.region = l->grid->regions[0];
  }
  IrInst *operands[SNODE_MAX_AXES + 2];
  for (int a = 0; a < rows; a++) operands[a] = l->grid->regions[0]->params.items[a];
  for (int k = 0; k < 2; k++) operands[rows + k] = bounds[k];
  if (l->masked) operands[rows] = leaf_row_bits(l, &b, l->masked, l->cursor, operands);
  l->row = ir_emit(&b, IR_ROW, TYPE(NONE), rows + (bounds[0] ? 2 : l->masked ? 1 : 0), operands);
  l->cells = l->grid ? l->grid : l->row;
  l->row->masked = l->masked != NULL;
  l->row->end = l->shape.extent[rows];
  ir_region_param(l->kernel, l->row->regions[0], TYPE(I32));
}

/* index = the leaf's first cell + the position in it, computed in the outermost loop in which the
 * position is known. */
static IrInst *make_index(Leaf *l, int leaf_axis) {
  DEBUG_ASSERT(leaf_axis < l->shape.axis_count, "the leaf has such an axis");
  bool is_row = leaf_axis == l->shape.axis_count - 1;
  IrBuilder at_leaf = rewrite_before(l->kernel, l->grid ? l->grid : l->row);
  IrBuilder at_position = is_row ? rewrite_first(l->kernel, l->row->regions[0], NULL)
                                 : rewrite_before(l->kernel, l->row);
  IrInst *local = ir_convert(&at_position, leaf_position(l, leaf_axis), l->task->index);
  int coordinate = l->shape.coordinate[leaf_axis];
  if (coordinate < 0) return local;
  IrInst *first = ir_convert(&at_leaf, l->leaves->params.items[1 + coordinate], l->task->index);
  return ir_binary(&at_position, IR_ADD, first, local);
}

static void bind_indices(Leaf *l) {
  IrRegion *row = l->row->regions[0];
  for (int a = 0; a < l->shape.axis_count; a++) {
    const IrInst *index = l->body->params.items[l->shape.index[a]];
    if (ir_use_count(row, index)) ir_map_put(l->with, index, make_index(l, a));
  }
}

static bool is_final_continue(const IrInst *inst) {
  return inst && inst->op == IR_CONTINUE && inst->imm == 0;
}

/* Where lanes run the row, they skip the inactive cells by an IF around the body. */
static IrRegion *open_row(Leaf *l) {
  IrRegion *row = l->row->regions[0];
  if (!l->masked) return row;
  IrBuilder b = rewrite_inside(l->kernel, row, l->row);
  return ir_if(&b, ir_emit(&b, IR_ROW_ACTIVE, TYPE(BOOL), 0, NULL))->regions[0];
}

static void lower_task_to_rows(IrKernel *kernel, int number, const LeafShape *shape,
                               const Effects *effects, bool caches) {
  IrTask *task = kernel->tasks.items[number];
  ASSERT(shape->axis_count > 0 && task->kind == TASK_LEAVES, "a leaf has a row of cells");
  Leaf l = {.kernel = kernel,
            .task = task,
            .number = number,
            .shape = *shape,
            .body = task->body,
            .effects = effects,
            .masked = snode_has_bits(shape->cells) ? shape->cells : NULL,
            .caches = caches,
            .written_elsewhere = scratch_array(kernel->scratch, bool, kernel->fields.count),
            .with = ir_map(kernel->scratch, kernel)};
  find_accesses(&l);
  open_leaves(&l);
  IrRegion *row = l.row->regions[0];
  IrRegion *inside = open_row(&l);
  rewrite_move_all(l.body, inside);
  if (is_final_continue(inside->last)) ir_delete(inside->last);
  make_cells(&l);
  leaf_query_words(&l);
  rewrite_drop_dead(row);
  l.with = ir_map(kernel->scratch, kernel);
  bind_indices(&l);
  rewrite_operands(row, l.with);
  task->body = l.leaves;
  task->cells = false;
  task->axis_count = shape->node_level->rank;
  for (int a = 0; a < shape->axis_count; a++)
    if (shape->coordinate[a] >= 0) task->factors[shape->coordinate[a]] = shape->extent[a];
}

bool pass_leaf(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    LeafShape shape;
    if (task->kind != TASK_LEAVES || !task->cells) continue;
    const Kind *kind = kind_of_active(kernel->levels.items[task->cells_level].node);
    if (kind->lower_task && kind->lower_task(kernel, task, effects_of(ctx, kernel, task))) continue;
    if (!leaf_shape_of_task(kernel, task, &shape))
      return error_set(
          err, RG_ERROR_NOT_YET,
          "a loop cannot visit an axis with more than 2^31 cells below pointer SNode '%s'",
          shape.node_level->name);
    lower_task_to_rows(kernel, i, &shape, effects_of(ctx, kernel, task),
                       !pass_is_without(ctx, "leaf"));
  }
  return true;
}
