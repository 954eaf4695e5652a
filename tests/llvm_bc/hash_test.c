/* hash_test.c - calls for lanes find, create and remove the same cells as single calls: of keys
 * that are their tags and of others, of cells that exist and do not, in active and inactive lanes.
 * And a table that is purged in shares keeps its entries. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "forest.h"
#include "hash_direct.h"
#include "node.h"

enum { SHIFT = 26, CELLS = 6000, MOST_AXES = 4, MOST_LANES = 64, ROUNDS = 400 };

static const int64_t near[] = {0, 30000, 100, 30, 12}; /* by axes: either way from 0 */
static ForestTree trees[1];
static RtContext *context;
static RtBudget budget;
static Random random_of_test = {1};

static void create(int axes) {
  const char *const letters[] = {"", "i", "ij", "ijk", "ijkl"};
  ForestRow rows[] = {{.kind = FOREST_ROOT}, {FOREST_HASH, 0, letters[axes], {0}, 4}};
  for (int a = 0; a < axes; a++) rows[1].sizes[a] = 16;
  budget = (RtBudget){.limit = UINT64_MAX / 2};
  forest_create(trees, rows, 2, &budget, 0, SHIFT);
  context = forest_context(trees, 1);
}

static void destroy(void) {
  forest_context_destroy(context);
  forest_destroy(trees);
}

/* One of a hundred is too far away for a tag. */
static void any_cell(int axes, int64_t *coordinates) {
  for (int a = 0; a < axes; a++)
    coordinates[a] = random_below(&random_of_test, 2 * near[axes]) - near[axes];
  if (!random_below(&random_of_test, 100)) coordinates[0] *= 1 << 24;
}

static uint8_t *find(const int64_t *coordinates) {
  return rt_hash_find(context, 0, 0, trees->rt.root, coordinates);
}

static void fill(int axes) {
  int64_t coordinates[MOST_AXES];
  for (int k = 0; k < CELLS; k++) {
    any_cell(axes, coordinates);
    rt_hash_ensure(context, context->workers, 0, 0, trees->rt.root, coordinates);
    any_cell(axes, coordinates);
    if (k % 4 == 0) rt_hash_clear(context, context->workers, 0, 0, trees->rt.root, coordinates);
  }
}

typedef struct Lanes {
  int axes, width;
  int64_t running;
  int64_t coordinates[MOST_AXES * MOST_LANES];
  uint8_t *nodes[MOST_LANES];
} Lanes;

static void get(const Lanes *lanes, int lane, int64_t *coordinates) {
  for (int a = 0; a < lanes->axes; a++)
    coordinates[a] = lanes->coordinates[a * lanes->width + lane];
}

static void any_lanes(Lanes *lanes, int axes, int width) {
  *lanes = (Lanes){.axes = axes, .width = width};
  for (int lane = 0; lane < width; lane++) {
    int64_t coordinates[MOST_AXES];
    any_cell(axes, coordinates);
    for (int a = 0; a < axes; a++) lanes->coordinates[a * width + lane] = coordinates[a];
    lanes->nodes[lane] = trees->rt.root;
    if (random_below(&random_of_test, 4)) lanes->running |= (int64_t)((uint64_t)1 << lane);
  }
}

static void check_found(const Lanes *lanes) {
  for (int lane = 0; lane < lanes->width; lane++) {
    int64_t coordinates[MOST_AXES];
    get(lanes, lane, coordinates);
    rt_hash_fetch(context, 0, 0, trees->rt.root, coordinates);
    bool runs = lanes->running >> lane & 1;
    CHECK(lanes->nodes[lane] == (runs ? find(coordinates) : context->ambient));
  }
}

static void finds_as_one_by_one(int axes, int width) {
  Lanes lanes;
  any_lanes(&lanes, axes, width);
  rt_hash_fetch_lanes(context, 0, 0, width, lanes.coordinates);
  rt_hash_find_lanes(context, 0, 0, lanes.running, width, lanes.nodes, lanes.coordinates);
  check_found(&lanes);
}

static int64_t near_box(int axes, int64_t beyond) {
  static const int64_t sizes[] = {0, 400, 20, 7, 4};
  int64_t size = sizes[axes] + beyond;
  return random_below(&random_of_test, size) - size / 2 - 5;
}

static void finds_in_box(int axes, int width, int64_t running) {
  Lanes lanes = {.axes = axes, .width = width};
  lanes.running = running & (int64_t)(~(uint64_t)0 >> (64 - width));
  for (int lane = 0; lane < width; lane++) lanes.nodes[lane] = trees->rt.root;
  for (int k = 0; k < axes * width; k++) lanes.coordinates[k] = near_box(axes, 9);
  rt_hash_fetch_lanes(context, 0, 0, width, lanes.coordinates);
  rt_hash_still_lanes(context, context->workers, 0, 0, lanes.running, width, lanes.nodes,
                      lanes.coordinates);
  check_found(&lanes);
}

static void change_box(int axes, int cells) {
  int64_t at[MOST_AXES];
  for (int k = 0; k < cells; k++) {
    for (int a = 0; a < axes; a++) at[a] = near_box(axes, 0);
    rt_hash_ensure(context, context->workers, 0, 0, trees->rt.root, at);
    if (k % 3 == 0) rt_hash_clear(context, context->workers, 0, 0, trees->rt.root, at);
  }
  rt_tree_refresh(context, &trees->rt);
}

static void test_box(int axes) {
  create(axes);
  RtManager *manager = trees->rt.managers;
  for (int round = 1; round < 4; round++) {
    change_box(axes, 300 * round);
    CHECK(manager->direct.version != manager->version);
    for (int k = 0; k < ROUNDS * 4; k++)
      finds_in_box(axes, 2 << k % 6, k % 7 ? -1 : random_below(&random_of_test, 1 << 30));
    CHECK(manager->direct.version == manager->version);
  }
  int64_t far[MOST_AXES] = {1 << 30};
  rt_hash_ensure(context, context->workers, 0, 0, trees->rt.root, far);
  rt_tree_refresh(context, &trees->rt);
  rt_hash_direct_make(context, &trees->rt, manager);
  CHECK(manager->direct.version != manager->version);
  finds_in_box(axes, 16, -1);
  free(manager->direct.handles);
  destroy();
}

static void makes_as_one_by_one(int axes, int width) {
  Lanes lanes;
  any_lanes(&lanes, axes, width);
  rt_hash_ensure_lanes(context, context->workers, 0, 0, lanes.running, width, lanes.nodes,
                       lanes.coordinates);
  for (int lane = 0; lane < width; lane++) {
    int64_t coordinates[MOST_AXES];
    get(&lanes, lane, coordinates);
    if (lanes.running >> lane & 1) {
      CHECK(lanes.nodes[lane] == find(coordinates));
      CHECK(find(coordinates) != context->ambient);
    }
  }
}

/* For some lanes the cell exists, and some lanes share a cell. */
static void removes_as_one_by_one(int axes, int width, int workers) {
  Lanes lanes;
  bool was_there[MOST_LANES];
  int64_t coordinates[MOST_AXES];
  any_lanes(&lanes, axes, width);
  for (int a = 0; a < axes; a++) lanes.coordinates[a * width] = lanes.coordinates[a * width + 1];
  for (int lane = 0; lane < width; lane++) {
    get(&lanes, lane, coordinates);
    if (lane % 3) rt_hash_ensure(context, context->workers, 0, 0, trees->rt.root, coordinates);
  }
  for (int lane = 0; lane < width; lane++) {
    get(&lanes, lane, coordinates);
    was_there[lane] = find(coordinates) != context->ambient;
  }
  context->worker_count = workers;
  rt_hash_clear_lanes(context, context->workers, 0, 0, lanes.running, width, lanes.nodes,
                      lanes.coordinates);
  context->worker_count = FOREST_WORKERS;
  int64_t gone = lanes.running | (lanes.running >> 1 & 1) | (lanes.running & 1) << 1;
  for (int lane = 0; lane < width; lane++) {
    get(&lanes, lane, coordinates);
    bool stays = was_there[lane] && !(gone >> lane & 1);
    CHECK((find(coordinates) != context->ambient) == stays);
  }
}

static void test_lanes(int axes) {
  create(axes);
  finds_as_one_by_one(axes, 16); /* there is no table yet */
  fill(axes);
  for (int k = 0; k < ROUNDS; k++) {
    finds_as_one_by_one(axes, 2 << k % 6);
    if (k % 8 == 0) makes_as_one_by_one(axes, 2 << k / 8 % 6);
    if (k % 8 == 4) removes_as_one_by_one(axes, 2 << k / 8 % 6, k % 16 == 4 ? 1 : FOREST_WORKERS);
  }
  rt_tree_refresh(context, &trees->rt);
  CHECK(!strcmp(forest_broken(trees), ""));
  destroy();
}

/* In any order, as threads would. If there are more shares than lines, some have nothing to do. */
static void purge_in(uint64_t shares) {
  RtManager *manager = trees->rt.managers;
  RtPurge all[512];
  for (uint64_t k = 0; k < shares; k++)
    all[k] = rt_hash_purge_begin(&trees->rt, manager, k, shares);
  for (uint64_t k = 0, at = shares / 2; k < shares; k++, at = (at + 1) % shares)
    rt_hash_purge(&trees->rt, manager, all[at]);
  rt_hash_purge_end(manager);
}

static void test_purge(int cells, int tiny) {
  int64_t coordinates[1];
  create(1);
  trees->rt.tiny_chunks = (uint32_t)tiny;
  for (int round = 0; round < 20; round++) {
    for (int k = 0; k < cells; k++) {
      coordinates[0] = k * 7 - 9 * round;
      if ((k + round) % 3)
        rt_hash_clear(context, context->workers, 0, 0, trees->rt.root, coordinates);
      else rt_hash_ensure(context, context->workers, 0, 0, trees->rt.root, coordinates);
    }
    purge_in((uint64_t)1 << round % 10);
    CHECK(trees->rt.managers->table.tombstones == 0);
    rt_tree_refresh(context, &trees->rt);
    CHECK(!strcmp(forest_broken(trees), ""));
    rt_tree_collect(context, &trees->rt);
  }
  destroy();
}

int main(void) {
  TEST("a table that is purged in shares keeps its entries") {
    for (int cells = 3; cells < CELLS; cells = cells * 3 + 1) {
      test_purge(cells, 0);
      test_purge(cells, 1);
    }
  }
  for (int axes = 1; axes <= MOST_AXES; axes++)
    TEST("lanes of a hash find, create and remove what iterations alone do")
  test_lanes(axes);
  for (int axes = 1; axes <= MOST_AXES; axes++)
    TEST("cells that fill enough of a box are found by their position in it") test_box(axes);
  return check_report();
}
