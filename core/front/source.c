/* source.c - a kernel's text, copied once and then only read, and errors at a position in it. */
#include "front/source.h"

#include <stdio.h>

static bool is_newline(char c) { return c == '\n' || c == '\r'; }

/* A byte-order mark or `#!` line. The line's end stays, so that lines keep their numbers. */
static Str without_preamble(Str text) {
  int skip = 0;
  if (text.length >= 3 && !memcmp(text.data, "\xEF\xBB\xBF", 3)) skip = 3;
  if (skip + 1 < text.length && text.data[skip] == '#' && text.data[skip + 1] == '!')
    while (skip < text.length && !is_newline(text.data[skip])) skip++;
  return (Str){text.data + skip, text.length - skip};
}

Source *source_create(Scratch *scratch, Str text, const char *name, int32_t first_line) {
  Source *source = scratch_new(scratch, Source);
  Str body = without_preamble(text.data ? text : STR(""));
  source->scratch = source->work = scratch;
  source->text = (Str){scratch_copy_text(scratch, body.data, (size_t)body.length), body.length};
  source->name = scratch_copy_text(scratch, name, strlen(name));
  source->first_line = first_line;
  return source;
}

Str source_lines(Str text, int32_t first_line, int32_t first, int32_t last) {
  int32_t line = first_line, begin = 0, end = 0;
  while (end < text.length && line <= last) {
    if (line < first) begin = end;
    bool is_pair = text.data[end] == '\r' && end + 1 < text.length && text.data[end + 1] == '\n';
    line += is_newline(text.data[end]) && !is_pair;
    end++;
    if (line <= first) begin = end;
  }
  return (Str){text.data + begin, end - begin};
}

Str source_line(const Source *source, Pos pos) {
  Str text = source->text;
  int start = pos.offset < text.length ? pos.offset : text.length;
  int end = start;
  while (start > 0 && !is_newline(text.data[start - 1])) start--;
  while (end < text.length && !is_newline(text.data[end])) end++;
  return (Str){text.data + start, end - start};
}

/* -- errors ------------------------------------------------------------------------------------ */

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

/* If there is a source line, the column lies within it, so a caret never points at other text. */
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
