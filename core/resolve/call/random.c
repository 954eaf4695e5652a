/* random.c - calls of rg.random, rg.randn and math.random: what they draw, and the loops that draw.
 *
 *     rg.random()  rg.random(T)  math.random()    uniform: floats in [0, 1), integers of all bits
 *     rg.random(T, a, b)  math.random(m, n)       floats in [a, b), integers from a to b inclusive
 *     rg.randn()  rg.randn(T)                     normal, mean 0, variance 1
 */
#include "resolve/resolve.h"

static Entity fail_use(Resolve *r, const Expr *at, const char *name) {
  bool is_normal = !strcmp(name, "rg.randn");
  sema_fail(r->s, at, RG_ERROR_CALL,
            is_normal ? "rg.randn(rg.f32)"
                      : "write rg.random(rg.f32), or with bounds rg.random(rg.i32, 1, 6)",
            "'%s' takes a type first%s", name, is_normal ? "" : ", then both bounds or none");
  return (Entity){0};
}

/* Notes that the current loop or function draws, so that the runtime keeps a sequence for it. */
static void note_use(Resolve *r) {
  r->random->is_used = true;
  for (SerialLoop *loop = r->serial_loops; loop; loop = loop->outer) {
    loop->stmt->draws = true;
    r->random->has_trips = true;
  }
}

static bool resolve_bounds(Resolve *r, Expr *e, const Builtin *builtin, Shape *shape) {
  RandomCall *call = &e->random;
  const char *who = scratch_format(r->scratch, "'%s'", builtin->name);
  return resolve_value(r, call->low) && resolve_value(r, call->high) &&
         shape_join(r, e, *shape, shape_of(call->low), who, shape) &&
         shape_join(r, e, *shape, shape_of(call->high), who, shape);
}

static bool resolve_typed(Resolve *r, Expr *e, const Builtin *builtin, Shape *shape) {
  Entity type = resolve_expr(r, e->list.items[0]);
  bool has_bounds = e->list.count == 3, is_normal = !strcmp(builtin->name, "rg.randn");
  if (type.kind == ENTITY_NONE) return false;
  if (type.kind != ENTITY_TYPE || e->list.count == 2)
    return fail_use(r, e, builtin->name).kind != ENTITY_NONE;
  if (type_is_struct(type.shape))
    return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, "draw its members, one by one",
                     "'%s' draws numbers, and '%s' is a struct", builtin->name,
                     sema_source(r->s, e->list.items[0]));
  e->random.type = type.type;
  *shape = type.shape;
  if (is_normal && !type_is_float(type.type))
    return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, "rg.randn(rg.f32)",
                     "'rg.randn' draws floats, and '%s' holds none",
                     sema_source(r->s, e->list.items[0]));
  if (!has_bounds) return true;
  if (type_is_bool(type.type))
    return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, NULL, "a bool has no bounds");
  e->random = (RandomCall){
      .form = RANDOM_WITHIN, .type = type.type, .low = e->list.items[1], .high = e->list.items[2]};
  Shape wanted = *shape;
  return resolve_bounds(r, e, builtin, shape) &&
         (type_equal(*shape, wanted) ||
          sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, NULL, "a bound of %s is %s",
                    shape_text(r->s, wanted), shape_text(r->s, *shape)));
}

Entity random_call(Resolve *r, Expr *e, const Builtin *builtin) {
  Entity entity = {.kind = ENTITY_VALUE};
  int given = e->list.count;
  bool is_math = !strcmp(builtin->name, "math.random");
  e->random = (RandomCall){0};
  note_use(r);
  if (is_math && given) {
    e->random.form = RANDOM_WITHIN;
    e->random.low = given == 2 ? e->list.items[0] : literal_integer(r, e->list.items[0]->ast, 1);
    e->random.high = e->list.items[given - 1];
    if (!resolve_bounds(r, e, builtin, &entity.shape)) return (Entity){0};
  } else if (given && !resolve_typed(r, e, builtin, &entity.shape)) {
    return (Entity){0};
  }
  if (!strcmp(builtin->name, "rg.randn")) e->random.form = RANDOM_NORMAL;
  return entity;
}
