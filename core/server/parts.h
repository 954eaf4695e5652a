/* parts.h - the server's own definitions. Private to this room. */
#ifndef RG_SERVER_PARTS_H
#define RG_SERVER_PARTS_H

#include "memory/arena.h"
#include "server/queue.h"
#include "server/server.h"

struct Server {
  /* the device's functions, some replaced by the server's; must be first: server_of casts it */
  DeviceTable table;
  const DeviceTable *inner; /* the device's own table */
  Device *device;
  ServerOptions options;
  MemoryManager memory;
  _Atomic bool has_memory;              /* the memory manager exists, since the first block */
  atomic_flag lock;                     /* guards the manager's creation and state */
  Arena range;                          /* addresses of the manager's memory */
  _Atomic uint64_t ranges, range_bytes; /* number and bytes of persistent ranges */
  bool is_queued;                       /* the channel is SERVER_THREAD, and `queue` is used */
  Queue queue;
  bool is_shared; /* several trees may share some memory */
};

/* A ticket combines a cursor and its stream. */
static inline uint64_t ticket_of(int32_t stream, uint64_t cursor) {
  return cursor * MEMORY_STREAMS + (uint64_t)stream;
}
static inline int32_t stream_of(uint64_t ticket) { return (int32_t)(ticket % MEMORY_STREAMS); }
static inline uint64_t cursor_of(uint64_t ticket) { return ticket / MEMORY_STREAMS; }

/* memory.c: functions for the table */
bool server_allocate(Device *device, DeviceMemory *memory, uint64_t size_bytes,
                     uint64_t least_bytes, Error *err);
void server_free(Device *device, DeviceMemory *memory);
bool server_allocate_block(Device *device, DeviceBlock *block, uint64_t size_bytes, Error *err);
void server_free_block(Device *device, DeviceBlock *block, RtTree *tree);
void server_trim_blocks(Device *device);

/* server.c */
bool server_memory_begin(Server *server, Error *err);
void server_memory_end(Server *server);
void server_lock(Server *server);
void server_unlock(Server *server);

/* memory.c */
/* Allocates a block from a pool, if necessary after waiting for work that uses freed blocks. NULL
 * if memory is short, with err if it is that of the host. */
MemoryBlock *server_allocate_from(Server *server, MemoryKind kind, uint64_t size_bytes, Error *err);
/* The block can be reused when the work with that ticket is done; 0: no work uses it. */
void server_free_to(Server *server, MemoryKind kind, MemoryBlock *block, uint64_t ticket);

/* launch.c: functions for the table, if work is queued */
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
void server_prefault(Device *device, uint8_t *from, uint64_t size_bytes); /* in memory.c */
bool server_is_within(Device *device);
void server_await(Server *server, uint64_t ticket);

#endif
