/* memory_map.c - reservations, physical memory, and mappings.
 *
 * Physical memory is a part of the memfd that was never used before; it is returned to the system
 * when its handle and all its mappings are gone. Addresses of a reservation are reused when all
 * others have been used. Memory that processes may share is in a file of its own, with its shadow
 * bits, so that every process sees the writes of all: memory_share.c. */
#include "memory.h"
#include "memory_parts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "names.h"
#include "result.h"

typedef struct Physical {
  uint64_t size, place; /* in the file */
  uint32_t handles, mappings;
  int file;         /* its own file; -1: memory.file */
  bool is_imported; /* it belongs to another process */
  bool is_hidden;   /* on a device that this one cannot access */
} Physical;
typedef struct Mapping {
  Range range;
  uint32_t physical;
} Mapping;

static struct {
  Physical *at;
  uint32_t count, room;
} physicals;
static struct {
  Range *at;
  uint32_t count, room;
} reservations;
static struct {
  Mapping *at;
  uint32_t count, room;
} mappings;
static uint64_t next_reserved = DEVICE_BASE + PLAIN_SIZE;
static uint64_t next_physical = PLAIN_SIZE;

static bool is_whole(uint64_t number) { return number && number % DEVICE_PAGE == 0; }

/* The first free range from `from` on; 0 if there is none. */
static uint64_t find_place(uint64_t from, uint64_t size, uint64_t align) {
  for (;;) {
    from = (from + align - 1) & ~(align - 1);
    if (from > DEVICE_BASE + DEVICE_SIZE || size > DEVICE_BASE + DEVICE_SIZE - from) return 0;
    uint64_t past = 0;
    for (uint32_t i = 0; i < reservations.count && !past; i++) {
      Range range = reservations.at[i];
      if (range.base < from + size && range.base + range.size > from)
        past = range.base + range.size;
    }
    if (!past) return from;
    from = past;
  }
}

int memory_reserve(uint64_t *address, uint64_t size, uint64_t align) {
  if (!is_whole(size) || (align & (align - 1))) return CUDA_ERROR_INVALID_VALUE;
  if (align < DEVICE_PAGE) align = DEVICE_PAGE;
  uint64_t from = find_place(next_reserved, size, align);
  if (!from) from = find_place(DEVICE_BASE + PLAIN_SIZE, size, align);
  if (!from) return CUDA_ERROR_OUT_OF_MEMORY;
  next_reserved = from + size + DEVICE_PAGE;
  PUSH(reservations, (Range){from, size});
  *address = from;
  return CUDA_SUCCESS;
}

int memory_unreserve(uint64_t address, uint64_t size) {
  for (uint32_t i = 0; i < mappings.count; i++)
    if (mappings.at[i].range.base < address + size &&
        mappings.at[i].range.base + mappings.at[i].range.size > address)
      return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < reservations.count; i++) {
    if (reservations.at[i].base != address || reservations.at[i].size != size) continue;
    reservations.at[i] = reservations.at[--reservations.count];
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

int memory_create(uint64_t *handle, uint64_t size, bool is_shareable) {
  if (!is_whole(size)) return CUDA_ERROR_INVALID_VALUE;
  if (size > DEVICE_SIZE - next_physical || !memory_takes(size)) return CUDA_ERROR_OUT_OF_MEMORY;
  Physical made = {.size = size, .place = next_physical, .handles = 1, .file = -1};
  if (is_shareable) {
    made.place = 0;
    made.file = share_create(size);
    if (made.file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  } else {
    next_physical += size;
  }
  PUSH(physicals, made);
  *handle = physicals.count;
  return CUDA_SUCCESS;
}

int memory_import(uint64_t *handle, int file) {
  bool is_hidden;
  uint64_t size = share_size(file, &is_hidden);
  int own = size ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;
  if (own < 0) return CUDA_ERROR_INVALID_VALUE;
  PUSH(physicals,
       (Physical){
           .size = size, .handles = 1, .file = own, .is_imported = true, .is_hidden = is_hidden});
  *handle = physicals.count;
  return CUDA_SUCCESS;
}

static Physical *physical_at(uint64_t handle) {
  if (handle - 1 >= physicals.count || !physicals.at[handle - 1].handles) return NULL;
  return &physicals.at[handle - 1];
}

int memory_export(int *file, uint64_t handle) {
  const Physical *physical = physical_at(handle);
  if (!physical || physical->file < 0) return CUDA_ERROR_INVALID_VALUE;
  *file = fcntl(physical->file, F_DUPFD_CLOEXEC, 0);
  return *file < 0 ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

static void release_hold(Physical *physical) {
  if (physical->handles || physical->mappings) return;
  if (!physical->is_imported) memory.used_bytes -= physical->size;
  if (physical->file >= 0) close(physical->file);
  else
    fallocate(memory.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)physical->place,
              (off_t)physical->size);
}

int memory_release(uint64_t handle) {
  Physical *physical = physical_at(handle);
  if (!physical) return CUDA_ERROR_INVALID_VALUE;
  physical->handles--;
  release_hold(physical);
  return CUDA_SUCCESS;
}

static bool is_reserved(uint64_t address, uint64_t size) {
  for (uint32_t i = 0; i < reservations.count; i++)
    if (address >= reservations.at[i].base && size <= reservations.at[i].size &&
        address - reservations.at[i].base <= reservations.at[i].size - size)
      return true;
  return false;
}

/* As the manual requires: the whole handle, at addresses of a reservation without a mapping. */
int memory_map(uint64_t address, uint64_t size, uint64_t offset, uint64_t handle) {
  Physical *physical = physical_at(handle);
  if (!physical || offset || size != physical->size || address % DEVICE_PAGE ||
      !is_reserved(address, size))
    return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < mappings.count; i++)
    if (mappings.at[i].range.base < address + size &&
        mappings.at[i].range.base + mappings.at[i].range.size > address)
      return CUDA_ERROR_INVALID_VALUE;
  bool is_shared = physical->file >= 0;
  if (mmap(memory_host(address), size, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_FIXED | MAP_NORESERVE, is_shared ? physical->file : memory.file,
           (off_t)physical->place) == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  if (is_shared && !share_shadow(address, size, physical->file)) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!is_shared) memory_set_fresh(address, size);
  if (!is_shared && physical->mappings)
    memory_set_written(address, size, true); /* perhaps by another process */
  physical->mappings++;
  PUSH(mappings, (Mapping){{address, size}, (uint32_t)handle - 1});
  return CUDA_SUCCESS;
}

/* The number of mapped bytes. */
static uint64_t mapped_bytes(uint64_t address, uint64_t size) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < mappings.count; i++) {
    Range range = mappings.at[i].range;
    uint64_t from = range.base > address ? range.base : address;
    uint64_t to = range.base + range.size;
    if (to > address + size) to = address + size;
    if (from < to) bytes += to - from;
  }
  return bytes;
}

static bool is_hidden(uint64_t address, uint64_t size) {
  for (uint32_t i = 0; i < mappings.count; i++)
    if (mappings.at[i].range.base < address + size &&
        mappings.at[i].range.base + mappings.at[i].range.size > address &&
        physicals.at[mappings.at[i].physical].is_hidden)
      return true;
  return false;
}

int memory_allow(uint64_t address, uint64_t size, bool write, bool read) {
  if (!is_whole(size) || address % DEVICE_PAGE || mapped_bytes(address, size) != size)
    return CUDA_ERROR_INVALID_VALUE;
  if (is_hidden(address, size)) return CUDA_ERROR_INVALID_DEVICE;
  if (write && read) live_add(address, size);
  else live_remove(address, size);
  return CUDA_SUCCESS;
}

/* Whole mappings, one or many. */
int memory_unmap(uint64_t address, uint64_t size) {
  if (!is_whole(size) || mapped_bytes(address, size) != size) return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < mappings.count; i++) {
    Range range = mappings.at[i].range;
    bool touches = range.base < address + size && range.base + range.size > address;
    if (touches && (range.base < address || range.base + range.size > address + size))
      return CUDA_ERROR_INVALID_VALUE;
  }
  live_remove(address, size);
  mmap(memory_host(address), size, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  for (uint32_t i = mappings.count; i-- > 0;) {
    Mapping mapping = mappings.at[i];
    if (mapping.range.base < address || mapping.range.base >= address + size) continue;
    mappings.at[i] = mappings.at[--mappings.count];
    if (physicals.at[mapping.physical].file >= 0)
      share_end_shadow(mapping.range.base, mapping.range.size);
    physicals.at[mapping.physical].mappings--;
    release_hold(&physicals.at[mapping.physical]);
  }
  return CUDA_SUCCESS;
}

void memory_map_end(void) {
  while (mappings.count) {
    Range range = mappings.at[mappings.count - 1].range;
    if (memory_unmap(range.base, range.size)) break;
  }
  for (uint32_t i = 0; i < physicals.count; i++) {
    if (!physicals.at[i].handles) continue;
    physicals.at[i].handles = 0;
    release_hold(&physicals.at[i]);
  }
  reservations.count = 0;
}
