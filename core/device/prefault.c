/* prefault.c - see prefault.h. Decision D-memory-01. */
#include "device/prefault.h"

#include <string.h>

#include "device/host_memory.h"

struct Waiting {
  uint8_t *from;
  uint64_t size_bytes;
};

/* The ranges are in order of their addresses, as there may be thousands that no launch uses: copies
 * of fields. This is the number of the first one at or after `from`. */
static int32_t find_position(const CpuDevice *cpu, const uint8_t *from) {
  int32_t low = 0, high = cpu->waiting_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (cpu->waiting[middle].from < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

static bool find_waiting(const CpuDevice *cpu, const uint8_t *from, int32_t *at) {
  *at = find_position(cpu, from);
  return *at < cpu->waiting_count && cpu->waiting[*at].from == from;
}

static void move_after(const CpuDevice *cpu, int32_t to, int32_t from, int32_t count) {
  memmove(&cpu->waiting[to], &cpu->waiting[from], sizeof(Waiting) * (size_t)count);
}

static void forget(CpuDevice *cpu, int32_t at) {
  cpu->waiting_count--;
  move_after(cpu, at, at + 1, cpu->waiting_count - at);
}

/* If there is no memory to remember the range, its pages are faulted in as they are touched. */
void prefault_request(Device *device, uint8_t *from, uint64_t size_bytes) {
  CpuDevice *cpu = (CpuDevice *)device;
  arena_prefault(from, size_bytes);
  if (!size_bytes || size_bytes > ARENA_MAX_POPULATED) return;
  size_t count = (size_t)cpu->waiting_count;
  Waiting *waiting = heap_resize(device->heap, cpu->waiting, sizeof *waiting * (count + 1));
  if (!waiting) return;
  cpu->waiting = waiting;
  int32_t at = find_position(cpu, from);
  move_after(cpu, at + 1, at, cpu->waiting_count - at);
  waiting[at] = (Waiting){from, size_bytes};
  cpu->waiting_count++;
}

void prefault_begin(CpuDevice *cpu, const RtContext *context) {
  ASSERT(!cpu->waiting_count || cpu->waiting, "waiting ranges are remembered");
  for (int32_t i = 0, at; i < context->tree_count; i++) {
    if (!find_waiting(cpu, context->trees[i]->root, &at)) continue;
    arena_populate(cpu->waiting[at].from, cpu->waiting[at].size_bytes);
    forget(cpu, at);
  }
}

void prefault_free(Device *device, DeviceMemory *memory) {
  CpuDevice *cpu = (CpuDevice *)device;
  int32_t at;
  if (find_waiting(cpu, memory->base, &at)) forget(cpu, at);
  host_free(device, memory);
}

void prefault_destroy(CpuDevice *cpu) { heap_free(cpu->device.heap, cpu->waiting); }
