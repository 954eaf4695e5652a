/* memory.c - device memory, and copies to and from it.
 *
 *     reserved  |  piece | piece | piece |  addresses without memory ..   |
 *               at                       at + mapped                      at + reserved
 *
 * A range grows by mapping physical memory at its end, so its contents never move. Each piece is at
 * most as large as all before it, so that most unused memory can be freed. If the driver cannot
 * map, a range is backed as a whole from the beginning: plain memory (plain.c).
 * Copies go through a ring of pinned memory, so that they are queued like launches; the ring starts
 * over when the host has waited for the stream. Each stream has a ring, which becomes larger if a
 * copy does not fit (cuda_ensure_staging). */
#include <string.h>

#include "base/bits.h"
#include "device/cuda/cuda.h"
#include "memory/pool.h"

#define STAGING_BYTES ((uint64_t)4 << 20)
#define MAX_PIECE ((uint64_t)256 << 20)
#define MIN_PIECE ((uint64_t)2 << 20)

/* -- ranges ------------------------------------------------------------------------------------ */

static bool zero(CudaDevice *cuda, uint64_t at, uint64_t size_bytes, Error *err) {
  if (!cuda_repeat_end(cuda, err)) return false;
  return cuda_check(cuda, cuda->driver.cuMemsetD8Async(at, 0, size_bytes, cuda->stream),
                    "clear memory", err);
}

bool cuda_allocate(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err) {
  *range = (CudaRange){0};
  size_bytes = align_up(size_bytes ? size_bytes : 1, RT_GRANULE);
  if (!cuda_take(cuda, range, size_bytes, err)) return false;
  if (zero(cuda, range->at, size_bytes, err)) return true;
  cuda_free(cuda, range);
  return false;
}

bool cuda_enlarge(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, bool keeps, Error *err) {
  CudaRange larger;
  ASSERT(!range->is_external, "external memory does not grow");
  if (size_bytes <= range->mapped) return true;
  if (!keeps) cuda_free(cuda, range);
  if (!cuda_allocate(cuda, &larger, size_bytes + size_bytes / 2, err)) return false;
  int result = range->at ? cuda->driver.cuMemcpyDtoDAsync_v2(larger.at, range->at, range->mapped,
                                                             cuda->stream)
                         : DRIVER_OK;
  cuda_free(cuda, range);
  *range = larger;
  if (!cuda_check(cuda, result, "move memory", err)) return false;
  return cuda->open_streams == 1 || cuda_wait(cuda, err); /* another stream may use it first */
}

static DriverMemoryKind kind_of(const CudaDevice *cuda) {
  return (DriverMemoryKind){
      .type = DRIVER_PINNED, .place = DRIVER_ON_DEVICE, .number = cuda->about.number};
}

uint64_t cuda_piece_size(CudaDevice *cuda) {
  size_t granularity = 0;
  DriverMemoryKind kind = kind_of(cuda);
  if (cuda->driver.cuMemGetAllocationGranularity(&granularity, &kind, 0) || !granularity)
    return MIN_PIECE;
  return granularity;
}

bool cuda_reserve(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, uint64_t plain_bytes,
                  Error *err) {
  *range = (CudaRange){0};
  if (!cuda->about.has_ranges) return cuda_allocate(cuda, range, plain_bytes, err);
  uint64_t reserved = align_up(size_bytes, cuda_piece_size(cuda));
  int result = cuda->driver.cuMemAddressReserve(&range->at, reserved, 0, 0, 0);
  if (!cuda_check(cuda, result, "reserve addresses", err)) return false;
  range->reserved = reserved;
  return true;
}

static bool record_piece(CudaDevice *cuda, CudaRange *range, unsigned long long handle,
                         uint64_t size_bytes) {
  size_t count = (size_t)range->piece_count + 1;
  unsigned long long *pieces =
      heap_resize(cuda->device.heap, range->pieces, sizeof *pieces * count);
  if (pieces) range->pieces = pieces;
  uint64_t *sizes = heap_resize(cuda->device.heap, range->piece_bytes, sizeof *sizes * count);
  if (sizes) range->piece_bytes = sizes;
  if (!pieces || !sizes) return false;
  pieces[range->piece_count] = handle;
  sizes[range->piece_count++] = size_bytes;
  range->mapped += size_bytes;
  return true;
}

static bool map_piece(CudaDevice *cuda, CudaRange *range, unsigned long long handle,
                      uint64_t size_bytes, Error *err) {
  const Driver *driver = &cuda->driver;
  uint64_t at = range->at + range->mapped;
  ASSERT(range->mapped + size_bytes <= range->reserved, "pieces stay inside the reserved range");
  DriverAccess access = {
      .place = DRIVER_ON_DEVICE, .number = cuda->about.number, .flags = DRIVER_READ_WRITE};
  if (!cuda_check(cuda, driver->cuMemMap(at, size_bytes, 0, handle, 0), "map memory", err))
    return false;
  if (cuda_check(cuda, driver->cuMemSetAccess(at, size_bytes, &access, 1), "map memory", err) &&
      zero(cuda, at, size_bytes, err)) {
    if (record_piece(cuda, range, handle, size_bytes)) return true;
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a list of device memory");
  }
  cuda_wait(cuda, NULL); /* a queued operation may be clearing it */
  driver->cuMemUnmap(at, size_bytes);
  return false;
}

static bool add_piece(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err) {
  unsigned long long handle;
  DriverMemoryKind kind = kind_of(cuda);
  if (range->is_shareable) kind.handle_types = DRIVER_FILE_DESCRIPTOR;
  int result = cuda->driver.cuMemCreate(&handle, size_bytes, &kind, 0);
  if (result == DRIVER_OUT_OF_MEMORY && cuda_relieve(cuda))
    result = cuda->driver.cuMemCreate(&handle, size_bytes, &kind, 0);
  if (!cuda_check(cuda, result, "provide memory", err)) return false;
  if (map_piece(cuda, range, handle, size_bytes, err)) return true;
  cuda->driver.cuMemRelease(handle);
  return false;
}

static void drop_piece(CudaDevice *cuda, CudaRange *range) {
  ASSERT(range->piece_count > 0, "a range is made of pieces");
  uint64_t size_bytes = range->piece_bytes[--range->piece_count];
  ASSERT(size_bytes <= range->mapped, "pieces add up to what is mapped");
  range->mapped -= size_bytes;
  cuda->driver.cuMemUnmap(range->at + range->mapped, size_bytes);
  cuda->driver.cuMemRelease(range->pieces[range->piece_count]);
}

bool cuda_shrink(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes) {
  bool any = false;
  while (range->piece_count &&
         range->mapped - range->piece_bytes[range->piece_count - 1] >= size_bytes) {
    drop_piece(cuda, range);
    any = true;
  }
  return any;
}

bool cuda_grow(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err) {
  if (size_bytes <= range->mapped) return true;
  if (range->plain || size_bytes > range->reserved)
    return error_set(err, RG_ERROR_DEVICE_MEMORY,
                     "a tree needs more memory of the GPU than was reserved for it");
  uint64_t least = cuda_piece_size(cuda);
  while (range->mapped < size_bytes) {
    uint64_t piece = align_up(size_bytes - range->mapped, least), most = MAX_PIECE;
    if (range->mapped < most) most = range->mapped;
    if (piece > most) piece = align_up(most ? most : 1, least);
    if (!add_piece(cuda, range, piece, err)) return false;
  }
  return true;
}

bool cuda_provide_shared(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err) {
  if (!cuda_reserve(cuda, range, size_bytes, size_bytes, err)) return false;
  range->is_shareable = true;
  if (add_piece(cuda, range, range->reserved, err)) return true;
  cuda_free(cuda, range);
  return false;
}

static void free_range(CudaDevice *cuda, CudaRange *range) {
  const Driver *driver = &cuda->driver;
  if (range->at && !range->is_external && !cuda_is_lost(cuda)) {
    while (range->piece_count) drop_piece(cuda, range);
    if (range->plain) memory_pool_free(range->pool, range->plain);
    else driver->cuMemAddressFree(range->at, range->reserved);
  }
  heap_free(cuda->device.heap, range->pieces);
  heap_free(cuda->device.heap, range->piece_bytes);
  *range = (CudaRange){0};
}

void cuda_free(CudaDevice *cuda, CudaRange *range) {
  if (range->at && !range->is_external && !cuda_is_lost(cuda)) cuda_wait_all(cuda, NULL);
  free_range(cuda, range);
}

void cuda_free_after(CudaDevice *cuda, CudaRange *range, CudaUse use) {
  if (range->at && !cuda_is_lost(cuda)) cuda_wait_for(cuda, use, NULL);
  free_range(cuda, range);
}

/* -- copies ------------------------------------------------------------------------------------ */

void cuda_ensure_staging(CudaDevice *cuda, uint64_t size_bytes) {
  CudaStaging *staging = &cuda->now->staging;
  uint64_t most = (uint64_t)cuda->guesses[CUDA_GUESS_staging] << 20, size = STAGING_BYTES;
  if (staging->size_bytes >= most || staging->old_count == CUDA_OLD_RINGS) return;
  if (align_up(size_bytes, RT_GRANULE) <= staging->size_bytes - staging->used) return;
  while (size < most && (size < 2 * staging->size_bytes || size < size_bytes)) size *= 2;
  if (size > most) size = most;
  void *memory = NULL;
  if (cuda->driver.cuMemHostAlloc(&memory, size, 0)) return; /* copies then wait for the ring */
  ASSERT(staging->old_count < CUDA_OLD_RINGS, "the list of old rings is large enough");
  if (staging->memory) staging->old[staging->old_count++] = staging->memory;
  staging->memory = memory;
  staging->size_bytes = size;
  staging->used = 0;
}

static void free_old(CudaDevice *cuda, CudaStaging *staging) {
  while (staging->old_count) cuda->driver.cuMemFreeHost(staging->old[--staging->old_count]);
}

void cuda_staging_reset(CudaDevice *cuda, CudaStaging *staging) {
  if (!cuda_is_lost(cuda)) free_old(cuda, staging);
  staging->used = 0;
}

/* Takes up to *size_bytes bytes of the ring, at least one, and stores in *size_bytes how many. */
static uint8_t *reserve_staging(CudaDevice *cuda, uint64_t *size_bytes, Error *err) {
  CudaStaging *staging = &cuda->now->staging;
  if (!staging->memory) {
    void *memory = NULL;
    int result = cuda->driver.cuMemHostAlloc(&memory, STAGING_BYTES, 0);
    if (!cuda_check(cuda, result, "pin memory of the host", err)) return NULL;
    staging->memory = memory;
    staging->size_bytes = STAGING_BYTES;
  }
  ASSERT(*size_bytes && staging->used <= staging->size_bytes, "the ring holds what is staged");
  uint64_t left = staging->size_bytes - staging->used;
  if (*size_bytes > left && left < staging->size_bytes / 2) {
    if (!cuda_wait(cuda, err)) return NULL;
    left = staging->size_bytes;
  }
  if (*size_bytes > left) *size_bytes = left;
  uint8_t *at = staging->memory + staging->used;
  staging->used += align_up(*size_bytes, RT_GRANULE);
  if (staging->used > staging->size_bytes) staging->used = staging->size_bytes;
  return at;
}

bool cuda_write(CudaDevice *cuda, uint64_t to, const void *from, uint64_t size_bytes, Error *err) {
  return cuda_repeat_end(cuda, err) && cuda_copy_in(cuda, to, from, size_bytes, err);
}

bool cuda_copy_in(CudaDevice *cuda, uint64_t to, const void *from, uint64_t size_bytes,
                  Error *err) {
  const uint8_t *bytes = from;
  for (uint64_t done = 0, part; done < size_bytes; done += part) {
    part = size_bytes - done;
    uint8_t *staged = reserve_staging(cuda, &part, err);
    if (!staged) return false;
    memcpy(staged, bytes + done, part);
    int result = cuda->driver.cuMemcpyHtoDAsync_v2(to + done, staged, part, cuda->stream);
    if (!cuda_check(cuda, result, "copy to its memory", err)) return false;
  }
  return true;
}

bool cuda_read(CudaDevice *cuda, void *to, uint64_t from, uint64_t size_bytes, Error *err) {
  uint8_t *bytes = to;
  if (!cuda_repeat_pause(cuda, err)) return false;
  for (uint64_t done = 0, part; done < size_bytes; done += part) {
    part = size_bytes - done;
    uint8_t *staged = reserve_staging(cuda, &part, err);
    if (!staged) return false;
    int result = cuda->driver.cuMemcpyDtoHAsync_v2(staged, from + done, part, cuda->stream);
    if (!cuda_check(cuda, result, "copy from its memory", err) || !cuda_wait(cuda, err))
      return false;
    memcpy(bytes + done, staged, part);
  }
  return true;
}

void cuda_staging_free(CudaDevice *cuda, CudaStaging *staging) {
  cuda_staging_reset(cuda, staging);
  if (staging->memory && !cuda_is_lost(cuda)) cuda->driver.cuMemFreeHost(staging->memory);
  *staging = (CudaStaging){0};
}
