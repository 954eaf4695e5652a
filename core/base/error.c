/* error.c - the first failure is kept, with its sentence; see error.h. */
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const code_texts[] = {
#define ERROR(NAME, TEXT, MEANING) TEXT,
#include "base/error.def"
#undef ERROR
};

const char *error_code_text(ErrorCode code) {
  return (unsigned)code < ERROR_CODE_COUNT ? code_texts[code] : "internal";
}

void error_clear(Error *err) { memset(err, 0, sizeof *err); }

bool error_set_va(Error *err, ErrorCode code, const char *format, va_list args) {
  if (!err || error_is_set(err)) return false;
  err->code = code;
  vsnprintf(err->message, sizeof err->message, format, args);
  return false;
}

bool error_set(Error *err, ErrorCode code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  error_set_va(err, code, format, args);
  va_end(args);
  return false;
}

bool error_hint(Error *err, const char *format, ...) {
  if (!err || err->hint[0]) return false;
  va_list args;
  va_start(args, format);
  vsnprintf(err->hint, sizeof err->hint, format, args);
  va_end(args);
  return false;
}

void error_assert_failed(const char *file, int line, const char *text, const char *believed) {
  fprintf(stderr, "regolith: %s:%d: believed: %s (%s)\n", file, line, believed, text);
  abort();
}
