/* cpu.c - the device that is always available. Its memory is the host's, mapped in place; its code
 * runs where the loader placed it; its launches return when they are done. */
#include "device/cpu.h"

#include "base/option.h"
#include "device/host_memory.h"
#include "device/prefault.h"
#include "device/private_copies.h"
#include "device/processor.h"
#include "device/races.h"
#include "memory/cache_size.h"

/* -- memory ------------------------------------------------------------------------------------ */

static void prefer_huge_pages(Device *device, uint8_t *from, uint64_t size_bytes) {
  arena_prefer_huge_pages(from, size_bytes);
}

/* -- the device -------------------------------------------------------------------------------- */

static bool is_within(Device *device) { return pool_is_within(((CpuDevice *)device)->pool); }

/* There is nothing to describe, as no driver compiles the code again. */
static bool cpu_describe(Device *device, const DeviceCode *code, const DeviceTask *tasks,
                         int32_t number, DeviceTaskCode *out) {
  return false;
}

/* launches return when they are done */
static bool sync_cpu(Device *device, Error *err) { return true; }

static void destroy_cpu(Device *device) {
  CpuDevice *cpu = (CpuDevice *)device;
  if (cpu->pool) pool_destroy(cpu->pool);
  messages_free(&cpu->messages, cpu->workers, device->worker_count);
  races_destroy(cpu);
  prefault_destroy(cpu);
  heap_free(device->heap, cpu->workers);
  heap_free(device->heap, cpu->took_part);
  heap_free(device->heap, cpu);
}

static const DeviceTable cpu_table = {.name = "cpu",
                                      .allocate = host_allocate,
                                      .prefault = prefault_request,
                                      .prefer_huge_pages = prefer_huge_pages,
                                      .allocate_zeros = host_allocate_zeros,
                                      .free = prefault_free,
                                      .discard = host_discard,
                                      .map = host_map,
                                      .copy = host_copy,
                                      .load = cpu_load,
                                      .unload = cpu_unload,
                                      .describe = cpu_describe,
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

/* How many bytes a loop must write to make non-temporal stores profitable: so many that the caches
 * would contain no data for the next loop. */
static uint64_t stream_bytes(void) {
  uint64_t cache = cache_bytes();
  if (option_has_word("RG_STRESS", "force_streams")) return 0;
  return cache < UINT64_MAX / 2 ? 2 * cache : UINT64_MAX;
}

static Pool *create_pool(Heap *heap, const DeviceOptions *options, Error *err) {
  if (!options->host) return pool_create(heap, options->threads, err);
  return pool_create_hosted(heap, options->threads, options->host, options->host_data, err);
}

Device *device_cpu_create(Heap *heap, const DeviceOptions *options, Error *err) {
  CpuDevice *cpu = heap_alloc(heap, sizeof *cpu);
  if (cpu)
    cpu->device = (Device){.table = &cpu_table,
                           .heap = heap,
                           .times_launches = true,
                           .shuffle_tasks = options->shuffle_tasks,
                           .gc_each_launch = options->gc_each_launch,
                           .guard_pages = options->guard_pages,
                           .fails_in_task = options->fails_in_task,
                           .seed = options->seed};
  if (cpu) cpu->messages.heap = heap;
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
                                   .stream_bytes = stream_bytes(),
                                   .grow = host_grow,
                                   .parallel = cpu_share,
                                   .discard = host_discard_nodes};
  ASSERT(device_table_is_complete(&cpu_table), "the CPU fills in its table");
  if (!options->finds_races) return &cpu->device;
  if (!races_create(cpu, err)) {
    destroy_cpu(&cpu->device);
    return NULL;
  }
  cpu->device.native.races = &cpu->races;
  return &cpu->device;
}
