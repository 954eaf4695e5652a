/* program.c - a runtime begins with its options and ends while handles may still be held.
 *
 *     created --program_end--> ended --last object released--> freed
 *
 * Ended: no tree has memory, no kernel has code, there is no device; only releases and refusals are left. */
#include "kernel/kernel.h"
#include "tree/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/option.h"

void program_release(Program *program) {
  if (atomic_fetch_sub(&program->count, 1) != 1) return;
  Heap heap = {.fail_at = 0}; /* the program's own lies in what is freed */
  heap_free(&heap, program);
}

static void drain(Program *program) {
  while (atomic_load_explicit(&program->retired, memory_order_relaxed)) {
    for (Object *object = atomic_exchange(&program->retired, NULL), *next; object; object = next) {
      next = object->next_retired;
      if (object->kind == OBJECT_TREE)
        tree_free((Tree *)object);
      else if (object->kind == OBJECT_FIELD)
        field_free((Field *)object);
      else
        kernel_free((Kernel *)object);
    }
  }
}

static bool claim(Program *program) {
  int32_t idle = 0;
  return atomic_compare_exchange_strong(&program->busy, &idle, 1);
}

bool program_enter(Program *program) {
  if (!claim(program)) return false;
  drain(program);
  return true;
}

void program_leave(Program *program) {
  for (;;) {
    atomic_store(&program->busy, 0);
    if (!atomic_load(&program->retired) || !claim(program)) return;
    drain(program);
  }
}

void program_warn(Program *program, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (program->warn) program->warn(program->warn_data, text);
  else log_warning("%s", text);
}

bool program_check(const Program *program, Error *err) {
  return !program->has_ended || error_set(err, RG_ERROR_HANDLE, "the runtime of this handle has ended");
}

/* What a limit file of the system says, or UINT64_MAX: "max" or no such file. */
static uint64_t limit_in(const char *path) {
  char text[32] = "";
  FILE *file = fopen(path, "r");
  if (!file) return UINT64_MAX;
  bool is_read = fgets(text, sizeof text, file) && text[0] >= '0' && text[0] <= '9';
  fclose(file);
  return is_read ? strtoull(text, NULL, 10) : UINT64_MAX;
}

static uint64_t machine_memory(void) {
  uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t limits[] = {limit_in("/sys/fs/cgroup/memory.max"), limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")};
  for (int k = 0; k < 2; k++)
    if (limits[k] < bytes) bytes = limits[k];
  return bytes;
}

static bool parse_count(const char *name, int64_t most, int64_t *number, Error *err) {
  char *end;
  const char *text = option_text(name);
  *number = strtoll(text, &end, 10);
  if (end != text && !*end && *number >= 0 && *number <= most) return true;
  return error_set(err, RG_ERROR_OPTION, "%s is '%.60s', a whole number is wanted", name, text);
}

/* What the caller left open is taken from the environment, then from the machine. */
static bool fill_options(Program *program, const RgOptions *given, Error *err) {
  RgOptions *options = &program->options;
  if (given) *options = *given;
  program->runs_in_lua = options->arch && !strcmp(options->arch, "lua");
  options->arch = NULL; /* the caller's text */
  int64_t threads, seed;
  if (!parse_count("RG_THREADS", 4096, &threads, err) || !parse_count("RG_SEED", INT64_MAX, &seed, err)) return false;
  if (options->threads < 0 || options->threads > 4096)
    return error_set(err, RG_ERROR_OPTION, "threads is %d, 0 (all cores) to 4096 are possible", options->threads);
  if (options->run_tasks && !options->threads)
    return error_set(err, RG_ERROR_OPTION, "run_tasks wants to know how many workers there are: set threads");
  if (!options->threads) options->threads = (int32_t)threads;
  if (!options->seed) options->seed = (uint64_t)seed;
  const char *memory = option_text("RG_MEMORY");
  if (!options->memory_bytes && memory[0] && !option_parse_bytes(memory, &options->memory_bytes, err)) return false;
  if (!options->memory_bytes) options->memory_bytes = machine_memory() / 4 * 3;
  program->cpu = option_text("RG_CPU");
  program->tiny_chunks = option_has_word("RG_STRESS", "tiny_chunks");
  return true;
}

static uint64_t mix(uint64_t *state) { /* splitmix64: seeds for each worker's own generator */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static bool create_workers(Program *program, Error *err) {
  int32_t count = program->device->worker_count;
  program->workers = heap_alloc(&program->heap, sizeof *program->workers * (size_t)count);
  if (!program->workers) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for %d workers", count);
  uint64_t state = program->options.seed;
  for (int32_t k = 0; k < count; k++) {
    program->workers[k].index = k;
    for (int r = 0; r < 4; r++) program->workers[k].random[r] = mix(&state);
  }
  return true;
}

static bool create_parts(Program *program, const RgOptions *options, Error *err) {
  if (!fill_options(program, options, err)) return false;
  program->budget.limit = program->options.memory_bytes;
  program->device = device_cpu_create(&program->heap, program->options.threads, program->options.run_tasks,
                                      program->options.run_tasks_data, err);
  if (!program->device) return false;
  program->device->shuffle_tasks = option_has_word("RG_STRESS", "shuffle_tasks");
  program->device->gc_each_launch = option_has_word("RG_STRESS", "gc_each_launch");
  program->device->seed = program->options.seed;
  if (!program->options.no_cache && !cache_open(&program->heap, &program->cache, err)) return false;
  return create_workers(program, err) && arena_reserve_zeros(&program->ambient, 1, err);
}

Program *program_create(const RgOptions *options, Error *err) {
  Heap heap;
  heap_init(&heap, option_number("RG_STRESS", "fail_alloc", 0));
  if (!strcmp(option_text("RG_HELP"), "1")) option_print_help();
  Program *program = heap_alloc(&heap, sizeof *program);
  if (!program) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a runtime");
    return NULL;
  }
  heap_init(&program->heap, heap.fail_at);
  program->heap.allocations = heap.allocations;
  atomic_init(&program->count, 1);
  scratch_init(&program->text, &program->heap);
  if (create_parts(program, options, err)) return program;
  program_end(program);
  program_release(program);
  return NULL;
}

void program_end(Program *program) {
  struct timespec pause = {.tv_nsec = 1000000};
  while (!program_enter(program)) nanosleep(&pause, NULL); /* another thread's call ends first */
  for (Kernel *kernel = program->kernels; kernel; kernel = kernel->next) kernel_drop_code(kernel);
  for (Tree *tree = program->trees; tree; tree = tree->next) storage_free(tree);
  if (program->device) program->device->table->destroy(program->device);
  program->device = NULL;
  codegen_close(program->codegen);
  program->codegen = NULL;
  cache_close(program->cache);
  program->cache = NULL;
  arena_release(&program->ambient);
  heap_free(&program->heap, program->workers);
  program->workers = NULL;
  scratch_deinit(&program->text);
  program->has_ended = true;
  program_leave(program);
}

Scratch *program_text(Program *program) {
  scratch_deinit(&program->text);
  return &program->text;
}

void program_collect(Program *program, Tree *tree) {
  if (!program->gc_is_stopped && rt_tree_collect(storage_context(tree), &tree->rt)) program->stats.gcs++;
}

static void collect_all(Program *program, bool trims) {
  for (Tree *tree = program->trees; tree; tree = tree->next) {
    if (!tree->has_storage) continue;
    if (rt_tree_collect(storage_context(tree), &tree->rt)) program->stats.gcs++;
    if (trims) storage_trim(tree);
  }
}

void program_relieve(Program *program) {
  if (!program->is_short) return;
  program->is_short = false;
  if (program->gc_is_stopped) return;
  for (Tree *tree = program->trees; tree; tree = tree->next)
    if (tree->has_storage) rt_tree_compact(storage_context(tree), &tree->rt);
}

bool program_gc(Program *program, const char *word, double *result, Error *err) {
  static const char *const words[] = {"collect", "stop", "restart", "count", "isrunning", "trim"};
  RgMemory memory;
  *result = 0;
  if (!strcmp(word, "collect") || !strcmp(word, "trim")) {
    collect_all(program, word[0] == 't');
  } else if (!strcmp(word, "stop") || !strcmp(word, "restart")) {
    program->gc_is_stopped = word[0] == 's';
  } else if (!strcmp(word, "count")) {
    memory_report(program, &memory);
    *result = (double)memory.live / 1024;
  } else if (!strcmp(word, "isrunning")) {
    *result = !program->gc_is_stopped;
  } else {
    const char *near = str_nearest(str_of(word), words, 6);
    error_set(err, RG_ERROR_ARGUMENT, "'%.40s' is no word for gc: collect, stop, restart, count, isrunning or trim",
              word);
    return near ? error_hint(err, "did you mean '%s'?", near) : false;
  }
  return true;
}

const char *bytes_text(uint64_t bytes, char buffer[32]) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double amount = (double)bytes;
  int unit = 0;
  while (unit < 4 && amount >= 1024) amount /= 1024, unit++;
  bool is_whole = amount == (double)(uint64_t)amount;
  snprintf(buffer, 32, is_whole ? "%.0f %s" : "%.1f %s", amount, units[unit]);
  return buffer;
}
