/* loop.c - the heads of `for .. in` loops: rg.range(..) and x:active(), with their modifiers.
 *
 *   rg.range(n, {1, m}):block(128):serial()     bounds: (0, n) (1, m)     block 128, serial */
#include "resolve/resolve.h"

static bool fail_head(Resolve *r, const Expr *e, const char *sentence) {
  return sema_fail(r->s, e, RG_ERROR_LOOP,
                   "loops run over rg.range(n, m), x:active() or numbers: for k = 0, n - 1", "%s",
                   sentence);
}

/* -- modifiers --------------------------------------------------------------------------------- */

static bool is_modifier(const Expr *e) {
  const Method *method = e->kind == AST_METHOD ? method_find(e->text) : NULL;
  return method && method->form == METHOD_MODIFIER;
}

static bool take_block(Resolve *r, Expr *e, LoopHead *head) {
  double size = 0;
  if (e->list.count == 1 && sema_is_constant(e->list.items[0], &size) && size >= 1 &&
      size <= INT32_MAX && size == (int)size) {
    head->block = (int)size;
    return true;
  }
  return sema_fail(r->s, e, RG_ERROR_LOOP, "write a literal number: :block(128)",
                   "'block' takes a positive integer");
}

/* Refuses a repeated modifier, `:vec():vec()`, which can only be a slip. */
static bool check_once(Resolve *r, const Expr *e) {
  for (const Expr *at = sema_strip(e->left); is_modifier(at); at = sema_strip(at->left))
    if (str_equal(at->text, e->text))
      return sema_fail(r->s, e, RG_ERROR_LOOP, "remove one of them", "this loop has ':%s()' twice",
                       sema_text(r->s, e->text));
  return true;
}

static bool take_modifier(Resolve *r, Expr *e, LoopHead *head) {
  if (!check_once(r, e)) return false;
  if (str_is(e->text, "block")) return take_block(r, e, head);
  if (e->list.count)
    return sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'%s' takes no arguments",
                     sema_text(r->s, e->text));
  head->is_vector |= str_is(e->text, "vec");
  head->is_serial |= str_is(e->text, "serial");
  head->is_independent |= str_is(e->text, "independent");
  head->is_scalar |= str_is(e->text, "scalar");
  head->is_global |= str_is(e->text, "global");
  return true;
}

/* -- the iteration space ----------------------------------------------------------------------- */

static bool add_bounds(Resolve *r, LoopHead *head, Expr *begin, Expr *end) {
  vec_push(r->scratch, &head->bounds, begin);
  vec_push(r->scratch, &head->bounds, end);
  head->axis_count++;
  return (!begin || resolve_scalar(r, begin)) && resolve_scalar(r, end);
}

/* rg.range(x.shape): from 0 to each of them. */
static bool take_extents(Resolve *r, Expr *e, LoopHead *head, const Entity *shape) {
  for (int k = 0; k < extent_count(shape); k++) {
    vec_push(r->scratch, &head->bounds, NULL);
    vec_push(r->scratch, &head->bounds, extent_expr(r, e, shape, k));
    if (++head->axis_count > SNODE_MAX_AXES)
      return sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'rg.range' takes at most %d axes",
                       SNODE_MAX_AXES);
  }
  return true;
}

static bool take_axis(Resolve *r, LoopHead *head, Expr *e) {
  if (e->kind != AST_TABLE) {
    Entity axis = resolve_expr(r, e);
    if (axis.kind == ENTITY_SHAPE) return take_extents(r, e, head, &axis);
    return add_bounds(r, head, NULL, e);
  }
  if (e->list.count != 2 || e->ast->keys.items[0] || e->ast->keys.items[1])
    return sema_fail(r->s, e, RG_ERROR_LOOP,
                     e->list.count == 3 ? "a step is computed: local i = begin + step * k"
                                        : "write {begin, end}",
                     "an axis of a range must be a number, or a begin and an end");
  return add_bounds(r, head, e->list.items[0], e->list.items[1]);
}

static bool take_range(Resolve *r, Expr *e, LoopHead *head) {
  if (e->list.count < 1 || e->list.count > SNODE_MAX_AXES)
    return sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'rg.range' takes 1 to %d axes, %d given",
                     SNODE_MAX_AXES, e->list.count);
  for (int i = 0; i < e->list.count; i++)
    if (!take_axis(r, head, e->list.items[i])) return false;
  return true;
}

static bool take_active(Resolve *r, Expr *e, LoopHead *head) {
  const MethodCall *m = method_of(e);
  const FieldRef *field = field_of(&m->object);
  if (e->list.count)
    return sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'active' takes no arguments");
  if (field->index_count)
    return sema_fail(r->s, e, RG_ERROR_LOOP, "loop over all active cells",
                     "'active' runs over a whole field or SNode");
  if (field->array) { /* all of its elements exist */
    Entity shape = {.kind = ENTITY_SHAPE, .extent = {.array = field->array}};
    return take_extents(r, e, head, &shape);
  }
  head->node = field->node;
  head->offset = field->offset;
  head->source = field->source;
  head->name = m->object.name;
  head->axis_count = field->node->rank;
  return true;
}

static bool fail_no_loop(Resolve *r, Expr *e, const Entity *what) {
  const char *text = sema_source(r->s, e);
  bool has_cells = what->kind == ENTITY_FIELD || what->kind == ENTITY_NODE;
  bool is_number =
      what->kind == ENTITY_VALUE || what->kind == ENTITY_ARGUMENT || what->kind == ENTITY_CONSTANT;
  if (has_cells)
    return sema_fail(r->s, e, RG_ERROR_LOOP, scratch_format(r->scratch, "write %s:active()", text),
                     "'%s' itself cannot be looped over", text);
  if (is_number && type_is_array(what->shape))
    return sema_fail(r->s, e, RG_ERROR_LOOP,
                     scratch_format(r->scratch, "write rg.range(#%s)", text),
                     "an array cannot be looped over");
  if (is_number)
    return sema_fail(r->s, e, RG_ERROR_LOOP, scratch_format(r->scratch, "write rg.range(%s)", text),
                     "a number cannot be looped over");
  return fail_head(r, e, "kernels cannot loop over this");
}

static bool take_source(Resolve *r, Expr *e, LoopHead *head) {
  Entity loop = resolve_expr(r, e);
  if (loop.kind == ENTITY_NONE) return false;
  if (loop.kind != ENTITY_LOOP) return fail_no_loop(r, e, &loop);
  if (builtin_of(e)) return take_range(r, e, head);
  return method_of(e)->method->form == METHOD_ITEMS ? resolve_items(r, e, head)
                                                    : take_active(r, e, head);
}

/* `i, j, ..`: the existing names, and letters for the other axes. */
static const char *all_names(Resolve *r, const Locals *locals, int axis_count) {
  StrBuf out;
  char letter[2] = "i";
  strbuf_init(&out, r->scratch);
  for (int i = 0; i < locals->count; i++)
    strbuf_format(&out, "%s%s", i ? ", " : "", sema_text(r->s, locals->items[i]->name));
  for (int i = locals->count; i < axis_count; letter[0]++) {
    bool is_taken = false;
    for (int k = 0; k < locals->count; k++) is_taken |= str_is(locals->items[k]->name, letter);
    if (is_taken) continue;
    strbuf_format(&out, ", %s", letter);
    i++;
  }
  return strbuf_end(&out);
}

/* One variable with `rg.range(a, b)` is ambiguous, so it is refused with both readings. */
bool resolve_fail_axes(Resolve *r, const Locals *locals, Expr *e, int axis_count) {
  const char *text = sema_source(r->s, e), *names = all_names(r, locals, axis_count);
  const char *hint =
      scratch_format(r->scratch, "write for %s in %s, or with all indices as one vector: %s:vec()",
                     names, text, text);
  if (axis_count == 2 && e->kind == AST_CALL && e->list.items[0]->kind != AST_TABLE &&
      e->list.items[1]->kind != AST_TABLE)
    hint = scratch_format(
        r->scratch, "over two axes: for %s in %s; from a begin to an end: rg.range({%s, %s})",
        names, text, sema_source(r->s, e->list.items[0]), sema_source(r->s, e->list.items[1]));
  return sema_fail(r->s, e, RG_ERROR_LOOP, hint, "'%s' has %d axes, and this loop names %d", text,
                   axis_count, locals->count);
}

/* A serial loop over an unbounded tree walks a sorted copy of its nodes, which only the host region
 * can make. */
static bool check_walk(Resolve *r, Expr *e, const LoopHead *head) {
  for (int axis = 0; head->node && axis < head->node->rank; axis++)
    if (snode_is_unbounded(head->node, axis))
      return sema_fail(r->s, e, RG_ERROR_LOOP, "loop over it in the kernel",
                       "'%s' has no extent, and '%s', which calls itself, cannot walk it",
                       head->name, r->called->name);
  return true;
}

void resolve_head(Resolve *r, Stmt *stmt) {
  LoopHead *head = scratch_new(r->scratch, LoopHead);
  Expr *e = sema_strip(stmt->values.items[0]);
  stmt->head = head;
  if (stmt->values.count != 1) {
    fail_head(r, e, "in a kernel one expression follows 'in'");
    return;
  }
  while (is_modifier(e)) {
    if (!take_modifier(r, e, head)) return;
    e = sema_strip(e->left);
  }
  if (!take_source(r, e, head)) return;
  if (head->items) {
    resolve_item_variables(r, head, stmt);
    return;
  }
  int most = head->axis_count && !head->is_vector ? head->axis_count : 1;
  if (head->is_vector && stmt->locals.count == 1) {
    Local *index = stmt->locals.items[0];
    if (head->axis_count > 1) index->shape = type_make_shape(head->axis_count, 1);
    index->has_shape = true;
  }
  if (stmt->locals.count > most) {
    Local *extra = stmt->locals.items[most];
    sema_fail_pos(r->s, extra->pos, extra->name.length, RG_ERROR_LOOP,
                  head->is_vector ? "':vec()' yields all indices as one vector" : NULL,
                  "there %s %d %s to loop over, but no value for '%s'", most == 1 ? "is" : "are",
                  most, most == 1 ? "axis" : "axes", sema_text(r->s, extra->name));
    return;
  }
  if (!head->is_vector && stmt->locals.count < head->axis_count) {
    resolve_fail_axes(r, &stmt->locals, e, head->axis_count);
    return;
  }
  if (r->called && !check_walk(r, e, head)) return;
  head->is_parallel = r->loop == 0 && !head->is_serial;
}
