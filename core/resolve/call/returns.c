/* returns.c - where a function returns. An early return leaves the expanded body like a loop that
 * runs once; the pass `early_exits` makes branches of such exits. */
#include "resolve/resolve.h"

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

bool returns_by(const AstBlock *body, AstStmtKind exit) {
  for (int i = 0; i < body->count; i++) {
    const AstStmt *stmt = body->items[i];
    bool is_loop = stmt->kind == AST_STMT_WHILE || stmt->kind == AST_STMT_REPEAT ||
                   stmt->kind == AST_STMT_FOR || stmt->kind == AST_STMT_FOR_IN;
    if (stmt->kind == exit) return true;
    for (int k = 0; k < stmt->bodies.count && !is_loop; k++)
      if (returns_by(&stmt->bodies.items[k], exit)) return true;
  }
  return false;
}

bool returns_early(const AstBlock *body) { return count_early(body, true) > 0; }

bool has_single_return(const AstBlock *body) {
  return body->count > 0 && body->items[body->count - 1]->kind == AST_STMT_RETURN &&
         !returns_early(body);
}
