/* rt_test.c - one thread: the promises of the runtime about slots, nodes, lists, clearing and
 * budgets. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "hash.h"
#include "kinds.h"

enum { SHIFT = 28 };

static ForestTree trees[1];
static RtContext *context;
static RtBudget budget;

static void begin(const ForestRow *rows, int count, uint64_t limit, bool tiny) {
  budget = (RtBudget){.limit = limit};
  forest_create(trees, rows, count, &budget, 7, SHIFT);
  trees->rt.tiny_chunks = tiny;
  context = forest_context(trees, 1);
}
static void end(void) {
  forest_context_destroy(context);
  forest_destroy(trees);
}
static RtManager *manager(int number) { return &trees->rt.managers[number]; }
static bool holds_zeros(const uint8_t *memory, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i++)
    if (memory[i]) return false;
  return true;
}

static void check_slots(void) {
  begin(KIND_ROWS(kind_block), UINT64_MAX, false);
  TEST("an empty cell reads as the ambient and stays inactive") {
    CHECK(forest_payload(context, trees, 0, 0, 2, 77, false) == context->ambient);
    CHECK(!forest_is_active(context, trees, 0, 1, 3));
    CHECK_INT(rt_list_count(context, 0, 0), 0);
    CHECK_INT(budget.used, 0);
  }
  TEST("activation is idempotent and gives zeroed memory") {
    uint32_t *slot = forest_slot(context, trees, 0, 0, 1, 5, false);
    uint8_t *node = rt_slot_ensure(context, context->workers, 0, 0, slot);
    CHECK(node == rt_slot_ensure(context, context->workers, 0, 0, slot));
    CHECK(node == rt_slot_activate(context, context->workers, 0, 0, slot));
    CHECK(node == rt_slot_find(context, 0, slot));
    CHECK(node == node - (node - trees->rt.base) % RT_GRANULE);
    CHECK(holds_zeros(node, manager(0)->node_size));
    CHECK_INT(rt_list_count(context, 0, 0), 1);
  }
  TEST("a deactivated node is not reused before the collection, and comes back zeroed") {
    uint32_t *slot = forest_slot(context, trees, 0, 0, 1, 5, false), *other = slot + 1;
    uint8_t *node = rt_slot_find(context, 0, slot);
    memset(node, 0xee, manager(0)->node_size);
    rt_slot_clear(context, context->workers, 0, 0, slot);
    rt_slot_clear(context, context->workers, 0, 0, slot);
    CHECK_INT(rt_list_count(context, 0, 0), 0);
    CHECK(rt_slot_ensure(context, context->workers, 0, 0, other) != node);
    CHECK_INT(node[3], 0xee); /* readers may still use it */
    CHECK(rt_tree_collect(context, &trees->rt));
    CHECK(!rt_tree_collect(context, &trees->rt));
    bool seen = false;
    for (int64_t c = 0; c < 512; c++) {
      forest_activate(context, trees, 0, 0, 1, c);
      uint8_t *memory = rt_slot_find(context, 0, forest_slot(context, trees, 0, 0, 1, c, false));
      CHECK(holds_zeros(memory, manager(0)->node_size));
      seen |= memory == node;
    }
    CHECK(seen);
    CHECK_TEXT(forest_check(context, trees, 0), "");
  }
  end();
}

static void check_coordinates(void) {
  static const struct {
    const char *name;
    const ForestRow *rows;
    int count;
  } all[] = {{"deep", KIND_ROWS(kind_deep)},
             {"branches", KIND_ROWS(kind_branches)},
             {"chain", KIND_ROWS(kind_chain)},
             {"block", KIND_ROWS(kind_block)},
             {"axes", KIND_ROWS(kind_axes)}};
  for (int k = 0; k < 5; k++)
    for (int tiny = 0; tiny < 2; tiny++) {
      begin(all[k].rows, all[k].count, UINT64_MAX, tiny);
      TEST("every cell's address decodes to its coordinates") {
        for (int m = 0; m < trees->rt.manager_count; m++)
          for (int64_t c = forest_cell_count(&trees->nodes[trees->managers[m]]); c-- > 0;)
            forest_activate(context, trees, 0, (int)(c % FOREST_WORKERS), trees->managers[m], c);
        CHECK_TEXT(forest_check(context, trees, 0), "");
      }
      end();
    }
}

static void check_lists(void) {
  begin(KIND_ROWS(kind_deep), UINT64_MAX, false);
  TEST("a list whose nodes did not change is not rebuilt") {
    forest_activate(context, trees, 0, 0, 3, 9);
    CHECK(rt_list_update(context, &trees->rt, 1));
    CHECK(rt_list_update(context, &trees->rt, 1));
    forest_activate(context, trees, 0, 0, 3, 9);
    CHECK(rt_list_update(context, &trees->rt, 1));
    CHECK_INT(manager(1)->lists, 1);
    forest_activate(context, trees, 0, 0, 1, 5); /* another manager's change */
    CHECK(rt_list_update(context, &trees->rt, 1));
    CHECK_INT(manager(1)->lists, 1);
  }
  TEST("a list adds new nodes and drops removed ones, without being rebuilt") {
    for (int64_t c = 10; c < 40; c++) forest_activate(context, trees, 0, c % 3, 3, c);
    for (int64_t c = 20; c < 30; c++) forest_deactivate(context, trees, 0, c % 2, 3, c);
    CHECK(rt_list_update(context, &trees->rt, 1));
    CHECK_INT(manager(1)->list_count, manager(1)->live_count);
    CHECK_TEXT(forest_check(context, trees, 0), "");
    /* deactivated and activated again between two lists, perhaps in another node */
    forest_deactivate(context, trees, 0, 0, 3, 11);
    rt_tree_collect(context, &trees->rt);
    forest_activate(context, trees, 0, 0, 3, 12);
    forest_activate(context, trees, 0, 0, 3, 11);
    CHECK(rt_list_update(context, &trees->rt, 1));
    CHECK_TEXT(forest_check(context, trees, 0), "");
    CHECK_INT(manager(1)->lists, 1);
  }
  TEST("a list most of which changed is rebuilt, once") {
    int64_t cells = forest_cell_count(&trees->nodes[3]);
    for (int64_t c = 0; c < cells; c++) forest_activate(context, trees, 0, 0, 3, c);
    CHECK(rt_list_update(context, &trees->rt, 1));
    CHECK_INT(manager(1)->lists, 2);
    CHECK_TEXT(forest_check(context, trees, 0), "");
  }
  end();
  begin(KIND_ROWS(kind_deep), UINT64_MAX, false);
  TEST("a list without memory is an error, and the next one is complete") {
    for (int64_t c = 0; c < 200; c++) forest_activate(context, trees, 0, 0, 3, c);
    context->host = context;
    CHECK(!rt_list_update(context, &trees->rt, 1));
    CHECK_INT(context->error.kind, RT_ERROR_MEMORY);
    CHECK_INT(context->error.tree, 7);
    CHECK_INT(context->error.manager, 1);
    context->host = NULL;
    CHECK_TEXT(forest_check(context, trees, 0), "");
    CHECK_INT(rt_list_count(context, 0, 1), 200);
  }
  end();
}

/* Rows that do not ascend, and groups that do not end where neighbouring coordinates differ. */
static int count_disorder(uint64_t order, int64_t begin, int64_t end, int axis, int axes) {
  int wrong = 0;
  for (int64_t row = begin; axis < axes && row < end;) {
    int64_t next = rt_order_end(order, row, end, axis);
    if (next <= row || next > end) return wrong + 1;
    for (int64_t k = row; k < next; k++)
      wrong += rt_order_at(order, k, axis) != rt_order_at(order, row, axis);
    wrong += next < end && rt_order_at(order, next, axis) <= rt_order_at(order, row, axis);
    wrong += count_disorder(order, row, next, axis + 1, axes);
    row = next;
  }
  return wrong;
}

static void check_orders(void) {
  begin(KIND_ROWS(kind_hashes), UINT64_MAX, false);
  const int deep = 3, axes = manager(2)->axis_count;
  int64_t cells = forest_cell_count(&trees->nodes[trees->managers[2]]);
  TEST("an order of no nodes has no rows") {
    CHECK_INT(rt_order_count(rt_list_order(context, 0, 2, 0)), 0);
  }
  TEST("an order has each active node once, in ascending coordinates, after any changes") {
    srand(5);
    for (int round = 0; round < 12; round++) {
      for (int k = 0; k < 1 << round; k++)
        forest_activate(context, trees, 0, k % 3, trees->managers[2], rand() % cells);
      for (int k = 0; k < round; k++)
        forest_deactivate(context, trees, 0, 0, trees->managers[2], rand() % cells);
      uint64_t order = rt_list_order(context, 0, 2, round % deep);
      CHECK_INT(rt_order_count(order), rt_list_count(context, 0, 2));
      CHECK_INT(count_disorder(order, 0, rt_order_count(order), 0, axes), 0);
    }
  }
  TEST("an order stays valid while one of another depth is made") {
    uint64_t outer = rt_list_order(context, 0, 2, 0);
    int64_t before = rt_order_count(outer);
    rt_tree_clear(context, 0, 2);
    CHECK_INT(rt_order_count(rt_list_order(context, 0, 2, 1)), 0);
    CHECK_INT(rt_order_count(outer), before);
    CHECK_INT(rt_order_count(rt_list_order(context, 0, 2, 0)), 0);
  }
  TEST("an order without memory is an error and has no rows") {
    forest_activate(context, trees, 0, 0, trees->managers[2], 1);
    rt_list_count(context, 0, 2);
    CHECK(rt_list_update(context, &trees->rt, 2));
    context->host = context;
    CHECK_INT(rt_order_count(rt_list_order(context, 0, 2, 5)), 0);
    CHECK_INT(context->error.kind, RT_ERROR_MEMORY);
    CHECK_INT(context->error.manager, 2);
    context->host = NULL;
    CHECK_INT(rt_order_count(rt_list_order(context, 0, 2, 5)), 1);
  }
  end();
}

static void check_huge_root(void) {
  static const ForestRow rows[] = {{.kind = FOREST_ROOT},
                                   {FOREST_POINTER, 0, "ij", {1 << 15, 1 << 15}, 4}};
  budget = (RtBudget){.limit = UINT64_MAX};
  forest_create(trees, rows, 2, &budget, 0, 36);
  context = forest_context(trees, 1);
  TEST("an enormous root with few nodes costs as much as its nodes") {
    for (int64_t c = 0; c < 10; c++) forest_activate(context, trees, 0, 0, 1, c * 107374180);
    CHECK(rt_list_update(context, &trees->rt, 0));
    CHECK_INT(manager(0)->list_count, 10);
    CHECK_INT(rt_list_coordinates(context, 0, 0, 9)[0], (9ll * 107374180) >> 15);
    CHECK_INT(rt_list_coordinates(context, 0, 0, 9)[1], (9ll * 107374180) & 0x7fff);
    CHECK_INT(budget.used, RT_SEGMENT);
    rt_tree_clear(context, 0, 0);
    CHECK_INT(rt_list_count(context, 0, 0), 0);
  }
  end();
}

static void activate_all(void) {
  for (int m = 0; m < trees->rt.manager_count; m++)
    for (int64_t c = forest_cell_count(&trees->nodes[trees->managers[m]]); c-- > 0;)
      forest_activate(context, trees, 0, 0, trees->managers[m], c);
}

static void check_subtrees(void) {
  begin(KIND_ROWS(kind_branches), UINT64_MAX, true);
  TEST("deactivation frees what is below, on every branch and no more") {
    activate_all();
    forest_deactivate(context, trees, 0, 1, 2, 4);
    CHECK_INT(rt_list_count(context, 0, 0), 8);
    CHECK_INT(rt_list_count(context, 0, 1), 8 * 4);
    CHECK_INT(rt_list_count(context, 0, 2), 8 * 2 * 7);
    CHECK_TEXT(forest_check(context, trees, 0), "");
  }
  TEST("a cell that is activated in a freed node's memory is freed with it") {
    forest_activate(context, trees, 0, 0, 3, 0);
    uint32_t *below = forest_slot(context, trees, 0, 0, 3, 1, false);
    rt_tree_refresh(context, &trees->rt);
    forest_deactivate(context, trees, 0, 0, 2, 0); /* the parent goes */
    rt_slot_clear(context, context->workers, 0, 1, below);
    /* another iteration still holds its address */
    rt_slot_ensure(context, &context->workers[2], 0, 1, below);
    CHECK_TEXT(forest_check(context, trees, 0), "");
  }
  TEST("clear empties a level and those below, again and again") {
    for (int round = 0; round < 3; round++) {
      activate_all();
      rt_tree_clear(context, 0, 2);
      CHECK_INT(rt_list_count(context, 0, 2), 0);
      CHECK_INT(rt_list_count(context, 0, 1), 36);
      CHECK_TEXT(forest_check(context, trees, 0), "");
      uint64_t used = budget.used;
      rt_tree_clear(context, 0, 0);
      for (int m = 0; m < 3; m++) CHECK_INT(rt_manager_live(&trees->rt, m), 0);
      CHECK_TEXT(forest_check(context, trees, 0), "");
      rt_tree_collect(context, &trees->rt);
      activate_all();
      CHECK_TEXT(forest_check(context, trees, 0), "");
      CHECK(round == 0 || budget.used == used);
      rt_tree_clear(context, 0, 0);
      rt_tree_collect(context, &trees->rt);
    }
  }
  TEST("activated and deactivated nodes are counted") {
    CHECK_INT(manager(0)->activations, manager(0)->deactivations);
    CHECK(manager(0)->activations >= 54);
  }
  end();
}

/* A node above with thousands below, in chunks enough to share out: dead parents' children are
 * found by themselves. */
static void check_orphans(bool shares) {
  static const ForestRow rows[] = {{.kind = FOREST_ROOT},
                                   {FOREST_POINTER, 0, "i", {6}, 0},
                                   {FOREST_POINTER, 1, "j", {4000}, 2048}};
  begin(rows, 3, UINT64_MAX, false);
  context->parallel = shares ? forest_share : NULL;
  TEST("children of dead nodes die with them, however many there are") {
    for (int round = 0; round < 3; round++) {
      for (int64_t c = 0; c < 24000; c++) forest_activate(context, trees, 0, (int)(c % 3), 2, c);
      for (int64_t c = 1; c < 6; c += 2) forest_deactivate(context, trees, 0, 1, 1, c);
      rt_tree_refresh(context, &trees->rt);
      CHECK_INT(rt_manager_live(&trees->rt, 1), 12000);
      CHECK_TEXT(forest_check(context, trees, 0), "");
      forest_deactivate(context, trees, 0, 1, 1, 0);
      forest_activate(context, trees, 0, 2, 2, 5);
      CHECK_TEXT(forest_check(context, trees, 0), "");
      CHECK_INT(rt_manager_live(&trees->rt, 1), 8001);
      rt_tree_collect(context, &trees->rt);
    }
    CHECK(manager(1)->node_count < 40000);
  }
  end();
}

static void check_reuse(void) {
  begin(KIND_ROWS(kind_block), UINT64_MAX, false);
  TEST("many freed nodes are reused in the order of addresses, whichever worker had them") {
    for (int64_t c = 0; c < 512; c++) forest_activate(context, trees, 0, (int)(c % 3), 1, c);
    for (int64_t c = 0; c < 512; c++) /* every fifth stays */
      if (c * 89 % 512 % 5) forest_deactivate(context, trees, 0, (int)(c % 2), 1, c * 89 % 512);
    rt_tree_collect(context, &trees->rt);
    CHECK_TEXT(forest_check(context, trees, 0), "");
    const uint8_t *last = NULL;
    for (int64_t c = 511; c >= 0; c--) {
      if (c % 5 == 0) continue;
      forest_activate(context, trees, 0, 0, 1, c);
      uint8_t *node = rt_slot_find(context, 0, forest_slot(context, trees, 0, 0, 1, c, false));
      CHECK(node > last);
      last = node;
    }
    CHECK_TEXT(forest_check(context, trees, 0), "");
  }
  end();
}

/* Fills cells first .. end - 1 of row 1, each of which must be new; removes them. */
static void fill_and_drop(int64_t first, int64_t end, int round) {
  for (int64_t c = first; c < end; c++) {
    uint32_t *slot = forest_slot(context, trees, 0, 0, 1, c, false);
    uint8_t *node = rt_slot_ensure(context, &context->workers[c % 2], 0, 0, slot);
    CHECK(holds_zeros(node, manager(0)->node_size));
    memset(node, round, manager(0)->node_size);
  }
  for (int64_t c = first; c < end; c++)
    rt_slot_clear(context, &context->workers[c % 3 % 2], 0, 0,
                  forest_slot(context, trees, 0, 0, 1, c, false));
  CHECK(rt_tree_collect(context, &trees->rt));
  CHECK_TEXT(forest_check(context, trees, 0), "");
}

static void check_large(void) {
  static const ForestRow rows[] = {{FOREST_ROOT, 0, "", {0}, 0},
                                   {FOREST_POINTER, 0, "i", {640}, 0},
                                   {FOREST_DENSE, 1, "i", {16384}, 4}};
  begin(rows, 3, UINT64_MAX, false);
  TEST("nodes of a level that exceeds the caches are reused zeroed, in batches or as a remainder") {
    for (int round = 1; round < 4; round++) fill_and_drop(0, 640, round);
    CHECK(manager(0)->chunk_bytes > 32 << 20);
    for (int round = 1; round < 4; round++) fill_and_drop(100, 101 + 10 * round, round);
  }
  end();
}

static void check_compact(void) {
  begin(KIND_ROWS(kind_block), UINT64_MAX, false);
  TEST("chunks without a live node return their memory, and get it again") {
    uint64_t least = 0;
    for (int round = 0; round < 4; round++) {
      for (int64_t c = 0; c < 512; c++) {
        uint8_t *payload = forest_payload(context, trees, 0, 0, 1, c, true);
        CHECK(holds_zeros(payload, 4));
        memset(payload, 0xee, 4);
      }
      uint64_t full = budget.used;
      CHECK_INT(rt_tree_compact(context, &trees->rt), 0);
      for (int64_t c = 0; c < 512; c++)
        if (c != 300) forest_deactivate(context, trees, 0, 0, 1, c);
      uint64_t given = rt_tree_compact(context, &trees->rt);
      CHECK(given > 0);
      CHECK_INT(budget.used, full - given);
      CHECK(round == 0 || budget.used == least);
      least = budget.used;
      CHECK_INT(*forest_payload(context, trees, 0, 0, 1, 300, false), 0xee);
      CHECK_TEXT(forest_check(context, trees, 0), "");
      forest_deactivate(context, trees, 0, 0, 1, 300);
      rt_tree_collect(context, &trees->rt);
    }
    CHECK(trees->rt.top - trees->rt.bottom <= trees->rt.vacant + least + 4 * RT_SEGMENT);
    rt_tree_compact(context, &trees->rt);
    CHECK_INT(budget.used, 0);
  }
  end();
}

static void check_errors(void) {
  begin(KIND_ROWS(kind_chain), 0, false);
  TEST("the first fault is kept") {
    context->task = 4;
    rt_error_set(context, RT_ERROR_STOPPED, 1, 2);
    rt_error_set(context, RT_ERROR_BUDGET, 3, 5);
    CHECK_INT(context->error.kind, RT_ERROR_STOPPED);
    CHECK_INT(context->error.tree, 1);
    CHECK_INT(context->error.task, 4);
  }
  TEST("functions by which a kernel queries its context") {
    uint64_t frame[2];
    context->frame = frame;
    CHECK(rt_frame(context) == frame);
    CHECK(rt_ambient(context) == context->ambient);
    CHECK(rt_host_worker(context) == context->workers);
    CHECK_INT(rt_stopped(context), 0);
    context->stop = 1;
    CHECK_INT(rt_stopped(context), 1);
    rt_outside(&context->workers[1], 5, 2, (int64_t[]){-1, 7});
    rt_outside(&context->workers[1], 6, 1, (int64_t[]){9});
    const RtOutside *outside = &context->workers[1].outside;
    CHECK_INT(outside->count, 2);
    CHECK_INT(outside->site, 5);
    CHECK_INT(outside->axis_count, 2);
    CHECK(outside->index[0] == -1 && outside->index[1] == 7);
  }
  TEST("a fault of the kernel stops the launch, and the first is kept") {
    context->stop = 0;
    context->error.kind = RT_OK;
    rt_fault(context, &context->workers[1], 7, 1, (uint64_t[]){25});
    rt_fault(context, &context->workers[0], 8, 0, NULL);
    CHECK_INT(rt_stopped(context), 1);
    CHECK_INT(context->error.kind, RT_ERROR_FAULT);
    CHECK_INT(context->error.manager, 7);
    const RtMessages *messages = &context->workers[1].messages;
    CHECK(messages->used == 2 && messages->words[0] == (7 | 1ull << 32));
    CHECK(messages->words[1] == 25);
    CHECK(context->workers[0].messages.used == 1 && context->workers[0].messages.words[0] == 8);
  }
  TEST("messages of a worker are recorded in order, until its buffer is full") {
    RtMessages *messages = &context->workers[1].messages;
    static const uint64_t values[100];
    for (int32_t k = 0; k < 1000; k++) rt_print(context, &context->workers[1], k, 3, values);
    CHECK_INT(messages->used, 2 + 4 * 1000);
    CHECK(messages->words[2 + 4 * 999] == (999 | 3ull << 32) && messages->lost == 0);
    for (int32_t k = 0; k < 100000; k++) rt_print(context, &context->workers[1], 1, 100, values);
    CHECK(messages->used <= RT_MESSAGE_WORDS && messages->used > RT_MESSAGE_WORDS - 101);
    CHECK_INT(messages->lost, 100000 - (messages->used - 2 - 4 * 1000) / 101);
  }
  for (int32_t k = 0; k < 2; k++) free(context->workers[k].messages.words);
  memset(&context->workers[0].messages, 0, sizeof context->workers[0].messages);
  memset(&context->workers[1].messages, 0, sizeof context->workers[1].messages);
  end();
}

static void check_table(void) {
  static const ForestRow line[] = {{.kind = FOREST_ROOT}, {FOREST_HASH, 0, "i", {100000}, 4}};
  enum { CELLS = 40000, ENTRIES = 1 << 16 };
  begin(KIND_ROWS(line), UINT64_MAX, false);
  TEST("an outgrown table is freed once nobody reads it") {
    for (int64_t c = 0; c < CELLS; c++) forest_activate(context, trees, 0, 0, 1, 2 * c);
    CHECK(manager(0)->table.bytes > 8 * ENTRIES + RT_SEGMENT);
    uint64_t used = budget.used;
    rt_tree_refresh(context, &trees->rt);
    CHECK_INT(manager(0)->table.bytes, 8 * ENTRIES + RT_SEGMENT);
    CHECK(budget.used < used);
    CHECK(forest_is_active(context, trees, 0, 1, 2 * (CELLS - 1)) &&
          !forest_is_active(context, trees, 0, 1, 1));
  }
  TEST("cells that come and go do not grow the table") {
    for (int round = 0; round < 20; round++) {
      for (int64_t c = 0; c < CELLS; c++) {
        forest_deactivate(context, trees, 0, 0, 1, 2 * c + round % 2);
        forest_activate(context, trees, 0, 0, 1, 2 * c + 1 - round % 2);
      }
      rt_tree_collect(context, &trees->rt);
    }
    CHECK_INT(manager(0)->live_count, CELLS);
    CHECK(manager(0)->table.bytes <= 16 * ENTRIES + RT_SEGMENT);
    CHECK(manager(0)->table.used < 2 * ENTRIES / 8 * 5);
    CHECK_TEXT(forest_check(context, trees, 0), "");
  }
  end();
}

static int compare_tags(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Coordinates on both sides of what an exact tag has room for: 15 bits each. */
static void check_tags(void) {
  static const ForestRow plane[] = {{.kind = FOREST_ROOT}, {FOREST_HASH, 0, "ij", {64, 64}, 4}};
  static const int64_t values[] = {0,         1,         -1,
                                   16383,     16384,     -16384,
                                   -16385,    32767,     32768,
                                   -32768,    65536,     -65536,
                                   INT32_MAX, INT32_MIN, (int64_t)1 << 32,
                                   INT64_MAX, INT64_MIN, (int64_t)1 << 48};
  enum { VALUES = sizeof values / sizeof *values, SIDE = 700 };
  begin(KIND_ROWS(plane), UINT64_MAX, false);
  const uint8_t *root = trees->rt.root;
  RtWorker *me = &context->workers[0];
  TEST("coordinates of any size are cells of their own") {
    for (int k = 0; k < VALUES * VALUES; k++) {
      int64_t at[] = {values[k / VALUES], values[k % VALUES]};
      CHECK(!rt_hash_live(context, 0, 0, root, at));
      *(uint32_t *)(void *)rt_hash_ensure(context, me, 0, 0, root, at) = (uint32_t)k + 1;
    }
    for (int k = 0; k < VALUES * VALUES; k += 2)
      rt_hash_clear(context, me, 0, 0, root, (int64_t[]){values[k / VALUES], values[k % VALUES]});
    for (int k = 0; k < VALUES * VALUES; k++) {
      int64_t at[] = {values[k / VALUES], values[k % VALUES]};
      const uint8_t *node = rt_hash_find(context, 0, 0, root, at);
      CHECK_INT(*(const uint32_t *)(const void *)node, k % 2 ? k + 1 : 0);
    }
    rt_tree_collect(context, &trees->rt);
    CHECK_INT(manager(0)->live_count, VALUES * VALUES / 2);
  }
  TEST("a tag is exact where the coordinates fit, so no two are equal") {
    static uint32_t tags[SIDE * SIDE];
    int even = 0, equal = 0;
    for (int k = 0; k < SIDE * SIDE; k++) {
      int64_t at[] = {k / SIDE - SIDE / 2, k % SIDE - SIDE / 2};
      even += !tag_is_exact(tags[k] = hash_tag(manager(0), 0, at));
    }
    qsort(tags, SIDE * SIDE, sizeof *tags, compare_tags);
    for (int k = 1; k < SIDE * SIDE; k++) equal += tags[k] == tags[k - 1];
    CHECK_INT(even, 0);
    CHECK_INT(equal, 0);
    CHECK(tag_is_exact(hash_tag(manager(0), 0, (int64_t[]){16383, -16384})));
    CHECK(!tag_is_exact(hash_tag(manager(0), 0, (int64_t[]){16384, 0})));
    CHECK(!tag_is_exact(hash_tag(manager(0), 0, (int64_t[]){0, -16385})));
  }
  end();
}

int main(void) {
  check_tags();
  check_slots();
  check_coordinates();
  check_lists();
  check_orphans(false);
  check_orphans(true);
  check_reuse();
  check_large();
  check_compact();
  check_orders();
  check_huge_root();
  check_subtrees();
  check_errors();
  check_table();
  return check_report();
}
