/* ast.c - small queries on a tree. */
#include "front/ast.h"

#include "front/lexer.h"

static const TokenKind op_tokens[] = {
    [AST_ADD] = TOKEN_PLUS,       [AST_SUB] = TOKEN_MINUS,         [AST_MUL] = TOKEN_STAR,
    [AST_DIV] = TOKEN_SLASH,      [AST_FLOORDIV] = TOKEN_FLOORDIV, [AST_MOD] = TOKEN_PERCENT,
    [AST_POW] = TOKEN_CARET,      [AST_CONCAT] = TOKEN_CONCAT,     [AST_EQ] = TOKEN_EQUAL,
    [AST_NE] = TOKEN_TILDE_EQUAL, [AST_LT] = TOKEN_LESS,           [AST_LE] = TOKEN_LESS_EQUAL,
    [AST_GT] = TOKEN_GREATER,     [AST_GE] = TOKEN_GREATER_EQUAL,  [AST_BAND] = TOKEN_AMPERSAND,
    [AST_BOR] = TOKEN_BAR,        [AST_BXOR] = TOKEN_TILDE,        [AST_SHL] = TOKEN_SHL,
    [AST_SHR] = TOKEN_SHR,        [AST_SAR] = TOKEN_SAR,           [AST_NEG] = TOKEN_MINUS,
    [AST_NOT] = TOKEN_NOT,        [AST_LEN] = TOKEN_HASH,          [AST_BNOT] = TOKEN_TILDE,
};
_Static_assert(sizeof op_tokens / sizeof op_tokens[0] == AST_NO_OP, "every op has its token");

const char *ast_op_text(AstOp op) { return op < AST_NO_OP ? token_text(op_tokens[op]) : ""; }

static bool is_same_list(const AstExprs *a, const AstExprs *b) {
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++) {
    if (!a->items[i] != !b->items[i]) return false;
    if (a->items[i] && !ast_same(a->items[i], b->items[i])) return false;
  }
  return true;
}

static bool is_same_child(const AstExpr *a, const AstExpr *b) {
  return (!a && !b) || (a && b && ast_same(a, b));
}

/* A call may return something else each time, so an expression with a call equals no other. */
bool ast_same(const AstExpr *a, const AstExpr *b) {
  if (a->kind != b->kind || a->op != b->op || a->local != b->local) return false;
  if (a->kind == AST_CALL || a->kind == AST_METHOD || a->kind == AST_FUNCTION ||
      a->kind == AST_VARARG)
    return false;
  return str_equal(a->text, b->text) && is_same_child(a->left, b->left) &&
         is_same_child(a->right, b->right) && is_same_child(a->third, b->third) &&
         is_same_list(&a->list, &b->list) && is_same_list(&a->keys, &b->keys);
}
