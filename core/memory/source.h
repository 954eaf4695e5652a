/* source.h - where a pool's memory comes from: a device, or a test. Addresses are numbers here, as
 * they may be a GPU's: pools never access the memory itself. */
#ifndef RG_MEMORY_SOURCE_H
#define RG_MEMORY_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

/* Page sizes: for large and long-lived blocks, as large as the system's huge pages; and for
 * others. */
enum { MEMORY_PAGE = 2 << 20, MEMORY_SMALL_PAGE = 256 << 10 };

typedef struct MemorySource {
  void *data;
  /* A range of addresses without memory, in whole pages (MEMORY_PAGE). If size_bytes is 0, a pool
   * that needs a range uses plain pieces instead. */
  uint64_t base, size_bytes;
  uint64_t page_bytes; /* the page size of `commit`; 0: MEMORY_SMALL_PAGE */
  /* Back whole pages of the range with zeroed memory, and free it. False if the device has none
   * left. */
  bool (*commit)(void *data, uint64_t at, uint64_t size_bytes);
  void (*decommit)(void *data, uint64_t at, uint64_t size_bytes);
  /* Allocates plain pieces, aligned to 256 bytes; 0 if the device has no memory left. */
  uint64_t (*allocate)(void *data, uint64_t size_bytes);
  void (*free)(void *data, uint64_t at, uint64_t size_bytes);
  int64_t (*now_ns)(void *data); /* a monotonic clock */
} MemorySource;

#endif
