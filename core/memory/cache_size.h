/* cache_size.h - the size of this machine's caches. */
#ifndef RG_MEMORY_CACHE_SIZE_H
#define RG_MEMORY_CACHE_SIZE_H

#include <stdint.h>

/* Size of a processor's largest cache, at most 16 MiB per processor that shares it; UINT64_MAX if
 * unknown. */
uint64_t cache_bytes(void);

#endif
