/* server.h - the compute server, one for each device. It replaces functions of the device's table
 * by its own, which call the device's. So all allocations and launches go through the server, while
 * callers only use a Device. Of kernels, trees and arrays the server uses only what device.h
 * describes. Decision D-server-02. */
#ifndef RG_SERVER_SERVER_H
#define RG_SERVER_SERVER_H

#include "device/device.h"
#include "memory/manager.h"

typedef struct Server Server;

/* Which thread runs launches: the caller's, or one of the server, for devices whose launches return
 * only when they are done. */
typedef enum ServerChannel { SERVER_INLINE, SERVER_THREAD } ServerChannel;

typedef struct ServerOptions {
  ServerChannel channel;
  MemoryConfig transient; /* how memory that belongs to no tree is reused */
  uint64_t memory_bytes;  /* the budget */
} ServerOptions;

/* Call this before the device is used. The server belongs to the device and ends with it. False
 * with err: the device is unchanged. */
bool server_attach(Device *device, const ServerOptions *options, Error *err);
/* The server of a device; NULL if it has none. */
Server *server_of(const Device *device);
Device *server_device(const Server *server);

/* -- memory ------------------------------------------------------------------------------------ */

typedef struct ServerMemory {
  /* `reserved` counts addresses. `live` is 0, as only the trees record what is backed */
  MemoryUsage persistent;
  MemoryUsage transient, staging;
  uint64_t addresses;   /* size of the address range; 0: not reserved yet */
  int32_t parts;        /* number of kinds that have a part of the range */
  uint64_t waiting;     /* freed bytes that queued work still uses */
  uint64_t largest;     /* largest request that needs no memory from the system */
  const char *strategy; /* strategy of transient memory: "expandable" */
} ServerMemory;

ServerMemory server_memory(Server *server);
/* Allocates transient memory without waiting for work; NULL if none is free. Any thread may call
 * it. */
MemoryBlock *server_allocate_transient(Server *server, uint64_t size_bytes);
void server_free_transient(Server *server, MemoryBlock *block);
/* Returns unused memory to the system. */
void server_trim(Server *server);

/* Allocates staging memory, for transfers to the device. NULL if none is free, with err if the host
 * is out of memory. After server_unstage it is reused when the work with that ticket is done; 0: no
 * work uses it. */
MemoryBlock *server_stage(Server *server, uint64_t size_bytes, Error *err);
void server_unstage(Server *server, MemoryBlock *block, uint64_t ticket);

/* -- work -------------------------------------------------------------------------------------- */

/* Is the channel SERVER_THREAD? Call the functions below only in this case. */
bool server_is_queued(const Server *server);

/* A copy that runs after all work on the stream, and after all work on the trees that contain the
 * two sides (NULL: that side is not used by other work). Both sides must stay until it is done. */
typedef struct ServerCopy {
  int32_t stream;
  void *to;
  const void *from;
  uint64_t size_bytes;
  RtTree *to_tree, *from_tree;
} ServerCopy;
/* Queues a copy and returns its ticket; 0 if the queue is full until a launch on the stream is
 * finished. */
uint64_t server_copy(Server *server, const ServerCopy *copy);
void server_wait(Server *server, int32_t stream); /* waits for all work on the stream */

#endif
