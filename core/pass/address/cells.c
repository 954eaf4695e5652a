/* cells.c - computes the addresses of cells of leaves.
 *
 * A cell's row starts at an address that depends only on the grid's position. It is computed before
 * the rows, together with the selection of a leaf along the grid's axes:
 *
 *     crosses = position < -offset (or position >= extent - offset)
 *     leaf = crosses ? other + (offset +- extent) cells : same + offset cells
 *     row = leaf + position cells
 *
 * Which accesses along the row cross into the next leaf, the pass `cell_loops` decides (ROW_LOAD),
 * and on a GPU each cell. */
#include <string.h>

#include "base/bits.h"
#include "pass/address/codec.h"
#include "pass/address/lower_places.h"

enum { MAX_CURSORS = 16 }; /* leaf.c: at most four axes are crossed */

typedef struct Cell { /* a CELL being lowered */
  const IrInst *inst;
  const IrField *field;
  int axis_count;
  int row_offset; /* offset along the row */
  int32_t row_extent;
  IrInst *local[SNODE_MAX_AXES]; /* wrapped positions, by leaf axis; not the row's */
  IrInst *cursors[MAX_CURSORS];  /* of the leaves that it may still be in */
  int cursor_count;
} Cell;

/* -- cursors of neighbours --------------------------------------------------------------------- */

/* Coordinate `k` of the visited node. */
static IrInst *node_coordinate(Lower *l, IrBuilder *b, const IrInst *near, int k) {
  return address_divide(b, near->operands[k], l->task->factors[k],
                        snode_is_unbounded(l->shape.node_level, k));
}

/* Look-ups that the threads of a GPU divide among themselves: one per thread. */
typedef struct Nears {
  IrInst *items[IR_MAX_SHARED];
  int count;
  IrInst *number; /* which look-up the thread does */
} Nears;

/* The offset -1, 0 or 1 of the thread's look-up along coordinate `k`: two bits each of a constant.
 * NULL if all are 0. */
static IrInst *shared_offset(IrBuilder *b, const Nears *nears, int k) {
  DEBUG_ASSERT(nears->number, "each lane has its look-up");
  Type type = nears->count > 16 ? TYPE(U64) : TYPE(U32);
  uint64_t bits = 0, none = 0;
  for (int i = 0; i < nears->count; i++) {
    bits |= (uint64_t)(nears->items[i]->offset[k] + 1) << 2 * i;
    none |= (uint64_t)1 << 2 * i;
  }
  if (bits == none) return NULL;
  IrInst *number = ir_convert(b, nears->number, type);
  IrInst *by = ir_binary_const(b, IR_SHL, number, 1);
  IrInst *of = ir_binary(b, IR_SHR, ir_const_int(b, type, (int64_t)bits), by);
  of = ir_binary_const(b, IR_BAND, of, 3);
  return ir_binary(b, IR_SUB, ir_convert(b, of, TYPE(I64)), ir_i64(b, 1));
}

/* Of a periodic coordinate: the same in 0 .. count - 1, from at most one outside. */
static IrInst *wrap_coordinate(IrBuilder *b, IrInst *node, int64_t count) {
  IrInst *zero = ir_i64(b, 0), *all = ir_i64(b, count);
  IrInst *below = ir_binary(b, IR_LT, node, zero);
  node = ir_select(b, below, ir_binary(b, IR_ADD, node, all), node);
  IrInst *above = ir_binary(b, IR_GE, node, all);
  return ir_select(b, above, ir_binary(b, IR_SUB, node, all), node);
}

/* The coordinate plus the offset, and whether it is inside; coordinates outside become 0, so that
 * the walk stays inside. */
static IrInst *near_coordinate(Lower *l, IrBuilder *b, const IrInst *near, const Nears *nears,
                               int k, IrInst **inside) {
  IrInst *node = node_coordinate(l, b, near, k), *offset = NULL;
  if (nears) offset = shared_offset(b, nears, k);
  else if (near->offset[k]) offset = ir_i64(b, near->offset[k]);
  const SNode *own = l->shape.node_level, *level = l->kernel->levels.items[near->level].node;
  bool is_periodic = near->periodic >> k & 1;
  if (offset) node = ir_binary(b, IR_ADD, node, offset);
  if (offset && is_periodic) node = wrap_coordinate(b, node, own->shape[k]);
  if ((!offset || is_periodic) && leaf_shape_is_within(own, level, k)) return node;
  if (snode_is_unbounded(level, k)) return node;
  IrInst *size = ir_const_int(b, TYPE(U64), level->shape[k]);
  IrInst *within = ir_binary(b, IR_LT, ir_convert(b, node, TYPE(U64)), size);
  *inside = rewrite_both(b, *inside, within);
  return ir_select(b, within, node, ir_i64(b, 0));
}

/* The operands of a look-up. Outside a bounded axis it searches the ambient node, whose slots are
 * empty and for which no table has a cell. */
static int near_operands(Lower *l, IrBuilder *b, const IrInst *near, const Nears *nears,
                         IrInst *operands[ADDRESS_MAX_NAME]) {
  const IrLevel *level = &l->kernel->levels.items[near->level];
  IrInst *nodes[SNODE_MAX_AXES] = {NULL}, *inside = NULL;
  for (int k = 0; k < near->operand_count; k++)
    nodes[k] = near_coordinate(l, b, near, nears, k, &inside);
  Address a = address_from_root(b, level->tree, level->node, nodes);
  a.ensures = near->op == IR_ENSURE;
  int count = address_name(&a, level->node, operands);
  if (inside)
    operands[0] = ir_select(b, inside, operands[0], ir_emit(b, IR_AMBIENT, TYPE(PTR), 0, NULL));
  return count;
}

static void lower_to_lookup(Lower *l, IrInst *near) {
  IrBuilder b = rewrite_before(l->kernel, near);
  const IrLevel *level = &l->kernel->levels.items[near->level];
  const Kind *kind = kind_of(level->node);
  IrInst *operands[ADDRESS_MAX_NAME];
  int count = near_operands(l, &b, near, NULL, operands);
  rewrite_become_call(l->kernel, near, near->op == IR_ENSURE ? kind->ensure : kind->find,
                      level->tree, level->node->manager, count, operands);
}

void cells_lower_reach(Lower *l, IrInst *reach) { lower_to_lookup(l, reach); }

static bool is_adjacent(const IrInst *near) {
  for (int k = 0; k < near->operand_count; k++)
    if (near->offset[k] < -1 || near->offset[k] > 1) return false;
  return true;
}

/* Collects `first` and the NEARs after it in its region of the same level, leaf and periods. */
static Nears find_nears(IrInst *first) {
  Nears nears = {.count = 0};
  size_t operand_bytes = sizeof(IrInst *) * (size_t)first->operand_count;
  if (!is_adjacent(first)) return nears;
  for (IrInst *inst = first; inst && nears.count < IR_MAX_SHARED; inst = inst->next)
    if (inst->op == IR_NEIGHBOUR && inst->level == first->level &&
        inst->periodic == first->periodic && is_adjacent(inst) &&
        !memcmp(inst->operands, first->operands, operand_bytes))
      nears.items[nears.count++] = inst;
  return nears;
}

/*     %all = all.gather 4 %found (%number) {
 *       set %found, ..                          the neighbour whose offsets `number` selects
 *     }
 *     %near = gathered 0 %all                   in place of each NEIGHBOUR */
static void share_lookups(Lower *l, Nears *nears) {
  DEBUG_ASSERT(nears->count > 1 && nears->count <= IR_MAX_SHARED, "lanes share the look-ups");
  IrInst *first = nears->items[0], *operands[ADDRESS_MAX_NAME];
  IrBuilder b = rewrite_before(l->kernel, first);
  const IrLevel *level = &l->kernel->levels.items[first->level];
  IrInst *found = ir_var(&b, TYPE(PTR));
  IrInst *all = ir_emit(&b, IR_ALL_GATHER, TYPE(PTR), 1, &found);
  all->imm = nears->count;
  nears->number = ir_region_param(l->kernel, all->regions[0], TYPE(I32));
  b = rewrite_inside(l->kernel, all->regions[0], first);
  int count = near_operands(l, &b, first, nears, operands);
  IrInst *own = ir_emit(&b, IR_CALL, TYPE(PTR), count, operands);
  ir_set_callee(own, kind_of(level->node)->find, level->tree, level->node->manager);
  ir_set(&b, found, own);
  for (int i = 0; i < nears->count; i++) {
    rewrite_become(l->kernel, nears->items[i], IR_GATHERED, 1, &all);
    nears->items[i]->imm = i;
  }
}

void cells_lower_near(Lower *l, IrInst *near) {
  Nears nears = find_nears(near);
  if (l->ctx->target.shares_lookups && nears.count > 1) share_lookups(l, &nears);
  else lower_to_lookup(l, near);
}

/* -- the grid's axes --------------------------------------------------------------------------- */

/* Keeps one cursor of each pair: the first half of the list is the lower leaf along this axis. */
static void choose_leaf(Cell *c, IrBuilder *b, IrInst *crosses, bool is_lower) {
  ASSERT(c->cursor_count >= 2, "an axis that is crossed has two leaves");
  c->cursor_count /= 2;
  for (int i = 0; i < c->cursor_count; i++) {
    IrInst *lower = c->cursors[i], *upper = c->cursors[i + c->cursor_count];
    c->cursors[i] = ir_select(b, crosses, is_lower ? lower : upper, is_lower ? upper : lower);
  }
}

static IrInst *wrap_position(IrBuilder *b, IrInst *q, IrInst *crosses, int offset, int32_t extent) {
  DEBUG_ASSERT(offset >= -extent && offset <= extent, "a neighbour is in an adjacent leaf");
  if (is_power_of_two((uint64_t)extent)) return ir_binary_const(b, IR_BAND, q, extent - 1);
  IrInst *wrapped = ir_binary_const(b, IR_ADD, q, offset < 0 ? extent : -extent);
  return ir_select(b, crosses, wrapped, q);
}

/* The distance from a position to the cell at this offset, in cells: in the same leaf, and in the
 * next one. */
static int cells_between(const Cell *c, const LeafShape *shape, int axis, bool is_other) {
  int offset = c->inst->offset[axis];
  return !is_other    ? offset
         : offset < 0 ? offset + shape->extent[axis]
                      : offset - shape->extent[axis];
}

static int64_t axis_step(const Lower *l, const Cell *c, int axis) {
  return leaf_shape_step(&l->shape, c->field->node, c->field->component, axis);
}

/* If cells are evenly spaced along a grid's axis, the distance to the other cell is a constant in
 * either leaf: it is added to the cursors once per leaf, and the position is unchanged, so that all
 * reads of a row share one sum. */
static void move_cursors(const Lower *l, Cell *c, IrBuilder *leaf) {
  int64_t bytes[MAX_CURSORS] = {0};
  int bit = c->cursor_count;
  for (int axis = 0; axis < c->axis_count; axis++) {
    if (!c->inst->offset[axis]) continue;
    bit /= 2;
    int64_t step = axis < c->axis_count - 1 ? axis_step(l, c, axis) : 0;
    for (int i = 0; i < c->cursor_count; i++) {
      bool is_other = (c->inst->offset[axis] < 0) == !(i & bit);
      bytes[i] += cells_between(c, &l->shape, axis, is_other) * step;
    }
  }
  for (int i = 0; i < c->cursor_count; i++)
    c->cursors[i] = ir_offset(leaf, c->cursors[i], NULL, 0, bytes[i]);
}

static void locate_on_grid_axis(Lower *l, Cell *c, IrBuilder *b, int axis) {
  int offset = c->inst->offset[axis];
  int32_t extent = l->shape.extent[axis];
  IrInst *position = c->inst->operands[axis];
  c->local[axis] = position;
  if (!offset) return;
  IrInst *limit = ir_i32(b, offset < 0 ? -offset : extent - offset);
  IrInst *crosses = ir_binary(b, offset < 0 ? IR_LT : IR_GE, position, limit);
  choose_leaf(c, b, crosses, offset < 0);
  if (axis_step(l, c, axis)) return;
  IrInst *q = ir_binary_const(b, IR_ADD, position, offset);
  c->local[axis] = wrap_position(b, q, crosses, offset, extent);
}

/* The address in one leaf of the cell at the grid's position and `along` on the row's axis. */
static IrInst *address_in_leaf(Lower *l, const Cell *c, IrBuilder *b, IrInst *cursor,
                               AddressIndex along) {
  const SNode *node = c->field->node;
  Address a = address_in_node(b, c->field->tree, snode_node_level(node), cursor, node);
  for (int axis = 0; axis < c->axis_count - 1; axis++)
    a.index[l->shape.index[axis]].value = ir_convert(b, c->local[axis], TYPE(I64));
  if (along.value) along.value = ir_convert(b, along.value, TYPE(I64));
  a.index[l->shape.index[c->axis_count - 1]] = along;
  return places_element(l, &a, c->field);
}

/* -- along the row ----------------------------------------------------------------------------- */

typedef enum Crossing { CROSSES_NEVER, CROSSES_ALWAYS, CROSSES_PARTLY } Crossing;

static Crossing crossing_of(const IrInst *row, int offset, int32_t extent) {
  int first = offset, last = row->end - 1 + offset;
  if (first >= 0 && last < extent) return CROSSES_NEVER;
  return last < 0 || first >= extent ? CROSSES_ALWAYS : CROSSES_PARTLY;
}

/* For contiguous rows: the element's address from its row's start. */
static IrInst *element_of_run(Lower *l, const Cell *c, IrBuilder *b, const CellRow *rows) {
  DEBUG_ASSERT(l->row && rows->same, "the row's address was computed before it");
  IrInst *position = ir_index(l->row);
  int64_t stride = (int64_t)c->field->node->components[c->field->component].stride;
  int offset = c->row_offset, beyond = cells_between(c, &l->shape, c->axis_count - 1, true);
  Crossing crossing = crossing_of(l->row, offset, c->row_extent);
  if (crossing == CROSSES_NEVER) return ir_offset(b, rows->same, position, stride, offset * stride);
  if (crossing == CROSSES_ALWAYS)
    return ir_offset(b, rows->other, position, stride, beyond * stride);
  bool has_row_loads = l->ctx->target.vector_rows && stride == type_size(c->field->type);
  if (has_row_loads) return NULL;
  IrInst *limit = ir_i32(b, offset < 0 ? -offset : c->row_extent - offset);
  IrInst *crosses = ir_binary(b, offset < 0 ? IR_LT : IR_GE, position, limit);
  IrInst *inside = ir_i32(b, offset), *outside = ir_i32(b, beyond);
  IrInst *shift = ir_select(b, crosses, outside, inside);
  IrInst *row = ir_select(b, crosses, rows->other, rows->same);
  return ir_offset(b, row, ir_binary(b, IR_ADD, position, shift), stride, 0);
}

/* If lower levels divide the row's axis again: computes all digits for each cell. */
static IrInst *element_anywhere(Lower *l, Cell *c, IrBuilder *b) {
  IrInst *position = ir_index(l->row), *cursor = c->cursors[0];
  int offset = c->row_offset;
  if (!offset) return address_in_leaf(l, c, b, cursor, (AddressIndex){position, 0});
  IrInst *q = ir_binary_const(b, IR_ADD, position, offset);
  IrInst *limit = ir_i32(b, offset < 0 ? 0 : c->row_extent);
  IrInst *crosses = ir_binary(b, offset < 0 ? IR_LT : IR_GE, q, limit);
  choose_leaf(c, b, crosses, offset < 0);
  IrInst *along = wrap_position(b, q, crosses, offset, c->row_extent);
  return address_in_leaf(l, c, b, c->cursors[0], (AddressIndex){along, 0});
}

static Cell describe_cell(Lower *l, const IrInst *inst) {
  Cell c = {
      .inst = inst, .field = &l->kernel->fields.items[inst->field], .axis_count = inst->axis_count};
  c.row_offset = inst->offset[c.axis_count - 1];
  c.row_extent = l->shape.extent[c.axis_count - 1];
  c.cursor_count = inst->operand_count - c.axis_count;
  if (c.cursor_count < 1 || c.cursor_count > MAX_CURSORS) {
    ir_fail(l->kernel, "a cell is in %d leaves", c.cursor_count);
    c.cursor_count = c.cursor_count < 1 ? 0 : MAX_CURSORS;
  }
  for (int i = 0; i < c.cursor_count; i++) c.cursors[i] = inst->operands[c.axis_count + i];
  return c;
}

void cells_lower_cell(Lower *l, const IrInst *inst) {
  Cell c = describe_cell(l, inst);
  IrBuilder b = rewrite_before(l->kernel, (IrInst *)inst),
            shared = rewrite_before(l->kernel, l->first_row);
  IrBuilder leaf = rewrite_before(
      l->kernel, l->first_row->region->owner ? l->first_row->region->owner : l->first_row);
  move_cursors(l, &c, &leaf);
  for (int axis = 0; axis < c.axis_count - 1; axis++) locate_on_grid_axis(l, &c, &shared, axis);
  CellRow *rows = &l->cells[inst->id];
  if (!leaf_shape_has_runs(&l->shape, c.field->node)) {
    rows->element = element_anywhere(l, &c, &b);
    return;
  }
  bool second_is_other = c.row_offset > 0;
  rows->same = address_in_leaf(l, &c, &shared, c.cursors[c.cursor_count > 1 && !second_is_other],
                               (AddressIndex){0});
  if (c.cursor_count > 1)
    rows->other = address_in_leaf(l, &c, &shared, c.cursors[second_is_other], (AddressIndex){0});
  rows->element = element_of_run(l, &c, &b, rows);
}

void cells_lower_access(Lower *l, IrInst *access) {
  if (access->op == IR_LOAD) access = codec_open(l->kernel, access);
  const IrInst *cell = access->operands[0];
  const CellRow *rows = &l->cells[cell->id];
  if (rows->element) {
    places_access_memory(l->kernel, access, rows->element);
    return;
  }
  IrInst *operands[] = {rows->same, rows->other, ir_index(l->row)};
  rewrite_become(l->kernel, access, IR_ROW_LOAD, 3, operands);
  access->imm = cell->offset[cell->axis_count - 1];
  access->extent[0] = l->shape.extent[l->shape.axis_count - 1];
  access->axis_count = 1;
  access->alias = cell->field + 1;
}
