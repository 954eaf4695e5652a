/* cpu.c - the device that is always there: a task's positions are split among the workers of a pool.
 *
 * How finely: a chunk is worth about CHUNK_NS of work, so that handing it out costs nothing to speak of, but there
 * are several chunks per worker, so that uneven work evens out. A loop worth less than SERIAL_NS stays on the caller. */
#include <string.h>

#include "base/bits.h"
#include "device/device.h"
#include "thread/pool.h"

enum { SERIAL_NS = 8000, CHUNK_NS = 20000, CHUNKS_PER_WORKER = 8 };

typedef struct CpuDevice {
  Device device;
  Pool *pool;
} CpuDevice;

typedef struct Running { /* one task, as its workers see it */
  RtContext *context;
  RtTaskFunction *function;
} Running;

static void run_chunk(void *data, int32_t worker, int64_t begin, int64_t end) {
  Running *running = data;
  running->function(running->context, &running->context->workers[worker], begin, end);
}

/* Iterations of a range: the product of its extents, 0 when one is empty, INT64_MAX where it would overflow. */
static int64_t count_range(const RtContext *context, const DeviceTask *task) {
  int64_t total = 1;
  bool is_empty = false, is_huge = false;
  for (int32_t axis = 0; axis < task->axis_count; axis++) {
    int64_t begin = (int64_t)context->frame[task->bounds + 2 * axis], end = (int64_t)context->frame[task->bounds + 2 * axis + 1];
    if (begin >= end) is_empty = true;
    else if (__builtin_mul_overflow(total, end - begin, &total)) is_huge = true;
  }
  return is_empty ? 0 : is_huge ? INT64_MAX : total;
}

static int64_t count_positions(RtContext *context, const DeviceTask *task) {
  if (task->kind == DEVICE_RANGE) return count_range(context, task);
  RtTree *tree = context->trees[task->tree];
  if (!rt_list_update(context, tree, task->manager)) return 0;
  return tree->managers[task->manager].list_count;
}

static int64_t choose_chunk(const CpuDevice *cpu, const DeviceTask *task, int64_t total) {
  int64_t cost = max_i64(1, task->cost), workers = pool_worker_count(cpu->pool);
  if (task->block > 0) return task->block;
  if (!cpu->device.shuffle_tasks && total < SERIAL_NS / cost) return total;
  int64_t even = total / (workers * CHUNKS_PER_WORKER) + 1, worth = CHUNK_NS / cost + 1;
  return cpu->device.shuffle_tasks ? even : max_i64(even, worth);
}

/* Every tree that the launch names: a body may activate in any of them. */
static void settle_trees(CpuDevice *cpu, DeviceLaunch *launch, const DeviceTask *task) {
  bool collects = task->may_deactivate || cpu->device.gc_each_launch;
  for (int32_t i = 0; i < launch->tree_count; i++) {
    RtTree *tree = launch->context.trees[i];
    rt_tree_settle(tree, launch->context.worker_count);
    if (collects && rt_tree_collect(tree, launch->context.worker_count)) launch->collections++;
  }
}

static void run_task(RtContext *context, int32_t number) {
  DeviceLaunch *launch = context->host;
  CpuDevice *cpu = (CpuDevice *)launch->device;
  const DeviceTask *task = &launch->tasks[number];
  if (context->stop) return;
  int64_t total = count_positions(context, task);
  if (total > 0) {
    Running running = {context, task->function};
    uint64_t seed = cpu->device.shuffle_tasks ? cpu->device.seed + ++launch->runs : 0;
    pool_parallel_for(cpu->pool, total, choose_chunk(cpu, task, total), seed, run_chunk, &running);
  }
  if (task->may_change_topology || task->may_deactivate || cpu->device.gc_each_launch) settle_trees(cpu, launch, task);
}

static bool launch_cpu(Device *device, DeviceLaunch *launch, Error *err) {
  launch->device = device;
  launch->context.host = launch;
  launch->context.run = run_task;
  launch->host(&launch->context);
  return true;
}

static void destroy_cpu(Device *device) {
  CpuDevice *cpu = (CpuDevice *)device;
  pool_destroy(cpu->pool);
  heap_free(device->heap, cpu);
}

static const DeviceTable cpu_table = {.name = "cpu", .launch = launch_cpu, .destroy = destroy_cpu};

Device *device_cpu_create(Heap *heap, int32_t threads, Error *err) {
  CpuDevice *cpu = heap_alloc(heap, sizeof *cpu);
  Pool *pool = cpu ? pool_create(heap, threads, err) : NULL;
  if (!pool) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a device");
    heap_free(heap, cpu);
    return NULL;
  }
  cpu->pool = pool;
  cpu->device = (Device){.table = &cpu_table, .heap = heap, .worker_count = pool_worker_count(pool)};
  return &cpu->device;
}
