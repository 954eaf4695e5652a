/* kind_dynamic.c - the `dynamic` SNode: lists. Lowers accesses to elements, and ops on lists, to
 * addresses and calls.
 *
 *   %s = append l0 %i, %v     if inside %i { walk, ensuring; %s = call rt_dynamic_append
 *                                            if %s >= 0 { mem.store } }
 *   pop l0 %i, %var           if inside %i { walk; %s = call rt_dynamic_pop
 *                                            if %s >= 0 { set %var mem.load; mem.store 0 } }
 *   deactivate l0 %i          if inside %i { walk; if rt_slot_live { call rt_dynamic_clear } }
 * Elements past the end are zero, and `length` never exceeds the chunks that exist
 * (llvm_bc/node_dynamic.c). If a body both removes and adds elements, each op holds the list's lock
 * from the time it claims a slot until its last store. Otherwise no lock is needed: appends
 * synchronise on the length, and so do pops; if only one iteration changes a list, it loads and
 * stores the length without atomics. The host region runs in one thread. lists.c decides which
 * appends are buffered, and which ops lock. */
#include "pass/trees/kind.h"
#include "pass/address/lower_places.h"

static void emit_unlock(IrBuilder *b, IrInst *list) {
  ir_call(b, RT_DYNAMIC_UNLOCK, 0, 0, 1, &list);
}

void lists_unlock(Lower *l, IrInst *after, IrInst *list) {
  IrBuilder b = rewrite_after(l->kernel, after);
  emit_unlock(&b, list);
}

/* -- elements ---------------------------------------------------------------------------------- */

/* The node of an existing element `index` (i32). */
static IrInst *find_chunk(IrBuilder *b, int tree, const SNode *dynamic, IrInst *list,
                          IrInst *index) {
  const SNodeStep *step = snode_step(dynamic, dynamic);
  IrInst *chunk = address_divide(b, index, dynamic->chunk, false);
  IrInst *slot = ir_offset(b, list, chunk, sizeof(uint32_t), (int64_t)step->slots);
  return ir_call(b, RT_SLOT_FIND, tree, 0, 1, &slot);
}

/* Finds or creates the node; the list is locked from there on if `locks`. */
static IrInst *ensure_chunk(IrBuilder *b, int tree, const SNode *dynamic, IrInst *list,
                            IrInst *index, bool locks) {
  IrInst *chunk = ir_i32(b, dynamic->chunk), *lock = ir_i32(b, locks);
  return ir_call(b, RT_DYNAMIC_ENSURE, tree, dynamic->manager, 4,
                 (IrInst *[]){list, chunk, index, lock});
}

static IrInst *element_in_chunk(IrBuilder *b, const SNode *dynamic, IrInst *node, IrInst *index,
                                int component) {
  const SNodeComponent *into = &dynamic->components[component];
  IrInst *cell = address_modulo(b, index, dynamic->chunk);
  return ir_offset(b, node, cell, (int64_t)into->stride, (int64_t)into->offset);
}

/* The element's number is 32 bits wide, also for the next step, into the chunk. */
static AddressIndex descend_to_element(Address *a, const SNodeStep *step) {
  AddressIndex *own = &a->index[step->digits[0].position];
  IrInst *list = address_flush(a), *index = address_sum_i32(a, *own);
  if (a->ensures) {
    a->list = list;
    a->at = ensure_chunk(a->b, a->tree, step->node, list, index, a->locks);
  } else {
    a->at = find_chunk(a->b, a->tree, step->node, list, index);
  }
  *own = (AddressIndex){.value = index};
  return (AddressIndex){0};
}

/* -- ops on lists ------------------------------------------------------------------------------ */

typedef struct ListOp {
  Lower *l;
  const IrLevel *level;
  const SNode *node;
  IrInst *inst;
  int indices;    /* number of operands that identify the list */
  IrInst *branch; /* the IF around it; NULL: its indices are known to be inside */
  IrBuilder b;    /* before it, inside */
  Address walk;   /* to its list */
} ListOp;

static ListOp begin_list_op(Lower *l, IrInst *inst, bool has_slot) {
  ListOp op = {.l = l, .level = &l->kernel->levels.items[inst->level], .inst = inst};
  op.node = op.level->node;
  ASSERT(snode_has_lists(op.node) && op.node->rank > 0, "the op is on lists");
  op.indices = op.node->rank - 1;
  IrBuilder b = rewrite_before(l->kernel, inst);
  IrInst *inside = has_slot ? address_inside(&b, op.node, inst->operands)
                            : address_list_inside(&b, op.node, inst->operands);
  if (inside) op.branch = places_guard(l, inst, inside);
  op.b = rewrite_before(l->kernel, inst);
  return op;
}

/* Splits the indices of an element: sets those of its list, and returns the slot in it. */
static IrInst *split_indices(ListOp *op, IrInst *indices[SNODE_MAX_AXES]) {
  DEBUG_ASSERT(op->inst->operand_count == op->node->rank,
               "one index per axis, and the slot among them");
  int own = snode_axis_position(op->node, op->node->axes[0]);
  for (int k = 0, given = 0; k < op->node->rank; k++)
    if (k != own) indices[given++] = op->inst->operands[k];
  return op->inst->operands[own];
}

static IrInst *address_of_list(ListOp *op, IrInst *const *indices, bool ensures) {
  op->walk = address_to_list(&op->b, op->level->tree, op->node, indices, ensures);
  return op->walk.at;
}

static IrInst *call_of_list_op(ListOp *op, RtEntry entry, int count, IrInst *const *operands) {
  return ir_call(&op->b, entry, op->level->tree, op->node->manager, count, operands);
}

static void finish_list_op(ListOp *op) {
  if (op->branch && !type_is_none(op->inst->type)) places_bring_out(op->l, op->branch, op->inst);
}

/* Opens an IF on whether the element exists; the rest of the op goes inside. */
static IrBuilder if_element_exists(ListOp *op, IrInst *slot) {
  IrInst *there = ir_binary_const(&op->b, IR_GE, slot, 0);
  return rewrite_inside(op->l->kernel, ir_if(&op->b, there)->regions[0], op->inst);
}

/* Stores the numbers in a row of the worker's stage, or of its log. */
static void buffer_element(ListOp *op, RtEntry entry, IrInst *list) {
  DEBUG_ASSERT(op->inst->operand_count == op->indices + op->node->component_count,
               "an append has a value per number");
  IrInst **values = op->inst->operands + op->indices;
  IrInst *width = ir_i32(&op->b, op->node->row_bytes);
  IrInst *row = call_of_list_op(op, entry, 2, (IrInst *[]){list, width});
  for (int k = 0; k < op->node->component_count; k++) {
    IrInst *address = ir_offset(&op->b, row, NULL, 0, op->node->components[k].row);
    ir_mem_store(&op->b, address, values[k]);
  }
}

/* Returns its slot. */
static IrInst *append_at_once(ListOp *op, IrInst *list, RtListWay way) {
  IrInst **values = op->inst->operands + op->indices;
  IrInst *chunk = ir_i32(&op->b, (int64_t)op->node->chunk);
  IrInst *capacity = ir_i32(&op->b, op->node->sizes[0]), *how = ir_i32(&op->b, way);
  IrInst *slot =
      call_of_list_op(op, RT_DYNAMIC_APPEND, 4, (IrInst *[]){list, chunk, capacity, how});
  IrBuilder inside = if_element_exists(op, slot);
  IrInst *node = find_chunk(&inside, op->level->tree, op->node, list, slot);
  for (int k = 0; k < op->node->component_count; k++) {
    IrInst *address = element_in_chunk(&inside, op->node, node, slot, k);
    ir_mem_store(&inside, address, values[k]);
  }
  if (way == RT_LIST_LOCKED) emit_unlock(&inside, list);
  return slot;
}

static void buffer_or_append(ListOp *op, IrInst *list) {
  IrInst *collects = ir_call(&op->b, RT_DYNAMIC_IS_LOGGED, op->level->tree, 0, 0, NULL);
  IrInst *branch = ir_if(&op->b, collects);
  op->b = rewrite_inside(op->l->kernel, branch->regions[0], op->inst);
  buffer_element(op, RT_DYNAMIC_LOG, list);
  op->b = rewrite_inside(op->l->kernel, branch->regions[1], op->inst);
  append_at_once(op, list, RT_LIST_SHARED);
}

static void lower_append(Lower *l, IrInst *inst) {
  ListWay way = lists_way(l, inst);
  ListOp op = begin_list_op(l, inst, false);
  IrInst *list = address_of_list(&op, inst->operands, true);
  if (way == LIST_AT_ONCE) {
    IrInst *slot = append_at_once(&op, list, lists_call_way(l, inst, op.node));
    places_keep_active(l, &op.walk, inst);
    rewrite_become(l->kernel, inst, IR_ADD, 2, (IrInst *[]){slot, ir_i32(&op.b, 0)});
    finish_list_op(&op);
    return;
  }
  if (way == LIST_STAGED) buffer_element(&op, RT_DYNAMIC_STAGE, list);
  else buffer_or_append(&op, list);
  ir_delete(inst);
}

/* The slot of the last element, -1 if there is none. */
static IrInst *last_slot(ListOp *op, IrInst *list, RtListWay way) {
  if (way == RT_LIST_OWN) {
    IrInst *length = ir_mem_load(&op->b, TYPE(I32), list);
    return ir_binary_const(&op->b, IR_SUB, length, 1);
  }
  IrInst *lock = ir_i32(&op->b, way == RT_LIST_LOCKED);
  return ir_call(&op->b, RT_DYNAMIC_POP, 0, 0, 2, (IrInst *[]){list, lock});
}

static void lower_pop(Lower *l, IrInst *inst) {
  ListOp op = begin_list_op(l, inst, false);
  IrInst **variables = inst->operands + op.indices,
         *list = address_of_list(&op, inst->operands, false);
  RtListWay way = lists_call_way(l, inst, op.node);
  IrInst *slot = last_slot(&op, list, way);
  IrBuilder inside = if_element_exists(&op, slot);
  if (way == RT_LIST_OWN) ir_mem_store(&inside, list, slot);
  IrInst *node = find_chunk(&inside, op.level->tree, op.node, list, slot);
  for (int k = 0; k < op.node->component_count; k++) {
    Type type = op.node->components[k].type;
    IrInst *address = element_in_chunk(&inside, op.node, node, slot, k);
    ir_set(&inside, variables[k], ir_mem_load(&inside, type, address));
    ir_mem_store(&inside, address, ir_zero(&inside, type));
  }
  if (way == RT_LIST_LOCKED) emit_unlock(&inside, list);
  ir_delete(inst);
}

static void lower_length(Lower *l, IrInst *inst) {
  ListOp op = begin_list_op(l, inst, false);
  IrInst *list = address_of_list(&op, inst->operands, false);
  rewrite_become(l->kernel, inst, IR_MEM_LOAD, 1, &list);
  finish_list_op(&op);
}

static void lower_is_active(Lower *l, IrInst *inst) {
  IrInst *indices[SNODE_MAX_AXES];
  ListOp op = begin_list_op(l, inst, true);
  IrInst *slot = split_indices(&op, indices), *list = address_of_list(&op, indices, false);
  IrInst *length = ir_mem_load(&op.b, TYPE(I32), list);
  rewrite_become(l->kernel, inst, IR_LT, 2,
                 (IrInst *[]){ir_convert(&op.b, slot, TYPE(I32)), length});
  finish_list_op(&op);
}

static void lower_activate(Lower *l, IrInst *inst) {
  IrInst *indices[SNODE_MAX_AXES];
  ListOp op = begin_list_op(l, inst, true);
  IrInst *slot = ir_convert(&op.b, split_indices(&op, indices), TYPE(I32)),
         *list = address_of_list(&op, indices, true);
  bool locks = lists_need_lock(l, op.node);
  ensure_chunk(&op.b, op.level->tree, op.node, list, slot, locks);
  if (locks) emit_unlock(&op.b, list);
  places_keep_active(l, &op.walk, inst);
  ir_delete(inst);
}

/* Skips a list without a first chunk, which is empty already; in loops that empty lists, most
 * are. */
static void lower_deactivate(Lower *l, IrInst *inst) {
  ListOp op = begin_list_op(l, inst, false);
  const SNodeStep *step = snode_step(op.node, op.node);
  IrInst *list = address_of_list(&op, inst->operands, false);
  IrInst *slot = ir_offset(&op.b, list, NULL, 0, (int64_t)step->slots);
  IrInst *is_live = ir_call(&op.b, RT_SLOT_LIVE, 0, 0, 1, &slot);
  op.b = rewrite_inside(l->kernel, ir_if(&op.b, is_live)->regions[0], inst);
  IrInst *capacity = ir_i32(&op.b, op.node->sizes[0]),
         *lock = ir_i32(&op.b, lists_need_lock(l, op.node)),
         *keep = ir_i32(&op.b, lists_also_append(l, inst, op.node));
  call_of_list_op(&op, RT_DYNAMIC_CLEAR, 4, (IrInst *[]){list, capacity, lock, keep});
  ir_delete(inst);
}

static void lower_count(Lower *l, IrInst *inst) {
  const IrLevel *level = &l->kernel->levels.items[inst->level];
  rewrite_become_call(l->kernel, inst, RT_DYNAMIC_COUNT, level->tree, level->node->manager, 0,
                      NULL);
}

static bool lower_list_op(Lower *l, IrInst *inst) {
  switch (inst->op) {
  case IR_APPEND: lower_append(l, inst); return true;
  case IR_POP: lower_pop(l, inst); return true;
  case IR_LENGTH: lower_length(l, inst); return true;
  case IR_IS_ACTIVE: lower_is_active(l, inst); return true;
  case IR_ACTIVATE: lower_activate(l, inst); return true;
  case IR_DEACTIVATE: lower_deactivate(l, inst); return true;
  case IR_COUNT: lower_count(l, inst); return true;
  default: return false;
  }
}

/* -- loops over elements ----------------------------------------------------------------------- */

/* If the list's axis is the last one, loops up to the length; otherwise tests each element. */
static void nest_elements(Nest *nest, const SNode *lists, const SNode *cells, IrInst **indices) {
  int own = snode_axis_position(lists, lists->axes[0]), count = lists->rank - 1;
  IrInst *list[SNODE_MAX_AXES];
  for (int k = 0, given = 0; k < lists->rank; k++)
    if (k != own || own < count) {
      indices[k] = nest_count(nest, lists->shape[k]);
      if (k != own) list[given++] = indices[k];
    }
  bool is_last = own == count;
  DEBUG_ASSERT(own >= 0 && own <= count, "the list's own axis is one of its level's");
  IrInst *query = is_last ? ir_emit(&nest->b, IR_LENGTH, TYPE(I32), count, list)
                          : ir_emit(&nest->b, IR_IS_ACTIVE, TYPE(BOOL), lists->rank, indices);
  query->level = ir_add_level(nest->b.kernel, lists, lists->name);
  if (!is_last) {
    nest_if(nest, query);
    return;
  }
  IrInst *length = ir_convert(&nest->b, query, nest->index),
         *last = ir_binary(&nest->b, IR_SUB, length, nest_number(nest, 1));
  indices[own] = nest_for(nest, nest_number(nest, 0), last);
}

const Kind kind_dynamic = {.descend = descend_to_element,
                           .clear_all = RT_TREE_CLEAR,
                           .lower = lower_list_op,
                           .plan = kind_plan_leaves,
                           .nest = nest_elements,
                           .tests_each_cell = true};
