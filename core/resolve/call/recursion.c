/* recursion.c - recursive functions: compiled once, and called instead of expanded.
 *
 *     function fib(n: i32): i32           a call of `fib` inside an expanded call of `fib` makes it
 *       if n < 2 then return n end        a function of the kernel; every call of it, with the same
 *       return fib(n - 1) + fib(n - 2)    fields, tables and functions for arguments, is an
 *     end                                 Invocation
 *
 * Parameters and results must have annotated types, since the types of the inner call cannot be
 * inferred; parameters that are not numbers need none. Without annotations each call is expanded,
 * as is required if `rg.static` ends the recursion.
 * A row as argument is passed as the field plus hidden arguments for the row's indices. The indices
 * of the iteration, for messages, and the state of the random numbers are hidden arguments, too.
 * Recursion is discovered while a call is expanded. The kernel is then resolved again from the
 * start (sema.c), with all calls of the function as Invocations; its body is resolved after the
 * kernel's. */
#include "resolve/resolve.h"

enum { MOST_FUNCTIONS = 100 };

static bool returns_values(const AstBlock *block) {
  for (int i = 0; i < block->count; i++) {
    const AstStmt *stmt = block->items[i];
    if (stmt->kind == AST_STMT_RETURN && stmt->values.count) return true;
    for (int k = 0; k < stmt->bodies.count; k++)
      if (returns_values(&stmt->bodies.items[k])) return true;
  }
  return false;
}

static bool is_annotated(const AstFunction *function, const Entities *entities) {
  for (int i = 0; i < entities->count && i < function->parameters.count; i++)
    if (entity_is_value(&entities->items[i]) && !function->parameters.items[i]->annotation)
      return false;
  return function->results.count || !returns_values(&function->body);
}

/* -- which function it is ---------------------------------------------------------------------- */

static bool is_same_source(SemaArg a, SemaArg b) {
  return a.is_parameter == b.is_parameter && a.index == b.index;
}

/* If the place of its elements is a launch argument, fields with equal layout are interchangeable,
 * except for their source. */
static bool is_same_field(const FieldRef *a, const FieldRef *b) {
  return a->node == b->node && a->array == b->array && a->component == b->component &&
         a->offset == b->offset && a->index_count == b->index_count &&
         (!a->is_movable || is_same_source(a->source, b->source));
}

bool resolve_is_same(const Entity *a, const Entity *b) {
  if (a->kind != b->kind) return false;
  switch (a->kind) {
  case ENTITY_FIELD:
  case ENTITY_NODE: return is_same_field(&a->field, &b->field);
  case ENTITY_SHAPE:
    return a->extent.node == b->extent.node && a->extent.array == b->extent.array &&
           a->extent.is_offset == b->extent.is_offset && !a->extent.axes.count &&
           !b->extent.axes.count;
  case ENTITY_TYPE: return type_equal(a->type, b->type) && type_equal(a->shape, b->shape);
  case ENTITY_BUILTIN: return a->builtin == b->builtin;
  case ENTITY_FUNCTION:
    return a->function.text == b->function.text && a->function.number == b->function.number &&
           a->function.within == b->function.within;
  case ENTITY_TABLE: return is_same_source(a->table, b->table);
  case ENTITY_LIST: return a->list.list == b->list.list;
  case ENTITY_OTHER: return nil_is(a) && nil_is(b);
  default: return false;
  }
}

static bool is_same_function(const Inline *in, const Entity *callee) {
  return in->function == callee->function.text && in->number == callee->function.number;
}

static bool has_pattern(const Inline *in, const Entity *callee, const Entities *entities) {
  if (!is_same_function(in, callee) || in->parameters.count != entities->count) return false;
  for (int i = 0; i < entities->count; i++) {
    const Local *parameter = in->parameters.items[i];
    if (parameter->is_alias ? !resolve_is_same(&parameter->alias, &entities->items[i])
                            : !entity_is_value(&entities->items[i]))
      return false;
  }
  return true;
}

static Inline *find(const Resolve *r, const Entity *callee, const Entities *entities) {
  for (int i = 0; i < r->s->functions.count; i++)
    if (has_pattern(r->s->functions.items[i], callee, entities)) return r->s->functions.items[i];
  return NULL;
}

/* The enclosing call of the same function, or NULL. A loop's body is where the loop is, not in the
 * iterator that calls it. */
static const Inline *around(const Resolve *r, const Entity *callee) {
  const Inline *in = r->s->frame;
  while (in && !is_same_function(in, callee)) in = in->body_of ? in->within : in->outer;
  return in;
}

static const Recursive *known(const Resolve *r, const Entity *callee) {
  for (int i = 0; i < r->s->recursive.count; i++) {
    const Recursive *row = &r->s->recursive.items[i];
    if (row->function == callee->function.text && row->number == callee->function.number)
      return row;
  }
  return NULL;
}

/* -- discovery --------------------------------------------------------------------------------- */

/* "'even' calls 'odd' (line 4), 'odd' calls 'even' (line 8)", innermost call last */
static void write_cycle(StrBuf *out, const Inline *in, const Inline *from) {
  if (in == from) return;
  write_cycle(out, in->outer, from);
  strbuf_format(out, "'%.40s' calls '%.40s' (line %d), ", in->outer->name, in->name,
                in->call->pos.line);
}

static const char *cycle_text(Resolve *r, const Expr *e, const Inline *from, const char *name) {
  StrBuf out;
  strbuf_init(&out, r->scratch);
  write_cycle(&out, r->s->frame, from);
  strbuf_format(&out, "'%.40s' calls %s%.40s%s (line %d)", r->s->frame->name,
                r->s->frame == from ? "itself" : "'", r->s->frame == from ? "" : name,
                r->s->frame == from ? "" : "'", e->pos.line);
  return strbuf_end(&out);
}

/* Records that the function is recursive: the call, and the functions on the way to it. */
static const Recursive *record_recursion(Resolve *r, const Expr *e, const Entity *callee,
                                         const Inline *from) {
  Recursive row = {.function = callee->function.text,
                   .number = callee->function.number,
                   .call = e,
                   .source = sema_text_source(r->s),
                   .cycle = cycle_text(r, e, from, callee->name)};
  vec_push(r->scratch, &r->s->recursive, row);
  return &vec_last(&r->s->recursive);
}

/* The line of the kernel from which it is first called. */
static int32_t line_of_call(const Resolve *r, const Expr *e) {
  const Inline *in = r->s->frame;
  while (in && in->outer) in = in->outer;
  return !in ? e->pos.line : in->is_called ? in->line : in->call->pos.line;
}

static Inline *create(Resolve *r, const Expr *e, const Entity *callee, const Recursive *recursive,
                      const Entities *entities) {
  Inline *in = scratch_new(r->scratch, Inline);
  bool is_here = callee->function.source_text == r->input->ast->source;
  *in = (Inline){.function = callee->function.text,
                 .source = callee->function.source_text,
                 .number = callee->function.number,
                 .name = callee->name,
                 .loop = ++r->loop_count,
                 .height = callee->function.text->height,
                 .call = e,
                 .call_source = sema_text_source(r->s),
                 .is_called = true,
                 .is_inner = callee->function.is_inner,
                 .within = callee->function.within,
                 .ordinal = r->s->functions.count,
                 .axis_count = -1,
                 .has_messages = r->input->debug != 0,
                 .line = is_here ? callee->function.text->pos.line : line_of_call(r, e),
                 .recursive = recursive};
  map_init(&in->names, r->scratch);
  Inline *frame = r->s->frame;
  int loop = r->loop;
  r->s->frame = in;
  r->loop = in->loop;
  for (int i = 0; i < in->function->parameters.count; i++) {
    Local *parameter = default_parameter(r, in->function->parameters.items[i], &in->function->body);
    vec_push(r->scratch, &in->parameters, parameter);
    resolve_declare(r, parameter);
    if (row_is(&entities->items[i]))
      sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
                "pass the index, and select the row inside the function",
                "'%s' calls itself, so it cannot take a row of a table that is picked at run time",
                callee->name);
    if (record_is(&entities->items[i]))
      sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "pass its values, or state a struct: p: P",
                "'%s' calls itself, so it cannot take %s", callee->name,
                record_text(r, entities->items[i].record));
    parameter->is_alias = !entity_is_value(&entities->items[i]);
    if (parameter->is_alias) parameter->alias = entities->items[i];
  }
  for (int i = 0; i < in->function->results.count; i++)
    vec_push(r->scratch, &in->results, resolve_result(r, in, in->function->results.items[i]));
  in->returned = in->results;
  r->s->frame = frame;
  r->loop = loop;
  vec_push(r->scratch, &r->s->functions, in);
  return in;
}

/* -- calls ------------------------------------------------------------------------------------- */

static Entity invoke(Resolve *r, Expr *e, Inline *in, const Exprs *arguments) {
  Invocation *call = scratch_new(r->scratch, Invocation);
  *call = (Invocation){.of = in,
                       .arguments = *arguments,
                       .caller = r->called,
                       .random = r->random,
                       .axis_count = r->axis_count};
  vec_push(r->scratch, &r->invocations, call);
  for (int i = 0; i < in->parameters.count && !r->s->failed; i++)
    if (!in->parameters.items[i]->is_alias)
      resolve_assign_shape(r, in->parameters.items[i], arguments->items[i]);
  for (int i = 0; i < in->results.count; i++) {
    Local *result = build_hidden(r, str_of(in->name), e->pos);
    const Local *stated = in->results.items[i];
    result->annotation = stated->annotation;
    result->is_annotated = result->has_shape = result->is_declared = true;
    result->type = stated->type;
    result->shape = stated->shape;
    vec_push(r->scratch, &call->results, result);
  }
  e->invoked = call;
  if (!in->results.count) return (Entity){.kind = ENTITY_VOID, .name = in->name};
  return (Entity){.kind = ENTITY_VALUE, .name = in->name, .shape = call->results.items[0]->shape};
}

bool recursion_call(Resolve *r, Expr *e, const Entity *callee, const Exprs *arguments,
                    const Entities *entities, Entity *result) {
  Inline *in = find(r, callee, entities);
  const Recursive *recursive = known(r, callee);
  const Inline *from = recursive ? NULL : around(r, callee);
  if (!in && ((!from && !recursive) || !is_annotated(callee->function.text, entities)))
    return false;
  *result = (Entity){0};
  if (!in && r->s->functions.count >= MOST_FUNCTIONS)
    return !resolve_fail_size(r, e->pos, e->width);
  if (!recursive) recursive = record_recursion(r, e, callee, from);
  if (!in) in = create(r, e, callee, recursive, entities);
  if (!r->s->failed) *result = invoke(r, e, in, arguments);
  return true;
}

/* Propagates facts between caller and called function; true if that changed anything. */
static bool propagate(Invocation *call) {
  Inline *of = call->of, *caller = call->caller;
  int axis_count = caller ? caller->axis_count : call->axis_count;
  bool draws = of->random.is_used && !call->random->has_trips;
  bool shows = caller && of->has_messages && !caller->has_messages;
  if (draws) call->random->is_used = call->random->has_trips = true;
  if (shows) caller->has_messages = true;
  if (axis_count < 0 || of->axis_count == axis_count || !of->axis_count) return draws || shows;
  of->axis_count = of->axis_count < 0 ? axis_count : 0;
  return true;
}

static void relate_all(Resolve *r) {
  bool is_new = true;
  while (is_new) {
    is_new = false;
    for (int i = 0; i < r->invocations.count; i++) is_new |= propagate(r->invocations.items[i]);
  }
  for (int i = 0; i < r->s->functions.count; i++) {
    Inline *in = r->s->functions.items[i];
    if (!in->has_messages || in->axis_count < 0) in->axis_count = 0;
  }
}

/* Resolving one body may add further functions. */
void recursion_resolve_bodies(Resolve *r) {
  for (int i = 0; i < r->s->functions.count; i++) {
    Inline *in = r->s->functions.items[i];
    r->s->frame = in;
    r->called = in;
    r->random = &in->random;
    r->loop = in->loop;
    resolve_function_body(r, in->function, &in->function->body, &in->body);
    r->s->frame = NULL;
    r->called = NULL;
    r->random = &r->s->random;
    r->loop = 0;
  }
  relate_all(r);
}
