/* root.c - RSQRT and RSQRT_CUBE: powers of the reciprocal square root of lanes, by which the pass
 * `vectorise` replaces division in fast_math kernels (pass/vector/vectorise_roots.c). Machines that
 * estimate 1 / sqrt(x) to 14 bits start from that. With y near 1 / sqrt(x), n odd, and
 * e = 1 - x * y^2, which is small,
 *
 *     1 / sqrt(x)^n  =  y^n * (1 - e)^(-n/2)  =  y^n * (1 + n/2 * e + ..)
 *
 * (a Newton-Raphson step). The omitted term is 1.9 e^2 for n = 3: with e below 2^-13 this is less
 * than half an ulp of an f32. An f64 needs one more refinement of y. The result needs neither root
 * nor division, which share one slow execution unit. If x is 0 or infinite, or y^n is infinite, y^n
 * is already right and must not be corrected. LLVM's own estimates give NaN there, so they are
 * turned off (function_open), and other machines divide by the root. If x is a sum of squares and a
 * number that all lanes share, a branch on that number skips the treatment of these cases.
 * Decisions D-codegen-07, D-codegen-30. */
#include <string.h>

#include "codegen/vector.h"

static LLVMValueRef number(LLVMValueRef like, double number) {
  return value_real(LLVMTypeOf(like), number);
}

static LLVMValueRef multiply_add(Codegen *g, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef args[] = {a, b, c};
  return call_intrinsic(g, "llvm.fma", LLVMTypeOf(a), args, 3);
}

static LLVMValueRef estimate(Codegen *g, LLVMValueRef x, bool is_double) {
  int width = value_width(x);
  const char *name = scratch_format(g->scratch, "llvm.x86.avx512.rsqrt14.%s.%d",
                                    is_double ? "pd" : "ps", width * (is_double ? 64 : 32));
  LLVMTypeRef mask = LLVMIntTypeInContext(g->context, width < 8 ? 8 : (unsigned)width);
  LLVMValueRef args[] = {x, LLVMConstNull(LLVMTypeOf(x)), LLVMConstAllOnes(mask)};
  return call_plain(g, name, args, 3);
}

enum { LEAST_BITS = 128, MOST_BITS = 512, WHOLE = 16 /* lanes of f32 in a register */ };

/* -- numbers that are neither 0 nor infinite --------------------------------------------------- */

/* An RSQRT or RSQRT_CUBE, and the number whose root it is about. */
typedef struct Root {
  const IrInst *inst;
  LLVMValueRef x;
  int power;
  bool is_double;
} Root;

/* x, given as a sum, with additions that round toward 0, so that a sum of finite numbers is
 * finite. If the number that all lanes share is not tiny, neither is x. */
static LLVMValueRef finite_sum(Codegen *g, const IrInst *inst) {
  enum { TOWARD_0 = 8 | 3 }; /* and no exceptions */
  LLVMValueRef sum = value_broadcast(g, value_operand(g, inst, 2), WHOLE);
  for (int i = 3; i < inst->operand_count; i++) {
    LLVMValueRef root = value_operand(g, inst, i);
    LLVMValueRef args[] = {root, root, sum, value_i32(g, TOWARD_0)};
    sum = call_plain(g, "llvm.x86.avx512.vfmadd.ps.512", args, 4);
  }
  return sum;
}

/* -- the power --------------------------------------------------------------------------------- */

/* Limits e from below. For 0, infinity and the smallest x, e is NaN or -infinity; the maximum
 * instruction then returns its other operand, and y^power is not changed. */
static LLVMValueRef bounded(Codegen *g, LLVMValueRef e, double bound) {
  LLVMValueRef least = number(e, bound);
  return build_select(g, build_fcmp(g, LLVMRealOGT, e, least), e, least);
}

static LLVMValueRef bounded_unless(Codegen *g, LLVMValueRef e, double bound,
                                   LLVMValueRef is_usual) {
  if (!is_usual) return bounded(g, e, bound);
  LLVMBasicBlockRef from = block_here(g), any = block_new(g, "any"), end = block_new(g, "usual");
  block_branch_mostly(g, is_usual, end, any);
  block_enter(g, any);
  LLVMValueRef other = bounded(g, e, bound);
  block_follow(g, end);
  return build_either(g, e, from, other, any);
}

/* A number of 24 bits near 5/3, where IR_CUBE_SCALE is 1 / (CUBE - 1) with an error of 2^-44. */
static const double CUBE = 0x1.aaaaa8p+0;

/* y^power, corrected; `is_usual`: x and the power are neither 0 nor infinite; NULL: not known. The
 * correction of an unscaled cube is a single multiplication. */
static LLVMValueRef corrected(Codegen *g, LLVMValueRef x, LLVMValueRef y, int power, bool unscaled,
                              LLVMValueRef is_usual) {
  double one = unscaled ? CUBE : 1;
  LLVMValueRef product = build_fmul(g, power == 1 ? x : y, y);
  LLVMValueRef far = multiply_add(g, build_fneg(g, power == 1 ? y : x), product, number(x, one));
  LLVMValueRef factor = far = bounded_unless(g, far, one - 1.5, is_usual);
  if (!unscaled) factor = multiply_add(g, far, number(x, 0.5 * power), number(x, 1));
  LLVMValueRef first = power == 1 ? y : build_fmul(g, product, y);
  return build_fmul(g, first, factor);
}

/* bits; the power of a number from TINY on, 1e-25, is finite */
enum { TINY = 0x16000000, INFINITE = 0x7f800000 };

/* Compares as integers, since LLVM may sink the comparison into the loop, where it should not take
 * a slot of the float units. */
static LLVMValueRef is_between(Codegen *g, LLVMValueRef number) {
  LLVMValueRef bits = build_sub(g, build_bitcast(g, number, g->i32), value_i32(g, TINY));
  return build_icmp(g, LLVMIntULT, bits, value_i32(g, INFINITE - TINY));
}

static LLVMValueRef from_estimate(Codegen *g, const Root *root) {
  const IrInst *inst = root->inst;
  LLVMValueRef x = root->x, is_usual = NULL;
  if (inst->operand_count > 2 && !root->is_double && value_width(x) == WHOLE) {
    x = finite_sum(g, inst);
    is_usual = is_between(g, value_operand(g, inst, 2));
  }
  LLVMValueRef y = estimate(g, x, root->is_double);
  if (root->is_double) y = corrected(g, x, y, 1, false, NULL);
  return corrected(g, x, y, root->power, inst->unscaled, is_usual);
}

/* Can the machine estimate it? An unscaled one is of whole registers of f32, or is divided. */
static bool is_estimated(const Codegen *g, const Root *root) {
  int width = value_width(root->x), bits = width * (root->is_double ? 64 : 32);
  if (!g->kernel->fast_math || !g->target.estimates_roots) return false;
  if (bits < LEAST_BITS || bits > MOST_BITS) return false;
  return !root->inst->unscaled || (!root->is_double && width == WHOLE);
}

void root_reciprocal(Codegen *g, const IrInst *inst) {
  Type type = type_element(inst->type);
  ASSERT(inst->op == IR_RSQRT || inst->op == IR_RSQRT_CUBE, "a power of a reciprocal root");
  ASSERT(!inst->unscaled || inst->op == IR_RSQRT_CUBE, "only cubes have a factor to leave out");
  const Root root = {.inst = inst,
                     .x = value_operand(g, inst, 1),
                     .power = inst->op == IR_RSQRT_CUBE ? 3 : 1,
                     .is_double = type_is(type, TYPE_F64)};
  if (!type_is(type, TYPE_F16) && is_estimated(g, &root))
    return value_set(g, inst, from_estimate(g, &root));
  LLVMValueRef divisor = value_operand(g, inst, 0);
  double one = inst->unscaled ? 1 / IR_CUBE_SCALE : 1;
  value_set(g, inst, arith_binary(g, IR_DIV, type, number(divisor, one), divisor));
}
