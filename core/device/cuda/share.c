/* share.c - GPU memory shared by several processes: windows (memory/symmetric_heap.h).
 * A tree's memory becomes one piece of physical memory, which the driver exports as a file
 * descriptor. It is mapped a second time in the symmetric heap: addresses at which each process
 * sees every rank's memory, at the same offsets. The host's mirror of that heap has the same
 * layout, so that an array with an axis of ranks is contiguous on both sides:
 *
 *     GPU     at     | rank 0's: part, part ..  | rank 1's ..   |     stride apart
 *     host    mirror | parts that are mapped are open           |
 *
 * A part belongs to no tree: a wrap of it gets a CudaTree as for external memory (external.c);
 * a peer's tree gets one of its own. Both are shared: CudaTree.is_shared. Decision D-comm-05. */
#include <string.h>

#include "base/bits.h"
#include "device/cuda/cuda.h"
#include "memory/arena.h"

#define STRIDE_ROUND ((uint64_t)4 << 30)
#define MIN_STRIDE ((uint64_t)64 << 30)
/* A window of a sparse tree takes as many addresses as the budget has bytes, which may be several
 * times the device's memory. */
enum { STRIDE_FACTOR = 16 };

/* -- capabilities ------------------------------------------------------------------------------ */

static bool describe(void *data, SymmetricHeapAbout *about, Error *err) {
  CudaDevice *cuda = data;
  *about = (SymmetricHeapAbout){
      .stride = align_up(STRIDE_FACTOR * cuda->about.memory_bytes, STRIDE_ROUND)};
  if (about->stride < MIN_STRIDE) about->stride = MIN_STRIDE;
  if (!cuda->about.has_sharing)
    return error_set(err, RG_ERROR_DEVICE,
                     "windows of GPU memory need a driver that can map it and share it between "
                     "processes, which '%s' cannot",
                     cuda->about.name);
  int result = cuda->driver.cuDeviceGetUuid_v2(about->device, cuda->about.number);
  return cuda_check(cuda, result, "be identified", err);
}

/* True for a device that this process cannot enumerate, as mapping its memory may still work. */
static bool sees(void *data, const SymmetricHeapAbout *other) {
  CudaDevice *cuda = data;
  const Driver *driver = &cuda->driver;
  uint8_t uuid[sizeof other->device];
  int count = 0, device, can = 0;
  if (driver->cuDeviceGetCount(&count)) return false;
  for (int k = 0; k < count; k++) {
    if (driver->cuDeviceGet(&device, k) || driver->cuDeviceGetUuid_v2(uuid, device) ||
        memcmp(uuid, other->device, sizeof uuid))
      continue;
    return device == cuda->about.number ||
           (!driver->cuDeviceCanAccessPeer(&can, cuda->about.number, device) && can);
  }
  return true;
}

/* -- symmetric heap ---------------------------------------------------------------------------- */

static CudaSymmetricHeap *symmetric_at(const CudaDevice *cuda, uint64_t at) {
  for (CudaSymmetricHeap *symmetric = cuda->symmetric; symmetric; symmetric = symmetric->next)
    if (at - symmetric->at < symmetric->size_bytes) return symmetric;
  return NULL;
}

static CudaSymmetricHeap *symmetric_of(const CudaDevice *cuda, const uint8_t *mirror) {
  for (CudaSymmetricHeap *symmetric = cuda->symmetric; symmetric; symmetric = symmetric->next)
    if ((uint64_t)(mirror - symmetric->mirror.base) < symmetric->size_bytes) return symmetric;
  return NULL;
}

static CudaPart **part_at(CudaSymmetricHeap *symmetric, uint64_t at) {
  CudaPart **link = &symmetric->parts;
  while (*link && at - (*link)->at >= (*link)->size_bytes) link = &(*link)->next;
  return link;
}

bool cuda_is_in_window(const CudaDevice *cuda, const RtTree *tree) {
  return tree->foreign && symmetric_of(cuda, tree->root);
}

bool cuda_symmetric_range(const CudaDevice *cuda, const uint8_t *mirror, CudaRange *range) {
  CudaSymmetricHeap *symmetric = symmetric_of(cuda, mirror);
  if (!symmetric) return false;
  uint64_t at = symmetric->at + (uint64_t)(mirror - symmetric->mirror.base);
  const CudaPart *part = *part_at(symmetric, at);
  if (!part) return false;
  uint64_t left = part->at + part->size_bytes - at;
  *range = (CudaRange){.at = at, .reserved = left, .mapped = left, .is_external = true};
  return true;
}

uint8_t *cuda_symmetric_host(const CudaDevice *cuda, uint64_t at) {
  const CudaSymmetricHeap *symmetric = symmetric_at(cuda, at);
  return symmetric ? symmetric->mirror.base + (at - symmetric->at) : NULL;
}

bool cuda_symmetric_part(const CudaDevice *cuda, uint64_t at, uint64_t *base,
                         uint64_t *size_bytes) {
  CudaSymmetricHeap *symmetric = symmetric_at(cuda, at);
  const CudaPart *part = symmetric ? *part_at(symmetric, at) : NULL;
  if (!part) return false;
  *base = part->at;
  *size_bytes = part->size_bytes;
  return true;
}

static uint64_t reserve(void *data, uint64_t size_bytes, Error *err) {
  CudaDevice *cuda = data;
  CudaSymmetricHeap *symmetric = heap_alloc(cuda->device.heap, sizeof *symmetric);
  if (!symmetric || !arena_reserve_closed(&symmetric->mirror, size_bytes)) {
    heap_free(cuda->device.heap, symmetric);
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left to mirror %llu bytes of windows",
              (unsigned long long)size_bytes);
    return 0;
  }
  uint64_t at = 0;
  if (cuda_enter(cuda, err)) {
    int result = cuda->driver.cuMemAddressReserve(&at, size_bytes, 0, 0, 0);
    if (!cuda_check(cuda, result, "reserve addresses for windows", err)) at = 0;
    cuda_leave(cuda);
  }
  if (!at) {
    arena_release(&symmetric->mirror);
    heap_free(cuda->device.heap, symmetric);
    return 0;
  }
  symmetric->next = cuda->symmetric;
  symmetric->at = at;
  symmetric->size_bytes = size_bytes;
  cuda->symmetric = symmetric;
  return at;
}

/* Drops the host's changes; if wraps are left, the CudaTree stays until they end. */
static void end_tree(CudaDevice *cuda, const CudaPart *part) {
  for (CudaTree *own = cuda->trees; own; own = own->next) {
    if (own->memory.at != part->at || !own->owns_tree) continue;
    cuda_priors_drop(cuda, own);
    if (!own->wrap_count) cuda_forget(&cuda->device, own->tree);
    return;
  }
}

static void close_mirror(const CudaSymmetricHeap *symmetric, const CudaPart *part) {
  if (!part->grows)
    arena_close(symmetric->mirror.base + (part->at - symmetric->at), part->size_bytes);
}

static void end_part(CudaDevice *cuda, CudaSymmetricHeap *symmetric, CudaPart **link) {
  CudaPart *part = *link;
  end_tree(cuda, part);
  if (!cuda_is_lost(cuda)) {
    cuda_wait_all(cuda, NULL);
    cuda->driver.cuMemUnmap(part->at, part->size_bytes);
  }
  close_mirror(symmetric, part);
  *link = part->next;
  heap_free(cuda->device.heap, part);
}

static void end_symmetric_heap(CudaDevice *cuda, CudaSymmetricHeap **link) {
  CudaSymmetricHeap *symmetric = *link;
  while (symmetric->parts) end_part(cuda, symmetric, &symmetric->parts);
  if (!cuda_is_lost(cuda)) cuda->driver.cuMemAddressFree(symmetric->at, symmetric->size_bytes);
  arena_release(&symmetric->mirror);
  *link = symmetric->next;
  heap_free(cuda->device.heap, symmetric);
}

void cuda_symmetric_free(CudaDevice *cuda) {
  while (cuda->symmetric) end_symmetric_heap(cuda, &cuda->symmetric);
}

static void release(void *data, uint64_t base) {
  CudaDevice *cuda = data;
  CudaSymmetricHeap **link = &cuda->symmetric;
  bool is_entered = cuda_enter(cuda, NULL);
  while (*link && (*link)->at != base) link = &(*link)->next;
  if (*link) end_symmetric_heap(cuda, link);
  if (is_entered) cuda_leave(cuda);
}

/* -- parts ------------------------------------------------------------------------------------- */

static bool map_file(CudaDevice *cuda, uint64_t at, uint64_t size_bytes, int file, Error *err) {
  const Driver *driver = &cuda->driver;
  const char *what = "map memory of another rank";
  unsigned long long handle;
  DriverAccess access = {
      .place = DRIVER_ON_DEVICE, .number = cuda->about.number, .flags = DRIVER_READ_WRITE};
  int result = driver->cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file,
                                                      DRIVER_FILE_DESCRIPTOR);
  if (!cuda_check(cuda, result, what, err)) return false;
  result = driver->cuMemMap(at, size_bytes, 0, handle, 0);
  driver->cuMemRelease(handle); /* the mapping keeps the memory */
  if (!cuda_check(cuda, result, what, err)) return false;
  if (cuda_check(cuda, driver->cuMemSetAccess(at, size_bytes, &access, 1), what, err)) return true;
  driver->cuMemUnmap(at, size_bytes);
  return false;
}

static bool map(void *data, uint64_t at, uint64_t size_bytes, int file, Error *err) {
  CudaDevice *cuda = data;
  CudaSymmetricHeap *symmetric = symmetric_at(cuda, at);
  ASSERT(symmetric, "memory is mapped into a reserved range");
  CudaPart *part = heap_alloc(cuda->device.heap, sizeof *part);
  uint8_t *mirror = symmetric->mirror.base + (at - symmetric->at);
  if (!part || !arena_open(mirror, size_bytes)) {
    heap_free(cuda->device.heap, part);
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a window");
  }
  bool ok = cuda_enter(cuda, err);
  if (ok) {
    ok = map_file(cuda, at, size_bytes, file, err);
    cuda_leave(cuda);
  }
  if (ok) {
    *part = (CudaPart){.next = symmetric->parts, .at = at, .size_bytes = size_bytes};
    symmetric->parts = part;
    return true;
  }
  arena_close(mirror, size_bytes);
  heap_free(cuda->device.heap, part);
  return false;
}

static void unmap(void *data, uint64_t at) {
  CudaDevice *cuda = data;
  CudaSymmetricHeap *symmetric = symmetric_at(cuda, at);
  CudaPart **link = symmetric ? part_at(symmetric, at) : NULL;
  if (!link || !*link) return; /* the part was never mapped */
  bool is_entered = cuda_enter(cuda, NULL);
  end_part(cuda, symmetric, link);
  if (is_entered) cuda_leave(cuda);
}

/* -- parts that grow: sparse trees ------------------------------------------------------------- */

static CudaTree *find_own(const CudaDevice *cuda, uint64_t at, uint64_t serial) {
  for (CudaTree *own = cuda->trees; own; own = own->next)
    if (own->memory.at == at && own->serial == serial) return own;
  return NULL;
}

static int32_t pieces(void *data, uint64_t at, uint64_t serial) {
  const CudaTree *own = find_own(data, at, serial);
  return own ? own->memory.piece_count : 0;
}

static bool export_piece(CudaDevice *cuda, const CudaTree *own, int32_t number,
                         SymmetricHeapPart *part, Error *err) {
  part->size_bytes = own->memory.piece_bytes[number];
  int result = cuda->driver.cuMemExportToShareableHandle(&part->file, own->memory.pieces[number],
                                                         DRIVER_FILE_DESCRIPTOR, 0);
  return cuda_check(cuda, result, "share memory", err);
}

static bool piece(void *data, uint64_t at, int32_t number, SymmetricHeapPart *part, Error *err) {
  CudaDevice *cuda = data;
  const CudaTree *own = cuda->trees;
  *part = (SymmetricHeapPart){.file = -1};
  while (own && (own->memory.at != at || !own->is_window)) own = own->next;
  ASSERT(own && number < own->memory.piece_count, "the number of a piece is below their count");
  if (!cuda_enter(cuda, err)) return false;
  bool ok = export_piece(cuda, own, number, part, err);
  cuda_leave(cuda);
  return ok;
}

/* Lets views of the part's tree see the new memory. */
static void widen_views(const CudaDevice *cuda, const CudaPart *part) {
  for (CudaTree *own = cuda->trees; own; own = own->next) {
    if (own->memory.at != part->at || !cuda_is_view(own->tree)) continue;
    own->memory.mapped = own->memory.reserved = part->size_bytes;
    own->image_state = CUDA_HOST_IS_NEWER;
  }
}

static bool extend(void *data, uint64_t at, uint64_t size_bytes, int file, Error *err) {
  CudaDevice *cuda = data;
  CudaSymmetricHeap *symmetric = symmetric_at(cuda, at);
  ASSERT(symmetric, "memory is mapped into a reserved range");
  CudaPart *part = *part_at(symmetric, at), *made = NULL;
  if (!part) part = made = heap_alloc(cuda->device.heap, sizeof *part);
  if (!part) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a window");
  if (made) *made = (CudaPart){.next = symmetric->parts, .at = at, .grows = true};
  bool ok = cuda_enter(cuda, err);
  if (ok) {
    ok = map_file(cuda, at + part->size_bytes, size_bytes, file, err);
    cuda_leave(cuda);
  }
  if (ok) {
    part->size_bytes += size_bytes;
    if (made) symmetric->parts = made;
    widen_views(cuda, part);
  } else {
    heap_free(cuda->device.heap, made);
  }
  return ok;
}

static bool is_there(void *data, uint64_t at, uint64_t serial) {
  return find_own(data, at, serial);
}

static uint8_t *host(void *data, uint64_t at) { return cuda_symmetric_host(data, at); }

static bool copy(void *data, uint64_t at, void *to, const void *from, uint64_t size_bytes,
                 Error *err) {
  CudaDevice *cuda = data;
  if (!cuda_enter(cuda, err)) return false;
  bool ok = to ? cuda_read(cuda, to, at, size_bytes, err)
               : cuda_write(cuda, at, from, size_bytes, err) && cuda_wait(cuda, err);
  cuda_leave(cuda);
  return ok;
}

/* Waits, with calls of continues, until all queued work is done. */
static bool await(CudaDevice *cuda, const SymmetricHeapWork *work, Error *err) {
  int result;
  while ((result = cuda->driver.cuStreamQuery(cuda->stream)) == DRIVER_NOT_READY)
    if (!work->continues(work->waits_for, err)) return false;
  return cuda_check(cuda, result, "finish its work", err);
}

static bool queue(void *data, const SymmetricHeapWork *work, Error *err) {
  CudaDevice *cuda = data;
  if (!cuda_enter(cuda, err)) return false;
  bool ok = cuda_repeat_end(cuda, err) && work->begin(work->context, cuda->stream, err) &&
            await(cuda, work, err);
  cuda_leave(cuda);
  return ok;
}

const SymmetricHeapTable cuda_symmetric = {.describe = describe,
                                           .sees = sees,
                                           .reserve = reserve,
                                           .release = release,
                                           .map = map,
                                           .unmap = unmap,
                                           .pieces = pieces,
                                           .piece = piece,
                                           .extend = extend,
                                           .is_there = is_there,
                                           .host = host,
                                           .copy = copy,
                                           .queue = queue};

/* -- a tree's memory --------------------------------------------------------------------------- */

/* Moves the contents to shareable memory; no queued work may use them. */
static bool move_dense(CudaDevice *cuda, CudaTree *own, Error *err) {
  CudaRange shared;
  if (!cuda_provide_shared(cuda, &shared, own->memory.mapped, err)) return false;
  int result = cuda->driver.cuMemcpyDtoDAsync_v2(shared.at, own->memory.at, own->memory.mapped,
                                                 cuda->stream);
  if (!cuda_check(cuda, result, "move memory", err) || !cuda_wait(cuda, err)) {
    cuda_free(cuda, &shared);
    return false;
  }
  cuda_free(cuda, &own->memory);
  own->memory = shared;
  /* the image holds addresses */
  if (own->image_state == CUDA_SAME) own->image_state = CUDA_HOST_IS_NEWER;
  own->is_exposed = own->is_shared = true;
  own->is_current = false;
  own->serial = ++cuda->serials;
  return true;
}

static bool share_dense(CudaDevice *cuda, RtTree *tree, CudaTree *own, SymmetricHeapPart *part,
                        Error *err) {
  if (!own->is_shared && !(cuda_push(cuda, tree, NULL, 0, err) && cuda_wait_all(cuda, err) &&
                           move_dense(cuda, own, err)))
    return false;
  return export_piece(cuda, own, 0, part, err);
}

/* The tables contain addresses of the old memory, so the host must copy them again. */
static void invalidate_tables(CudaTree *own) {
  own->image_state = CUDA_HOST_IS_NEWER;
  for (int32_t m = 0; m < own->tree->manager_count; m++) {
    own->lists[m].orders = NULL;
    own->lists[m].order_count = 0;
  }
}

/* Moves the used memory to a range that grows by exportable pieces. */
static bool move_sparse(CudaDevice *cuda, CudaTree *own, Error *err) {
  CudaRange shared;
  uint64_t top = own->tree->top;
  own->is_window = true; /* so that cuda_mapped_for includes the slack */
  uint64_t most = cuda_mapped_for(own, own->tree->reserved), least = cuda_mapped_for(own, top);
  own->is_window = false;
  if (!cuda_reserve(cuda, &shared, most, least, err)) return false;
  shared.is_shareable = true;
  bool ok = cuda_grow(cuda, &shared, least, err);
  int result =
      !ok ? DRIVER_OK
          : cuda->driver.cuMemcpyDtoDAsync_v2(shared.at, own->memory.at, top, cuda->stream);
  if (!ok || !cuda_check(cuda, result, "move memory", err) || !cuda_wait(cuda, err)) {
    cuda_free(cuda, &shared);
    return false;
  }
  cuda_free(cuda, &own->memory);
  own->memory = shared;
  invalidate_tables(own);
  own->is_window = true;
  own->serial = ++cuda->serials;
  return true;
}

static bool share_sparse(CudaDevice *cuda, RtTree *tree, CudaTree *own, SymmetricHeapPart *part,
                         Error *err) {
  part->grows = true;
  if (!own->is_window && !(cuda_push(cuda, tree, NULL, 0, err) && cuda_wait_all(cuda, err) &&
                           cuda_sync_tables(cuda, own, err) && move_sparse(cuda, own, err)))
    return false;
  return cuda_push(cuda, tree, NULL, 0, err) && cuda_wait_all(cuda, err);
}

bool cuda_share(Device *device, RtTree *tree, SymmetricHeapPart *part, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  *part = (SymmetricHeapPart){.file = -1};
  ASSERT(!tree->foreign, "a tree that is shared belongs to this process");
  if (!cuda_finish_all(cuda, err) || !cuda_enter(cuda, err)) return false;
  CudaTree *own = cuda_tree(cuda, tree, err);
  bool ok = own && (tree->manager_count ? share_sparse : share_dense)(cuda, tree, own, part, err);
  if (ok) {
    part->at = own->memory.at;
    part->size_bytes = own->memory.reserved;
    part->serial = own->serial;
  }
  cuda_leave(cuda);
  return ok;
}
