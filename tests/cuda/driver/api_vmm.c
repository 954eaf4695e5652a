/* api_vmm.c - the driver's entry points to memory_map.c. */
#include "api.h"

typedef struct Location {
  int type, id;
} Location;
typedef struct Kind { /* CUmemAllocationProp */
  int type, handle_types;
  Location location;
  void *metadata;
  unsigned char flags[8];
} Kind;
typedef struct Access {
  Location location;
  int flags;
} Access;
_Static_assert(sizeof(Kind) == 32 && sizeof(Access) == 12, "as in the driver");

enum { PINNED = 1, ON_DEVICE = 1, READ = 1, READ_WRITE = 3, FILE_DESCRIPTOR = 1 };

#define READY_VMM() \
  READY(); \
  if (options.no_vmm) return CUDA_ERROR_NOT_SUPPORTED

static bool is_ours(const Kind *kind) {
  return kind && kind->type == PINNED && kind->location.type == ON_DEVICE &&
         kind->location.id == memory.device;
}

EXPORT int cuMemGetAllocationGranularity(size_t *size, const Kind *kind, int option) {
  ENTER("ask for the granularity");
  READY_VMM();
  if (!size || !is_ours(kind) || option < 0 || option > 1) return CUDA_ERROR_INVALID_VALUE;
  *size = DEVICE_PAGE;
  return CUDA_SUCCESS;
}
EXPORT int cuMemAddressReserve(uint64_t *address, size_t size, size_t align, uint64_t wanted,
                               unsigned long long flags) {
  ENTER("reserve %zu bytes", size);
  READY_VMM();
  if (!address || flags) return CUDA_ERROR_INVALID_VALUE;
  return memory_reserve(address, size, align);
}
EXPORT int cuMemAddressFree(uint64_t address, size_t size) {
  ENTER("free the reservation at 0x%llx", (unsigned long long)address);
  READY_VMM();
  return memory_unreserve(address, size);
}
EXPORT int cuMemCreate(unsigned long long *handle, size_t size, const Kind *kind,
                       unsigned long long flags) {
  ENTER("create %zu bytes", size);
  READY_VMM();
  if (!handle || !is_ours(kind) || flags) return CUDA_ERROR_INVALID_VALUE;
  if (kind->handle_types & ~FILE_DESCRIPTOR || (kind->handle_types && options.no_handles))
    return CUDA_ERROR_NOT_SUPPORTED;
  if (api_memory_fails()) return CUDA_ERROR_OUT_OF_MEMORY;
  uint64_t number = 0;
  int result = memory_create(&number, size, kind->handle_types);
  *handle = number;
  return result;
}
EXPORT int cuMemRelease(unsigned long long handle) {
  ENTER("release memory %llu", handle);
  READY_VMM();
  return memory_release(handle);
}
EXPORT int cuMemMap(uint64_t address, size_t size, size_t offset, unsigned long long handle,
                    unsigned long long flags) {
  ENTER("map %zu bytes at 0x%llx", size, (unsigned long long)address);
  READY_VMM();
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  return memory_map(address, size, offset, handle);
}
EXPORT int cuMemSetAccess(uint64_t address, size_t size, const Access *access, size_t count) {
  ENTER("allow access at 0x%llx", (unsigned long long)address);
  READY_VMM();
  if (count != 1 || !access || access->location.type != ON_DEVICE ||
      access->location.id != memory.device ||
      (access->flags && access->flags != READ && access->flags != READ_WRITE))
    return CUDA_ERROR_INVALID_VALUE;
  return memory_allow(address, size, access->flags == READ_WRITE, access->flags & READ);
}
EXPORT int cuMemUnmap(uint64_t address, size_t size) {
  ENTER("unmap %zu bytes at 0x%llx", size, (unsigned long long)address);
  READY_VMM();
  return memory_unmap(address, size);
}

/* -- other processes --------------------------------------------------------------------------- */

EXPORT int cuMemExportToShareableHandle(void *shared, unsigned long long handle, int type,
                                        unsigned long long flags) {
  ENTER("export memory %llu", handle);
  READY_VMM();
  if (options.no_handles) return CUDA_ERROR_NOT_SUPPORTED;
  if (!shared || type != FILE_DESCRIPTOR || flags) return CUDA_ERROR_INVALID_VALUE;
  return memory_export(shared, handle);
}
EXPORT int cuMemImportFromShareableHandle(unsigned long long *handle, void *shared, int type) {
  ENTER("import memory");
  READY_VMM();
  if (options.no_handles) return CUDA_ERROR_NOT_SUPPORTED;
  static long calls;
  if (++calls == options.fail_import) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!handle || type != FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
  uint64_t number = 0;
  int result = memory_import(&number, (int)(intptr_t)shared);
  *handle = number;
  return result;
}
