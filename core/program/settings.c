/* settings.c - fills unset options of a runtime from the environment, then from the machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/option.h"
#include "program/program.h"

/* The value in a limit file of the system, or UINT64_MAX: "max" or no such file. */
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
  uint64_t limits[] = {limit_in("/sys/fs/cgroup/memory.max"),
                       limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")};
  for (int k = 0; k < 2; k++)
    if (limits[k] < bytes) bytes = limits[k];
  return bytes;
}

static bool parse_count(const char *name, int64_t max, int64_t *number, Error *err) {
  char *end;
  const char *text = option_text(name);
  *number = strtoll(text, &end, 10);
  if (end != text && !*end && *number >= 0 && *number <= max) return true;
  return error_set(err, RG_ERROR_OPTION, "%s must be a whole number, got '%.60s'", name, text);
}

bool settings_allocator(const RgOptions *options, HeapSource *source, Error *err) {
  RgAllocator known = {0};
  const RgAllocator *allocator = options->allocator;
  if (!allocator) return true;
  if (allocator->struct_size < (int32_t)sizeof allocator->struct_size)
    return error_set(err, RG_ERROR_ARGUMENT, "allocator->struct_size is not set");
  size_t size = (size_t)allocator->struct_size;
  memcpy(&known, allocator, size < sizeof known ? size : sizeof known);
  if (!known.resize) return error_set(err, RG_ERROR_ARGUMENT, "allocator->resize is NULL");
  *source = (HeapSource){known.resize, known.data};
  return true;
}

bool settings_fill(RgOptions *options, Error *err) {
  int64_t threads, seed, checks;
  if (!parse_count("RG_THREADS", 4096, &threads, err) ||
      !parse_count("RG_SEED", INT64_MAX, &seed, err) ||
      !parse_count("RG_CHECKS", 2 * RG_DEBUG_RACES - 1, &checks, err))
    return false;
  if (options->threads < 0 || options->threads > 4096)
    return error_set(err, RG_ERROR_OPTION, "threads must be 0 (all cores) to 4096, got %d",
                     options->threads);
  if (options->run_tasks && !options->threads)
    return error_set(err, RG_ERROR_OPTION, "run_tasks needs the number of workers: set threads");
  if (!options->threads) options->threads = (int32_t)threads;
  if (!options->seed) options->seed = (uint64_t)seed;
  if (!options->debug) options->debug = (int32_t)checks;
  if (options->debug & RG_DEBUG_ALL) options->debug = -1;
  const char *memory = option_text("RG_MEMORY");
  if (!options->memory_bytes && memory[0] &&
      !option_parse_bytes(memory, &options->memory_bytes, err))
    return false;
  if (!options->memory_bytes) options->memory_bytes = machine_memory() / 4 * 3;
  return true;
}
