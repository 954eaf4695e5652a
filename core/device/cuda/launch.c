/* launch.c - runs a kernel's tasks on the GPU. The host region runs on the host and requests one
 * task after the other (RtContext.run).
 *
 *     block   | RtContext | RtWorker | collections | the trees' addresses | frame |
 *
 * The block is the part of a launch that tasks access: a place of CudaDevice.block, which the
 * launch occupies until its report. A launch runs on its stream, after the work of other streams on
 * the same trees. Before a task, the host's frame is written to the block if it has changed. The
 * host waits for a task that writes slots which the host reads; otherwise the launch stays queued,
 * and its block later has its outcome: first error, messages, writes outside of shapes. A block
 * begins with the error of the previous one on its stream, so that nothing runs there after a
 * failure. A kernel of the runtime (llvm_bc/begin_cuda.c) writes the block, which is its argument;
 * copies do so if the block is too large.
 * Any number of threads share the positions (rt.h, RtGpuLaunch): enough to fill the GPU, at most
 * one per position, and a single one if results depend on the order. */
#include <stddef.h>
#include <string.h>

#include "base/bits.h"
#include "base/guard.h"
#include "device/cuda/cuda.h"
#include "device/launch.h"

_Static_assert(offsetof(RtGpuLaunch, end) == 16, "steps have their parameters in words");

enum {
  FEW_WORDS = 1 << 17, /* of messages, for a kernel that can only fail */
  LEAST_WORDS = 64,    /* spare words for frames and trees in a block */
  MOST_UNSEEN = 1024   /* tasks in a row after which the host checks for a failure */
};

/* -- the block --------------------------------------------------------------------------------- */

typedef struct Places { /* offsets within the block */
  uint64_t worker, collections, trees, frame, size_bytes;
} Places;

static Places find_places(const DeviceLaunch *launch) {
  Places places;
  places.worker = sizeof(RtContext);
  places.collections = CUDA_BLOCK_COLLECTIONS;
  places.trees = places.collections + sizeof(uint64_t);
  places.frame = places.trees + sizeof(uint64_t) * (uint64_t)launch->tree_count;
  places.size_bytes = places.frame + sizeof(uint64_t) * (uint64_t)launch->frame_slots;
  return places;
}

static uint64_t words_of(const DeviceLaunch *launch) {
  return (uint64_t)launch->tree_count + (uint64_t)launch->frame_slots;
}

static uint64_t block_bytes(const CudaDevice *cuda) {
  return align_up(sizeof(RtContext) + sizeof(RtWorker) +
                      sizeof(uint64_t) * (1 + (uint64_t)cuda->device.most_words),
                  RT_GRANULE);
}

/* The address of the block of place `k`. */
static uint64_t block_at(const CudaDevice *cuda, int64_t k) {
  return cuda->block.at + (uint64_t)k * block_bytes(cuda);
}

/* The size of the buffer for messages. The host waits for each task of a kernel that prints, so it
 * needs room for the messages of one task. */
static uint64_t most_message_words(const DeviceLaunch *launch) {
  return launch->prints ? RT_MESSAGE_WORDS : FEW_WORDS;
}

/* Queued launches have no messages, except a failed one, which is preceded by free space. */
static bool ensure_messages(CudaDevice *cuda, const DeviceLaunch *launch, Error *err) {
  uint64_t size_bytes = sizeof(uint64_t) * most_message_words(launch);
  CudaRange *messages = &cuda->now->messages;
  ASSERT(size_bytes <= messages->mapped || !cuda->now->queued,
         "messages move while none is in use");
  return cuda_enlarge(cuda, messages, size_bytes, false, err);
}

static int32_t find_place(const CudaDevice *cuda) {
  int32_t k = 0;
  while (k < CUDA_MOST_QUEUED && cuda->places[k].is_taken) k++;
  ASSERT(k < CUDA_MOST_QUEUED, "no more is queued than has places");
  return k;
}

/* The caller empties the queue before a launch with more words than any before. */
static bool ensure_block(CudaDevice *cuda, const DeviceLaunch *launch, Error *err) {
  Device *device = &cuda->device;
  if (words_of(launch) > (uint64_t)device->most_words) {
    ASSERT(!device->queued, "blocks move while none is in use");
    device->most_words = (int64_t)words_of(launch) + LEAST_WORDS;
  }
  cuda->place = find_place(cuda);
  cuda->block_now = block_at(cuda, cuda->place);
  cuda->block_is_current = false;
  return cuda_enlarge(cuda, &cuda->block, block_bytes(cuda) * CUDA_MOST_QUEUED, false, err) &&
         ensure_messages(cuda, launch, err) && (cuda->block_now = block_at(cuda, cuda->place));
}

/* -- tickets: combine a launch's number on its stream and its place ---------------------------- */

static uint64_t ticket_of(uint64_t number, int32_t place) {
  return number * CUDA_MOST_QUEUED + (uint64_t)place;
}
static int32_t place_of(uint64_t ticket) { return (int32_t)(ticket % CUDA_MOST_QUEUED); }
static uint64_t number_of(uint64_t ticket) { return ticket / CUDA_MOST_QUEUED; }

static void *pointer_to(uint64_t address) { return (void *)(uintptr_t)address; }

/* The host's allocator has the same address on both sides. */
static RtAllocator *allocator_of(const CudaDevice *cuda, const DeviceLaunch *launch) {
  if (launch->shares_arrays) return launch->context.allocator;
  return launch->makes_arrays ? pointer_to(cuda->heap.at) : NULL;
}

static void fill_block(const CudaDevice *cuda, const DeviceLaunch *launch, const Places *places,
                       uint8_t *bytes) {
  uint64_t at = cuda->block_now, *trees = (uint64_t *)(void *)(bytes + places->trees);
  *(RtContext *)(void *)bytes =
      (RtContext){.frame = pointer_to(at + places->frame),
                  .trees = pointer_to(at + places->trees),
                  .ambient = pointer_to(cuda->ambient.at),
                  .workers = pointer_to(at + places->worker),
                  .worker_count = 1,
                  .tree_count = launch->tree_count,
                  .task = launch->context.task,
                  .allocator = allocator_of(cuda, launch),
                  .races = cuda->gpu_races.capacity ? pointer_to(cuda->races.at) : NULL};
  *(RtWorker *)(void *)(bytes + places->worker) =
      (RtWorker){.most_calls = ((const CudaCode *)launch->code)->most_calls,
                 .messages = {.words = pointer_to(cuda->now->messages.at),
                              .capacity = most_message_words(launch)}};
  for (int32_t k = 0; k < launch->tree_count; k++) { /* tasks use only the elements of a wrap */
    const CudaTree *own = launch->trees[k]->device;
    trees[k] = own ? cuda_tree_address(own) : 0;
  }
  memcpy(bytes + places->frame, launch->frame, sizeof(uint64_t) * (size_t)launch->frame_slots);
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

static bool copy_whole(CudaDevice *cuda, const DeviceLaunch *launch, const Places *places,
                       Error *err) {
  uint8_t *bytes = heap_alloc(cuda->device.heap, places->size_bytes);
  if (!bytes) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a launch");
  fill_block(cuda, launch, places, bytes);
  bool ok =
      cuda_write(cuda, cuda->block_now, bytes, places->size_bytes, err) && inherit_error(cuda, err);
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

static bool fits(uint64_t size_bytes) {
  return size_bytes <= sizeof(uint32_t) * RT_GPU_BLOCK_WORDS;
}

static bool start_begin(CudaDevice *cuda, RtGpuBlock *block, Error *err) {
  void *parameters[] = {block};
  if (!ensure_begin(cuda, err)) return false;
  int result = cuda->driver.cuLaunchKernel(cuda->begin_block, 1, 1, 1, CUDA_BLOCK_THREADS, 1, 1, 0,
                                           cuda->stream, parameters, NULL);
  return cuda_check(cuda, result, "queue a launch", err);
}

/* Takes one driver call, and no copy between two kernels. */
static bool start_whole(CudaDevice *cuda, const DeviceLaunch *launch, const Places *places,
                        Error *err) {
  RtGpuBlock block = {.to = pointer_to(cuda->block_now),
                      .before = pointer_to(block_before(cuda)),
                      .count = places->size_bytes / sizeof *block.words};
  fill_block(cuda, launch, places, (uint8_t *)block.words);
  return cuda_repeat_end(cuda, err) && start_begin(cuda, &block, err);
}

bool cuda_put_frame(CudaDevice *cuda, uint64_t to, const void *frame, uint64_t size_bytes,
                    Error *err) {
  if (!fits(size_bytes)) return cuda_copy_in(cuda, to, frame, size_bytes, err);
  RtGpuBlock block = {.to = pointer_to(to), .count = size_bytes / sizeof *block.words};
  memcpy(block.words, frame, size_bytes);
  return start_begin(cuda, &block, err);
}

static bool push_whole(CudaDevice *cuda, const DeviceLaunch *launch, const Places *places,
                       Error *err) {
  bool is_small = fits(places->size_bytes);
  cuda->block_is_current = (is_small ? start_whole : copy_whole)(cuda, launch, places, err);
  return cuda->block_is_current;
}

static size_t frame_bytes(const DeviceLaunch *launch) {
  return sizeof(uint64_t) * (size_t)launch->frame_slots;
}

static bool keep_frame(CudaDevice *cuda, const DeviceLaunch *launch, Error *err) {
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
static bool push_frame(CudaDevice *cuda, const DeviceLaunch *launch, const Places *places,
                       Error *err) {
  CudaStep step = {.kind = CUDA_STEP_FRAME, .words = {places->frame, frame_bytes(launch)}};
  return cuda_queue(cuda, &step, launch->frame, err);
}

bool cuda_push_block(CudaDevice *cuda, DeviceLaunch *launch, Error *err) {
  Places places = find_places(launch);
  bool is_new = !cuda->block_is_current;
  if (!is_new && !memcmp(cuda->gpu_frame, launch->frame, frame_bytes(launch))) return true;
  if (!keep_frame(cuda, launch, err)) return false;
  if (is_new) return push_whole(cuda, launch, &places, err);
  return push_frame(cuda, launch, &places, err);
}

/* -- results of tasks and launches ------------------------------------------------------------- */

static bool pull_messages(CudaDevice *cuda, MessageBuffer *to, DeviceLaunch *launch,
                          RtMessages records, Error *err) {
  RtMessages *messages = &cuda->worker.messages; /* also has the host region's messages */
  if (records.used > most_message_words(launch)) records.used = most_message_words(launch);
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
static uint8_t *read_block(CudaDevice *cuda, uint64_t at, const Places *places, Error *err) {
  uint8_t *bytes = heap_alloc(cuda->device.heap, places->size_bytes);
  if (!bytes) error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a launch");
  if (bytes && cuda_read(cuda, bytes, at, places->size_bytes, err)) return bytes;
  heap_free(cuda->device.heap, bytes);
  return NULL;
}

/* Reads what the host region needs to continue: the frame, and whether to stop. */
static bool pull_frame(CudaDevice *cuda, DeviceLaunch *launch, Error *err) {
  Places places = find_places(launch);
  uint8_t *bytes = read_block(cuda, cuda->block_now, &places, err);
  if (!bytes) return false;
  const RtContext *context = (RtContext *)(void *)bytes;
  cuda->unseen = 0;
  memcpy(launch->frame, bytes + places.frame, frame_bytes(launch));
  if (context->stop && !launch->context.stop) launch->context.stop = context->stop;
  heap_free(cuda->device.heap, bytes);
  return keep_frame(cuda, launch, err);
}

bool cuda_check_stop(CudaDevice *cuda, Error *err) {
  uint32_t stop = 0;
  uint64_t at = cuda->block_now + offsetof(RtContext, stop);
  _Static_assert(sizeof stop == sizeof cuda->launch->context.stop, "it is read by one copy");
  cuda->unseen = 0;
  if (!cuda->block_is_current) return true;
  if (!cuda_read(cuda, &stop, at, sizeof stop, err)) return false;
  if (stop && !cuda->launch->context.stop) cuda->launch->context.stop = stop;
  return true;
}

static int32_t count_places(const CudaDevice *cuda) {
  int32_t count = CUDA_MOST_QUEUED;
  while (count && !cuda->places[count - 1].is_taken) count--;
  return count;
}

/* Reads the blocks of all launches on the current stream, when the first of them is finished.
 * Blocks of other streams are read along, with undefined contents. */
static bool pull_reports(CudaDevice *cuda, Error *err) {
  int32_t count = count_places(cuda);
  uint64_t size_bytes = block_bytes(cuda) * (uint64_t)count;
  uint8_t *reports = heap_resize(cuda->device.heap, cuda->reports, size_bytes);
  if (!reports) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a launch");
  cuda->reports = reports;
  if (!cuda_read(cuda, reports, cuda->block.at, size_bytes, err)) return false;
  for (int32_t k = 0; k < count; k++)
    cuda->places[k].is_read |= cuda->places[k].is_taken && cuda->places[k].stream == cuda->number;
  return true;
}

static bool take_report(CudaDevice *cuda, MessageBuffer *buffer, DeviceLaunch *launch, int32_t k,
                        Error *err) {
  if (!cuda->places[k].is_read && !pull_reports(cuda, err)) return false;
  Places places = find_places(launch);
  const uint8_t *bytes = cuda->reports + (uint64_t)k * block_bytes(cuda);
  const RtContext *context = (const RtContext *)(const void *)bytes;
  const RtWorker *worker = (const RtWorker *)(const void *)(bytes + places.worker);
  launch->context.error = context->error;
  if (launch->makes_arrays && context->error.kind == RT_ERROR_BUDGET) {
    if (launch->shares_arrays) cuda_arrays_ran_short(cuda);
    else cuda_heap_ran_short(cuda);
  }
  launch->outside = worker->outside;
  if (!launch->outside.count) launch->outside = cuda->places[k].host_outside;
  else launch->outside.count += cuda->places[k].host_outside.count;
  memcpy(&launch->collections, bytes + places.collections, sizeof launch->collections);
  return pull_messages(cuda, buffer, launch, worker->messages, err);
}

/* Between tasks of a launch that prints: host region and tasks must print in order. */
static bool pull_task_messages(CudaDevice *cuda, DeviceLaunch *launch, Error *err) {
  RtMessages records,
      none = {.words = pointer_to(cuda->now->messages.at), .capacity = most_message_words(launch)};
  uint64_t at = cuda->block_now + find_places(launch).worker + offsetof(RtWorker, messages);
  return cuda_read(cuda, &records, at, sizeof records, err) &&
         pull_messages(cuda, &cuda->messages, launch, records, err) &&
         cuda_write(cuda, at, &none, sizeof none, err);
}

/* A launch that has not run reports only that. */
static void note_outcome(CudaDevice *cuda, DeviceLaunch *launch, const CudaPlace *place) {
  CudaStream *stream = cuda->now;
  RtError *error = &launch->context.error;
  if (error->kind == RT_OK) *error = place->host_error;
  launch->is_skipped = stream->is_broken;
  if (launch->is_skipped) *error = (RtError){0};
  stream->is_broken |= error->kind != RT_OK;
}

static void leave_place(CudaDevice *cuda, int32_t k) {
  CudaStream *stream = &cuda->streams[cuda->places[k].stream];
  cuda->places[k] = (CudaPlace){0};
  cuda->device.queued--;
  if (--stream->queued) return;
  stream->last = -1; /* the next launch starts without an inherited error */
  stream->is_broken = false;
}

static bool report(CudaDevice *cuda, DeviceLaunch *launch, int32_t k, Error *err) {
  bool is_last = k == cuda->last_place;
  /* the latest launch's early messages are in cuda->messages */
  MessageBuffer *buffer = is_last ? &cuda->messages : &cuda->reported;
  if (!is_last) messages_begin(buffer);
  if (!take_report(cuda, buffer, launch, k, err)) return false;
  note_outcome(cuda, launch, &cuda->places[k]);
  launch->ticks = cuda_time_take(cuda, k);
  launch->work = cuda->places[k].work;
  return true;
}

bool cuda_finish(Device *device, DeviceLaunch *launch, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  int32_t k = place_of(launch->ticket);
  if (!launch->prints) launch->messages_lost = 0;
  launch->message_words = 0;
  bool is_entered = cuda_enter(cuda, err);
  bool ok =
      is_entered && cuda_select(cuda, cuda->places[k].stream, err) && report(cuda, launch, k, err);
  leave_place(cuda, k);
  if (!is_entered) return false;
  cuda_select(cuda, 0, NULL);
  cuda_leave(cuda);
  return ok;
}

void cuda_take_frame(CudaDevice *cuda, DeviceLaunch *launch) {
  uint64_t at = (uint64_t)place_of(launch->ticket) * block_bytes(cuda);
  memcpy(launch->frame, cuda->reports + at + find_places(launch).frame, frame_bytes(launch));
}

bool cuda_is_done(Device *device, uint64_t ticket) {
  CudaDevice *cuda = (CudaDevice *)device;
  const CudaPlace *place = &cuda->places[place_of(ticket)];
  if (!place->is_taken || place->number != number_of(ticket)) return true;
  if (!cuda_enter(cuda, NULL)) return true;
  bool is_done = cuda_is_idle(cuda, place->stream);
  cuda_leave(cuda);
  return is_done;
}

/* -- a task ------------------------------------------------------------------------------------ */

enum { MOST_THREADS = 0, SHARED_BYTES = 1 }; /* CUfunction_attribute */

/* The shared memory of threads that share a position is sized for the usual block. */
static int64_t most_threads(const CudaDevice *cuda, const DeviceTask *task, void *function) {
  int most = 0, shared = 0;
  const Driver *driver = &cuda->driver;
  if (driver->cuFuncGetAttribute(&most, MOST_THREADS, function) ||
      driver->cuFuncGetAttribute(&shared, SHARED_BYTES, function) || (shared && task->spread > 1))
    return CUDA_BLOCK_THREADS;
  return most;
}

/* Threads that share a position must be in one block, which has no others. */
static int64_t choose_threads(const CudaDevice *cuda, const DeviceLaunch *launch,
                              const DeviceTask *task, void *function) {
  int64_t wanted = launch->switches.threads;
  if (!wanted) return CUDA_BLOCK_THREADS;
  if (wanted > CUDA_BLOCK_THREADS) wanted = min_i64(wanted, most_threads(cuda, task, function));
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
  int64_t per_processor = launch->switches.blocks, most = cuda_most_blocks(cuda);
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

static bool start(CudaDevice *cuda, DeviceLaunch *launch, int32_t number, int64_t total,
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
  return cuda_races_begin(cuda, err) && start(cuda, launch, number, total, err) &&
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

static bool run(CudaDevice *cuda, DeviceLaunch *launch, int32_t number, Error *err) {
  const DeviceTask *task = &launch->tasks[number];
  int64_t total = count_positions(launch, task);
  if (!total) return true;
  if (cuda->unseen >= MOST_UNSEEN && !cuda_check_stop(cuda, err)) return false;
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
  if (ok) cuda_copies_note(cuda);
  cuda->unseen++;
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
  return run(cuda, launch, launch->context.task, err);
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

/* Takes the launch's place in the queue; its results come with its report. */
static void enqueue(CudaDevice *cuda, DeviceLaunch *launch) {
  CudaStream *stream = cuda->now;
  CudaPlace *place = &cuda->places[cuda->place];
  *place = (CudaPlace){.is_taken = true,
                       .stream = cuda->number,
                       .number = stream->launched,
                       .work = launch->work,
                       .host_error = launch->context.error,
                       .host_outside = cuda->worker.outside};
  cuda->worker.outside = (RtOutside){0};
  if (rt_stopped(&launch->context) && launch->context.error.kind == RT_OK)
    place->host_error.kind = RT_ERROR_STOPPED;
  launch->ticket = ticket_of(stream->launched, cuda->place);
  stream->last = cuda->last_place = cuda->place;
  stream->queued++;
  cuda->device.queued++;
}

/* -- synchronising with other streams ---------------------------------------------------------- */

static CudaUse *use_of(CudaDevice *cuda, const RtTree *tree) {
  CudaTree *own = tree->foreign ? cuda_owner(cuda, tree) : tree->device;
  return own ? &own->use : NULL;
}

/* The use of the budget, if the launch has trees that allocate from it. */
static CudaUse *budget_of(CudaDevice *cuda, const DeviceLaunch *launch) {
  for (int32_t k = 0; k < launch->tree_count; k++)
    if (launch->trees[k]->manager_count) return &cuda->budget_use;
  return NULL;
}

static bool join_uses(CudaDevice *cuda, const DeviceLaunch *launch, Error *err) {
  const CudaUse *budget = budget_of(cuda, launch);
  for (int32_t k = 0; k < launch->tree_count + launch->array_count; k++) {
    const CudaUse *use = use_of(cuda, launch->trees[k]);
    if (use && !cuda_join(cuda, *use, err)) return false;
  }
  return !budget || cuda_join(cuda, *budget, err);
}

static void note_uses(CudaDevice *cuda, const DeviceLaunch *launch) {
  CudaUse *budget = budget_of(cuda, launch);
  for (int32_t k = 0; k < launch->tree_count + launch->array_count; k++) {
    CudaUse *use = use_of(cuda, launch->trees[k]);
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
  cuda->unseen = 0;
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
    cuda_copies_hide(cuda);
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
  else cuda_wait(cuda, NULL); /* another stream may reuse its place */
  cuda_select(cuda, 0, NULL);
  cuda_leave(cuda);
  return !error_is_set(&failed) || (error_add(err, &failed), false);
}
