/* static_function.c - evaluates functions, conversions and vectors of values known at compile time.
 * math.* computes in doubles, bit.* in 32 bits, as in LuaJIT. */
#include <math.h>

#include "maths.h"
#include "resolve/resolve.h"

/* -- math, bit --------------------------------------------------------------------------------- */

static int32_t to_bits(double value) {
  if (!(fabs(value) < 0x1p53)) return 0;
  return (int32_t)(uint32_t)(int64_t)value;
}

static bool apply_bits(IrOp op, int32_t a, int32_t b, double *out) {
  uint32_t u = (uint32_t)a, by = (uint32_t)b & 31;
  switch (op) {
  case IR_BAND: u &= (uint32_t)b; break;
  case IR_BOR: u |= (uint32_t)b; break;
  case IR_BXOR: u ^= (uint32_t)b; break;
  case IR_BNOT: u = ~u; break;
  case IR_BSWAP: u = __builtin_bswap32(u); break;
  case IR_SHL: u <<= by; break;
  case IR_SHR: u >>= by; break;
  case IR_SAR: u = (uint32_t)(a >> by); break;
  case IR_ROL: u = by ? u << by | u >> (32 - by) : u; break;
  case IR_ROR: u = by ? u >> by | u << (32 - by) : u; break;
  default: return false;
  }
  *out = (int32_t)u;
  return true;
}

/* *out holds the result for the arguments before this one. */
static bool apply_join(IrOp op, double a, double *out) {
  switch (op) {
  case IR_ABS: *out = fabs(a); return true;
  case IR_DETACH: *out = a; return true;
  case IR_MIN: *out = a < *out ? a : *out; return true;
  case IR_MAX: *out = a > *out ? a : *out; return true;
  default: return false;
  }
}

/* As kernels compute it in f64. */
static bool apply_float(IrOp op, double x, double y, double *out) {
  switch (op) {
  case IR_SQRT: *out = sqrt(x); return true;
#define MATH_1(name) rt_##name##_f64(x)
#define MATH_2(name) rt_##name##_f64(x, y)
#define MATH(OP, name, arguments) \
  case IR_##OP: *out = MATH_##arguments(name); return true;
#include "maths.def"
#undef MATH
  default: return false;
  }
}

static bool apply(const Builtin *builtin, const double *args, int count, double *out) {
  double second = count > 1 ? args[1] : 0;
  bool ok = true;
  *out = args[0];
  switch (builtin->form) {
  case FORM_FLOAT: return apply_float(builtin->op, args[0], second, out);
  case FORM_LOG:
    *out = rt_log_f64(args[0]);
    if (count > 1) *out /= rt_log_f64(second);
    return true;
  case FORM_ANGLE:
    *out *= strcmp(builtin->name, "math.deg") ? 0.017453292519943295 : 57.29577951308232;
    return true;
  case FORM_ROUND:
    *out = builtin->op == IR_FLOOR  ? floor(*out)
           : builtin->op == IR_CEIL ? ceil(*out)
                                    : round(*out);
    return true;
  case FORM_NUMERIC:
    for (int i = 0; i < count; i++) ok &= apply_join(builtin->op, args[i], out);
    return ok;
  case FORM_BITS:
    *out = to_bits(*out);
    if (builtin->least == 1 && count == 1 && builtin->op != IR_BAND && builtin->op != IR_BOR &&
        builtin->op != IR_BXOR)
      return apply_bits(builtin->op, to_bits(args[0]), 0, out);
    for (int i = 1; i < count; i++)
      ok &= apply_bits(builtin->op, to_bits(*out), to_bits(args[i]), out);
    return ok;
  case FORM_SHIFT: return apply_bits(builtin->op, to_bits(args[0]), to_bits(second), out);
  case FORM_TOBIT: *out = to_bits(*out); return true;
  default: return false;
  }
}

enum { MOST_ARGUMENTS = 250 };

bool static_is_function(const Entity *callee) {
  if (callee->kind == ENTITY_TYPE) return !type_is_struct(callee->shape);
  if (callee->kind != ENTITY_BUILTIN || !callee->builtin) return false;
  switch (callee->builtin->form) {
  case FORM_FLOAT:
  case FORM_LOG:
  case FORM_ANGLE:
  case FORM_ROUND:
  case FORM_NUMERIC:
  case FORM_BITS:
  case FORM_SHIFT:
  case FORM_TOBIT: return true;
  default: return false;
  }
}

static bool call_builtin(Resolve *r, Expr *e, const Builtin *builtin, Static *out) {
  double args[MOST_ARGUMENTS] = {0};
  int count = e->list.count;
  if (count < builtin->least || count > builtin->most || count > MOST_ARGUMENTS)
    return sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'%s' does not take %d arguments",
                     builtin->name, count);
  for (int i = 0; i < count; i++) {
    Static value;
    if (!static_value(r, e->list.items[i], &value)) return false;
    if (value.kind != STATIC_NUMBER)
      return static_fail(r, e, "math.* and bit.* take plain numbers in rg.static");
    args[i] = value.number;
  }
  *out = (Static){.kind = STATIC_NUMBER};
  return apply(builtin, args, count, &out->number) || static_fail(r, e, NULL);
}

/* -- conversions ------------------------------------------------------------------------------- */

/* One number of a type: floats rounded to it, integers toward zero, saturating; NaN gives 0. */
static SemaPart part_in(Type type, const Static *value) {
  SemaPart part = {0};
  bool is_wide = value->kind == STATIC_WIDE;
  double number = !is_wide             ? value->number
                  : value->is_unsigned ? (double)value->bits
                                       : (double)(int64_t)value->bits;
  if (type_is_float(type)) {
    part.f64 = ir_round_float(type, number);
  } else if (type_is_bool(type)) {
    part.bits = is_wide ? value->bits != 0 : number != 0;
  } else if (is_wide) {
    part.bits = (uint64_t)ir_wrap_int(type, (int64_t)value->bits);
  } else {
    bool is_signed = type_is_signed(type);
    uint64_t ends = 1ULL << (type_bits(type) - 1);
    double high = ldexp(1, type_bits(type) - is_signed), low = is_signed ? -high : 0;
    if (number != number) part.bits = 0;
    else if (number >= high) part.bits = (uint64_t)(is_signed ? ends - 1 : 2 * ends - 1);
    else if (number <= low) part.bits = is_signed ? 0 - ends : 0;
    else part.bits = is_signed ? (uint64_t)(int64_t)number : (uint64_t)number;
    part.bits = (uint64_t)ir_wrap_int(type, (int64_t)part.bits);
  }
  return part;
}

typedef VEC(Static) Statics;

static bool collect(Resolve *r, const Exprs *list, Statics *numbers) {
  for (int i = 0; i < list->count; i++) {
    Expr *item = list->items[i];
    Static value;
    if (item->kind == AST_TABLE) {
      if (!collect(r, &item->list, numbers)) return false;
      continue;
    }
    if (!static_value(r, item, &value)) return false;
    if (value.kind == STATIC_NIL || value.kind == STATIC_OTHER) return static_fail(r, item, NULL);
    if (value.kind != STATIC_VECTOR) {
      vec_push(r->scratch, numbers, value);
      continue;
    }
    for (int k = 0; k < type_parts(value.shape); k++)
      vec_push(r->scratch, numbers, static_number_in(&value, k));
  }
  return true;
}

/* One number fills a vector or the diagonal of a matrix. */
static bool convert(Resolve *r, Expr *e, const Entity *type, Static *out) {
  Statics numbers = {0};
  int count = type_parts(type->shape);
  if (!collect(r, &e->list, &numbers)) return false;
  if (numbers.count != count && numbers.count != 1)
    return static_fail(r, e, "pass all of its numbers");
  SemaPart *parts = scratch_array(r->scratch, SemaPart, count);
  const Static zero = {.kind = STATIC_NUMBER};
  int columns = type_is_matrix(type->shape) ? type_cols(type->shape) : 1;
  for (int k = 0; k < count; k++) {
    const Static *one = k / columns == k % columns || columns == 1 ? &numbers.items[0] : &zero;
    parts[k] = part_in(type->type, numbers.count == 1 ? one : &numbers.items[k]);
  }
  *out = (Static){.kind = STATIC_VECTOR, .parts = parts, .shape = type->shape, .type = type->type};
  if (type_is_scalar(type->shape)) *out = static_number_in(out, 0);
  return true;
}

bool static_function(Resolve *r, Expr *e, const Entity *callee, Static *out) {
  return callee->kind == ENTITY_TYPE ? convert(r, e, callee, out)
                                     : call_builtin(r, e, callee->builtin, out);
}

/* -- vectors ----------------------------------------------------------------------------------- */

static bool combine_floats(AstOp op, double a, double b, double *out) {
  switch (op) {
  case AST_ADD: *out = a + b; return true;
  case AST_SUB: *out = a - b; return true;
  case AST_MUL: *out = a * b; return true;
  case AST_DIV: *out = a / b; return true;
  default: return false;
  }
}

/* Elementwise, for numbers of one float type; a plain number applies to all. */
bool static_combine_vectors(Resolve *r, AstOp op, const Static *a, const Static *b, Static *out) {
  const Static *like = a->kind == STATIC_VECTOR ? a : b;
  const Static *both[] = {a, b};
  if (type_is_matrix(like->shape) || !type_is_float(like->type)) return false;
  for (int i = 0; i < 2; i++)
    if (both[i]->kind != STATIC_NUMBER &&
        (both[i]->kind != STATIC_VECTOR || !type_equal(both[i]->shape, like->shape) ||
         !type_equal(both[i]->type, like->type)))
      return false;
  int count = type_parts(like->shape);
  SemaPart *parts = scratch_array(r->scratch, SemaPart, count);
  for (int k = 0; k < count; k++) {
    double x = a->kind == STATIC_NUMBER ? a->number : static_number_in(a, k).number;
    double y = b->kind == STATIC_NUMBER ? b->number : static_number_in(b, k).number;
    if (!combine_floats(op, x, y, &parts[k].f64)) return false;
    parts[k].f64 = ir_round_float(like->type, parts[k].f64);
  }
  *out = (Static){.kind = STATIC_VECTOR, .parts = parts, .shape = like->shape, .type = like->type};
  return true;
}
