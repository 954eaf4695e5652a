/* notes.c - the notes of a compile under the user's lines: the text of kernel:explain(), and its
 * warnings.
 *
 *     heat.lua:12: for i, j in x:active() do
 *         parallel over the active leaves, cell by cell
 *         rows of 16 cells run in 8 lanes
 * */
#include <string.h>

#include "base/log.h"
#include "kernel/compile.h"

/* The text of a line, without the white space around it. */
static Str line_text(const Source *source, int32_t line) {
  const char *at = source->text.data, *end = at + source->text.length;
  for (int32_t k = source->first_line; k < line && at < end; k++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    at = newline ? newline + 1 : end;
  }
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  if (!stop) stop = end;
  while (at < stop && (*at == ' ' || *at == '\t')) at++;
  while (stop > at && (stop[-1] == ' ' || stop[-1] == '\r')) stop--;
  return (Str){at, (int)(stop - at)};
}

static int32_t next_line(const IrKernel *kernel, int32_t after) {
  int32_t next = INT32_MAX;
  for (int k = 0; k < kernel->notes.count; k++) {
    int32_t line = kernel->notes.items[k].line;
    if (line > after && line < next) next = line;
  }
  return next;
}

/* A body that was copied has its notes twice. */
static bool was_told(const IrKernel *kernel, int number) {
  const IrNote *note = &kernel->notes.items[number];
  for (int k = 0; k < number; k++)
    if (kernel->notes.items[k].line == note->line &&
        !strcmp(kernel->notes.items[k].text, note->text))
      return true;
  return false;
}

void explain_print(StrBuf *out, const Source *source, const IrKernel *kernel) {
  for (int32_t line = next_line(kernel, 0); line != INT32_MAX; line = next_line(kernel, line)) {
    Str text = line_text(source, line);
    strbuf_format(out, "%s:%d: %.*s\n", source->name, line, text.length, text.data);
    for (int k = 0; k < kernel->notes.count; k++) {
      const IrNote *note = &kernel->notes.items[k];
      if (note->line == line && !was_told(kernel, k))
        strbuf_format(out, "    %s%s\n", note->is_warning ? "warning: " : "", note->text);
    }
  }
}

void explain_warn(Kernel *kernel, const IrKernel *ir) {
  if (kernel->has_warned_races) return;
  for (int k = 0; k < ir->notes.count; k++) {
    const IrNote *note = &ir->notes.items[k];
    if (!note->is_warning || was_told(ir, k)) continue;
    kernel->has_warned_races = true;
    engine_warn(kernel->engine, "%s:%d:%d: %s (kernel '%.100s'; said once)",
                kernel->ast->source->name, note->line, note->column, note->text, kernel->name);
  }
}
