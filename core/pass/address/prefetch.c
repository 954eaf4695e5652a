/* prefetch.c - prefetches elements and lists at computed places some iterations before they are
 * written, and cells of a hash before they are read or written.
 *
 *   for t in rg.range(n) do x[hash(t)] = 1 end      if the tree is large: walk to x[hash(t + 12)],
 *                                               =>  prefetch the element, and the word with its bit
 *
 * This pays where a processor does not overlap the cache misses of iterations by itself: an atomic
 * update, the test of a mask's bit, and the read of a list's length for an append stall until
 * memory answers, and all later instructions stall too. A look-up in a hash is so long that too few
 * of them overlap: the table's line is prefetched first, and half the distance later a look-up
 * finds the element, which is prefetched then. The index is computed a second time, from the loop's
 * index plus a distance; so it may depend on the loop's index, on values of the host region, and on
 * loads, but not on an inner loop. A prefetch has no side effects: the walk only finds nodes, and
 * skips elements that are outside the shape or absent. Indices may exceed the loop's end by the
 * distance, since loads outside the shape give zero. Decision D-pass-13. */
#include "ir/address.h"
#include "ir/facts.h"
#include "pass/trees/kind.h"
#include "pass/address/lower_places.h"

enum {
  DISTANCE = 12,                /* iterations */
  LONG_DISTANCE = 2 * RT_AHEAD, /* in loops that may be vectorised */
  MOST_PLACES = 2,              /* prefetches per body */
  MOST_INSTS = 160              /* of a body in which prefetching may pay */
};

typedef struct Prefetch {
  Lower *l;
  int distance;
  IrRegion *body;
  IrInst *first; /* first inst of the body; prefetches go before it */
  IrBuilder b;   /* the position of the current prefetch */
  IrMap *later;  /* of a value: the one `distance` iterations later */
  bool failed;
} Prefetch;

/* -- indices of later iterations --------------------------------------------------------------- */

static IrInst *later(Prefetch *a, IrInst *inst);

static IrInst *later_index(Prefetch *a, IrInst *param) {
  const IrRegion *body = a->body;
  if (vec_last(&body->params) == param) return ir_binary_const(&a->b, IR_ADD, param, a->distance);
  for (int k = 0; k < body->params.count; k++)
    if (body->params.items[k] == param) return param;
  return NULL;
}

static IrInst *later_load(Prefetch *a, const IrInst *load) {
  const IrInst *place = load->operands[0];
  IrInst *indices[SNODE_MAX_AXES];
  if (place->op != IR_PLACE) return NULL;
  for (int k = 0; k < place->operand_count; k++)
    if (!(indices[k] = later(a, place->operands[k]))) return NULL;
  IrInst *copy = ir_load(&a->b, ir_place(&a->b, place->field, indices));
  copy->type = load->type;
  places_lower_access(a->l, copy);
  return copy;
}

static IrInst *later_operation(Prefetch *a, const IrInst *inst) {
  IrInst *operands[8];
  if (inst->operand_count > 8 || inst->regions[0]) return NULL;
  for (int k = 0; k < inst->operand_count; k++)
    if (!(operands[k] = later(a, inst->operands[k]))) return NULL;
  IrInst *copy = ir_emit(&a->b, inst->op, inst->type, inst->operand_count, operands);
  copy->imm = inst->imm;
  return copy;
}

static IrInst *recompute_later(Prefetch *a, IrInst *inst) {
  switch (inst->op) {
  case IR_PARAM: return later_index(a, inst);
  case IR_PLACE:
  case IR_RANDOM: return NULL;
  case IR_LOAD: return later_load(a, inst);
  default: return ir_effects(inst) & IR_PURE ? later_operation(a, inst) : NULL;
  }
}

/* The value in a later iteration; NULL if it depends on something that cannot be recomputed. */
static IrInst *later(Prefetch *a, IrInst *inst) {
  if (a->failed) return NULL;
  IrInst *known = ir_mapped(a->later, inst);
  if (known) return known;
  IrInst *made = recompute_later(a, inst);
  if (!made) a->failed = true;
  ir_map_put(a->later, inst, made);
  return made;
}

/* -- what is prefetched ------------------------------------------------------------------------ */

static bool is_atomic(const IrInst *access) {
  return (access->op == IR_UPDATE && !access->nonatomic) || access->op == IR_RMW ||
         access->op == IR_CAS;
}

static bool is_found_by_steps(const SNode *node) {
  for (; node; node = node->parent)
    if (snode_has(node, SNODE_KEYED) || snode_has_lists(node)) return false;
  return true;
}

/* The hash whose table holds the element's cell, if no node is above it. */
static const SNode *table_of(const Lower *l, const IrInst *place) {
  const IrField *field = &l->kernel->fields.items[place->field];
  const SNode *level = field->array < 0 ? snode_sparse_level(field->node) : NULL;
  bool is_in_table = level && snode_has(level, SNODE_KEYED);
  return is_in_table && !snode_node_level(level->parent) ? level : NULL;
}

static bool stalls(const Lower *l, const IrInst *access) {
  const IrInst *place = access->operands[0];
  const IrField *field = &l->kernel->fields.items[place->field];
  if (table_of(l, place)) return true;
  if (access->op == IR_LOAD) return false;
  if (access->private_copy || field->array >= 0 || !is_found_by_steps(field->node)) return false;
  if (!place->active && snode_is_masked(field->node, NULL)) return true;
  return is_atomic(access);
}

static const SNode *list_of(const Lower *l, const IrInst *append) {
  return l->kernel->levels.items[append->level].node;
}

static bool is_computed(const IrRegion *body, IrInst *const *indices, int count) {
  for (int k = 0; k < count; k++) {
    IndexRange range = ranges_of(indices[k]);
    if (range.known && range.base && ranges_param(body, range.base) < 0) return true;
  }
  return false;
}

/* Is the place computed? Only the first number of an element is considered, for all of them. */
static bool is_computed_place(const Lower *l, const IrRegion *body, const IrInst *place) {
  const IrField *field = &l->kernel->fields.items[place->field];
  return !field->node->components[field->component].part &&
         is_computed(body, place->operands, place->operand_count);
}

typedef struct Targets {
  Lower *l;
  const IrRegion *body;
  IrInst *what[MOST_PLACES]; /* places, or appends to a list */
  int count;
  bool has_atomic; /* so iterations are not vectorised */
} Targets;

/* Do several branches decide whether the access runs? Then most prefetches would be wasted, and
 * would keep the loop from being vectorised. */
static bool is_rarely_executed(const IrRegion *body, const IrInst *access) {
  int branches = 0;
  for (const IrRegion *at = access->region; at != body; at = at->owner->region)
    branches += at->owner->op == IR_IF;
  return branches > 1;
}

static bool is_worth_prefetching(Targets *found, const IrInst *append) {
  const SNode *list = list_of(found->l, append);
  return is_found_by_steps(list->parent) &&
         is_computed(found->body, append->operands, list->rank - 1) &&
         lists_way(found->l, append) != LIST_STAGED;
}

/* Is a cell of the same table at the same indices prefetched already? */
static bool is_prefetched(const Targets *found, const IrInst *place) {
  const SNode *table = table_of(found->l, place);
  for (int k = 0; table && k < found->count; k++) {
    const IrInst *other = found->what[k];
    if (other->op == IR_PLACE && table_of(found->l, other) == table &&
        facts_same_values(place->operand_count, other->operands, place->operands))
      return true;
  }
  return false;
}

/* Do consecutive iterations stay in leaves of a hash? Then lanes look a leaf up once for many of
 * them (pass/vector/vectorise_calls.c). */
static bool stays_in_leaves(const Lower *l, const IrInst *place) {
  const SNode *table = table_of(l, place);
  if (!table || table == l->kernel->fields.items[place->field].node) return false;
  for (int k = 0; k < place->operand_count; k++)
    if (!ir_index_is_smooth(place->operands[k])) return false;
  return true;
}

static bool is_access(const IrInst *inst) {
  return (inst->op == IR_LOAD || rewrite_is_write(inst->op)) && inst->operands[0]->op == IR_PLACE;
}

static void add_target(Targets *found, IrInst *inst) {
  if (inst->op == IR_APPEND && is_worth_prefetching(found, inst)) {
    found->what[found->count++] = inst;
    found->has_atomic = true;
  } else if (is_access(inst) && stalls(found->l, inst) && !is_rarely_executed(found->body, inst) &&
             is_computed_place(found->l, found->body, inst->operands[0]) &&
             !stays_in_leaves(found->l, inst->operands[0]) &&
             !is_prefetched(found, inst->operands[0])) {
    found->what[found->count++] = inst->operands[0];
    found->has_atomic |= is_atomic(inst);
  }
}

static void prefetch_address(IrBuilder *b, IrInst *address, bool writes) {
  IrInst *flag = ir_i32(b, writes);
  ir_call(b, RT_FETCH, 0, 0, 2, (IrInst *[]){address, flag});
}

/* Computes the first `count` indices of the inst for a later iteration; false if that is not
 * possible. */
static bool later_indices(Prefetch *a, const IrInst *inst, int count, IrInst **indices) {
  a->failed = false;
  a->later = ir_map(a->l->kernel->scratch, a->l->kernel);
  for (int k = 0; k < count; k++)
    if (!(indices[k] = later(a, inst->operands[k]))) return false;
  return true;
}

/* Begins an IF that is taken for large trees, with the later indices; a small tree costs only the
 * branch. Logged lists are excluded. False if nothing can be prefetched. */
static bool enter_large(Prefetch *a, int tree, const IrInst *what, int count, IrInst **indices) {
  IrBuilder b = rewrite_before(a->l->kernel, a->first);
  IrInst *goes = ir_call(&b, RT_TREE_LARGE, tree, 0, 0, NULL);
  if (what->op == IR_APPEND && lists_way(a->l, what) == LIST_LOGGED) {
    IrInst *logs = ir_call(&b, RT_DYNAMIC_IS_LOGGED, tree, 0, 0, NULL);
    goes = ir_binary(&b, IR_BAND, goes, ir_emit(&b, IR_BNOT, TYPE(BOOL), 1, &logs));
  }
  IrInst *branch = ir_if(&b, goes);
  a->b = rewrite_inside(a->l->kernel, branch->regions[0], what);
  bool is_known = later_indices(a, what, count, indices);
  if (!is_known) ir_delete(branch);
  return is_known;
}

/* A builder inside an IF that tests whether the indices are inside. */
static IrBuilder if_inside(Prefetch *a, IrInst *inside, const IrInst *what) {
  if (!inside) return a->b;
  return rewrite_inside(a->l->kernel, ir_if(&a->b, inside)->regions[0], what);
}

static void prefetch_table(Prefetch *a, const IrInst *place, const SNode *table) {
  ASSERT(kind_of(table)->fetch, "the kind's table can be prefetched");
  const IrField *field = &a->l->kernel->fields.items[place->field];
  IrInst *indices[SNODE_MAX_AXES], *name[ADDRESS_MAX_NAME];
  if (!enter_large(a, field->tree, place, place->operand_count, indices)) return;
  ir_note(a->l->kernel, place->line,
          "in a large tree, the hash look-up is prefetched %d iterations ahead", a->distance);
  IrBuilder b = if_inside(a, address_inside(&a->b, field->node, indices), place);
  Address at = address_from_root(&b, field->tree, field->node, indices);
  int count = address_name(&at, table, name);
  ir_call(&b, kind_of(table)->fetch, field->tree, table->manager, count, name);
}

/* If cells do not change meanwhile, passes the cells found to the iterations that need them. */
static void pass_on_cells(const Prefetch *a, const IrField *field, IrRegion *looked_up) {
  bool changes = a->l->grows[field->tree] || a->l->loses[field->tree];
  if (a->distance != RT_AHEAD || changes) return;
  for (IrInst *inst = looked_up->first; inst; inst = ir_following(inst, looked_up))
    if (ir_is_call(inst, RT_HASH_FIND)) inst->entry = RT_HASH_AHEAD;
}

static void prefetch_element(Prefetch *a, const IrInst *place) {
  const IrField *field = &a->l->kernel->fields.items[place->field];
  IrInst *indices[SNODE_MAX_AXES], *mask[ADDRESS_MAX_NAME];
  if (!enter_large(a, field->tree, place, place->operand_count, indices)) return;
  ir_note(a->l->kernel, place->line,
          "in a large tree, the element is prefetched %d iterations ahead", a->distance);
  IrBuilder b = if_inside(a, address_inside(&a->b, field->node, indices), place);
  Address at = address_from_root(&b, field->tree, field->node, indices);
  prefetch_address(&b, places_element(a->l, &at, field), !table_of(a->l, place));
  if (table_of(a->l, place)) pass_on_cells(a, field, b.region);
  const SNode *masked = snode_sparse_level(field->node);
  if (!masked || !snode_has_bits(masked)) return;
  at = address_from_root(&b, field->tree, field->node, indices);
  address_name(&at, masked, mask);
  prefetch_address(&b, ir_offset(&b, mask[0], address_divide(&b, mask[1], 64, false), 8, 0), true);
}

/* Prefetches the list's length, and with it most of its slots. */
static void prefetch_list(Prefetch *a, const IrInst *append) {
  const SNode *list = list_of(a->l, append);
  int tree = a->l->kernel->levels.items[append->level].tree;
  IrInst *indices[SNODE_MAX_AXES];
  if (!enter_large(a, tree, append, list->rank - 1, indices)) return;
  ir_note(a->l->kernel, append->line, "in a large tree, the list is prefetched %d iterations ahead",
          a->distance);
  IrBuilder b = if_inside(a, address_list_inside(&a->b, list, indices), append);
  prefetch_address(&b, address_to_list(&b, tree, list, indices, false).at, true);
}

void prefetch_places(Lower *l, IrRegion *body) {
  bool is_range = l->task && !l->is_called && l->task->kind == TASK_RANGE;
  if (!is_range || !l->ctx->target.prefetches || l->ctx->forces_lanes || !body->first) return;
  if (rewrite_count(body) > MOST_INSTS) return;
  Targets found = {.l = l, .body = body};
  for (IrInst *inst = body->first; inst && found.count < MOST_PLACES;
       inst = ir_following(inst, body))
    add_target(&found, inst);
  if (found.has_atomic && l->ctx->prefers_lanes) return;
  int distance = found.has_atomic ? DISTANCE : LONG_DISTANCE;
  Prefetch a = {.l = l, .distance = distance, .body = body, .first = body->first};
  for (int k = 0; k < found.count; k++)
    if (found.what[k]->op == IR_APPEND) prefetch_list(&a, found.what[k]);
    else if (table_of(l, found.what[k]))
      prefetch_table(&a, found.what[k], table_of(l, found.what[k]));
    else prefetch_element(&a, found.what[k]);
  a.distance /= 2;
  for (int k = 0; k < found.count; k++)
    if (found.what[k]->op == IR_PLACE && table_of(l, found.what[k]))
      prefetch_element(&a, found.what[k]);
}
