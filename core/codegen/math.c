/* math.c - math functions: LLVM's intrinsics if the machine has an instruction, else the runtime's
 * own, for one lane or several (llvm_bc/maths.def). f16 is computed in f32 and rounded. */
#include <stdio.h>

#include "codegen/emit.h"
#include "llvm/function_attribute.h"

typedef struct MathRow {
  IrOp op;
  const char *intrinsic; /* NULL: a call */
  const char *name;      /* of the runtime's: rt_<name>_<type> */
} MathRow;

static const MathRow rows[] = {
    {IR_FLOOR, "llvm.floor", NULL}, {IR_CEIL, "llvm.ceil", NULL}, {IR_TRUNC, "llvm.trunc", NULL},
    {IR_ROUND, "llvm.round", NULL}, {IR_SQRT, "llvm.sqrt", NULL},
#define MATH(OP, name, arguments) {IR_##OP, NULL, #name},
#include "maths.def"
#undef MATH
};

static const struct {
  Type type;
  int lanes;
} widths[] = {
#define MATH_LANES(TYPE_NAME, type, lanes) {TYPE(TYPE_NAME), lanes},
#include "maths.def"
#undef MATH_LANES
};

static const MathRow *find_row(IrOp op) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].op == op) return &rows[i];
  return NULL;
}

bool math_is_call(IrOp op) { return find_row(op) != NULL; }

/* The largest number of lanes, up to `lanes`, that one call computes. */
static int widest(Type type, int lanes) {
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    if (type_equal(widths[i].type, type) && widths[i].lanes <= lanes) return widths[i].lanes;
  return 1;
}

static LLVMValueRef call_lanes(Codegen *g, const MathRow *row, Type type, LLVMValueRef a,
                               LLVMValueRef b) {
  char name[48], lanes[8] = "";
  ASSERT(row->name && (!b || LLVMTypeOf(b) == LLVMTypeOf(a)), "a function of one type");
  if (value_is_vector(a)) snprintf(lanes, sizeof lanes, "x%d", value_width(a));
  snprintf(name, sizeof name, "rt_%s_%s%s", row->name, type_text(type), lanes);
  LLVMValueRef args[] = {a, b};
  LLVMTypeRef params[] = {LLVMTypeOf(a), LLVMTypeOf(a)};
  LLVMTypeRef signature = LLVMFunctionType(LLVMTypeOf(a), params, b ? 2 : 1, false);
  LLVMValueRef function = LLVMGetNamedFunction(g->module, name);
  if (!function) llvm_function_is_pure(function = LLVMAddFunction(g->module, name, signature));
  return LLVMBuildCall2(g->builder, signature, function, args, b ? 2 : 1, "");
}

/* Lanes first .. first + count of a vector. */
static LLVMValueRef some_lanes(Codegen *g, LLVMValueRef value, int first, int count) {
  DEBUG_ASSERT(!value || first + count <= value_width(value), "lanes of the vector");
  if (!value || count == value_width(value)) return value;
  if (count == 1) return value_lane(g, value, first);
  LLVMValueRef *places = scratch_array(g->scratch, LLVMValueRef, count);
  for (int i = 0; i < count; i++) places[i] = value_integer(g->i32, first + i);
  return LLVMBuildShuffleVector(g->builder, value, value, LLVMConstVector(places, (unsigned)count),
                                "");
}

/* `all` with the lanes of `some` from `first` on. */
static LLVMValueRef with_lanes(Codegen *g, LLVMValueRef all, LLVMValueRef some, int first) {
  DEBUG_ASSERT(first + value_width(some) <= value_width(all), "lanes of the vector");
  for (int i = 0; i < value_width(some); i++)
    all = LLVMBuildInsertElement(g->builder, all, value_lane(g, some, i),
                                 value_integer(g->i32, first + i), "");
  return all;
}

/* Splits the lanes into calls of the widest function that there is. */
static LLVMValueRef call_runtime_maths(Codegen *g, const MathRow *row, Type type, LLVMValueRef a,
                                       LLVMValueRef b) {
  int width = value_width(a), lanes = widest(type, width);
  if (!value_is_vector(a) || lanes == width) return call_lanes(g, row, type, a, b);
  LLVMValueRef result = LLVMGetPoison(LLVMTypeOf(a));
  for (int first = 0; first < width; first += lanes) {
    lanes = widest(type, width - first);
    result = with_lanes(
        g, result,
        call_lanes(g, row, type, some_lanes(g, a, first, lanes), some_lanes(g, b, first, lanes)),
        first);
  }
  return result;
}

/* The constant in all lanes, or 0. */
static double constant_of(LLVMValueRef value) {
  if (!LLVMIsConstant(value)) return 0;
  LLVMValueRef first = value_is_vector(value) ? LLVMGetAggregateElement(value, 0) : value;
  for (int i = 1; i < value_width(value); i++)
    if (LLVMGetAggregateElement(value, (unsigned)i) != first) return 0;
  LLVMBool loses;
  return first && LLVMIsAConstantFP(first) ? LLVMConstRealGetDouble(first, &loses) : 0;
}

/* x ^ 2, 3, 4 by the same multiplications as in the runtime's pow; NULL for other powers. */
static LLVMValueRef small_power(Codegen *g, LLVMValueRef x, LLVMValueRef exponent) {
  double power = constant_of(exponent);
  if (power != 2 && power != 3 && power != 4) return NULL;
  LLVMValueRef square = LLVMBuildFMul(g->builder, x, x, "");
  return power == 2 ? square : LLVMBuildFMul(g->builder, square, power == 3 ? x : square, "");
}

LLVMValueRef math_call(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  const MathRow *row = find_row(op);
  if (!row || !type_is_float(type)) {
    codegen_fail(g, NULL,
                 scratch_format(g->scratch, "%s of %s has no meaning", ir_op_info[op].text,
                                type_text(type)));
    return a;
  }
  Type in = type_computed(type);
  if (!type_equal(in, type)) {
    LLVMValueRef wide = arith_convert(g, type, in, a),
                 other = b ? arith_convert(g, type, in, b) : NULL;
    return arith_convert(g, in, type, math_call(g, op, in, wide, other));
  }
  if (row->intrinsic) return arith_fast(g, call_intrinsic(g, row->intrinsic, LLVMTypeOf(a), &a, 1));
  LLVMValueRef product = op == IR_POW ? small_power(g, a, b) : NULL;
  return product ? product : call_runtime_maths(g, row, type, a, b);
}
