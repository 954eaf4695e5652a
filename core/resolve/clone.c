/* clone.c - a copy of a function's tree with numbers of its own, so that sema may know different things about each
 * place where it is written out. The kernel itself is copied too, with the numbers it has: sema adds to what it copied,
 * never to the tree that front made.
 *
 * A copied function is also shaped: what follows an `if` of which all other arms return goes into the arm that does not,
 *
 *     if c then return a end; B; return b      if c then return a else B; return b end
 *
 * so that most early returns become plain branches. */
#include "resolve/resolve.h"

enum { DEEPEST_SHAPE = 60 }; /* branches; what lies deeper leaves by a break */

typedef struct Cloner {
  Sema *s;
  AstFunction *function;
  Map locals; /* AstLocal -> its copy */
  bool keeps_numbers;
} Cloner;

static AstExpr *clone_expr(Cloner *c, const AstExpr *e);
static AstBlock clone_block(Cloner *c, const AstBlock *block);

/* -- numbers ------------------------------------------------------------------------------------------------ */

static void *grow(Sema *s, const void *items, size_t item_bytes, int count, int capacity) {
  void *room = scratch_alloc(s->scratch, item_bytes * (size_t)capacity);
  memcpy(room, items, item_bytes * (size_t)count);
  return room;
}

static int next_expr(Sema *s) {
  int id = s->ast->expr_count++;
  if (id < s->expr_capacity) return id;
  int capacity = 2 * id + 64;
  s->entities = grow(s, s->entities, sizeof *s->entities, id, capacity);
  s->types = grow(s, s->types, sizeof *s->types, id, capacity);
  s->at = grow(s, s->at, sizeof *s->at, id, capacity);
  s->expr_capacity = capacity;
  return id;
}

static int next_local(Sema *s) {
  int id = s->ast->local_count++;
  if (id < s->local_capacity) return id;
  int capacity = 2 * id + 32;
  s->locals = grow(s, s->locals, sizeof *s->locals, id, capacity);
  s->local_capacity = capacity;
  return id;
}

AstExpr *clone_new_expr(Sema *s, const AstExpr *like) {
  AstExpr *e = scratch_new(s->scratch, AstExpr);
  *e = *like;
  e->id = next_expr(s);
  return e;
}

AstLocal *clone_new_local(Sema *s, const AstLocal *like) {
  AstLocal *local = scratch_new(s->scratch, AstLocal);
  *local = *like;
  local->id = next_local(s);
  return local;
}

/* -- copies ------------------------------------------------------------------------------------------------------ */

static AstExprs clone_list(Cloner *c, const AstExprs *list) {
  AstExprs copy = {0};
  for (int i = 0; i < list->count; i++)
    vec_push(c->s->scratch, &copy, list->items[i] ? clone_expr(c, list->items[i]) : NULL);
  return copy;
}

static AstLocal *clone_local(Cloner *c, const AstLocal *local) {
  AstLocal *copy = scratch_new(c->s->scratch, AstLocal);
  *copy = *local;
  if (!c->keeps_numbers) copy->id = next_local(c->s);
  if (local->annotation) copy->annotation = clone_expr(c, local->annotation);
  copy->owner = c->function;
  map_put_int(&c->locals, (uintptr_t)local, copy);
  return copy;
}

/* Functions inside are refused by resolve, so they stay what they are. */
static AstExpr *clone_expr(Cloner *c, const AstExpr *e) {
  AstExpr *copy = scratch_new(c->s->scratch, AstExpr);
  *copy = *e;
  if (!c->keeps_numbers) copy->id = next_expr(c->s);
  if (e->left) copy->left = clone_expr(c, e->left);
  if (e->right) copy->right = clone_expr(c, e->right);
  if (e->third) copy->third = clone_expr(c, e->third);
  copy->list = clone_list(c, &e->list);
  copy->keys = clone_list(c, &e->keys);
  AstLocal *local = e->local ? map_find_int(&c->locals, (uintptr_t)e->local) : NULL;
  if (local) copy->local = local;
  return copy;
}

/* Values do not see the names that a statement declares; those of a `repeat` see its body's. */
static AstStmt *clone_stmt(Cloner *c, const AstStmt *stmt) {
  Scratch *scratch = c->s->scratch;
  AstStmt *copy = scratch_new(scratch, AstStmt);
  *copy = *stmt;
  copy->locals.items = NULL;
  copy->locals.count = copy->locals.capacity = 0;
  copy->bodies.items = NULL;
  copy->bodies.count = copy->bodies.capacity = 0;
  copy->targets = clone_list(c, &stmt->targets);
  if (stmt->kind != AST_STMT_REPEAT) copy->values = clone_list(c, &stmt->values);
  for (int i = 0; i < stmt->locals.count; i++) vec_push(scratch, &copy->locals, clone_local(c, stmt->locals.items[i]));
  for (int i = 0; i < stmt->bodies.count; i++) vec_push(scratch, &copy->bodies, clone_block(c, &stmt->bodies.items[i]));
  if (stmt->kind == AST_STMT_REPEAT) copy->values = clone_list(c, &stmt->values);
  return copy;
}

static AstBlock clone_block(Cloner *c, const AstBlock *block) {
  AstBlock copy = {0};
  for (int i = 0; i < block->count; i++) vec_push(c->s->scratch, &copy, clone_stmt(c, block->items[i]));
  return copy;
}

static AstFunction *clone(Sema *s, const AstFunction *function, bool keeps_numbers) {
  Cloner c = {.s = s, .function = scratch_new(s->scratch, AstFunction), .keeps_numbers = keeps_numbers};
  map_init(&c.locals, s->scratch);
  AstFunction *copy = c.function;
  *copy = *function;
  copy->parameters.items = NULL;
  copy->parameters.count = copy->parameters.capacity = 0;
  for (int i = 0; i < function->parameters.count; i++)
    vec_push(s->scratch, &copy->parameters, clone_local(&c, function->parameters.items[i]));
  copy->results = clone_list(&c, &function->results);
  copy->body = clone_block(&c, &function->body);
  return copy;
}

Ast *clone_ast(Sema *s, const Ast *ast) {
  Ast *copy = scratch_new(s->scratch, Ast);
  *copy = *ast;
  copy->function = clone(s, ast->function, true);
  return copy;
}

void clone_turn(Sema *s, const AstBlock *block, AstLocal *const *from, AstLocal *const *to, int count, AstBlock *out) {
  Cloner c = {.s = s, .function = count ? from[0]->owner : NULL};
  map_init(&c.locals, s->scratch);
  for (int i = 0; i < count; i++) map_put_int(&c.locals, (uintptr_t)from[i], to[i]);
  for (int i = 0; i < block->count; i++) vec_push(s->scratch, out, clone_stmt(&c, block->items[i]));
}

AstExpr *clone_expr_of(Sema *s, const AstExpr *e) {
  Cloner c = {.s = s};
  map_init(&c.locals, s->scratch);
  return clone_expr(&c, e);
}

/* -- returns -------------------------------------------------------------------------------------------------------- */

static bool always_returns(const AstBlock *block) {
  if (!block->count) return false;
  const AstStmt *last = block->items[block->count - 1];
  if (last->kind == AST_STMT_RETURN) return true;
  bool is_whole = last->kind == AST_STMT_DO || (last->kind == AST_STMT_IF && last->bodies.count > last->values.count);
  for (int i = 0; i < last->bodies.count && is_whole; i++) is_whole = always_returns(&last->bodies.items[i]);
  return is_whole && last->bodies.count > 0;
}

/* The one arm of an `if` that goes on; -1: none or several do. An `else` is added where it is the missing one. */
static int arm_that_goes_on(Sema *s, AstStmt *branch) {
  int found = -1, count = 0;
  for (int i = 0; i < branch->bodies.count; i++) {
    if (always_returns(&branch->bodies.items[i])) continue;
    found = i;
    count++;
  }
  bool lacks_else = branch->bodies.count == branch->values.count;
  if (count + lacks_else != 1 || count == branch->bodies.count) return -1;
  if (!lacks_else) return found;
  AstBlock rest = {0};
  vec_push(s->scratch, &branch->bodies, rest);
  return branch->bodies.count - 1;
}

static void shape(Sema *s, AstBlock *block, int depth) {
  for (int i = 0; i < block->count && depth < DEEPEST_SHAPE; i++) {
    AstStmt *stmt = block->items[i];
    bool is_last = i == block->count - 1;
    if (stmt->kind == AST_STMT_DO && is_last) shape(s, &stmt->bodies.items[0], depth + 1);
    if (stmt->kind != AST_STMT_IF) continue;
    int arm = is_last ? -1 : arm_that_goes_on(s, stmt);
    if (arm >= 0) {
      for (int k = i + 1; k < block->count; k++) vec_push(s->scratch, &stmt->bodies.items[arm], block->items[k]);
      block->count = i + 1;
    }
    if (i < block->count - 1) continue;
    for (int k = 0; k < stmt->bodies.count; k++) shape(s, &stmt->bodies.items[k], depth + 1);
  }
}

AstFunction *clone_function(Sema *s, const AstFunction *function) {
  AstFunction *copy = clone(s, function, false);
  shape(s, &copy->body, 0);
  return copy;
}

/* Returns behind which something of the function is left. `is_tail`: the block ends the function. */
static int count_early(const AstBlock *block, bool is_tail) {
  int count = 0;
  for (int i = 0; i < block->count; i++) {
    const AstStmt *stmt = block->items[i];
    bool ends = is_tail && i == block->count - 1;
    bool is_branch = stmt->kind == AST_STMT_IF || stmt->kind == AST_STMT_DO;
    count += stmt->kind == AST_STMT_RETURN && !ends;
    for (int k = 0; k < stmt->bodies.count; k++) count += count_early(&stmt->bodies.items[k], ends && is_branch);
  }
  return count;
}

bool clone_returns_early(const AstFunction *function) { return count_early(&function->body, true) > 0; }

/* One return, and that its last statement: its values are the call's. */
bool clone_is_straight(const AstFunction *function) {
  const AstBlock *body = &function->body;
  return body->count > 0 && body->items[body->count - 1]->kind == AST_STMT_RETURN && !clone_returns_early(function);
}
