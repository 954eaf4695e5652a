/* name.c - names the kernel does not declare: their values in this launch. */
#include "resolve/resolve.h"

/* The prefix of a dotted name: "self.grid" of "self.grid.n"; empty for a plain one. */
static Str parent_of(Str name) {
  int length = name.length;
  while (length > 0 && name.data[length - 1] != '.') length--;
  return (Str){name.data, length};
}

/* Single letters are similar to all others, so they are not suggested; nor are names in different
 * tables. */
const char *resolve_nearest(Resolve *r, Str name) {
  if (name.length < 2) return NULL;
  VEC(const char *) candidates = {0};
  for (int i = 0; i < r->s->locals.count; i++)
    if (r->s->locals.items[i]->is_declared && !parent_of(name).length &&
        !str_equal(r->s->locals.items[i]->name, name))
      vec_push(r->scratch, &candidates, sema_text(r->s, r->s->locals.items[i]->name));
  for (int i = 0; i < r->input->paths->count; i++)
    if (r->input->captures[i].kind != VALUE_NIL &&
        !str_equal(name, r->input->paths->items[i].name) &&
        str_equal(parent_of(name), parent_of(r->input->paths->items[i].name)))
      vec_push(r->scratch, &candidates, sema_text(r->s, r->input->paths->items[i].name));
  const char *nearest = str_nearest(name, candidates.items, candidates.count);
  return nearest ? scratch_format(r->scratch, "did you mean '%s'?", nearest) : NULL;
}

/* -- launch arguments --------------------------------------------------------------------- */

static PartialType type_of_value(const Sema *s, const SemaValue *value) {
  Type type;
  switch (value->kind) {
  case VALUE_VECTOR:
    return type_find(s, value->name, &type) ? ty_of(type_base(type)) : (PartialType){0};
  case VALUE_BOOL: return ty_of(TYPE(BOOL));
  case VALUE_I64: return ty_of(TYPE(I64));
  case VALUE_U64: return ty_of(TYPE(U64));
  default: return (PartialType){.kind = TY_NUMBER};
  }
}

/* Constants such as math.pi, which are floats wherever they are used. */
static bool is_float_constant(const char *name) {
  return !strcmp(name, "math.pi") || !strcmp(name, "math.huge");
}

static Shape shape_of_value(const Sema *s, const SemaValue *value) {
  Type type;
  return value->kind == VALUE_VECTOR && type_find(s, value->name, &type) ? type_shape(type)
                                                                         : (Shape){0};
}

static Entity launch_arg_entity(Resolve *r, const SemaValue *value, SemaArg source,
                                const char *name) {
  int *number = source.is_parameter ? &r->s->parameter_launch_arg[source.index]
                                    : &r->path_launch_arg[source.index];
  if (!*number) {
    LaunchArg launch_arg = {.source = source,
                            .name = name,
                            .ty = type_of_value(r->s, value),
                            .shape = shape_of_value(r->s, value),
                            .arg = -1};
    if (launch_arg.ty.kind == TY_NUMBER && is_float_constant(name))
      launch_arg.ty.kind = TY_FLEXIBLE;
    vec_push(r->scratch, &r->s->launch_args, launch_arg);
    *number = r->s->launch_args.count;
  }
  return (Entity){.kind = ENTITY_ARGUMENT,
                  .launch_arg = {.number = *number - 1},
                  .name = name,
                  .shape = r->s->launch_args.items[*number - 1].shape};
}

/* -- entities of values ------------------------------------------------------------------------ */

static Entity field_entity(Resolve *r, Expr *e, const SemaValue *value, SemaArg source,
                           const char *name) {
  if (!value->node) {
    sema_fail(r->s, e, RG_ERROR_FIELD_UNPLACED,
              "place it first: rg.root:dense(\"i\", n):place(..), or give it a shape",
              "the field '%s' is not placed in a tree yet", name);
    return (Entity){0};
  }
  FieldRef field = {.node = value->node,
                    .component = value->component,
                    .offset = value->offset,
                    .is_movable = value->is_movable,
                    .is_watched = value->is_watched,
                    .source = source,
                    .type = type_base(value->type)};
  return (Entity){
      .kind = ENTITY_FIELD, .name = name, .shape = type_shape(value->type), .field = field};
}

/* The extents of an array are one launch argument: a vector, or a number if there is one axis. */
static int extents_of(Resolve *r, Expr *e, const ArrayUse *use) {
  SemaArg source = use->source;
  source.kind = ARG_EXTENT;
  LaunchArg extents = {.source = source,
                       .name = scratch_format(r->scratch, "%s.shape", use->name),
                       .ty = ty_of(use->of.is_wide ? TYPE(I64) : TYPE(I32)),
                       .shape = type_make_shape(use->of.axis_count, 1),
                       .use = e,
                       .source_text = sema_text_source(r->s),
                       .arg = -1};
  vec_push(r->scratch, &r->s->launch_args, extents);
  return r->s->launch_args.count - 1;
}

static const ArrayUse *array_use(Resolve *r, Expr *e, const SemaValue *value, SemaArg source,
                                 const char *name) {
  for (int i = 0; i < r->s->arrays.count; i++)
    if (r->s->arrays.items[i]->of.number == value->array.number) return r->s->arrays.items[i];
  ArrayUse *use = scratch_new(r->scratch, ArrayUse);
  *use = (ArrayUse){.of = value->array, .source = source, .name = name, .type = value->type};
  use->extents = extents_of(r, e, use);
  vec_push(r->scratch, &r->s->arrays, use);
  return use;
}

static Entity array_entity(Resolve *r, Expr *e, const SemaValue *value, SemaArg source,
                           const char *name) {
  FieldRef field = {.array = array_use(r, e, value, source, name),
                    .source = source,
                    .type = type_base(value->type)};
  return (Entity){
      .kind = ENTITY_FIELD, .name = name, .shape = type_shape(value->type), .field = field};
}

static Entity type_entity(Resolve *r, Expr *e, const SemaValue *value, const char *name) {
  Type type;
  if (type_find(r->s, value->name, &type))
    return (Entity){
        .kind = ENTITY_TYPE, .name = name, .type = type_base(type), .shape = type_shape(type)};
  sema_fail(r->s, e, RG_ERROR_NOT_YET, "use scalars: rg.f32, rg.i32 ..",
            "the type '%s' is not compiled yet", name);
  return (Entity){0};
}

static const char *describe(const SemaValue *value) {
  switch (value->kind) {
  case VALUE_NIL: return "nil";
  case VALUE_STRING: return "a string";
  default: return value->name && *value->name ? value->name : "a value that kernels do not know";
  }
}

static Entity function_entity(Resolve *r, const SemaValue *value, SemaArg source,
                              const char *name) {
  FunctionRef function = {.source = source, .number = value->function};
  const Ast *ast = value->function ? r->input->functions[value->function - 1] : NULL;
  if (ast) function.text = ast->function;
  function.is_iterator = ast && ast->is_iterator;
  if (ast) function.source_text = ast->source;
  return (Entity){.kind = ENTITY_FUNCTION, .name = name, .function = function};
}

static Entity builtin_entity(Resolve *r, const SemaValue *value) {
  const Builtin *builtin = native_is(value->name)
                               ? native_read(r->scratch, r->input->types, value->name)
                               : builtin_find(value->name);
  const char *name = builtin ? builtin->name : value->name;
  return (Entity){.kind = ENTITY_BUILTIN, .name = name, .builtin = builtin};
}

static Entity value_entity(Resolve *r, Expr *e, const SemaValue *value, SemaArg source,
                           const char *name) {
  switch (value->kind) {
  case VALUE_NUMBER:
  case VALUE_I64:
  case VALUE_U64:
  case VALUE_BOOL:
  case VALUE_VECTOR: return launch_arg_entity(r, value, source, name);
  case VALUE_FIELD: return field_entity(r, e, value, source, name);
  case VALUE_ARRAY: return array_entity(r, e, value, source, name);
  case VALUE_NODE:
    return (Entity){
        .kind = ENTITY_NODE, .name = name, .field = {.node = value->node, .source = source}};
  case VALUE_TYPE: return type_entity(r, e, value, name);
  case VALUE_BUILTIN: return builtin_entity(r, value);
  case VALUE_FUNCTION: return function_entity(r, value, source, name);
  case VALUE_TABLE: return (Entity){.kind = ENTITY_TABLE, .name = name, .table = source};
  default:
    return (Entity){.kind = ENTITY_OTHER,
                    .name = name,
                    .other = {.source = source, .value = value->kind, .what = describe(value)}};
  }
}

/* -- nil --------------------------------------------------------------------------------------- */

/* A path as written in the source: t[1] for "t.#1", #t for "t.#". */
static const char *path_text(Resolve *r, Str path) {
  StrBuf out;
  strbuf_init(&out, r->scratch);
  if (path.length > 2 && !memcmp(path.data + path.length - 2, ".#", 2)) {
    strbuf_char(&out, '#');
    path.length -= 2;
  }
  for (int i = 0; i < path.length; i++) {
    bool is_key = path.data[i] == '.' && i + 1 < path.length && path.data[i + 1] == '#';
    if (!is_key) {
      strbuf_char(&out, path.data[i]);
      continue;
    }
    strbuf_char(&out, '[');
    for (i += 2; i < path.length && path.data[i] != '.'; i++) strbuf_char(&out, path.data[i]);
    strbuf_char(&out, ']');
    i--;
  }
  return sema_text(r->s, str_of(strbuf_end(&out)));
}

/* The first `count` names of a path. */
static Str leading(Str name, int count) {
  int length = 0;
  while (length < name.length && (name.data[length] != '.' || --count > 0)) length++;
  return (Str){name.data, length};
}

static bool is_library(Str root) {
  return str_is(root, "math") || str_is(root, "bit") || str_is(root, "rg");
}

static Entity fail_nil(Resolve *r, Expr *e, const SemaValue *value, Str path) {
  int depth = value->depth > 1 ? value->depth : 1;
  Str met = leading(path, depth);
  const char *name = path_text(r, met),
             *hint = value->depth == 0 ? suggest_name(r, met) : resolve_nearest(r, met);
  if (depth == 2 && is_library(leading(path, 1))) {
    sema_fail(r->s, e, RG_ERROR_NAME_UNKNOWN, suggest_builtin(r, met), "there is no '%s'", name);
  } else if (value->depth == 0) {
    sema_fail(r->s, e, RG_ERROR_NAME_UNKNOWN, hint, "'%s' is not defined", name);
  } else if (e->kind == AST_METHOD && depth > 1 && met.length == path.length) {
    sema_fail(r->s, e, RG_ERROR_NAME_NIL, hint, "'%s' has no method '%s'",
              path_text(r, leading(path, depth - 1)), sema_text(r->s, e->text));
  } else {
    if (met.length > 3 && !memcmp(met.data + met.length - 3, ".#0", 3))
      hint = "lists start at 1, as in Lua";
    sema_fail(r->s, e, RG_ERROR_NAME_NIL,
              hint ? hint : "it must have a value when the kernel is launched", "'%s' is nil",
              name);
  }
  return (Entity){0};
}

/* -- paths ------------------------------------------------------------------------------------- */

static int count_names(Str path) {
  int count = 1;
  for (int i = 0; i < path.length; i++) count += path.data[i] == '.';
  return count;
}

/* Resolves the part of a path after the names that the host has walked: `.shape`. */
static Entity resolve_rest(Resolve *r, Expr *e, Entity entity, Str path, int walked) {
  Str met = leading(path, walked);
  while (met.length < path.length && !r->s->failed) {
    Str rest = {path.data + met.length + 1, path.length - met.length - 1};
    Str name = leading(rest, 1);
    entity = resolve_member(r, e, entity, name);
    met.length += 1 + name.length;
  }
  return r->s->failed ? (Entity){0} : entity;
}

static int find_path(Resolve *r, Expr *e) {
  StrBuf name;
  int parameter;
  strbuf_init(&name, r->scratch);
  if (!path_of(r->s->frame ? NULL : r->input->ast, e->ast, &name, &parameter)) return -1;
  SemaPath path = {.name = str_of(strbuf_end(&name)),
                   .is_parameter_path = parameter >= 0,
                   .function = r->s->frame ? r->s->frame->number : 0};
  return path_find(r, &path);
}

Entity resolve_capture(Resolve *r, Expr *e) {
  if (library_is_inside(r)) return library_name(r, e);
  int number = find_path(r, e);
  if (number < 0) {
    sema_fail(r->s, e, RG_ERROR_NAME_UNKNOWN, resolve_nearest(r, e->text), "'%s' is not defined",
              sema_source(r->s, e));
    return (Entity){0};
  }
  return resolve_path_value(r, e, number);
}

bool resolve_is_nil(Resolve *r, Expr *e) {
  int number = e->kind == AST_GLOBAL || e->kind == AST_FIELD ? find_path(r, e) : -1;
  return number >= 0 && r->input->captures[number].kind == VALUE_NIL &&
         r->input->captures[number].depth > 0;
}

Entity resolve_path_value(Resolve *r, Expr *e, int number) {
  if (r->input->captures[number].joined) number = r->input->captures[number].joined - 1;
  const SemaValue *value = &r->input->captures[number];
  Str path = r->input->paths->items[number].name;
  if (value->kind == VALUE_NIL) return fail_nil(r, e, value, path);
  int names = count_names(path),
      walked = value->depth > 0 && value->depth < names ? value->depth : names;
  const char *name = path_text(r, leading(path, walked));
  Entity entity = value_entity(r, e, value, (SemaArg){.index = number}, name);
  return r->s->failed ? (Entity){0} : resolve_rest(r, e, entity, path, walked);
}

/* -- parameters -------------------------------------------------------------------------------- */

static bool check_annotated(Resolve *r, Local *parameter, LaunchArg *launch_arg, Type type,
                            Shape shape) {
  bool is_bool = launch_arg->ty.kind == TY_BOOL;
  if (!type_equal(launch_arg->shape, shape))
    return sema_fail_pos(r->s, parameter->pos, parameter->name.length, RG_ERROR_LAUNCH_ARGUMENTS,
                         NULL, "'%s' is declared %s, but the launch argument is %s",
                         launch_arg->name, sema_written(r->s, parameter->annotation),
                         shape_text(r->s, launch_arg->shape));
  if (is_bool != type_is_bool(type))
    return sema_fail_pos(r->s, parameter->pos, parameter->name.length, RG_ERROR_LAUNCH_ARGUMENTS,
                         NULL, "'%s' is declared %s, but the launch argument is a %s",
                         launch_arg->name, type_text(type), is_bool ? "boolean" : "number");
  launch_arg->ty = ty_of(type);
  return true;
}

static const char *no_number(Resolve *r, const Entity *entity) {
  const ArrayUse *array = array_is_whole(entity) ? entity->field.array : NULL;
  if (array)
    return scratch_format(r->scratch, "an array of %s with %d %s",
                          type_is_scalar(type_shape(array->type))
                              ? type_text(array->type)
                              : shape_text(r->s, type_shape(array->type)),
                          array->of.axis_count, array->of.axis_count == 1 ? "axis" : "axes");
  switch (entity->kind) {
  case ENTITY_FUNCTION: return "a function";
  case ENTITY_TABLE:
  case ENTITY_LIST: return "a table";
  case ENTITY_OTHER: return entity->other.what;
  case ENTITY_FIELD: return "a field";
  case ENTITY_NODE: return "an SNode";
  default: return "not a number";
  }
}

/* A parameter that is never assigned refers to the launch argument; one that is assigned is a
 * variable. */
void resolve_parameter(Resolve *r, int number) {
  Local *local = r->s->parameters.items[number];
  const char *name = sema_text(r->s, local->name);
  SemaValue missing = {.kind = VALUE_NIL};
  const SemaValue *value =
      number < r->input->parameter_count ? &r->input->parameters[number] : &missing;
  Expr *at = scratch_new(r->scratch, Expr);
  *at = (Expr){.pos = local->pos, .width = local->name.length};
  local->is_declared = true;
  Entity entity =
      value_entity(r, at, value, (SemaArg){.is_parameter = true, .index = number}, name);
  local->shape = entity.shape;
  local->has_shape = true;
  if (local->annotation) local->type = resolve_type(r, local->annotation, &local->shape);
  local->is_annotated = local->annotation != NULL;
  if (local->is_annotated && entity.kind == ENTITY_TABLE && !type_is_scalar(local->shape) &&
      !type_is_array(local->shape)) {
    Stmt *stmt = struct_from_table(r, local, &entity, type_shaped(local->type, local->shape));
    if (stmt) vec_push(r->scratch, &r->s->body, stmt);
    return;
  }
  bool is_declared = local->is_annotated && array_is_declared(r, at, &entity, local->shape);
  if (array_is_whole(&entity) && local->is_assigned && (is_declared || !local->is_annotated)) {
    at->entity = entity;
    if (!array_to_value(r, at)) return;
    entity = at->entity;
    local->shape = entity.shape;
    r->s->parameter_launch_arg[number] = entity.launch_arg.number + 1;
  }
  if (local->is_annotated && entity.kind == ENTITY_ARGUMENT)
    check_annotated(r, local, &r->s->launch_args.items[entity.launch_arg.number], local->type,
                    local->shape);
  else if (local->is_annotated && !is_declared && !r->s->failed &&
           !(local->has_default && nil_is(&entity)))
    sema_fail_pos(r->s, local->pos, local->name.length, RG_ERROR_LAUNCH_ARGUMENTS,
                  type_is_array(local->shape) && !array_is_whole(&entity)
                      ? "rg.array, rg.zeros, rg.list and kernels make such arrays; a field needs "
                        "no annotation"
                      : NULL,
                  "'%s' is declared %s, but the launch argument is %s", name,
                  sema_written(r->s, local->annotation), no_number(r, &entity));
  if (local_is_variable(local) && entity.kind == ENTITY_ARGUMENT) {
    r->s->launch_args.items[entity.launch_arg.number].use = at;
    r->s->launch_args.items[entity.launch_arg.number].source_text = r->input->ast->source;
    return;
  }
  if (local->is_assigned && nil_is(&entity)) nil_fail_assigned(r, local, "launch");
  else if (local->is_assigned)
    sema_fail_pos(r->s, local->pos, local->name.length, RG_ERROR_UNSUPPORTED,
                  "declare another local for the new value",
                  "the parameter '%s' is not a number here, so it cannot be assigned", name);
  local->is_alias = true;
  local->alias = entity;
}
