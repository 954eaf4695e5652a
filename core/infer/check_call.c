/* check_call.c - arguments of calls, and the terms of updates. */
#include "infer/infer.h"

static bool check_all(Sema *s, Exprs *list, Type at) {
  for (int i = 0; i < list->count; i++)
    if (!check_expr(s, list->items[i], at)) return false;
  return true;
}

static bool check_numbers(Sema *s, Exprs *list, const char *operation) {
  for (int i = 0; i < list->count; i++)
    if (!check_number(s, list->items[i], operation)) return false;
  return true;
}

static bool check_integers(Sema *s, Exprs *list, const char *operation) {
  for (int i = 0; i < list->count; i++)
    if (!check_integer(s, list->items[i], operation)) return false;
  return true;
}

/* Rounding an integer changes nothing; a quotient of integers was checked with its division. */
static bool check_round(Sema *s, Expr *argument, Type at) {
  bool stays = ty_is_integer(argument->ty) || type_is_float(at);
  return check_expr(s, argument, stays ? at : TYPE(NONE));
}

/* A flexible float is shown as Lua would show it: as an f64. */
static bool check_message_value(Sema *s, const MessagePiece *piece) {
  Expr *value = piece->value;
  char shows = piece->format ? piece->format[strlen(piece->format) - 1] : 's';
  bool is_text = shows == 's', is_bool = value->ty.kind == TY_BOOL;
  if (!is_text && !type_is_scalar(shape_of(value)))
    return sema_fail(s, value, RG_ERROR_TYPE_MISMATCH, "%s formats any value",
                     "'%s' formats a number, but this is %s", piece->format,
                     shape_text(s, shape_of(value)));
  if (!is_text && is_bool)
    return sema_fail(s, value, RG_ERROR_TYPE_MISMATCH, "%s formats any value",
                     "'%s' formats a number, but this is a bool", piece->format);
  if (piece->is_joined && is_bool)
    return sema_fail(s, value, RG_ERROR_TYPE_MISMATCH, "write tostring(..), as in Lua",
                     "'..' joins strings and numbers, but this is a bool");
  bool wants_float = value->ty.kind == TY_FLEXIBLE || strchr("eEfgG", shows) != NULL;
  return check_expr(s, value, wants_float ? TYPE(F64) : TYPE(NONE));
}

static bool check_message(Sema *s, MessageCall *message) {
  if (message->condition && !check_condition(s, message->condition)) return false;
  for (int i = 0; i < message->pieces.count; i++)
    if (message->pieces.items[i].value && !check_message_value(s, &message->pieces.items[i]))
      return false;
  return true;
}

static bool check_random(Sema *s, Expr *e, const Builtin *builtin) {
  const RandomCall *call = &e->random;
  if (call->form != RANDOM_WITHIN) return true;
  const char *operation = scratch_format(s->scratch, "'%s'", builtin->name);
  bool is_typed = !type_is_none(call->type);
  Expr *bounds[] = {call->low, call->high};
  for (int i = 0; i < 2; i++) {
    if (!is_typed && !check_integer(s, bounds[i], operation)) return false;
    if (!(is_typed ? check_store(s, bounds[i], e->type, NULL, "a bound")
                   : check_expr(s, bounds[i], e->type)))
      return false;
  }
  return true;
}

/* An operand without a type of its own takes the one for which a bit cast makes sense: a float type
 * if the result is an integer, an integer type if it is a float. */
static Type cast_from(Type to) {
  return type_size(to) > 1 ? type_of_size(!type_is_float(to), type_size(to)) : TYPE(NONE);
}

static bool check_bitcast(Sema *s, Expr *e) {
  Expr *x = e->list.items[1];
  Type to = e->call.cast;
  if (!check_number(s, x, "'rg.bitcast'")) return false;
  if (x->ty.kind == TY_LITERAL && !check_fits(s, x, cast_from(to))) return false;
  if (!check_expr(s, x, cast_from(to))) return false;
  if (type_size(x->type) == type_size(to)) return true;
  return sema_fail(s, x, RG_ERROR_TYPE_MISMATCH,
                   scratch_format(s->scratch, "convert it first: rg.%s(..)",
                                  type_text(type_is_none(cast_from(to)) ? to : cast_from(to))),
                   "'rg.bitcast' to %s takes %d bits, but this is %s", type_text(to), type_bits(to),
                   ty_text(s, ty_of(x->type)));
}

static bool check_native(Sema *s, Expr *e, const Builtin *builtin) {
  for (int i = 0; i < e->list.count; i++)
    if (!check_store(s, e->list.items[i], type_base(builtin->native->parameters[i]), NULL,
                     scratch_format(s->scratch, "argument %d of '%s'", i + 1, builtin->name)))
      return false;
  return true;
}

static bool check_array(Sema *s, Expr *e, const Builtin *builtin) {
  bool is_new = builtin->algebra == ARRAY_ZEROS || builtin->algebra == ARRAY_LIST;
  const char *operation = scratch_format(s->scratch, "'%s'", builtin->name);
  if (!is_new && !check_expr(s, e->left, TYPE(NONE))) return false;
  if (builtin->algebra == ARRAY_APPEND) {
    Type element = type_row(s->input->types, shape_of(e->left)).element;
    return check_store(s, e->list.items[0], type_base(element), NULL,
                       scratch_format(s->scratch, "an element of '%s'", sema_source(s, e->left)));
  }
  for (int i = is_new ? 1 : 0; i < e->list.count; i++)
    if (!check_integer(s, e->list.items[i], operation) ||
        !check_expr(s, e->list.items[i], TYPE(I64)))
      return false;
  return true;
}

static bool check_builtin(Sema *s, Expr *e, const Builtin *builtin) {
  Type at = e->type;
  if (builtin->form == FORM_ARRAY) return check_array(s, e, builtin);
  if (builtin->form == FORM_RANDOM) return check_random(s, e, builtin);
  if (builtin->form == FORM_MESSAGE) return check_message(s, e->message);
  if (builtin->form == FORM_BITCAST) return check_bitcast(s, e);
  if (builtin->form == FORM_NATIVE) return check_native(s, e, builtin);
  Exprs list = call_arguments(s, e);
  const char *operation = scratch_format(s->scratch, "'%s'", builtin->name);
  switch (builtin->form) {
  case FORM_FLOAT:
  case FORM_LOG:
  case FORM_ANGLE:
  case FORM_NUMERIC: return check_numbers(s, &list, operation) && check_all(s, &list, at);
  case FORM_ROUND: return check_numbers(s, &list, operation) && check_round(s, list.items[0], at);
  case FORM_ALGEBRA: return check_algebra(s, e, builtin);
  case FORM_BITS: return check_integers(s, &e->list, operation) && check_all(s, &e->list, at);
  case FORM_SHIFT:
    return check_integers(s, &e->list, operation) && check_expr(s, e->list.items[0], at) &&
           check_expr(s, e->list.items[1], TYPE(NONE));
  case FORM_TOBIT:
    return check_integers(s, &e->list, operation) && check_expr(s, e->list.items[0], TYPE(NONE));
  case FORM_RANGE:
  case FORM_RESCALE:
  case FORM_LIBRARY:
  case FORM_TYPE:
  case FORM_MESSAGE:
  case FORM_RANDOM:
  case FORM_BITCAST:
  case FORM_NATIVE:
  case FORM_ARRAY: break;
  }
  return true;
}

static bool check_members(Sema *s, const Expr *e, const Exprs *items) {
  TypeRow row = type_row(s->input->types, e->call.type);
  for (int k = 0; k < items->count; k++)
    if (!check_store(s, items->items[k], type_base(row.members[k].type), NULL,
                     scratch_format(s->scratch, "member '%s'", row.members[k].name)))
      return false;
  return true;
}

/* Is the number computed from launch arguments of no float type of their own, and literals? */
static bool is_of_launch(Sema *s, const Expr *e) {
  if (e->entity.kind == ENTITY_ARGUMENT) return e->ty.kind == TY_FLEXIBLE;
  if (e->kind == AST_PAREN) return is_of_launch(s, e->left);
  if (e->kind != AST_BINARY) return e->ty.kind == TY_LITERAL;
  bool is_kept = e->op == AST_ADD || e->op == AST_SUB || e->op == AST_MUL;
  return is_kept && is_of_launch(s, e->left) && is_of_launch(s, e->right);
}

/* The type in which an operand of a conversion is computed. A number of the launch that becomes an
 * integer keeps all its digits: a seed may be more than an f32 holds. D-infer-07. */
static Type converted_from(Sema *s, const Expr *e, Type to) {
  bool is_exact = type_is_integer(to) && e->ty.kind == TY_FLEXIBLE && is_of_launch(s, e);
  return is_exact ? TYPE(F64) : to;
}

bool check_call(Sema *s, Expr *e) {
  if (builtin_of(e)) return check_builtin(s, e, builtin_of(e));
  Exprs items = call_items(s, e);
  if (type_is_struct(e->call.type)) return check_members(s, e, &items);
  bool is_vector = !type_is_scalar(shape_of(e)); /* of one number, it is a conversion */
  for (int i = 0; i < items.count && is_vector; i++)
    if (!check_fits(s, items.items[i], e->call.type)) return false;
  for (int i = 0; i < items.count; i++)
    if (!check_expr(s, items.items[i], converted_from(s, items.items[i], e->call.type)))
      return false;
  return true;
}

/* -- methods ----------------------------------------------------------------------------------- */

static bool takes_integers(IrUpdate op) {
  return op == IR_UPDATE_BAND || op == IR_UPDATE_BOR || op == IR_UPDATE_BXOR;
}

static bool check_element(Sema *s, Expr *e, const MethodCall *m) {
  Type type = m->object.field.type;
  bool moves = m->method->form == METHOD_CAS || m->method->op == IR_UPDATE_EXCHANGE;
  bool fits = takes_integers((IrUpdate)m->method->op) ? type_is_integer(type) : !type_is_bool(type);
  return moves || fits ||
         sema_fail(s, e, RG_ERROR_TYPE_MISMATCH, NULL, "'%s' has no '%s': its elements are %s",
                   m->object.name, m->method->name, type_text(type));
}

bool check_method(Sema *s, Expr *e) {
  if (builtin_of(e)) return check_builtin(s, e, builtin_of(e));
  if (!check_object(s, e->left)) return false;
  const MethodCall *m = method_of(e);
  bool has_values = m->method->values > 0;
  int indices = method_index_count(e);
  if (has_values && !check_element(s, e, m)) return false;
  if (!check_indices(s, &e->list, indices)) return false;
  if (m->method->form == METHOD_LIST) return check_list_values(s, e);
  const char *what =
      has_values ? scratch_format(s->scratch, "an element of '%s'", m->object.name) : "";
  for (int i = indices; i < e->list.count; i++)
    if (!check_store(s, e->list.items[i], m->object.field.type, &m->object, what)) return false;
  return true;
}

/* -- updates ----------------------------------------------------------------------------------- */

static bool takes_bits(AstOp op) { return op >= AST_BAND && op <= AST_SAR; }

static const char *word_of(Sema *s, IrUpdate op) {
  AstOp binary = update_operator(op);
  const char *text = binary != AST_NO_OP   ? ast_op_text(binary)
                     : op == IR_UPDATE_MIN ? "math.min"
                                           : "math.max";
  return scratch_format(s->scratch, "'%s'", text);
}

/* The operator works in the target's type, so a wider term must not change its meaning. */
static bool check_width(Sema *s, const Update *update, Expr *term, Type target,
                        PartialType result) {
  if (update_is_modular(update->op) || !type_is_integer(target) ||
      takes_bits(update_operator(update->op)) || result.kind != TY_INT ||
      type_equal(result.type, target))
    return true;
  return sema_fail(s, term, RG_ERROR_TYPE_MISMATCH,
                   scratch_format(s->scratch, "convert it: rg.%s(..)", type_text(target)),
                   "%s works on %s here, but this is %s", word_of(s, update->op),
                   ty_text(s, ty_of(target)), ty_text(s, term->ty));
}

static bool check_logic_term(Sema *s, const Update *update, Expr *term, Type target) {
  return type_is_bool(target)
             ? check_condition(s, term)
             : sema_fail(s, update->target, RG_ERROR_TYPE_MISMATCH, NULL,
                         "'%s' combines bools, and '%s' is %s",
                         update->op == IR_UPDATE_BAND ? "and" : "or",
                         sema_source(s, update->target), ty_text(s, ty_of(target)));
}

static bool check_term(Sema *s, const Update *update, Expr *term, Type target) {
  if (update->is_logic) return check_logic_term(s, update, term, target);
  const char *operation = word_of(s, update->op), *what = sema_source(s, update->target);
  const char *type = check_type_text(s, &shape_root(update->target)->entity, target);
  PartialType result = infer_update(s, update->op, ty_of(target), term->ty);
  if (type_is_bool(target))
    return sema_fail(s, update->target, RG_ERROR_TYPE_MISMATCH, NULL,
                     "%s takes numbers, and '%s' is a bool", operation, what);
  if (!check_number(s, term, operation)) return false;
  if (takes_bits(update_operator(update->op))) {
    if (type_is_float(target))
      return sema_fail(s, update->target, RG_ERROR_TYPE_MISMATCH, NULL,
                       "%s takes integers, and '%s' is %s", operation, what, type);
    if (!check_integer(s, term, operation)) return false;
  } else if (type_is_integer(target) && ty_is_float(result)) {
    return sema_fail(
        s, term, RG_ERROR_TYPE_FLOAT_TO_INT,
        scratch_format(s->scratch, "round it with math.floor(..), or truncate it with rg.%s(..)",
                       type_text(target)),
        "'%s' is %s, and %s with this gives %s", what, type, operation, ty_text(s, result));
  }
  return check_width(s, update, term, target, result) && check_fits(s, term, target) &&
         check_expr(s, term, target);
}

bool check_update(Sema *s, Update *update, Type target) {
  for (int i = 0; i < update->terms.count; i++)
    if (!check_term(s, update, update->terms.items[i].value, target)) return false;
  return true;
}
