/* ast.c - the words of operators. */
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
