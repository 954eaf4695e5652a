/* special.c - special registers: indices, extents and clocks. Clocks count instructions, so the
 * same seed gives the same times. */
#include "flow.h"
#include "option.h"

/* SPECIAL(name, bytes, value of thread t and lane l) */
#define SPECIALS(SPECIAL) \
  SPECIAL("%tid.x", 4, t % grid->threads[0]) \
  SPECIAL("%tid.y", 4, t / grid->threads[0] % grid->threads[1]) \
  SPECIAL("%tid.z", 4, t / grid->threads[0] / grid->threads[1]) \
  SPECIAL("%ntid.x", 4, grid->threads[0]) \
  SPECIAL("%ntid.y", 4, grid->threads[1]) \
  SPECIAL("%ntid.z", 4, grid->threads[2]) \
  SPECIAL("%ctaid.x", 4, block->x) \
  SPECIAL("%ctaid.y", 4, block->y) \
  SPECIAL("%ctaid.z", 4, block->z) \
  SPECIAL("%nctaid.x", 4, grid->blocks[0]) \
  SPECIAL("%nctaid.y", 4, grid->blocks[1]) \
  SPECIAL("%nctaid.z", 4, grid->blocks[2]) \
  SPECIAL("%laneid", 4, l) \
  SPECIAL("%warpid", 4, warp->number) \
  SPECIAL("%nwarpid", 4, 64) \
  SPECIAL("%smid", 4, (block->x + block->y + block->z) % (uint32_t)options.processors) \
  SPECIAL("%nsmid", 4, (uint32_t)options.processors) \
  SPECIAL("%gridid", 8, 1) \
  SPECIAL("%lanemask_eq", 4, 1u << l) \
  SPECIAL("%lanemask_le", 4, (2u << l) - 1) \
  SPECIAL("%lanemask_lt", 4, (1u << l) - 1) \
  SPECIAL("%lanemask_ge", 4, UINT32_MAX << l) \
  SPECIAL("%lanemask_gt", 4, UINT32_MAX << l << 1) \
  SPECIAL("%clock", 4, (uint32_t)grid->time) \
  SPECIAL("%clock_hi", 4, (uint32_t)(grid->time >> 32)) \
  SPECIAL("%clock64", 8, grid->time) \
  SPECIAL("%globaltimer", 8, grid->time) \
  SPECIAL("%globaltimer_lo", 4, (uint32_t)grid->time) \
  SPECIAL("%globaltimer_hi", 4, (uint32_t)(grid->time >> 32)) \
  SPECIAL("%dynamic_smem_size", 4, grid->dynamic_bytes) \
  SPECIAL("%total_smem_size", 4, grid->shared_bytes)

int special_find(Slice name, uint32_t *bytes) {
  static const struct {
    const char *name;
    uint32_t bytes;
  } table[] = {
#define ROW(NAME, BYTES, VALUE) {NAME, BYTES},
      SPECIALS(ROW)
#undef ROW
  };
  for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    if (!slice_is(name, table[i].name)) continue;
    *bytes = table[i].bytes;
    return (int)i;
  }
  return -1;
}

static uint64_t value_of(Warp *warp, int64_t which, uint32_t l) {
  const Grid *grid = warp->grid;
  const Block *block = warp->block;
  uint32_t t = warp->number * LANES + l;
  int64_t i = 0;
#define CASE(NAME, BYTES, VALUE) \
  if (which == i++) return (VALUE);
  SPECIALS(CASE)
#undef CASE
  return 0;
}

void special_read(Warp *warp, const Inst *inst) {
  warp->grid->time++;
  for (uint32_t left = warp->mask; left; left &= left - 1) {
    uint32_t l = (uint32_t)__builtin_ctz(left);
    uint64_t value = value_of(warp, inst->offset, l);
    if (inst->size_bytes == 8) DST(uint64_t, inst->d)[l] = value;
    else DST(uint32_t, inst->d)[l] = (uint32_t)value;
  }
}
