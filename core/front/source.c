/* source.c - a kernel's text, copied once and then only read. */
#include "front/source.h"

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
