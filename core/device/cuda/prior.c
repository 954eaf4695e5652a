/* prior.c - finds what the host has changed in memory that other processes also write. Copying
 * whole pages to the GPU would overwrite their changes. So for shared memory a copy of the page,
 * its prior, is kept from before the host's first write, and only the differing bytes are copied:
 *
 *     prior   a a a a a a
 *     mirror  a b b a a c     -->  b b at 1, c at 5; what others wrote to 0, 3 and 4 stays
 */
#include <string.h>

#include "device/cuda/cuda.h"

static bool ensure_priors(CudaDevice *cuda, CudaTree *tree) {
  if (!tree->priors)
    tree->priors = heap_alloc(cuda->device.heap, sizeof *tree->priors * (tree->page_count + 1));
  return tree->priors;
}

static uint64_t bytes_of(const CudaTree *tree, uint64_t page) {
  ASSERT(page * tree->page_bytes < tree->memory.mapped, "a page of the tree's memory");
  uint64_t left = tree->memory.mapped - page * tree->page_bytes;
  return left < tree->page_bytes ? left : tree->page_bytes;
}

bool cuda_priors_make(CudaDevice *cuda, CudaTree *tree, uint64_t begin, uint64_t end, Error *err) {
  bool ok = ensure_priors(cuda, tree);
  for (uint64_t k = begin; ok && k < end && k < tree->page_count; k++) {
    if (tree->priors[k]) continue;
    tree->priors[k] = heap_alloc(cuda->device.heap, tree->page_bytes);
    ok = tree->priors[k];
    if (ok) memcpy(tree->priors[k], tree->first + k * tree->page_bytes, bytes_of(tree, k));
  }
  return ok || error_set(err, RG_ERROR_MEMORY, "the host has no memory left to change a window");
}

/* The first byte from `at` on at which a and b differ, or, if not `differs`, are equal. */
static uint64_t find_byte(const uint8_t *a, const uint8_t *b, uint64_t at, uint64_t end,
                          bool differs) {
  while (at < end && (a[at] != b[at]) != differs) at++;
  return at;
}

bool cuda_priors_push(CudaDevice *cuda, CudaTree *tree, uint64_t page, Error *err) {
  uint64_t size_bytes = bytes_of(tree, page), begin = page * tree->page_bytes;
  const uint8_t *now = tree->first + begin, *was = tree->priors ? tree->priors[page] : NULL;
  if (!was) return cuda_write(cuda, tree->memory.at + begin, now, size_bytes, err);
  for (uint64_t at = 0, past; at < size_bytes; at = past) {
    at = find_byte(now, was, at, size_bytes, true);
    past = find_byte(now, was, at, size_bytes, false);
    if (past > at && !cuda_write(cuda, tree->memory.at + begin + at, now + at, past - at, err))
      return false;
  }
  heap_free(cuda->device.heap, tree->priors[page]);
  tree->priors[page] = NULL;
  return true;
}

void cuda_priors_drop(CudaDevice *cuda, CudaTree *tree) {
  for (uint64_t k = 0; tree->priors && k < tree->page_count; k++)
    heap_free(cuda->device.heap, tree->priors[k]);
  heap_free(cuda->device.heap, tree->priors);
  tree->priors = NULL;
  if (tree->page_count) memset(tree->pages, CUDA_GPU_IS_NEWER, tree->page_count);
  tree->host_has_some = tree->host_has_all = false;
}
