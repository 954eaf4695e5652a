/* rewrite.c - small edits that several passes share. Each takes linear time. */
#include "pass/rewrite.h"

IrBuilder rewrite_before(IrKernel *kernel, IrInst *inst) {
  DEBUG_ASSERT(inst->region, "the inst stands in a region");
  return (IrBuilder){kernel, inst->region, inst, inst->line, inst->column};
}

IrBuilder rewrite_inside(IrKernel *kernel, IrRegion *region, const IrInst *like) {
  return (IrBuilder){kernel, region, NULL, like ? like->line : 0, like ? like->column : 0};
}

IrInst *rewrite_again(IrBuilder *b, const IrInst *inst, IrInst *const *operands) {
  DEBUG_ASSERT(ir_effects(inst) & IR_PURE, "only what has no effect is computed again");
  IrInst *again = ir_emit(b, inst->op, inst->type, inst->operand_count, operands);
  again->imm = inst->imm;
  again->field = inst->field;
  again->inside = inst->inside;
  again->stride = inst->stride;
  return again;
}

IrInst *rewrite_both(IrBuilder *b, IrInst *first, IrInst *second) {
  if (!first || !second) return first ? first : second;
  return ir_binary(b, IR_BAND, first, second);
}

void rewrite_become(IrKernel *kernel, IrInst *inst, IrOp op, int operand_count,
                    IrInst *const *operands) {
  IrInst was = *inst;
  ASSERT(!(ir_op_info[op].flags & IR_REGIONS), "the new op has no regions");
  ir_drop_operands(inst, 0);
  *inst = (IrInst){.op = op,
                   .type = was.type,
                   .id = was.id,
                   .line = was.line,
                   .column = was.column,
                   .next = was.next,
                   .previous = was.previous,
                   .region = was.region,
                   .uses = was.uses};
  ir_give_axes(kernel, inst);
  ir_set_operands(kernel, inst, operand_count, operands);
}

void rewrite_become_call(IrKernel *kernel, IrInst *inst, RtEntry entry, int tree, int number,
                         int operand_count, IrInst *const *operands) {
  rewrite_become(kernel, inst, IR_CALL, operand_count, operands);
  inst->type = type_scalar(ir_entries[entry].result);
  ir_call_name(inst, entry, tree, number);
}

void rewrite_move_all(IrRegion *from, IrRegion *to) {
  DEBUG_ASSERT(from != to, "insts move to another region");
  for (IrInst *inst = from->first, *next; inst; inst = next) {
    next = inst->next;
    ir_remove(inst);
    ir_region_append(to, inst);
  }
}

void rewrite_prepend(IrRegion *from, IrRegion *to) {
  IrInst *before = to->first;
  DEBUG_ASSERT(from != to, "insts move to another region");
  if (!before) return rewrite_move_all(from, to);
  while (from->first) {
    IrInst *inst = from->first;
    ir_remove(inst);
    ir_insert_before(before, inst);
  }
}

typedef struct Replace {
  IrInst *const *with;
  int count;
} Replace;

static bool replace_operands(void *data, IrInst *inst) {
  Replace *r = data;
  for (int i = 0; i < inst->operand_count; i++) {
    int id = inst->operands[i]->id;
    if (id < r->count && r->with[id]) ir_set_operand(inst, i, r->with[id]);
  }
  return true;
}

void rewrite_operands(IrRegion *root, IrInst *const *with, int count) {
  ir_walk(root, replace_operands, &(Replace){with, count});
}

/* Users come after their operands, or are nested deeper; so a backward walk that visits inner
 * regions first visits users first. */
void rewrite_drop_dead(IrRegion *root) {
  for (IrInst *inst = root->last, *previous; inst; inst = previous) {
    previous = inst->previous;
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i]) rewrite_drop_dead(inst->regions[i]);
    if (!ir_is_used(inst) && (ir_effects(inst) & IR_PURE)) ir_delete(inst);
  }
}

static bool count_inst(void *data, IrInst *inst) { return ++*(int *)data; }

int rewrite_count(IrRegion *root) {
  int count = 0;
  ir_walk(root, count_inst, &count);
  return count;
}

IrInst *rewrite_update_value(IrBuilder *b, IrUpdate op, IrInst *old, IrInst *value) {
  static const IrOp ops[IR_UPDATE_COUNT] = {
      [IR_UPDATE_ADD] = IR_ADD,           [IR_UPDATE_SUB] = IR_SUB, [IR_UPDATE_MUL] = IR_MUL,
      [IR_UPDATE_DIV] = IR_DIV,           [IR_UPDATE_MIN] = IR_MIN, [IR_UPDATE_MAX] = IR_MAX,
      [IR_UPDATE_BAND] = IR_BAND,         [IR_UPDATE_BOR] = IR_BOR, [IR_UPDATE_BXOR] = IR_BXOR,
      [IR_UPDATE_FLOORDIV] = IR_FLOORDIV, [IR_UPDATE_MOD] = IR_MOD, [IR_UPDATE_POW] = IR_POW,
      [IR_UPDATE_SHL] = IR_SHL,           [IR_UPDATE_SHR] = IR_SHR, [IR_UPDATE_SAR] = IR_SAR};
  ASSERT(op == IR_UPDATE_EXCHANGE || ops[op], "an update is an exchange, or a binary op");
  return op == IR_UPDATE_EXCHANGE ? value : ir_binary(b, ops[op], old, value);
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
