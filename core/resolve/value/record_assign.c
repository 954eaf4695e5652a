/* record_assign.c - assignments to tables of values, and to a value in one (record.c).
 *
 *     p.r = 2             p.r is a local already
 *     p = {pos = v, r = 2}, p.inner = q         one assignment of all their values
 *     local best  if c then best = p end        the first value makes `best` a table
 *     w[k] = e, w[k] += e                       k known at run time: each value of the list becomes
 *                                               e if k is its index, else stays the same
 */
#include "resolve/resolve.h"

static bool is_record(const Local *local) {
  return local && local->is_alias && record_is(&local->alias);
}

/* -- targets ----------------------------------------------------------------------------------- */

/* Is e a list of values with an index known only at run time? */
static bool is_run_time(Resolve *r, Expr *e) {
  if (e->kind != AST_INDEX || e->list.count != 1) return false;
  Entity object = resolve_expr(r, e->left);
  return record_is(&object) && e->list.items[0]->kind != AST_STRING &&
         !static_is_known(r, e->list.items[0]);
}

/* Finds locals that build_expr did not: `w[k + 1]` with a known k, `p.new`. It goes from the root
 * outward, since resolving rewrites such an expression to the local. */
static void reach(Resolve *r, Expr *e) {
  if (e->kind != AST_FIELD && e->kind != AST_INDEX) return;
  reach(r, e->left);
  if (e->left->kind == AST_LOCAL && is_record(e->left->local) && !is_run_time(r, e))
    resolve_expr(r, e);
}

/* Refuses `w[k].x = 1`, `w[k][2] = 1`: part of an element that is known only at run time. */
static bool check_whole(Resolve *r, Expr *target) {
  for (Expr *e = target; e->kind == AST_FIELD || e->kind == AST_INDEX; e = e->left)
    if (e != target && is_run_time(r, e)) {
      const char *name = sema_source(r->s, e);
      return sema_fail(
          r->s, target, RG_ERROR_NAME_ASSIGN,
          scratch_format(r->scratch, "assign it as a whole: local v = %s, change v, then %s = v",
                         name, name),
          "'%s' cannot be assigned: with an index known only at run time, only whole values can be",
          sema_source(r->s, target));
    }
  return !r->s->failed;
}

/* Refuses an assignment into a parameter's table: in Lua it would change the caller's, too. */
static bool check_target(Resolve *r, const Expr *target) {
  const AstExpr *at = target->ast;
  while (at->kind == AST_FIELD || at->kind == AST_INDEX || at->kind == AST_PAREN) at = at->left;
  const Local *root = at != target->ast && at->kind == AST_LOCAL ? build_find(r, at->local) : NULL;
  if (!is_record(root) || !root->is_parameter) return true;
  const char *name = sema_text(r->s, root->name);
  return sema_fail(
      r->s, target, RG_ERROR_NAME_ASSIGN,
      scratch_format(r->scratch, "change a copy and return it: local q = %s", name),
      "'%s' is a copy of the caller's table, so changing it would not change that table", name);
}

/* -- a local becomes a record ------------------------------------------------------------------ */

static bool may_become(const Expr *target) {
  const Local *local = target->kind == AST_LOCAL ? target->local : NULL;
  return local && !local->is_alias && !local->has_shape && local->declaration &&
         !local->is_poisoned;
}

/* Makes the local a record, whose locals are declared at the local's declaration. */
static void become_record(Resolve *r, Local *local, const Record *record) {
  Stmt *declaration = local->declaration;
  Locals kept = {0};
  record_name(r, local, record);
  for (int i = 0; i < declaration->locals.count; i++)
    if (declaration->locals.items[i] != local)
      vec_push(r->scratch, &kept, declaration->locals.items[i]);
  record_leaves(r, local->alias.record, &kept);
  declaration->locals = kept;
}

/* The names in a table constructor, without shapes. */
static const Record *outline(Resolve *r, const AstExpr *table) {
  Record *record = scratch_new(r->scratch, Record);
  record->items = scratch_array(r->scratch, RecordItem, table->list.count + 1);
  for (int k = 0; k < table->list.count; k++) {
    const AstExpr *key = table->keys.items[k], *value = table->list.items[k];
    Local *local = scratch_new(r->scratch, Local);
    if (key && key->kind != AST_STRING) return NULL;
    *local = (Local){.name = key ? key->text : (Str){0}, .pos = value->pos};
    if (value->kind == AST_TABLE) {
      local->is_alias = true;
      local->alias = (Entity){.kind = ENTITY_RECORD, .record = outline(r, value)};
      if (!local->alias.record) return NULL;
    }
    record->items[record->count++] = (RecordItem){local->name, local};
  }
  return record;
}

static const AstExpr *find_table(const AstBlock *block, const AstLocal *name) {
  const AstExpr *found = NULL;
  for (int i = 0; i < block->count && !found; i++) {
    const AstStmt *stmt = block->items[i];
    for (int k = 0; k < stmt->targets.count && k < stmt->values.count && !found; k++)
      if (stmt->targets.items[k]->kind == AST_LOCAL && stmt->targets.items[k]->local == name &&
          stmt->values.items[k]->kind == AST_TABLE)
        found = stmt->values.items[k];
    for (int k = 0; k < stmt->bodies.count && !found; k++)
      found = find_table(&stmt->bodies.items[k], name);
  }
  return found;
}

void record_find_form(Resolve *r, Local *local, const AstLocal *name) {
  const AstFunction *function = r->s->frame ? r->s->frame->function : r->input->ast->function;
  if (local->is_alias || local->is_poisoned || !name) return;
  const AstExpr *table = find_table(&function->body, name);
  const Record *record = table ? outline(r, table) : NULL;
  if (record) become_record(r, local, record);
}

/* -- whole tables ------------------------------------------------------------------------------ */

static Expr *name_of(Resolve *r, Local *local, const Expr *at) {
  Expr *e = scratch_new(r->scratch, Expr);
  r->expr_count++;
  *e = (Expr){.kind = AST_LOCAL,
              .op = AST_NO_OP,
              .pos = at->pos,
              .width = at->width,
              .ast = at->ast,
              .text = local->name,
              .local = local};
  return e;
}

static bool spread_target(Resolve *r, Expr *target, Expr *value, Exprs *targets, Exprs *values) {
  const Record *record = target->local->alias.record;
  Locals leaves = {0};
  record_value(r, value);
  if (r->s->failed || (!record_is(&value->entity) && !resolve_is_value(r, value)) ||
      !record_flatten(r, value, record,
                      scratch_format(r->scratch, "'%s'", sema_source(r->s, target)), values))
    return false;
  record_leaves(r, record, &leaves);
  for (int i = 0; i < leaves.count; i++)
    vec_push(r->scratch, targets, name_of(r, leaves.items[i], target));
  return true;
}

static bool fail_compound(Resolve *r, const Expr *target) {
  return sema_fail(r->s, target, RG_ERROR_TYPE_MISMATCH, "update a value in it: p.x += 1",
                   "'%s' is %s, which has no arithmetic", sema_source(r->s, target),
                   record_text(r, target->local->alias.record));
}

static bool assign_whole(Resolve *r, Stmt *stmt) {
  Exprs targets = {0}, values = {0};
  for (int i = 0; i < stmt->targets.count || i < stmt->values.count; i++) {
    Expr *target = i < stmt->targets.count ? stmt->targets.items[i] : NULL;
    Expr *value = i < stmt->values.count ? stmt->values.items[i] : NULL;
    if (target && is_record(target->kind == AST_LOCAL ? target->local : NULL) && value) {
      if (stmt->kind == AST_STMT_COMPOUND) return fail_compound(r, target);
      if (!spread_target(r, target, value, &targets, &values)) return false;
      continue;
    }
    if (target) vec_push(r->scratch, &targets, target);
    if (value) vec_push(r->scratch, &values, value);
  }
  stmt->targets = targets;
  stmt->values = values;
  return true;
}

/* -- w[k] = e ---------------------------------------------------------------------------------- */

static Stmt *new_stmt(Resolve *r, AstStmtKind kind, const Stmt *like) {
  Stmt *stmt = scratch_new(r->scratch, Stmt);
  *stmt = (Stmt){.kind = kind, .op = AST_NO_OP, .pos = like->pos, .width = like->width};
  return stmt;
}

static Local *hold(Resolve *r, const char *name, Expr *value, Type type, Block *block,
                   const Stmt *like) {
  Stmt *stmt = new_stmt(r, AST_STMT_LOCAL, like);
  Local *local = build_hidden(r, str_of(name), value->pos);
  if (!type_is_none(type)) {
    local->is_annotated = local->has_shape = true;
    local->type = type;
  }
  vec_push(r->scratch, &stmt->locals, local);
  vec_push(r->scratch, &stmt->values, value);
  vec_push(r->scratch, block, stmt);
  resolve_declaration(r, stmt);
  return local;
}

/* `index == position ? value : item` */
static Expr *chosen(Resolve *r, Local *index, int position, Local *value, Local *item,
                    const Expr *at) {
  Expr *choice = build_node(r, AST_TERNARY, AST_NO_OP, at);
  choice->left = build_node(r, AST_BINARY, AST_EQ, at);
  choice->left->left = name_of(r, index, at);
  choice->left->right = literal_integer(r, at->ast, position);
  choice->right = name_of(r, value, at);
  choice->third = name_of(r, item, at);
  return choice;
}

static bool choose_all(Resolve *r, Stmt *to, const Record *list, Local *index, Local *value,
                       const Expr *at) {
  for (int position = 1; position <= record_length(list) && !r->s->failed; position++) {
    Local *item = record_at(list, position);
    Locals items = {0}, given = {0};
    Expr *read = name_of(r, value, at);
    Exprs unused = {0};
    resolve_expr(r, read);
    if (is_record(item) != is_record(value) ||
        (is_record(item) &&
         !record_flatten(r, read, item->alias.record,
                         scratch_format(r->scratch, "'%s'", sema_source(r->s, at)), &unused)))
      return r->s->failed ? false
                          : sema_fail(r->s, at, RG_ERROR_TYPE_MISMATCH, NULL,
                                      "'%s' holds values of different types than this one",
                                      sema_source(r->s, at));
    for (int k = 0; k < unused.count; k++) vec_push(r->scratch, &given, unused.items[k]->local);
    if (is_record(item)) record_leaves(r, item->alias.record, &items);
    else vec_push(r->scratch, &items, item);
    if (!is_record(item)) vec_push(r->scratch, &given, value);
    for (int k = 0; k < items.count; k++) {
      vec_push(r->scratch, &to->targets, name_of(r, items.items[k], at));
      vec_push(r->scratch, &to->values,
               chosen(r, index, position, given.items[k], items.items[k], at));
    }
  }
  return true;
}

/* All targets are lists at an index of the run, or locals, and each has a value. */
static bool check_each(Resolve *r, Stmt *stmt) {
  bool fits = stmt->targets.count == stmt->values.count;
  for (int i = 0; i < stmt->targets.count && !r->s->failed; i++) {
    Expr *target = stmt->targets.items[i];
    if (!check_target(r, target)) return false;
    reach(r, target);
    if (r->s->failed || !check_whole(r, target)) return false;
    bool is_item = is_run_time(r, target);
    fits &= is_item ? target->left->kind == AST_LOCAL : target->kind == AST_LOCAL;
    if (!fits)
      return sema_fail(r->s, target, RG_ERROR_UNSUPPORTED,
                       "write it as a separate statement: w[k] = ..",
                       "an element of a table at an index known at run time is assigned together "
                       "with locals and such elements only");
    Entity object = is_item ? resolve_expr(r, target->left) : (Entity){0};
    if (is_item && !record_check_list(r, target, &object)) return false;
  }
  return !r->s->failed;
}

/* `w[index] op value` */
static Expr *updated(Resolve *r, const Stmt *stmt, const Expr *target, Local *index, Expr *value) {
  Expr *sum = build_node(r, AST_BINARY, stmt->op, target);
  sum->left = build_node(r, AST_INDEX, AST_NO_OP, target);
  sum->left->left = name_of(r, target->left->local, target);
  vec_push(r->scratch, &sum->left->list, name_of(r, index, target));
  sum->right = value;
  return sum;
}

static bool assign_held(Resolve *r, Expr *target, Local *index, Local *value, Block *block,
                        const Stmt *like) {
  Stmt *assign = new_stmt(r, AST_STMT_ASSIGN, like);
  if (index) {
    Entity object = resolve_expr(r, target->left);
    if (!choose_all(r, assign, object.record, index, value, target)) return false;
  } else {
    vec_push(r->scratch, &assign->targets, target);
    vec_push(r->scratch, &assign->values, name_of(r, value, target));
  }
  vec_push(r->scratch, block, assign);
  resolve_assignment(r, assign);
  return !r->s->failed;
}

/* `w[k] = e`, and `w[j], w[k] = w[k], w[j]`: all indices and values before the first assignment. */
static void assign_at(Resolve *r, Stmt *stmt) {
  int count = stmt->targets.count;
  Local **indices = scratch_array(r->scratch, Local *, count);
  Local **held = scratch_array(r->scratch, Local *, count);
  Block block = {0};
  if (!check_each(r, stmt)) return;
  for (int i = 0; i < count && !r->s->failed; i++) {
    Expr *target = stmt->targets.items[i];
    indices[i] = is_run_time(r, target)
                     ? hold(r, "index", target->list.items[0], TYPE(I64), &block, stmt)
                     : NULL;
  }
  for (int i = 0; i < count && !r->s->failed; i++) {
    Expr *value = stmt->values.items[i];
    if (stmt->kind == AST_STMT_COMPOUND)
      value = updated(r, stmt, stmt->targets.items[i], indices[i], value);
    held[i] = hold(r, "value", value, TYPE(NONE), &block, stmt);
  }
  if (r->s->failed) return;
  for (int i = 0; i < count; i++)
    if (!assign_held(r, stmt->targets.items[i], indices[i], held[i], &block, stmt)) return;
  stmt->kind = AST_STMT_DO;
  stmt->targets.count = stmt->values.count = 0;
  vec_push(r->scratch, &stmt->bodies, block);
}

/* -- all --------------------------------------------------------------------------------------- */

bool record_assign(Resolve *r, Stmt *stmt) {
  bool has_whole = false;
  for (int i = 0; i < stmt->targets.count && !r->s->failed; i++) {
    Expr *target = stmt->targets.items[i];
    Expr *value = i < stmt->values.count ? stmt->values.items[i] : NULL;
    if (!check_target(r, target)) return false;
    reach(r, target);
    if (r->s->failed || !check_whole(r, target)) return false;
    if (is_run_time(r, target)) {
      if (!r->s->failed) assign_at(r, stmt);
      return false;
    }
    if (value && may_become(target) && !r->s->failed) {
      Entity entity = record_value(r, value);
      if (record_is(&entity) && !r->s->failed) become_record(r, target->local, entity.record);
    }
    has_whole |= target->kind == AST_LOCAL && is_record(target->local);
  }
  return !r->s->failed && (!has_whole || assign_whole(r, stmt));
}

/* -- reductions -------------------------------------------------------------------------------- */

Local *record_reduced(Resolve *r, const AstExpr *target) {
  if (target->kind == AST_LOCAL) return build_find(r, target->local);
  if (target->kind != AST_FIELD && target->kind != AST_INDEX && target->kind != AST_PAREN)
    return NULL;
  Local *inner = record_reduced(r, target->left);
  if (!is_record(inner) || target->kind == AST_PAREN) return inner;
  const AstExpr *index =
      target->kind == AST_INDEX && target->list.count == 1 ? target->list.items[0] : NULL;
  if (target->kind == AST_FIELD) return record_find(inner->alias.record, target->text);
  return index && index->kind == AST_NUMBER && index->integer < 256
             ? record_at(inner->alias.record, (int)index->integer)
             : NULL;
}
