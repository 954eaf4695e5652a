/* inline.c - calls of user functions: arguments are bound to parameters, and the body is resolved
 * as if it were written there. Also values in tables: `self.dt`, where `self` is an argument, is a
 * path the host must supply. */
#include "resolve/resolve.h"

enum { MOST_INSIDE = 33 };
/* of everything expanded: bounds for stack and memory */
enum { HIGHEST = 1500, MOST_EXPRESSIONS = 200000 };

/* -- requests to the host ------------------------------------------------------------------- */

bool resolve_request_function(Resolve *r, Expr *e, const Entity *callee) {
  SemaRequests *requests = r->input->requests;
  if (requests && !requests->has_function && !r->s->failed) {
    requests->has_function = true;
    requests->function = callee->function.source;
  }
  return sema_fail(r->s, e, RG_ERROR_SOURCE, "write its statements here",
                   "'%s' is a Lua function whose source is not known here",
                   callee->name ? callee->name : sema_source(r->s, e->left));
}

/* -- the call ---------------------------------------------------------------------------------- */

static bool is_same_text(const Inline *in, const AstFunction *function, const Source *source) {
  return in->function->pos.offset == function->pos.offset &&
         in->function->end.offset == function->end.offset &&
         in->source->text.length == source->text.length &&
         !strcmp(in->source->name, source->name) &&
         !memcmp(in->source->text.data, source->text.data, (size_t)source->text.length);
}

bool resolve_fail_size(Resolve *r, Pos pos, int width) {
  return sema_fail_pos(r->s, pos, width, RG_ERROR_UNSUPPORTED,
                       "compute a part in a separate kernel",
                       "this kernel is too large once its functions and static loops are expanded");
}

bool resolve_has_room(const Resolve *r) { return r->expr_count <= MOST_EXPRESSIONS; }

static int height_around(const Resolve *r) {
  return r->s->frame ? r->s->frame->height : r->input->ast->function->height;
}

static bool check_depth(Resolve *r, Expr *e, const Entity *callee) {
  const AstFunction *function = callee->function.text;
  const Source *source = callee->function.source_text;
  /* calls of it around this one: each has its own constants, so the recursion may end */
  int inside = 0;
  for (const Inline *in = r->s->frame; in; in = in->outer)
    if (is_same_text(in, function, source) && ++inside == MOST_INSIDE)
      return sema_fail(r->s, e, RG_ERROR_CALL,
                       scratch_format(r->scratch,
                                      "annotate its parameters and results: function %s(n: i32): "
                                      "i32; or end the recursion by 'if rg.static(..)'",
                                      callee->name),
                       "'%s' is recursive without type annotations: %d nested calls were expanded",
                       callee->name, MOST_INSIDE - 1);
  if (height_around(r) + function->height > HIGHEST || r->expr_count > MOST_EXPRESSIONS)
    return resolve_fail_size(r, e->pos, e->width);
  return true;
}

static bool check_count(Resolve *r, Expr *e, const Entity *callee, int arguments) {
  const AstFunction *function = callee->function.text;
  const Source *source = callee->function.source_text;
  if (function->has_varargs)
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "name each parameter",
                     "'%s' takes variable arguments, which kernels do not support", callee->name);
  int count = function->parameters.count;
  if (arguments > count) {
    sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'%s' takes %d %s, %d given", callee->name, count,
              count == 1 ? "argument" : "arguments", arguments);
    return sema_note(r->s, source, function->pos, (int)strlen("function"), "'%s' is declared here",
                     callee->name);
  }
  return true;
}

/* Can the parameter be an alias of the argument? A number that is not assigned inside keeps its
 * known facts: `x.shape[0]` stays a constant. */
static bool is_passed_by_name(const Entity *entity, Local *parameter, bool is_assigned) {
  if (entity->kind == ENTITY_ARGUMENT || entity->kind == ENTITY_CONSTANT)
    return !is_assigned && !parameter->annotation;
  return entity_is_alias(entity) || (entity->kind == ENTITY_OTHER && nil_is(entity));
}

/* An integer literal is a constant inside the function, too. */
void resolve_take_literal(const Expr *argument, Entity *entity) {
  double number;
  bool is_plain = argument->kind == AST_NUMBER
                      ? argument->number_kind == AST_NUMBER_PLAIN
                      : argument->kind == AST_UNARY && argument->op == AST_NEG &&
                            argument->left->kind == AST_NUMBER &&
                            argument->left->number_kind == AST_NUMBER_PLAIN;
  if (is_plain && sema_is_constant(argument, &number) && number >= -0x1p31 && number < 0x1p31)
    *entity = (Entity){.kind = ENTITY_CONSTANT, .constant = (int64_t)number};
}

static void bind_parameter(Resolve *r, Local *parameter, Expr *argument, Entity *entity) {
  resolve_take_literal(argument, entity);
  resolve_declare(r, parameter);
  if (record_is(entity) && !parameter->annotation) {
    record_name(r, parameter, entity->record);
    return;
  }
  if (array_is_whole(entity) && parameter->annotation && !r->s->failed &&
      !array_is_declared(r, argument, entity, parameter->shape)) {
    if (array_to_value(r, argument)) resolve_assign_shape(r, parameter, argument); /* which fails */
    return;
  }
  if (array_is_whole(entity) && parameter->is_assigned) {
    if (!array_to_value(r, argument)) return;
    *entity = argument->entity;
  }
  bool is_number = entity->kind == ENTITY_ARGUMENT || entity->kind == ENTITY_CONSTANT;
  if (!is_passed_by_name(entity, parameter, local_is_variable(parameter))) {
    resolve_assign_shape(r, parameter, argument);
    return;
  }
  if (parameter->is_assigned && nil_is(entity)) nil_fail_assigned(r, parameter, "call");
  else if (parameter->is_assigned && !is_number)
    sema_fail(r->s, argument, RG_ERROR_UNSUPPORTED, "declare another local for the new value",
              "'%s' is not passed a number here, so it cannot be assigned",
              sema_text(r->s, parameter->name));
  else if (parameter->annotation && !is_number && !nil_is(entity) && !array_is_whole(entity))
    sema_fail(r->s, argument, RG_ERROR_TYPE_MISMATCH, NULL,
              "'%s' is declared %s, but this is not a number", sema_text(r->s, parameter->name),
              sema_written(r->s, parameter->annotation));
  parameter->is_alias = true;
  parameter->alias = *entity;
}

Local *resolve_result(Resolve *r, const Inline *in, const AstExpr *annotation) {
  Local *result = build_hidden(r, str_of(in->name), in->function->pos);
  result->annotation = annotation;
  result->is_assigned = !in->has_single_return;
  resolve_declare(r, result);
  result->is_declared = false;
  return result;
}

static void add_result(Resolve *r, Inline *in, const AstExpr *annotation) {
  Local *result = resolve_result(r, in, annotation);
  vec_push(r->scratch, &in->results, result);
  vec_push(r->scratch, &in->returned, result);
}

/* Adds a returned table: its leaves are results. */
static void add_record(Resolve *r, Inline *in, const Expr *value) {
  Local *like = scratch_new(r->scratch, Local);
  *like = (Local){.name = str_of(in->name),
                  .pos = in->function->pos,
                  .loop = r->loop,
                  .is_assigned = !in->has_single_return};
  record_name(r, like, value->entity.record);
  int first = in->results.count;
  record_leaves(r, like->alias.record, &in->results);
  for (int i = first; i < in->results.count; i++) in->results.items[i]->is_declared = false;
  vec_push(r->scratch, &in->returned, like);
  if (in->results.count == first)
    sema_fail(r->s, value, RG_ERROR_UNSUPPORTED, NULL,
              "'%s' returns a table that holds neither numbers nor vectors", in->name);
}

/* Result k, which was never nil so far, may be nil from here on. */
static void result_presence(Resolve *r, Inline *in, int k) {
  Local *result = in->returned.items[k];
  if (result->presence || r->s->failed) return;
  result->presence = maybe_new(r, result);
  result->presence->is_assigned = !in->has_single_return;
  result->presence->is_declared = false;
  vec_push(r->scratch, &in->results, result->presence);
  vec_push(r->scratch, &in->presences, result->presence);
  for (int i = 0; i < in->returns.count; i++) {
    Stmt *stmt = in->returns.items[i];
    const AstExpr *ast = stmt->values.items[0]->ast;
    vec_push(r->scratch, &stmt->values,
             literal_static(r, ast, &(Static){.kind = STATIC_BOOL, .number = 1}));
  }
}

static void resolve_body(Resolve *r, Inline *in, const AstBlock *body) {
  bool breaks_parallel = r->breaks_parallel, in_iterator_body = r->in_iterator_body;
  r->breaks_parallel = false;
  r->in_iterator_body = in->body_of != NULL;
  r->s->frame = in;
  for (int i = 0; i < in->function->results.count; i++)
    add_result(r, in, in->function->results.items[i]);
  resolve_function_body(r, in->function, body, &in->body);
  bool is_own = !in->is_pick && in->number != FUNCTION_LIBRARY;
  for (int i = 0; i < in->returned.count && is_own && !returns_always(body); i++)
    result_presence(r, in, i);
  r->s->frame = in->outer;
  r->in_iterator_body = in_iterator_body;
  r->breaks_parallel = breaks_parallel;
}

static Inline *create(Resolve *r, const Expr *e, const Entity *callee, const AstBlock *body) {
  Inline *in = scratch_new(r->scratch, Inline);
  *in = (Inline){.outer = r->s->frame,
                 .function = callee->function.text,
                 .source = callee->function.source_text,
                 .number = callee->function.number,
                 .name = callee->name,
                 .loop = r->loop,
                 .height = height_around(r) + callee->function.text->height,
                 .call = e,
                 .is_pick = r->makes_pick,
                 .is_inner = callee->function.is_inner,
                 .within = callee->function.within,
                 .returns_early = returns_early(body),
                 .has_single_return = has_single_return(body),
                 .body_of = callee->function.body_of,
                 .is_statement = r->statement == e};
  if (in->body_of) in->returns_early = returns_by(body, AST_STMT_CONTINUE);
  if (in->body_of || callee->function.is_iterator) in->has_single_return = false;
  map_init(&in->names, r->scratch);
  r->makes_pick = false;
  return in;
}

Entity resolve_function(const char *name, const AstFunction *text, const Source *source) {
  return (Entity){
      .kind = ENTITY_FUNCTION, .name = name, .function = {.text = text, .source_text = source}};
}

Entity resolve_inner_function(Resolve *r, const char *name, const AstFunction *text) {
  const Inline *in = r->s->frame;
  Entity entity = resolve_function(name, text, in ? in->source : r->input->ast->source);
  entity.function.number = in ? in->number : 0;
  entity.function.is_inner = true;
  entity.function.within = r->s->frame;
  return entity;
}

/* Resolves an argument; anything except a number is passed as an alias. */
static bool resolve_argument(Resolve *r, Expr *argument, Entity *entity) {
  Local plain = {0};
  if (nil_is_expr(r, argument)) {
    if (!nil_is(&argument->entity)) argument->entity = nil_missing(sema_source(r->s, argument));
    *entity = argument->entity;
    return !r->s->failed;
  }
  *entity = resolve_expr(r, argument);
  return !r->s->failed && (is_passed_by_name(entity, &plain, false) || resolve_value(r, argument));
}

/* A table for a parameter with an annotation is constructed as that type; the annotation's names
 * are those of the function's text. */
static bool construct_argument(Resolve *r, const Entity *callee, int k, Expr **argument) {
  const AstFunction *function = callee->function.text;
  const AstLocal *parameter = k < function->parameters.count ? function->parameters.items[k] : NULL;
  Expr *given = sema_strip(*argument);
  if (given->kind != AST_TABLE || !parameter || !parameter->annotation) return true;
  Inline at = {.outer = r->s->frame,
               .function = function,
               .name = callee->name,
               .source = callee->function.source_text,
               .number = callee->function.number};
  map_init(&at.names, r->scratch);
  Shape shape;
  r->s->frame = &at;
  Type type = resolve_type(r, parameter->annotation, &shape);
  r->s->frame = at.outer;
  if (r->s->failed || type_is_scalar(shape)) return !r->s->failed;
  *argument = struct_coerce(r, given, type_shaped(type, shape), sema_text(r->s, parameter->name));
  return *argument != NULL;
}

/* As in Lua, parameters past the last argument are nil. */
static void add_missing(Resolve *r, const Expr *e, const AstFunction *function, Exprs *arguments,
                        Entities *entities) {
  for (int i = arguments->count; i < function->parameters.count; i++) {
    AstExpr nil = {.kind = AST_NIL, .op = AST_NO_OP, .pos = e->pos, .width = e->width};
    Expr *missing = build_generated(r, &nil);
    missing->entity = nil_missing(sema_text(r->s, function->parameters.items[i]->name));
    vec_push(r->scratch, arguments, missing);
    vec_push(r->scratch, entities, missing->entity);
  }
}

Entity resolve_inline_call(Resolve *r, Expr *e, Entity callee, Expr *self) {
  Entities entities = {0};
  Exprs arguments = {0};
  Entity result;
  if (e->inlined || e->invoked) return e->entity; /* already resolved */
  if (!callee.function.text) {
    resolve_request_function(r, e, &callee);
    return (Entity){0};
  }
  if (callee.function.body_of && !iterator_take(r, e, &callee)) return (Entity){0};
  if (callee.function.is_iterator && !iterator_check(r, e, &callee)) return (Entity){0};
  if (self) vec_push(r->scratch, &arguments, self);
  if (self) vec_push(r->scratch, &entities, self->entity);
  for (int i = 0; i < e->list.count; i++) {
    Entity entity;
    if (!construct_argument(r, &callee, arguments.count, &e->list.items[i]) ||
        !resolve_argument(r, e->list.items[i], &entity))
      return (Entity){0};
    vec_push(r->scratch, &arguments, e->list.items[i]);
    vec_push(r->scratch, &entities, entity);
  }
  resolve_spread(r, &arguments, callee.function.text->parameters.count);
  for (int i = entities.count; i < arguments.count; i++)
    vec_push(r->scratch, &entities, arguments.items[i]->entity);
  if (!check_count(r, e, &callee, arguments.count)) return (Entity){0};
  add_missing(r, e, callee.function.text, &arguments, &entities);
  if (recursion_call(r, e, &callee, &arguments, &entities, &result)) return result;
  if (!check_depth(r, e, &callee)) return (Entity){0};
  const AstBlock *body = &callee.function.text->body;
  Inline *in = create(r, e, &callee, body);
  in->arguments = arguments;
  e->inlined = in;
  r->s->frame = in;
  for (int i = 0; i < arguments.count; i++)
    vec_push(r->scratch, &in->parameters,
             default_parameter(r, in->function->parameters.items[i], body));
  for (int i = 0; i < arguments.count && !r->s->failed; i++)
    bind_parameter(r, in->parameters.items[i], arguments.items[i], &entities.items[i]);
  row_declare_indices(r, &in->parameters, &in->arguments);
  if (!r->s->failed && !in->is_pick) maybe_declare(r, &in->parameters, &in->arguments);
  if (!r->s->failed) record_spread(r, &in->parameters, &in->arguments);
  r->s->frame = in->outer;
  int failures = r->s->failures;
  if (!r->s->failed) resolve_body(r, in, body);
  if (r->s->failures > failures) sema_poison(r->s);
  if (!in->returned.count) return (Entity){.kind = ENTITY_VOID, .name = in->name};
  const Local *first = in->returned.items[0];
  Entity value = {.kind = ENTITY_VALUE, .name = in->name, .shape = first->shape};
  return first->is_alias ? first->alias : value;
}

/* -- several results --------------------------------------------------------------------------- */

/* The results of the call that ends a list; NULL if it has at most one. */
static const Locals *many(Resolve *r, const Exprs *list) {
  const Expr *last = list->count && !r->s->failed ? list->items[list->count - 1] : NULL;
  const Locals *results = !last           ? NULL
                          : last->inlined ? &last->inlined->returned
                          : last->invoked ? &last->invoked->results
                                          : &last->popped;
  return results && results->count > 1 ? results : NULL;
}

/* `a, b = f()`: adds the other results of a call that ends a list, up to `wanted` values. */
void resolve_spread(Resolve *r, Exprs *list, int wanted) {
  const Locals *results = many(r, list);
  const Expr *call = results ? list->items[list->count - 1] : NULL;
  for (int i = 1; results && i < results->count && list->count < wanted; i++)
    vec_push(r->scratch, list, build_read(r, results->items[i], call));
}

bool resolve_refuse_multiple(Resolve *r, const Exprs *list) {
  const Locals *results = many(r, list);
  return !results || sema_fail(r->s, list->items[list->count - 1], RG_ERROR_UNSUPPORTED,
                               "put them into locals first, or in parentheses for the first one",
                               "'%s' returns %d values here",
                               sema_text(r->s, results->items[0]->name), results->count);
}

/* -- return ------------------------------------------------------------------------------------ */

/* Constructs the struct of an annotated result from a table. */
static void construct_result(Resolve *r, const Inline *in, int k, Expr **value) {
  const Local *result = k < in->results.count ? in->results.items[k] : NULL;
  Expr *given = sema_strip(*value);
  if (given->kind != AST_TABLE || !result || !result->is_annotated || type_is_scalar(result->shape))
    return;
  Expr *made = struct_coerce(r, given, type_shaped(result->type, result->shape), in->name);
  if (made) *value = made;
}

/* The returned value; a table becomes the struct that the annotation names. */
static Expr *returned_value(Resolve *r, const Inline *in, int k, Expr *value) {
  const Local *result = k < in->returned.count ? in->returned.items[k] : NULL;
  if (!result || !result->is_annotated) return value;
  Expr *made = struct_coerce(r, value, type_shaped(result->type, result->shape), in->name);
  return made ? made : value;
}

/* The value that a result keeps where the statement returns nil for it. */
static void keep_result(Resolve *r, Inline *in, const Local *result, const Expr *at,
                        Exprs *values) {
  Locals leaves = {0};
  if (result->is_alias) record_leaves(r, result->alias.record, &leaves);
  else vec_push(r->scratch, &leaves, (Local *)result);
  for (int i = 0; i < leaves.count; i++)
    vec_push(r->scratch, values, build_read(r, leaves.items[i], at));
  in->keeps_first = true;
}

/* given[k]: NULL where it is nil */
static void give_results(Resolve *r, Inline *in, Stmt *stmt, Expr *const *given, const Expr *at) {
  Exprs values = {0};
  const char *what = scratch_format(r->scratch, "the result of '%s'", in->name);
  for (int i = 0; i < in->returned.count && !r->s->failed; i++) {
    Local *result = in->returned.items[i];
    Expr *value = given[i];
    if (!value || maybe_of(value)) result_presence(r, in, i);
    if (!value) {
      keep_result(r, in, result, at, &values);
    } else if (result->is_alias) {
      record_flatten(r, value, result->alias.record, what, &values);
    } else if (resolve_is_value(r, value)) {
      resolve_assign_shape(r, result, value);
      vec_push(r->scratch, &values, value);
    }
  }
  for (int i = 0; i < in->presences.count && !r->s->failed; i++)
    for (int k = 0; k < in->returned.count; k++) {
      if (in->returned.items[k]->presence != in->presences.items[i]) continue;
      Expr *literal = literal_static(r, at->ast, &(Static){.kind = STATIC_BOOL, .number = 0});
      vec_push(r->scratch, &values, given[k] ? maybe_after(r, given[k]) : literal);
    }
  if (r->s->failed) return;
  stmt->values = values;
  vec_push(r->scratch, &in->returns, stmt);
}

static void make_returned(Resolve *r, Inline *in, const Stmt *stmt) {
  bool may_be_nil = in->first_return != NULL; /* which returned nothing */
  for (int i = 0; i < stmt->values.count && !r->s->failed; i++) {
    const Expr *value = stmt->values.items[i];
    if (record_is(&value->entity)) add_record(r, in, value);
    else add_result(r, in, NULL);
    if (may_be_nil) result_presence(r, in, i);
  }
}

static bool is_nil(Resolve *r, Expr *e) {
  return sema_strip(e)->kind == AST_NIL || (nil_is_expr(r, e) && !r->s->failed);
}

void resolve_inline_return(Resolve *r, Stmt *stmt, Inline *in) {
  if (r->loop != in->loop) {
    sema_fail_pos(r->s, stmt->pos, stmt->width, RG_ERROR_RETURN, "'continue' ends one iteration",
                  "a parallel loop cannot be left by 'return'");
    return;
  }
  if (!iterator_leave(r, stmt, in)) return;
  while (!in->is_called && stmt->values.count &&
         is_nil(r, stmt->values.items[stmt->values.count - 1]))
    stmt->values.count--;
  for (int i = 0; i < stmt->values.count; i++) {
    if (!in->is_called && is_nil(r, stmt->values.items[i])) continue;
    construct_result(r, in, i, &stmt->values.items[i]);
    if (r->s->failed) return;
    Entity entity = record_value(r, stmt->values.items[i]);
    if (!record_is(&entity) || r->s->failed) resolve_is_value(r, stmt->values.items[i]);
    else stmt->values.items[i] = returned_value(r, in, i, stmt->values.items[i]);
  }
  if (r->s->failed) return;
  resolve_spread(r, &stmt->values, INT32_MAX);
  if (!in->returned.count && !in->function->results.count) make_returned(r, in, stmt);
  if (!in->first_return) in->first_return = stmt;
  if (stmt->values.count > in->returned.count ||
      (in->is_called && stmt->values.count != in->returned.count))
    sema_fail_pos(r->s, stmt->pos, stmt->width, RG_ERROR_RETURN,
                  "return the same number of values everywhere",
                  "this 'return' has %d %s, and '%s' returns %d elsewhere", stmt->values.count,
                  stmt->values.count == 1 ? "value" : "values", in->name, in->returned.count);
  if (r->s->failed) return;
  if (!stmt->values.count) {
    for (int i = 0; i < in->returned.count && !in->is_called; i++) result_presence(r, in, i);
    return;
  }
  Expr **given = scratch_array(r->scratch, Expr *, in->returned.count);
  for (int i = 0; i < stmt->values.count; i++)
    if (in->is_called || !is_nil(r, stmt->values.items[i])) given[i] = stmt->values.items[i];
  give_results(r, in, stmt, given, stmt->values.items[0]);
}
