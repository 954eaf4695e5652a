/* bulk.c - x:fill(v) and x:copy_from(y) in a kernel: loops of their own, generated as source.
 *
 *     function(x, v) for i0, i1 in x:active() do x[i0][i1] = v end end
 *     function(x, y) for i0, i1 in y:active() do x[i0][i1] = y[i0][i1] end end
 */
#include "resolve/resolve.h"

static void write_element(StrBuf *text, const char *name, int rank) {
  strbuf_text(text, name);
  if (!rank) strbuf_text(text, "[0]");
  for (int k = 0; k < rank; k++) strbuf_format(text, "[i%d]", k);
}

static const char *write_function(Resolve *r, bool fills, int rank) {
  StrBuf text;
  strbuf_init(&text, r->scratch);
  strbuf_text(&text, "function(x, v) ");
  for (int k = 0; k < rank; k++) strbuf_format(&text, k ? ", i%d" : "for i%d", k);
  if (rank) strbuf_format(&text, " in %s:active() do ", fills ? "x" : "v");
  write_element(&text, "x", rank);
  strbuf_text(&text, " = ");
  if (fills) strbuf_text(&text, "v");
  else write_element(&text, "v", rank);
  strbuf_text(&text, rank ? " end end" : " end");
  return strbuf_end(&text);
}

static bool check_object(Resolve *r, Expr *e, const MethodCall *m) {
  const char *name = m->method->name;
  if (m->object.kind != ENTITY_FIELD)
    return sema_fail(r->s, e, RG_ERROR_CALL, "call it on a field",
                     "'%s' is an SNode and has no elements", m->object.name);
  if (m->object.field.index_count)
    return sema_fail(r->s, e, RG_ERROR_CALL,
                     "loop over it: for k in rg.range(#row) do row[k] = v end",
                     "'%s' applies to a whole field", name);
  if (e->list.count != 1)
    return sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL, "'%s' takes 1 argument, %d given", name,
                     e->list.count);
  return !r->loop || sema_fail(r->s, e, RG_ERROR_CALL, "call it before or after the loop",
                               "'%s' cannot be called inside a parallel loop", name);
}

static bool check_argument(Resolve *r, Expr *e, const MethodCall *m, bool fills) {
  const FieldRef *field = field_of(&m->object);
  if (fills) {
    Expr *given = struct_coerce(r, e->list.items[0], type_shaped(field->type, m->object.shape),
                                scratch_format(r->scratch, "an element of '%s'", m->object.name));
    if (given) e->list.items[0] = given;
    return given != NULL;
  }
  Entity from = resolve_expr(r, e->list.items[0]);
  if (r->s->failed) return false;
  return (from.kind == ENTITY_FIELD && !from.field.index_count &&
          field_rank(&from.field) == field_rank(field)) ||
         sema_fail(r->s, e, RG_ERROR_CALL, NULL,
                   "'copy_from' takes a field or an array with as many axes as '%s'",
                   m->object.name);
}

Entity bulk_call(Resolve *r, Expr *e, const MethodCall *m) {
  bool fills = !strcmp(m->method->name, "fill");
  if (e->inlined) return e->entity; /* already resolved */
  if (!check_object(r, e, m) || !check_argument(r, e, m, fills)) return (Entity){0};
  const char *text = write_function(r, fills, field_rank(field_of(&m->object)));
  return resolve_call_of_text(r, e, e->left, m->method->name, text);
}
