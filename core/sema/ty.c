/* ty.c - types in the making, and how they meet. See TyKind for their order. */
#include "sema/typed.h"

Ty ty_of(Type type) {
  if (type_is_bool(type)) return (Ty){TY_BOOL, type};
  if (type_is_integer(type)) return (Ty){TY_INT, type};
  if (type_is_float(type)) return (Ty){TY_FLOAT, type};
  return (Ty){0};
}

bool ty_is_float(Ty ty) { return ty.kind == TY_SOFT || ty.kind == TY_FLOAT; }
bool ty_is_integer(Ty ty) { return ty.kind == TY_INT || ty.kind == TY_LITERAL; }
bool ty_is_number(Ty ty) { return ty.kind >= TY_LITERAL; }

Ty ty_join(Ty a, Ty b) {
  if (a.kind < b.kind) {
    Ty c = a;
    a = b;
    b = c;
  }
  if (a.kind != b.kind || (a.kind != TY_FLOAT && a.kind != TY_INT && a.kind != TY_LITERAL)) return a;
  Ty joined = a;
  type_join(a.type, b.type, &joined.type);
  return joined;
}

Ty ty_firm(Sema *s, Ty ty) {
  if (ty.kind == TY_LITERAL) return (Ty){TY_INT, ty.type};
  if (ty.kind == TY_SOFT) return (Ty){TY_FLOAT, s->default_float};
  return ty;
}

Type ty_alone(Sema *s, Ty ty) {
  if (ty.kind == TY_NONE) return TYPE(NONE);
  if (ty.kind == TY_BOOL) return TYPE(BOOL);
  return ty.kind == TY_SOFT || ty.kind == TY_NUMBER ? s->default_float : ty.type;
}

Type ty_settle(Sema *s, Ty ty, Type want) {
  if (ty.kind == TY_LITERAL && (type_is_integer(want) || type_is_float(want))) return want;
  if (ty.kind == TY_SOFT && type_is_float(want)) return want;
  return ty_alone(s, ty);
}

/* What a bit operator makes of an operand: an open number will turn out to be an integer, a float is refused later. */
static Ty as_integer(Ty ty) { return ty_is_integer(ty) ? ty : (Ty){TY_INT, TYPE(I32)}; }

static Ty as_float(Ty ty) { return ty.kind == TY_FLOAT ? ty : (Ty){.kind = TY_SOFT}; }

Ty ty_binary(Sema *s, AstOp op, Ty a, Ty b) {
  if (a.kind == TY_NONE || b.kind == TY_NONE) return (Ty){0};
  switch (op) {
  case AST_EQ: case AST_NE: case AST_LT: case AST_LE: case AST_GT: case AST_GE: return ty_of(TYPE(BOOL));
  case AST_DIV: case AST_POW: return as_float(ty_join(a, b));
  case AST_BAND: case AST_BOR: case AST_BXOR: return ty_join(as_integer(a), as_integer(b));
  case AST_SHL: case AST_SHR: case AST_SAR: return as_integer(a);
  default: return ty_join(a, b);
  }
}

const char *ty_text(Sema *s, Ty ty) {
  switch (ty.kind) {
  case TY_NONE: return "nothing";
  case TY_BOOL: return "a bool";
  case TY_LITERAL: return "an integer";
  case TY_SOFT: case TY_NUMBER: return "a float";
  default: return scratch_format(s->scratch, type_is_unsigned(ty.type) ? "a %s" : "an %s", type_text(ty.type));
  }
}
