/* places.c - places get addresses: the only pass that knows offsets, strides, slots and managers.
 *
 *   %v = load place f0 %i      if inside %i { walk; %x = mem.load; set } ; get      a read outside gives zero
 *   store place f0 %i, %v      if inside %i { walk, ensuring; mem.store } else { outside }
 *
 * Reads find slots and meet the ambient's zeros where a node is absent; writes ensure them. A place marked
 * `inside` needs no `if`. Cells of leaves and cursors of neighbours are cells.c's. Dense levels have no
 * activity of their own: the decider above them (snode_decider) has, and where none is above they are always active.
 * needs: everything before it     keeps: insts' order     leaves: LOW ops only */
#include "pass/places.h"

#include "pass/ranges.h"

#include "ir/attribute.h"
#include "pass/address.h"

/* -- the op on memory --------------------------------------------------------------------------------------------------- */

static IrInst *load_memory(IrBuilder *b, IrInst *address, Type type, int lanes, int alias) {
  IrInst *load = ir_emit(b, IR_MEM_LOAD, type, 1, &address);
  load->lanes = lanes;
  load->alias = alias;
  return load;
}

static void become_store(IrKernel *kernel, IrInst *inst, IrInst *address, IrInst *value, int lanes) {
  rewrite_become(kernel, inst, IR_MEM_STORE, 2, (IrInst *[]){address, value});
  inst->lanes = lanes;
}

static void become_update(IrKernel *kernel, IrInst *inst, IrInst *address, int lanes) {
  IrUpdate op = (IrUpdate)inst->imm;
  IrInst *value = inst->operands[1];
  int alias = inst->operands[0]->field + 1;
  if (!inst->plain) {
    rewrite_become(kernel, inst, IR_MEM_UPDATE, 2, (IrInst *[]){address, value});
    inst->imm = op;
    return;
  }
  IrBuilder b = rewrite_before(kernel, inst);
  IrInst *old = load_memory(&b, address, value->type, lanes, alias);
  become_store(kernel, inst, address, rewrite_update_value(&b, op, old, value), lanes);
}

void places_access_memory(IrKernel *kernel, IrInst *inst, IrInst *address, int lanes) {
  IrInst **operands = inst->operands;
  int64_t op = inst->imm;
  int alias = operands[0]->field + 1;
  switch (inst->op) {
  case IR_LOAD:
    rewrite_become(kernel, inst, IR_MEM_LOAD, 1, &address);
    inst->lanes = lanes;
    break;
  case IR_STORE: become_store(kernel, inst, address, operands[1], lanes); break;
  case IR_UPDATE: become_update(kernel, inst, address, lanes); break;
  case IR_RMW:
    rewrite_become(kernel, inst, IR_MEM_RMW, 2, (IrInst *[]){address, operands[1]});
    inst->imm = op;
    break;
  default: rewrite_become(kernel, inst, IR_MEM_CAS, 3, (IrInst *[]){address, operands[1], operands[2]});
  }
  inst->alias = alias;
}

/* -- accesses of places --------------------------------------------------------------------------------------------------- */

void places_keep_active(Lower *l, const Address *a, IrInst *inst) {
  if (!l->clears[a->tree]) return;
  IrBuilder b = {.kernel = l->kernel, .region = inst->region, .before = inst->next, .line = inst->line};
  for (int k = a->mask_count - 1; k >= 0; k--) /* the innermost first: an outer one's clearing takes inner bits along */
    ir_call(&b, RT_MASK_KEEP, 0, 0, 2, (IrInst *[]){a->masks[k].words, a->masks[k].cell});
}

IrInst *places_guard(Lower *l, IrInst *inst, IrInst *condition) {
  IrBuilder b = rewrite_before(l->kernel, inst);
  IrInst *branch = ir_if(&b, condition);
  ir_remove(inst);
  ir_region_append(branch->regions[0], inst);
  return branch;
}

void places_bring_out(Lower *l, IrInst *branch, IrInst *inst) {
  IrInst *copy = scratch_new(l->kernel->scratch, IrInst);
  *copy = *inst;
  copy->id = l->kernel->next_id++;
  IrBuilder before = rewrite_before(l->kernel, branch);
  IrInst *var = ir_var(&before, inst->type);
  ir_insert_before(inst, copy);
  ir_remove(inst);
  IrBuilder arm = rewrite_inside(l->kernel, branch->regions[0], copy);
  ir_set(&arm, var, copy);
  rewrite_become(l->kernel, inst, IR_GET, 1, &var); /* its users see the variable */
  if (branch->next) ir_insert_before(branch->next, inst);
  else ir_region_append(branch->region, inst);
}

/* In the node that the task visits: positions in it are indices less those of its first cell. */
static IrInst *address_here(Lower *l, IrBuilder *b, const IrInst *place) {
  const IrField *field = &l->kernel->fields.items[place->field];
  const SNode *listed = l->kernel->levels.items[l->task->level].node;
  Address a = address_in_node(b, field->tree, listed, l->cursor, field->node);
  for (int k = 0; k < field->node->rank; k++) {
    IrInst *index = place->operands[k];
    IndexRange range = ranges_of(index);
    if (range.low == range.high) a.index[k].constant = range.low;
    else a.index[k].value = ir_convert(b, range.base ? ir_binary(b, IR_SUB, index, (IrInst *)range.base) : index, TYPE(I64));
  }
  return address_element(&a, field->component);
}

static void lower_access(Lower *l, IrInst *inst) {
  const IrInst *place = inst->operands[0];
  IrBuilder b = rewrite_before(l->kernel, inst);
  if (place->here && !inst->own) return places_access_memory(l->kernel, inst, address_here(l, &b, place), 0);
  const SNode *node = l->kernel->fields.items[place->field].node;
  IrInst *condition = place->inside ? NULL : address_inside(&b, node, place->operands);
  bool counts = inst->op == IR_STORE || inst->op == IR_UPDATE, has_result = !type_is_none(inst->type);
  IrInst *branch = condition ? places_guard(l, inst, condition) : NULL;
  b = rewrite_before(l->kernel, inst);
  const IrField *field = &l->kernel->fields.items[place->field];
  Address a = address_from_root(&b, field->tree, field->node, place->operands);
  a.ensures = rewrite_is_write(inst->op) && !place->live;
  a.locks = a.ensures && node->kind == SNODE_DYNAMIC && lists_lock(l, node);
  if (inst->own) address_own(&a);
  IrInst *address = address_element(&a, field->component);
  places_keep_active(l, &a, inst);
  places_access_memory(l->kernel, inst, address, 0);
  if (a.locks) lists_unlock(l, inst, a.list);
  if (!branch) return;
  if (has_result) places_bring_out(l, branch, inst);
  if (!counts) return;
  IrBuilder otherwise = rewrite_inside(l->kernel, branch->regions[1], inst);
  ir_call(&otherwise, RT_OUTSIDE, 0, 0, 0, NULL);
}

/* -- activity ------------------------------------------------------------------------------------------------------------------ */

/* The level that decides about the activity of a cell: by its slot, its bit, or its key in a table. */
static const SNode *decider_of(const Lower *l, const IrInst *inst) {
  return snode_decider(l->kernel->levels.items[inst->level].node);
}

typedef struct Decision { /* a call for each way to decide */
  RtEntry on_slot, on_mask, on_table;
} Decision;

static Address walk_of(Lower *l, IrBuilder *b, const IrInst *inst) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  return address_from_root(b, level->tree, level->node, inst->operands);
}

/* What is asked of the decider; returns the count of operands. A bit that is ensured is one of the walk's masks. */
static int deciding_operands(Address *a, const SNode *decider, IrInst **operands) {
  if (decider->kind == SNODE_HASH) return address_key(a, decider, operands);
  if (decider->mask < 0) {
    operands[0] = address_slot(a, decider);
    return 1;
  }
  AddressMask mask = address_mask(a, decider);
  if (a->ensures) a->masks[a->mask_count++] = mask;
  operands[0] = mask.words;
  operands[1] = mask.cell;
  return 2;
}

static RtEntry choose_call(const SNode *decider, const Decision *decision) {
  if (decider->mask >= 0) return decision->on_mask;
  return decider->kind == SNODE_HASH ? decision->on_table : decision->on_slot;
}

static int number_of(const SNode *decider) {
  return decider->mask >= 0 ? decider->mask : decider->manager;
}

static void become_call(Lower *l, IrInst *inst, const Decision *decision, int count,
                        IrInst *const *operands) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  const SNode *decider = snode_decider(level->node);
  rewrite_become_call(l->kernel, inst, choose_call(decider, decision), level->tree,
                      number_of(decider), count, operands);
}

static void become_deciding(Lower *l, IrInst *inst, const Decision *decision, bool ensures) {
  const SNode *decider = decider_of(l, inst);
  IrInst *operands[1 + SNODE_MAX_AXES];
  IrBuilder b = rewrite_before(l->kernel, inst);
  Address a = walk_of(l, &b, inst);
  a.ensures = ensures;
  int count = deciding_operands(&a, decider, operands);
  if (ensures) places_keep_active(l, &a, inst);
  become_call(l, inst, decision, count, operands);
}

static void lower_is_active(Lower *l, IrInst *inst) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  IrBuilder b = rewrite_before(l->kernel, inst);
  IrInst *condition = address_inside(&b, level->node, inst->operands);
  if (!decider_of(l, inst)) { /* active wherever it is inside */
    IrInst *yes = ir_const_int(&b, TYPE(BOOL), 1);
    rewrite_become(l->kernel, inst, IR_BAND, 2, (IrInst *[]){condition ? condition : yes, yes});
    return;
  }
  IrInst *branch = condition ? places_guard(l, inst, condition) : NULL;
  become_deciding(l, inst, &(Decision){RT_SLOT_LIVE, RT_MASK_LIVE, RT_HASH_LIVE}, false);
  if (branch) places_bring_out(l, branch, inst);
}

static void lower_activate(Lower *l, IrInst *inst) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  const SNode *decider = decider_of(l, inst);
  if (!decider) {
    ir_remove(inst);
    return;
  }
  IrBuilder b = rewrite_before(l->kernel, inst);
  IrInst *condition = address_inside(&b, level->node, inst->operands);
  if (condition) places_guard(l, inst, condition);
  become_deciding(l, inst, &(Decision){RT_SLOT_ENSURE, RT_MASK_SET, RT_HASH_ENSURE}, true);
}

/* Only cells of the level that decides can go. Slot or bit are asked first: those of an absent ancestor lie in the
 * ambient, which must not be written. */
static void lower_deactivate(Lower *l, IrInst *inst) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  const SNode *decider = decider_of(l, inst);
  const Decision live = {RT_SLOT_LIVE, RT_MASK_LIVE, RT_HASH_LIVE}, clear = {RT_SLOT_CLEAR, RT_MASK_CLEAR, RT_HASH_CLEAR};
  IrInst *operands[1 + SNODE_MAX_AXES];
  if (decider != level->node) {
    ir_remove(inst);
    return;
  }
  IrBuilder b = rewrite_before(l->kernel, inst);
  IrInst *condition = address_inside(&b, level->node, inst->operands);
  if (condition) places_guard(l, inst, condition);
  if (level->node->kind == SNODE_HASH) return become_deciding(l, inst, &clear, false);
  b = rewrite_before(l->kernel, inst);
  Address a = walk_of(l, &b, inst);
  int count = deciding_operands(&a, decider, operands);
  RtEntry asks = choose_call(decider, &live);
  places_guard(l, inst, ir_call(&b, asks, 0, 0, count, operands));
  become_call(l, inst, &clear, count, operands);
}

static void lower_count(Lower *l, IrInst *inst) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  const SNode *decider = decider_of(l, inst);
  int64_t cells = 1; /* per cell of the decider, or in all */
  for (const SNode *at = level->node; at && at != decider; at = at->parent) cells *= (int64_t)at->cell_count;
  IrBuilder b = rewrite_before(l->kernel, inst);
  IrInst *count = ir_const_int(&b, TYPE(I64), 1);
  if (decider) {
    const Decision counts = {RT_LIST_COUNT, RT_MASK_COUNT, RT_LIST_COUNT};
    RtEntry entry = choose_call(decider, &counts);
    count = ir_call(&b, entry, level->tree, number_of(decider), 0, NULL);
  }
  rewrite_become(l->kernel, inst, IR_MUL, 2, (IrInst *[]){count, ir_const_int(&b, TYPE(I64), cells)});
}

/* Every cell of a level is inactive once the level that decides has no active cell. */
static void lower_clear(Lower *l, IrInst *inst) {
  if (!decider_of(l, inst)) {
    ir_remove(inst);
    return;
  }
  const Decision clears = {RT_TREE_CLEAR, RT_MASK_CLEAR_ALL, RT_TREE_CLEAR};
  become_call(l, inst, &clears, 0, NULL);
}

/* Cells of a masked level side by side: inside the shape, since the loop that asks is. */
static void lower_active_bits(Lower *l, IrInst *inst) {
  IrBuilder b = rewrite_before(l->kernel, inst);
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  const SNode *masked = level->node;
  IrInst *count = ir_convert(&b, inst->operands[inst->operand_count - 1], TYPE(I64));
  bool in_node = type_equal(inst->operands[0]->type, TYPE(PTR));
  Address a = in_node ? address_in_node(&b, level->tree, snode_listed(masked), inst->operands[0], masked)
                      : walk_of(l, &b, inst);
  for (int k = 0; in_node && k < masked->rank; k++) a.index[k].value = ir_convert(&b, inst->operands[1 + k], TYPE(I64));
  AddressMask mask = address_mask(&a, masked);
  bool remembers = l->task && l->task->remembers;
  IrInst *operands[] = {mask.words, mask.cell, count};
  if (!remembers) rewrite_become_call(l->kernel, inst, RT_MASK_BITS, 0, 0, 3, operands);
  else rewrite_become_call(l->kernel, inst, RT_MASK_WAS, level->tree, masked->mask, 3, operands);
}

static void lower_remember(Lower *l, IrInst *inst) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  rewrite_become_call(l->kernel, inst, RT_MASK_REMEMBER, level->tree, level->node->mask, 0, NULL);
}

/* -- the walk over the kernel ------------------------------------------------------------------------------------------------- */

static void lower_region(Lower *l, IrRegion *region);

static void lower_row(Lower *l, IrInst *row) {
  Lower inside = *l;
  inside.row = row;
  inside.first_row = row->previous && row->previous->op == IR_ROW && l->first_row ? l->first_row : row;
  lower_region(&inside, row->regions[0]);
  l->first_row = inside.first_row;
}

static bool is_of_lists(const Lower *l, const IrInst *inst) {
  switch (inst->op) {
  case IR_APPEND: case IR_POP: case IR_LENGTH: return true;
  case IR_IS_ACTIVE: case IR_ACTIVATE: case IR_DEACTIVATE: case IR_COUNT:
    return l->kernel->levels.items[inst->level].node->kind == SNODE_DYNAMIC;
  default: return false;
  }
}

static void lower_inst(Lower *l, IrInst *inst) {
  if (is_of_lists(l, inst)) {
    lists_lower(l, inst);
    return;
  }
  switch (inst->op) {
  case IR_LOAD: case IR_STORE: case IR_UPDATE: case IR_RMW: case IR_CAS:
    if (inst->operands[0]->op == IR_CELL) cells_lower_access(l, inst);
    else lower_access(l, inst);
    return;
  case IR_CELL: cells_lower_cell(l, inst); return;
  case IR_NEAR: cells_lower_near(l, inst); return;
  case IR_IS_ACTIVE: lower_is_active(l, inst); return;
  case IR_ACTIVATE: lower_activate(l, inst); return;
  case IR_DEACTIVATE: lower_deactivate(l, inst); return;
  case IR_COUNT: lower_count(l, inst); return;
  case IR_CLEAR: lower_clear(l, inst); return;
  case IR_ACTIVE_BITS: lower_active_bits(l, inst); return;
  case IR_REMEMBER: lower_remember(l, inst); return;
  case IR_ROW: lower_row(l, inst); return;
  default: break;
  }
  for (int i = 0; i < IR_MAX_REGIONS; i++)
    if (inst->regions[i]) lower_region(l, inst->regions[i]);
}

/* What is written in front of an inst, or as an IF around it, is low already: the next inst is taken first. */
static void lower_region(Lower *l, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    lower_inst(l, inst);
  }
}

static bool remove_place(void *data, IrInst *inst) {
  if (inst->op == IR_PLACE || inst->op == IR_CELL) ir_remove(inst);
  return true;
}

/* What the task does to masks and lists while its iterations run; the host region is one thread. */
static void survey(Lower *l, const Effects *effects) {
  l->clears = scratch_array(l->kernel->scratch, bool, l->kernel->trees.count);
  for (int i = 0; effects && i < effects->calls.count; i++) {
    const EffectCall *call = &effects->calls.items[i];
    if (call->changes & EFFECT_DEACTIVATES && call->node->kind == SNODE_BITMASKED) l->clears[call->tree] = true;
  }
  lists_survey(l, effects);
}

static void lower_function(Lower *l, IrRegion *region) {
  if (!region) return;
  l->cells = scratch_array(l->kernel->scratch, CellRow, l->kernel->next_id);
  l->row = l->first_row = NULL;
  lower_region(l, region);
  ir_walk(region, remove_place, NULL);
}

static bool is_elsewhere(void *data, IrInst *inst) { return !inst->here; }

static void lower_task(Lower *l, IrTask *task) {
  l->task = task;
  survey(l, effects_of(l->ctx, l->kernel, task));
  if (task->kind != TASK_RANGE) {
    const IrLevel *level = &l->kernel->levels.items[task->level];
    task->tree = level->tree;
    task->manager = level->node->manager;
  }
  if (task->kind == TASK_LEAVES) leaf_shape_of_task(l->kernel, task, &l->shape);
  bool has_here = task->kind == TASK_NODES && !ir_walk(task->body, is_elsewhere, NULL);
  l->cursor = has_here ? ir_region_param(l->kernel, task->body, TYPE(PTR)) : NULL;
  if (task->kind == TASK_NODES)
    for (int axis = 0; axis < task->axis_count; axis++) task->factors[axis] = 1;
  lower_function(l, task->body);
  lower_function(l, task->interior);
}

bool pass_places(PassContext *ctx, IrKernel *kernel, Error *err) {
  Lower l = {.ctx = ctx, .kernel = kernel};
  survey(&l, NULL);
  lower_function(&l, kernel->body);
  for (int i = 0; i < kernel->tasks.count; i++) lower_task(&l, kernel->tasks.items[i]);
  return true;
}
