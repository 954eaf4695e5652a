/* value.c - types, constants, values by inst and basic blocks. */
#include <stdio.h>
#include <string.h>

#include "codegen/value.h"

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
  ASSERT(false, "a value has a type, and is no place");
  return NULL;
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

LLVMValueRef value_number(LLVMTypeRef type, Type of, int64_t imm) {
  double number;
  memcpy(&number, &imm, sizeof number);
  return type_is_float(of) ? value_real(type, number) : value_integer(type, imm);
}

LLVMValueRef value_staircase(LLVMTypeRef type, int width, int64_t step) {
  LLVMValueRef lanes[MOST_LANES];
  ASSERT(width > 1 && width <= MOST_LANES, "lanes of a vector");
  for (int i = 0; i < width; i++) lanes[i] = value_integer(type, i * step);
  return LLVMConstVector(lanes, (unsigned)width);
}

LLVMValueRef build_shuffle(Codegen *g, LLVMValueRef a, LLVMValueRef b, const int *picks,
                           int count) {
  LLVMValueRef lanes[IR_MAX_LANES];
  ASSERT(count > 0 && count <= IR_MAX_LANES, "a vector has so many lanes at most");
  for (int i = 0; i < count; i++)
    lanes[i] = picks[i] < 0 ? LLVMGetPoison(g->i32) : value_i32(g, picks[i]);
  return LLVMBuildShuffleVector(g->builder, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)),
                                LLVMConstVector(lanes, (unsigned)count), "");
}

LLVMValueRef value_of(Codegen *g, const IrInst *inst) {
  ASSERT(inst->id >= 0 && inst->id < g->kernel->next_id, "an inst of the kernel");
  ASSERT(g->f.values[inst->id], "a value is emitted before its users");
  return g->f.values[inst->id];
}

LLVMValueRef value_operand(Codegen *g, const IrInst *inst, int operand) {
  ASSERT(operand < inst->operand_count, "an op has its operands");
  return value_of(g, inst->operands[operand]);
}

void value_set(Codegen *g, const IrInst *inst, LLVMValueRef value) {
  ASSERT(inst->id >= 0 && inst->id < g->kernel->next_id, "an inst of the kernel");
  g->f.values[inst->id] = value;
}

LLVMValueRef value_broadcast(Codegen *g, LLVMValueRef value, int width) {
  if (width <= 1 || value_is_vector(value)) return value;
  ASSERT(width <= MOST_LANES, "lanes of a vector");
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(value), (unsigned)width);
  if (LLVMIsAConstantInt(value) || LLVMIsAConstantFP(value)) return splat_constant(type, value);
  LLVMValueRef one =
      LLVMBuildInsertElement(g->builder, LLVMGetPoison(type), value, value_i32(g, 0), "");
  LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(g->i32, (unsigned)width));
  return LLVMBuildShuffleVector(g->builder, one, LLVMGetPoison(type), zeros, "");
}

LLVMValueRef value_constant(LLVMValueRef value) {
  if (!LLVMIsConstant(value)) return NULL;
  LLVMValueRef first = value_is_vector(value) ? LLVMGetAggregateElement(value, 0) : value;
  for (int i = 1; i < value_width(value); i++)
    if (LLVMGetAggregateElement(value, (unsigned)i) != first) return NULL;
  return first;
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
  return build_extract(g, value, value_i32(g, lane));
}

LLVMValueRef value_global(Codegen *g, LLVMValueRef pointer) {
  if (g->part != CODEGEN_GPU_TASKS || value_is_vector(pointer)) return pointer;
  LLVMTypeRef global = LLVMPointerTypeInContext(g->context, GPU_GLOBAL_MEMORY);
  LLVMValueRef address = build_ptrtoint(g, pointer, g->i64);
  LLVMValueRef known = build_inttoptr(g, address, global);
  return build_space_cast(g, known, g->pointer);
}

LLVMValueRef value_node(Codegen *g, LLVMValueRef pointer) {
  static const char name[] = "llvm.assume", word[] = "align";
  if (g->part != CODEGEN_GPU_TASKS || value_is_vector(pointer)) return pointer;
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef assume = LLVMGetIntrinsicDeclaration(g->module, id, NULL, 0);
  LLVMValueRef aligned[] = {pointer, value_index(g, RT_GRANULE)};
  LLVMValueRef truth = value_bool(g, true);
  LLVMOperandBundleRef bundle = LLVMCreateOperandBundle(word, strlen(word), aligned, 2);
  LLVMBuildCallWithOperandBundles(g->builder, LLVMIntrinsicGetType(g->context, id, NULL, 0), assume,
                                  &truth, 1, &bundle, 1, "");
  LLVMDisposeOperandBundle(bundle);
  return pointer;
}

LLVMValueRef value_from_memory(Codegen *g, LLVMValueRef value, Type type) {
  if (type_is(type, TYPE_PTR)) return value_global(g, value);
  if (!type_is_bool(type)) return value;
  return build_is_some(g, value);
}

LLVMValueRef value_to_memory(Codegen *g, LLVMValueRef value, Type type) {
  if (!type_is_bool(type)) return value;
  return build_zext(g, value, value_lanes(g->i8, value_width(value)));
}

LLVMValueRef value_byte_offset(Codegen *g, LLVMValueRef pointer, int64_t bytes) {
  LLVMValueRef offset = value_index(g, bytes);
  return bytes ? build_at(g, g->i8, pointer, offset) : pointer;
}

LLVMValueRef value_mark(Codegen *g, LLVMValueRef inst, const char *kind, LLVMMetadataRef node) {
  LLVMSetMetadata(inst, LLVMGetMDKindIDInContext(g->context, kind, (unsigned)strlen(kind)),
                  LLVMMetadataAsValue(g->context, node));
  return inst;
}

LLVMBasicBlockRef block_new(Codegen *g, const char *name) {
  return LLVMAppendBasicBlockInContext(g->context, g->f.llvm, name);
}

LLVMValueRef block_branch_mostly(Codegen *g, LLVMValueRef condition, LLVMBasicBlockRef yes,
                                 LLVMBasicBlockRef no) {
  static const char word[] = "branch_weights";
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(g->context, word, strlen(word)),
                             LLVMValueAsMetadata(value_i32(g, 1 << 20)),
                             LLVMValueAsMetadata(value_i32(g, 1))};
  return value_mark(g, block_branch(g, condition, yes, no), "prof",
                    LLVMMDNodeInContext2(g->context, parts, 3));
}

void block_leave(Codegen *g, LLVMBasicBlockRef to, const char *behind) {
  block_jump(g, to);
  block_enter(g, block_new(g, behind));
}

void block_enter_if(Codegen *g, LLVMValueRef condition, LLVMBasicBlockRef block,
                    LLVMBasicBlockRef other) {
  block_branch(g, condition, block, other);
  block_enter(g, block);
}

void block_enter_unless(Codegen *g, LLVMValueRef condition, LLVMBasicBlockRef block,
                        LLVMBasicBlockRef other) {
  block_branch(g, condition, other, block);
  block_enter(g, block);
}

void block_follow(Codegen *g, LLVMBasicBlockRef next) {
  block_jump(g, next);
  block_enter(g, next);
}

LLVMValueRef block_loop(Codegen *g, LLVMBasicBlockRef head, LLVMValueRef first) {
  LLVMBasicBlockRef before = block_here(g);
  block_follow(g, head);
  return build_phi(g, first, before);
}

LLVMBasicBlockRef block_if(Codegen *g, LLVMValueRef condition, const char *then,
                           const char *after) {
  LLVMBasicBlockRef yes = block_new(g, then), no = block_new(g, after);
  block_enter_if(g, condition, yes, no);
  return no;
}

LLVMBasicBlockRef block_hoist_begin(Codegen *g) {
  LLVMBasicBlockRef back = block_here(g);
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

LLVMValueRef block_variable_of(Codegen *g, LLVMValueRef first, const char *name) {
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMValueRef variable = block_variable_now(g, first, name);
  block_hoist_end(g, back);
  return variable;
}

LLVMValueRef block_variable_now(Codegen *g, LLVMValueRef value, const char *name) {
  LLVMValueRef variable = block_variable(g, LLVMTypeOf(value), name);
  build_store(g, value, variable);
  return variable;
}
