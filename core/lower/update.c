/* update.c - assignments: updates and reductions in parallel bodies, plain reads and writes
 * elsewhere. The target is a list of numbers, a single one for a scalar. If an index into a vector
 * is computed, the list has every number that it may select, each with the condition that selects
 * it. */
#include "lower/lower.h"

/* -- targets ----------------------------------------------------------------------------------- */

typedef struct Slot {
  int number;        /* of the element or variable */
  int source;        /* the number of the value it takes */
  IrInst *condition; /* NULL: always */
  bool is_uncounted; /* written whenever the one before it is */
  IrInst *place;     /* NULL: a variable, */
  IrInst *var;
  IrInst *array, *at; /* or a number of a local's array */
  const Local *local; /* a variable's */
} Slot;
typedef struct Target {
  Type type;
  int value_count; /* numbers of the value */
  int count;
  Slot *slots;
  Expr *root;   /* the element or variable, */
  bool is_item; /* of a counted array: */
  Item item;
  IrInst *indices[SNODE_MAX_AXES]; /* of the element */
} Target;

static void add_slot(Target *target, const Slot *from, int source, IrInst *condition) {
  target->slots[target->count] = *from;
  target->slots[target->count].source = source;
  target->slots[target->count++].condition = condition;
}

/* Adds to each number the condition that the index selects its row. */
static void choose_computed(Lower *l, Expr *e, const Target *whole, Target *target) {
  int cols = type_cols(shape_of(e->left));
  IrInst *index = lower_expr(l, e->list.items[0]), *is_row = NULL;
  lower_set_pos(l, e->pos);
  lower_check_part(l, e, index, type_rows(shape_of(e->left)));
  for (int k = 0; k < whole->count; k++) {
    const Slot *slot = &whole->slots[k];
    if (slot->source % cols == 0)
      is_row = ir_binary(&l->b, IR_EQ, index, lower_number(l, index->type, slot->source / cols));
    IrInst *condition = lower_and(l, slot->condition, is_row);
    add_slot(target, slot, slot->source % cols, condition);
  }
}

static void choose_constant(Lower *l, Expr *e, const Target *whole, Target *target) {
  const Parts *parts = &e->entity.parts;
  int own = type_parts(shape_of(e)), row = parts->count ? 0 : shape_constant_index(e);
  for (int k = 0; k < whole->count; k++) {
    const Slot *slot = &whole->slots[k];
    int first = parts->count ? parts->first : row * own;
    bool is_run = !parts->count || parts->is_run;
    if (is_run && slot->source >= first && slot->source < first + own)
      add_slot(target, slot, slot->source - first, slot->condition);
    for (int p = 0; p < own && !is_run; p++)
      if (parts_at(parts, p) == slot->source) add_slot(target, slot, p, slot->condition);
  }
}

/* Finds the numbers of the target, but not yet their places. */
static void find_slots(Lower *l, Expr *e, Target *target) {
  e = sema_strip(e);
  target->count = 0;
  target->slots = scratch_array(l->scratch, Slot, type_parts(shape_of(shape_root(e))));
  target->value_count = type_parts(shape_of(e));
  if (e->entity.kind != ENTITY_PART) {
    for (int k = 0; k < target->value_count; k++) add_slot(target, &(Slot){.number = k}, k, NULL);
    return;
  }
  Target whole;
  find_slots(l, e->left, &whole);
  bool is_constant = e->entity.parts.count || shape_constant_index(e) >= 0;
  if (is_constant) choose_constant(l, e, &whole, target);
  else choose_computed(l, e, &whole, target);
}

/* A target in a local's array: one number of it for each of the value. */
static void find_in_array(Lower *l, Expr *e, Target *target) {
  LocalElement element;
  local_element(l, e, &element);
  target->count = target->value_count = type_parts(shape_of(e));
  target->slots = scratch_array(l->scratch, Slot, target->count);
  lower_set_pos(l, target->root->pos);
  for (int k = 0; k < target->count; k++)
    target->slots[k] = (Slot){.source = k,
                              .array = element.array,
                              .at = local_index(l, &element, k),
                              .local = target->root->local};
}

static void lower_target(Lower *l, Expr *e, SemaRaceKind kind, Target *target) {
  Expr *root = shape_root(e);
  IrInst **indices = target->indices;
  target->root = root;
  target->type = shape_base(e);
  target->is_item = root->entity.kind == ENTITY_ITEM;
  if (local_is_element(l, e)) {
    find_in_array(l, e, target);
    return;
  }
  find_slots(l, e, target);
  if (target->is_item) {
    lower_item(l, root, &target->item);
    return;
  }
  if (root->kind != AST_LOCAL) lower_indices(l, root, indices);
  lower_set_pos(l, root->pos);
  if (root->kind != AST_LOCAL)
    lower_check_index(l, root, &root->entity, false, field_rank(field_of(&root->entity)), indices);
  for (int k = 0; k < target->count; k++) {
    Slot *slot = &target->slots[k];
    slot->local = root->local;
    slot->is_uncounted = k > 0 && slot->condition == slot[-1].condition;
    if (root->kind == AST_LOCAL && lowered_of(l, root->local)->array) {
      slot->array = lowered_of(l, root->local)->array;
      slot->at = lower_number(l, TYPE(I32), slot->number);
      continue;
    }
    if (root->kind == AST_LOCAL) {
      slot->var = lowered_of(l, root->local)->values[slot->number];
      continue;
    }
    slot->place = lower_place_at(l, &root->entity, slot->number, indices);
    lower_race_access(l, root, &root->entity, kind, slot->place, indices, slot->condition);
  }
}

/* Enters a region that runs only if the computed index selects this number. */
static IrRegion *enter_condition(Lower *l, const Slot *slot) {
  return slot->condition ? lower_enter(l, ir_if(&l->b, slot->condition)->regions[0]) : NULL;
}

static void leave_condition(Lower *l, IrRegion *back) {
  if (back) lower_leave(l, back);
}

/* Enters a region that runs only if the element of a counted array exists, at `place`; NULL for
 * other targets. */
static IrRegion *enter_item(Lower *l, const Target *target, IrInst **place) {
  return target->is_item ? lower_item_enter(l, target->root, &target->item, place) : NULL;
}

/* -- updates ----------------------------------------------------------------------------------- */

static int first_positive(const Update *update) {
  for (int i = 0; i < update->terms.count; i++)
    if (!update->terms.items[i].is_negative) return i;
  return -1;
}

/* Number k of all terms as one value: `- a + b` is b - a; if all are subtracted, `- a - b`, it is a
 * + b, and op becomes SUB. */
static IrInst *combine(Lower *l, const Update *update, IrInst ***values, int k, IrUpdate *op) {
  int count = update->terms.count, first = first_positive(update);
  *op = first < 0 ? IR_UPDATE_SUB : update->op;
  if (first < 0) first = 0;
  IrInst *sum = values[first][k];
  for (int i = 0; i < count; i++) {
    bool subtracts = update->terms.items[i].is_negative && *op != IR_UPDATE_SUB;
    if (i != first)
      sum = ir_binary(&l->b,
                      update->op == IR_UPDATE_MUL ? IR_MUL
                      : subtracts                 ? IR_SUB
                                                  : IR_ADD,
                      sum, values[i][k]);
  }
  return sum;
}

typedef struct Change {
  IrUpdate op;
  IrInst **values;
} Change;

/* Lowers all terms to one value. If integer overflow is checked, to one value for each term, since
 * a sum of terms may wrap although the updated element does not. */
static int lower_terms(Lower *l, const Update *update, Type type, int count, Change *changes) {
  IrInst ***values = scratch_array(l->scratch, IrInst **, update->terms.count);
  bool is_bits =
      update->op == IR_UPDATE_BAND || update->op == IR_UPDATE_BOR || update->op == IR_UPDATE_BXOR;
  bool before = lower_enter_wrap(l, is_bits);
  for (int i = 0; i < update->terms.count; i++)
    values[i] = lower_values_as(l, update->terms.items[i].value, type, count);
  l->may_wrap = before;
  bool is_one = update->terms.count == 1;
  if (type_is_integer(type) && lower_checks(l, SEMA_DEBUG_ARITHMETIC)) {
    for (int i = 0; i < update->terms.count; i++)
      changes[i] =
          (Change){update->terms.items[i].is_negative ? IR_UPDATE_SUB : update->op, values[i]};
    return update->terms.count;
  }
  changes[0] = (Change){update->op, values[0]};
  if (is_one && !update->terms.items[0].is_negative) return 1;
  changes[0].values = lower_array(l, count);
  for (int k = 0; k < count; k++)
    changes[0].values[k] = combine(l, update, values, k, &changes[0].op);
  return 1;
}

static const IrOp op_of[IR_UPDATE_COUNT] = {
    [IR_UPDATE_ADD] = IR_ADD,           [IR_UPDATE_SUB] = IR_SUB, [IR_UPDATE_MUL] = IR_MUL,
    [IR_UPDATE_DIV] = IR_DIV,           [IR_UPDATE_MIN] = IR_MIN, [IR_UPDATE_MAX] = IR_MAX,
    [IR_UPDATE_FLOORDIV] = IR_FLOORDIV, [IR_UPDATE_MOD] = IR_MOD, [IR_UPDATE_POW] = IR_POW,
    [IR_UPDATE_SHL] = IR_SHL,           [IR_UPDATE_SHR] = IR_SHR, [IR_UPDATE_SAR] = IR_SAR};

/* Is this update checked, by its old and its new value? */
static bool checks_update(const Lower *l, const Entity *element, IrUpdate op, Type type) {
  if (op_of[op] == IR_CONST) return false; /* bit operators and exchange */
  if (type_is_float(type)) return field_of(element)->is_watched;
  bool may_fail = op != IR_UPDATE_MIN && op != IR_UPDATE_MAX;
  return may_fail && type_is_integer(type) && lower_checks(l, SEMA_DEBUG_ARITHMETIC);
}

IrInst *lower_rmw(Lower *l, const Expr *at, const Entity *element, IrInst *const *indices,
                  IrUpdate op, IrInst *place, IrInst *value) {
  IrInst *old = ir_rmw(&l->b, op, place, value);
  if (op == IR_UPDATE_EXCHANGE) lower_check_finite(l, at, element, indices, value);
  if (!checks_update(l, element, op, value->type)) return old;
  IrInst *result = ir_binary(&l->b, op_of[op], old, value);
  lower_check_result(l, op_of[op], old, value, result);
  lower_check_finite(l, at, element, indices, result);
  return old;
}

static void update_element(Lower *l, const Target *target, const Slot *slot, IrUpdate op,
                           IrInst *value) {
  const Entity *element = &target->root->entity;
  if (checks_update(l, element, op, value->type))
    lower_rmw(l, target->root, element, target->indices, op, slot->place, value);
  else ir_update(&l->b, op, slot->place, value)->uncounted = slot->is_uncounted;
}

static void reduce(Lower *l, IrUpdate op, IrInst *var, IrInst *value) {
  ir_reduce(&l->b, op, var, value);
}

static void change_slot(Lower *l, const Target *target, const Slot *slot, const Change *change) {
  IrInst *value = change->values[slot->source];
  if (slot->place) {
    update_element(l, target, slot, change->op, value);
    return;
  }
  reduce(l, change->op, slot->var, value);
  IrInst *exact = lower_exact_of(l, slot->local, change->op, slot->var);
  if (exact) reduce(l, change->op, exact, ir_convert(&l->b, value, TYPE(F64)));
}

static void lower_update(Lower *l, Pos pos, const Update *update) {
  Target target;
  Change *changes = scratch_array(l->scratch, Change, update->terms.count);
  int change_count = lower_terms(l, update, shape_base(update->target),
                                 type_parts(shape_of(update->target)), changes);
  lower_target(l, update->target, RACE_UPDATE, &target);
  lower_set_pos(l, pos);
  IrInst *place = NULL;
  IrRegion *outside = enter_item(l, &target, &place);
  for (int k = 0; k < target.count; k++) {
    const Slot *slot = &target.slots[k];
    IrRegion *back = enter_condition(l, slot);
    for (int i = 0; target.is_item && i < change_count; i++)
      lower_item_update(l, &target.item, place, slot->number, changes[i].op,
                        changes[i].values[slot->source]);
    if (target.is_item) {
      leave_condition(l, back);
      continue;
    }
    if (!slot->place)
      ir_note(l->output->kernel, l->b.line, "reduction of '%s', one partial per worker",
              sema_source(l->s, update->target));
    for (int i = 0; i < change_count; i++) change_slot(l, &target, slot, &changes[i]);
    leave_condition(l, back);
  }
  if (outside) lower_leave(l, outside);
}

/* -- plain assignments ------------------------------------------------------------------------- */

static void assign_number(Lower *l, const Target *target, const Slot *slot, IrInst *value) {
  if (target->is_item) {
    IrRegion *inside = enter_condition(l, slot);
    lower_item_store(l, &target->item, slot->place, slot->number, value);
    leave_condition(l, inside);
    return;
  }
  if (slot->array) {
    if (slot->condition)
      value = ir_select(&l->b, slot->condition, value, ir_local_get(&l->b, slot->array, slot->at));
    ir_local_set(&l->b, slot->array, slot->at, value);
    return;
  }
  if (slot->var) {
    lower_mark_set(l, slot->local, slot->number, slot->condition);
    ir_set(&l->b, slot->var,
           slot->condition ? ir_select(&l->b, slot->condition, value, ir_get(&l->b, slot->var))
                           : value);
    return;
  }
  IrRegion *back = enter_condition(l, slot);
  lower_check_finite(l, target->root, &target->root->entity, target->indices, value);
  ir_store(&l->b, slot->place, value)->uncounted = slot->is_uncounted;
  leave_condition(l, back);
}

/* Assigns an array to a variable, whose old reference is released after the new one is owned. */
static void replace_array(Lower *l, const Slot *slot, IrInst *owner) {
  IrInst *guard = lowered_of(l, slot->local)->guards[slot->number];
  counted_release(l, guard);
  counted_move(l, guard, owner);
}

static void assign_target(Lower *l, Target *target, IrInst **values, IrInst **owners) {
  IrInst *place = NULL;
  IrRegion *back = enter_item(l, target, &place);
  for (int k = 0; k < target->count; k++) {
    Slot *slot = &target->slots[k];
    if (place) slot->place = place;
    if (owners && owners[slot->source]) replace_array(l, slot, owners[slot->source]);
    assign_number(l, target, slot, values[slot->source]);
  }
  if (back) lower_leave(l, back);
}

/* Takes ownership of all arrays that are assigned to variables, before the first variable releases
 * its old one. */
static IrInst **own_values(Lower *l, Expr *target, IrInst **values) {
  Type base = shape_base(target);
  int count = type_parts(shape_of(target));
  if (!type_is_struct(base) || shape_root(target)->kind != AST_LOCAL) return NULL;
  IrInst **owners = lower_array(l, count);
  for (int k = 0; k < count; k++)
    if (counted_is(l, base, k)) owners[k] = counted_own(l, values[k]);
  return owners;
}

/* All values, then all places, then the assignments: `a, b = b, a`. */
void lower_assign(Lower *l, Stmt *stmt) {
  Pos pos = stmt->pos;
  Update *update = stmt->update;
  if (update) {
    lower_update(l, pos, update);
    return;
  }
  int count = stmt->targets.count;
  IrInst ***values = scratch_array(l->scratch, IrInst **, stmt->values.count);
  Target *targets = scratch_array(l->scratch, Target, count);
  for (int i = 0; i < stmt->values.count; i++) {
    Expr *value = stmt->values.items[i], *target = i < count ? stmt->targets.items[i] : NULL;
    values[i] = target ? lower_values_as(l, value, shape_base(target), type_parts(shape_of(target)))
                       : lower_values(l, value);
  }
  for (int i = 0; i < count; i++) lower_target(l, stmt->targets.items[i], RACE_WRITE, &targets[i]);
  lower_set_pos(l, pos);
  IrInst ***owners = scratch_array(l->scratch, IrInst **, count);
  for (int i = 0; i < count; i++) owners[i] = own_values(l, stmt->targets.items[i], values[i]);
  for (int i = 0; i < count; i++) assign_target(l, &targets[i], values[i], owners[i]);
}

static void lower_compound_item(Lower *l, Stmt *stmt, Target *target) {
  IrInst *place;
  IrInst **values = lower_values_as(l, stmt->values.items[0], target->type, target->value_count);
  IrRegion *back = lower_item_enter(l, target->root, &target->item, &place);
  for (int k = 0; k < target->count; k++) {
    Slot *slot = &target->slots[k];
    IrInst *at = lower_item_number(l, &target->item, place, slot->number);
    Type type = lower_number_type(l, target->type, slot->source);
    IrInst *old = ir_mem_load(&l->b, type, at);
    slot->place = place;
    assign_number(l, target, slot, lower_operator(l, stmt->op, old, values[slot->source]));
  }
  lower_leave(l, back);
}

static IrInst *old_value(Lower *l, const Target *target, const Slot *slot) {
  if (slot->array) return ir_local_get(&l->b, slot->array, slot->at);
  if (slot->var) return ir_get(&l->b, slot->var);
  return lower_convert(l, ir_load(&l->b, slot->place),
                       lower_number_type(l, target->type, slot->source));
}

void lower_compound(Lower *l, Stmt *stmt) {
  Pos pos = stmt->pos;
  Update *update = stmt->update;
  if (update) {
    lower_update(l, pos, update);
    return;
  }
  Target target;
  lower_target(l, stmt->targets.items[0], RACE_WRITE, &target);
  if (target.is_item) {
    lower_compound_item(l, stmt, &target);
    return;
  }
  IrInst **old = lower_array(l, target.count);
  for (int k = 0; k < target.count; k++)
    if (target.slots[k].var) lower_check_set(l, target.slots[k].local, &target.slots[k].number, 1);
  for (int k = 0; k < target.count; k++) old[k] = old_value(l, &target, &target.slots[k]);
  IrInst **values = lower_values_as(l, stmt->values.items[0], target.type, target.value_count);
  lower_set_pos(l, pos);
  for (int k = 0; k < target.count; k++)
    assign_number(l, &target, &target.slots[k],
                  lower_operator(l, stmt->op, old[k], values[target.slots[k].source]));
}
