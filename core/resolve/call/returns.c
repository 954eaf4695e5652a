/* returns.c - early returns of expanded functions: the statements after an `if` whose other arms
 * all return move into the arm that does not,
 *
 *     if c then return a end; B; return b      if c then return a else B; return b end
 *
 * so that most early returns become plain branches. The original statements stay unchanged: changed
 * ones are copies. */
#include "resolve/resolve.h"

enum { DEEPEST_SHAPE = 60 }; /* branches; deeper returns become a break */

bool returns_always(const AstBlock *block) {
  if (!block->count) return false;
  const AstStmt *last = block->items[block->count - 1];
  if (last->kind == AST_STMT_RETURN) return true;
  bool is_whole = last->kind == AST_STMT_DO ||
                  (last->kind == AST_STMT_IF && last->bodies.count > last->values.count);
  for (int i = 0; i < last->bodies.count && is_whole; i++)
    is_whole = returns_always(&last->bodies.items[i]);
  return is_whole && last->bodies.count > 0;
}

/* The only arm of an `if` that does not return; -1 if none or several. Adds the `else` if it is the
 * missing one. */
static int arm_that_goes_on(Resolve *r, AstStmt *branch) {
  int found = -1, count = 0;
  for (int i = 0; i < branch->bodies.count; i++) {
    if (returns_always(&branch->bodies.items[i])) continue;
    found = i;
    count++;
  }
  bool lacks_else = branch->bodies.count == branch->values.count;
  if (count + lacks_else != 1 || count == branch->bodies.count) return -1;
  if (!lacks_else) return found;
  AstBlock rest = {0};
  vec_push(r->scratch, &branch->bodies, rest);
  return branch->bodies.count - 1;
}

/* Copies the block, the branches in it, and the block that ends it. */
static AstBlock copy_block(Resolve *r, const AstBlock *block) {
  AstBlock copy = {0};
  for (int i = 0; i < block->count; i++) {
    AstStmt *stmt = block->items[i];
    if (stmt->kind == AST_STMT_IF || stmt->kind == AST_STMT_DO) {
      stmt = scratch_new(r->scratch, AstStmt);
      *stmt = *block->items[i];
      stmt->bodies.items = NULL;
      stmt->bodies.count = stmt->bodies.capacity = 0;
      for (int k = 0; k < block->items[i]->bodies.count; k++)
        vec_push(r->scratch, &stmt->bodies, copy_block(r, &block->items[i]->bodies.items[k]));
    }
    vec_push(r->scratch, &copy, stmt);
  }
  return copy;
}

static void shape(Resolve *r, AstBlock *block, int depth) {
  for (int i = 0; i < block->count && depth < DEEPEST_SHAPE; i++) {
    AstStmt *stmt = block->items[i];
    bool is_last = i == block->count - 1;
    if (stmt->kind == AST_STMT_DO && is_last) shape(r, &stmt->bodies.items[0], depth + 1);
    if (stmt->kind != AST_STMT_IF) continue;
    int arm = is_last ? -1 : arm_that_goes_on(r, stmt);
    if (arm >= 0) {
      for (int k = i + 1; k < block->count; k++)
        vec_push(r->scratch, &stmt->bodies.items[arm], block->items[k]);
      block->count = i + 1;
    }
    if (i < block->count - 1) continue;
    for (int k = 0; k < stmt->bodies.count; k++) shape(r, &stmt->bodies.items[k], depth + 1);
  }
}

/* Counts the returns that are followed by more code. `is_tail`: the block ends the function. */
static int count_early(const AstBlock *block, bool is_tail) {
  int count = 0;
  for (int i = 0; i < block->count; i++) {
    const AstStmt *stmt = block->items[i];
    bool ends = is_tail && i == block->count - 1;
    bool is_branch = stmt->kind == AST_STMT_IF || stmt->kind == AST_STMT_DO;
    count += stmt->kind == AST_STMT_RETURN && !ends;
    for (int k = 0; k < stmt->bodies.count; k++)
      count += count_early(&stmt->bodies.items[k], ends && is_branch);
  }
  return count;
}

bool returns_early(const AstBlock *body) { return count_early(body, true) > 0; }

bool returns_straight(const AstBlock *body) {
  return body->count > 0 && body->items[body->count - 1]->kind == AST_STMT_RETURN &&
         !returns_early(body);
}

AstBlock returns_shaped(Resolve *r, const AstBlock *body) {
  if (!returns_early(body)) return *body;
  AstBlock shaped = copy_block(r, body);
  shape(r, &shaped, 0);
  return shaped;
}
