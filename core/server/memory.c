/* memory.c - the memory manager of a device, over memory that the host addresses: the device's own,
 * or a mirror's. One range of addresses, four times as large as the budget, holds all that is
 * transient or on its way; pages of it get memory as they are touched. */
#include <string.h>

#include "base/bits.h"
#include "base/clock.h"
#include "server/parts.h"

enum { PARTS_OF_BUDGET = 4, SETTLED = 1 << 15, LARGE = 2 * MEMORY_PAGE, PIECE = 65536 };
static const uint64_t most_addresses = (uint64_t)1 << 42;

/* -- what the manager takes from the host ------------------------------------------------------ */

static uint8_t *pointer_to(uint64_t at) { return (uint8_t *)(uintptr_t)at; }

/* Small runs of pages keep the system's page size: what is in them may be small. */
static bool commit(void *data, uint64_t at, uint64_t size_bytes) {
  (void)data;
  if (size_bytes >= LARGE) arena_enlarge(pointer_to(at), size_bytes);
  return true;
}

static void decommit(void *data, uint64_t at, uint64_t size_bytes) {
  (void)data;
  arena_discard(pointer_to(at), size_bytes);
}

static uint64_t allocate_piece(void *data, uint64_t size_bytes) {
  Arena piece = {0};
  (void)data;
  return arena_reserve(&piece, size_bytes, size_bytes, NULL) ? (uint64_t)(uintptr_t)piece.base : 0;
}

static void free_piece(void *data, uint64_t at, uint64_t size_bytes) {
  Arena piece = {pointer_to(at), align_up(size_bytes, PIECE), 0};
  (void)data;
  arena_release(&piece);
}

static int64_t now_ns(void *data) {
  (void)data;
  return clock_ns();
}

/* -- persistent -------------------------------------------------------------------------------- */

bool server_allocate(Device *device, DeviceMemory *memory, uint64_t size_bytes,
                     uint64_t least_bytes, Error *err) {
  Server *server = server_of(device);
  if (!server->inner->allocate(device, memory, size_bytes, least_bytes, err)) return false;
  server->memory.ranges++;
  server->memory.range_bytes += memory->reserved;
  return true;
}

void server_free(Device *device, DeviceMemory *memory) {
  Server *server = server_of(device);
  if (memory->base) {
    server->memory.ranges--;
    server->memory.range_bytes -= memory->reserved;
  }
  server->inner->free(device, memory);
}

/* -- transient --------------------------------------------------------------------------------- */

static bool begin(Server *server, Error *err) {
  if (server->has_memory) return true;
  uint64_t wanted = server->options.memory_bytes;
  wanted = wanted > most_addresses / PARTS_OF_BUDGET ? most_addresses : wanted * PARTS_OF_BUDGET;
  if (!arena_reserve(&server->range, wanted, 2 * MEMORY_PAGE, err)) return false;
  uint64_t base = align_up((uint64_t)(uintptr_t)server->range.base, MEMORY_PAGE);
  uint64_t past = (uint64_t)(uintptr_t)server->range.base + server->range.reserved;
  MemorySource source = {.data = server,
                         .base = base,
                         .size_bytes = (past - base) / MEMORY_PAGE * MEMORY_PAGE,
                         .commit = commit,
                         .decommit = decommit,
                         .allocate = allocate_piece,
                         .free = free_piece,
                         .now_ns = now_ns};
  uint64_t ranges = server->memory.ranges, range_bytes = server->memory.range_bytes;
  server->has_memory = true;
  bool ok = memory_init(&server->memory, server->device->heap, &source,
                        &server->options.transient);
  server->memory.ranges = ranges;
  server->memory.range_bytes = range_bytes;
  if (!ok) server_memory_end(server);
  return ok || error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a memory manager");
}

void server_memory_end(Server *server) {
  if (!server->has_memory) return;
  server->has_memory = false;
  memory_deinit(&server->memory);
  arena_release(&server->range);
}

/* A range of its own: beside a pool that is full, and where pages around it are to be guarded. */
static bool take_range(Server *server, DeviceBlock *block, uint64_t size_bytes, Error *err) {
  Device *device = server->device;
  if (!server_allocate(device, &block->range, size_bytes, size_bytes, err)) return false;
  block->base = server->inner->map(device, &block->range);
  server->inner->settle(device, block->base, size_bytes);
  return true;
}

static void make_zero(Server *server, const DeviceBlock *block, uint64_t size_bytes) {
  uint64_t dirty = block->block->dirty < size_bytes ? block->block->dirty : size_bytes;
  if (size_bytes >= SETTLED) server->inner->settle(server->device, block->base, size_bytes);
  memset(block->base, 0, dirty);
}

bool server_take(Device *device, DeviceBlock *block, uint64_t size_bytes, Error *err) {
  Server *server = server_of(device);
  *block = (DeviceBlock){0};
  if (device->guard_pages) return take_range(server, block, size_bytes, err);
  if (!begin(server, err)) return false;
  block->block = memory_take(&server->memory, MEMORY_TRANSIENT, size_bytes);
  if (!block->block) return take_range(server, block, size_bytes, err);
  block->base = pointer_to(block->block->at);
  make_zero(server, block, size_bytes);
  return true;
}

void server_give(Device *device, DeviceBlock *block, RtTree *tree) {
  Server *server = server_of(device);
  server->inner->forget(device, tree);
  if (block->block) memory_give(&server->memory, MEMORY_TRANSIENT, block->block, 0, 0);
  else server_free(device, &block->range);
  *block = (DeviceBlock){0};
}

/* -- what there is ----------------------------------------------------------------------------- */

ServerMemory server_memory(Server *server) {
  static const char *const words[MEMORY_STRATEGY_COUNT] = {
#define STRATEGY(NAME, WORD) [MEMORY_##NAME] = WORD,
#include "memory/strategy.def"
#undef STRATEGY
  };
  const MemoryManager *memory = &server->memory;
  ServerMemory report = {.strategy = words[server->options.transient.strategy],
                         .waiting = memory->waiting_bytes};
  report.persistent.blocks = (int64_t)memory->ranges;
  report.persistent.reserved = memory->range_bytes;
  if (!server->has_memory) return report;
  report.transient = memory_pool_usage(memory->pools[MEMORY_TRANSIENT]);
  report.staging = memory_pool_usage(memory->pools[MEMORY_STAGING]);
  report.largest = memory_pool_largest(memory->pools[MEMORY_TRANSIENT]);
  return report;
}

void server_trim(Server *server) {
  if (server->has_memory) memory_trim(&server->memory);
}
