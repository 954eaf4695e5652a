/* program.c - a runtime begins with its options and ends while handles may still be held.
 *
 *     created --program_end--> ended --last object released--> freed
 *
 * Ended: no tree has memory, no kernel has code, there is no device; only releases and refusals are left. */
#include "program/program.h"

#include <string.h>
#include <time.h>

#include "base/option.h"

static bool create_device(Program *program, const RgOptions *options, Error *err) {
  DeviceOptions wanted = {.threads = options->threads,
                          .host = options->run_tasks,
                          .host_data = options->run_tasks_data,
                          .processor = option_text("RG_CPU"),
                          .seed = options->seed,
                          .shuffle_tasks = option_has_word("RG_STRESS", "shuffle_tasks"),
                          .gc_each_launch = option_has_word("RG_STRESS", "gc_each_launch")};
  program->store.device = device_cpu_create(&program->owner.heap, &wanted, err);
  return program->store.device;
}

static bool create_parts(Program *program, const RgOptions *given, Error *err) {
  RgOptions options = given ? *given : (RgOptions){0};
  Cache *cache = NULL;
  if (!settings_fill(&options, err) || !create_device(program, &options, err)) return false;
  StoreOptions store = {.memory_bytes = options.memory_bytes,
                        .tiny_chunks = option_has_word("RG_STRESS", "tiny_chunks")};
  EngineOptions engine = {.runs_in_lua = options.arch && !strcmp(options.arch, "lua"),
                          .default_f64 = options.default_f64,
                          .fast_math = options.fast_math,
                          .unchecked = options.unchecked};
  if (!options.no_cache && !cache_open(&program->owner.heap, &cache, err)) return false;
  engine_init(&program->engine, &program->store, &engine, cache);
  return store_init(&program->store, &program->owner, program->store.device, &store, err);
}

Program *program_create(const RgOptions *options, Error *err) {
  if (!strcmp(option_text("RG_HELP"), "1")) option_print_help();
  Program *program = owner_create(sizeof *program, option_number("RG_STRESS", "fail_alloc", 0), err);
  if (!program) return NULL;
  if (create_parts(program, options, err)) return program;
  program_end(program);
  owner_release(&program->owner);
  return NULL;
}

void program_end(Program *program) {
  struct timespec pause = {.tv_nsec = 1000000};
  while (!owner_enter(&program->owner)) nanosleep(&pause, NULL); /* another thread's call ends first */
  Device *device = program->store.device;
  engine_deinit(&program->engine);
  store_deinit(&program->store);
  if (device) device->table->destroy(device);
  program->owner.has_ended = true;
  owner_leave(&program->owner);
}

bool program_gc(Program *program, const char *word, double *result, Error *err) {
  static const char *const words[] = {"collect", "stop", "restart", "count", "isrunning", "trim"};
  RgMemory memory;
  *result = 0;
  if (!strcmp(word, "collect") || !strcmp(word, "trim")) {
    store_collect_all(&program->store, word[0] == 't');
  } else if (!strcmp(word, "stop") || !strcmp(word, "restart")) {
    program->store.gc_is_stopped = word[0] == 's';
  } else if (!strcmp(word, "count")) {
    store_memory(&program->store, &memory);
    *result = (double)memory.live / 1024;
  } else if (!strcmp(word, "isrunning")) {
    *result = !program->store.gc_is_stopped;
  } else {
    const char *near = str_nearest(str_of(word), words, 6);
    error_set(err, RG_ERROR_ARGUMENT, "'%.40s' is no word for gc: collect, stop, restart, count, isrunning or trim",
              word);
    return near ? error_hint(err, "did you mean '%s'?", near) : false;
  }
  return true;
}

void program_stats(const Program *program, RgStats *stats) {
  const EngineStats *kernels = &program->engine.stats;
  StoreStats trees = store_stats(&program->store);
  *stats = (RgStats){.launches = kernels->launches,
                     .compiles = kernels->compiles,
                     .cache_hits = kernels->cache_hits,
                     .out_of_range = kernels->out_of_range,
                     .compile_ms = kernels->compile_ms,
                     .run_ms = kernels->run_ms,
                     .gcs = trees.gcs,
                     .activations = trees.activations,
                     .deactivations = trees.deactivations,
                     .lists = trees.lists};
}
