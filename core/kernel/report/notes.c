/* notes.c - prints the notes of a compile below the source lines they refer to, as the text of
 * kernel:explain(), and shows its warnings.
 *
 *     heat.lua:12: for i, j in x:active() do
 *         parallel over the active leaves, cell by cell
 *         rows of 16 cells run in 8 lanes
 * */
#include <string.h>

#include "base/log.h"
#include "kernel/compile/compile.h"

/* The text of a line, trimmed. */
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

/* A copied body has its notes twice. */
static bool was_told(const IrKernel *kernel, int number) {
  const IrNote *note = &kernel->notes.items[number];
  for (int k = 0; k < number; k++)
    if (kernel->notes.items[k].line == note->line &&
        !strcmp(kernel->notes.items[k].text, note->text))
      return true;
  return false;
}

/* Adds a note such as "blocks of 128 threads; 40 registers and 16 bytes of local memory a thread, 8
 * bytes of them spilled registers; 512 bytes of shared memory a block". */
static void note_code(IrKernel *kernel, const IrTask *task, const DeviceTaskCode *code) {
  StrBuf text;
  strbuf_init(&text, kernel->scratch);
  if (code->threads == 1) strbuf_text(&text, "one thread");
  else strbuf_format(&text, "blocks of %d threads", code->threads);
  if (code->registers >= 0) strbuf_format(&text, "; %d registers", code->registers);
  if (code->local_bytes > 0)
    strbuf_format(&text, "%s%d bytes of local memory", code->registers < 0 ? "; " : " and ",
                  code->local_bytes);
  if (code->registers >= 0 || code->local_bytes > 0) strbuf_text(&text, " a thread");
  if (code->spilled_bytes > 0)
    strbuf_format(&text, ", %d bytes of them spilled registers", code->spilled_bytes);
  else if (code->spilled_bytes == 0 && code->registers >= 0) strbuf_text(&text, ", none spilled");
  if (code->shared_bytes > 0)
    strbuf_format(&text, "; %d bytes of shared memory a block", code->shared_bytes);
  ir_note(kernel, task->line, "%s, PTX %d.%d: %s", code->processor, code->ptx_version / 10,
          code->ptx_version % 10, strbuf_end(&text));
}

void explain_code(const Compile *compile, const Version *version) {
  Device *device = compile->kernel->engine->store->device;
  const CompiledKernel *compiled = version->compiled;
  IrKernel *kernel = compile->sema.kernel;
  DeviceTaskCode code;
  if (!version->code || compiled->task_count != kernel->tasks.count) return;
  for (int32_t k = 0; k < compiled->task_count; k++)
    if (compiled->tasks[k].kind < DEVICE_CLEAR && /* a CLEAR task's code does not run */
        device->table->describe(device, version->code, compiled->tasks, k, &code))
      note_code(kernel, kernel->tasks.items[k], &code);
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
    engine_warn(kernel->engine, "%s:%d:%d: %s (kernel '%.100s'; reported once)",
                kernel->ast->source->name, note->line, note->column, note->text, kernel->name);
  }
}
