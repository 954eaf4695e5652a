/* root.c - quotients by roots, in lanes of fast_math kernels where a machine estimates 1 / sqrt(x)
 * to 14 bits. With y near 1 / sqrt(x), n odd, and e = 1 - x * y^2, which is small,
 *
 *     1 / sqrt(x)^n  =  y^n * (1 - e)^(-n/2)  =  y^n * (1 + n/2 * e + ..)
 *
 * What is left out is 1.9 e^2 for n = 3: with e below 2^-13 less than half an ulp of an f32. An f64
 * has y made better once before. Neither root nor division is left, which share one slow unit. Of 0
 * and infinity, and where y^n is infinite, y^n is right at once. LLVM's own estimates are no
 * numbers there, so it makes none (module.c): scalar code divides by roots. */
#include <string.h>

#include "codegen/emit.h"

enum { MOST_FACTORS = 6, LEAST_BITS = 128, MOST_BITS = 512 };

typedef struct Roots { /* of a divisor that is sqrt(x)^power */
  LLVMValueRef x;
  int power, others;
  LLVMValueRef factors[MOST_FACTORS];
} Roots;

/* The argument of a square root; NULL: it is none. */
static LLVMValueRef under_root(LLVMValueRef value) {
  if (!LLVMIsACallInst(value)) return NULL;
  LLVMValueRef function = LLVMGetCalledValue(value);
  bool is_known = function && LLVMIsAFunction(function);
  unsigned id = LLVMLookupIntrinsicID("llvm.sqrt", strlen("llvm.sqrt"));
  return is_known && LLVMGetIntrinsicID(function) == id ? LLVMGetOperand(value, 0) : NULL;
}

static bool is_product(LLVMValueRef value) {
  return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMFMul;
}

/* The factors of a product; false: they are too many, or roots of several numbers. */
static bool collect(Roots *roots, LLVMValueRef value) {
  if (is_product(value))
    return collect(roots, LLVMGetOperand(value, 0)) && collect(roots, LLVMGetOperand(value, 1));
  LLVMValueRef x = under_root(value);
  if (x && roots->x && x != roots->x) return false;
  if (!x && roots->others == MOST_FACTORS) return false;
  if (x) roots->x = x, roots->power++;
  else roots->factors[roots->others++] = value;
  return roots->power <= MOST_FACTORS;
}

/* x itself, which is no product then, is its root twice. */
static bool is_power(Roots *roots, LLVMValueRef divisor) {
  if (!collect(roots, divisor) || !roots->x) return false;
  for (int i = 0; i < roots->others; i++) {
    if (roots->factors[i] != roots->x) return false;
    roots->power += 2;
  }
  return roots->power % 2 == 1 && roots->power <= 3;
}

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
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMTypeRef type = LLVMIntrinsicGetType(g->context, id, NULL, 0);
  LLVMTypeRef mask = LLVMIntTypeInContext(g->context, width < 8 ? 8 : (unsigned)width);
  LLVMValueRef args[] = {x, LLVMConstNull(LLVMTypeOf(x)), LLVMConstAllOnes(mask)};
  return LLVMBuildCall2(g->builder, type, LLVMGetIntrinsicDeclaration(g->module, id, NULL, 0), args,
                        3, "");
}

/* y^power, corrected. Of 0, infinity and the smallest x, e is no number or -infinite; a machine's
 * maximum with a number is that number then, and y^power stays what it is. */
static LLVMValueRef corrected(Codegen *g, LLVMValueRef x, LLVMValueRef y, int power) {
  LLVMValueRef product = LLVMBuildFMul(g->builder, power == 1 ? x : y, y, "");
  LLVMValueRef far = multiply_add(g, LLVMBuildFNeg(g->builder, power == 1 ? y : x, ""), product,
                                  number(x, 1));
  LLVMValueRef least = number(x, -0.5);
  LLVMValueRef is_near = LLVMBuildFCmp(g->builder, LLVMRealOGT, far, least, "");
  far = LLVMBuildSelect(g->builder, is_near, far, least, "");
  LLVMValueRef factor = multiply_add(g, far, number(x, 0.5 * power), number(x, 1));
  LLVMValueRef first = power == 1 ? y : LLVMBuildFMul(g->builder, product, y, "");
  return LLVMBuildFMul(g->builder, first, factor, "");
}

static bool is_spread(LLVMValueRef value) {
  return LLVMIsAShuffleVectorInst(value) != NULL || LLVMIsConstant(value);
}

static LLVMValueRef multiply(Codegen *g, LLVMValueRef a, LLVMValueRef b) {
  return arith_fast(g, LLVMBuildFMul(g->builder, a, b, ""));
}

/* Of m * d / r^3 for several d, m / r^3 is computed once, where m is the same in all lanes. */
static LLVMValueRef times(Codegen *g, LLVMValueRef a, LLVMValueRef power) {
  if (!is_product(a)) return multiply(g, a, power);
  LLVMValueRef left = LLVMGetOperand(a, 0), right = LLVMGetOperand(a, 1);
  if (is_spread(right)) return multiply(g, left, multiply(g, right, power));
  if (is_spread(left)) return multiply(g, right, multiply(g, left, power));
  return multiply(g, a, power);
}

LLVMValueRef root_divide(Codegen *g, Type type, LLVMValueRef a, LLVMValueRef b) {
  Roots roots = {0};
  if (!g->kernel->fast_math || !g->target.estimates_roots) return NULL;
  bool is_double = type_is(type, TYPE_F64);
  if (!is_double && !type_is(type, TYPE_F32)) return NULL;
  int bits = value_width(b) * type_bits(type);
  if (bits < LEAST_BITS || bits > MOST_BITS || !is_power(&roots, b)) return NULL;
  LLVMValueRef y = estimate(g, roots.x, is_double);
  if (is_double) y = corrected(g, roots.x, y, 1);
  return times(g, a, corrected(g, roots.x, y, roots.power));
}
