/* call.c - calls: conversions, the functions of builtin.def, the methods of method.def. */
#include "resolve/resolve.h"

/* -- functions --------------------------------------------------------------------------------- */

/* What to write in kernels instead of functions of Lua; the first row that has the function's name,
 * or the name of its table, applies. */
static const struct {
  const char *name, *hint;
} instead[] = {
    {"table.insert", "append to a list: l:append(v), where l is rg.list(T) or a 'dynamic' node"},
    {"table.remove", "take from a list: l:pop(), where l is rg.list(T) or a 'dynamic' node"},
    {"table.sort", "sort outside the kernel: rg.sort(keys, values)"},
    {"tonumber", "kernels have no strings to convert; to convert a number: rg.i32(v), rg.f32(v)"},
    {"type", "types are fixed when the kernel is compiled: rg.static(x.type == rg.f32)"},
    {"pcall", "errors end the launch: there is nothing to catch; pcall the kernel itself"},
    {"xpcall", "errors end the launch: there is nothing to catch; pcall the kernel itself"},
    {"setmetatable", "objects with methods are structs: rg.struct({..}, {methods = {..}})"},
    {"getmetatable", "objects with methods are structs: rg.struct({..}, {methods = {..}})"},
    {"math.randomseed", "call rg.seed(n) before the launch"},
    {"os.time", "pass the time as an argument"},
    {"os.clock", "pass the time as an argument"},
    {"rg.time", "pass the time as an argument"},
    {"string.", "strings exist only in print, assert and error: print(\"n\", n)"},
    {"io.", "in a kernel print(..) writes a line"},
};
static const char *const of_the_host[] = {"string.", "table.", "io.", "os.", "coroutine.", "rg."};

static bool is_or_is_in(const char *name, const char *wanted) {
  size_t length = strlen(wanted);
  return wanted[length - 1] == '.' ? !strncmp(name, wanted, length) : !strcmp(name, wanted);
}

/* What to do instead, for Lua functions that no version will support; NULL for others. */
static const char *hint_instead(const char *name) {
  for (size_t i = 0; i < sizeof instead / sizeof *instead; i++)
    if (is_or_is_in(name, instead[i].name)) return instead[i].hint;
  bool is_known = !strchr(name, '.');
  for (size_t i = 0; i < sizeof of_the_host / sizeof *of_the_host; i++)
    is_known |= is_or_is_in(name, of_the_host[i]);
  return is_known ? "call it outside, before or after the kernel" : NULL;
}

static Entity fail_builtin(Resolve *r, Expr *e, const char *name) {
  const char *hint = hint_instead(name);
  if (!strcmp(name, "pairs") || !strcmp(name, "ipairs") || !strcmp(name, "next"))
    sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
              "a field's cells: for i in x:active(); a captured list: for k, v in ipairs(t)",
              "'%s' cannot be called here", name);
  else if (hint)
    sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, hint, "'%s' cannot be called in a kernel", name);
  else sema_fail(r->s, e, RG_ERROR_NOT_YET, NULL, "'%s' in a kernel is not compiled yet", name);
  return (Entity){0};
}

Entity resolve_fail_argument_count(Resolve *r, Expr *e, const char *name, int least, int most) {
  if (least == most)
    sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'%s' takes %d %s, %d given", name, least,
              least == 1 ? "argument" : "arguments", e->list.count);
  else
    sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'%s' takes %d to %d arguments, %d given", name,
              least, most, e->list.count);
  return (Entity){0};
}

/* The object of a method call is not counted among the arguments. */
Entity resolve_fail_count(Resolve *r, Expr *e, const Builtin *builtin) {
  int self = call_arguments(r->s, e).count - e->list.count;
  const char *name =
      self ? scratch_format(r->scratch, ":%s", strchr(builtin->name, '.') + 1) : builtin->name;
  return resolve_fail_argument_count(r, e, name, builtin->least - self, builtin->most - self);
}

static bool resolve_arguments(Resolve *r, Exprs *list) {
  for (int i = 0; i < list->count; i++)
    if (!resolve_value(r, list->items[i])) return false;
  return resolve_refuse_multiple(r, list);
}

/* Elementwise functions: all arguments have one shape or are scalars. */
static bool join_arguments(Resolve *r, Expr *e, const Builtin *builtin, Shape *shape) {
  Exprs arguments = call_arguments(r->s, e);
  *shape = (Shape){0};
  for (int i = 0; i < arguments.count; i++)
    if (!shape_join(r, e, *shape, shape_of(arguments.items[i]),
                    scratch_format(r->scratch, "'%s'", builtin->name), shape))
      return false;
  return true;
}

static void note_builtin(Expr *e, const Builtin *builtin) {
  e->call = (Call){.kind = CALL_BUILTIN, .builtin = builtin};
}

static bool chooses_struct(const Expr *e) {
  return e->list.count == 3 &&
         (type_is_struct(shape_of(e->list.items[1])) || type_is_struct(shape_of(e->list.items[2])));
}

/* rg.select(c, p, q) of structs is c ? p : q. */
static Entity resolve_choice(Resolve *r, Expr *e) {
  Exprs list = e->list;
  *e = (Expr){.kind = AST_TERNARY,
              .op = AST_NO_OP,
              .pos = e->pos,
              .width = e->width,
              .ast = e->ast,
              .left = list.items[0],
              .right = list.items[1],
              .third = list.items[2]};
  return resolve_expr(r, e);
}

static Entity resolve_known(Resolve *r, Expr *e, const Builtin *builtin) {
  Entity entity = {.kind = ENTITY_VALUE};
  note_builtin(e, builtin);
  int given = call_arguments(r->s, e).count;
  if (given == 2 && (builtin->algebra == ALGEBRA_MIN || builtin->algebra == ALGEBRA_MAX)) {
    sema_fail(r->s, e, RG_ERROR_CALL_COUNT,
              builtin->algebra == ALGEBRA_MIN ? "did you mean 'math.min'?"
                                              : "did you mean 'math.max'?",
              "'%s' takes one vector or matrix, and gives the %s of its numbers", builtin->name,
              builtin->algebra == ALGEBRA_MIN ? "least" : "greatest");
    return (Entity){0};
  }
  if (given < builtin->least || given > builtin->most) return resolve_fail_count(r, e, builtin);
  if (!resolve_arguments(r, &e->list)) return (Entity){0};
  if (builtin->algebra == ALGEBRA_SELECT && chooses_struct(e)) return resolve_choice(r, e);
  bool ok = builtin->form == FORM_ALGEBRA ? resolve_algebra(r, e, builtin, &entity.shape)
                                          : join_arguments(r, e, builtin, &entity.shape);
  return ok ? entity : (Entity){0};
}

static bool resolve_native_argument(Resolve *r, Expr *e, const char *name, Type parameter) {
  bool is_array = !type_is_scalar(type_shape(parameter));
  Entity given = is_array ? resolve_expr(r, e) : (Entity){0};
  if (given.kind == ENTITY_FIELD && !array_is_whole(&given))
    return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, "pass an array: a copy in an rg.array",
                     "'%s' takes %s, which '%s' is not", name, shape_text(r->s, parameter),
                     sema_source(r->s, e));
  if (r->s->failed || !resolve_value(r, e)) return false;
  if (!is_array && type_is_scalar(shape_of(e))) return true;
  if (type_equal(shape_of(e), type_shape(parameter))) return true;
  const char *what = type_is_scalar(shape_of(e)) ? "a number" : shape_text(r->s, shape_of(e));
  return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, NULL, "'%s' takes %s here, but this is %s",
                   name, is_array ? shape_text(r->s, parameter) : "a number", what);
}

/* A function of an extension: numbers and arrays, which are passed by their bits. */
static Entity native_call(Resolve *r, Expr *e, const Builtin *builtin) {
  const Native *native = builtin->native;
  note_builtin(e, builtin);
  if (native->has_unsupported_types) {
    sema_fail(r->s, e, RG_ERROR_CALL, "call it from Lua, between launches",
              "a kernel can call an extension function of up to %d numbers and one-axis arrays, "
              "and '%s' has other parameters",
              NATIVE_MOST, builtin->name);
    return (Entity){0};
  }
  if (e->list.count != native->count)
    return resolve_fail_argument_count(r, e, builtin->name, native->count, native->count);
  for (int i = 0; i < e->list.count; i++)
    if (!resolve_native_argument(r, e->list.items[i], builtin->name, native->parameters[i]))
      return (Entity){0};
  return (Entity){.kind = type_is_none(native->result) ? ENTITY_VOID : ENTITY_VALUE,
                  .shape = type_shape(native->result),
                  .name = builtin->name};
}

/* The bounds of a range are resolved with the head of its loop. */
static Entity resolve_builtin_call(Resolve *r, Expr *e, const Entity *callee) {
  const Builtin *builtin = callee->builtin;
  if (!builtin) return fail_builtin(r, e, callee->name);
  if (builtin->form == FORM_MESSAGE || builtin->form == FORM_RANDOM) {
    note_builtin(e, builtin);
    if (e->list.count < builtin->least || e->list.count > builtin->most)
      return resolve_fail_argument_count(r, e, builtin->name, builtin->least, builtin->most);
    return builtin->form == FORM_MESSAGE ? message_call(r, e, builtin) : random_call(r, e, builtin);
  }
  if (builtin->form == FORM_BITCAST) return bitcast_call(r, e, builtin);
  if (builtin->form == FORM_NATIVE) return native_call(r, e, builtin);
  if (builtin->form == FORM_RANGE) {
    note_builtin(e, builtin);
    return (Entity){.kind = ENTITY_LOOP};
  }
  if (builtin->form == FORM_RESCALE) return rescale_call(r, e);
  if (builtin->form == FORM_LIBRARY) return library_call(r, e, builtin);
  if (builtin->form == FORM_ARRAY) return array_new(r, e, builtin);
  if (builtin->form == FORM_TYPE)
    return resolve_type_call(r, e, str_of(builtin->name + strlen("rg.")));
  return library_is_large(r, e, builtin) ? library_call(r, e, builtin)
                                         : resolve_known(r, e, builtin);
}

/* The count of numbers; -1 after an error. */
static int count_numbers(Resolve *r, const Exprs *list, const char *name) {
  int count = 0;
  for (int i = 0; i < list->count; i++) {
    Expr *item = list->items[i];
    if (item->kind != AST_TABLE) {
      if (!resolve_value(r, item)) return -1;
      if (type_is_struct(shape_of(item))) {
        sema_fail(r->s, item, RG_ERROR_TYPE_MISMATCH, "take a member of it: p.mass",
                  "'%s' is made of numbers, but this is %s", name,
                  shape_text(r->s, shape_of(item)));
        return -1;
      }
      count += type_parts(shape_of(item));
      continue;
    }
    for (int k = 0; k < item->ast->keys.count; k++)
      if (item->ast->keys.items[k]) {
        sema_fail(r->s, item, RG_ERROR_UNSUPPORTED, "write the numbers in their order",
                  "'%s' takes no names", name);
        return -1;
      }
    int inside = count_numbers(r, &item->list, name);
    if (inside < 0) return -1;
    count += inside;
  }
  return count;
}

/* In `{{a, b}, {c, d}}` each row has as many numbers as there are columns. */
static bool check_rows(Resolve *r, const Exprs *list, const char *name, Shape shape) {
  for (int i = 0; i < list->count; i++) {
    Expr *row = list->items[i];
    if (row->kind != AST_TABLE) continue;
    bool is_outer = row->list.count && row->list.items[0]->kind == AST_TABLE;
    if (is_outer ? !check_rows(r, &row->list, name, shape)
                 : count_numbers(r, &row->list, name) != type_cols(shape))
      return sema_fail(r->s, row, RG_ERROR_CALL_COUNT, NULL, "a row of '%s' has %d numbers", name,
                       type_cols(shape));
  }
  return true;
}

/* One number fills a vector, or the diagonal of a matrix. */
bool resolve_construction(Resolve *r, Expr *e, const char *name, Shape shape) {
  int count = count_numbers(r, &e->list, name);
  if (count < 0) return false;
  if (count != type_parts(shape) && count != 1)
    return sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL,
                     "'%s' is made of %d numbers or of one, not of %d", name, type_parts(shape),
                     count);
  bool is_flat =
      type_cols(shape) == 1 || count == 1 ||
      (e->list.items[0]->kind == AST_TABLE && e->list.count == 1 && e->list.items[0]->list.count &&
       e->list.items[0]->list.items[0]->kind != AST_TABLE);
  return is_flat || check_rows(r, &e->list, name, shape);
}

Entity resolve_converted(Expr *e, Type type, Shape shape) {
  e->call = (Call){.kind = CALL_CONVERSION, .type = type};
  return (Entity){.kind = ENTITY_VALUE, .shape = shape};
}

/* Is it `P(p)` or `rg.vec3(w)`, where the argument is the name of a table of values? */
static bool converts_record(Resolve *r, Expr *e, const Entity *callee) {
  Expr *only = e->list.count == 1 ? e->list.items[0] : NULL;
  if (!only || only->kind == AST_TABLE || type_is_scalar(callee->shape)) return false;
  Entity entity = resolve_expr(r, only);
  if (!record_is(&entity)) return false;
  Expr *made = struct_coerce(r, only, type_shaped(callee->type, callee->shape), callee->name);
  if (made) *e = *made;
  return true;
}

static Entity resolve_conversion(Resolve *r, Expr *e, const Entity *callee) {
  if (converts_record(r, e, callee)) return r->s->failed ? (Entity){0} : e->entity;
  if (type_is_struct(callee->shape)) return struct_construct(r, e, callee->type);
  if (!type_is_scalar(callee->shape)) {
    if (!resolve_construction(r, e, callee->name, callee->shape)) return (Entity){0};
  } else {
    if (e->list.count != 1) return resolve_fail_argument_count(r, e, callee->name, 1, 1);
    if (!resolve_scalar(r, e->list.items[0])) return (Entity){0};
  }
  return resolve_converted(e, callee->type, callee->shape);
}

/* -- type constructors ----------------------------------------------------------------------- */

static int extent_of(Resolve *r, Expr *e) {
  double value;
  if (sema_is_constant(e, &value) && value >= 1 && value <= TYPE_MAX_PARTS && value == (int)value)
    return (int)value;
  int64_t known;
  if (!sema_is_constant(e, &value) && !static_integer(r, e, &known)) return 0;
  if (!sema_is_constant(e, &value) && known >= 1 && known <= TYPE_MAX_PARTS) return (int)known;
  sema_fail(r->s, e, RG_ERROR_TYPE_UNKNOWN, "write a number: rg.vec(3, rg.f32)",
            "a vector or matrix has a fixed size, of at most %d numbers", TYPE_MAX_PARTS);
  return 0;
}

/* Reports `rg.vec(x, y)`: values in the place of a size and a type. */
static Entity fail_values(Resolve *r, Expr *e, bool is_matrix) {
  sema_fail(
      r->s, e, RG_ERROR_TYPE_UNKNOWN,
      is_matrix ? "to make a matrix, write rg.mat2(a, b, c, d), or rg.mat(2, 2, T)(a, b, c, d)"
                : "to make a vector, write rg.vec2(a, b), or rg.vec(2, T)(a, b)",
      "'%s' takes a size and a number type, and returns a type", is_matrix ? "rg.mat" : "rg.vec");
  return (Entity){0};
}

static bool is_name(const AstExpr *e) {
  return e->kind == AST_GLOBAL || e->kind == AST_FIELD || e->kind == AST_LOCAL;
}

Entity resolve_type_call(Resolve *r, Expr *e, Str name) {
  bool is_matrix = str_is(name, "mat");
  int count = is_matrix ? 3 : 2;
  if (str_is(name, "array") || str_is(name, "array_type")) return array_type_call(r, e);
  if (!is_matrix && !str_is(name, "vec")) {
    sema_fail(r->s, e, RG_ERROR_TYPE_UNKNOWN, "vec(3, f32) and mat(2, 3, f32) are types",
              "'%s' does not make a type", sema_text(r->s, name));
    return (Entity){0};
  }
  if (e->list.count != count)
    return resolve_fail_argument_count(r, e, is_matrix ? "rg.mat" : "rg.vec", count, count);
  if (!is_name(e->list.items[count - 1]->ast)) return fail_values(r, e, is_matrix);
  Shape shape;
  Type element = resolve_type(r, e->list.items[count - 1]->ast, &shape), type;
  int rows = r->s->failed ? 0 : extent_of(r, e->list.items[0]),
      cols = r->s->failed || !is_matrix ? 1 : extent_of(r, e->list.items[1]);
  if (r->s->failed) return (Entity){0};
  if (type_is_scalar(shape) && type_make(element, rows, cols, &type))
    return (Entity){.kind = ENTITY_TYPE,
                    .type = element,
                    .shape = type_shape(type),
                    .name = sema_source(r->s, e)};
  sema_fail(r->s, e, RG_ERROR_TYPE_UNKNOWN, NULL,
            "'%s' is not a type: there are 2 to %d numbers or booleans in a vector or matrix",
            sema_source(r->s, e), TYPE_MAX_PARTS);
  return (Entity){0};
}

Entity resolve_call(Resolve *r, Expr *e) {
  /* already resolved, or made by resolve itself */
  if (e->call.kind == CALL_CONVERSION) return e->entity;
  Entity callee = resolve_expr(r, e->left);
  const char *name = callee.name ? callee.name : sema_source(r->s, e->left);
  if (callee.kind == ENTITY_NONE) return callee;
  if (callee.kind == ENTITY_TYPE) return resolve_conversion(r, e, &callee);
  if (callee.kind == ENTITY_BUILTIN && !strcmp(callee.name, "rg.static")) return static_call(r, e);
  if (callee.kind == ENTITY_BUILTIN && !strcmp(callee.name, "unpack")) return unpack_call(r, e);
  if (callee.kind == ENTITY_BUILTIN) return resolve_builtin_call(r, e, &callee);
  if (callee.kind == ENTITY_FUNCTION) return resolve_inline_call(r, e, callee, NULL);
  sema_fail(r->s, e, RG_ERROR_CALL, NULL, "'%s' is not a function", name);
  return (Entity){0};
}

/* -- methods ----------------------------------------------------------------------------------- */

static Entity fail_method(Resolve *r, Expr *e, const Entity *object) {
  sema_fail(r->s, e, RG_ERROR_CALL, suggest_method(r, e->text), "'%s' has no method '%s'",
            object->name, sema_text(r->s, e->text));
  return (Entity){0};
}

static const char *values_after(const MethodCall *m) {
  return m->method->form == METHOD_RMW ? ", v" : m->method->form == METHOD_CAS ? ", old, v" : "";
}

Entity resolve_fail_indices(Resolve *r, Expr *e, const MethodCall *m, int needed, int given) {
  const char *name = m->object.name, *hint = NULL;
  const char *axes = needed == 1 ? "i" : needed == 2 ? "i, j" : "i, j, ..";
  const char *values = values_after(m);
  if (!needed) axes = *values ? "0" : "";
  if (!needed || !m->object.field.index_count)
    hint = scratch_format(r->scratch, "write %s:%s(%s%s)", name, m->method->name, axes, values);
  sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, hint, "'%s' has %d %s here, and '%s' was given %d %s",
            name, needed, needed == 1 ? "axis" : "axes", sema_text(r->s, e->text), given,
            given == 1 ? "index" : "indices");
  return (Entity){0};
}

/* A field without axes has one element, `x[0]`: x:add(0, v). */
static void drop_only_index(const Entity *object, Expr *e, Exprs *indices) {
  double value;
  bool is_only = indices->count == 1 && field_rank(&object->field) == object->field.index_count &&
                 sema_is_constant(indices->items[0], &value) && value == 0;
  if (!is_only) return;
  e->list.items++;
  e->list.count--;
  e->list.capacity--;
  *indices = (Exprs){0};
}

/* Reports missing arguments; `x:max()` was probably meant as the maximum of all elements. */
static bool fail_too_few(Resolve *r, Expr *e, const MethodCall *m, int needed) {
  static const struct {
    const char *name, *of_all;
  } loops[] = {
      {"max", "; the largest of all takes a loop: m = math.max(m, x[i])"},
      {"min", "; the smallest of all takes a loop: m = math.min(m, x[i])"},
      {"add", "; the sum of all takes a loop: s = s + x[i]"},
  };
  const char *name = m->method->name, *of_all = "";
  int axes = needed - m->method->values;
  for (size_t i = 0; i < sizeof loops / sizeof *loops && !e->list.count; i++)
    if (!strcmp(name, loops[i].name)) of_all = loops[i].of_all;
  const char *hint =
      scratch_format(r->scratch, "%s:%s(%s%s) updates an element%s", m->object.name, name,
                     axes == 0   ? "0"
                     : axes == 1 ? "i"
                     : axes == 2 ? "i, j"
                                 : "i, j, ..",
                     values_after(m), of_all);
  return sema_fail(r->s, e, RG_ERROR_CALL_COUNT, hint, "'%s' takes %d %s, %d given", name, needed,
                   needed == 1 ? "argument" : "arguments", e->list.count);
}

/* The leading arguments are indices; the last `values` are not. */
static bool resolve_method_arguments(Resolve *r, Expr *e, const MethodCall *m, int *indices) {
  const Entity *object = &m->object;
  int values = m->method->values,
      count = values + field_rank(&object->field) - object->field.index_count;
  Exprs list = e->list;
  if (list.count < values) return fail_too_few(r, e, m, count);
  list.count -= values;
  drop_only_index(object, e, &list);
  if (!resolve_indices(r, &list, indices)) return false;
  const char *what = scratch_format(r->scratch, "an element of '%s'", object->name);
  for (int i = list.count; i < e->list.count; i++) {
    Type type = type_shaped(object->field.type, object->shape);
    Expr *given = struct_coerce(r, e->list.items[i], type, what);
    if (!given) return false;
    e->list.items[i] = given;
  }
  return resolve_refuse_multiple(r, &e->list);
}

/* A call of this method, which returns a value of `type` and `shape`; without a type, it is a
 * statement. */
static Entity method_entity(Expr *e, MethodCall m, Type type, Shape shape) {
  m.type = type;
  e->call = (Call){.kind = CALL_METHOD, .method = m};
  EntityKind kind = type_is_none(type) ? ENTITY_VOID : ENTITY_VALUE;
  return (Entity){.kind = kind, .name = m.object.name, .shape = shape};
}

static Entity resolve_cell_call(Resolve *r, Expr *e, const MethodCall *m) {
  const FieldRef *field = field_of(&m->object);
  /* a list is cleared as a whole */
  bool is_list = m->method->op == IR_DEACTIVATE && snode_has_lists(field->node);
  int count, needed = field_rank(field) - is_list - field->index_count;
  if (!resolve_method_arguments(r, e, m, &count)) return (Entity){0};
  if (count != needed) return resolve_fail_indices(r, e, m, needed, count);
  if (m->method->values) return method_entity(e, *m, field->type, m->object.shape);
  bool asks = m->method->form == METHOD_IS_ACTIVE;
  return method_entity(e, *m, asks ? TYPE(BOOL) : TYPE(NONE), (Shape){0});
}

static Entity resolve_element_call(Resolve *r, Expr *e, const MethodCall *m) {
  bool is_field = m->object.kind == ENTITY_FIELD;
  bool is_exchange = m->method->form == METHOD_RMW && m->method->op == IR_UPDATE_EXCHANGE;
  if (is_field && type_is_struct(m->object.shape) && !is_exchange) {
    sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
              "update a member: x[i].mass = x[i].mass + m, or place it in a field of its own",
              "'%s' holds structs, which '%s' does not take as a whole", m->object.name,
              m->method->name);
    return (Entity){0};
  }
  if (is_field && m->method->form == METHOD_CAS && !type_is_scalar(m->object.shape)) {
    sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "store what is compared in a separate field",
              "'%s' holds vectors, and several numbers cannot be compared and exchanged at once",
              m->object.name);
    return (Entity){0};
  }
  if (is_field) return resolve_cell_call(r, e, m);
  sema_fail(r->s, e, RG_ERROR_CALL, "call it on a field", "'%s' is an SNode and has no elements",
            m->object.name);
  return (Entity){0};
}

static Entity resolve_whole_call(Resolve *r, Expr *e, const MethodCall *m) {
  const char *name = m->method->name;
  if (e->list.count) return resolve_fail_argument_count(r, e, name, 0, 0);
  if (m->object.field.index_count) {
    sema_fail(r->s, e, RG_ERROR_CALL, "call it on the field itself", "'%s' applies to all cells",
              name);
    return (Entity){0};
  }
  if (r->called) {
    sema_fail(r->s, e, RG_ERROR_CALL, "call it in the kernel",
              "'%s' cannot be called in '%s', which calls itself", name, r->called->name);
    return (Entity){0};
  }
  if (r->loop) {
    sema_fail(r->s, e, RG_ERROR_CALL, "call it before or after the loop",
              "'%s' cannot be called inside a parallel loop", name);
    return (Entity){0};
  }
  bool counts = m->method->form == METHOD_COUNT;
  return method_entity(e, *m, counts ? TYPE(I64) : TYPE(NONE), (Shape){0});
}

static Entity loop_entity(Expr *e, const MethodCall *m) {
  e->call = (Call){.kind = CALL_METHOD, .method = *m};
  return (Entity){.kind = ENTITY_LOOP, .name = m->object.name, .shape = m->object.shape};
}

static Entity resolve_list_call(Resolve *r, Expr *e, MethodCall m) {
  Shape shape;
  Type type;
  if (!resolve_list(r, e, &m, &type, &shape)) return (Entity){0};
  return method_entity(e, m, type, shape);
}

/* Refuses methods of cells that can be inactive, which an array does not have. */
static bool check_array_call(Resolve *r, Expr *e, const MethodCall *m) {
  switch (m->method->form) {
  case METHOD_TOPOLOGY:
  case METHOD_IS_ACTIVE:
  case METHOD_COUNT:
  case METHOD_CLEAR:
  case METHOD_LIST:
  case METHOD_ITEMS:
    return sema_fail(r->s, e, RG_ERROR_CALL, "it is a method of fields and nodes of a tree",
                     "'%s' is an array and has no '%s': its elements always exist", m->object.name,
                     m->method->name);
  case METHOD_RMW:
  case METHOD_CAS: return resolve_check_writable(r, e, &m->object);
  default: return true;
  }
}

/* A member of all elements is not a list, and can only be read. */
static bool check_member_call(Resolve *r, Expr *e, const MethodCall *m) {
  MethodForm form = m->method->form;
  bool changes = form == METHOD_RMW || form == METHOD_CAS || form == METHOD_LIST ||
                 form == METHOD_ITEMS || form == METHOD_BULK;
  return !m->object.field.part || !changes || resolve_check_writable(r, e, &m->object);
}

static Entity resolve_object_call(Resolve *r, Expr *e, const MethodCall *m) {
  const char *name = m->method->name;
  if (!check_member_call(r, e, m)) return (Entity){0};
  if (m->object.field.array && !check_array_call(r, e, m)) return (Entity){0};
  if (m->method->form != METHOD_IS_ACTIVE && !resolve_check_own(r, e, &m->object))
    return (Entity){0};
  switch (m->method->form) {
  case METHOD_RMW:
  case METHOD_CAS: return resolve_element_call(r, e, m);
  case METHOD_TOPOLOGY:
  case METHOD_IS_ACTIVE: return resolve_cell_call(r, e, m);
  case METHOD_COUNT:
  case METHOD_CLEAR: return resolve_whole_call(r, e, m);
  case METHOD_BULK: return bulk_call(r, e, m);
  case METHOD_SAMPLE: return sample_call(r, e, m);
  case METHOD_LIST: return resolve_list_call(r, e, *m);
  case METHOD_ACTIVE:
  case METHOD_MODIFIER:
  case METHOD_ITEMS: return loop_entity(e, m);
  case METHOD_HOST:
    sema_fail(r->s, e, RG_ERROR_CALL,
              !strcmp(name, "get") || !strcmp(name, "set") ? "in a kernel, read and write x[i][j]"
                                                           : "call it outside the kernel",
              "'%s' is for Lua, outside kernels", name);
    return (Entity){0};
  }
  return (Entity){0};
}

static Entity fail_object(Resolve *r, Expr *e, const Entity *object) {
  const char *name = sema_text(r->s, e->text),
             *what = object->name ? object->name : sema_source(r->s, e->left);
  if (object->kind == ENTITY_ELEMENT && method_find(e->text))
    sema_fail(r->s, e, RG_ERROR_CALL,
              scratch_format(r->scratch, "write %s:%s(i, .., v)", object->name, name),
              "'%s' is an element: its methods are the field's", sema_source(r->s, e->left));
  else
    sema_fail(r->s, e, RG_ERROR_CALL, NULL, "'%s' is not a field or SNode and has no method '%s'",
              what, name);
  return (Entity){0};
}

/* object:name(..) where the object is a Lua table: calls the table's function, with the table as
 * first argument. */
static Entity resolve_table_call(Resolve *r, Expr *e, const Entity *object) {
  Entity callee = table_member(r, e, object, e->text);
  if (r->s->failed) return (Entity){0};
  if (callee.kind == ENTITY_BUILTIN && !strcmp(callee.name, "window.peer"))
    return resolve_peer(r, e, object);
  if (callee.kind == ENTITY_FUNCTION) return resolve_inline_call(r, e, callee, e->left);
  sema_fail(r->s, e, RG_ERROR_CALL, NULL, "'%s' of '%s' is not a function",
            sema_text(r->s, e->text), object->name);
  return (Entity){0};
}

/* `v:norm()` is rg.norm(v). */
static Entity resolve_vector_method(Resolve *r, Expr *e, const Entity *object) {
  if (str_is(e->text, "slice"))
    return e->list.count == 2 ? shape_slice(r, e, object)
                              : resolve_fail_argument_count(r, e, ":slice", 2, 2);
  const Builtin *builtin = builtin_method(e->text);
  if (builtin && (builtin->form == FORM_LIBRARY || library_is_large(r, e, builtin)))
    return library_call(r, e, builtin);
  if (builtin) return resolve_known(r, e, builtin);
  sema_fail(r->s, e, RG_ERROR_CALL, suggest_vector_member(r, e->text, true),
            "%s has no method '%s'", shape_text(r->s, object->shape), sema_text(r->s, e->text));
  return (Entity){0};
}

Entity resolve_method(Resolve *r, Expr *e) {
  Entity object = resolve_expr(r, e->left);
  if (object.kind == ENTITY_TABLE) return resolve_table_call(r, e, &object);
  const Local *method = record_is(&object) ? record_find(object.record, e->text) : NULL;
  if (method && method->is_alias && method->alias.kind == ENTITY_FUNCTION)
    return resolve_inline_call(r, e, method->alias, e->left);
  bool is_value = entity_is_value(&object);
  if (is_value && type_is_array(object.shape)) return array_method(r, e, &object);
  if (is_value && type_is_struct(object.shape)) return struct_method(r, e, &object);
  if (is_value && !type_is_scalar(object.shape)) return resolve_vector_method(r, e, &object);
  if (array_is_whole(&object) && builtin_of_array(e->text)) {
    if (!array_to_value(r, e->left)) return (Entity){0};
    object = e->left->entity;
    return array_method(r, e, &object);
  }
  if (object.kind == ENTITY_NONE) return object;
  if (object.kind == ENTITY_LOOP) {
    sema_fail(r->s, e, RG_ERROR_CALL, suggest_modifier(r, e->text), "a loop has no ':%s()'",
              sema_text(r->s, e->text));
    return (Entity){0};
  }
  if (object.kind != ENTITY_FIELD && object.kind != ENTITY_NODE) return fail_object(r, e, &object);
  MethodCall m = {.method = method_find(e->text), .object = object};
  return m.method ? resolve_object_call(r, e, &m) : fail_method(r, e, &object);
}
