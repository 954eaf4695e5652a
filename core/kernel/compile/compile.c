/* compile.c - from a parsed kernel and its launch arguments to a version: all steps, once per
 * version.
 *
 *     Ast, values --sema--> IrKernel --passes--> tasks --ir_write--> bytes      (in scratch memory)
 *     tasks, bytes --compiled_make--> CompiledKernel                        (held by the Version)
 *     bytes --codegen--> object --loader--> Code                            (held by the Version)
 *
 * If the cache on disk has the bytes, the codegen library is not even opened. RG_DUMP shows each
 * step, RG_TIME its duration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/option.h"
#include "build_id.h"
#include "emit_lua/emit_lua.h"
#include "pass/pass.h"
#include "kernel/versions/background.h"
#include "kernel/versions/baseline.h"
#include "kernel/compile/compile.h"
#include "kernel/tuning/tuning.h"

static bool wants_dump(const Kernel *kernel, const char *step) {
  const char *only = option_text("RG_DUMP_KERNEL");
  return option_has_word("RG_DUMP", step) && (!only[0] || !strcmp(only, kernel->name));
}

static void dump_text(const Kernel *kernel, const char *step, const char *text) {
  if (wants_dump(kernel, step)) log_dump(step, kernel->name, text);
}

/* Dumps a text of the compile at its current stage, if RG_DUMP requests it. */
static void dump_stage(Compile *compile, TextKind text) {
  const char *step = text_name(text);
  if (!compile->is_repeated && wants_dump(compile->kernel, step))
    log_dump(step, compile->kernel->name, text_print(compile, text));
}

/* -- in scratch memory ------------------------------------------------------------------------- */

_Static_assert((int)RG_DEBUG_INDICES == (int)SEMA_DEBUG_INDICES &&
                   (int)RG_DEBUG_READS == (int)SEMA_DEBUG_READS &&
                   (int)RG_DEBUG_ARITHMETIC == (int)SEMA_DEBUG_ARITHMETIC &&
                   (int)RG_DEBUG_LOCALS == (int)SEMA_DEBUG_LOCALS &&
                   (int)RG_DEBUG_RACES == (int)SEMA_DEBUG_RACES,
               "the bits of RgOptions.debug are those of SemaInput.debug");

static SemaInput sema_input(Compile *compile) {
  const Kernel *kernel = compile->kernel;
  const EngineOptions *options = &kernel->engine->options;
  return (SemaInput){.ast = kernel->ast,
                     .types = &kernel->engine->store->types,
                     .paths = &kernel->paths,
                     .captures = compile->given,
                     .parameters = compile->given + kernel->paths.count,
                     .parameter_count = compile->value_count - kernel->paths.count,
                     .default_f64 = options->default_f64,
                     .fast_math = kernel->fast_math,
                     .derivative_order = pass_derivative_order(kernel->derivative),
                     .unchecked = options->unchecked,
                     .debug = options->debug,
                     .kernel_name = kernel->name,
                     .functions = kernel->functions.items,
                     .function_count = kernel->functions.count,
                     .requests = &compile->requests};
}

/* Charges the time since `begin` to the step. */
static void charge_step(Compile *compile, CompileStep step, double begin) {
  compile->step_ms[step] += clock_ms() - begin;
}

static bool run_types(Compile *compile, Error *err) {
  double begin = clock_ms();
  SemaInput input = sema_input(compile);
  if (!sema_types(&compile->scratch, &input, &compile->sema, err)) return false;
  charge_step(compile, STEP_SEMA, begin);
  dump_stage(compile, TEXT_INFER);
  return true;
}

static bool run_lower(Compile *compile, Error *err) {
  double begin = clock_ms();
  if (!sema_lower(&compile->sema, err) || !compile_check_peers(compile, err)) return false;
  const Constants *constants = &compile->constants;
  if (constants->taken) constants_take(compile->sema.kernel, constants->taken, constants->slots);
  charge_step(compile, STEP_SEMA, begin);
  dump_stage(compile, TEXT_IR);
  return true;
}

typedef struct PassDump {
  const Kernel *kernel;
  const PassContext *passes;
} PassDump;

/* Steps are numbered as in RG_STOP_AFTER. */
static void dump_pass(void *data, const char *pass, const char *text) {
  const PassDump *to = data;
  log_dump(scratch_format(to->passes->scratch, "%d %s", to->passes->step, pass), to->kernel->name,
           text);
}

/* The processor that tasks are compiled for: the GPU if the device has one. */
static const char *processor_of(const Compile *compile) {
  if (compile->gpu) return compile->gpu;
  if (compile->host) return compile->host;
  const char *const *processors = compile->kernel->engine->store->device->processors;
  return processors[processors[RG_TARGET_PTX] ? RG_TARGET_PTX : RG_TARGET_HOST];
}

bool compile_verifies(void) {
#ifdef RG_DEBUG
  return true;
#else
  return !strcmp(option_text("RG_VERIFY"), "1");
#endif
}

static Target target_of(const Compile *compile) {
  const Device *device = compile->kernel->engine->store->device;
  bool has_gpu = compile->gpu || (device->processors[RG_TARGET_PTX] && !compile->host);
  Target target = has_gpu ? target_gpu : target_cpu;
  target.shares_lookups &= !compile->way.no_shared_lookups;
  return target;
}

/* -- the kernel of baseline code --------------------------------------------------------------- */

static IrRegion *copy_body(Compile *compile, IrKernel *kernel, const IrRegion *body) {
  return ir_copy_region(kernel, body, NULL, ir_map(&compile->scratch, kernel));
}

/* Copies the tasks before their loops are vectorised, except those whose results depend on the
 * order of iterations where that order is fixed: they keep their lanes (D-kernel-12). */
static void keep_scalar_tasks(void *data, IrKernel *kernel) {
  Compile *compile = data;
  bool keeps_order = engine_has_one_order(compile->kernel->engine);
  compile->scalar_tasks = scratch_array(&compile->scratch, IrTask *, kernel->tasks.count);
  for (int i = 0; i < kernel->tasks.count; i++) {
    const IrTask *task = kernel->tasks.items[i];
    if (keeps_order && compiled_shows_order(task)) continue;
    IrTask *copy = compile->scalar_tasks[i] = scratch_new(&compile->scratch, IrTask);
    *copy = *task;
    copy->body = copy_body(compile, kernel, task->body);
    if (task->interior) copy->interior = copy_body(compile, kernel, task->interior);
  }
}

/* Renumbers all insts, since later passes have given the ids of the copies to others. */
static void exchange_scalar_tasks(Compile *compile, IrKernel *kernel) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *other = compile->scalar_tasks[i];
    if (!other) continue;
    compile->scalar_tasks[i] = kernel->tasks.items[i];
    kernel->tasks.items[i] = other;
  }
  ir_number(kernel);
}

IrBytes compile_scalar_bytes(Compile *compile) {
  IrKernel *kernel = compile->sema.kernel;
  exchange_scalar_tasks(compile, kernel);
  for (int i = 0; i < kernel->tasks.count; i++)
    if (compile->scalar_tasks[i])
      pass_finish_task(&compile->scratch, kernel, kernel->tasks.items[i]);
  IrBytes bytes = ir_write(&compile->scratch, kernel, processor_of(compile));
  exchange_scalar_tasks(compile, kernel);
  return bytes;
}

/* Adds the source text to the error of a pass, which has only a line number. Always false. */
static bool show_line(const Compile *compile, Error *err) {
  const Source *source = compile->kernel->ast->source;
  Error refusal = *err;
  Pos pos = {.line = source->first_line, .column = refusal.column};
  if (!refusal.line || refusal.file[0] || refusal.line < source->first_line) return false;
  for (; pos.offset < source->text.length && pos.line < refusal.line; pos.offset++)
    pos.line += source->text.data[pos.offset] == '\n';
  if (pos.line < refusal.line) return false;
  error_clear(err);
  diag_error(err, source, pos, refusal.width, refusal.code, "%s", refusal.message);
  return refusal.hint[0] ? error_hint(err, "%s", refusal.hint) : false;
}

static int32_t vector_bytes_of(const Compile *compile) {
  if (compile->host) return compile->host_vector_bytes;
  return compile->kernel->engine->store->device->vector_bytes / (compile->way.has_half_vectors + 1);
}

/* Does one worker run the code, and can no other process access its trees? A module's code may run
 * on several workers. */
static bool has_one_worker(const Compile *compile) {
  const Engine *engine = compile->kernel->engine;
  const Device *device = engine->store->device;
  if (compile->host || engine->is_rank || device->processors[RG_TARGET_PTX]) return false;
  return device->worker_count == 1 || compile->way.has_one_worker;
}

typedef bool RunPasses(PassContext *passes, IrKernel *kernel, Error *err);

static bool run_passes_by(RunPasses *run, Compile *compile, Error *err) {
  double begin = clock_ms();
  Kernel *kernel = compile->kernel;
  const Device *device = kernel->engine->store->device;
  bool dumps = !compile->is_repeated && wants_dump(kernel, "passes");
  bool may_be_baseline = compile->why == COMPILE_TO_RUN && !compile->base &&
                         !compile->is_repeated && baseline_is_possible(compile);
  PassDump to = {.kernel = kernel};
  PassContext passes = {.scratch = &compile->scratch,
                        .vector_bytes = vector_bytes_of(compile),
                        .fast_gathers = device->fast_gathers && !compile->host,
                        .target = target_of(compile),
                        .wide_leaves = compile->way.wide_leaves,
                        .keeps_order = kernel->engine->options.deterministic,
                        .has_one_worker = has_one_worker(compile),
                        .has_one_order = engine_has_one_order(kernel->engine),
                        .tiles_loops = compile->way.tiles_loops,
                        .forces_streams = option_has_word("RG_STRESS", "force_streams"),
                        .forces_lanes = option_has_word("RG_STRESS", "force_lanes"),
                        .ordered_scalar = compile->way.ordered_scalar,
                        .prefers_lanes = compile->way.prefers_lanes,
                        .rare_branches = compile->way.rare_branches,
                        .prefers_scalar = compile->way.prefers_scalar ||
                                          option_has_word("RG_STRESS", "prefer_scalar"),
                        .takes_long = compile->is_specialised,
                        .derivative = kernel->derivative,
                        .explains = compile->explains,
                        .checks_range = kernel->engine->options.checks_range,
                        .verify = compile_verifies(),
                        .without = option_text("RG_WITHOUT"),
                        .stop_after = (int)strtol(option_text("RG_STOP_AFTER"), NULL, 10),
                        .before_lanes = may_be_baseline ? keep_scalar_tasks : NULL,
                        .before_lanes_data = compile,
                        .dump = dumps ? dump_pass : NULL,
                        .dump_data = &to};
  to.passes = &passes;
  if (!run(&passes, compile->sema.kernel, err)) return show_line(compile, err);
  charge_step(compile, STEP_PASSES, begin);
  return true;
}

static bool run_passes(Compile *compile, Error *err) {
  bool in_lua = compile->kernel->engine->options.runs_in_lua;
  if (!run_passes_by(in_lua ? pass_run_derivative : pass_run_all, compile, err)) return false;
  dump_stage(compile, TEXT_TASKS);
  return true;
}

bool compile_derive(Compile *compile, Error *err) {
  return run_passes_by(pass_run_derivative, compile, err);
}

static bool run_emit_lua(Compile *compile, Error *err) {
  bool is_derivative = compile->kernel->derivative != DERIVATIVE_NONE;
  if (is_derivative && !run_passes(compile, err)) return false;
  compile->lua = is_derivative ? emit_lua_derivative(&compile->scratch, &compile->sema, err)
                               : emit_lua_kernel(&compile->scratch, &compile->sema);
  if (!compile->lua) return is_derivative && show_line(compile, err);
  dump_stage(compile, TEXT_LUA);
  return true;
}

bool compile_run(Compile *compile, CompileStage last, Error *err) {
  bool in_lua = compile->kernel->engine->options.runs_in_lua;
  bool (*const stages[])(Compile *, Error *) = {run_types, run_lower,
                                                in_lua ? run_emit_lua : run_passes};
  for (int stage = 0; stage < (int)last; stage++)
    if (!stages[stage](compile, err)) return false;
  return true;
}

/* Records which numbers the kernel relies on being whole, also in the version's pattern. */
static void rely_on_wholes(const Compile *compile) {
  Kernel *kernel = compile->kernel;
  for (int k = 0; k < compile->sema.guesses.count; k++) {
    SemaArg source = compile->sema.guesses.items[k];
    int32_t value = source.index + (source.is_parameter ? kernel->paths.count : 0);
    double number = compile->values[value].number;
    kernel_rely_on_whole(kernel, value, number);
    kernel->words[value * PATTERN_WORDS + 3] = (uint64_t)kernel_whole(kernel, value, number);
  }
}

static bool run_front(void *data, Error *err) {
  Compile *compile = data;
  Kernel *kernel = compile->kernel;
  ASSERT(!engine_take_test_failure(&kernel->engine->options.fails_in_compile),
         "no test requests that this compile fails");
  compile->given = values_read(&compile->scratch, kernel, compile->values, compile->value_count);
  dump_stage(compile, TEXT_AST);
  if (!compile_run(compile, STAGE_LAST, err)) return false;
  rely_on_wholes(compile);
  explain_warn(kernel, compile->sema.kernel);
  if (compile->lua) return true;
  double begin = clock_ms();
  compile->bytes = ir_write(&compile->scratch, compile->sema.kernel, processor_of(compile));
  charge_step(compile, STEP_PASSES, begin);
  return true;
}

/* Constants are taken from IR, before any pass, so that types, limits, messages and results stay as
 * they are. */
static bool run_with_constants(Compile *compile, uint64_t wanted, Error *err) {
  compile->constants.taken = 0;
  if (!compile_run(compile, STAGE_IR, err)) return false;
  IrKernel *ir = compile->sema.kernel;
  wanted = constants_possible(ir, wanted, compile->constants.slots);
  compile->constants.taken = wanted;
  if (!wanted && !compile->base->is_long) return false;
  if (wanted) constants_take(ir, wanted, compile->constants.slots);
  return run_passes(compile, err);
}

static bool has_order_of_base(const Compile *compile) {
  bool keeps_order = engine_has_one_order(compile->kernel->engine);
  return !keeps_order || compiled_order(compile->sema.kernel) == compile->base->order;
}

/* The other code may vectorise loops that the base leaves scalar although their results depend on
 * the order of iterations. If so, compiles once more with such loops left scalar. */
static bool run_in_order(Compile *compile, Error *err) {
  uint64_t wanted = compile->constants.taken;
  for (int k = 0; k < 2; k++) {
    bool ok = compile->why == COMPILE_TO_SPECIALISE ? run_with_constants(compile, wanted, err)
                                                    : compile_run(compile, STAGE_LAST, err);
    if (!ok || has_order_of_base(compile)) return ok;
    compile->way.ordered_scalar = true;
  }
  return false;
}

static bool run_other(void *data, Error *err) {
  Compile *compile = data;
  const CompiledKernel *base = compile->base;
  bool specialises = compile->why == COMPILE_TO_SPECIALISE;
  ASSERT(base, "other code is made for a version that exists");
  if (!run_in_order(compile, err)) return false;
  compile->bytes = ir_write(&compile->scratch, compile->sema.kernel, processor_of(compile));
  return specialises || compile->bytes.length != base->byte_count ||
         memcmp(compile->bytes.data, base->bytes, (size_t)base->byte_count) != 0;
}

bool compile_other(Compile *compile) {
  Error ignored;
  error_clear(&ignored);
  return guard_run(run_other, compile, &ignored);
}

/* -- the codegen library ---------------------------------------------------------------------- */

static RgCodegenRequest make_request(const Engine *engine, const uint8_t *bytes, int64_t length,
                                     bool wants_texts) {
  RgCodegenRequest request = {.bytes = bytes,
                              .length = length,
                              .build_id = RG_BUILD_ID,
                              .want_llvm = wants_texts,
                              .want_asm = wants_texts,
                              .instrument = CODEGEN_INSTRUMENT,
                              .resize = engine->store->heap->source.resize,
                              .resize_data = engine->store->heap->source.data};
  memcpy(request.processors, engine->store->device->processors, sizeof request.processors);
  return request;
}

RgCodegenRequest compile_request(const Engine *engine, const uint8_t *bytes, int64_t length) {
  return make_request(engine, bytes, length, false);
}

static RgCodegenRequest request_of(const Compile *compile) {
  return compile_request(compile->kernel->engine, compile->bytes.data, compile->bytes.length);
}

static RgCodegenResult *compile_request_of(Engine *engine, const RgCodegenRequest *request,
                                           Error *err) {
  if (!engine->codegen) engine->codegen = codegen_open(engine->store->heap, err);
  return engine->codegen ? codegen_compile(engine->codegen, request, err) : NULL;
}

RgCodegenResult *compile_bytes(Engine *engine, const uint8_t *bytes, int64_t length,
                               bool wants_texts, Error *err) {
  RgCodegenRequest request = make_request(engine, bytes, length, wants_texts);
  request.threads = engine->store->device->worker_count;
  return compile_request_of(engine, &request, err);
}

RgCodegenResult *compile_for_gpu(Compile *compile, Error *err) {
  Engine *engine = compile->kernel->engine;
  compile->bytes = ir_write(&compile->scratch, compile->sema.kernel, compile->gpu);
  RgCodegenRequest request = request_of(compile);
  request.processors[RG_TARGET_HOST] = NULL;
  request.processors[RG_TARGET_PTX] = compile->gpu;
  return compile_request_of(engine, &request, err);
}

/* -- for a module ------------------------------------------------------------------------------ */

static bool run_to_ship(void *data, Error *err) {
  Compile *compile = data;
  if (!compile_run(compile, STAGE_LAST, err)) return false;
  compile->bytes = ir_write(&compile->scratch, compile->sema.kernel, processor_of(compile));
  return true;
}

/* The host region of a GPU kernel is compiled for any processor. */
static RgCodegenRequest ship_request(const Compile *compile) {
  RgCodegenRequest request = request_of(compile);
  request.processors[RG_TARGET_HOST] = compile->gpu ? ANY_PROCESSOR : compile->host;
  request.processors[RG_TARGET_PTX] = compile->gpu;
  request.threads = compile->kernel->engine->store->device->worker_count;
  return request;
}

typedef struct Writing {
  Compile *compile;
  const CompiledKernel *compiled;
  const RgCodegenResult *result;
  Scratch *scratch;
  CompiledBytes *bytes;
} Writing;

static bool write_shipped(void *data, Error *err) {
  Writing *writing = data;
  Compile *compile = writing->compile;
  (void)err;
  *writing->bytes = compiled_write(writing->compiled, &compile->kernel->engine->store->types,
                                   writing->result->objects, writing->scratch);
  return true;
}

bool compile_to_ship(Compile *compile, Scratch *scratch, CompiledBytes *bytes, Error *err) {
  Engine *engine = compile->kernel->engine;
  if (!guard_run(run_to_ship, compile, err)) return false;
  CompiledKernel *compiled = compiled_make(compile, err);
  if (!compiled) return false;
  RgCodegenRequest request = ship_request(compile);
  RgCodegenResult *result = compile_request_of(engine, &request, err);
  Writing writing = {compile, compiled, result, scratch, bytes};
  bool ok = result && guard_run(write_shipped, &writing, err);
  if (result) codegen_result_free(engine->codegen, result);
  compiled_release(compiled);
  return ok;
}

/* -- code -------------------------------------------------------------------------------------- */

static DeviceCode *load_code(const Engine *engine, int32_t task_count,
                             const RgCodegenObject *objects, double *step_ms, Error *err) {
  Device *device = engine->store->device;
  double begin = clock_ms();
  DeviceCode *code = device->table->load(device, objects, task_count, err);
  if (step_ms) step_ms[STEP_LOAD] += clock_ms() - begin;
  return code;
}

/* Loads the code from the cache on disk. NULL if it is not there, or the loader rejects it: the
 * caller then compiles it. */
DeviceCode *compile_find(Compile *compile) {
  Engine *engine = compile->kernel->engine;
  RgCodegenRequest request = request_of(compile);
  double begin = clock_ms();
  RgCodegenObject objects[RG_TARGET_COUNT];
  bool is_found = cache_find(engine->cache, &request, objects);
  charge_step(compile, STEP_CACHE, begin);
  if (!is_found) return NULL;
  Error ignored;
  error_clear(&ignored);
  DeviceCode *code =
      load_code(engine, compile->sema.kernel->tasks.count, objects, compile->step_ms, &ignored);
  for (int t = 0; t < RG_TARGET_COUNT; t++) heap_free(engine->store->heap, objects[t].bytes);
  return code;
}

DeviceCode *compile_load(Engine *engine, const CompiledKernel *compiled,
                         const RgCodegenRequest *request, const RgCodegenResult *result,
                         double *step_ms, Error *err) {
  ASSERT(request && result && result->ok, "code that is loaded was compiled");
  DeviceCode *code = load_code(engine, compiled->task_count, result->objects, step_ms, err);
  if (!code) return NULL;
  double begin = clock_ms();
  cache_store(engine->cache, request, result->objects);
  if (step_ms) step_ms[STEP_CACHE] += clock_ms() - begin;
  return code;
}

static void charge_codegen(Compile *compile, const RgCodegenResult *result, double all_ms) {
  double *ms = compile->step_ms;
  ms[STEP_READ] = result->parse_ms;
  ms[STEP_EMIT] = result->emit_ms;
  ms[STEP_OPTIMISE] = result->optimize_ms;
  ms[STEP_OBJECT] = result->object_ms;
  double steps_ms = ms[STEP_READ] + ms[STEP_EMIT] + ms[STEP_OPTIMISE] + ms[STEP_OBJECT];
  ms[STEP_OPEN] = all_ms > steps_ms ? all_ms - steps_ms : 0;
}

void compile_charge(Engine *engine, const RgCodegenResult *result) {
  double *ms = engine->stats.step_ms;
  ms[STEP_READ] += result->parse_ms;
  ms[STEP_EMIT] += result->emit_ms;
  ms[STEP_OPTIMISE] += result->optimize_ms;
  ms[STEP_OBJECT] += result->object_ms;
}

RgCodegenResult *compile_baseline(Compile *compile, const RgCodegenRequest *request) {
  double begin = clock_ms();
  Error ignored;
  error_clear(&ignored);
  RgCodegenResult *result = compile_request_of(compile->kernel->engine, request, &ignored);
  ASSERT(result || ignored.code != RG_ERROR_IR, "the scalar tasks are valid IR");
  if (result) charge_codegen(compile, result, clock_ms() - begin);
  return result;
}

static DeviceCode *make_code(Compile *compile, const CompiledKernel *compiled, bool wants_texts,
                             Error *err) {
  Kernel *kernel = compile->kernel;
  Engine *engine = kernel->engine;
  double begin = clock_ms();
  RgCodegenResult *result =
      compile_bytes(engine, compiled->bytes, compiled->byte_count, wants_texts, err);
  if (!result) return NULL;
  charge_codegen(compile, result, clock_ms() - begin);
  for (int t = 0; t < RG_TARGET_COUNT; t++) {
    if (result->objects[t].llvm_text) dump_text(kernel, "llvm", result->objects[t].llvm_text);
    if (result->objects[t].asm_text) dump_text(kernel, "asm", result->objects[t].asm_text);
  }
  RgCodegenRequest request = request_of(compile);
  DeviceCode *code = compile_load(engine, compiled, &request, result, compile->step_ms, err);
  codegen_result_free(engine->codegen, result);
  return code;
}

/* -- a general version ------------------------------------------------------------------------- */

/* Provides the version's code: with COMPILE_IN_BACKGROUND perhaps later, by a thread, and with
 * COMPILE_TO_RUN perhaps baseline code. */
static bool provide_code(Compile *compile, Version *version, bool wants_texts, Error *err) {
  if (compile->why == COMPILE_IN_BACKGROUND && !wants_texts &&
      background_start(version, PRIORITY_SOON))
    return true;
  version->state = VERSION_READY;
  if (compile->why == COMPILE_TO_RUN && !wants_texts && baseline_begin(compile, version))
    return true;
  version->code = make_code(compile, version->compiled, wants_texts, err);
  return version->code != NULL;
}

/* Code is made below a guard, so that the version is dropped if memory runs out meanwhile. */
typedef struct CodeJob {
  Compile *compile;
  Version *version;
  bool wants_texts;
} CodeJob;

static bool run_provide_code(void *data, Error *err) {
  const CodeJob *job = data;
  return provide_code(job->compile, job->version, job->wants_texts, err);
}

static bool keep_pattern(const Compile *compile, Version *version, int word_count, Error *err) {
  const Kernel *kernel = compile->kernel;
  Heap *heap = kernel->engine->store->heap;
  Pattern *pattern = &version->pattern;
  size_t bytes = sizeof *pattern->words * (size_t)word_count;
  pattern->words = heap_alloc(heap, bytes);
  if (pattern->words && bytes) memcpy(pattern->words, kernel->words, bytes);
  pattern->word_count = word_count;
  pattern->path_count = kernel->paths.count;
  pattern->given = values_keep(heap, compile->given, compile->value_count);
  pattern->given_count = compile->value_count;
  return (pattern->words && pattern->given) ||
         error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a compiled kernel");
}

static Version *make_version(Compile *compile, int word_count, Error *err) {
  Kernel *kernel = compile->kernel;
  if (!guard_run(run_front, compile, err)) return NULL;
  bool has_code = !kernel->engine->options.runs_in_lua,
       wants_texts = wants_dump(kernel, "llvm") || wants_dump(kernel, "asm");
  CompiledKernel *compiled = compiled_make(compile, err);
  Version *version = compiled ? version_create(kernel, NULL, compiled, compile->why, err) : NULL;
  if (!version) return NULL;
  version->code = wants_texts || !has_code ? NULL : compile_find(compile);
  compile->is_from_cache = version->code != NULL;
  bool is_there = !has_code || version->code;
  if (is_there) version->state = VERSION_READY;
  CodeJob job = {compile, version, wants_texts};
  if (keep_pattern(compile, version, word_count, err) &&
      (is_there || guard_run(run_provide_code, &job, err))) {
    tuning_begin(kernel, version);
    return version;
  }
  versions_drop(version);
  return NULL;
}

const char *const step_words[STEP_COUNT] = {
#define STEP(NAME, WORD) WORD,
#include "kernel/step.def"
#undef STEP
};

static void report_times(const Compile *compile, bool is_baseline) {
  char text[400] = "";
  size_t used = 0;
  if (strcmp(option_text("RG_TIME"), "1") != 0) return;
  for (int step = 0; step < STEP_COUNT && used < sizeof text; step++)
    if (compile->step_ms[step] > 0)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %.2f", used ? "," : "",
                               step_words[step], compile->step_ms[step]);
  const char *how = compile->is_from_cache ? ", from the cache" : is_baseline ? ", baseline" : "";
  log_warning("time of '%.200s' in ms%s:%s", compile->kernel->name, how, text);
}

/* The kernel was parsed earlier; its first compile includes that time. */
static void add_times(Compile *compile) {
  Kernel *kernel = compile->kernel;
  compile->step_ms[STEP_PARSE] = kernel->parse_ms;
  kernel->parse_ms = 0;
  for (int step = 0; step < STEP_COUNT; step++)
    kernel->engine->stats.step_ms[step] += compile->step_ms[step];
}

Version *version_compile(Kernel *kernel, const RgValue *values, int32_t value_count, int word_count,
                         CompileWhy why, Error *err) {
  Engine *engine = kernel->engine;
  Compile compile = {.kernel = kernel, .values = values, .value_count = value_count, .why = why};
  double begin = clock_ms();
  scratch_init(&compile.scratch, engine->store->heap);
  Version *version = make_version(&compile, word_count, err);
  if (!version) kernel_add_requests(kernel, &compile.requests);
  scratch_deinit(&compile.scratch);
  add_times(&compile);
  if (version) report_times(&compile, version->tier == TIER_BASELINE);
  engine->stats.compile_ms += clock_ms() - begin;
  if (version && !compile.is_from_cache) version->compile_ms = clock_ms() - begin;
  if (version) (*(compile.is_from_cache ? &engine->stats.cache_hits : &engine->stats.compiles))++;
  if (version) version->number = (int64_t)(engine->stats.compiles + engine->stats.cache_hits);
  return version;
}
