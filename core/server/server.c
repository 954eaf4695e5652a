/* server.c - how the server gets before the device, and leaves. */
#include "server/parts.h"

static void destroy(Device *device);

Server *server_of(const Device *device) {
  return device->table->destroy == destroy ? (Server *)(void *)device->table : NULL;
}

static void destroy(Device *device) {
  Server *server = server_of(device);
  const DeviceTable *inner = server->inner;
  Heap *heap = device->heap;
  server_memory_end(server);
  device->table = inner;
  heap_free(heap, server);
  inner->destroy(device);
}

bool server_attach(Device *device, const ServerOptions *options, Error *err) {
  Server *server = heap_alloc(device->heap, sizeof *server);
  if (!server)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a device's server");
  *server = (Server){.table = *device->table,
                     .inner = device->table,
                     .device = device,
                     .options = *options};
  server->table.allocate = server_allocate;
  server->table.free = server_free;
  server->table.take = server_take;
  server->table.give = server_give;
  server->table.destroy = destroy;
  device->table = &server->table;
  return true;
}
