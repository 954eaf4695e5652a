/* peers.c - win:peer(r), of ranks' windows, with an `r` that a kernel may compute. If the elements
 * of all ranks form one array, win["peer(r)"], which has an additional axis, the call selects a row
 * of it. Otherwise (sparse trees, and dense ones that no array describes) it selects one of the
 * ranks' fields, win["peers(r)"]: FieldPeers. Either way the call becomes an index.
 * Decision D-comm-08. */
#include "resolve/resolve.h"

static bool is_known(const Expr *e, double *rank) {
  return e->list.items[0]->kind != AST_TABLE && sema_is_constant(e->list.items[0], rank);
}

static bool check_rank(Resolve *r, Expr *e, const Entity *window, int64_t count) {
  double rank;
  if (!is_known(e, &rank) || (rank >= 0 && rank < (double)count)) return true;
  return sema_fail(r->s, e, RG_ERROR_INDEX_RANGE, NULL, "'%s' has ranks 0 to %lld", window->name,
                   (long long)count - 1);
}

static Entity row_of_ranks(Resolve *r, Expr *e) {
  AstExpr *ast = scratch_alloc(r->scratch, sizeof *ast);
  Expr *ranks = scratch_alloc(r->scratch, sizeof *ranks);
  *ast = (AstExpr){
      .kind = AST_FIELD, .pos = e->pos, .left = (AstExpr *)e->left->ast, .text = STR("peer(r)")};
  *ranks = (Expr){.kind = AST_FIELD,
                  .op = AST_NO_OP,
                  .pos = e->pos,
                  .width = e->width,
                  .ast = ast,
                  .left = e->left,
                  .text = ast->text};
  e->kind = AST_INDEX;
  e->left = ranks;
  return resolve_expr(r, e);
}

/* -- one of many ------------------------------------------------------------------------------- */

static const FieldPeers *find_peers(Resolve *r, Expr *e, const Entity *window, int64_t count,
                                    const int *numbers) {
  FieldPeers *peers = scratch_new(r->scratch, FieldPeers);
  *peers = (FieldPeers){.count = (int)count, .of = scratch_array(r->scratch, Entity, (int)count)};
  for (int k = 0; k < peers->count && !r->s->failed; k++) {
    peers->of[k] = resolve_path_value(r, e, numbers[k + 1]);
    ASSERT(r->s->failed || peers->of[k].kind == ENTITY_FIELD, "a window of a field lists fields");
    peers->of[k].name = window->name;
  }
  return peers;
}

static Entity one_of_peers(Resolve *r, Expr *e, const Entity *window, const Entity *list) {
  int64_t count;
  int indices;
  if (!table_length(r, e, list, &count)) return (Entity){0};
  const int *numbers = table_find_all(r, e, list, count);
  if (!numbers || !check_rank(r, e, window, count)) return (Entity){0};
  if (!resolve_indices(r, &e->list, &indices)) return (Entity){0};
  const FieldPeers *peers = find_peers(r, e, window, count, numbers);
  if (r->s->failed) return (Entity){0};
  Entity peer = peers->of[0];
  if (indices != 1 || field_rank(&peer.field) >= SNODE_MAX_AXES)
    return resolve_fail_argument_count(r, e, ":peer", 1, 1);
  peer.field.peers = peers;
  peer.field.index_count = 1;
  e->kind = AST_INDEX;
  return peer;
}

bool peer_is(const Expr *e) {
  return e->entity.kind == ENTITY_FIELD && e->entity.field.peers &&
         e->left->entity.kind == ENTITY_TABLE;
}

/* -- the call ---------------------------------------------------------------------------------- */

Entity resolve_peer(Resolve *r, Expr *e, const Entity *window) {
  if (e->list.count != 1) return resolve_fail_argument_count(r, e, ":peer", 1, 1);
  double rank;
  int ranks = table_find(r, e, window, "peer(r)", is_known(e, &rank));
  if (ranks < 0) return table_fail(r, e), (Entity){0};
  const SemaValue *value = &r->input->captures[ranks];
  if (value->kind == VALUE_ARRAY) {
    bool is_there = !value->is_static || check_rank(r, e, window, value->array.shape[0]);
    return is_there ? row_of_ranks(r, e) : (Entity){0};
  }
  int list = table_find(r, e, window, "peers(r)", false);
  if (list < 0) return table_fail(r, e), (Entity){0};
  if (r->input->captures[list].kind == VALUE_TABLE) {
    Entity entity = resolve_path_value(r, e, list);
    return one_of_peers(r, e, window, &entity);
  }
  sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
            "capture those of this rank's team: local p = win:peer(r), outside; win:get(r, a) and "
            "comm:trade copy from all",
            "ranks of '%s' are chosen in kernels only where it is open, and one team has all ranks",
            window->name);
  return (Entity){0};
}

bool resolve_check_own(Resolve *r, Expr *e, const Entity *object) {
  bool is_peer =
      (object->kind == ENTITY_FIELD || object->kind == ENTITY_ELEMENT) && object->field.peers;
  return !is_peer ||
         sema_fail(r->s, e, RG_ERROR_NAME_ASSIGN, "only the owning rank can do more",
                   "'%s:peer(..)' chooses among ranks' trees, of which elements can only be read, "
                   "one by one",
                   object->name);
}
