/* arena.h - address ranges reserved large and committed as they are touched. */
#ifndef RG_MEMORY_ARENA_H
#define RG_MEMORY_ARENA_H

#include <stdint.h>

#include "base/error.h"

typedef struct Arena {
  uint8_t *base;
  uint64_t reserved;
  uint64_t guard; /* bytes on each side that nothing may touch: 0, or ARENA_GUARD */
} Arena;

/* More than an i32 index that wrapped can be off, by elements of 8 bytes. */
#define ARENA_GUARD ((uint64_t)1 << 36)

/* Reserves up to `size_bytes`, at least `least_bytes`, readable and writable, zero until written;
 * if the system refuses (ulimit -v, valgrind), halves the size and retries. Aligned to 64 KiB, or
 * to ARENA_LARGE_PAGE if it is that large. Takes arena->guard, which the caller sets. */
#define ARENA_LARGE_PAGE ((uint64_t)2 << 20)
bool arena_reserve(Arena *arena, uint64_t size_bytes, uint64_t least_bytes, Error *err);
void arena_release(Arena *arena);
/* Addresses alone, aligned to ARENA_LARGE_PAGE: parts of them are opened, then readable, writable
 * and zero, and closed again, which ends what is in them; of whole pages. False: the system refuses
 * so many, or has no memory for the part. */
bool arena_reserve_closed(Arena *arena, uint64_t size_bytes);
bool arena_open(uint8_t *from, uint64_t size_bytes);
void arena_close(uint8_t *from, uint64_t size_bytes);
/* Mapped past a range, where a vector's last lanes may be off but absent pages are slow. */
#define ARENA_TAIL ((uint64_t)65536)
/* Decommits the pages in the range (whole pages only), which then read zero again. */
void arena_discard(uint8_t *from, uint64_t size_bytes);
/* Read-only zeros; arena->guard as above. */
bool arena_reserve_zeros(Arena *arena, uint64_t size_bytes, Error *err);
/* The range will be in use from its beginning on: pages in it that are touched from now on are as
 * large as the system has. */
void arena_enlarge(uint8_t *from, uint64_t size_bytes);
/* The range will be in use as a whole: its pages become large, too. A vector access takes a hundred
 * times as long where a page under lanes that are off is absent, so pages are made present where
 * that is cheap, the one after the last byte as well: of more than ARENA_PRESENT bytes at once, for
 * reading, up to ARENA_READABLE; of fewer by arena_make_present, before a kernel uses them. */
void arena_settle(uint8_t *from, uint64_t size_bytes);
void arena_make_present(uint8_t *from, uint64_t size_bytes);
#define ARENA_PRESENT ((uint64_t)64 << 20)
#define ARENA_READABLE ((uint64_t)1 << 30)
/* Bytes of the range that are in memory now. */
uint64_t arena_resident(const uint8_t *from, uint64_t size_bytes);

#endif
