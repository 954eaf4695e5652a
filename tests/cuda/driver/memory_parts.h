/* memory_parts.h - what memory.c and memory_map.c share. */
#ifndef PTX_MEMORY_PARTS_H
#define PTX_MEMORY_PARTS_H

#include <stdbool.h>
#include <stdint.h>

void live_add(uint64_t base, uint64_t size);
void live_remove(uint64_t base, uint64_t size);
/* So much physical memory is taken; false when there is not enough. */
bool memory_takes(uint64_t size);
void memory_map_end(void); /* unmaps all, gives all back */

#endif
