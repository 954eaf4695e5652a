/* loop.c - loops.
 *
 *   while c do B end     loop { if c {} else { break } B }
 *   repeat B until c     loop { B if c { break } }       where B continues: if c { break } continue
 *
 * `for .. in` becomes RANGE or ACTIVE; those that are serial or in a parallel body carry the flag,
 * and the pass `tasks` turns them into FORs. */
#include "lower/lower.h"

/* Records the reason for kernel:explain(). */
static void note_serial(Lower *l, const char *why) {
  ir_note(l->output->kernel, l->b.line, "serial%s: %s",
          l->loop ? " in each iteration" : ", on the launching side", why);
}

/* -- bodies ------------------------------------------------------------------------------------ */

/* Leaves the enclosing LOOP if the condition equals `holds`. Releases the references owned since
 * `mark` once the condition is computed. */
static void break_if(Lower *l, Expr *condition, bool holds, int mark) {
  IrInst *value = lower_expr(l, condition);
  counted_release_from(l, mark);
  IrInst *branch = ir_if(&l->b, value);
  lower_set_pos(l, condition->pos);
  IrRegion *back = lower_enter(l, branch->regions[holds ? 0 : 1]);
  ir_break(&l->b, 0);
  lower_leave(l, back);
}

/* The condition of a `repeat` is in the scope of its body. */
static void lower_block_until(Lower *l, const Stmt *stmt) {
  int mark = l->owned.count;
  if (stmt->kind != AST_STMT_REPEAT) {
    lower_block(l, &stmt->bodies.items[0]);
    return;
  }
  lower_statements(l, &stmt->bodies.items[0]);
  if (!lower_is_closed(l) && !l->s->failed) break_if(l, stmt->values.items[0], true, mark);
  l->owned.count = mark;
}

/* A variable that holds all indices as a vector takes the indices from its position on. */
static void lower_body(Lower *l, IrRegion *region, Stmt *stmt, IrInst **indices) {
  const Stmt *outer = l->repeat;
  IrRegion *back = lower_enter(l, region);
  l->repeat = stmt->kind == AST_STMT_REPEAT ? stmt : NULL;
  l->loops++;
  vec_push(l->scratch, &l->marks, l->owned.count);
  if (stmt->draws) random_trip(l);
  for (int i = 0; indices && i < stmt->locals.count; i++)
    lower_bind(l, stmt->locals.items[i], &indices[i]);
  lower_block_until(l, stmt);
  l->marks.count--;
  l->loops--;
  l->repeat = outer;
  lower_leave(l, back);
}

void lower_while(Lower *l, Stmt *stmt) {
  note_serial(l, "a 'while'");
  IrInst *loop = ir_loop(&l->b);
  IrRegion *back = lower_enter(l, loop->regions[0]);
  int mark = l->owned.count;
  break_if(l, stmt->values.items[0], false, mark);
  l->owned.count = mark;
  lower_leave(l, back);
  lower_body(l, loop->regions[0], stmt, NULL);
}

void lower_repeat(Lower *l, Stmt *stmt) {
  note_serial(l, "a 'repeat'");
  IrInst *loop = ir_loop(&l->b);
  lower_body(l, loop->regions[0], stmt, NULL);
}

/* In a `repeat`, `continue` evaluates the condition; the parser ensured that all locals it reads
 * are declared here. */
void lower_continue(Lower *l) {
  Pos pos = {.line = l->b.line, .column = l->b.column};
  int mark = vec_last(&l->marks);
  if (l->repeat) break_if(l, l->repeat->values.items[0], true, mark);
  else counted_release_from(l, mark);
  lower_set_pos(l, pos);
  ir_continue(&l->b, 0);
}

/* -- numeric for ------------------------------------------------------------------------------- */

/* The last integer within a float bound: its floor when counting up, its ceil when counting
 * down. */
static IrInst *last_integer(Lower *l, IrInst *stop, IrInst *step, Type type) {
  int64_t constant;
  IrInst *floor = NULL, *ceil = NULL;
  bool is_known = ir_is_const(step, &constant);
  if (!is_known || constant > 0) floor = ir_unary(&l->b, IR_FLOOR, stop);
  if (!is_known || constant < 0) ceil = ir_unary(&l->b, IR_CEIL, stop);
  if (floor && ceil) {
    IrInst *up = ir_binary(&l->b, IR_GT, step, lower_number(l, step->type, 0));
    floor = ir_select(&l->b, up, floor, ceil);
  }
  return ir_convert(&l->b, floor ? floor : ceil, type);
}

/* The bound or step of a loop over i64: a larger u64 becomes the largest i64. */
static IrInst *bound_of(Lower *l, IrInst *bound, Type type) {
  if (!type_is(bound->type, TYPE_U64) || !type_is(type, TYPE_I64))
    return lower_convert(l, bound, type);
  IrInst *last = lower_number(l, TYPE(U64), INT64_MAX);
  return ir_convert(&l->b, ir_binary(&l->b, IR_MIN, bound, last), type);
}

static IrInst *lower_limited(Lower *l, Expr *bound, Type type) {
  bool is_clamped = type_is(bound->ty.type, TYPE_U64) && type_is(type, TYPE_I64);
  return is_clamped ? bound_of(l, lower_expr(l, bound), type) : lower_as(l, bound, type);
}

/* Adds 2^63, in u64, where a sum may wrap. */
static IrInst *add_half(Lower *l, IrInst *value) {
  return ir_binary(&l->b, IR_ADD, value, ir_const_int(&l->b, TYPE(U64), INT64_MIN));
}

/* A loop over u64 counts in i64, which has the same order 2^63 lower, so that its step has a sign
 * (D-infer-06). */
static void lower_over_u64(Lower *l, Stmt *stmt, IrInst *begin, IrInst *stop, IrInst *step) {
  begin = ir_convert(&l->b, add_half(l, begin), TYPE(I64));
  stop = ir_convert(&l->b, add_half(l, stop), TYPE(I64));
  IrInst *loop = ir_for(&l->b, begin, stop, step);
  IrRegion *back = lower_enter(l, loop->regions[0]);
  IrInst *index = add_half(l, ir_convert(&l->b, loop->regions[0]->params.items[0], TYPE(U64)));
  lower_leave(l, back);
  lower_body(l, loop->regions[0], stmt, &index);
}

void lower_numeric_for(Lower *l, Stmt *stmt) {
  Type type = ty_of_for(l->s, stmt).type;
  lower_set_pos(l, stmt->pos);
  note_serial(l, "a numeric 'for'; loops over rg.range and x:active() are parallel");
  Type by = ty_of_step(ty_of_for(l->s, stmt));
  IrInst *begin = lower_limited(l, stmt->values.items[0], type),
         *stop = lower_expr(l, stmt->values.items[1]);
  IrInst *step = stmt->values.count == 3 ? lower_limited(l, stmt->values.items[2], by)
                                         : lower_number(l, by, 1);
  IrRegion *back = NULL;
  if (type_is(type, TYPE_U64)) {
    lower_set_pos(l, stmt->pos);
    lower_over_u64(l, stmt, begin, stop, step);
    return;
  }
  if (type_is_float(stop->type) && type_is_integer(type)) {
    IrInst *is_number = ir_binary(&l->b, IR_EQ, stop, stop); /* a bound of NaN: no iterations */
    stop = last_integer(l, stop, step, type);
    back = lower_enter(l, ir_if(&l->b, is_number)->regions[0]);
  }
  lower_set_pos(l, stmt->pos);
  IrInst *loop = ir_for(&l->b, begin, bound_of(l, stop, type), step);
  lower_body(l, loop->regions[0], stmt, loop->regions[0]->params.items);
  if (back) lower_leave(l, back);
}

/* -- for .. in --------------------------------------------------------------------------------- */

/* A float that is not a whole number, or beyond the index type, fails the launch. */
static IrInst *lower_float_bound(Lower *l, Expr *bound, Type type) {
  IrInst *value = lower_as(l, bound, TYPE(F64));
  int64_t limit = (int64_t)1 << (type_bits(type) - 1); /* a power of two: exact in an f64 */
  IrInst *least = ir_const_float(&l->b, TYPE(F64), -(double)limit),
         *beyond = ir_const_float(&l->b, TYPE(F64), (double)limit);
  IrInst *is_whole = ir_binary(&l->b, IR_EQ, ir_unary(&l->b, IR_FLOOR, value), value);
  IrInst *is_inside = ir_binary(&l->b, IR_BAND, ir_binary(&l->b, IR_GE, value, least),
                                ir_binary(&l->b, IR_LT, value, beyond));
  IrRegion *back =
      lower_enter(l, ir_if(&l->b, ir_binary(&l->b, IR_BAND, is_whole, is_inside))->regions[1]);
  lower_fault(
      l, bound, value, RG_ERROR_VALUE_FIT, "write math.floor(..) for the whole number below",
      scratch_format(l->scratch, "a bound of a range is a whole number of type %s, and this is",
                     type_text(type)));
  lower_leave(l, back);
  return ir_convert(&l->b, value, type);
}

static IrInst *lower_bound(Lower *l, Expr *bound, Type type) {
  double value;
  bool is_float = bound && ty_is_float(bound->ty);
  if (!bound) return lower_number(l, type, 0);
  if (is_float && sema_is_constant(bound, &value)) return lower_number(l, type, (int64_t)value);
  return is_float ? lower_float_bound(l, bound, type) : lower_as(l, bound, type);
}

/* Warns of a begin after the end: the user probably expects to count down, which needs a step of
 * -1. */
static void warn_empty(Lower *l, IrInst *begin, IrInst *end) {
  int64_t first, last;
  if (ir_is_const(begin, &first) && ir_is_const(end, &last) && first > last)
    ir_warn(l->output->kernel, l->b.line, l->b.column,
            "this range begins at %lld and ends before %lld, so it has no iterations; to count "
            "down, write for k = %lld, %lld, -1",
            (long long)first, (long long)last, (long long)first, (long long)last);
}

static IrInst *lower_range(Lower *l, const LoopHead *head) {
  IrInst *bounds[2 * SNODE_MAX_AXES];
  for (int i = 0; i < head->bounds.count; i++)
    bounds[i] = lower_bound(l, head->bounds.items[i], head->index);
  for (int i = 0; i < head->bounds.count; i += 2)
    if (head->bounds.items[i]) warn_empty(l, bounds[i], bounds[i + 1]);
  return ir_range(&l->b, head->axis_count, bounds, head->index);
}

/* A numeric `for` over the slots present when it begins. */
static void lower_items(Lower *l, Stmt *stmt, const LoopHead *head) {
  note_serial(l, "it visits one list in order");
  IrInst *indices[SNODE_MAX_AXES], *length = lower_items_length(l, head, indices);
  IrInst *last = ir_binary(&l->b, IR_SUB, length, lower_number(l, TYPE(I32), 1));
  IrInst *loop = ir_for(&l->b, lower_number(l, TYPE(I32), 0), last, lower_number(l, TYPE(I32), 1));
  IrRegion *back = lower_enter(l, loop->regions[0]);
  lower_bind_items(l, head, stmt, loop->regions[0]->params.items[0], indices);
  lower_leave(l, back);
  lower_body(l, loop->regions[0], stmt, NULL);
}

/* The loop counts from 0; the user's indices start at an offset. */
static IrInst **from_offset(Lower *l, const LoopHead *head, IrRegion *body) {
  if (!head->offset) return body->params.items;
  IrInst **indices = lower_array(l, SNODE_MAX_AXES);
  IrRegion *back = lower_enter(l, body);
  for (int k = 0; k < body->params.count; k++) {
    IrInst *index = lower_convert(l, body->params.items[k], head->index);
    indices[k] = ir_binary(&l->b, IR_ADD, index, lower_number(l, head->index, head->offset[k]));
  }
  lower_leave(l, back);
  return indices;
}

static bool has_parallel(const Stmt *stmt) {
  for (int b = 0; b < stmt->bodies.count; b++) {
    const Block *body = &stmt->bodies.items[b];
    for (int i = 0; i < body->count; i++)
      if ((body->items[i]->head && body->items[i]->head->is_parallel) ||
          has_parallel(body->items[i]))
        return true;
  }
  return false;
}

static const char *why_serial(const Stmt *stmt) {
  if (!stmt->head->is_serial) return "it is inside a parallel loop";
  return has_parallel(stmt) ? "':serial()' asks for it; loops inside it are parallel"
                            : "':serial()' asks for it";
}

static void begin_iteration(Lower *l, const LoopHead *head, IrRegion *body, IrInst *stream,
                            int index_count) {
  l->index_count = index_count;
  IrRegion *back = lower_enter(l, body);
  random_begin(l, &head->random, stream, l->indices, index_count);
  l->is_independent = head->is_independent;
  lower_pack_iteration(l);
  lower_leave(l, back);
}

void lower_for_in(Lower *l, Stmt *stmt) {
  const LoopHead *head = stmt->head;
  if (head->items) {
    lower_items(l, stmt, head);
    return;
  }
  lower_set_pos(l, stmt->pos);
  const int32_t line = l->b.line, column = l->b.column;
  Random around = l->random;
  IrInst *stream = head->is_parallel ? random_stream(l, &head->random, loop_is_global(head)) : NULL;
  IrInst *loop = head->node ? ir_active(&l->b, lower_level(l, head->node, head->name, head->source))
                            : lower_range(l, head);
  loop->line = line;
  loop->column = column;
  loop->serial = !head->is_parallel;
  if (loop->serial) note_serial(l, why_serial(stmt));
  int outer = l->loop;
  IrRegion *top = l->top;
  if (head->is_parallel) l->top = loop->regions[0];
  if (head->is_parallel) l->loop = head->number;
  if (head->is_parallel) l->parallel = loop;
  loop->independent = head->is_independent;
  loop->scalar = head->is_scalar;
  loop->block = head->block;
  IrRegion *body = loop->regions[0];
  IrInst *only = NULL; /* the index of a level without axes: 0 */
  if (!body->params.count) {
    IrRegion *back = lower_enter(l, body);
    only = lower_number(l, head->index, 0);
    lower_leave(l, back);
  }
  IrInst **indices = only ? &only : from_offset(l, head, body);
  if (head->is_parallel) l->indices = indices;
  if (head->is_parallel) begin_iteration(l, head, body, stream, only ? 1 : body->params.count);
  lower_body(l, body, stmt, indices);
  l->top = top;
  if (head->is_parallel) {
    l->index_count = 0;
    l->random = around;
  }
  l->loop = outer;
  if (head->is_parallel) lower_check_exact(l);
}
