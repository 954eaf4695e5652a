/* prefault.c - see prefault.h. Decision D-memory-01. */
#include "device/prefault.h"

#include <string.h>

#include "device/host_memory.h"

struct PendingPrefault {
  uint8_t *from;
  uint64_t size_bytes;
};

/* The ranges are in order of their addresses, as there may be thousands that no launch uses: copies
 * of fields. This is the number of the first one at or after `from`. */
static int32_t find_position(const CpuDevice *cpu, const uint8_t *from) {
  int32_t low = 0, high = cpu->pending_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (cpu->pending[middle].from < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

static bool find_pending(const CpuDevice *cpu, const uint8_t *from, int32_t *at) {
  *at = find_position(cpu, from);
  return *at < cpu->pending_count && cpu->pending[*at].from == from;
}

static void move_entries(const CpuDevice *cpu, int32_t to, int32_t from, int32_t count) {
  memmove(&cpu->pending[to], &cpu->pending[from], sizeof(PendingPrefault) * (size_t)count);
}

static void remove_entry(CpuDevice *cpu, int32_t at) {
  cpu->pending_count--;
  move_entries(cpu, at, at + 1, cpu->pending_count - at);
}

/* If there is no memory to remember the range, its pages are faulted in as they are touched. */
void prefault_request(Device *device, uint8_t *from, uint64_t size_bytes) {
  CpuDevice *cpu = (CpuDevice *)device;
  arena_prefault(from, size_bytes);
  if (!size_bytes || size_bytes > ARENA_MAX_POPULATED) return;
  size_t count = (size_t)cpu->pending_count;
  PendingPrefault *pending = heap_resize(device->heap, cpu->pending, sizeof *pending * (count + 1));
  if (!pending) return;
  cpu->pending = pending;
  int32_t at = find_position(cpu, from);
  move_entries(cpu, at + 1, at, cpu->pending_count - at);
  pending[at] = (PendingPrefault){from, size_bytes};
  cpu->pending_count++;
}

void prefault_begin(CpuDevice *cpu, const RtContext *context) {
  ASSERT(!cpu->pending_count || cpu->pending, "waiting ranges are remembered");
  for (int32_t i = 0, at; i < context->tree_count; i++) {
    if (!find_pending(cpu, context->trees[i]->root, &at)) continue;
    arena_populate(cpu->pending[at].from, cpu->pending[at].size_bytes);
    remove_entry(cpu, at);
  }
}

void prefault_free(Device *device, DeviceMemory *memory) {
  CpuDevice *cpu = (CpuDevice *)device;
  int32_t at;
  if (find_pending(cpu, memory->base, &at)) remove_entry(cpu, at);
  host_free(device, memory);
}

void prefault_destroy(CpuDevice *cpu) { heap_free(cpu->device.heap, cpu->pending); }
