/* pool_test.c - every position is visited once, by one worker at a time, in any order. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "thread/pool.h"

enum { POSITIONS = 100003 };
typedef struct Visits {
  _Atomic int seen[POSITIONS];
  _Atomic int inside[64];
  _Atomic int overlaps;
} Visits;

static void visit(void *data, int32_t worker, int64_t begin, int64_t end) {
  Visits *visits = data;
  if (atomic_fetch_add(&visits->inside[worker], 1)) atomic_fetch_add(&visits->overlaps, 1);
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&visits->seen[i], 1);
  atomic_fetch_sub(&visits->inside[worker], 1);
}

static void all_visited(Pool *pool, int64_t total, int64_t chunk, uint64_t seed) {
  Visits *visits = calloc(1, sizeof *visits);
  pool_parallel_for(pool, total, chunk, seed, visit, visits);
  int wrong = 0;
  for (int i = 0; i < POSITIONS; i++) wrong += visits->seen[i] != (i < total);
  CHECK_INT(wrong, 0);
  CHECK_INT(visits->overlaps, 0);
  free(visits);
}

enum { PATIENCE = 600000 }; /* milliseconds that may pass on a busy machine */

/* Waits until a worker's write is visible. */
static void wait_for(const _Atomic int *what) {
  for (int k = 0; k < PATIENCE && !*what; k++) usleep(1000);
}

/* Counts the workers that took part, while each chunk takes some time: the caller always does,
 * however late. */
static void take_part(void *data, int32_t worker, int64_t begin, int64_t end) {
  _Atomic int *took_part = data;
  took_part[worker] = 1;
  wait_for(&took_part[0]);
  usleep(1000);
}

static void limited(Heap *heap) {
  Pool *pool = pool_create(heap, 4, NULL);
  for (int32_t most = 0; most < 4; most++) {
    _Atomic int took_part[4] = {0};
    pool_limit(pool, most);
    pool_parallel_for(pool, 40, 1, 0, take_part, took_part);
    for (int32_t k = most ? most : 4; k < 4; k++) CHECK_INT(took_part[k], 0);
    CHECK_INT(took_part[0], 1);
    all_visited(pool, 1000, 7, 0); /* the next one has no limit */
  }
  pool_destroy(pool);
}

static void note_order(void *data, int32_t worker, int64_t begin, int64_t end) {
  int64_t **at = data;
  *(*at)++ = begin;
}

/* Of two workers, each begins with its own half: the first chunks wait for each other. */
typedef struct Halves {
  _Atomic int of[16];
} Halves;

static void meet(void *data, int32_t worker, int64_t begin, int64_t end) {
  Halves *halves = data;
  halves->of[begin] = worker + 1;
  if (begin == 0) wait_for(&halves->of[8]);
  if (begin == 8) wait_for(&halves->of[0]);
}

static void do_nothing(void *data, int32_t worker, int64_t begin, int64_t end) {}

/* How often this thread yielded its core, or lost it. */
static long count_switches(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* On one core, so that workers seldom run. */
static void late_workers(Heap *heap) {
  enum { LOOPS = 5000 };
  Error err = {0};
  cpu_set_t all, one;
  CHECK(!sched_getaffinity(0, sizeof all, &all));
  CPU_ZERO(&one);
  for (int k = 0; k < CPU_SETSIZE && !CPU_COUNT(&one); k++)
    if (CPU_ISSET(k, &all)) CPU_SET(k, &one);
  CHECK(!sched_setaffinity(0, sizeof one, &one));
  Pool *pool = pool_create(heap, 4, &err);
  pool_parallel_for(pool, 8, 1, 0, do_nothing, NULL);
  long before = count_switches();
  for (int k = 0; k < LOOPS; k++) pool_parallel_for(pool, 8, 1, 0, do_nothing, NULL);
  CHECK(count_switches() - before < LOOPS / 2);
  all_visited(pool, POSITIONS, 10, 0);
  pool_destroy(pool);
  sched_setaffinity(0, sizeof all, &all);
}

int main(void) {
  Heap heap;
  heap_init(&heap, 0);
  for (int threads = 1; threads <= 4; threads += 3) {
    Error err = {0};
    Pool *pool = pool_create(&heap, threads, &err);
    CHECK_INT(pool_worker_count(pool), threads);
    TEST("every position is visited once, whatever the chunk") {
      for (int64_t chunk = 1; chunk <= POSITIONS * 2; chunk *= 7)
        all_visited(pool, POSITIONS, chunk, 0);
      all_visited(pool, 0, 1, 0);
      all_visited(pool, 1, 100, 0);
    }
    TEST("a shuffled order still visits every position once") {
      for (uint64_t seed = 1; seed < 6; seed++) all_visited(pool, POSITIONS, 97, seed);
      all_visited(pool, 3, 1, 5);
    }
    TEST("a thousand loops in a row, with sleeps between, all finish") {
      for (int i = 0; i < 1000; i++) {
        all_visited(pool, 100, 10, 0);
        if (i % 400 == 0) usleep(1000);
      }
    }
    pool_destroy(pool);
  }
  TEST("each worker begins with its own span") {
    Error err = {0};
    Pool *pool = pool_create(&heap, 2, &err);
    for (int i = 0; i < 20; i++) {
      Halves halves = {0};
      pool_parallel_for(pool, 16, 1, 0, meet, &halves);
      CHECK_INT(halves.of[0], 1);
      CHECK_INT(halves.of[8], 2);
    }
    pool_destroy(pool);
  }
  TEST("a seed changes the order of chunks") {
    Error err = {0};
    Pool *pool = pool_create(&heap, 1, &err);
    int64_t order[100], *at = order;
    pool_parallel_for(pool, 100, 1, 42, note_order, &at);
    int moved = 0;
    for (int i = 0; i < 100; i++) moved += order[i] != i;
    CHECK(moved > 50);
    pool_destroy(pool);
  }
  TEST("idle workers use no processor time") {
    Error err = {0};
    Pool *pool = pool_create(&heap, 4, &err);
    all_visited(pool, POSITIONS, 10, 0);
    clock_t used = CLOCKS_PER_SEC; /* they look for work for a while before they sleep */
    for (int k = 0; k < PATIENCE / 100 && used >= CLOCKS_PER_SEC / 50; k++) {
      clock_t before = clock();
      usleep(100000);
      used = clock() - before;
    }
    CHECK(used < CLOCKS_PER_SEC / 50);
    pool_destroy(pool);
  }
  TEST("a limit keeps workers out of the next loop") { limited(&heap); }
  TEST("a loop does not wait for workers that do not run") { late_workers(&heap); }
  TEST("a pool for which there is no memory is an error") {
    for (int fail_at = 1; fail_at <= 2; fail_at++) {
      Heap poor;
      heap_init(&poor, fail_at);
      Error err = {0};
      CHECK(pool_create(&poor, 2, &err) == NULL);
      CHECK_TEXT(error_code_text(err.code), "memory.host");
      CHECK_INT(poor.live_bytes, 0);
    }
  }
  CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
