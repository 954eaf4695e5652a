/* pool_test.c - blocks that are allocated, freed and allocated again, by each strategy. */
#include <stdlib.h>

#include "check.h"
#include "fake_source.h"
#include "memory/pool.h"

static Heap heap;
static FakeSource fake;

/* Includes "exact", which users cannot choose. */
static MemoryConfig config_of(const char *text) {
  MemoryConfig config;
  const char *wrong;
  if (!strcmp(text, "exact")) return (MemoryConfig){.strategy = MEMORY_EXACT};
  CHECK(memory_config_parse(text, &config, &wrong));
  return config;
}

static MemoryPool *open_limited(const char *strategy, uint64_t limit) {
  MemoryConfig config = config_of(strategy);
  fake = (FakeSource){.limit = limit};
  MemorySource source = fake_source(&fake);
  return memory_pool_create(&heap, &source, &config);
}

static MemoryPool *open_pool(const char *strategy) { return open_limited(strategy, 0); }

static void check_valid(const MemoryPool *pool) {
  const char *broken = "";
  if (memory_pool_is_valid(pool, &broken)) return;
  CHECK(!"valid");
  printf("  broken: %s\n", broken);
}

/* -- the rules of `simple` --------------------------------------------------------------------- */

enum { STEPS = 8 };
typedef struct SimpleCase {
  const char *sentence, *strategy;
  /* allocated and freed first, in this order; then `request` is allocated */
  uint64_t given[STEPS], request;
  int expected; /* which of these it gets; -1: a new one */
} SimpleCase;

static const SimpleCase simple_cases[] = {
    {"simple: a free chunk of exactly the size is taken", "simple(never)", {64, 128}, 64, 0},
    {"simple: without a slice rule nothing else is", "simple(never)", {64, 128}, 63, -1},
    {"simple: a part of at least the ratio is a slice", "simple(ratio = 0.8)", {100}, 80, 0},
    {"simple: a smaller part is not", "simple(ratio = 0.8)", {100}, 79, -1},
    {"simple: the smallest chunk that admits it gives the slice",
     "simple(ratio = 0.5)",
     {150, 120, 130},
     100,
     1},
    {"simple: exactly the size goes before the smallest",
     "simple(ratio = 0.5)",
     {150, 100, 99},
     100,
     1},
    {"simple: slices of a minimum size", "simple(min = 50)", {1000}, 50, 0},
    {"simple: less than the minimum is a chunk of its own", "simple(min = 50)", {1000}, 49, -1},
    {"simple: slices of a maximum size", "simple(max = 50)", {1000}, 50, 0},
    {"simple: more than the maximum is a chunk of its own", "simple(max = 50)", {1000}, 51, -1},
    {"simple: what does not fit is a chunk of its own", "simple(min = 1)", {10}, 11, -1},
};

static void run_case(const SimpleCase *row) {
  MemoryPool *pool = open_pool(row->strategy);
  MemoryBlock *blocks[STEPS];
  int count = 0;
  for (; count < STEPS && row->given[count]; count++)
    blocks[count] = memory_pool_allocate(pool, row->given[count]);
  for (int k = 0; k < count; k++) memory_pool_free(pool, blocks[k]);
  MemoryBlock *block = memory_pool_allocate(pool, row->request);
  int found = -1;
  for (int k = 0; k < count; k++)
    if (blocks[k] == block) found = k;
  CHECK_INT(found, row->expected);
  CHECK_INT(block->size, row->request);
  check_valid(pool);
  memory_pool_destroy(pool);
}

static void test_simple(void) {
  for (size_t k = 0; k < sizeof simple_cases / sizeof *simple_cases; k++)
    TEST(simple_cases[k].sentence) run_case(&simple_cases[k]);
  TEST("simple: a chunk gives one slice at a time, from its beginning") {
    MemoryPool *pool = open_pool("simple(min = 1)");
    MemoryBlock *chunk = memory_pool_allocate(pool, 1000);
    uint64_t at = chunk->at;
    memory_pool_free(pool, chunk);
    MemoryBlock *slice = memory_pool_allocate(pool, 10), *other = memory_pool_allocate(pool, 10);
    CHECK_INT(slice->at, at);
    CHECK(other->at < at || other->at >= at + 1000);
    memory_pool_destroy(pool);
  }
  TEST("simple: all free chunks are returned after every n requests") {
    MemoryPool *pool = open_pool("simple(period = 4)");
    MemoryBlock *blocks[3];
    for (int k = 0; k < 3; k++) blocks[k] = memory_pool_allocate(pool, 100);
    for (int k = 0; k < 3; k++) memory_pool_free(pool, blocks[k]);
    CHECK_INT(fake.bytes, 300);
    memory_pool_allocate(pool, 100); /* the fourth takes one of them first */
    CHECK_INT(fake.bytes, 100);
    CHECK_INT(memory_pool_usage(pool).device_calls, 3);
    memory_pool_destroy(pool);
  }
  TEST("simple: after a time all free chunks are returned, at the next request") {
    MemoryPool *pool = open_pool("simple(time = 2)");
    memory_pool_free(pool, memory_pool_allocate(pool, 100));
    fake.now_ns = 1999999999;
    memory_pool_allocate(pool, 50);
    CHECK_INT(fake.bytes, 150);
    fake.now_ns = 2000000000;
    memory_pool_allocate(pool, 50);
    CHECK_INT(fake.bytes, 100);
    memory_pool_destroy(pool);
  }
  TEST("simple: never means never, except on request") {
    MemoryPool *pool = open_pool("simple(never)");
    for (uint64_t k = 0; k < 2000; k++) memory_pool_free(pool, memory_pool_allocate(pool, 100 + k));
    CHECK_INT(memory_pool_usage(pool).device_calls, 2000);
    CHECK(fake.bytes > 2000 * 100);
    memory_pool_trim(pool);
    CHECK_INT(fake.bytes, 0);
    memory_pool_destroy(pool);
  }
}

/* -- the default ------------------------------------------------------------------------------- */

static void test_expandable(void) {
  TEST("expandable: best fit, the first of equal blocks, and the rest remains free") {
    MemoryPool *pool = open_pool("expandable");
    MemoryBlock *blocks[7];
    const uint64_t sizes[] = {4096, 256, 1024, 256, 1024, 256, 2048};
    for (int k = 0; k < 7; k++) blocks[k] = memory_pool_allocate(pool, sizes[k]);
    uint64_t first = blocks[2]->at;
    for (int k = 0; k < 7; k += 2) memory_pool_free(pool, blocks[k]);
    MemoryBlock *best = memory_pool_allocate(pool, 700);
    CHECK_INT(best->at, first);
    CHECK_INT(best->size, 768);
    CHECK_INT(memory_pool_allocate(pool, 200)->at, first + 768);
    check_valid(pool);
    memory_pool_destroy(pool);
  }
  TEST("expandable: adjacent free blocks are merged") {
    MemoryPool *pool = open_pool("expandable");
    MemoryBlock *blocks[4];
    for (int k = 0; k < 4; k++) blocks[k] = memory_pool_allocate(pool, 1000);
    uint64_t first = blocks[0]->at;
    memory_pool_free(pool, blocks[0]);
    memory_pool_free(pool, blocks[2]);
    memory_pool_free(pool, blocks[1]);
    CHECK_INT(memory_pool_allocate(pool, 3000)->at, first);
    check_valid(pool);
    memory_pool_destroy(pool);
  }
  TEST("expandable: a block knows which of its bytes were never used") {
    MemoryPool *pool = open_pool("expandable");
    MemoryBlock *first = memory_pool_allocate(pool, 1024);
    CHECK_INT(first->dirty, 0);
    memory_pool_free(pool, first);
    CHECK_INT(memory_pool_allocate(pool, 2048)->dirty, 1024);
    CHECK_INT(memory_pool_allocate(pool, 256)->dirty, 0);
    memory_pool_destroy(pool);
  }
  TEST("expandable: small blocks have their own groups, and do not split large holes") {
    MemoryPool *pool = open_pool("expandable");
    const char *broken;
    MemoryBlock *small[12], *hole = memory_pool_allocate(pool, 3 << 20),
                            *after = memory_pool_allocate(pool, 3 << 20);
    uint64_t at = hole->at;
    memory_pool_free(pool, hole);
    small[0] = memory_pool_allocate(pool, 1000);
    CHECK_INT(small[0]->at, at); /* a group in the first hole; */
    hole = memory_pool_allocate(pool, 5 << 20);
    for (int k = 1; k < 12; k++) small[k] = memory_pool_allocate(pool, 100 << 10);
    CHECK_INT(small[11]->at, at + 1024 + 10 * (100 << 10));
    CHECK(memory_pool_is_valid(pool, &broken));
    for (int k = 0; k < 12; k++) memory_pool_free(pool, small[k]);
    CHECK_INT(memory_pool_allocate(pool, 3 << 20)->at, at); /* without them it is whole again */
    memory_pool_free(pool, hole);
    CHECK_INT(memory_pool_allocate(pool, 6 << 20)->at,
              after->at + (3 << 20)); /* the end is not a hole */
    CHECK(memory_pool_is_valid(pool, &broken));
    memory_pool_destroy(pool);
  }
  TEST("expandable: memory is requested by pages, once") {
    MemoryPool *pool = open_pool("expandable");
    for (int k = 0; k < 100; k++) memory_pool_free(pool, memory_pool_allocate(pool, 5 << 20));
    CHECK_INT(fake.bytes, 5 << 20);
    CHECK_INT(memory_pool_usage(pool).device_calls, 1);
    memory_pool_destroy(pool);
  }
  TEST("expandable: memory unused for a second is returned, except a reserve") {
    MemoryPool *pool = open_pool("expandable");
    MemoryBlock *small = memory_pool_allocate(pool, 1),
                *large = memory_pool_allocate(pool, 100 << 20);
    memory_pool_tick(pool);
    memory_pool_free(pool, large);
    for (int k = 0; k < 20; k++) { /* used each time */
      fake.now_ns += 400000000;
      memory_pool_tick(pool);
      CHECK(fake.bytes >= 100 << 20);
      memory_pool_free(pool, memory_pool_allocate(pool, 90 << 20));
    }
    for (int k = 0; k < 4; k++) {
      fake.now_ns += 700000000;
      memory_pool_tick(pool);
    }
    CHECK_INT(fake.bytes, (16 << 20) + MEMORY_SMALL_PAGE);
    check_valid(pool);
    memory_pool_free(pool, small);
    memory_pool_destroy(pool);
  }
  TEST("simple: after a time free chunks are returned without a request, too") {
    MemoryPool *pool = open_pool("simple(time = 2)");
    memory_pool_free(pool, memory_pool_allocate(pool, 1000));
    fake.now_ns += 1999999999;
    memory_pool_tick(pool);
    CHECK_INT(fake.bytes, 1000);
    fake.now_ns += 1;
    memory_pool_tick(pool);
    CHECK_INT(fake.bytes, 0);
    memory_pool_destroy(pool);
  }
  TEST("expandable: when memory is short, memory of pages without blocks is moved") {
    MemoryPool *pool = open_limited("expandable", 64 << 20);
    MemoryBlock *low = memory_pool_allocate(pool, 30 << 20),
                *high = memory_pool_allocate(pool, 20 << 20);
    memory_pool_free(pool, low);
    CHECK(memory_pool_allocate(pool, 40 << 20)); /* past the other: 110 MiB of addresses */
    CHECK(fake.bytes <= 64 << 20);
    CHECK(fake.returns <= 2); /* neighbouring pages at once, so that huge ones stay whole */
    CHECK(!memory_pool_allocate(pool, 10 << 20));
    CHECK(memory_pool_allocate(pool, 2 << 20));
    memory_pool_free(pool, high);
    check_valid(pool);
    memory_pool_destroy(pool);
    CHECK_INT(fake.bytes, 0);
  }
}

/* -- all of them ------------------------------------------------------------------------------- */

enum { MOST = 600, LOOKS = 5000 };

typedef struct Model {
  MemoryBlock *held[MOST];
  uint64_t sizes[MOST];
  int count;
  /* their places, by address */
  uint64_t begin[MOST], end[MOST];
} Model;

static uint64_t random_state;
static uint64_t draw(uint64_t below) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (random_state >> 33) % below;
}

/* The first place that does not end before `at`. */
static int find_place(const Model *model, uint64_t at) {
  int low = 0, high = model->count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (model->end[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void enter(Model *model, MemoryBlock *block, uint64_t size) {
  int place = find_place(model, block->at), after = model->count - place;
  CHECK(place == model->count || block->at + block->size <= model->begin[place]);
  memmove(&model->begin[place + 1], &model->begin[place], sizeof(uint64_t) * (size_t)after);
  memmove(&model->end[place + 1], &model->end[place], sizeof(uint64_t) * (size_t)after);
  model->begin[place] = block->at;
  model->end[place] = block->at + block->size;
  model->held[model->count] = block;
  model->sizes[model->count++] = size;
}

static void leave(Model *model, int k) {
  int place = find_place(model, model->held[k]->at), after = model->count - place - 1;
  CHECK_INT(model->begin[place], model->held[k]->at);
  memmove(&model->begin[place], &model->begin[place + 1], sizeof(uint64_t) * (size_t)after);
  memmove(&model->end[place], &model->end[place + 1], sizeof(uint64_t) * (size_t)after);
  model->count--;
  model->held[k] = model->held[model->count];
  model->sizes[k] = model->sizes[model->count];
}

static uint64_t draw_size(void) {
  uint64_t size = draw((uint64_t)1 << draw(24));
  return draw(3) ? size : (uint64_t)1 << draw(22); /* equal ones are frequent */
}

static void step(MemoryPool *pool, Model *model) {
  bool takes = model->count < MOST && (!model->count || draw(100) < 52);
  if (draw(20000) == 0) memory_pool_trim(pool);
  if (takes) {
    uint64_t size = draw_size();
    MemoryBlock *block = memory_pool_allocate(pool, size);
    CHECK(block && block->at % 256 == 0 && block->size >= size);
    if (block) enter(model, block, size);
  } else {
    int k = (int)draw((uint64_t)model->count);
    MemoryBlock *block = model->held[k];
    leave(model, k);
    memory_pool_free(pool, block);
  }
}

static void look(const MemoryPool *pool, const Model *model) {
  MemoryUsage usage = memory_pool_usage(pool);
  uint64_t live = 0;
  for (int k = 0; k < model->count; k++) live += model->sizes[k];
  CHECK_INT(usage.live, live);
  CHECK_INT(usage.blocks, model->count);
  CHECK_INT(usage.reserved, fake.bytes);
  check_valid(pool);
}

static void run_random(const char *strategy, int steps) {
  static Model model;
  MemoryPool *pool = open_pool(strategy);
  model.count = 0;
  random_state = 1;
  for (int k = 0; k < steps && check_ok; k++) {
    step(pool, &model);
    if (k % LOOKS == 0) look(pool, &model);
  }
  while (model.count) {
    MemoryBlock *block = model.held[0];
    leave(&model, 0);
    memory_pool_free(pool, block);
  }
  memory_pool_trim(pool);
  CHECK_INT(memory_pool_usage(pool).reserved, 0);
  CHECK_INT(memory_pool_usage(pool).in_use, 0);
  CHECK_INT(fake.bytes, 0);
  memory_pool_destroy(pool);
}

static void test_all(const char *strategy, int steps) {
  char name[100];
  snprintf(name, sizeof name, "%s: %d random steps", strategy, steps);
  TEST(name) run_random(strategy, steps);
  snprintf(name, sizeof name, "%s: nothing is a block, too, and what is destroyed goes back",
           strategy);
  TEST(name) {
    MemoryPool *pool = open_pool(strategy);
    MemoryBlock *first = memory_pool_allocate(pool, 0), *second = memory_pool_allocate(pool, 0);
    CHECK(first && second && first->at != second->at);
    memory_pool_destroy(pool);
    CHECK_INT(fake.bytes, 0);
  }
  snprintf(name, sizeof name, "%s: with no memory left the next request may still be served",
           strategy);
  TEST(name) {
    MemoryPool *pool = open_limited(strategy, 64 << 20);
    MemoryBlock *block = memory_pool_allocate(pool, 32 << 20);
    CHECK(block);
    CHECK(!memory_pool_allocate(pool, 40 << 20));
    CHECK(!memory_pool_allocate(pool, UINT64_MAX));
    memory_pool_free(pool, block);
    CHECK(memory_pool_allocate(pool, 60 << 20)); /* free memory was returned for it */
    check_valid(pool);
    memory_pool_destroy(pool);
  }
}

static void test_words(void) {
  TEST("exact: a block has its own whole pages, which are freed with it") {
    MemoryPool *pool = open_pool("exact");
    MemoryBlock *a = memory_pool_allocate(pool, 1),
                *b = memory_pool_allocate(pool, 3 * MEMORY_PAGE + 1);
    uint64_t at = b->at;
    CHECK_INT(b->at - a->at, MEMORY_PAGE);
    CHECK_INT(fake.bytes, 5 * MEMORY_PAGE);
    memory_pool_free(pool, b);
    CHECK_INT(fake.bytes, MEMORY_PAGE);
    CHECK_INT(memory_pool_allocate(pool, 2 * MEMORY_PAGE)->at, at);
    check_valid(pool);
    memory_pool_destroy(pool);
    CHECK_INT(fake.bytes, 0);
  }
  TEST("a strategy is read as it is written") {
    MemoryConfig config = config_of(" simple ( period = 128 , ratio = 0.8 ) ");
    CHECK(config.strategy == MEMORY_SIMPLE && config.dealloc == DEALLOC_PERIOD);
    CHECK(config.dealloc_count == 128 && config.slice == SLICE_RATIO && config.slice_ratio == 0.8);
    config = config_of("simple(time=0.5,max=4096)");
    CHECK(config.dealloc == DEALLOC_TIME && config.dealloc_ns == 500000000);
    CHECK(config.slice == SLICE_MAX && config.slice_bytes == 4096);
    CHECK(config_of("simple(never)").dealloc == DEALLOC_NEVER);
    CHECK(config_of("caching").strategy == MEMORY_CACHING);
  }
  TEST("a mistake in it is marked") {
    static const char *const wrong_ones[][2] = {
        {"simpel", "simpel"},        {"expandable 2", "2"},         {"simple(period)", ")"},
        {"simple(period = 0)", ")"}, {"simple(ratio = x)", "= x)"}, {"simple(ratio = 1", ""},
        {"simple(often)", "often)"}, {"caching(never)", "(never)"}};
    for (size_t k = 0; k < sizeof wrong_ones / sizeof *wrong_ones; k++) {
      MemoryConfig config;
      const char *wrong = NULL;
      CHECK(!memory_config_parse(wrong_ones[k][0], &config, &wrong));
      CHECK_TEXT(wrong, wrong_ones[k][1]);
    }
  }
}

int main(void) {
  heap_init(&heap, 0);
  test_simple();
  test_expandable();
  test_all("expandable", 1000000);
  test_all("simple(period = 128, ratio = 0.8)", 300000); /* a request examines all chunks */
  test_all("simple(never)", 300000);
  test_all("caching", 1000000);
  test_all("exact", 1000000);
  test_words();
  TEST("all of the host's memory is freed") CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
