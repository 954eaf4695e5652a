/* math.c - math functions: LLVM's intrinsics if the machine has an instruction, else the C
 * library's. The functions called here are rows of loader/symbols.def. f16 is computed in f32 and
 * rounded. */
#include <stdio.h>
#include <string.h>

#include "codegen/emit.h"
#include "llvm/function_attribute.h"

typedef struct MathRow {
  IrOp op;
  const char *intrinsic; /* NULL: a call */
  const char *name;      /* in the C library, for f64; f32 adds an f */
} MathRow;

static const MathRow rows[] = {{IR_FLOOR, "llvm.floor", "floor"},
                               {IR_CEIL, "llvm.ceil", "ceil"},
                               {IR_TRUNC, "llvm.trunc", "trunc"},
                               {IR_ROUND, "llvm.round", "round"},
                               {IR_SQRT, "llvm.sqrt", "sqrt"},
                               {IR_EXP, NULL, "exp"},
                               {IR_LOG, NULL, "log"},
                               {IR_LOG10, NULL, "log10"},
                               {IR_SIN, NULL, "sin"},
                               {IR_COS, NULL, "cos"},
                               {IR_TAN, NULL, "tan"},
                               {IR_ASIN, NULL, "asin"},
                               {IR_ACOS, NULL, "acos"},
                               {IR_ATAN, NULL, "atan"},
                               {IR_SINH, NULL, "sinh"},
                               {IR_COSH, NULL, "cosh"},
                               {IR_TANH, NULL, "tanh"},
                               {IR_ATAN2, NULL, "atan2"},
                               {IR_FMOD, NULL, "fmod"},
                               {IR_POW, NULL, "pow"}};

static const MathRow *find_row(IrOp op) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].op == op) return &rows[i];
  return NULL;
}

bool math_is_call(IrOp op) { return find_row(op) != NULL; }

static LLVMValueRef library_function(Codegen *g, const char *name, LLVMTypeRef type, int count,
                                     LLVMTypeRef *signature) {
  LLVMTypeRef params[] = {type, type};
  *signature = LLVMFunctionType(type, params, (unsigned)count, false);
  LLVMValueRef function = LLVMGetNamedFunction(g->module, name);
  if (function) return function;
  function = LLVMAddFunction(g->module, name, *signature);
  llvm_function_is_pure(function);
  return function;
}

/* Lane by lane: the library has no vectors. */
static LLVMValueRef call_library(Codegen *g, const MathRow *row, Type type, LLVMValueRef a,
                                 LLVMValueRef b) {
  char name[32];
  snprintf(name, sizeof name, "%s%s", row->name, type_is(type, TYPE_F32) ? "f" : "");
  LLVMTypeRef signature, scalar = value_type(g, type);
  LLVMValueRef function = library_function(g, name, scalar, b ? 2 : 1, &signature);
  int width = value_width(a);
  LLVMValueRef result = width > 1 ? LLVMGetPoison(LLVMTypeOf(a)) : NULL;
  for (int lane = 0; lane < width; lane++) {
    LLVMValueRef args[] = {value_lane(g, a, lane), b ? value_lane(g, b, lane) : NULL};
    LLVMValueRef one =
        arith_fast(g, LLVMBuildCall2(g->builder, signature, function, args, b ? 2 : 1, ""));
    result = width > 1
                 ? LLVMBuildInsertElement(g->builder, result, one, value_integer(g->i32, lane), "")
                 : one;
  }
  return result;
}

LLVMValueRef math_call(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b) {
  const MathRow *row = find_row(op);
  if (!row || !type_is_float(type)) {
    codegen_fail(g, NULL,
                 scratch_format(g->scratch, "%s of %s has no meaning", ir_op_info[op].text,
                                type_text(type)));
    return a;
  }
  if (type_is(type, TYPE_F16)) {
    LLVMValueRef wide = arith_convert(g, type, TYPE(F32), a),
                 other = b ? arith_convert(g, type, TYPE(F32), b) : NULL;
    return arith_convert(g, TYPE(F32), type, math_call(g, op, TYPE(F32), wide, other));
  }
  if (row->intrinsic) return arith_fast(g, call_intrinsic(g, row->intrinsic, LLVMTypeOf(a), &a, 1));
  return call_library(g, row, type, a, b);
}
