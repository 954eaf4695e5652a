/* api_memory.c - memory of device and host, copies and fills. */
#include "api.h"

#include <stdlib.h>

static struct {
  Range *at;
  uint32_t count, room;
} pinned;
static struct {
  Range *at;
  uint32_t count, room;
} shown; /* to kernels, at the host's addresses */

bool api_is_pinned(const void *host, uint64_t size) {
  for (uint32_t i = 0; i < pinned.count; i++)
    if ((uintptr_t)host - pinned.at[i].base < pinned.at[i].size) return true;
  return false;
}

bool api_memory_fails(void) {
  static long calls;
  return ++calls == options.fail_memory;
}

EXPORT int cuMemAlloc_v2(uint64_t *address, size_t size) {
  ENTER("allocate %zu bytes", size);
  READY();
  if (!address || !size) return CUDA_ERROR_INVALID_VALUE;
  if (stream_is_capturing()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  *address = api_memory_fails() ? 0 : memory_allocate(size);
  return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORT int cuMemFree_v2(uint64_t address) {
  ENTER("free 0x%llx", (unsigned long long)address);
  READY();
  if (!address) return CUDA_SUCCESS;
  int result = stream_drain_all();
  if (result) return result;
  return memory_free(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
  READY();
  if (!free_bytes || !total_bytes) return CUDA_ERROR_INVALID_VALUE;
  *total_bytes = memory.total_bytes;
  *free_bytes = memory.total_bytes - memory.used_bytes;
  return CUDA_SUCCESS;
}
EXPORT int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t address) {
  READY();
  Range range = memory_range(address);
  if (!range.size) return CUDA_ERROR_NOT_FOUND;
  if (base) *base = range.base;
  if (size) *size = range.size;
  return CUDA_SUCCESS;
}

EXPORT int cuMemHostAlloc(void **host, size_t size, unsigned flags) {
  ENTER("pin %zu bytes", size);
  READY();
  if (!host || !size || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  *host = aligned_alloc(4096, (size + 4095) & ~(size_t)4095);
  if (!*host) return CUDA_ERROR_OUT_OF_MEMORY;
  PUSH(pinned, (Range){(uintptr_t)*host, size});
  return CUDA_SUCCESS;
}
/* The host's own memory; CU_MEMHOSTREGISTER_PORTABLE 1, _DEVICEMAP 2. */
EXPORT int cuMemHostRegister_v2(void *host, size_t size, unsigned flags) {
  ENTER("register %zu bytes of the host's at %p", size, host);
  READY();
  if (!host || !size || flags & ~3u) return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < shown.count; i++)
    if ((uintptr_t)host < shown.at[i].base + shown.at[i].size &&
        shown.at[i].base < (uintptr_t)host + size)
      return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  if (api_memory_fails()) return CUDA_ERROR_OUT_OF_MEMORY;
  Range range = {(uintptr_t)host, size};
  PUSH(pinned, range);
  if (flags & 2) PUSH(shown, range);
  return CUDA_SUCCESS;
}
static bool forget(Range *at, uint32_t *count, const void *host) {
  for (uint32_t i = 0; i < *count; i++) {
    if (at[i].base != (uintptr_t)host) continue;
    at[i] = at[--*count];
    return true;
  }
  return false;
}
EXPORT int cuMemHostUnregister(void *host) {
  ENTER("forget what is registered at %p", host);
  READY();
  int result = stream_drain_all();
  if (result) return result;
  forget(shown.at, &shown.count, host);
  return forget(pinned.at, &pinned.count, host) ? CUDA_SUCCESS
                                                : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}
void api_forget_shown(void) {
  while (shown.count) {
    Range range = shown.at[--shown.count];
    forget(pinned.at, &pinned.count, (void *)(uintptr_t)range.base); /* NOLINT */
  }
}

Range memory_shown(uint64_t address) {
  for (uint32_t i = 0; i < shown.count; i++)
    if (address - shown.at[i].base < shown.at[i].size) return shown.at[i];
  return (Range){0, 0};
}

EXPORT int cuMemAllocHost_v2(void **host, size_t size) { return cuMemHostAlloc(host, size, 0); }
EXPORT int cuMemFreeHost(void *host) {
  ENTER("free pinned memory");
  for (uint32_t i = 0; i < pinned.count; i++) {
    if (pinned.at[i].base != (uintptr_t)host) continue;
    pinned.at[i] = pinned.at[--pinned.count];
    Context *context = api_context();
    if (context && !context->result) stream_drain_all();
    free(host);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

/* The driver checks the device's side of a copy at the call. */
static int add(void *stream, Work work, bool waits) {
  int ready = api_ready();
  bool device_to = work.kind != WORK_TO_HOST,
       device_from = work.kind == WORK_ON_DEVICE || work.kind == WORK_TO_HOST;
  uint64_t bytes = work.kind == WORK_SET ? work.size * work.unit : work.size;
  if (!ready && ((device_to && !memory_is_live(work.to, bytes)) ||
                 (device_from && !memory_is_live(work.from, bytes))))
    ready = CUDA_ERROR_INVALID_VALUE;
  if (!ready && work.kind == WORK_SET && work.to % work.unit) ready = CUDA_ERROR_INVALID_VALUE;
  if (ready || !bytes) {
    work_free(&work);
    return ready;
  }
  int result = stream_add(stream, work);
  if (result || !waits || (stream_is_known(stream) && stream_of(stream)->capture)) return result;
  return stream_drain(stream_of(stream));
}

/* Memory that is not pinned is read, or has been written, before the call returns. */
static int to_device(uint64_t to, const void *from, size_t size, void *stream) {
  Work work = {.kind = WORK_TO_DEVICE, .to = to, .from = (uintptr_t)from, .size = size};
  if (!from && size) return CUDA_ERROR_INVALID_VALUE;
  if (!api_is_pinned(from, size)) {
    work.bytes = malloc(size + 1);
    if (!work.bytes) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(work.bytes, from, size);
  }
  return add(stream, work, false);
}
static int to_host(void *to, uint64_t from, size_t size, void *stream, bool waits) {
  Work work = {.kind = WORK_TO_HOST, .to = (uintptr_t)to, .from = from, .size = size};
  if (!to && size) return CUDA_ERROR_INVALID_VALUE;
  return add(stream, work, waits || !api_is_pinned(to, size));
}

EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
  ENTER("copy %zu bytes to 0x%llx", size, (unsigned long long)to);
  return to_device(to, from, size, NULL);
}
EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) {
  ENTER("copy %zu bytes from 0x%llx", size, (unsigned long long)from);
  return to_host(to, from, size, NULL, true);
}
EXPORT int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t size) {
  ENTER("copy %zu bytes from 0x%llx to 0x%llx", size, (unsigned long long)from,
        (unsigned long long)to);
  return add(NULL, (Work){.kind = WORK_ON_DEVICE, .to = to, .from = from, .size = size}, false);
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream) {
  ENTER("queue a copy of %zu bytes to 0x%llx", size, (unsigned long long)to);
  return to_device(to, from, size, stream);
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream) {
  ENTER("queue a copy of %zu bytes from 0x%llx", size, (unsigned long long)from);
  return to_host(to, from, size, stream, false);
}
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream) {
  ENTER("queue a copy of %zu bytes from 0x%llx to 0x%llx", size, (unsigned long long)from,
        (unsigned long long)to);
  return add(stream, (Work){.kind = WORK_ON_DEVICE, .to = to, .from = from, .size = size}, false);
}

#define SET(NAME, TYPE, UNIT) \
  EXPORT int NAME##Async(uint64_t to, TYPE value, size_t count, void *stream) { \
    ENTER("queue a fill of %zu * %d bytes at 0x%llx", count, UNIT, (unsigned long long)to); \
    return add(stream, \
               (Work){.kind = WORK_SET, .to = to, .size = count, .value = value, .unit = UNIT}, \
               false); \
  } \
  EXPORT int NAME##_v2(uint64_t to, TYPE value, size_t count) { \
    return NAME##Async(to, value, count, NULL); \
  }
SET(cuMemsetD8, unsigned char, 1)
SET(cuMemsetD16, unsigned short, 2)
SET(cuMemsetD32, unsigned, 4)

/* CUpointer_attribute */
EXPORT int cuPointerGetAttribute(void *value, int attribute, uint64_t address) {
  ENTER("attribute %d of 0x%llx", attribute, (unsigned long long)address);
  READY();
  Range range = memory_range(address);
  bool is_host = api_is_pinned((const void *)(uintptr_t)address, 1); /* NOLINT */
  if (!value || (!range.size && !is_host)) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
  case 1: *(void **)value = api_context(); return CUDA_SUCCESS;
  case 2: *(unsigned *)value = is_host ? 1 : 2; return CUDA_SUCCESS; /* host, device */
  case 3: *(uint64_t *)value = address; return CUDA_SUCCESS;
  case 8: *(unsigned *)value = 0; return CUDA_SUCCESS; /* managed */
  case 9: *(int *)value = 0; return CUDA_SUCCESS;      /* ordinal of the device */
  case 11: *(uint64_t *)value = is_host ? address : range.base; return CUDA_SUCCESS;
  case 12: *(size_t *)value = range.size; return CUDA_SUCCESS;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
}
