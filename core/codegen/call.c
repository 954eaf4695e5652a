/* call.c - calls: LLVM's intrinsics, the runtime's entry points by the rows of entry.def, and what
 * a function reads of its context. Implicit parameters (context, worker, numbers) are filled in
 * here. Coordinates are passed as an array on the stack, which disappears when the entry is
 * inlined. */
#include <string.h>

#include "codegen/call.h"
#include "llvm/function_attribute.h"

static LLVMValueRef call_of_types(Codegen *g, const char *name, LLVMTypeRef *overloads,
                                  size_t overload_count, LLVMValueRef *args, int count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  ASSERT(id, "LLVM has the intrinsic");
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->module, id, overloads, overload_count);
  LLVMTypeRef type = LLVMIntrinsicGetType(g->context, id, overloads, overload_count);
  return LLVMBuildCall2(g->builder, type, function, args, (unsigned)count, "");
}

LLVMValueRef call_plain(Codegen *g, const char *name, LLVMValueRef *args, int count) {
  return call_of_types(g, name, NULL, 0, args, count);
}

LLVMValueRef call_intrinsic(Codegen *g, const char *name, LLVMTypeRef overload, LLVMValueRef *args,
                            int count) {
  return call_of_types(g, name, &overload, 1, args, count);
}

LLVMValueRef call_unary(Codegen *g, const char *name, LLVMValueRef a) {
  return call_intrinsic(g, name, LLVMTypeOf(a), &a, 1);
}

LLVMValueRef call_binary(Codegen *g, const char *name, LLVMValueRef a, LLVMValueRef b) {
  return call_intrinsic(g, name, LLVMTypeOf(a), (LLVMValueRef[]){a, b}, 2);
}

LLVMValueRef call_overloaded(Codegen *g, const char *name, LLVMTypeRef a, LLVMTypeRef b,
                             LLVMValueRef *args, int count) {
  return call_of_types(g, name, (LLVMTypeRef[]){a, b}, 2, args, count);
}

LLVMValueRef call_function(Codegen *g, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                           int count) {
  LLVMTypeRef *params = scratch_array(g->scratch, LLVMTypeRef, count);
  for (int i = 0; i < count; i++) params[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef type = LLVMFunctionType(result, params, (unsigned)count, false);
  LLVMValueRef function = LLVMGetNamedFunction(g->module, name);
  if (!function) llvm_function_is_pure(function = LLVMAddFunction(g->module, name, type));
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
  for (int i = 0; i < count; i++) build_store(g, values[i], value_byte_offset(g, array, i * 8));
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
    case IR_PARAM_TREE: args[i] = value_i32(g, callee.tree); break;
    case IR_PARAM_MANAGER:
    case IR_PARAM_MASK: args[i] = value_i32(g, callee.number); break;
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
  return build_is_some(g, result);
}

/* -- what a function reads of its context ------------------------------------------------------ */

LLVMValueRef *context_kept(Codegen *g, RtEntry entry, int tree) {
  ASSERT(tree == 0 || (tree > 0 && tree < g->kernel->trees.count), "a tree of the kernel");
  return &g->f.kept[tree * RT_ENTRY_COUNT + entry];
}

LLVMValueRef context_of(Codegen *g, RtEntry entry, int tree) {
  LLVMValueRef *kept = context_kept(g, entry, tree);
  if (*kept) return *kept;
  LLVMBasicBlockRef back = block_hoist_begin(g);
  *kept = call_runtime(g, entry, (Callee){tree, g->f.task ? g->f.task->manager : 0}, NULL, 0);
  if (entry == RT_AMBIENT || entry == RT_TREE_ROOT || entry == RT_TREE_BASE)
    *kept = value_node(g, *kept);
  block_hoist_end(g, back);
  return *kept;
}

LLVMValueRef context_slot(Codegen *g, int64_t slot) {
  ASSERT(slot >= 0 && slot < g->kernel->frame_slots, "a slot of the frame");
  return value_byte_offset(g, context_of(g, RT_FRAME, 0), slot * 8);
}

void context_poll_stop(Codegen *g) {
  LLVMValueRef stopped = call_runtime(g, RT_STOPPED, (Callee){0}, NULL, 0);
  LLVMBasicBlockRef on = block_new(g, "on");
  block_enter_unless(g, stopped, on, g->f.finish);
}

/* -- guards ------------------------------------------------------------------------------------ */

/* A guard is a variable with a counted array, whose reference the function releases at its end at
 * the latest. It must be empty from the start of the function, since the function may end before
 * the guard's region is entered. */
void guard_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef guard = block_variable_of(g, value_index(g, 0), "guard");
  vec_push(g->scratch, &g->f.guards, guard);
  value_set(g, inst, guard);
}

static void release_guard(Codegen *g, LLVMValueRef guard) {
  LLVMValueRef array = build_load(g, g->i64, guard);
  call_runtime(g, RT_ARRAY_RELEASE, (Callee){0}, &array, 1);
}

void guards_release(Codegen *g) {
  for (int i = 0; i < g->f.guards.count; i++) release_guard(g, g->f.guards.items[i]);
}

void guard_change(Codegen *g, const IrInst *inst) {
  LLVMValueRef guard = value_operand(g, inst, 0), array = NULL, none = LLVMConstNull(g->i64);
  if (inst->operand_count > 1) array = value_operand(g, inst, 1);
  switch (inst->op) {
  case IR_ACQUIRE:
    call_runtime(g, RT_ARRAY_ACQUIRE, (Callee){0}, &array, 1);
    /* fallthrough */
  case IR_OWN: build_store(g, array, guard); return;
  case IR_MOVE:
    build_store(g, build_load(g, g->i64, array), guard);
    build_store(g, none, array);
    return;
  case IR_RELEASE: release_guard(g, guard); break;
  default: break;
  }
  build_store(g, none, guard);
}
