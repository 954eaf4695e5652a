/* cpu.c - the device that is always available. Its memory is the host's, mapped in place; its code
 * runs where the loader placed it; its launches return when they are done. */
#include <string.h>

#include "device/cpu.h"
#include "device/private_copies.h"
#include "device/processor.h"
#include "device/races.h"

/* -- memory ------------------------------------------------------------------------------------ */

static uint64_t guard_of(const Device *device) { return device->guard_pages ? ARENA_GUARD : 0; }

static bool allocate(Device *device, DeviceMemory *memory, uint64_t size_bytes,
                     uint64_t least_bytes, Error *err) {
  Arena arena = {.guard = guard_of(device)};
  if (!arena_reserve(&arena, size_bytes, least_bytes, err)) return false;
  *memory = (DeviceMemory){arena.base, arena.reserved};
  return true;
}

static void settle(Device *device, uint8_t *from, uint64_t size_bytes) {
  arena_settle(from, size_bytes);
}

static void enlarge(Device *device, uint8_t *from, uint64_t size_bytes) {
  arena_enlarge(from, size_bytes);
}

static bool allocate_zeros(Device *device, DeviceMemory *memory, uint64_t size_bytes, Error *err) {
  Arena arena = {.guard = guard_of(device)};
  if (!arena_reserve_zeros(&arena, size_bytes, err)) return false;
  *memory = (DeviceMemory){arena.base, arena.reserved};
  return true;
}

static void free_memory(Device *device, DeviceMemory *memory) {
  Arena arena = {memory->base, memory->reserved, guard_of(device)};
  arena_release(&arena);
  *memory = (DeviceMemory){0};
}

static void discard(Device *device, uint8_t *from, uint64_t size_bytes) {
  arena_discard(from, size_bytes);
}
static uint8_t *map(Device *device, const DeviceMemory *memory) { return memory->base; }

static void copy(Device *device, void *to, const uint8_t *from, uint64_t size_bytes) {
  memcpy(to, from, size_bytes);
}

/* -- callbacks of the runtime ------------------------------------------------------------------ */

/* The runtime's lists grow in the core's heap. */
static void *grow(RtContext *context, void *memory, uint64_t old_bytes, uint64_t new_bytes) {
  CpuDevice *cpu = context->host;
  return heap_resize(cpu->device.heap, memory, new_bytes);
}

static void discard_nodes(RtContext *context, void *memory, uint64_t bytes) {
  arena_discard(memory, bytes);
}

/* -- the device -------------------------------------------------------------------------------- */

static bool is_within(Device *device) { return pool_is_within(((CpuDevice *)device)->pool); }

/* launches return when they are done */
static bool sync_cpu(Device *device, Error *err) { return true; }

static void destroy_cpu(Device *device) {
  CpuDevice *cpu = (CpuDevice *)device;
  if (cpu->pool) pool_destroy(cpu->pool);
  messages_free(&cpu->said, cpu->workers, device->worker_count);
  races_destroy(cpu);
  heap_free(device->heap, cpu->workers);
  heap_free(device->heap, cpu->took_part);
  heap_free(device->heap, cpu);
}

static const DeviceTable cpu_table = {
    .name = "cpu",
    .allocate = allocate,
    .settle = settle,
    .enlarge = enlarge,
    .allocate_zeros = allocate_zeros,
    .free = free_memory,
    .discard = discard,
    .map = map,
    .copy = copy,
    .load = cpu_load,
    .unload = cpu_unload,
    .launch = cpu_launch,
    .is_within = is_within,
    .sync = sync_cpu,
    .forget = copies_free,
    .destroy = destroy_cpu};

static bool create_workers(CpuDevice *cpu) {
  size_t count = (size_t)cpu->device.worker_count;
  cpu->workers = heap_alloc(cpu->device.heap, sizeof *cpu->workers * count);
  cpu->took_part = heap_alloc(cpu->device.heap, count);
  for (size_t k = 0; cpu->workers && k < count; k++) cpu->workers[k].index = (int32_t)k;
  return cpu->workers && cpu->took_part;
}

static Pool *create_pool(Heap *heap, const DeviceOptions *options, Error *err) {
  if (!options->host) return pool_create(heap, options->threads, err);
  return pool_create_hosted(heap, options->threads, options->host, options->host_data, err);
}

Device *device_cpu_create(Heap *heap, const DeviceOptions *options, Error *err) {
  CpuDevice *cpu = heap_alloc(heap, sizeof *cpu);
  if (cpu) cpu->device = (Device){.table = &cpu_table,
                                  .heap = heap,
                                  .shuffle_tasks = options->shuffle_tasks,
                                  .gc_each_launch = options->gc_each_launch,
                                  .guard_pages = options->guard_pages,
                                  .fails_in_task = options->fails_in_task,
                                  .seed = options->seed};
  if (cpu) cpu->said.heap = heap;
  if (cpu && !device_choose_processor(&cpu->device, options->processor, err)) {
    destroy_cpu(&cpu->device);
    return NULL;
  }
  if (cpu && (cpu->pool = create_pool(heap, options, err)))
    cpu->device.worker_count = pool_worker_count(cpu->pool);
  if (!cpu || !cpu->pool || !create_workers(cpu)) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a device");
    if (cpu) destroy_cpu(&cpu->device);
    return NULL;
  }
  cpu->device.native = (RtContext){.workers = cpu->workers,
                                   .worker_count = cpu->device.worker_count,
                                   .task = -1,
                                   .host = cpu,
                                   .grow = grow,
                                   .parallel = cpu_share,
                                   .discard = discard_nodes};
  if (!options->finds_races) return &cpu->device;
  if (!races_create(cpu, err)) {
    destroy_cpu(&cpu->device);
    return NULL;
  }
  cpu->device.native.races = &cpu->races;
  return &cpu->device;
}
