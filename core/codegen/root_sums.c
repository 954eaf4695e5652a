/* root_sums.c - vectorised loops that only add quotients by cubes of roots to a variable: the pass
 * marks them and the quotients as `sloped` (pass/vector/root_sums.c). The quotients omit a common
 * factor, by which the loop's sum is multiplied after it. Decision D-codegen-07. */
#include "codegen/emit.h"

typedef struct Found {
  Codegen *g;
  const IrInst *loop;
  RootSums *sums;
} Found;

/* The variable to which the quotient is added: set(add(get, quotient)). */
static const IrInst *variable_of(const IrInst *quotient) {
  const IrInst *sum = quotient->uses ? quotient->uses->user : NULL;
  const IrInst *set = sum && sum->uses ? sum->uses->user : NULL;
  return set && set->op == IR_SET ? set->operands[0] : NULL;
}

static bool is_of_lanes(Codegen *g, const IrInst *variable) {
  LLVMValueRef outside = variable ? value_of(g, variable) : NULL;
  return outside && LLVMIsAAllocaInst(outside) &&
         LLVMGetTypeKind(LLVMGetAllocatedType(outside)) == LLVMVectorTypeKind;
}

static bool find_sum(void *data, IrInst *inst) {
  Found *f = data;
  if (inst->op != IR_DIV_CUBE || inst->sloped != f->loop->sloped) return true;
  const IrInst *variable = variable_of(inst);
  if (!is_of_lanes(f->g, variable)) {
    codegen_fail(f->g, inst, "it is not added to a variable of the lanes");
    return false;
  }
  vec_push(f->g->scratch, &f->sums->items, ((RootSum){variable, value_of(f->g, variable), NULL}));
  return true;
}

RootSums root_sums_begin(Codegen *g, const IrInst *loop) {
  RootSums sums = {0};
  Found f = {g, loop, &sums};
  if (!loop->sloped || !g->lanes || !root_has_slope(g, g->width)) return sums;
  ir_walk(loop->regions[0], find_sum, &f);
  for (int i = 0; i < sums.items.count; i++) {
    RootSum *sum = &sums.items.items[i];
    LLVMTypeRef type = LLVMGetAllocatedType(sum->outside);
    sum->inside = block_variable(g, type, "pulls");
    LLVMBuildStore(g->builder, value_real(type, -0.0), sum->inside);
    value_set(g, sum->variable, sum->inside);
  }
  return sums;
}

void root_sums_end(Codegen *g, const RootSums *sums) {
  for (int i = 0; i < sums->items.count; i++) {
    const RootSum *sum = &sums->items.items[i];
    LLVMTypeRef type = LLVMGetAllocatedType(sum->outside);
    LLVMValueRef inside = LLVMBuildLoad2(g->builder, type, sum->inside, ""),
                 outside = LLVMBuildLoad2(g->builder, type, sum->outside, "");
    inside = arith_fast(g, LLVMBuildFMul(g->builder, inside, value_real(type, root_slope()), ""));
    outside = arith_fast(g, LLVMBuildFAdd(g->builder, outside, inside, ""));
    LLVMBuildStore(g->builder, outside, sum->outside);
    value_set(g, sum->variable, sum->outside);
  }
}
