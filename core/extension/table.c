/* table.c - the functions of RgExtensionApi. A change to one of them must raise the version; new
 * ones are appended, which changes only the size. */
#include "extension/parts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The error message of the running call in this thread. */
static _Thread_local char message[300];

void extension_clear_message(void) { message[0] = 0; }
const char *extension_message(void) { return message; }

static Extensions *extensions_of(const RgExtensionApi *api) { return (Extensions *)(uintptr_t)api; }
static RtCounted *header_of(RgCounted *counted) { return (RtCounted *)(void *)counted; }

static void set_error(const RgExtensionApi *api, const char *text) {
  (void)api;
  if (!message[0]) snprintf(message, sizeof message, "%s", text ? text : "");
}

static RgCounted *check_allocated(const RgExtensionApi *api, RtCounted *counted) {
  if (!counted) set_error(api, "there is no memory left for the requested bytes");
  return (RgCounted *)(void *)counted;
}

static RgCounted *allocate(const RgExtensionApi *api, uint64_t size_bytes) {
  RtAllocator *allocator = extensions_of(api)->store->counted.rt;
  if (counted_has_ended(&extensions_of(api)->store->counted)) return check_allocated(api, NULL);
  RtCounted *counted = rt_counted_grow_new(allocator, size_bytes);
  if (counted) rt_counted_resize(counted, size_bytes);
  return check_allocated(api, counted);
}

/* -- external memory --------------------------------------------------------------------------- */

typedef void Destroy(void *data, uint64_t size_bytes, void *context);

#if defined(_WIN32)
/* On Windows kernels and C use different calling conventions, so the function that ends a header
 * calls the extension's. */
typedef struct Ending {
  Destroy *destroy;
  void *context;
} Ending;

static void RT_CALL end_native(void *data, uint64_t size_bytes, void *info) {
  Ending ending = *(Ending *)info;
  free(info);
  ending.destroy(data, size_bytes, ending.context);
}

static RtCounted *make_external(RtAllocator *allocator, void *data, uint64_t size_bytes,
                                Destroy *destroy, void *context) {
  Ending *ending = destroy ? malloc(sizeof *ending) : NULL;
  if (!ending) return destroy ? NULL : rt_counted_external(allocator, data, size_bytes, NULL, NULL);
  *ending = (Ending){destroy, context};
  RtCounted *check_allocated = rt_counted_external(allocator, data, size_bytes, end_native, ending);
  if (!check_allocated) free(ending);
  return check_allocated;
}
#else
static RtCounted *make_external(RtAllocator *allocator, void *data, uint64_t size_bytes,
                                Destroy *destroy, void *context) {
  return rt_counted_external(allocator, data, size_bytes, destroy, context);
}
#endif

static RgCounted *manage(const RgExtensionApi *api, void *data, uint64_t size_bytes,
                         Destroy *destroy, void *context) {
  if (counted_has_ended(&extensions_of(api)->store->counted)) return check_allocated(api, NULL);
  return check_allocated(api, make_external(extensions_of(api)->store->counted.rt, data, size_bytes,
                                            destroy, context));
}

static void acquire(const RgExtensionApi *api, RgCounted *counted) {
  (void)api;
  rt_acquire(header_of(counted));
}

static void release(const RgExtensionApi *api, RgCounted *counted) {
  (void)api;
  rt_release(header_of(counted));
}

/* After the runtime's end only external memory still exists. */
static void *data_of(const RgExtensionApi *api, RgCounted *handle) {
  RtCounted *counted = header_of(handle);
  if (!counted) return NULL;
  bool is_own = counted->flags & RT_COUNTED_OWN;
  (void)counted_expose(&extensions_of(api)->store->counted, NULL);
  return is_own && counted_has_ended(&extensions_of(api)->store->counted) ? NULL : counted->data;
}

static uint64_t size_of(const RgExtensionApi *api, RgCounted *counted) {
  (void)api;
  return counted ? header_of(counted)->size_bytes : 0;
}

static int64_t count_of(const RgExtensionApi *api, RgCounted *counted) {
  (void)api;
  return counted ? __atomic_load_n(&header_of(counted)->count, __ATOMIC_RELAXED) : 0;
}

static int32_t resize(const RgExtensionApi *api, RgCounted *handle, uint64_t size_bytes) {
  RtCounted *counted = header_of(handle);
  if (!counted) return 0;
  (void)counted_expose(&extensions_of(api)->store->counted, NULL);
  uint64_t twice = 2 * counted->capacity, wanted = size_bytes > twice ? size_bytes : twice;
  bool has_room = size_bytes <= counted->capacity;
  if (counted->flags & RT_COUNTED_PINNED && size_bytes != counted->size_bytes) {
    set_error(api, "memory with several axes, or with slices, cannot change its size");
    return 0;
  }
  if (!has_room && !rt_counted_reserve(counted, wanted)) {
    set_error(api, "memory that cannot grow must not be resized");
    return 0;
  }
  rt_counted_resize(counted, size_bytes);
  return 1;
}

static int32_t statistics(const RgExtensionApi *api, RgAllocations *allocations) {
  const RtAllocator *allocator = extensions_of(api)->store->counted.rt;
  const RtAllocations *all = &allocator->statistics;
  if (!allocator->counts || !allocations) return 0;
  RgAllocations now = {.alloc = all->alloc,
                       .free = all->free,
                       .header_alloc = all->header_alloc,
                       .header_free = all->header_free,
                       .bytes = all->bytes,
                       .peak = all->peak,
                       .fault = ""};
  /* only the members that extensions of version 1 know */
  memcpy(allocations, &now, offsetof(RgAllocations, acquires));
  return 1;
}

void extensions_init(Extensions *extensions, Store *store) {
  extensions->store = store;
  extensions->api = (RgExtensionApi){.struct_size = sizeof extensions->api,
                                     .version = RG_EXTENSION_VERSION,
                                     .allocate = allocate,
                                     .manage = manage,
                                     .acquire = acquire,
                                     .release = release,
                                     .data = data_of,
                                     .size = size_of,
                                     .count = count_of,
                                     .resize = resize,
                                     .statistics = statistics,
                                     .error = set_error};
}
