/* texts.c - the texts of a kernel (text.def), made on demand, since a compile prints nothing unless
 * RG_DUMP requests it. Most texts show a compile at some stage, so the last version's compile is
 * repeated up to that stage, from the values that the version has saved. The codegen library makes
 * LLVM's texts from the version's canonical bytes. For PTX the kernel is compiled anew, for any
 * supported GPU, even if the machine has none. */
#include <string.h>

#include "base/log.h"
#include "kernel/compile/compile.h"
#include "kernel/tuning/tuning.h"
#include "kernel/versions/specialise.h"

/* -- notes, and warnings ----------------------------------------------------------------------- */

/* Prints the notes of a compile below the source lines they refer to, as the text of
 * kernel:explain(), and shows its warnings.
 *
 *     heat.lua:12: for i, j in x:active() do
 *         parallel over the active leaves, cell by cell
 *         8 cells at a time, in vector lanes
 * */

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

/* Passes copy bodies with their notes, so a note may be in the list twice. */
static bool is_repeated_note(const IrKernel *kernel, int number) {
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
  DEBUG_ASSERT(code->threads > 0 && code->processor, "the device has described the task");
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
      if (note->line == line && !is_repeated_note(kernel, k))
        strbuf_format(out, "    %s%s\n", note->is_warning ? "warning: " : "", note->text);
    }
  }
}

void explain_warn(Kernel *kernel, const IrKernel *ir) {
  if (kernel->has_warned_races) return;
  for (int k = 0; k < ir->notes.count; k++) {
    const IrNote *note = &ir->notes.items[k];
    if (!note->is_warning || is_repeated_note(ir, k)) continue;
    kernel->has_warned_races = true;
    engine_warn(kernel->engine, "%s:%d:%d: %s (kernel '%.100s'; reported once)",
                kernel->ast->source->name, note->line, note->column, note->text, kernel->name);
  }
}

/* -- the texts --------------------------------------------------------------------------------- */

typedef enum TextUse { IN_BOTH, COMPILED, IN_LUA } TextUse; /* which kernels have the text */
typedef struct TextRow {
  TextUse use;
  CompileStage stage;                                 /* NONE: no compile is needed */
  void (*print)(StrBuf *out, const Compile *compile); /* NULL: the codegen library prints it */
} TextRow;

static const char *const names[] = {
#define TEXT(NAME, WORD) WORD,
#include "kernel/text.def"
#undef TEXT
};

static void print_source(StrBuf *out, const Compile *compile) {
  const Ast *ast = compile->kernel->ast;
  /* include `end` itself */
  int32_t begin = ast->function->pos.offset, end = ast->function->end.offset + 3;
  strbuf_add(out, ast->source->text.data + begin, end - begin);
}

static void print_ast(StrBuf *out, const Compile *compile) { ast_print(out, compile->kernel->ast); }
static void print_types(StrBuf *out, const Compile *compile) {
  sema_print_types(out, &compile->sema);
}
static void print_ir(StrBuf *out, const Compile *compile) { ir_print(out, compile->sema.kernel); }
static void print_lua(StrBuf *out, const Compile *compile) { strbuf_text(out, compile->lua); }

static void print_tasks(StrBuf *out, const Compile *compile) {
  if (!compile->lua) print_ir(out, compile);
}

/* The version whose code launches run now, by the choice of the tuner. */
static const Version *version_run(const Kernel *kernel, const char **candidate) {
  return tuning_shown(versions_shown(kernel), candidate);
}

static void print_notes(StrBuf *out, const Compile *compile) {
  if (compile->lua)
    strbuf_text(out, "arch \"lua\" compiles nothing: every loop is serial, and every element "
                     "access is a look-up\n");
  else explain_print(out, compile->kernel->ast->source, compile->sema.kernel);
  const char *candidate = NULL;
  if (compile->kernel->last) version_run(compile->kernel, &candidate);
  if (candidate) strbuf_format(out, "the tuner found this to be the fastest code: %s\n", candidate);
  if (!compile->constants.taken) return;
  strbuf_text(out, "numbers that have not changed are constants: ");
  specialise_print(out, versions_shown(compile->kernel));
  strbuf_text(out, "; a launch with other numbers runs the code that reads them\n");
}

static const TextRow rows[TEXT_COUNT] = {
    [TEXT_SOURCE] = {IN_BOTH, STAGE_NONE, print_source},
    [TEXT_AST] = {IN_BOTH, STAGE_NONE, print_ast},
    [TEXT_INFER] = {IN_BOTH, STAGE_TYPES, print_types},
    [TEXT_IR] = {IN_BOTH, STAGE_IR, print_ir},
    [TEXT_TASKS] = {IN_BOTH, STAGE_LAST, print_tasks},
    [TEXT_EXPLAIN] = {IN_BOTH, STAGE_LAST, print_notes},
    [TEXT_LUA] = {IN_LUA, STAGE_LAST, print_lua},
    [TEXT_LLVM] = {COMPILED, STAGE_LAST, NULL},
    [TEXT_ASM] = {COMPILED, STAGE_LAST, NULL},
    [TEXT_PTX] = {COMPILED, STAGE_LAST, NULL},
};

const char *text_name(TextKind text) {
  ASSERT((unsigned)text < TEXT_COUNT, "the text is a row of text.def");
  return names[text];
}

const char *text_print(Compile *compile, TextKind text) {
  StrBuf out;
  strbuf_init(&out, &compile->scratch);
  ASSERT(rows[text].print, "the codegen library prints the other texts");
  rows[text].print(&out, compile);
  return strbuf_end(&out);
}

/* -- made on demand --------------------------------------------------------------------------- */

typedef struct Reading {
  TextKind kind;
  Compile compile;
  RgCodegenResult *result; /* from the codegen library */
  const char *text;        /* in the compile's scratch or in `result`; later in store_text */
} Reading;

static bool make_here(void *data, Error *err) {
  Reading *reading = data;
  const char *candidate;
  if (!compile_run(&reading->compile, rows[reading->kind].stage, err)) return false;
  bool derives = reading->kind == TEXT_IR && reading->compile.kernel->derivative;
  if (derives && !compile_derive(&reading->compile, err)) return false;
  if (reading->compile.explains && reading->compile.sema.kernel)
    explain_code(&reading->compile, version_run(reading->compile.kernel, &candidate));
  reading->text = text_print(&reading->compile, reading->kind);
  return true;
}

static bool make_in_codegen(Reading *reading, Error *err) {
  DEBUG_ASSERT(reading->compile.kernel->last, "check_has has refused a kernel that has not run");
  Kernel *kernel = reading->compile.kernel;
  const char *candidate;
  const CompiledKernel *compiled = version_run(kernel, &candidate)->compiled;
  reading->result = compile_bytes(kernel->engine, compiled->bytes, compiled->byte_count, true, err);
  if (!reading->result) return false;
  const RgCodegenObject *shown = &reading->result->objects[RG_TARGET_COUNT - 1];
  /* shows the target that runs tasks */
  while (shown > reading->result->objects && !shown->bytes) shown--;
  reading->text = reading->kind == TEXT_ASM ? shown->asm_text : shown->llvm_text;
  return true;
}

static bool make_ptx(void *data, Error *err) {
  Reading *reading = data;
  Compile *compile = &reading->compile;
  if (!compile_run(compile, STAGE_LAST, err)) return false;
  reading->result = compile_for_gpu(compile, err);
  if (!reading->result) return false;
  const RgCodegenObject *object = &reading->result->objects[RG_TARGET_PTX];
  reading->text =
      scratch_copy_text(&compile->scratch, (const char *)object->bytes, (size_t)object->length);
  return true;
}

static bool keep_text(void *data, Error *err) {
  Reading *reading = data;
  const char *text = reading->text ? reading->text : "";
  reading->text =
      scratch_copy_text(&reading->compile.kernel->engine->store->text, text, strlen(text));
  return true;
}

static bool read_text(Reading *reading, const char **text, Error *err) {
  Engine *engine = reading->compile.kernel->engine;
  Scratch *scratch = &reading->compile.scratch;
  scratch_init(scratch, engine->store->heap);
  bool ok = reading->compile.gpu        ? guard_run(make_ptx, reading, err)
            : rows[reading->kind].print ? guard_run(make_here, reading, err)
                                        : make_in_codegen(reading, err);
  store_text(engine->store);
  ok = ok && guard_run(keep_text, reading, err);
  if (reading->result) codegen_result_free(engine->codegen, reading->result);
  scratch_deinit(scratch);
  *text = reading->text;
  return ok;
}

static bool check_has(const Kernel *kernel, TextKind kind, Error *err) {
  bool in_lua = kernel->engine->options.runs_in_lua;
  if (rows[kind].use == (in_lua ? COMPILED : IN_LUA))
    return error_set(err, RG_ERROR_ARGUMENT, "a kernel of arch \"%s\" has no text '%s'",
                     in_lua ? "lua" : "cpu", names[kind]);
  if (rows[kind].stage == STAGE_NONE || kernel->last) return true;
  error_set(err, RG_ERROR_ARGUMENT,
            "kernel '%.100s' has not run yet: only its source and ast can be shown", kernel->name);
  return error_hint(err, "call it once, or compile it with kernel:compile(..)");
}

/* The architecture that we compile for, for the GPU of that name; if `name` is NULL, for the
 * runtime's GPU, or a common one if it has none. NULL with err. */
static const char *find_gpu(const Kernel *kernel, const char *name, Error *err) {
  static const struct {
    const char *name, *target;
  } known[] = {
#define GPU(CAPABILITY, TARGET, ISA) {"sm_" #CAPABILITY, "sm_" #TARGET},
#include "jit/gpu.def"
#undef GPU
  };
  const char *own = kernel->engine->store->device->processors[RG_TARGET_PTX];
  if (!name) return own ? own : "sm_80";
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (!strcmp(name, known[k].name)) return known[k].target;
  error_set(err, RG_ERROR_ARGUMENT, "'%.40s' is not a GPU that kernels can be compiled for", name);
  error_hint(err, "its name is sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, sm_110, "
                  "sm_120 or sm_121");
  return NULL;
}

bool kernel_text(Kernel *kernel, TextKind kind, const char *gpu, const char **text, Error *err) {
  Reading reading = {.kind = kind, .compile = {.kernel = kernel, .is_repeated = true}};
  if (!owner_check(kernel->object.owner, err)) return false;
  if (kernel->shipped)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "kernel '%.100s' is from a module, which contains code but no texts",
                     kernel->name);
  if (!check_has(kernel, kind, err)) return false;
  if (kind == TEXT_PTX) reading.compile.gpu = find_gpu(kernel, gpu, err);
  if (kind == TEXT_PTX && !reading.compile.gpu) return false;
  if (kernel->last) {
    const char *candidate;
    const Version *shown = versions_shown(kernel);
    reading.compile.way = version_run(kernel, &candidate)->way;
    reading.compile.given = kernel->last->pattern.given;
    reading.compile.value_count = kernel->last->pattern.given_count;
    reading.compile.constants = shown->constants;
    reading.compile.is_specialised = shown->tier == TIER_SPECIALISED;
  }
  reading.compile.explains = kind == TEXT_EXPLAIN;
  return read_text(&reading, text, err);
}
