/* text.h - PTX as tokens. A word includes its dots (`ld.global.u32`, `%tid.x`, `.reg`); a number
 * has its bits. */
#ifndef PTX_TEXT_H
#define PTX_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct Slice {
  const char *at;
  uint32_t length;
} Slice;

static inline bool slice_is(Slice slice, const char *text) {
  return strlen(text) == slice.length && !memcmp(slice.at, text, slice.length);
}
static inline bool slice_same(Slice a, Slice b) {
  return a.length == b.length && !memcmp(a.at, b.at, a.length);
}

typedef enum TokenKind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK } TokenKind;

typedef struct Token {
  TokenKind kind;
  Slice text;
  uint32_t line;
  uint64_t bits;   /* of a number: an integer, or the bits of a float */
  int float_width; /* 0 for an integer, otherwise 4 or 8 bytes */
  char mark;
} Token;

typedef struct Text {
  const char *at, *end;
  uint32_t line;
  Token token; /* the next token */
} Text;

void text_open(Text *text, const char *from, size_t length);
void text_next(Text *text);

#endif
