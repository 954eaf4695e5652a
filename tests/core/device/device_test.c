/* device_test.c - the cpu device runs hand-written tasks: every position once, on any split, and with trees settled
 * between tasks. The tree is the smallest: a pointer level of CELLS cells under the root. */
#include <stdlib.h>

#include "check.h"
#include "device/device.h"
#include "memory/arena.h"

enum { CELLS = 5000, WORKERS = 3, POSITIONS = 100000 };

static Heap heap;
static Device *device;
static Error err;

/* -- a tree -------------------------------------------------------------------------------------------------------- */

typedef struct Fixture {
  Arena arena, tables, ambient;
  RtTree tree;
  RtManager manager;
  RtLocal locals[WORKERS];
  uint8_t sinks[WORKERS][64];
  RtBudget budget;
  RtTree *trees[1];
  RtWorker workers[WORKERS];
  uint64_t frame[16];
  DeviceLaunch launch;
} Fixture;

static Fixture fixture;

static void describe_tree(Fixture *f) {
  uint64_t segments = f->arena.reserved / RT_SEGMENT;
  f->manager = (RtManager){.node_size = 64, .parent = -1, .axis_count = 1, .level_count = 1, .locals = f->locals};
  f->manager.levels[0] = (RtLevel){.stride = 4, .cell_count = CELLS, .axis_count = 1, .sizes = {CELLS}, .weights = {1}};
  for (int w = 0; w < WORKERS; w++) f->locals[w].sink = f->sinks[w];
  f->tree = (RtTree){.base = f->arena.base, .root = f->arena.base + RT_FIRST_GRANULE * RT_GRANULE, .root_size = 4 * CELLS,
                     .reserved = f->arena.reserved, .number = 5, .manager_count = 1, .managers = &f->manager,
                     .chunks = (RtChunk *)(void *)f->tables.base,
                     .segment_owner = (uint32_t *)(void *)(f->tables.base + segments * sizeof(RtChunk)), .budget = &f->budget};
  rt_tree_init(&f->tree, WORKERS);
}

/* Anew for every test: a tree, a context, a launch of `tasks`. */
static Fixture *begin(const DeviceTask *tasks, int task_count, RtHostFunction *host) {
  Fixture *f = &fixture;
  *f = (Fixture){.budget = {.limit = 1 << 24}};
  CHECK(arena_reserve(&f->arena, 1 << 24, 1 << 24, &err));
  CHECK(arena_reserve(&f->tables, 1 << 20, 1 << 20, &err));
  CHECK(arena_reserve_zeros(&f->ambient, 64, &err));
  describe_tree(f);
  f->trees[0] = &f->tree;
  for (int w = 0; w < WORKERS; w++) f->workers[w].index = w;
  f->launch = (DeviceLaunch){.context = {.frame = f->frame, .trees = f->trees, .tree_count = 1, .ambient = f->ambient.base,
                                         .workers = f->workers, .worker_count = WORKERS},
                             .host = host, .tasks = tasks, .task_count = task_count, .device = device};
  return f;
}
static void end(Fixture *f) {
  heap_free(&heap, f->manager.list);
  arena_release(&f->arena);
  arena_release(&f->tables);
  arena_release(&f->ambient);
}
static bool launch(Fixture *f) { return device->table->launch(device, &f->launch, &err); }
static uint32_t *slot_of(RtContext *context, int64_t cell) { return (uint32_t *)(void *)rt_tree_root(context, 0) + cell; }

/* -- tasks ---------------------------------------------------------------------------------------------------------- */

static uint8_t visits[POSITIONS];
static int64_t calls, workers_seen;

static void visit(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) __atomic_fetch_add(&visits[i], 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  __atomic_fetch_or(&workers_seen, (int64_t)1 << worker->index, __ATOMIC_RELAXED);
}
static void activate_even(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++)
    if (i % 2 == 0) rt_slot_ensure(context, worker, 0, 0, slot_of(context, i));
}
static void activate_all(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) rt_slot_ensure(context, worker, 0, 0, slot_of(context, i));
}
static void visit_node(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  for (int64_t p = begin; p < end; p++) {
    int64_t cell = rt_list_coordinates(context, 0, 0, p)[0];
    if (rt_list_node(context, 0, 0, p) == rt_slot_find(context, 0, slot_of(context, cell)))
      __atomic_fetch_add(&visits[cell], 1, __ATOMIC_RELAXED);
  }
}
static void deactivate_node(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  for (int64_t p = begin; p < end; p++) rt_slot_clear(context, worker, 0, 0, slot_of(context, rt_list_coordinates(context, 0, 0, p)[0]));
}
static void write_outside(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) rt_outside(worker);
}
static void stop_early(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&context->stop, 1, __ATOMIC_RELAXED);
}

/* One to an element of a node, in the worker's own copy or atomically. */
enum { TOUCHED = 700 };
static int64_t plain_calls;
static void add_apart(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  __atomic_fetch_add(&plain_calls, 1, __ATOMIC_RELAXED);
  for (int64_t i = begin; i < end; i++) {
    uint8_t *node = rt_slot_ensure(context, worker, 0, 0, slot_of(context, i % TOUCHED));
    ((uint32_t *)(void *)(node + context->trees[0]->own[worker->index]))[3]++;
  }
}
static void add_atomically(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    uint8_t *node = rt_slot_ensure(context, worker, 0, 0, slot_of(context, i % TOUCHED));
    __atomic_fetch_add(&((uint32_t *)(void *)node)[3], 1, __ATOMIC_RELAXED);
  }
}
static void run_first(RtContext *context) { rt_run(context, 0); }

static void run_all(RtContext *context) {
  const DeviceLaunch *launch = context->host;
  for (int32_t t = 0; t < launch->task_count; t++) rt_run(context, t);
}

/* -- ranges --------------------------------------------------------------------------------------------------------- */

static void check_split(int64_t block, int64_t cost, bool shuffles, int64_t total) {
  DeviceTask task = {.function = visit, .axis_count = 1, .bounds = 3, .block = (int32_t)block, .cost = cost};
  Fixture *f = begin(&task, 1, run_all);
  device->shuffle_tasks = shuffles;
  f->frame[3] = (uint64_t)-40;
  f->frame[4] = (uint64_t)(total - 40);
  memset(visits, 0, sizeof visits);
  CHECK(launch(f));
  for (int64_t i = 0; i < total; i++) CHECK_INT(visits[i], 1);
  device->shuffle_tasks = false;
  end(f);
}

static void check_ranges(void) {
  TEST("every position of a range runs once, however it is split") {
    static const int64_t costs[] = {1, 30, 100000}, totals[] = {1, 63, 64, 65, 1000, POSITIONS};
    for (int c = 0; c < 3; c++)
      for (int t = 0; t < 6 && check_ok; t++)
        for (int shuffles = 0; shuffles < 2; shuffles++) {
          check_split(0, costs[c], shuffles, totals[t]);
          check_split(7, costs[c], shuffles, totals[t]);
        }
  }
  TEST("a small loop stays on the calling thread") {
    DeviceTask task = {.function = visit, .axis_count = 1, .cost = 2};
    Fixture *f = begin(&task, 1, run_all);
    f->frame[1] = 1000;
    calls = workers_seen = 0;
    CHECK(launch(f));
    CHECK_INT(calls, 1);
    CHECK_INT(workers_seen, 1);
    end(f);
  }
}

static void check_bounds(void) {
  static const struct { int64_t bounds[6]; int axes; int64_t total; } all[] = {
      {{0, 3, 0, 5, 0, 2}, 3, 30}, {{0, 3, 5, 5, 0, 2}, 3, 0}, {{4, -3}, 1, 0}, {{-2, 2, 10, 13}, 2, 12},
      {{INT64_MIN, INT64_MAX, 3, 3}, 2, 0}, {{INT64_MAX, INT64_MIN}, 1, 0}};
  TEST("a range has as many positions as its extents say, none when one is empty") {
    for (int k = 0; k < 6; k++) {
      DeviceTask task = {.function = visit, .axis_count = all[k].axes, .cost = 1};
      Fixture *f = begin(&task, 1, run_all);
      memcpy(f->frame, all[k].bounds, sizeof all[k].bounds);
      memset(visits, 0, sizeof visits);
      CHECK(launch(f));
      int64_t visited = 0;
      for (int64_t i = 0; i < POSITIONS; i++) visited += visits[i];
      CHECK_INT(visited, all[k].total);
      end(f);
    }
  }
  TEST("a range beyond all counting can be stopped") {
    DeviceTask tasks[] = {{.function = stop_early, .axis_count = 2, .block = 1000, .cost = 1}, {.function = visit, .axis_count = 1, .cost = 1}};
    Fixture *f = begin(tasks, 2, run_all);
    int64_t bounds[] = {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX};
    memcpy(f->frame, bounds, sizeof bounds);
    calls = 0;
    CHECK(launch(f));
    CHECK(calls >= 1 && calls <= WORKERS);
    end(f);
  }
}

/* -- trees ---------------------------------------------------------------------------------------------------------- */

static const DeviceTask over_cells = {.function = activate_even, .axis_count = 1, .cost = 50, .may_change_topology = true};
static const DeviceTask over_nodes = {.kind = DEVICE_NODES, .function = visit_node, .cost = 50};
static const DeviceTask dropping = {.kind = DEVICE_NODES, .function = deactivate_node, .cost = 50, .may_change_topology = true, .may_deactivate = true};

static void activate_one_and_run(RtContext *context) {
  rt_slot_ensure(context, rt_host_worker(context), 0, 0, slot_of(context, 77));
  rt_run(context, 0);
  rt_tree_clear(context, 0, 0);
  rt_run(context, 0);
  rt_slot_ensure(context, rt_host_worker(context), 0, 0, slot_of(context, 78));
}

static void check_nodes(void) {
  TEST("a task over nodes meets each that the task before activated, once") {
    DeviceTask tasks[] = {over_cells, over_nodes};
    Fixture *f = begin(tasks, 2, run_all);
    f->frame[1] = CELLS;
    memset(visits, 0, sizeof visits);
    CHECK(launch(f));
    for (int64_t i = 0; i < CELLS; i++) CHECK_INT(visits[i], i % 2 == 0);
    CHECK_INT(rt_manager_live(&f->tree, 0), CELLS / 2);
    CHECK_INT(f->launch.runs, 2);
    CHECK_INT(f->launch.collections, 0);
    CHECK_INT(f->launch.context.error.kind, RT_OK);
    end(f);
  }
  TEST("nodes that a task freed serve the next one") {
    DeviceTask tasks[] = {over_cells, dropping, over_cells, dropping, over_cells, dropping};
    Fixture *f = begin(tasks, 6, run_all);
    f->frame[1] = CELLS;
    CHECK(launch(f));
    CHECK_INT(rt_manager_live(&f->tree, 0), 0);
    CHECK_INT(f->launch.collections, 3);
    CHECK(f->manager.node_count < CELLS);
    end(f);
  }
  TEST("while the collector is stopped freed nodes wait") {
    DeviceTask tasks[] = {over_cells, dropping};
    Fixture *f = begin(tasks, 2, run_all);
    device->gc_is_stopped = true;
    f->frame[1] = CELLS;
    CHECK(launch(f));
    CHECK_INT(f->launch.collections, 0);
    CHECK(rt_tree_collect(&f->launch.context, &f->tree));
    device->gc_is_stopped = false;
    end(f);
  }
  TEST("what the host region changes shows in the next task and after the launch") {
    Fixture *f = begin(&over_nodes, 1, activate_one_and_run);
    memset(visits, 0, sizeof visits);
    CHECK(launch(f));
    CHECK_INT(visits[77], 1);
    CHECK_INT(f->launch.runs, 1);
    CHECK_INT(rt_manager_live(&f->tree, 0), 1);
    end(f);
  }
}

static void check_faults(void) {
  TEST("an exhausted budget stops nothing else") {
    DeviceTask tasks[] = {over_cells, over_nodes, over_cells};
    tasks[0].function = activate_all;
    tasks[2].function = visit;
    Fixture *f = begin(tasks, 3, run_all);
    f->budget.limit = RT_SEGMENT;
    f->frame[1] = CELLS;
    memset(visits, 0, sizeof visits);
    CHECK(launch(f));
    CHECK_INT(f->launch.context.error.kind, RT_ERROR_BUDGET);
    CHECK_INT(f->launch.context.error.tree, 5);
    CHECK_INT(f->launch.context.error.task, 0);
    int64_t live = rt_manager_live(&f->tree, 0), visited = 0;
    for (int64_t i = 0; i < CELLS; i++) visited += visits[i];
    CHECK(live > 100);
    CHECK_INT(visited, CELLS + live);
    end(f);
  }
  TEST("writes outside a shape are counted per worker") {
    DeviceTask task = {.function = write_outside, .axis_count = 1, .cost = 1000};
    Fixture *f = begin(&task, 1, run_all);
    f->frame[1] = 12345;
    CHECK(launch(f));
    uint64_t outside = 0;
    for (int w = 0; w < WORKERS; w++) outside += f->workers[w].out_of_range;
    CHECK_INT(outside, 12345);
    end(f);
  }
  TEST("a host without memory for a list is a fault, not an end") {
    DeviceTask tasks[] = {over_cells, over_nodes};
    Fixture *f = begin(tasks, 2, run_all);
    f->frame[1] = CELLS;
    heap.fail_at = heap.allocations + 1;
    CHECK(launch(f));
    CHECK_INT(f->launch.context.error.kind, RT_ERROR_MEMORY);
    CHECK_INT(f->launch.context.error.task, 1);
    end(f);
  }
}

/* -- own copies ------------------------------------------------------------------------------------------------------- */

/* `cost`: of a position; at 1 ns and 30 positions a node its 16 elements, of two copies, are dearer to add up. */
static void check_own_sum(int64_t cost, int64_t total, bool has_copies, bool expects_plain) {
  static const DeviceOwn own = {.manager = 0, .scalar = DEVICE_I32, .depth = 1, .counts = {16}, .strides = {4}};
  DeviceTask tasks[2] = {{.function = add_atomically, .axis_count = 1, .cost = cost, .twin = 1, .may_change_topology = true},
                         {.function = add_apart, .axis_count = 1, .cost = cost, .own = &own, .own_count = 1, .may_change_topology = true}};
  Fixture *f = begin(tasks, 2, run_first);
  Arena copies;
  CHECK(arena_reserve(&copies, (WORKERS - 1) * f->arena.reserved, (WORKERS - 1) * f->arena.reserved, &err));
  int64_t offsets[WORKERS] = {0};
  for (int w = 1; w < WORKERS; w++) offsets[w] = copies.base - f->arena.base + (w - 1) * (int64_t)f->arena.reserved;
  f->tree.own = has_copies ? offsets : NULL;
  f->frame[1] = (uint64_t)total;
  CHECK(launch(f)); /* makes the nodes: only then is known how many there are */
  plain_calls = 0;
  CHECK(launch(f));
  for (int64_t i = 0; i < TOUCHED && i < total; i++) {
    const uint32_t *node = (const void *)rt_slot_find(&f->launch.context, 0, slot_of(&f->launch.context, i));
    CHECK_INT(node[3], 2 * (total / TOUCHED + (i < total % TOUCHED)));
    CHECK_INT(node[2], 0);
  }
  CHECK((plain_calls > 0) == expects_plain);
  arena_release(&copies);
  end(f);
}

static void check_own(void) {
  TEST("workers add in their own copies, which the device adds up") check_own_sum(20, POSITIONS, true, true);
  TEST("a loop that stays on its caller adds in place") check_own_sum(1, 50, true, true);
  TEST("where adding up costs more than the loop, or nothing was given for copies, updates are atomic") {
    check_own_sum(1, 21000, true, false);
    check_own_sum(20, POSITIONS, false, false);
  }
}

int main(void) {
  heap_init(&heap, 0);
  device = device_cpu_create(&heap, WORKERS, NULL, NULL, &err);
  TEST("a device has the workers it was asked for") CHECK(device && device->worker_count == WORKERS);
  if (!device) return check_report();
  check_ranges();
  check_bounds();
  check_nodes();
  check_faults();
  check_own();
  device->table->destroy(device);
  TEST("it gives its memory back") CHECK_INT(heap.live_bytes, 0);
  TEST("a host without memory gets no device, and an error") {
    for (int64_t fail_at = 1; fail_at <= 3; fail_at++) {
      Heap poor;
      heap_init(&poor, fail_at);
      error_clear(&err);
      CHECK(!device_cpu_create(&poor, 2, NULL, NULL, &err));
      CHECK_INT(err.code, RG_ERROR_MEMORY);
      CHECK_INT(poor.live_bytes, 0);
    }
  }
  return check_report();
}
