/* prefault.c - see prefault.h. Decision D-memory-01. */
#include "device/prefault.h"

#include "device/host_memory.h"

struct Waiting {
  uint8_t *from;
  uint64_t size_bytes;
};

/* If there is no memory to remember the range, its pages are faulted in as they are touched. */
void prefault_request(Device *device, uint8_t *from, uint64_t size_bytes) {
  CpuDevice *cpu = (CpuDevice *)device;
  arena_settle(from, size_bytes);
  if (!size_bytes || size_bytes > ARENA_PRESENT) return;
  size_t count = (size_t)cpu->waiting_count;
  Waiting *waiting = heap_resize(device->heap, cpu->waiting, sizeof *waiting * (count + 1));
  if (!waiting) return;
  waiting[count] = (Waiting){from, size_bytes};
  cpu->waiting = waiting;
  cpu->waiting_count++;
}

static bool has_tree(const RtContext *context, const uint8_t *root) {
  for (int32_t i = 0; i < context->tree_count; i++)
    if (context->trees[i]->root == root) return true;
  return false;
}

void prefault_begin(CpuDevice *cpu, const RtContext *context) {
  int32_t kept = 0;
  ASSERT(!cpu->waiting_count || cpu->waiting, "waiting ranges are remembered");
  for (int32_t k = 0; k < cpu->waiting_count; k++) {
    Waiting *waiting = &cpu->waiting[k];
    if (has_tree(context, waiting->from)) arena_make_present(waiting->from, waiting->size_bytes);
    else cpu->waiting[kept++] = *waiting;
  }
  cpu->waiting_count = kept;
}

void prefault_free(Device *device, DeviceMemory *memory) {
  CpuDevice *cpu = (CpuDevice *)device;
  int32_t kept = 0;
  for (int32_t k = 0; k < cpu->waiting_count; k++)
    if (cpu->waiting[k].from != memory->base) cpu->waiting[kept++] = cpu->waiting[k];
  cpu->waiting_count = kept;
  host_free(device, memory);
}

void prefault_destroy(CpuDevice *cpu) { heap_free(cpu->device.heap, cpu->waiting); }
