/* bitcast.c - rg.bitcast(T, x): reinterprets the bits of a number, or of each number of a vector or
 * matrix, as type T of the same size. infer/check_call.c compares the sizes, once the type of x is
 * known. */
#include "resolve/resolve.h"

static Entity fail_use(Resolve *r, const Expr *e) {
  sema_fail(r->s, e, RG_ERROR_CALL, "rg.bitcast(rg.u32, x)",
            "'rg.bitcast' takes a number type first, then the value whose bits are reinterpreted");
  return (Entity){0};
}

Entity bitcast_call(Resolve *r, Expr *e, const Builtin *builtin) {
  if (e->list.count != 2) return resolve_fail_count(r, e, builtin);
  Expr *x = e->list.items[1];
  Entity type = resolve_expr(r, e->list.items[0]);
  if (type.kind == ENTITY_NONE) return type;
  if (type.kind != ENTITY_TYPE || type_is_struct(type.shape) || !type_is_scalar(type.shape) ||
      type_is_bool(type.type))
    return fail_use(r, e);
  Exprs value = {0};
  vec_push(r->scratch, &value, x);
  if (!resolve_value(r, x) || !resolve_refuse_multiple(r, &value)) return (Entity){0};
  e->call = (Call){.kind = CALL_BUILTIN, .builtin = builtin, .cast = type.type};
  return (Entity){.kind = ENTITY_VALUE, .shape = shape_of(x)};
}
