/* emit_loop.c - loops. `continue` jumps past the body, which is a block of its own so that no local
 * is in the way:
 *
 *   for i in _rg.range(0, n) do do BODY end ::_rg_next1:: end
 *   while true do do BODY if CONDITION then break end end ::_rg_next2:: end       a `repeat`
 *
 * Parallel and serial loops alike run in index order. */
#include "emit_lua/emit.h"

typedef struct SavedLoop {
  int loop, outer;
  bool outer_needs_leave_label;
  Stmt *repeat;
} SavedLoop;

static SavedLoop begin_loop(Emit *e, Stmt *stmt) {
  SavedLoop saved = {e->loop, e->outer, e->outer_needs_leave_label, e->repeat};
  e->outer = e->loop;
  e->outer_needs_leave_label = e->needs_leave_label;
  e->needs_leave_label = false;
  e->loop = ++e->loop_count;
  e->repeat = stmt->kind == AST_STMT_REPEAT ? stmt : NULL;
  emit_text(e, " do do ");
  return saved;
}

static void end_loop(Emit *e, SavedLoop saved) {
  emit_format(e, " end ::_rg_next%d:: end", e->loop);
  if (e->needs_leave_label) emit_format(e, " ::_rg_leave%d::", e->loop);
  e->loop = saved.loop;
  e->needs_leave_label = e->outer_needs_leave_label;
  e->outer = saved.outer;
  e->outer_needs_leave_label = saved.outer_needs_leave_label;
  e->repeat = saved.repeat;
}

static void emit_break_if(Emit *e, Expr *condition) {
  emit_text(e, "if ");
  emit_expr(e, condition);
  emit_text(e, " then break end");
}

void emit_while(Emit *e, Stmt *stmt) {
  emit_text(e, "while ");
  emit_expr(e, stmt->values.items[0]);
  SavedLoop saved = begin_loop(e, stmt);
  emit_random_iteration(e, stmt);
  emit_block(e, &stmt->bodies.items[0]);
  end_loop(e, saved);
}

/* The condition sees the body's locals. */
void emit_repeat(Emit *e, Stmt *stmt) {
  emit_text(e, "while true");
  SavedLoop saved = begin_loop(e, stmt);
  emit_random_iteration(e, stmt);
  int visible = e->visible.count;
  Block *body = &stmt->bodies.items[0];
  for (int i = 0; i < body->count; i++) {
    Block one = {&body->items[i], 1, 1};
    int before = e->visible.count;
    emit_block(e, &one);
    if (body->items[i]->kind != AST_STMT_LOCAL) continue;
    e->visible.count = before + body->items[i]->locals.count; /* still visible */
  }
  emit_line(e, stmt->values.items[0]->pos);
  emit_text(e, " ");
  emit_break_if(e, stmt->values.items[0]);
  e->visible.count = visible;
  end_loop(e, saved);
}

/* In a `repeat`, `continue` evaluates the condition; the parser ensured that all locals it reads
 * are declared here. */
void emit_continue(Emit *e) {
  emit_text(e, "do ");
  if (e->repeat) emit_break_if(e, e->repeat->values.items[0]);
  emit_format(e, " goto _rg_next%d end", e->loop);
}

/* Leaves an unrolled loop from an iteration that is a loop itself: jumps past both. */
void emit_break(Emit *e, const Stmt *stmt) {
  if (!stmt->levels) {
    emit_text(e, "do break end");
    return;
  }
  e->outer_needs_leave_label = true;
  emit_format(e, "do goto _rg_leave%d end", e->outer);
}

/* -- indices ----------------------------------------------------------------------------------- */

/* The value a loop gives variable i. */
static Type loop_value_type(Emit *e, Stmt *stmt, Type index, int i) {
  const LoopHead *head = stmt->head;
  return head && head->items ? emit_item_type(e, head, i) : index;
}

/* Names of loop variables: an index whose variable has another type is called _rg_i<k> and
 * converted inside. */
static void emit_variables(Emit *e, Stmt *stmt, Type index) {
  for (int i = 0; i < stmt->locals.count; i++) {
    const Local *local = stmt->locals.items[i];
    const char *name = emit_declare(e, stmt->locals.items[i]);
    if (i) emit_text(e, ", ");
    if (type_equal(local->type, loop_value_type(e, stmt, index, i))) emit_text(e, name);
    else emit_format(e, "_rg_i%d", i);
  }
}

static void emit_body(Emit *e, Stmt *stmt, Type index) {
  SavedLoop saved = begin_loop(e, stmt);
  for (int i = 0; i < stmt->locals.count; i++) {
    const Local *local = stmt->locals.items[i];
    Type value_type = loop_value_type(e, stmt, index, i);
    if (type_equal(local->type, value_type) || type_is_none(local->type)) continue;
    emit_format(e, "local %s = ", e->names[stmt->locals.items[i]->id]);
    emit_conversion(e, local->shape, value_type, local->type);
    emit_format(e, "_rg_i%d); ", i);
  }
  emit_random_iteration(e, stmt);
  emit_block(e, &stmt->bodies.items[0]);
  end_loop(e, saved);
}

/* -- numeric for ------------------------------------------------------------------------------- */

/* A u64 larger than every i64 becomes the largest i64. */
static void emit_clamped(Emit *e, Expr *value, Type type) {
  bool is_clamped = type_is(emit_type(e, value), TYPE_U64) && type_is(type, TYPE_I64);
  if (is_clamped) emit_text(e, "_rg.to_i64_u64(_rg.min_u64(");
  emit_converted(e, value, is_clamped ? TYPE(U64) : type);
  if (!is_clamped) return;
  emit_text(e, ", ");
  emit_integer(e, TYPE(U64), INT64_MAX);
  emit_text(e, "))");
}

/* `_rg.count_i32(begin, stop, step)`; a float stop of an integer loop is rounded by count_i32
 * itself. */
void emit_numeric_for(Emit *e, Stmt *stmt) {
  int visible = e->visible.count;
  Type type = ty_of_for(e->s, stmt).type, step_type = ty_of_step(ty_of_for(e->s, stmt));
  Expr *stop = stmt->values.items[1];
  bool rounds = type_is_float(emit_type(e, stop)) && type_is_integer(type);
  StrBuf before = e->out;
  strbuf_init(&e->out, e->scratch); /* bounds do not see the variable, whose name comes first */
  emit_format(e, "_rg.%s_%s(", rounds ? "count_to_float" : "count", type_text(type));
  emit_clamped(e, stmt->values.items[0], type);
  emit_text(e, ", ");
  emit_clamped(e, stop, rounds ? emit_type(e, stop) : type);
  emit_text(e, ", ");
  if (stmt->values.count == 3) emit_clamped(e, stmt->values.items[2], step_type);
  else emit_integer(e, type_is_float(type) ? TYPE(I32) : step_type, 1);
  emit_text(e, ")");
  StrBuf head = e->out;
  e->out = before;
  emit_text(e, "for ");
  emit_variables(e, stmt, type);
  emit_format(e, " in %s", strbuf_end(&head));
  emit_body(e, stmt, type);
  e->visible.count = visible;
}

/* -- for .. in --------------------------------------------------------------------------------- */

/* A float bound, whose value must be an integer. */
static void emit_whole_bound(Emit *e, Expr *bound, Type type) {
  emit_format(e, "_rg.whole(\"%s\", ", type_text(type));
  emit_converted(e, bound, TYPE(F64));
  emit_text(e, ")");
}

static void emit_bound(Emit *e, Expr *bound, Type type) {
  double value;
  if (!bound) emit_integer(e, type, 0);
  else if (ty_is_float(bound->ty) && sema_is_constant(bound, &value))
    emit_integer(e, type, (int64_t)value);
  else if (ty_is_float(bound->ty)) emit_whole_bound(e, bound, type);
  else emit_converted(e, bound, type);
}

static void emit_head(Emit *e, const LoopHead *head, const Stmt *stmt) {
  if (head->items) {
    emit_items(e, head, stmt);
    return;
  }
  const char *suffix = type_bits(head->index) == 64 ? "_i64" : "";
  bool is_vector = head->is_vector && head->axis_count > 1; /* of one axis it is a number */
  if (is_vector) emit_text(e, "_rg.as_vectors(");
  if (head->node) {
    emit_format(e, "_rg.active%s(", suffix);
    emit_launch_field(e, head->source);
    emit_text(e, ".level");
  } else {
    emit_format(e, "_rg.range%s(", suffix);
    for (int i = 0; i < head->bounds.count; i++) {
      if (i) emit_text(e, ", ");
      emit_bound(e, head->bounds.items[i], head->index);
    }
  }
  emit_text(e, is_vector ? "))" : ")");
}

void emit_for_in(Emit *e, Stmt *stmt) {
  int visible = e->visible.count;
  const LoopHead *head = stmt->head;
  StrBuf before = e->out;
  strbuf_init(&e->out, e->scratch);
  emit_head(e, head, stmt);
  StrBuf text = e->out;
  e->out = before;
  emit_random_loop(e, head);
  emit_text(e, "for ");
  emit_variables(e, stmt, head->index);
  emit_format(e, " in %s", strbuf_end(&text));
  if (head->is_parallel) e->parallel = stmt;
  emit_body(e, stmt, head->index);
  if (head->is_parallel) e->parallel = NULL;
  if (head->is_parallel) emit_reduction_checks(e);
  e->visible.count = visible;
}
