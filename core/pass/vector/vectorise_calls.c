/* vectorise_calls.c - calls of the runtime in a body in lanes. An entry that has a form in lanes
 * (HAS_LANES in llvm_bc/entry.def) is called once for all; others are called lane by lane, except
 * where one call serves all lanes:
 *
 *     %n: ptr = call rt_slot_find t0 %slots     =>     %n: ptrx8 = lanes.call rt_slot_find t0
 *                                                                  %slots, %mask
 *
 * Look-ups of a hash's cells: variables that keep their values from one iteration to the next save
 * calls of the runtime, in two ways.
 *
 * A look-up that `repeats` is skipped while all active lanes need the cells of the last one, as in
 * loops over leaves that also read a coarser or a finer grid: half of the cells of a leaf, and its
 * next row, are in the same leaves of that grid. The look-ups of one hash share their variables.
 *
 *     %c: ptrx8 = lanes.call rt_hash_find      same = %mask, where %found and %x equals %last
 *         repeats %root, %x, %mask        =>   if %mask has other lanes than `same` {
 *                                                set %cells, (lanes.call rt_hash_find %root, %x ..)
 *                                                set %last, %x;  set %found, %mask
 *                                              }
 *                                              %c = get %cells
 *
 * A prefetch (rt_hash_ahead) passes the cells that it finds to the look-up RT_AHEAD iterations
 * later, which is skipped if it needs exactly these cells. Decision D-pass-13. */
#include "pass/rewrite.h"
#include "pass/vector/vectorise.h"

/* A look-up that is being written: its coordinates, and the active lanes; NULL: it is one look-up,
 * the same in all lanes. */
typedef struct Lookup {
  const IrInst *call;
  IrInst *at[RT_MAX_AXES], *mask;
  int axis_count;
} Lookup;

static Lookup lookup_of(Vectoriser *v, const IrInst *call, bool is_uniform) {
  Lookup l = {.call = call, .axis_count = call->operand_count - 1};
  ASSERT(l.axis_count > 0 && l.axis_count <= RT_MAX_AXES, "a node, then its coordinates");
  for (int k = 0; k < l.axis_count; k++)
    l.at[k] = is_uniform ? vectorise_scalar(v, call->operands[k + 1])
                         : vectorise_lanes(v, call->operands[k + 1]);
  l.mask = is_uniform ? NULL : v->mask;
  return l;
}

static Type type_of(const Vectoriser *v, const Lookup *l, Type type) {
  return l->mask ? ir_lanes_type(type, v->width) : type;
}

/* -- kept cells -------------------------------------------------------------------------------- */

/* A variable of the whole task, which is zero at first. */
static IrInst *persistent_variable(Vectoriser *v, Type type) {
  IrBuilder b = rewrite_first(v->kernel, v->to, NULL);
  IrInst *variable = ir_var(&b, type);
  variable->persists = true;
  return variable;
}

static KeptCells create_kept(Vectoriser *v, const Lookup *l) {
  KeptCells kept = {.tree = l->call->tree,
                    .manager = l->call->imm,
                    .axis_count = l->axis_count,
                    .in_lanes = l->mask != NULL,
                    .ensures = l->call->entry == RT_HASH_ENSURE};
  kept.cells = persistent_variable(v, type_of(v, l, TYPE(PTR)));
  kept.found = persistent_variable(v, l->mask ? TYPE(U64) : TYPE(BOOL));
  for (int k = 0; k < l->axis_count; k++)
    kept.at[k] = persistent_variable(v, type_of(v, l, TYPE(I64)));
  return kept;
}

static bool is_same_hash(const KeptCells *kept, const IrInst *call, bool in_lanes) {
  return kept->tree == call->tree && kept->manager == call->imm &&
         kept->axis_count == call->operand_count - 1 && kept->in_lanes == in_lanes;
}

/* Does an active lane need a cell that is not kept? */
static IrInst *is_missing(Vectoriser *v, const Lookup *l, const KeptCells *kept) {
  IrInst *found = ir_get(&v->b, kept->found), *same = l->mask ? l->mask : found;
  for (int k = 0; k < l->axis_count; k++) {
    IrInst *equal = ir_binary(&v->b, IR_EQ, l->at[k], ir_get(&v->b, kept->at[k]));
    same = ir_binary(&v->b, l->mask ? IR_MASK_AND : IR_BAND, same, equal);
  }
  if (!l->mask) return ir_unary(&v->b, IR_BNOT, same);
  same = ir_binary(&v->b, IR_BAND, ir_unary(&v->b, IR_MASK_BITS, same), found);
  IrInst *others = ir_unary(&v->b, IR_BNOT, same);
  IrInst *missing = ir_binary(&v->b, IR_BAND, ir_unary(&v->b, IR_MASK_BITS, l->mask), others);
  return ir_binary_const(&v->b, IR_NE, missing, 0);
}

/* Sets a variable in the active lanes, since what others compute may be undefined. */
static void set_active(Vectoriser *v, const Lookup *l, IrInst *variable, IrInst *value) {
  if (l->mask) value = ir_select(&v->b, l->mask, value, ir_get(&v->b, variable));
  ir_set(&v->b, variable, value);
}

static void keep_cells(Vectoriser *v, const Lookup *l, const KeptCells *kept, IrInst *cells) {
  set_active(v, l, kept->cells, cells);
  for (int k = 0; k < l->axis_count; k++) set_active(v, l, kept->at[k], l->at[k]);
  ir_set(&v->b, kept->found,
         l->mask ? ir_unary(&v->b, IR_MASK_BITS, l->mask) : ir_const_int(&v->b, TYPE(BOOL), true));
}

/* -- look-ups ---------------------------------------------------------------------------------- */

/* The same result in all lanes of a look-up in lanes. */
static IrInst *ambient_node(Vectoriser *v, const Lookup *l) {
  IrInst *one = ir_emit(&v->b, IR_AMBIENT, TYPE(PTR), 0, NULL);
  return l->mask ? ir_splat(&v->b, one, v->width) : one;
}

/* Calls the runtime for the cells, also where the look-up asks only whether they exist. */
static IrInst *call_find(Vectoriser *v, const Lookup *l) {
  const IrInst *call = l->call;
  RtEntry entry = call->entry == RT_HASH_LIVE ? RT_HASH_FIND : (RtEntry)call->entry;
  IrInst *operands[RT_MAX_AXES + 2] = {l->mask ? vectorise_shared(v, call->operands[0])
                                               : vectorise_scalar(v, call->operands[0])};
  for (int k = 1; k <= l->axis_count; k++)
    operands[k] = l->mask ? vectorise_shared(v, call->operands[k]) : l->at[k - 1];
  operands[l->axis_count + 1] = l->mask;
  IrInst *cells = ir_emit(&v->b, l->mask ? IR_LANES_CALL : IR_CALL, type_of(v, l, TYPE(PTR)),
                          call->operand_count + (l->mask != NULL), operands);
  ir_set_callee(cells, entry, call->tree, (int)call->imm);
  cells->stable_cell = call->stable_cell;
  return cells;
}

/* The result of the call, from the cells in `variable`. */
static void write_result(Vectoriser *v, const Lookup *l, IrInst *variable) {
  IrInst *cells = ir_get(&v->b, variable);
  if (l->call->entry == RT_HASH_LIVE) cells = ir_binary(&v->b, IR_NE, cells, ambient_node(v, l));
  else if (l->mask) cells = ir_select(&v->b, l->mask, cells, ambient_node(v, l));
  ir_map_put(l->mask ? v->lanes : v->scalar, l->call, cells);
}

/* Calls the runtime if a cell is not kept, and `keeps` what it finds for the next iteration. */
static void find_unless_kept(Vectoriser *v, const Lookup *l, const KeptCells *kept, bool keeps) {
  IrInst *cells = keeps ? kept->cells : ir_var(&v->b, kept->cells->type);
  if (!keeps) ir_set(&v->b, cells, ir_get(&v->b, kept->cells));
  VectorScope scope = vectorise_enter_if(v, is_missing(v, l, kept));
  IrInst *found = call_find(v, l);
  if (keeps) keep_cells(v, l, kept, found);
  else ir_set(&v->b, cells, found);
  vectorise_end(v, scope);
  write_result(v, l, cells);
}

static void find_unless_repeated(Vectoriser *v, const Lookup *l) {
  const KeptCells *kept = NULL;
  for (int i = 0; i < v->repeated.count && !kept; i++) {
    const KeptCells *other = &v->repeated.items[i];
    if (is_same_hash(other, l->call, l->mask != NULL) &&
        other->ensures == (l->call->entry == RT_HASH_ENSURE))
      kept = other;
  }
  if (!kept) {
    vec_push(v->scratch, &v->repeated, create_kept(v, l));
    kept = &vec_last(&v->repeated);
  }
  find_unless_kept(v, l, kept, true);
}

/* -- prefetches -------------------------------------------------------------------------------- */

static void copy_kept_cells(Vectoriser *v, const KeptCells *to, const KeptCells *from) {
  ir_set(&v->b, to->cells, ir_get(&v->b, from->cells));
  ir_set(&v->b, to->found, ir_get(&v->b, from->found));
  for (int k = 0; k < to->axis_count; k++) ir_set(&v->b, to->at[k], ir_get(&v->b, from->at[k]));
}

/* The cells found by a prefetch are used so many vectors later; 0: they are not kept. */
static int vectors_ahead(const Vectoriser *v) {
  int vectors = RT_AHEAD % v->width ? 0 : RT_AHEAD / v->width;
  return vectors <= VECTORISE_MOST_AHEAD ? vectors : 0;
}

/* Keeps what a prefetch has found, and passes on what earlier ones did, by age. */
static void write_prefetch(Vectoriser *v, const Lookup *l) {
  IrInst *cells = call_find(v, l);
  ir_map_put(v->lanes, l->call, cells);
  KeptCells *by_age = v->prefetched;
  int vectors = vectors_ahead(v);
  if (!vectors) return;
  for (int age = 0; age <= vectors; age++) by_age[age] = create_kept(v, l);
  for (int age = vectors; age > 0; age--) copy_kept_cells(v, &by_age[age], &by_age[age - 1]);
  keep_cells(v, l, &by_age[0], cells);
}

/* Writes a look-up of which earlier iterations may have found the cells; false: they have not. */
static bool write_lookup(Vectoriser *v, const IrInst *call, bool is_uniform) {
  const KeptCells *kept = &v->prefetched[vectors_ahead(v)];
  bool finds =
      !is_uniform && call->entry == RT_HASH_FIND && kept->cells && is_same_hash(kept, call, true);
  bool prefetches = !is_uniform && call->entry == RT_HASH_AHEAD;
  if (!call->reuses_cell && !prefetches && !finds) return false;
  const Lookup l = lookup_of(v, call, is_uniform && ir_effects(call) & IR_READ);
  if (call->reuses_cell) find_unless_repeated(v, &l);
  else if (prefetches) write_prefetch(v, &l);
  else find_unless_kept(v, &l, kept, false);
  return true;
}

/* -- calls ------------------------------------------------------------------------------------- */

/* One call for all lanes, if any is active. */
static void write_once(Vectoriser *v, const IrInst *call) {
  VectorScope scope = vectorise_enter_if(v, ir_unary(&v->b, IR_MASK_ANY, v->mask));
  vectorise_copy_scalar(v, call);
  vectorise_end(v, scope);
}

static void write_lanes(Vectoriser *v, const IrInst *call) {
  int count = call->operand_count;
  IrInst **operands = scratch_array(v->scratch, IrInst *, count + 1);
  for (int i = 0; i < count; i++) operands[i] = vectorise_shared(v, call->operands[i]);
  operands[count] = v->mask;
  Type type = type_is_none(call->type) ? call->type : ir_lanes_type(call->type, v->width);
  IrInst *lanes = ir_emit(&v->b, IR_LANES_CALL, type, count + 1, operands);
  ir_set_callee(lanes, (RtEntry)call->entry, call->tree, (int)call->imm);
  lanes->stable_cell = call->stable_cell;
  ir_map_put(v->lanes, call, lanes);
}

/* Slots are gathered, so a single one has no form in lanes. */
static bool has_lanes(const IrInst *call, bool is_uniform) {
  return ir_entries[call->entry].flags & IR_HAS_LANES &&
         !(is_uniform && call->entry == RT_SLOT_ENSURE);
}

void vectorise_call(Vectoriser *v, const IrInst *call) {
  bool is_uniform = ir_lanes_are_uniform(v->facts, call), has_result = !type_is_none(call->type);
  int effects = ir_effects(call);
  if (write_lookup(v, call, is_uniform)) return;
  if (is_uniform && has_result && effects & IR_READ) vectorise_copy_scalar(v, call);
  else if (is_uniform && !has_result && effects & IR_TOPOLOGY) write_once(v, call);
  else if (has_lanes(call, is_uniform)) write_lanes(v, call);
  else vectorise_each(v, call);
}
