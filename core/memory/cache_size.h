/* cache_size.h - how much the caches of this machine hold. */
#ifndef RG_MEMORY_CACHE_SIZE_H
#define RG_MEMORY_CACHE_SIZE_H

#include <stdint.h>

/* Bytes of the last cache, that of one processor, which it may share with some others; UINT64_MAX:
 * nobody says. */
uint64_t cache_bytes(void);

#endif
