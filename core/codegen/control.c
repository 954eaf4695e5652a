/* control.c - if, loop, break, continue, print, fault: turns regions into basic blocks.
 * Function.exits has the targets of exits, innermost last; the lowest entry is the body of the
 * iteration, the target of `continue` at body level. Code after an exit is unreachable: it is
 * emitted into a block without predecessors. */
#include "codegen/emit.h"

void control_if(Codegen *g, const IrInst *inst) {
  LLVMValueRef condition = value_operand(g, inst, 0);
  if (value_is_vector(condition)) return codegen_fail(g, inst, "its condition differs by lane");
  LLVMBasicBlockRef yes = block_new(g, "then"), no = block_new(g, "else"),
                    end = block_new(g, "end");
  block_branch(g, condition, yes, no);
  block_enter(g, yes);
  emit_region(g, inst->regions[0]);
  block_jump(g, end);
  block_enter(g, no);
  if (inst->regions[1]) emit_region(g, inst->regions[1]);
  block_jump(g, end);
  block_enter(g, end);
}

void control_body(Codegen *g, const IrRegion *body, LLVMBasicBlockRef again) {
  ASSERT(again, "a block that `continue` goes to");
  vec_push(g->scratch, &g->f.exits, ((Exit){.again = again}));
  emit_region(g, body);
  g->f.exits.count--;
}

void control_iteration(Codegen *g, const IrRegion *body, LLVMBasicBlockRef leave,
                       LLVMBasicBlockRef again) {
  ASSERT(leave && again, "blocks that exits go to");
  vec_push(g->scratch, &g->f.exits, ((Exit){.leave = leave, .again = again}));
  emit_region(g, body);
  g->f.exits.count--;
  block_jump(g, again);
  block_enter(g, again);
}

enum { POLL_PERIOD = 1024 }; /* back edges between two polls of the stop word */

void control_back_edge(Codegen *g, LLVMValueRef counter, LLVMBasicBlockRef again) {
  ASSERT(LLVMIsAAllocaInst(counter), "a variable counts the iterations");
  LLVMValueRef count = LLVMBuildAdd(g->builder, LLVMBuildLoad2(g->builder, g->i32, counter, ""),
                                    value_integer(g->i32, 1), "");
  LLVMBuildStore(g->builder, count, counter);
  LLVMValueRef low = LLVMBuildAnd(g->builder, count, value_integer(g->i32, POLL_PERIOD - 1), "");
  LLVMValueRef look = LLVMBuildICmp(g->builder, LLVMIntEQ, low, value_integer(g->i32, 0), "");
  LLVMBasicBlockRef poll = block_new(g, "poll");
  block_branch(g, look, poll, again);
  block_enter(g, poll);
  context_poll_stop(g);
  block_jump(g, again);
}

void control_loop(Codegen *g, const IrInst *inst) {
  LLVMValueRef counter = block_variable(g, g->i32, "trips");
  LLVMBasicBlockRef body = block_new(g, "loop"), again = block_new(g, "again"),
                    leave = block_new(g, "leave");
  LLVMBuildStore(g->builder, value_integer(g->i32, 0), counter);
  block_jump(g, body);
  block_enter(g, body);
  control_iteration(g, inst->regions[0], leave, again);
  control_back_edge(g, counter, body);
  block_enter(g, leave);
}

/* Passes the values to the runtime in an array on the stack, 8 bytes each. */
void control_print(Codegen *g, const IrInst *inst) {
  int count = inst->operand_count;
  LLVMTypeRef type = LLVMArrayType2(g->i64, (uint64_t)(count ? count : 1));
  LLVMValueRef values = block_variable(g, type, "values");
  for (int i = 0; i < count; i++) {
    LLVMValueRef value = value_operand(g, inst, i);
    if (value_is_vector(value)) return codegen_fail(g, inst, "it differs by lane");
    LLVMBuildStore(g->builder, value, value_byte_offset(g, values, i * 8));
  }
  LLVMValueRef operands[] = {value_integer(g->i32, inst->imm), value_integer(g->i32, count),
                             values};
  call_runtime(g, inst->op == IR_FAULT ? RT_FAULT : RT_PRINT, (Callee){0}, operands, 3);
}

/* A fault ends the launch and skips the rest of this function; that of a lane, after its vector. */
void control_fault(Codegen *g, const IrInst *inst) {
  control_print(g, inst);
  if (inst->of_lane) return;
  block_jump(g, g->f.finish);
  block_enter(g, block_new(g, "behind"));
}

void control_exit(Codegen *g, const IrInst *inst) {
  int64_t levels = inst->imm;
  const Exit *exit = levels >= 0 && levels < g->f.exits.count
                         ? &g->f.exits.items[g->f.exits.count - 1 - levels]
                         : NULL;
  LLVMBasicBlockRef to = !exit ? NULL : inst->op == IR_BREAK ? exit->leave : exit->again;
  if (!to) return codegen_fail(g, inst, "it leaves more loops than there are");
  block_jump(g, to);
  block_enter(g, block_new(g, "behind"));
}
