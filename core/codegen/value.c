/* value.c - types, constants, values by inst and basic blocks; see emit.h. */
#include <stdio.h>

#include "codegen/emit.h"

void codegen_fail(Codegen *g, const IrInst *inst, const char *what) {
  if (error_is_set(g->err)) return;
  if (inst)
    error_set(g->err, RG_ERROR_CODEGEN, "code generation of '%s': %s", ir_inst_text(inst), what);
  else error_set(g->err, RG_ERROR_CODEGEN, "code generation: %s", what);
}

static LLVMTypeRef scalar_type(Codegen *g, Type type) {
  switch (type_scalar_kind(type)) {
#define SCALAR(NAME, TEXT, BYTES, CLASS, COMPUTED, DIGITS, EXPONENT, KIND, ...) \
  case TYPE_##NAME: return LLVM##KIND##TypeInContext(g->context);
#include "type/type.def"
#undef SCALAR
  case TYPE_PTR: return g->pointer;
  case TYPE_NONE:
  case TYPE_PLACE: break;
  }
  codegen_fail(g, NULL, "a value without a type reached code generation");
  return g->i32;
}

LLVMTypeRef value_type(Codegen *g, Type type) {
  return value_lanes(scalar_type(g, type), type_rows(type));
}

LLVMTypeRef value_memory_type(Codegen *g, Type type) {
  return type_is_bool(type) ? value_lanes(g->i8, type_rows(type)) : value_type(g, type);
}

LLVMTypeRef value_lanes(LLVMTypeRef type, int width) {
  ASSERT(width >= 1, "one number, or lanes");
  return width > 1 ? LLVMVectorType(type, (unsigned)width) : type;
}

static bool is_vector_type(LLVMTypeRef type) { return LLVMGetTypeKind(type) == LLVMVectorTypeKind; }

bool value_is_vector(LLVMValueRef value) { return is_vector_type(LLVMTypeOf(value)); }

int value_width(LLVMValueRef value) {
  return value_is_vector(value) ? (int)LLVMGetVectorSize(LLVMTypeOf(value)) : 1;
}

enum { MOST_LANES = 64 };

static LLVMValueRef splat_constant(LLVMTypeRef type, LLVMValueRef scalar) {
  LLVMValueRef lanes[MOST_LANES];
  unsigned width = LLVMGetVectorSize(type);
  for (unsigned i = 0; i < width; i++) lanes[i] = scalar;
  return LLVMConstVector(lanes, width);
}

LLVMValueRef value_integer(LLVMTypeRef type, int64_t number) {
  if (is_vector_type(type))
    return splat_constant(type, value_integer(LLVMGetElementType(type), number));
  return LLVMConstInt(type, (unsigned long long)number, true);
}

LLVMValueRef value_real(LLVMTypeRef type, double number) {
  if (is_vector_type(type))
    return splat_constant(type, value_real(LLVMGetElementType(type), number));
  return LLVMConstReal(type, number);
}

LLVMValueRef value_staircase(LLVMTypeRef type, int width, int64_t step) {
  LLVMValueRef lanes[MOST_LANES];
  ASSERT(width > 1 && width <= MOST_LANES, "lanes of a vector");
  for (int i = 0; i < width; i++) lanes[i] = value_integer(type, i * step);
  return LLVMConstVector(lanes, (unsigned)width);
}

LLVMValueRef value_index(Codegen *g, int64_t number) { return value_integer(g->i64, number); }

LLVMValueRef value_of(Codegen *g, const IrInst *inst) {
  LLVMValueRef value =
      inst->id >= 0 && inst->id < g->kernel->next_id ? g->f.values[inst->id] : NULL;
  if (value) return value;
  codegen_fail(g, inst, "its value is used before it is defined");
  return LLVMGetUndef(type_is_none(inst->type) ? g->i32 : value_type(g, inst->type));
}

LLVMValueRef value_operand(Codegen *g, const IrInst *inst, int operand) {
  if (operand < inst->operand_count) return value_of(g, inst->operands[operand]);
  codegen_fail(g, inst, "an operand is missing");
  return LLVMGetUndef(g->i32);
}

void value_set(Codegen *g, const IrInst *inst, LLVMValueRef value) {
  if (inst->id >= 0 && inst->id < g->kernel->next_id) g->f.values[inst->id] = value;
  else codegen_fail(g, inst, "its number is outside the kernel's");
}

LLVMValueRef value_broadcast(Codegen *g, LLVMValueRef value, int width) {
  if (width <= 1 || value_is_vector(value)) return value;
  ASSERT(width <= MOST_LANES, "lanes of a vector");
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(value), (unsigned)width);
  if (LLVMIsAConstantInt(value) || LLVMIsAConstantFP(value)) return splat_constant(type, value);
  LLVMValueRef one =
      LLVMBuildInsertElement(g->builder, LLVMGetPoison(type), value, value_integer(g->i32, 0), "");
  LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(g->i32, (unsigned)width));
  return LLVMBuildShuffleVector(g->builder, one, LLVMGetPoison(type), zeros, "");
}

bool value_is_all(LLVMValueRef mask) {
  return value_is_vector(mask) && LLVMIsConstant(mask) &&
         mask == LLVMConstAllOnes(LLVMTypeOf(mask));
}

void value_match(Codegen *g, LLVMValueRef *a, LLVMValueRef *b) {
  int width = value_width(*a) > value_width(*b) ? value_width(*a) : value_width(*b);
  *a = value_broadcast(g, *a, width);
  *b = value_broadcast(g, *b, width);
  ASSERT(value_width(*a) == value_width(*b), "as many lanes of both");
}

LLVMValueRef value_lane(Codegen *g, LLVMValueRef value, int lane) {
  if (!value_is_vector(value)) return value;
  ASSERT(lane >= 0 && lane < value_width(value), "a lane of the vector");
  return LLVMBuildExtractElement(g->builder, value, value_integer(g->i32, lane), "");
}

LLVMValueRef value_extend(Codegen *g, LLVMValueRef value, Type type) {
  LLVMTypeRef wide = value_lanes(g->i64, value_width(value));
  if (type_bits(type) == 64) return value;
  return type_is_signed(type) ? LLVMBuildSExt(g->builder, value, wide, "")
                              : LLVMBuildZExt(g->builder, value, wide, "");
}

LLVMValueRef value_global(Codegen *g, LLVMValueRef pointer) {
  if (g->part != CODEGEN_GPU_TASKS || value_is_vector(pointer)) return pointer;
  LLVMTypeRef global = LLVMPointerTypeInContext(g->context, GPU_GLOBAL_MEMORY);
  LLVMValueRef address = LLVMBuildPtrToInt(g->builder, pointer, g->i64, "");
  LLVMValueRef known = LLVMBuildIntToPtr(g->builder, address, global, "");
  return LLVMBuildAddrSpaceCast(g->builder, known, g->pointer, "");
}

LLVMValueRef value_node(Codegen *g, LLVMValueRef pointer) {
  static const char name[] = "llvm.assume", word[] = "align";
  if (g->part != CODEGEN_GPU_TASKS || value_is_vector(pointer)) return pointer;
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef assume = LLVMGetIntrinsicDeclaration(g->module, id, NULL, 0);
  LLVMValueRef aligned[] = {pointer, value_index(g, RT_GRANULE)};
  LLVMValueRef truth = value_integer(g->bool_type, 1);
  LLVMOperandBundleRef bundle = LLVMCreateOperandBundle(word, strlen(word), aligned, 2);
  LLVMBuildCallWithOperandBundles(g->builder, LLVMIntrinsicGetType(g->context, id, NULL, 0), assume,
                                  &truth, 1, &bundle, 1, "");
  LLVMDisposeOperandBundle(bundle);
  return pointer;
}

LLVMValueRef value_from_memory(Codegen *g, LLVMValueRef value, Type type) {
  if (type_is(type, TYPE_PTR)) return value_global(g, value);
  if (!type_is_bool(type)) return value;
  return LLVMBuildICmp(g->builder, LLVMIntNE, value, LLVMConstNull(LLVMTypeOf(value)), "");
}

LLVMValueRef value_to_memory(Codegen *g, LLVMValueRef value, Type type) {
  if (!type_is_bool(type)) return value;
  return LLVMBuildZExt(g->builder, value, value_lanes(g->i8, value_width(value)), "");
}

LLVMValueRef value_byte_offset(Codegen *g, LLVMValueRef pointer, int64_t bytes) {
  LLVMValueRef offset = value_index(g, bytes);
  return bytes ? LLVMBuildGEP2(g->builder, g->i8, pointer, &offset, 1, "") : pointer;
}

LLVMBasicBlockRef block_new(Codegen *g, const char *name) {
  return LLVMAppendBasicBlockInContext(g->context, g->f.llvm, name);
}

void block_enter(Codegen *g, LLVMBasicBlockRef block) {
  LLVMPositionBuilderAtEnd(g->builder, block);
}

void block_jump(Codegen *g, LLVMBasicBlockRef to) { LLVMBuildBr(g->builder, to); }

void block_branch(Codegen *g, LLVMValueRef condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no) {
  LLVMBuildCondBr(g->builder, condition, yes, no);
}

LLVMBasicBlockRef block_hoist_begin(Codegen *g) {
  LLVMBasicBlockRef back = LLVMGetInsertBlock(g->builder);
  LLVMPositionBuilderBefore(g->builder, g->f.entry_end);
  return back;
}

/* Blocks grow only at their end, so the builder returns to the end of `back`; hoisting may nest. */
void block_hoist_end(Codegen *g, LLVMBasicBlockRef back) {
  if (back == LLVMGetInstructionParent(g->f.entry_end))
    LLVMPositionBuilderBefore(g->builder, g->f.entry_end);
  else block_enter(g, back);
}

LLVMValueRef block_variable(Codegen *g, LLVMTypeRef type, const char *name) {
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMValueRef variable = LLVMBuildAlloca(g->builder, type, name);
  block_hoist_end(g, back);
  return variable;
}
