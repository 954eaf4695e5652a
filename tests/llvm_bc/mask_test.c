/* mask_test.c - bits of bitmasked cells, by hand: a mask of 4 cells, in each a mask of 70 cells of
 * 4 bytes.
 *
 *     outer container  | inner 0 | inner 1 | inner 2 | inner 3 | word |      inner  | 70 x 4 bytes
 * | 2 words | padding | */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "rt.h"

enum {
  OUTER = 4,
  INNER = 70,
  WORDS_AT = INNER * 4,
  STRIDE = 320,
  OUTER_WORD_AT = OUTER * STRIDE,
  BYTES = OUTER_WORD_AT + 8,
  THREADS = 4,
  TURNS = 20000
};

static _Alignas(64) uint8_t memory[BYTES];
static const RtRun inner_runs[] = {{.stride = 4, .size = 4, .manager = -1}};
static const RtRun outer_runs[] = {
    {.offset = WORDS_AT, .stride = STRIDE, .size = 16, .manager = -1, .is_words = 1},
    {.stride = STRIDE, .size = WORDS_AT, .manager = -1}};
static RtMask masks[] = {
    {.holder = -1,
     .run_count = 2,
     .mask_offset = OUTER_WORD_AT,
     .cell_count = OUTER,
     .containers = {.size = BYTES, .manager = -1},
     .runs = outer_runs},
    {.holder = -1,
     .run_count = 1,
     .mask_offset = WORDS_AT,
     .cell_count = INNER,
     .containers =
         {.size = STRIDE, .manager = -1, .depth = 1, .counts = {OUTER}, .steps = {STRIDE}},
     .runs = inner_runs}};
static RtTree tree = {
    .base = memory, .root = memory, .root_size = BYTES, .mask_count = 2, .masks = masks};
static RtTree *trees[] = {&tree};
static RtWorker workers[THREADS];

static void *grow(RtContext *context, void *old, uint64_t old_bytes, uint64_t new_bytes) {
  (void)context, (void)old_bytes;
  return realloc(old, new_bytes);
}
static void *refuse(RtContext *context, void *old, uint64_t old_bytes, uint64_t new_bytes) {
  (void)context, (void)old, (void)old_bytes, (void)new_bytes;
  return NULL;
}
static RtContext context = {
    .trees = trees, .workers = workers, .worker_count = THREADS, .tree_count = 1, .grow = grow};

static uint64_t *outer_words(void) { return (uint64_t *)(void *)(memory + OUTER_WORD_AT); }
static uint64_t *inner_words(int outer) {
  return (uint64_t *)(void *)(memory + outer * STRIDE + WORDS_AT);
}
static uint32_t *value(int outer, int inner) {
  return (uint32_t *)(void *)(memory + outer * STRIDE) + inner;
}

static void write(int outer, int inner, uint32_t number) {
  rt_mask_set(&context, outer_words(), (uint64_t)outer);
  rt_mask_set(&context, inner_words(outer), (uint64_t)inner);
  *value(outer, inner) = number;
}
static bool is_zero(void) {
  for (int k = 0; k < BYTES; k++)
    if (memory[k]) return false;
  return true;
}

static void check_bits(void) {
  write(1, 0, 5), write(1, 63, 6), write(1, 64, 7), write(1, 69, 8), write(3, 40, 9);
  TEST("a bit belongs to its cell alone, also at the border of words") {
    CHECK(rt_mask_active(inner_words(1), 63) && rt_mask_active(inner_words(1), 64));
    CHECK(!rt_mask_active(inner_words(1), 62) && !rt_mask_active(inner_words(1), 65) &&
          !rt_mask_active(inner_words(0), 0));
    CHECK_INT(rt_mask_count(&context, 0, 0), 2);
    CHECK_INT(rt_mask_count(&context, 0, 1), 5);
  }
  TEST("bits of adjacent cells are read as one number, from any cell on") {
    CHECK_INT(rt_mask_bits(inner_words(1), 0, 64), (int64_t)(1 | (uint64_t)1 << 63));
    CHECK_INT(rt_mask_bits(inner_words(1), 60, 10), 1 << 3 | 1 << 4 | 1 << 9);
    CHECK_INT(rt_mask_bits(inner_words(1), 64, 6), 1 | 1 << 5);
    CHECK_INT(rt_mask_bits(inner_words(1), 1, 62), 0);
    CHECK_INT(rt_mask_bits(inner_words(1), 63, 1), 1);
  }
  TEST("remembered masks stay, whatever changes") {
    rt_mask_remember(&context, 0, 1);
    rt_mask_clear(&context, workers, 0, 1, inner_words(1), 64);
    CHECK_INT(rt_mask_was(&context, 0, 1, inner_words(1), 60, 10), 1 << 3 | 1 << 4 | 1 << 9);
    CHECK_INT(rt_mask_was(&context, 0, 1, inner_words(3), 40, 1), 1);
    CHECK_INT(rt_mask_bits(inner_words(1), 60, 10), 1 << 3 | 1 << 9);
  }
  TEST("without memory from the host nothing is remembered, and the launch fails") {
    free(masks[1].was);
    masks[1].was = NULL, masks[1].was_capacity = 0;
    context.grow = refuse;
    rt_mask_remember(&context, 0, 1);
    CHECK_INT(context.error.kind, RT_ERROR_MEMORY);
    CHECK_INT(rt_mask_was(&context, 0, 1, inner_words(1), 60, 10), 0);
    context.grow = grow;
    context.error = (RtError){0};
  }
}

static void check_clear(void) {
  TEST("a cleared cell is zero, its neighbours are not") {
    CHECK_INT(*value(1, 64), 0);
    CHECK_INT(*value(1, 63), 6);
    CHECK_INT(rt_mask_count(&context, 0, 1), 4);
    rt_mask_clear(&context, workers, 0, 1, inner_words(1), 64); /* again: nothing */
    CHECK_INT(rt_mask_count(&context, 0, 1), 4);
  }
  TEST("the contents of a cell are freed with it") {
    rt_mask_clear(&context, workers, 0, 0, outer_words(), 1);
    CHECK_INT(rt_mask_count(&context, 0, 0), 1);
    CHECK_INT(rt_mask_count(&context, 0, 1), 1);
    CHECK_INT(*value(1, 0) + *value(1, 63) + *value(1, 69), 0);
    CHECK_INT(*value(3, 40), 9);
    rt_mask_clear(&context, workers, 0, 0, outer_words(), 3);
    CHECK(is_zero());
  }
  TEST("a cleared level is zero as a whole") {
    for (int k = 0; k < INNER; k++) write(k % OUTER, k, 1);
    rt_mask_clear_all(&context, 0, 1);
    CHECK_INT(rt_mask_count(&context, 0, 0), OUTER);
    CHECK_INT(rt_mask_count(&context, 0, 1), 0);
    rt_mask_clear_all(&context, 0, 0);
    CHECK(is_zero());
  }
}

/* Cells of one word by thread: each sets and clears its own. */
static void *toggle(void *data) {
  int self = (int)(intptr_t)data;
  for (int turn = 0; turn < TURNS; turn++)
    for (int k = self; k < 64; k += THREADS * 5) {
      rt_mask_set(&context, inner_words(2), (uint64_t)k);
      if ((turn + k) % 2)
        rt_mask_clear(&context, &workers[self], 0, 1, inner_words(2), (uint64_t)k);
      else rt_mask_keep(inner_words(2), (uint64_t)k);
    }
  return NULL;
}

/* All threads write cells of one outer cell, or clear it; only bits, since plain values would be a
 * race. */
static void *fight(void *data) {
  int self = (int)(intptr_t)data;
  for (int turn = 0; turn < TURNS; turn++) {
    uint64_t cell = (uint64_t)(turn * 7 + self) % INNER;
    if (self == 0) {
      rt_mask_clear(&context, &workers[self], 0, 0, outer_words(), 0);
      continue;
    }
    rt_mask_set(&context, outer_words(), 0);
    rt_mask_set(&context, inner_words(0), cell);
    rt_mask_keep(inner_words(0), cell); /* the innermost first */
    rt_mask_keep(outer_words(), 0);
  }
  return NULL;
}

static void run(void *(*body)(void *)) {
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; t++)
    if (pthread_create(&threads[t], NULL, body, (void *)(intptr_t)t)) abort();
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
}

int main(void) {
  for (int w = 0; w < THREADS; w++) workers[w].index = w;
  check_bits();
  check_clear();
  TEST("threads that toggle cells of one word do not disturb each other") {
    run(toggle);
    for (int k = 0; k < 64; k++) {
      bool has_owner = k % (THREADS * 5) < THREADS, stays = (TURNS - 1 + k) % 2 == 0;
      CHECK_INT(rt_mask_active(inner_words(2), (uint64_t)k), has_owner && stays);
    }
    rt_mask_clear_all(&context, 0, 0);
    rt_mask_clear_all(&context, 0, 1);
  }
  TEST("no cell stays active in an inactive one, however threads interleave") {
    for (int round = 0; round < 5; round++) {
      run(fight);
      if (!rt_mask_active(outer_words(), 0))
        CHECK(rt_mask_bits(inner_words(0), 0, 64) == 0 && rt_mask_bits(inner_words(0), 64, 6) == 0);
    }
  }
  return check_report();
}
