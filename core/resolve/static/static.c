/* static.c - compile-time evaluation: `rg.static(e)`, and the arm that `if rg.static(c)` selects.
 *
 * A static launch argument is part of the version's pattern, so another value means another
 * compile. Evaluation is as in Lua, in doubles. The call becomes a literal, so later stages do not
 * know about it. */
#include <math.h>
#include "maths.h"
#include "resolve/resolve.h"

bool static_fail(Resolve *r, Expr *e, const char *hint) {
  return sema_fail(r->s, e, RG_ERROR_STATIC, hint, "'%s' is not known when the kernel is compiled",
                   sema_source(r->s, e));
}

/* -- leaves ------------------------------------------------------------------------------------ */

static bool request_static(Resolve *r, Expr *e, SemaArg source) {
  SemaRequests *requests = r->input->requests;
  if (requests && !r->s->failed) vec_push(r->scratch, &requests->statics, source);
  return static_fail(r, e, NULL);
}

/* The extents of an array, as a vector. */
static Static shape_of_array(Resolve *r, const SemaArray *array) {
  SemaPart *parts = scratch_array(r->scratch, SemaPart, SNODE_MAX_AXES);
  for (int k = 0; k < array->axis_count; k++) parts[k].bits = (uint64_t)array->shape[k];
  return (Static){.kind = STATIC_VECTOR, .parts = parts};
}

/* A number, bool or vector launch argument. */
bool static_of_value(Resolve *r, Expr *e, SemaArg source, Static *out) {
  const SemaValue *value =
      source.is_parameter ? &r->input->parameters[source.index] : &r->input->captures[source.index];
  if (!value->is_static) return request_static(r, e, source);
  switch (value->kind) {
  case VALUE_I64:
  case VALUE_U64:
    *out =
        (Static){.kind = STATIC_WIDE, .bits = value->bits, .is_unsigned = value->kind == VALUE_U64};
    return true;
  case VALUE_VECTOR: *out = (Static){.kind = STATIC_VECTOR, .parts = value->parts}; return true;
  case VALUE_ARRAY: *out = shape_of_array(r, &value->array); return true;
  default:
    *out = (Static){.kind = value->kind == VALUE_BOOL ? STATIC_BOOL : STATIC_NUMBER,
                    .number = value->number};
    return true;
  }
}

/* One number of a vector, of the element type. */
static Static number_in(SemaPart part, Type type) {
  if (type_is_float(type)) return (Static){.kind = STATIC_NUMBER, .number = part.f64};
  if (type_is_bool(type)) return (Static){.kind = STATIC_BOOL, .number = part.bits != 0};
  if (type_bits(type) == 64)
    return (Static){.kind = STATIC_WIDE, .bits = part.bits, .is_unsigned = type_is_unsigned(type)};
  return (Static){.kind = STATIC_NUMBER, .number = (double)(int64_t)part.bits};
}

/* `v`, `v.y`, `v.yx`: the numbers the entity refers to. */
bool static_of_launch_arg(Resolve *r, Expr *e, const Entity *entity, Static *out) {
  const LaunchArg *launch_arg = &r->s->launch_args.items[entity->launch_arg.number];
  if (!static_of_value(r, e, launch_arg->source, out)) return false;
  if (out->kind != STATIC_VECTOR) return true;
  out->chosen = entity->launch_arg.parts;
  out->shape = entity->shape;
  bool is_member = !type_is_none(out->chosen.type);
  out->type = is_member ? out->chosen.type : launch_arg->ty.type;
  if (type_is_struct(out->shape)) *out = (Static){.kind = STATIC_OTHER};
  else if (type_is_scalar(out->shape))
    *out = number_in(out->parts[parts_at(&out->chosen, 0)], out->type);
  return true;
}

Static static_number_in(const Static *vector, int k) {
  return number_in(vector->parts[parts_at(&vector->chosen, k)], vector->type);
}

/* `v.x`, `v.zy` of a known value. */
static bool named_part_of(Resolve *r, Expr *e, Static *out) {
  Parts parts = e->entity.parts;
  Static whole;
  if (!static_value(r, e->left, &whole)) return false;
  if (whole.kind != STATIC_VECTOR || !parts.count || parts.count > 4 || parts.is_run)
    return static_fail(r, e, NULL);
  SemaPart *chosen = scratch_array(r->scratch, SemaPart, parts.count);
  for (int k = 0; k < parts.count; k++)
    chosen[k] = whole.parts[parts_at(&whole.chosen, parts_at(&parts, k))];
  *out = (Static){
      .kind = STATIC_VECTOR, .parts = chosen, .shape = e->entity.shape, .type = whole.type};
  if (type_is_scalar(out->shape)) *out = number_in(chosen[0], whole.type);
  return true;
}

/* `v[k]`, `m[r]` of a known value. */
static bool part_of(Resolve *r, Expr *e, Static *out) {
  int64_t index;
  if (e->kind == AST_FIELD) return named_part_of(r, e, out);
  if (e->kind != AST_INDEX || !static_value(r, e->left, out))
    return !r->s->failed && static_fail(r, e, NULL);
  if (out->kind != STATIC_VECTOR) return static_fail(r, e, NULL);
  if (!static_integer(r, e->list.items[0], &index)) return false;
  if (index < 0 || index >= type_rows(out->shape))
    return sema_fail(r->s, e, RG_ERROR_INDEX_RANGE, "indices start at 0", "%s has no number %lld",
                     shape_text(r->s, out->shape), (long long)index);
  if (type_is_matrix(out->shape)) {
    out->parts += index * type_cols(out->shape);
    out->shape = type_make_shape(type_cols(out->shape), 1);
  } else {
    *out = number_in(out->parts[parts_at(&out->chosen, (int)index)], out->type);
  }
  return true;
}

static bool text_of(Resolve *r, Expr *e, SemaArg source, Static *out) {
  const SemaValue *value =
      source.is_parameter ? &r->input->parameters[source.index] : &r->input->captures[source.index];
  if (!value->is_static) return request_static(r, e, source);
  out->text = value->name;
  return true;
}

static bool leaf(Resolve *r, Expr *e, Static *out) {
  if (e->kind == AST_LOCAL && e->local && e->local->known) {
    *out = *e->local->known;
    return true;
  }
  if (resolve_is_nil(r, e)) {
    *out = (Static){.kind = STATIC_NIL};
    return true;
  }
  Entity entity = resolve_expr(r, e);
  switch (entity.kind) {
  case ENTITY_NONE: return false;
  case ENTITY_CONSTANT:
    *out = (Static){.kind = STATIC_NUMBER, .number = (double)entity.constant};
    return true;
  case ENTITY_ARGUMENT: return static_of_launch_arg(r, e, &entity, out);
  case ENTITY_PART: return part_of(r, e, out);
  case ENTITY_VALUE:
    if (local_fixed_value(e) && static_is_known(r, local_fixed_value(e)))
      return static_value(r, local_fixed_value(e), out);
    return static_fail(r, e, "captured numbers, shapes and literals are");
  case ENTITY_ELEMENT:
  case ENTITY_ITEM:
  case ENTITY_ITEM_ROW:
  case ENTITY_LOOP:
  case ENTITY_VOID: return static_fail(r, e, "captured numbers, shapes and literals are");
  case ENTITY_OTHER:
    *out = (Static){.kind = STATIC_OTHER};
    return entity.other.value != VALUE_STRING || text_of(r, e, entity.other.source, out);
  default: *out = (Static){.kind = STATIC_OTHER}; return true;
  }
}

/* -- operators --------------------------------------------------------------------------------- */

bool static_is_true(const Static *value) {
  return value->kind == STATIC_BOOL ? value->number != 0 : value->kind != STATIC_NIL;
}

static Static of_bool(bool value) { return (Static){.kind = STATIC_BOOL, .number = value}; }

static double modulo(double a, double b) { return a - floor(a / b) * b; }

static bool combine(AstOp op, double a, double b, Static *out) {
  *out = (Static){.kind = STATIC_NUMBER};
  switch (op) {
  case AST_ADD: out->number = a + b; return true;
  case AST_SUB: out->number = a - b; return true;
  case AST_MUL: out->number = a * b; return true;
  case AST_DIV: out->number = a / b; return true;
  case AST_FLOORDIV: out->number = floor(a / b); return true;
  case AST_MOD: out->number = modulo(a, b); return true;
  case AST_POW: out->number = rt_pow_f64(a, b); return true;
  case AST_LT: *out = of_bool(a < b); return true;
  case AST_LE: *out = of_bool(a <= b); return true;
  case AST_GT: *out = of_bool(a > b); return true;
  case AST_GE: *out = of_bool(a >= b); return true;
  default: return false;
  }
}

/* Bits of plain whole numbers are those of an i32, as in bit.*. */
static bool combine_bits(AstOp op, double a, double b, Static *out) {
  if (a != floor(a) || b != floor(b) || fabs(a) > 0x1p32 || fabs(b) > 0x1p32) return false;
  uint32_t left = (uint32_t)(int64_t)a, right = (uint32_t)(int64_t)b;
  switch (op) {
  case AST_BAND: left &= right; break;
  case AST_BOR: left |= right; break;
  case AST_BXOR: left ^= right; break;
  case AST_SHL: left <<= right & 31; break;
  default: return false;
  }
  *out = (Static){.kind = STATIC_NUMBER, .number = (int32_t)left};
  return true;
}

/* 64-bit integers wrap, and combine with plain numbers as in LuaJIT: a whole number becomes such an
 * integer. */
static bool widen(Static *value, bool is_unsigned) {
  if (value->kind == STATIC_WIDE) return true;
  if (value->kind != STATIC_NUMBER || value->number != floor(value->number) ||
      fabs(value->number) > 0x1p53)
    return false;
  *value = (Static){
      .kind = STATIC_WIDE, .bits = (uint64_t)(int64_t)value->number, .is_unsigned = is_unsigned};
  return true;
}

static bool is_less(const Static *a, const Static *b) {
  bool is_unsigned = a->is_unsigned || b->is_unsigned;
  return is_unsigned ? a->bits < b->bits : (int64_t)a->bits < (int64_t)b->bits;
}

/* Rounded down; 0 if b is zero. */
static uint64_t quotient(uint64_t a, uint64_t b, bool is_unsigned, uint64_t *rest) {
  *rest = 0;
  if (!b) return 0;
  if (!is_unsigned && b == UINT64_MAX) return 0 - a;
  if (is_unsigned) {
    *rest = a % b;
    return a / b;
  }
  int64_t whole = (int64_t)a / (int64_t)b, left = (int64_t)a % (int64_t)b;
  bool is_above = left && (left < 0) != ((int64_t)b < 0);
  *rest = (uint64_t)(is_above ? left + (int64_t)b : left);
  return (uint64_t)(is_above ? whole - 1 : whole);
}

static double wide_number(const Static *value) {
  if (value->kind != STATIC_WIDE) return value->number;
  return value->is_unsigned ? (double)value->bits : (double)(int64_t)value->bits;
}

static bool combine_whole(AstOp op, const Static *a, const Static *b, Static *out) {
  uint64_t rest, by = b->bits;
  bool is_unsigned = a->is_unsigned || b->is_unsigned;
  *out = (Static){.kind = STATIC_WIDE, .is_unsigned = is_unsigned};
  switch (op) {
  case AST_ADD: out->bits = a->bits + b->bits; return true;
  case AST_SUB: out->bits = a->bits - b->bits; return true;
  case AST_MUL: out->bits = a->bits * b->bits; return true;
  case AST_FLOORDIV: out->bits = quotient(a->bits, b->bits, is_unsigned, &rest); return true;
  case AST_MOD: quotient(a->bits, b->bits, is_unsigned, &out->bits); return true;
  case AST_BAND: out->bits = a->bits & b->bits; return true;
  case AST_BOR: out->bits = a->bits | b->bits; return true;
  case AST_BXOR: out->bits = a->bits ^ b->bits; return true;
  case AST_SHL: out->bits = a->bits << (by & 63); return true;
  case AST_SHR: out->bits = a->bits >> (by & 63); return true;
  case AST_EQ: *out = of_bool(a->bits == b->bits); return true;
  case AST_NE: *out = of_bool(a->bits != b->bits); return true;
  case AST_LT: *out = of_bool(is_less(a, b)); return true;
  case AST_LE: *out = of_bool(!is_less(b, a)); return true;
  case AST_GT: *out = of_bool(is_less(b, a)); return true;
  case AST_GE: *out = of_bool(!is_less(a, b)); return true;
  default: return false;
  }
}

/* As in kernels, `/` and `^` compute in floats, and so does any operator with a float operand. */
static bool combine_wide(AstOp op, Static a, Static b, Static *out) {
  bool is_number = (a.kind == STATIC_WIDE || a.kind == STATIC_NUMBER) &&
                   (b.kind == STATIC_WIDE || b.kind == STATIC_NUMBER);
  double left = wide_number(&a), right = wide_number(&b);
  if (!is_number) return false;
  if (op == AST_DIV || op == AST_POW || !widen(&a, b.is_unsigned) || !widen(&b, a.is_unsigned))
    return combine(op, left, right, out);
  return combine_whole(op, &a, &b, out);
}

/* Can it be compared by identity? Types, and fields and SNodes, which are the same object if they
 * are the same place of one tree. */
static bool is_object(const Entity *entity) {
  return entity->kind == ENTITY_TYPE || entity->kind == ENTITY_NODE ||
         (entity->kind == ENTITY_FIELD && !entity->field.index_count);
}

static bool is_same_object(const Entity *a, const Entity *b) {
  if (a->kind == ENTITY_TYPE)
    return b->kind == ENTITY_TYPE && type_equal(a->type, b->type) && type_equal(a->shape, b->shape);
  return a->kind == b->kind && a->field.node == b->field.node && a->field.array == b->field.array &&
         (a->kind == ENTITY_NODE || a->field.component == b->field.component);
}

static bool binary(Resolve *r, Expr *e, Static *out) {
  Static a, b;
  if (!static_value(r, e->left, &a) || !static_value(r, e->right, &b)) return false;
  if (a.kind == STATIC_WIDE || b.kind == STATIC_WIDE)
    return combine_wide(e->op, a, b, out) ||
           static_fail(r, e, "static 64-bit integers take operators of numbers");
  if ((a.kind == STATIC_VECTOR || b.kind == STATIC_VECTOR) &&
      static_combine_vectors(r, e->op, &a, &b, out))
    return true;
  if (e->op == AST_EQ || e->op == AST_NE) {
    if (a.kind == STATIC_VECTOR || b.kind == STATIC_VECTOR)
      return static_fail(r, e, "compare its numbers: v.x");
    if (a.text || b.text) {
      *out = of_bool((a.text && b.text && !strcmp(a.text, b.text)) == (e->op == AST_EQ));
      return true;
    }
    if (a.kind == STATIC_OTHER && b.kind == STATIC_OTHER) {
      const Entity *left = &sema_strip(e->left)->entity, *right = &sema_strip(e->right)->entity;
      if (!is_object(left) || !is_object(right))
        return static_fail(r, e, "compare numbers, booleans, types, fields, SNodes or nil");
      *out = of_bool(is_same_object(left, right) == (e->op == AST_EQ));
      return true;
    }
    *out = of_bool((a.kind == b.kind && a.number == b.number) == (e->op == AST_EQ));
    return true;
  }
  if (a.kind == STATIC_NUMBER && b.kind == STATIC_NUMBER &&
      (combine(e->op, a.number, b.number, out) || combine_bits(e->op, a.number, b.number, out)))
    return true;
  return static_fail(r, e, "static numbers take operators of numbers");
}

static bool is_of_bools(const Static *value) {
  return value->kind == STATIC_VECTOR && type_is_bool(value->type);
}

static bool unary(Resolve *r, Expr *e, Static *out) {
  if (e->op == AST_LEN) return leaf(r, e, out);
  if (!static_value(r, e->left, out)) return false;
  if (e->op == AST_NOT && !is_of_bools(out)) {
    *out = of_bool(!static_is_true(out));
    return true;
  }
  if (e->op == AST_NEG && out->kind == STATIC_WIDE) {
    out->bits = -out->bits;
    return true;
  }
  if (e->op == AST_NEG && out->kind == STATIC_VECTOR) {
    const Static vector = *out, less = {.kind = STATIC_NUMBER, .number = -1};
    return static_combine_vectors(r, AST_MUL, &vector, &less, out) || static_fail(r, e, NULL);
  }
  if (e->op != AST_NEG || out->kind != STATIC_NUMBER) return static_fail(r, e, NULL);
  out->number = -out->number;
  return true;
}

/* As in Lua, the result is the deciding operand. Vectors of booleans, which do not short-circuit,
 * are left to the kernel. */
static bool logic(Resolve *r, Expr *e, Static *out) {
  if (!static_value(r, e->left, out)) return false;
  if (is_of_bools(out)) return static_fail(r, e, NULL);
  return static_is_true(out) == (e->kind == AST_OR) || static_value(r, e->right, out);
}

static Static number_of(const Expr *e) {
  if (e->number_kind == AST_NUMBER_I64 || e->number_kind == AST_NUMBER_U64)
    return (Static){
        .kind = STATIC_WIDE, .bits = e->integer, .is_unsigned = e->number_kind == AST_NUMBER_U64};
  return (Static){.kind = STATIC_NUMBER,
                  .number = e->number_kind == AST_NUMBER_FLOAT ? e->number : (double)e->integer};
}

static bool call(Resolve *r, Expr *e, Static *out) {
  Expr *inner = static_argument(r, e);
  if (inner) return static_value(r, inner, out);
  if (r->s->failed) return false;
  Entity callee = {.kind = ENTITY_TYPE, .type = e->call.type, .shape = e->entity.shape};
  if (e->call.kind != CALL_CONVERSION) callee = resolve_expr(r, e->left);
  if (static_is_function(&callee)) return static_function(r, e, &callee, out);
  if (callee.kind == ENTITY_FUNCTION) return static_run(r, e, &callee, out);
  return !r->s->failed &&
         static_fail(r, e, "captured numbers, shapes, literals, and functions of these are");
}

bool static_value(Resolve *r, Expr *e, Static *out) {
  *out = (Static){0};
  switch (e->kind) {
  case AST_NIL: return true;
  case AST_TRUE:
  case AST_FALSE: *out = of_bool(e->kind == AST_TRUE); return true;
  case AST_NUMBER: *out = number_of(e); return true;
  case AST_PAREN: return static_value(r, e->left, out);
  case AST_UNARY: return unary(r, e, out);
  case AST_BINARY: return binary(r, e, out);
  case AST_AND:
  case AST_OR: return logic(r, e, out);
  case AST_TERNARY:
    return static_value(r, e->left, out) &&
           static_value(r, static_is_true(out) ? e->right : e->third, out);
  case AST_LOCAL:
  case AST_GLOBAL:
  case AST_FIELD:
  case AST_INDEX: return leaf(r, e, out);
  case AST_CALL: return call(r, e, out);
  case AST_STRING:
    *out = (Static){.kind = STATIC_OTHER,
                    .text = scratch_copy_text(r->scratch, e->text.data, (size_t)e->text.length)};
    return true;
  default: return static_fail(r, e, "captured numbers, shapes and literals are");
  }
}

/* math.floor(2.5), rg.vec2(1, 2) */
static bool is_written_call(Resolve *r, Expr *e) {
  Entity callee = {.kind = ENTITY_TYPE, .shape = e->entity.shape};
  if (e->call.kind != CALL_CONVERSION) callee = resolve_expr(r, e->left);
  if (r->s->failed || !static_is_function(&callee) || !e->list.count) return false;
  for (int i = 0; i < e->list.count; i++)
    if (!static_is_known(r, e->list.items[i])) return false;
  return true;
}

bool static_is_known(Resolve *r, Expr *e) {
  switch (e->kind) {
  case AST_NUMBER: return true;
  case AST_PAREN: return static_is_known(r, e->left);
  case AST_UNARY: return e->op == AST_LEN || (e->op == AST_NEG && static_is_known(r, e->left));
  case AST_BINARY:
    return e->op <= AST_POW && static_is_known(r, e->left) && static_is_known(r, e->right);
  case AST_CALL: return static_argument(r, e) != NULL || is_written_call(r, e);
  case AST_LOCAL:
    if (e->local && e->local->known) return true;
    if (local_fixed_value(e)) return static_is_known(r, local_fixed_value(e));
    return resolve_expr(r, e).kind == ENTITY_CONSTANT;
  case AST_INDEX: return resolve_expr(r, e).kind == ENTITY_CONSTANT;
  default: return false;
  }
}

bool static_integer(Resolve *r, Expr *e, int64_t *out) {
  Static value;
  if (!static_value(r, e, &value)) return false;
  if (value.kind == STATIC_WIDE && (!value.is_unsigned || value.bits <= INT64_MAX)) {
    *out = (int64_t)value.bits;
    return true;
  }
  if (value.kind != STATIC_NUMBER || value.number != floor(value.number) ||
      fabs(value.number) > 0x1p53)
    return sema_fail(r->s, e, RG_ERROR_STATIC, NULL, "'%s' is not a whole number",
                     sema_source(r->s, e));
  *out = (int64_t)value.number;
  return true;
}

/* -- rg.static(e) ------------------------------------------------------------------------------ */

/* The argument of rg.static(..); NULL if e is not such a call. */
Expr *static_argument(Resolve *r, Expr *e) {
  if (e->kind != AST_CALL || e->call.kind == CALL_CONVERSION) return NULL;
  Entity callee = resolve_expr(r, e->left);
  if (callee.kind != ENTITY_BUILTIN || strcmp(callee.name, "rg.static") != 0) return NULL;
  if (e->list.count == 1) return e->list.items[0];
  sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'rg.static' takes 1 argument, %d given",
            e->list.count);
  return NULL;
}

/* A call of the type with these numbers: rg.vec2(0.5, 2). */
Entity static_write_vector(Resolve *r, Expr *e, const Static *value) {
  Exprs numbers = {0};
  for (int k = 0; k < type_parts(value->shape); k++) {
    SemaPart part = value->parts[parts_at(&value->chosen, k)];
    Static number = {
        .kind = STATIC_WIDE, .bits = part.bits, .is_unsigned = type_is_unsigned(value->type)};
    if (type_is_float(value->type) || type_is_bool(value->type))
      number = number_in(part, value->type);
    vec_push(r->scratch, &numbers, literal_static(r, e->ast, &number));
  }
  e->list = numbers; /* e->left is not read again */
  e->kind = AST_CALL;
  return resolve_converted(e, value->type, value->shape);
}

/* Anything except a number or bool denotes itself: `rg.static(f)`. */
Entity static_call(Resolve *r, Expr *e) {
  Expr *argument = static_argument(r, e);
  Static value;
  if (!argument || !static_value(r, argument, &value)) return (Entity){0};
  if (value.kind == STATIC_OTHER) return argument->entity;
  if (value.kind == STATIC_NIL) {
    sema_fail(r->s, e, RG_ERROR_NAME_NIL, "it must have a value when the kernel is launched",
              "'%s' is nil", sema_source(r->s, argument));
    return (Entity){0};
  }
  if (value.kind == STATIC_VECTOR) return static_write_vector(r, e, &value);
  *e = *literal_static(r, e->ast, &value);
  return e->entity;
}

/* -- if ---------------------------------------------------------------------------------------- */

static void drop_arm(Stmt *stmt, Arms *arms, int arm) {
  for (int i = arm; i + 1 < stmt->values.count; i++)
    stmt->values.items[i] = stmt->values.items[i + 1];
  for (int i = arm; i + 1 < arms->count; i++) arms->items[i] = arms->items[i + 1];
  stmt->values.count--;
  arms->count--;
}

/* Conditions are known by rg.static, or because they only test for nil (defaults.c).
 * Arms known not to be taken are dropped unresolved; one known to be taken becomes the last. An
 * `if` that starts with that one, or has none left, becomes a block. */
void static_arms(Resolve *r, Stmt *stmt, Arms *arms) {
  static const AstBlock nothing;
  for (int i = 0; i < stmt->values.count && !r->s->failed;) {
    Expr *condition = static_argument(r, sema_strip(stmt->values.items[i]));
    Static value = {.kind = STATIC_BOOL};
    int known = condition || r->s->failed ? -1 : nil_test(r, stmt->values.items[i]);
    if (known >= 0) value.number = known;
    if (r->s->failed) break;
    if (!condition && known < 0) {
      i++;
    } else if (condition && !static_value(r, condition, &value)) {
      break;
    } else if (static_is_true(&value)) {
      stmt->values.count = i;
      arms->count = i + 1;
    } else {
      drop_arm(stmt, arms, i);
    }
  }
  if (!stmt->values.count && !r->s->failed) stmt->kind = AST_STMT_DO;
  if (!arms->count) vec_push(r->scratch, arms, &nothing);
}
