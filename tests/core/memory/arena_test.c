/* arena_test.c - ranges are large, zero, and use memory only where they are touched. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "memory/arena.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* The system call reports memory that the process may not read without ending it; called directly,
 * since sanitizers intercept `write`. */
static bool can_read(const uint8_t *at) {
  int ends[2];
  CHECK(!pipe(ends));
  bool can = syscall(SYS_write, ends[1], at, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return can;
}

static uint64_t process_bytes(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  unsigned long long pages = 0;
  CHECK(file && fscanf(file, "%*u %llu", &pages) == 1);
  if (file) fclose(file);
  return pages * 4096;
}

int main(void) {
  TEST("a terabyte is reserved without using memory, aligned to 64 KiB") {
    Arena arena = {0};
    Error err = {0};
    CHECK(arena_reserve(&arena, 1ull << 40, 1 << 20, &err));
    CHECK_INT((uint64_t)arena.base % 65536, 0);
    CHECK_INT(arena_resident(arena.base, 1 << 24), 0);
    arena.base[123456] = 5;
    CHECK_INT(arena_resident(arena.base, 1 << 24), 4096);
    CHECK_INT(arena.base[123457], 0);
    arena_discard(arena.base, 1 << 20);
    CHECK_INT(arena.base[123456], 0);
    arena_release(&arena);
    CHECK(arena.base == NULL);
  }
  TEST("a range that will be used completely can be pre-faulted, is readable at once if large, and "
       "zero") {
    Arena small = {0}, large = {0};
    Error err = {0};
    CHECK(arena_reserve(&small, 1 << 20, 1 << 20, &err));
    CHECK(arena_reserve(&large, 2 * ARENA_MAX_POPULATED, 2 * ARENA_MAX_POPULATED, &err));
    CHECK_INT((uint64_t)large.base % ARENA_LARGE_PAGE, 0);
    arena_prefault(small.base, (1 << 20) - 4096);
    uint64_t before = process_bytes(); /* a shared page of zeros is not counted */
    arena_prefault(large.base, 2 * ARENA_MAX_POPULATED);
    CHECK_INT(arena_resident(small.base, 1 << 20), 0);
    arena_populate(small.base, (1 << 20) - 4096);
    CHECK_INT(arena_resident(small.base, 1 << 20), 1 << 20); /* and the page that follows */
    arena_populate(small.base, 1 << 20);
    CHECK_INT(arena_resident(small.base + (1 << 20), 1), 4096);
    CHECK(process_bytes() - before < ARENA_MAX_POPULATED);
    CHECK_INT(small.base[5000] | large.base[5000], 0);
    arena_prefer_huge_pages(large.base + 5, 2 * ARENA_MAX_POPULATED - 7);
    large.base[3] = 1;
    arena_discard(large.base, 4096);
    CHECK_INT(large.base[3], 0);
    arena_release(&small);
    arena_release(&large);
  }
/* their shadows need the address space */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  TEST("if the system refuses, the range is halved down to the minimum") {
    struct rlimit old, small = {256 << 20, RLIM_INFINITY};
    getrlimit(RLIMIT_AS, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_AS, &small);
    Arena arena = {0};
    Error err = {0};
    CHECK(arena_reserve(&arena, 1ull << 40, 1 << 20, &err));
    CHECK(arena.reserved < 256 << 20 && arena.reserved >= 1 << 20);
    arena_release(&arena);
    CHECK(!arena_reserve(&arena, 1ull << 40, 1ull << 40, &err));
    CHECK_TEXT(error_code_text(err.code), "memory.host");
    setrlimit(RLIMIT_AS, &old);
  }
#endif
  TEST("between guard pages, accesses on both sides fault") {
    Arena arena = {.guard = ARENA_GUARD}, zeros = {.guard = ARENA_GUARD};
    Error err = {0};
    CHECK(arena_reserve(&arena, 100000, 1, &err));
    CHECK(arena_reserve_zeros(&zeros, 65536, &err));
    const Arena *both[] = {&arena, &zeros};
    for (int k = 0; k < 2; k++) {
      const uint8_t *base = both[k]->base, *end = base + both[k]->reserved;
      CHECK_INT((uint64_t)base % 65536, 0);
      CHECK(can_read(base) && can_read(end - 1));
      CHECK(!can_read(base - 1) && !can_read(base - ARENA_GUARD));
      CHECK(!can_read(end) && !can_read(end + ARENA_GUARD - 1));
    }
    arena.base[99999] = 1;
    arena_release(&arena);
    arena_release(&zeros);
  }
  TEST("memory that was never written reads as zero") {
    Arena zeros = {0};
    Error err = {0};
    CHECK(arena_reserve_zeros(&zeros, 1 << 20, &err));
    int sum = 0;
    for (int i = 0; i < 1 << 20; i += 512) sum |= zeros.base[i];
    CHECK_INT(sum, 0);
    arena_release(&zeros);
  }
  return check_report();
}
