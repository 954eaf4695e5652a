/* plain.c - fully backed GPU memory, pooled for reuse. Large blocks are in an expandable
 * arena: one range of addresses, whose pages are backed while a block uses them, so that a hole
 * costs addresses, not memory:
 *
 *     | array | (hole: its pages' memory is elsewhere now) | array | array |   addresses ..
 *
 * Blocks smaller than a page are separate allocations, as are all blocks if the driver cannot map:
 * a free one is used for the next request of exactly its size, and every ten seconds all free ones
 * are returned to the driver. Memory is freed when all streams are idle. Decision D-device-12. */
#include "base/bits.h"
#include "base/clock.h"
#include "device/cuda/cuda.h"
#include "memory/pool.h"

enum { PAGE = MEMORY_PAGE, ADDRESSES = 8 /* times the GPU's memory */ };

/* -- pieces ------------------------------------------------------------------------------------ */

static uint64_t allocate_plain(void *data, uint64_t size_bytes) {
  CudaDevice *cuda = data;
  uint64_t at = 0;
  cuda->plain_result = cuda->driver.cuMemAlloc_v2(&at, size_bytes);
  return cuda->plain_result ? 0 : at;
}

static void free_plain(void *data, uint64_t at, uint64_t size_bytes) {
  CudaDevice *cuda = data;
  (void)size_bytes;
  if (!cuda_is_lost(cuda)) cuda->driver.cuMemFree_v2(at);
}

static int64_t now_ns(void *data) {
  (void)data;
  return clock_ns();
}

static MemoryPool *small_pool(CudaDevice *cuda) {
  const MemoryConfig config = {
      .strategy = MEMORY_SIMPLE, .dealloc = DEALLOC_TIME, .dealloc_ns = 10000000000};
  const MemorySource source = {
      .data = cuda, .allocate = allocate_plain, .free = free_plain, .now_ns = now_ns};
  if (!cuda->plain) cuda->plain = memory_pool_create(cuda->device.heap, &source, &config);
  return cuda->plain;
}

/* -- the arena --------------------------------------------------------------------------------- */

/* A mapping keeps its memory after the handle is released. */
static bool add_page(CudaDevice *cuda, uint64_t at) {
  const Driver *driver = &cuda->driver;
  const DriverMemoryKind kind = {
      .type = DRIVER_PINNED, .place = DRIVER_ON_DEVICE, .number = cuda->about.number};
  unsigned long long handle;
  cuda->plain_result = driver->cuMemCreate(&handle, PAGE, &kind, 0);
  if (cuda->plain_result) return false;
  cuda->plain_result = driver->cuMemMap(at, PAGE, 0, handle, 0);
  driver->cuMemRelease(handle);
  return !cuda->plain_result;
}

static bool commit(void *data, uint64_t at, uint64_t size_bytes) {
  CudaDevice *cuda = data;
  const DriverAccess access = {
      .place = DRIVER_ON_DEVICE, .number = cuda->about.number, .flags = DRIVER_READ_WRITE};
  ASSERT(at % PAGE == cuda->arena_range.at % PAGE && size_bytes % PAGE == 0,
         "the arena is backed by whole pages");
  uint64_t done = 0;
  while (done < size_bytes && add_page(cuda, at + done)) done += PAGE;
  if (done == size_bytes)
    cuda->plain_result = cuda->driver.cuMemSetAccess(at, size_bytes, &access, 1);
  if (done == size_bytes && !cuda->plain_result) return true;
  if (done) cuda->driver.cuMemUnmap(at, done);
  return false;
}

static void decommit(void *data, uint64_t at, uint64_t size_bytes) {
  CudaDevice *cuda = data;
  if (cuda_is_lost(cuda)) return;
  ASSERT(at - cuda->arena_range.at + size_bytes <= cuda->arena_range.reserved,
         "pages of the arena");
  cuda_wait_all(cuda, NULL);
  cuda->driver.cuMemUnmap(at, size_bytes);
}

/* The arena's pages have the mapping size of most drivers; NULL if this driver's differs or it
 * cannot map. */
static MemoryPool *arena_pool(CudaDevice *cuda) {
  CudaRange *range = &cuda->arena_range;
  const MemoryConfig config = {.strategy = MEMORY_EXPANDABLE};
  uint64_t bytes = align_up(ADDRESSES * cuda->about.memory_bytes, PAGE);
  if (cuda->arena || cuda->has_no_arena) return cuda->arena;
  cuda->has_no_arena = !cuda->about.has_ranges || cuda_piece_size(cuda) != PAGE ||
                       cuda->driver.cuMemAddressReserve(&range->at, bytes, 0, 0, 0);
  if (cuda->has_no_arena) return NULL;
  range->reserved = bytes;
  const MemorySource source = {.data = cuda,
                               .base = range->at,
                               .size_bytes = bytes,
                               .page_bytes = PAGE,
                               .commit = commit,
                               .decommit = decommit,
                               .now_ns = now_ns};
  return cuda->arena = memory_pool_create(cuda->device.heap, &source, &config);
}

/* -- both -------------------------------------------------------------------------------------- */

static MemoryPool *pool_for(CudaDevice *cuda, uint64_t size_bytes) {
  MemoryPool *large = size_bytes >= PAGE ? arena_pool(cuda) : NULL;
  return large ? large : small_pool(cuda);
}

bool cuda_take(CudaDevice *cuda, CudaRange *range, uint64_t size_bytes, Error *err) {
  ASSERT(!range->at && !range->plain && size_bytes, "an empty range receives some memory");
  cuda->plain_result = DRIVER_OK;
  range->pool = pool_for(cuda, size_bytes);
  if (range->pool) range->plain = memory_pool_allocate(range->pool, size_bytes);
  if (cuda->plain_result == DRIVER_OUT_OF_MEMORY && !range->plain && cuda_relieve(cuda))
    range->plain = memory_pool_allocate(range->pool, size_bytes);
  if (!range->plain && !cuda->plain_result)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for device memory");
  if (!range->plain) return cuda_check(cuda, cuda->plain_result, "provide memory", err);
  range->at = range->plain->at;
  range->reserved = range->mapped = size_bytes;
  return true;
}

static bool trim(MemoryPool *pool) {
  if (!pool) return false;
  uint64_t before = memory_pool_usage(pool).reserved;
  memory_pool_trim(pool);
  return memory_pool_usage(pool).reserved < before;
}

bool cuda_trim_plain(CudaDevice *cuda) {
  bool any = trim(cuda->plain);
  return trim(cuda->arena) || any;
}

void cuda_plain_free(CudaDevice *cuda) {
  memory_pool_destroy(cuda->plain);
  memory_pool_destroy(cuda->arena);
  cuda->plain = cuda->arena = NULL;
  if (cuda->arena_range.at && !cuda_is_lost(cuda))
    cuda->driver.cuMemAddressFree(cuda->arena_range.at, cuda->arena_range.reserved);
  cuda->arena_range = (CudaRange){0};
}
