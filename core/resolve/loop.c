/* loop.c - the heads of `for .. in` loops: rg.range(..) and x:active(), with their modifiers.
 *
 *   rg.range(n, {1, m}):block(128):serial()     bounds: (0, n) (1, m)     block 128, serial */
#include "resolve/resolve.h"

static bool fail_head(Sema *s, const Expr *e, const char *sentence) {
  return sema_fail(s, e, RG_ERROR_LOOP, "loops run over rg.range(n, m), x:active() or numbers: for k = 0, n - 1", "%s",
                   sentence);
}

/* -- modifiers ------------------------------------------------------------------------------------------- */

static bool take_block(Sema *s, Expr *e, LoopHead *head) {
  double size = 0;
  if (e->list.count == 1 && sema_is_constant(e->list.items[0], &size) && size >= 1 && size <= INT32_MAX &&
      size == (int)size) {
    head->block = (int)size;
    return true;
  }
  return sema_fail(s, e, RG_ERROR_LOOP, "write a number: :block(128)", "'block' takes a positive integer");
}

static bool take_modifier(Sema *s, Expr *e, LoopHead *head) {
  if (str_is(e->text, "block")) return take_block(s, e, head);
  if (e->list.count)
    return sema_fail(s, e, RG_ERROR_CALL_COUNT, NULL, "'%s' takes no arguments", sema_text(s, e->text));
  head->is_vector |= str_is(e->text, "vec");
  head->is_serial |= str_is(e->text, "serial");
  head->is_independent |= str_is(e->text, "independent");
  return true;
}

static bool is_modifier(const Expr *e) {
  const Method *method = e->kind == AST_METHOD ? method_find(e->text) : NULL;
  return method && method->form == METHOD_MODIFIER;
}

/* -- what it runs over ----------------------------------------------------------------------------------- */

static bool add_bounds(Sema *s, LoopHead *head, Expr *begin, Expr *end) {
  vec_push(s->scratch, &head->bounds, begin);
  vec_push(s->scratch, &head->bounds, end);
  head->axis_count++;
  return (!begin || resolve_scalar(s, begin)) && resolve_scalar(s, end);
}

static bool take_axis(Sema *s, LoopHead *head, Expr *e) {
  if (e->kind != AST_TABLE) return add_bounds(s, head, NULL, e);
  if (e->list.count != 2 || e->ast->keys.items[0] || e->ast->keys.items[1])
    return sema_fail(s, e, RG_ERROR_LOOP, "write {begin, end}", "an axis of a range is a number or a begin and an end");
  return add_bounds(s, head, e->list.items[0], e->list.items[1]);
}

static bool take_range(Sema *s, Expr *e, LoopHead *head) {
  if (e->list.count < 1 || e->list.count > SNODE_MAX_AXES)
    return sema_fail(s, e, RG_ERROR_CALL_COUNT, NULL, "'rg.range' takes 1 to %d axes, here are %d", SNODE_MAX_AXES,
                     e->list.count);
  for (int i = 0; i < e->list.count; i++)
    if (!take_axis(s, head, e->list.items[i])) return false;
  return true;
}

static bool take_active(Sema *s, Expr *e, LoopHead *head) {
  const MethodCall *m = method_of(e);
  const FieldRef *field = field_of(&m->object);
  if (e->list.count) return sema_fail(s, e, RG_ERROR_CALL_COUNT, NULL, "'active' takes no arguments");
  if (field->indexed)
    return sema_fail(s, e, RG_ERROR_LOOP, "loop over all active cells", "'active' runs over a whole field or SNode");
  head->node = field->node;
  head->offset = field->offset;
  head->source = field->source;
  head->name = m->object.name;
  head->axis_count = field->node->rank;
  return true;
}

static bool fail_no_loop(Sema *s, Expr *e, const Entity *what) {
  const char *text = sema_source(s, e);
  bool has_cells = what->kind == ENTITY_FIELD || what->kind == ENTITY_NODE;
  bool is_number = what->kind == ENTITY_VALUE || what->kind == ENTITY_LIVE || what->kind == ENTITY_CONSTANT;
  if (has_cells)
    return sema_fail(s, e, RG_ERROR_LOOP, scratch_format(s->scratch, "write %s:active()", text),
                     "'%s' itself cannot be looped over", text);
  if (is_number)
    return sema_fail(s, e, RG_ERROR_LOOP, scratch_format(s->scratch, "write rg.range(%s)", text),
                     "a number cannot be looped over");
  return fail_head(s, e, "kernels cannot loop over this");
}

static bool take_source(Sema *s, Expr *e, LoopHead *head) {
  Entity loop = resolve_expr(s, e);
  if (loop.kind == ENTITY_NONE) return false;
  if (loop.kind != ENTITY_LOOP) return fail_no_loop(s, e, &loop);
  if (builtin_of(e)) return take_range(s, e, head);
  return method_of(e)->method->form == METHOD_ITEMS ? resolve_items(s, e, head) : take_active(s, e, head);
}

void resolve_head(Sema *s, Stmt *stmt) {
  LoopHead *head = scratch_new(s->scratch, LoopHead);
  Expr *e = sema_strip(stmt->values.items[0]);
  stmt->head = head;
  if (stmt->values.count != 1) {
    fail_head(s, e, "kernels have no iterator functions");
    return;
  }
  while (is_modifier(e)) {
    if (!take_modifier(s, e, head)) return;
    e = sema_strip(e->left);
  }
  if (!take_source(s, e, head)) return;
  if (head->items) {
    resolve_item_variables(s, head, stmt);
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
    sema_fail_pos(s, extra->pos, extra->name.length, RG_ERROR_LOOP,
                  head->is_vector ? "':vec()' gives all indices as one vector" : NULL,
                  "there %s %d %s to loop over, and no value for '%s'", most == 1 ? "is" : "are", most,
                  most == 1 ? "axis" : "axes", sema_text(s, extra->name));
    return;
  }
  head->is_parallel = s->loop == 0 && !head->is_serial;
}
