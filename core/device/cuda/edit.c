/* edit.c - the host's changes to memory whose newest contents are on the GPU: bytes from the
 * host or from another tree are copied; a launch sets a number of all active cells. All of it is
 * queued on a stream, after earlier uses of the trees, and nothing waits. The change is declined
 * (*is_done is false) if the host has the newest contents, or others also use the memory.
 * Decision D-device-03. */
#include <string.h>

#include "base/bits.h"
#include "device/cuda/cuda.h"

static bool is_ours(const CudaTree *own) { return own && !own->is_exposed && !own->is_shared; }

static bool host_has_all(const CudaTree *own) {
  return own->image_state == CUDA_HOST_IS_NEWER && own->tree->manager_count;
}

/* Continues on the stream, after work of other streams on the tree. */
static bool begin_edit(CudaDevice *cuda, CudaTree *own, int32_t stream, Error *err) {
  if (!cuda_enter(cuda, err)) return false;
  if (cuda_select(cuda, stream, err) && cuda_join(cuda, own->use, err) &&
      cuda_push(cuda, own->tree, NULL, 0, err))
    return true;
  cuda_leave(cuda);
  return false;
}

static bool end_edit(CudaDevice *cuda, CudaTree *own, bool ok) {
  own->use = cuda_use_now(cuda);
  cuda->now->launched++;
  cuda_select(cuda, 0, NULL);
  cuda_leave(cuda);
  return ok;
}

static uint64_t gpu_address(const CudaTree *own, const uint8_t *at) {
  ASSERT(at >= own->first && (uint64_t)(at - own->first) <= own->memory.reserved,
         "an address in the tree's memory");
  return own->memory.at + (uint64_t)(at - own->first);
}

bool cuda_put(Device *device, RtTree *tree, const DevicePut *put, bool *is_done, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  CudaTree *own = tree->device;
  *is_done = false;
  if (tree->foreign || !is_ours(own) || tree->manager_count) return true;
  if (!begin_edit(cuda, own, put->stream, err)) return false;
  cuda_ensure_staging(cuda, put->size_bytes);
  bool ok = cuda_write(cuda, gpu_address(own, put->to), put->bytes, put->size_bytes, err);
  cuda_note_bytes(own, put->to, put->size_bytes);
  return end_edit(cuda, own, *is_done = ok);
}

static bool queue_move(CudaDevice *cuda, CudaTree *to, CudaTree *from, const DeviceMove *what,
                       Error *err) {
  if (!cuda_join(cuda, from->use, err) || !cuda_push(cuda, from->tree, NULL, 0, err) ||
      !cuda_repeat_end(cuda, err))
    return false;
  int result = cuda->driver.cuMemcpyDtoDAsync_v2(
      gpu_address(to, what->to), gpu_address(from, what->from), what->size_bytes, cuda->stream);
  return cuda_check(cuda, result, "copy its memory", err);
}

/* Also creates the target on the GPU if it was not there yet. */
bool cuda_move(Device *device, RtTree *tree, RtTree *from_tree, const DeviceMove *what,
               bool *is_done, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  CudaTree *from = from_tree->device;
  *is_done = false;
  if (tree->foreign || from_tree->foreign || tree->manager_count || from_tree->manager_count ||
      !is_ours(from) || (tree->device && !is_ours(tree->device)))
    return true;
  if (!cuda_enter(cuda, err)) return false;
  CudaTree *to = cuda_select(cuda, what->stream, err) ? cuda_tree(cuda, tree, err) : NULL;
  cuda_leave(cuda);
  if (!to || !begin_edit(cuda, to, what->stream, err)) return false;
  bool ok = queue_move(cuda, to, from, what, err);
  from->use = cuda_use_now(cuda);
  cuda_note_bytes(to, what->to, what->size_bytes);
  return end_edit(cuda, to, *is_done = ok);
}

void cuda_add_root_address(const CudaTree *own, RtGpuCells *cells) {
  uint64_t at = gpu_address(own, own->tree->root);
  cells->offset += at;
  cells->mask_offset += at;
}

static bool launch_set(CudaDevice *cuda, CudaTree *own, const DeviceSet *set, Error *err) {
  RtGpuSet all = {.tree = (void *)(uintptr_t)cuda_tree_address(own),
                  .cells = set->cells,
                  .size = set->size,
                  .bits = set->bits};
  bool in_root = set->cells.manager < 0;
  ASSERT(set->size == 1 || set->size == 2 || set->size == 4 || set->size == 8, "one number a cell");
  if (in_root) cuda_add_root_address(own, &all.cells);
  if (set->from) {
    const CudaTree *from = set->from->device;
    all.copies = 1;
    all.from_offset = set->from_offset;
    if (in_root) all.from_offset += gpu_address(from, set->from->root);
    memcpy(all.from_strides, set->from_strides, sizeof all.from_strides);
  }
  return cuda_repeat_end(cuda, err) && cuda_start_set(cuda, &all, err);
}

/* Makes the source ready, if it is another tree. */
static bool prepare_source(CudaDevice *cuda, CudaTree *own, RtTree *from, Error *err) {
  if (!from || from->device == own) return true;
  const CudaTree *other = from->device;
  return cuda_join(cuda, other->use, err) && cuda_push(cuda, from, NULL, 0, err);
}

static bool can_copy(const CudaTree *own, const RtTree *from) {
  return !from || from->device == own ||
         (!from->foreign && is_ours(from->device) && !host_has_all(from->device));
}

/* Does not change the topology. */
bool cuda_set(Device *device, RtTree *tree, const DeviceSet *set, bool *is_done, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  CudaTree *own = tree->device;
  *is_done = false;
  if (tree->foreign || !is_ours(own) || host_has_all(own) || !can_copy(own, set->from)) return true;
  if (!begin_edit(cuda, own, own->use.stream, err)) return false;
  bool ok = prepare_source(cuda, own, set->from, err) && launch_set(cuda, own, set, err);
  if (set->from) ((CudaTree *)set->from->device)->use = cuda_use_now(cuda);
  cuda_note_task(own, false);
  return end_edit(cuda, own, *is_done = ok);
}

bool cuda_is_tree_idle(Device *device, const RtTree *tree) {
  CudaDevice *cuda = (CudaDevice *)device;
  const CudaTree *own = tree->device;
  if (!own || own->use.launch <= cuda->streams[own->use.stream].finished) return true;
  if (!cuda_enter(cuda, NULL)) return true;
  bool is_idle = cuda_is_idle(cuda, own->use.stream);
  cuda_leave(cuda);
  return is_idle;
}
