/* elements.c - reversal of accesses to elements: a read adds to the gradient, a write takes it and
 * clears it. */
#include "pass/gradient/adjoint.h"

#include "ir/facts.h"
#include "pass/gradient/split_updates.h"
#include "pass/rewrite.h"

/* The indices of an access, and the place of its element's gradient. */
typedef struct Element {
  IrInst *indices[SNODE_MAX_AXES];
  IrInst *gradient;
  const IrField *field;
} Element;

static Element element_of(Adjoint *a, IrBuilder *b, const IrInst *access) {
  const IrInst *place = access->operands[0];
  int gradient = companion_field(a->kernel, place->field, a->plans.companion);
  ASSERT(gradient >= 0, "an element that is reversed has a gradient");
  Element element = {.field = &a->kernel->fields.items[place->field]};
  for (int k = 0; k < place->operand_count; k++)
    element.indices[k] = adjoint_primal(a, b, place->operands[k]);
  element.gradient = ir_place(b, gradient, element.indices);
  element.gradient->inside = place->inside;
  return element;
}

/* Is the element one of the cell that a loop over active cells of its own level visits? */
static bool is_visited(const Adjoint *a, const IrInst *access) {
  const IrInst *place = access->operands[0];
  const IrInst *loop = place->operand_count ? place->operands[0]->region->owner : NULL;
  if (!loop || loop->op != IR_ACTIVE) return false;
  const SNode *node = a->kernel->fields.items[place->field].node;
  return a->kernel->levels.items[loop->level].node == node &&
         facts_is_own_place(place, loop->regions[0]);
}

static IrInst *is_within(IrBuilder *b, IrInst *index, int64_t extent) {
  IrInst *from = ir_binary(b, IR_GE, index, ir_const_int(b, index->type, 0));
  if (type_most(index->type) < extent) return from;
  IrInst *to = ir_binary(b, IR_LT, index, ir_const_int(b, index->type, extent));
  return ir_binary(b, IR_BAND, from, to);
}

/* Whether the element is inside the shape. NULL: it is. */
static IrInst *is_inside(IrBuilder *b, const IrInst *access, const Element *element) {
  const SNode *node = element->field->node;
  IrInst *condition = NULL;
  for (int k = 0; k < node->rank && !access->operands[0]->inside; k++)
    if (!snode_is_unbounded(node, k))
      condition = rewrite_both(b, condition, is_within(b, element->indices[k], node->shape[k]));
  return condition;
}

/* Whether the element's cell is active: what is read in an inactive cell is 0 and has no gradient,
 * and the adjoint activates nothing. NULL: it is. */
static IrInst *is_active(Adjoint *a, IrBuilder *b, const IrInst *access, const Element *element) {
  const SNode *node = element->field->node;
  if (is_visited(a, access) || !snode_sparse_level(node)) return NULL;
  IrInst *active = ir_emit(b, IR_IS_ACTIVE, TYPE(BOOL), node->rank, element->indices);
  active->level = ir_add_level(a->kernel, node, node->name);
  return active;
}

/* A place of the gradient in the builder's region. */
static IrInst *gradient_in(IrBuilder *b, const Element *element) {
  IrInst *place = ir_place(b, element->gradient->field, element->indices);
  place->inside = element->gradient->inside;
  return place;
}

/* A builder where the element's cell is active. What is outside the shape has no gradient either:
 * there a write does nothing, and as a `further` one it is not counted. */
static IrBuilder where_active(Adjoint *a, IrBuilder *b, const IrInst *access,
                              const Element *element) {
  IrInst *condition = is_active(a, b, access, element);
  return condition ? adjoint_inside(a, ir_if(b, condition)->regions[0], b) : *b;
}

void adjoint_reverse_load(Adjoint *a, IrBuilder *b, const IrInst *load) {
  IrInst *adjoint = adjoint_of(a, b, load);
  if (!adjoint) return;
  Element element = element_of(a, b, load);
  IrBuilder in = where_active(a, b, load, &element);
  ir_update(&in, IR_UPDATE_ADD, gradient_in(&in, &element), adjoint)->further = true;
}

void adjoint_reverse_store(Adjoint *a, IrBuilder *b, const IrInst *store) {
  Element element = element_of(a, b, store);
  IrInst *adjoint = ir_load(b, element.gradient);
  IrBuilder in = where_active(a, b, store, &element);
  ir_store(&in, gradient_in(&in, &element), ir_zero(&in, adjoint->type))->further = true;
  adjoint_add(a, b, store->operands[1], ir_convert(b, adjoint, store->operands[1]->type));
}

/* Of a minimum or maximum: an iteration whose value is the one that won takes the gradient, and
 * leaves 0 to others with the same value, and to what the element was before. */
static void reverse_winner(Adjoint *a, IrBuilder *b, const IrInst *update) {
  Element element = element_of(a, b, update);
  const IrInst *value = update->operands[1], *winner = update->next;
  IrInst *won = adjoint_primal(a, b, winner), *taken = ir_var(b, value->type);
  IrInst *own = ir_convert(b, adjoint_primal(a, b, value), won->type);
  IrInst *condition = rewrite_both(
      b, ir_binary(b, IR_EQ, own, won),
      rewrite_both(b, is_inside(b, update, &element), is_active(a, b, update, &element)));
  ir_set(b, taken, ir_zero(b, value->type));
  IrBuilder in = adjoint_inside(a, ir_if(b, condition)->regions[0], b);
  IrInst *place = ir_place(&in, element.gradient->field, element.indices);
  IrInst *all = ir_rmw(&in, IR_UPDATE_EXCHANGE, place, ir_zero(&in, won->type));
  ir_set(&in, taken, ir_convert(&in, all, value->type));
  adjoint_add(a, b, value, ir_get(b, taken));
}

static void reverse_factor(Adjoint *a, IrBuilder *b, const IrInst *update) {
  Element element = element_of(a, b, update);
  IrInst *factor = adjoint_primal(a, b, update->operands[1]);
  IrBuilder in = where_active(a, b, update, &element);
  ir_update(&in, (IrUpdate)update->imm, gradient_in(&in, &element), factor)->further = true;
}

void adjoint_reverse_update(Adjoint *a, IrBuilder *b, const IrInst *update) {
  UpdateRule rule = plan_update_rule(&a->plans, update);
  if (rule == UPDATE_CHOOSES) return reverse_winner(a, b, update);
  if (rule == UPDATE_SCALES) return reverse_factor(a, b, update);
  if (!plan_is_active(&a->plans, update->operands[1])) return;
  Element element = element_of(a, b, update);
  IrInst *adjoint = ir_load(b, element.gradient);
  if (update->imm == IR_UPDATE_SUB) adjoint = ir_unary(b, IR_NEG, adjoint);
  adjoint_add(a, b, update->operands[1], ir_convert(b, adjoint, update->operands[1]->type));
}
