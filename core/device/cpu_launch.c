/* cpu_launch.c - splits a task's positions among the workers of a pool.
 *
 * Granularity: a chunk takes about CHUNK_NS, so that handing it out costs next to nothing, but
 * there are several chunks per worker, which balances uneven work. Chunks begin at multiples of
 * ROW, as vector rows and cache lines do. A loop that takes less than SERIAL_NS runs on the caller.
 * If a task has a privatised version (private_copies.h), that one runs when it is profitable.
 * Between tasks, trees are refreshed and collected, so that lists show what the previous task did
 * and freed nodes are reused; both return at once if nothing changed. */
#include <stdatomic.h>
#include <string.h>

#include "base/bits.h"
#include "base/clock.h"
#include "device/cpu.h"
#include "device/launch.h"
#include "device/prefault.h"
#include "device/private_copies.h"
#include "device/races.h"
#include "base/stack.h"

enum { SERIAL_NS = 8000, CHUNK_NS = 20000, CHUNKS_PER_WORKER = 8, ROW = 64, MAX_CHUNKS = 1 << 20 };

typedef struct TaskRun { /* one task, as its workers see it */
  RtContext *context;
  _Atomic(RtTaskFunction *) function;
  DeviceLaunch *launch;
  int32_t number;        /* number of the task */
  _Atomic bool has_run;  /* a chunk has finished */
  _Atomic bool improves; /* a worker calls launch->improve, or has got better code */
  uint8_t *took_part;
  _Atomic bool *fails_once; /* the next chunk fails, once */
} TaskRun;

/* RG_STRESS=fail_assert_in_task */
static bool must_fail(_Atomic bool *fails_once) {
  return atomic_load_explicit(fails_once, memory_order_relaxed) &&
         atomic_exchange(fails_once, false);
}

static RtTaskFunction *function_of(const DeviceCode *code, int32_t number) {
  RtTaskFunction *function;
  ASSERT(number >= 0 && code->tasks[number], "code has a function for each task");
  *(void **)&function = code->tasks[number];
  return function;
}

/* One worker asks for better code; once there is some, all workers continue with it. The launch
 * must have done some work first, as it may be short. */
static void improve(TaskRun *run) {
  DeviceLaunch *launch = run->launch;
  if (launch->runs <= 1 && !atomic_load_explicit(&run->has_run, memory_order_relaxed)) return;
  if (clock_ticks() < launch->improve_at || atomic_exchange(&run->improves, true)) return;
  const DeviceCode *better = launch->improve(launch->improve_data);
  if (!better) {
    atomic_store(&run->improves, false);
    return;
  }
  launch->code = better;
  atomic_store(&run->function, function_of(better, run->number));
}

static void run_chunk(void *data, int32_t worker, int64_t begin, int64_t end) {
  TaskRun *run = data;
  RtContext *context = run->context;
  DEBUG_ASSERT(begin < end && worker < context->worker_count, "a chunk has positions");
  run->took_part[worker] = 1;
  if (run->launch->improve) improve(run);
  ASSERT(!must_fail(run->fails_once), "no test requests that this task fails");
  context->workers[worker].stack_end = stack_end();
  if (rt_stopped(context)) return;
  atomic_load (&run->function)(context, &context->workers[worker], begin, end);
  atomic_store_explicit(&run->has_run, true, memory_order_relaxed);
}

static int64_t count_positions(DeviceLaunch *launch, const DeviceTask *task) {
  RtContext *context = &launch->context;
  if (task->kind == DEVICE_RANGE) return launch_count_range(launch, task);
  ASSERT(task->kind == DEVICE_NODES, "a CPU has tasks over ranges and over nodes");
  ASSERT(task->tree >= 0 && task->tree < context->tree_count, "a tree of the launch");
  RtTree *tree = context->trees[task->tree];
  if (!rt_list_update(context, tree, task->manager)) return 0;
  return (int64_t)tree->managers[task->manager].list_count;
}

/* The block size that the user requested, or a multiple of it if that would make too many
 * chunks. */
static int64_t block_chunk(int64_t block, int64_t total) {
  ASSERT(block > 0 && total > 0, "a block has positions");
  return block * (total / block / MAX_CHUNKS + 1);
}

static int64_t whole_rows(int64_t chunk, int64_t total) {
  return chunk < total - ROW ? (chunk + ROW - 1) / ROW * ROW : chunk;
}

static int64_t choose_chunk(const CpuDevice *cpu, const DeviceLaunch *launch,
                            const DeviceTask *task, int64_t total) {
  int64_t cost = max_i64(1, task->cost), workers = pool_worker_count(cpu->pool);
  const DeviceSwitches *how = &launch->switches;
  if (how->workers == 1) return total;
  if (task->block > 0) return block_chunk(task->block, total);
  if (how->workers) workers = min_i64(workers, how->workers);
  if (how->chunks) return whole_rows(total / (workers * how->chunks) + 1, total);
  if (!cpu->device.shuffle_tasks && total < SERIAL_NS / cost) return total;
  int64_t even = total / (workers * CHUNKS_PER_WORKER) + 1, least = CHUNK_NS / cost + 1;
  if (cpu->device.shuffle_tasks) return even;
  return whole_rows(max_i64(even, least), total);
}

/* Refreshes every tree of the launch, as a body may activate cells in any. No task may be
 * running. */
static void refresh_trees(DeviceLaunch *launch) {
  RtContext *context = &launch->context;
  for (int32_t i = 0; i < context->tree_count; i++) {
    rt_tree_refresh(context, context->trees[i]);
    if (launch->gc_is_stopped) continue;
    if (rt_tree_collect(context, context->trees[i])) launch->collections++;
  }
}

static void gather_messages(CpuDevice *cpu, DeviceLaunch *launch) {
  messages_gather(&cpu->messages, cpu->workers, cpu->device.worker_count, launch);
}

static void run_positions(CpuDevice *cpu, DeviceLaunch *launch, int32_t number, int64_t total) {
  RtContext *context = &launch->context;
  const DeviceTask *task = &launch->tasks[number];
  int64_t chunk = task->is_ordered ? total : choose_chunk(cpu, launch, task, total);
  DeviceCopies copies = launch->switches.copies;
  if (task->privatised && copies != COPIES_NEVER &&
      copies_prefer_one_chunk(context, &launch->tasks[task->privatised]))
    chunk = total;
  if (task->privatised && !task->is_ordered && copies != COPIES_NEVER &&
      copies_are_profitable(context, &launch->tasks[task->privatised], total, chunk >= total,
                            copies == COPIES_ALWAYS)) {
    number = task->privatised;
    task = &launch->tasks[number];
  }
  ASSERT(chunk > 0, "chunks divide the positions");
  memset(cpu->took_part, 0, (size_t)context->worker_count);
  TaskRun run = {.context = context,
                 .launch = launch,
                 .number = number,
                 .took_part = cpu->took_part,
                 .fails_once = &cpu->device.fails_in_task};
  run.function = function_of(launch->code, number);
  uint64_t seed = cpu->device.shuffle_tasks ? cpu->device.seed + launch->runs : 0;
  if (launch->switches.workers > 1) pool_limit(cpu->pool, launch->switches.workers);
  bool is_parallel = chunk < total && context->worker_count > 1 && context->allocator;
  if (is_parallel) context->allocator->deferring = 1;
  pool_parallel_for(cpu->pool, total, chunk, seed, run_chunk, &run);
  if (run.improves) launch->improve_at = UINT64_MAX;
  if (is_parallel) context->allocator->deferring = 0;
  if (is_parallel) rt_counted_settle(context->allocator);
  if (task->sum_count) copies_sum(cpu->pool, context, task, cpu->took_part);
}

static void RT_CALL run_task(RtContext *context, int32_t number) {
  CpuDevice *cpu = context->host;
  DeviceLaunch *launch = cpu->launch;
  ASSERT(number >= 0 && number < launch->task_count, "the host region runs the kernel's own tasks");
  const DeviceTask *task = &launch->tasks[number];
  if (rt_stopped(context)) return;
  refresh_trees(launch); /* the host region may have changed them */
  gather_messages(cpu, launch);
  context->task = number;
  int64_t total = count_positions(launch, task);
  if (total > 0) {
    launch->runs++;
    launch->work += (uint64_t)total * (uint64_t)max_i64(1, task->cost);
    races_begin(cpu);
    run_positions(cpu, launch, number, total);
    races_end(cpu, launch);
  }
  context->task = -1;
  gather_messages(cpu, launch);
  bool frees = task->may_deactivate && !launch->gc_is_stopped;
  if (task->may_change_topology || frees || cpu->device.gc_each_launch) refresh_trees(launch);
}

/* -- the runtime's own work -------------------------------------------------------------------- */

typedef struct SharedWork {
  RtContext *context;
  RtPart *part;
  void *data;
} SharedWork;

static void run_part(void *data, int32_t worker, int64_t begin, int64_t end) {
  SharedWork *work = data;
  work->part(work->context, &work->context->workers[worker], work->data, begin, end);
}

void RT_CALL cpu_share(RtContext *context, int64_t count, RtPart *part, void *data) {
  CpuDevice *cpu = context->host;
  SharedWork work = {context, part, data};
  pool_parallel_for(cpu->pool, count, 1, 0, run_part, &work);
}

/* -- launches ---------------------------------------------------------------------------------- */

static void prepare_copies(Device *device, const DeviceLaunch *launch) {
  for (int32_t k = 0; k < launch->task_count; k++)
    for (int32_t i = 0; i < launch->tasks[k].sum_count; i++) {
      int32_t tree = launch->tasks[k].sums[i].tree;
      if (tree >= 0) copies_prepare(device, launch->trees[tree]);
    }
}

/* Adds up the workers' counts of writes outside of shapes, keeps the first such write, and resets
 * the counts. */
static RtOutside take_outside_writes(CpuDevice *cpu) {
  RtOutside outside = {0};
  for (int32_t k = 0; k < cpu->device.worker_count; k++) {
    RtOutside *own = &cpu->workers[k].outside;
    if (!outside.count) outside = *own;
    else outside.count += own->count;
    own->count = 0;
  }
  return outside;
}

bool cpu_launch(Device *device, DeviceLaunch *launch, Error *err) {
  CpuDevice *cpu = (CpuDevice *)device;
  RtContext *context = &launch->context;
  uint64_t begin = clock_ticks();
  ASSERT(launch->code && launch->code->host, "a launch has loaded code");
  launch_begin(device, launch, run_task);
  messages_begin(&cpu->messages);
  cpu->launch = launch;
  if (cpu->pending_count) prefault_begin(cpu, context);
  if (launch->has_sums) prepare_copies(device, launch);
  context->workers[0].stack_end = stack_end();
  launch->code->host(context);
  refresh_trees(launch);
  gather_messages(cpu, launch);
  launch->outside = take_outside_writes(cpu);
  if (context->error.kind == RT_OK && rt_stopped(context)) context->error.kind = RT_ERROR_STOPPED;
  launch->ticks = clock_ticks() - begin;
  return pool_check_host(cpu->pool, err);
}
