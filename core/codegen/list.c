/* list.c - the lists of dynamic SNodes: calls of node_dynamic.c, which inline. Chunk and capacity are constants there, so
 * that no division is left. They stand outside vector rows alone. */
#include "codegen/emit.h"

static LLVMValueRef call_list(Codegen *g, const IrInst *inst, const char *name, LLVMValueRef list, const LLVMValueRef *more, int count) {
  LLVMValueRef args[8] = {g->rt_context, g->worker, value_integer(g->i32, inst->tree), value_integer(g->i32, inst->imm), list};
  for (int k = 0; k < count; k++) args[5 + k] = more[k];
  return call_runtime(g, name, args, 5 + count);
}

static LLVMValueRef emit_list(Codegen *g, const IrInst *inst, LLVMValueRef list) {
  LLVMValueRef chunk = value_integer(g->i32, inst->extent[0]), capacity = value_integer(g->i32, inst->extent[1]);
  LLVMValueRef locks = value_integer(g->i32, inst->locks);
  switch (inst->op) {
  case IR_DYNAMIC_APPEND: return call_list(g, inst, "rt_dynamic_append", list, (LLVMValueRef[]){chunk, capacity, locks}, 3);
  case IR_DYNAMIC_ENSURE:
    return call_list(g, inst, "rt_dynamic_ensure", list, (LLVMValueRef[]){chunk, value_operand(g, inst, 1), locks}, 3);
  case IR_DYNAMIC_POP: return call_runtime(g, "rt_dynamic_pop", (LLVMValueRef[]){list, locks}, 2);
  case IR_DYNAMIC_CLEAR: return call_list(g, inst, "rt_dynamic_clear", list, &capacity, 1);
  case IR_DYNAMIC_CELLS: case IR_DYNAMIC_WAS: {
    LLVMValueRef args[] = {g->rt_context, value_integer(g->i32, inst->tree), value_integer(g->i32, inst->imm), list};
    return call_runtime(g, inst->op == IR_DYNAMIC_WAS ? "rt_dynamic_was" : "rt_dynamic_cells", args, 4);
  }
  default: return call_runtime(g, "rt_dynamic_unlock", &list, 1);
  }
}

void list_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef list = value_operand(g, inst, 0);
  if (value_is_vector(list)) return codegen_fail(g, inst, "its list differs by lane");
  LLVMValueRef result = emit_list(g, inst, list);
  if (!type_is_none(inst->type)) value_set(g, inst, result);
}
