/* emit.c - walks a region and dispatches each op to its file. */
#include <string.h>

#include "codegen/emit.h"

static void emit_const(Codegen *g, const IrInst *inst) {
  if (type_is_float(inst->type)) {
    double number;
    memcpy(&number, &inst->imm, sizeof number);
    return value_set(g, inst, value_real(value_type(g, inst->type), number));
  }
  if (type_is(inst->type, TYPE_PTR)) return value_set(g, inst, LLVMConstNull(g->pointer));
  value_set(g, inst, value_integer(value_type(g, inst->type), inst->imm));
}

/* A guard must be empty from the function's begin, since the function releases all guards at its
 * end, which may come before the guard's region is entered. */
static void emit_guard(Codegen *g, const IrInst *inst) {
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMValueRef guard = LLVMBuildAlloca(g->builder, g->i64, "guard");
  LLVMBuildStore(g->builder, LLVMConstNull(g->i64), guard);
  block_hoist_end(g, back);
  vec_push(g->scratch, &g->f.guards, guard);
  value_set(g, inst, guard);
}

static void release_guard(Codegen *g, LLVMValueRef guard) {
  LLVMValueRef array = LLVMBuildLoad2(g->builder, g->i64, guard, "");
  call_runtime(g, RT_ARRAY_RELEASE, (Callee){0}, &array, 1);
}

void guards_release(Codegen *g) {
  for (int i = 0; i < g->f.guards.count; i++) release_guard(g, g->f.guards.items[i]);
}

static void emit_count(Codegen *g, const IrInst *inst) {
  LLVMValueRef guard = value_operand(g, inst, 0), array = NULL, none = LLVMConstNull(g->i64);
  if (inst->operand_count > 1) array = value_operand(g, inst, 1);
  switch (inst->op) {
  case IR_ACQUIRE:
    call_runtime(g, RT_ARRAY_ACQUIRE, (Callee){0}, &array, 1);
    /* fallthrough */
  case IR_OWN: LLVMBuildStore(g->builder, array, guard); return;
  case IR_MOVE:
    LLVMBuildStore(g->builder, LLVMBuildLoad2(g->builder, g->i64, array, ""), guard);
    LLVMBuildStore(g->builder, none, array);
    return;
  case IR_RELEASE: release_guard(g, guard); break;
  default: break;
  }
  LLVMBuildStore(g->builder, none, guard);
}

/* One variable for the whole function, of however many copies of its region that has. */
static void emit_persistent(Codegen *g, const IrInst *inst) {
  ASSERT(inst->id >= 0 && inst->id < g->kernel->next_id, "an inst of the kernel");
  if (g->f.values[inst->id]) return;
  LLVMTypeRef type = value_type(g, inst->type);
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMValueRef variable = LLVMBuildAlloca(g->builder, type, "persistent");
  LLVMBuildStore(g->builder, LLVMConstNull(type), variable);
  block_hoist_end(g, back);
  value_set(g, inst, variable);
}

static void emit_var(Codegen *g, const IrInst *inst) {
  if (inst->owns) return emit_guard(g, inst);
  if (inst->persists) return emit_persistent(g, inst);
  LLVMTypeRef type = value_type(g, inst->type);
  LLVMValueRef variable = block_variable(g, type, "var");
  LLVMBuildStore(g->builder, LLVMConstNull(type), variable);
  value_set(g, inst, variable);
}

static LLVMTypeRef variable_type(Codegen *g, const IrInst *inst, LLVMValueRef *variable) {
  *variable = value_operand(g, inst, 0);
  if (LLVMIsAAllocaInst(*variable)) return LLVMGetAllocatedType(*variable);
  codegen_fail(g, inst, "its operand is not a variable");
  return NULL;
}

static void emit_get(Codegen *g, const IrInst *inst) {
  LLVMValueRef variable;
  LLVMTypeRef type = variable_type(g, inst, &variable);
  value_set(g, inst,
            type ? LLVMBuildLoad2(g->builder, type, variable, "")
                 : LLVMGetUndef(value_type(g, inst->type)));
}

static void emit_set(Codegen *g, const IrInst *inst) {
  LLVMValueRef variable, value = value_operand(g, inst, 1);
  LLVMTypeRef type = variable_type(g, inst, &variable);
  if (!type) return;
  if (LLVMTypeOf(value) != type)
    return codegen_fail(g, inst, "the value is not of the variable's type");
  LLVMBuildStore(g->builder, value, variable);
}

static void emit_values(Codegen *g, const IrInst *inst) {
  LLVMValueRef a = value_operand(g, inst, 0);
  if (inst->operand_count < ir_op_info[inst->op].operand_count)
    return codegen_fail(g, inst, "an operand is missing");
  Type type = type_element(inst->operands[0]->type), result = type_element(inst->type);
  if (inst->op == IR_SELECT)
    return value_set(g, inst,
                     arith_select(g, a, value_operand(g, inst, 1), value_operand(g, inst, 2)));
  if (inst->op == IR_CONVERT) return value_set(g, inst, arith_convert(g, type, result, a));
  if (inst->op == IR_BITCAST) {
    LLVMTypeRef target = value_lanes(value_type(g, result), value_width(a));
    return value_set(g, inst, LLVMBuildBitCast(g->builder, a, target, ""));
  }
  bool divides = inst->op == IR_DIV_ROOT || inst->op == IR_DIV_CUBE; /* only lanes use the root */
  if (divides || inst->operand_count == 2)
    return value_set(
        g, inst, arith_binary(g, divides ? IR_DIV : inst->op, type, a, value_operand(g, inst, 1)));
  value_set(g, inst, arith_unary(g, inst->op, type, a));
}

static void emit_op(Codegen *g, const IrInst *inst) {
  switch (inst->op) {
  case IR_CONST: return emit_const(g, inst);
  case IR_VAR: return emit_var(g, inst);
  case IR_GET: return emit_get(g, inst);
  case IR_SET: return emit_set(g, inst);
  case IR_LOCAL_ARRAY:
  case IR_LOCAL_GET:
  case IR_LOCAL_SET: return local_emit(g, inst);
  case IR_OWN:
  case IR_ACQUIRE:
  case IR_MOVE:
  case IR_RELEASE:
  case IR_DISOWN: return emit_count(g, inst);
  case IR_IF: return control_if(g, inst);
  case IR_LOOP: return control_loop(g, inst);
  case IR_FOR: return loop_for(g, inst);
  case IR_BITS: return bits_emit(g, inst);
  case IR_BREAK:
  case IR_CONTINUE: return control_exit(g, inst);
  case IR_RANDOM: return random_emit(g, inst);
  case IR_MULHI:
    return value_set(g, inst,
                     random_high_product(g, value_operand(g, inst, 0), value_operand(g, inst, 1)));
  case IR_RANDOM_STREAM: {
    LLVMValueRef is_global = value_integer(g->i32, inst->imm);
    return value_set(g, inst, call_runtime(g, RT_RANDOM_STREAM, (Callee){0}, &is_global, 1));
  }
  case IR_CURSOR: return claim_cursor(g, inst);
  case IR_ITEM: return item_emit(g, inst);
  case IR_PICK: return pick_emit(g, inst);
  case IR_PRINT: return control_print(g, inst);
  case IR_FAULT: return control_fault(g, inst);
  case IR_INVOKE: return function_invoke(g, inst);
  case IR_ALL_GATHER: return gpu_all_gather(g, inst);
  case IR_GATHERED: return gpu_gathered(g, inst);
  case IR_GRID: return gpu_grid(g, inst);
  case IR_ROW: return gpu_row(g, inst);
  case IR_ROW_ACTIVE: return value_set(g, inst, value_integer(g->bool_type, 1));
  case IR_POLL: return context_poll_stop(g);
  case IR_REDUCE: return reduce_emit(g, inst);
  case IR_TREE_ROOT:
  case IR_PRIVATE_COPY:
  case IR_AMBIENT:
  case IR_OFFSET:
  case IR_MEM_LOAD:
  case IR_MEM_STORE: return access_emit(g, inst);
  case IR_CALL: return call_emit(g, inst);
  case IR_MEM_UPDATE:
  case IR_MEM_RMW:
  case IR_MEM_CAS: return atomic_emit(g, inst);
  case IR_FRAME_GET:
  case IR_FRAME_SET:
  case IR_FRAME_LOAD:
  case IR_ARG:
  case IR_RUN:
  case IR_RETURN: return frame_emit(g, inst);
  case IR_SPLAT:
  case IR_STEP:
  case IR_SPLICE:
  case IR_MASK_OF_BITS:
  case IR_LANE_GET:
  case IR_LANE_SET:
  case IR_LANES_REDUCE:
  case IR_LANES_CALL:
  case IR_LANES_LOAD:
  case IR_LANES_STORE:
  case IR_LANES_UPDATE:
  case IR_RSQRT:
  case IR_RSQRT_CUBE:
  case IR_MASK_AND:
  case IR_MASK_ANY:
  case IR_MASK_BITS: return vector_emit(g, inst);
  default:
    if ((ir_op_info[inst->op].flags & (IR_PURE | IR_HIGH)) == IR_PURE &&
        ir_op_info[inst->op].operand_count > 0)
      return emit_values(g, inst);
    codegen_fail(g, inst, "the passes before code generation should have replaced it");
  }
}

/* LLVM's compile time grows quadratically with a block's length, above all with its writes, each of
 * which is compared with every access around it. So a long block is split by a poll of the stop
 * word, a branch that no optimisation removes. */
enum { MOST_STRAIGHT = 4000, WRITE_WEIGHT = 16 };

static void cut_block(Codegen *g, const IrInst *inst) {
  g->f.straight += ir_effects(inst) & (IR_WRITE | IR_UPDATE_EFFECT) ? WRITE_WEIGHT : 1;
  if (g->f.straight < MOST_STRAIGHT) return;
  g->f.straight = 0;
  context_poll_stop(g);
}

void emit_region(Codegen *g, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst && !error_is_set(g->err); inst = inst->next) {
    emit_op(g, inst);
    cut_block(g, inst);
  }
}

void emit_with_operands(Codegen *g, const IrInst *inst, const IrRegion *region) {
  if (inst->op == IR_PARAM || inst->region != region) return;
  for (int k = 0; k < inst->operand_count; k++) emit_with_operands(g, inst->operands[k], region);
  emit_op(g, inst);
}
