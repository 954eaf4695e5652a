/* diag.c - errors with a position: file, line, column, the source line and the width of the caret.
 * Invariant: if `source` is not empty, the column lies within it, so a caret never points at other
 * text. */
#include <stdio.h>

#include "front/source.h"

/* The longest prefix of `line` that fits and does not cut a UTF-8 character. */
static int fitting_length(Str line, int room) {
  if (line.length <= room) return line.length;
  int length = room;
  while (length > 0 && ((unsigned char)line.data[length] & 0xC0) == 0x80) length--;
  return length;
}

static void copy_line(Error *err, Str line) {
  int length = fitting_length(line, (int)sizeof err->source - 1);
  if (err->column > length + 1) length = 0;
  for (int i = 0; i < length; i++) err->source[i] = line.data[i] ? line.data[i] : ' ';
  err->source[length] = 0;
}

bool diag_error(Error *err, const Source *source, Pos pos, int32_t width, ErrorCode code,
                const char *format, ...) {
  if (!err || error_is_set(err)) return false;
  va_list args;
  va_start(args, format);
  error_set_va(err, code, format, args);
  va_end(args);

  Str line = source_line(source, pos);
  int32_t rest = line.length - (pos.column - 1); /* bytes from the column to the end of the line */
  if (width > rest) width = rest;
  snprintf(err->file, sizeof err->file, "%s", source->name);
  err->line = pos.line;
  err->column = pos.column;
  err->width = width > 1 ? width : 1;
  copy_line(err, line);
  return false;
}
