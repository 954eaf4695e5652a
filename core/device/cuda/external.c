/* external.c - GPU memory allocated by other code, for wraps of it: the whole allocation gets
 * a mirror on the host, as the memory of our own arrays. Others may change it at any time
 * (CudaTree.is_exposed); the host's changes arrive with the next launch or sync. Its owner frees it
 * when no wrap of it is left. A mapped part of a window is such memory, too; its mirror is a part
 * of the window's (share.c). */
#include <string.h>

#include "device/cuda/cuda.h"
#include "device/host_memory.h"

static bool find_range(CudaDevice *cuda, uint64_t at, uint64_t *base, uint64_t *size_bytes) {
  size_t size = 0;
  if (cuda_symmetric_host(cuda, at)) return cuda_symmetric_part(cuda, at, base, size_bytes);
  if (!cuda_enter(cuda, NULL)) return false;
  int result = cuda->driver.cuMemGetAddressRange_v2(base, &size, at);
  cuda_leave(cuda);
  *size_bytes = size;
  return !result && size;
}

static void free_parts(CudaDevice *cuda, RtTree *tree, uint8_t *pages, DeviceMemory *mirror) {
  if (mirror->base) host_free(&cuda->device, mirror);
  heap_free(cuda->device.heap, pages);
  heap_free(cuda->device.heap, tree);
}

static CudaTree *create(CudaDevice *cuda, uint64_t base, uint64_t size_bytes) {
  Heap *heap = cuda->device.heap;
  uint64_t page_bytes = cuda_page_bytes(cuda);
  ASSERT(size_bytes && page_bytes, "an allocation has pages");
  uint64_t page_count = (size_bytes + page_bytes - 1) / page_bytes;
  DeviceMemory mirror = {0};
  Error unused;
  error_clear(&unused);
  RtTree *tree = heap_alloc(heap, sizeof *tree);
  CudaTree *own = heap_alloc(heap, sizeof *own);
  uint8_t *pages = heap_alloc(heap, page_count), *shared = cuda_symmetric_host(cuda, base);
  if (!tree || !own || !pages ||
      (!shared && !host_allocate(&cuda->device, &mirror, size_bytes, size_bytes, &unused))) {
    free_parts(cuda, tree, pages, &mirror);
    heap_free(heap, own);
    return NULL;
  }
  uint8_t *first = shared ? shared : mirror.base;
  memset(pages, CUDA_GPU_IS_NEWER, page_count);
  *tree = (RtTree){
      .base = first, .root = first, .root_size = size_bytes, .reserved = size_bytes, .device = own};
  *own = (CudaTree){
      .tree = tree,
      .first = first,
      .next = cuda->trees,
      .pages = pages,
      .memory = {.at = base, .reserved = size_bytes, .mapped = size_bytes, .is_external = true},
      .page_count = page_count,
      .page_bytes = page_bytes,
      .mirror = mirror,
      .owns_tree = true,
      .is_exposed = true,
      .is_shared = shared != NULL};
  if (cuda->trees) cuda->trees->previous = own;
  cuda->trees = own;
  return own;
}

uint8_t *cuda_external_at(CudaDevice *cuda, uint64_t at) {
  uint64_t base = 0, size_bytes = 0;
  if (!find_range(cuda, at, &base, &size_bytes)) return NULL;
  CudaTree *own = create(cuda, base, size_bytes);
  return own ? own->first + (at - base) : NULL;
}

bool cuda_external_is_unchanged(CudaDevice *cuda, const CudaTree *own) {
  ASSERT(own->memory.is_external, "only memory of others comes and goes");
  uint64_t base = 0, size_bytes = 0;
  return find_range(cuda, own->memory.at, &base, &size_bytes) && base == own->memory.at &&
         size_bytes == own->memory.mapped;
}

bool cuda_external_sync(CudaDevice *cuda, Error *err) {
  for (CudaTree *own = cuda->trees; own; own = own->next)
    if ((own->is_exposed || own->is_window) && !cuda_push(cuda, own->tree, NULL, 0, err))
      return false;
  return true;
}
