/* root.c - RSQRT and RSQRT_CUBE: powers of the reciprocal square root of lanes, by which the pass
 * `vectorise` replaces division in fast_math kernels (pass/vector/vectorise_roots.c). The runtime
 * computes them from an estimate where the machine has one (llvm_bc/roots.c); other machines divide
 * by the root. Decisions D-codegen-07, D-codegen-30. */
#include "codegen/vector.h"

enum { LEAST_BITS = 128, MOST_BITS = 512, WHOLE = 16 /* lanes of f32 in a register */ };

/* Can the machine estimate it? An unscaled one is of whole registers of f32, or is divided. */
static bool is_estimated(const Codegen *g, const IrInst *inst, Type type, int width) {
  int bits = width * type_bits(type);
  if (!g->kernel->fast_math || !g->target.estimates_roots || type_is(type, TYPE_F16)) return false;
  if (bits < LEAST_BITS || bits > MOST_BITS) return false;
  return !inst->unscaled || (type_is(type, TYPE_F32) && width == WHOLE);
}

/* If x is a sum of squares and a number that all lanes share, that number says whether x is usual.
 * Then x is added up anew, so that it is finite. */
static LLVMValueRef is_usual(Codegen *g, const IrInst *inst, LLVMValueRef *x) {
  if (inst->operand_count <= 2 || LLVMTypeOf(*x) != value_vector(g, TYPE(F32), WHOLE))
    return value_i32(g, 0);
  LLVMValueRef rest = value_operand(g, inst, 2);
  *x = value_broadcast(g, rest, WHOLE);
  for (int i = 3; i < inst->operand_count; i++) {
    LLVMValueRef args[] = {*x, value_operand(g, inst, i)};
    *x = call_function(g, "rt_add_square_f32x16", LLVMTypeOf(*x), args, 2);
  }
  return call_function(g, "rt_is_usual_f32", g->i32, &rest, 1);
}

void root_reciprocal(Codegen *g, const IrInst *inst) {
  Type type = type_element(inst->type);
  LLVMValueRef x = value_operand(g, inst, 1), divisor = value_operand(g, inst, 0);
  ASSERT(inst->op == IR_RSQRT || inst->op == IR_RSQRT_CUBE, "a power of a reciprocal root");
  ASSERT(!inst->unscaled || inst->op == IR_RSQRT_CUBE, "only cubes have a factor to leave out");
  if (is_estimated(g, inst, type, value_width(x))) {
    LLVMValueRef usual = is_usual(g, inst, &x);
    LLVMValueRef args[] = {x, value_i32(g, inst->op == IR_RSQRT_CUBE ? 3 : 1),
                           value_i32(g, inst->unscaled), usual};
    const char *name = scratch_format(g->scratch, "rt_root_%sx%d", type_text(type), value_width(x));
    return value_set(g, inst, call_function(g, name, LLVMTypeOf(x), args, 4));
  }
  LLVMValueRef one = value_real(LLVMTypeOf(divisor), inst->unscaled ? 1 / IR_CUBE_SCALE : 1);
  value_set(g, inst, arith_binary(g, IR_DIV, type, one, divisor));
}
