/* parser.c - text kernels, tokens, failures and scopes; the grammar is in parse_expr.c and
 * parse_stmt.c, functions of a chunk in function_at.c. */
#include "front/parser.h"

#include <limits.h>
#include <stdio.h>

#include "front/parse.h"

/* Tokens. */

const Token *parser_current(const Parser *p) { return &p->tokens.items[p->at]; }
const Token *parser_last(const Parser *p) { return &p->tokens.items[p->at > 0 ? p->at - 1 : 0]; }
const Token *parser_ahead(const Parser *p, int count) {
  int at = p->at + count;
  return &p->tokens.items[at < p->tokens.count ? at : p->tokens.count - 1];
}
bool parser_is(const Parser *p, TokenKind kind) { return parser_current(p)->kind == kind; }
void parser_next(Parser *p) {
  if (p->at < p->tokens.count - 1) p->at++;
}
bool parser_accept(Parser *p, TokenKind kind) {
  if (!parser_is(p, kind)) return false;
  parser_next(p);
  return true;
}
bool parser_is_adjacent(const Parser *p) {
  const Token *last = parser_last(p);
  return last->pos.offset + last->length == parser_current(p)->pos.offset;
}

/* Failures. */

/* Operators of other languages, and what to write in a kernel. */
static const struct {
  TokenKind token;
  const char *hint;
} foreign[] = {
    {TOKEN_BANG, "write 'not'"},
    {TOKEN_AND_AND, "write 'and'"},
    {TOKEN_OR_OR, "write 'or'"},
    {TOKEN_INCREMENT, "write 'x += 1'"},
    {TOKEN_POW_SET, "write 'x = x ^ y'"},
    {TOKEN_COALESCE, "no value in a kernel is nil; write 'c ? a : b' to choose"},
    {TOKEN_NAVIGATE, "no value in a kernel is nil; write '.'"},
    {TOKEN_ARROW, "write 'function(x) return .. end'"},
};

static void stop(Parser *p) {
  if (!p->failed) p->failed_at = p->at;
  p->failed = p->is_broken = true;
  p->at = p->tokens.count - 1;
}

bool parser_fail_with(Parser *p, const Error *error) {
  if (!p->failed) p->reported = p->latest = error_add(p->err, error);
  stop(p);
  return false;
}

void parser_abandon(Parser *p) {
  stop(p);
  p->is_abandoned = true;
}

/* `]]` inside the text ends a plain long string, so the text that arrives here ends inside two
 * brackets. */
static void hint_cut_text(Parser *p) {
  if (p->is_text && p->brackets >= 2)
    error_hint(p->reported, "']]' ends a plain long string: write the kernel between [=[ and ]=]");
}

static bool fail(Parser *p, Pos pos, int32_t width, const char *format, va_list args) {
  Error error = {0};
  char message[400];
  p->reported = NULL;
  if (p->failed) return false;
  if (parser_is(p, TOKEN_FAULT)) {
    token_report_fault(p->source, parser_current(p), &error);
    parser_fail_with(p, &error);
    p->reported = NULL; /* it has a hint already */
    return false;
  }
  bool is_end = parser_is(p, TOKEN_END);
  vsnprintf(message, sizeof message, format, args);
  diag_error(&error, p->source, pos, width, RG_ERROR_SYNTAX, "%s", message);
  parser_fail_with(p, &error);
  if (is_end) hint_cut_text(p);
  return false;
}

bool parser_fail(Parser *p, Pos pos, int32_t width, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(p, pos, width, format, args);
  va_end(args);
  return false;
}

bool parser_fail_here(Parser *p, const char *format, ...) {
  const Token *token = parser_current(p);
  va_list args;
  va_start(args, format);
  fail(p, token->pos, token->length, format, args);
  va_end(args);
  return false;
}

bool parser_hint(Parser *p, const char *hint) { return error_hint(p->reported, "%s", hint); }

bool parser_note(Parser *p, Pos pos, int32_t width, const char *format, ...) {
  Error note = {.is_note = true};
  char message[400];
  va_list args;
  if (!p->reported) return false;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  diag_error(&note, p->source, pos, width, RG_ERROR_SYNTAX, "%s", message);
  error_add(p->err, &note);
  return false;
}

static bool fail_foreign(Parser *p) {
  for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
    if (!parser_is(p, foreign[i].token)) continue;
    parser_fail_here(p, "kernels have no '%s'", token_text(foreign[i].token));
    parser_hint(p, foreign[i].hint);
    return true;
  }
  return false;
}

/* The current token as messages name it. */
static const char *found(const Parser *p, char text[64]) {
  const Token *token = parser_current(p);
  Str source = token_source(p->source, token);
  if (token->kind == TOKEN_END || token->kind == TOKEN_STRING) return token_text(token->kind);
  snprintf(text, 64, "'%.*s'", source.length < 40 ? source.length : 40, source.data);
  return text;
}

bool parser_fail_expected(Parser *p, const char *what) {
  char text[64];
  if (!p->failed && fail_foreign(p)) return false;
  return parser_fail_here(p, "%s expected, found %s", what, found(p, text));
}

bool parser_expect(Parser *p, TokenKind kind) {
  char quoted[24];
  if (parser_accept(p, kind)) return true;
  snprintf(quoted, sizeof quoted, kind <= TOKEN_STRING ? "%s" : "'%s'", token_text(kind));
  return parser_fail_expected(p, quoted);
}

/* The column of the first non-blank byte in the line of `pos`. */
static int indentation(const Parser *p, Pos pos) {
  Str line = source_line(p->source, pos);
  int column = 0;
  while (column < line.length && (line.data[column] == ' ' || line.data[column] == '\t')) column++;
  return column + 1;
}

static void note_misfit(Parser *p, const char *open, Pos start) {
  Pos end = parser_current(p)->pos;
  bool is_first_in_line = indentation(p, end) == end.column;
  if (p->misaligned.open || end.line == start.line || !is_first_in_line ||
      indentation(p, start) == end.column)
    return;
  p->misaligned = (MisalignedEnd){open, start.line, end.line};
}

static void hint_missing_end(Parser *p) {
  MisalignedEnd misaligned = p->misaligned;
  if (p->else_if_line)
    error_hint(p->reported,
               "the 'if' after 'else' on line %d needs its own 'end'; 'elseif' does not",
               p->else_if_line);
  else if (misaligned.open)
    error_hint(p->reported,
               "the 'end' on line %d closes the '%s' on line %d, but is not aligned with it",
               misaligned.end_line, misaligned.open, misaligned.open_line);
}

static bool fail_never_closed(Parser *p, TokenKind close, const char *open, Pos start) {
  parser_fail(p, start, (int32_t)strlen(open), "this '%s' is never closed: '%s' is missing", open,
              token_text(close));
  if (close == TOKEN_END_KEYWORD) hint_missing_end(p);
  return false;
}

/* After a failure, a mismatch is taken for a consequence of it, and ends the parse. */
static bool lose_block(Parser *p, TokenKind close) {
  bool is_block = close == TOKEN_END_KEYWORD || close == TOKEN_UNTIL;
  if (is_block && p->is_broken) parser_abandon(p);
  return is_block;
}

static bool fail_match(Parser *p, TokenKind close, const char *open, Pos start) {
  if (fail_foreign(p)) return false;
  char text[64];
  if (parser_is(p, TOKEN_END)) return fail_never_closed(p, close, open, start);
  if (parser_current(p)->pos.line == start.line) return parser_expect(p, close);
  return parser_fail_here(p, "'%s' expected to close the '%s' on line %d, found %s",
                          token_text(close), open, start.line, found(p, text));
}

bool parser_match(Parser *p, TokenKind close, const char *open, Pos start) {
  if (close == TOKEN_END_KEYWORD && parser_is(p, close)) note_misfit(p, open, start);
  if (parser_accept(p, close)) return true;
  if (p->failed) return false;
  bool is_block = lose_block(p, close);
  fail_match(p, close, open, start);
  if (is_block) parser_abandon(p);
  return false;
}

Str parser_name(Parser *p) {
  const Token *token = parser_current(p);
  if (token_is_keyword(token->kind)) {
    parser_fail_here(p, "'%s' is a keyword and cannot be a name", token_text(token->kind));
    return STR("");
  }
  return parser_expect(p, TOKEN_NAME) ? token_source(p->source, token) : STR("");
}

bool parser_enter(Parser *p) {
  if (++p->depth <= PARSE_MAX_DEPTH) return true;
  parser_fail_here(p, "this is nested more than %d levels deep", PARSE_MAX_DEPTH);
  parser_hint(p, "move a part into a local or a helper function");
  parser_abandon(p);
  return false;
}
void parser_leave(Parser *p) { p->depth--; }

/* Scopes. */

AstLocal *parser_new_local(Parser *p, Str name, Pos pos) {
  AstLocal *local = scratch_new(p->scratch, AstLocal);
  *local = (AstLocal){.name = name, .pos = pos, .owner = p->frame ? p->frame->function : NULL};
  return local;
}

void parser_declare(Parser *p, AstLocal *local) {
  Binding binding = {local, map_find(&p->visible, local->name)};
  local->id = p->local_count++;
  vec_push(p->source->work, &p->scope, binding);
  map_put(&p->visible, local->name, local);
}

void parser_close_scope(Parser *p, int count) {
  while (p->scope.count > count) {
    Binding binding = p->scope.items[--p->scope.count];
    map_put(&p->visible, binding.local->name, binding.hidden);
  }
}

/* Entry points. */

Parser *parser_create(Source *source, Tokens tokens, Error *err) {
  Parser *p = scratch_new(source->work, Parser);
  *p = (Parser){.source = source,
                .scratch = source->scratch,
                .err = err,
                .tokens = tokens,
                .until_from = INT_MAX,
                .until_to = INT_MAX};
  map_init(&p->visible, source->work);
  return p;
}

Ast *parser_finish(Parser *p, AstFunction *function, AstBlock helpers) {
  if (p->is_broken) return NULL;
  Ast *ast = scratch_new(p->scratch, Ast);
  *ast = (Ast){
      .source = p->source, .function = function, .helpers = helpers, .local_count = p->local_count};
  return ast;
}

static bool is_helper(const Parser *p) {
  const Token *token = parser_current(p);
  if (parser_ahead(p, 1)->kind != TOKEN_FUNCTION) return false;
  return token->kind == TOKEN_LOCAL ||
         (token->kind == TOKEN_NAME && str_is(token_source(p->source, token), "const"));
}

/* `local even, odd`: names of helpers that follow. */
static bool is_forward(const Parser *p) {
  int k = 1;
  if (!parser_is(p, TOKEN_LOCAL)) return false;
  while (parser_ahead(p, k)->kind == TOKEN_NAME && parser_ahead(p, k + 1)->kind == TOKEN_COMMA)
    k += 2;
  TokenKind next = parser_ahead(p, k + 1)->kind;
  return parser_ahead(p, k)->kind == TOKEN_NAME &&
         (next == TOKEN_FUNCTION || next == TOKEN_LOCAL || next == TOKEN_SEMICOLON);
}

/* `function even(..)` of such a name */
static AstLocal *find_forward(const Parser *p) {
  const Token *name = parser_ahead(p, 1);
  if (!parser_is(p, TOKEN_FUNCTION) || name->kind != TOKEN_NAME) return NULL;
  return map_find(&p->visible, token_source(p->source, name));
}

static void parse_helpers(Parser *p, AstBlock *helpers) {
  for (AstLocal *local = NULL; is_helper(p) || is_forward(p) || (local = find_forward(p));) {
    AstStmt *helper = is_helper(p)    ? parse_local_function(p)
                      : is_forward(p) ? parse_local(p)
                                      : parse_function_statement(p);
    if (helper->kind == AST_STMT_FUNCTION) vec_push(p->scratch, &helper->locals, local);
    vec_push(p->scratch, helpers, helper);
    while (parser_accept(p, TOKEN_SEMICOLON)) {}
  }
}

static void fail_no_function(Parser *p) {
  parser_fail_expected(p, "the kernel's 'function('");
  parser_hint(p,
              "a text kernel is one function, with 'local function' helpers before it if wanted");
}

static AstFunction *parse_kernel_function(Parser *p) {
  Pos keyword = parser_current(p)->pos;
  if (!parser_accept(p, TOKEN_FUNCTION)) {
    fail_no_function(p);
  } else if (parser_is(p, TOKEN_NAME)) {
    parser_fail_here(p, "the function of a text kernel must not have a name");
    parser_hint(p, "write 'function(', or 'local function' for a helper");
  }
  return parse_body(p, keyword, STR(""), false);
}

Ast *parse_kernel_text(Source *source, Error *err) {
  Parser *p = parser_create(source, lexer_run(source), err);
  AstBlock helpers = {0};
  p->is_text = true;
  parse_helpers(p, &helpers);
  parser_accept(p, TOKEN_RETURN);
  AstFunction *function = parse_kernel_function(p);
  while (parser_accept(p, TOKEN_SEMICOLON)) {}
  if (!parser_is(p, TOKEN_END) && !p->is_broken)
    parser_fail_here(p, "there is more text after the kernel's function");
  return parser_finish(p, function, helpers);
}
