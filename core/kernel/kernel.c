/* kernel.c - a kernel's handle: parses its text once, and answers queries. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "front/parser.h"
#include "kernel/versions/shipped.h"
#include "kernel/versions/versions.h"

typedef struct Parsing {
  Kernel *kernel;
  Str text;
  const RgKernelOptions *options;
  /* stores in the kernel what it needs of the Ast */
  bool (*keep)(struct Parsing *parsing, Ast *ast);
  Scratch work; /* freed after parsing */
} Parsing;

/* Versions of arch "lua" refer to values by number, and new paths shift these: drop their code. */
static void add_paths(Kernel *kernel, const SemaPaths *paths) {
  if (kernel->engine->options.runs_in_lua) versions_drop_all(kernel);
  for (int k = 0; k < paths->count; k++) {
    SemaPath path = paths->items[k];
    const char *text =
        scratch_copy_text(&kernel->scratch, path.name.data, (size_t)path.name.length);
    path.name = str_of(text);
    vec_push(&kernel->scratch, &kernel->path_texts, text);
    vec_push(&kernel->scratch, &kernel->paths, path);
    versions_widen(kernel);
  }
}

static Source *make_source(Parsing *parsing, Str text, int32_t first_line) {
  const RgKernelOptions *options = parsing->options;
  Source *source = source_create(&parsing->kernel->scratch, text,
                                 options && options->chunk ? options->chunk : "kernel", first_line);
  source->work = &parsing->work;
  return source;
}

/* Keeps only the function's own lines of its file, if the line numbers alone identify the
 * function. */
static Ast *parse_text(Parsing *parsing, Error *err) {
  const RgKernelOptions *options = parsing->options;
  int32_t first_line = options && options->first_line > 0 ? options->first_line : 1;
  if (!options || options->line_defined <= 0)
    return parse_kernel_text(make_source(parsing, parsing->text, first_line), err);
  Error of_lines = {0};
  Str lines = source_lines(parsing->text, first_line, options->line_defined, options->last_line);
  Source *part = make_source(parsing, lines, options->line_defined);
  Ast *ast =
      parse_function_at(part, options->line_defined, options->last_line, options->which, &of_lines);
  if (ast) return ast;
  return parse_function_at(make_source(parsing, parsing->text, first_line), options->line_defined,
                           options->last_line, options->which, err);
}

static bool run_parser(void *data, Error *err) {
  Parsing *parsing = data;
  Ast *ast = parse_text(parsing, err);
  if (!ast) return false;
  ast->source->work = ast->source->scratch;
  return parsing->keep(parsing, ast);
}

static bool parse(Parsing *parsing, Error *err) {
  Kernel *kernel = parsing->kernel;
  double begin = clock_ms();
  scratch_init(&parsing->work, kernel->scratch.heap);
  bool ok = guard_run(run_parser, parsing, err);
  scratch_deinit(&parsing->work);
  kernel->parse_ms += clock_ms() - begin;
  return ok;
}

static bool keep_kernel(Parsing *parsing, Ast *ast) {
  Kernel *kernel = parsing->kernel;
  const RgKernelOptions *options = parsing->options;
  ASSERT(!kernel->ast, "a kernel is parsed once");
  kernel->ast = ast;
  SemaPaths paths = sema_paths(&kernel->scratch, kernel->ast);
  kernel->parameter_count = ast->function->parameters.count;
  kernel->static_parameters = scratch_array(&kernel->scratch, bool, kernel->parameter_count + 1);
  kernel->whole_parameters = scratch_array(&kernel->scratch, uint8_t, kernel->parameter_count + 1);
  add_paths(kernel, &paths);
  int line = kernel->ast->function->pos.line;
  kernel->chunk = ast->source->name;
  kernel->place = scratch_format(&kernel->scratch, "%s:%d", kernel->chunk, line);
  kernel->name = options && options->name && options->name[0]
                     ? scratch_copy_text(&kernel->scratch, options->name, strlen(options->name))
                     : kernel->place;
  return true;
}

static void kernel_end(Object *object) {
  Kernel *kernel = (Kernel *)object;
  Engine *engine = kernel->engine;
  Kernel **at = &engine->kernels;
  while (*at && *at != kernel) at = &(*at)->next;
  if (*at) *at = kernel->next;
  versions_drop_all(kernel);
  heap_free(engine->store->heap, kernel->words);
  shipped_end(kernel);
  scratch_deinit(&kernel->scratch);
  object_free(&kernel->object);
}

Kernel *kernel_begin(Engine *engine, Error *err) {
  Kernel *kernel = object_create(engine->store->owner, kernel_end, sizeof *kernel, err);
  if (!kernel) return NULL;
  kernel->engine = engine;
  scratch_init(&kernel->scratch, engine->store->heap);
  kernel->next = engine->kernels;
  return engine->kernels = kernel;
}

Kernel *kernel_create(Engine *engine, Str text, const RgKernelOptions *options, Error *err) {
  Kernel *kernel = kernel_begin(engine, err);
  if (!kernel) return NULL;
  kernel->fast_math = engine->options.fast_math || (options && options->fast_math);
  kernel->derivative = options ? (PassDerivative)options->derivative : DERIVATIVE_NONE;
  Parsing parsing = {.kernel = kernel, .text = text, .options = options, .keep = keep_kernel};
  if (parse(&parsing, err)) return kernel;
  object_release(&kernel->object);
  return NULL;
}

/* -- called functions -------------------------------------------------------------------------- */

static bool keep_function(Parsing *parsing, Ast *ast) {
  Kernel *kernel = parsing->kernel;
  SemaPaths paths = sema_function_paths(&kernel->scratch, ast, kernel->functions.count + 1);
  ast->is_iterator = parsing->options && parsing->options->is_iterator;
  vec_push(&kernel->scratch, &kernel->functions, ast);
  add_paths(kernel, &paths);
  return true;
}

int32_t kernel_add_function(Kernel *kernel, Str text, const RgKernelOptions *options, Error *err) {
  Parsing parsing = {.kernel = kernel, .text = text, .options = options, .keep = keep_function};
  if (!owner_check(kernel->object.owner, err)) return 0;
  if (kernel->shipped) {
    error_set(err, RG_ERROR_ARGUMENT, "kernel '%.100s' of a module calls no other functions",
              kernel->name);
    return 0;
  }
  return parse(&parsing, err) ? kernel->functions.count : 0;
}

typedef struct Wanting {
  Kernel *kernel;
  const SemaRequests *requests;
} Wanting;

bool kernel_is_static(const Kernel *kernel, int32_t value) {
  ASSERT(value >= 0, "captures are numbered from 0, parameters after them");
  int32_t parameter = value - kernel->paths.count;
  if (parameter < 0) return kernel->paths.items[value].is_static;
  return parameter < kernel->parameter_count && kernel->static_parameters[parameter];
}

static uint8_t *whole_of(const Kernel *kernel, int32_t value) {
  DEBUG_ASSERT(value >= 0, "captures are numbered from 0, parameters after them");
  int32_t parameter = value - kernel->paths.count;
  if (parameter < 0) return &kernel->paths.items[value].whole;
  return parameter < kernel->parameter_count ? &kernel->whole_parameters[parameter] : NULL;
}

static SemaWhole whole_now(double number) {
  if (!(number >= -0x1p53 && number <= 0x1p53) || number != (double)(int64_t)number)
    return WHOLE_NOT;
  return number >= INT32_MIN && number <= INT32_MAX ? WHOLE_I32 : WHOLE_I64;
}

SemaWhole kernel_whole(const Kernel *kernel, int32_t value, double number) {
  const uint8_t *noted = whole_of(kernel, value);
  SemaWhole now = whole_now(number), before = noted ? (SemaWhole)*noted : WHOLE_NOT;
  return now > before ? now : before;
}

void kernel_rely_on_whole(Kernel *kernel, int32_t value, double number) {
  uint8_t *noted = whole_of(kernel, value);
  if (noted) *noted = (uint8_t)kernel_whole(kernel, value, number);
}

SemaWhole kernel_note_whole(Kernel *kernel, int32_t value, double number) {
  uint8_t *noted = whole_of(kernel, value);
  if (!noted || !*noted) return WHOLE_UNKNOWN;
  /* a module has no code for other numbers, so one that does not fit changes nothing */
  if (kernel->shipped) return whole_now(number);
  *noted = (uint8_t)kernel_whole(kernel, value, number);
  return (SemaWhole)*noted;
}

/* Includes the values of these arguments in the pattern. */
static void mark_statics(Kernel *kernel, const SemaRequests *requests) {
  if (requests->statics.count) versions_drop_all(kernel);
  for (int k = 0; k < requests->statics.count; k++) {
    SemaArg source = requests->statics.items[k];
    int32_t count = source.is_parameter ? kernel->parameter_count : kernel->paths.count;
    ASSERT(source.index >= 0 && source.index < count, "the compile names a value of the kernel");
    if (source.is_parameter) kernel->static_parameters[source.index] = true;
    else kernel->paths.items[source.index].is_static = true;
  }
}

static bool keep_wants(void *data, Error *err) {
  Wanting *wanting = data;
  (void)err;
  mark_statics(wanting->kernel, wanting->requests);
  add_paths(wanting->kernel, &wanting->requests->paths);
  return true;
}

void kernel_add_requests(Kernel *kernel, const SemaRequests *requests) {
  Wanting wanting = {kernel, requests};
  Error ignored = {0}; /* the compile's own error is kept */
  if (requests->has_function) {
    ASSERT(requests->function.index >= 0, "the function is a value of the launch");
    kernel->want = WANT_FUNCTION;
    kernel->wanted_value =
        requests->function.index + (requests->function.is_parameter ? kernel->paths.count : 0);
  } else if ((requests->paths.count || requests->statics.count) &&
             guard_run(keep_wants, &wanting, &ignored)) {
    kernel->want = WANT_PATHS;
  }
}
