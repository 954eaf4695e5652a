/* log.c - lines on standard error. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void log_warning(const char *format, ...) {
  char line[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  fprintf(stderr, "regolith: %s\n", line);
}

void log_dump(const char *step, const char *kernel, const char *text) {
  fprintf(stderr, "== %s: %s\n%s\n", kernel, step, text);
}
