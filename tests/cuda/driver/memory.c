/* memory.c - the two maps, live ranges, plain allocations, shadow bits.
 *
 * Of the device's addresses, the first are for plain allocations and the others for reservations
 * (memory_map.c). A plain allocation gets addresses that were never used before, and a
 * gap on both sides, so accesses past its end, or after it is freed, are detected. */
#include "memory.h"
#include "memory_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "names.h"
#include "option.h"

enum { ALIGN = 512, GAP = 4096 };

Memory memory = {.file = -1};
static struct {
  Range *at;
  uint32_t count, room;
} live; /* sorted */
static struct {
  Range *at;
  uint32_t count, room;
} plain;
static uint64_t next_plain = DEVICE_BASE + DEVICE_PAGE;

bool memory_open(void) {
  if (memory.host) return true;
  memory.total_bytes = (uint64_t)options.memory << 20;
  memory.file = memfd_create("device memory", MFD_CLOEXEC);
  if (memory.file < 0 || ftruncate(memory.file, (off_t)DEVICE_SIZE)) return false;
  int shape = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *device =
      mmap((void *)DEVICE_BASE, DEVICE_SIZE, PROT_NONE, shape | MAP_FIXED_NOREPLACE, -1, 0);
  if (device != (void *)DEVICE_BASE) return false;
  char *host = mmap(NULL, DEVICE_SIZE, PROT_NONE, shape, -1, 0);
  void *shadow = mmap(NULL, DEVICE_SIZE / 8, PROT_READ | PROT_WRITE, shape, -1, 0);
  void *states = mmap(NULL, DEVICE_SIZE / MEMORY_BLOCK, PROT_READ | PROT_WRITE, shape, -1, 0);
  if (host == MAP_FAILED || shadow == MAP_FAILED || states == MAP_FAILED) return false;
  if (mmap(host, PLAIN_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
           memory.file, 0) == MAP_FAILED)
    return false;
  memory.host = host;
  memory.shadow = shadow;
  memory.states = states;
  return true;
}

/* The first live range that ends past `address`. */
static uint32_t live_after(uint64_t address) {
  uint32_t low = 0, high = live.count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (live.at[middle].base + live.at[middle].size > address) high = middle;
    else low = middle + 1;
  }
  return low;
}

Range memory_range(uint64_t address) {
  uint32_t place = live_after(address);
  if (place < live.count && live.at[place].base <= address) return live.at[place];
  return (Range){0, 0};
}

bool memory_is_live(uint64_t address, uint64_t size) {
  Range range = memory_range(address);
  return size == 0 || (range.size && size <= range.base + range.size - address);
}

static void insert(uint32_t place, Range range) {
  PUSH(live, range);
  memmove(live.at + place + 1, live.at + place, (live.count - 1 - place) * sizeof *live.at);
  live.at[place] = range;
}

void live_add(uint64_t base, uint64_t size) {
  live_remove(base, size);
  uint32_t place = live_after(base);
  bool joins_before = place && live.at[place - 1].base + live.at[place - 1].size == base;
  bool joins_next = place < live.count && live.at[place].base == base + size;
  if (joins_before) {
    live.at[place - 1].size += size;
    if (!joins_next) return;
    live.at[place - 1].size += live.at[place].size;
    memmove(live.at + place, live.at + place + 1, (--live.count - place) * sizeof *live.at);
  } else if (joins_next) {
    live.at[place] = (Range){base, size + live.at[place].size};
  } else {
    insert(place, (Range){base, size});
  }
}

void live_remove(uint64_t base, uint64_t size) {
  uint64_t end = base + size;
  for (uint32_t place = live_after(base); place < live.count && live.at[place].base < end;) {
    Range range = live.at[place];
    uint64_t range_end = range.base + range.size;
    memmove(live.at + place, live.at + place + 1, (--live.count - place) * sizeof *live.at);
    if (range_end > end) insert(place, (Range){end, range_end - end});
    if (range.base < base) insert(place++, (Range){range.base, base - range.base});
    if (range_end > end) break;
  }
}

bool memory_takes(uint64_t size) {
  if (size > memory.total_bytes - memory.used_bytes) return false;
  memory.used_bytes += size;
  return true;
}

uint64_t memory_allocate(uint64_t size) {
  uint64_t room = (size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
  if (room < size || next_plain + room + GAP > DEVICE_BASE + PLAIN_SIZE) return 0;
  if (!memory_takes(room)) return 0;
  uint64_t address = next_plain;
  next_plain += room + GAP;
  PUSH(plain, (Range){address, size});
  live_add(address, size);
  return address;
}

bool memory_free(uint64_t address) {
  for (uint32_t i = plain.count; i-- > 0;) {
    if (plain.at[i].base != address) continue;
    uint64_t size = plain.at[i].size, room = (size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
    plain.at[i] = plain.at[--plain.count];
    live_remove(address, size);
    memory.used_bytes -= room;
    fallocate(memory.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              (off_t)(address - DEVICE_BASE), (off_t)room);
    return true;
  }
  return false;
}

void memory_free_all(void) {
  while (plain.count) memory_free(plain.at[plain.count - 1].base);
  memory_map_end();
}

void memory_settle(uint64_t address, uint64_t size) {
  if (!size) return;
  uint64_t first = (address - DEVICE_BASE) / MEMORY_BLOCK;
  uint64_t last = (address + size - 1 - DEVICE_BASE) / MEMORY_BLOCK;
  for (uint64_t block = first; block <= last; block++) {
    if (memory.states[block] == BLOCK_CLEARED)
      memset((char *)memory.shadow + block * (MEMORY_BLOCK / 8), 255, MEMORY_BLOCK / 8);
    memory.states[block] = BLOCK_SETTLED;
  }
}

void memory_clear(uint64_t address, uint64_t size) {
  uint64_t end = address + size;
  while (address < end) {
    uint64_t offset = address - DEVICE_BASE, in_block = offset % MEMORY_BLOCK;
    uint64_t count =
        MEMORY_BLOCK - in_block < end - address ? MEMORY_BLOCK - in_block : end - address;
    uint8_t *state = &memory.states[offset / MEMORY_BLOCK];
    if (count == MEMORY_BLOCK && *state != BLOCK_SETTLED) {
      *state = BLOCK_CLEARED;
    } else {
      memset(memory_host(address), 0, count);
      memory_set_written(address, count, true);
    }
    address += count;
  }
}

void memory_set_fresh(uint64_t address, uint64_t size) {
  uint64_t offset = address - DEVICE_BASE;
  madvise((char *)memory.shadow + offset / 8, size / 8, MADV_DONTNEED);
  memset(memory.states + offset / MEMORY_BLOCK, BLOCK_FRESH, size / MEMORY_BLOCK);
}

void memory_set_written(uint64_t address, uint64_t size, bool written) {
  uint64_t from = address - DEVICE_BASE, to = from + size;
  uint8_t *bits = (uint8_t *)memory.shadow;
  memory_settle(address, size);
  for (; from < to && from % 8; from++)
    bits[from / 8] =
        (uint8_t)(written ? bits[from / 8] | 1u << from % 8 : bits[from / 8] & ~(1u << from % 8));
  if (from >= to) return;
  memset(bits + from / 8, written ? 255 : 0, (to - from) / 8);
  for (from = to & ~(uint64_t)7; from < to; from++)
    bits[from / 8] =
        (uint8_t)(written ? bits[from / 8] | 1u << from % 8 : bits[from / 8] & ~(1u << from % 8));
}

bool memory_is_written(uint64_t address, uint64_t size) {
  const uint8_t *bits = (const uint8_t *)memory.shadow;
  memory_settle(address, size);
  for (uint64_t at = address - DEVICE_BASE, end = at + size; at < end; at++)
    if (!(bits[at / 8] >> at % 8 & 1)) return false;
  return true;
}

void memory_copy_written(uint64_t to, uint64_t from, uint64_t size) {
  memory_settle(to, size);
  memory_settle(from, size);
  if ((to | from | size) % 8 == 0) {
    char *bits = (char *)memory.shadow;
    memmove(bits + (to - DEVICE_BASE) / 8, bits + (from - DEVICE_BASE) / 8, size / 8);
    return;
  }
  for (uint64_t i = 0; i < size; i++) memory_set_written(to + i, 1, memory_is_written(from + i, 1));
}
