/* server.c - attaches the server to the device, and detaches it; and reserves the addresses of its
 * memory manager. */
#include "base/bits.h"
#include "base/clock.h"
#include "server/parts.h"

static void destroy(Device *device);

static const DeviceBlockTable blocks = {
    .allocate = server_allocate_block, .free = server_free_block, .trim = server_trim_blocks};
static const DeviceTicketTable tickets = {.finish = server_finish,
                                          .is_done = server_is_done,
                                          .has_room = server_has_room,
                                          .stop = server_stop};
static const DeviceAccessTable access_table = {.reach = server_reach, .adopt = server_adopt};

Server *server_of(const Device *device) {
  return device->table->destroy == destroy ? (Server *)(void *)device->table : NULL;
}

Device *server_device(const Server *server) { return server->device; }

static void destroy(Device *device) {
  Server *server = server_of(device);
  const DeviceTable *inner = server->inner;
  Heap *heap = device->heap;
  if (server->is_queued) queue_deinit(&server->queue);
  server_memory_end(server);
  device->table = inner;
  heap_free(heap, server);
  inner->destroy(device);
}

static void begin_queue(Server *server) {
  Device *device = server->device;
  DeviceTable *table = &server->table;
  ASSERT(!server->inner->tickets, "a device that queues launches needs no second queue");
  server->is_queued = true;
  queue_init(&server->queue, device, server->inner);
  table->launch = server_launch;
  table->tickets = &tickets;
  table->access = &access_table;
  table->sync = server_sync;
  table->forget = server_forget;
  table->prefault = server_prefault;
  table->is_within = server_is_within;
  device->max_queued = MEMORY_STREAMS * QUEUE_RECORDS;
  device->max_words = QUEUE_WORDS;
  device->maintains_idle = true;
}

bool server_attach(Device *device, const ServerOptions *options, Error *err) {
  Server *server = heap_alloc(device->heap, sizeof *server);
  if (!server)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a device's server");
  *server = (Server){
      .table = *device->table, .inner = device->table, .device = device, .options = *options};
  server->table.allocate = server_allocate;
  server->table.free = server_free;
  server->table.blocks = &blocks;
  server->table.destroy = destroy;
  if (options->channel == SERVER_THREAD) begin_queue(server);
  device->table = &server->table;
  return true;
}

/* -- the addresses of a device's memory -------------------------------------------------------- */

/* The addresses of a device's memory: one range, with a part for each kind.
 *
 *     | persistent: 32 times the budget | transient: twice | staging: once |
 *
 * Persistent memory is inaccessible except for blocks in use, so that any use of a destroyed tree
 * faults; its blocks are large and few. In the other parts, pages are committed as they are
 * touched. If the system refuses that many addresses (ulimit -v, valgrind), fewer are reserved for
 * the other two kinds, and each tree has a separate range. Decision D-server-01. */

#if defined(RG_DEBUG)
enum { PERSISTENT_BUDGETS = 4 }; /* sanitizers leave few addresses to a process */
#else
enum { PERSISTENT_BUDGETS = 32 };
#endif
enum { TRANSIENT_BUDGETS = 2, STAGING_BUDGETS = 1 };
enum { LARGE = 2 * MEMORY_PAGE, PIECE = 65536 };
static const uint64_t max_budget = (uint64_t)1 << 39;

static uint8_t *pointer_to(uint64_t at) { return (uint8_t *)(uintptr_t)at; }

/* -- memory sources of the pools --------------------------------------------------------------- */

static bool open_pages(void *data, uint64_t at, uint64_t size_bytes) {
  (void)data;
  return arena_open(pointer_to(at), size_bytes);
}

static void close_pages(void *data, uint64_t at, uint64_t size_bytes) {
  (void)data;
  arena_close(pointer_to(at), size_bytes);
}

/* Small runs of pages keep the system's page size, as blocks in them may be small. */
static bool commit(void *data, uint64_t at, uint64_t size_bytes) {
  (void)data;
  if (size_bytes >= LARGE) arena_prefer_huge_pages(pointer_to(at), size_bytes);
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

/* -- the range --------------------------------------------------------------------------------- */

static bool reserve_all(Server *server, uint64_t budget) {
  uint64_t closed = PERSISTENT_BUDGETS * budget,
           opened = (TRANSIENT_BUDGETS + STAGING_BUDGETS) * budget;
  if (!arena_reserve_closed(&server->range, closed + opened)) return false;
  if (arena_open(server->range.base + closed, opened)) return true;
  arena_release(&server->range);
  return false;
}

/* Reserves whole pages; fills the bytes of each kind. */
static bool reserve_parts(Server *server, uint64_t bytes[MEMORY_KINDS], Error *err) {
  uint64_t budget = server->options.memory_bytes;
  budget = align_up(budget < max_budget ? budget : max_budget, MEMORY_PAGE);
  if (reserve_all(server, budget)) {
    bytes[MEMORY_PERSISTENT] = PERSISTENT_BUDGETS * budget;
  } else {
    uint64_t wanted = (TRANSIENT_BUDGETS + STAGING_BUDGETS) * budget;
    if (!arena_reserve(&server->range, wanted, 4 * MEMORY_PAGE, err)) return false;
    bytes[MEMORY_PERSISTENT] = 0;
    budget =
        server->range.reserved / (TRANSIENT_BUDGETS + STAGING_BUDGETS) / MEMORY_PAGE * MEMORY_PAGE;
  }
  bytes[MEMORY_TRANSIENT] = TRANSIENT_BUDGETS * budget;
  bytes[MEMORY_STAGING] = STAGING_BUDGETS * budget;
  return true;
}

static bool create(Server *server, Error *err) {
  uint64_t bytes[MEMORY_KINDS];
  MemorySource sources[MEMORY_KINDS];
  if (!reserve_parts(server, bytes, err)) return false;
  uint64_t at = (uint64_t)(uintptr_t)server->range.base;
  for (int k = 0; k < MEMORY_KINDS; at += bytes[k++])
    sources[k] = (MemorySource){.data = server,
                                .base = at,
                                .size_bytes = bytes[k],
                                .commit = k == MEMORY_PERSISTENT ? open_pages : commit,
                                .decommit = k == MEMORY_PERSISTENT ? close_pages : decommit,
                                .allocate = allocate_piece,
                                .free = free_piece,
                                .now_ns = now_ns};
  if (memory_init(&server->memory, server->device->heap, sources, &server->options.transient))
    return true;
  memory_deinit(&server->memory);
  arena_release(&server->range);
  return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a memory manager");
}

/* -- for memory.c ------------------------------------------------------------------------------ */

void server_lock(Server *server) {
  while (atomic_flag_test_and_set_explicit(&server->lock, memory_order_acquire)) {}
}
void server_unlock(Server *server) {
  atomic_flag_clear_explicit(&server->lock, memory_order_release);
}

bool server_memory_begin(Server *server, Error *err) {
  if (atomic_load_explicit(&server->has_memory, memory_order_acquire)) return true;
  server_lock(server);
  bool ok = server->has_memory || create(server, err);
  server->has_memory = ok;
  server_unlock(server);
  return ok;
}

void server_memory_end(Server *server) {
  if (!server->has_memory) return;
  server->has_memory = false;
  memory_deinit(&server->memory);
  arena_release(&server->range);
}
