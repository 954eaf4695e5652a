/* device_test.c - the cpu device runs hand-written tasks: every position once, on any split, and
 * with trees refreshed between tasks. The tree is the smallest: a pointer level of CELLS cells
 * under the root. */
#include <stdlib.h>

#include "check.h"
#include "device/device.h"
#include "memory/arena.h"

enum { CELLS = 5000, WORKERS = 3, POSITIONS = 100000 };

static Heap heap;
static Device *device;
static Error err;

/* -- a tree ------------------------------------------------------------------------------------ */

typedef struct Fixture {
  Arena arena, tables, ambient;
  RtTree tree;
  RtManager manager;
  RtLocal locals[WORKERS];
  uint8_t sinks[WORKERS][64];
  RtBudget budget;
  RtTree *trees[1];
  uint64_t frame[16];
  void *functions[8];
  DeviceCode code;
  DeviceLaunch launch;
} Fixture;

static Fixture fixture;

static void describe_tree(Fixture *f) {
  uint64_t segments = f->arena.reserved / RT_SEGMENT;
  f->manager = (RtManager){.node_size = 64,
                           .parent = -1,
                           .axis_count = 1,
                           .level_count = 1,
                           .locals = f->locals,
                           .parent_positions = {-1},
                           .parent_weights = {CELLS}};
  f->manager.levels[0] = (RtLevel){
      .stride = 4, .cell_count = CELLS, .axis_count = 1, .sizes = {CELLS}, .weights = {1}};
  for (int w = 0; w < WORKERS; w++) f->locals[w].sink = f->sinks[w];
  f->tree =
      (RtTree){.base = f->arena.base,
               .root = f->arena.base + RT_FIRST_GRANULE * RT_GRANULE,
               .root_size = 4 * CELLS,
               .reserved = f->arena.reserved,
               .number = 5,
               .manager_count = 1,
               .managers = &f->manager,
               .chunks = (RtChunk *)(void *)f->tables.base,
               .segment_owner = (uint32_t *)(void *)(f->tables.base + segments * sizeof(RtChunk)),
               .budget = &f->budget};
  rt_tree_init(&f->tree, WORKERS);
}

typedef struct Task { /* what is launched, and what it runs */
  DeviceTask device;
  RtTaskFunction *function;
} Task;

/* For every test: a new tree, and a launch of `tasks`. */
static Fixture *begin(const Task *tasks, int task_count, RtHostFunction *host) {
  static DeviceTask described[8];
  Fixture *f = &fixture;
  *f = (Fixture){.budget = {.limit = 1 << 24}};
  CHECK(arena_reserve(&f->arena, 1 << 24, 1 << 24, &err));
  CHECK(arena_reserve(&f->tables, 1 << 20, 1 << 20, &err));
  CHECK(arena_reserve_zeros(&f->ambient, 64, &err));
  describe_tree(f);
  f->trees[0] = &f->tree;
  f->code = (DeviceCode){.host = host, .tasks = f->functions};
  f->launch = (DeviceLaunch){.code = &f->code,
                             .tasks = described,
                             .task_count = task_count,
                             .frame = f->frame,
                             .frame_slots = 16,
                             .trees = f->trees,
                             .tree_count = 1,
                             .ambient = f->ambient.base};
  for (int t = 0; t < task_count; t++) {
    described[t] = tasks[t].device;
    *(RtTaskFunction **)&f->functions[t] = tasks[t].function;
    f->launch.has_sums |= tasks[t].device.sum_count > 0;
  }
  return f;
}
static void end(Fixture *f) {
  device->table->forget(device, &f->tree);
  heap_free(&heap, f->manager.list);
  arena_release(&f->arena);
  arena_release(&f->tables);
  arena_release(&f->ambient);
}
static bool launch(Fixture *f) { return device->table->launch(device, &f->launch, &err); }
static uint32_t *slot_of(RtContext *context, int64_t cell) {
  return (uint32_t *)(void *)rt_tree_root(context, 0) + cell;
}

/* -- tasks ------------------------------------------------------------------------------------- */

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
  for (int64_t p = begin; p < end; p++)
    rt_slot_clear(context, worker, 0, 0,
                  slot_of(context, rt_list_coordinates(context, 0, 0, p)[0]));
}
static void write_outside(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) rt_outside(worker, 3, 1, &i);
}
static void stop_early(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&context->stop, 1, __ATOMIC_RELAXED);
}

/* Adds 1 to an element of a node, in the worker's private copy or atomically. */
enum { TOUCHED = 700 };
static int64_t private_calls;
static void add_apart(RtContext *context, RtWorker *worker, int64_t begin, int64_t end) {
  __atomic_fetch_add(&private_calls, 1, __ATOMIC_RELAXED);
  for (int64_t i = begin; i < end; i++) {
    uint8_t *node = rt_slot_ensure(context, worker, 0, 0, slot_of(context, i % TOUCHED));
    ((uint32_t *)(void *)(node + context->trees[0]->private_copies[worker->index]))[3]++;
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
  for (int32_t t = 0; t < fixture.launch.task_count; t++) rt_run(context, t);
}

/* -- ranges ------------------------------------------------------------------------------------ */

static void check_split(int64_t block, int64_t cost, bool shuffles, int64_t total) {
  Task task = {{.axis_count = 1, .bounds = 3, .block = (int32_t)block, .cost = cost}, visit};
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
    Task task = {{.axis_count = 1, .cost = 2}, visit};
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
  static const struct {
    int64_t bounds[6];
    int axes;
    int64_t total;
  } all[] = {{{0, 3, 0, 5, 0, 2}, 3, 30},
             {{0, 3, 5, 5, 0, 2}, 3, 0},
             {{4, -3}, 1, 0},
             {{-2, 2, 10, 13}, 2, 12},
             {{INT64_MIN, INT64_MAX, 3, 3}, 2, 0},
             {{INT64_MAX, INT64_MIN}, 1, 0}};
  TEST("a range has as many positions as its extents say, none when one is empty") {
    for (int k = 0; k < 6; k++) {
      Task task = {{.axis_count = all[k].axes, .cost = 1}, visit};
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
  TEST("a range of more positions than can be counted can be stopped") {
    Task tasks[] = {{{.axis_count = 2, .block = 1000, .cost = 1}, stop_early},
                    {{.axis_count = 1, .cost = 1}, visit}};
    Fixture *f = begin(tasks, 2, run_all);
    int64_t bounds[] = {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX};
    memcpy(f->frame, bounds, sizeof bounds);
    calls = 0;
    CHECK(launch(f));
    CHECK(calls >= 1 && calls <= WORKERS);
    end(f);
  }
}

/* -- trees ------------------------------------------------------------------------------------- */

static const Task over_cells = {{.axis_count = 1, .cost = 50, .may_change_topology = true},
                                activate_even};
static const Task over_nodes = {{.kind = DEVICE_NODES, .cost = 50}, visit_node};
static const Task dropping = {
    {.kind = DEVICE_NODES, .cost = 50, .may_change_topology = true, .may_deactivate = true},
    deactivate_node};

static void activate_one_and_run(RtContext *context) {
  rt_slot_ensure(context, rt_host_worker(context), 0, 0, slot_of(context, 77));
  rt_run(context, 0);
  rt_tree_clear(context, 0, 0);
  rt_run(context, 0);
  rt_slot_ensure(context, rt_host_worker(context), 0, 0, slot_of(context, 78));
}

static void check_nodes(void) {
  TEST("a task over nodes visits each node that the previous task activated, once") {
    Task tasks[] = {over_cells, over_nodes};
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
  TEST("nodes that a task freed are reused by the next one") {
    Task tasks[] = {over_cells, dropping, over_cells, dropping, over_cells, dropping};
    Fixture *f = begin(tasks, 6, run_all);
    f->frame[1] = CELLS;
    CHECK(launch(f));
    CHECK_INT(rt_manager_live(&f->tree, 0), 0);
    CHECK_INT(f->launch.collections, 3);
    CHECK(f->manager.node_count < CELLS);
    end(f);
  }
  TEST("while the collector is stopped freed nodes wait") {
    Task tasks[] = {over_cells, dropping};
    Fixture *f = begin(tasks, 2, run_all);
    f->launch.gc_is_stopped = true;
    f->frame[1] = CELLS;
    CHECK(launch(f));
    CHECK_INT(f->launch.collections, 0);
    CHECK(rt_tree_collect(&f->launch.context, &f->tree));
    end(f);
  }
  TEST("changes by the host region are visible in the next task and after the launch") {
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
  TEST("an exhausted budget affects nothing else") {
    Task tasks[] = {over_cells, over_nodes, over_cells};
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
  TEST("writes outside a shape are counted by launch, and one of them is kept") {
    Task task = {{.axis_count = 1, .cost = 1000}, write_outside};
    Fixture *f = begin(&task, 1, run_all);
    f->frame[1] = 12345;
    CHECK(launch(f));
    CHECK_INT(f->launch.outside.count, 12345);
    CHECK_INT(f->launch.outside.site, 3);
    CHECK(launch(f));
    CHECK_INT(f->launch.outside.count, 12345);
    end(f);
  }
  TEST("a list for which the host has no memory is a fault, not the end of the process") {
    Task tasks[] = {over_cells, over_nodes};
    Fixture *f = begin(tasks, 2, run_all);
    f->frame[1] = CELLS;
    heap.fail_at = heap.allocations + 1;
    CHECK(launch(f));
    CHECK_INT(f->launch.context.error.kind, RT_ERROR_MEMORY);
    CHECK_INT(f->launch.context.error.task, 1);
    end(f);
  }
}

/* -- private copies ---------------------------------------------------------------------------- */

/* `cost`: of a position; at 1 ns and 30 positions a node its 16 elements, of two copies, are dearer
 * to add up. */
static void check_sum(int64_t cost, int64_t total, uint64_t budget, bool expects_private) {
  static const DeviceSum sum = {
      .manager = 0, .scalar = DEVICE_I32, .depth = 1, .counts = {16}, .strides = {4}};
  Task tasks[2] = {
      {{.axis_count = 1, .cost = cost, .privatised = 1, .may_change_topology = true},
       add_atomically},
      {{.axis_count = 1, .cost = cost, .sums = &sum, .sum_count = 1, .may_change_topology = true},
       add_apart}};
  Fixture *f = begin(tasks, 2, run_first);
  f->budget.limit = budget;
  f->frame[1] = (uint64_t)total;
  CHECK(launch(f)); /* makes the nodes, whose number is unknown until then */
  private_calls = 0;
  CHECK(launch(f));
  for (int64_t i = 0; i < TOUCHED && i < total; i++) {
    const uint32_t *node =
        (const void *)rt_slot_find(&f->launch.context, 0, slot_of(&f->launch.context, i));
    CHECK_INT(node[3], 2 * (total / TOUCHED + (i < total % TOUCHED)));
    CHECK_INT(node[2], 0);
  }
  CHECK((private_calls > 0) == expects_private);
  end(f);
}

static void check_private_copies(void) {
  enum { PLENTY = 1 << 24, FOR_THE_TREE_ALONE = 5 * RT_SEGMENT };
  TEST("workers add to their private copies, which the device adds up")
  check_sum(20, POSITIONS, PLENTY, true);
  TEST("a loop that runs on the calling thread adds in place") check_sum(1, 50, PLENTY, true);
  TEST("where adding up costs more than the loop, or the budget has no room for copies, updates "
       "are atomic") {
    check_sum(1, 21000, PLENTY, false);
    check_sum(20, POSITIONS, FOR_THE_TREE_ALONE, false);
  }
  TEST("memory that the device keeps for a tree is charged, and freed") {
    static const DeviceSum sum = {
        .manager = 0, .scalar = DEVICE_I32, .depth = 1, .counts = {16}, .strides = {4}};
    Task tasks[2] = {
        {{.axis_count = 1, .cost = 20, .privatised = 1, .may_change_topology = true},
         add_atomically},
        {{.axis_count = 1, .cost = 20, .sums = &sum, .sum_count = 1, .may_change_topology = true},
         add_apart}};
    Fixture *f = begin(tasks, 2, run_first);
    f->frame[1] = POSITIONS;
    CHECK(launch(f) && launch(f));
    uint64_t tree_alone = rt_tree_bytes(&f->tree);
    CHECK(f->budget.used > tree_alone);
    device->table->forget(device, &f->tree);
    CHECK_INT(f->budget.used, tree_alone);
    CHECK(!f->tree.device && !f->tree.private_copies);
    end(f);
  }
}

/* -- memory and code --------------------------------------------------------------------------- */

static void check_memory(void) {
  TEST("memory is zero until written, and again where it was discarded") {
    DeviceMemory memory;
    uint8_t bytes[4] = {9, 9, 9, 9};
    CHECK(device->table->allocate(device, &memory, 1 << 20, 1 << 20, &err));
    uint8_t *seen = device->table->map(device, &memory);
    memset(seen, 7, 1 << 20);
    device->table->copy(device, bytes, seen + 4094, 4);
    CHECK(bytes[0] == 7 && bytes[3] == 7);
    device->table->discard(device, memory.base, 4096);
    device->table->copy(device, bytes, seen + 4094, 4);
    CHECK(bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 7);
    device->table->free(device, &memory);
    CHECK(!memory.base);
  }
  TEST("bytes that are not an object are refused, and nothing is kept") {
    int64_t live = heap.live_bytes;
    const RgCodegenObject objects[RG_TARGET_COUNT] = {
        [RG_TARGET_HOST] = {.bytes = (uint8_t *)"PTX", .length = 3}};
    CHECK(!device->table->load(device, objects, 1, &err));
    CHECK_INT(err.code, RG_ERROR_OBJECT);
    CHECK_INT(heap.live_bytes, live);
    error_clear(&err);
  }
}

int main(void) {
  heap_init(&heap, 0);
  device = device_cpu_create(&heap, &(DeviceOptions){.threads = WORKERS}, &err);
  TEST("a table is whole if each group is whole or absent") {
    const DeviceBlockTable half = {.trim = NULL};
    DeviceTable table = *device->table;
    CHECK(device_table_is_complete(&table) && device_is_unified(device));
    table.blocks = &half;
    CHECK(!device_table_is_complete(&table));
    table.blocks = NULL;
    table.launch = NULL;
    CHECK(!device_table_is_complete(&table));
  }
  TEST("a device has the workers it was asked for")
  CHECK(device && device->worker_count == WORKERS);
  if (!device) return check_report();
  check_ranges();
  check_bounds();
  check_nodes();
  check_faults();
  check_private_copies();
  check_memory();
  device->table->destroy(device);
  TEST("a device frees all memory when it ends") CHECK_INT(heap.live_bytes, 0);
  TEST("a host without memory gets no device, and an error") {
    for (int64_t fail_at = 1; fail_at <= 4; fail_at++) {
      Heap poor;
      heap_init(&poor, fail_at);
      error_clear(&err);
      CHECK(!device_cpu_create(&poor, &(DeviceOptions){.threads = 2}, &err));
      CHECK_INT(err.code, RG_ERROR_MEMORY);
      CHECK_INT(poor.live_bytes, 0);
    }
  }
  return check_report();
}
