/* access.c - loads and stores, and the check of every address.
 *
 * An address is first compared with the live range of the previous access, so repeated accesses to
 * one allocation cost two comparisons and a test of the shadow bits. */
#include "access.h"

#include <stdio.h>

#include "ops.h"
#include "option.h"
#include "result.h"

static const char *const space_names[] = {"generic", "global", "shared", "local", "param", "frame"};

static char *fault(Warp *warp, const Inst *inst, uint32_t lane, uint64_t address, uint32_t size,
                   bool write, int result, const char *why) {
  warp_fault(warp, inst, result, "lane %u %s %u bytes at %s address 0x%llx: %s", lane,
             write ? "writes" : "reads", size, space_names[inst->space],
             (unsigned long long)address, why);
  return NULL;
}

/* A bit is missing: perhaps the block has no bits yet. */
static __attribute__((noinline)) bool look_closer(Warp *warp, const Inst *inst, uint32_t lane,
                                                  uint64_t address, uint32_t size, bool write) {
  static const char why[] = "not all of them were ever written";
  if (write) {
    memory_set_written(address, size, true);
    return true;
  }
  if (!options.unwritten || memory_is_written(address, size)) return true;
  if (options.unwritten == 2) {
    fault(warp, inst, lane, address, size, false, CUDA_ERROR_LAUNCH_FAILED, why);
    return false;
  }
  Slice kernel = warp->grid->function->name;
  fprintf(stderr, "device: %.*s, line %u of its PTX, reads %u bytes at 0x%llx: %s\n",
          (int)kernel.length, kernel.at, inst->line, size, (unsigned long long)address, why);
  memory_set_written(address, size, true); /* reported once */
  return true;
}

/* Sectors of 32 bytes: one that a warp's instruction accesses several times is transferred once. */
static __attribute__((noinline)) void count_sectors(Warp *warp, uint64_t address) {
  uint64_t sector = address >> 5;
  if (warp->sector_time != warp->budget) warp->sector_count = 0;
  warp->sector_time = warp->budget;
  for (uint32_t i = warp->sector_count; i-- > 0;)
    if (warp->sectors[i] == sector) return;
  if (warp->sector_count < LANES) warp->sectors[warp->sector_count++] = sector;
  warp->grid->sectors++;
}

static __attribute__((noinline)) char *access_shown(Warp *warp, const Inst *inst, uint32_t lane,
                                                    uint64_t address, uint32_t size, bool write) {
  Range range = memory_shown(address);
  if (!range.size || range.size - (address - range.base) < size)
    return fault(warp, inst, lane, address, size, write, CUDA_ERROR_ILLEGAL_ADDRESS,
                 range.size ? "they go past the end of what is registered" : "nothing is there");
  if (options.count) count_sectors(warp, address);
  if (write) warp->grid->bytes_written += size;
  else warp->grid->bytes_read += size;
  return (char *)(uintptr_t)address; /* NOLINT: it is the host's */
}

static char *access_global(Warp *warp, const Inst *inst, uint32_t lane, uint64_t address,
                           uint32_t size, bool write) {
  if (address - DEVICE_BASE >= DEVICE_SIZE)
    return access_shown(warp, inst, lane, address, size, write);
  if (address - warp->near_base >= warp->near_size ||
      warp->near_size - (address - warp->near_base) < size) {
    Range range = memory_range(address);
    if (!range.size || range.size - (address - range.base) < size)
      return fault(warp, inst, lane, address, size, write, CUDA_ERROR_ILLEGAL_ADDRESS,
                   range.size ? "they go past the end of an allocation" : "nothing is there");
    warp->near_base = range.base;
    warp->near_size = range.size;
  }
  uint64_t bit = address - DEVICE_BASE;
  uint16_t bits = (uint16_t)(((1u << size) - 1) << (bit & 15));
  const uint16_t *shadow = &memory.shadow[bit >> 4];
  if ((*shadow & bits) != bits && !look_closer(warp, inst, lane, address, size, write)) return NULL;
  if (options.count) count_sectors(warp, address);
  if (write) warp->grid->bytes_written += size;
  else warp->grid->bytes_read += size;
  return memory.host + bit;
}

static char *access_shared(Warp *warp, const Inst *inst, uint32_t lane, uint64_t address,
                           uint32_t size, bool write) {
  uint32_t room = warp->grid->shared_bytes;
  if (address >= room || room - address < size)
    return fault(warp, inst, lane, address, size, write, CUDA_ERROR_ILLEGAL_ADDRESS,
                 "they go past the shared memory of the block");
  uint8_t *written = warp->block->shared_written + address;
  if (write) {
    memset(written, 1, size);
  } else if (memchr(written, 0, size)) {
    static const char why[] = "not all of them were ever written";
    if (options.unwritten == 2)
      return fault(warp, inst, lane, address, size, false, CUDA_ERROR_LAUNCH_FAILED, why);
  }
  return warp->block->shared + address;
}

static char *access_local(Warp *warp, const Inst *inst, uint32_t lane, uint64_t address,
                          uint32_t size, bool write) {
  uint64_t end = warp->frame->local_base + warp->frame->function->local_bytes;
  if (address > end || end - address < size || end > STACK_BYTES)
    return fault(warp, inst, lane, address, size, write, CUDA_ERROR_ILLEGAL_ADDRESS,
                 "they go past the stack of the thread");
  return warp->local + (size_t)lane * STACK_BYTES + address;
}

char *access_lane(Warp *warp, const Inst *inst, uint32_t lane, uint64_t address, uint32_t size,
                  bool write) {
  if (address & (size - 1))
    return fault(warp, inst, lane, address, size, write, CUDA_ERROR_MISALIGNED_ADDRESS,
                 "the address is not aligned");
  switch (inst->space) {
  case SPACE_GENERIC:
    if (address - SHARED_WINDOW < WINDOW_SIZE)
      return access_shared(warp, inst, lane, address - SHARED_WINDOW, size, write);
    if (address - LOCAL_WINDOW < WINDOW_SIZE)
      return access_local(warp, inst, lane, address - LOCAL_WINDOW, size, write);
    if (address - PARAM_WINDOW >= WINDOW_SIZE)
      return access_global(warp, inst, lane, address, size, write);
    address -= PARAM_WINDOW; /* fall through */
  case SPACE_PARAM:
    if (write || address + size > warp->grid->function->param_bytes)
      return fault(warp, inst, lane, address, size, write, CUDA_ERROR_ILLEGAL_ADDRESS,
                   "the launch has no such parameter");
    return (char *)warp->grid->params + address;
  case SPACE_SHARED: return access_shared(warp, inst, lane, address, size, write);
  case SPACE_LOCAL: return access_local(warp, inst, lane, address, size, write);
  case SPACE_FRAME:
    return warp->local + (size_t)lane * STACK_BYTES + warp->frame->local_base + address;
  default: return access_global(warp, inst, lane, address, size, write);
  }
}

/* A load puts a value of type M into registers of type R, a store takes it from there. Elements of
 * a vector are adjacent in memory, and at the places u.places in the frame. */
#define MOVE(M, R) \
  static void load_##M##_##R(Warp *warp, const Inst *inst) { \
    R *d = DST(R, inst->d); \
    const uint64_t *a = SRC(uint64_t, inst->a); \
    for (uint32_t left = warp->mask; left; left &= left - 1) { \
      uint32_t l = (uint32_t)__builtin_ctz(left); \
      const char *from = \
          access_lane(warp, inst, l, a[l] + (uint64_t)inst->offset, sizeof(M), false); \
      if (!from) return; \
      M value; \
      memcpy(&value, from, sizeof value); \
      d[l] = (R)value; \
    } \
  } \
  static void load_all_##M##_##R(Warp *warp, const Inst *inst) { \
    const uint64_t *a = SRC(uint64_t, inst->a); \
    for (uint32_t left = warp->mask; left; left &= left - 1) { \
      uint32_t l = (uint32_t)__builtin_ctz(left); \
      const char *from = access_lane(warp, inst, l, a[l] + (uint64_t)inst->offset, \
                                     (uint32_t)sizeof(M) * inst->count, false); \
      if (!from) return; \
      for (uint32_t i = 0; i < inst->count; i++) { \
        M value; \
        memcpy(&value, from + i * sizeof value, sizeof value); \
        if (inst->u.places[i] != PLACE_NONE) DST(R, inst->u.places[i])[l] = (R)value; \
      } \
    } \
  } \
  static void store_##M##_##R(Warp *warp, const Inst *inst) { \
    const uint64_t *a = SRC(uint64_t, inst->a); \
    const R *b = SRC(R, inst->b); \
    for (uint32_t left = warp->mask; left; left &= left - 1) { \
      uint32_t l = (uint32_t)__builtin_ctz(left); \
      char *to = access_lane(warp, inst, l, a[l] + (uint64_t)inst->offset, sizeof(M), true); \
      if (!to) return; \
      M value = (M)b[l]; \
      memcpy(to, &value, sizeof value); \
    } \
  } \
  static void store_all_##M##_##R(Warp *warp, const Inst *inst) { \
    const uint64_t *a = SRC(uint64_t, inst->a); \
    for (uint32_t left = warp->mask; left; left &= left - 1) { \
      uint32_t l = (uint32_t)__builtin_ctz(left); \
      char *to = access_lane(warp, inst, l, a[l] + (uint64_t)inst->offset, \
                             (uint32_t)sizeof(M) * inst->count, true); \
      if (!to) return; \
      for (uint32_t i = 0; i < inst->count; i++) { \
        M value = (M)SRC(R, inst->u.places[i])[l]; \
        memcpy(to + i * sizeof value, &value, sizeof value); \
      } \
    } \
  }

// clang-format off
#define MOVES(DO) \
  DO(u8, u16) DO(u8, u32) DO(u8, u64) DO(s8, u16) DO(s8, u32) DO(s8, u64) DO(u16, u16) \
  DO(u16, u32) DO(u16, u64) DO(s16, u32) DO(s16, u64) DO(u32, u32) DO(u32, u64) DO(s32, u64) \
  DO(u64, u64)
// clang-format on
MOVES(MOVE)

const Access *access_find(bool is_signed, uint32_t memory_bytes, uint32_t register_bytes) {
  // clang-format off
  static const Access table[] = {
#define ROW(M, R)                                                                             \
  {(M)-1 < (M)1, sizeof(M), sizeof(R), load_##M##_##R, load_all_##M##_##R, store_##M##_##R,       \
   store_all_##M##_##R},
      MOVES(ROW)
#undef ROW
  };
  // clang-format on
  for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (table[i].memory_bytes == memory_bytes && table[i].register_bytes == register_bytes &&
        (table[i].is_signed == is_signed || memory_bytes == register_bytes))
      return &table[i];
  return NULL;
}
