/* table_row.c - rows of constant tables that are selected at run time.
 *
 *     local edge = edges[k + 1]    edge[2] is edges[k + 1][2]; likewise #edge, ipairs(edge) and
 *                                  unpack(edge), and a parameter with the argument edges[k + 1]
 *
 * The name is an alias of the table and the indices so far. These are computed once, at the name's
 * declaration: `local edge = edges[k + 1]` declares `index = k + 1` in place of `edge`. */
#include "resolve/resolve.h"

bool row_is(const Entity *entity) { return entity->kind == ENTITY_LIST && entity->list.index; }

static void hold(Resolve *r, ListIndex *index, Locals *locals, Exprs *values) {
  if (!index || index->held) return;
  hold(r, index->before, locals, values);
  index->held = build_hidden(r, str_of("index"), index->index->pos);
  index->held->is_annotated = index->held->has_shape = index->held->is_declared = true;
  index->held->type = TYPE(I64);
  vec_push(r->scratch, locals, index->held);
  vec_push(r->scratch, values, index->index);
}

void row_hold_all(Resolve *r, Locals *locals, Exprs *values) {
  Locals old_locals = *locals, new_locals = {0};
  Exprs old_values = *values, new_values = {0};
  bool has_new = false;
  for (int i = 0; i < old_locals.count || i < old_values.count; i++) {
    Local *local = i < old_locals.count ? old_locals.items[i] : NULL;
    bool is_new =
        local && local->is_alias && row_is(&local->alias) && !local->alias.list.index->held;
    has_new |= is_new;
    if (is_new) hold(r, local->alias.list.index, &new_locals, &new_values);
    if (!is_new && local) vec_push(r->scratch, &new_locals, local);
    if (!is_new && i < old_values.count) vec_push(r->scratch, &new_values, old_values.items[i]);
  }
  if (!has_new) return;
  *locals = new_locals;
  *values = new_values;
}

static void add_index(Resolve *r, const Expr *at, const ListIndex *index, Exprs *indices) {
  if (!index) return;
  add_index(r, at, index->before, indices);
  vec_push(r->scratch, indices, index->held ? build_read(r, index->held, at) : index->index);
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
