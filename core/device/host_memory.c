/* host_memory.c - host memory, allocated as arenas. */
#include "device/host_memory.h"

#include <string.h>

#include "memory/arena.h"

static uint64_t guard_of(const Device *device) { return device->guard_pages ? ARENA_GUARD : 0; }

bool host_allocate(Device *device, DeviceMemory *memory, uint64_t size_bytes, uint64_t least_bytes,
                   Error *err) {
  Arena arena = {.guard = guard_of(device)};
  if (!arena_reserve(&arena, size_bytes, least_bytes, err)) return false;
  *memory = (DeviceMemory){arena.base, arena.reserved, NULL};
  return true;
}

bool host_allocate_zeros(Device *device, DeviceMemory *memory, uint64_t size_bytes, Error *err) {
  Arena arena = {.guard = guard_of(device)};
  if (!arena_reserve_zeros(&arena, size_bytes, err)) return false;
  *memory = (DeviceMemory){arena.base, arena.reserved, NULL};
  return true;
}

void host_free(Device *device, DeviceMemory *memory) {
  Arena arena = {memory->base, memory->reserved, guard_of(device)};
  if (!memory->block) arena_release(&arena);
  *memory = (DeviceMemory){0};
}

void host_discard(Device *device, uint8_t *from, uint64_t size_bytes) {
  arena_discard(from, size_bytes);
}

uint8_t *host_map(Device *device, const DeviceMemory *memory) { return memory->base; }

void host_copy(Device *device, void *to, const uint8_t *from, uint64_t size_bytes) {
  memcpy(to, from, size_bytes);
}

void *RT_CALL host_grow(RtContext *context, void *memory, uint64_t old_bytes, uint64_t new_bytes) {
  const Device *device = context->host;
  return heap_resize(device->heap, memory, new_bytes);
}

void RT_CALL host_discard_nodes(RtContext *context, void *memory, uint64_t bytes) {
  arena_discard(memory, bytes);
}
