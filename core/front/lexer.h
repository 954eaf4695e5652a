/* lexer.h - text -> tokens, all at once; private to front. A token is a slice of the text: the
 * value of a number or string is read when the parser takes it (literal.c). A malformed token is a
 * FAULT among the others and becomes an error only if the parser reaches it, so the rest of a chunk
 * may contain what kernels do not support. */
#ifndef RG_FRONT_LEXER_H
#define RG_FRONT_LEXER_H

#include "front/ast.h"

typedef enum TokenKind {
#define TOKEN(NAME, TEXT) TOKEN_##NAME,
#define KEYWORD(NAME, TEXT) TOKEN_##NAME,
#define SYMBOL(NAME, TEXT) TOKEN_##NAME,
#include "front/token.def"
#undef TOKEN
#undef KEYWORD
#undef SYMBOL
  TOKEN_COUNT
} TokenKind;

typedef enum TokenFault {
  FAULT_NONE,
  FAULT_BYTE,
  FAULT_STRING,
  FAULT_LONG_STRING,
  FAULT_LONG_COMMENT
} TokenFault;

/* The inside of a comment `--[[: type]]`, after its colon. */
typedef struct Annotation {
  Pos pos;
  int32_t end; /* offset of the closing bracket */
} Annotation;

typedef struct Token {
  TokenKind kind;
  TokenFault fault; /* FAULT */
  Pos pos;
  int32_t length;               /* bytes */
  int32_t last_line;            /* line of its last byte: strings may span several */
  const Annotation *annotation; /* the first one between the token before and this one, or NULL */
} Token;

typedef struct Tokens {
  Token *items; /* the last one, and only that, is END */
  int count, capacity;
} Tokens;

Tokens lexer_run(Source *source);
Tokens lexer_run_annotation(Source *source, const Annotation *annotation);
/* The fixed text of a keyword or symbol; for others their name in messages. */
const char *token_text(TokenKind kind);
bool token_is_keyword(TokenKind kind);
bool token_opens_block(TokenKind kind); /* one that `end` or `until` closes */
Str token_source(const Source *source, const Token *token);
/* Describes a FAULT in `err`; always false. */
bool token_report_fault(const Source *source, const Token *token, Error *err);

/* literal.c: fill the node from its text; false with a diagnostic. */
bool literal_read_number(const Source *source, AstExpr *number, Error *err);
bool literal_read_string(const Source *source, const Token *token, Str *bytes, Error *err);

#endif
