/* leaf_active.c - replaces `is_active` of cells near the visited one by tests of bits, in words
 * that are computed once per row for all its cells.
 *
 *   %b = is_active l0 %i - 1, %j + 1     =>   before the row:
 *                                               %same, %upper = words of the row above, here and in
 *                                                               the next leaf along the row
 *                                               %word = %same >> 1 | %upper << (cells - 1)
 *                                             in the row:
 *                                               %b = (%word & 1 << %position) != 0
 *
 * A masked row's word is its bits; cells without bits are active if their leaf is, which is tested
 * once per neighbouring leaf. Words hold the state from before the row. So a query stays a
 * look-up if the iteration may have activated the cell itself, by an earlier write at the same
 * offset, or at an unknown one. */
#include "pass/trees/kind.h"
#include "pass/trees/leaf.h"
#include "pass/rewrite.h"

enum { WORD_BITS = 64, NARROW_BITS = 32 };

typedef struct Change { /* an inst of the body that may activate a cell */
  const IrInst *inst;
  bool is_relative;
  int32_t offset[SNODE_MAX_AXES];
} Change;

typedef struct RowWord { /* a word of bits around the row */
  const SNode *sparse;   /* whose cells they are */
  /* by leaf axis; in `pieces` the last one counts leaves, in `leaves` all do */
  int32_t offset[SNODE_MAX_AXES];
  int32_t periodic; /* as of NEIGHBOUR */
  IrInst *word;
} RowWord;

typedef VEC(RowWord) RowWords;

typedef struct RowQueries {
  Leaf *l;
  const SNode *sparse; /* the level of the query: a masked level, or the leaves' */
  const IrInst *query;
  int32_t periodic; /* along which coordinates its offset is, as of NEIGHBOUR */
  VEC(Change) changes;
  RowWords rows;   /* words aligned to the visited row's positions, */
  RowWords pieces; /* and the words that they are combined from: rows of one leaf */
  RowWords leaves; /* words of all bits if the leaf is active, else of none */
  IrInst *bit;     /* 1 << the position in the row */
  IrInst *if_any;  /* masked rows: IF an active cell exists, around the words; NULL: not yet made */
} RowQueries;

/* -- which queries can be replaced ------------------------------------------------------------- */

static bool is_same_offset(const int32_t *a, const int32_t *b) {
  return !memcmp(a, b, sizeof(int32_t) * SNODE_MAX_AXES);
}

static bool find_offset_of_call(const Leaf *l, const IrInst *inst, const SNode *node,
                                int32_t *offset, int32_t *periodic) {
  return inst->operand_count == node->rank &&
         leaf_find_offset(l, node, inst->operands, offset, periodic);
}

/* Does the inst only activate the visited cell, which is active already, like its leaf? */
static bool is_of_visited_cell(const RowQueries *q, const Change *change) {
  static const int32_t origin[SNODE_MAX_AXES] = {0};
  bool is_visited_level =
      q->sparse == q->l->shape.node_level || q->sparse == snode_sparse_level(q->l->shape.cells);
  return is_visited_level && change->is_relative && is_same_offset(change->offset, origin);
}

static void add_change(RowQueries *q, const Change *change) {
  if (!is_of_visited_cell(q, change)) vec_push(q->l->kernel->scratch, &q->changes, *change);
}

/* Finds the insts that may activate a cell of the sparse level other than the visited one. */
static void find_changes(RowQueries *q) {
  const Leaf *l = q->l;
  int32_t periodic;
  q->changes.count = 0;
  for (int i = 0; i < l->effects->accesses.count; i++) {
    const EffectAccess *access = &l->effects->accesses.items[i];
    if (!effects_access_activates(l->effects, access, q->sparse)) continue;
    const SNode *node = l->kernel->fields.items[access->field].node;
    Change change = {.inst = access->inst};
    change.is_relative =
        !access->place->is_called && access->place->index &&
        leaf_find_offset(l, node, access->place->inst->operands, change.offset, &periodic) &&
        !periodic;
    add_change(q, &change);
  }
  for (int i = 0; i < l->effects->calls.count; i++) {
    const EffectCall *call = &l->effects->calls.items[i];
    if (!call->changes || call->tree != l->kernel->levels.items[q->query->level].tree) continue;
    Change change = {.inst = call->inst};
    change.is_relative = !call->is_called && call->op == IR_ACTIVATE &&
                         find_offset_of_call(l, call->inst, call->node, change.offset, &periodic) &&
                         !periodic;
    add_change(q, &change);
  }
}

static bool runs_before(const Leaf *l, const IrInst *change, const IrInst *query) {
  const IrRegion *row = l->row->regions[0];
  for (const IrInst *inst = row->first; inst; inst = ir_following(inst, row))
    if (inst == change || inst == query) return inst == change || ir_is_repeated(query, row);
  return true;
}

/* May the cell at the offset have been activated by the iteration? A bit belongs to one cell; but a
 * leaf becomes active with any of its cells. */
static bool may_have_changed(const RowQueries *q, const int32_t *offset) {
  for (int i = 0; i < q->changes.count; i++) {
    const Change *change = &q->changes.items[i];
    if (!change->is_relative || !snode_has_bits(q->sparse) || q->periodic) return true;
    if (is_same_offset(change->offset, offset) && runs_before(q->l, change->inst, q->query))
      return true;
  }
  return false;
}

/* Does one word hold the bits of a row, the first cell's in the lowest bit? */
static bool has_word_per_row(const Leaf *l, const SNode *sparse) {
  int last = l->shape.axis_count - 1;
  if (l->shape.extent[last] > WORD_BITS) return false;
  if (sparse == l->shape.node_level) return true;
  const SNode *cells = l->shape.cells;
  return snode_has_bits(sparse) && leaf_shape_holds(&l->shape, sparse) &&
         sparse->axes[sparse->axis_count - 1] == cells->level_axes[l->shape.index[last]] &&
         sparse->sizes[sparse->axis_count - 1] == l->shape.extent[last];
}

/* -- words ------------------------------------------------------------------------------------- */

static IrInst *find_word(const RowQueries *q, const RowWords *rows, const int32_t *offset,
                         int32_t periodic) {
  for (int i = 0; i < rows->count; i++) {
    const RowWord *row = &rows->items[i];
    if (row->sparse == q->sparse && row->periodic == periodic &&
        is_same_offset(row->offset, offset))
      return row->word;
  }
  return NULL;
}

static void add_row(RowQueries *q, RowWords *rows, const int32_t *offset, int32_t periodic,
                    IrInst *word) {
  DEBUG_ASSERT(!find_word(q, rows, offset, periodic), "a word is made once");
  RowWord row = {.sparse = q->sparse, .periodic = periodic, .word = word};
  memcpy(row.offset, offset, sizeof row.offset);
  vec_push(q->l->kernel->scratch, rows, row);
}

/* Is the cell at the offset along a grid's axis in the next leaf? */
static IrInst *crosses_leaf(const Leaf *l, IrBuilder *b, int axis, int32_t offset) {
  DEBUG_ASSERT(offset && axis < l->shape.axis_count - 1, "an axis of the grid is crossed");
  int32_t limit = offset < 0 ? -offset : l->shape.extent[axis] - offset;
  return ir_binary_const(b, offset < 0 ? IR_LT : IR_GE, leaf_position(l, axis), limit);
}

/* A word of all ones if the leaf is active, else 0. Tests the leaf's first cell. */
static IrInst *word_of_leaf(RowQueries *q, const int32_t *nodes) {
  Leaf *l = q->l;
  int32_t periodic = leaf_crossed(nodes, q->periodic);
  IrInst *word = find_word(q, &q->leaves, nodes, periodic);
  if (word) return word;
  IrBuilder b = rewrite_before(l->kernel, l->cells);
  IrInst *index[SNODE_MAX_AXES];
  for (int axis = 0; axis < l->shape.axis_count; axis++) {
    int k = l->shape.index[axis], c = l->shape.coordinate[axis];
    int64_t distance = c < 0 ? 0 : (int64_t)nodes[c] * l->shape.extent[axis];
    index[k] = ir_i64(&b, distance);
    if (c >= 0) index[k] = ir_binary(&b, IR_ADD, l->leaves->params.items[1 + c], index[k]);
    if (c >= 0 && periodic >> c & 1)
      index[k] = ir_binary_const(&b, IR_MOD, index[k], snode_extent(l->shape.cells, k));
  }
  IrInst *is_active = ir_emit(&b, IR_IS_ACTIVE, TYPE(BOOL), l->shape.cells->rank, index);
  is_active->level = l->task->cells_level;
  IrInst *all = ir_const_int(&b, TYPE(U64), -1), *none = ir_const_int(&b, TYPE(U64), 0);
  word = ir_select(&b, is_active, all, none);
  add_row(q, &q->leaves, nodes, periodic, word);
  return word;
}

/* The cursor of the leaf at `nodes`, or its word; if a grid's axis may be crossed, selects one of
 * two leaves by the position. */
static IrInst *choose_leaf(RowQueries *q, IrBuilder *b, const int32_t *offset, int32_t *nodes,
                           int axis) {
  const Leaf *l = q->l;
  if (axis == l->shape.axis_count - 1)
    return snode_has_bits(q->sparse) ? leaf_cursor_at(q->l, l->task->level, nodes, q->periodic)
                                     : word_of_leaf(q, nodes);
  IrInst *same = choose_leaf(q, b, offset, nodes, axis + 1);
  if (!offset[axis]) return same;
  int32_t *node = &nodes[l->shape.coordinate[axis]];
  *node = offset[axis] < 0 ? -1 : 1;
  IrInst *other = choose_leaf(q, b, offset, nodes, axis + 1);
  *node = 0;
  return ir_select(b, crosses_leaf(l, b, axis, offset[axis]), other, same);
}

/* Position + offset along a grid's axis, as a position in the leaf that holds the cell. */
static IrInst *wrapped_position(const Leaf *l, IrBuilder *b, int axis, int32_t offset) {
  IrInst *position = leaf_position(l, axis);
  if (!offset) return position;
  int32_t extent = l->shape.extent[axis];
  int32_t back = offset < 0 ? offset + extent : offset - extent;
  IrInst *here = ir_binary_const(b, IR_ADD, position, offset),
         *there = ir_binary_const(b, IR_ADD, position, back);
  return ir_select(b, crosses_leaf(l, b, axis, offset), there, here);
}

static IrInst *read_word(RowQueries *q, IrBuilder *b, const int32_t *offset, int along) {
  const Leaf *l = q->l;
  int32_t nodes[SNODE_MAX_AXES] = {0};
  int last = l->shape.axis_count - 1;
  if (along) nodes[l->shape.coordinate[last]] = along;
  IrInst *found = choose_leaf(q, b, offset, nodes, 0), *positions[SNODE_MAX_AXES];
  if (!snode_has_bits(q->sparse)) return found;
  for (int axis = 0; axis < last; axis++)
    positions[axis] = wrapped_position(l, b, axis, offset[axis]);
  return leaf_row_bits(l, b, q->sparse, found, positions);
}

/* The bits of the row at the offset along the grid's axes, in the leaf that is `along` nodes
 * further along the row. */
static IrInst *word_at(RowQueries *q, IrBuilder *b, const int32_t *offset, int along) {
  int32_t at[SNODE_MAX_AXES];
  memcpy(at, offset, sizeof at);
  at[q->l->shape.axis_count - 1] = along;
  IrInst *word = find_word(q, &q->pieces, at, q->periodic);
  if (!word) add_row(q, &q->pieces, at, q->periodic, word = read_word(q, b, offset, along));
  return word;
}

static IrInst *shift(IrBuilder *b, IrOp op, IrInst *word, int count) {
  DEBUG_ASSERT(count >= 0 && count <= WORD_BITS, "bits are shifted within a word");
  return count == WORD_BITS ? ir_const_int(b, TYPE(U64), 0) : ir_binary_const(b, op, word, count);
}

static IrInst *make_word(RowQueries *q, IrBuilder *b, const int32_t *offset) {
  DEBUG_ASSERT(has_word_per_row(q->l, q->sparse), "one word holds the bits of a row");
  int last = q->l->shape.axis_count - 1, cells = q->l->shape.extent[last], along = offset[last];
  IrInst *same = word_at(q, b, offset, 0);
  if (!along) return same;
  IrInst *other = word_at(q, b, offset, along < 0 ? -1 : 1);
  int far = along < 0 ? -along : along;
  if (snode_has_bits(q->sparse) || cells == WORD_BITS)
    return ir_binary(b, IR_BOR, shift(b, along < 0 ? IR_SHL : IR_SHR, same, far),
                     shift(b, along < 0 ? IR_SHR : IR_SHL, other, cells - far));
  /* words of whole leaves are all ones: their bits past the row are set, too, so they are masked */
  int64_t edge = (int64_t)(((uint64_t)1 << far) - 1);
  if (along > 0) edge = (int64_t)((uint64_t)edge << (cells - far));
  return ir_binary(b, IR_BOR, ir_binary_const(b, IR_BAND, same, ~edge),
                   ir_binary_const(b, IR_BAND, other, edge));
}

/* The builder for words: inside an IF for masked rows, because only rows that have an active cell
 * need them. */
static IrBuilder builder_of_words(RowQueries *q) {
  Leaf *l = q->l;
  IrBuilder b = rewrite_before(l->kernel, l->row);
  if (!l->masked) return b;
  if (!q->if_any) {
    IrInst *bits = l->row->operands[l->row->operand_count - 1];
    q->if_any = ir_if(&b, ir_binary_const(&b, IR_NE, bits, 0));
    if (!l->grid) l->cells = q->if_any;
  }
  return rewrite_inside(l->kernel, q->if_any->regions[0], l->row);
}

static IrInst *bring_out(RowQueries *q, IrBuilder *b, IrInst *word) {
  Leaf *l = q->l;
  if (!q->if_any) return word;
  IrBuilder before = rewrite_before(l->kernel, q->if_any),
            after = rewrite_before(l->kernel, l->row);
  IrInst *var = ir_var(&before, word->type);
  ir_set(b, var, word);
  return ir_get(&after, var);
}

/* The word, computed before the row, whose bit at a cell's position is the result of the query. */
static IrInst *word_of_query(RowQueries *q, const int32_t *offset) {
  const Leaf *l = q->l;
  IrInst *word = find_word(q, &q->rows, offset, q->periodic);
  if (word) return word;
  IrBuilder b = builder_of_words(q);
  word = make_word(q, &b, offset);
  if (l->shape.extent[l->shape.axis_count - 1] <= NARROW_BITS)
    word = ir_convert(&b, word, TYPE(U32));
  word = bring_out(q, &b, word);
  add_row(q, &q->rows, offset, q->periodic, word);
  return word;
}

/* -- replacing the query ----------------------------------------------------------------------- */

static void replace_query(RowQueries *q, IrInst *inst, const int32_t *offset) {
  DEBUG_ASSERT(inst->op == IR_IS_ACTIVE, "the query is whether a cell is active");
  Leaf *l = q->l;
  IrInst *word = word_of_query(q, offset);
  if (!q->bit) {
    IrBuilder top = rewrite_first(l->kernel, l->row->regions[0], NULL);
    IrInst *position = ir_convert(&top, leaf_position(l, l->shape.axis_count - 1), word->type);
    q->bit = ir_binary(&top, IR_SHL, ir_const_int(&top, word->type, 1), position);
  }
  IrBuilder b = rewrite_before(l->kernel, inst);
  IrInst *zero = ir_const_int(&b, word->type, 0);
  rewrite_become(l->kernel, inst, IR_NE, 2,
                 (IrInst *[]){ir_binary(&b, IR_BAND, word, q->bit), zero});
  const char *name = l->kernel->levels.items[inst->level].name;
  ir_note(l->kernel, inst->line, "tests whether cells of '%s' are active: %s",
          name && name[0] ? name : "an SNode",
          snode_has_bits(q->sparse) ? "bits of mask words, read once per row"
                                    : "looked up once per neighbouring leaf");
}

void leaf_query_words(Leaf *l) {
  RowQueries q = {.l = l};
  if (!l->caches || l->deactivates || snode_has_lists(l->shape.node_level)) return;
  for (int i = 0; i < l->effects->calls.count; i++) {
    const EffectCall *call = &l->effects->calls.items[i];
    int32_t offset[SNODE_MAX_AXES] = {0};
    if (call->op != IR_IS_ACTIVE || call->is_called || !call->node) continue;
    q.query = call->inst;
    q.sparse = snode_sparse_level(call->node);
    if (!q.sparse || q.sparse->tree != l->shape.cells->tree || !has_word_per_row(l, q.sparse) ||
        !find_offset_of_call(l, call->inst, call->node, offset, &q.periodic) ||
        !leaf_may_look_near(l, offset))
      continue;
    find_changes(&q);
    if (!may_have_changed(&q, offset)) replace_query(&q, call->inst, offset);
  }
}
