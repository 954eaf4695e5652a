/* lower_places.c - address lowering: turns accesses of places into ops on addresses. No other pass
 * knows offsets, strides, slots and managers.
 *
 *   %v = load place f0 %i      if inside %i { walk; %x = mem.load; set } ; get     (outside: zero)
 *   store place f0 %i, %v      if inside %i { walk, ensuring; mem.store } else { outside }
 *
 * Reads look up slots and get the ambient's zeros if a node is absent; writes ensure nodes. A place
 * marked `inside` needs no `if`. Cells of leaves and cursors of neighbours are in cells.c; the
 * access to a cell of each kind is in kind.h. Dense cells are active if those of the nearest sparse
 * level are, and always if there is none. Keeps the order of insts, and leaves LOW ops only. */
#include "pass/address/lower_places.h"

#include "pass/address/codec.h"
#include "pass/packed/packed.h"
#include "pass/analysis/ranges.h"

#include "ir/attribute.h"

/* -- the op on memory -------------------------------------------------------------------------- */

static IrInst *load_memory(IrBuilder *b, IrInst *address, Type type, int alias) {
  IrInst *load = ir_mem_load(b, type, address);
  load->alias = alias;
  return load;
}

static const IrField *field_of(const IrKernel *kernel, const IrInst *access) {
  return &kernel->fields.items[access->operands[0]->field];
}

/* What the access stores, as the element is stored. */
static IrInst *encoded_value(IrKernel *kernel, IrInst *store) {
  IrBuilder b = rewrite_before(kernel, store);
  return codec_encode(&b, field_of(kernel, store)->type, store->operands[1]);
}

static void become_store(IrKernel *kernel, IrInst *inst, IrInst *address, IrInst *value) {
  rewrite_become(kernel, inst, IR_MEM_STORE, 2, (IrInst *[]){address, value});
}

/* The alias number of the element; 0 for arrays that may overlap others. */
static int alias_of(const IrKernel *kernel, const IrInst *place) {
  return ir_is_shared(kernel, place->field) ? 0 : place->field + 1;
}

static void become_update(IrKernel *kernel, IrInst *inst, IrInst *address) {
  IrUpdate op = (IrUpdate)inst->imm;
  IrInst *value = inst->operands[1];
  int alias = alias_of(kernel, inst->operands[0]);
  bool is_plain = inst->nonatomic, is_private = inst->private_copy;
  if (!is_plain || is_private) {
    rewrite_become(kernel, inst, IR_MEM_UPDATE, 2, (IrInst *[]){address, value});
    inst->imm = op;
    inst->nonatomic = is_plain;
    return;
  }
  IrBuilder b = rewrite_before(kernel, inst);
  IrInst *old = load_memory(&b, address, value->type, alias);
  old->whole = inst->whole;
  become_store(kernel, inst, address, rewrite_update_value(&b, op, old, value));
}

void places_access_memory(IrKernel *kernel, IrInst *inst, IrInst *address) {
  IrInst **operands = inst->operands;
  int64_t op = inst->imm;
  int alias = alias_of(kernel, operands[0]);
  bool is_relaxed = inst->relaxed, is_whole = inst->whole;
  switch (inst->op) {
  case IR_LOAD:
    ASSERT(type_equal(inst->type, field_of(kernel, inst)->type), "a codec has opened the load");
    rewrite_become(kernel, inst, IR_MEM_LOAD, 1, &address);
    break;
  case IR_STORE: become_store(kernel, inst, address, encoded_value(kernel, inst)); break;
  case IR_UPDATE: become_update(kernel, inst, address); break;
  case IR_RMW:
    rewrite_become(kernel, inst, IR_MEM_RMW, 2, (IrInst *[]){address, operands[1]});
    inst->imm = op;
    break;
  default:
    rewrite_become(kernel, inst, IR_MEM_CAS, 3, (IrInst *[]){address, operands[1], operands[2]});
  }
  inst->alias = alias;
  inst->relaxed = is_relaxed;
  inst->whole = is_whole && (inst->op == IR_MEM_LOAD || inst->op == IR_MEM_STORE);
  inst->uncounted = false;
}

/* -- accesses of places ------------------------------------------------------------------------ */

void places_keep_active(Lower *l, const Address *a, IrInst *inst) {
  if (!l->clears[a->tree]) return;
  IrBuilder b = rewrite_after(l->kernel, inst);
  /* innermost first: clearing an outer one also clears inner bits */
  for (int k = a->mask_count - 1; k >= 0; k--)
    ir_call(&b, RT_MASK_KEEP, 0, 0, 2, (IrInst *[]){a->masks[k].words, a->masks[k].cell});
}

IrInst *places_guard(Lower *l, IrInst *inst, IrInst *condition) {
  IrBuilder b = rewrite_before(l->kernel, inst);
  IrInst *branch = ir_if(&b, condition);
  ir_move_into(branch->regions[0], inst);
  return branch;
}

void places_bring_out(Lower *l, IrInst *branch, IrInst *inst) {
  DEBUG_ASSERT(inst->region == branch->regions[0], "the inst is in the arm that is taken");
  IrInst *copy = ir_copy_alone(l->kernel, inst);
  IrBuilder before = rewrite_before(l->kernel, branch);
  IrInst *var = ir_var(&before, inst->type);
  ir_insert_before(inst, copy);
  ir_remove(inst);
  IrBuilder arm = rewrite_inside(l->kernel, branch->regions[0], copy);
  ir_set(&arm, var, copy);
  rewrite_become(l->kernel, inst, IR_GET, 1, &var); /* its users read the variable */
  ir_insert_after(branch, inst);
}

/* Are launch arguments read from slots of the frame? */
static bool has_frame(const Lower *l) { return l->task || l->is_called; }

IrInst *places_element(const Lower *l, Address *a, const IrField *field) {
  IrInst *place = NULL;
  if (field->place) { /* argument k is slot k */
    place = ir_emit(a->b, has_frame(l) ? IR_FRAME_GET : IR_ARG, TYPE(I64), 0, NULL);
    place->imm = field->place - 1;
  }
  return address_element(a, field, place);
}

/* The address in the node that the task visits: positions are indices minus those of its first
 * cell. */
static IrInst *address_here(Lower *l, IrBuilder *b, const IrInst *place) {
  ASSERT(l->cursor && l->task->kind == TASK_NODES, "the task visits nodes");
  const IrField *field = &l->kernel->fields.items[place->field];
  const SNode *node_level = l->kernel->levels.items[l->task->level].node;
  Address a = address_in_node(b, field->tree, node_level, l->cursor, field->node);
  for (int k = 0; k < field->node->rank; k++) {
    IrInst *index = place->operands[k];
    IndexRange range = ranges_of(index);
    if (range.low == range.high) {
      a.index[k].constant = range.low;
      continue;
    }
    IrInst *base = range.base ? ir_convert(b, (IrInst *)range.base, index->type) : NULL;
    a.index[k].value = ir_convert(b, base ? ir_binary(b, IR_SUB, index, base) : index, TYPE(I64));
  }
  return places_element(l, &a, field);
}

/* Reports a write outside the shape, with the index as the user counts: plus the field's offset, in
 * the type in which it is computed. */
static void count_outside(Lower *l, IrRegion *region, const IrInst *inst, const IrInst *place) {
  const IrField *field = &l->kernel->fields.items[place->field];
  IrBuilder b = rewrite_inside(l->kernel, region, inst);
  IrInst *operands[2 + SNODE_MAX_AXES];
  if (field->array >= 0 && l->kernel->arrays.items[field->array].is_counted) {
    operands[0] = ir_i32(&b, inst->line > 0 ? inst->line : 0);
    ir_call(&b, RT_ARRAY_OUTSIDE, 0, 0, 1, operands);
    return;
  }
  int axes = place->operand_count, of = place->packed ? place->packed - 1 : place->field;
  operands[0] = ir_i32(&b, ir_add_site(l->kernel, of, inst->line, false));
  operands[1] = ir_i32(&b, axes);
  for (int k = 0; k < axes; k++) {
    IrInst *index = packed_first_index(&b, place, k);
    if (field->offset && field->offset[k])
      index = ir_binary_const(&b, IR_ADD, index, field->offset[k]);
    operands[2 + k] = ir_convert(&b, index, TYPE(I64));
  }
  ir_call(&b, RT_OUTSIDE, 0, 0, 2 + axes, operands);
}

/* The bounds check of the place; NULL if it is always inside. */
static IrInst *is_inside(Lower *l, IrBuilder *b, const IrInst *place) {
  const IrField *field = &l->kernel->fields.items[place->field];
  if (field->array < 0) return address_inside(b, field->node, place->operands);
  return address_inside_array(b, has_frame(l), &l->kernel->arrays.items[field->array],
                              place->operands);
}

static void access_in_tree(Lower *l, IrBuilder *b, IrInst *inst, const IrField *field) {
  const IrInst *place = inst->operands[0];
  IrInst *shared = lookups_address(l, b, inst);
  if (shared) return places_access_memory(l->kernel, inst, shared);
  Address a = address_from_root(b, field->tree, field->node, place->operands);
  a.ensures = rewrite_is_write(inst->op) && !place->active;
  a.locks = a.ensures && snode_has_lists(field->node) && lists_need_lock(l, field->node);
  if (inst->private_copy) address_private(&a);
  IrInst *address = places_element(l, &a, field);
  places_keep_active(l, &a, inst);
  places_access_memory(l->kernel, inst, address);
  if (a.locks) lists_unlock(l, inst, a.list);
}

void places_lower_access(Lower *l, IrInst *inst) {
  if (inst->op == IR_LOAD) inst = codec_open(l->kernel, inst);
  const IrInst *place = inst->operands[0];
  IrBuilder b = rewrite_before(l->kernel, inst);
  if (place->in_visited_node && !inst->private_copy)
    return places_access_memory(l->kernel, inst, address_here(l, &b, place));
  IrInst *in_chunk = lists_chunk_address(l, &b, inst);
  if (in_chunk) return places_access_memory(l->kernel, inst, in_chunk);
  const IrField *field = &l->kernel->fields.items[place->field];
  IrInst *condition = place->in_bounds ? NULL : is_inside(l, &b, place);
  bool counts = (inst->op == IR_STORE || inst->op == IR_UPDATE) && !inst->uncounted,
       has_result = !type_is_none(inst->type);
  IrInst *branch = condition ? places_guard(l, inst, condition) : NULL;
  b = rewrite_before(l->kernel, inst);
  if (field->array >= 0)
    places_access_memory(
        l->kernel, inst,
        address_in_array(&b, has_frame(l), field, inst->private_copy, place->operands));
  else access_in_tree(l, &b, inst, field);
  if (!branch) return;
  if (has_result) places_bring_out(l, branch, inst);
  if (!counts) return;
  count_outside(l, branch->regions[1], inst, place);
}

/* -- activity ---------------------------------------------------------------------------------- */

static const SNode *sparse_of(const Lower *l, const IrInst *inst) {
  return snode_sparse_level(l->kernel->levels.items[inst->level].node);
}

/* Builds, before the inst, the operands of calls on its cell of the sparse level; returns their
 * count. */
static int name_cell(Lower *l, IrInst *inst, bool ensures, IrInst **operands) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  IrBuilder b = rewrite_before(l->kernel, inst);
  Address a = address_from_root(&b, level->tree, level->node, inst->operands);
  a.ensures = ensures;
  int count = address_name(&a, sparse_of(l, inst), operands);
  if (ensures) places_keep_active(l, &a, inst);
  return count;
}

static void become_call(Lower *l, IrInst *inst, RtEntry entry, int count, IrInst *const *operands) {
  int tree = l->kernel->levels.items[inst->level].tree;
  rewrite_become_call(l->kernel, inst, entry, tree, kind_number(sparse_of(l, inst)), count,
                      operands);
}

static void become_call_on_cell(Lower *l, IrInst *inst, RtEntry entry, bool ensures) {
  IrInst *operands[ADDRESS_MAX_NAME];
  int count = name_cell(l, inst, ensures, operands);
  become_call(l, inst, entry, count, operands);
}

static void lower_is_active(Lower *l, IrInst *inst) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  const SNode *sparse = sparse_of(l, inst);
  IrBuilder b = rewrite_before(l->kernel, inst);
  IrInst *condition = address_inside(&b, level->node, inst->operands);
  if (!sparse) { /* active everywhere inside the shape */
    IrInst *yes = ir_const_int(&b, TYPE(BOOL), 1);
    rewrite_become(l->kernel, inst, IR_BAND, 2, (IrInst *[]){condition ? condition : yes, yes});
    return;
  }
  IrInst *branch = condition ? places_guard(l, inst, condition) : NULL;
  become_call_on_cell(l, inst, kind_of(sparse)->live, false);
  if (branch) places_bring_out(l, branch, inst);
}

static void guard_inside(Lower *l, IrInst *inst) {
  IrBuilder b = rewrite_before(l->kernel, inst);
  IrInst *condition = address_inside(&b, l->kernel->levels.items[inst->level].node, inst->operands);
  if (condition) places_guard(l, inst, condition);
}

static void lower_activate(Lower *l, IrInst *inst) {
  const SNode *sparse = sparse_of(l, inst);
  if (!sparse) {
    ir_delete(inst);
    return;
  }
  guard_inside(l, inst);
  become_call_on_cell(l, inst, kind_of(sparse)->ensure, true);
}

/* Only cells of a sparse level itself can be deactivated. If an ancestor is absent, the walk leads
 * to the ambient, which must not be written: so tests first whether the cell exists. */
static void lower_deactivate(Lower *l, IrInst *inst) {
  const SNode *sparse = sparse_of(l, inst);
  IrInst *operands[ADDRESS_MAX_NAME];
  if (sparse != l->kernel->levels.items[inst->level].node) {
    ir_delete(inst);
    return;
  }
  guard_inside(l, inst);
  ASSERT(kind_of(sparse)->clear, "cells of the kind can be cleared one by one");
  int count = name_cell(l, inst, false, operands);
  if (!kind_of(sparse)->is_safe_to_clear) {
    IrBuilder b = rewrite_before(l->kernel, inst);
    places_guard(l, inst, ir_call(&b, kind_of(sparse)->live, 0, 0, count, operands));
  }
  become_call(l, inst, kind_of(sparse)->clear, count, operands);
}

static void lower_count(Lower *l, IrInst *inst) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  const SNode *sparse = sparse_of(l, inst);
  int64_t cells = 1; /* per cell of the sparse level, or in total */
  for (const SNode *at = level->node; at && at != sparse; at = at->parent)
    cells *= (int64_t)at->cell_count;
  IrBuilder b = rewrite_before(l->kernel, inst);
  IrInst *count = ir_i64(&b, 1);
  if (sparse)
    count = ir_call(&b, kind_of(sparse)->count, level->tree, kind_number(sparse), 0, NULL);
  rewrite_become(l->kernel, inst, IR_MUL, 2, (IrInst *[]){count, ir_i64(&b, cells)});
}

/* Every cell of a level is inactive once the nearest sparse level has no active cell. */
static void lower_clear(Lower *l, IrInst *inst) {
  const SNode *sparse = sparse_of(l, inst);
  if (sparse) become_call(l, inst, kind_of(sparse)->clear_all, 0, NULL);
  else ir_delete(inst);
}

/* -- the walk over the kernel ------------------------------------------------------------------ */

static void lower_region(Lower *l, IrRegion *region);

static void lower_row(Lower *l, IrInst *row) {
  DEBUG_ASSERT(l->task && l->task->kind == TASK_LEAVES, "rows are of leaves");
  Lower inside = *l;
  inside.row = row;
  inside.first_row =
      row->previous && row->previous->op == IR_ROW && l->first_row ? l->first_row : row;
  lower_region(&inside, row->regions[0]);
  l->first_row = inside.first_row;
}

static bool lower_by_kind(Lower *l, IrInst *inst) {
  if (!ir_has_level(inst->op)) return false;
  const Kind *kind = kind_of(l->kernel->levels.items[inst->level].node);
  return kind->lower && kind->lower(l, inst);
}

static void lower_inst(Lower *l, IrInst *inst) {
  if (lower_by_kind(l, inst)) return;
  switch (inst->op) {
  case IR_LOAD:
  case IR_STORE:
  case IR_UPDATE:
  case IR_RMW:
  case IR_CAS:
    if (inst->operands[0]->op == IR_CELL) cells_lower_access(l, inst);
    else places_lower_access(l, inst);
    return;
  case IR_CELL: cells_lower_cell(l, inst); return;
  case IR_NEIGHBOUR: cells_lower_near(l, inst); return;
  case IR_ENSURE: cells_lower_reach(l, inst); return;
  case IR_IS_ACTIVE: lower_is_active(l, inst); return;
  case IR_ACTIVATE: lower_activate(l, inst); return;
  case IR_DEACTIVATE: lower_deactivate(l, inst); return;
  case IR_COUNT: lower_count(l, inst); return;
  case IR_CLEAR: lower_clear(l, inst); return;
  case IR_ROW: lower_row(l, inst); return;
  case IR_FOR: lists_cache_chunks(l, inst); break;
  default: break;
  }
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) lower_region(l, inst->regions[i]);
}

/* Reads the next inst before lowering one, since insts emitted before it, or as an IF around it,
 * are already LOW. */
static void lower_region(Lower *l, IrRegion *region) {
  lookups_collect(l, region);
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    lower_inst(l, inst);
  }
}

static bool remove_place(void *data, IrInst *inst) {
  if (inst->op == IR_PLACE || inst->op == IR_CELL) ir_delete(inst);
  return true;
}

/* Adds the changes to masks, cells and lists that a task makes while its iterations run. */
static void add_survey(Lower *l, const Effects *effects) {
  for (int i = 0; effects && i < effects->calls.count; i++) {
    const EffectCall *call = &effects->calls.items[i];
    if (call->changes & EFFECT_DEACTIVATES && snode_has_bits(call->node))
      l->clears[call->tree] = true;
  }
  lists_survey(l, effects);
}

static void survey(Lower *l, const Effects *effects) {
  l->clears = scratch_array(l->kernel->scratch, bool, l->kernel->trees.count);
  map_init(&l->lists, l->kernel->scratch);
  add_survey(l, effects);
  lookups_survey(l, effects);
}

static void lower_function(Lower *l, IrRegion *region) {
  if (!region) return;
  l->cells = scratch_array(l->kernel->scratch, CellRow, l->kernel->next_id);
  l->row = l->first_row = NULL;
  l->group_ids = l->kernel->next_id;
  l->groups = scratch_array(l->kernel->scratch, AccessGroup *, 2 * l->group_ids);
  map_init(&l->walks, l->kernel->scratch);
  prefetch_places(l, region);
  lower_region(l, region);
  ir_walk(region, remove_place, NULL);
}

static bool has_here(const IrTask *task) {
  for (IrInst *inst = task->body->first; inst; inst = ir_following(inst, task->body))
    if (inst->in_visited_node) return true;
  return false;
}

static void lower_task(Lower *l, IrTask *task) {
  DEBUG_ASSERT(!task->cells, "`leaf` made leaves, nodes or words of loops over cells");
  l->task = task;
  survey(l, effects_of(l->ctx, l->kernel, task));
  if (task->kind != TASK_RANGE) {
    const IrLevel *level = &l->kernel->levels.items[task->level];
    task->tree = level->tree;
    task->manager = level->node->manager;
  }
  if (task->kind == TASK_LEAVES) leaf_shape_of_task(l->kernel, task, &l->shape);
  bool is_visited = task->kind == TASK_NODES && has_here(task);
  l->cursor = is_visited ? ir_region_param(l->kernel, task->body, TYPE(PTR)) : NULL;
  if (task->kind == TASK_NODES)
    for (int axis = 0; axis < task->axis_count; axis++) task->factors[axis] = 1;
  lower_function(l, task->body);
  lower_function(l, task->interior);
}

/* A function may run at the same time as any task. */
static void survey_all(Lower *l) {
  survey(l, NULL);
  for (int i = 0; i < l->kernel->tasks.count; i++)
    add_survey(l, effects_of(l->ctx, l->kernel, l->kernel->tasks.items[i]));
  for (int i = 0; i < l->kernel->functions.count; i++) {
    IrRegion *body = l->kernel->functions.items[i]->body;
    add_survey(l, effects_collect(l->kernel->scratch, l->kernel, body, NULL));
  }
}

/* Marks the task `wide` if that changes the number of threads. */
static void spread_wide(IrTask *task) {
  DEBUG_ASSERT(!task->extra_threads, "it is decided once");
  int usual = ir_leaf_threads(task);
  task->extra_threads = task->kind == TASK_LEAVES;
  task->extra_threads &= ir_leaf_threads(task) > usual;
}

bool pass_lower_places(PassContext *ctx, IrKernel *kernel, Error *err) {
  Lower l = {.ctx = ctx, .kernel = kernel};
  Lower called = l;
  called.is_called = true;
  if (kernel->functions.count) survey_all(&called);
  survey(&l, NULL);
  lower_function(&l, kernel->body);
  for (int i = 0; i < kernel->tasks.count; i++) lower_task(&l, kernel->tasks.items[i]);
  /* functions come last, since effects of their callers are computed from their unlowered bodies */
  for (int i = 0; i < kernel->functions.count; i++)
    lower_function(&called, kernel->functions.items[i]->body);
  for (int i = 0; i < kernel->tasks.count && ctx->wide_leaves; i++)
    spread_wide(kernel->tasks.items[i]);
  return true;
}
