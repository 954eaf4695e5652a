/* expr.c - the PartialType of each expression from those of its parts. While demanding (infer.c),
 * the places that need an integer demand one here. Decision D-infer-04. */
#include "base/bits.h"
#include "infer/infer.h"

void infer_demand(Infer *f, Expr *e, const char *clause, const char *name) {
  if (f->is_demanding)
    demand_integer(f, e, (Reason){clause, name, e, sema_text_source(f->s), false});
}

static void demand_list(Infer *f, Exprs *list, const char *clause, const char *name) {
  for (int i = 0; i < list->count; i++) {
    if (list->items[i]->kind == AST_TABLE) demand_list(f, &list->items[i]->list, clause, name);
    else infer_demand(f, list->items[i], clause, name);
  }
}

static const char indexes[] = "which indexes '%s'";

void infer_list(Infer *f, Exprs *list) {
  for (int i = 0; i < list->count; i++) {
    if (list->items[i]->kind == AST_TABLE) infer_list(f, &list->items[i]->list);
    else infer_expr(f, list->items[i]);
  }
}

/* -- leaves ------------------------------------------------------------------------------------ */

static Type literal_type(const Expr *number, bool is_negative) {
  uint64_t value = number->integer;
  if (number->number_kind == AST_NUMBER_I64) return TYPE(I64);
  if (number->number_kind == AST_NUMBER_U64) return TYPE(U64);
  if (value <= (uint64_t)INT32_MAX + is_negative) return TYPE(I32);
  return value <= (uint64_t)INT64_MAX + is_negative ? TYPE(I64) : TYPE(U64);
}

static PartialType infer_number(const Expr *number, bool is_negative) {
  if (number->number_kind == AST_NUMBER_FLOAT) return (PartialType){.kind = TY_FLEXIBLE};
  Type type = literal_type(number, is_negative);
  if (number->number_kind != AST_NUMBER_PLAIN) return ty_of(type);
  uint64_t largest = number->integer - (is_negative && number->integer > 0);
  int bits = largest ? log2_floor(largest) + 1 : 0;
  return (PartialType){
      .kind = TY_LITERAL, .type = type, .bits = (uint8_t)bits, .is_negative = is_negative};
}

/* What an element, or a member of one, is when it has been read. */
static PartialType stored(Type type) { return ty_of(type_computed(type)); }

static PartialType infer_named(Infer *f, Expr *e) {
  const Entity *entity = &e->entity;
  switch (entity->kind) {
  case ENTITY_PART: {
    if (e->kind == AST_INDEX) {
      infer_list(f, &e->list);
      demand_list(f, &e->list, "which indexes a vector", NULL);
    }
    PartialType whole = infer_expr(f, e->left);
    return type_is_none(entity->parts.type) ? whole : stored(entity->parts.type);
  }
  case ENTITY_ARGUMENT: {
    LaunchArg *launch_arg = &f->s->launch_args.items[entity->launch_arg.number];
    if (!launch_arg->use) launch_arg->source_text = sema_text_source(f->s);
    if (!launch_arg->use) launch_arg->use = e;
    Type member = entity->launch_arg.parts.type;
    return type_is_none(member) ? launch_arg->ty : ty_of(member);
  }
  case ENTITY_CONSTANT: return ty_of(entity->constant > INT32_MAX ? TYPE(I64) : TYPE(I32));
  case ENTITY_ELEMENT: return stored(entity->field.type);
  case ENTITY_ITEM: return stored(entity->item.type);
  case ENTITY_VALUE: return e->kind == AST_LOCAL ? e->local->ty : (PartialType){0};
  default: return (PartialType){0};
  }
}

/* The array is a value; the indices of all levels. */
static void infer_item(Infer *f, Expr *e) {
  Expr *array = array_of_item(e);
  infer_expr(f, array);
  for (Expr *at = e; at != array; at = sema_strip(at->left)) {
    infer_list(f, &at->list);
    demand_list(f, &at->list, "which indexes an array", NULL);
  }
}

/* The object's indices as well: `x[i]` of `x[i][j]`, x[i]:add(j, 1). */
static void infer_object(Infer *f, Expr *e) {
  if (e->entity.kind == ENTITY_PART) return; /* infer_named handles it */
  if (e->entity.kind == ENTITY_ITEM) {
    infer_item(f, e);
    return;
  }
  for (Expr *at = e; at->kind == AST_INDEX || at->kind == AST_PAREN; at = at->left) {
    if (at->is_item) break;
    if (at->kind == AST_PAREN || entity_is_extent(&at->entity)) continue;
    infer_list(f, &at->list);
    demand_list(f, &at->list, indexes, e->entity.name);
  }
}

/* -- calls ------------------------------------------------------------------------------------- */

/* math.floor, math.ceil, rg.round of a float give an integer if the use needs one, else a float.
 * The type stays unknown until that is decided. */
static PartialType infer_round(Infer *f, const Expr *e, Expr *argument, IrOp op) {
  Expr *quotient = op == IR_ROUND ? NULL : typed_quotient(f->s, argument);
  PartialType ty = argument->ty;
  if (quotient) {
    infer_demand(f, quotient->left, "which is an operand of an integer division", NULL);
    infer_demand(f, quotient->right, "which is an operand of an integer division", NULL);
    return typed_quotient_type(f->s, quotient);
  }
  if (!ty_is_float(ty) && ty.kind != TY_NUMBER) return ty;
  if (e->is_rounded) return ty_of(TYPE(I32));
  return f->is_last_round ? ty : (PartialType){.kind = TY_NUMBER};
}

static PartialType join_all(Infer *f, const Exprs *list, AstOp op) {
  PartialType ty = list->items[0]->ty;
  for (int i = 1; i < list->count; i++) ty = ty_binary(f->s, op, ty, list->items[i]->ty);
  return ty;
}

static PartialType infer_message(Infer *f, MessageCall *message) {
  if (message->condition) infer_expr(f, message->condition);
  for (int i = 0; i < message->pieces.count; i++)
    if (message->pieces.items[i].value) infer_expr(f, message->pieces.items[i].value);
  return (PartialType){0};
}

static PartialType infer_random(Infer *f, const RandomCall *call, const Builtin *builtin) {
  bool is_float = type_is_float(call->type), has_type = !type_is_none(call->type);
  if (call->form != RANDOM_WITHIN)
    return has_type ? ty_of(call->type) : (PartialType){.kind = TY_FLEXIBLE};
  PartialType low = infer_expr(f, call->low), high = infer_expr(f, call->high);
  if (!is_float) {
    infer_demand(f, call->low, "which is a bound of '%s'", builtin->name);
    infer_demand(f, call->high, "which is a bound of '%s'", builtin->name);
  }
  if (has_type) return ty_of(call->type);
  PartialType both = ty_join(low, high);
  return both.kind == TY_LITERAL ? ty_of(both.type) : both;
}

/* An operand of unknown type is a float if the result is an integer, and vice versa. */
static PartialType infer_bitcast(Infer *f, Expr *e) {
  infer_expr(f, e->list.items[1]);
  if (type_is_float(e->call.cast))
    infer_demand(f, e->list.items[1], "whose bits '%s' takes", "rg.bitcast");
  return ty_of(e->call.cast);
}

static PartialType infer_native(Infer *f, Expr *e, const Builtin *builtin) {
  const Native *native = builtin->native;
  infer_list(f, &e->list);
  for (int i = 0; i < e->list.count; i++)
    if (type_is_integer(native->parameters[i]))
      infer_demand(f, e->list.items[i], "which '%s' takes as an integer", builtin->name);
  return type_is_none(native->result) ? (PartialType){0} : ty_of(native->result);
}

/* All number arguments are integers, except a value that is appended. */
static PartialType infer_array(Infer *f, Expr *e, const Builtin *builtin) {
  bool is_new = builtin->algebra == ARRAY_ZEROS || builtin->algebra == ARRAY_LIST;
  if (!is_new) infer_expr(f, e->left);
  for (int i = is_new ? 1 : 0; i < e->list.count; i++) {
    infer_expr(f, e->list.items[i]);
    if (builtin->algebra != ARRAY_APPEND)
      infer_demand(f, e->list.items[i], "which '%s' takes", builtin->name);
  }
  if (is_new) return ty_of(e->call.cast);
  Type array = shape_of(e->left), element = type_row(f->s->input->types, array).element;
  switch (builtin->algebra) {
  case ARRAY_APPEND:
    if (type_is_integer(element))
      infer_demand(f, e->list.items[0], "which is stored in an array", NULL);
    return ty_of(TYPE(I32));
  case ARRAY_LENGTH:
  case ARRAY_EXTENT: return ty_of(TYPE(I32));
  case ARRAY_POP: return stored(type_base(element));
  case ARRAY_SLICE: return ty_of(array);
  default: return (PartialType){0};
  }
}

static PartialType infer_builtin(Infer *f, Expr *e, const Builtin *builtin) {
  if (builtin->form == FORM_RANDOM) return infer_random(f, &e->random, builtin);
  if (builtin->form == FORM_MESSAGE) return infer_message(f, e->message);
  if (builtin->form == FORM_BITCAST) return infer_bitcast(f, e);
  if (builtin->form == FORM_NATIVE) return infer_native(f, e, builtin);
  if (builtin->form == FORM_ARRAY) return infer_array(f, e, builtin);
  Exprs list = call_arguments(f->s, e);
  infer_list(f, &list);
  PartialType all = join_all(f, &list, builtin->form == FORM_BITS ? AST_BAND : AST_ADD);
  switch (builtin->form) {
  case FORM_FLOAT:
  case FORM_LOG:
  case FORM_ANGLE: return ty_binary(f->s, AST_DIV, all, all);
  case FORM_NUMERIC: return all;
  case FORM_ROUND: return infer_round(f, e, list.items[0], builtin->op);
  case FORM_ALGEBRA: return infer_algebra(f->s, &list, builtin);
  case FORM_BITS:
    demand_list(f, &e->list, "which is used with '%s'", builtin->name);
    return ty_binary(f->s, AST_BAND, all, all);
  case FORM_SHIFT:
    demand_list(f, &e->list, "which is used with '%s'", builtin->name);
    return ty_binary(f->s, AST_SHL, e->list.items[0]->ty, all);
  case FORM_TOBIT:
    demand_list(f, &e->list, "which is used with '%s'", builtin->name);
    return ty_of(TYPE(I32));
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
  return (PartialType){0};
}

/* A value for an integer member must be an integer. */
static void infer_members(Infer *f, Expr *e) {
  TypeRow row = type_row(f->s->input->types, e->call.type);
  for (int k = 0; k < row.member_count; k++)
    if (type_is_integer(row.members[k].type))
      infer_demand(f, e->list.items[k], "which is stored in '%s'", row.members[k].name);
}

/* What is converted to an integer, and computed from launch arguments that were whole so far, is
 * computed in integers: an f32 would lose digits of a large seed. Not so for 64 bits, whose digits
 * an i32 would lose. */
static void guess_converted(Infer *f, const Expr *e) {
  bool is_integer = e->call.kind == CALL_CONVERSION && type_is_integer(e->call.type) &&
                    type_size(e->call.type) <= 4;
  Expr *value = is_integer && e->list.count == 1 ? e->list.items[0] : NULL;
  if (!f->is_guessing || !value || value->ty.kind != TY_NUMBER || !demand_is_whole(f, value))
    return;
  demand_integer(
      f, value,
      (Reason){"which is converted to an integer", NULL, value, sema_text_source(f->s), true});
}

static PartialType infer_call(Infer *f, Expr *e) {
  if (builtin_of(e)) return infer_builtin(f, e, builtin_of(e));
  infer_list(f, &e->list);
  guess_converted(f, e);
  if (e->call.kind == CALL_CONVERSION && type_is_struct(e->call.type)) infer_members(f, e);
  return e->call.kind == CALL_CONVERSION ? ty_of(e->call.type) : (PartialType){0};
}

static PartialType infer_method(Infer *f, Expr *e) {
  if (builtin_of(e)) return infer_builtin(f, e, builtin_of(e));
  infer_object(f, e->left);
  infer_list(f, &e->list);
  Exprs indices = e->list;
  const MethodCall *m = method_of(e);
  const char *name = m->object.name;
  indices.count = method_index_count(e);
  demand_list(f, &indices, indexes, name);
  for (int i = indices.count; i < e->list.count && m->method->values; i++)
    if (type_is_integer(m->object.field.type))
      infer_demand(f, e->list.items[i], "which is stored in '%s'", name);
  if (m->method->form == METHOD_LIST) infer_list_values(f, e);
  return m->method->form == METHOD_LIST ? ty_of(m->type) : stored(m->type);
}

/* -- operators --------------------------------------------------------------------------------- */

static bool takes_integers(AstOp op) { return op >= AST_BAND && op <= AST_SAR; }

/* `//` and `%` of a number of unknown type and an integer. */
static void demand_both(Infer *f, Expr *a, Expr *b, AstOp op) {
  if (ty_is_integer(a->ty))
    infer_demand(f, b, "which is used with '%s' and an integer", ast_op_text(op));
  if (ty_is_integer(b->ty))
    infer_demand(f, a, "which is used with '%s' and an integer", ast_op_text(op));
}

static PartialType infer_binary(Infer *f, Expr *e) {
  PartialType a = infer_expr(f, e->left), b = infer_expr(f, e->right);
  if (takes_integers(e->op)) {
    infer_demand(f, e->left, "which is used with '%s'", ast_op_text(e->op));
    infer_demand(f, e->right, "which is used with '%s'", ast_op_text(e->op));
  }
  if (e->op == AST_FLOORDIV || e->op == AST_MOD) demand_both(f, e->left, e->right, e->op);
  return ty_binary(f->s, e->op, a, b);
}

static PartialType infer_unary(Infer *f, Expr *e) {
  if (e->op == AST_LEN) return infer_named(f, e);
  PartialType ty = infer_expr(f, e->left);
  if (e->op == AST_NOT) return ty_of(TYPE(BOOL));
  if (e->op == AST_BNOT) {
    infer_demand(f, e->left, "which is used with '%s'", ast_op_text(e->op));
    return ty_binary(f->s, AST_BAND, ty, ty);
  }
  return e->left->kind == AST_NUMBER ? infer_number(e->left, true) : ty;
}

/* The type of `c and a` is that of `a`, its value if c holds; of bools, a bool. */
static PartialType infer_logic(Infer *f, Expr *e) {
  PartialType a = infer_expr(f, e->left), b = infer_expr(f, e->right);
  if (e->is_truth) return ty_of(TYPE(BOOL));
  if (default_is(e)) return a;
  if (a.kind == TY_NONE || b.kind == TY_NONE) return (PartialType){0};
  return e->kind == AST_AND ? b : ty_join(a, b);
}

static PartialType infer_ternary(Infer *f, Expr *e) {
  infer_expr(f, e->left);
  PartialType a = infer_expr(f, e->right), b = infer_expr(f, e->third);
  return a.kind == TY_NONE || b.kind == TY_NONE ? (PartialType){0} : ty_join(a, b);
}

static PartialType infer_new(Infer *f, Expr *e) {
  Inline *in = e->inlined;
  if (in) return infer_inline(f, in, e->result);
  if (e->invoked) return infer_invocation(f, e->invoked);
  switch (e->kind) {
  case AST_TRUE:
  case AST_FALSE: return ty_of(TYPE(BOOL));
  case AST_NUMBER: return infer_number(e, false);
  case AST_INDEX: infer_object(f, e); return infer_named(f, e);
  case AST_LOCAL:
  case AST_GLOBAL:
  case AST_FIELD: return infer_named(f, e);
  case AST_CALL: return infer_call(f, e);
  case AST_METHOD: return infer_method(f, e);
  case AST_UNARY: return infer_unary(f, e);
  case AST_BINARY: return infer_binary(f, e);
  case AST_AND:
  case AST_OR: return infer_logic(f, e);
  case AST_TERNARY: return infer_ternary(f, e);
  case AST_PAREN: return infer_expr(f, e->left);
  default: return (PartialType){0};
  }
}

PartialType infer_expr(Infer *f, Expr *e) {
  guard_check_stack();
  return e->ty = infer_new(f, e);
}
