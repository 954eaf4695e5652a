/* server.h - one compute server for each device, which stands before it: it puts its own functions
 * into the device's table, and calls the device's. So whoever allocates or runs comes here, and
 * knows a Device and nothing more. Knows nothing of kernels, trees or arrays but what device.h says
 * of them. */
#ifndef RG_SERVER_SERVER_H
#define RG_SERVER_SERVER_H

#include "device/device.h"
#include "memory/manager.h"

typedef struct Server Server;

typedef struct ServerOptions {
  MemoryConfig transient;     /* how memory beside trees is reused */
  uint64_t memory_bytes;      /* the budget: what there may be of it */
} ServerOptions;

/* Before the device is used; it is the device's from now on, and ends with it. False with err: then
 * the device is as it was. */
bool server_attach(Device *device, const ServerOptions *options, Error *err);
/* That of a device; NULL: none stands before it. */
Server *server_of(const Device *device);

/* -- memory ------------------------------------------------------------------------------------ */

typedef struct ServerMemory {
  MemoryUsage persistent;     /* reserved: addresses; what of them has memory, trees know */
  MemoryUsage transient, staging;
  uint64_t waiting;           /* bytes given back that work still to be done uses */
  uint64_t largest;           /* the largest request that takes nothing from the system */
  const char *strategy;       /* of transient memory: "expandable" */
} ServerMemory;

ServerMemory server_memory(Server *server);
/* What nobody holds goes back to the system. */
void server_trim(Server *server);

#endif
