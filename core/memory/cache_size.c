/* cache_size.c - see cache_size.h. The Linux kernel reports how many processors share a cache;
 * where it has no such folder, the C library reports only the whole size. A virtual machine with
 * few processors often sees the whole of a cache that it shares with many other machines. */
#include "memory/cache_size.h"

#include <stdio.h>
#include <unistd.h>

enum { MAX_CACHES = 8 };
/* an upper limit for one processor's share of a cache */
static const uint64_t max_share = 16 << 20;

static FILE *open_file(int index, const char *name) {
  char path[96];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
  return fopen(path, "re");
}

/* How many processors share the cache, from a list as "0-3,8-11"; 0 if unknown. */
static uint64_t sharers_of(int index) {
  FILE *file = open_file(index, "shared_cpu_list");
  uint64_t count = 0;
  int first, last;
  while (file && fscanf(file, "%d", &first) == 1) {
    last = first;
    int next = fgetc(file);
    if (next == '-' && fscanf(file, "%d", &last) == 1) next = fgetc(file);
    count += last >= first ? (uint64_t)(last - first) + 1 : 0;
    if (next != ',') break;
  }
  if (file) fclose(file);
  return count;
}

/* The size of the processor's cache number `index`; 0 if there is none. */
static uint64_t bytes_of(int index) {
  unsigned long long number = 0;
  char unit = 0;
  FILE *file = open_file(index, "size");
  if (!file) return 0;
  if (fscanf(file, "%llu%c", &number, &unit) < 1) number = 0;
  fclose(file);
  uint64_t bytes = number << (unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0);
  uint64_t limit = sharers_of(index) * max_share;
  return limit && limit < bytes ? limit : bytes;
}

uint64_t cache_bytes(void) {
  uint64_t largest = 0;
  for (int index = 0; index < MAX_CACHES; index++) {
    uint64_t bytes = bytes_of(index);
    if (bytes > largest) largest = bytes;
  }
  if (largest) return largest;
  long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? (uint64_t)bytes : UINT64_MAX;
}
