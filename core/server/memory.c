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
  if (server->is_queued) queue_wait_all(&server->queue);
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

/* Of a device that works in the host's memory: as large pages, and present if that is cheap. */
static void settle(const Server *server, uint8_t *from, uint64_t size_bytes) {
  if (server->device->memory_bytes || size_bytes < SETTLED) return;
  arena_settle(from, size_bytes);
  if (size_bytes <= ARENA_PRESENT) arena_make_present(from, size_bytes);
}

void server_settle(Device *device, uint8_t *from, uint64_t size_bytes) {
  Server *server = server_of(device);
  queue_wait_all(&server->queue); /* launches look at what is settled */
  server->inner->settle(device, from, size_bytes);
}

/* A range of its own: beside a pool that is full, and where pages around it are to be guarded. */
static bool take_range(Server *server, DeviceBlock *block, uint64_t size_bytes, Error *err) {
  Device *device = server->device;
  if (!server_allocate(device, &block->range, size_bytes, size_bytes, err)) return false;
  block->base = server->inner->map(device, &block->range);
  settle(server, block->base, size_bytes);
  return true;
}

static void make_zero(Server *server, const DeviceBlock *block, uint64_t size_bytes) {
  uint64_t dirty = block->block->dirty < size_bytes ? block->block->dirty : size_bytes;
  settle(server, block->base, size_bytes);
  memset(block->base, 0, dirty);
}

/* What waits for work that is done is free. */
static void note_completed(Server *server) {
  for (int32_t k = 0; server->is_queued && k < MEMORY_STREAMS; k++)
    memory_complete(&server->memory, k, atomic_load(&server->queue.streams[k].completed));
}

MemoryBlock *server_take_block(Server *server, MemoryKind kind, uint64_t size_bytes, Error *err) {
  if (!begin(server, err)) return NULL;
  note_completed(server);
  MemoryBlock *block = memory_take(&server->memory, kind, size_bytes);
  if (block || !server->memory.waiting_bytes) return block;
  queue_wait_all(&server->queue);
  note_completed(server);
  return memory_take(&server->memory, kind, size_bytes);
}

bool server_take(Device *device, DeviceBlock *block, uint64_t size_bytes, Error *err) {
  Server *server = server_of(device);
  *block = (DeviceBlock){0};
  if (device->guard_pages) return take_range(server, block, size_bytes, err);
  if (!begin(server, err)) return false;
  block->block = server_take_block(server, MEMORY_TRANSIENT, size_bytes, err);
  if (!block->block) return take_range(server, block, size_bytes, err);
  block->base = pointer_to(block->block->at);
  make_zero(server, block, size_bytes);
  return true;
}

void server_give_block(Server *server, MemoryKind kind, MemoryBlock *block, uint64_t ticket) {
  memory_give(&server->memory, kind, block, stream_of(ticket), cursor_of(ticket));
}

void server_give(Device *device, DeviceBlock *block, RtTree *tree) {
  Server *server = server_of(device);
  uint64_t last = server->is_queued && block->block ? tree->last_use : 0;
  if (server->is_queued && (!block->block || server->is_shared)) server_forget(device, tree);
  else server->inner->forget(device, tree);
  if (block->block) server_give_block(server, MEMORY_TRANSIENT, block->block, last);
  else server_free(device, &block->range);
  *block = (DeviceBlock){0};
}

/* -- on its way -------------------------------------------------------------------------------- */

MemoryBlock *server_stage(Server *server, uint64_t size_bytes, Error *err) {
  return server_take_block(server, MEMORY_STAGING, size_bytes, err);
}

void server_unstage(Server *server, MemoryBlock *block, uint64_t ticket) {
  server_give_block(server, MEMORY_STAGING, block, ticket);
}

/* -- what there is ----------------------------------------------------------------------------- */

ServerMemory server_memory(Server *server) {
  static const char *const words[MEMORY_STRATEGY_COUNT] = {
#define STRATEGY(NAME, WORD) [MEMORY_##NAME] = WORD,
#include "memory/strategy.def"
#undef STRATEGY
  };
  const MemoryManager *memory = &server->memory;
  if (server->has_memory) note_completed(server);
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
  if (!server->has_memory) return;
  note_completed(server);
  memory_trim(&server->memory);
}
