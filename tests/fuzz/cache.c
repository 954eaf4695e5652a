/* cache.c - an entry of the disk cache with any contents: it may be found only if it is intact and
 * has the requested key. The input replaces the only entry of a folder in memory-backed /dev/shm,
 * or in /tmp without it. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "loader/cache.h"

static Heap heap;
static Cache *cache;
static char folder[64], entry[512];
static const uint8_t object[] = "an object";
static const RgCodegenRequest request = {.bytes = (const uint8_t *)"bytes",
                                         .length = 5,
                                         .build_id = "fuzz",
                                         .processors = {"x86-64-v3"}};

/* The file two folders below that is an entry. */
static void find_entry(void) {
  char build[256];
  snprintf(build, sizeof build, "%s/fuzz", folder);
  DIR *dir = opendir(build);
  for (const struct dirent *file; dir && (file = readdir(dir));)
    if (file->d_name[0] != '.') snprintf(entry, sizeof entry, "%s/%s", build, file->d_name);
  if (dir) closedir(dir);
  if (!entry[0]) fuzz_broken("a stored entry is a file", build);
}

static void remove_folder(void) {
  char path[256];
  unlink(entry);
  snprintf(path, sizeof path, "%s/fuzz", folder);
  rmdir(path);
  snprintf(path, sizeof path, "%s/pruned", folder);
  unlink(path);
  rmdir(folder);
}

static void make_cache(void) {
  struct stat shared;
  Error err = {0};
  snprintf(folder, sizeof folder, "%s/regolith-fuzz-XXXXXX",
           stat("/dev/shm", &shared) ? "/tmp" : "/dev/shm");
  if (!mkdtemp(folder)) fuzz_broken("there is room for a folder", folder);
  setenv("RG_CACHE", folder, 1);
  heap_init(&heap, 0);
  if (!cache_open(&heap, &cache, &err) || !cache) fuzz_broken("the cache opens", err.message);
  const RgCodegenObject objects[RG_TARGET_COUNT] = {
      [RG_TARGET_HOST] = {.bytes = (uint8_t *)object, .length = sizeof object}};
  cache_store(cache, &request, objects);
  find_entry();
  atexit(remove_folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!cache) make_cache();
  FILE *file = fopen(entry, "wb");
  if (!file) fuzz_broken("the entry can be written", entry);
  fwrite(data, 1, size, file);
  fclose(file);
  chmod(entry, 0600);
  RgCodegenObject found[RG_TARGET_COUNT];
  const RgCodegenObject *host = &found[RG_TARGET_HOST];
  if (cache_find(cache, &request, found) &&
      (host->length != sizeof object || memcmp(host->bytes, object, sizeof object)))
    fuzz_broken("what is found is what was stored", "something else");
  heap_free(&heap, host->bytes);
  return 0;
}
