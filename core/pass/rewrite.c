/* rewrite.c - small edits that several passes share. Each takes linear time. */
#include "pass/rewrite.h"

#include "ir/facts.h"

IrBuilder rewrite_before(IrKernel *kernel, IrInst *inst) {
  DEBUG_ASSERT(inst->region, "the inst is in a region");
  return (IrBuilder){kernel, inst->region, inst, inst->line, inst->column};
}

IrBuilder rewrite_after(IrKernel *kernel, const IrInst *inst) {
  DEBUG_ASSERT(inst->region, "the inst is in a region");
  return (IrBuilder){kernel, inst->region, inst->next, inst->line, inst->column};
}

IrBuilder rewrite_first(IrKernel *kernel, IrRegion *region, const IrInst *like) {
  IrBuilder b = rewrite_inside(kernel, region, like);
  b.before = region->first;
  return b;
}

IrBuilder rewrite_inside(IrKernel *kernel, IrRegion *region, const IrInst *like) {
  return (IrBuilder){kernel, region, NULL, like ? like->line : 0, like ? like->column : 0};
}

IrBuilder rewrite_into(const IrBuilder *b, IrRegion *region) {
  return (IrBuilder){b->kernel, region, NULL, b->line, b->column};
}

IrInst *rewrite_again(IrBuilder *b, const IrInst *inst, IrInst *const *operands) {
  DEBUG_ASSERT(ir_effects(inst) & IR_PURE, "only what has no effect is computed again");
  IrInst *again = ir_emit(b, inst->op, inst->type, inst->operand_count, operands);
  again->imm = inst->imm;
  again->field = inst->field;
  again->in_bounds = inst->in_bounds;
  again->stride = inst->stride;
  return again;
}

IrInst *rewrite_recompute(IrBuilder *b, IrInst *value, const IrRegion *region, IrMap *map) {
  if (!ir_is_inside(value, region)) return value;
  IrInst *copy = ir_mapped(map, value);
  if (copy) return copy;
  DEBUG_ASSERT(value->op != IR_PARAM && !value->regions[0], "only plain values are recomputed");
  copy = ir_copy_alone(b->kernel, value);
  for (int k = 0; k < value->operand_count; k++)
    ir_set_operand(copy, k, rewrite_recompute(b, value->operands[k], region, map));
  ir_insert(b, copy);
  ir_map_put(map, value, copy);
  return copy;
}

IrInst *rewrite_open_for(IrBuilder *b, IrInst *begin, IrInst *last, int64_t step) {
  IrInst *loop = ir_for(b, begin, last, ir_const_int(b, begin->type, step));
  *b = rewrite_into(b, loop->regions[0]);
  return ir_index(loop);
}

IrInst *rewrite_both(IrBuilder *b, IrInst *first, IrInst *second) {
  if (!first || !second) return first ? first : second;
  return ir_binary(b, IR_BAND, first, second);
}

void rewrite_become(IrKernel *kernel, IrInst *inst, IrOp op, int operand_count,
                    IrInst *const *operands) {
  IrInst was = *inst;
  ASSERT(!(ir_op_info[op].flags & IR_REGIONS), "the new op has no regions");
  ir_truncate_operands(inst, 0);
  *inst = (IrInst){.op = op,
                   .type = was.type,
                   .id = was.id,
                   .line = was.line,
                   .column = was.column,
                   .next = was.next,
                   .previous = was.previous,
                   .region = was.region,
                   .uses = was.uses};
  ir_alloc_axes(kernel, inst);
  ir_set_operands(kernel, inst, operand_count, operands);
}

IrInst *rewrite_become_const(IrKernel *kernel, IrInst *inst, int64_t imm) {
  rewrite_become(kernel, inst, IR_CONST, 0, NULL);
  inst->imm = imm;
  return inst;
}

void rewrite_become_call(IrKernel *kernel, IrInst *inst, RtEntry entry, int tree, int number,
                         int operand_count, IrInst *const *operands) {
  rewrite_become(kernel, inst, IR_CALL, operand_count, operands);
  inst->type = type_scalar(ir_entries[entry].result);
  ir_set_callee(inst, entry, tree, number);
}

void rewrite_move_to(IrInst *first, IrBuilder *b) {
  for (IrInst *inst = first, *next; inst; inst = next) {
    next = inst->next;
    ir_remove(inst);
    ir_insert(b, inst);
  }
}

void rewrite_move_up(IrInst *value, IrInst *mark, IrMap *moved) {
  if (value->op == IR_PARAM || !ir_is_inside(value, mark->region) || ir_mapped(moved, value))
    return;
  DEBUG_ASSERT(ir_effects(value) & IR_PURE, "only values without effects move");
  for (int k = 0; k < value->operand_count; k++) rewrite_move_up(value->operands[k], mark, moved);
  ir_map_put(moved, value, value);
  ir_move_before(mark, value);
}

void rewrite_move_all(IrRegion *from, IrRegion *to) {
  DEBUG_ASSERT(from != to, "insts move to another region");
  rewrite_move_to(from->first, &(IrBuilder){.region = to});
}

void rewrite_prepend(IrRegion *from, IrRegion *to) {
  DEBUG_ASSERT(from != to, "insts move to another region");
  rewrite_move_to(from->first, &(IrBuilder){.region = to, .before = to->first});
}

void rewrite_hoist(IrInst *loop) {
  const IrRegion *body = loop->regions[0];
  for (IrInst *inst = body->first, *next; inst; inst = next) {
    next = inst->next;
    if ((ir_effects(inst) & IR_PURE) && facts_uses_only_outside(inst, body))
      ir_move_before(loop, inst);
  }
}

void rewrite_operands(IrRegion *root, const IrMap *with) {
  for (IrInst *inst = root->first; inst; inst = ir_following(inst, root))
    for (int i = 0; i < inst->operand_count; i++) {
      IrInst *other = ir_mapped(with, inst->operands[i]);
      if (other) ir_set_operand(inst, i, other);
    }
}

void rewrite_keep(IrRegion *root, const bool *kept) {
  for (IrInst *inst = root->last, *previous; inst; inst = previous) {
    previous = inst->previous;
    if (!kept[inst->id]) {
      ir_delete(inst);
      continue;
    }
    for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++)
      rewrite_keep(inst->regions[k], kept);
  }
}

IrInst *rewrite_copy_kept(IrKernel *kernel, const IrInst *loop, const bool *kept, IrMap *map) {
  const IrRegion *body = loop->regions[0];
  IrInst *copy = ir_copy_inst(kernel, loop, map);
  bool *kept_copies = scratch_array(kernel->scratch, bool, kernel->next_id); /* by id of the copy */
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    ASSERT(ir_mapped(map, inst), "every inst of the loop has a copy");
    if (kept[inst->id]) kept_copies[ir_mapped(map, inst)->id] = true;
  }
  rewrite_keep(copy->regions[0], kept_copies);
  return copy;
}

/* Users come after their operands, or are nested deeper; so a backward walk that visits inner
 * regions first visits users first. */
void rewrite_drop_dead(IrRegion *root) {
  for (IrInst *inst = root->last, *previous; inst; inst = previous) {
    previous = inst->previous;
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      rewrite_drop_dead(inst->regions[i]);
    if (!ir_is_used(inst) && (ir_effects(inst) & IR_PURE)) ir_delete(inst);
  }
}

int rewrite_count(const IrRegion *root) {
  int count = 0;
  for (const IrInst *inst = root->first; inst; inst = ir_following(inst, root)) count++;
  return count;
}

void rewrite_mark_rolled(IrRegion *region) {
  for (IrInst *inst = region->first; inst; inst = ir_following(inst, region))
    if (inst->op == IR_FOR) inst->no_unroll = true;
}

IrInst *rewrite_update_value(IrBuilder *b, IrUpdate op, IrInst *old, IrInst *value) {
  return op == IR_UPDATE_EXCHANGE ? value : ir_binary(b, ir_update_op(op), old, value);
}

IrOp rewrite_mirrored(IrOp op) {
  switch (op) {
  case IR_LT: return IR_GT;
  case IR_LE: return IR_GE;
  case IR_GT: return IR_LT;
  case IR_GE: return IR_LE;
  default: return op;
  }
}
