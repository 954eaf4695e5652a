/* order.c - walks in index order over nodes without ends: calls of llvm_bc/order.c, which inline. */
#include "codegen/emit.h"

void order_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef args[4];
  int count = inst->operand_count;
  for (int k = 0; k < count; k++) {
    args[k] = value_operand(g, inst, k);
    if (value_is_vector(args[k])) return codegen_fail(g, inst, "its row differs by lane");
  }
  const char *name = inst->op == IR_ORDER_COUNT ? "rt_order_count" : inst->op == IR_ORDER_AT ? "rt_order_at" : "rt_order_end";
  if (inst->op != IR_ORDER_COUNT) args[count++] = value_integer(g->i32, inst->imm);
  value_set(g, inst, call_runtime(g, name, args, count));
}
