/* launch.c - runs a kernel's tasks on the GPU. The host region runs on the host and requests one
 * task after the other (RtContext.run).
 *
 *     block   | RtContext | RtWorker | collections | the trees' addresses | frame |
 *
 * The block is the part of a launch that tasks access: one of CudaDevice.block, by the launch's
 * queue slot, which the launch occupies until it is reported. A launch runs on its stream, after
 * the work of other streams on the same trees. Before a task, the host's frame is written to the
 * block if it has changed. The host waits for a task that writes slots which the host reads;
 * otherwise the launch stays queued, and its block later has its outcome: first error, messages,
 * writes outside of shapes. A block begins with the error of the previous one on its stream, so
 * that nothing runs there after a failure. A kernel of the runtime (llvm_bc/begin_cuda.c) writes
 * the block, which is its argument; copies do so if the block is too large. Any number of threads
 * share the positions (rt.h, RtGpuLaunch): enough to fill the GPU, at most one per position, and a
 * single one if results depend on the order. */
#include <stddef.h>
#include <string.h>

#include "base/bits.h"
#include "base/guard.h"
#include "device/cuda/cuda.h"
#include "device/launch.h"

_Static_assert(offsetof(RtGpuLaunch, end) == 16, "steps have their parameters in words");

enum {
  FAULT_WORDS = 1 << 17, /* of messages, for a kernel that can only fail */
  SPARE_WORDS = 64,      /* for frames and trees of later launches in a block */
  MAX_UNCHECKED = 1024   /* tasks in a row after which the host checks for a failure */
};

/* -- the block --------------------------------------------------------------------------------- */

typedef struct BlockLayout { /* offsets within the block */
  uint64_t worker, collections, trees, frame, size_bytes;
} BlockLayout;

static BlockLayout layout_of(const DeviceLaunch *launch) {
  BlockLayout layout;
  layout.worker = sizeof(RtContext);
  layout.collections = CUDA_BLOCK_COLLECTIONS;
  layout.trees = layout.collections + sizeof(uint64_t);
  layout.frame = layout.trees + sizeof(uint64_t) * (uint64_t)launch->tree_count;
  layout.size_bytes = layout.frame + sizeof(uint64_t) * (uint64_t)launch->frame_slots;
  return layout;
}

static uint64_t words_of(const DeviceLaunch *launch) {
  return (uint64_t)launch->tree_count + (uint64_t)launch->frame_slots;
}

static uint64_t block_bytes(const CudaDevice *cuda) {
  return align_up(sizeof(RtContext) + sizeof(RtWorker) +
                      sizeof(uint64_t) * (1 + (uint64_t)cuda->device.max_words),
                  RT_GRANULE);
}

/* The address of the block of slot `k`. */
static uint64_t block_at(const CudaDevice *cuda, int64_t k) {
  return cuda->block.at + (uint64_t)k * block_bytes(cuda);
}

/* The size of the buffer for messages. The host waits for each task of a kernel that prints, so it
 * needs room for the messages of one task. */
static uint64_t message_capacity(const DeviceLaunch *launch) {
  return launch->prints ? RT_MESSAGE_WORDS : FAULT_WORDS;
}

/* Queued launches have no messages, except a failed one, which is preceded by free space. */
static bool ensure_messages(CudaDevice *cuda, const DeviceLaunch *launch, Error *err) {
  uint64_t size_bytes = sizeof(uint64_t) * message_capacity(launch);
  CudaRange *messages = &cuda->now->messages;
  ASSERT(size_bytes <= messages->mapped || !cuda->now->queued,
         "messages move while none is in use");
  return cuda_enlarge(cuda, messages, size_bytes, false, err);
}

static int32_t find_slot(const CudaDevice *cuda) {
  int32_t k = 0;
  while (k < CUDA_MAX_QUEUED && cuda->queue_slots[k].is_taken) k++;
  ASSERT(k < CUDA_MAX_QUEUED, "there is a slot for each queued launch");
  return k;
}

/* The caller empties the queue before a launch with more words than any before. */
static bool ensure_block(CudaDevice *cuda, const DeviceLaunch *launch, Error *err) {
  Device *device = &cuda->device;
  if (words_of(launch) > (uint64_t)device->max_words) {
    ASSERT(!device->queued, "blocks move while none is in use");
    device->max_words = (int64_t)words_of(launch) + SPARE_WORDS;
  }
  cuda->slot = find_slot(cuda);
  cuda->block_now = block_at(cuda, cuda->slot);
  cuda->block_is_current = false;
  return cuda_enlarge(cuda, &cuda->block, block_bytes(cuda) * CUDA_MAX_QUEUED, false, err) &&
         ensure_messages(cuda, launch, err) && (cuda->block_now = block_at(cuda, cuda->slot));
}

/* -- tickets: combine a launch's number on its stream and its queue slot ----------------------- */

static uint64_t ticket_of(uint64_t number, int32_t slot) {
  return number * CUDA_MAX_QUEUED + (uint64_t)slot;
}
static int32_t slot_of(uint64_t ticket) { return (int32_t)(ticket % CUDA_MAX_QUEUED); }
static uint64_t number_of(uint64_t ticket) { return ticket / CUDA_MAX_QUEUED; }

static void *pointer_to(uint64_t address) { return (void *)(uintptr_t)address; }

/* The host's allocator has the same address on both sides. */
static RtAllocator *allocator_of(const CudaDevice *cuda, const DeviceLaunch *launch) {
  if (launch->shares_arrays) return launch->context.allocator;
  return launch->makes_arrays ? pointer_to(cuda->heap.at) : NULL;
}

static void fill_block(const CudaDevice *cuda, const DeviceLaunch *launch,
                       const BlockLayout *layout, uint8_t *bytes) {
  uint64_t at = cuda->block_now, *trees = (uint64_t *)(void *)(bytes + layout->trees);
  *(RtContext *)(void *)bytes =
      (RtContext){.frame = pointer_to(at + layout->frame),
                  .trees = pointer_to(at + layout->trees),
                  .ambient = pointer_to(cuda->ambient.at),
                  .workers = pointer_to(at + layout->worker),
                  .worker_count = 1,
                  .tree_count = launch->tree_count,
                  .task = launch->context.task,
                  .allocator = allocator_of(cuda, launch),
                  .races = cuda->gpu_races.capacity ? pointer_to(cuda->races.at) : NULL};
  *(RtWorker *)(void *)(bytes + layout->worker) =
      (RtWorker){.most_calls = ((const CudaCode *)launch->code)->most_calls,
                 .messages = {.words = pointer_to(cuda->now->messages.at),
                              .capacity = message_capacity(launch)}};
  for (int32_t k = 0; k < launch->tree_count; k++) { /* tasks use only the elements of a wrap */
    const CudaTree *own = launch->trees[k]->device;
    trees[k] = own ? cuda_tree_address(own) : 0;
  }
  memcpy(bytes + layout->frame, launch->frame, sizeof(uint64_t) * (size_t)launch->frame_slots);
}

/* The address of the previous block on the stream, from which the first failure is copied, or 0. */
static uint64_t block_before(const CudaDevice *cuda) {
  return cuda->now->last < 0 ? 0 : block_at(cuda, cuda->now->last);
}

static bool inherit_error(CudaDevice *cuda, Error *err) {
  const uint64_t at = offsetof(RtContext, stop),
                 size_bytes = offsetof(RtContext, error) + sizeof(RtError) - at;
  uint64_t before = block_before(cuda);
  if (!before) return true;
  int result = cuda->driver.cuMemcpyDtoDAsync_v2(cuda->block_now + at, before + at, size_bytes,
                                                 cuda->stream);
  return cuda_check(cuda, result, "queue a launch", err);
}

static bool copy_whole(CudaDevice *cuda, const DeviceLaunch *launch, const BlockLayout *layout,
                       Error *err) {
  uint8_t *bytes = heap_alloc(cuda->device.heap, layout->size_bytes);
  if (!bytes) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a launch");
  fill_block(cuda, launch, layout, bytes);
  bool ok =
      cuda_write(cuda, cuda->block_now, bytes, layout->size_bytes, err) && inherit_error(cuda, err);
  heap_free(cuda->device.heap, bytes);
  return ok;
}

static bool ensure_begin(CudaDevice *cuda, Error *err) {
  if (cuda->begin_block) return true;
  if (!cuda->begin) cuda->begin = cuda_load_module(cuda, rt_begin_ptx, err);
  if (!cuda->begin) return false;
  int result = cuda->driver.cuModuleGetFunction(&cuda->begin_block, cuda->begin, "rg_begin_block");
  return cuda_check(cuda, result, "find a service", err);
}

/* Can so many bytes be passed as the argument of the kernel that writes the block? */
static bool fits_argument(uint64_t size_bytes) {
  return size_bytes <= sizeof(uint32_t) * RT_GPU_BLOCK_WORDS;
}

static bool start_begin_kernel(CudaDevice *cuda, RtGpuBlock *block, Error *err) {
  void *parameters[] = {block};
  if (!ensure_begin(cuda, err)) return false;
  int result = cuda->driver.cuLaunchKernel(cuda->begin_block, 1, 1, 1, CUDA_BLOCK_THREADS, 1, 1, 0,
                                           cuda->stream, parameters, NULL);
  return cuda_check(cuda, result, "queue a launch", err);
}

/* Takes one driver call, and no copy between two kernels. */
static bool start_whole(CudaDevice *cuda, const DeviceLaunch *launch, const BlockLayout *layout,
                        Error *err) {
  RtGpuBlock block = {.to = pointer_to(cuda->block_now),
                      .before = pointer_to(block_before(cuda)),
                      .count = layout->size_bytes / sizeof *block.words};
  fill_block(cuda, launch, layout, (uint8_t *)block.words);
  return cuda_repeat_end(cuda, err) && start_begin_kernel(cuda, &block, err);
}

bool cuda_put_frame(CudaDevice *cuda, uint64_t to, const void *frame, uint64_t size_bytes,
                    Error *err) {
  if (!fits_argument(size_bytes)) return cuda_copy_in(cuda, to, frame, size_bytes, err);
  RtGpuBlock block = {.to = pointer_to(to), .count = size_bytes / sizeof *block.words};
  memcpy(block.words, frame, size_bytes);
  return start_begin_kernel(cuda, &block, err);
}

static bool push_whole(CudaDevice *cuda, const DeviceLaunch *launch, const BlockLayout *layout,
                       Error *err) {
  bool is_small = fits_argument(layout->size_bytes);
  cuda->block_is_current = (is_small ? start_whole : copy_whole)(cuda, launch, layout, err);
  return cuda->block_is_current;
}

static size_t frame_bytes(const DeviceLaunch *launch) {
  return sizeof(uint64_t) * (size_t)launch->frame_slots;
}

static bool remember_frame(CudaDevice *cuda, const DeviceLaunch *launch, Error *err) {
  if (launch->frame_slots > cuda->frame_capacity) {
    uint64_t *frame = heap_resize(cuda->device.heap, cuda->gpu_frame, frame_bytes(launch));
    if (!frame) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a launch");
    cuda->gpu_frame = frame;
    cuda->frame_capacity = launch->frame_slots;
  }
  memcpy(cuda->gpu_frame, launch->frame, frame_bytes(launch));
  return true;
}

/* The frame is a separate step, as loops of the host region change it in every iteration. */
static bool push_frame(CudaDevice *cuda, const DeviceLaunch *launch, const BlockLayout *layout,
                       Error *err) {
  CudaStep step = {.kind = CUDA_STEP_FRAME, .words = {layout->frame, frame_bytes(launch)}};
  return cuda_queue(cuda, &step, launch->frame, err);
}

bool cuda_push_block(CudaDevice *cuda, DeviceLaunch *launch, Error *err) {
  BlockLayout layout = layout_of(launch);
  bool is_new = !cuda->block_is_current;
  if (!is_new && !memcmp(cuda->gpu_frame, launch->frame, frame_bytes(launch))) return true;
  if (!remember_frame(cuda, launch, err)) return false;
  if (is_new) return push_whole(cuda, launch, &layout, err);
  return push_frame(cuda, launch, &layout, err);
}

/* -- results of tasks and launches ------------------------------------------------------------- */

static bool pull_messages(CudaDevice *cuda, MessageBuffer *to, DeviceLaunch *launch,
                          RtMessages records, Error *err) {
  RtMessages *messages = &cuda->worker.messages; /* also has the host region's messages */
  if (records.used > message_capacity(launch)) records.used = message_capacity(launch);
  messages->lost += records.lost;
  if (records.used) {
    uint64_t *words = heap_resize(cuda->device.heap, messages->words, 8 * records.used);
    if (!words) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a launch");
    messages->words = words;
    messages->capacity = records.used;
    if (!cuda_read(cuda, words, cuda->now->messages.at, 8 * records.used, err)) return false;
    messages->used = records.used;
  }
  messages_gather(to, &cuda->worker, 1, launch);
  return true;
}

/* Reads a block into heap memory that the caller frees; NULL with err. */
static uint8_t *read_block(CudaDevice *cuda, uint64_t at, const BlockLayout *layout, Error *err) {
  uint8_t *bytes = heap_alloc(cuda->device.heap, layout->size_bytes);
  if (!bytes) error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a launch");
  if (bytes && cuda_read(cuda, bytes, at, layout->size_bytes, err)) return bytes;
  heap_free(cuda->device.heap, bytes);
  return NULL;
}

/* Reads what the host region needs to continue: the frame, and whether to stop. */
static bool pull_frame(CudaDevice *cuda, DeviceLaunch *launch, Error *err) {
  BlockLayout layout = layout_of(launch);
  uint8_t *bytes = read_block(cuda, cuda->block_now, &layout, err);
  if (!bytes) return false;
  const RtContext *context = (RtContext *)(void *)bytes;
  cuda->unchecked_tasks = 0;
  memcpy(launch->frame, bytes + layout.frame, frame_bytes(launch));
  if (context->stop && !launch->context.stop) launch->context.stop = context->stop;
  heap_free(cuda->device.heap, bytes);
  return remember_frame(cuda, launch, err);
}

bool cuda_check_stop(CudaDevice *cuda, Error *err) {
  uint32_t stop = 0;
  uint64_t at = cuda->block_now + offsetof(RtContext, stop);
  _Static_assert(sizeof stop == sizeof cuda->launch->context.stop, "it is read by one copy");
  cuda->unchecked_tasks = 0;
  if (!cuda->block_is_current) return true;
  if (!cuda_read(cuda, &stop, at, sizeof stop, err)) return false;
  if (stop && !cuda->launch->context.stop) cuda->launch->context.stop = stop;
  return true;
}

static int32_t count_slots(const CudaDevice *cuda) {
  int32_t count = CUDA_MAX_QUEUED;
  while (count && !cuda->queue_slots[count - 1].is_taken) count--;
  return count;
}

/* Reads the blocks of all launches on the current stream, when the first of them is finished.
 * Blocks of other streams are read along, with undefined contents. */
static bool pull_reports(CudaDevice *cuda, Error *err) {
  int32_t count = count_slots(cuda);
  uint64_t size_bytes = block_bytes(cuda) * (uint64_t)count;
  uint8_t *reports = heap_resize(cuda->device.heap, cuda->reports, size_bytes);
  if (!reports) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a launch");
  cuda->reports = reports;
  if (!cuda_read(cuda, reports, cuda->block.at, size_bytes, err)) return false;
  for (int32_t k = 0; k < count; k++)
    cuda->queue_slots[k].is_read |=
        cuda->queue_slots[k].is_taken && cuda->queue_slots[k].stream == cuda->number;
  return true;
}

static bool take_report(CudaDevice *cuda, MessageBuffer *buffer, DeviceLaunch *launch, int32_t k,
                        Error *err) {
  if (!cuda->queue_slots[k].is_read && !pull_reports(cuda, err)) return false;
  BlockLayout layout = layout_of(launch);
  const uint8_t *bytes = cuda->reports + (uint64_t)k * block_bytes(cuda);
  const RtContext *context = (const RtContext *)(const void *)bytes;
  const RtWorker *worker = (const RtWorker *)(const void *)(bytes + layout.worker);
  launch->context.error = context->error;
  if (launch->makes_arrays && context->error.kind == RT_ERROR_BUDGET) {
    if (launch->shares_arrays) cuda_arrays_ran_short(cuda);
    else cuda_heap_ran_short(cuda);
  }
  launch->outside = worker->outside;
  if (!launch->outside.count) launch->outside = cuda->queue_slots[k].host_outside;
  else launch->outside.count += cuda->queue_slots[k].host_outside.count;
  memcpy(&launch->collections, bytes + layout.collections, sizeof launch->collections);
  return pull_messages(cuda, buffer, launch, worker->messages, err);
}

/* Between tasks of a launch that prints: host region and tasks must print in order. */
static bool pull_task_messages(CudaDevice *cuda, DeviceLaunch *launch, Error *err) {
  RtMessages records,
      none = {.words = pointer_to(cuda->now->messages.at), .capacity = message_capacity(launch)};
  uint64_t at = cuda->block_now + layout_of(launch).worker + offsetof(RtWorker, messages);
  return cuda_read(cuda, &records, at, sizeof records, err) &&
         pull_messages(cuda, &cuda->messages, launch, records, err) &&
         cuda_write(cuda, at, &none, sizeof none, err);
}

/* A launch that has not run reports only that. */
static void note_outcome(CudaDevice *cuda, DeviceLaunch *launch, const CudaQueueSlot *slot) {
  CudaStream *stream = cuda->now;
  RtError *error = &launch->context.error;
  if (error->kind == RT_OK) *error = slot->host_error;
  launch->is_skipped = stream->is_broken;
  if (launch->is_skipped) *error = (RtError){0};
  stream->is_broken |= error->kind != RT_OK;
}

static void release_slot(CudaDevice *cuda, int32_t k) {
  CudaStream *stream = &cuda->streams[cuda->queue_slots[k].stream];
  cuda->queue_slots[k] = (CudaQueueSlot){0};
  cuda->device.queued--;
  if (--stream->queued) return;
  stream->last = -1; /* the next launch starts without an inherited error */
  stream->is_broken = false;
}

static bool report(CudaDevice *cuda, DeviceLaunch *launch, int32_t k, Error *err) {
  bool is_last = k == cuda->last_slot;
  /* the latest launch's early messages are in cuda->messages */
  MessageBuffer *buffer = is_last ? &cuda->messages : &cuda->reported;
  if (!is_last) messages_begin(buffer);
  if (!take_report(cuda, buffer, launch, k, err)) return false;
  note_outcome(cuda, launch, &cuda->queue_slots[k]);
  launch->ticks = cuda_time_take(cuda, k);
  launch->work = cuda->queue_slots[k].work;
  return true;
}

bool cuda_finish(Device *device, DeviceLaunch *launch, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  int32_t k = slot_of(launch->ticket);
  if (!launch->prints) launch->messages_lost = 0;
  launch->message_words = 0;
  bool is_entered = cuda_enter(cuda, err);
  bool ok = is_entered && cuda_select(cuda, cuda->queue_slots[k].stream, err) &&
            report(cuda, launch, k, err);
  release_slot(cuda, k);
  if (!is_entered) return false;
  cuda_select(cuda, 0, NULL);
  cuda_leave(cuda);
  return ok;
}

void cuda_take_frame(CudaDevice *cuda, DeviceLaunch *launch) {
  uint64_t at = (uint64_t)slot_of(launch->ticket) * block_bytes(cuda);
  memcpy(launch->frame, cuda->reports + at + layout_of(launch).frame, frame_bytes(launch));
}

bool cuda_is_done(Device *device, uint64_t ticket) {
  CudaDevice *cuda = (CudaDevice *)device;
  const CudaQueueSlot *slot = &cuda->queue_slots[slot_of(ticket)];
  if (!slot->is_taken || slot->number != number_of(ticket)) return true;
  if (!cuda_enter(cuda, NULL)) return true;
  bool is_done = cuda_is_idle(cuda, slot->stream);
  cuda_leave(cuda);
  return is_done;
}

/* -- a task ------------------------------------------------------------------------------------ */

enum { MAX_THREADS = 0, SHARED_BYTES = 1 }; /* CUfunction_attribute */

/* The shared memory of threads that share a position is sized for the usual block. */
static int64_t max_threads(const CudaDevice *cuda, const DeviceTask *task, void *function) {
  int most = 0, shared = 0;
  const Driver *driver = &cuda->driver;
  if (driver->cuFuncGetAttribute(&most, MAX_THREADS, function) ||
      driver->cuFuncGetAttribute(&shared, SHARED_BYTES, function) || (shared && task->spread > 1))
    return CUDA_BLOCK_THREADS;
  return most;
}

/* Threads that share a position must be in one block, which has no others. */
static int64_t choose_threads(const CudaDevice *cuda, const DeviceLaunch *launch,
                              const DeviceTask *task, void *function) {
  int64_t wanted = launch->switches.threads;
  if (!wanted) return CUDA_BLOCK_THREADS;
  if (wanted > CUDA_BLOCK_THREADS) wanted = min_i64(wanted, max_threads(cuda, task, function));
  return max_i64(wanted / task->spread, 1) * task->spread;
}

typedef struct Grid {
  int64_t blocks, threads; /* threads per block */
} Grid;

static bool is_clear(const DeviceTask *task) {
  return task->kind == DEVICE_CLEAR || task->kind == DEVICE_CLEAR_CELLS;
}

static bool has_one_thread(const DeviceTask *task) {
  return task->is_ordered || task->kind == DEVICE_SERIAL || is_clear(task);
}

int32_t cuda_block_threads(const DeviceTask *task) {
  return has_one_thread(task) ? 1 : CUDA_BLOCK_THREADS;
}

/* As many threads as positions, if their number is known. */
static Grid find_grid(const CudaDevice *cuda, const DeviceLaunch *launch, int32_t number,
                      int64_t total) {
  const DeviceTask *task = &launch->tasks[number];
  int64_t per_processor = launch->switches.blocks, most = cuda_max_blocks(cuda);
  if (per_processor) most = cuda->about.processors * per_processor;
  if (has_one_thread(task)) return (Grid){1, 1};
  int64_t threads = choose_threads(cuda, launch, task, launch->code->tasks[number]);
  int64_t blocks = total == RT_ALL_NODES ? most : (total - 1) / threads + 1;
  return (Grid){min_i64(blocks, most), threads};
}

static bool ensure_heap(CudaDevice *cuda, const DeviceLaunch *launch, int32_t number, int64_t total,
                        Error *err) {
  bool uses = launch->shares_arrays ? launch->tasks[number].uses_arrays : launch->makes_arrays;
  if (!uses) return true;
  Grid grid = find_grid(cuda, launch, number, total);
  uint64_t threads = (uint64_t)(grid.blocks * grid.threads);
  return launch->shares_arrays ? cuda_arrays_begin(cuda, launch, threads, err)
                               : cuda_ensure_heap(cuda, threads, err);
}

static bool start_kernel(CudaDevice *cuda, DeviceLaunch *launch, int32_t number, int64_t total,
                         Error *err) {
  Grid grid = find_grid(cuda, launch, number, total);
  CudaStep step = {.blocks = (uint32_t)grid.blocks,
                   .threads = (uint32_t)grid.threads,
                   .from_block = 1,
                   .function = launch->code->tasks[number],
                   .words = {0, 0, (uint64_t)total}}; /* RtGpuLaunch */
  return cuda_queue(cuda, &step, NULL, err);
}

static bool start_task(CudaDevice *cuda, DeviceLaunch *launch, int32_t number, int64_t total,
                       Error *err) {
  const DeviceTask *task = &launch->tasks[number];
  if (is_clear(task)) return cuda_start_clear(cuda, launch, task, err);
  return cuda_races_begin(cuda, err) && start_kernel(cuda, launch, number, total, err) &&
         cuda_races_end(cuda, launch, err);
}

static void mark_used(const DeviceLaunch *launch, bool is_used) {
  for (int32_t k = 0; k < launch->tree_count; k++) {
    CudaTree *own = launch->trees[k]->device;
    if (own) own->is_used = is_used;
  }
}

static bool push_trees(CudaDevice *cuda, DeviceLaunch *launch, int32_t number, int64_t total,
                       Error *err) {
  const DeviceTask *task = &launch->tasks[number];
  bool may_grow = task->may_change_topology || task->order_count;
  const void *code = may_grow ? launch->code->tasks[number] : NULL;
  uint64_t positions = total == RT_ALL_NODES ? 0 : (uint64_t)total;
  mark_used(launch, true);
  for (int32_t k = 0; k < launch->tree_count + launch->array_count; k++)
    if (!cuda_push(cuda, launch->trees[k], code, positions, err)) return false;
  if (!launch->tree_count || !may_grow) return true;
  return cuda_push_budget(cuda, launch->trees[0]->budget, err);
}

static int64_t count_positions(const DeviceLaunch *launch, const DeviceTask *task) {
  if (task->kind == DEVICE_RANGE) return launch_count_range(launch, task);
  return task->kind == DEVICE_NODES ? RT_ALL_NODES : 1;
}

static void note_trees(CudaDevice *cuda, const DeviceLaunch *launch, const DeviceTask *task) {
  for (int32_t k = 0; k < launch->tree_count + launch->array_count; k++) {
    CudaTree *own = launch->trees[k]->device;
    if (!own) own = cuda_owner(cuda, launch->trees[k]);
    if (!own) continue;
    cuda_note_task(own, task->may_change_topology);
    if (task->kind == DEVICE_SERIAL && own->tree->manager_count && !cuda_is_view(own->tree))
      cuda_note_tables(own);
  }
}

/* Elements that the task accesses in host memory are copied there first. */
static bool ensure_arrays(CudaDevice *cuda, const DeviceLaunch *launch, const DeviceTask *task,
                          Error *err) {
  if (!launch->shares_arrays) return true;
  cuda->arrays_are_used |= task->uses_arrays || launch->has_arrays_in_place;
  bool reaches = task->reaches_arrays || launch->has_arrays_in_place;
  return !reaches || cuda_copies_yield(cuda, launch, task, err);
}

static bool prepare_and_run(CudaDevice *cuda, DeviceLaunch *launch, int32_t number, Error *err) {
  const DeviceTask *task = &launch->tasks[number];
  int64_t total = count_positions(launch, task);
  if (!total) return true;
  if (cuda->unchecked_tasks >= MAX_UNCHECKED && !cuda_check_stop(cuda, err)) return false;
  if (rt_stopped(&launch->context)) return true;
  launch->runs++;
  if (total != RT_ALL_NODES) launch->work += (uint64_t)total * (uint64_t)max_i64(1, task->cost);
  messages_gather(&cuda->messages, &cuda->worker, 1,
                  launch); /* messages of the host region so far */
  bool ok =
      cuda_ensure_stack(cuda, (CudaCode *)launch->code, err) && /* this may free other memory */
      push_trees(cuda, launch, number, total, err) && ensure_arrays(cuda, launch, task, err) &&
      ensure_heap(cuda, launch, number, total, err) && cuda_push_block(cuda, launch, err) &&
      (task->kind != DEVICE_NODES || cuda_ensure_list(cuda, launch, task, err)) &&
      cuda_ensure_orders(cuda, launch, task, err) && start_task(cuda, launch, number, total, err);
  if (ok) note_trees(cuda, launch, task); /* a task that did not start has changed nothing */
  if (ok) cuda_copies_note_task(cuda);
  cuda->unchecked_tasks++;
  bool frees = task->may_deactivate && !launch->gc_is_stopped;
  if (task->may_change_topology || frees || cuda->device.gc_each_launch)
    ok = ok && cuda_refresh_trees(cuda, launch, frees, err);
  return ok && (!launch->prints || pull_task_messages(cuda, launch, err)) &&
         (!(task->writes_frame || launch->prints) || pull_frame(cuda, launch, err)) &&
         cuda_arrays_pause(cuda, launch, err);
}

static bool run_guarded(void *data, Error *err) {
  DeviceLaunch *launch = data;
  CudaDevice *cuda = launch->context.host;
  bool fails = cuda->device.fails_in_task;
  cuda->device.fails_in_task = false;
  ASSERT(!fails, "no test requests that this task fails");
  return prepare_and_run(cuda, launch, launch->context.task, err);
}

/* A device failure ends the host region as soon as it checks for a stop. So does a failed
 * assertion, as longjmp out of compiled code is not safe. */
static void run_task(RtContext *context, int32_t number) {
  CudaDevice *cuda = context->host;
  if (rt_stopped(context)) return;
  context->task = number;
  if (!guard_run(run_guarded, cuda->launch, cuda->err)) context->stop = 1;
  context->task = -1;
}

/* -- launches ---------------------------------------------------------------------------------- */

static uint64_t largest_node(const DeviceLaunch *launch) {
  uint64_t most = 0;
  for (int32_t k = 0; k < launch->tree_count; k++)
    for (int32_t m = 0; m < launch->trees[k]->manager_count; m++)
      if (launch->trees[k]->managers[m].node_size > most)
        most = launch->trees[k]->managers[m].node_size;
  return most;
}

/* Occupies the launch's queue slot; its results come with its report. */
static void enqueue(CudaDevice *cuda, DeviceLaunch *launch) {
  CudaStream *stream = cuda->now;
  CudaQueueSlot *slot = &cuda->queue_slots[cuda->slot];
  *slot = (CudaQueueSlot){.is_taken = true,
                          .stream = cuda->number,
                          .number = stream->launched,
                          .work = launch->work,
                          .host_error = launch->context.error,
                          .host_outside = cuda->worker.outside};
  cuda->worker.outside = (RtOutside){0};
  if (rt_stopped(&launch->context) && launch->context.error.kind == RT_OK)
    slot->host_error.kind = RT_ERROR_STOPPED;
  launch->ticket = ticket_of(stream->launched, cuda->slot);
  stream->last = cuda->last_slot = cuda->slot;
  stream->queued++;
  cuda->device.queued++;
}

/* -- synchronising with other streams ---------------------------------------------------------- */

static CudaUse *last_use(CudaDevice *cuda, const RtTree *tree) {
  CudaTree *own = tree->foreign ? cuda_owner(cuda, tree) : tree->device;
  return own ? &own->use : NULL;
}

/* The use of the budget, if the launch has trees that allocate from it. */
static CudaUse *budget_use(CudaDevice *cuda, const DeviceLaunch *launch) {
  for (int32_t k = 0; k < launch->tree_count; k++)
    if (launch->trees[k]->manager_count) return &cuda->budget_use;
  return NULL;
}

static bool join_uses(CudaDevice *cuda, const DeviceLaunch *launch, Error *err) {
  const CudaUse *budget = budget_use(cuda, launch);
  for (int32_t k = 0; k < launch->tree_count + launch->array_count; k++) {
    const CudaUse *use = last_use(cuda, launch->trees[k]);
    if (use && !cuda_join(cuda, *use, err)) return false;
  }
  return !budget || cuda_join(cuda, *budget, err);
}

static void note_uses(CudaDevice *cuda, const DeviceLaunch *launch) {
  CudaUse *budget = budget_use(cuda, launch);
  for (int32_t k = 0; k < launch->tree_count + launch->array_count; k++) {
    CudaUse *use = last_use(cuda, launch->trees[k]);
    if (use) *use = cuda_use_now(cuda);
  }
  if (budget) *budget = cuda_use_now(cuda);
}

bool cuda_launch(Device *device, DeviceLaunch *launch, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  Error failed;
  error_clear(&failed);
  launch_begin(device, launch, run_task);
  cuda->arrays_are_used = launch->has_waited = false;
  cuda->unchecked_tasks = 0;
  messages_begin(&cuda->messages);
  cuda->launch = launch;
  cuda->err = &failed;
  if (!cuda_enter(cuda, err)) return false;
  if (cuda_select(cuda, launch->stream, &failed) && join_uses(cuda, launch, &failed) &&
      ensure_block(cuda, launch, &failed) &&
      cuda_enlarge(cuda, &cuda->ambient, largest_node(launch), false, &failed)) {
    cuda_time_begin(cuda, launch);
    cuda_repeat_begin(cuda);
    cuda->is_in_launch = true;
    if (cuda_push_foreign(cuda, launch, &failed)) launch->code->host(&launch->context);
    cuda->is_in_launch = false;
    cuda_copies_unexpose(cuda);
    cuda_repeat_end(cuda, &failed);
    cuda_arrays_end(cuda, launch, &failed);
    cuda_pull_foreign(cuda, &failed);
    cuda_time_end(cuda);
    mark_used(launch, false);
    messages_gather(&cuda->messages, &cuda->worker, 1, launch);
    if (!cuda->block_is_current && !error_is_set(&failed)) cuda_push_block(cuda, launch, &failed);
  }
  note_uses(cuda, launch);
  cuda->now->launched++;
  if (!error_is_set(&failed)) enqueue(cuda, launch);
  else cuda_wait(cuda, NULL); /* another stream may reuse its slot */
  cuda_select(cuda, 0, NULL);
  cuda_leave(cuda);
  return !error_is_set(&failed) || (error_add(err, &failed), false);
}
