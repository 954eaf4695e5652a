/* server.h - one compute server for each device, which stands before it: it puts its own functions
 * into the device's table, and calls the device's. So whoever allocates or runs comes here, and
 * knows a Device and nothing more. Knows nothing of kernels, trees or arrays but what device.h says
 * of them. */
#ifndef RG_SERVER_SERVER_H
#define RG_SERVER_SERVER_H

#include "device/device.h"
#include "memory/manager.h"

typedef struct Server Server;

/* Who runs launches: the caller, as the device does; or a thread of the server's, for devices that
 * return from a launch when it is done. */
typedef enum ServerChannel { SERVER_INLINE, SERVER_THREAD } ServerChannel;

typedef struct ServerOptions {
  ServerChannel channel;
  MemoryConfig transient;     /* how memory beside trees is reused */
  uint64_t memory_bytes;      /* the budget: what there may be of it */
} ServerOptions;

/* Before the device is used; it is the device's from now on, and ends with it. False with err: then
 * the device is as it was. */
bool server_attach(Device *device, const ServerOptions *options, Error *err);
/* That of a device; NULL: none stands before it. */
Server *server_of(const Device *device);
Device *server_device(const Server *server);

/* -- memory ------------------------------------------------------------------------------------ */

typedef struct ServerMemory {
  MemoryUsage persistent;     /* reserved: addresses; what of them has memory, trees know: live 0 */
  MemoryUsage transient, staging;
  uint64_t addresses;         /* of the one range; 0: it has not begun */
  int32_t parts;              /* of that: kinds that have one */
  uint64_t waiting;           /* bytes given back that work still to be done uses */
  uint64_t largest;           /* the largest request that takes nothing from the system */
  const char *strategy;       /* of transient memory: "expandable" */
} ServerMemory;

ServerMemory server_memory(Server *server);
/* Transient memory, by any thread, without waiting for work; NULL: there is none. */
MemoryBlock *server_hold(Server *server, uint64_t size_bytes);
void server_drop(Server *server, MemoryBlock *block);
/* What nobody holds goes back to the system. */
void server_trim(Server *server);

/* Memory on its way to the device; NULL: there is none, with err if that is the host's. It is
 * reused when the work with that ticket is done; 0: none uses it. */
MemoryBlock *server_stage(Server *server, uint64_t size_bytes, Error *err);
void server_unstage(Server *server, MemoryBlock *block, uint64_t ticket);

/* -- work -------------------------------------------------------------------------------------- */

bool server_is_queued(const Server *server); /* the channel is SERVER_THREAD; only then: */

/* A copy after all work on the stream, and after all that uses the trees in whose memory the two
 * sides are; NULL: nobody else uses that one. Both sides stay until it is done. */
typedef struct ServerCopy {
  int32_t stream;
  void *to;
  const void *from;
  uint64_t size_bytes;
  RtTree *to_tree, *from_tree;
} ServerCopy;
/* Its ticket; 0: there is no room until a launch on the stream is finished. */
uint64_t server_copy(Server *server, const ServerCopy *copy);
void server_wait(Server *server, int32_t stream); /* for all that is submitted to it */

#endif
