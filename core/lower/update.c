/* update.c - assignments: updates and reductions in parallel bodies, plain reads and writes elsewhere.
 * What is assigned is a list of numbers, one where no vector is. Where an index into a vector is computed, every number
 * that it may be is there, with the condition under which it is the one. */
#include "lower/lower.h"

/* -- targets ---------------------------------------------------------------------------------------------------- */

typedef struct Slot {
  int number;        /* of the element or variable */
  int given;         /* which number of the value it takes */
  IrInst *condition; /* NULL: always */
  IrInst *place;     /* NULL: a variable */
  IrInst *var;
} Slot;
typedef struct Target {
  Type type;
  int value_count; /* numbers of the value */
  int count;
  Slot slots[TYPE_MAX_PARTS];
} Target;

static void add_slot(Target *target, const Slot *from, int given, IrInst *condition) {
  target->slots[target->count] = *from;
  target->slots[target->count].given = given;
  target->slots[target->count++].condition = condition;
}

/* The row that is chosen, of each number the condition. */
static void choose_computed(Sema *s, Expr *e, const Target *whole, Target *target) {
  int cols = type_cols(shape_of(e->left));
  IrInst *index = lower_expr(s, e->list.items[0]), *is_row = NULL;
  lower_at(s, e->pos);
  for (int k = 0; k < whole->count; k++) {
    const Slot *slot = &whole->slots[k];
    if (slot->given % cols == 0)
      is_row = ir_binary(&s->b, IR_EQ, index, lower_number(s, index->type, slot->given / cols));
    IrInst *condition = slot->condition ? ir_binary(&s->b, IR_BAND, slot->condition, is_row) : is_row;
    add_slot(target, slot, slot->given % cols, condition);
  }
}

static void choose_constant(Sema *s, Expr *e, const Target *whole, Target *target) {
  const Parts *parts = &e->entity.parts;
  int cols = type_cols(shape_of(e->left)), row = parts->count ? 0 : shape_constant_index(e);
  for (int k = 0; k < whole->count; k++) {
    const Slot *slot = &whole->slots[k];
    for (int p = 0; p < parts->count; p++)
      if (parts->at[p] == slot->given) add_slot(target, slot, p, slot->condition);
    if (!parts->count && slot->given / cols == row) add_slot(target, slot, slot->given % cols, slot->condition);
  }
}

/* Which numbers, not yet where. */
static void find_slots(Sema *s, Expr *e, Target *target) {
  e = sema_strip(e);
  target->count = 0;
  target->value_count = type_parts(shape_of(e));
  if (e->entity.kind != ENTITY_PART) {
    for (int k = 0; k < target->value_count; k++) add_slot(target, &(Slot){.number = k}, k, NULL);
    return;
  }
  Target whole;
  find_slots(s, e->left, &whole);
  bool is_constant = e->entity.parts.count || shape_constant_index(e) >= 0;
  if (is_constant)
    choose_constant(s, e, &whole, target);
  else
    choose_computed(s, e, &whole, target);
}

static Type target_type(Sema *s, Expr *e) {
  const Expr *root = shape_root(e);
  return root->kind == AST_LOCAL ? root->local->type : field_of(&root->entity)->type;
}

static void lower_target(Sema *s, Expr *e, Target *target) {
  Expr *root = shape_root(e);
  IrInst *indices[SNODE_MAX_AXES];
  target->type = target_type(s, e);
  find_slots(s, e, target);
  if (root->kind != AST_LOCAL) lower_indices(s, root, indices);
  lower_at(s, root->pos);
  for (int k = 0; k < target->count; k++) {
    Slot *slot = &target->slots[k];
    if (root->kind == AST_LOCAL)
      slot->var = root->local->values[slot->number];
    else
      slot->place = lower_place_at(s, &root->entity, slot->number, indices);
  }
}

/* Where an element is the one that a computed index means. */
static IrRegion *enter_condition(Sema *s, const Slot *slot) {
  return slot->condition ? lower_enter(s, ir_if(&s->b, slot->condition)->regions[0]) : NULL;
}

static void leave_condition(Sema *s, IrRegion *back) {
  if (back) lower_leave(s, back);
}

/* -- updates ---------------------------------------------------------------------------------------------------- */

static int first_positive(const Update *update) {
  for (int i = 0; i < update->terms.count; i++)
    if (!update->terms.items[i].is_negative) return i;
  return -1;
}

/* Number k of all terms in one value: `- a + b` is b - a; where all are subtracted, `- a - b`, it is a + b, and op
 * becomes SUB. */
static IrInst *combine(Sema *s, const Update *update, IrInst ***values, int k, IrUpdate *op) {
  int count = update->terms.count, first = first_positive(update);
  *op = first < 0 ? IR_UPDATE_SUB : update->op;
  if (first < 0) first = 0;
  IrInst *sum = values[first][k];
  for (int i = 0; i < count; i++) {
    bool subtracts = update->terms.items[i].is_negative && *op != IR_UPDATE_SUB;
    if (i != first)
      sum = ir_binary(&s->b, update->op == IR_UPDATE_MUL ? IR_MUL : subtracts ? IR_SUB : IR_ADD, sum, values[i][k]);
  }
  return sum;
}

static IrInst **lower_terms(Sema *s, const Update *update, Type type, int count, IrUpdate *op) {
  IrInst ***values = scratch_array(s->scratch, IrInst **, update->terms.count);
  for (int i = 0; i < update->terms.count; i++)
    values[i] = lower_values_as(s, update->terms.items[i].value, type, count);
  *op = update->op;
  if (update->terms.count == 1 && !update->terms.items[0].is_negative) return values[0];
  IrInst **sums = scratch_array(s->scratch, IrInst *, count);
  for (int k = 0; k < count; k++) sums[k] = combine(s, update, values, k, op);
  return sums;
}

static void lower_update(Sema *s, Pos pos, const Update *update) {
  Target target;
  IrUpdate op;
  IrInst **values = lower_terms(s, update, target_type(s, update->target),
                                type_parts(shape_of(update->target)), &op);
  lower_target(s, update->target, &target);
  lower_at(s, pos);
  for (int k = 0; k < target.count; k++) {
    const Slot *slot = &target.slots[k];
    IrRegion *back = enter_condition(s, slot);
    if (slot->place)
      ir_update(&s->b, op, slot->place, values[slot->given]);
    else {
      ir_note(s->output->kernel, s->b.line, "gathers '%s': each worker its own part, joined at the end",
              sema_text(s, update->target->local->name));
      ir_emit(&s->b, IR_REDUCE, TYPE(NONE), 2, (IrInst *[]){slot->var, values[slot->given]})->imm = op;
    }
    leave_condition(s, back);
  }
}

/* -- plain assignments ----------------------------------------------------------------------------------- */

static void assign_number(Sema *s, const Slot *slot, IrInst *value) {
  if (slot->var) {
    ir_set(&s->b, slot->var,
           slot->condition ? ir_select(&s->b, slot->condition, value, ir_get(&s->b, slot->var)) : value);
    return;
  }
  IrRegion *back = enter_condition(s, slot);
  ir_store(&s->b, slot->place, value);
  leave_condition(s, back);
}

/* All values, then all places, then the assignments: `a, b = b, a`. */
void lower_assign(Sema *s, Stmt *stmt) {
  Pos pos = stmt->pos;
  Update *update = stmt->update;
  if (update) {
    lower_update(s, pos, update);
    return;
  }
  int count = stmt->targets.count;
  IrInst ***values = scratch_array(s->scratch, IrInst **, stmt->values.count);
  Target *targets = scratch_array(s->scratch, Target, count);
  for (int i = 0; i < stmt->values.count; i++) {
    Expr *value = stmt->values.items[i], *target = i < count ? stmt->targets.items[i] : NULL;
    values[i] =
        target ? lower_values_as(s, value, target_type(s, target), type_parts(shape_of(target)))
               : lower_values(s, value);
  }
  for (int i = 0; i < count; i++) lower_target(s, stmt->targets.items[i], &targets[i]);
  lower_at(s, pos);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < targets[i].count; k++)
      assign_number(s, &targets[i].slots[k], values[i][targets[i].slots[k].given]);
}

void lower_compound(Sema *s, Stmt *stmt) {
  Pos pos = stmt->pos;
  Update *update = stmt->update;
  if (update) {
    lower_update(s, pos, update);
    return;
  }
  Target target;
  IrInst *old[TYPE_MAX_PARTS];
  lower_target(s, stmt->targets.items[0], &target);
  for (int k = 0; k < target.count; k++)
    old[k] = target.slots[k].place ? ir_load(&s->b, target.slots[k].place) : ir_get(&s->b, target.slots[k].var);
  IrInst **values = lower_values_as(s, stmt->values.items[0], target.type, target.value_count);
  lower_at(s, pos);
  for (int k = 0; k < target.count; k++)
    assign_number(s, &target.slots[k], lower_operator(s, stmt->op, old[k], values[target.slots[k].given]));
}
