/* emit.c - dispatches each op to its file. */
#include <string.h>

#include "codegen/gpu/gpu.h"
#include "ir/facts.h"

static void emit_const(Codegen *g, const IrInst *inst) {
  if (type_is_float(inst->type)) {
    double number;
    memcpy(&number, &inst->imm, sizeof number);
    return value_set(g, inst, value_real(value_type(g, inst->type), number));
  }
  if (type_is(inst->type, TYPE_PTR)) return value_set(g, inst, LLVMConstNull(g->pointer));
  value_set(g, inst, value_integer(value_type(g, inst->type), inst->imm));
}

/* One variable for the whole function, of however many copies of its region that has. */
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

/* LLVM turns selects into branches where it hopes that these are predicted, so that nothing waits
 * for the condition. If both values are there from the beginning, hardly anything can be gained. */
static LLVMValueRef select_value(Codegen *g, const IrInst *inst, LLVMValueRef condition) {
  LLVMValueRef value =
      arith_select(g, condition, value_operand(g, inst, 1), value_operand(g, inst, 2));
  bool is_cheap = facts_is_of_launch(inst->operands[1]) && facts_is_of_launch(inst->operands[2]);
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
    ASSERT(inst->inside || !type_is_float(type) || !type_is_integer(result), "pass `expand` ran");
    return arith_convert(g, type, result, a);
  case IR_OFFSET: return width > 1 ? vector_offset(g, inst) : access_offset(g, inst);
  case IR_SPLAT: return value_broadcast(g, a, width);
  case IR_STEP: return lanes_step(g, a, result, inst->imm, width);
  case IR_LANES_REDUCE: return combine_lanes(g, (IrUpdate)inst->imm, result, a);
  case IR_MASK_AND: return lanes_both(g, a, value_operand(g, inst, 1));
  case IR_MASK_ANY: return lanes_any(g, a);
  case IR_MASK_WHOLE: return value_bool(g, value_is_all(a));
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
  case IR_CONST: return emit_const(g, inst);
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
  case IR_BITS: return bits_emit(g, inst);
  case IR_BREAK:
  case IR_CONTINUE: return control_exit(g, inst);
  case IR_RANDOM_STREAM: {
    LLVMValueRef is_global = value_i32(g, inst->imm);
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
  case IR_ROW_ACTIVE: return value_set(g, inst, value_bool(g, true));
  case IR_POLL: return context_poll_stop(g);
  case IR_ALTERNATE: return; /* lane_loop.c asks for it */
  case IR_REDUCE: return reduce_emit(g, inst);
  case IR_TREE_ROOT: return value_set(g, inst, context_root(g, (int)inst->imm));
  case IR_PRIVATE_COPY: return access_private_copy(g, inst);
  case IR_AMBIENT: return value_set(g, inst, context_ambient(g));
  case IR_MEM_LOAD: return access_emit_load(g, inst);
  case IR_MEM_STORE:
    return access_store(g, (Element){inst->operands[1]->type, inst->alias},
                        value_operand(g, inst, 0), value_operand(g, inst, 1));
  case IR_CALL: return call_emit(g, inst);
  case IR_LANES_CALL: return call_in_lanes(g, inst);
  case IR_RSQRT:
  case IR_RSQRT_CUBE: return math_reciprocal_root(g, inst);
  case IR_MEM_UPDATE:
  case IR_MEM_RMW:
  case IR_MEM_CAS: return gpu_update(g, inst) ? (void)0 : atomic_emit(g, inst);
  case IR_FRAME_GET: return frame_get(g, inst);
  case IR_FRAME_SET: return frame_set(g, inst);
  case IR_FRAME_LOAD:
  case IR_ARG: return frame_load(g, inst);
  case IR_RUN: return frame_run(g, inst);
  case IR_RETURN: return frame_return(g, inst);
  case IR_SHUFFLE: return value_set(g, inst, vector_shuffle(g, inst));
  case IR_STACK: return local_stack(g, inst);
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
