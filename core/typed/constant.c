/* constant.c - integers that are known from the text alone, so that one outside a type's range or a
 * vector's bounds is an error at compile time. Sums and products are computed only if an int64_t
 * holds them. */
#include "typed/typed.h"

static bool of_number(const Expr *e, SemaInteger *out) {
  if (e->number_kind == AST_NUMBER_FLOAT) return false;
  bool is_hex = e->text.length > 1 && (e->text.data[1] | 0x20) == 'x';
  *out = (SemaInteger){.size = e->integer, .is_pattern = is_hex};
  return true;
}

static bool to_i64(const SemaInteger *value, int64_t *out) {
  if (value->size > INT64_MAX) return false;
  *out = value->is_negative ? -(int64_t)value->size : (int64_t)value->size;
  return true;
}

static SemaInteger of_i64(int64_t value) {
  return (SemaInteger){.is_negative = value < 0,
                       .size = value < 0 ? -(uint64_t)value : (uint64_t)value};
}

static bool of_binary(const Expr *e, bool follows_locals, SemaInteger *out) {
  SemaInteger left, right;
  int64_t a, b, result = 0;
  if (e->op != AST_ADD && e->op != AST_SUB && e->op != AST_MUL) return false;
  if (!sema_integer(e->left, follows_locals, &left) || !to_i64(&left, &a)) return false;
  if (!sema_integer(e->right, follows_locals, &right) || !to_i64(&right, &b)) return false;
  bool overflows = e->op == AST_ADD   ? __builtin_add_overflow(a, b, &result)
                   : e->op == AST_SUB ? __builtin_sub_overflow(a, b, &result)
                                      : __builtin_mul_overflow(a, b, &result);
  *out = of_i64(result);
  return !overflows;
}

bool sema_integer(const Expr *e, bool follows_locals, SemaInteger *out) {
  if (e->entity.kind == ENTITY_CONSTANT) {
    *out = of_i64(e->entity.constant);
    return true;
  }
  switch (e->kind) {
  case AST_PAREN: return sema_integer(e->left, follows_locals, out);
  case AST_NUMBER: return of_number(e, out);
  case AST_BINARY: return of_binary(e, follows_locals, out);
  case AST_UNARY:
    if (e->op != AST_NEG || !sema_integer(e->left, follows_locals, out)) return false;
    out->is_negative = !out->is_negative && out->size > 0;
    return true;
  case AST_LOCAL: {
    const Expr *value = follows_locals ? local_fixed_value(e) : NULL;
    return value && sema_integer(value, true, out);
  }
  default: return false;
  }
}

bool sema_integer_fits(const SemaInteger *value, Type type) {
  int bits = type_bits(type);
  uint64_t largest = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  if (type_is_unsigned(type)) return !value->is_negative && value->size <= largest;
  if (value->is_negative) return value->size <= largest / 2 + 1;
  return value->size <= (value->is_pattern ? largest : largest / 2);
}
