/* parse_stmt.c - statements, blocks and function bodies.
 * `continue`, `const` and `goto` are words only where a statement begins and what follows cannot
 * continue an expression, so they stay usable as names. */
#include <limits.h>

#include "front/parse.h"

static const struct {
  TokenKind token;
  AstOp op;
} compounds[] = {
    {TOKEN_ADD_SET, AST_ADD},       {TOKEN_SUB_SET, AST_SUB},           {TOKEN_MUL_SET, AST_MUL},
    {TOKEN_DIV_SET, AST_DIV},       {TOKEN_FLOORDIV_SET, AST_FLOORDIV}, {TOKEN_MOD_SET, AST_MOD},
    {TOKEN_CONCAT_SET, AST_CONCAT}, {TOKEN_AND_SET, AST_BAND},          {TOKEN_OR_SET, AST_BOR},
    {TOKEN_TILDE_EQUAL, AST_BXOR},  {TOKEN_SHL_SET, AST_SHL},           {TOKEN_SHR_SET, AST_SHR},
    {TOKEN_SAR_SET, AST_SAR},
};

static AstStmt *new_stmt(Parser *p, AstStmtKind kind, const Token *first) {
  AstStmt *stmt = scratch_new(p->scratch, AstStmt);
  *stmt = (AstStmt){.kind = kind, .pos = first->pos, .width = first->length, .op = AST_NO_OP};
  return stmt;
}

static void add_value(Parser *p, AstStmt *stmt, AstExpr *value) {
  vec_push(p->scratch, &stmt->values, value);
}

static void add_body(Parser *p, AstStmt *stmt) {
  AstBlock body = {0};
  parse_block(p, &body);
  vec_push(p->scratch, &stmt->bodies, body);
}

static bool is_word_here(const Parser *p, const char *word) {
  const Token *token = parser_current(p);
  return token->kind == TOKEN_NAME && str_is(token_source(p->source, token), word);
}

static bool ends_block(TokenKind kind) {
  return kind == TOKEN_END || kind == TOKEN_END_KEYWORD || kind == TOKEN_ELSE ||
         kind == TOKEN_ELSEIF || kind == TOKEN_UNTIL;
}

/* Locals. */

static void declare_all(Parser *p, AstStmt *stmt) {
  for (int i = 0; i < stmt->locals.count; i++) parser_declare(p, stmt->locals.items[i]);
}

/* A new name with its annotation; not yet in scope. */
static AstLocal *parse_declared(Parser *p) {
  Pos pos = parser_current(p)->pos;
  AstLocal *local = parser_new_local(p, parser_name(p), pos);
  local->annotation = parse_annotation(p);
  return local;
}

static void parse_declared_list(Parser *p, AstStmt *stmt) {
  do {
    AstLocal *local = parse_declared(p);
    vec_push(p->scratch, &stmt->locals, local);
  } while (parser_accept(p, TOKEN_COMMA));
}

/* Skips `local`, `const` or `local const`; true if it is const. */
static bool parse_local_words(Parser *p) {
  parser_accept(p, TOKEN_LOCAL);
  TokenKind next = parser_ahead(p, 1)->kind;
  if (!is_word_here(p, "const") || (next != TOKEN_NAME && next != TOKEN_FUNCTION)) return false;
  parser_next(p);
  return true;
}

AstStmt *parse_local_function(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_LOCAL_FUNCTION, parser_current(p));
  bool is_const = parse_local_words(p);
  Pos keyword = parser_current(p)->pos;
  parser_expect(p, TOKEN_FUNCTION);
  AstLocal *local = parser_new_local(p, STR(""), parser_current(p)->pos);
  local->name = parser_name(p);
  local->is_const = is_const;
  vec_push(p->scratch, &stmt->locals, local);
  declare_all(p, stmt);
  stmt->function = parse_body(p, keyword, local->name, false);
  return stmt;
}

/* At `local` or `const`. */
static bool is_local_function(const Parser *p) {
  const Token *second = parser_ahead(p, 1);
  bool is_const = second->kind == TOKEN_NAME && str_is(token_source(p->source, second), "const");
  bool is_local_const = parser_is(p, TOKEN_LOCAL) && is_const;
  return parser_ahead(p, is_local_const ? 2 : 1)->kind == TOKEN_FUNCTION;
}

AstStmt *parse_local(Parser *p) {
  if (is_local_function(p)) return parse_local_function(p);
  AstStmt *stmt = new_stmt(p, AST_STMT_LOCAL, parser_current(p));
  bool is_const = parse_local_words(p);
  parse_declared_list(p, stmt);
  for (int i = 0; i < stmt->locals.count; i++) stmt->locals.items[i]->is_const = is_const;
  if (parser_accept(p, TOKEN_ASSIGN)) parse_expr_list(p, &stmt->values);
  declare_all(p, stmt);
  return stmt;
}

/* Assignments and calls. */

static void mark_part(const AstExpr *target) {
  while (target->kind == AST_INDEX || target->kind == AST_FIELD || target->kind == AST_PAREN)
    target = target->left;
  if (target->kind == AST_LOCAL) target->local->is_part_assigned = true;
}

static void check_target(Parser *p, const AstExpr *target) {
  if (target->kind == AST_INDEX || target->kind == AST_FIELD) mark_part(target);
  if (target->kind == AST_INDEX || target->kind == AST_FIELD || target->kind == AST_GLOBAL) return;
  if (target->kind != AST_LOCAL) {
    parser_fail(p, target->pos, target->width,
                "this cannot be assigned: only a name, a field or an element can");
    return;
  }
  AstLocal *local = target->local;
  local->is_assigned = true;
  if (!local->is_const) return;
  parser_fail(p, target->pos, target->width, "'%.*s' is const and cannot be assigned",
              local->name.length < 60 ? local->name.length : 60, local->name.data);
  parser_hint(p, "declare it with 'local' if it has to change");
  parser_note(p, local->pos, local->name.length, "it is declared here");
}

static AstOp compound_op(TokenKind kind) {
  for (size_t i = 0; i < sizeof compounds / sizeof compounds[0]; i++)
    if (compounds[i].token == kind) return compounds[i].op;
  return AST_NO_OP;
}

static void parse_assignment(Parser *p, AstStmt *stmt) {
  while (parser_accept(p, TOKEN_COMMA)) {
    AstExpr *target = parse_suffixed(p);
    vec_push(p->scratch, &stmt->targets, target);
  }
  const Token *sign = parser_current(p);
  stmt->op = compound_op(sign->kind);
  stmt->kind = stmt->op == AST_NO_OP ? AST_STMT_ASSIGN : AST_STMT_COMPOUND;
  if (stmt->kind == AST_STMT_COMPOUND && stmt->targets.count > 1)
    parser_fail_here(p, "'%s' takes one target", token_text(sign->kind));
  if (stmt->kind == AST_STMT_COMPOUND) parser_next(p);
  else parser_expect(p, TOKEN_ASSIGN);
  for (int i = 0; i < stmt->targets.count; i++) check_target(p, stmt->targets.items[i]);
  if (stmt->kind == AST_STMT_COMPOUND) add_value(p, stmt, parse_expr(p));
  else parse_expr_list(p, &stmt->values);
}

/* Words that begin a statement in other languages, and what to write in a kernel. */
static const struct {
  const char *word, *hint;
} foreign_words[] = {
    {"var", "write 'local'"},
    {"let", "write 'local'"},
    {"auto", "write 'local'"},
    {"int", "write 'local'"},
    {"float", "write 'local'"},
    {"double", "write 'local'"},
    {"bool", "write 'local'"},
    {"elif", "write 'elseif'"},
    {"elsif", "write 'elseif'"},
    {"def", "write 'local function' before the kernel"},
    {"fn", "write 'local function' before the kernel"},
    {"func", "write 'local function' before the kernel"},
    {"import", "a kernel sees the variables around it"},
    {"require", "a kernel sees the variables around it"},
    {"foreach", "write 'for i in x:active() do'"},
    {"switch", "write 'if .. elseif .. end'"},
    {"case", "write 'if .. elseif .. end'"},
    {"try", "kernels have no exceptions: test first"},
    {"pass", "leave the block empty"},
};

static void hint_foreign_word(Parser *p, Str word) {
  for (size_t i = 0; i < sizeof foreign_words / sizeof foreign_words[0]; i++)
    if (str_is(word, foreign_words[i].word)) parser_hint(p, foreign_words[i].hint);
}

/* Reports an expression in the place of a statement. */
static void fail_not_statement(Parser *p, const AstExpr *expr) {
  const Token *last = parser_last(p);
  /* NUL at the text's end */
  const char *after = p->source->text.data + last->pos.offset + last->length;
  TokenKind kind = parser_current(p)->kind;
  bool is_line_over =
      ends_block(kind) || kind == TOKEN_SEMICOLON || parser_current(p)->pos.line != last->last_line;
  if (expr->kind == AST_GLOBAL && kind == TOKEN_NAME && !is_line_over) {
    parser_fail(p, expr->pos, expr->width, "'%.*s' does not begin a statement",
                expr->text.length < 60 ? expr->text.length : 60, expr->text.data);
    hint_foreign_word(p, expr->text);
  } else if (is_line_over) {
    parser_fail(p, expr->pos, expr->width,
                "this expression is not a statement: assign it, or call it");
    if (after[0] == '-' && after[1] == '-') parser_hint(p, "'--' begins a comment; write 'x -= 1'");
  } else {
    parser_fail_expected(p, "'=' or a call");
    if (kind == TOKEN_EQUAL) parser_hint(p, "'==' compares; write '=' to assign");
  }
}

static void fail_no_statement(Parser *p) {
  bool is_comment =
      parser_is(p, TOKEN_FLOORDIV) || parser_is(p, TOKEN_HASH) || parser_is(p, TOKEN_SLASH);
  bool is_attribute = parser_is(p, TOKEN_LESS);
  bool is_element =
      parser_is(p, TOKEN_LEFT_BRACKET) && p->at > 1 && parser_last(p)->kind == TOKEN_NAME;
  parser_fail_expected(p, "a statement");
  if (is_comment) parser_hint(p, "a comment begins with '--'");
  if (is_attribute) parser_hint(p, "write 'const c = ..'");
  if (is_element) parser_hint(p, "an element is not a local: omit the 'local'");
}

static AstStmt *parse_expression_statement(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_CALL, parser_current(p));
  if (!parser_is(p, TOKEN_NAME) && !parser_is(p, TOKEN_LEFT_PAREN)) fail_no_statement(p);
  AstExpr *expr = parse_suffixed(p);
  TokenKind kind = parser_current(p)->kind;
  if (kind == TOKEN_ASSIGN || kind == TOKEN_COMMA || compound_op(kind) != AST_NO_OP) {
    vec_push(p->scratch, &stmt->targets, expr);
    parse_assignment(p, stmt);
  } else {
    if (expr->kind != AST_CALL && expr->kind != AST_METHOD) fail_not_statement(p, expr);
    add_value(p, stmt, expr);
  }
  return stmt;
}

/* Loops and branches. */

/* A condition and the word after it. */
static void parse_condition(Parser *p, AstStmt *stmt, TokenKind word) {
  add_value(p, stmt, parse_expr(p));
  bool is_assignment = parser_is(p, TOKEN_ASSIGN), is_choice = parser_is(p, TOKEN_ELSE);
  if (word != TOKEN_END) parser_expect(p, word);
  else if (is_assignment) parser_fail_here(p, "a condition ends here, found '='");
  if (is_assignment) parser_hint(p, "'=' assigns; write '==' to compare");
  if (is_choice) parser_hint(p, "choose a value with 'c and a or b'");
}

static void open_loop(Parser *p, Loop *loop) {
  *loop = (Loop){.outer = p->frame->loop, .continue_id = INT_MAX};
  p->frame->loop = loop;
}
static void close_loop(Parser *p, Loop *loop) { p->frame->loop = loop->outer; }

static void add_loop_body(Parser *p, AstStmt *stmt) {
  Loop loop;
  open_loop(p, &loop);
  add_body(p, stmt);
  loop_take_labels(p, &loop, &vec_last(&stmt->bodies));
  close_loop(p, &loop);
}

static AstStmt *parse_do(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_DO, parser_current(p));
  parser_next(p);
  add_body(p, stmt);
  parser_match(p, TOKEN_END_KEYWORD, "do", stmt->pos);
  return stmt;
}

static AstStmt *parse_while(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_WHILE, parser_current(p));
  parser_next(p);
  parse_condition(p, stmt, TOKEN_DO);
  add_loop_body(p, stmt);
  parser_match(p, TOKEN_END_KEYWORD, "while", stmt->pos);
  return stmt;
}

/* The condition sees the locals of the body, so the body's scope closes after it. */
static AstStmt *parse_repeat(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_REPEAT, parser_current(p));
  int scope = p->scope.count, from = p->until_from, to = p->until_to, line = p->until_line;
  parser_next(p);
  Loop loop;
  AstBlock body = {0};
  open_loop(p, &loop);
  parse_block(p, &body);
  loop_take_labels(p, &loop, &body);
  close_loop(p, &loop);
  vec_push(p->scratch, &stmt->bodies, body);
  if (parser_match(p, TOKEN_UNTIL, "repeat", stmt->pos)) {
    p->until_from = loop.continue_id;
    p->until_to = p->local_count;
    p->until_line = loop.continue_line;
    parse_condition(p, stmt, TOKEN_END);
  }
  p->until_from = from;
  p->until_to = to;
  p->until_line = line;
  parser_close_scope(p, scope);
  return stmt;
}

/* `else if` opens an `if` of its own, where often `elseif` is meant. */
static void parse_else(Parser *p, AstStmt *stmt) {
  int32_t line = parser_current(p)->pos.line;
  parser_next(p);
  if (!p->else_if_line && parser_is(p, TOKEN_IF) && parser_current(p)->pos.line == line)
    p->else_if_line = line;
  add_body(p, stmt);
  parser_match(p, TOKEN_END_KEYWORD, "if", stmt->pos);
}

static AstStmt *parse_if(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_IF, parser_current(p));
  do {
    parser_next(p);
    parse_condition(p, stmt, TOKEN_THEN);
    add_body(p, stmt);
  } while (parser_is(p, TOKEN_ELSEIF));
  if (parser_is(p, TOKEN_ELSE)) parse_else(p, stmt);
  else parser_match(p, TOKEN_END_KEYWORD, "if", stmt->pos);
  return stmt;
}

static const char for_hint[] = "loops are 'for k = 0, n - 1 do' and 'for i in rg.range(n) do'";

static void parse_for_header(Parser *p, AstStmt *stmt) {
  if (stmt->locals.count == 1 && parser_accept(p, TOKEN_ASSIGN)) {
    stmt->kind = AST_STMT_FOR;
    add_value(p, stmt, parse_expr(p));
    parser_expect(p, TOKEN_COMMA);
    add_value(p, stmt, parse_expr(p));
    if (parser_accept(p, TOKEN_COMMA)) add_value(p, stmt, parse_expr(p));
    return;
  }
  if (!parser_accept(p, TOKEN_IN)) {
    parser_fail_expected(p, stmt->locals.count == 1 ? "'=' or 'in'" : "'in'");
    parser_hint(p, for_hint);
  }
  parse_expr_list(p, &stmt->values);
}

static AstStmt *parse_for(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_FOR_IN, parser_current(p));
  int scope = p->scope.count;
  parser_next(p);
  bool has_bracket = parser_is(p, TOKEN_LEFT_PAREN);
  parse_declared_list(p, stmt);
  if (has_bracket) error_hint(p->latest, "%s", for_hint);
  for (int i = 0; i < stmt->locals.count; i++) stmt->locals.items[i]->is_loop_variable = true;
  parse_for_header(p, stmt);
  parser_expect(p, TOKEN_DO);
  declare_all(p, stmt);
  add_loop_body(p, stmt);
  parser_match(p, TOKEN_END_KEYWORD, "for", stmt->pos);
  parser_close_scope(p, scope);
  return stmt;
}

/* Exits. */

/* Nothing may follow in the block: Lua's rule, which prevents dead code. */
static void check_last(Parser *p, const char *word) {
  parser_accept(p, TOKEN_SEMICOLON);
  if (!ends_block(parser_current(p)->kind))
    parser_fail_here(p, "nothing may follow '%s' in its block", word);
}

static AstStmt *parse_break(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_BREAK, parser_current(p));
  if (!p->frame->loop) parser_fail_here(p, "'break' is outside a loop");
  parser_next(p);
  check_last(p, "break");
  return stmt;
}

static AstStmt *parse_continue(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_CONTINUE, parser_current(p));
  Loop *loop = p->frame->loop;
  if (!loop) {
    parser_fail_here(p, "'continue' is outside a loop");
  } else {
    loop_note_continue(loop, p->local_count, stmt->pos.line);
  }
  parser_next(p);
  check_last(p, "continue");
  return stmt;
}

static AstStmt *parse_return(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_RETURN, parser_current(p));
  parser_next(p);
  if (!ends_block(parser_current(p)->kind) && !parser_is(p, TOKEN_SEMICOLON))
    parse_expr_list(p, &stmt->values);
  check_last(p, "return");
  return stmt;
}

/* Functions. */

static void append_name(StrBuf *name, const char *separator, Str part) {
  strbuf_text(name, separator);
  strbuf_add(name, part.data, part.length);
}

AstStmt *parse_function_statement(Parser *p) {
  AstStmt *stmt = new_stmt(p, AST_STMT_FUNCTION, parser_current(p));
  StrBuf name;
  strbuf_init(&name, p->scratch);
  parser_next(p);
  AstExpr *target = parse_name_use(p);
  append_name(&name, "", target->text);
  while (parser_is(p, TOKEN_DOT)) {
    target = parse_field(p, target);
    append_name(&name, ".", target->text);
  }
  bool is_method = parser_is(p, TOKEN_COLON);
  if (is_method) {
    target = parse_field(p, target);
    append_name(&name, ":", target->text);
  }
  check_target(p, target);
  vec_push(p->scratch, &stmt->targets, target);
  stmt->function = parse_body(p, stmt->pos, str_of(strbuf_end(&name)), is_method);
  return stmt;
}

static void add_parameter(Parser *p, AstFunction *function, AstLocal *local) {
  local->is_parameter = true;
  vec_push(p->scratch, &function->parameters, local);
}

static void parse_parameters(Parser *p, AstFunction *function) {
  Pos open = parser_current(p)->pos;
  parser_expect(p, TOKEN_LEFT_PAREN);
  if (parser_accept(p, TOKEN_RIGHT_PAREN)) return;
  do {
    function->has_varargs = parser_accept(p, TOKEN_DOTS);
    if (!function->has_varargs) add_parameter(p, function, parse_declared(p));
  } while (!function->has_varargs && parser_accept(p, TOKEN_COMMA));
  bool is_default = parser_is(p, TOKEN_ASSIGN);
  parser_match(p, TOKEN_RIGHT_PAREN, "(", open);
  if (is_default) parser_hint(p, "a parameter has no default value");
}

/* The state of the enclosing expression must not reach into the function. */
static void parse_body_block(Parser *p, AstFunction *function) {
  bool no_method = p->no_method, after_colon = p->after_colon, in_annotation = p->in_annotation;
  int brackets = p->brackets;
  p->no_method = p->after_colon = p->in_annotation = false;
  p->brackets = 0;
  parse_parameters(p, function);
  parse_annotations(p, &function->results);
  for (int i = 0; i < function->parameters.count; i++)
    parser_declare(p, function->parameters.items[i]);
  parse_block(p, &function->body);
  p->brackets = brackets;
  p->no_method = no_method;
  p->after_colon = after_colon;
  p->in_annotation = in_annotation;
}

static void check_height(Parser *p, AstFunction *function, const Frame *frame) {
  function->height = frame->tallest + frame->deepest;
  if (frame->outer && frame->outer->tallest < function->height)
    frame->outer->tallest = function->height;
  if (function->height <= AST_MAX_HEIGHT + PARSE_MAX_DEPTH) return;
  parser_fail(p, function->pos, 8, "this function nests more than %d operations",
              AST_MAX_HEIGHT + PARSE_MAX_DEPTH);
}

AstFunction *parse_body(Parser *p, Pos keyword, Str name, bool is_method) {
  AstFunction *function = scratch_new(p->scratch, AstFunction);
  Frame frame = {.outer = p->frame, .function = function, .base_depth = p->depth};
  int scope = p->scope.count;
  function->pos = keyword;
  function->name = name;
  function->outer = p->frame ? p->frame->function : NULL;
  p->frame = &frame;
  if (is_method) add_parameter(p, function, parser_new_local(p, STR("self"), keyword));
  parse_body_block(p, function);
  function->end = parser_current(p)->pos;
  parser_match(p, TOKEN_END_KEYWORD, "function", keyword);
  parser_close_scope(p, scope);
  p->frame = frame.outer;
  check_height(p, function, &frame);
  return function;
}

/* Blocks. */

static bool is_continue_here(const Parser *p) {
  if (!is_word_here(p, "continue")) return false;
  switch (parser_ahead(p, 1)->kind) {
  case TOKEN_ASSIGN:
  case TOKEN_COMMA:
  case TOKEN_DOT:
  case TOKEN_LEFT_BRACKET:
  case TOKEN_LEFT_PAREN:
  case TOKEN_LEFT_BRACE:
  case TOKEN_STRING:
  case TOKEN_COLON: return false;
  default: return compound_op(parser_ahead(p, 1)->kind) == AST_NO_OP;
  }
}

static bool is_const_here(const Parser *p) {
  TokenKind next = parser_ahead(p, 1)->kind;
  return is_word_here(p, "const") && (next == TOKEN_NAME || next == TOKEN_FUNCTION);
}

static AstStmt *parse_statement(Parser *p) {
  switch (parser_current(p)->kind) {
  case TOKEN_IF: return parse_if(p);
  case TOKEN_WHILE: return parse_while(p);
  case TOKEN_DO: return parse_do(p);
  case TOKEN_FOR: return parse_for(p);
  case TOKEN_REPEAT: return parse_repeat(p);
  case TOKEN_FUNCTION: return parse_function_statement(p);
  case TOKEN_LOCAL: return parse_local(p);
  case TOKEN_RETURN: return parse_return(p);
  case TOKEN_BREAK: return parse_break(p);
  case TOKEN_LABEL: return parse_label(p);
  default: break;
  }
  if (is_continue_here(p)) return parse_continue(p);
  if (is_const_here(p)) return parse_local(p);
  if (is_word_here(p, "goto") && parser_ahead(p, 1)->kind == TOKEN_NAME) return parse_goto(p);
  return parse_expression_statement(p);
}

static void note_depth(Parser *p) {
  int deep = p->depth - p->frame->base_depth;
  if (deep > p->frame->deepest) p->frame->deepest = deep;
}

/* Parses up to the keyword that ends the block. A `repeat` keeps the scope open for its
 * condition. */
void parse_block(Parser *p, AstBlock *block) {
  int scope = p->scope.count;
  parser_enter(p);
  note_depth(p);
  while (!ends_block(parser_current(p)->kind)) {
    if (parser_accept(p, TOKEN_SEMICOLON)) continue;
    int first = p->at;
    AstStmt *stmt = parse_statement(p);
    vec_push(p->scratch, block, stmt);
    recover_statement(p, first);
  }
  parser_leave(p);
  if (!parser_is(p, TOKEN_UNTIL)) parser_close_scope(p, scope);
}
