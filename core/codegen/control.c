/* control.c - regions, if, loop, break, continue, print, fault: turns regions into basic blocks. An
 * op is emitted by emit.c, which knows all files of this room; those of ops with regions walk them
 * here.
 * Function.exits has the targets of exits, innermost last; the lowest entry is the body of the
 * iteration, the target of `continue` at body level. Code after an exit is unreachable: it is
 * emitted into a block without predecessors. */
#include "codegen/region.h"
#include "ir/facts.h"

/* -- the walk ---------------------------------------------------------------------------------- */

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

void region_emit(Codegen *g, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst && !error_is_set(g->err); inst = inst->next) {
    g->emit(g, inst);
    cut_block(g, inst);
  }
}

void region_emit_value(Codegen *g, const IrInst *inst, const IrRegion *region) {
  if (inst->op == IR_PARAM || inst->region != region) return;
  for (int k = 0; k < inst->operand_count; k++) region_emit_value(g, inst->operands[k], region);
  g->emit(g, inst);
}

/* -- branches and loops ------------------------------------------------------------------------ */

/* In the copy of a body for full vectors, masks are constants (MASK_FULL). */
void control_if(Codegen *g, const IrInst *inst) {
  LLVMValueRef condition = value_operand(g, inst, 0);
  if (LLVMIsAConstantInt(condition)) {
    const IrRegion *arm = inst->regions[!LLVMConstIntGetZExtValue(condition)];
    return arm ? region_emit(g, arm) : (void)0;
  }
  LLVMBasicBlockRef yes = block_new(g, "then"), no = block_new(g, "else"),
                    end = block_new(g, "end");
  /* the assembler of a GPU orders blocks itself */
  bool is_likely = g->part != CODEGEN_GPU_TASKS && facts_is_bounds_check(inst->operands[0]);
  bool is_rare = g->part != CODEGEN_GPU_TASKS && facts_is_failed_bounds_check(inst->operands[0]);
  if (is_rare) block_branch_mostly(g, build_not(g, condition), no, yes);
  else (is_likely ? block_branch_mostly : block_branch)(g, condition, yes, no);
  block_enter(g, yes);
  region_emit(g, inst->regions[0]);
  block_jump(g, end);
  block_enter(g, no);
  if (inst->regions[1]) region_emit(g, inst->regions[1]);
  block_follow(g, end);
}

static void enter_body(Codegen *g, const IrRegion *body, Exit exit) {
  vec_push(g->scratch, &g->f.exits, exit);
  region_emit(g, body);
  g->f.exits.count--;
}

void control_body(Codegen *g, const IrRegion *body, LLVMBasicBlockRef again) {
  ASSERT(again, "a block that `continue` goes to");
  enter_body(g, body, (Exit){.again = again});
}

void control_iteration(Codegen *g, const IrRegion *body, LLVMBasicBlockRef leave) {
  LLVMBasicBlockRef again = block_new(g, "again");
  enter_body(g, body, (Exit){leave, again});
  block_follow(g, again);
}

enum { POLL_PERIOD = 1024 }; /* back edges between two polls of the stop word */

void control_poll_sometimes(Codegen *g, LLVMValueRef counter) {
  ASSERT(LLVMIsAAllocaInst(counter), "a variable counts the iterations");
  LLVMValueRef count = build_add(g, build_load(g, g->i32, counter), value_i32(g, 1));
  build_store(g, count, counter);
  LLVMValueRef low = build_and(g, count, value_i32(g, POLL_PERIOD - 1));
  LLVMBasicBlockRef on = block_if(g, build_is_zero(g, low), "poll", "next");
  context_poll_stop(g);
  block_follow(g, on);
}

void control_loop(Codegen *g, const IrInst *inst) {
  LLVMValueRef counter = block_variable_now(g, value_i32(g, 0), "trips");
  LLVMBasicBlockRef body = block_new(g, "loop"), leave = block_new(g, "leave");
  block_follow(g, body);
  control_iteration(g, inst->regions[0], leave);
  control_poll_sometimes(g, counter);
  block_jump(g, body);
  block_enter(g, leave);
}

/* Passes the values to the runtime in an array on the stack, 8 bytes each. A fault ends the launch
 * and skips the rest of this function; that of a lane, after its vector. */
void control_print(Codegen *g, const IrInst *inst) {
  int count = inst->operand_count;
  LLVMTypeRef type = LLVMArrayType2(g->i64, (uint64_t)(count ? count : 1));
  LLVMValueRef values = block_variable(g, type, "values");
  for (int i = 0; i < count; i++)
    build_store(g, value_operand(g, inst, i), value_byte_offset(g, values, i * 8));
  LLVMValueRef operands[] = {value_i32(g, inst->imm), value_i32(g, count), values};
  bool is_fault = inst->op == IR_FAULT;
  call_runtime(g, is_fault ? RT_FAULT : RT_PRINT, (Callee){0}, operands, 3);
  if (is_fault && !inst->of_lane) block_leave(g, g->f.finish, "behind");
}

void control_exit(Codegen *g, const IrInst *inst) {
  int64_t levels = inst->imm;
  ASSERT(levels >= 0 && levels < g->f.exits.count, "an exit leaves loops that there are");
  const Exit *exit = &g->f.exits.items[g->f.exits.count - 1 - levels];
  block_leave(g, inst->op == IR_BREAK ? exit->leave : exit->again, "behind");
}
