/* convert.c - conversions of values, uniform or per lane, choices between two, and what fast_math
 * allows; below the operators, which need them. */
#include "codegen/operator.h"

LLVMValueRef arith_fast(Codegen *g, LLVMValueRef value) {
  if (g->kernel->fast_math && LLVMIsAInstruction(value) && LLVMCanValueUseFastMathFlags(value))
    LLVMSetFastMathFlags(value, LLVMFastMathAllowReassoc | LLVMFastMathAllowReciprocal |
                                    LLVMFastMathAllowContract | LLVMFastMathNoSignedZeros);
  return value;
}

LLVMValueRef arith_select(Codegen *g, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no) {
  value_match(g, &yes, &no);
  ASSERT(LLVMTypeOf(yes) == LLVMTypeOf(no), "both sides of a choice are of one type");
  if (value_is_all(condition) && value_width(yes) == value_width(condition)) return yes;
  if (value_is_vector(condition)) {
    yes = value_broadcast(g, yes, value_width(condition));
    no = value_broadcast(g, no, value_width(condition));
  }
  return build_select(g, condition, yes, no);
}

static LLVMValueRef magnitude(Codegen *g, LLVMValueRef a) { return call_unary(g, "llvm.fabs", a); }

/* Converts f64 to a type that is computed in f32 with one rounding. x86 has no direct instruction
 * for f16, and a plain conversion through f32 would round twice; so the intermediate f32 is rounded
 * to odd: if inexact, to the neighbour whose last bit is 1, which is never a tie of the type. */
static LLVMValueRef narrow_once(Codegen *g, Type to, LLVMValueRef a) {
  ASSERT(type_is(type_computed(to), TYPE_F32), "the intermediate type has 32 bits");
  int width = value_width(a);
  LLVMTypeRef single = value_vector(g, TYPE(F32), width), bits = value_lanes(g->i32, width);
  LLVMValueRef near = build_fptrunc(g, a, single), back = build_fpext(g, near, LLVMTypeOf(a));
  LLVMValueRef near_bits = build_bitcast(g, near, bits), one = value_integer(bits, 1);
  LLVMValueRef inexact = build_fcmp(g, LLVMRealONE, back, a);
  LLVMValueRef even = build_is_zero(g, build_and(g, near_bits, one));
  LLVMValueRef too_small = build_fcmp(g, LLVMRealOLT, magnitude(g, back), magnitude(g, a));
  LLVMValueRef step = build_select(g, too_small, one, value_integer(bits, -1));
  LLVMValueRef odd =
      build_select(g, build_and(g, inexact, even), build_add(g, near_bits, step), near_bits);
  return build_fptrunc(g, build_bitcast(g, odd, single), value_vector(g, to, width));
}

/* Toward zero, of a float that the integer type has: the pass `expand` sees to that. LLVM has no
 * vector forms of conversions to fewer than 32 bits. */
static LLVMValueRef to_integer(Codegen *g, Type to, LLVMValueRef a, LLVMTypeRef target) {
  if (type_bits(to) < 32)
    return build_trunc(g, build_fptosi(g, a, value_lanes(g->i32, value_width(a))), target);
  return type_is_signed(to) ? build_fptosi(g, a, target) : build_fptoui(g, a, target);
}

static LLVMValueRef from_float(Codegen *g, Type from, Type to, LLVMValueRef a, LLVMTypeRef target) {
  if (type_is_bool(to)) return build_fcmp(g, LLVMRealUNE, a, LLVMConstNull(LLVMTypeOf(a)));
  if (type_is_float(to)) {
    Type in = type_computed(to);
    if (!type_equal(in, to) && type_bits(from) > type_bits(in)) return narrow_once(g, to, a);
    return type_bits(to) > type_bits(from) ? build_fpext(g, a, target)
                                           : build_fptrunc(g, a, target);
  }
  return to_integer(g, to, a, target);
}

/* Every integer that is finite in f16 is exact in f32, so an integer reaches f16 through f32
 * rounded once. */
static LLVMValueRef from_integer(Codegen *g, Type from, Type to, LLVMValueRef a,
                                 LLVMTypeRef target) {
  if (type_is_bool(to)) return build_is_some(g, a);
  Type in = type_computed(to);
  if (!type_equal(in, to)) return arith_convert(g, in, to, arith_convert(g, from, in, a));
  if (type_is_float(to))
    return type_is_signed(from) ? build_sitofp(g, a, target) : build_uitofp(g, a, target);
  if (type_bits(to) == type_bits(from)) return a;
  if (type_bits(to) < type_bits(from)) return build_trunc(g, a, target);
  return type_is_signed(from) ? build_sext(g, a, target) : build_zext(g, a, target);
}

LLVMValueRef arith_convert(Codegen *g, Type from, Type to, LLVMValueRef a) {
  if (type_equal(from, to)) return a;
  ASSERT(!type_is_none(from) && !type_is_none(to), "numbers are converted to numbers");
  LLVMTypeRef target = value_vector(g, to, value_width(a));
  return type_is_float(from) ? from_float(g, from, to, a, target)
                             : from_integer(g, from, to, a, target);
}
