/* foreign.c - arrays in memory that is not the runtime's (wraps). What happens depends on
 * whose memory a foreign tree wraps:
 *
 *     a tree or array of this runtime, by its pointer     both use that one's mirror
 *     a counted array that has a copy (copies.c)     likewise, while it has one
 *     GPU memory of other code                            likewise: external.c
 *     a window of another process                         likewise: share.c
 *     the host                                            copied to the GPU for each launch, and
 *                                                         back at its end, unless it is constant
 *
 * Wraps of host memory may overlap, and their elements interleave: such wraps are copied as one, or
 * copying one back would overwrite changes of the other. */
#include "device/cuda/cuda.h"

#include "base/bits.h"

enum { MEMORY_TYPE = 2, ON_DEVICE = 2 }; /* CUpointer_attribute, CUmemorytype */

/* If `at` is in a copy that was made for tasks, returns the address of the original on the host;
 * otherwise NULL. */
static uint8_t *find_original(const CudaDevice *cuda, uint64_t at) {
  for (const CudaForeign *foreign = cuda->foreign; foreign; foreign = foreign->next) {
    uint64_t copy = foreign->memory.at + (uint64_t)foreign->first % RT_GRANULE;
    if (foreign->memory.at && at - copy < foreign->size_bytes) return foreign->first + (at - copy);
  }
  return NULL;
}

uint8_t *cuda_host_at(Device *device, void *address) {
  CudaDevice *cuda = (CudaDevice *)device;
  uint64_t at = (uint64_t)(uintptr_t)address;
  unsigned type = 0;
  for (CudaTree *tree = cuda->trees, *next; tree; tree = next) {
    next = tree->next;
    if (at - tree->memory.at >= tree->memory.mapped) continue;
    if (cuda_is_view(tree->tree)) return NULL;
    if (!tree->memory.is_external || cuda_external_is_unchanged(cuda, tree))
      return tree->first + (at - tree->memory.at);
    if (tree->wrap_count) return NULL;
    cuda_forget(device, tree->tree);
  }
  if (cuda_symmetric_host(cuda, at)) return cuda_external_at(cuda, at);
  uint8_t *original = find_original(cuda, at);
  if (original) return original;
  if (!cuda_enter(cuda, NULL)) return address;
  int result = cuda->driver.cuPointerGetAttribute(&type, MEMORY_TYPE, at);
  cuda_leave(cuda);
  return !result && type == ON_DEVICE ? cuda_external_at(cuda, at) : address;
}

CudaTree *cuda_owner(const CudaDevice *cuda, const RtTree *tree) {
  if (!tree->foreign) return NULL;
  if (cuda_is_view(tree)) return tree->device;
  for (CudaTree *own = cuda->trees; own; own = own->next)
    if (tree->root >= own->first && tree->root < own->first + own->memory.mapped && !own->has_ended)
      return own;
  return NULL;
}

/* -- merging overlapping wraps ----------------------------------------------------------------- */

static bool overlap(const CudaForeign *a, const CudaForeign *b) {
  return a->first < b->first + b->size_bytes && b->first < a->first + a->size_bytes;
}

static void include_range(CudaForeign *to, const CudaForeign *from) {
  ASSERT(to != from && overlap(to, from), "ranges that share memory become one");
  uint8_t *end = to->first + to->size_bytes, *other = from->first + from->size_bytes;
  if (from->first < to->first) to->first = from->first;
  to->size_bytes = (uint64_t)((other > end ? other : end) - to->first);
  to->tree_count += from->tree_count;
  to->is_constant &= from->is_constant;
}

static void drop_foreign(CudaDevice *cuda, CudaForeign *foreign) {
  CudaForeign **at = &cuda->foreign;
  while (*at != foreign) at = &(*at)->next;
  *at = foreign->next;
  if (foreign->memory.at && cuda_enter(cuda, NULL)) {
    cuda_free(cuda, &foreign->memory);
    cuda_leave(cuda);
  }
  heap_free(cuda->device.heap, foreign);
}

/* Merges entries that overlap with `foreign` into it, until none is left. */
static void merge_overlapping(CudaDevice *cuda, CudaForeign *foreign) {
  for (CudaForeign *at = cuda->foreign; at;) {
    CudaForeign *other = at;
    at = at->next;
    if (other == foreign || !overlap(foreign, other)) continue;
    include_range(foreign, other);
    drop_foreign(cuda, other);
    at = cuda->foreign;
  }
}

/* Adopts a tree of another process, which has its own image. Another call updates the image from
 * the host's tables, which may change again later. */
static bool adopt_peer(CudaDevice *cuda, RtTree *tree, Error *err) {
  CudaTree *own = tree->device;
  if (!cuda_enter(cuda, err)) return false;
  bool ok = own ? cuda_wait_all(cuda, err) : (own = cuda_tree(cuda, tree, err)) != NULL;
  if (own) own->image_state = CUDA_HOST_IS_NEWER;
  if (ok && tree->chunks) ok = cuda_push(cuda, tree, NULL, 0, err) && cuda_wait(cuda, err);
  cuda_leave(cuda);
  return ok;
}

bool cuda_adopt(Device *device, RtTree *tree, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  CudaTree *own = cuda_owner(cuda, tree);
  if (own && !own->is_copy && !cuda_is_view(tree)) return own->wrap_count++, true;
  if (cuda_is_in_window(cuda, tree)) return adopt_peer(cuda, tree, err);
  CudaForeign *foreign = heap_alloc(device->heap, sizeof *foreign);
  if (!foreign) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for an array");
  *foreign = (CudaForeign){.next = cuda->foreign,
                           .first = tree->root,
                           .size_bytes = tree->root_size,
                           .tree_count = 1,
                           .is_constant = tree->foreign == RT_FOREIGN_CONSTANT};
  cuda->foreign = foreign;
  merge_overlapping(cuda, foreign);
  return true;
}

/* An array without elements begins a range that has none, or is in the middle of another. */
static bool is_in(const RtTree *tree, const CudaForeign *range) {
  if (tree->root == range->first) return !tree->root_size == !range->size_bytes;
  return tree->root > range->first && tree->root < range->first + range->size_bytes;
}

static CudaForeign *find_foreign(const CudaDevice *cuda, const RtTree *tree) {
  for (CudaForeign *at = cuda->foreign; at; at = at->next)
    if (is_in(tree, at)) return at;
  return NULL;
}

void cuda_abandon(CudaDevice *cuda, const RtTree *tree) {
  CudaForeign *foreign = find_foreign(cuda, tree);
  if (foreign && !--foreign->tree_count) drop_foreign(cuda, foreign);
}

/* -- launches ---------------------------------------------------------------------------------- */

bool cuda_locate_foreign(CudaDevice *cuda, const RtTree *tree, const uint8_t *at, uint64_t *address,
                         Error *err) {
  CudaForeign *foreign = find_foreign(cuda, tree);
  ASSERT(foreign, "a foreign tree is adopted before it is used");
  uint64_t past = (uint64_t)foreign->first % RT_GRANULE; /* both have the same alignment */
  if (!foreign->memory.at) {
    if (!cuda_allocate(cuda, &foreign->memory, foreign->size_bytes + past, err)) return false;
    foreign->use = cuda_use_now(cuda);
  }
  *address = foreign->memory.at + past + (uint64_t)(at - foreign->first);
  return true;
}

bool cuda_push_foreign(CudaDevice *cuda, const DeviceLaunch *launch, Error *err) {
  bool is_any_shared = false; /* a wrap of a window may access all shared memory */
  for (int32_t k = 0; k < launch->tree_count + launch->array_count; k++) {
    const RtTree *tree = launch->trees[k];
    CudaForeign *foreign =
        tree->foreign && !cuda_owner(cuda, tree) ? find_foreign(cuda, tree) : NULL;
    uint64_t address;
    is_any_shared |= cuda_is_in_window(cuda, tree);
    if (!foreign || foreign->is_used) continue;
    foreign->is_used = true;
    if (!cuda_join(cuda, foreign->use, err)) return false;
    foreign->use = cuda_use_now(cuda);
    if (!cuda_locate_foreign(cuda, tree, foreign->first, &address, err) ||
        !cuda_write(cuda, address, foreign->first, foreign->size_bytes, err))
      return false;
  }
  return !is_any_shared || cuda_external_sync(cuda, err);
}

bool cuda_pull_foreign(CudaDevice *cuda, Error *err) {
  bool ok = true;
  for (CudaForeign *at = cuda->foreign; at; at = at->next) {
    bool is_used = at->is_used;
    at->is_used = false;
    if (!ok || !is_used || at->is_constant) continue;
    uint64_t past = (uint64_t)at->first % RT_GRANULE;
    ok = cuda_read(cuda, at->first, at->memory.at + past, at->size_bytes, err);
  }
  return ok;
}
