/* loop.c - loops.
 *
 *   while c do B end     loop { if c {} else { break } B }
 *   repeat B until c     loop { B if c { break } }       where B continues: if c { break } continue
 *
 * `for .. in` becomes RANGE or ACTIVE; those that are serial, or stand in a parallel body, carry the flag, and the pass
 * `tasks` makes FORs of them. */
#include "lower/lower.h"

/* For explain(). */
static void note_serial(Sema *s, const char *why) {
  ir_note(s->output->kernel, s->b.line, "serial%s: %s", s->loop ? " in each iteration" : ", on the launching side", why);
}

/* -- bodies ---------------------------------------------------------------------------------------------- */

/* A variable that holds all indices as a vector takes those from its own on. */
static void lower_body(Sema *s, IrRegion *region, Stmt *stmt, IrInst **indices) {
  const Stmt *outer = s->repeat;
  IrRegion *back = lower_enter(s, region);
  s->repeat = stmt->kind == AST_STMT_REPEAT ? stmt : NULL;
  s->loops++;
  for (int i = 0; indices && i < stmt->locals.count; i++) lower_bind(s, stmt->locals.items[i], &indices[i]);
  lower_block(s, &stmt->bodies.items[0]);
  s->loops--;
  s->repeat = outer;
  lower_leave(s, back);
}

/* Leaves the LOOP around where the condition holds (or does not). */
static void break_if(Sema *s, Expr *condition, bool holds) {
  IrInst *branch = ir_if(&s->b, lower_expr(s, condition));
  lower_at(s, condition->pos);
  IrRegion *back = lower_enter(s, branch->regions[holds ? 0 : 1]);
  ir_break(&s->b, 0);
  lower_leave(s, back);
}

void lower_while(Sema *s, Stmt *stmt) {
  note_serial(s, "a 'while'");
  IrInst *loop = ir_loop(&s->b);
  IrRegion *back = lower_enter(s, loop->regions[0]);
  break_if(s, stmt->values.items[0], false);
  lower_leave(s, back);
  lower_body(s, loop->regions[0], stmt, NULL);
}

void lower_repeat(Sema *s, Stmt *stmt) {
  note_serial(s, "a 'repeat'");
  IrInst *loop = ir_loop(&s->b);
  lower_body(s, loop->regions[0], stmt, NULL);
  IrRegion *back = lower_enter(s, loop->regions[0]);
  if (!lower_is_closed(s) && !s->failed) break_if(s, stmt->values.items[0], true);
  lower_leave(s, back);
}

/* In a `repeat` the condition comes first; front made sure that all it reads is declared by now. */
void lower_continue(Sema *s) {
  Pos pos = {.line = s->b.line, .column = s->b.column};
  if (s->repeat) break_if(s, s->repeat->values.items[0], true);
  lower_at(s, pos);
  ir_continue(&s->b, 0);
}

/* -- numeric for ----------------------------------------------------------------------------------------- */

/* The last integer that a float bound allows: its floor when counting up, its ceil when counting down. */
static IrInst *last_integer(Sema *s, IrInst *stop, IrInst *step, Type type) {
  int64_t constant;
  IrInst *floor = NULL, *ceil = NULL;
  bool is_known = ir_is_const(step, &constant);
  if (!is_known || constant > 0) floor = ir_unary(&s->b, IR_FLOOR, stop);
  if (!is_known || constant < 0) ceil = ir_unary(&s->b, IR_CEIL, stop);
  if (floor && ceil) {
    IrInst *up = ir_binary(&s->b, IR_GT, step, lower_number(s, step->type, 0));
    floor = ir_select(&s->b, up, floor, ceil);
  }
  return ir_convert(&s->b, floor ? floor : ceil, type);
}

void lower_numeric_for(Sema *s, Stmt *stmt) {
  Type type = ty_of_for(s, stmt).type;
  lower_at(s, stmt->pos);
  note_serial(s, "a numeric 'for'; loops over rg.range and x:active() are parallel");
  IrInst *begin = lower_as(s, stmt->values.items[0], type), *stop = lower_expr(s, stmt->values.items[1]);
  IrInst *step = stmt->values.count == 3 ? lower_as(s, stmt->values.items[2], type) : lower_number(s, type, 1);
  IrRegion *back = NULL;
  if (type_is_float(stop->type) && type_is_integer(type)) {
    IrInst *is_number = ir_binary(&s->b, IR_EQ, stop, stop); /* to NaN nothing counts */
    stop = last_integer(s, stop, step, type);
    back = lower_enter(s, ir_if(&s->b, is_number)->regions[0]);
  }
  lower_at(s, stmt->pos);
  IrInst *loop = ir_for(&s->b, begin, lower_convert(s, stop, type), step);
  lower_body(s, loop->regions[0], stmt, loop->regions[0]->params.items);
  if (back) lower_leave(s, back);
}

/* -- for .. in ------------------------------------------------------------------------------------------- */

/* A float that is no whole number, or none that an index reaches, ends the launch. */
static IrInst *lower_float_bound(Sema *s, Expr *bound, Type type) {
  IrInst *value = lower_as(s, bound, TYPE(F64));
  int64_t limit = (int64_t)1 << (type_bits(type) - 1); /* a power of two: exact in an f64 */
  IrInst *least = ir_const_float(&s->b, TYPE(F64), -(double)limit), *beyond = ir_const_float(&s->b, TYPE(F64), (double)limit);
  IrInst *is_whole = ir_binary(&s->b, IR_EQ, ir_unary(&s->b, IR_FLOOR, value), value);
  IrInst *is_inside = ir_binary(&s->b, IR_BAND, ir_binary(&s->b, IR_GE, value, least), ir_binary(&s->b, IR_LT, value, beyond));
  IrRegion *back = lower_enter(s, ir_if(&s->b, ir_binary(&s->b, IR_BAND, is_whole, is_inside))->regions[1]);
  lower_fault(s, bound, value, RG_ERROR_VALUE_FIT, "write math.floor(..) for the whole number below",
              scratch_format(s->scratch, "a bound of a range is a whole number of type %s, and this is", type_text(type)));
  lower_leave(s, back);
  return ir_convert(&s->b, value, type);
}

static IrInst *lower_bound(Sema *s, Expr *bound, Type type) {
  double value;
  bool is_float = bound && ty_is_float(bound->ty);
  if (!bound) return lower_number(s, type, 0);
  if (is_float && sema_is_constant(bound, &value)) return lower_number(s, type, (int64_t)value);
  return is_float ? lower_float_bound(s, bound, type) : lower_as(s, bound, type);
}

static IrInst *lower_range(Sema *s, const LoopHead *head) {
  IrInst *bounds[2 * SNODE_MAX_AXES];
  for (int i = 0; i < head->bounds.count; i++) bounds[i] = lower_bound(s, head->bounds.items[i], head->index);
  return ir_range(&s->b, head->axis_count, bounds, head->index);
}

/* A numeric `for` over the slots there are when it begins. */
static void lower_items(Sema *s, Stmt *stmt, const LoopHead *head) {
  note_serial(s, "it walks one list in its order");
  IrInst *indices[SNODE_MAX_AXES], *length = lower_items_length(s, head, indices);
  IrInst *last = ir_binary(&s->b, IR_SUB, length, lower_number(s, TYPE(I32), 1));
  IrInst *loop = ir_for(&s->b, lower_number(s, TYPE(I32), 0), last, lower_number(s, TYPE(I32), 1));
  IrRegion *back = lower_enter(s, loop->regions[0]);
  lower_bind_items(s, head, stmt, loop->regions[0]->params.items[0], indices);
  lower_leave(s, back);
  lower_body(s, loop->regions[0], stmt, NULL);
}

/* What the loop counts from 0 starts elsewhere for the user. */
static IrInst **from_offset(Sema *s, const LoopHead *head, IrRegion *body) {
  if (!head->offset) return body->params.items;
  IrInst **indices = scratch_array(s->scratch, IrInst *, SNODE_MAX_AXES);
  IrRegion *back = lower_enter(s, body);
  for (int k = 0; k < body->params.count; k++) {
    IrInst *index = lower_convert(s, body->params.items[k], head->index);
    indices[k] = ir_binary(&s->b, IR_ADD, index, lower_number(s, head->index, head->offset[k]));
  }
  lower_leave(s, back);
  return indices;
}

void lower_for_in(Sema *s, Stmt *stmt) {
  const LoopHead *head = stmt->head;
  if (head->items) {
    lower_items(s, stmt, head);
    return;
  }
  lower_at(s, stmt->pos);
  const int32_t line = s->b.line, column = s->b.column;
  IrInst *loop =
      head->node ? ir_active(&s->b, lower_level(s, head->node, head->name, head->source)) : lower_range(s, head);
  loop->line = line;
  loop->column = column;
  loop->serial = !head->is_parallel;
  if (loop->serial) note_serial(s, head->is_serial ? "':serial()' asks for it" : "it stands inside a parallel loop");
  int outer = s->loop;
  if (head->is_parallel) s->loop = head->number;
  loop->independent = head->is_independent;
  loop->block = head->block;
  IrRegion *body = loop->regions[0];
  IrInst *only = NULL; /* the index of a level without axes: 0 */
  if (!body->params.count) {
    IrRegion *back = lower_enter(s, body);
    only = lower_number(s, head->index, 0);
    lower_leave(s, back);
  }
  lower_body(s, body, stmt, only ? &only : from_offset(s, head, body));
  s->loop = outer;
}
