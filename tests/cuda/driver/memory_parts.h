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

/* memory_share.c: memory in a file of its own, which other processes can have, too. -1: none. */
int share_create(uint64_t size);
/* Of a file of share_create, of whichever process; 0: it is none. Hidden: its device is another,
 * which this one does not reach. */
uint64_t share_size(int file, bool *is_hidden);
/* The shadow bits of a mapping are the file's; and this process's again. */
bool share_shadow(uint64_t address, uint64_t size, int file);
void share_end_shadow(uint64_t address, uint64_t size);

#endif
