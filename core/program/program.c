/* program.c - the life of a runtime, which may end before its handles.
 *
 *     created --program_end--> ended --last object released--> freed
 *
 * In an ended runtime no tree has memory, no kernel has code, and there is no device: only releases
 * succeed. */
#include "program/program.h"

#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/option.h"
#include "server/server.h"

static void end(Owner *owner);

static bool is_stressed(const char *word) { return option_has_word("RG_STRESS", word); }

static bool create_device(Program *program, const RgOptions *options, Arch arch, Error *err) {
  bool is_given = options->cpu && options->cpu[0];
  DeviceOptions wanted = {.threads = options->threads,
                          .host = options->run_tasks,
                          .host_data = options->run_tasks_data,
                          .processor = is_given ? options->cpu : option_text("RG_CPU"),
                          .seed = options->seed,
                          .finds_races = (options->debug & RG_DEBUG_RACES) != 0,
                          .shuffle_tasks = is_stressed("shuffle_tasks"),
                          .gc_each_launch = is_stressed("gc_each_launch"),
                          .guard_pages = is_stressed("guard_pages"),
                          .fails_in_task = is_stressed("fail_assert_in_task")};
  Heap *heap = &program->owner.heap;
  program->store.device = arch == ARCH_CUDA ? device_cuda_create(heap, &wanted, err)
                                            : device_cpu_create(heap, &wanted, err);
  return program->store.device;
}

/* Chooses the channel: with a host's job system launches run in the calling thread. */
static bool find_channel(const RgOptions *options, Arch arch, ServerChannel *channel, Error *err) {
  const char *text = option_text("RG_CHANNEL");
  bool is_thread = !strcmp(text, "thread") || (!text[0] && options->async);
  *channel = is_thread && arch == ARCH_CPU && !options->run_tasks ? SERVER_THREAD : SERVER_INLINE;
  return !text[0] || is_thread || !strcmp(text, "inline") ||
         error_set(err, RG_ERROR_OPTION, "RG_CHANNEL must be inline or thread, got '%.60s'", text);
}

/* Chooses the tuning mode: a host's job system splits work itself, which rules out tuning. */
static bool find_tuning(const RgOptions *options, Arch arch, TuneMode *mode, Error *err) {
  static const char *const words[] = {"off", "cached", "online", "always"};
  const char *text = options->tune ? options->tune : option_text("RG_TUNE");
  *mode = TUNE_OFF;
  while (*mode <= TUNE_ALWAYS && strcmp(text, words[*mode]) != 0) ++*mode;
  if (*mode > TUNE_ALWAYS)
    return error_set(err, RG_ERROR_OPTION, "%s must be off, cached or online, got '%.60s'",
                     options->tune ? "tune" : "RG_TUNE", text);
  if (arch == ARCH_LUA || options->run_tasks) *mode = TUNE_OFF;
  return true;
}

/* Attaches a server to the device: see server.h. */
static bool create_server(Program *program, const RgOptions *requested, ServerChannel channel,
                          uint64_t memory_bytes, Error *err) {
  const char *text = requested->pool ? requested->pool : option_text("RG_POOL"), *wrong;
  ServerOptions options = {.memory_bytes = memory_bytes, .channel = channel};
  if (!memory_config_parse(text, &options.transient, &wrong)) {
    error_set(err, RG_ERROR_OPTION, "%s is '%.80s', not a strategy of reuse: see '%.40s'",
              requested->pool ? "pool" : "RG_POOL", text, wrong);
    return error_hint(err, "expandable, caching, or simple(period = 128, ratio = 0.8), whose "
                           "memory may grow to many times what is live");
  }
  return server_attach(program->store.device, &options, err);
}

static bool find_allocations(const RgOptions *requested, CountedMode *mode, Error *err) {
  static const char *const words[] = {
      [COUNTED_OFF] = "off", [COUNTED_ON] = "on", [COUNTED_CHECKS] = "check"};
  const char *text =
      requested->allocations ? requested->allocations : option_text("RG_ALLOCATIONS");
  for (int k = COUNTED_OFF; k <= COUNTED_CHECKS; k++) {
    if (strcmp(text, words[k])) continue;
    *mode = (CountedMode)k;
    return true;
  }
  return error_set(err, RG_ERROR_OPTION, "%s must be off, on or check, got '%.60s'",
                   requested->allocations ? "allocations" : "RG_ALLOCATIONS", text);
}

/* The budget; for a device with its own memory by default three quarters of that, as of the
 * host's. */
static uint64_t budget_of(const Program *program, const RgOptions *options, bool is_given) {
  uint64_t own = program->store.device->memory_bytes / 4 * 3;
  return own && !is_given ? own : options->memory_bytes;
}

static BaselineMode baseline_mode(void) {
  const char *text = option_text("RG_QUICK");
  return !strcmp(text, "off")      ? BASELINE_OFF
         : !strcmp(text, "always") ? BASELINE_ALWAYS
                                   : BASELINE_ON;
}

static bool create_parts(Program *program, const RgOptions *requested, Arch arch, Error *err) {
  RgOptions options = *requested;
  Cache *cache = NULL;
  bool has_budget = options.memory_bytes || option_text("RG_MEMORY")[0];
  if (!settings_fill(&options, err) || !create_device(program, &options, arch, err)) return false;
  StoreOptions store = {.memory_bytes = budget_of(program, &options, has_budget),
                        .tiny_chunks = is_stressed("tiny_chunks")};
  if (!find_allocations(requested, &store.allocations, err)) return false;
  ServerChannel channel;
  TuneMode tunes;
  if (!find_channel(&options, arch, &channel, err) || !find_tuning(&options, arch, &tunes, err) ||
      !create_server(program, &options, channel, store.memory_bytes, err))
    return false;
  EngineOptions engine = {.runs_in_lua = arch == ARCH_LUA,
                          .default_f64 = options.default_f64,
                          .fast_math = options.fast_math,
                          .unchecked = options.unchecked,
                          .checks_range = options.check_range != 0,
                          .deterministic = options.deterministic != 0,
                          .tunes = tunes,
                          .waits = !strcmp(option_text("RG_ASYNC"), "off"),
                          .debug = options.debug,
                          .specialises = !options.unspecialised && !options.run_tasks &&
                                         strcmp(option_text("RG_SPECIALISE"), "off") != 0,
                          .begins_baseline = baseline_mode(),
                          .always_specialises = !strcmp(option_text("RG_SPECIALISE"), "always"),
                          .fails_in_compile = is_stressed("fail_assert_in_compile"),
                          .fails_in_launch = is_stressed("fail_assert_in_launch")};
  if (!options.no_cache && !cache_open(&program->owner.heap, &cache, err)) return false;
  program->store.device->cache = cache;
  engine_init(&program->engine, &program->store, &engine, cache);
  program->engine.random.seed = options.seed;
  extensions_init(&program->extensions, &program->store);
  program->store.device->native.native = extension_call_native;
  program->store.device->native.extensions = &program->extensions;
  program->engine.extensions = &program->extensions;
  return store_init(&program->store, &program->owner, program->store.device, &store, err);
}

Program *program_create(const RgOptions *options, Arch arch, Error *err) {
  if (!strcmp(option_text("RG_HELP"), "1")) option_print_help();
  HeapSource source = {0};
  if (!settings_allocator(options, &source, err)) return NULL;
  Program *program =
      owner_create(sizeof *program, source, option_number("RG_STRESS", "fail_alloc", 0), err);
  if (!program) return NULL;
  program->owner.end = end;
  if (create_parts(program, options, arch, err)) return program;
  program_end(program);
  return NULL;
}

static bool free_parts(void *data, Error *err) {
  Program *program = data;
  Device *device = program->store.device;
  (void)err;
  engine_deinit(&program->engine);
  extensions_deinit(&program->extensions);
  store_deinit(&program->store);
  const RtAllocator *counted = program->store.counted.rt; /* NULL: it was never used */
  const RtAllocations *all = counted ? &counted->statistics : NULL;
  if (all && all->header_alloc != all->header_free)
    log_warning("%llu counted objects were still held when their runtime ended",
                (unsigned long long)(all->header_alloc - all->header_free));
  if (device) device->table->destroy(device);
  return true;
}

/* Does the running call wait for this thread, or might it? */
static bool is_awaited(Program *program) {
  Device *device = program->store.device;
  return owner_is_mine(&program->owner) || (device && device->table->is_within(device));
}

void program_end(Program *program) {
  struct timespec pause = {.tv_nsec = 1000000};
  while (!owner_enter(&program->owner)) {
    if (is_awaited(program) && owner_end_on_leave(&program->owner)) return;
    nanosleep(&pause, NULL);
  }
  guard_run(free_parts, program, NULL); /* parts left by a failed assertion leak */
  program->owner.has_ended = true;
  owner_leave(&program->owner);
  owner_release(&program->owner);
}

static void end(Owner *owner) { program_end((Program *)owner); }

static double live_kib(const Program *program) {
  RgMemory memory;
  store_memory(&program->store, &memory);
  return (double)memory.live / 1024;
}

double program_gc(Program *program, GcAction action) {
  Store *store = &program->store;
  switch (action) {
  case GC_COLLECT: store_collect_all(store, false); return 0;
  case GC_TRIM:
    store_collect_all(store, true);
    server_trim(server_of(store->device));
    return 0;
  case GC_STOP: store->gc_is_stopped = true; return 0;
  case GC_RESTART: store->gc_is_stopped = false; return 0;
  case GC_COUNT: return live_kib(program);
  case GC_IS_RUNNING: return !store->gc_is_stopped;
  }
  return 0;
}

void program_stats(Program *program, RgStats *stats) {
  Engine *engine = &program->engine;
  const EngineStats *kernels = &engine->stats;
  StoreStats trees = store_stats(&program->store);
  *stats = (RgStats){.launches = kernels->launches,
                     .compiles = kernels->compiles,
                     .cache_hits = kernels->cache_hits,
                     .out_of_range = kernels->out_of_range,
                     .skipped = kernels->skipped,
                     .compile_ms = kernels->compile_ms,
                     .run_ms = engine_ms(engine, kernels->run_ticks),
                     .gcs = trees.gcs,
                     .activations = trees.activations,
                     .deactivations = trees.deactivations,
                     .lists = trees.lists};
}
