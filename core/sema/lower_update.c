/* lower_update.c - assignments: updates and reductions in parallel bodies, plain reads and writes elsewhere. */
#include "sema/typed.h"

/* -- updates --------------------------------------------------------------------------------------------- */

static int first_positive(const Update *update) {
  for (int i = 0; i < update->terms.count; i++)
    if (!update->terms.items[i].is_negative) return i;
  return -1;
}

/* All terms in one value: `- a + b` is b - a; where all are subtracted, `- a - b`, it is a + b, and op becomes SUB. */
static IrInst *combine(Sema *s, const Update *update, Type type, IrUpdate *op) {
  int count = update->terms.count, first = first_positive(update);
  IrInst **values = scratch_array(s->scratch, IrInst *, count);
  for (int i = 0; i < count; i++) values[i] = lower_as(s, update->terms.items[i].value, type);
  *op = first < 0 ? IR_UPDATE_SUB : update->op;
  if (first < 0) first = 0;
  IrInst *sum = values[first];
  for (int i = 0; i < count; i++) {
    bool subtracts = update->terms.items[i].is_negative && *op != IR_UPDATE_SUB;
    if (i != first)
      sum = ir_binary(&s->b, update->op == IR_UPDATE_MUL ? IR_MUL : subtracts ? IR_SUB : IR_ADD, sum, values[i]);
  }
  return sum;
}

static void lower_update(Sema *s, Pos pos, const Update *update) {
  AstExpr *target = update->target;
  bool is_local = target->kind == AST_LOCAL;
  Type type = is_local ? local_of(s, target->local)->type : entity_of(s, target)->type;
  IrUpdate op = update->op;
  IrInst *value = update->terms.count == 1 && !update->terms.items[0].is_negative
                      ? lower_as(s, update->terms.items[0].value, type)
                      : combine(s, update, type, &op);
  if (!is_local) {
    IrInst *place = lower_place(s, target);
    lower_at(s, pos);
    ir_update(&s->b, op, place, value);
    return;
  }
  lower_at(s, pos);
  ir_emit(&s->b, IR_REDUCE, TYPE(NONE), 2, (IrInst *[]){local_of(s, target->local)->value, value})->imm = op;
}

/* -- plain assignments ----------------------------------------------------------------------------------- */

typedef struct Target {
  IrInst *place; /* NULL: a local */
  IrInst *var;
  Type type;
} Target;

static Target lower_target(Sema *s, AstExpr *e) {
  if (e->kind != AST_LOCAL) {
    IrInst *place = lower_place(s, e);
    return (Target){.place = place, .type = entity_of(s, e)->type};
  }
  const Local *local = local_of(s, e->local);
  return (Target){.var = local->value, .type = local->type};
}

static Type target_type(Sema *s, const AstExpr *e) {
  return e->kind == AST_LOCAL ? local_of(s, e->local)->type : entity_of(s, e)->type;
}

static void assign(Sema *s, const Target *target, IrInst *value) {
  if (target->place) ir_store(&s->b, target->place, value);
  else ir_set(&s->b, target->var, value);
}

/* All values, then all places, then the assignments: `a, b = b, a`. */
void lower_assign(Sema *s, AstStmt *stmt) {
  Pos pos = stmt->pos;
  Update *update = update_of(s, stmt);
  if (update) {
    lower_update(s, pos, update);
    return;
  }
  int count = stmt->targets.count;
  IrInst **values = scratch_array(s->scratch, IrInst *, stmt->values.count);
  Target *targets = scratch_array(s->scratch, Target, count);
  for (int i = 0; i < stmt->values.count; i++) {
    AstExpr *value = stmt->values.items[i];
    values[i] = i < count ? lower_as(s, value, target_type(s, stmt->targets.items[i])) : lower_expr(s, value);
  }
  for (int i = 0; i < count; i++) targets[i] = lower_target(s, stmt->targets.items[i]);
  lower_at(s, pos);
  for (int i = 0; i < count; i++) assign(s, &targets[i], values[i]);
}

void lower_compound(Sema *s, AstStmt *stmt) {
  Pos pos = stmt->pos;
  Update *update = update_of(s, stmt);
  if (update) {
    lower_update(s, pos, update);
    return;
  }
  Target target = lower_target(s, stmt->targets.items[0]);
  IrInst *old = target.place ? ir_load(&s->b, target.place) : ir_get(&s->b, target.var);
  IrInst *value = lower_as(s, stmt->values.items[0], target.type);
  lower_at(s, pos);
  assign(s, &target, lower_operator(s, stmt->op, old, value));
}
