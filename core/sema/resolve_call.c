/* resolve_call.c - calls: conversions, the functions of builtin.def, the methods of method.def. */
#include "sema/typed.h"

/* -- functions ------------------------------------------------------------------------------------------- */

/* Of Lua's own, those that no version will have. */
static bool is_of_the_host(const char *name) {
  static const char *const prefixes[] = {"string.", "table.", "io.", "os.", "coroutine."};
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
    if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) return true;
  static const char *const kept[] = {"print", "assert", "error", "ipairs", "pairs"};
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
    if (!strcmp(name, kept[i])) return false;
  return !strchr(name, '.');
}

static Entity fail_builtin(Sema *s, AstExpr *e, const char *name) {
  if (is_of_the_host(name))
    sema_fail(s, e, RG_ERROR_UNSUPPORTED, "call it outside, before or after the kernel",
              "'%s' cannot be called in a kernel", name);
  else
    sema_fail(s, e, RG_ERROR_NOT_YET, NULL, "'%s' in a kernel is not compiled yet", name);
  return (Entity){0};
}

static Entity fail_count(Sema *s, AstExpr *e, const char *name, int least, int most) {
  if (least == most)
    sema_fail(s, e, RG_ERROR_CALL_COUNT, NULL, "'%s' takes %d %s, here %s %d", name, least,
              least == 1 ? "argument" : "arguments", e->list.count == 1 ? "is" : "are", e->list.count);
  else
    sema_fail(s, e, RG_ERROR_CALL_COUNT, NULL, "'%s' takes %d to %d arguments, here %s %d", name, least, most,
              e->list.count == 1 ? "is" : "are", e->list.count);
  return (Entity){0};
}

static bool resolve_arguments(Sema *s, AstExprs *list) {
  for (int i = 0; i < list->count; i++)
    if (!resolve_value(s, list->items[i])) return false;
  return inline_refuse_many(s, list);
}

/* The bounds of a range are resolved with the head of its loop. */
static Entity resolve_builtin_call(Sema *s, AstExpr *e, const Entity *callee) {
  const Builtin *builtin = callee->builtin;
  if (!builtin) return fail_builtin(s, e, callee->name);
  if (builtin->form == FORM_RANGE) return (Entity){.kind = ENTITY_LOOP, .builtin = builtin};
  if (e->list.count < builtin->least || e->list.count > builtin->most)
    return fail_count(s, e, builtin->name, builtin->least, builtin->most);
  if (!resolve_arguments(s, &e->list)) return (Entity){0};
  return (Entity){.kind = ENTITY_VALUE, .builtin = builtin};
}

static Entity resolve_conversion(Sema *s, AstExpr *e, const Entity *callee) {
  if (e->list.count != 1) return fail_count(s, e, callee->name, 1, 1);
  if (!resolve_arguments(s, &e->list)) return (Entity){0};
  return (Entity){.kind = ENTITY_VALUE, .type = callee->type, .is_conversion = true};
}

Entity resolve_call(Sema *s, AstExpr *e) {
  Entity callee = resolve_expr(s, e->left);
  const char *name = callee.name ? callee.name : sema_source(s, e->left);
  if (callee.kind == ENTITY_NONE) return callee;
  if (callee.kind == ENTITY_TYPE) return resolve_conversion(s, e, &callee);
  if (callee.kind == ENTITY_BUILTIN) return resolve_builtin_call(s, e, &callee);
  if (callee.kind == ENTITY_OTHER && callee.value == VALUE_FUNCTION) return inline_call(s, e, callee, NULL);
  sema_fail(s, e, RG_ERROR_CALL, NULL, "'%s' is no function", name);
  return (Entity){0};
}

/* -- methods --------------------------------------------------------------------------------------------- */

static Entity fail_method(Sema *s, AstExpr *e, const Entity *object) {
  const char *nearest = method_nearest(e->text);
  sema_fail(s, e, RG_ERROR_CALL, nearest ? scratch_format(s->scratch, "did you mean '%s'?", nearest) : NULL,
            "'%s' has no method '%s'", object->name, sema_text(s, e->text));
  return (Entity){0};
}

static Entity fail_indices(Sema *s, AstExpr *e, const Entity *object, int needed, int given) {
  sema_fail(s, e, RG_ERROR_INDEX_COUNT, NULL, "'%s' has %d %s here, and '%s' was given %d %s", object->name, needed,
            needed == 1 ? "axis" : "axes", sema_text(s, e->text), given, given == 1 ? "index" : "indices");
  return (Entity){0};
}

/* The leading arguments are indices; the last `values` are not. */
static bool resolve_method_arguments(Sema *s, AstExpr *e, const Entity *object, int values, int *indices) {
  AstExprs list = e->list;
  if (list.count < values) {
    fail_count(s, e, object->method->name, values + object->node->rank - object->indexed,
               values + object->node->rank - object->indexed);
    return false;
  }
  list.count -= values;
  if (!resolve_indices(s, &list, indices)) return false;
  for (int i = list.count; i < e->list.count; i++)
    if (!resolve_value(s, e->list.items[i])) return false;
  return inline_refuse_many(s, &e->list);
}

static Entity resolve_cell_call(Sema *s, AstExpr *e, Entity object) {
  const Method *method = object.method;
  int count, needed = object.node->rank - object.indexed;
  if (!resolve_method_arguments(s, e, &object, method->values, &count)) return (Entity){0};
  if (count != needed) return fail_indices(s, e, &object, needed, count);
  bool is_statement = method->form == METHOD_TOPOLOGY;
  object.kind = is_statement ? ENTITY_VOID : ENTITY_VALUE;
  return object;
}

static Entity resolve_element_call(Sema *s, AstExpr *e, Entity object) {
  if (object.kind == ENTITY_FIELD) return resolve_cell_call(s, e, object);
  sema_fail(s, e, RG_ERROR_CALL, "call it on a field", "'%s' is an SNode and has no elements", object.name);
  return (Entity){0};
}

static Entity resolve_whole_call(Sema *s, AstExpr *e, Entity object) {
  const char *name = object.method->name;
  if (e->list.count) return fail_count(s, e, name, 0, 0);
  if (object.indexed) {
    sema_fail(s, e, RG_ERROR_CALL, "call it on the field itself", "'%s' concerns all cells", name);
    return (Entity){0};
  }
  if (s->loop) {
    sema_fail(s, e, RG_ERROR_CALL, "call it before or after the loop", "'%s' cannot be called inside a parallel loop",
              name);
    return (Entity){0};
  }
  object.kind = object.method->form == METHOD_CLEAR ? ENTITY_VOID : ENTITY_VALUE;
  return object;
}

static Entity resolve_object_call(Sema *s, AstExpr *e, Entity object) {
  const char *name = object.method->name;
  switch (object.method->form) {
  case METHOD_RMW: case METHOD_CAS: return resolve_element_call(s, e, object);
  case METHOD_TOPOLOGY: case METHOD_IS_ACTIVE: return resolve_cell_call(s, e, object);
  case METHOD_COUNT: case METHOD_CLEAR: return resolve_whole_call(s, e, object);
  case METHOD_ACTIVE: case METHOD_MODIFIER: object.kind = ENTITY_LOOP; return object;
  case METHOD_LATER:
    sema_fail(s, e, RG_ERROR_NOT_YET, NULL, "'%s' is not compiled yet", name);
    return (Entity){0};
  case METHOD_OUTSIDE:
    sema_fail(s, e, RG_ERROR_CALL,
              !strcmp(name, "get") || !strcmp(name, "set") ? "inside a kernel read and write x[i][j]"
                                                           : "call it outside the kernel",
              "'%s' is for Lua, outside of kernels", name);
    return (Entity){0};
  }
  return (Entity){0};
}

static Entity fail_object(Sema *s, AstExpr *e, const Entity *object) {
  const char *name = sema_text(s, e->text), *what = object->name ? object->name : sema_source(s, e->left);
  if (object->kind == ENTITY_ELEMENT && method_find(e->text))
    sema_fail(s, e, RG_ERROR_CALL, scratch_format(s->scratch, "write %s:%s(i, .., v)", object->name, name),
              "'%s' is the element itself: methods belong to the field", sema_source(s, e->left));
  else
    sema_fail(s, e, RG_ERROR_CALL, NULL, "'%s' is no field or SNode and has no method '%s'", what, name);
  return (Entity){0};
}

/* object:name(..) where the object is a Lua table: its function, given the table first. */
static Entity resolve_table_call(Sema *s, AstExpr *e, const Entity *object) {
  Entity callee = inline_table_member(s, e, object, e->text);
  if (s->failed) return (Entity){0};
  if (callee.kind == ENTITY_OTHER && callee.value == VALUE_FUNCTION) return inline_call(s, e, callee, e->left);
  sema_fail(s, e, RG_ERROR_CALL, NULL, "'%s' of '%s' is no function", sema_text(s, e->text), object->name);
  return (Entity){0};
}

Entity resolve_method(Sema *s, AstExpr *e) {
  Entity object = resolve_expr(s, e->left);
  if (object.kind == ENTITY_OTHER && object.value == VALUE_TABLE) return resolve_table_call(s, e, &object);
  if (object.kind == ENTITY_NONE || object.kind == ENTITY_LOOP) return object;
  if (object.kind != ENTITY_FIELD && object.kind != ENTITY_NODE) return fail_object(s, e, &object);
  object.method = method_find(e->text);
  return object.method ? resolve_object_call(s, e, object) : fail_method(s, e, &object);
}
