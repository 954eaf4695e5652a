/* memory.c - a device's memory manager, for memory that the host addresses: the device's own, or a
 * mirror's; server.c provides the addresses. It has a lock, since a launch on any thread may take
 * memory, for private copies and for arrays that kernels allocate. */
#include <string.h>

#include "base/bits.h"
#include "server/parts.h"

enum { MIN_PREFAULTED = 1 << 15, PIECE = 65536 };

static const uint64_t max_addresses = (uint64_t)1 << 46;

static uint8_t *pointer_to(uint64_t at) { return (uint8_t *)(uintptr_t)at; }

/* -- persistent -------------------------------------------------------------------------------- */

static MemoryBlock *allocate_persistent(Server *server, uint64_t size_bytes) {
  if (server->device->guard_pages || !server_memory_begin(server, NULL)) return NULL;
  server_lock(server);
  MemoryBlock *block =
      memory_allocate_block(&server->memory, MEMORY_PERSISTENT, size_bytes + ARENA_TAIL);
  server_unlock(server);
  return block;
}

/* Uses a separate range if the part is full, or if it needs guard pages. */
bool server_allocate(Device *device, DeviceMemory *memory, uint64_t size_bytes,
                     uint64_t least_bytes, Error *err) {
  Server *server = server_of(device);
  uint64_t size = size_bytes > least_bytes ? size_bytes : least_bytes;
  MemoryBlock *block = size < max_addresses ? allocate_persistent(server, size) : NULL;
  if (!block && !server->inner->allocate(device, memory, size_bytes, least_bytes, err))
    return false;
  if (block)
    *memory = (DeviceMemory){.base = pointer_to(block->at),
                             .reserved = align_up(size ? size : 1, PIECE),
                             .block = block};
  server->ranges++;
  server->range_bytes += memory->reserved;
  return true;
}

void server_free(Device *device, DeviceMemory *memory) {
  Server *server = server_of(device);
  MemoryBlock *block = memory->block;
  if (server->is_queued) queue_wait_all(&server->queue);
  if (memory->base) {
    server->ranges--;
    server->range_bytes -= memory->reserved;
  }
  server->inner->free(device, memory);
  if (!block) return;
  server_lock(server);
  memory_free_block(&server->memory, MEMORY_PERSISTENT, block, 0, 0);
  server_unlock(server);
}

/* -- transient --------------------------------------------------------------------------------- */

/* If the device works in host memory: requests huge pages, and pre-faults them if that is cheap. */
static void prefault(const Server *server, uint8_t *from, uint64_t size_bytes) {
  if (!device_is_unified(server->device) || size_bytes < MIN_PREFAULTED) return;
  arena_prefault(from, size_bytes);
  if (size_bytes <= ARENA_MAX_POPULATED) arena_populate(from, size_bytes);
}

void server_prefault(Device *device, uint8_t *from, uint64_t size_bytes) {
  Server *server = server_of(device);
  queue_wait_all(&server->queue); /* launches read the list of waiting ranges */
  server->inner->prefault(device, from, size_bytes);
}

/* Takes a separate range, if the pool is full or guard pages are needed. */
static bool allocate_range(Server *server, DeviceBlock *block, uint64_t size_bytes, Error *err) {
  Device *device = server->device;
  if (!server_allocate(device, &block->range, size_bytes, size_bytes, err)) return false;
  block->base = server->inner->map(device, &block->range);
  prefault(server, block->base, size_bytes);
  return true;
}

static void clear_block(Server *server, const DeviceBlock *block, uint64_t size_bytes) {
  uint64_t dirty = block->block->dirty < size_bytes ? block->block->dirty : size_bytes;
  prefault(server, block->base, size_bytes);
  memset(block->base, 0, dirty);
}

/* Frees blocks that waited for work which is done. The caller holds the lock. */
static void free_completed(Server *server) {
  for (int32_t k = 0; server->is_queued && k < MEMORY_STREAMS; k++)
    memory_complete(&server->memory, k, atomic_load(&server->queue.streams[k].completed));
}

static MemoryBlock *allocate_now(Server *server, MemoryKind kind, uint64_t size_bytes) {
  server_lock(server);
  free_completed(server);
  MemoryBlock *block = memory_allocate_block(&server->memory, kind, size_bytes);
  server_unlock(server);
  return block;
}

MemoryBlock *server_allocate_from(Server *server, MemoryKind kind, uint64_t size_bytes,
                                  Error *err) {
  if (!server_memory_begin(server, err)) return NULL;
  MemoryBlock *block = allocate_now(server, kind, size_bytes);
  if (block || !server->memory.waiting_bytes) return block;
  queue_wait_all(&server->queue);
  return allocate_now(server, kind, size_bytes);
}

MemoryBlock *server_allocate_transient(Server *server, uint64_t size_bytes) {
  return server_memory_begin(server, NULL) ? allocate_now(server, MEMORY_TRANSIENT, size_bytes)
                                           : NULL;
}

void server_free_transient(Server *server, MemoryBlock *block) {
  server_free_to(server, MEMORY_TRANSIENT, block, 0);
}

bool server_allocate_block(Device *device, DeviceBlock *block, uint64_t size_bytes, Error *err) {
  Server *server = server_of(device);
  *block = (DeviceBlock){0};
  if (device->guard_pages) return allocate_range(server, block, size_bytes, err);
  if (!server_memory_begin(server, err)) return false;
  block->block = server_allocate_from(server, MEMORY_TRANSIENT, size_bytes, err);
  if (!block->block) return allocate_range(server, block, size_bytes, err);
  block->base = pointer_to(block->block->at);
  clear_block(server, block, size_bytes);
  return true;
}

void server_free_to(Server *server, MemoryKind kind, MemoryBlock *block, uint64_t ticket) {
  server_lock(server);
  memory_free_block(&server->memory, kind, block, stream_of(ticket), cursor_of(ticket));
  server_unlock(server);
}

void server_free_block(Device *device, DeviceBlock *block, RtTree *tree) {
  Server *server = server_of(device);
  uint64_t last = server->is_queued && block->block ? tree->last_use : 0;
  if (server->is_queued && (!block->block || server->is_shared)) server_forget(device, tree);
  else server->inner->forget(device, tree);
  if (block->block) server_free_to(server, MEMORY_TRANSIENT, block->block, last);
  else server_free(device, &block->range);
  *block = (DeviceBlock){0};
}

/* -- staging ----------------------------------------------------------------------------------- */

MemoryBlock *server_stage(Server *server, uint64_t size_bytes, Error *err) {
  return server_allocate_from(server, MEMORY_STAGING, size_bytes, err);
}

void server_unstage(Server *server, MemoryBlock *block, uint64_t ticket) {
  server_free_to(server, MEMORY_STAGING, block, ticket);
}

/* -- reports ----------------------------------------------------------------------------------- */

/* Usage of persistent memory; only trees know how much of it is backed. */
static MemoryUsage usage_of_trees(Server *server) {
  MemoryUsage usage = memory_pool_usage(server->memory.pools[MEMORY_PERSISTENT]);
  usage.live = usage.in_use = usage.peak_live = usage.peak_in_use = 0;
  return usage;
}

static void add_pools(const MemoryManager *memory, ServerMemory *report) {
  for (int k = 0; k < MEMORY_KINDS; k++) {
    uint64_t bytes = memory_pool_addresses(memory->pools[k]);
    report->addresses += bytes;
    report->parts += bytes > 0;
  }
  report->transient = memory_pool_usage(memory->pools[MEMORY_TRANSIENT]);
  report->staging = memory_pool_usage(memory->pools[MEMORY_STAGING]);
  report->largest = memory_pool_largest(memory->pools[MEMORY_TRANSIENT]);
}

ServerMemory server_memory(Server *server) {
  static const char *const words[MEMORY_STRATEGY_COUNT] = {
#define STRATEGY(NAME, WORD) [MEMORY_##NAME] = WORD,
#include "memory/strategy.def"
#undef STRATEGY
  };
  const MemoryManager *memory = &server->memory;
  ServerMemory report = {.strategy = words[server->options.transient.strategy]};
  server_lock(server);
  if (server->has_memory) free_completed(server);
  if (server->has_memory) report.persistent = usage_of_trees(server);
  report.waiting = memory->waiting_bytes;
  report.persistent.blocks = (int64_t)server->ranges; /* including separate ranges */
  report.persistent.reserved = server->range_bytes;
  if (server->has_memory) add_pools(memory, &report);
  server_unlock(server);
  return report;
}

void server_trim_blocks(Device *device) {
  Server *server = server_of(device);
  if (!server->has_memory) return;
  server_lock(server);
  free_completed(server);
  memory_tick(&server->memory);
  server_unlock(server);
}

void server_trim(Server *server) {
  if (!server->has_memory) return;
  server_lock(server);
  free_completed(server);
  memory_trim(&server->memory);
  server_unlock(server);
}
