/* str.c - a text buffer in scratch, and the nearest name to a misspelt one. */
#include "base/str.h"

#include <stdio.h>

void strbuf_init(StrBuf *buf, Scratch *scratch) { *buf = (StrBuf){.scratch = scratch}; }

static void reserve(StrBuf *buf, int more) {
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
  reserve(buf, length);
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
  reserve(buf, length);
  vsnprintf(buf->data + buf->length, (size_t)length + 1, format, again);
  va_end(again);
  buf->length += length;
}

void strbuf_float(StrBuf *buf, char style, int digits, double value) {
  char text[64];
  snprintf(text, sizeof text, style == 'e' ? "%.*e" : "%.*g", digits, value);
  size_t whole = strspn(text, "+-0123456789einfa"); /* also of inf and nan */
  size_t point = strcspn(text + whole, "0123456789");
  strbuf_add(buf, text, (int)whole);
  if (!text[whole]) return;
  strbuf_char(buf, '.');
  strbuf_text(buf, text + whole + point);
}

const char *strbuf_end(StrBuf *buf) { return buf->data ? buf->data : ""; }

/* Levenshtein distance, cut off at names of 40 bytes. */
static int distance(Str a, Str b) {
  enum { LONGEST = 40 };
  if (a.length > LONGEST || b.length > LONGEST) return LONGEST;
  int row[LONGEST + 1];
  for (int j = 0; j <= b.length; j++) row[j] = j;
  for (int i = 1; i <= a.length; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= b.length; j++) {
      int change = diagonal + (a.data[i - 1] != b.data[j - 1]);
      diagonal = row[j];
      int least = change < row[j] + 1 ? change : row[j] + 1;
      row[j] = least < row[j - 1] + 1 ? least : row[j - 1] + 1;
    }
  }
  return row[b.length];
}

const char *str_nearest(Str name, const char *const *candidates, int count) {
  const char *best = NULL;
  /* the first that is too far */
  int best_distance = name.length <= 3 ? 2 : name.length <= 6 ? 3 : 4;
  for (int i = 0; i < count; i++) {
    int d = distance(name, str_of(candidates[i]));
    if (d < best_distance) {
      best_distance = d;
      best = candidates[i];
    }
  }
  return best;
}
