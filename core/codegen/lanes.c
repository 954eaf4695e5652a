/* lanes.c - operations on lanes of any type: numbers that differ by a step, masks, accesses under
 * masks; conversions of values, selects, and the flags of fast_math. */
#include "codegen/operator.h"

/* -- lanes ------------------------------------------------------------------------------------- */

LLVMValueRef lanes_step(Codegen *g, LLVMValueRef base, Type type, int64_t step, int width) {
  if (type_is(type, TYPE_PTR))
    return build_at(g, g->i8, base, value_staircase(g->i64, width, step));
  return build_add(g, value_broadcast(g, base, width),
                   value_staircase(LLVMTypeOf(base), width, step));
}

LLVMValueRef lanes_some(Codegen *g, LLVMValueRef value, int first, int count) {
  int lanes[IR_MAX_LANES];
  ASSERT(first + count <= value_width(value) && count <= IR_MAX_LANES, "lanes of the vector");
  if (count == value_width(value)) return value;
  if (count == 1) return value_lane(g, value, first);
  for (int i = 0; i < count; i++) lanes[i] = first + i;
  return build_shuffle(g, value, NULL, lanes, count);
}

/* A select, since the condition of an inactive lane may be poison. */
LLVMValueRef lanes_both(Codegen *g, LLVMValueRef mask, LLVMValueRef condition) {
  return value_is_all(mask) ? condition : build_select(g, mask, condition, value_like(mask, 0));
}

static LLVMValueRef bits_of(Codegen *g, LLVMValueRef mask) {
  return build_bitcast(g, mask, LLVMIntTypeInContext(g->context, (unsigned)value_width(mask)));
}

LLVMValueRef lanes_any(Codegen *g, LLVMValueRef mask) {
  return value_is_all(mask) ? value_bool(g, true) : build_is_some(g, bits_of(g, mask));
}

LLVMValueRef lanes_bits(Codegen *g, LLVMValueRef mask) {
  int width = value_width(mask);
  if (value_is_all(mask)) return value_index(g, (int64_t)(UINT64_MAX >> (64 - width)));
  LLVMValueRef bits = bits_of(g, mask);
  return width < 64 ? build_zext(g, bits, g->i64) : bits;
}

LLVMValueRef lanes_of_bits(Codegen *g, LLVMValueRef bits, int width) {
  LLVMValueRef lanes[IR_MAX_LANES];
  if (width > 32 || LLVMTypeOf(bits) == g->i8) {
    LLVMTypeRef narrow = LLVMIntTypeInContext(g->context, (unsigned)width);
    return build_bitcast(g, LLVMBuildIntCast2(g->builder, bits, narrow, false, ""),
                         value_lanes(g->bool_type, width));
  }
  for (int i = 0; i < width; i++) lanes[i] = value_i32(g, (int64_t)1 << i);
  LLVMValueRef all = LLVMBuildIntCast2(g->builder, bits, g->i32, false, "");
  LLVMValueRef each = LLVMConstVector(lanes, (unsigned)width);
  return build_is_some(g, build_and(g, value_broadcast(g, all, width), each));
}

LLVMValueRef lanes_take(Codegen *g, LLVMTypeRef type, LLVMValueRef at, int64_t align,
                        LLVMValueRef mask, LLVMValueRef otherwise) {
  const char *name = value_is_vector(at) ? "llvm.masked.gather" : "llvm.masked.load";
  LLVMValueRef args[] = {at, value_i32(g, align), mask,
                         otherwise ? otherwise : LLVMConstNull(type)};
  ASSERT(value_width(mask) == (int)LLVMGetVectorSize(type), "a bit of the mask for each lane");
  return call_overloaded(g, name, type, LLVMTypeOf(at), args, 4);
}

LLVMValueRef lanes_put(Codegen *g, LLVMValueRef value, LLVMValueRef at, int64_t align,
                       LLVMValueRef mask) {
  const char *name = value_is_vector(at) ? "llvm.masked.scatter" : "llvm.masked.store";
  LLVMValueRef args[] = {value, at, value_i32(g, align), mask};
  ASSERT(value_width(mask) == value_width(value), "a bit of the mask for each lane");
  return call_overloaded(g, name, LLVMTypeOf(value), LLVMTypeOf(at), args, 4);
}

/* -- conversions and choices ------------------------------------------------------------------- */

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

/* Rounds toward zero. The pass `expand` ensures that the float is in the range of the integer type.
 * LLVM has no vector forms of conversions to fewer than 32 bits. */
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
