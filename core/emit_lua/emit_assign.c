/* emit_assign.c - updates and assignments, of locals and elements, or of some numbers of a vector
 * in either:
 *
 *     x[i] = v           _rg_f[1].set(_rg_f[1], v, i)
 *     x[i].y = v         _rg_f[1].set_parts(_rg_f[1], v, {2}, i)
 *     m[r] = v           m = _rg.with(m, v, _rg.row({1, 2, 3, 4}, r, 2))
 *     x[i] = x[i] + v    _rg_f[1].update(_rg_f[1], _rg.add_f32, v, i)
 *     a[i] = v           _rg.array_set(a, v, i)        of a counted array
 * */
#include "emit_lua/emit.h"

typedef struct Target {
  Expr *expr, *root; /* root: the local or element that `expr` is, or is a part of */
  bool is_local, is_item, is_part;
  Type type;
  Shape shape;
  const Entity *element;
  const char *name; /* of a local */
} Target;

static Target target_of(Emit *e, Expr *expr) {
  Expr *root = shape_root(expr);
  bool is_item = root->entity.kind == ENTITY_ITEM;
  bool is_local = root->kind == AST_LOCAL && root->entity.kind != ENTITY_ELEMENT;
  return (Target){.expr = expr,
                  .root = root,
                  .is_local = is_local,
                  .is_item = is_item,
                  .is_part = sema_strip(expr)->entity.kind == ENTITY_PART,
                  .type = shape_base(expr),
                  .shape = emit_shape(e, expr),
                  .element = &root->entity,
                  .name = is_local ? e->names[root->local->id] : NULL};
}

static void emit_on_element(Emit *e, const Target *target, const char *function) {
  if (!target->is_item) {
    emit_field_call(e, target->element->field.source, function);
    return;
  }
  emit_format(e, "_rg.array_%s(", function);
  emit_item_array(e, target->root);
}

static void emit_target_position(Emit *e, const Target *target) {
  if (target->is_item) emit_item_indices(e, target->root);
  else emit_element_indices(e, target->root);
}

/* -- updates ----------------------------------------------------------------------------------- */

static int first_positive(const Update *update) {
  for (int i = 0; i < update->terms.count; i++)
    if (!update->terms.items[i].is_negative) return i;
  return -1;
}

/* Emits all terms as one value, starting with the first that is not subtracted. If all are, as in
 * `- a - b`, the value is a + b and the operator becomes SUB. */
static void emit_terms(Emit *e, const Update *update, const Target *target) {
  int count = update->terms.count, start = first_positive(update), first = start < 0 ? 0 : start;
  for (int i = count - 1; i >= 0; i--) {
    if (i == first) continue;
    bool subtracts = update->terms.items[i].is_negative && start >= 0;
    emit_operation(e, target->shape,
                   update->op == IR_UPDATE_MUL ? "mul"
                   : subtracts                 ? "sub"
                                               : "add",
                   target->type);
  }
  emit_converted(e, update->terms.items[first].value, target->type);
  for (int i = 0; i < count; i++) {
    if (i == first) continue;
    emit_text(e, ", ");
    emit_converted(e, update->terms.items[i].value, target->type);
    emit_text(e, ")");
  }
}

/* The text before the value, and the text after it. */
static void begin_update(Emit *e, Pos pos, const Target *target, IrUpdate op) {
  const char *name = ir_update_text(op);
  if (!target->is_local) {
    emit_on_element(e, target, target->is_part ? "update_parts" : "update");
    emit_text(e, ", ");
    emit_function_name(e, pos, name, target->type);
    emit_text(e, ", ");
  } else if (target->is_part) {
    emit_format(e, "%s = _rg.update_parts(%s, ", target->name, target->name);
    emit_reducer(e, pos, target->root->local, name, target->type);
    emit_text(e, ", ");
  } else {
    bool is_scalar = type_is_scalar(target->shape);
    emit_format(e, is_scalar ? "%s = " : "%s = _rg.each(", target->name);
    emit_reducer(e, pos, target->root->local, name, target->type);
    emit_format(e, is_scalar ? "(%s, " : ", %s, ", target->name);
  }
}

static void end_update(Emit *e, const Target *target) {
  if (target->is_part) emit_text(e, ", ");
  if (target->is_part) emit_selection(e, target->expr);
  if (!target->is_local) emit_target_position(e, target);
  emit_text(e, ")");
}

/* If integer overflow is checked, the terms are added one by one, in their order. */
void emit_update(Emit *e, Pos pos, const Update *update) {
  Target target = target_of(e, update->target);
  bool adds_one_by_one = e->s->input->debug & SEMA_DEBUG_ARITHMETIC && type_is_integer(target.type);
  bool all_negative = update->terms.items[0].is_negative && first_positive(update) < 0;
  if (!adds_one_by_one) {
    begin_update(e, pos, &target, all_negative ? IR_UPDATE_SUB : update->op);
    emit_terms(e, update, &target);
    end_update(e, &target);
    return;
  }
  for (int i = 0; i < update->terms.count; i++) {
    const UpdateTerm *term = &update->terms.items[i];
    if (i) emit_text(e, "; ");
    begin_update(e, pos, &target, term->is_negative ? IR_UPDATE_SUB : update->op);
    emit_converted(e, term->value, target.type);
    end_update(e, &target);
  }
}

/* -- plain assignments ------------------------------------------------------------------------- */

/* `local _rg_t0 = {0, i, j}; local _rg_s0 = {2}; `: the position is evaluated before
 * anything is assigned. */
static void emit_target(Emit *e, const Target *target, int number) {
  if (target->is_part) {
    emit_format(e, "local _rg_s%d = ", number);
    emit_selection(e, target->expr);
    emit_text(e, "; ");
  }
  if (target->is_local) return;
  emit_format(e, "local _rg_t%d = {", number);
  if (target->is_item) emit_item_array(e, target->root);
  else emit_text(e, "0");
  emit_target_position(e, target);
  emit_text(e, "}; ");
}

static void emit_target_indices(Emit *e, const Target *target, int number) {
  int rank =
      target->is_item ? target->element->item.index_count : field_rank(&target->element->field);
  for (int k = 0; k < rank; k++) emit_format(e, ", _rg_t%d[%d]", number, k + 2);
}

/* Stores a value at the position that emit_target evaluated. */
static void emit_set(Emit *e, const Target *target, int number, const char *value) {
  const char *parts = target->is_part ? scratch_format(e->scratch, ", _rg_s%d", number) : "";
  if (target->is_local) {
    if (target->is_part)
      emit_format(e, "%s = _rg.with(%s, %s%s)", target->name, target->name, value, parts);
    else emit_format(e, "%s = %s", target->name, value);
    emit_mark_assigned(e, target->root->local, true);
    emit_text(e, "; ");
    return;
  }
  const char *set = target->is_part ? "set_parts" : "set";
  if (target->is_item) emit_format(e, "_rg.array_%s(_rg_t%d[1]", set, number);
  else emit_field_call(e, target->element->field.source, set);
  emit_format(e, ", %s%s", value, parts);
  emit_target_indices(e, target, number);
  emit_text(e, "); ");
}

/* All values, then all positions, then the assignments: `a, b = b, a`. */
static void emit_multiple_assignment(Emit *e, Stmt *stmt) {
  emit_text(e, "do local _rg_v0");
  for (int i = 1; i < stmt->values.count; i++) emit_format(e, ", _rg_v%d", i);
  for (int i = 0; i < stmt->values.count; i++) {
    emit_text(e, i ? ", " : " = ");
    if (i >= stmt->targets.count) {
      emit_expr(e, stmt->values.items[i]);
      continue;
    }
    Target target = target_of(e, stmt->targets.items[i]);
    emit_broadcast(e, stmt->values.items[i], target.type, target.shape);
  }
  emit_text(e, "; ");
  for (int i = 0; i < stmt->targets.count; i++) {
    Target target = target_of(e, stmt->targets.items[i]);
    emit_target(e, &target, i);
  }
  for (int i = 0; i < stmt->targets.count; i++) {
    Target target = target_of(e, stmt->targets.items[i]);
    emit_set(e, &target, i, scratch_format(e->scratch, "_rg_v%d", i));
  }
  emit_text(e, "end");
}

void emit_assign(Emit *e, Stmt *stmt) {
  if (stmt->targets.count > 1 || stmt->values.count > 1) {
    emit_multiple_assignment(e, stmt);
    return;
  }
  Target target = target_of(e, stmt->targets.items[0]);
  if (!target.is_local) {
    emit_on_element(e, &target, target.is_part ? "set_parts" : "set");
    emit_text(e, ", ");
  } else if (target.is_part) {
    emit_format(e, "%s = _rg.with(%s, ", target.name, target.name);
  } else {
    emit_format(e, "%s = ", target.name);
  }
  emit_broadcast(e, stmt->values.items[0], target.type, target.shape);
  if (target.is_part) emit_text(e, ", ");
  if (target.is_part) emit_selection(e, target.expr);
  if (!target.is_local) emit_target_position(e, &target);
  if (!target.is_local || target.is_part) emit_text(e, ")");
  if (target.is_local) emit_mark_assigned(e, target.root->local, true);
}

/* -- a compound that is not an update ---------------------------------------------------------- */

static const char *operator_text(AstOp op) {
  for (IrUpdate k = 0; k < IR_UPDATE_COUNT; k++)
    if (update_operator(k) == op) return ir_update_text(k);
  return "";
}

static void emit_old_item(Emit *e, const Target *target) {
  Type element = type_row(e->s->input->types, target->element->item.array).element;
  emit_text(e, "_rg.array_get(_rg_t0[1], ");
  emit_zero(e, type_base(element), type_shape(element));
}

/* `_rg.pick(old, _rg_s0)`, for one number `old[_rg_s0[1]]` */
static void emit_old_value(Emit *e, const Target *target) {
  bool is_number = target->is_part && type_is_scalar(target->shape);
  emit_text(e, is_number ? "_rg.only(" : target->is_part ? "_rg.pick(" : "(");
  if (target->is_local) {
    emit_text(e, target->name);
  } else {
    if (target->is_item) emit_old_item(e, target);
    else emit_field_call(e, target->element->field.source, "get");
    emit_target_indices(e, target, 0);
    emit_text(e, ")");
  }
  emit_text(e, target->is_part ? ", _rg_s0" : "");
  if (is_number) emit_text(e, ", ");
  if (is_number) emit_zero(e, target->type, (Shape){0});
  emit_text(e, ")");
}

/* Evaluates the position, its old value, and the operand, in this order. */
void emit_compound(Emit *e, Stmt *stmt) {
  Target target = target_of(e, stmt->targets.items[0]);
  emit_text(e, "do ");
  emit_target(e, &target, 0);
  emit_text(e, "local _rg_v0 = ");
  emit_operation_at(e, stmt->pos, target.shape, operator_text(stmt->op), target.type);
  emit_old_value(e, &target);
  emit_text(e, ", ");
  emit_converted(e, stmt->values.items[0], target.type);
  emit_text(e, "); ");
  emit_set(e, &target, 0, "_rg_v0");
  emit_text(e, "end");
}
