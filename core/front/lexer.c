/* lexer.c - one walk over the text. Newlines count as Lua counts them: "\n", "\r", "\r\n" and
 * "\n\r" are one each. A text is any sequence of bytes; every step moves forward and stops at the
 * end. */
#include "front/lexer.h"

typedef struct Lexer {
  Source *source;
  const char *text;
  int32_t at, end;          /* offsets */
  int32_t line, line_start; /* of `at` */
  Tokens tokens;
  const Annotation *annotation; /* the first one since the last token */
} Lexer;

static const char *const token_texts[] = {
#define TOKEN(NAME, TEXT) TEXT,
#define KEYWORD(NAME, TEXT) TEXT,
#define SYMBOL(NAME, TEXT) TEXT,
#include "front/token.def"
#undef TOKEN
#undef KEYWORD
#undef SYMBOL
};

const char *token_text(TokenKind kind) { return token_texts[kind]; }
bool token_is_keyword(TokenKind kind) { return kind >= TOKEN_AND && kind <= TOKEN_WHILE; }
bool token_opens_block(TokenKind kind) {
  return kind == TOKEN_FUNCTION || kind == TOKEN_IF || kind == TOKEN_DO || kind == TOKEN_REPEAT;
}

Str token_source(const Source *source, const Token *token) {
  return (Str){source->text.data + token->pos.offset, token->length};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
/* As in LuaJIT, every byte of a character outside ASCII may be part of a name. */
static bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}
static bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

/* The byte `ahead` of here, 0 past the end. */
static char peek(const Lexer *lexer, int ahead) {
  return ahead < lexer->end - lexer->at ? lexer->text[lexer->at + ahead] : 0;
}
static Pos position(const Lexer *lexer) {
  return (Pos){lexer->at, lexer->line, lexer->at - lexer->line_start + 1};
}

/* Skips one byte, or one newline of one or two bytes. */
static void advance(Lexer *lexer) {
  char c = peek(lexer, 0);
  lexer->at++;
  if (c != '\n' && c != '\r') return;
  char second = peek(lexer, 0);
  if ((second == '\n' || second == '\r') && second != c) lexer->at++;
  lexer->line++;
  lexer->line_start = lexer->at;
}

/* The number of `=` signs of a long bracket that opens here ("[==["), or -1. */
static int long_bracket_level(const Lexer *lexer) {
  if (peek(lexer, 0) != '[') return -1;
  int level = 0;
  while (peek(lexer, 1 + level) == '=') level++;
  return peek(lexer, 1 + level) == '[' ? level : -1;
}

static bool is_closing_bracket(const Lexer *lexer, int level) {
  if (peek(lexer, 0) != ']' || peek(lexer, level + 1) != ']') return false;
  for (int i = 0; i < level; i++)
    if (peek(lexer, 1 + i) != '=') return false;
  return true;
}

/* Skips a long bracket that opens here; *end is where it closes. False if it does not. */
static bool skip_long_bracket(Lexer *lexer, int level, int32_t *end) {
  lexer->at += level + 2;
  while (lexer->at < lexer->end && !is_closing_bracket(lexer, level)) advance(lexer);
  *end = lexer->at;
  if (lexer->at >= lexer->end) return false;
  lexer->at += level + 2;
  return true;
}

static void add_token(Lexer *lexer, TokenKind kind, TokenFault fault, Pos start) {
  Token token = {.kind = kind,
                 .fault = fault,
                 .pos = start,
                 .length = lexer->at - start.offset,
                 .last_line = lexer->line,
                 .annotation = lexer->annotation};
  vec_push(lexer->source->work, &lexer->tokens, token);
  lexer->annotation = NULL;
}

static void note_annotation(Lexer *lexer, Pos open, int level, int32_t end) {
  int32_t colon = open.offset + 2 + level + 2; /* after `--[==[` */
  if (lexer->annotation || colon >= end || lexer->text[colon] != ':') return;
  Annotation *annotation = scratch_new(lexer->source->work, Annotation);
  annotation->pos = (Pos){colon + 1, open.line, open.column + (colon + 1 - open.offset)};
  annotation->end = end;
  lexer->annotation = annotation;
}

static void skip_comment(Lexer *lexer) {
  Pos open = position(lexer);
  lexer->at += 2;
  int level = long_bracket_level(lexer);
  if (level < 0) {
    while (lexer->at < lexer->end && peek(lexer, 0) != '\n' && peek(lexer, 0) != '\r')
      advance(lexer);
    return;
  }
  int32_t end;
  if (skip_long_bracket(lexer, level, &end)) note_annotation(lexer, open, level, end);
  else add_token(lexer, TOKEN_FAULT, FAULT_LONG_COMMENT, open);
}

static void skip_escape(Lexer *lexer) {
  lexer->at++; /* the backslash */
  bool skips_space = peek(lexer, 0) == 'z';
  if (lexer->at < lexer->end) advance(lexer);
  while (skips_space && lexer->at < lexer->end && is_space(peek(lexer, 0))) advance(lexer);
}

static void lex_string(Lexer *lexer) {
  Pos start = position(lexer);
  char quote = peek(lexer, 0);
  lexer->at++;
  while (lexer->at < lexer->end && peek(lexer, 0) != quote) {
    char c = peek(lexer, 0);
    if (c == '\n' || c == '\r') break;
    if (c == '\\') skip_escape(lexer);
    else lexer->at++;
  }
  if (lexer->at >= lexer->end || peek(lexer, 0) != quote) {
    add_token(lexer, TOKEN_FAULT, FAULT_STRING, start);
    return;
  }
  lexer->at++;
  add_token(lexer, TOKEN_STRING, FAULT_NONE, start);
}

static void lex_long_string(Lexer *lexer, int level) {
  Pos start = position(lexer);
  int32_t end;
  if (skip_long_bracket(lexer, level, &end)) add_token(lexer, TOKEN_STRING, FAULT_NONE, start);
  else add_token(lexer, TOKEN_FAULT, FAULT_LONG_STRING, start);
}

/* Takes all bytes that a number could have; literal.c checks them. A sign belongs to the number
 * only after the exponent letter. */
static void lex_number(Lexer *lexer) {
  Pos start = position(lexer);
  bool is_hex = peek(lexer, 0) == '0' && (peek(lexer, 1) == 'x' || peek(lexer, 1) == 'X');
  char exponent = is_hex ? 'p' : 'e';
  for (char last = 0;; last = peek(lexer, 0), lexer->at++) {
    char c = peek(lexer, 0);
    bool is_sign = (c == '+' || c == '-') && (last | 0x20) == exponent;
    if (lexer->at >= lexer->end || !(is_sign || is_name_part(c) || c == '.')) break;
  }
  add_token(lexer, TOKEN_NUMBER, FAULT_NONE, start);
}

static TokenKind keyword_or_name(Str text) {
  for (TokenKind kind = TOKEN_AND; kind <= TOKEN_WHILE; kind++)
    if (text.data[0] == token_texts[kind][0] && str_is(text, token_texts[kind])) return kind;
  return TOKEN_NAME;
}

static void lex_name(Lexer *lexer) {
  Pos start = position(lexer);
  while (lexer->at < lexer->end && is_name_part(peek(lexer, 0))) lexer->at++;
  Str text = {lexer->text + start.offset, lexer->at - start.offset};
  add_token(lexer, keyword_or_name(text), FAULT_NONE, start);
}

static bool is_symbol_here(const Lexer *lexer, TokenKind kind) {
  int length = 0;
  for (const char *text = token_texts[kind]; text[length]; length++)
    if (peek(lexer, length) != text[length]) return false;
  return kind != TOKEN_NAVIGATE || !is_digit(peek(lexer, length));
}

static void lex_symbol(Lexer *lexer) {
  Pos start = position(lexer);
  TokenKind kind = TOKEN_DOTS;
  while (kind < TOKEN_COUNT && !is_symbol_here(lexer, kind)) kind++;
  if (kind < TOKEN_COUNT) {
    lexer->at += (int32_t)strlen(token_texts[kind]);
    add_token(lexer, kind, FAULT_NONE, start);
  } else {
    lexer->at++;
    add_token(lexer, TOKEN_FAULT, FAULT_BYTE, start);
  }
}

static void lex_one(Lexer *lexer) {
  char c = peek(lexer, 0);
  int level = long_bracket_level(lexer);
  if (is_space(c)) advance(lexer);
  else if (c == '-' && peek(lexer, 1) == '-') skip_comment(lexer);
  else if (is_name_start(c)) lex_name(lexer);
  else if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) lex_number(lexer);
  else if (c == '"' || c == '\'') lex_string(lexer);
  else if (level >= 0) lex_long_string(lexer, level);
  else lex_symbol(lexer);
}

static Tokens run(Source *source, Pos start, int32_t end) {
  Lexer lexer = {.source = source,
                 .text = source->text.data,
                 .at = start.offset,
                 .end = end,
                 .line = start.line,
                 .line_start = start.offset - (start.column - 1)};
  while (lexer.at < lexer.end) lex_one(&lexer);
  add_token(&lexer, TOKEN_END, FAULT_NONE, position(&lexer));
  return lexer.tokens;
}

Tokens lexer_run(Source *source) {
  return run(source, (Pos){0, source->first_line, 1}, source->text.length);
}
Tokens lexer_run_annotation(Source *source, const Annotation *annotation) {
  return run(source, annotation->pos, annotation->end);
}

static bool report_byte(const Source *source, const Token *token, Error *err) {
  unsigned char byte = (unsigned char)source->text.data[token->pos.offset];
  if (byte > ' ' && byte < 0x7F)
    return diag_error(err, source, token->pos, 1, RG_ERROR_SYNTAX,
                      "'%c' has no meaning in a kernel", byte);
  return diag_error(err, source, token->pos, 1, RG_ERROR_SYNTAX,
                    "the byte 0x%02X is not allowed in a kernel", byte);
}

bool token_report_fault(const Source *source, const Token *token, Error *err) {
  switch (token->fault) {
  case FAULT_NONE: break;
  case FAULT_BYTE: return report_byte(source, token, err);
  case FAULT_STRING:
    diag_error(err, source, token->pos, token->length, RG_ERROR_SYNTAX,
               "this string is not closed on its line");
    return error_hint(err, "end it with %c, or write a line break in it as \\n",
                      source->text.data[token->pos.offset]);
  case FAULT_LONG_STRING:
    return diag_error(err, source, token->pos, 2, RG_ERROR_SYNTAX,
                      "this long string is never closed");
  case FAULT_LONG_COMMENT:
    return diag_error(err, source, token->pos, 4, RG_ERROR_SYNTAX, "this comment is never closed");
  }
  return false;
}
