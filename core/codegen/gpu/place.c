/* place.c - a SELECT of two addresses on a GPU. If they are equal offsets from two bases, it
 * selects the base instead. Threads of a leaf often select differently, but each selects the same
 * base in all its iterations; so LLVM hoists the select, and the offsets become immediates of the
 * accesses.
 *
 *     c ? a + i * 4 : b + i * 4   is   (c ? a : b) + i * 4
 *
 * Decision D-codegen-12. */
#include "codegen/emit.h"

static bool is_alike(const IrInst *a, const IrInst *b) {
  return a->op == IR_OFFSET && b->op == IR_OFFSET && a->operands[1] == b->operands[1] &&
         a->stride == b->stride && a->imm == b->imm;
}

static LLVMValueRef choose(Codegen *g, LLVMValueRef which, const IrInst *yes, const IrInst *no) {
  if (!is_alike(yes, no)) return arith_select(g, which, value_of(g, yes), value_of(g, no));
  return access_offset(g, yes, choose(g, which, yes->operands[0], no->operands[0]));
}

bool gpu_choose(Codegen *g, const IrInst *inst) {
  const IrInst *yes = inst->operands[1], *no = inst->operands[2];
  if (g->part != CODEGEN_GPU_TASKS || !is_alike(yes, no)) return false;
  value_set(g, inst, choose(g, value_operand(g, inst, 0), yes, no));
  return true;
}
