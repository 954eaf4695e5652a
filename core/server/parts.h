/* parts.h - the server, as its own files see it. For the room alone. */
#ifndef RG_SERVER_PARTS_H
#define RG_SERVER_PARTS_H

#include "memory/arena.h"
#include "server/queue.h"
#include "server/server.h"

struct Server {
  DeviceTable table;          /* the device's, with rows of the server's; first: server_of */
  const DeviceTable *inner;   /* the device's own */
  Device *device;
  ServerOptions options;
  MemoryManager memory;
  _Atomic bool has_memory;    /* the manager has begun, with the first block */
  atomic_flag lock;           /* of its beginning, and of all that it has */
  Arena range;                /* its addresses */
  _Atomic uint64_t ranges, range_bytes; /* persistent: how many, and their addresses */
  bool is_queued;             /* the channel is SERVER_THREAD: */
  Queue queue;
  bool is_shared;             /* some memory may be that of several trees */
};

/* A ticket: a cursor and its stream. */
static inline uint64_t ticket_of(int32_t stream, uint64_t cursor) {
  return cursor * MEMORY_STREAMS + (uint64_t)stream;
}
static inline int32_t stream_of(uint64_t ticket) { return (int32_t)(ticket % MEMORY_STREAMS); }
static inline uint64_t cursor_of(uint64_t ticket) { return ticket / MEMORY_STREAMS; }

/* memory.c: rows of the table */
bool server_allocate(Device *device, DeviceMemory *memory, uint64_t size_bytes,
                     uint64_t least_bytes, Error *err);
void server_free(Device *device, DeviceMemory *memory);
bool server_take(Device *device, DeviceBlock *block, uint64_t size_bytes, Error *err);
void server_give(Device *device, DeviceBlock *block, RtTree *tree);
void server_tidy(Device *device);

/* range.c */
bool server_memory_begin(Server *server, Error *err);
void server_memory_end(Server *server);
void server_lock(Server *server);
void server_unlock(Server *server);

/* memory.c */
/* A block of one of the pools; after work that is done, if need be. NULL: there is no memory; with
 * err if the host has none. */
MemoryBlock *server_take_block(Server *server, MemoryKind kind, uint64_t size_bytes, Error *err);
/* It is reused when that work is done; 0: none uses it. */
void server_give_block(Server *server, MemoryKind kind, MemoryBlock *block, uint64_t ticket);

/* launch.c: likewise, where work is queued */
bool server_launch(Device *device, DeviceLaunch *launch, Error *err);
bool server_finish(Device *device, DeviceLaunch *launch, Error *err);
bool server_is_done(Device *device, uint64_t ticket);
bool server_has_room(Device *device, int32_t stream);
bool server_reach(Device *device, RtTree *tree, const uint8_t *from, uint64_t size_bytes,
                  DeviceUse use, Error *err);
bool server_adopt(Device *device, RtTree *tree, Error *err);
bool server_sync(Device *device, Error *err);
void server_forget(Device *device, RtTree *tree);
bool server_stop(Device *device);
void server_settle(Device *device, uint8_t *from, uint64_t size_bytes); /* in memory.c */
bool server_is_within(Device *device);
void server_await(Server *server, uint64_t ticket);

#endif
