/* memory_parts.h - functions that memory.c and memory_map.c share. */
#ifndef PTX_MEMORY_PARTS_H
#define PTX_MEMORY_PARTS_H

#include <stdbool.h>
#include <stdint.h>

void live_add(uint64_t base, uint64_t size);
void live_remove(uint64_t base, uint64_t size);
/* Allocates so much physical memory; false if there is not enough. */
bool memory_takes(uint64_t size);
void memory_map_end(void); /* unmaps and frees everything */

/* memory_share.c: memory in a file of its own, which other processes can map. -1 on failure. */
int share_create(uint64_t size);
/* The size of a file of share_create, of any process; 0 if it is not one. Hidden: it is on another
 * device, which this one cannot access. */
uint64_t share_size(int file, bool *is_hidden);
/* Uses the file's shadow bits for a mapping; and this process's own again. */
bool share_shadow(uint64_t address, uint64_t size, int file);
void share_end_shadow(uint64_t address, uint64_t size);

#endif
