/* copy.c - deep copies of regions and insts. Values from outside that are not in the map stay
 * shared. */
#include "ir/ir.h"

/* -- maps -------------------------------------------------------------------------------------- */

/* By id. Insts made after the map are past its end until one of them is put. */
struct IrMap {
  Scratch *scratch;
  IrInst **items;
  int count;
};

IrMap *ir_map(Scratch *scratch, const IrKernel *kernel) {
  IrMap *map = scratch_new(scratch, IrMap);
  int count = kernel->next_id;
  *map = (IrMap){scratch, scratch_array(scratch, IrInst *, count), count};
  return map;
}

IrInst *ir_mapped(const IrMap *map, const IrInst *inst) {
  return inst->id < map->count ? map->items[inst->id] : NULL;
}

static void grow(IrMap *map, int count) {
  IrInst **items = scratch_array(map->scratch, IrInst *, count);
  if (map->count) memcpy(items, map->items, sizeof *items * (size_t)map->count);
  map->items = items;
  map->count = count;
}

void ir_map_put(IrMap *map, const IrInst *inst, IrInst *to) {
  ASSERT(inst->id >= 0, "an inst has a number");
  if (inst->id >= map->count) grow(map, 2 * inst->id + 1);
  map->items[inst->id] = to;
}

/* -- copies ------------------------------------------------------------------------------------ */

static IrInst *copy_param(IrKernel *kernel, const IrInst *param, IrRegion *to) {
  IrInst *copy = ir_region_param(kernel, to, param->type);
  copy->line = param->line;
  copy->column = param->column;
  return copy;
}

IrInst *ir_copy_alone(IrKernel *kernel, const IrInst *inst) {
  IrInst *copy = scratch_new(kernel->scratch, IrInst);
  *copy = *inst;
  copy->id = kernel->next_id++;
  copy->next = copy->previous = NULL;
  copy->region = NULL;
  copy->uses = NULL;
  for (int i = 0; i < IR_MAX_REGIONS; i++) copy->regions[i] = NULL;
  ir_alloc_axes(kernel, copy);
  for (int k = 0; k < SNODE_MAX_AXES; k++) {
    if (copy->offset) copy->offset[k] = inst->offset[k];
    if (copy->extent) copy->extent[k] = inst->extent[k];
  }
  copy->operand_count = 0;
  ir_set_operands(kernel, copy, inst->operand_count, inst->operands);
  return copy;
}

IrInst *ir_copy_inst(IrKernel *kernel, const IrInst *inst, IrMap *map) {
  if (!map) map = ir_map(kernel->scratch, kernel);
  IrInst *copy = ir_copy_alone(kernel, inst);
  for (int i = 0; i < inst->operand_count; i++) {
    IrInst *mapped = ir_mapped(map, inst->operands[i]);
    if (mapped) ir_set_operand(copy, i, mapped);
  }
  DEBUG_ASSERT(copy->id != inst->id && !copy->uses,
               "a copy is another inst, which nothing uses yet");
  ir_map_put(map, inst, copy);
  for (int i = 0; i < IR_MAX_REGIONS; i++)
    if (inst->regions[i]) copy->regions[i] = ir_copy_region(kernel, inst->regions[i], copy, map);
  return copy;
}

void ir_copy_to(IrBuilder *b, const IrInst *first, const IrInst *end, IrMap *map) {
  for (const IrInst *inst = first; inst != end; inst = inst->next)
    ir_insert(b, ir_copy_inst(b->kernel, inst, map));
}

IrRegion *ir_copy_region(IrKernel *kernel, const IrRegion *region, IrInst *owner, IrMap *map) {
  if (!map) map = ir_map(kernel->scratch, kernel);
  IrRegion *to = ir_region_create(kernel, owner);
  for (int i = 0; i < region->params.count; i++)
    ir_map_put(map, region->params.items[i], copy_param(kernel, region->params.items[i], to));
  ir_copy_to(&(IrBuilder){.kernel = kernel, .region = to}, region->first, NULL, map);
  return to;
}
