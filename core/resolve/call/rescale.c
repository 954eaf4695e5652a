/* rescale.c - rg.rescale(from, to, i, j): converts indices of one level of a tree to another.
 *
 *     rg.rescale(x, block, i, j)      a call of  function(i, j) return i // 16, j // 16 end
 *
 * The function is generated from the two levels and resolved like any user function, so it can
 * return several values and take an integer vector (v[0] // 16). If `to` is below `from`, the
 * result is the first of its cells. */
#include "resolve/resolve.h"

static bool is_level(const Entity *entity) {
  return (entity->kind == ENTITY_FIELD || entity->kind == ENTITY_NODE) &&
         !entity->field.index_count && entity->field.node;
}

/* One index of `to`. False if neither level divides the other's cells. */
static bool write_index(StrBuf *text, const Entity *from, const Entity *to, int k, bool is_vector) {
  int axis = to->field.node->level_axes[k], position = snode_axis_position(from->field.node, axis);
  int64_t coarse = snode_cells_along(to->field.node, axis),
          fine = snode_cells_along(from->field.node, axis);
  if (position < 0) {
    strbuf_text(text, "0");
  } else {
    int64_t offset = from->field.offset ? from->field.offset[position] : 0;
    strbuf_format(text, is_vector ? "(v[%d] - %lld)" : "(i%d - %lld)", position, (long long)offset);
    if (fine % coarse == 0) strbuf_format(text, " // %lld", (long long)(fine / coarse));
    else if (coarse % fine == 0) strbuf_format(text, " * %lld", (long long)(coarse / fine));
    else return false;
  }
  if (to->field.offset) strbuf_format(text, " + %lld", (long long)to->field.offset[k]);
  return true;
}

static const char *write_function(Resolve *r, const Entity *from, const Entity *to,
                                  bool is_vector) {
  StrBuf text;
  strbuf_init(&text, r->scratch);
  strbuf_text(&text, "function(");
  for (int k = 0; !is_vector && k < from->field.node->rank; k++)
    strbuf_format(&text, k ? ", i%d" : "i%d", k);
  strbuf_text(&text, is_vector ? "v) return " : ") return ");
  for (int k = 0; k < to->field.node->rank; k++) {
    if (k) strbuf_text(&text, ", ");
    if (!write_index(&text, from, to, k, is_vector)) return NULL;
  }
  strbuf_text(&text, " end");
  return strbuf_end(&text);
}

static bool fail_levels(Resolve *r, Expr *e, const char *what) {
  return sema_fail(r->s, e, RG_ERROR_CALL, "rg.rescale(x, block, i, j)", "'rg.rescale' %s", what);
}

static bool check_levels(Resolve *r, Expr *e, const Entity *from, const Entity *to) {
  if (r->s->failed) return false;
  if (!is_level(from) || !is_level(to))
    return fail_levels(r, e, "takes two levels first, each a field or an SNode");
  if (from->field.node->tree != to->field.node->tree)
    return fail_levels(r, e, "takes two levels of one tree, not of two");
  return true;
}

/* 1: the indices are one integer vector; 0: separate numbers; -1 after an error. */
static int takes_vector(Resolve *r, Expr *e, const Entity *from) {
  int given = e->list.count - 2, rank = from->field.node->rank;
  if (given == rank && rank != 1) return 0;
  if (given == 1 && resolve_value(r, e->list.items[2])) {
    int count = type_parts(shape_of(e->list.items[2]));
    if (count == rank) return count > 1;
  }
  if (!r->s->failed)
    sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, NULL, "'%s' has %d %s, and 'rg.rescale' was given %d",
              from->name, rank, rank == 1 ? "axis" : "axes", given);
  return -1;
}

Entity rescale_call(Resolve *r, Expr *e) {
  if (e->inlined) return e->entity; /* already resolved */
  if (e->list.count < 3)
    return fail_levels(r, e, "takes two levels, and indices of the first"), (Entity){0};
  Entity from = resolve_expr(r, e->list.items[0]), to = resolve_expr(r, e->list.items[1]);
  if (!check_levels(r, e, &from, &to)) return (Entity){0};
  int is_vector = takes_vector(r, e, &from);
  if (is_vector < 0) return (Entity){0};
  const char *text = write_function(r, &from, &to, is_vector);
  if (!text)
    return fail_levels(r, e, "takes two levels, one of which divides the cells of the other"),
           (Entity){0};
  e->list.items += 2;
  e->list.count -= 2;
  e->list.capacity -= 2;
  return resolve_call_of_text(r, e, NULL, "rg.rescale", text);
}
