/* runtime_api.c - runtimes: creating, ending, errors, and what they report. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "api/word.h"
#include "comm/boot/boot.h"
#include "kernel/report/message.h"
#include "kernel/tuning/tuning.h"
#include "server/server.h"
#include "base/clock.h"

static _Thread_local Error thread_error; /* of calls that belong to no runtime */

static const char options_help[] =
#define OPTION(NAME, DEFAULT, MEANING) #NAME " [" DEFAULT "] " MEANING "\n"
#include "base/option.def"
#undef OPTION
    ;

bool api_enter(Program *program) {
  if (!owner_enter(&program->owner)) {
    error_clear(&thread_error);
    if (owner_is_mine(&program->owner)) {
      error_set(&thread_error, RG_ERROR_BUSY,
                "the runtime is in use by the call that called this function");
      return error_hint(&thread_error,
                        "a function of the host that a runtime calls cannot call it again");
    }
    error_set(&thread_error, RG_ERROR_BUSY, "the runtime is in use by another thread");
    return error_hint(&thread_error,
                      "a runtime serves one thread at a time: create one for each thread");
  }
  if (error_is_set(&thread_error)) error_clear(&thread_error);
  if (error_is_set(&program->error)) error_clear(&program->error);
  error_attach_list(&program->error, &program->errors);
  guard_open(&program->guard);
  return true;
}

static RgStatus leave(Program *program, bool ok) {
  if (!ok && !error_is_set(&program->error))
    error_set(&program->error, RG_ERROR_INTERNAL, "a call failed without a reason");
  RgStatus status = ok ? 0 : (RgStatus)program->error.code;
  if (!ok) error_clear(&thread_error); /* of a call from within this one, which failed earlier */
  owner_leave(&program->owner);
  return status;
}

RgStatus api_fail(Program *program) {
  engine_end_launch(&program->engine);
  return leave(program, guard_report(&program->guard, &program->error));
}

RgStatus api_leave(Program *program, bool ok) {
  guard_close(&program->guard);
  return leave(program, ok);
}

RgStatus api_refuse(const char *call, const char *what) {
  error_clear(&thread_error);
  error_set(&thread_error, RG_ERROR_ARGUMENT, "%s: %s", call, what);
  return RG_ERROR_ARGUMENT;
}

RgStatus api_keep_error(const Error *err) {
  thread_error = *err;
  thread_error.more = NULL;
  return (RgStatus)err->code;
}

static void export_error(const Error *err, RgError *out) {
  *out = (RgError){.code = err->is_note ? "note" : error_code_text(err->code),
                   .message = err->message,
                   .hint = err->hint,
                   .file = err->file,
                   .source = err->source,
                   .index = err->index,
                   .line = err->line,
                   .column = err->column,
                   .width = err->width,
                   .launch = err->launch,
                   .kernel = err->kernel};
}

static const Error *last_error(RgRuntime *runtime) {
  return error_is_set(&thread_error) || !runtime ? &thread_error : &((Program *)runtime)->error;
}

const RgError *rg_error(RgRuntime *runtime) {
  static _Thread_local RgError exported;
  export_error(last_error(runtime), &exported);
  return &exported;
}

const RgError *rg_error_row(RgRuntime *runtime, int32_t row, int32_t *unsaid) {
  static _Thread_local RgError exported;
  const Error *err = last_error(runtime);
  const ErrorList *list = err->more;
  if (unsaid) *unsaid = list ? list->unsaid : 0;
  if (row < 0 || row > (list ? list->count : 0)) return NULL;
  export_error(row ? &list->rows[row - 1] : err, &exported);
  return &exported;
}

void rg_on_memory(RgRuntime *runtime, uint64_t (*ask)(void *data, uint64_t bytes), void *data) {
  Program *program = (Program *)runtime;
  if (!program) return;
  program->store.budget.ask = ask;
  program->store.budget.ask_data = data;
}

int32_t rg_stop(RgRuntime *runtime) {
  Program *program = (Program *)runtime;
  return program && engine_stop(&program->engine);
}

void rg_on_warning(RgRuntime *runtime, void (*warn)(void *data, const char *text), void *data) {
  Program *program = (Program *)runtime;
  if (!program) return;
  program->engine.warn = warn;
  program->engine.warn_data = data;
}

void rg_on_print(RgRuntime *runtime, void (*print)(void *data, const char *line, int64_t length),
                 void *data) {
  Program *program = (Program *)runtime;
  if (!program) return;
  program->engine.print = print;
  program->engine.print_data = data;
}

RgStatus rg_count_launches(RgRuntime *runtime, const uint64_t **count) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(count);
  const Device *device = program->engine.store->device;
  bool may_queue = device && device->max_queued && !program->engine.options.waits;
  *count = may_queue ? &program->engine.stats.launches : NULL;
  return 0;
}

RgStatus rg_keep_lines(RgRuntime *runtime, const int32_t **count) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(count);
  program->engine.lines.are_kept = true;
  *count = &program->engine.lines.count;
  return 0;
}

void rg_keep_warnings(RgRuntime *runtime, int32_t on) {
  Program *program = (Program *)runtime;
  if (program) program->engine.lines.has_warnings = on != 0;
}

const char *rg_next_line(RgRuntime *runtime, int64_t *length) {
  Program *program = (Program *)runtime;
  int64_t unused;
  return program ? lines_take(&program->engine, length ? length : &unused) : NULL;
}

/* Waits for queued launches, which must draw their random numbers first. If one fails, the next
 * call that checks for failures reports it. */
static bool finish_launches(Program *program) {
  Device *device = program->store.device;
  if (device && device->queued) device->report_all(device->report_data, NULL);
  return true;
}

void rg_seed(RgRuntime *runtime, uint64_t seed) {
  Program *program = (Program *)runtime;
  if (!program) return;
  (void)API_CALL(program, finish_launches(program));
  program->engine.random = (RtRandom){.seed = seed, .rank = program->engine.random.rank};
}

uint64_t rg_random_key(RgRuntime *runtime, int32_t which) {
  Program *program = (Program *)runtime;
  if (!program) return 0;
  RtRandom *random = &program->engine.random;
  if (which == RG_RANDOM_OWN) return rt_random_own_key(random);
  (void)API_CALL(program, finish_launches(program));
  return rt_random_next_key(random, which == RG_RANDOM_GLOBAL);
}

void rg_random_streams(RgRuntime *runtime, uint64_t streams[2]) {
  Program *program = (Program *)runtime;
  if (!program || !streams) return;
  (void)API_CALL(program, finish_launches(program));
  streams[0] = program->engine.random.streams;
  streams[1] = program->engine.random.global_streams;
}

void rg_random_resume(RgRuntime *runtime, const uint64_t streams[2]) {
  Program *program = (Program *)runtime;
  if (!program || !streams) return;
  (void)API_CALL(program, finish_launches(program));
  program->engine.random.streams = streams[0];
  program->engine.random.global_streams = streams[1];
}

const char *rg_version(void) { return RG_VERSION; }
int32_t rg_abi_version(void) { return RG_ABI_VERSION; }
const char *rg_options_help(void) { return options_help; }

typedef struct RuntimeCreation {
  const RgOptions *options;
  Program *program;
} RuntimeCreation;

static bool create(void *data, Error *err) {
  RuntimeCreation *creation = data;
  Arch arch;
  if (!api_find_arch(creation->options->arch, &arch, err)) return false;
  creation->program = program_create(creation->options, arch, err);
  if (creation->program) creation->program->engine.is_rank = boot_is_rank();
  return creation->program;
}

RgStatus rg_runtime_create(const RgOptions *options, RgRuntime **runtime, RgError *error) {
  RgOptions full_options = {0};
  error_clear(&thread_error);
  if (!runtime) {
    api_refuse(__func__, "runtime is NULL");
  } else if (options && options->struct_size < (int32_t)sizeof options->struct_size) {
    api_refuse(__func__, "options->struct_size is not set");
  } else {
    size_t size = options ? (size_t)options->struct_size : 0;
    if (options)
      memcpy(&full_options, options, size < sizeof full_options ? size : sizeof full_options);
    RuntimeCreation creation = {&full_options, NULL};
    guard_run(create, &creation, &thread_error);
    *runtime = (RgRuntime *)creation.program;
  }
  if (error) export_error(&thread_error, error);
  return (RgStatus)thread_error.code;
}

void rg_runtime_destroy(RgRuntime *runtime) {
  Program *program = (Program *)runtime;
  if (program && !program->owner.has_ended) program_end(program);
}

static bool sync(Program *program, Error *err) {
  Device *device = program->store.device;
  return owner_check(&program->owner, err) && device->table->sync(device, err);
}

RgStatus rg_sync(RgRuntime *runtime) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  return API_CALL(program, sync(program, API_ERR(program)));
}

int32_t rg_worker_count(RgRuntime *runtime) {
  Program *program = (Program *)runtime;
  return program && program->store.device ? program->store.device->worker_count : 0;
}

static bool read_stats(Program *program, RgStats *stats) {
  if (program->store.device) (void)store_reach(&program->store, DEVICE_COUNTS, NULL);
  finish_launches(program);
  program_stats(program, stats);
  return true;
}

const char *rg_compile_step(RgRuntime *runtime, int32_t number, double *ms) {
  const Program *program = (Program *)runtime;
  if (!program || number < 0 || number >= STEP_COUNT) return NULL;
  if (ms) *ms = program->engine.stats.step_ms[number];
  return step_words[number];
}

void rg_stats(RgRuntime *runtime, RgStats *stats) {
  Program *program = (Program *)runtime;
  if (!stats) return;
  *stats = (RgStats){0};
  if (program) (void)API_CALL(program, read_stats(program, stats));
}

const char *rg_tune_mode(RgRuntime *runtime) {
  static const char *const words[] = {"off", "cached", "online", "online"};
  return words[runtime ? ((Program *)runtime)->engine.options.tunes : TUNE_OFF];
}

double rg_tune_spent_ms(RgRuntime *runtime) {
  Engine *engine = runtime ? &((Program *)runtime)->engine : NULL;
  return engine ? engine_ms(engine, (uint64_t)engine->tune_budget.spent) : 0;
}

uint64_t rg_specialised(RgRuntime *runtime, uint64_t *failed) {
  const Program *program = (const Program *)runtime;
  if (failed) *failed = program ? program->engine.stats.unspecialised : 0;
  return program ? program->engine.stats.specialised : 0;
}

uint64_t rg_quick(RgRuntime *runtime, uint64_t *improved) {
  const Program *program = (const Program *)runtime;
  if (improved) *improved = program ? program->engine.stats.improved : 0;
  return program ? program->engine.stats.baseline : 0;
}

RgStatus rg_allocations(RgRuntime *runtime, RgAllocations *allocations) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(allocations);
  return API_CALL(program, store_allocations(&program->store, allocations, API_ERR(program)));
}

static bool count_allocations(Program *program, bool on) {
  counted_set_counting(&program->store.counted, on);
  return true;
}

RgStatus rg_allocations_count(RgRuntime *runtime, int32_t on) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  return API_CALL(program, count_allocations(program, on != 0));
}

double rg_time(void) { return (double)clock_ns() * 1e-9; }

RgStatus rg_info(RgRuntime *runtime, RgInfo *info) {
  Program *program = (Program *)runtime;
  Dl_info library;
  API_NEEDS(runtime);
  API_NEEDS(info);
  *info = (RgInfo){.version = RG_VERSION,
                   .llvm = "19",
                   .cpu = "",
                   .library = "",
                   .device = "",
                   .threads = rg_worker_count(runtime),
                   .memory_bytes = program->store.budget.limit};
  if (dladdr((void *)rg_version, &library) && library.dli_fname) info->library = library.dli_fname;
  if (!program->store.device) return 0;
  info->cpu = program->store.device->processors[RG_TARGET_HOST];
  info->device = program->engine.options.runs_in_lua ? "lua" : program->store.device->table->name;
  return 0;
}

static bool measure_cache(Program *program, RgCacheInfo *info, Error *err) {
  if (!owner_check(&program->owner, err)) return false;
  *info = (RgCacheInfo){.folder = cache_folder(program->engine.cache),
                        .limit_bytes = cache_limit_bytes(program->engine.cache)};
  if (!program->engine.cache) return true;
  CacheContents contents = cache_measure(&program->owner.heap, info->folder);
  info->entries = contents.entry_count;
  info->bytes = contents.size_bytes;
  return true;
}

RgStatus rg_cache_info(RgRuntime *runtime, RgCacheInfo *info) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(info);
  return API_CALL(program, measure_cache(program, info, API_ERR(program)));
}

static bool clear_cache(Program *program, Error *err) {
  if (!owner_check(&program->owner, err)) return false;
  uint64_t left = program->engine.cache
                      ? cache_empty(&program->owner.heap, cache_folder(program->engine.cache))
                      : 0;
  tuning_clear(&program->engine);
  if (!left) return true;
  return error_set(err, RG_ERROR_IO, "%llu compiled kernels in '%s' could not be deleted",
                   (unsigned long long)left, cache_folder(program->engine.cache));
}

RgStatus rg_cache_clear(RgRuntime *runtime) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  return API_CALL(program, clear_cache(program, API_ERR(program)));
}

static uint64_t unused_bytes(const MemoryUsage *usage) {
  return usage->reserved > usage->live ? usage->reserved - usage->live : 0;
}

static bool report_memory(Program *program, RgMemory *memory, Error *err) {
  if (!owner_check(&program->owner, err) || !store_reach(&program->store, DEVICE_COUNTS, err))
    return false;
  store_memory(&program->store, memory);
  Server *server = program->store.device ? server_of(program->store.device) : NULL;
  if (!server) return true;
  ServerMemory pools = server_memory(server); /* unused memory is reserved, too */
  memory->reserved += unused_bytes(&pools.transient) + unused_bytes(&pools.staging);
  if (memory->peak < memory->reserved) memory->peak = memory->reserved;
  return true;
}

RgStatus rg_memory(RgRuntime *runtime, RgMemory *memory) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(memory);
  return API_CALL(program, report_memory(program, memory, API_ERR(program)));
}

static bool find_row(Program *program, int32_t row, RgNodeMemory *node, bool *exists, Error *err) {
  if (program->store.device && !store_reach(&program->store, DEVICE_READS, err)) return false;
  *exists = store_memory_node(&program->store, row, node);
  return true;
}

RgStatus rg_memory_node(RgRuntime *runtime, int32_t row, RgNodeMemory *node) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(node);
  bool exists = false;
  RgStatus status = API_CALL(program, find_row(program, row, node, &exists, API_ERR(program)));
  return status ? status : !exists;
}

static bool run_gc(Program *program, const char *word, double *result, Error *err) {
  int action;
  if (!owner_check(&program->owner, err) || !word_parse(WORD_GC, word, &action, err) ||
      !store_reach(&program->store, DEVICE_COUNTS, err))
    return false;
  *result = program_gc(program, (GcAction)action);
  return true;
}

RgStatus rg_gc(RgRuntime *runtime, const char *word, double *result) {
  Program *program = (Program *)runtime;
  double unused;
  API_NEEDS(runtime);
  API_NEEDS(word);
  return API_CALL(program, run_gc(program, word, result ? result : &unused, API_ERR(program)));
}
