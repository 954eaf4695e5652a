/* cuda.c - the CUDA device: one GPU, its context, and the table. */
#include "device/cuda/cuda.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/clock.h"
#include "base/option.h"
#include "device/host_memory.h"
#include "device/processor.h"

/* -- lost contexts ----------------------------------------------------------------------------- */

/* A fault ends the context, which all runtimes of the process share. `faults` counts that, and
 * `renewals` how many of these contexts a new runtime has reset. We free nothing of an old context,
 * as the new one may reuse its addresses. */
static _Atomic uint32_t faults, renewals;

static void mark_lost(CudaDevice *cuda) {
  uint32_t seen = cuda->faults_before; /* one fault counts once, whichever runtime sees it */
  cuda->is_lost = cuda->has_faulted = true;
  if (cuda->has_context) atomic_compare_exchange_strong(&faults, &seen, seen + 1);
}

bool cuda_is_lost(CudaDevice *cuda) {
  return cuda->is_lost |= cuda->has_context && cuda->faults_before != atomic_load(&faults);
}

static void renew_context(CudaDevice *cuda) {
  uint32_t done = atomic_load(&renewals), now = cuda->faults_before = atomic_load(&faults);
  if (done != now && atomic_compare_exchange_strong(&renewals, &done, now))
    cuda->driver.cuDevicePrimaryCtxReset_v2(cuda->about.number);
}

/* -- driver calls ------------------------------------------------------------------------------ */

bool cuda_check(CudaDevice *cuda, int result, const char *what, Error *err) {
  if (driver_is_lost(result)) mark_lost(cuda);
  return driver_check(&cuda->driver, result, what, err);
}

bool cuda_enter(CudaDevice *cuda, Error *err) {
  if (cuda_is_lost(cuda)) {
    error_set(err, RG_ERROR_DEVICE_LOST, "this runtime cannot use the GPU any more since %s",
              cuda->has_faulted ? "an earlier fault"
                                : "a fault in another runtime of this process");
    return error_hint(err, "its contents are lost: rg.reset() makes a new runtime");
  }
  return cuda_check(cuda, cuda->driver.cuCtxPushCurrent_v2(cuda->context), "be used by this thread",
                    err);
}

void cuda_leave(CudaDevice *cuda) {
  void *context;
  cuda->driver.cuCtxPopCurrent_v2(&context);
}

bool cuda_finish_all(CudaDevice *cuda, Error *err) {
  Device *device = &cuda->device;
  return !device->report_all || device->report_all(device->report_data, err);
}

/* -- host memory: the mirror ------------------------------------------------------------------- */

/* Hints are ignored, so that a mirror uses no memory if the host never reads it. */
static void ignore_hint(Device *device, uint8_t *from, uint64_t size_bytes) {}

/* -- the device -------------------------------------------------------------------------------- */

static bool is_within(Device *device) { return false; }

static bool sync_cuda(Device *device, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  if (!cuda_finish_all(cuda, err) || !cuda_enter(cuda, err)) return false;
  bool ok = cuda_external_sync(cuda, err) && cuda_wait_all(cuda, err);
  cuda_leave(cuda);
  return ok;
}

static void free_all(CudaDevice *cuda) {
  for (CudaForeign *at = cuda->foreign, *next; at; at = next) {
    next = at->next;
    cuda_free(cuda, &at->memory);
    heap_free(cuda->device.heap, at);
  }
  cuda_copies_free(cuda);
  while (cuda->trees) cuda_forget(&cuda->device, cuda->trees->tree);
  cuda_symmetric_free(cuda);
  CudaRange *ranges[] = {&cuda->heap,  &cuda->budget, &cuda->ambient, &cuda->counts,
                         &cuda->block, &cuda->races,  &cuda->shadow};
  for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) cuda_free(cuda, ranges[k]);
  cuda_times_free(cuda);
  cuda_streams_free(cuda);
  cuda_plain_free(cuda);
  if (cuda_is_lost(cuda)) return;
  if (cuda->service) cuda->driver.cuModuleUnload(cuda->service);
  if (cuda->begin) cuda->driver.cuModuleUnload(cuda->begin);
}

static void destroy_cuda(Device *device) {
  CudaDevice *cuda = (CudaDevice *)device;
  Heap *heap = device->heap;
  void *context;
  if (cuda->has_context && !cuda->driver.cuCtxPushCurrent_v2(cuda->context)) {
    free_all(cuda);
    cuda->driver.cuCtxPopCurrent_v2(&context);
  }
  cuda->is_lost = true; /* without its context nothing can be freed */
  cuda_plain_free(cuda);
  if (cuda->has_context) cuda->driver.cuDevicePrimaryCtxRelease_v2(cuda->about.number);
  driver_close(&cuda->driver);
  messages_free(&cuda->messages, &cuda->worker, 1);
  messages_free(&cuda->reported, NULL, 0);
  heap_free(heap, cuda->gpu_frame);
  heap_free(heap, cuda->reports);
  heap_free(heap, cuda);
}

/* All streams share the slots for queued launches (max_queued). */
static bool has_room(Device *device, int32_t stream) { return true; }

/* A launch that runs on the GPU cannot be stopped. */
static bool stop(Device *device) { return false; }

static const DeviceTicketTable tickets = {
    .finish = cuda_finish, .is_done = cuda_is_done, .has_room = has_room, .stop = stop};
static const DeviceAccessTable access = {.reach = cuda_reach, .adopt = cuda_adopt};
static const DeviceMirrorTable mirror = {.locate = cuda_locate,
                                         .host_at = cuda_host_at,
                                         .is_idle = cuda_is_tree_idle,
                                         .reach_array = cuda_reach_array,
                                         .forget_array = cuda_forget_array,
                                         .reach_arrays = cuda_reach_arrays};
static const DeviceRemoteTable remote = {.clear = cuda_clear,
                                         .visit = cuda_visit,
                                         .put = cuda_put,
                                         .move = cuda_move,
                                         .set = cuda_set,
                                         .copy_cells = cuda_copy_cells};
static const DevicePinTable pins = {.pin = cuda_pin, .unpin = cuda_unpin};
static const DeviceSharingTable sharing = {
    .symmetric = &cuda_symmetric, .share = cuda_share, .publish = cuda_publish};

/* Without pins, which only some GPUs have. */
static const DeviceTable cuda_table = {.name = "cuda",
                                       .allocate = host_allocate,
                                       .allocate_zeros = host_allocate_zeros,
                                       .free = host_free,
                                       .prefault = ignore_hint,
                                       .prefer_huge_pages = ignore_hint,
                                       .discard = host_discard,
                                       .map = host_map,
                                       .copy = host_copy,
                                       .forget = cuda_forget,
                                       .load = cuda_load,
                                       .unload = cuda_unload,
                                       .describe = cuda_describe,
                                       .launch = cuda_launch,
                                       .is_within = is_within,
                                       .sync = sync_cuda,
                                       .destroy = destroy_cuda,
                                       .tickets = &tickets,
                                       .access = &access,
                                       .mirror = &mirror,
                                       .remote = &remote,
                                       .sharing = &sharing};

static bool open_context(CudaDevice *cuda, bool finds_races, Error *err) {
  const Driver *driver = &cuda->driver;
  renew_context(cuda);
  int result = driver->cuDevicePrimaryCtxRetain(&cuda->context, cuda->about.number);
  if (!cuda_check(cuda, result, "be used by this process", err)) return false;
  cuda->has_context = true;
  if (!cuda_enter(cuda, err)) return false;
  bool ok = cuda_select(cuda, 0, err) &&
            cuda_allocate(cuda, &cuda->budget, sizeof(RtBudget), err) &&
            cuda_allocate(cuda, &cuda->ambient, RT_SEGMENT, err) &&
            (!finds_races || cuda_races_create(cuda, err));
  cuda_leave(cuda);
  return ok;
}

/* The architecture that we compile for, for GPUs up to this one; the driver translates for newer
 * GPUs. */
static int processor_for(int capability) {
  int newest = 0;
#define GPU(CAPABILITY, TARGET, ISA) \
  if (capability >= CAPABILITY) newest = TARGET;
#include "jit/gpu.def"
#undef GPU
  return newest;
}

static void fill_device(CudaDevice *cuda, Heap *heap, const DeviceOptions *options) {
  int capability = processor_for(cuda->about.capability);
  snprintf(cuda->processor, sizeof cuda->processor, "sm_%d", capability);
  Device *device = &cuda->device;
  device->worker_count = 1;
  device->max_queued = CUDA_MAX_QUEUED;
  device->processors[RG_TARGET_PTX] = cuda->processor;
  device->memory_bytes = cuda->about.memory_bytes;
  device->name = cuda->about.name;
  if (cuda->about.maps_host_memory) cuda->table.pins = &pins;
  ASSERT(device_table_is_complete(&cuda->table), "CUDA fills in its table");
  device->native = (RtContext){.workers = &cuda->worker,
                               .worker_count = 1,
                               .task = -1,
                               .host = cuda,
                               .grow = host_grow,
                               .move = cuda_array_move,
                               .discard = host_discard_nodes};
}

static void fill_guesses(int64_t *guesses) {
#define GUESS(NAME, DEFAULT, LEAST, TEXT) \
  guesses[CUDA_GUESS_##NAME] = max_i64(LEAST, option_number("RG_GUESS", #NAME, DEFAULT));
#include "device/guess.def"
#undef GUESS
}

/* This process's number on its host, as the launcher of ranks sets it: regolith run, whose ranks
 * are on one host; Open MPI; MPICH and Intel MPI; Slurm. */
static int number_on_host(void) {
  static const char *const names[] = {"RG_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                      "SLURM_LOCALID"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *text = getenv(names[k]);
    if (text && *text) return (int)(strtoul(text, NULL, 10) % DRIVER_ROUND_ROBIN);
  }
  return 0;
}

/* Finds the `number` to pass to driver_device. */
static bool choose_gpu(int *number, Error *err) {
  const char *text = option_text("RG_GPU");
  char *end;
  *number = DRIVER_ROUND_ROBIN + number_on_host();
  if (!*text) return true;
  unsigned long chosen = strtoul(text, &end, 10);
  *number = (int)(chosen % DRIVER_ROUND_ROBIN);
  return (*text >= '0' && *text <= '9' && !*end && chosen < DRIVER_ROUND_ROBIN) ||
         error_set(err, RG_ERROR_OPTION,
                   "RG_GPU must be the number of a GPU, counted from 0, "
                   "got '%.40s'",
                   text);
}

Device *device_cuda_create(Heap *heap, const DeviceOptions *options, Error *err) {
  CudaDevice *cuda = heap_alloc(heap, sizeof *cuda);
  if (!cuda) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a device");
    return NULL;
  }
  cuda->table = cuda_table;
  cuda->device = (Device){.table = &cuda->table,
                          .heap = heap,
                          .gc_each_launch = options->gc_each_launch,
                          .guard_pages = options->guard_pages,
                          .fails_in_task = options->fails_in_task,
                          .seed = options->seed};
  fill_guesses(cuda->guesses);
  cuda->begin_ticks = clock_ticks();
  cuda->begin_ns = clock_ns();
  cuda->messages.heap = cuda->reported.heap = heap;
  int number;
  if (choose_gpu(&number, err) && driver_open(&cuda->driver, err) &&
      driver_device(&cuda->driver, number, &cuda->about, err) &&
      device_choose_processor(&cuda->device, options->processor, err) &&
      open_context(cuda, options->finds_races, err)) {
    fill_device(cuda, heap, options);
    cuda->has_graphs = cuda_can_repeat(&cuda->driver);
    return &cuda->device;
  }
  destroy_cuda(&cuda->device);
  error_hint(err, "arch = {\"cuda\", \"cpu\"} falls back to the processor");
  return NULL;
}
