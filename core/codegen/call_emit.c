/* call_emit.c - CALL: some entries are expanded inline. A call whose operands differ by lane
 * becomes one call per lane. */
#include "codegen/vector.h"

enum { MOST_OPERANDS = IR_ENTRY_PARAMS + SNODE_MAX_AXES };

static LLVMValueRef emit_one(Codegen *g, const IrInst *inst, const LLVMValueRef *operands,
                             int count) {
  switch (inst->entry) {
  case RT_SLOT_FIND: return slot_find(g, inst->tree, operands[0]);
  case RT_SLOT_LIVE: return slot_live(g, operands[0]);
  case RT_SLOT_ENSURE:
    if (g->part == CODEGEN_GPU_TASKS) return slot_ensure(g, inst, operands[0]);
    break;
  case RT_TREE_LARGE: return context_large(g, inst->tree);
  default: break;
  }
  Callee callee = {inst->tree, inst->imm};
  return call_runtime(g, (RtEntry)inst->entry, callee, operands, count);
}

LLVMValueRef call_each(Codegen *g, const LaneCall *c, LLVMValueRef mask) {
  LLVMValueRef arrays[MOST_OPERANDS], ones[MOST_OPERANDS];
  ASSERT(c->count <= MOST_OPERANDS && value_width(mask) == c->width, "a bit for each lane");
  bool has_result = !type_is_none(c->inst->type);
  LLVMTypeRef result = has_result ? value_vector(g, type_element(c->inst->type), c->width) : NULL;
  LLVMValueRef results = has_result ? lanes_in_memory(g, LLVMConstNull(result)) : NULL;
  for (int k = 0; k < c->count; k++)
    arrays[k] = value_is_vector(c->operands[k]) ? lanes_in_memory(g, c->operands[k]) : NULL;
  SetBits bits = bits_begin(g, lanes_bits(g, mask));
  for (int k = 0; k < c->count; k++)
    ones[k] = !arrays[k] ? c->operands[k]
                         : lanes_load_one(g, LLVMGetElementType(LLVMTypeOf(c->operands[k])),
                                          arrays[k], bits.position);
  LLVMValueRef one = emit_one(g, c->inst, ones, c->count);
  if (results) lanes_store_one(g, results, bits.position, one);
  bits_end(g, &bits);
  return results ? build_load(g, result, results) : NULL;
}

void call_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef operands[MOST_OPERANDS];
  for (int k = 0; k < inst->operand_count; k++) operands[k] = value_operand(g, inst, k);
  LLVMValueRef result = emit_one(g, inst, operands, inst->operand_count);
  if (!type_is_none(inst->type)) value_set(g, inst, result);
}
