/* vector.c - values of several numbers: one inst per number, row-major. No IR op knows about
 * vectors (core/lower/decisions.md); an elementwise operation is one scalar op per number. */
#include "lower/lower.h"

static int count_at(Lower *l, const Expr *e) { return type_parts(shape_of(e)); }

static IrInst **broadcast(Lower *l, IrInst *one, int count) {
  IrInst **all = lower_array(l, count);
  for (int k = 0; k < count; k++) all[k] = one;
  return all;
}

IrInst **lower_values_as(Lower *l, Expr *e, Type type, int count) {
  int own = count_at(l, e);
  if (type_is_scalar(shape_of(e))) return broadcast(l, lower_as(l, e, type), count);
  IrInst **values = lower_values(l, e), **converted = lower_array(l, own);
  lower_set_pos(l, e->pos);
  for (int k = 0; k < own; k++)
    converted[k] = lower_convert(l, values[k], lower_number_type(l, type, k));
  return converted;
}

IrInst **lower_zero(Lower *l, Type base, Shape shape) {
  int count = type_parts(shape);
  IrInst **zeros = lower_array(l, count);
  for (int k = 0; k < count; k++) zeros[k] = lower_number(l, lower_number_type(l, base, k), 0);
  return zeros;
}

static IrInst **select_all(Lower *l, IrInst *condition, IrInst **yes, IrInst **no, int count) {
  IrInst **chosen = lower_array(l, count);
  for (int k = 0; k < count; k++) chosen[k] = ir_select(&l->b, condition, yes[k], no[k]);
  return chosen;
}

/* -- parts ------------------------------------------------------------------------------------- */

/* The numbers of e->left that e selects, for a matrix a row; false if an index is computed. */
static bool own_numbers(const Expr *e, int numbers[TYPE_MAX_NUMBERS]) {
  const Parts *parts = &e->entity.parts;
  int index = parts->count ? 0 : shape_constant_index(e), count = type_parts(shape_of(e));
  for (int k = 0; k < count; k++)
    numbers[k] = parts->count ? parts_at(parts, k) : index * count + k;
  return index >= 0;
}

static IrInst **pick(Lower *l, IrInst **values, const int *parts, int count) {
  IrInst **picked = lower_array(l, count);
  for (int k = 0; k < count; k++) picked[k] = values[parts[k]];
  return picked;
}

/* A computed index selects one of the rows; zero if out of bounds. */
static IrInst **lower_computed(Lower *l, Expr *e) {
  Shape of = shape_of(e->left);
  int rows = type_rows(of), cols = type_cols(of);
  IrInst **values = lower_values(l, e->left), *index = lower_expr(l, e->list.items[0]);
  IrInst **column = lower_array(l, rows), **chosen = lower_array(l, cols);
  lower_set_pos(l, e->pos);
  lower_check_part(l, e, index, rows);
  for (int c = 0; c < cols; c++) {
    for (int r = 0; r < rows; r++) column[r] = values[r * cols + c];
    chosen[c] = ir_pick(&l->b, index, rows, column);
  }
  return chosen;
}

static IrInst **lower_of_array(Lower *l, Expr *e) {
  LocalElement element;
  int count = count_at(l, e);
  IrInst **values = lower_array(l, count);
  local_element(l, e, &element);
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++)
    values[k] = ir_local_get(&l->b, element.array, local_index(l, &element, k));
  return values;
}

static IrInst **lower_part(Lower *l, Expr *e) {
  int numbers[TYPE_MAX_NUMBERS];
  if (local_is_element(l, e)) return lower_of_array(l, e);
  return own_numbers(e, numbers) ? lower_parts(l, e->left, numbers, count_at(l, e))
                                 : lower_computed(l, e);
}

/* -- leaves ------------------------------------------------------------------------------------ */

static IrInst **lower_local(Lower *l, const Expr *e, const int *parts, int count) {
  const Local *local = e->local;
  if (lowered_of(l, local)->array) {
    IrInst **values = lower_array(l, count);
    for (int k = 0; k < count; k++) values[k] = local_get(l, local, parts[k]);
    return values;
  }
  IrInst **values = pick(l, lowered_of(l, local)->values, parts, count);
  lower_check_set(l, local, parts, count);
  for (int k = 0; k < count && local_is_variable(e->local); k++)
    values[k] = ir_get(&l->b, values[k]);
  return values;
}

static IrInst **lower_launch_arg(Lower *l, const LaunchArgRef *launch_arg, const int *parts,
                                 int count) {
  IrInst **values = lower_array(l, count);
  for (int k = 0; k < count; k++)
    values[k] = lower_argument(l, &l->s->launch_args.items[launch_arg->number],
                               parts_at(&launch_arg->parts, parts[k]));
  return values;
}

static IrInst **lower_element(Lower *l, Expr *e, const int *parts, int count) {
  IrInst *indices[SNODE_MAX_AXES], **values = lower_array(l, count);
  lower_indices(l, e, indices);
  lower_set_pos(l, e->pos);
  if (field_of(&e->entity)->peers) return lower_peer_parts(l, e, parts, count, indices);
  lower_check_index(l, e, &e->entity, true, field_rank(field_of(&e->entity)), indices);
  for (int k = 0; k < count; k++) {
    IrInst *place = lower_place_at(l, &e->entity, parts[k], indices);
    lower_race_access(l, e, &e->entity, RACE_READ, place, indices, NULL);
    values[k] = ir_load(&l->b, place);
  }
  return values;
}

/* The numbers `parts` of e. */
static IrInst **convert_all(Lower *l, const Expr *e, IrInst **values, const int *parts, int count) {
  for (int k = 0; k < count; k++)
    values[k] = lower_convert(l, values[k], lower_number_type(l, e->type, parts[k]));
  return values;
}

IrInst **lower_parts(Lower *l, Expr *e, const int *parts, int count) {
  const Entity *entity = &e->entity;
  int numbers[TYPE_MAX_NUMBERS];
  lower_set_pos(l, e->pos);
  if (e->kind == AST_PAREN) return lower_parts(l, e->left, parts, count);
  if (entity->kind == ENTITY_ARGUMENT)
    return convert_all(l, e, lower_launch_arg(l, &entity->launch_arg, parts, count), parts, count);
  if (entity->kind == ENTITY_ITEM)
    return convert_all(l, e, lower_item_parts(l, e, parts, count), parts, count);
  if (entity->kind == ENTITY_ELEMENT)
    return convert_all(l, e, lower_element(l, e, parts, count), parts, count);
  if (e->kind == AST_LOCAL) return convert_all(l, e, lower_local(l, e, parts, count), parts, count);
  if (entity->kind != ENTITY_PART || !own_numbers(e, numbers))
    return pick(l, lower_values(l, e), parts, count);
  int chosen[TYPE_MAX_NUMBERS];
  for (int k = 0; k < count; k++) chosen[k] = numbers[parts[k]];
  return convert_all(l, e, lower_parts(l, e->left, chosen, count), parts, count);
}

/* -- operators --------------------------------------------------------------------------------- */

/* `==` and `~=` of whole vectors: are all numbers equal? */
static IrInst **lower_equality(Lower *l, Expr *e) {
  int count = count_at(l, e->left);
  IrInst **a = lower_values(l, e->left), **b = lower_values(l, e->right),
         **result = lower_array(l, 1);
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++) {
    IrInst *one = lower_compare(l, e->op, a[k], b[k]);
    result[0] = k == 0 ? one : ir_binary(&l->b, e->op == AST_EQ ? IR_BAND : IR_BOR, result[0], one);
  }
  return result;
}

/* `<` of vectors: a boolean for each number. */
static IrInst **lower_order(Lower *l, Expr *e) {
  int count = count_at(l, e), a_count = count_at(l, e->left), b_count = count_at(l, e->right);
  IrInst **a = lower_values(l, e->left), **b = lower_values(l, e->right);
  IrInst **result = lower_array(l, count);
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++)
    result[k] = lower_compare(l, e->op, a[a_count > 1 ? k : 0], b[b_count > 1 ? k : 0]);
  return result;
}

static IrInst **lower_integer_power_of_all(Lower *l, Expr *e, int exponent) {
  int count = count_at(l, e);
  IrInst **values = lower_values_as(l, e->left, e->type, count), **result = lower_array(l, count);
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++) result[k] = lower_integer_power(l, values[k], exponent);
  return result;
}

static IrInst **lower_binary(Lower *l, Expr *e) {
  Type at = e->type;
  int exponent;
  if (typed_integer_power(e, at, &exponent)) return lower_integer_power_of_all(l, e, exponent);
  Shape a_shape = shape_of(e->left), b_shape = shape_of(e->right);
  if (e->op == AST_EQ || e->op == AST_NE) return lower_equality(l, e);
  if (e->op >= AST_LT && e->op <= AST_GE) return lower_order(l, e);
  bool has_scalar = type_is_scalar(a_shape) || type_is_scalar(b_shape);
  int count = count_at(l, e);
  bool is_product =
      e->op == AST_MUL && !has_scalar && (type_is_matrix(a_shape) || type_is_matrix(b_shape));
  bool before = lower_enter_wrap(l, lower_operator_wraps(e->op, at));
  IrInst **a = lower_values_as(l, e->left, at, is_product ? type_parts(a_shape) : count);
  IrInst **b = lower_values_as(l, e->right, at, is_product ? type_parts(b_shape) : count),
         **result = lower_array(l, count);
  l->may_wrap = before;
  lower_set_pos(l, e->pos);
  if (is_product) return lower_product(l, a_shape, a, b_shape, b);
  for (int k = 0; k < count; k++) result[k] = lower_operator(l, e->op, a[k], b[k]);
  return result;
}

static IrInst **lower_unary(Lower *l, Expr *e) {
  int count = count_at(l, e);
  bool before = lower_enter_wrap(l, e->op == AST_BNOT);
  IrInst **values = lower_values_as(l, e->left, e->type, count), **result = lower_array(l, count);
  l->may_wrap = before;
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++)
    result[k] = ir_unary(&l->b, e->op == AST_NEG ? IR_NEG : IR_BNOT, values[k]);
  return result;
}

static void set_all(Lower *l, IrInst **vars, IrInst **values, int count) {
  for (int k = 0; k < count; k++) ir_set(&l->b, vars[k], values[k]);
}

static IrInst **get_all(Lower *l, IrInst **vars, int count) {
  IrInst **values = lower_array(l, count);
  for (int k = 0; k < count; k++) values[k] = ir_get(&l->b, vars[k]);
  return values;
}

/* `a and b` of booleans, number by number. Only a single one on the left decides whether the right
 * side is computed. */
static IrInst **lower_logic(Lower *l, Expr *e) {
  bool is_and = e->kind == AST_AND;
  int count = count_at(l, e);
  IrInst **left = lower_values_as(l, e->left, TYPE(BOOL), count), **result = lower_array(l, count);
  if (!type_is_scalar(shape_of(e->left)) || choice_is_cheap(l->s, e->right)) {
    IrInst **right = lower_values_as(l, e->right, TYPE(BOOL), count);
    lower_set_pos(l, e->pos);
    for (int k = 0; k < count; k++)
      result[k] = ir_binary(&l->b, is_and ? IR_BAND : IR_BOR, left[k], right[k]);
    return result;
  }
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++) result[k] = ir_var(&l->b, TYPE(BOOL));
  set_all(l, result, left, count);
  IrRegion *back = lower_enter(l, ir_if(&l->b, left[0])->regions[is_and ? 0 : 1]);
  set_all(l, result, lower_values_as(l, e->right, TYPE(BOOL), count), count);
  lower_leave(l, back);
  return get_all(l, result, count);
}

/* `c and a or b`: branches if an arm costs more than a few ops. */
static IrInst **lower_choice(Lower *l, Expr *e) {
  Type at = e->type;
  int count = count_at(l, e), nesting = l->nesting;
  IrInst **vars = lower_array(l, count);
  Choices arms = choice_arms(l->s, e);
  bool is_cheap = arms.count == 2 && choice_is_cheap(l->s, arms.items[0].value) &&
                  choice_is_cheap(l->s, arms.items[1].value);
  if (is_cheap) {
    IrInst *condition = lower_expr(l, arms.items[0].condition);
    IrInst **yes = lower_values_as(l, arms.items[0].value, at, count),
           **no = lower_values_as(l, arms.items[1].value, at, count);
    return select_all(l, condition, yes, no, count);
  }
  for (int k = 0; k < count; k++) vars[k] = ir_var(&l->b, lower_number_type(l, at, k));
  IrRegion *back = l->b.region;
  for (int i = 0; i < arms.count && !l->s->failed; i++) {
    IrInst *branch =
        arms.items[i].condition ? ir_if(&l->b, lower_expr(l, arms.items[i].condition)) : NULL;
    IrRegion *inside = branch ? lower_enter(l, branch->regions[0]) : NULL;
    IrInst **values = lower_values_as(l, arms.items[i].value, at, count);
    set_all(l, vars, values, count);
    if (!branch) break;
    lower_leave(l, inside);
    lower_enter(l, branch->regions[1]);
  }
  l->nesting = nesting;
  l->b.region = back;
  return get_all(l, vars, count);
}

IrInst **lower_values(Lower *l, Expr *e) {
  int all[TYPE_MAX_NUMBERS], count = count_at(l, e);
  const Entity *entity = &e->entity;
  for (int k = 0; k < count; k++) all[k] = k;
  lower_set_pos(l, e->pos);
  if (e->kind == AST_PAREN || default_is(e)) return lower_values(l, e->left);
  if (entity->kind == ENTITY_PART) return convert_all(l, e, lower_part(l, e), all, count);
  Inline *in = e->inlined;
  if (in) return lower_inline(l, e, in);
  if (e->invoked) return lower_invocation(l, e, e->invoked);
  if (e->kind == AST_CALL) return lower_call(l, e);
  if (e->kind == AST_METHOD) return lower_method(l, e);
  if (e->kind == AST_BINARY &&
      !(type_is_scalar(shape_of(e->left)) && type_is_scalar(shape_of(e->right))))
    return lower_binary(l, e);
  if (type_is_scalar(shape_of(e))) {
    IrInst **one = lower_array(l, 1);
    one[0] = lower_expr(l, e);
    return one;
  }
  switch (e->kind) {
  case AST_UNARY: return lower_unary(l, e);
  case AST_AND: return lower_logic(l, e);
  case AST_OR: return choice_is(l->s, e) ? lower_choice(l, e) : lower_logic(l, e);
  case AST_TERNARY: return lower_choice(l, e);
  default: return lower_parts(l, e, all, count);
  }
}
