/* emit.c - emits a kernel as a module: one function for the host region, one per task, and one
 * per recursive function; and dispatches each op to its file.
 *
 *     entry:   hoisted values and variables     -> start
 *     start:   the work                         -> finish
 *     finish:  releases the guards' references, combines partials of reductions, returns; a launch
 *              that is stopped or has failed jumps here */
#include <stdio.h>
#include <string.h>

#include "codegen/gpu/gpu.h"
#include "ir/facts.h"

/* -- ops --------------------------------------------------------------------------------------- */

static LLVMValueRef constant(Codegen *g, const IrInst *inst) {
  if (type_is(inst->type, TYPE_PTR)) return LLVMConstNull(g->pointer);
  return value_number(value_type(g, inst->type), type_element(inst->type), inst->imm);
}

/* One variable for the whole function, however many copies of its region there are. */
static void emit_persistent(Codegen *g, const IrInst *inst) {
  ASSERT(inst->id >= 0 && inst->id < g->kernel->next_id, "an inst of the kernel");
  if (g->f.values[inst->id]) return;
  value_set(g, inst, block_variable_of(g, LLVMConstNull(value_type(g, inst->type)), "persistent"));
}

static void emit_var(Codegen *g, const IrInst *inst) {
  if (inst->owns) return guard_emit(g, inst);
  if (inst->persists) return emit_persistent(g, inst);
  value_set(g, inst, block_variable_now(g, LLVMConstNull(value_type(g, inst->type)), "var"));
}

static LLVMValueRef variable_of(Codegen *g, const IrInst *inst) {
  LLVMValueRef variable = value_operand(g, inst, 0);
  ASSERT(LLVMIsAAllocaInst(variable), "variables are on the stack");
  return variable;
}

/* A stopped launch leaves the host region after the task that noticed the stop. */
static void emit_run(Codegen *g, const IrInst *inst) {
  LLVMValueRef task = value_i32(g, inst->imm);
  call_runtime(g, RT_RUN, (Callee){0}, &task, 1);
  context_poll_stop(g);
}

static void emit_poll(Codegen *g, const IrInst *inst) {
  if (!inst->operand_count) return context_poll_stop(g);
  block_enter_unless(g, value_operand(g, inst, 0), block_new(g, "on"), g->f.finish);
}

/* LLVM turns selects into branches where it expects these to be predicted, so that nothing waits
 * for the condition. If both values are available from the start, little can be gained. */
static LLVMValueRef select_value(Codegen *g, const IrInst *inst, LLVMValueRef condition) {
  LLVMValueRef value =
      arith_select(g, condition, value_operand(g, inst, 1), value_operand(g, inst, 2));
  bool is_cheap =
      facts_is_launch_invariant(inst->operands[1]) && facts_is_launch_invariant(inst->operands[2]);
  if (is_cheap && LLVMIsASelectInst(value))
    value_mark(g, value, "unpredictable", LLVMMDNodeInContext2(g->context, NULL, 0));
  return value;
}

static LLVMValueRef values(Codegen *g, const IrInst *inst, LLVMValueRef a) {
  Type type = type_element(inst->operands[0]->type), result = type_element(inst->type);
  int width = type_rows(inst->type);
  bool divides = inst->op == IR_DIV_ROOT || inst->op == IR_DIV_CUBE; /* only lanes use the root */
  switch (inst->op) {
  case IR_SELECT: return select_value(g, inst, a);
  case IR_BITCAST: return build_bitcast(g, a, value_type(g, inst->type));
  case IR_CONVERT:
    ASSERT(inst->in_bounds || !type_is_float(type) || !type_is_integer(result),
           "pass `expand` ran");
    return arith_convert(g, type, result, a);
  case IR_OFFSET: return width > 1 ? vector_offset(g, inst) : access_offset(g, inst);
  case IR_SPLAT: return value_broadcast(g, a, width);
  case IR_STEP: return lanes_step(g, a, result, inst->imm, width);
  case IR_LANES_REDUCE: return combine_lanes(g, (IrUpdate)inst->imm, result, a);
  case IR_MASK_AND: return lanes_both(g, a, value_operand(g, inst, 1));
  case IR_MASK_ANY: return lanes_any(g, a);
  case IR_MASK_FULL: return value_bool(g, value_is_all(a));
  case IR_MASK_OF_BITS: return lanes_of_bits(g, a, width);
  case IR_MASK_BITS: return lanes_bits(g, a);
  default: break;
  }
  if (inst->reciprocal) return reciprocal_divide(g, inst->op, type, a, value_operand(g, inst, 1));
  if (!divides && inst->operand_count != 2) return arith_unary(g, inst->op, type, a);
  return arith_binary(g, divides ? IR_DIV : inst->op, type, a, value_operand(g, inst, 1));
}

void emit_op(Codegen *g, const IrInst *inst) {
  switch (inst->op) {
  case IR_CONST: return value_set(g, inst, constant(g, inst));
  case IR_VAR: return emit_var(g, inst);
  case IR_GET:
    return value_set(g, inst, build_load(g, value_type(g, inst->type), variable_of(g, inst)));
  case IR_SET: build_store(g, value_operand(g, inst, 1), variable_of(g, inst)); return;
  case IR_LOCAL_ARRAY: return local_array(g, inst);
  case IR_LOCAL_GET: return local_get(g, inst);
  case IR_LOCAL_SET: return local_set(g, inst);
  case IR_OWN:
  case IR_ACQUIRE:
  case IR_MOVE:
  case IR_RELEASE:
  case IR_DISOWN: return guard_change(g, inst);
  case IR_IF: return control_if(g, inst);
  case IR_LOOP: return control_loop(g, inst);
  case IR_FOR: return loop_for(g, inst);
  case IR_BITS: return loop_bits(g, inst);
  case IR_BREAK:
  case IR_CONTINUE: return control_exit(g, inst);
  case IR_RANDOM_STREAM: {
    LLVMValueRef is_global = value_i32(g, inst->imm);
    return value_set(g, inst, call_runtime(g, RT_RANDOM_STREAM, (Callee){0}, &is_global, 1));
  }
  case IR_CHUNK_CURSOR: return claim_cursor(g, inst);
  case IR_TABLE_GET: return item_emit(g, inst);
  case IR_PICK: return pick_emit(g, inst);
  case IR_PRINT:
  case IR_FAULT: return control_print(g, inst);
  case IR_INVOKE: return function_invoke(g, inst);
  case IR_POLL: return emit_poll(g, inst);
  case IR_ALTERNATE: return; /* loop.c asks for it */
  case IR_REDUCE: return reduce_emit(g, inst);
  case IR_TREE_ROOT: return value_set(g, inst, context_of(g, RT_TREE_ROOT, (int)inst->imm));
  case IR_PRIVATE_COPY: return access_private_copy(g, inst);
  case IR_AMBIENT: return value_set(g, inst, context_of(g, RT_AMBIENT, 0));
  case IR_MEM_LOAD: return access_emit_load(g, inst);
  case IR_MEM_STORE:
    return access_store(g, (Element){inst->operands[1]->type, inst->alias},
                        value_operand(g, inst, 0), value_operand(g, inst, 1));
  case IR_CALL: return entry_call(g, inst);
  case IR_LANES_CALL: return entry_call_lanes(g, inst);
  case IR_RSQRT:
  case IR_RSQRT_CUBE: return math_reciprocal_root(g, inst);
  case IR_MEM_UPDATE:
  case IR_MEM_RMW:
  case IR_MEM_CAS: return gpu_update(g, inst) ? (void)0 : atomic_emit(g, inst);
  case IR_FRAME_GET: return frame_get(g, inst);
  case IR_FRAME_SET: return frame_store(g, inst->imm, inst->operands[0]);
  case IR_FRAME_LOAD:
  case IR_ARG: return frame_load(g, inst);
  case IR_RUN: return emit_run(g, inst);
  case IR_RETURN: return function_return(g, inst);
  case IR_SHUFFLE: return value_set(g, inst, vector_shuffle(g, inst));
  case IR_STACK: return local_stack(g, inst);
  case IR_SHARED: return value_set(g, inst, gpu_shared(g, inst->imm, "shared"));
  case IR_ZEROS: return value_set(g, inst, local_zeros(g));
  case IR_LANE_GET: return value_set(g, inst, vector_lane_get(g, inst));
  case IR_LANE_SET: return vector_lane_set(g, inst);
  case IR_LANES_LOAD: return value_set(g, inst, vector_load(g, inst));
  case IR_LANES_STORE: return vector_store(g, inst);
  default:
    if ((ir_op_info[inst->op].flags & (IR_PURE | IR_HIGH)) == IR_PURE &&
        ir_op_info[inst->op].operand_count > 0)
      return value_set(g, inst, values(g, inst, value_operand(g, inst, 0)));
    codegen_fail(g, inst, "the passes before code generation should have replaced it");
  }
}

/* -- functions --------------------------------------------------------------------------------- */

/* A stopped thread must exit instead of waiting for its block, since lanes that share look-ups wait
 * in a barrier until it arrives or is gone. */
static void end_stopped(Codegen *g) {
  if (g->f.finish == g->f.done) return;
  block_enter(g, g->f.finish);
  guards_release(g);
  LLVMBuildRetVoid(g->builder);
}

/* Ends both the block that is being written and `finish`. */
static void function_end(Codegen *g) {
  ASSERT(!g->f.exits.count, "every loop was left");
  block_jump(g, g->f.done);
  end_stopped(g);
  block_enter(g, g->f.done);
  guards_release(g);
  if (g->f.task && g->part == CODEGEN_GPU_TASKS) gpu_sums_close(g, g->f.task);
  reduce_finish(g);
  stream_close(g);
  LLVMBuildRetVoid(g->builder);
}

static void emit_gpu_task(Codegen *g, const IrTask *task, const char *name) {
  GpuPositions positions = gpu_begin(g, task, name);
  if (task->spread > 1) g->f.finish = block_new(g, "stopped");
  gpu_sums_open(g, task);
  context_poll_stop(g); /* an earlier task of the launch may have failed */
  if (task->kind == TASK_SERIAL) gpu_serial(g, task, positions);
  else if (task->kind == TASK_RANGE) gpu_range(g, task, positions);
  else gpu_nodes(g, task, positions);
  function_end(g);
}

static void emit_task(Codegen *g, const IrTask *task, int number) {
  char name[32];
  snprintf(name, sizeof name, "rg_task_%d", number);
  if (g->part == CODEGEN_GPU_TASKS) return emit_gpu_task(g, task, name);
  LLVMTypeRef params[] = {g->pointer, g->pointer, g->i64, g->i64};
  LLVMTypeRef type = LLVMFunctionType(g->void_type, params, 4, false);
  function_open(g, LLVMAddFunction(g->module, name, type), task, NULL);
  LLVMValueRef begin = LLVMGetParam(g->f.llvm, 2), end = LLVMGetParam(g->f.llvm, 3);
  switch (task->kind) {
  case TASK_RANGE:
    if (task->claim) claim_range(g, task, begin, end);
    else task_range(g, task, begin, end);
    break;
  case TASK_LEAVES:
  case TASK_NODES: task_list(g, task, begin, end); break;
  case TASK_SERIAL: region_emit(g, task->body); break;
  }
  function_end(g);
}

static void emit_host(Codegen *g) {
  LLVMTypeRef type = LLVMFunctionType(g->void_type, &g->pointer, 1, false);
  function_open(g, LLVMAddFunction(g->module, "rg_host", type), NULL, NULL);
  if (g->kernel->body) region_emit(g, g->kernel->body);
  function_end(g);
}

static void init_types(Codegen *g) {
  g->context = LLVMGetModuleContext(g->module);
  g->void_type = LLVMVoidTypeInContext(g->context);
  g->bool_type = LLVMInt1TypeInContext(g->context);
  g->i8 = LLVMInt8TypeInContext(g->context);
  g->i32 = LLVMInt32TypeInContext(g->context);
  g->i64 = LLVMInt64TypeInContext(g->context);
  g->pointer = LLVMPointerTypeInContext(g->context, 0);
}

static bool is_of(CodegenPartition partition, int task) {
  return !partition.partition_of_task || partition.partition_of_task[task] == partition.number;
}

bool codegen_kernel(Scratch *scratch, LLVMModuleRef module, LLVMBuilderRef builder,
                    const IrKernel *kernel, CodegenPart part, CodegenPartition partition,
                    CodegenTarget target, Error *err) {
  Codegen g = {.emit = emit_op,
               .scratch = scratch,
               .err = err,
               .kernel = kernel,
               .part = part,
               .target = target,
               .module = module,
               .builder = builder};
  init_types(&g);
  g.tables = scratch_array(scratch, LLVMValueRef, kernel->tables.count);
  function_declare_all(&g);
  if (part != CODEGEN_GPU_TASKS && !partition.number) emit_host(&g);
  for (int i = 0; part != CODEGEN_HOST_REGION && i < kernel->tasks.count && !error_is_set(err); i++)
    if (is_of(partition, i)) emit_task(&g, kernel->tasks.items[i], i);
  for (int i = 0; i < kernel->functions.count && !error_is_set(err); i++) function_emit(&g, i);
  return !error_is_set(err);
}
