/* random_test.c - a million random steps on several trees at once: writes, reads, activations,
 * deactivations, clears, refreshes and collections in any order. After each step the runtime's
 * invariants are checked (valid.h), and from time to time the tree is compared with the plain
 * model. An argument sets the number of steps. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kinds.h"
#include "oracle.h"

enum { SHIFT = 28, TREES = 11, KINDS = 7, STEPS_PER_CHECK = 20000 };
#ifdef RG_DEBUG /* sanitizers, under which a step costs ten times as much */
enum { STEPS = 200000 };
#else
enum { STEPS = 1000000 };
#endif

static ForestTree trees[TREES];
static Oracle oracles[TREES];
static RtContext *context;
static RtBudget budget = {.limit = UINT64_MAX};
static Random dice = {20260};

static int pick_node(int t, bool (*fits)(const ForestNode *node)) {
  int n;
  do n = 1 + (int)random_below(&dice, trees[t].node_count - 1);
  while (!fits(&trees[t].nodes[n]));
  return n;
}
static bool is_pointer(const ForestNode *node) { return node->manager >= 0; }
static bool has_payload(const ForestNode *node) { return node->row.payload > 0; }
static int64_t pick_cell(int t, int n) {
  return random_below(&dice, forest_cell_count(&trees[t].nodes[n]));
}

static void write_value(int t, int worker) {
  int n = pick_node(t, has_payload);
  int64_t cell = pick_cell(t, n);
  uint32_t value = (uint32_t)random_next(&dice);
  memcpy(forest_payload(context, trees, t, worker, n, cell, true), &value, sizeof value);
  oracle_activate(&oracles[t], n, cell);
  oracles[t].values[n][cell] = value;
}

static void read_value(int t) {
  int n = pick_node(t, has_payload);
  int64_t cell = pick_cell(t, n);
  uint32_t value;
  memcpy(&value, forest_payload(context, trees, t, 0, n, cell, false), sizeof value);
  CHECK_INT(value, oracles[t].values[n][cell]);
}

static void activate(int t, int worker) {
  int n = pick_node(t, is_pointer);
  int64_t cell = pick_cell(t, n);
  forest_activate(context, trees, t, worker, n, cell);
  oracle_activate(&oracles[t], n, cell);
}

static void deactivate(int t, int worker) {
  int n = pick_node(t, is_pointer);
  int64_t cell = pick_cell(t, n);
  forest_deactivate(context, trees, t, worker, n, cell);
  oracle_deactivate(&oracles[t], n, cell);
  CHECK(!forest_is_active(context, trees, t, n, cell));
}

static void clear(int t) {
  int n = pick_node(t, is_pointer);
  rt_tree_clear(context, t, trees[t].nodes[n].manager);
  oracle_clear(&oracles[t], n);
}

/* The tree that it took place in. */
static int step(void) {
  int t = (int)random_below(&dice, TREES), worker = (int)random_below(&dice, FOREST_WORKERS);
  int64_t die = random_below(&dice, 1000);
  if (die < 450) write_value(t, worker);
  else if (die < 600) activate(t, worker);
  else if (die < 800) deactivate(t, worker);
  else if (die < 950) read_value(t);
  else if (die < 980) rt_tree_refresh(context, &trees[t].rt);
  else if (die < 990) rt_tree_collect(context, &trees[t].rt);
  else if (die < 993)
    rt_list_update(context, &trees[t].rt, (int)random_below(&dice, trees[t].rt.manager_count));
  else if (die < 998) rt_tree_compact(context, &trees[t].rt);
  else clear(t);
  return t;
}

int main(int argc, char **argv) {
  int64_t steps = argc > 1 ? atoll(argv[1]) : STEPS;
  static const struct {
    const ForestRow *rows;
    int count;
  } kinds[] = {{KIND_ROWS(kind_hash)},     {KIND_ROWS(kind_hashes)}, {KIND_ROWS(kind_deep)},
               {KIND_ROWS(kind_branches)}, {KIND_ROWS(kind_chain)},  {KIND_ROWS(kind_block)},
               {KIND_ROWS(kind_axes)}};
  for (int t = 0; t < TREES; t++) {
    forest_create(&trees[t], kinds[t % KINDS].rows, kinds[t % KINDS].count, &budget, t, SHIFT);
    trees[t].rt.tiny_chunks = t >= KINDS;
    oracle_create(&oracles[t], &trees[t]);
  }
  context = forest_context(trees, TREES);
  TEST("a million random steps leave each tree as the plain model says") {
    for (int64_t k = 0; k < steps; k++) {
      CHECK_TEXT(forest_broken(&trees[step()]), "");
      if (!check_ok) break;
      if (k % STEPS_PER_CHECK) continue;
      for (int t = 0; t < TREES; t++)
        CHECK_TEXT(oracle_compare(&oracles[t], context, trees, t), "");
      if (!check_ok) break;
    }
    for (int t = 0; t < TREES; t++) CHECK_TEXT(oracle_compare(&oracles[t], context, trees, t), "");
    CHECK_INT(context->error.kind, RT_OK);
  }
  TEST("memory that comes and goes does not grow without bound") {
    for (int t = 0; t < TREES; t++)
      for (int m = 0; m < trees[t].rt.manager_count; m++) {
        const RtManager *manager = &trees[t].rt.managers[m];
        uint64_t cells = (uint64_t)forest_cell_count(&trees[t].nodes[trees[t].managers[m]]);
        CHECK(manager->activations > 20 * cells || manager->activations > 1000);
        CHECK(manager->node_count < 40 * cells + 4000);
      }
  }
  forest_context_destroy(context);
  for (int t = 0; t < TREES; t++) {
    oracle_destroy(&oracles[t]);
    forest_destroy(&trees[t]);
  }
  return check_report();
}
