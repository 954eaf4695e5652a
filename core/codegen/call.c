/* call.c - calls: LLVM's intrinsics, and the runtime's entry points by the rows of entry.def.
 * Implicit parameters (context, worker, numbers) are filled in here.
 * Coordinates are passed as an array on the stack, which disappears when the entry is inlined. A
 * call whose operands differ by lane becomes one call per lane. */
#include <string.h>

#include "codegen/emit.h"
#include "llvm/function_attribute.h"

LLVMValueRef call_intrinsic(Codegen *g, const char *name, LLVMTypeRef overload, LLVMValueRef *args,
                            int count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  ASSERT(id, "LLVM has the intrinsic");
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->module, id, &overload, 1);
  LLVMTypeRef type = LLVMIntrinsicGetType(g->context, id, &overload, 1);
  return LLVMBuildCall2(g->builder, type, function, args, (unsigned)count, "");
}

LLVMValueRef call_overloaded(Codegen *g, const char *name, LLVMTypeRef a, LLVMTypeRef b,
                             LLVMValueRef *args, int count) {
  LLVMTypeRef overloads[] = {a, b};
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  ASSERT(id, "LLVM has the intrinsic");
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->module, id, overloads, 2);
  LLVMTypeRef type = LLVMIntrinsicGetType(g->context, id, overloads, 2);
  return LLVMBuildCall2(g->builder, type, function, args, (unsigned)count, "");
}

/* -- a row as an LLVM function ----------------------------------------------------------------- */

static LLVMTypeRef result_type(Codegen *g, const IrEntry *entry) {
  if (entry->result == TYPE_NONE) return g->void_type;
  return entry->result == TYPE_BOOL ? g->i32 : value_type(g, type_scalar(entry->result));
}

static LLVMTypeRef param_type(Codegen *g, IrParam param) {
  switch (param) {
  case IR_PARAM_CONTEXT:
  case IR_PARAM_WORKER:
  case IR_PARAM_PTR:
  case IR_PARAM_COORDINATES: return g->pointer;
  case IR_PARAM_I64:
  case IR_PARAM_INDEX: return g->i64;
  case IR_PARAM_F64: return value_type(g, TYPE(F64));
  default: return g->i32;
  }
}

static LLVMValueRef declare(Codegen *g, const IrEntry *entry, LLVMTypeRef *type) {
  LLVMTypeRef params[IR_ENTRY_PARAMS];
  unsigned count = (unsigned)entry->param_count;
  for (unsigned i = 0; i < count; i++) params[i] = param_type(g, (IrParam)entry->params[i]);
  *type = LLVMFunctionType(result_type(g, entry), params, count, false);
  LLVMValueRef function = LLVMGetNamedFunction(g->module, entry->name);
  if (function) return function;
  function = LLVMAddFunction(g->module, entry->name, *type);
  llvm_function_attribute(function, "nounwind", 0);
  return function;
}

/* An array of the values on the stack. All calls of a GPU function with equally many values share
 * one, since stack memory is reserved for every thread. */
static LLVMValueRef array_of(Codegen *g, const LLVMValueRef *values, int count) {
  DEBUG_ASSERT(count >= 0 && count <= SNODE_MAX_AXES, "a coordinate for each axis");
  bool is_shared = g->part == CODEGEN_GPU_TASKS && count <= RT_MAX_AXES;
  LLVMTypeRef type = LLVMArrayType2(g->i64, (uint64_t)count);
  LLVMValueRef array = is_shared ? g->f.coordinates[count] : NULL;
  if (!array) array = block_variable(g, type, "coordinates");
  if (is_shared) g->f.coordinates[count] = array;
  for (int i = 0; i < count; i++)
    LLVMBuildStore(g->builder, values[i], value_byte_offset(g, array, i * 8));
  return array;
}

LLVMValueRef call_runtime(Codegen *g, RtEntry which, Callee callee, const LLVMValueRef *operands,
                          int count) {
  const IrEntry *entry = &ir_entries[which];
  LLVMValueRef args[IR_ENTRY_PARAMS];
  int used = 0;
  for (int i = 0; i < entry->param_count; i++) {
    switch ((IrParam)entry->params[i]) {
    case IR_PARAM_CONTEXT: args[i] = g->f.rt_context; break;
    case IR_PARAM_WORKER: args[i] = g->f.worker; break;
    case IR_PARAM_TREE: args[i] = value_integer(g->i32, callee.tree); break;
    case IR_PARAM_MANAGER:
    case IR_PARAM_MASK: args[i] = value_integer(g->i32, callee.number); break;
    case IR_PARAM_COORDINATES:
      args[i] = array_of(g, operands + used, count - used);
      used = count;
      break;
    default:
      ASSERT(used < count, "a call has an operand per parameter of its entry");
      args[i] = operands[used++];
    }
  }
  ASSERT(used == count, "a call has no operand without a parameter");
  LLVMTypeRef type;
  LLVMValueRef function = declare(g, entry, &type);
  unsigned arg_count = (unsigned)entry->param_count;
  LLVMValueRef result = LLVMBuildCall2(g->builder, type, function, args, arg_count, "");
  if (entry->result == TYPE_PTR) return value_global(g, result);
  if (entry->result != TYPE_BOOL) return result;
  return LLVMBuildICmp(g->builder, LLVMIntNE, result, value_integer(g->i32, 0), "");
}

/* -- CALL -------------------------------------------------------------------------------------- */

enum { MOST_OPERANDS = IR_ENTRY_PARAMS + SNODE_MAX_AXES };

static LLVMValueRef emit_one(Codegen *g, const IrInst *inst, const LLVMValueRef *operands,
                             int count) {
  switch (inst->entry) {
  case RT_SLOT_FIND: return slot_find(g, inst->tree, operands[0]);
  case RT_SLOT_LIVE: return slot_live(g, operands[0]);
  case RT_SLOT_ENSURE:
    if (g->part == CODEGEN_GPU_TASKS) return slot_ensure(g, inst, operands[0]);
    break;
  case RT_TREE_LARGE: return context_large(g, inst->tree);
  default: break;
  }
  Callee callee = {inst->tree, inst->imm};
  return call_runtime(g, (RtEntry)inst->entry, callee, operands, count);
}

LLVMValueRef call_each(Codegen *g, const LaneCall *c, LLVMValueRef mask) {
  LLVMValueRef arrays[MOST_OPERANDS], ones[MOST_OPERANDS];
  ASSERT(c->count <= MOST_OPERANDS && value_width(mask) == c->width, "a bit for each lane");
  bool has_result = !type_is_none(c->inst->type);
  LLVMTypeRef result =
      has_result ? value_lanes(value_type(g, type_element(c->inst->type)), c->width) : NULL;
  LLVMValueRef results = has_result ? lane_store_all(g, LLVMConstNull(result)) : NULL;
  for (int k = 0; k < c->count; k++)
    arrays[k] = value_is_vector(c->operands[k]) ? lane_store_all(g, c->operands[k]) : NULL;
  SetBits bits = bits_begin(g, vector_bits(g, mask));
  for (int k = 0; k < c->count; k++)
    ones[k] = !arrays[k] ? c->operands[k]
                         : lane_load_one(g, LLVMGetElementType(LLVMTypeOf(c->operands[k])),
                                         arrays[k], bits.position);
  LLVMValueRef one = emit_one(g, c->inst, ones, c->count);
  if (results) lane_store_one(g, results, bits.position, one);
  bits_end(g, &bits);
  return results ? LLVMBuildLoad2(g->builder, result, results, "") : NULL;
}

void call_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef operands[MOST_OPERANDS];
  const char *refusal = ir_call_refusal(inst, !function_is_host(g) && !function_is_serial(g));
  if (refusal) return codegen_fail(g, inst, refusal);
  for (int k = 0; k < inst->operand_count; k++) operands[k] = value_operand(g, inst, k);
  LLVMValueRef result = emit_one(g, inst, operands, inst->operand_count);
  if (!type_is_none(inst->type)) value_set(g, inst, result);
}
