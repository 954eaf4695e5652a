/* budget_test.c - memory runs out at every possible moment: the error names the level, nothing is
 * half made, other trees continue, and freed memory can be used again. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kinds.h"

enum { SHIFT = 26, ROUNDS = 400 };

static ForestTree trees[2];
static RtContext *context;
static RtBudget budget;

static void begin(const ForestRow *rows, int count, uint64_t limit, int shift) {
  budget = (RtBudget){.limit = limit};
  forest_create(&trees[0], rows, count, &budget, 11, shift);
  forest_create(&trees[1], KIND_ROWS(kind_block), &budget, 12, SHIFT);
  context = forest_context(trees, 2);
}
static void end(void) {
  CHECK_INT(budget.used, rt_tree_bytes(&trees[0].rt) + rt_tree_bytes(&trees[1].rt));
  CHECK(budget.used <= budget.limit);
  CHECK(budget.peak >= budget.used);
  forest_context_destroy(context);
  forest_destroy(&trees[0]);
  forest_destroy(&trees[1]);
}

static const ForestNode *node_of(int manager) {
  return &trees[0].nodes[trees[0].managers[manager]];
}

static void activate_some(Random *random, int times) {
  for (int k = 0; k < times; k++) {
    int m = (int)random_below(random, trees[0].rt.manager_count);
    forest_activate(context, trees, 0, (int)random_below(random, FOREST_WORKERS),
                    trees[0].managers[m], random_below(random, forest_cell_count(node_of(m))));
  }
}

/* Nodes of the chain are 64 bytes; a wider payload makes every chunk a matter of a few nodes. */
static const ForestRow heavy[] = {{.kind = FOREST_ROOT},
                                  {FOREST_POINTER, 0, "i", {4}, 20000},
                                  {FOREST_POINTER, 1, "i", {5}, 30000},
                                  {FOREST_POINTER, 2, "j", {6}, 100000}};

static void check_levels(int tiny) {
  for (uint64_t limit = 0; limit <= 24; limit++) {
    begin(heavy, 4, limit * RT_SEGMENT, SHIFT);
    trees[0].rt.tiny_chunks = (uint32_t)tiny;
    Random random = {limit * 2 + (uint64_t)tiny};
    TEST("exhaustion at any level leaves the tree whole, and freed memory serves again") {
      for (int round = 0; round < 6; round++) {
        context->error = (RtError){0};
        activate_some(&random, ROUNDS);
        CHECK_INT(context->error.kind, RT_ERROR_BUDGET);
        CHECK_INT(context->error.tree, 11);
        CHECK_TEXT(forest_check(context, trees, 0), "");
        int64_t live = rt_manager_live(&trees[0].rt, 0);
        rt_tree_clear(context, 0, 0);
        CHECK_INT(rt_manager_live(&trees[0].rt, 0), 0);
        if (round % 2) CHECK(rt_tree_compact(context, &trees[0].rt) > 0 || !live);
        if (round % 2) CHECK_INT(budget.used, 0);
        CHECK_TEXT(forest_check(context, trees, 0), "");
      }
    }
    end();
  }
}

static void check_sink(void) {
  begin(KIND_ROWS(kind_chain), 2 * RT_SEGMENT, SHIFT);
  TEST("a failed activation returns the worker's sink, and so do those below it") {
    context->task = 3;
    RtManager *managers = trees[0].rt.managers;
    uint8_t *memory = forest_payload(context, trees, 0, 2, 4, 17, true);
    CHECK(memory == managers[3].locals[2].sink);
    CHECK_INT(context->error.kind, RT_ERROR_BUDGET);
    CHECK_INT(context->error.manager, 2);
    CHECK_INT(context->error.task, 3);
    memset(memory, 0xff, 4);
    CHECK_INT(rt_list_count(context, 0, 0), 1);
    CHECK_INT(rt_list_count(context, 0, 1), 1);
    CHECK_INT(rt_list_count(context, 0, 2), 0);
    CHECK_INT(*forest_slot(context, trees, 0, 0, 3, 3, false), RT_SLOT_EMPTY);
    CHECK(forest_payload(context, trees, 0, 2, 4, 20, true) == memory);
    CHECK_TEXT(forest_check(context, trees, 0), "");
  }
  TEST("raising the budget suffices to continue") {
    budget.limit = 8 * RT_SEGMENT;
    context->error = (RtError){0};
    uint8_t *memory = forest_payload(context, trees, 0, 2, 4, 17, true);
    CHECK_INT(context->error.kind, RT_OK);
    CHECK_INT(memory[0], 0);
    CHECK(forest_is_active(context, trees, 0, 4, 17));
    CHECK_TEXT(forest_check(context, trees, 0), "");
  }
  end();
}

static void check_others(void) {
  begin(heavy, 4, 20 * RT_SEGMENT, SHIFT);
  Random random = {5};
  TEST("a tree that has free nodes continues while another has none left") {
    for (int64_t c = 0; c < 20; c++) forest_activate(context, trees, 1, 0, 1, c);
    activate_some(&random, ROUNDS);
    CHECK_INT(context->error.tree, 11);
    for (int64_t c = 20; c < 100; c++) forest_activate(context, trees, 1, 0, 1, c);
    CHECK_INT(rt_list_count(context, 1, 0), 100);
    CHECK_TEXT(forest_check(context, trees, 1), "");
  }
  end();
}

static void check_stranded(void) {
  begin(KIND_ROWS(kind_block), RT_SEGMENT, SHIFT);
  int64_t most = 0;
  TEST("nodes that other workers kept are found after a failure") {
    for (int64_t c = 0; c < 512; c++)
      forest_activate(context, trees, 0, (int)(c % FOREST_WORKERS), 1, c);
    most = rt_list_count(context, 0, 0);
    CHECK_INT(most, trees[0].rt.managers[0].node_count);
    rt_tree_clear(context, 0, 0);
    rt_tree_collect(context, &trees[0].rt);
    /* each takes a batch */
    for (int w = 0; w < FOREST_WORKERS; w++) forest_activate(context, trees, 0, w, 1, 500 + w);
    for (int round = 0; round < 2; round++)
      for (int64_t c = 0; c < 500; c++) {
        forest_activate(context, trees, 0, 0, 1, c);
        if (context->error.kind) rt_tree_refresh(context, &trees[0].rt);
      }
    CHECK_INT(rt_list_count(context, 0, 0), most);
    CHECK_TEXT(forest_check(context, trees, 0), "");
  }
  end();
}

static void check_arena(void) {
  begin(heavy, 4, UINT64_MAX, 20); /* 1 MiB of addresses */
  Random random = {9};
  TEST("an arena without room is a budget error too, and costs none") {
    activate_some(&random, ROUNDS);
    CHECK_INT(context->error.kind, RT_ERROR_BUDGET);
    CHECK(trees[0].rt.top <= trees[0].rt.reserved);
    CHECK_TEXT(forest_check(context, trees, 0), "");
  }
  end();
}

int main(void) {
  check_levels(0);
  check_levels(1);
  check_sink();
  check_others();
  check_stranded();
  check_arena();
  return check_report();
}
