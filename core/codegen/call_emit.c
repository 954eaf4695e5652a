/* call_emit.c - CALL: some entries are expanded inline. A call whose operands differ by lane
 * becomes one call per lane, except those of a hash: one call of the runtime finds, or removes, the
 * cells of all lanes. */
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

/* -- cells of a hash, in lanes ----------------------------------------------------------------- */

static LLVMValueRef coordinates_of(Codegen *g, const LaneCall *c) {
  LLVMTypeRef lanes = value_lanes(g->i64, c->width);
  int count = c->count - 1;
  ASSERT(count > 0 && count <= RT_MAX_AXES, "a node, then its coordinates");
  LLVMValueRef array = block_variable(g, LLVMArrayType2(lanes, (uint64_t)count), "coordinates");
  for (int k = 0; k < count; k++)
    build_store(g, call_operand_lanes(g, c, 1 + k),
                value_byte_offset(g, array, (int64_t)k * c->width * 8));
  return array;
}

static RtEntry form_of(const IrInst *inst) {
  switch (inst->entry) {
  case RT_HASH_AHEAD: return RT_HASH_STILL_LANES;
  case RT_HASH_ENSURE: return RT_HASH_ENSURE_LANES;
  case RT_HASH_CLEAR: return RT_HASH_CLEAR_LANES;
  default: return inst->lasting ? RT_HASH_STILL_LANES : RT_HASH_FIND_LANES;
  }
}

static void in_all(Codegen *g, const LaneCall *c, LLVMValueRef nodes) {
  ASSERT(c->width <= 64, "a word has a bit for each lane");
  build_store(g, call_operand_lanes(g, c, 0), nodes);
  LLVMValueRef operands[] = {lanes_bits(g, c->mask), value_i32(g, c->width), nodes,
                             coordinates_of(g, c)};
  call_runtime(g, form_of(c->inst), (Callee){c->inst->tree, c->inst->imm}, operands, 4);
}

LLVMValueRef hash_lanes(Codegen *g, const LaneCall *c) {
  LLVMTypeRef lanes = value_lanes(g->pointer, c->width);
  LLVMValueRef nodes = block_variable(g, lanes, "nodes");
  in_all(g, c, nodes);
  LLVMValueRef cells = build_load(g, lanes, nodes);
  if (c->inst->entry != RT_HASH_LIVE) return cells;
  return build_icmp(g, LLVMIntNE, cells, value_broadcast(g, context_ambient(g), c->width));
}

void hash_clear_lanes(Codegen *g, const LaneCall *c) {
  in_all(g, c, block_variable(g, value_lanes(g->pointer, c->width), "nodes"));
}

void hash_fetch_lanes(Codegen *g, const LaneCall *c) {
  LLVMValueRef operands[] = {value_i32(g, c->width), coordinates_of(g, c)};
  call_runtime(g, RT_HASH_FETCH_LANES, (Callee){c->inst->tree, c->inst->imm}, operands, 2);
}
