/* arena.h - address ranges reserved large and committed as they are touched. */
#ifndef RG_MEMORY_ARENA_H
#define RG_MEMORY_ARENA_H

#include <stdint.h>

#include "base/error.h"

typedef struct Arena {
  uint8_t *base;
  uint64_t reserved;
  uint64_t guard; /* inaccessible bytes on each side: 0, or ARENA_GUARD */
} Arena;

/* Larger than the distance by which an i32 index that wraps around can miss, with elements of 8
 * bytes. */
#define ARENA_GUARD ((uint64_t)1 << 36)

/* Reserves up to `size_bytes`, at least `least_bytes`, readable and writable, zero until written;
 * if the system refuses (ulimit -v, valgrind), halves the size and retries. Aligned to 64 KiB, or
 * to ARENA_LARGE_PAGE if it is that large. The caller sets arena->guard. */
#define ARENA_LARGE_PAGE ((uint64_t)2 << 20)
bool arena_reserve(Arena *arena, uint64_t size_bytes, uint64_t least_bytes, Error *err);
void arena_release(Arena *arena);
/* Reserves addresses only, aligned to ARENA_LARGE_PAGE. arena_open makes whole pages readable,
 * writable and zero; arena_close discards them. False if the system refuses so many addresses, or
 * has no memory for the part. */
bool arena_reserve_closed(Arena *arena, uint64_t size_bytes);
bool arena_open(uint8_t *from, uint64_t size_bytes);
void arena_close(uint8_t *from, uint64_t size_bytes);
/* Bytes mapped past a range: masked-off lanes of a last vector may be there, and are slow on absent
 * pages. */
#define ARENA_TAIL ((uint64_t)65536)
/* Decommits the pages in the range (whole pages only), which then read zero again. */
void arena_discard(uint8_t *from, uint64_t size_bytes);
/* Reserves read-only zeros; the caller sets arena->guard. */
bool arena_reserve_zeros(Arena *arena, uint64_t size_bytes, Error *err);
/* For a range that will be used from its beginning on: pages in it that are touched from now on are
 * huge, if the system has huge pages. */
void arena_prefer_huge_pages(uint8_t *from, uint64_t size_bytes);
/* For a range that will be used as a whole: its pages become huge, too. A vector access takes a
 * hundred times as long if a page under masked-off lanes is absent, so pages are pre-faulted where
 * that is cheap, including the one after the last byte. Ranges of more than ARENA_MAX_POPULATED
 * bytes, up to ARENA_MAX_PREFAULTED, are pre-faulted here, for reading; smaller ones by
 * arena_populate, before a kernel uses them. */
void arena_prefault(uint8_t *from, uint64_t size_bytes);
void arena_populate(uint8_t *from, uint64_t size_bytes);
#define ARENA_MAX_POPULATED ((uint64_t)64 << 20)
#define ARENA_MAX_PREFAULTED ((uint64_t)1 << 30)
/* Bytes of the range that are in memory now. */
uint64_t arena_resident(const uint8_t *from, uint64_t size_bytes);

#endif
