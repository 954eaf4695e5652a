/* cache_size.c - see cache_size.h. The kernel tells which part of a large cache one processor has;
 * the C library, which is asked where there is no such folder, tells the whole. */
#include "memory/cache_size.h"

#include <stdio.h>
#include <unistd.h>

enum { MOST_CACHES = 8 };

/* Of the processor's cache number `index`; 0: there is none. */
static uint64_t bytes_of(int index) {
  char path[96];
  unsigned long long number = 0;
  char unit = 0;
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  if (fscanf(file, "%llu%c", &number, &unit) < 1) number = 0;
  fclose(file);
  return number << (unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0);
}

uint64_t cache_bytes(void) {
  uint64_t most = 0;
  for (int index = 0; index < MOST_CACHES; index++) {
    uint64_t bytes = bytes_of(index);
    if (bytes > most) most = bytes;
  }
  if (most) return most;
  long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? (uint64_t)bytes : UINT64_MAX;
}
