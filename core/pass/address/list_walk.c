/* list_walk.c - makes a serial loop along a list look up each chunk of the list once.
 *
 *   for %k = 0, .. { load place f0 %i, %k }  =>  for %k = 0, .. {
 *                                                  if %k % chunk == 0 { set %node, look-up }
 *                                                  mem.load %node + %k % chunk
 *                                                }
 *
 * The look-up is at the begin of the body, so every iteration has its chunk's node, whatever else
 * the body does; in lanes one test serves all, since all lanes count from 0. Outside the shape
 * %node is the ambient, so the load itself needs no test; the look-up has a test of its own, since
 * the branch that proves the place inside may be further down. This requires that the task changes
 * no list of the SNode, so that looked-up chunks stay valid, and that the loop's iterations run in
 * order. Decision D-pass-16. */
#include "pass/address/lower_places.h"

/* Elements of a chunk below which looking up the chunk costs as much as looking up each element. */
enum { LEAST_CHUNK = 4 };

static const SNode *list_of(const Lower *l, const IrInst *place) {
  const IrField *field = &l->kernel->fields.items[place->field];
  bool is_list = field->array < 0 && !field->place && snode_has_lists(field->node);
  return is_list && field->node->chunk >= LEAST_CHUNK ? field->node : NULL;
}

static bool counts_from_zero(const IrInst *loop) {
  int64_t begin, step;
  return !loop->independent && ir_is_const(loop->operands[0], &begin) && begin == 0 &&
         ir_is_const(loop->operands[2], &step) && step == 1;
}

static IrInst *index_of(const IrInst *loop) { return loop->regions[0]->params.items[0]; }

/* Does the access go along a list by the loop's own index, and is the list loop-invariant? */
static bool goes_along(Lower *l, const IrInst *loop, const IrInst *access) {
  const IrInst *place = access->op == IR_LOAD ? access->operands[0] : NULL;
  if (!place || place->op != IR_PLACE || place->here) return false;
  const SNode *list = list_of(l, place);
  if (!list || lists_change(l, list)) return false;
  int own = snode_axis_position(list, list->axes[0]);
  if (own != list->rank - 1 || place->operands[own] != index_of(loop)) return false;
  for (int k = 0; k < own; k++)
    if (place->operands[k]->op != IR_CONST && ir_is_inside(place->operands[k], loop->regions[0]))
      return false;
  return true;
}

static bool is_same_list(const Lower *l, const IrInst *a, const IrInst *b) {
  if (list_of(l, a) != list_of(l, b)) return false;
  return !memcmp(a->operands, b->operands, sizeof *a->operands * (size_t)a->operand_count) &&
         l->kernel->fields.items[a->field].tree == l->kernel->fields.items[b->field].tree;
}

/* -- the look-up ------------------------------------------------------------------------------- */

/* Copies constants, since they may be defined inside the loop, after the look-up. */
static void copy_indices(IrBuilder *b, const IrInst *place, IrInst **indices) {
  for (int k = 0; k < place->operand_count; k++) {
    IrInst *index = place->operands[k];
    int64_t value;
    bool is_const = ir_is_const(index, &value);
    indices[k] = is_const ? ir_const_int(b, index->type, value) : index;
  }
}

static void set_node(Lower *l, IrBuilder *b, IrInst *node, const IrInst *place) {
  const IrField *field = &l->kernel->fields.items[place->field];
  const SNode *list = field->node;
  IrInst *indices[SNODE_MAX_AXES];
  copy_indices(b, place, indices);
  IrInst *inside = address_inside(b, list, indices);
  IrInst *branch = inside ? ir_if(b, inside) : NULL;
  IrBuilder there = branch ? rewrite_inside(l->kernel, branch->regions[0], place) : *b;
  Address at = address_from_root(&there, field->tree, list, indices);
  ir_set(&there, node, address_node(&at, list));
  if (!branch) return;
  there = rewrite_inside(l->kernel, branch->regions[1], place);
  ir_set(&there, node, ir_emit(&there, IR_AMBIENT, TYPE(PTR), 0, NULL));
}

static IrInst *begin_walk(Lower *l, IrInst *loop, const IrInst *place) {
  DEBUG_ASSERT(loop->op == IR_FOR && list_of(l, place), "the loop goes along a list");
  IrBuilder before = rewrite_before(l->kernel, loop);
  IrInst *node = ir_var(&before, TYPE(PTR)), *index = index_of(loop);
  IrBuilder b = rewrite_before(l->kernel, loop->regions[0]->first);
  IrInst *cell = address_modulo(&b, index, list_of(l, place)->chunk);
  IrInst *is_new = ir_binary(&b, IR_EQ, cell, ir_const_int(&b, cell->type, 0));
  b = rewrite_inside(l->kernel, ir_if(&b, is_new)->regions[0], place);
  set_node(l, &b, node, place);
  ir_note(l->kernel, place->line, "the loop looks each chunk of the list up once");
  return node;
}

/* -- finding accesses -------------------------------------------------------------------------- */

typedef struct Found {
  Lower *l;
  const IrInst *loop;
  VEC(IrInst *) places;
} Found;

static bool find(void *data, IrInst *inst) {
  Found *found = data;
  if (goes_along(found->l, found->loop, inst))
    vec_push(found->l->kernel->scratch, &found->places, inst->operands[0]);
  return true;
}

void list_walk(Lower *l, IrInst *loop) {
  if (!l->task || l->is_called || !l->ctx->target.append_buffers || !counts_from_zero(loop)) return;
  Found found = {.l = l, .loop = loop};
  ir_walk(loop->regions[0], find, &found);
  for (int k = 0; k < found.places.count; k++) {
    IrInst *place = found.places.items[k], *node = NULL;
    for (int j = 0; j < k && !node; j++)
      if (is_same_list(l, place, found.places.items[j]))
        node = map_find_int(&l->walks, (uintptr_t)found.places.items[j]);
    if (!node) node = begin_walk(l, loop, place);
    map_put_int(&l->walks, (uintptr_t)place, node);
  }
}

IrInst *list_walk_address(Lower *l, IrBuilder *b, const IrInst *access) {
  const IrInst *place = access->operands[0];
  IrInst *node = access->op == IR_LOAD ? map_find_int(&l->walks, (uintptr_t)place) : NULL;
  if (!node) return NULL;
  const IrField *field = &l->kernel->fields.items[place->field];
  const SNode *list = field->node;
  const SNodeComponent *into = &list->components[field->component];
  IrInst *cell = address_modulo(b, place->operands[list->rank - 1], list->chunk);
  return address_offset(b, ir_get(b, node), cell, (int64_t)into->stride, (int64_t)into->offset);
}
