/* kernel.c - a kernel's handle: its text, parsed once, and what can be read of it. */
#include <stdio.h>
#include <string.h>

#include "front/parser.h"
#include "kernel/variant.h"

typedef struct Parsing {
  Kernel *kernel;
  Str text;
  const RgKernelOptions *options;
  bool (*keep)(struct Parsing *parsing, Ast *ast); /* what the kernel takes from the tree */
  Scratch work;                                    /* gone behind the parser */
} Parsing;

static void add_paths(Kernel *kernel, const SemaPaths *paths) {
  for (int k = 0; k < paths->count; k++) {
    SemaPath path = paths->items[k];
    const char *text = scratch_copy_text(&kernel->scratch, path.name.data, (size_t)path.name.length);
    path.name = str_of(text);
    vec_push(&kernel->scratch, &kernel->path_texts, text);
    vec_push(&kernel->scratch, &kernel->paths, path);
  }
}

static Source *make_source(Parsing *parsing, Str text, int32_t first_line) {
  const RgKernelOptions *options = parsing->options;
  Source *source = source_create(&parsing->kernel->scratch, text, options && options->chunk ? options->chunk : "kernel", first_line);
  source->work = &parsing->work;
  return source;
}

/* A function's own lines are all of its file that is kept, where they can be told from the numbers alone. */
static Ast *parse_text(Parsing *parsing, Error *err) {
  const RgKernelOptions *options = parsing->options;
  int32_t first_line = options && options->first_line > 0 ? options->first_line : 1;
  if (!options || options->line_defined <= 0) return parse_kernel_text(make_source(parsing, parsing->text, first_line), err);
  Error of_lines = {0};
  Str lines = source_lines(parsing->text, first_line, options->line_defined, options->last_line);
  Source *part = make_source(parsing, lines, options->line_defined);
  Ast *ast = parse_function_at(part, options->line_defined, options->last_line, &of_lines);
  if (ast) return ast;
  return parse_function_at(make_source(parsing, parsing->text, first_line), options->line_defined, options->last_line, err);
}

static bool run_parser(void *data, Error *err) {
  Parsing *parsing = data;
  Ast *ast = parse_text(parsing, err);
  if (!ast) return false;
  ast->source->work = ast->source->scratch;
  return parsing->keep(parsing, ast);
}

static bool run_in_kernel(void *data, Error *err) {
  Parsing *parsing = data;
  return scratch_run(&parsing->kernel->scratch, run_parser, parsing, err);
}

/* What either memory lacks comes out here. */
static bool parse(Parsing *parsing, Error *err) {
  Scratch *own = &parsing->kernel->scratch;
  scratch_init(&parsing->work, own->heap);
  bool ok = scratch_run(&parsing->work, run_in_kernel, parsing, err);
  own->on_failure = NULL;
  scratch_deinit(&parsing->work);
  return ok;
}

static bool keep_kernel(Parsing *parsing, Ast *ast) {
  Kernel *kernel = parsing->kernel;
  const RgKernelOptions *options = parsing->options;
  kernel->ast = ast;
  SemaPaths paths = sema_paths(&kernel->scratch, kernel->ast);
  kernel->static_parameters = scratch_array(&kernel->scratch, bool, kernel->ast->function->parameters.count + 1);
  add_paths(kernel, &paths);
  int line = kernel->ast->function->pos.line;
  kernel->name = options && options->name && options->name[0]
                     ? scratch_copy_text(&kernel->scratch, options->name, strlen(options->name))
                     : scratch_format(&kernel->scratch, "%s:%d", kernel->ast->source->name, line);
  return true;
}

void kernel_drop_code(Kernel *kernel) {
  for (Variant *variant = kernel->variants, *next; variant; variant = next) {
    next = variant->next;
    variant_free(kernel->engine->store, variant);
  }
  kernel->variants = kernel->last = NULL;
}

static void kernel_end(Object *object) {
  Kernel *kernel = (Kernel *)object;
  Engine *engine = kernel->engine;
  Kernel **at = &engine->kernels;
  while (*at && *at != kernel) at = &(*at)->next;
  if (*at) *at = kernel->next;
  kernel_drop_code(kernel);
  heap_free(engine->store->heap, kernel->words);
  scratch_deinit(&kernel->scratch);
  object_free(&kernel->object);
}

Kernel *kernel_create(Engine *engine, Str text, const RgKernelOptions *options, Error *err) {
  Kernel *kernel = object_create(engine->store->owner, kernel_end, sizeof *kernel, err);
  if (!kernel) return NULL;
  kernel->engine = engine;
  scratch_init(&kernel->scratch, engine->store->heap);
  kernel->fast_math = engine->options.fast_math || (options && options->fast_math);
  kernel->next = engine->kernels;
  engine->kernels = kernel;
  Parsing parsing = {.kernel = kernel, .text = text, .options = options, .keep = keep_kernel};
  if (parse(&parsing, err)) return kernel;
  object_release(&kernel->object);
  return NULL;
}

/* -- functions that it calls ------------------------------------------------------------------------------------ */

static bool keep_function(Parsing *parsing, Ast *ast) {
  Kernel *kernel = parsing->kernel;
  SemaPaths paths = sema_function_paths(&kernel->scratch, ast, kernel->functions.count + 1);
  kernel_drop_code(kernel); /* the numbers of values behind the paths move */
  vec_push(&kernel->scratch, &kernel->functions, ast);
  add_paths(kernel, &paths);
  return true;
}

int32_t kernel_add_function(Kernel *kernel, Str text, const RgKernelOptions *options, Error *err) {
  Parsing parsing = {.kernel = kernel, .text = text, .options = options, .keep = keep_function};
  if (!owner_check(kernel->object.owner, err)) return 0;
  return parse(&parsing, err) ? kernel->functions.count : 0;
}

typedef struct Wanting {
  Kernel *kernel;
  const SemaWants *wants;
} Wanting;

bool kernel_is_static(const Kernel *kernel, int32_t value) {
  int32_t parameter = value - kernel->paths.count;
  if (parameter < 0) return kernel->paths.items[value].is_static;
  return parameter < kernel->ast->function->parameters.count && kernel->static_parameters[parameter];
}

static void mark_statics(Kernel *kernel, const SemaWants *wants) {
  for (int k = 0; k < wants->statics.count; k++) {
    SemaArg source = wants->statics.items[k];
    if (source.is_parameter) kernel->static_parameters[source.index] = true;
    else kernel->paths.items[source.index].is_static = true;
  }
}

static bool keep_wants(void *data, Error *err) {
  Wanting *wanting = data;
  (void)err;
  kernel_drop_code(wanting->kernel);
  mark_statics(wanting->kernel, wanting->wants);
  add_paths(wanting->kernel, &wanting->wants->paths);
  return true;
}

void kernel_want(Kernel *kernel, const SemaWants *wants) {
  Wanting wanting = {kernel, wants};
  Error ignored = {0}; /* the compile's own stands */
  if (wants->has_function) {
    kernel->want = WANT_FUNCTION;
    kernel->wanted_value = wants->function.index + (wants->function.is_parameter ? kernel->paths.count : 0);
  } else if ((wants->paths.count || wants->statics.count) && scratch_run(&kernel->scratch, keep_wants, &wanting, &ignored)) {
    kernel->want = WANT_PATHS;
  }
}

/* -- texts -------------------------------------------------------------------------------------------------------- */

typedef struct Reading {
  Kernel *kernel;
  const char *what, *text;
} Reading;

static const char *keep(Scratch *scratch, const char *text) { return scratch_copy_text(scratch, text, strlen(text)); }

static bool compiled_text(Reading *reading, Scratch *scratch, Error *err) {
  static const char *const names[] = {
      [TEXT_INFER] = "infer", [TEXT_IR] = "ir", [TEXT_TASKS] = "tasks", [TEXT_EXPLAIN] = "explain",
      [TEXT_LUA] = "lua"};
  const Variant *variant = reading->kernel->last;
  if (!variant)
    return error_set(err, RG_ERROR_ARGUMENT, "kernel '%.100s' has not run yet: only its source and ast can be shown",
                     reading->kernel->name);
  for (int k = 0; k < TEXT_COUNT; k++) {
    if (strcmp(reading->what, names[k])) continue;
    reading->text = keep(scratch, variant->texts[k]);
    return true;
  }
  return false;
}

static bool read_text(void *data, Error *err) {
  Reading *reading = data;
  Scratch *scratch = &reading->kernel->engine->store->text;
  const Ast *ast = reading->kernel->ast;
  if (!strcmp(reading->what, "source")) {
    int32_t begin = ast->function->pos.offset, end = ast->function->end.offset + 3; /* `end` itself */
    reading->text = scratch_copy_text(scratch, ast->source->text.data + begin, (size_t)(end - begin));
    return true;
  }
  if (!strcmp(reading->what, "ast")) {
    StrBuf out;
    strbuf_init(&out, scratch);
    ast_print(&out, ast);
    reading->text = strbuf_end(&out);
    return true;
  }
  return compiled_text(reading, scratch, err);
}

typedef struct Keeping {
  Scratch *scratch;
  const char *from, *text;
} Keeping;

static bool keep_text(void *data, Error *err) {
  Keeping *keeping = data;
  keeping->text = keep(keeping->scratch, keeping->from ? keeping->from : "");
  return true;
}

/* LLVM's texts are made when they are asked for, from the variant's canonical bytes. */
static bool llvm_text(Kernel *kernel, bool is_asm, const char **text, Error *err) {
  Engine *engine = kernel->engine;
  if (!kernel->last)
    return error_set(err, RG_ERROR_ARGUMENT, "kernel '%.100s' has not run yet: only its source and ast can be shown",
                     kernel->name);
  RgCodegenResult *result = compile_bytes(engine, kernel->last->bytes, kernel->last->byte_count, true, err);
  if (!result) return false;
  const RgCodegenObject *shown = &result->objects[RG_TARGET_COUNT - 1]; /* of the target that runs the tasks */
  while (shown > result->objects && !shown->bytes) shown--;
  Keeping keeping = {&engine->store->text, is_asm ? shown->asm_text : shown->llvm_text, NULL};
  bool ok = scratch_run(&engine->store->text, keep_text, &keeping, err);
  codegen_result_free(engine->codegen, result);
  *text = keeping.text;
  return ok;
}

bool kernel_text(Kernel *kernel, const char *what, const char **text, Error *err) {
  static const char *const known[] = {"source", "ast", "infer", "ir", "tasks", "explain", "lua", "llvm", "asm"};
  Engine *engine = kernel->engine;
  if (!owner_check(kernel->object.owner, err)) return false;
  bool is_known = false;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) is_known |= !strcmp(what, known[k]);
  if (!is_known)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "a kernel has no text '%.40s': source, ast, infer, ir, tasks, explain, lua, llvm and asm are", what);
  bool is_compiled = !strcmp(what, "llvm") || !strcmp(what, "asm"), is_lua = !strcmp(what, "lua");
  if (engine->options.runs_in_lua ? is_compiled : is_lua)
    return error_set(err, RG_ERROR_ARGUMENT, "a kernel of arch \"%s\" has no text '%s'", engine->options.runs_in_lua ? "lua" : "cpu", what);
  store_text(engine->store);
  if (is_compiled) return llvm_text(kernel, what[0] == 'a', text, err);
  Reading reading = {.kernel = kernel, .what = what};
  bool ok = scratch_run(&engine->store->text, read_text, &reading, err);
  *text = reading.text;
  return ok;
}
