/* vector.c - values of several numbers: an inst per number, row by row. No op of the IR knows of vectors (see
 * decisions.md); what works number by number is the scalar op, once for each. */
#include "lower/lower.h"

static IrInst **array(Sema *s, int count) { return scratch_array(s->scratch, IrInst *, count); }

static int count_at(Sema *s, const Expr *e) { return type_parts(shape_of(e)); }

static IrInst **stretch(Sema *s, IrInst *one, int count) {
  IrInst **all = array(s, count);
  for (int k = 0; k < count; k++) all[k] = one;
  return all;
}

IrInst **lower_values_as(Sema *s, Expr *e, Type type, int count) {
  int own = count_at(s, e);
  if (own == 1) return stretch(s, lower_as(s, e, type), count);
  IrInst **values = lower_values(s, e), **converted = array(s, own);
  lower_at(s, e->pos);
  for (int k = 0; k < own; k++) converted[k] = lower_convert(s, values[k], type);
  return converted;
}

IrInst **lower_select(Sema *s, IrInst *condition, IrInst **yes, IrInst **no, int count) {
  IrInst **chosen = array(s, count);
  for (int k = 0; k < count; k++) chosen[k] = ir_select(&s->b, condition, yes[k], no[k]);
  return chosen;
}

/* -- parts ---------------------------------------------------------------------------------------------------- */

/* Row `index` of a matrix, number `index` of a vector, as numbers of the whole. */
static int row_numbers(Shape of, int index, int numbers[TYPE_MAX_PARTS]) {
  for (int k = 0; k < type_cols(of); k++) numbers[k] = index * type_cols(of) + k;
  return type_cols(of);
}

/* Which numbers of e->left; false where an index is computed. */
static bool own_numbers(Sema *s, const Expr *e, int numbers[TYPE_MAX_PARTS]) {
  const Parts *parts = &e->entity.parts;
  for (int k = 0; k < parts->count; k++) numbers[k] = parts->at[k];
  if (parts->count) return true;
  int index = shape_constant_index(e);
  if (index >= 0) row_numbers(shape_of(e->left), index, numbers);
  return index >= 0;
}

static IrInst **pick(Sema *s, IrInst **values, const int *parts, int count) {
  IrInst **picked = array(s, count);
  for (int k = 0; k < count; k++) picked[k] = values[parts[k]];
  return picked;
}

/* A computed index: each row is chosen where it is the one; outside there is zero. */
static IrInst **lower_computed(Sema *s, Expr *e) {
  Shape of = shape_of(e->left);
  IrInst **values = lower_values(s, e->left), *index = lower_expr(s, e->list.items[0]);
  IrInst **chosen = array(s, type_cols(of));
  lower_at(s, e->pos);
  for (int c = 0; c < type_cols(of); c++) chosen[c] = lower_number(s, values[0]->type, 0);
  for (int r = 0; r < type_rows(of); r++) {
    IrInst *is_it = ir_binary(&s->b, IR_EQ, index, lower_number(s, index->type, r));
    for (int c = 0; c < type_cols(of); c++)
      chosen[c] = ir_select(&s->b, is_it, values[r * type_cols(of) + c], chosen[c]);
  }
  return chosen;
}

static IrInst **lower_part(Sema *s, Expr *e) {
  int numbers[TYPE_MAX_PARTS];
  return own_numbers(s, e, numbers) ? lower_parts(s, e->left, numbers, count_at(s, e)) : lower_computed(s, e);
}

/* -- leaves ----------------------------------------------------------------------------------------------------- */

static IrInst **lower_local(Sema *s, const Expr *e, const int *parts, int count) {
  const Local *local = e->local;
  IrInst **values = pick(s, local->values, parts, count);
  for (int k = 0; k < count && local_is_variable(e->local); k++) values[k] = ir_get(&s->b, values[k]);
  return values;
}

static IrInst **lower_live(Sema *s, const LiveRef *live, const int *parts, int count) {
  IrInst **values = array(s, count);
  int first = s->lives.items[live->number].arg;
  for (int k = 0; k < count; k++)
    values[k] = ir_arg(&s->b, first + (live->parts.count ? live->parts.at[parts[k]] : parts[k]));
  return values;
}

static IrInst **lower_element(Sema *s, Expr *e, const int *parts, int count) {
  IrInst *indices[SNODE_MAX_AXES], **values = array(s, count);
  lower_indices(s, e, indices);
  lower_at(s, e->pos);
  for (int k = 0; k < count; k++) values[k] = ir_load(&s->b, lower_place_at(s, &e->entity, parts[k], indices));
  return values;
}

static IrInst **convert_all(Sema *s, const Expr *e, IrInst **values, int count) {
  for (int k = 0; k < count; k++) values[k] = lower_convert(s, values[k], e->at);
  return values;
}

IrInst **lower_parts(Sema *s, Expr *e, const int *parts, int count) {
  const Entity *entity = &e->entity;
  int numbers[TYPE_MAX_PARTS];
  lower_at(s, e->pos);
  if (e->kind == AST_PAREN) return lower_parts(s, e->left, parts, count);
  if (entity->kind == ENTITY_LIVE) return convert_all(s, e, lower_live(s, &entity->live, parts, count), count);
  if (entity->kind == ENTITY_ELEMENT) return convert_all(s, e, lower_element(s, e, parts, count), count);
  if (e->kind == AST_LOCAL) return convert_all(s, e, lower_local(s, e, parts, count), count);
  if (entity->kind != ENTITY_PART || !own_numbers(s, e, numbers)) return pick(s, lower_values(s, e), parts, count);
  int chosen[TYPE_MAX_PARTS] = {0};
  for (int k = 0; k < count; k++) chosen[k] = numbers[parts[k]];
  return convert_all(s, e, lower_parts(s, e->left, chosen, count), count);
}

/* -- operators ---------------------------------------------------------------------------------------------------- */

/* All numbers are equal, or some are not. */
static IrInst **lower_equality(Sema *s, Expr *e) {
  int count = count_at(s, e->left);
  IrInst **a = lower_values(s, e->left), **b = lower_values(s, e->right), **result = array(s, 1);
  lower_at(s, e->pos);
  for (int k = 0; k < count; k++) {
    IrInst *one = lower_compare(s, e->op, a[k], b[k]);
    result[0] = k == 0 ? one : ir_binary(&s->b, e->op == AST_EQ ? IR_BAND : IR_BOR, result[0], one);
  }
  return result;
}

static IrInst **lower_binary(Sema *s, Expr *e) {
  Type at = e->at;
  Shape a_shape = shape_of(e->left), b_shape = shape_of(e->right);
  if (e->op == AST_EQ || e->op == AST_NE) return lower_equality(s, e);
  bool has_scalar = type_is_scalar(a_shape) || type_is_scalar(b_shape);
  int count = count_at(s, e);
  bool is_product =
      e->op == AST_MUL && !has_scalar && (type_is_matrix(a_shape) || type_is_matrix(b_shape));
  IrInst **a = lower_values_as(s, e->left, at, is_product ? type_parts(a_shape) : count);
  IrInst **b = lower_values_as(s, e->right, at, is_product ? type_parts(b_shape) : count),
         **result = array(s, count);
  lower_at(s, e->pos);
  if (is_product) return lower_product(s, a_shape, a, b_shape, b);
  for (int k = 0; k < count; k++) result[k] = lower_operator(s, e->op, a[k], b[k]);
  return result;
}

static IrInst **lower_unary(Sema *s, Expr *e) {
  int count = count_at(s, e);
  IrInst **values = lower_values_as(s, e->left, e->at, count), **result = array(s, count);
  lower_at(s, e->pos);
  for (int k = 0; k < count; k++) result[k] = ir_unary(&s->b, e->op == AST_NEG ? IR_NEG : IR_BNOT, values[k]);
  return result;
}

/* `c and a or b`: branches, where an arm costs more than a few ops. */
static IrInst **lower_choice(Sema *s, Expr *e) {
  Type at = e->at;
  int count = count_at(s, e), nesting = s->nesting;
  IrInst **vars = array(s, count), **result = array(s, count);
  Choices arms = choice_arms(s, e);
  bool is_cheap = arms.count == 2 && choice_is_cheap(s, arms.items[0].value) && choice_is_cheap(s, arms.items[1].value);
  if (is_cheap) {
    IrInst *condition = lower_expr(s, arms.items[0].condition);
    IrInst **yes = lower_values_as(s, arms.items[0].value, at, count),
           **no = lower_values_as(s, arms.items[1].value, at, count);
    return lower_select(s, condition, yes, no, count);
  }
  for (int k = 0; k < count; k++) vars[k] = ir_var(&s->b, at);
  IrRegion *back = s->b.region;
  for (int i = 0; i < arms.count && !s->failed; i++) {
    IrInst *branch = arms.items[i].condition ? ir_if(&s->b, lower_expr(s, arms.items[i].condition)) : NULL;
    IrRegion *inside = branch ? lower_enter(s, branch->regions[0]) : NULL;
    IrInst **values = lower_values_as(s, arms.items[i].value, at, count);
    for (int k = 0; k < count; k++) ir_set(&s->b, vars[k], values[k]);
    if (!branch) break;
    lower_leave(s, inside);
    lower_enter(s, branch->regions[1]);
  }
  s->nesting = nesting;
  s->b.region = back;
  for (int k = 0; k < count; k++) result[k] = ir_get(&s->b, vars[k]);
  return result;
}

IrInst **lower_values(Sema *s, Expr *e) {
  int all[TYPE_MAX_PARTS], count = count_at(s, e);
  const Entity *entity = &e->entity;
  for (int k = 0; k < count; k++) all[k] = k;
  lower_at(s, e->pos);
  if (e->kind == AST_PAREN) return lower_values(s, e->left);
  if (entity->kind == ENTITY_PART) return convert_all(s, e, lower_part(s, e), count);
  Inline *in = e->inlined;
  if (in) return lower_inline(s, e, in);
  if (e->kind == AST_CALL) return lower_call(s, e);
  if (e->kind == AST_METHOD) return lower_method(s, e);
  if (e->kind == AST_BINARY && !type_is_scalar(shape_of(e->left)) &&
      (e->op == AST_EQ || e->op == AST_NE))
    return lower_equality(s, e);
  if (count == 1) {
    IrInst **one = array(s, 1);
    one[0] = lower_expr(s, e);
    return one;
  }
  switch (e->kind) {
  case AST_UNARY: return lower_unary(s, e);
  case AST_BINARY: return lower_binary(s, e);
  case AST_OR:
  case AST_TERNARY: return lower_choice(s, e);
  default: return lower_parts(s, e, all, count);
  }
}
