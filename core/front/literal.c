/* literal.c - the values of numbers and strings.
 * Numbers: decimal, hexadecimal and binary, `_` between digits, the suffixes LL and ULL. The
 * decimal point is moved into the exponent before strtod sees the digits ("1.25" is "125e-2"),
 * because strtod reads the point of the host's locale; rounding stays exact. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "front/lexer.h"

enum { LARGEST_EXPONENT = 1000000 }; /* far beyond any double, far below overflow of int */

typedef struct Digits {
  /* the digits without point, separators, prefix and suffix; room for an exponent */
  char *text;
  int length;
  int base;      /* 2, 10, 16 */
  int fraction;  /* digits after the point */
  int exponent;  /* as written */
  bool is_float; /* with a point or an exponent */
} Digits;

static int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
  return 99;
}

static bool ends_with(Str text, const char *suffix) {
  int length = (int)strlen(suffix);
  if (text.length <= length) return false;
  for (int i = 0; i < length; i++)
    if ((text.data[text.length - length + i] | 0x20) != suffix[i]) return false;
  return true;
}

/* Removes the suffix from the text and returns its meaning. */
static AstNumberKind take_suffix(Str *text) {
  if (ends_with(*text, "ull")) {
    text->length -= 3;
    return AST_NUMBER_U64;
  }
  if (ends_with(*text, "ll")) {
    text->length -= 2;
    return AST_NUMBER_I64;
  }
  return AST_NUMBER_PLAIN;
}

static bool has_prefix(Str text, char letter) {
  return text.length > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == letter;
}

/* `text` is an exponent: a sign and digits, nothing else. */
static bool read_exponent(Str text, int *exponent) {
  int at = text.length > 0 && (text.data[0] == '+' || text.data[0] == '-');
  bool is_negative = at && text.data[0] == '-';
  bool has_digits = false;
  for (; at < text.length; at++) {
    if (text.data[at] == '_' && has_digits) continue;
    if (text.data[at] < '0' || text.data[at] > '9') return false;
    has_digits = true;
    if (*exponent < LARGEST_EXPONENT) *exponent = *exponent * 10 + (text.data[at] - '0');
  }
  if (is_negative) *exponent = -*exponent;
  return has_digits;
}

/* False when the text is not a number. */
static bool read_digits(Scratch *scratch, Str text, Digits *digits) {
  digits->base = has_prefix(text, 'x') ? 16 : has_prefix(text, 'b') ? 2 : 10;
  int at = digits->base == 10 ? 0 : 2;
  char exponent_letter = digits->base == 16 ? 'p' : 'e';
  bool has_point = false;
  digits->text = scratch_alloc(scratch, (size_t)text.length + 32);
  for (; at < text.length; at++) {
    char c = text.data[at];
    if (c == '_' && at > 0) continue;
    if (c == '.' && !has_point && digits->base != 2) {
      has_point = digits->is_float = true;
    } else if (digit_value(c) < digits->base) {
      digits->text[digits->length++] = c;
      digits->fraction += has_point;
    } else {
      break;
    }
  }
  if (!digits->length || at == text.length) return digits->length > 0;
  if ((text.data[at] | 0x20) != exponent_letter || digits->base == 2) return false;
  digits->is_float = true;
  return read_exponent((Str){text.data + at + 1, text.length - at - 1}, &digits->exponent);
}

/* False when the digits need more than 64 bits. */
static bool read_integer(const Digits *digits, uint64_t *value) {
  *value = 0;
  for (int i = 0; i < digits->length; i++) {
    if (__builtin_mul_overflow(*value, (uint64_t)digits->base, value)) return false;
    if (__builtin_add_overflow(*value, (uint64_t)digit_value(digits->text[i]), value)) return false;
  }
  return true;
}

static double read_float(Scratch *scratch, const Digits *digits) {
  if (digits->base == 2) { /* integers only: 2^digits at most */
    double value = 0;
    for (int i = 0; i < digits->length; i++) value = value * 2 + (digits->text[i] - '0');
    return value;
  }
  bool is_hex = digits->base == 16;
  int64_t exponent = (int64_t)digits->exponent - (int64_t)digits->fraction * (is_hex ? 4 : 1);
  char *text = scratch_format(scratch, "%s%s%c%lld", is_hex ? "0x" : "", digits->text,
                              is_hex ? 'p' : 'e', (long long)exponent);
  return strtod(text, NULL);
}

static bool report(const Source *source, const AstExpr *number, Error *err, const char *what,
                   const char *hint) {
  int shown = number->text.length < 60 ? number->text.length : 60;
  diag_error(err, source, number->pos, number->width, RG_ERROR_SYNTAX, "'%.*s' %s", shown,
             number->text.data, what);
  return hint ? error_hint(err, "%s", hint) : false;
}

/* A suffixed integer. Decimals of i64 reach 2^63, so that the smallest one can be written with a
 * minus; a hexadecimal or binary one is a bit pattern. */
static bool check_suffixed(const Source *source, const AstExpr *number, const Digits *digits,
                           bool fits, Error *err) {
  if (digits->is_float)
    return report(source, number, err, "is not a number",
                  "the suffixes LL and ULL are for integers");
  if (!fits) return report(source, number, err, "does not fit in 64 bits", NULL);
  if (number->number_kind == AST_NUMBER_I64 && digits->base == 10 &&
      number->integer > (uint64_t)1 << 63)
    return report(source, number, err, "does not fit in i64", "end it with ULL for a u64");
  return true;
}

bool literal_read_number(const Source *source, AstExpr *number, Error *err) {
  Str text = number->text;
  Digits digits = {0};
  AstNumberKind suffix = take_suffix(&text);
  number->number_kind = suffix;
  if (!read_digits(source->scratch, text, &digits))
    return report(source, number, err, "is not a number", NULL);
  bool fits = read_integer(&digits, &number->integer);
  if (suffix != AST_NUMBER_PLAIN) {
    number->number = (double)number->integer;
    return check_suffixed(source, number, &digits, fits, err);
  }
  number->number = read_float(source->scratch, &digits);
  if (isinf(number->number))
    return report(source, number, err, "is too large for a number", "math.huge is infinity");
  if (digits.is_float || !fits) {
    number->number_kind = AST_NUMBER_FLOAT;
    number->integer = 0;
  }
  return true;
}

/* Strings. */

typedef struct Reader {
  const char *text;
  int at, end;
  StrBuf out;
} Reader;

static void add_utf8(StrBuf *out, uint32_t code) {
  if (code < 0x80) {
    strbuf_char(out, (char)code);
    return;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
  strbuf_char(out, (char)(first[more] | (code >> (6 * more))));
  while (more-- > 0) strbuf_char(out, (char)(0x80 | ((code >> (6 * more)) & 0x3F)));
}

/* A newline of one or two bytes. */
static void skip_newline(Reader *reader) {
  char first = reader->text[reader->at++];
  if (reader->at >= reader->end) return;
  char second = reader->text[reader->at];
  if ((second == '\n' || second == '\r') && second != first) reader->at++;
}

static char peek(const Reader *reader) {
  return reader->at < reader->end ? reader->text[reader->at] : 0;
}

static bool read_hex_escape(Reader *reader) {
  int value = 0;
  for (int i = 0; i < 2; i++) {
    int digit = digit_value(peek(reader));
    if (digit > 15) return false;
    value = value * 16 + digit;
    reader->at++;
  }
  strbuf_char(&reader->out, (char)value);
  return true;
}

static bool read_unicode_escape(Reader *reader) {
  uint32_t code = 0;
  if (peek(reader) != '{') return false;
  reader->at++;
  if (digit_value(peek(reader)) > 15) return false;
  for (; digit_value(peek(reader)) <= 15; reader->at++) {
    code = code * 16 + (uint32_t)digit_value(peek(reader));
    if (code > 0x10FFFF) return false;
  }
  if (peek(reader) != '}') return false;
  reader->at++;
  add_utf8(&reader->out, code);
  return true;
}

static bool read_decimal_escape(Reader *reader) {
  int value = 0;
  for (int i = 0; i < 3 && digit_value(peek(reader)) <= 9; i++, reader->at++)
    value = value * 10 + digit_value(peek(reader));
  if (value > 255) return false;
  strbuf_char(&reader->out, (char)value);
  return true;
}

/* After the backslash. */
static bool read_escape(Reader *reader) {
  static const char letters[] = "abfnrtv\\\"'", bytes[] = "\a\b\f\n\r\t\v\\\"'";
  char c = peek(reader);
  const char *letter = c ? strchr(letters, c) : NULL;
  if (digit_value(c) <= 9) return read_decimal_escape(reader);
  if (c == '\n' || c == '\r') {
    skip_newline(reader);
    strbuf_char(&reader->out, '\n');
    return true;
  }
  reader->at++;
  if (c == 'x') return read_hex_escape(reader);
  if (c == 'u') return read_unicode_escape(reader);
  if (c == 'z') {
    while (reader->at < reader->end && strchr(" \t\n\v\f\r", peek(reader)) && peek(reader))
      reader->at++;
    return true;
  }
  if (!letter) return false;
  strbuf_char(&reader->out, bytes[letter - letters]);
  return true;
}

static bool report_escape(const Source *source, const Token *token, int backslash, int end,
                          Error *err) {
  bool is_one_line = token->pos.line == token->last_line;
  Pos pos = token->pos;
  if (is_one_line) {
    pos.offset = backslash;
    pos.column += backslash - token->pos.offset;
  }
  diag_error(err, source, pos, is_one_line ? end - backslash : 1, RG_ERROR_SYNTAX,
             "this string has an invalid escape sequence");
  return error_hint(err, "a backslash itself is written \\\\");
}

static Str finish(const Reader *reader) {
  StrBuf out = reader->out;
  return (Str){strbuf_end(&out), out.length};
}

static Str read_long_string(Reader *reader) {
  int level = 0;
  while (reader->text[reader->at + 1 + level] == '=') level++;
  reader->at += level + 2;
  reader->end -= level + 2;
  if (peek(reader) == '\n' || peek(reader) == '\r') skip_newline(reader);
  while (reader->at < reader->end) {
    char c = reader->text[reader->at];
    if (c == '\n' || c == '\r') {
      skip_newline(reader);
      strbuf_char(&reader->out, '\n');
    } else {
      strbuf_char(&reader->out, c);
      reader->at++;
    }
  }
  return finish(reader);
}

bool literal_read_string(const Source *source, const Token *token, Str *bytes, Error *err) {
  Reader reader = {
      .text = source->text.data, .at = token->pos.offset, .end = token->pos.offset + token->length};
  strbuf_init(&reader.out, source->scratch);
  if (reader.text[reader.at] == '[') {
    *bytes = read_long_string(&reader);
    return true;
  }
  reader.at++;
  reader.end--;
  while (reader.at < reader.end) {
    int start = reader.at;
    char c = reader.text[reader.at++];
    if (c != '\\') strbuf_char(&reader.out, c);
    else if (!read_escape(&reader)) return report_escape(source, token, start, reader.at, err);
  }
  *bytes = finish(&reader);
  return true;
}
