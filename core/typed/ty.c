/* ty.c - partial types and how they join. See PartialKind for their order. */
#include "typed/typed.h"

PartialType ty_of(Type type) {
  if (type_is_struct(type)) return (PartialType){.kind = TY_STRUCT, .type = type};
  if (type_is_bool(type)) return (PartialType){.kind = TY_BOOL, .type = type};
  if (type_is_integer(type)) return (PartialType){.kind = TY_INT, .type = type};
  if (type_is_float(type)) return (PartialType){.kind = TY_FLOAT, .type = type};
  return (PartialType){0};
}

bool ty_is_float(PartialType ty) { return ty.kind == TY_FLEXIBLE || ty.kind == TY_FLOAT; }
bool ty_is_integer(PartialType ty) { return ty.kind == TY_INT || ty.kind == TY_LITERAL; }
bool ty_is_number(PartialType ty) { return ty.kind >= TY_LITERAL; }

bool ty_fits(PartialType literal, Type integer) {
  if (type_is_unsigned(integer)) return !literal.is_negative && literal.bits <= type_bits(integer);
  return literal.bits < type_bits(integer);
}

/* A literal that does not fit the other integer keeps its own type: n8[i] + 300 is an i32. */
PartialType ty_join(PartialType a, PartialType b) {
  if (a.kind < b.kind) {
    PartialType c = a;
    a = b;
    b = c;
  }
  bool is_firm = a.kind == TY_FLOAT || a.kind == TY_INT || a.kind == TY_LITERAL;
  bool takes = a.kind == TY_INT && b.kind == TY_LITERAL && ty_fits(b, a.type);
  if (!is_firm || takes || type_is_float(a.type) != type_is_float(b.type) || b.kind < TY_LITERAL)
    return a;
  PartialType joined = a;
  type_join(a.type, b.type, &joined.type);
  joined.bits = a.bits > b.bits ? a.bits : b.bits;
  joined.is_negative = a.is_negative || b.is_negative;
  return joined;
}

/* Bit operators keep the operand's type, so a literal there is a bit pattern, truncated to it. */
static PartialType join_bits(PartialType a, PartialType b) {
  if (a.kind == TY_INT && b.kind == TY_LITERAL) return a;
  return b.kind == TY_INT && a.kind == TY_LITERAL ? b : ty_join(a, b);
}

PartialType ty_default(Sema *s, PartialType ty) {
  if (ty.kind == TY_LITERAL) return ty_of(ty.type);
  if (ty.kind == TY_FLEXIBLE) return ty_of(s->default_float);
  return ty;
}

Type ty_default_type(Sema *s, PartialType ty) {
  if (ty.kind == TY_NONE) return TYPE(NONE);
  if (ty.kind == TY_BOOL) return TYPE(BOOL);
  return ty.kind == TY_FLEXIBLE || ty.kind == TY_NUMBER ? s->default_float : ty.type;
}

Type ty_complete(Sema *s, PartialType ty, Type want) {
  if (ty.kind == TY_LITERAL && (type_is_integer(want) || type_is_float(want))) return want;
  if (ty.kind == TY_FLEXIBLE && type_is_float(want)) return want;
  return ty_default_type(s, ty);
}

/* A bit operator's operand: a number of unknown type will become an integer; a float is refused
 * later. */
static PartialType as_integer(PartialType ty) { return ty_is_integer(ty) ? ty : ty_of(TYPE(I32)); }

static PartialType as_float(PartialType ty) {
  return ty.kind == TY_FLOAT ? ty : (PartialType){.kind = TY_FLEXIBLE};
}

PartialType ty_binary(Sema *s, AstOp op, PartialType a, PartialType b) {
  if (a.kind == TY_NONE || b.kind == TY_NONE) return (PartialType){0};
  switch (op) {
  case AST_EQ:
  case AST_NE:
  case AST_LT:
  case AST_LE:
  case AST_GT:
  case AST_GE: return ty_of(TYPE(BOOL));
  case AST_DIV:
  case AST_POW: return as_float(ty_join(a, b));
  case AST_BAND:
  case AST_BOR:
  case AST_BXOR:
    if (a.kind == TY_BOOL && b.kind == TY_BOOL) return a;
    return join_bits(as_integer(a), as_integer(b));
  case AST_SHL:
  case AST_SHR:
  case AST_SAR: return as_integer(a);
  default: return ty_join(a, b);
  }
}

const char *ty_text(Sema *s, PartialType ty) {
  switch (ty.kind) {
  case TY_NONE: return "nothing";
  case TY_BOOL: return "a bool";
  case TY_STRUCT: return shape_text(s, ty.type);
  case TY_LITERAL: return "an integer";
  case TY_FLEXIBLE:
  case TY_NUMBER: return "a float";
  default:
    return scratch_format(s->scratch, type_is_unsigned(ty.type) ? "a %s" : "an %s",
                          type_text(ty.type));
  }
}

bool ty_is_wide(PartialType ty) {
  return ty_is_integer(ty) &&
         (type_bits(ty.type) == 64 || (type_bits(ty.type) == 32 && type_is_unsigned(ty.type)));
}

static bool is_u64(PartialType ty) { return ty.kind == TY_INT && type_is(ty.type, TYPE_U64); }

Type ty_of_step(PartialType of_for) {
  return type_is(of_for.type, TYPE_U64) ? TYPE(I64) : of_for.type;
}

/* Indices are i32, i64 if a bound needs it, and u64 between two of them, whatever the step; floats
 * if start or step is one. */
PartialType ty_of_for(Sema *s, const Stmt *stmt) {
  PartialType start = stmt->values.items[0]->ty, stop = stmt->values.items[1]->ty;
  PartialType step = stmt->values.count == 3 ? stmt->values.items[2]->ty : start;
  if (start.kind == TY_NONE || step.kind == TY_NONE) return (PartialType){0};
  if (is_u64(start) && is_u64(stop) && ty_is_integer(step)) return ty_of(TYPE(U64));
  if (ty_is_integer(start) && ty_is_integer(step))
    return ty_of(ty_is_wide(start) || ty_is_wide(stop) || ty_is_wide(step) ? TYPE(I64) : TYPE(I32));
  PartialType joined = ty_join(start, step);
  return ty_is_float(joined) ? ty_default(s, ty_join(joined, stop)) : joined;
}
