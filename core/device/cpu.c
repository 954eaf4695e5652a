/* cpu.c - the device that is always there: a task's positions are split among the workers of a pool.
 *
 * How finely: a chunk is worth about CHUNK_NS of work, so that handing it out costs nothing to speak of, but there
 * are several chunks per worker, so that uneven work evens out; they begin at multiples of ROW, where vector rows and
 * cache lines do. A loop worth less than SERIAL_NS stays on the caller.
 * Where a task has a twin with own copies (private_copies.h), that one runs if it pays.
 * Between tasks trees are settled and collected, so that a list shows what the task before did and freed nodes are
 * used again; both return at once where nothing changed. */
#include <string.h>

#include "base/bits.h"
#include "device/private_copies.h"
#include "thread/pool.h"

enum { SERIAL_NS = 8000, CHUNK_NS = 20000, CHUNKS_PER_WORKER = 8, ROW = 64, MOST_CHUNKS = 1 << 20 };

typedef struct CpuDevice {
  Device device;
  Pool *pool;
  uint8_t *took_part;         /* by worker: it ran a chunk of the task */
} CpuDevice;

typedef struct Running { /* one task, as its workers see it */
  RtContext *context;
  RtTaskFunction *function;
  uint8_t *took_part;
} Running;

static void run_chunk(void *data, int32_t worker, int64_t begin, int64_t end) {
  Running *running = data;
  RtContext *context = running->context;
  running->took_part[worker] = 1;
  if (!rt_stopped(context)) running->function(context, &context->workers[worker], begin, end);
}

/* Of begin..end, as many as fit. */
static int64_t count_axis(int64_t begin, int64_t end) {
  uint64_t count = begin < end ? (uint64_t)end - (uint64_t)begin : 0;
  return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

/* Iterations of a range: the product of its extents, 0 when one is empty, INT64_MAX where it would overflow. */
static int64_t count_range(const RtContext *context, const DeviceTask *task) {
  const uint64_t *bounds = &context->frame[task->bounds];
  int64_t total = 1;
  bool is_empty = false, is_huge = false;
  for (int32_t axis = 0; axis < task->axis_count; axis++) {
    int64_t count = count_axis((int64_t)bounds[2 * axis], (int64_t)bounds[2 * axis + 1]);
    if (!count) is_empty = true;
    else if (is_huge || __builtin_mul_overflow(total, count, &total)) is_huge = true;
  }
  return is_empty ? 0 : is_huge ? INT64_MAX : total;
}

static int64_t count_positions(RtContext *context, const DeviceTask *task) {
  if (task->kind == DEVICE_RANGE) return count_range(context, task);
  RtTree *tree = context->trees[task->tree];
  if (!rt_list_update(context, tree, task->manager)) return 0;
  return (int64_t)tree->managers[task->manager].list_count;
}

/* What the user asked for, or a multiple where that would be more chunks than anyone can hand out. */
static int64_t block_chunk(int64_t block, int64_t total) { return block * (total / block / MOST_CHUNKS + 1); }

static int64_t choose_chunk(const CpuDevice *cpu, const DeviceTask *task, int64_t total) {
  int64_t cost = max_i64(1, task->cost), workers = pool_worker_count(cpu->pool);
  if (task->block > 0) return block_chunk(task->block, total);
  if (!cpu->device.shuffle_tasks && total < SERIAL_NS / cost) return total;
  int64_t even = total / (workers * CHUNKS_PER_WORKER) + 1, worth = CHUNK_NS / cost + 1;
  if (cpu->device.shuffle_tasks) return even;
  int64_t chunk = max_i64(even, worth);
  return chunk < total - ROW ? (chunk + ROW - 1) / ROW * ROW : chunk;
}

/* Every tree that the launch names: a body may activate in any of them. No task is running. */
static void settle_trees(DeviceLaunch *launch) {
  RtContext *context = &launch->context;
  for (int32_t i = 0; i < context->tree_count; i++) {
    rt_tree_settle(context, context->trees[i]);
    if (launch->device->gc_is_stopped) continue;
    if (rt_tree_collect(context, context->trees[i])) launch->collections++;
  }
}

static void run_positions(CpuDevice *cpu, DeviceLaunch *launch, const DeviceTask *task, int64_t total) {
  RtContext *context = &launch->context;
  int64_t chunk = choose_chunk(cpu, task, total);
  const DeviceTask *twin = task->twin ? &launch->tasks[task->twin] : NULL;
  if (twin && own_pays(context, twin, total, chunk >= total)) task = twin;
  memset(cpu->took_part, 0, (size_t)context->worker_count);
  Running running = {context, task->function, cpu->took_part};
  uint64_t seed = cpu->device.shuffle_tasks ? cpu->device.seed + launch->runs : 0;
  pool_parallel_for(cpu->pool, total, chunk, seed, run_chunk, &running);
  if (task->own_count) own_add_up(cpu->pool, context, task, cpu->took_part);
}

static void run_task(RtContext *context, int32_t number) {
  DeviceLaunch *launch = context->host;
  CpuDevice *cpu = (CpuDevice *)launch->device;
  const DeviceTask *task = &launch->tasks[number];
  if (rt_stopped(context)) return;
  settle_trees(launch); /* what the host region did */
  context->task = number;
  int64_t total = count_positions(context, task);
  if (total > 0) {
    launch->runs++;
    run_positions(cpu, launch, task, total);
  }
  context->task = -1;
  if (task->may_change_topology || task->may_deactivate || cpu->device.gc_each_launch) settle_trees(launch);
}

/* -- the runtime's own work --------------------------------------------------------------------------------------- */

typedef struct Sharing {
  RtContext *context;
  RtPart *part;
  void *data;
} Sharing;

static void run_part(void *data, int32_t worker, int64_t begin, int64_t end) {
  Sharing *sharing = data;
  sharing->part(sharing->context, &sharing->context->workers[worker], sharing->data, begin, end);
}

static void share_cpu(Device *device, RtContext *context, int64_t count, RtPart *part, void *data) {
  CpuDevice *cpu = (CpuDevice *)device;
  Sharing sharing = {context, part, data};
  pool_parallel_for(cpu->pool, count, 1, 0, run_part, &sharing);
}

static void share_in_launch(RtContext *context, int64_t count, RtPart *part, void *data) {
  DeviceLaunch *launch = context->host;
  share_cpu(launch->device, context, count, part, data);
}

static void *grow_in_heap(RtContext *context, void *memory, uint64_t old_bytes, uint64_t new_bytes) {
  DeviceLaunch *launch = context->host;
  return heap_resize(launch->device->heap, memory, new_bytes);
}

static bool launch_cpu(Device *device, DeviceLaunch *launch, Error *err) {
  launch->device = device;
  launch->context.host = launch;
  launch->context.run = run_task;
  launch->context.parallel = share_in_launch;
  launch->context.task = -1;
  if (!launch->context.grow) launch->context.grow = grow_in_heap;
  launch->host(&launch->context);
  settle_trees(launch);
  return pool_check_host(((CpuDevice *)device)->pool, err);
}

static void destroy_cpu(Device *device) {
  CpuDevice *cpu = (CpuDevice *)device;
  pool_destroy(cpu->pool);
  heap_free(device->heap, cpu->took_part);
  heap_free(device->heap, cpu);
}

static const DeviceTable cpu_table = {.name = "cpu", .launch = launch_cpu, .share = share_cpu, .destroy = destroy_cpu};

Device *device_cpu_create(Heap *heap, int32_t threads, PoolHost *host, void *host_data, Error *err) {
  CpuDevice *cpu = heap_alloc(heap, sizeof *cpu);
  Pool *pool = !cpu ? NULL : host ? pool_create_hosted(heap, threads, host, host_data, err) : pool_create(heap, threads, err);
  uint8_t *took_part = pool ? heap_alloc(heap, (size_t)pool_worker_count(pool)) : NULL;
  if (!took_part) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a device");
    if (pool) pool_destroy(pool);
    heap_free(heap, cpu);
    return NULL;
  }
  cpu->pool = pool;
  cpu->took_part = took_part;
  cpu->device = (Device){.table = &cpu_table, .heap = heap, .worker_count = pool_worker_count(pool)};
  return &cpu->device;
}
