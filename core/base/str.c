/* str.c - a text buffer in scratch, and the nearest name to a misspelt one. */
#include "base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

void strbuf_init(StrBuf *buf, Scratch *scratch) { *buf = (StrBuf){.scratch = scratch}; }

static void ensure_capacity(StrBuf *buf, int more) {
  int needed = buf->length + more + 1;
  if (needed <= buf->capacity) return;
  int capacity = buf->capacity ? buf->capacity * 2 : 128;
  if (capacity < needed) capacity = needed;
  char *data = scratch_alloc(buf->scratch, (size_t)capacity);
  if (buf->length) memcpy(data, buf->data, (size_t)buf->length);
  buf->data = data;
  buf->capacity = capacity;
}

void strbuf_add(StrBuf *buf, const char *data, int length) {
  ensure_capacity(buf, length);
  if (length) memcpy(buf->data + buf->length, data, (size_t)length);
  buf->length += length;
  buf->data[buf->length] = 0;
}

void strbuf_text(StrBuf *buf, const char *text) { strbuf_add(buf, text, (int)strlen(text)); }
void strbuf_char(StrBuf *buf, char c) { strbuf_add(buf, &c, 1); }

void strbuf_format(StrBuf *buf, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  ensure_capacity(buf, length);
  vsnprintf(buf->data + buf->length, (size_t)length + 1, format, again);
  va_end(again);
  buf->length += length;
}

int str_from_double(char text[STR_DOUBLE_BYTES], char style, int digits, double value) {
  int length = snprintf(text, STR_DOUBLE_BYTES, style == 'e' ? "%.*e" : "%.*g", digits, value);
  int whole = (int)strspn(text, "+-0123456789einfa"); /* also of inf and nan */
  if (whole == length) return length;
  int point = (int)strcspn(text + whole, "0123456789"); /* bytes of the locale's point */
  text[whole] = '.';
  memmove(text + whole + 1, text + whole + point, (size_t)(length - whole - point) + 1);
  return length - point + 1;
}

void strbuf_float(StrBuf *buf, char style, int digits, double value) {
  char text[STR_DOUBLE_BYTES];
  strbuf_add(buf, text, str_from_double(text, style, digits, value));
}

/* Moves the point into the exponent before strtod reads the digits: "1.25" becomes "125e-2". */
double str_to_double(const char *text, char **end) {
  enum { MAX_DIGITS = 100 }; /* those after them only matter for ties of rounding */
  char copy[MAX_DIGITS + 32];
  const char *at = text + strspn(text, " \t\n");
  int length = 0, exponent = 0;
  bool has_point = false, has_digits = false;
  if (*at == '-' || *at == '+') copy[length++] = *at++;
  if (*at == '0' && (at[1] | 0x20) == 'x') return strtod(text, end);
  for (; (*at >= '0' && *at <= '9') || (*at == '.' && !has_point); at++) {
    if (*at == '.') {
      has_point = true;
      continue;
    }
    bool is_copied = length < MAX_DIGITS;
    if (is_copied) copy[length++] = *at;
    exponent += !is_copied - has_point;
    has_digits = true;
  }
  if (!has_digits) return strtod(text, end); /* infinity, or no number */
  if ((*at | 0x20) == 'e') {
    const char *digits = at + 1 + (at[1] == '-' || at[1] == '+');
    if (*digits >= '0' && *digits <= '9') {
      long written = strtol(at + 1, (char **)(uintptr_t)&at, 10);
      exponent += written < -100000 ? -100000 : written > 100000 ? 100000 : (int)written;
    }
  }
  snprintf(copy + length, sizeof copy - (size_t)length, "e%d", exponent);
  if (end) *end = (char *)(uintptr_t)at;
  return strtod(copy, NULL);
}

const char *strbuf_end(StrBuf *buf) { return buf->data ? buf->data : ""; }

/* -- "did you mean" ---------------------------------------------------------------------------- */

enum { MAX_NAME = 40 };

/* Edit distance; two swapped letters count as one edit. */
static int edit_distance(Str a, Str b) {
  int rows[3][MAX_NAME + 1], *two_ago = rows[0], *previous = rows[1], *row = rows[2];
  if (a.length > MAX_NAME || b.length > MAX_NAME) return MAX_NAME;
  for (int j = 0; j <= b.length; j++) row[j] = j;
  for (int i = 1; i <= a.length; i++) {
    int *reused = two_ago;
    two_ago = previous, previous = row, row = reused;
    row[0] = i;
    for (int j = 1; j <= b.length; j++) {
      int least = previous[j - 1] + (a.data[i - 1] != b.data[j - 1]);
      if (previous[j] + 1 < least) least = previous[j] + 1;
      if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
      bool is_swap =
          i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1];
      if (is_swap && two_ago[j - 2] + 1 < least) least = two_ago[j - 2] + 1;
      row[j] = least;
    }
  }
  return row[b.length];
}

static bool is_swap(Str a, Str b) {
  int at = 0;
  if (a.length != b.length) return false;
  while (at < a.length && a.data[at] == b.data[at]) at++;
  return at + 1 < a.length && a.data[at] == b.data[at + 1] && a.data[at + 1] == b.data[at];
}

static bool equals_ignoring_case(Str a, Str b) {
  return a.length == b.length && !strncasecmp(a.data, b.data, (size_t)a.length);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* In names of up to three letters, a different letter makes a different name, such as `pos` and
 * `pop`; a different digit may be a typing error. */
static bool is_other_word(Str a, Str b) {
  if (a.length > 3 || a.length != b.length || is_swap(a, b)) return false;
  for (int i = 0; i < a.length; i++)
    if (a.data[i] != b.data[i] && !(is_digit(a.data[i]) && is_digit(b.data[i]))) return true;
  return false;
}

/* Is the difference small enough for a typing error: one edit, or two in a longer name whose first
 * letter is right? */
static bool is_typo(Str name, Str candidate, int edits) {
  if (edits == 1) return !is_other_word(name, candidate);
  return edits == 2 && name.length > 5 && candidate.length > 3 && name.data[0] == candidate.data[0];
}

Str str_after_dot(Str name) {
  int from = name.length;
  while (from > 0 && name.data[from - 1] != '.') from--;
  return (Str){name.data + from, name.length - from};
}

/* Do both dotted names have the same part before the last dot? */
static bool is_same_table(Str a, Str b) {
  Str before_a = {a.data, a.length - str_after_dot(a).length};
  Str before_b = {b.data, b.length - str_after_dot(b).length};
  return str_equal(before_a, before_b);
}

const char *str_synonym(Str word, int number) {
  static const struct {
    const char *word, *ours;
  } synonyms[] = {
#define SYNONYM(WORD, OURS) {WORD, OURS},
#include "base/synonym.def"
#undef SYNONYM
  };
  for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
    if (str_is(word, synonyms[i].word) && number-- == 0) return synonyms[i].ours;
  return NULL;
}

static const char *find_synonym(Str name, const char *const *candidates, int count) {
  const char *ours;
  for (int number = 0; (ours = str_synonym(str_after_dot(name), number)); number++)
    for (int i = 0; i < count; i++) {
      Str candidate = str_of(candidates[i]);
      if (is_same_table(name, candidate) && str_is(str_after_dot(candidate), ours))
        return candidates[i];
    }
  return NULL;
}

const char *str_nearest(Str name, const char *const *candidates, int count) {
  const char *best = find_synonym(name, candidates, count);
  int best_edits = MAX_NAME;
  if (best) return best;
  Str last = str_after_dot(name);
  for (int i = 0; i < count; i++) {
    Str candidate = str_of(candidates[i]);
    if (!is_same_table(name, candidate) || str_equal(name, candidate)) continue;
    int edits = edit_distance(last, str_after_dot(candidate));
    if (equals_ignoring_case(last, str_after_dot(candidate))) return candidates[i];
    if (edits >= best_edits || !is_typo(last, str_after_dot(candidate), edits)) continue;
    best_edits = edits;
    best = candidates[i];
  }
  return best;
}
