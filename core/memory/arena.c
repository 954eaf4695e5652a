/* arena.c - mmap with MAP_NORESERVE: reserving 1 TiB takes microseconds; pages are committed when
 * touched. Advice about pages (madvise) only changes speed, and is ignored where unsupported. */
#include "memory/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"

/* from Linux 5.14 on; older kernels refuse them */
#if !defined(MADV_POPULATE_READ)
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

enum { ARENA_ALIGN = 65536, RESIDENT_STEP = 256 };

/* Maps `size_bytes` at a multiple of the alignment: reserves more, and trims both ends. */
static uint8_t *map_aligned(uint64_t size_bytes, int protection) {
  uint64_t align = size_bytes >= ARENA_LARGE_PAGE ? ARENA_LARGE_PAGE : ARENA_ALIGN;
  uint64_t total = size_bytes + align;
  if (total < size_bytes) return NULL;
  void *mapped = mmap(NULL, total, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return NULL;
  uint8_t *base = (uint8_t *)align_up((uint64_t)mapped, align);
  uint64_t before = (uint64_t)(base - (uint8_t *)mapped), after = total - before - size_bytes;
  if (before) munmap(mapped, before);
  if (after) munmap(base + size_bytes, after);
  return base;
}

static uint8_t *reserve(uint64_t size_bytes, uint64_t guard, int protection) {
  if (!guard) return map_aligned(size_bytes + ARENA_TAIL, protection);
  uint8_t *mapped = map_aligned(size_bytes + 2 * guard, PROT_NONE);
  if (!mapped || !mprotect(mapped + guard, size_bytes, protection))
    return mapped ? mapped + guard : NULL;
  munmap(mapped, size_bytes + 2 * guard);
  return NULL;
}

bool arena_reserve(Arena *arena, uint64_t size_bytes, uint64_t least_bytes, Error *err) {
  uint64_t min_size = align_up(least_bytes ? least_bytes : 1, ARENA_ALIGN);
  uint64_t size = align_up(size_bytes > min_size ? size_bytes : min_size, ARENA_ALIGN);
  for (;;) {
    uint8_t *base = reserve(size, arena->guard, PROT_READ | PROT_WRITE);
    if (base) {
      *arena = (Arena){base, size, arena->guard};
      return true;
    }
    if (size == min_size)
      return error_set(err, RG_ERROR_MEMORY,
                       "the system refuses an address range of %llu bytes (%s)",
                       (unsigned long long)size, strerror(errno));
    size = align_up(size / 2, ARENA_ALIGN);
    if (size < min_size) size = min_size;
  }
}

bool arena_reserve_zeros(Arena *arena, uint64_t size_bytes, Error *err) {
  uint64_t size = align_up(size_bytes ? size_bytes : 1, ARENA_ALIGN);
  uint8_t *base = reserve(size, arena->guard, PROT_READ);
  if (!base)
    return error_set(err, RG_ERROR_MEMORY, "the system refuses %llu bytes of zeros",
                     (unsigned long long)size);
  *arena = (Arena){base, size, arena->guard};
  return true;
}

void arena_release(Arena *arena) {
  uint64_t outside_bytes = arena->guard ? 2 * arena->guard : ARENA_TAIL;
  if (arena->base) munmap(arena->base - arena->guard, arena->reserved + outside_bytes);
  *arena = (Arena){0};
}

bool arena_reserve_closed(Arena *arena, uint64_t size_bytes) {
  uint8_t *base = reserve(size_bytes, 0, PROT_NONE);
  if (base) *arena = (Arena){base, size_bytes, 0};
  return base;
}

bool arena_open(uint8_t *from, uint64_t size_bytes) {
  return !mprotect(from, size_bytes, PROT_READ | PROT_WRITE);
}

/* Also ends advice on the pages (madvise). If the system has no memory for one more mapping, the
 * pages are emptied, but stay accessible. */
void arena_close(uint8_t *from, uint64_t size_bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(from, size_bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED)
    madvise(from, size_bytes, MADV_DONTNEED);
}

void arena_discard(uint8_t *from, uint64_t size_bytes) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t begin = align_up((uint64_t)from, page),
           end = ((uint64_t)from + size_bytes) / page * page;
  if (begin >= end) return;
  /* for shared memory, the file's pages must be freed, too */
  if (madvise((void *)begin, end - begin, MADV_REMOVE))
    madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void arena_prefer_huge_pages(uint8_t *from, uint64_t size_bytes) {
  uint64_t begin = align_up((uint64_t)from, ARENA_LARGE_PAGE),
           end = ((uint64_t)from + size_bytes) / ARENA_LARGE_PAGE * ARENA_LARGE_PAGE;
  if (begin < end) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

/* Populates the pages, and the page after the last byte. */
static void populate(uint8_t *from, uint64_t size_bytes, int advice) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t begin = align_up((uint64_t)from, page),
           end = align_up((uint64_t)from + size_bytes + 1, page);
  if (begin < end) madvise((void *)begin, end - begin, advice);
}

void arena_prefault(uint8_t *from, uint64_t size_bytes) {
  arena_prefer_huge_pages(from, size_bytes);
  if (size_bytes > ARENA_MAX_POPULATED && size_bytes <= ARENA_MAX_PREFAULTED)
    populate(from, size_bytes, MADV_POPULATE_READ);
}

void arena_populate(uint8_t *from, uint64_t size_bytes) {
  populate(from, size_bytes, MADV_POPULATE_WRITE);
}

uint64_t arena_resident(const uint8_t *from, uint64_t size_bytes) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), resident = 0;
  uint64_t begin = (uint64_t)from / page * page, end = align_up((uint64_t)from + size_bytes, page);
  unsigned char in_memory[RESIDENT_STEP];
  for (uint64_t at = begin; at < end; at += RESIDENT_STEP * page) {
    uint64_t pages = min_i64((int64_t)((end - at) / page), RESIDENT_STEP);
    if (mincore((void *)at, pages * page, in_memory)) return resident;
    for (uint64_t i = 0; i < pages; i++) resident += (in_memory[i] & 1) * page;
  }
  return resident;
}
