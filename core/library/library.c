/* library.c - finds a function in the text of all files of this folder. */
#include "library/library.h"

extern const char library_text[];

/* The text after `prefix` and the name in the line that begins with them; NULL if there is none. */
static const char *find_line(Scratch *scratch, const char *prefix, Str name) {
  const char *line = scratch_format(scratch, "\n%s%.*s(", prefix, name.length, name.data);
  const char *found = strstr(library_text, line);
  return found ? found + strlen(line) - 1 : NULL;
}

Ast *library_parse(Scratch *scratch, Str name, Error *err) {
  const char *text = find_line(scratch, "function ", name);
  if (!text) text = find_line(scratch, "local function ", name);
  const char *end = text ? strstr(text, "\nend\n") : NULL;
  error_clear(err);
  if (!end) return NULL;
  const char *function = scratch_format(scratch, "function%.*s\nend", (int)(end - text), text);
  const char *title = scratch_format(scratch, "%.*s", name.length, name.data);
  return parse_kernel_text(source_create(scratch, str_of(function), title, 1), err);
}
