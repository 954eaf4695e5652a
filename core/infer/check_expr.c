/* check_expr.c - determines the type each expression is computed in, and refuses operands that do
 * not fit. `want` is the type its use wants; a flexible expression takes it (ty_complete), any
 * other keeps its own and is converted by its user. */
#include <math.h>

#include "infer/infer.h"

/* -- operands ---------------------------------------------------------------------------------- */

/* A local that is read but never assigned. */
static bool check_has_value(Sema *s, Expr *e) {
  if (e->ty.kind != TY_NONE || s->failed) return !s->failed;
  if (s->is_broken) return sema_poison(s);
  return sema_fail(s, e, RG_ERROR_TYPE_MISMATCH, "assign one in its declaration",
                   "'%s' is never assigned a value", sema_source(s, e));
}

bool check_number(Sema *s, Expr *e, const char *operation) {
  PartialType ty = e->ty;
  if (ty_is_number(ty)) return true;
  return check_has_value(s, e) &&
         sema_fail(s, e, RG_ERROR_TYPE_MISMATCH,
                   ty.kind == TY_STRUCT ? "take a member of it: p.mass"
                                        : "choose numbers by it: c and 1 or 0",
                   "%s takes numbers, but this is %s", operation, ty_text(s, ty));
}

/* Where a local got the type that does not fit. */
static bool note_type_origin(Sema *s, Expr *e) {
  e = sema_strip(e);
  const Local *local = e->kind == AST_LOCAL ? e->local : NULL;
  if (!local || !local->type_from || local->is_annotated) return false;
  return sema_note(s, local->type_from_source, local->type_from->pos, local->type_from->width,
                   "'%s' becomes %s here", sema_text(s, e->text), ty_text(s, e->ty));
}

bool check_integer(Sema *s, Expr *e, const char *operation) {
  PartialType ty = e->ty;
  if (!check_number(s, e, operation)) return false;
  if (ty_is_integer(ty)) return true;
  sema_fail(s, e, RG_ERROR_TYPE_MISMATCH, "math.floor(..) or rg.i32(..) makes an integer",
            "%s takes integers, but this is %s", operation, ty_text(s, ty));
  return note_type_origin(s, e);
}

static bool check_index(Sema *s, Expr *e) {
  PartialType ty = e->ty;
  if (ty_is_integer(ty)) return check_expr(s, e, TYPE(NONE));
  if (!check_has_value(s, e)) return false;
  sema_fail(s, e, RG_ERROR_TYPE_MISMATCH, "math.floor(..) or rg.i32(..) makes an integer",
            "an index must be an integer, but this is %s", ty_text(s, ty));
  return note_type_origin(s, e);
}

bool check_indices(Sema *s, const Exprs *list, int count) {
  for (int i = 0; i < count; i++) {
    Expr *index = list->items[i];
    bool ok = index->kind == AST_TABLE ? check_indices(s, &index->list, index->list.count)
                                       : check_index(s, index);
    if (!ok) return false;
  }
  return true;
}

/* Numbers of a vector: computed in the vector's type, selected by an integer. */
static bool check_part(Sema *s, Expr *e, Type at) {
  const Expr *root = shape_root(e);
  if (root->kind == AST_LOCAL && !e->entity.parts.count && shape_constant_index(e) < 0)
    root->local->is_indexed = true;
  return check_expr(s, e->left, at) && (e->kind != AST_INDEX || check_index(s, e->list.items[0]));
}

static bool check_item(Sema *s, Expr *e) {
  Expr *array = array_of_item(e);
  for (Expr *at = e; at != array; at = sema_strip(at->left))
    if (!check_indices(s, &at->list, at->list.count)) return false;
  return check_expr(s, array, TYPE(NONE));
}

bool check_object(Sema *s, Expr *e) {
  if (e->entity.kind == ENTITY_PART) return check_part(s, e, TYPE(NONE));
  if (e->entity.kind == ENTITY_ITEM) return check_item(s, e);
  for (Expr *at = e; at->kind == AST_INDEX || at->kind == AST_PAREN; at = at->left) {
    if (at->is_item) break;
    bool has_indices = at->kind == AST_INDEX && !entity_is_extent(&at->entity);
    if (has_indices && !check_indices(s, &at->list, at->list.count)) return false;
  }
  return true;
}

/* The part of `a > 0 and b` to report: the one operand that is not a condition, else all of it. */
static Expr *find_wrong_operand(Sema *s, Expr *e) {
  Expr *at = sema_strip(e);
  if (at->kind != AST_AND && at->kind != AST_OR) return e;
  bool left = at->left->ty.kind == TY_BOOL, right = at->right->ty.kind == TY_BOOL;
  if (left == right) return e;
  return find_wrong_operand(s, left ? at->right : at->left);
}

bool check_condition(Sema *s, Expr *e) {
  PartialType ty = e->ty;
  if (ty.kind == TY_BOOL) return check_expr(s, e, TYPE(BOOL));
  if (!check_has_value(s, e)) return false;
  e = find_wrong_operand(s, e);
  ty = e->ty;
  const char *text = sema_source(s, e);
  return sema_fail(s, e, RG_ERROR_TYPE_CONDITION,
                   scratch_format(s->scratch, "compare it: %s ~= 0", text),
                   "a condition is true or false, but this is %s", ty_text(s, ty));
}

static bool check_float_fits(Sema *s, const Expr *value, Type target) {
  double number;
  if (!sema_is_constant(value, &number) || !isfinite(number) ||
      fabs(number) < type_overflow(target))
    return true;
  return sema_fail(s, value, RG_ERROR_VALUE_FIT, "math.huge is infinity", "%s does not fit %s",
                   sema_source(s, value), ty_text(s, ty_of(target)));
}

/* A value that is known from the text must fit the integer type it is assigned to; 0xFFFFFFFF fits
 * an i32, as a bit pattern. */
bool check_fits(Sema *s, const Expr *value, Type target) {
  PartialType ty = value->ty;
  SemaInteger integer;
  if (type_is_float(target)) return check_float_fits(s, value, target);
  if (!type_is_integer(target)) return true;
  if (sema_integer(value, false, &integer)) {
    if (sema_integer_fits(&integer, target)) return true;
  } else if (ty.kind != TY_LITERAL ||
             (ty.is_negative ? ty.bits < type_bits(target) : ty.bits <= type_bits(target))) {
    return true;
  }
  return sema_fail(s, value, RG_ERROR_VALUE_FIT,
                   scratch_format(s->scratch, "rg.%s(..) truncates it", type_text(target)),
                   "%s does not fit %s", sema_source(s, value), ty_text(s, ty_of(target)));
}

const char *check_type_text(Sema *s, const Entity *element, Type type) {
  bool is_field = element && (element->kind == ENTITY_ELEMENT || element->kind == ENTITY_FIELD);
  const SNode *node = is_field ? field_of(element)->node : NULL;
  const SNodePacked *packed = node ? node->components[field_of(element)->component].packed : NULL;
  char text[PACKED_TEXT];
  if (!packed) return ty_text(s, ty_of(type));
  return scratch_format(s->scratch, "of type rg.%s", packed_text(&packed->as, text));
}

static bool fail_float(Sema *s, Expr *value, Type target, const char *type, const char *what) {
  const char *hint = scratch_format(
      s->scratch, "round it with math.floor(..), or truncate it with rg.%s(..)", type_text(target));
  sema_fail(s, value, RG_ERROR_TYPE_FLOAT_TO_INT, hint, "%s is %s, and this value is %s", what,
            type, ty_text(s, value->ty));
  return note_type_origin(s, value);
}

/* A captured number that is only stored in integers of one type has that type itself, so that the
 * launch reports a value that does not fit (complete_arguments). */
static void note_store(Sema *s, Expr *value, Type target) {
  if (value->entity.kind != ENTITY_ARGUMENT || !type_is_integer(target)) return;
  LaunchArg *launch_arg = &s->launch_args.items[value->entity.launch_arg.number];
  bool is_open = launch_arg->ty.kind == TY_INT && launch_arg->reason.clause;
  if (!is_open || (launch_arg->stores.count && !type_equal(launch_arg->stored, target))) return;
  launch_arg->stored = target;
  vec_push(s->scratch, &launch_arg->stores, value);
}

/* The expression without parentheses or a minus sign; of a local that is never assigned, its
 * initial value; or NULL. */
static const Expr *operand_of(const Expr *e) {
  if (e->kind == AST_PAREN || (e->kind == AST_UNARY && e->op == AST_NEG)) return e->left;
  return local_fixed_value(e);
}

/* A captured number that is also used elsewhere gets a limit, so that the launch reports a value
 * that does not fit. This looks through locals that are never assigned again, and through a change
 * of sign. There is no limit if a condition decides whether the store is reached. */
static void note_limit(Sema *s, const Expr *value, Type target) {
  Limit limit = {.type = target, .at = value, .source = sema_text_source(s)};
  const Expr *e = value;
  for (const Expr *inner = operand_of(e); inner; e = inner, inner = operand_of(e))
    limit.is_negated ^= e->kind == AST_UNARY;
  bool holds_all = !type_is_unsigned(target) && type_bits(target) >= 32;
  if (e->entity.kind != ENTITY_ARGUMENT || !type_is_scalar(shape_of(e)) || holds_all ||
      s->conditions || s->may_skip)
    return;
  limit.launch_arg = e->entity.launch_arg.number;
  const LaunchArg *launch_arg = &s->launch_args.items[limit.launch_arg];
  if (launch_arg->ty.kind == TY_INT && launch_arg->reason.clause)
    vec_push(s->scratch, &s->limits, limit);
}

bool check_store(Sema *s, Expr *value, Type target, const Entity *element, const char *what) {
  PartialType ty = value->ty;
  if (!check_has_value(s, value)) return false;
  if ((ty.kind == TY_BOOL) != type_is_bool(target))
    return sema_fail(s, value, RG_ERROR_TYPE_MISMATCH,
                     type_is_bool(target) ? "compare: .. ~= 0"
                                          : "choose numbers by it: c and 1 or 0",
                     "%s is %s, and this value is %s", what, check_type_text(s, element, target),
                     ty_text(s, ty));
  if (ty_is_float(ty) && type_is_integer(target))
    return fail_float(s, value, target, check_type_text(s, element, target), what);
  note_store(s, value, target);
  if (type_is_integer(target)) note_limit(s, value, target);
  return check_fits(s, value, target) && check_expr(s, value, target);
}

/* -- operators --------------------------------------------------------------------------------- */

static const char *quoted(Sema *s, AstOp op) {
  return scratch_format(s->scratch, "'%s'", ast_op_text(op));
}

static bool check_arithmetic(Sema *s, Expr *e, Type at) {
  const char *operation = quoted(s, e->op);
  return check_number(s, e->left, operation) && check_number(s, e->right, operation) &&
         check_expr(s, e->left, at) && check_expr(s, e->right, at);
}

/* Two integer operands stay integers until divided, so that math.floor(a / b) can be exact. */
static bool check_division(Sema *s, Expr *e, Type at) {
  const char *operation = quoted(s, e->op);
  if (!check_number(s, e->left, operation) || !check_number(s, e->right, operation)) return false;
  if (ty_is_integer(e->left->ty) && ty_is_integer(e->right->ty))
    at = ty_default_type(s, ty_join(e->left->ty, e->right->ty));
  return check_expr(s, e->left, at) && check_expr(s, e->right, at);
}

static bool check_bits(Sema *s, Expr *e, Type at) {
  const char *operation = quoted(s, e->op);
  if (type_is_bool(at) && e->right) /* of two booleans, or of vectors of them */
    return check_expr(s, e->left, at) && check_expr(s, e->right, at);
  if (!check_integer(s, e->left, operation) || (e->right && !check_integer(s, e->right, operation)))
    return false;
  bool is_shift = e->op == AST_SHL || e->op == AST_SHR || e->op == AST_SAR;
  return check_expr(s, e->left, at) &&
         (!e->right || check_expr(s, e->right, is_shift ? TYPE(NONE) : at));
}

/* The type wanted for `e` when compared with `other`; the comparison itself is exact
 * (lower/compare.c). */
static Type comparison_type(Sema *s, Expr *e, Expr *other) {
  PartialType ty = e->ty, met = other->ty;
  if (ty.kind == TY_FLEXIBLE && met.kind == TY_INT) return TYPE(F64);
  if (ty.kind == TY_LITERAL && met.kind == TY_LITERAL) return ty_join(ty, met).type;
  if (met.kind == TY_FLEXIBLE)
    return ty.kind == TY_FLEXIBLE || ty.kind == TY_LITERAL ? s->default_float : TYPE(NONE);
  if (ty.kind != TY_LITERAL || met.kind != TY_INT) return ty_default_type(s, met);
  return ty_fits(ty, met.type) ? met.type : TYPE(NONE);
}

static void note_compared(Sema *s, const Expr *e) {
  const Expr *inner = operand_of(e);
  if (e->entity.kind == ENTITY_ARGUMENT)
    s->launch_args.items[e->entity.launch_arg.number].is_compared = true;
  else if (inner) note_compared(s, inner);
  else if (e->kind == AST_BINARY) note_compared(s, e->left), note_compared(s, e->right);
}

static bool check_comparison(Sema *s, Expr *e) {
  const char *operation = quoted(s, e->op);
  bool is_equality = e->op == AST_EQ || e->op == AST_NE;
  bool is_bool = e->left->ty.kind == TY_BOOL && e->right->ty.kind == TY_BOOL;
  note_compared(s, e->left);
  note_compared(s, e->right);
  if (e->left->ty.kind == TY_STRUCT) /* their shapes are equal */
    return check_expr(s, e->left, TYPE(NONE)) && check_expr(s, e->right, TYPE(NONE));
  if (is_bool && is_equality) return check_condition(s, e->left) && check_condition(s, e->right);
  if (is_equality && e->left->ty.kind == TY_BOOL && check_has_value(s, e->right))
    return sema_fail(s, e, RG_ERROR_TYPE_MISMATCH, NULL, "a bool is compared with %s",
                     ty_text(s, e->right->ty));
  if (!check_number(s, e->left, operation) || !check_number(s, e->right, operation)) return false;
  return check_expr(s, e->left, comparison_type(s, e->left, e->right)) &&
         check_expr(s, e->right, comparison_type(s, e->right, e->left));
}

static bool check_binary(Sema *s, Expr *e, Type at) {
  switch (e->op) {
  case AST_EQ:
  case AST_NE:
  case AST_LT:
  case AST_LE:
  case AST_GT:
  case AST_GE: return check_comparison(s, e);
  case AST_BAND:
  case AST_BOR:
  case AST_BXOR:
  case AST_SHL:
  case AST_SHR:
  case AST_SAR: return check_bits(s, e, at);
  case AST_DIV: return check_division(s, e, at);
  default: return check_arithmetic(s, e, at);
  }
}

static bool check_unary(Sema *s, Expr *e, Type at) {
  if (e->op == AST_LEN) return true;
  if (e->op == AST_NOT) return check_condition(s, e->left);
  if (e->op == AST_BNOT) return check_bits(s, e, at);
  return check_number(s, e->left, "'-'") && check_expr(s, e->left, at);
}

/* -- choices ----------------------------------------------------------------------------------- */

/* The condition of a choice cannot be a vector of booleans. */
static bool check_choice_condition(Sema *s, Expr *e) {
  if (!type_is_scalar(shape_of(e))) return shape_fail_condition(s, e);
  return check_condition(s, e);
}

static bool check_arm(Sema *s, const Expr *choice, Expr *value, Type at) {
  PartialType ty = value->ty;
  Shape shape = shape_of(choice), own = shape_of(value);
  if (!check_has_value(s, value)) return false;
  if (!type_equal(shape, own))
    return sema_fail(s, value, RG_ERROR_TYPE_MISMATCH, NULL,
                     "one side of this choice is %s, the other %s", shape_text(s, own),
                     shape_text(s, shape));
  if ((ty.kind == TY_BOOL) != type_is_bool(at))
    return sema_fail(s, value, RG_ERROR_TYPE_MISMATCH, NULL,
                     "one side of this choice is %s, the other %s", ty_text(s, ty_of(at)),
                     ty_text(s, ty));
  return check_expr(s, value, at);
}

static bool check_choice(Sema *s, Expr *e, Type at) {
  Choices arms = choice_arms(s, e);
  for (int i = 0; i < arms.count; i++) {
    const Choice *arm = &arms.items[i];
    bool is_last = i == arms.count - 1;
    if (!is_last && !arm->condition)
      return check_choice_condition(s, arm->value) && check_arm(s, e, arm->value, at);
    if (arm->condition && !check_choice_condition(s, arm->condition)) return false;
    if (!check_arm(s, e, arm->value, at)) return false;
  }
  return true;
}

/* `c and a` is false if c is, so a number `a` needs an `or` after it. */
static bool check_and(Sema *s, Expr *e) {
  bool is_logic = e->right->ty.kind == TY_BOOL;
  if (e->is_truth && !is_logic) { /* all numbers are true */
    e->kind = AST_PAREN;
    return check_condition(s, e->left);
  }
  if (!(is_logic ? check_condition(s, e->left) : check_choice_condition(s, e->left))) return false;
  if (is_logic) return check_condition(s, e->right);
  return check_has_value(s, e->right) &&
         sema_fail(s, e, RG_ERROR_TYPE_MISMATCH, "add the other case: c and a or b",
                   "this is %s where the condition holds, and false elsewhere",
                   ty_text(s, e->right->ty));
}

/* -- all --------------------------------------------------------------------------------------- */

/* A float launch argument records the types of its uses: a single one is the argument's type,
 * several make it an f64. */
static void note_use(Sema *s, const Expr *e, Type at) {
  if (e->entity.kind != ENTITY_ARGUMENT) return;
  LaunchArg *launch_arg = &s->launch_args.items[e->entity.launch_arg.number];
  launch_arg->use_count++;
  if (launch_arg->ty.kind != TY_FLEXIBLE) return;
  bool is_same = type_is_none(launch_arg->type) || type_equal(launch_arg->type, at);
  launch_arg->type = is_same ? at : TYPE(F64);
}

static bool check_leaf(Sema *s, Expr *e, Type at) {
  if (e->entity.kind == ENTITY_ARGUMENT) note_use(s, e, at);
  return check_has_value(s, e);
}

/* Bit operators have no float form: a literal there keeps its own type, and the result is
 * converted. */
static Type complete(Sema *s, Expr *e, Type want) {
  bool is_bits = (e->kind == AST_BINARY && e->op >= AST_BAND && e->op <= AST_SAR) ||
                 (e->kind == AST_UNARY && e->op == AST_BNOT);
  const Builtin *builtin = builtin_of(e);
  Exprs arguments = builtin ? call_arguments(s, e) : (Exprs){0};
  const Expr *first = arguments.count ? arguments.items[0] : NULL;
  bool is_call = builtin && (builtin->form == FORM_BITS || builtin->form == FORM_SHIFT);
  if ((is_bits || is_call) && type_is_float(want)) want = TYPE(NONE);
  bool rounds_wide = first && builtin->form == FORM_ROUND && ty_is_float(first->ty) &&
                     type_is_integer(want) && type_bits(want) == 64 &&
                     (builtin->op == IR_ROUND || !typed_quotient(s, (Expr *)first));
  return rounds_wide ? want : ty_complete(s, e->ty, want);
}

bool check_expr(Sema *s, Expr *e, Type want) {
  guard_check_stack();
  if (s->failed) return false;
  Type at = e->type = complete(s, e, want);
  Inline *in = e->inlined;
  if (in) return check_inline(s, in);
  if (e->invoked) return check_invocation(s, e->invoked);
  switch (e->kind) {
  case AST_LOCAL:
  case AST_GLOBAL:
  case AST_FIELD:
  case AST_INDEX:
    if (e->entity.kind == ENTITY_PART) return check_part(s, e, want);
    return e->kind == AST_INDEX && !e->is_item ? check_object(s, e) : check_leaf(s, e, at);
  case AST_PAREN: return check_expr(s, e->left, want);
  case AST_UNARY: return check_unary(s, e, at);
  case AST_BINARY: return check_binary(s, e, at);
  case AST_CALL: return check_call(s, e);
  case AST_METHOD: return check_method(s, e);
  case AST_AND: return check_and(s, e);
  case AST_OR:
    if (default_is(e) && type_equal(shape_of(e), shape_of(e->left)))
      return check_expr(s, e->left, want);
    if (choice_is(s, e)) return check_choice(s, e, at);
    return check_condition(s, e->left) && check_condition(s, e->right);
  case AST_TERNARY: return check_choice(s, e, at);
  default: return true;
  }
}
