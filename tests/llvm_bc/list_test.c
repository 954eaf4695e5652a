/* list_test.c - lists of a dynamic SNode: threads that append, pop and empty concurrently, and
 * memory that runs out. In any case every element below a list's length exists, and nothing after
 * it. The tree is a pointer SNode's whose first two slots are a list's length and lock. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "forest.h"

enum {
  LISTS = 5,
  MANY = 100, /* several of them in each piece of a log */
  CHUNK = 8,
  CHUNKS = 300,
  CAPACITY = CHUNK * CHUNKS - 3,
  STEPS = 1500,
  LONG = 600000, /* rows: past half of 8 MiB */
  HOT = 1100,    /* rows: past two blocks */
  SHIFT = 26
};

enum { ROW = RT_ROW_NUMBERS + 4, STAGE = sizeof(RtStage) + ROW * RT_STAGE_ROWS };

static uint64_t stages[FOREST_WORKERS][STAGE / 8];
static const RtNumber number = {.stride = 4, .size = 4, .row = RT_ROW_NUMBERS};
static ForestTree trees[1];
static RtContext *context;
static RtBudget budget;

static int lists;

static void create_lists(uint64_t limit, int count) {
  lists = count;
  const ForestRow rows[] = {{.kind = FOREST_ROOT},
                            {FOREST_DENSE, 0, "i", {lists}, 0},
                            {FOREST_POINTER, 1, "j", {CHUNKS + RT_LIST_SLOTS}, 4 * CHUNK}};
  budget = (RtBudget){.limit = limit};
  forest_create(trees, rows, 3, &budget, 0, SHIFT);
  RtManager *manager = &trees->rt.managers[0];
  RtLevel *chunks = &manager->levels[manager->level_count - 1];
  manager->chunk = CHUNK;
  manager->capacity = CAPACITY;
  manager->numbers = &number;
  manager->number_count = 1;
  manager->row_bytes = ROW;
  memset(stages, 0, sizeof stages);
  for (int w = 0; w < FOREST_WORKERS; w++) manager->locals[w].stage = (RtStage *)(void *)stages[w];
  manager->info_stride += sizeof(int64_t);
  chunks->offset += RT_LIST_SLOTS * sizeof(uint32_t);
  chunks->cell_count = CHUNKS;
  chunks->sizes[0] = CHUNKS;
  context = forest_context(trees, 1);
}

static void create(uint64_t limit) { create_lists(limit, LISTS); }

static void destroy(void) {
  for (int w = 0; w < FOREST_WORKERS; w++)
    for (int k = 0; k < RT_LOG_SLABS; k++)
      free(trees->rt.managers[0].locals[w].stage->log.slabs[k]);
  forest_context_destroy(context);
  forest_destroy(trees);
}

static uint32_t *list_at(int i) {
  const RtLevel *outer = &trees->rt.managers[0].levels[0];
  return (uint32_t *)(void *)(trees->rt.root + outer->offset + (uint64_t)i * outer->stride);
}

static uint32_t *element(uint32_t *list, int32_t k) {
  uint8_t *node = rt_slot_find(context, 0, &list[RT_LIST_SLOTS + k / CHUNK]);
  return (uint32_t *)(void *)node + k % CHUNK;
}

static int32_t append(int worker, int i, uint32_t value, int32_t locks) {
  uint32_t *list = list_at(i);
  int32_t slot =
      rt_dynamic_append(context, &context->workers[worker], 0, 0, list, CHUNK, CAPACITY, locks);
  if (slot < 0) return slot;
  *element(list, slot) = value;
  if (locks) rt_dynamic_unlock(list);
  return slot;
}

static void stage(int worker, int i, uint32_t value) {
  RtWorker *own = &context->workers[worker];
  uint8_t *row = rt_dynamic_stage(context, own, 0, 0, list_at(i), ROW);
  *(uint32_t *)(void *)(row + RT_ROW_NUMBERS) = value;
}

static void log_one(int worker, int i, uint32_t value) {
  RtWorker *own = &context->workers[worker];
  uint8_t *row = rt_dynamic_log(context, own, 0, 0, list_at(i), ROW);
  *(uint32_t *)(void *)(row + RT_ROW_NUMBERS) = value;
}

static uint32_t pop(int i) {
  uint32_t *list = list_at(i), value;
  int32_t slot = rt_dynamic_pop(context, list, 1);
  if (slot < 0) return 0;
  value = *element(list, slot);
  *element(list, slot) = 0;
  rt_dynamic_unlock(list);
  return value;
}

static void empty(int worker, int i) {
  rt_dynamic_clear(context, &context->workers[worker], 0, 0, list_at(i), CAPACITY, 1, 0);
}

/* Between tasks: chunks exist without a gap, elements are not zero, and everything after them is.
 * */
static uint64_t check_list(int i) {
  uint32_t *list = list_at(i), length = list[RT_LIST_LENGTH];
  uint64_t sum = 0;
  bool is_over = false;
  CHECK(length <= CAPACITY && list[RT_LIST_LOCK] == 0);
  for (int32_t c = 0; c < CHUNKS; c++) {
    bool is_live = rt_slot_live(&list[RT_LIST_SLOTS + c]);
    CHECK(is_live || (uint32_t)c * CHUNK >= length);
    CHECK(!is_over || !is_live);
    is_over |= !is_live;
    for (int32_t k = 0; is_live && k < CHUNK; k++) {
      uint32_t value = *element(list, c * CHUNK + k);
      CHECK((uint32_t)(c * CHUNK + k) < length ? value != 0 : value == 0);
      sum += value;
    }
  }
  return sum;
}

static uint64_t check_all(void) {
  uint64_t sum = 0, count = 0;
  rt_tree_refresh(context, &trees->rt);
  for (int i = 0; i < lists; i++) {
    sum += check_list(i);
    count += list_at(i)[RT_LIST_LENGTH];
  }
  CHECK_INT(rt_dynamic_count(context, 0, 0), (int64_t)count);
  return sum;
}

/* -- threads ----------------------------------------------------------------------------------- */

typedef struct Thread {
  pthread_t thread;
  int worker;
  void (*run)(struct Thread *);
  uint64_t put, taken; /* sums */
} Thread;

static void *thread_main(void *argument) {
  Thread *thread = argument;
  thread->run(thread);
  return NULL;
}

static void *refuse(RtContext *of, void *memory, uint64_t old_bytes, uint64_t new_bytes) {
  return NULL;
}

static Thread run_all(void (*run)(Thread *)) {
  Thread threads[FOREST_WORKERS], sum = {0};
  for (int w = 0; w < FOREST_WORKERS; w++) {
    threads[w] = (Thread){.worker = w, .run = run};
    pthread_create(&threads[w].thread, NULL, thread_main, &threads[w]);
  }
  for (int w = 0; w < FOREST_WORKERS; w++) {
    pthread_join(threads[w].thread, NULL);
    sum.put += threads[w].put;
    sum.taken += threads[w].taken;
  }
  return sum;
}

static void put(Thread *thread, int k, int32_t locks) {
  uint32_t value = (uint32_t)(thread->worker * STEPS + k + 1);
  if (append(thread->worker, k % LISTS, value, locks) >= 0) thread->put += value;
}

static void only_append(Thread *thread) {
  for (int k = 0; k < STEPS; k++) put(thread, k, 0);
}

/* A few to each list in a row. */
static void only_stage(Thread *thread) {
  for (int k = 0; k < STEPS; k++) {
    uint32_t value = (uint32_t)(thread->worker * STEPS + k + 1);
    stage(thread->worker, k / 300 % LISTS, value);
    thread->put += value;
  }
}

static void only_log(Thread *thread) {
  for (int k = 0; k < STEPS; k++) {
    uint32_t value = (uint32_t)(thread->worker * STEPS + k + 1);
    log_one(thread->worker, k % LISTS, value);
    thread->put += value;
  }
}

/* More than a log holds, so it is appended while others run. */
static void log_much(Thread *thread) {
  for (int k = 0; k < LONG; k++) log_one(thread->worker, k % lists, (uint32_t)k + 1);
}

static void log_to_one(Thread *thread) {
  for (int k = 0; k < HOT && thread->worker < 2; k++) {
    uint32_t value = (uint32_t)(thread->worker * STEPS + k + 1);
    log_one(thread->worker, 3, value);
    thread->put += value;
  }
}

static void append_and_pop(Thread *thread) {
  for (int k = 0; k < STEPS; k++) {
    put(thread, k, 1);
    if (k % 3) thread->taken += pop((k + thread->worker) % LISTS);
  }
}

static void append_and_empty(Thread *thread) {
  for (int k = 0; k < STEPS; k++) {
    put(thread, k, 1);
    if (k % 97 == 0) empty(thread->worker, k % LISTS);
  }
}

/* As lanes do: several elements from one list. */
static void only_take(Thread *thread) {
  for (int k = 0; k < STEPS / 2; k++) {
    uint32_t *list = list_at((k + thread->worker) % LISTS);
    int32_t count = k % 5, before = rt_dynamic_take(context, list, count);
    for (int32_t slot = before - 1; slot >= 0 && slot >= before - count; slot--) {
      thread->taken += *element(list, slot);
      *element(list, slot) = 0;
    }
  }
}

/* A thread that has emptied a list finds nothing in it. */
static void only_empty(Thread *thread) {
  for (int k = 0; k < LISTS; k++) {
    uint32_t *list = list_at(k);
    rt_dynamic_clear(context, &context->workers[thread->worker], 0, 0, list, CAPACITY, 0, 0);
    thread->put += __atomic_load_n(&list[RT_LIST_LENGTH], __ATOMIC_RELAXED);
    for (int32_t c = 0; c < CHUNKS; c++) thread->put += rt_slot_live(&list[RT_LIST_SLOTS + c]);
  }
}

static void check_order(int i) {
  uint32_t last[FOREST_WORKERS] = {0};
  for (int32_t k = 0; k < (int32_t)list_at(i)[RT_LIST_LENGTH]; k++) {
    uint32_t value = *element(list_at(i), k), worker = (value - 1) / STEPS;
    CHECK(value > last[worker]);
    last[worker] = value;
  }
}

static void test_logs(void) {
  TEST("logged elements are appended after the task, once, in the order of each thread") {
    create(1 << 24);
    for (int round = 1; round <= 2; round++) {
      Thread sum = run_all(only_log);
      CHECK_INT(check_all(), sum.put);
      CHECK_INT(rt_dynamic_count(context, 0, 0), FOREST_WORKERS * STEPS);
      for (int i = 0; i < LISTS; i++) check_order(i);
      rt_tree_clear(context, 0, 0);
    }
    destroy();
  }
  TEST("rows of a single list are appended during the task, in the order of each thread") {
    create(1 << 24);
    Thread sum = run_all(log_to_one);
    CHECK(list_at(3)[RT_LIST_LENGTH] > HOT);
    CHECK_INT(check_all(), sum.put);
    check_order(3);
    destroy();
  }
  TEST("logs use at most half of the budget, and are appended during the task") {
    create_lists(8 << 20, MANY);
    log_much(&(Thread){.worker = 1});
    CHECK(trees->rt.managers[0].log_bytes > 0 &&
          trees->rt.managers[0].log_bytes <= budget.limit / 2);
    CHECK(list_at(0)[RT_LIST_LENGTH] == CAPACITY);
    for (int32_t k = 0; k < CAPACITY; k++)
      CHECK_INT(*element(list_at(1), k), (uint32_t)(k * MANY + 2));
    run_all(log_much);
    check_all();
    CHECK_INT(rt_dynamic_count(context, 0, 0), MANY * CAPACITY);
    CHECK_INT(context->error.kind, RT_ERROR_FULL);
    destroy();
  }
  TEST("a worker without a log appends one by one") {
    create(1 << 24);
    void *(*grow)(RtContext *, void *, uint64_t, uint64_t) = context->grow;
    context->grow = refuse;
    Thread sum = run_all(only_log);
    context->grow = grow;
    CHECK_INT(check_all(), sum.put);
    for (int i = 0; i < LISTS; i++) check_order(i);
    destroy();
  }
  TEST("when memory runs out, logged elements without memory are dropped") {
    create(RT_SEGMENT);
    run_all(only_log);
    check_all();
    CHECK_INT(context->error.kind, RT_ERROR_BUDGET);
    destroy();
  }
}

static void test_threads(void) {
  TEST("threads that append lose nothing") {
    create(1 << 24);
    Thread sum = run_all(only_append);
    CHECK_INT(check_all(), sum.put);
    CHECK_INT(rt_dynamic_count(context, 0, 0), FOREST_WORKERS * STEPS);
    destroy();
  }
  TEST("staged elements are appended after the task, once, in the order of each thread") {
    create(1 << 24);
    Thread sum = run_all(only_stage);
    CHECK_INT(check_all(), sum.put);
    CHECK_INT(rt_dynamic_count(context, 0, 0), FOREST_WORKERS * STEPS);
    check_order(1);
    destroy();
  }
  TEST("elements that threads append and pop concurrently are in the list or were popped, once") {
    create(1 << 24);
    Thread sum = run_all(append_and_pop);
    CHECK_INT(check_all(), sum.put - sum.taken);
    destroy();
  }
  TEST("elements that threads pop without locks are popped once, and the first elements stay") {
    create(1 << 24);
    Thread before = run_all(only_append);
    uint64_t values = 0;
    uint32_t lengths[LISTS], first[LISTS];
    for (int i = 0; i < LISTS; i++) lengths[i] = list_at(i)[RT_LIST_LENGTH];
    for (int i = 0; i < LISTS; i++) first[i] = *element(list_at(i), 0);
    Thread sum = run_all(only_take);
    for (int i = 0; i < LISTS; i++) {
      CHECK(list_at(i)[RT_LIST_LENGTH] < lengths[i]);
      CHECK(!list_at(i)[RT_LIST_LENGTH] || *element(list_at(i), 0) == first[i]);
    }
    values = check_all();
    CHECK_INT(values + sum.taken, before.put);
    destroy();
  }
  TEST("threads that empty lists without locks each find them empty") {
    create(1 << 24);
    for (int round = 0; round < 3; round++) {
      run_all(only_append);
      CHECK_INT(run_all(only_empty).put, 0);
      rt_tree_refresh(context, &trees->rt);
      rt_tree_collect(context, &trees->rt);
      CHECK_INT(check_all(), 0);
    }
    destroy();
  }
  TEST("lists that are emptied concurrently stay valid") {
    create(1 << 24);
    for (int round = 0; round < 3; round++) {
      run_all(append_and_empty);
      check_all();
      rt_tree_collect(context, &trees->rt);
    }
    destroy();
  }
}

/* -- one thread -------------------------------------------------------------------------------- */

static void test_ends(void) {
  TEST("a full list takes no more, and says so") {
    create(1 << 24);
    for (int k = 0; k < CAPACITY; k++) CHECK_INT(append(0, 2, (uint32_t)k + 1, 0), k);
    CHECK_INT(context->error.kind, RT_OK);
    CHECK_INT(append(0, 2, 7, 0), -1);
    CHECK_INT(append(0, 2, 7, 1), -1);
    CHECK_INT(context->error.kind, RT_ERROR_FULL);
    check_all();
    destroy();
  }
  TEST("when memory runs out, lists stop growing, and continue once memory was freed") {
    create(RT_SEGMENT);
    Thread sum = run_all(only_append);
    CHECK_INT(context->error.kind, RT_ERROR_BUDGET);
    CHECK_INT(check_all(), sum.put);
    uint8_t *sink =
        rt_dynamic_ensure(context, context->workers, 0, 0, list_at(0), CHUNK, CAPACITY - 1, 0);
    CHECK(sink == trees->rt.managers[0].locals[0].sink);
    memset(sink, 0, CHUNK * 4);
    CHECK_INT(check_all(), sum.put);
    for (int i = 0; i < LISTS; i++) empty(0, i);
    CHECK_INT(check_all(), 0);
    rt_tree_collect(context, &trees->rt);
    context->error.kind = RT_OK;
    for (int k = 0; k < 100; k++) CHECK_INT(append(0, 1, 5, 0), k);
    CHECK_INT(context->error.kind, RT_OK);
    check_all();
    destroy();
  }
}

static void test_staged_ends(void) {
  TEST("staged elements are appended as far as they fit, and a full list is reported") {
    create(1 << 24);
    for (int k = 0; k < CAPACITY - 5; k++) append(0, 2, (uint32_t)k + 1, 0);
    for (int k = 0; k < 9; k++) stage(1, 2, 100);
    CHECK_INT(context->error.kind, RT_OK);
    CHECK_INT(list_at(2)[RT_LIST_LENGTH], CAPACITY - 5);
    check_all();
    CHECK_INT(list_at(2)[RT_LIST_LENGTH], CAPACITY);
    CHECK_INT(context->error.kind, RT_ERROR_FULL);
    destroy();
  }
  TEST("when memory runs out, staged elements without memory are dropped") {
    create(RT_SEGMENT);
    run_all(only_stage);
    check_all();
    CHECK_INT(context->error.kind, RT_ERROR_BUDGET);
    destroy();
  }
}

static void test_lengths(void) {
  TEST("a write past the end extends a list, without gaps") {
    create(1 << 24);
    uint8_t *node =
        rt_dynamic_ensure(context, context->workers, 0, 0, list_at(3), CHUNK, 5 * CHUNK + 2, 0);
    CHECK(node == rt_slot_find(context, 0, &list_at(3)[RT_LIST_SLOTS + 5]));
    CHECK_INT(list_at(3)[RT_LIST_LENGTH], 5 * CHUNK + 3);
    for (int c = 0; c <= 5; c++) CHECK(rt_slot_live(&list_at(3)[RT_LIST_SLOTS + c]));
    CHECK_INT(rt_dynamic_count(context, 0, 0), 5 * CHUNK + 3);
    CHECK_INT(rt_dynamic_cells(context, 0, 0, node), 3);
    rt_dynamic_remember(context, 0, 0);
    pop(3);
    pop(3);
    CHECK_INT(rt_dynamic_cells(context, 0, 0, node), 1);
    CHECK_INT(rt_dynamic_was(context, 0, 0, node), 3);
    rt_tree_clear(context, 0, 0);
    CHECK_INT(list_at(3)[RT_LIST_LENGTH], 0);
    CHECK_INT(rt_dynamic_count(context, 0, 0), 0);
    destroy();
  }
}

int main(void) {
  test_threads();
  test_logs();
  test_ends();
  test_staged_ends();
  test_lengths();
  return check_report();
}
