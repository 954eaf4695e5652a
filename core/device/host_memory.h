/* host_memory.h - functions of a DeviceTable, and callbacks of the runtime, for host memory: the
 * CPU's own, and the mirror of a GPU's. A context's `host` is its Device. */
#ifndef RG_DEVICE_HOST_MEMORY_H
#define RG_DEVICE_HOST_MEMORY_H

#include "device/device.h"

bool host_allocate(Device *device, DeviceMemory *memory, uint64_t size_bytes, uint64_t least_bytes,
                   Error *err);
bool host_allocate_zeros(Device *device, DeviceMemory *memory, uint64_t size_bytes, Error *err);
void host_free(Device *device, DeviceMemory *memory);
void host_discard(Device *device, uint8_t *from, uint64_t size_bytes);
uint8_t *host_map(Device *device, const DeviceMemory *memory);
void host_copy(Device *device, void *to, const uint8_t *from, uint64_t size_bytes);

/* RtContext.grow and .discard: the runtime's lists grow in the core's heap. */
void *RT_CALL host_grow(RtContext *context, void *memory, uint64_t old_bytes, uint64_t new_bytes);
void RT_CALL host_discard_nodes(RtContext *context, void *memory, uint64_t bytes);

#endif
