/* lists.c - calls on the lists of dynamic SNodes: append, length, pop, and
 * `for k, v in x:items(i)`; which list they refer to, and what they return.
 *
 * A list is identified by the indices of its level without its own axis. Called on a field, pop and
 * items return that field's value; called on the SNode, those of all its fields, in the order they
 * were placed. A value is passed number by number, so a vec2 fills the two components of a vec2
 * field. */
#include "resolve/resolve.h"

/* -- which list -------------------------------------------------------------------------------- */

static bool check_object_kind(Resolve *r, Expr *e, const MethodCall *m) {
  const SNode *node = m->object.field.node;
  if (!snode_has_lists(node)) {
    const char *where = m->object.kind == ENTITY_NODE ? "is" : "is under";
    return sema_fail(r->s, e, RG_ERROR_CALL, "declare a list: block:dynamic(\"k\", 1024):place(x)",
                     "'%s' is a method of lists, but '%s' %s a %s node", m->method->name,
                     m->object.name, where, snode_kind_text(node->kind));
  }
  if (snode_axis_position(node, node->axes[0]) >= m->object.field.index_count) return true;
  return sema_fail(r->s, e, RG_ERROR_CALL, "give all indices in the call",
                   "the first axis of '%s' is that of its lists", m->object.name);
}

/* Takes the leading arguments, one for each axis above the list's own. */
static bool take_indices(Resolve *r, Expr *e, MethodCall *m) {
  int needed = m->object.field.node->rank - 1 - m->object.field.index_count, count = 0;
  m->taken = 0;
  while (count < needed && m->taken < e->list.count) {
    Exprs one = {0};
    int more;
    vec_push(r->scratch, &one, e->list.items[m->taken++]);
    if (!resolve_indices(r, &one, &more)) return false;
    count += more;
  }
  if (count == needed) return true;
  resolve_fail_indices(r, e, m, needed, count);
  return false;
}

static bool take_no_more(Resolve *r, Expr *e, const MethodCall *m) {
  int needed = m->object.field.node->rank - 1 - m->object.field.index_count;
  if (m->taken == e->list.count) return true;
  resolve_fail_indices(r, e, m, needed, needed + e->list.count - m->taken);
  return false;
}

/* Derivatives of elements are zero where these are appended. */
static int appended_count(const SNode *node) {
  int count = 0;
  for (int k = 0; k < node->component_count; k++) count += !snode_is_derivative(node, k);
  return count;
}

static bool take_values(Resolve *r, Expr *e, const MethodCall *m) {
  int given = 0;
  Entity all = {.kind = ENTITY_NODE};
  for (int i = m->taken; i < e->list.count; i++) {
    const SNodeComponent *field = list_field(m->object.field.node, &all, i - m->taken);
    if (field && sema_strip(e->list.items[i])->kind == AST_TABLE) {
      Expr *made = struct_coerce(r, e->list.items[i], field->whole, "an element");
      if (!made) return false;
      e->list.items[i] = made;
    }
    if (!resolve_value(r, e->list.items[i])) return false;
    given += type_parts(shape_of(e->list.items[i]));
  }
  int count = appended_count(m->object.field.node);
  if (given != count)
    return sema_fail(r->s, e, RG_ERROR_CALL_COUNT,
                     "pass a value for each field, in the order of :place(..)",
                     "an element of '%s' has %d %s, and 'append' was given %d", m->object.name,
                     count, count == 1 ? "number" : "numbers", given);
  return resolve_refuse_multiple(r, &e->list);
}

/* -- results ---------------------------------------------------------------------------- */

/* The other results of a pop are unnamed locals. */
static void add_results(Resolve *r, Expr *e, const MethodCall *m) {
  const SNodeComponent *field;
  for (int k = 0; (field = list_field(m->object.field.node, &m->object, k)); k++) {
    Local *local = build_hidden(r, str_of("pop"), e->pos);
    resolve_declare(r, local);
    local->type = type_base(field->whole);
    local->shape = type_shape(field->whole);
    local->is_annotated = local->has_shape = true;
    vec_push(r->scratch, &e->popped, local);
  }
}

bool resolve_list(Resolve *r, Expr *e, MethodCall *m, Type *type, Shape *shape) {
  const SNode *node = field_of(&m->object)->node;
  bool pops = m->method->op == IR_POP, appends = m->method->op == IR_APPEND;
  if (!check_object_kind(r, e, m) || !take_indices(r, e, m)) return false;
  if (appends ? !take_values(r, e, m) : !take_no_more(r, e, m)) return false;
  if (!node->component_count)
    return sema_fail(r->s, e, RG_ERROR_CALL, "place a field under it",
                     "'%s' has no fields that its lists could hold", m->object.name);
  const SNodeComponent *field = list_field(node, &m->object, 0);
  if (pops && !e->popped.count) add_results(r, e, m);
  m->component = (int)(field - node->components);
  *type = pops ? type_base(field->whole) : TYPE(I32);
  *shape = pops ? type_shape(field->whole) : (Shape){0};
  return true;
}

bool resolve_items(Resolve *r, Expr *e, LoopHead *head) {
  MethodCall *m = &e->call.method;
  const FieldRef *field = field_of(&m->object);
  if (!check_object_kind(r, e, m) || !take_indices(r, e, m) || !take_no_more(r, e, m)) return false;
  head->items = e;
  head->node = field->node;
  head->source = field->source;
  head->name = m->object.name;
  head->axis_count = 1;
  head->is_serial = true;
  return true;
}

/* -- variables of items ------------------------------------------------------------------------ */

void resolve_item_variables(Resolve *r, const LoopHead *head, const Stmt *stmt) {
  if (head->is_vector) {
    sema_fail(r->s, head->items, RG_ERROR_LOOP, NULL,
              "a list has one axis, so there is nothing for ':vec()' to combine");
    return;
  }
  for (int i = 1; i < stmt->locals.count; i++) {
    const SNodeComponent *field = list_item_field(head, i - 1);
    Local *local = stmt->locals.items[i];
    if (!field) {
      sema_fail_pos(r->s, local->pos, local->name.length, RG_ERROR_LOOP, NULL,
                    "'items' gives a slot and %d %s here, and no value for '%s'", i - 1,
                    i == 2 ? "value" : "values", sema_text(r->s, local->name));
      return;
    }
    local->shape = type_shape(field->whole);
    local->has_shape = true;
  }
}
