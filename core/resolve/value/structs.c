/* structs.c - struct values: construction, members, methods.
 *
 *     P{pos = v, mass = 2}    P(v, 2)    P()    P(p)        omitted members are zero
 *
 * A construction becomes a conversion to the struct with one value per member, in the order of the
 * declaration; tables in it become constructions of the member's type. So later stages handle only
 * one form. A member of a value is a part of it: a run of its numbers (typed/entity.h: Parts). */
#include "resolve/resolve.h"

static const TypeTable *types_of(const Resolve *r) { return r->input->types; }

/* -- members ----------------------------------------------------------------------------------- */

static const char *nearest_member(Resolve *r, Type type, Str name) {
  const char *names[TYPE_MAX_NUMBERS];
  TypeRow row = type_row(types_of(r), type);
  for (int k = 0; k < row.member_count; k++) names[k] = row.members[k].name;
  const char *near = str_nearest(name, names, row.member_count);
  return near ? scratch_format(r->scratch, "did you mean '%s'?", near) : NULL;
}

static const char *hint_member(Resolve *r, Type type, Str name) {
  if (!type_is_array(type)) return nearest_member(r, type, name);
  return str_is(name, "shape") ? "#a counts all elements, a:extent(0) those along the first axis"
                               : "an element is a[i]; #a counts them";
}

static const TypeMember *find_member(Resolve *r, const Expr *at, Type type, Str name) {
  const TypeMember *member = type_member(types_of(r), type, name);
  if (!member)
    sema_fail(r->s, at, RG_ERROR_NAME_UNKNOWN, hint_member(r, type, name), "%s has no member '%s'",
              shape_text(r->s, type), sema_text(r->s, name));
  return member;
}

/* `p.pos`: also of a launch argument, whose path has no expressions of its own. */
Entity struct_member(Resolve *r, Expr *e, const Entity *object, Str name) {
  const TypeMember *member = find_member(r, e, object->shape, name);
  if (!member) return (Entity){0};
  Parts parts = {.count = type_parts(member->type),
                 .first = member->first,
                 .is_run = true,
                 .type = type_base(member->type)};
  Shape shape = type_shape(member->type);
  if (object->kind != ENTITY_ARGUMENT || e->kind != AST_FIELD)
    return (Entity){.kind = ENTITY_PART, .shape = shape, .parts = parts};
  parts.first += object->launch_arg.parts.first;
  return (Entity){.kind = ENTITY_ARGUMENT,
                  .name = object->name,
                  .shape = shape,
                  .launch_arg = {.number = object->launch_arg.number, .parts = parts}};
}

/* x, y, z or w; -1: no component of the vector. */
static int component_of(Shape vector, Str name) {
  static const char letters[] = "xyzw";
  const char *at = name.length == 1 ? strchr(letters, name.data[0]) : NULL;
  return at && at - letters < type_rows(vector) ? (int)(at - letters) : -1;
}

Entity struct_member_field(Resolve *r, const Entity *object, Str name) {
  Entity field = *object;
  int first;
  if (object->kind != ENTITY_FIELD || !object->field.node || object->field.peers ||
      str_is(name, "shape") || str_is(name, "offset"))
    return (Entity){0};
  if (type_is_struct(object->shape)) {
    const TypeMember *member = type_member(types_of(r), object->shape, name);
    if (!member) return (Entity){0};
    first = member->first;
    field.field.type = type_base(member->type);
    field.shape = type_shape(member->type);
  } else {
    first = type_is_vector(object->shape) ? component_of(object->shape, name) : -1;
    if (first < 0) return (Entity){0};
    field.shape = (Shape){0};
  }
  field.field.component += first;
  field.field.part = first + (object->field.part ? object->field.part : 1);
  field.name = scratch_format(r->scratch, "%s.%s", object->name, sema_text(r->s, name));
  return field;
}

Expr *struct_part(Resolve *r, Expr *e, Str name) {
  Expr *part = scratch_new(r->scratch, Expr);
  r->expr_count++;
  *part = (Expr){.kind = AST_FIELD,
                 .op = AST_NO_OP,
                 .pos = e->pos,
                 .width = e->width,
                 .ast = e->ast,
                 .left = e,
                 .text = name};
  part->entity = struct_member(r, part, &e->entity, name);
  return part;
}

/* -- construction ------------------------------------------------------------------------------ */

static Expr *new_conversion(Resolve *r, const Expr *at, Type type, Exprs list) {
  Expr *e = scratch_new(r->scratch, Expr);
  r->expr_count++;
  *e = (Expr){.kind = AST_CALL,
              .op = AST_NO_OP,
              .pos = at->pos,
              .width = at->width,
              .ast = at->ast,
              .list = list};
  e->entity = resolve_converted(e, type_base(type), type_shape(type));
  return e;
}

static Expr *zero_of(Resolve *r, const Expr *at, Type type) {
  bool is_bool = type_is_bool(type_element(type));
  Static zero = {.kind = is_bool ? STATIC_BOOL : STATIC_NUMBER};
  Exprs list = {0};
  if (type_is_struct(type)) {
    TypeRow row = type_row(types_of(r), type);
    for (int k = 0; k < row.member_count; k++)
      vec_push(r->scratch, &list, zero_of(r, at, row.members[k].type));
  } else {
    vec_push(r->scratch, &list, literal_static(r, at->ast, &zero));
  }
  return new_conversion(r, at, type, list);
}

static bool fill_struct(Resolve *r, Expr *e, Type type, const Exprs *items, Exprs *out);

static Expr *from_record(Resolve *r, Expr *e, Type type, const char *what, const Inline **called);

static Expr *from_item(Resolve *r, Expr *e, int k, Type type, const char *what,
                       const Inline **called) {
  Expr *item = sema_strip(record_take(r, e, k, called));
  return record_is(&item->entity) && !type_is_scalar(type)
             ? from_record(r, item, type, what, called)
             : struct_coerce(r, item, type, what);
}

/* A vector or matrix from a table with as many values as the type has numbers or rows. */
static Expr *vector_from_record(Resolve *r, Expr *e, Type type, const char *what,
                                const Inline **called) {
  const Record *record = e->entity.record;
  Exprs list = {0};
  Type inner = type_element(type);
  if (type_is_matrix(type)) type_make(inner, type_cols(type), 1, &inner);
  if (record_length(record) != record->count || record->count != type_rows(type)) {
    sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, NULL, "%s is %s, and this value is %s", what,
              shape_text(r->s, type), record_text(r, record));
    return NULL;
  }
  for (int k = 0; k < record->count; k++) {
    Expr *value = from_item(r, e, k, inner, what, called);
    if (!value) return NULL;
    vec_push(r->scratch, &list, value);
  }
  return new_conversion(r, e, type, list);
}

/* A value of the type from a table of values; `called`: record_take. */
static Expr *from_record(Resolve *r, Expr *e, Type type, const char *what, const Inline **called) {
  e = sema_strip(e);
  if (!type_is_struct(type)) return vector_from_record(r, e, type, what, called);
  const Record *record = e->entity.record;
  TypeRow row = type_row(types_of(r), type);
  Exprs list = {0};
  for (int k = 0; k < record->count; k++)
    if (record->items[k].name.length && !find_member(r, e, type, record->items[k].name))
      return NULL;
  bool has_names = record_length(record) == 0;
  for (int m = 0; m < row.member_count; m++) {
    int k = has_names           ? record_find_member(record, str_of(row.members[m].name))
            : m < record->count ? m
                                : -1;
    Expr *value =
        k < 0 ? zero_of(r, e, row.members[m].type)
              : from_item(r, e, k, row.members[m].type,
                          scratch_format(r->scratch, "member '%s'", row.members[m].name), called);
    if (!value) return NULL;
    vec_push(r->scratch, &list, value);
  }
  return new_conversion(r, e, type, list);
}

/* Turns a table for something of this type into a construction of it; `what` is for messages. */
Expr *struct_coerce(Resolve *r, Expr *value, Type type, const char *what) {
  char buffer[TYPE_NAME_SIZE];
  Exprs list = {0};
  if (value->kind != AST_TABLE) {
    const Inline *called = NULL;
    Entity entity = resolve_expr(r, value);
    if (record_is(&entity) && !type_is_scalar(type))
      return from_record(r, value, type, what, &called);
    bool fits = resolve_is_value(r, value) && shape_check_value(r, value, type_shape(type), what);
    return fits ? value : NULL;
  }
  if (type_is_array(type)) {
    sema_fail(r->s, value, RG_ERROR_TYPE_MISMATCH, "rg.zeros(T, n) and rg.list(T) make arrays",
              "%s is %s, but this is a table", what, shape_text(r->s, type));
    return NULL;
  }
  if (!type_is_struct(type)) {
    vec_push(r->scratch, &list, value);
    Expr *made = new_conversion(r, value, type, list);
    return resolve_construction(r, made, type_name(type, buffer), type_shape(type)) ? made : NULL;
  }
  Exprs one = {0};
  vec_push(r->scratch, &one, value);
  return fill_struct(r, value, type, &one, &list) ? new_conversion(r, value, type, list) : NULL;
}

static Expr *member_value(Resolve *r, Expr *value, const TypeMember *member) {
  return struct_coerce(r, value, member->type,
                       scratch_format(r->scratch, "member '%s'", member->name));
}

static bool set_member(Resolve *r, Expr *value, const TypeMember *member, Expr **place) {
  if (*place)
    return sema_fail(r->s, value, RG_ERROR_CALL_COUNT, NULL, "member '%s' is given twice",
                     member->name);
  return (*place = member_value(r, value, member)) != NULL;
}

/* `{pos = v, mass = 2}` and `{v, 2}` */
static bool fill_members(Resolve *r, Expr *e, Type type, const Exprs *items, const AstExpr *keys,
                         Expr **values) {
  TypeRow row = type_row(types_of(r), type);
  for (int i = 0; i < items->count; i++) {
    const AstExpr *key = keys ? keys->keys.items[i] : NULL;
    if (key && key->kind != AST_STRING)
      return sema_fail(r->s, items->items[i], RG_ERROR_UNSUPPORTED, "write the members' names",
                       "%s has no member with this key", shape_text(r->s, type));
    if (!key && i >= row.member_count)
      return sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "%s has %d %s, %d given",
                       shape_text(r->s, type), row.member_count,
                       row.member_count == 1 ? "member" : "members", items->count);
    const TypeMember *member =
        key ? find_member(r, items->items[i], type, key->text) : &row.members[i];
    if (!member || !set_member(r, items->items[i], member, &values[member - row.members]))
      return false;
  }
  return true;
}

static bool fill_struct(Resolve *r, Expr *e, Type type, const Exprs *items, Exprs *out) {
  TypeRow row = type_row(types_of(r), type);
  Expr **values = scratch_array(r->scratch, Expr *, row.member_count);
  Expr *only = items->count == 1 ? items->items[0] : NULL;
  bool is_table = only && only->kind == AST_TABLE;
  if (!fill_members(r, e, type, is_table ? &only->list : items, is_table ? only->ast : NULL,
                    values))
    return false;
  for (int k = 0; k < row.member_count; k++)
    vec_push(r->scratch, out, values[k] ? values[k] : zero_of(r, e, row.members[k].type));
  return true;
}

/* A copy, `P(p)`, has the members of p as its values. */
static bool is_copy(Resolve *r, Expr *e, Type type) {
  Expr *only = e->list.count == 1 ? e->list.items[0] : NULL;
  return only && only->kind != AST_TABLE && resolve_value(r, only) &&
         type_equal(shape_of(only), type);
}

Entity struct_construct(Resolve *r, Expr *e, Type type) {
  Exprs list = {0};
  if (type_is_array(type)) {
    sema_fail(r->s, e, RG_ERROR_CALL, "rg.zeros(T, n) and rg.list(T) make arrays",
              "an array type cannot be called");
    return (Entity){0};
  }
  if (is_copy(r, e, type)) {
    *e = (Expr){.kind = AST_PAREN,
                .op = AST_NO_OP,
                .pos = e->pos,
                .width = e->width,
                .ast = e->ast,
                .left = e->list.items[0]};
    return (Entity){.kind = ENTITY_VALUE, .shape = type};
  }
  if (r->s->failed || !fill_struct(r, e, type, &e->list, &list)) return (Entity){0};
  e->list = list;
  return resolve_converted(e, type, type);
}

/* -- tables of the host ------------------------------------------------------------------------ */

/* "p.pos", "m[1]" */
static const char *item_text(Resolve *r, const Entity *table, const char *key) {
  return *key == '#' ? scratch_format(r->scratch, "%s[%s]", table->name, key + 1)
                     : scratch_format(r->scratch, "%s.%s", table->name, key);
}

static Expr *path_value(Resolve *r, const Entity *table, const char *name, Pos pos, int width,
                        int number) {
  AstExpr *ast = scratch_new(r->scratch, AstExpr);
  Expr *e = scratch_new(r->scratch, Expr);
  const char *text = item_text(r, table, name);
  *ast = (AstExpr){
      .kind = AST_GLOBAL, .op = AST_NO_OP, .pos = pos, .width = width, .text = str_of(text)};
  *e = (Expr){.kind = AST_FIELD, .op = AST_NO_OP, .pos = pos, .width = width, .ast = ast};
  if (number >= 0) e->entity = resolve_path_value(r, e, number);
  return e;
}

static Expr *table_value(Resolve *r, const Entity *table, Type type, Pos pos, int width);

/* The value of the host's table under `key`, as a value of the type; NULL on error, or if it is not
 * known yet. */
static Expr *table_item_value(Resolve *r, const Entity *table, const char *key, Type type, Pos pos,
                              int width) {
  Expr *at = path_value(r, table, key, pos, width, -1);
  int number = table_find(r, at, table, key, false);
  if (number < 0) return NULL;
  if (r->input->captures[number].kind == VALUE_NIL) return zero_of(r, at, type);
  Expr *e = path_value(r, table, key, pos, width, number);
  if (e->entity.kind == ENTITY_TABLE && !type_is_scalar(type))
    return table_value(r, &e->entity, type, pos, width);
  const char *what = scratch_format(r->scratch, "'%s'", item_text(r, table, key));
  return !r->s->failed && resolve_is_value(r, e) && shape_check_value(r, e, type_shape(type), what)
             ? e
             : NULL;
}

/* Checks that the host's table has as many items as a value of the type has numbers, or rows. */
static bool check_length(Resolve *r, const Entity *table, Type type, Pos pos, int width) {
  char buffer[TYPE_NAME_SIZE];
  int64_t length;
  Expr *at = path_value(r, table, "", pos, width, -1);
  if (!table_length(r, at, table, &length)) return false;
  return length == type_rows(type) ||
         sema_fail_pos(r->s, pos, width, RG_ERROR_LAUNCH_ARGUMENTS, NULL,
                       "'%s' is declared %s, and the table has %lld %s", table->name,
                       type_name(type, buffer), (long long)length, length == 1 ? "item" : "items");
}

/* A value from a table of the host, whose keys are a struct's names, or 1, 2, .. for the numbers of
 * a vector and the rows of a matrix. */
static Expr *table_value(Resolve *r, const Entity *table, Type type, Pos pos, int width) {
  Exprs list = {0};
  bool is_struct = type_is_struct(type), has_all = true;
  TypeRow row = is_struct ? type_row(types_of(r), type) : (TypeRow){0};
  int count = is_struct ? row.member_count : type_rows(type);
  Type inner = type_element(type);
  if (type_is_matrix(type)) type_make(inner, type_cols(type), 1, &inner);
  if (!is_struct && !check_length(r, table, type, pos, width)) return NULL;
  for (int k = 0; k < count; k++) {
    const char *key = is_struct ? row.members[k].name : scratch_format(r->scratch, "#%d", k + 1);
    Type wanted = is_struct ? row.members[k].type : inner;
    Expr *value = table_item_value(r, table, key, wanted, pos, width);
    has_all &= value != NULL;
    if (value) vec_push(r->scratch, &list, value);
  }
  Expr *at = path_value(r, table, "", pos, width, -1);
  if (has_all) return new_conversion(r, at, type, list);
  if (!r->s->failed)
    sema_fail_pos(r->s, pos, width, RG_ERROR_SOURCE,
                  is_struct ? "pass a value of the struct: P{..}" : "pass a vector: rg.vec2(..)",
                  "the contents of the table '%s' are not known here", table->name);
  return NULL;
}

Stmt *struct_from_table(Resolve *r, Local *local, const Entity *table, Type type) {
  Expr *value = table_value(r, table, type, local->pos, local->name.length);
  if (!value) return NULL;
  Stmt *stmt = scratch_new(r->scratch, Stmt);
  *stmt = (Stmt){.kind = AST_STMT_LOCAL, .pos = local->pos, .width = local->name.length};
  vec_push(r->scratch, &stmt->locals, local);
  vec_push(r->scratch, &stmt->values, value);
  return stmt;
}

/* -- methods ----------------------------------------------------------------------------------- */

/* Methods are functions that the host keeps with the type: the path "struct#7.energy". */
Entity struct_callee(Resolve *r, Expr *e, const Entity *object) {
  TypeRow row = type_row(types_of(r), object->shape);
  const char *name = sema_text(r->s, e->text);
  SemaPath path = {.pos = e->pos,
                   .name = str_of(scratch_format(r->scratch, "struct#%d.%s", row.tag, name))};
  int number = row.tag ? path_find(r, &path) : -1;
  if (row.tag && number < 0) {
    path_request(r, path);
    sema_fail(r->s, e, RG_ERROR_SOURCE, NULL, "the method '%s' is not known here", name);
    return (Entity){0};
  }
  bool is_nil = number < 0 || r->input->captures[number].kind == VALUE_NIL;
  Entity callee = is_nil ? (Entity){0} : resolve_path_value(r, e, number);
  if (callee.kind == ENTITY_FUNCTION) {
    callee.name = name;
    return callee;
  }
  if (!r->s->failed)
    sema_fail(r->s, e, RG_ERROR_CALL,
              type_member(types_of(r), object->shape, e->text)
                  ? scratch_format(r->scratch, "it is a member: write .%s", name)
                  : "methods are given in the declaration: rg.struct({..}, {methods = {..}})",
              "%s has no method '%s'", shape_text(r->s, object->shape), name);
  return (Entity){0};
}

Entity struct_method(Resolve *r, Expr *e, const Entity *object) {
  Entity callee = struct_callee(r, e, object);
  return r->s->failed ? (Entity){0} : resolve_inline_call(r, e, callee, e->left);
}
