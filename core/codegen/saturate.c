/* saturate.c - converts floats to integers: toward zero, saturating, NaN gives 0. It emits
 * comparisons and selects around LLVM's plain conversion, which is undefined outside the type;
 * these have vector forms, whereas LLVM splits its own llvm.fptosi.sat into lanes. A floor whose
 * result is used as a float again (x - math.floor(x)) stays a float: the rule convert_whole of
 * pass/simplify/rules.def. Decision D-codegen-01. */
#include <math.h>

#include "codegen/operator.h"

enum { DIGITS_F32 = 24, DIGITS_F64 = 53, LEAST_BITS = 32 };

static LLVMValueRef choose(Codegen *g, LLVMRealPredicate when, LLVMValueRef a, LLVMValueRef b,
                           LLVMValueRef yes, LLVMValueRef no) {
  return build_select(g, build_fcmp(g, when, a, b), yes, no);
}

/* Limits `a` from below: to 0 for an unsigned type, to the least integer for a signed one. A NaN
 * becomes 0 for an unsigned type, else it stays NaN. */
static LLVMValueRef at_least(Codegen *g, Type to, LLVMValueRef a) {
  bool is_signed = type_is_signed(to);
  LLVMValueRef least = value_real(LLVMTypeOf(a), is_signed ? -ldexp(1, type_bits(to) - 1) : 0);
  return is_signed ? choose(g, LLVMRealOLT, a, least, least, a)
                   : choose(g, LLVMRealOGT, a, least, a, least);
}

static LLVMValueRef convert(Codegen *g, Type to, LLVMValueRef a, LLVMTypeRef target) {
  ASSERT(type_is_integer(to), "a float becomes an integer");
  bool through_i32 = type_bits(to) < LEAST_BITS;
  LLVMTypeRef wide = through_i32 ? value_lanes(g->i32, value_width(a)) : target;
  LLVMValueRef whole =
      type_is_signed(to) || through_i32 ? build_fptosi(g, a, wide) : build_fptoui(g, a, wide);
  return through_i32 ? build_trunc(g, whole, target) : whole;
}

LLVMValueRef saturate_none(Codegen *g, Type to, LLVMValueRef a) {
  return convert(g, to, a, value_vector(g, to, value_width(a)));
}

LLVMValueRef saturate(Codegen *g, Type from, Type to, LLVMValueRef a, LLVMTypeRef target) {
  int digits = type_bits(to) - type_is_signed(to);
  ASSERT(type_equal(type_computed(from), from) && digits > 0, "a float that is computed, to bits");
  double past = ldexp(1, digits);
  LLVMValueRef x = at_least(g, to, a), whole;
  if (digits <= (type_is(from, TYPE_F32) ? DIGITS_F32 : DIGITS_F64)) {
    LLVMValueRef most = value_real(LLVMTypeOf(a), past - 1);
    whole = convert(g, to, choose(g, LLVMRealOGT, x, most, most, x), target);
  } else {
    LLVMValueRef most = value_integer(target, (int64_t)(~0ull >> (64 - digits)));
    whole =
        choose(g, LLVMRealOGE, x, value_real(LLVMTypeOf(a), past), most, convert(g, to, x, target));
  }
  return type_is_signed(to) ? choose(g, LLVMRealUNO, a, a, LLVMConstNull(target), whole) : whole;
}
