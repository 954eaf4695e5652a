/* copy.c - deep copies of regions and insts.
 * `map` maps the id of an original to its copy; values not in it (from outside) stay shared. */
#include "ir/ir.h"

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
  ir_give_axes(kernel, copy);
  for (int k = 0; k < SNODE_MAX_AXES; k++) {
    if (copy->offset) copy->offset[k] = inst->offset[k];
    if (copy->extent) copy->extent[k] = inst->extent[k];
  }
  copy->operand_count = 0;
  ir_set_operands(kernel, copy, inst->operand_count, inst->operands);
  return copy;
}

IrInst *ir_copy_inst(IrKernel *kernel, const IrInst *inst, IrInst **map) {
  IrInst *copy = ir_copy_alone(kernel, inst);
  for (int i = 0; i < inst->operand_count; i++) {
    IrInst *mapped = map[inst->operands[i]->id];
    if (mapped) ir_set_operand(copy, i, mapped);
  }
  DEBUG_ASSERT(copy->id != inst->id && !copy->uses,
               "a copy is another inst, which nothing uses yet");
  map[inst->id] = copy;
  for (int i = 0; i < IR_MAX_REGIONS; i++)
    if (inst->regions[i]) copy->regions[i] = ir_copy_region(kernel, inst->regions[i], copy, map);
  return copy;
}

IrRegion *ir_copy_region(IrKernel *kernel, const IrRegion *region, IrInst *owner, IrInst **map) {
  IrRegion *to = ir_region_create(kernel, owner);
  for (int i = 0; i < region->params.count; i++)
    map[region->params.items[i]->id] = copy_param(kernel, region->params.items[i], to);
  for (const IrInst *inst = region->first; inst; inst = inst->next)
    ir_region_append(to, ir_copy_inst(kernel, inst, map));
  return to;
}
