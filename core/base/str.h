/* str.h - text: slices that borrow, and a buffer that grows in scratch memory. */
#ifndef RG_BASE_STR_H
#define RG_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/scratch.h"

typedef struct Str {
  const char *data; /* not NUL-terminated */
  int length;       /* bytes */
} Str;

#define STR(literal) ((Str){(literal), (int)sizeof(literal) - 1})
static inline Str str_of(const char *text) { return (Str){text, (int)strlen(text)}; }
static inline bool str_equal(Str a, Str b) {
  return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, (size_t)a.length) == 0);
}
static inline bool str_is(Str a, const char *text) { return str_equal(a, str_of(text)); }

typedef struct StrBuf {
  Scratch *scratch;
  char *data; /* always NUL-terminated once something was added */
  int length, capacity;
} StrBuf;

void strbuf_init(StrBuf *buf, Scratch *scratch);
void strbuf_add(StrBuf *buf, const char *data, int length);
void strbuf_text(StrBuf *buf, const char *text);
void strbuf_char(StrBuf *buf, char c);
void strbuf_format(StrBuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As "%.17g" (style 'g' or 'e'), with a decimal point whatever the host's locale uses. */
void strbuf_float(StrBuf *buf, char style, int digits, double value);
/* The same into `text`; returns its length. */
enum { STR_DOUBLE_BYTES = 64 };
int str_from_double(char text[STR_DOUBLE_BYTES], char style, int digits, double value);
/* Reads a number with a decimal point, whatever the host's locale uses; otherwise as strtod. */
double str_to_double(const char *text, char **end);
/* the text, "" when nothing was added; borrowed from scratch */
const char *strbuf_end(StrBuf *buf);

/* The candidate that the user probably meant by `name`, or NULL: for "did you mean". It is a
 * synonym of the name, or else the nearest spelling if that is near enough for a typing error.
 * Dotted names are compared within the same table: "rg.rand" becomes "rg.random", never
 * "math.random". */
const char *str_nearest(Str name, const char *const *candidates, int count);
/* Row `number` (from 0) of the synonyms of `word`; NULL past the last one. */
const char *str_synonym(Str word, int number);
/* The part after the last dot. */
Str str_after_dot(Str name);

#endif
