/* arena_test.c - ranges are large, zero, and cost memory only where they are touched. */
#include <sys/resource.h>
#include <sys/mman.h>

#include "check.h"
#include "memory/arena.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

int main(void) {
  TEST("a terabyte is reserved without using memory, aligned to 64 KiB") {
    Arena arena;
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
/* their shadows need the address space */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  TEST("where the system refuses, the range halves down to the least") {
    struct rlimit old, small = {256 << 20, RLIM_INFINITY};
    getrlimit(RLIMIT_AS, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_AS, &small);
    Arena arena;
    Error err = {0};
    CHECK(arena_reserve(&arena, 1ull << 40, 1 << 20, &err));
    CHECK(arena.reserved < 256 << 20 && arena.reserved >= 1 << 20);
    arena_release(&arena);
    CHECK(!arena_reserve(&arena, 1ull << 40, 1ull << 40, &err));
    CHECK_TEXT(error_code_text(err.code), "memory.host");
    setrlimit(RLIMIT_AS, &old);
  }
#endif
  TEST("zeros can be read everywhere") {
    Arena zeros;
    Error err = {0};
    CHECK(arena_reserve_zeros(&zeros, 1 << 20, &err));
    int sum = 0;
    for (int i = 0; i < 1 << 20; i += 512) sum |= zeros.base[i];
    CHECK_INT(sum, 0);
    arena_release(&zeros);
  }
  return check_report();
}
