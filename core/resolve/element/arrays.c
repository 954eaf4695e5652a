/* arrays.c - counted arrays: rg.zeros(T, n, ..), rg.list(T), their elements and their methods.
 *
 *     local a = rg.list(rg.f32)      a value of the type array(f32)
 *     a[i]   m[i][j]   m[i, j]       an ITEM; with fewer indices than axes an ITEM_ROW
 *     a:append(v)   #a               builtins, whose first argument is the array
 *
 * The array of an item is the expression that is indexed: any value of such a type. */
#include "resolve/resolve.h"

static TypeRow row_of(const Resolve *r, Type array) { return type_row(r->input->types, array); }

static const char *name_of(Resolve *r, const Expr *e) { return sema_source(r->s, e); }

/* -- arrays of the launch ---------------------------------------------------------------------- */

bool array_is_whole(const Entity *entity) {
  return entity->kind == ENTITY_FIELD && entity->field.array && !entity->field.index_count;
}

static bool make_type(Resolve *r, const Expr *at, Type element, int axes, Type *type);

static bool type_of_whole(Resolve *r, const Expr *at, const Entity *entity, Type *type) {
  const ArrayUse *use = entity->field.array;
  return make_type(r, at, use->type, use->of.axis_count, type);
}

bool array_is_declared(Resolve *r, const Expr *at, const Entity *entity, Shape declared) {
  Type type;
  return array_is_whole(entity) && type_is_array(declared) && type_of_whole(r, at, entity, &type) &&
         type_equal(type, declared);
}

/* From now on, its elements may be accessed through the header, too. */
static int header_of(Resolve *r, Expr *e, ArrayUse *use, Type type) {
  if (use->header) return use->header - 1;
  SemaArg source = use->source;
  source.kind = ARG_HEADER;
  LaunchArg header = {.source = source,
                      .name = use->name,
                      .ty = ty_of(type_base(type)),
                      .shape = type_shape(type),
                      .use = e,
                      .source_text = sema_text_source(r->s),
                      .arg = -1};
  vec_push(r->scratch, &r->s->launch_args, header);
  use->of.is_shared = true;
  return (use->header = r->s->launch_args.count) - 1;
}

bool array_to_value(Resolve *r, Expr *e) {
  Entity entity = e->entity;
  Type type;
  ArrayUse *use = NULL;
  for (int i = 0; i < r->s->arrays.count; i++)
    if (r->s->arrays.items[i] == entity.field.array) use = r->s->arrays.items[i];
  if (use->of.is_strided || use->of.is_constant) /* otherwise each launch checks it */
    return sema_fail(
        r->s, e, RG_ERROR_TYPE_MISMATCH,
        scratch_format(r->scratch, "pass a copy: rg.zeros(T, ..):copy_from(%s)", entity.name),
        "'%s' is used as a value here, which a wrap %s cannot be", entity.name,
        use->of.is_strided ? "with strides" : "of a string");
  if (!type_of_whole(r, e, &entity, &type)) return false;
  e->entity = (Entity){.kind = ENTITY_ARGUMENT,
                       .name = entity.name,
                       .shape = type_shape(type),
                       .launch_arg = {.number = header_of(r, e, use, type)}};
  return true;
}

/* -- construction ------------------------------------------------------------------------------ */

static bool make_type(Resolve *r, const Expr *at, Type element, int axes, Type *type) {
  Error err = {0};
  if (r->input->types && type_array(r->input->types, element, axes, type, &err)) return true;
  return sema_fail(r->s, at, RG_ERROR_TYPE_UNKNOWN, NULL, "%s",
                   err.message[0] ? err.message : "arrays need a table of types");
}

Entity array_new(Resolve *r, Expr *e, const Builtin *builtin) {
  int count = e->list.count;
  Type type;
  e->call = (Call){.kind = CALL_BUILTIN, .builtin = builtin};
  if (count < builtin->least || count > builtin->most) return resolve_fail_count(r, e, builtin);
  Entity of = resolve_expr(r, e->list.items[0]);
  if (of.kind == ENTITY_NONE) return of;
  if (of.kind != ENTITY_TYPE) {
    sema_fail(r->s, e->list.items[0], RG_ERROR_TYPE_MISMATCH,
              builtin->algebra == ARRAY_LIST ? "rg.list(rg.f32)" : "rg.zeros(rg.f32, n)",
              "'%s' takes the type of its elements first", builtin->name);
    return (Entity){0};
  }
  for (int i = 1; i < count; i++)
    if (!resolve_scalar(r, e->list.items[i])) return (Entity){0};
  if (!make_type(r, e, type_shaped(of.type, of.shape), count > 1 ? count - 1 : 1, &type))
    return (Entity){0};
  e->call.cast = type;
  return (Entity){.kind = ENTITY_VALUE, .shape = type};
}

/* `array(f32)`, `rg.array_type(rg.f32, 2)` */
Entity array_type_call(Resolve *r, Expr *e) {
  Shape shape;
  int64_t axes = 1;
  Type type;
  if (e->list.count < 1 || e->list.count > 2) {
    sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL,
              "'rg.array_type' takes the type of elements, and how many axes there are");
    return (Entity){0};
  }
  Type base = resolve_type(r, e->list.items[0]->ast, &shape);
  if (r->s->failed || (e->list.count == 2 && !static_integer(r, e->list.items[1], &axes)))
    return (Entity){0};
  if (axes < 1 || axes > TYPE_MAX_AXES) axes = 0;
  if (!make_type(r, e, type_shaped(base, shape), (int)axes, &type)) return (Entity){0};
  return (Entity){.kind = ENTITY_TYPE, .type = type, .shape = type, .name = name_of(r, e)};
}

/* -- elements ---------------------------------------------------------------------------------- */

Entity array_indexed(Resolve *r, Expr *e, const Entity *object) {
  int count;
  bool has_some = object->kind == ENTITY_ITEM_ROW;
  ItemRef item = has_some ? object->item : (ItemRef){.array = object->shape};
  TypeRow row = row_of(r, item.array);
  if (!resolve_indices(r, &e->list, &count)) return (Entity){0};
  item.index_count += count;
  if (item.index_count > row.axis_count) {
    sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, NULL, "'%s' has %d %s, %d indices given",
              name_of(r, array_of_item(e)), row.axis_count, row.axis_count == 1 ? "axis" : "axes",
              item.index_count);
    return (Entity){0};
  }
  if (item.index_count < row.axis_count)
    return (Entity){.kind = ENTITY_ITEM_ROW, .shape = item.array, .item = item};
  item.type = type_base(row.element);
  return (Entity){.kind = ENTITY_ITEM, .shape = type_shape(row.element), .item = item};
}

bool array_fail_row(Resolve *r, Expr *e) {
  const ItemRef *item = &e->entity.item;
  return sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, NULL,
                   "'%s' has %d axes: an element needs %d indices, %d given",
                   name_of(r, array_of_item(e)), row_of(r, item->array).axis_count,
                   row_of(r, item->array).axis_count, item->index_count);
}

/* -- methods ----------------------------------------------------------------------------------- */

static Entity value_of(Type type) {
  return (Entity){.kind = ENTITY_VALUE, .shape = type_shape(type)};
}

/* `#a` becomes a:length(). */
Entity array_length(Resolve *r, Expr *e) {
  e->kind = AST_METHOD;
  e->text = STR("length");
  e->call = (Call){.kind = CALL_BUILTIN, .builtin = builtin_of_array(STR("length"))};
  return value_of(TYPE(I32));
}

static bool check_one_axis(Resolve *r, Expr *e, const TypeRow *row) {
  return row->axis_count == 1 || sema_fail(r->s, e, RG_ERROR_CALL, NULL,
                                           "an array of %d axes has no '%s': its extents are fixed",
                                           row->axis_count, sema_text(r->s, e->text));
}

static Entity append_call(Resolve *r, Expr *e, const TypeRow *row) {
  Expr *given =
      struct_coerce(r, e->list.items[0], row->element,
                    scratch_format(r->scratch, "an element of '%s'", name_of(r, e->left)));
  if (!given) return (Entity){0};
  e->list.items[0] = given;
  return value_of(TYPE(I32));
}

/* The k of m:extent(k) must be known at compile time. */
static bool resolve_axis(Resolve *r, Expr *e, const TypeRow *row) {
  Expr *given = e->list.items[0];
  int64_t axis;
  if (!static_integer(r, given, &axis)) return false;
  if (axis < 0 || axis >= row->axis_count)
    return sema_fail(r->s, given, RG_ERROR_INDEX_COUNT, "the first axis is 0",
                     "'%s' has %d %s, and no axis %lld", name_of(r, e->left), row->axis_count,
                     row->axis_count == 1 ? "axis" : "axes", (long long)axis);
  e->list.items[0] = literal_integer(r, given->ast, axis);
  return true;
}

Entity array_method(Resolve *r, Expr *e, const Entity *object) {
  const Builtin *builtin = builtin_of_array(e->text);
  TypeRow row = row_of(r, object->shape);
  if (!builtin) {
    const char *hint = str_is(e->text, "active") ? "for i in rg.range(#a) do"
                       : method_find(e->text)    ? "an update is written a[i] = a[i] + v"
                                                 : NULL;
    sema_fail(r->s, e, RG_ERROR_CALL,
              hint ? hint : "arrays have append, pop, slice, clear, length and extent",
              "'%s' is %s, which has no method '%s'", name_of(r, e->left),
              shape_text(r->s, object->shape), sema_text(r->s, e->text));
    return (Entity){0};
  }
  e->call = (Call){.kind = CALL_BUILTIN, .builtin = builtin};
  if (e->list.count + 1 != builtin->least) return resolve_fail_count(r, e, builtin);
  switch (builtin->algebra) {
  case ARRAY_APPEND: return check_one_axis(r, e, &row) ? append_call(r, e, &row) : (Entity){0};
  case ARRAY_LENGTH: return value_of(TYPE(I32));
  case ARRAY_EXTENT: return resolve_axis(r, e, &row) ? value_of(TYPE(I32)) : (Entity){0};
  default: break;
  }
  for (int i = 0; i < e->list.count; i++)
    if (!resolve_scalar(r, e->list.items[i])) return (Entity){0};
  if (!check_one_axis(r, e, &row)) return (Entity){0};
  if (builtin->algebra == ARRAY_CLEAR) return (Entity){.kind = ENTITY_VOID};
  return value_of(builtin->algebra == ARRAY_POP ? row.element : object->shape);
}
