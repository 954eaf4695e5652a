/* lanes.c - what is done with lanes whatever they hold: numbers that differ by a step, masks,
 * and accesses under them. */
#include "codegen/operator.h"

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
