/* parts.h - the server, as its own files see it. For the room alone. */
#ifndef RG_SERVER_PARTS_H
#define RG_SERVER_PARTS_H

#include "memory/arena.h"
#include "server/server.h"

struct Server {
  DeviceTable table;          /* the device's, with rows of the server's; first: server_of */
  const DeviceTable *inner;   /* the device's own */
  Device *device;
  ServerOptions options;
  MemoryManager memory;
  bool has_memory;            /* the manager has begun, with the first block */
  Arena range;                /* its addresses */
};

/* memory.c: rows of the table */
bool server_allocate(Device *device, DeviceMemory *memory, uint64_t size_bytes,
                     uint64_t least_bytes, Error *err);
void server_free(Device *device, DeviceMemory *memory);
bool server_take(Device *device, DeviceBlock *block, uint64_t size_bytes, Error *err);
void server_give(Device *device, DeviceBlock *block, RtTree *tree);
void server_memory_end(Server *server);

#endif
