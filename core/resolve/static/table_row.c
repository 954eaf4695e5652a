/* table_row.c - rows of constant tables that are selected at run time.
 *
 *     local edge = edges[k + 1]    edge[2] is edges[k + 1][2]; likewise #edge, ipairs(edge) and
 *                                  unpack(edge), and a parameter with the argument edges[k + 1]
 *
 * The name is an alias of the table and the indices so far. These are computed once, at the name's
 * declaration: `local edge = edges[k + 1]` declares `index = k + 1` in place of `edge`. */
#include "resolve/resolve.h"

bool row_is(const Entity *entity) { return entity->kind == ENTITY_LIST && entity->list.index; }

static void declare(Resolve *r, ListIndex *index, Locals *locals, Exprs *values) {
  if (!index || index->local) return;
  declare(r, index->before, locals, values);
  index->local = build_hidden(r, str_of("index"), index->index->pos);
  index->local->is_annotated = index->local->has_shape = index->local->is_declared = true;
  index->local->type = TYPE(I64);
  vec_push(r->scratch, locals, index->local);
  vec_push(r->scratch, values, index->index);
}

static bool declare_indices(Resolve *r, Local *local, Expr *value, Locals *locals, Exprs *values) {
  (void)value;
  if (!local->is_alias || !row_is(&local->alias) || local->alias.list.index->local) return false;
  declare(r, local->alias.list.index, locals, values);
  return true;
}

void row_declare_indices(Resolve *r, Locals *locals, Exprs *values) {
  resolve_expand_locals(r, locals, values, declare_indices);
}

static void add_index(Resolve *r, const Expr *at, const ListIndex *index, Exprs *indices) {
  if (!index) return;
  add_index(r, at, index->before, indices);
  vec_push(r->scratch, indices, index->local ? build_read(r, index->local, at) : index->index);
}

/* The outermost first. */
Exprs row_indices(Resolve *r, const Expr *at, const ListIndex *index) {
  Exprs indices = {0};
  add_index(r, at, index, &indices);
  return indices;
}

/* The common length of the lists `levels` below; `so_far`: that of earlier ones (0: none yet). */
static int common_length(const List *list, int levels, int so_far) {
  if (levels == 0) return so_far == 0 || so_far == list->count ? list->count : -1;
  for (int k = 1; k <= list->count && so_far >= 0; k++) {
    const List *inner = list->items[k].list;
    so_far = inner ? common_length(inner, levels - 1, so_far) : -1;
    if (levels == 1 && inner && !inner->count) so_far = -1;
  }
  return so_far;
}

int row_length(const Entity *row) {
  int levels = 0;
  for (const ListIndex *index = row->list.index; index; index = index->before) levels++;
  return common_length(row->list.list, levels, 0);
}
