/* thread_test.c - many threads on one tree at once. If the outcome is unique (only activations, or
 * only deactivations), the plain model has it; otherwise (both at once) the tree must be valid all
 * the same. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kinds.h"
#include "oracle.h"

enum { SHIFT = 28, PHASES = 240, STEPS = 1000, SLOTS = 400 };

static ForestTree trees[1];
static Oracle oracle;
static RtContext *context;
static RtBudget budget;

typedef enum Phase { PHASE_WRITE, PHASE_DEACTIVATE, PHASE_MIXED, PHASE_ONE_SLOT } Phase;

typedef struct Step {
  int node;
  int64_t cell;
  bool deactivates;
} Step;

typedef struct Thread {
  pthread_t thread;
  int worker;
  Phase phase;
  Random dice;
  Step steps[STEPS]; /* what it did, for the model */
  uint8_t *seen[SLOTS];
} Thread;

static Thread threads[FOREST_WORKERS];

static int pick_pointer(Random *dice) {
  return trees->managers[random_below(dice, trees->rt.manager_count)];
}

static int pick_payload(Random *dice) {
  int n;
  do n = 1 + (int)random_below(dice, trees->node_count - 1);
  while (!trees->nodes[n].row.payload);
  return n;
}

static void write_cell(Thread *thread, Step *step) {
  step->node = pick_payload(&thread->dice);
  step->cell = random_below(&thread->dice, forest_cell_count(&trees->nodes[step->node]));
  uint32_t *element = (uint32_t *)(void *)forest_payload(context, trees, 0, thread->worker,
                                                         step->node, step->cell, true);
  __atomic_fetch_add(element, 1, __ATOMIC_RELAXED);
}

static void read_cell(Thread *thread) {
  int n = pick_payload(&thread->dice);
  int64_t cell = random_below(&thread->dice, forest_cell_count(&trees->nodes[n]));
  const uint32_t *element =
      (const uint32_t *)(void *)forest_payload(context, trees, 0, thread->worker, n, cell, false);
  /* never anything but a count */
  if (__atomic_load_n(element, __ATOMIC_RELAXED) > 100000000) abort();
}

static void deactivate_cell(Thread *thread, Step *step) {
  step->node = pick_pointer(&thread->dice);
  step->cell = random_below(&thread->dice, forest_cell_count(&trees->nodes[step->node]));
  step->deactivates = true;
  forest_deactivate(context, trees, 0, thread->worker, step->node, step->cell);
}

/* All threads process the same cells, and the levels above them. */
static void meet_in_slots(Thread *thread) {
  int n = trees->managers[trees->rt.manager_count - 1];
  int64_t cells = forest_cell_count(&trees->nodes[n]);
  for (int k = 0; k < SLOTS; k++) {
    thread->seen[k] = forest_node(context, trees, 0, thread->worker, n, k * 7 % cells, true);
  }
}

static void *thread_main(void *argument) {
  Thread *thread = argument;
  if (thread->phase == PHASE_ONE_SLOT) {
    meet_in_slots(thread);
    return NULL;
  }
  for (int k = 0; k < STEPS; k++) {
    thread->steps[k] = (Step){0};
    int64_t die = random_below(&thread->dice, 100);
    if (thread->phase == PHASE_WRITE || (thread->phase == PHASE_MIXED && die < 60))
      write_cell(thread, &thread->steps[k]);
    else if (thread->phase == PHASE_DEACTIVATE || die < 85)
      deactivate_cell(thread, &thread->steps[k]);
    else read_cell(thread);
  }
  return NULL;
}

static void run(Phase phase, uint64_t seed) {
  for (int w = 0; w < FOREST_WORKERS; w++) {
    threads[w].worker = w;
    threads[w].phase = phase;
    threads[w].dice = (Random){seed * FOREST_WORKERS + (uint64_t)w};
    if (pthread_create(&threads[w].thread, NULL, thread_main, &threads[w])) abort();
  }
  for (int w = 0; w < FOREST_WORKERS; w++) pthread_join(threads[w].thread, NULL);
}

static void tell_oracle(void) {
  for (int w = 0; w < FOREST_WORKERS; w++)
    for (int k = 0; k < STEPS; k++) {
      const Step *step = &threads[w].steps[k];
      if (step->deactivates) oracle_deactivate(&oracle, step->node, step->cell);
      else {
        oracle_activate(&oracle, step->node, step->cell);
        oracle.values[step->node][step->cell]++;
      }
    }
}

static void begin(const ForestRow *rows, int count, bool tiny, uint64_t limit) {
  budget = (RtBudget){.limit = limit};
  forest_create(trees, rows, count, &budget, 0, SHIFT);
  trees->rt.tiny_chunks = tiny;
  oracle_create(&oracle, trees);
  context = forest_context(trees, 1);
  context->parallel = forest_share;
}
static void end(void) {
  forest_context_destroy(context);
  oracle_destroy(&oracle);
  forest_destroy(trees);
}

static void check_one_slot(const ForestRow *rows, int count, bool tiny) {
  begin(rows, count, tiny, UINT64_MAX);
  TEST("a cell that many threads activate at once gets one node") {
    int64_t cells = forest_cell_count(&trees->nodes[trees->managers[trees->rt.manager_count - 1]]);
    for (uint64_t round = 0; round < 20; round++) {
      run(PHASE_ONE_SLOT, round);
      for (int k = 0; k < SLOTS; k++)
        for (int w = 1; w < FOREST_WORKERS; w++) CHECK(threads[w].seen[k] == threads[0].seen[k]);
      int64_t expected = 0;
      for (int64_t c = 0; c < cells; c++)
        for (int k = 0; k < SLOTS; k++)
          if (k * 7 % cells == c) {
            expected++;
            break;
          }
      CHECK_INT(rt_list_count(context, 0, trees->rt.manager_count - 1), expected);
      CHECK_TEXT(forest_check(context, trees, 0), "");
      for (int m = 0; m < trees->rt.manager_count; m++) rt_tree_clear(context, 0, m);
      rt_tree_collect(context, &trees->rt);
    }
  }
  end();
}

static void check_phases(const ForestRow *rows, int count, bool tiny, uint64_t seed) {
  begin(rows, count, tiny, UINT64_MAX);
  TEST("writes of many threads all arrive, deactivations all happen, both at once leave a whole "
       "tree") {
    for (uint64_t p = 0; p < PHASES / 6 && check_ok; p++) {
      Phase phase = (Phase)(p % 3);
      run(phase, seed + p);
      rt_tree_refresh(context, &trees->rt);
      if (phase == PHASE_MIXED) oracle_adopt(&oracle, context, trees, 0);
      else tell_oracle();
      if (p % 4) rt_tree_collect(context, &trees->rt);
      CHECK_TEXT(oracle_compare(&oracle, context, trees, 0), "");
    }
    CHECK_INT(context->error.kind, RT_OK);
  }
  end();
}

static void check_budget(const ForestRow *rows, int count, uint64_t limit) {
  begin(rows, count, false, limit);
  TEST("threads that exhaust the budget together leave a valid tree") {
    for (uint64_t p = 0; p < 30 && check_ok; p++) {
      run(p % 2 ? PHASE_WRITE : PHASE_MIXED, p);
      CHECK_TEXT(forest_check(context, trees, 0), "");
      CHECK(budget.used <= limit);
      CHECK(context->error.kind == RT_OK || context->error.kind == RT_ERROR_BUDGET);
      rt_tree_collect(context, &trees->rt);
    }
    CHECK_INT(context->error.kind, RT_ERROR_BUDGET);
  }
  end();
}

int main(void) {
  for (int tiny = 0; tiny < 2; tiny++) {
    check_one_slot(KIND_ROWS(kind_deep), tiny);
    check_one_slot(KIND_ROWS(kind_block), tiny);
    check_one_slot(KIND_ROWS(kind_hash), tiny);
    check_one_slot(KIND_ROWS(kind_hashes), tiny);
    check_phases(KIND_ROWS(kind_deep), tiny, 1000);
    check_phases(KIND_ROWS(kind_branches), tiny, 2000);
    check_phases(KIND_ROWS(kind_block), tiny, 3000);
    check_phases(KIND_ROWS(kind_hash), tiny, 4000);
    check_phases(KIND_ROWS(kind_hashes), tiny, 5000);
  }
  check_budget(KIND_ROWS(kind_deep), RT_SEGMENT);
  check_budget(KIND_ROWS(kind_block), RT_SEGMENT);
  check_budget(KIND_ROWS(kind_hash), 3 * RT_SEGMENT);
  check_budget(KIND_ROWS(kind_hashes), 4 * RT_SEGMENT);
  return check_report();
}
