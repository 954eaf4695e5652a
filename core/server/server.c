/* server.c - attaches the server to the device, and detaches it. */
#include "server/parts.h"

static void destroy(Device *device);

static const DeviceBlockTable blocks = {
    .take = server_take, .give = server_give, .tidy = server_tidy};
static const DeviceTicketTable tickets = {.finish = server_finish,
                                          .is_done = server_is_done,
                                          .has_room = server_has_room,
                                          .stop = server_stop};
static const DeviceAccessTable access = {.reach = server_reach, .adopt = server_adopt};

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
  table->access = &access;
  table->sync = server_sync;
  table->forget = server_forget;
  table->settle = server_settle;
  table->is_within = server_is_within;
  device->most_queued = MEMORY_STREAMS * QUEUE_RECORDS;
  device->most_words = QUEUE_WORDS;
  device->keeps_still = true;
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
