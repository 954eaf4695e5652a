/* parse_expr.c - expressions, by precedence climbing. From loose to tight:
 *
 *   c ? a : b (right)   or   and   < > <= >= ~= != ==   |   ~   &   << >> ~>>   .. (right)
 *   + -   * / // %   not - # ~ (before their operand)   ^ (right)
 *
 * A colon after `?` belongs to the conditional, so a method call there must be in parentheses, as
 * in LuaJIT. Invariant: every node passes through seal(), which keeps the tree below
 * AST_MAX_HEIGHT. */
#include <limits.h>

#include "front/parse.h"

enum { UNARY_BINDS = 12 };

static const struct BinaryRow {
  TokenKind token;
  AstExprKind kind;
  AstOp op;
  int left, right;
} binary_rows[] = {
    {TOKEN_OR, AST_OR, AST_NO_OP, 1, 1},
    {TOKEN_AND, AST_AND, AST_NO_OP, 2, 2},
    {TOKEN_LESS, AST_BINARY, AST_LT, 3, 3},
    {TOKEN_GREATER, AST_BINARY, AST_GT, 3, 3},
    {TOKEN_LESS_EQUAL, AST_BINARY, AST_LE, 3, 3},
    {TOKEN_GREATER_EQUAL, AST_BINARY, AST_GE, 3, 3},
    {TOKEN_TILDE_EQUAL, AST_BINARY, AST_NE, 3, 3},
    {TOKEN_BANG_EQUAL, AST_BINARY, AST_NE, 3, 3},
    {TOKEN_EQUAL, AST_BINARY, AST_EQ, 3, 3},
    {TOKEN_BAR, AST_BINARY, AST_BOR, 4, 4},
    {TOKEN_TILDE, AST_BINARY, AST_BXOR, 5, 5},
    {TOKEN_AMPERSAND, AST_BINARY, AST_BAND, 6, 6},
    {TOKEN_SHL, AST_BINARY, AST_SHL, 7, 7},
    {TOKEN_SHR, AST_BINARY, AST_SHR, 7, 7},
    {TOKEN_SAR, AST_BINARY, AST_SAR, 7, 7},
    {TOKEN_CONCAT, AST_BINARY, AST_CONCAT, 9, 8},
    {TOKEN_PLUS, AST_BINARY, AST_ADD, 10, 10},
    {TOKEN_MINUS, AST_BINARY, AST_SUB, 10, 10},
    {TOKEN_STAR, AST_BINARY, AST_MUL, 11, 11},
    {TOKEN_SLASH, AST_BINARY, AST_DIV, 11, 11},
    {TOKEN_FLOORDIV, AST_BINARY, AST_FLOORDIV, 11, 11},
    {TOKEN_PERCENT, AST_BINARY, AST_MOD, 11, 11},
    {TOKEN_CARET, AST_BINARY, AST_POW, 14, 13},
};

static AstExpr *new_expr(Parser *p, AstExprKind kind, Pos pos, int32_t width) {
  AstExpr *expr = scratch_new(p->scratch, AstExpr);
  *expr = (AstExpr){.kind = kind, .pos = pos, .width = width, .op = AST_NO_OP};
  return expr;
}
static AstExpr *new_at_token(Parser *p, AstExprKind kind) {
  const Token *token = parser_current(p);
  return new_expr(p, kind, token->pos, token->length);
}

static void raise_to(int *height, const AstExpr *below) {
  if (below && below->height > *height) *height = below->height;
}

/* Once its children are known. */
static AstExpr *seal(Parser *p, AstExpr *expr) {
  int height = 0;
  raise_to(&height, expr->left);
  raise_to(&height, expr->right);
  raise_to(&height, expr->third);
  for (int i = 0; i < expr->list.count; i++) raise_to(&height, expr->list.items[i]);
  for (int i = 0; i < expr->keys.count; i++) raise_to(&height, expr->keys.items[i]);
  expr->height += height + 1; /* a function's is its body's so far */
  if (p->frame && expr->height > p->frame->tallest) p->frame->tallest = expr->height;
  if (expr->height <= AST_MAX_HEIGHT) return expr;
  parser_fail(p, expr->pos, expr->width, "this expression chains more than %d operations",
              AST_MAX_HEIGHT);
  parser_hint(p, "keep a part of it in a local");
  parser_abandon(p);
  return expr;
}

/* Inside brackets of any kind a colon belongs to a method call again. */
static AstExpr *parse_inner(Parser *p) {
  bool no_method = p->no_method, after_colon = p->after_colon;
  p->no_method = p->after_colon = false;
  AstExpr *expr = parse_expr(p);
  p->no_method = no_method;
  p->after_colon = after_colon;
  return expr;
}

static void parse_inner_list(Parser *p, AstExprs *list) {
  do {
    AstExpr *expr = parse_inner(p);
    vec_push(p->scratch, list, expr);
  } while (parser_accept(p, TOKEN_COMMA));
}

void parse_expr_list(Parser *p, AstExprs *list) {
  do {
    AstExpr *expr = parse_expr(p);
    vec_push(p->scratch, list, expr);
  } while (parser_accept(p, TOKEN_COMMA));
}

/* Names and what follows them. */

/* After a `continue` before the declaration of `local`, the condition of its `repeat` would read an
 * unset local. */
static void check_until(Parser *p, const AstLocal *local, const Token *use) {
  if (local->id < p->until_from || local->id >= p->until_to) return;
  parser_fail(p, use->pos, use->length,
              "the 'continue' on line %d jumps over the declaration of '%.*s'", p->until_line,
              local->name.length < 60 ? local->name.length : 60, local->name.data);
  parser_hint(p, "declare it before the 'continue', or before the 'repeat'");
}

AstExpr *parse_name_use(Parser *p) {
  const Token *token = parser_current(p);
  AstExpr *expr = new_at_token(p, AST_GLOBAL);
  expr->text = parser_name(p);
  expr->local = p->in_annotation ? NULL : map_find(&p->visible, expr->text);
  if (expr->local) {
    expr->kind = AST_LOCAL;
    check_until(p, expr->local, token);
  }
  return seal(p, expr);
}

/* Extends the caret to the closing bracket just passed, if that is on the same line. */
static void widen(Parser *p, AstExpr *expr) {
  const Token *close = parser_last(p);
  if (close->pos.line == expr->pos.line && !p->failed)
    expr->width = close->pos.offset + 1 - expr->pos.offset;
}

static AstExpr *parse_paren(Parser *p) {
  AstExpr *expr = new_at_token(p, AST_PAREN);
  parser_next(p);
  expr->left = parse_inner(p);
  parser_match(p, TOKEN_RIGHT_PAREN, "(", expr->pos);
  widen(p, expr);
  return seal(p, expr);
}

static AstExpr *parse_primary(Parser *p) {
  if (parser_is(p, TOKEN_LEFT_PAREN)) return parse_paren(p);
  if (parser_is(p, TOKEN_NAME)) return parse_name_use(p);
  parser_fail_expected(p, "an expression");
  return new_at_token(p, AST_NIL);
}

AstExpr *parse_field(Parser *p, AstExpr *object) {
  parser_next(p);
  AstExpr *expr = new_at_token(p, AST_FIELD);
  expr->left = object;
  expr->text = parser_name(p);
  return seal(p, expr);
}

static AstExpr *parse_index(Parser *p, AstExpr *object) {
  Pos open = parser_current(p)->pos;
  AstExpr *expr = new_expr(p, AST_INDEX, object->pos, object->width);
  parser_next(p);
  p->brackets++;
  expr->left = object;
  parse_inner_list(p, &expr->list);
  parser_match(p, TOKEN_RIGHT_BRACKET, "[", open);
  p->brackets--;
  widen(p, expr);
  return seal(p, expr);
}

static AstExpr *parse_string(Parser *p) {
  const Token *token = parser_current(p);
  AstExpr *expr = new_at_token(p, AST_STRING);
  parser_next(p);
  Error error = {0};
  if (!literal_read_string(p->source, token, &expr->text, &error)) parser_fail_with(p, &error);
  return seal(p, expr);
}

static AstExpr *parse_number(Parser *p) {
  AstExpr *expr = new_at_token(p, AST_NUMBER);
  expr->text = token_source(p->source, parser_current(p));
  parser_next(p);
  Error error = {0};
  if (!literal_read_number(p->source, expr, &error)) parser_fail_with(p, &error);
  return seal(p, expr);
}

/* One item of a table: `[k] = v`, `name = v` or `v`. */
static void parse_item(Parser *p, AstExpr *table) {
  AstExpr *key = NULL;
  if (parser_is(p, TOKEN_LEFT_BRACKET)) {
    Pos open = parser_current(p)->pos;
    parser_next(p);
    p->brackets++;
    key = parse_inner(p);
    parser_match(p, TOKEN_RIGHT_BRACKET, "[", open);
    p->brackets--;
    parser_expect(p, TOKEN_ASSIGN);
  } else if (parser_is(p, TOKEN_NAME) && parser_ahead(p, 1)->kind == TOKEN_ASSIGN) {
    key = new_at_token(p, AST_STRING);
    key->text = parser_name(p);
    seal(p, key);
    parser_next(p);
  }
  AstExpr *value = parse_inner(p);
  vec_push(p->scratch, &table->keys, key);
  vec_push(p->scratch, &table->list, value);
}

static AstExpr *parse_table(Parser *p) {
  AstExpr *table = new_at_token(p, AST_TABLE);
  parser_next(p);
  while (!parser_is(p, TOKEN_RIGHT_BRACE) && !p->failed) {
    parse_item(p, table);
    if (!parser_accept(p, TOKEN_COMMA) && !parser_accept(p, TOKEN_SEMICOLON)) break;
  }
  bool is_block = parser_is(p, TOKEN_ASSIGN);
  parser_match(p, TOKEN_RIGHT_BRACE, "{", table->pos);
  if (is_block) parser_hint(p, "a block has no braces: 'then .. end', 'do .. end'");
  return seal(p, table);
}

/* Refuses a call whose parenthesis begins a line: it is ambiguous, as in Lua 5.1. */
static void check_call_line(Parser *p) {
  if (parser_last(p)->last_line == parser_current(p)->pos.line) return;
  parser_fail_here(p, "this '(' could call the line above or begin a statement");
  parser_hint(p, "put both on one line to call, or ';' before the '(' to begin a statement");
}

static void parse_arguments(Parser *p, AstExprs *list) {
  if (parser_is(p, TOKEN_STRING)) {
    AstExpr *text = parse_string(p);
    vec_push(p->scratch, list, text);
  } else if (parser_is(p, TOKEN_LEFT_BRACE)) {
    AstExpr *table = parse_table(p);
    vec_push(p->scratch, list, table);
  } else {
    Pos open = parser_current(p)->pos;
    check_call_line(p);
    parser_next(p);
    if (parser_accept(p, TOKEN_RIGHT_PAREN)) return;
    if (!p->failed) parse_inner_list(p, list);
    parser_match(p, TOKEN_RIGHT_PAREN, "(", open);
  }
}

static bool begins_arguments(TokenKind kind) {
  return kind == TOKEN_LEFT_PAREN || kind == TOKEN_STRING || kind == TOKEN_LEFT_BRACE;
}

static AstExpr *parse_call(Parser *p, AstExpr *callee) {
  AstExpr *expr = new_expr(p, AST_CALL, callee->pos, callee->width);
  expr->left = callee;
  parse_arguments(p, &expr->list);
  return seal(p, expr);
}

/* In the last part of a conditional, a colon that does not begin a method call shows that a method
 * call was meant between `?` and `:`. */
static void check_conditional_colon(Parser *p) {
  if (!p->after_colon) return;
  if (parser_ahead(p, 1)->kind == TOKEN_NAME && begins_arguments(parser_ahead(p, 2)->kind)) return;
  parser_fail_here(p, "this ':' has no matching '?'");
  parser_hint(p, "between '?' and ':' put a method call in parentheses: c ? (x:m()) : y");
}

static AstExpr *parse_method(Parser *p, AstExpr *object) {
  check_conditional_colon(p);
  parser_next(p);
  AstExpr *expr = new_at_token(p, AST_METHOD);
  bool is_sign = parser_is(p, TOKEN_ASSIGN);
  expr->left = object;
  expr->text = parser_name(p);
  if (is_sign) parser_hint(p, "'=' assigns");
  bool is_declaration = parser_is(p, TOKEN_ASSIGN);
  if (begins_arguments(parser_current(p)->kind)) parse_arguments(p, &expr->list);
  else parser_fail_expected(p, "the arguments of a method call");
  if (is_declaration) parser_hint(p, "'local x: T = v' declares a variable with its type");
  return seal(p, expr);
}

AstExpr *parse_suffixed(Parser *p) {
  AstExpr *expr = parse_primary(p);
  for (;;) {
    TokenKind kind = parser_current(p)->kind;
    if (kind == TOKEN_DOT) expr = parse_field(p, expr);
    else if (kind == TOKEN_LEFT_BRACKET) expr = parse_index(p, expr);
    else if (kind == TOKEN_COLON && !p->no_method) expr = parse_method(p, expr);
    else if (begins_arguments(kind)) expr = parse_call(p, expr);
    else return expr;
  }
}

/* Operands and operators. */

static AstExpr *parse_varargs(Parser *p) {
  AstExpr *expr = new_at_token(p, AST_VARARG);
  if (!p->frame || !p->frame->function->has_varargs)
    parser_fail_here(p, "'...' is used outside a function that takes '...'");
  parser_next(p);
  return seal(p, expr);
}

static AstExpr *parse_function(Parser *p) {
  AstExpr *expr = new_at_token(p, AST_FUNCTION);
  parser_next(p);
  expr->function = parse_body(p, expr->pos, STR(""), false);
  expr->height = expr->function->height;
  return seal(p, expr);
}

static AstExpr *parse_word(Parser *p, AstExprKind kind) {
  AstExpr *expr = new_at_token(p, kind);
  parser_next(p);
  return seal(p, expr);
}

static AstExpr *parse_operand(Parser *p) {
  switch (parser_current(p)->kind) {
  case TOKEN_NUMBER: return parse_number(p);
  case TOKEN_STRING: return parse_string(p);
  case TOKEN_NIL: return parse_word(p, AST_NIL);
  case TOKEN_TRUE: return parse_word(p, AST_TRUE);
  case TOKEN_FALSE: return parse_word(p, AST_FALSE);
  case TOKEN_DOTS: return parse_varargs(p);
  case TOKEN_LEFT_BRACE: return parse_table(p);
  case TOKEN_FUNCTION: return parse_function(p);
  default: return parse_suffixed(p);
  }
}

static AstOp unary_op(TokenKind kind) {
  switch (kind) {
  case TOKEN_NOT: return AST_NOT;
  case TOKEN_MINUS: return AST_NEG;
  case TOKEN_HASH: return AST_LEN;
  case TOKEN_TILDE: return AST_BNOT;
  default: return AST_NO_OP;
  }
}

static const struct BinaryRow *find_binary(TokenKind kind) {
  for (size_t i = 0; i < sizeof binary_rows / sizeof binary_rows[0]; i++)
    if (binary_rows[i].token == kind) return &binary_rows[i];
  return NULL;
}

static AstExpr *parse_operators(Parser *p, int limit);

static AstExpr *parse_unary(Parser *p) {
  AstOp op = unary_op(parser_current(p)->kind);
  if (op == AST_NO_OP) return parse_operand(p);
  AstExpr *expr = new_at_token(p, AST_UNARY);
  parser_next(p);
  expr->op = op;
  expr->left = parse_operators(p, UNARY_BINDS);
  return seal(p, expr);
}

/* An operand and all operators that bind tighter than `limit`. */
static AstExpr *parse_operators(Parser *p, int limit) {
  parser_enter(p);
  AstExpr *left = parse_unary(p);
  const struct BinaryRow *row;
  while ((row = find_binary(parser_current(p)->kind)) && row->left > limit) {
    AstExpr *expr = new_at_token(p, row->kind);
    parser_next(p);
    expr->op = row->op;
    expr->left = left;
    expr->right = parse_operators(p, row->right);
    left = seal(p, expr);
  }
  parser_leave(p);
  return left;
}

static AstExpr *parse_conditional(Parser *p, AstExpr *condition) {
  bool no_method = p->no_method, after_colon = p->after_colon;
  AstExpr *expr = new_at_token(p, AST_TERNARY);
  parser_next(p);
  parser_enter(p);
  expr->left = condition;
  p->no_method = true;
  expr->right = parse_expr(p);
  p->no_method = no_method;
  parser_match(p, TOKEN_COLON, "?", expr->pos);
  p->after_colon = true;
  expr->third = parse_expr(p);
  p->after_colon = after_colon;
  parser_leave(p);
  return seal(p, expr);
}

AstExpr *parse_expr(Parser *p) {
  AstExpr *expr = parse_operators(p, 0);
  return parser_is(p, TOKEN_QUESTION) ? parse_conditional(p, expr) : expr;
}

/* Type annotations. */

/* A name with dots and calls: `f32`, `rg.vec(3, f32)`. A bracket belongs to the type only without a
 * space before it, since a statement may begin with one: `function(): f32 (g)(1) end`. */
static AstExpr *parse_type(Parser *p) {
  bool in_annotation = p->in_annotation, no_method = p->no_method;
  p->in_annotation = p->no_method = true;
  if (!parser_is(p, TOKEN_NAME)) parser_fail_expected(p, "a type");
  AstExpr *type = parse_name_use(p);
  for (;;) {
    if (parser_is(p, TOKEN_DOT)) type = parse_field(p, type);
    else if (begins_arguments(parser_current(p)->kind) && parser_is_adjacent(p))
      type = parse_call(p, type);
    else break;
  }
  p->in_annotation = in_annotation;
  p->no_method = no_method;
  return type;
}

/* One type, or with `types` a list of them, inside a comment. */
static AstExpr *parse_comment(Parser *p, const Annotation *annotation, AstExprs *types) {
  Tokens tokens = p->tokens;
  int at = p->at;
  AstExpr *type = NULL;
  p->tokens = lexer_run_annotation(p->source, annotation);
  p->at = 0;
  do {
    type = parse_type(p);
    if (types) vec_push(p->scratch, types, type);
  } while (types && parser_accept(p, TOKEN_COMMA));
  if (!parser_is(p, TOKEN_END)) parser_fail_expected(p, "the end of the annotation");
  if (p->failed)
    error_hint(
        p->latest,
        "a comment --[[: T]] annotates a type; put a space before the colon if this is not one");
  p->tokens = tokens;
  p->at = p->failed ? tokens.count - 1 : at;
  if (p->failed) p->failed_at = at;
  return type;
}

AstExpr *parse_annotation(Parser *p) {
  const Annotation *comment = parser_current(p)->annotation;
  if (parser_accept(p, TOKEN_COLON)) return parse_type(p);
  return comment && !p->failed ? parse_comment(p, comment, NULL) : NULL;
}

void parse_annotations(Parser *p, AstExprs *types) {
  const Annotation *comment = parser_current(p)->annotation;
  if (parser_accept(p, TOKEN_COLON)) {
    do {
      AstExpr *type = parse_type(p);
      vec_push(p->scratch, types, type);
    } while (parser_accept(p, TOKEN_COMMA));
  } else if (comment && !p->failed) {
    parse_comment(p, comment, types);
  }
}
