/* source.h - where a pool's memory comes from: what a device, or a test, gives. Addresses are
 * numbers here, as they may be those of a GPU: pools never look at what lies there. */
#ifndef RG_MEMORY_SOURCE_H
#define RG_MEMORY_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

/* Pages of what is large and stays, as large as the system's large ones; and of other memory. */
enum { MEMORY_PAGE = 2 << 20, MEMORY_SMALL_PAGE = 256 << 10 };

typedef struct MemorySource {
  void *data;
  /* A range of addresses without memory, of whole pages (MEMORY_PAGE); bytes 0: there is none, and
   * a pool that needs one takes plain pieces instead. */
  uint64_t base, size_bytes;
  uint64_t page_bytes; /* that `commit` can give: MEMORY_SMALL_PAGE if it is 0 */
  /* Whole pages of the range: with memory, zero; without. False: the device has none left. */
  bool (*commit)(void *data, uint64_t at, uint64_t size_bytes);
  void (*decommit)(void *data, uint64_t at, uint64_t size_bytes);
  /* Plain pieces, aligned to 256 bytes; 0: the device has no memory left. */
  uint64_t (*allocate)(void *data, uint64_t size_bytes);
  void (*free)(void *data, uint64_t at, uint64_t size_bytes);
  int64_t (*now_ns)(void *data); /* a monotonic clock */
} MemorySource;

#endif
