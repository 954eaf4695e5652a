/* unpack.c - unpack(v), unpack(t): the numbers of a vector or a shape, the rows of a matrix or the
 * items of a table, as several values. Each call generates a function as source:
 *
 *     function(v) return v[0], v[1], v[2] end        function(t) return t[1], t[2] end
 */
#include "front/parser.h"
#include "resolve/resolve.h"

enum { MOST_VALUES = 64 };

Entity resolve_call_of_text(Resolve *r, Expr *e, Expr *self, const char *name, const char *text) {
  Error err;
  error_clear(&err);
  Ast *ast = parse_kernel_text(source_create(r->scratch, str_of(text), name, 1), &err);
  ASSERT(ast, "it is a function");
  return ast ? resolve_inline_call(r, e, resolve_function(name, ast->function, ast->source), self)
             : (Entity){0};
}

/* The number of values; -1 after an error. *first is the first index; -1 for a single number. */
static int64_t count_of(Resolve *r, Expr *e, Expr *object, int *first) {
  Entity entity = resolve_expr(r, object);
  int64_t count;
  *first = 1;
  if (r->s->failed) return -1;
  if (entity.kind == ENTITY_SHAPE) {
    *first = extent_count(&entity) == 1 ? -1 : 0;
    return resolve_value(r, object) ? extent_count(&entity) : -1;
  }
  if (entity.kind == ENTITY_TABLE) return table_length(r, object, &entity, &count) ? count : -1;
  if (entity.kind == ENTITY_LIST) {
    count = row_is(&entity) ? row_length(&entity) : entity.list.list->count;
    if (count < 0)
      sema_fail(r->s, e, RG_ERROR_CALL, "take them by their index: t[i][1], t[i][2]",
                "'unpack' takes rows of one length, and those of '%s' differ",
                entity.name ? entity.name : sema_source(r->s, object));
    return count;
  }
  if (record_is(&entity)) return record_length(entity.record);
  *first = 0;
  bool is_vector = type_is_vector(entity.shape) || type_is_matrix(entity.shape);
  if (is_vector && resolve_value(r, object)) return type_rows(entity.shape);
  sema_fail(r->s, e, RG_ERROR_CALL, "the elements of a field: x[0], x[1]",
            "'unpack' takes a vector, a matrix, a shape or a table, alone");
  return -1;
}

Entity unpack_call(Resolve *r, Expr *e) {
  int first = 0;
  if (e->inlined) return e->entity; /* already resolved */
  int64_t count = e->list.count == 1 ? count_of(r, e, e->list.items[0], &first) : -1;
  if (e->list.count != 1)
    sema_fail(r->s, e, RG_ERROR_CALL_COUNT, NULL,
              "'unpack' takes a vector, a matrix, a shape or a table, alone");
  if (!r->s->failed && (count < 1 || count > MOST_VALUES))
    sema_fail(r->s, e, RG_ERROR_CALL, NULL,
              "'unpack' returns 1 to %d values, but here there are %lld", MOST_VALUES,
              (long long)count);
  if (r->s->failed) return (Entity){0};
  StrBuf text;
  strbuf_init(&text, r->scratch);
  strbuf_text(&text, first < 0 ? "function(v) return v" : "function(v) return ");
  for (int k = 0; k < count && first >= 0; k++)
    strbuf_format(&text, "%sv[%d]", k ? ", " : "", first + k);
  strbuf_text(&text, " end");
  return resolve_call_of_text(r, e, NULL, "unpack", strbuf_end(&text));
}
