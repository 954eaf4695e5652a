/* lists.c - the lists of dynamic SNodes in kernels, from call to IR: append, length, pop, and `for k, v in x:items(i)`.
 *
 * A list is named by the indices of its level without its own axis. Called on a field, pop and items give that field's
 * value; called on the SNode, those of all its fields, in the order of place. A value is given number by number, so a
 * vec2 stands for the two components of a field of vec2. */
#include "sema/inline.h"

/* -- which list ------------------------------------------------------------------------------------------------ */

static bool check_object_kind(Sema *s, AstExpr *e, const Entity *object) {
  const SNode *node = object->node;
  if (node->kind != SNODE_DYNAMIC) {
    const char *where = object->kind == ENTITY_NODE ? "is" : "lies under";
    return sema_fail(s, e, RG_ERROR_CALL, "declare a list: block:dynamic(\"k\", 1024):place(x)",
                     "'%s' belongs to the lists of dynamic nodes, and '%s' %s a %s one", object->method->name, object->name,
                     where, snode_kind_text(node->kind));
  }
  if (snode_axis_position(node, node->axes[0]) >= object->indexed) return true;
  return sema_fail(s, e, RG_ERROR_CALL, "give all indices in the call", "the first axis of '%s' is that of its lists", object->name);
}

/* As many of the arguments as have a number for each axis above the list's own. */
static bool take_indices(Sema *s, AstExpr *e, Entity *object) {
  int needed = object->node->rank - 1 - object->indexed, count = 0;
  object->taken = 0;
  while (count < needed && object->taken < e->list.count) {
    AstExprs one = {0};
    int more;
    vec_push(s->scratch, &one, e->list.items[object->taken++]);
    if (!resolve_indices(s, &one, &more)) return false;
    count += more;
  }
  if (count == needed) return true;
  resolve_fail_indices(s, e, object, needed, count);
  return false;
}

static bool take_no_more(Sema *s, AstExpr *e, const Entity *object) {
  int needed = object->node->rank - 1 - object->indexed;
  if (object->taken == e->list.count) return true;
  resolve_fail_indices(s, e, object, needed, needed + e->list.count - object->taken);
  return false;
}

static bool take_values(Sema *s, AstExpr *e, const Entity *object) {
  int given = 0;
  for (int i = object->taken; i < e->list.count; i++) {
    if (!resolve_value(s, e->list.items[i])) return false;
    given += shape_count(shape_of(s, e->list.items[i]));
  }
  if (given != object->node->component_count)
    return sema_fail(s, e, RG_ERROR_CALL_COUNT, "give a value for each field, in the order of place",
                     "an element of '%s' has %d %s, and 'append' was given %d", object->name, object->node->component_count,
                     object->node->component_count == 1 ? "number" : "numbers", given);
  return inline_refuse_many(s, &e->list);
}

/* -- what comes out --------------------------------------------------------------------------------------------- */

/* The fields of the SNode, or the one the call names: `number` of them; NULL behind the last. */
static const SNodeComponent *field_number(const SNode *node, const Entity *object, int number) {
  if (object->kind == ENTITY_FIELD) return number ? NULL : &node->components[object->component];
  for (int k = 0; k < node->component_count; k++)
    if (node->components[k].part == 0 && number-- == 0) return &node->components[k];
  return NULL;
}

/* The other results of a pop are locals without a name of their own. */
static void add_results(Sema *s, AstExpr *e, const Entity *object) {
  Inline *in = scratch_new(s->scratch, Inline);
  const SNodeComponent *field;
  in->name = "pop";
  for (int k = 0; (field = field_number(object->node, object, k)); k++) {
    AstLocal like = {.name = str_of(in->name), .pos = e->pos, .owner = s->frame ? s->frame->function : (AstFunction *)s->function};
    AstLocal *result = clone_new_local(s, &like);
    resolve_declare(s, result);
    Local *local = local_of(s, result);
    local->type = type_element(field->whole);
    local->shape = shape_of_type(field->whole);
    local->is_annotated = local->has_shape = true;
    vec_push(s->scratch, &in->results, result);
  }
  map_put_int(&s->pops, (uintptr_t)e, in);
}

Entity list_call(Sema *s, AstExpr *e, Entity object) {
  int op = object.method->op;
  if (!check_object_kind(s, e, &object) || !take_indices(s, e, &object)) return (Entity){0};
  if (op == IR_APPEND ? !take_values(s, e, &object) : !take_no_more(s, e, &object)) return (Entity){0};
  if (!object.node->component_count) {
    sema_fail(s, e, RG_ERROR_CALL, "place a field under it", "'%s' has no fields to put into its lists", object.name);
    return (Entity){0};
  }
  const SNodeComponent *field = field_number(object.node, &object, 0);
  if (op == IR_POP && !map_find_int(&s->pops, (uintptr_t)e)) add_results(s, e, &object);
  object.component = (int)(field - object.node->components);
  object.kind = ENTITY_VALUE;
  object.type = op == IR_POP ? type_element(field->whole) : TYPE(I32);
  object.shape = op == IR_POP ? shape_of_type(field->whole) : (Shape){0};
  return object;
}

bool list_items(Sema *s, AstExpr *e, const Entity *object, LoopHead *head) {
  Entity call = *object;
  call.kind = sema_strip(e->left)->kind == AST_METHOD ? ENTITY_NONE : entity_of(s, e->left)->kind;
  if (!check_object_kind(s, e, &call) || !take_indices(s, e, &call) || !take_no_more(s, e, &call)) return false;
  entity_of(s, e)->taken = call.taken;
  head->items = e;
  head->node = call.node;
  head->source = call.source;
  head->name = call.name;
  head->axis_count = 1;
  head->is_serial = true;
  return true;
}

/* -- variables of items -------------------------------------------------------------------------------------------- */

const SNodeComponent *list_item_field(Sema *s, const LoopHead *head, int number) {
  Entity object = *entity_of(s, head->items);
  object.kind = entity_of(s, head->items->left)->kind;
  return field_number(head->node, &object, number);
}

void list_declare(Sema *s, const LoopHead *head, const AstStmt *stmt) {
  if (head->is_vector) {
    sema_fail(s, head->items, RG_ERROR_LOOP, NULL, "a list has one axis, so there is nothing for ':vec()' to put together");
    return;
  }
  for (int i = 1; i < stmt->locals.count; i++) {
    const SNodeComponent *field = list_item_field(s, head, i - 1);
    const AstLocal *ast = stmt->locals.items[i];
    if (!field) {
      sema_fail_pos(s, ast->pos, ast->name.length, RG_ERROR_LOOP, NULL, "'items' gives a slot and %d %s here, and no value for '%s'",
                    i - 1, i == 2 ? "value" : "values", sema_text(s, ast->name));
      return;
    }
    Local *local = local_of(s, ast);
    local->shape = shape_of_type(field->whole);
    local->has_shape = true;
  }
}

void list_infer_items(Sema *s, const LoopHead *head, const AstStmt *stmt) {
  for (int i = 1; i < stmt->locals.count; i++)
    infer_give(s, stmt->locals.items[i], ty_of(type_element(list_item_field(s, head, i - 1)->whole)), NULL);
}

/* -- types of values -------------------------------------------------------------------------------------------------- */

void list_infer_values(Sema *s, AstExpr *e) {
  const Entity *entity = entity_of(s, e);
  int component = 0;
  for (int i = entity->taken; i < e->list.count; i++) {
    AstExpr *value = e->list.items[i];
    if (type_is_integer(entity->node->components[component].type))
      infer_demand(s, value, "which goes into '%s'", entity->name);
    component += shape_count(shape_of(s, value));
  }
  const Inline *in = map_find_int(&s->pops, (uintptr_t)e);
  for (int i = 0; in && i < in->results.count; i++)
    infer_give(s, in->results.items[i], ty_of(local_of(s, in->results.items[i])->type), NULL);
}

bool list_check_values(Sema *s, AstExpr *e) {
  const Entity *entity = entity_of(s, e);
  int component = 0;
  for (int i = entity->taken; i < e->list.count; i++) {
    AstExpr *value = e->list.items[i];
    const SNodeComponent *to = &entity->node->components[component];
    int count = shape_count(shape_of(s, value));
    for (int k = 1; k < count; k++)
      if (!type_equal(to[k].type, to->type))
        return sema_fail(s, value, RG_ERROR_TYPE_MISMATCH, "give a value for each field, in the order of place",
                         "this vector would fill fields of different types");
    if (!check_store(s, value, to->type, scratch_format(s->scratch, "an element of '%s'", entity->name))) return false;
    component += count;
  }
  return true;
}

/* -- the IR ------------------------------------------------------------------------------------------------------------- */

static IrInst *emit(Sema *s, const Entity *entity, IrOp op, Type type, int count, IrInst **operands) {
  int level = lower_level(s, entity->node, entity->name, entity->source);
  IrInst *inst = ir_emit(&s->b, op, type, count, operands);
  inst->level = level;
  return inst;
}

static IrInst **lower_append(Sema *s, AstExpr *e, const Entity *entity, IrInst **indices, int count) {
  int component = 0;
  IrInst **operands = scratch_array(s->scratch, IrInst *, count + entity->node->component_count);
  for (int k = 0; k < count; k++) operands[k] = indices[k];
  for (int i = entity->taken; i < e->list.count; i++) {
    int own = shape_count(shape_of(s, e->list.items[i]));
    IrInst **values = lower_values_as(s, e->list.items[i], entity->node->components[component].type, own);
    for (int k = 0; k < own; k++) operands[count + component++] = values[k];
  }
  lower_at(s, e->pos);
  IrInst **slot = scratch_array(s->scratch, IrInst *, 1);
  slot[0] = emit(s, entity, IR_APPEND, TYPE(I32), count + component, operands);
  return slot;
}

/* Every component has a variable, whether it is asked for or not. */
static IrInst **lower_pop(Sema *s, AstExpr *e, const Entity *entity, IrInst **indices, int count) {
  const SNode *node = entity->node;
  IrInst **operands = scratch_array(s->scratch, IrInst *, count + node->component_count);
  for (int k = 0; k < count; k++) operands[k] = indices[k];
  for (int k = 0; k < node->component_count; k++) operands[count + k] = ir_var(&s->b, node->components[k].type);
  emit(s, entity, IR_POP, TYPE(NONE), count + node->component_count, operands);
  IrInst **values = scratch_array(s->scratch, IrInst *, node->component_count);
  for (int k = 0; k < node->component_count; k++) values[k] = ir_get(&s->b, operands[count + k]);
  const Inline *in = map_find_int(&s->pops, (uintptr_t)e);
  for (int i = 0, component = entity->component; in && i < in->results.count; i++) {
    Local *local = local_of(s, in->results.items[i]);
    local->values = values + component;
    component += shape_count(local->shape);
  }
  return values + entity->component;
}

IrInst **list_lower(Sema *s, AstExpr *e, IrInst **indices, int count) {
  const Entity *entity = entity_of(s, e);
  if (entity->method->op == IR_APPEND) return lower_append(s, e, entity, indices, count);
  if (entity->method->op == IR_POP) return lower_pop(s, e, entity, indices, count);
  IrInst **length = scratch_array(s->scratch, IrInst *, 1);
  length[0] = emit(s, entity, IR_LENGTH, TYPE(I32), count, indices);
  return length;
}

/* The number of elements; `indices` become those of the list. */
IrInst *list_lower_items(Sema *s, const LoopHead *head, IrInst **indices) {
  AstExpr *e = head->items;
  int count = lower_indices(s, e->left, indices);
  count = lower_index_list(s, &e->list, entity_of(s, e)->taken, indices, count);
  lower_at(s, e->pos);
  return emit(s, entity_of(s, e), IR_LENGTH, TYPE(I32), count, indices);
}

void list_bind_items(Sema *s, const LoopHead *head, const AstStmt *stmt, IrInst *slot, IrInst *const *indices) {
  const SNode *node = head->node;
  int own = snode_axis_position(node, node->axes[0]);
  IrInst *all[SNODE_MAX_AXES];
  for (int k = 0, given = 0; k < node->rank; k++) all[k] = k == own ? slot : indices[given++];
  if (stmt->locals.count) lower_bind(s, stmt->locals.items[0], &slot);
  for (int i = 1; i < stmt->locals.count; i++) {
    const SNodeComponent *field = list_item_field(s, head, i - 1);
    Entity element = *entity_of(s, head->items);
    IrInst *values[TYPE_MAX_PARTS];
    element.component = (int)(field - node->components);
    for (int k = 0; k < type_parts(field->whole); k++) values[k] = ir_load(&s->b, lower_place_at(s, &element, k, all));
    lower_bind(s, stmt->locals.items[i], values);
  }
}
