/* ahead.c - elements at computed places are fetched some iterations before they are written.
 *
 *   for t in rg.range(n) do x[hash(t)] = 1 end      if the tree is large: walk to x[hash(t + 12)],
 *                                               =>  fetch the element, and the word with its bit
 *
 * It is done where a processor does not overlap the misses of iterations by itself: an atomic
 * update, and the look at a mask's bit, wait for memory, and what comes after them waits, too. The
 * index is computed a second time, from the loop's index plus a distance: so it may hang on that,
 * on what the host region passed, and on loads, but on no inner loop. A fetch changes nothing: the
 * walk finds nodes, and what is outside the shape or absent is not fetched. The loop may run past
 * its end by the distance, as loads of elements outside the shape give zero. */
#include "pass/places.h"

enum {
  DISTANCE = 12,   /* iterations */
  FAR = 32,        /* where they may run side by side */
  MOST_PLACES = 2, /* that are fetched */
  MOST_INSTS = 160 /* of a body for which it may pay */
};

typedef struct Ahead {
  Lower *l;
  int distance;
  IrRegion *body;
  IrBuilder b;     /* before its first inst */
  IrInst **later;  /* by id: the value, `distance` iterations later */
  bool failed;
} Ahead;

/* -- indices, later ---------------------------------------------------------------------------- */

static IrInst *later(Ahead *a, IrInst *inst);

static IrInst *later_param(Ahead *a, IrInst *param) {
  const IrRegion *body = a->body;
  if (vec_last(&body->params) == param)
    return ir_binary(&a->b, IR_ADD, param, ir_const_int(&a->b, param->type, a->distance));
  for (int k = 0; k < body->params.count; k++)
    if (body->params.items[k] == param) return param;
  return NULL;
}

static bool sets(void *data, IrInst *inst) {
  return !(inst->op == IR_SET && inst->operands[0] == data);
}

/* The last SET before the GET in its region, if nothing between may be another. */
static IrInst *value_of(const IrInst *get) {
  IrInst *var = get->operands[0];
  for (IrInst *at = get->previous; at; at = at->previous) {
    if (at->op == IR_SET && at->operands[0] == var) return at->operands[1];
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (at->regions[i] && !ir_walk(at->regions[i], sets, var)) return NULL;
  }
  return NULL;
}

static IrInst *later_load(Ahead *a, const IrInst *load) {
  const IrInst *place = load->operands[0];
  IrInst *indices[SNODE_MAX_AXES];
  if (place->op != IR_PLACE) return NULL;
  for (int k = 0; k < place->operand_count; k++)
    if (!(indices[k] = later(a, place->operands[k]))) return NULL;
  IrInst *copy = ir_load(&a->b, ir_place(&a->b, place->field, indices));
  places_lower_access(a->l, copy);
  return copy;
}

static IrInst *later_pure(Ahead *a, const IrInst *inst) {
  IrInst *operands[8];
  if (inst->operand_count > 8 || inst->regions[0]) return NULL;
  for (int k = 0; k < inst->operand_count; k++)
    if (!(operands[k] = later(a, inst->operands[k]))) return NULL;
  IrInst *copy = ir_emit(&a->b, inst->op, inst->type, inst->operand_count, operands);
  copy->imm = inst->imm;
  return copy;
}

static IrInst *make_later(Ahead *a, IrInst *inst) {
  switch (inst->op) {
  case IR_PARAM: return later_param(a, inst);
  case IR_PLACE: case IR_RANDOM: return NULL;
  case IR_LOAD: return later_load(a, inst);
  case IR_GET: {
    IrInst *value = value_of(inst);
    return value ? later(a, value) : NULL;
  }
  default: return ir_effects(inst) & IR_PURE ? later_pure(a, inst) : NULL;
  }
}

/* NULL: it hangs on something else. */
static IrInst *later(Ahead *a, IrInst *inst) {
  if (a->failed) return NULL;
  if (!a->later[inst->id] && !(a->later[inst->id] = make_later(a, inst))) a->failed = true;
  return a->later[inst->id];
}

/* -- what is fetched --------------------------------------------------------------------------- */

static bool is_atomic(const IrInst *access) {
  return (access->op == IR_UPDATE && !access->plain) || access->op == IR_RMW ||
         access->op == IR_CAS;
}

static bool waits(const Lower *l, const IrInst *access) {
  const IrInst *place = access->operands[0];
  const IrField *field = &l->kernel->fields.items[place->field];
  if (access->private_copy || field->array >= 0) return false;
  for (const SNode *at = field->node; at; at = at->parent)
    if (snode_has(at, SNODE_UNBOUNDED) || snode_has_lists(at)) return false;
  if (!place->active && snode_is_masked(field->node, NULL)) return true;
  return is_atomic(access);
}

/* The first number of an element stands for all. */
static bool is_computed(const Lower *l, const IrRegion *body, const IrInst *place) {
  const IrField *field = &l->kernel->fields.items[place->field];
  bool is_computed = false;
  for (int k = 0; k < place->operand_count; k++) {
    IndexRange range = ranges_of(place->operands[k]);
    is_computed |= range.known && range.base && ranges_param(body, range.base) < 0;
  }
  return is_computed && !field->node->components[field->component].part;
}

typedef struct Found {
  const Lower *l;
  const IrRegion *body;
  IrInst *places[MOST_PLACES];
  int count;
  bool has_atomic; /* then iterations run one after the other */
} Found;

static bool find_place(void *data, IrInst *inst) {
  Found *found = data;
  if (!rewrite_is_write(inst->op) || inst->operands[0]->op != IR_PLACE) return true;
  if (waits(found->l, inst) && is_computed(found->l, found->body, inst->operands[0])) {
    found->places[found->count++] = inst->operands[0];
    found->has_atomic |= is_atomic(inst);
  }
  return found->count < MOST_PLACES;
}

static void fetch(IrBuilder *b, IrInst *address) {
  ir_call(b, RT_FETCH, 0, 0, 1, &address);
}

static void fetch_place(Ahead *a, IrInst *place) {
  const IrField *field = &a->l->kernel->fields.items[place->field];
  IrInst *indices[SNODE_MAX_AXES], *mask[ADDRESS_MAX_NAME];
  a->failed = false;
  for (int k = 0; k < place->operand_count; k++)
    if (!(indices[k] = later(a, place->operands[k]))) return;
  ir_note(a->l->kernel, place->line, "the element is fetched %d iterations ahead in a large tree",
          a->distance);
  IrBuilder b = a->b;
  IrInst *goes = ir_call(&b, RT_TREE_LARGE, field->tree, 0, 0, NULL),
         *inside = address_inside(&b, field->node, indices);
  IrInst *branch = ir_if(&b, inside ? ir_binary(&b, IR_BAND, goes, inside) : goes);
  b = rewrite_inside(a->l->kernel, branch->regions[0], place);
  Address at = address_from_root(&b, field->tree, field->node, indices);
  fetch(&b, places_element(a->l, &at, field));
  const SNode *masked = snode_sparse_level(field->node);
  if (!masked || !snode_has_bits(masked)) return;
  at = address_from_root(&b, field->tree, field->node, indices);
  address_name(&at, masked, mask);
  fetch(&b, address_offset(&b, mask[0], address_divide(&b, mask[1], 64), 8, 0));
}

void ahead_fetch(Lower *l, IrRegion *body) {
  bool is_range = l->task && !l->is_called && l->task->kind == TASK_RANGE;
  if (!is_range || l->ctx->for_cuda || l->ctx->forces_lanes || !body->first) return;
  if (rewrite_count(body) > MOST_INSTS) return;
  Found found = {.l = l, .body = body};
  ir_walk(body, find_place, &found);
  Ahead a = {.l = l, .distance = found.has_atomic ? DISTANCE : FAR, .body = body};
  a.b = rewrite_before(l->kernel, body->first);
  a.later = scratch_array(l->kernel->scratch, IrInst *, l->kernel->next_id);
  for (int k = 0; k < found.count; k++) fetch_place(&a, found.places[k]);
}
