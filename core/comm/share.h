/* share.h - what the system does for windows: ranges of addresses, and memory in files. For the
 * room alone. */
#ifndef RG_COMM_SHARE_H
#define RG_COMM_SHARE_H

#include "memory/arena.h"

/* Of processes that can reach each other's memory: the same number. */
uint64_t share_host(void);
/* Addresses without memory, which may not be touched. */
bool share_reserve(Arena *range, uint64_t size_bytes, Error *err);
void share_release(Arena *range, uint64_t size_bytes);
/* A file of memory; -1. */
int share_create(uint64_t size_bytes, Error *err);
int share_create_growing(Error *err); /* empty; it grows where it is written past its end */
/* Moves pages of this process, and what they hold, to the file: nobody may use them meanwhile. */
bool share_move(uint8_t *from, uint64_t size_bytes, int file, Error *err);
/* The way back: what the file holds becomes memory of this process alone, at the same address,
 * unless something else is there by now. Only the file, while it is open, tells which of its pages
 * hold something. Pages that the system has no memory for stay mapped: nothing is lost. */
void share_take_back(uint8_t *base, uint64_t size_bytes, int file);
/* The file of another process of this host, by its number there, which the system opens for
 * processes of one user that see each other; -1. Team members pass theirs (courier.h). */
int share_fetch(int32_t process, int32_t file, Error *err);
bool share_map(uint8_t *at, uint64_t size_bytes, int file, Error *err);
uint8_t *share_map_anywhere(uint64_t size_bytes, int file, Error *err);
/* Does this process still have the file at that address? Not if the memory was freed since. */
bool share_is_mapped(const uint8_t *at, int file);
void share_unmap(uint8_t *at, uint64_t size_bytes); /* addresses without memory again */

#endif
