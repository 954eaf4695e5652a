/* lists.c - the lists of dynamic SNodes in kernels, what a call names and gives: append, length, pop, and `for k, v in x:items(i)`.
 *
 * A list is named by the indices of its level without its own axis. Called on a field, pop and items give that field's
 * value; called on the SNode, those of all its fields, in the order of place. A value is given number by number, so a
 * vec2 stands for the two components of a field of vec2. */
#include "resolve/resolve.h"

/* -- which list ------------------------------------------------------------------------------------------------ */

static bool check_object_kind(Sema *s, Expr *e, const Entity *object) {
  const SNode *node = object->node;
  if (!snode_has_lists(node)) {
    const char *where = object->kind == ENTITY_NODE ? "is" : "lies under";
    return sema_fail(s, e, RG_ERROR_CALL, "declare a list: block:dynamic(\"k\", 1024):place(x)",
                     "'%s' belongs to the lists of dynamic nodes, and '%s' %s a %s one", object->method->name, object->name,
                     where, snode_kind_text(node->kind));
  }
  if (snode_axis_position(node, node->axes[0]) >= object->indexed) return true;
  return sema_fail(s, e, RG_ERROR_CALL, "give all indices in the call", "the first axis of '%s' is that of its lists", object->name);
}

/* As many of the arguments as have a number for each axis above the list's own. */
static bool take_indices(Sema *s, Expr *e, Entity *object) {
  int needed = object->node->rank - 1 - object->indexed, count = 0;
  object->taken = 0;
  while (count < needed && object->taken < e->list.count) {
    Exprs one = {0};
    int more;
    vec_push(s->scratch, &one, e->list.items[object->taken++]);
    if (!resolve_indices(s, &one, &more)) return false;
    count += more;
  }
  if (count == needed) return true;
  resolve_fail_indices(s, e, object, needed, count);
  return false;
}

static bool take_no_more(Sema *s, Expr *e, const Entity *object) {
  int needed = object->node->rank - 1 - object->indexed;
  if (object->taken == e->list.count) return true;
  resolve_fail_indices(s, e, object, needed, needed + e->list.count - object->taken);
  return false;
}

static bool take_values(Sema *s, Expr *e, const Entity *object) {
  int given = 0;
  for (int i = object->taken; i < e->list.count; i++) {
    if (!resolve_value(s, e->list.items[i])) return false;
    given += type_parts(shape_of(e->list.items[i]));
  }
  if (given != object->node->component_count)
    return sema_fail(s, e, RG_ERROR_CALL_COUNT, "give a value for each field, in the order of place",
                     "an element of '%s' has %d %s, and 'append' was given %d", object->name, object->node->component_count,
                     object->node->component_count == 1 ? "number" : "numbers", given);
  return resolve_refuse_many(s, &e->list);
}

/* -- what comes out --------------------------------------------------------------------------------------------- */

/* The other results of a pop are locals without a name of their own. */
static void add_results(Sema *s, Expr *e, const Entity *object) {
  const SNodeComponent *field;
  for (int k = 0; (field = list_field(object->node, object, k)); k++) {
    Local *local = build_hidden(s, str_of("pop"), e->pos);
    resolve_declare(s, local);
    local->type = type_element(field->whole);
    local->shape = type_shape(field->whole);
    local->is_annotated = local->has_shape = true;
    vec_push(s->scratch, &e->popped, local);
  }
}

Entity resolve_list_call(Sema *s, Expr *e, Entity object) {
  int op = object.method->op;
  if (!check_object_kind(s, e, &object) || !take_indices(s, e, &object)) return (Entity){0};
  if (op == IR_APPEND ? !take_values(s, e, &object) : !take_no_more(s, e, &object)) return (Entity){0};
  if (!object.node->component_count) {
    sema_fail(s, e, RG_ERROR_CALL, "place a field under it", "'%s' has no fields to put into its lists", object.name);
    return (Entity){0};
  }
  const SNodeComponent *field = list_field(object.node, &object, 0);
  if (op == IR_POP && !e->popped.count) add_results(s, e, &object);
  object.component = (int)(field - object.node->components);
  object.kind = ENTITY_VALUE;
  object.type = op == IR_POP ? type_element(field->whole) : TYPE(I32);
  object.shape = op == IR_POP ? type_shape(field->whole) : (Shape){0};
  return object;
}

bool resolve_items(Sema *s, Expr *e, const Entity *object, LoopHead *head) {
  Entity call = *object;
  call.kind = sema_strip(e->left)->kind == AST_METHOD ? ENTITY_NONE : e->left->entity.kind;
  if (!check_object_kind(s, e, &call) || !take_indices(s, e, &call) || !take_no_more(s, e, &call)) return false;
  e->entity.taken = call.taken;
  head->items = e;
  head->node = call.node;
  head->source = call.source;
  head->name = call.name;
  head->axis_count = 1;
  head->is_serial = true;
  return true;
}

/* -- variables of items -------------------------------------------------------------------------------------------- */

void resolve_item_variables(Sema *s, const LoopHead *head, const Stmt *stmt) {
  if (head->is_vector) {
    sema_fail(s, head->items, RG_ERROR_LOOP, NULL, "a list has one axis, so there is nothing for ':vec()' to put together");
    return;
  }
  for (int i = 1; i < stmt->locals.count; i++) {
    const SNodeComponent *field = list_item_field(s, head, i - 1);
    Local *ast = stmt->locals.items[i];
    if (!field) {
      sema_fail_pos(s, ast->pos, ast->name.length, RG_ERROR_LOOP, NULL, "'items' gives a slot and %d %s here, and no value for '%s'",
                    i - 1, i == 2 ? "value" : "values", sema_text(s, ast->name));
      return;
    }
    Local *local = ast;
    local->shape = type_shape(field->whole);
    local->has_shape = true;
  }
}
