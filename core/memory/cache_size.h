/* cache_size.h - the size of this machine's caches. */
#ifndef RG_MEMORY_CACHE_SIZE_H
#define RG_MEMORY_CACHE_SIZE_H

#include <stdint.h>

/* Bytes of the largest cache that one processor has, perhaps shared with others, of which a
 * plausible share counts; UINT64_MAX if unknown. */
uint64_t cache_bytes(void);

#endif
