/* root.c - DIV_ROOT and DIV_CUBE: division by powers of square roots, which rules of
 * pass/simplify/rules.def find in fast_math kernels; in lanes, on machines that estimate 1 /
 * sqrt(x) to 14 bits, by that. With y near 1 / sqrt(x), n odd, and e = 1 - x * y^2, which is small,
 *
 *     1 / sqrt(x)^n  =  y^n * (1 - e)^(-n/2)  =  y^n * (1 + n/2 * e + ..)
 *
 * (a Newton-Raphson step). The omitted term is 1.9 e^2 for n = 3: with e below 2^-13 this is less
 * than half an ulp of an f32. An f64 needs one more refinement of y. The result needs neither root
 * nor division, which share one slow execution unit. If x is 0 or infinite, or y^n is infinite, y^n
 * is already right and must not be corrected. LLVM's own estimates give NaN there, so they are
 * turned off (module.c), and scalar code divides by roots. If x is a sum of squares and a number
 * that all lanes share, like a distance and its softening, a branch on that number skips the
 * treatment of these cases. Decisions D-codegen-07, D-codegen-30. */
#include <string.h>

#include "codegen/emit.h"

enum { LEAST_BITS = 128, MOST_BITS = 512 };

/* A divisor that is sqrt(x)^power. */
typedef struct Root {
  LLVMValueRef x, divisor;
  int power;
  bool is_double;
  bool is_sloped; /* its slope is factored out of a sum: pass/vector/root_sums.c */
} Root;

static bool is_product(LLVMValueRef value) {
  return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMFMul;
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

/* -- numbers that are neither 0 nor infinite --------------------------------------------------- */

/* x as a sum of squares and one number that all lanes share: if that is not tiny, neither is x. */
enum { MOST_SQUARES = 4, WHOLE = 16 /* lanes of f32 whose sums may round toward 0 */ };
typedef struct Squares {
  LLVMValueRef roots[MOST_SQUARES], rest;
  int count;
} Squares;

/* Is the value the same in all lanes? */
static bool is_spread(LLVMValueRef value) {
  bool is_constant = LLVMIsConstant(value);
  if (!is_constant && !LLVMIsAShuffleVectorInst(value)) return false;
  for (unsigned k = 0; k < (unsigned)value_width(value); k++) {
    if (is_constant && LLVMGetAggregateElement(value, k) != LLVMGetAggregateElement(value, 0))
      return false;
    if (!is_constant && LLVMGetMaskValue(value, k) != 0) return false;
  }
  return true;
}

static bool find_squares(Squares *s, LLVMValueRef x) {
  if (is_spread(x)) return s->rest ? false : (s->rest = x, true);
  if (!LLVMIsAInstruction(x)) return false;
  LLVMOpcode op = LLVMGetInstructionOpcode(x);
  if (op != LLVMFAdd && op != LLVMFMul) return false;
  LLVMValueRef a = LLVMGetOperand(x, 0), b = LLVMGetOperand(x, 1);
  if (op == LLVMFAdd) return find_squares(s, a) && find_squares(s, b);
  if (a != b || s->count == MOST_SQUARES) return false;
  s->roots[s->count++] = a;
  return true;
}

/* The sum, rounded toward 0, so that a sum of finite numbers is finite. */
static LLVMValueRef finite_sum(Codegen *g, const Squares *s) {
  static const char name[] = "llvm.x86.avx512.vfmadd.ps.512";
  enum { TOWARD_0 = 8 | 3 }; /* and no exceptions */
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMTypeRef type = LLVMIntrinsicGetType(g->context, id, NULL, 0);
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->module, id, NULL, 0), sum = s->rest;
  for (int i = 0; i < s->count; i++) {
    LLVMValueRef args[] = {s->roots[i], s->roots[i], sum, value_integer(g->i32, TOWARD_0)};
    sum = LLVMBuildCall2(g->builder, type, function, args, 4, "");
  }
  return sum;
}

/* Marks the branch to `yes` as likely, so that LLVM keeps the other path out of line. */
static void branch_mostly(Codegen *g, LLVMValueRef condition, LLVMBasicBlockRef yes,
                          LLVMBasicBlockRef no) {
  static const char kind[] = "prof", word[] = "branch_weights";
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(g->context, word, strlen(word)),
                             LLVMValueAsMetadata(value_integer(g->i32, 1 << 20)),
                             LLVMValueAsMetadata(value_integer(g->i32, 1))};
  LLVMMetadataRef weights = LLVMMDNodeInContext2(g->context, parts, 3);
  LLVMValueRef branch = LLVMBuildCondBr(g->builder, condition, yes, no);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(g->context, kind, strlen(kind)),
                  LLVMMetadataAsValue(g->context, weights));
}

/* -- the power --------------------------------------------------------------------------------- */

/* Limits e from below. For 0, infinity and the smallest x, e is NaN or -infinity; the maximum
 * instruction then returns its other operand, and y^power is not changed. */
static LLVMValueRef bounded(Codegen *g, LLVMValueRef e, double bound) {
  LLVMValueRef least = number(e, bound);
  LLVMValueRef is_near = LLVMBuildFCmp(g->builder, LLVMRealOGT, e, least, "");
  return LLVMBuildSelect(g->builder, is_near, e, least, "");
}

static LLVMValueRef bounded_unless(Codegen *g, LLVMValueRef e, double bound,
                                   LLVMValueRef is_usual) {
  if (!is_usual) return bounded(g, e, bound);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder), any = block_new(g, "any"),
                    end = block_new(g, "usual");
  branch_mostly(g, is_usual, end, any);
  block_enter(g, any);
  LLVMValueRef other = bounded(g, e, bound);
  block_jump(g, end);
  block_enter(g, end);
  LLVMValueRef result = LLVMBuildPhi(g->builder, LLVMTypeOf(e), "");
  LLVMAddIncoming(result, (LLVMValueRef[]){e, other}, (LLVMBasicBlockRef[]){from, any}, 2);
  return result;
}

/* A number of 24 bits near 5/3, where the slope is 1 / (CUBE - 1) with an error of 2^-44. */
static const double CUBE = 0x1.aaaaa8p+0;

/* y^power, corrected; `is_usual`: x and the power are neither 0 nor infinite; NULL: not known. For
 * a cube whose slope is factored out (pass/vector/root_sums.c), the correction is a single
 * multiplication. */
static LLVMValueRef corrected(Codegen *g, LLVMValueRef x, LLVMValueRef y, int power, bool is_sloped,
                              LLVMValueRef is_usual) {
  double one = is_sloped ? CUBE : 1;
  LLVMValueRef product = LLVMBuildFMul(g->builder, power == 1 ? x : y, y, "");
  LLVMValueRef far =
      multiply_add(g, LLVMBuildFNeg(g->builder, power == 1 ? y : x, ""), product, number(x, one));
  LLVMValueRef factor = far = bounded_unless(g, far, one - 1.5, is_usual);
  if (!is_sloped) factor = multiply_add(g, far, number(x, 0.5 * power), number(x, 1));
  LLVMValueRef first = power == 1 ? y : LLVMBuildFMul(g->builder, product, y, "");
  return LLVMBuildFMul(g->builder, first, factor, "");
}

static LLVMValueRef multiply(Codegen *g, LLVMValueRef a, LLVMValueRef b) {
  return arith_fast(g, LLVMBuildFMul(g->builder, a, b, ""));
}

/* For m * d / r^3 with several d, associates m with 1 / r^3, so that the product is computed once;
 * m must be the same in all lanes. */
static LLVMValueRef times(Codegen *g, LLVMValueRef a, LLVMValueRef power) {
  if (!is_product(a)) return multiply(g, a, power);
  LLVMValueRef left = LLVMGetOperand(a, 0), right = LLVMGetOperand(a, 1);
  if (is_spread(right)) return multiply(g, left, multiply(g, right, power));
  if (is_spread(left)) return multiply(g, right, multiply(g, left, power));
  return multiply(g, a, power);
}

/* bits; the power of a number from TINY on, 1e-25, is finite */
enum { TINY = 0x16000000, INFINITE = 0x7f800000 };

/* Compares as integers, since LLVM may sink the comparison into the loop, where it should not take
 * a slot of the float units. */
static LLVMValueRef is_between(Codegen *g, LLVMValueRef number) {
  LLVMValueRef bits = LLVMBuildBitCast(g->builder, number, g->i32, "");
  bits = LLVMBuildSub(g->builder, bits, value_integer(g->i32, TINY), "");
  return LLVMBuildICmp(g->builder, LLVMIntULT, bits, value_integer(g->i32, INFINITE - TINY), "");
}

/* 1 / divisor. Usually several numbers have the same divisor, so its result is cached: behind
 * branches, LLVM could not see that they are equal. */
static LLVMValueRef power_of(Codegen *g, const Root *root) {
  Squares squares = {0};
  LLVMValueRef x = root->x, is_usual = NULL;
  if (g->root.divisor == root->divisor && g->root.block == LLVMGetInsertBlock(g->builder) &&
      g->root.is_sloped == root->is_sloped)
    return g->root.power;
  if (!root->is_double && value_width(x) == WHOLE && find_squares(&squares, x) && squares.rest) {
    x = finite_sum(g, &squares);
    is_usual = is_between(g, value_lane(g, squares.rest, 0));
  }
  LLVMValueRef y = estimate(g, x, root->is_double);
  if (root->is_double) y = corrected(g, x, y, 1, false, NULL);
  g->root.divisor = root->divisor;
  g->root.is_sloped = root->is_sloped;
  g->root.power = corrected(g, x, y, root->power, root->is_sloped, is_usual);
  g->root.block = LLVMGetInsertBlock(g->builder);
  return g->root.power;
}

/* Can 1 / divisor be estimated? Not of one number that all lanes share, whose root is scalar. A
 * sloped one is a cube of whole registers of f32, or is divided. */
static bool is_estimated(const Codegen *g, Type type, const Root *root) {
  int width = value_width(root->divisor), bits = width * type_bits(type);
  if (!g->kernel->fast_math || !g->target.estimates_roots || type_is(type, TYPE_F16)) return false;
  if (bits < LEAST_BITS || bits > MOST_BITS || value_width(root->x) != width) return false;
  if (is_spread(root->divisor)) return false;
  return !root->is_sloped || (!root->is_double && width == WHOLE);
}

void root_divide(Codegen *g, const IrInst *inst) {
  DEBUG_ASSERT(inst->op == IR_DIV_ROOT || inst->op == IR_DIV_CUBE, "a division by a root's power");
  Type type = type_element(inst->type);
  LLVMValueRef a = value_operand(g, inst, 0), b = value_operand(g, inst, 1);
  Root root = {.x = value_operand(g, inst, 2),
               .divisor = b,
               .power = inst->op == IR_DIV_CUBE ? 3 : 1,
               .is_double = type_is(type, TYPE_F64),
               .is_sloped = inst->sloped && type_is_vector(inst->type)};
  DEBUG_ASSERT(!root.is_sloped || root.power == 3, "only cubes have a slope that is factored out");
  if (is_estimated(g, type, &root)) {
    value_match(g, &a, &b);
    return value_set(g, inst, times(g, a, power_of(g, &root)));
  }
  LLVMValueRef quotient = arith_binary(g, IR_DIV, type, a, b);
  if (root.is_sloped)
    quotient =
        arith_fast(g, LLVMBuildFMul(g->builder, quotient, number(quotient, 1 / IR_CUBE_SLOPE), ""));
  value_set(g, inst, quotient);
}
