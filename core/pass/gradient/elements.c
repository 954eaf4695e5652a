/* elements.c - reversal of accesses to elements: that of a read adds to the gradient, that of a
 * write reads it and clears it. */
#include "pass/gradient/adjoint.h"

#include "ir/facts.h"
#include "pass/address/address.h"
#include "pass/rewrite.h"

/* The indices of an access, and the place of its element's gradient. */
typedef struct Element {
  IrInst *indices[SNODE_MAX_AXES];
  IrInst *gradient;
  const IrField *field;
} Element;

static Element locate_element(Adjoint *a, IrBuilder *b, const IrInst *access) {
  const IrInst *place = access->operands[0];
  int gradient = companion_field(a->kernel, place->field, a->plans.companion);
  ASSERT(gradient >= 0, "an element that is reversed has a gradient");
  Element element = {.field = &a->kernel->fields.items[place->field]};
  for (int k = 0; k < place->operand_count; k++)
    element.indices[k] = adjoint_primal(a, b, place->operands[k]);
  element.gradient = ir_place(b, gradient, element.indices);
  element.gradient->in_bounds = place->in_bounds;
  return element;
}

/* Is the element in the cell that the enclosing loop over active cells visits? */
static bool is_visited(const Adjoint *a, const IrInst *access) {
  const IrInst *place = access->operands[0];
  const IrInst *loop = place->operand_count ? place->operands[0]->region->owner : NULL;
  if (!loop || loop->op != IR_ACTIVE) return false;
  const SNode *node = a->kernel->fields.items[place->field].node;
  return a->kernel->levels.items[loop->level].node == node &&
         facts_is_own_place(place, loop->regions[0]);
}

/* Emits the test whether the element is inside the shape; NULL: it always is. */
static IrInst *emit_inside_test(IrBuilder *b, const IrInst *access, const Element *element) {
  bool is_inside = access->operands[0]->in_bounds;
  return is_inside ? NULL : address_inside(b, element->field->node, element->indices);
}

/* Emits the test whether the element's cell is active, NULL: it always is. A read of an inactive
 * cell gives 0, without a gradient, and the adjoint must not activate the cell. */
static IrInst *emit_active_test(Adjoint *a, IrBuilder *b, const IrInst *access,
                                const Element *element) {
  const SNode *node = element->field->node;
  if (is_visited(a, access) || !snode_sparse_level(node)) return NULL;
  return ir_is_active(b, node, element->indices);
}

/* A builder inside a test that the element's cell is active. Elements outside the shape have no
 * gradient either, but need no test: there a write does nothing, and `further` ones are not
 * counted. */
static IrBuilder inside_active_test(Adjoint *a, IrBuilder *b, const IrInst *access,
                                    const Element *element) {
  IrInst *condition = emit_active_test(a, b, access, element);
  return condition ? rewrite_into(b, ir_if(b, condition)->regions[0]) : *b;
}

void adjoint_reverse_load(Adjoint *a, IrBuilder *b, const IrInst *load) {
  IrInst *adjoint = adjoint_of(a, b, load);
  if (!adjoint) return;
  Element element = locate_element(a, b, load);
  IrBuilder in = inside_active_test(a, b, load, &element);
  ir_update(&in, IR_UPDATE_ADD, element.gradient, adjoint)->uncounted = true;
}

void adjoint_reverse_store(Adjoint *a, IrBuilder *b, const IrInst *store) {
  Element element = locate_element(a, b, store);
  IrInst *adjoint = ir_load(b, element.gradient);
  IrBuilder in = inside_active_test(a, b, store, &element);
  ir_store(&in, element.gradient, ir_zero(&in, adjoint->type))->uncounted = true;
  adjoint_add(a, b, store->operands[1], ir_convert(b, adjoint, store->operands[1]->type));
}

/* Reverses a shared minimum or maximum. An iteration whose value equals the final one takes the
 * whole gradient; others with the same value, and the element's initial value, then find 0. */
static void reverse_winner(Adjoint *a, IrBuilder *b, const IrInst *update) {
  Element element = locate_element(a, b, update);
  const IrInst *value = update->operands[1], *winner = update->next;
  IrInst *won = adjoint_primal(a, b, winner), *taken = ir_var(b, value->type);
  IrInst *own = ir_convert(b, adjoint_primal(a, b, value), won->type);
  IrInst *condition = rewrite_both(b, ir_binary(b, IR_EQ, own, won),
                                   rewrite_both(b, emit_inside_test(b, update, &element),
                                                emit_active_test(a, b, update, &element)));
  ir_set(b, taken, ir_zero(b, value->type));
  IrBuilder in = rewrite_into(b, ir_if(b, condition)->regions[0]);
  IrInst *all = ir_rmw(&in, IR_UPDATE_EXCHANGE, element.gradient, ir_zero(&in, won->type));
  ir_set(&in, taken, ir_convert(&in, all, value->type));
  adjoint_add(a, b, value, ir_get(b, taken));
}

static void reverse_factor(Adjoint *a, IrBuilder *b, const IrInst *update) {
  Element element = locate_element(a, b, update);
  IrInst *factor = adjoint_primal(a, b, update->operands[1]);
  IrBuilder in = inside_active_test(a, b, update, &element);
  ir_update(&in, (IrUpdate)update->imm, element.gradient, factor)->uncounted = true;
}

void adjoint_reverse_update(Adjoint *a, IrBuilder *b, const IrInst *update) {
  UpdateRule rule = plan_update_rule(&a->plans, update);
  if (rule == UPDATE_CHOOSES) return reverse_winner(a, b, update);
  if (rule == UPDATE_SCALES) return reverse_factor(a, b, update);
  if (!plan_is_active(&a->plans, update->operands[1])) return;
  Element element = locate_element(a, b, update);
  IrInst *adjoint = ir_load(b, element.gradient);
  if (update->imm == IR_UPDATE_SUB) adjoint = ir_unary(b, IR_NEG, adjoint);
  adjoint_add(a, b, update->operands[1], ir_convert(b, adjoint, update->operands[1]->type));
}
