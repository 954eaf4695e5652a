/* share.c - shared look-ups: the GPU threads of a leaf divide the look-ups of its neighbours.
 * WHO gives each thread the number of its look-up, all run the same code, TELL stores the result in
 * the block's shared memory, and TOLD reads it. Only threads of one warp share look-ups, so that no
 * warp waits for another; a leaf with more threads repeats its look-ups in each warp.
 *
 *     shared:    | found of the block's first group | of the second | ..     a group: L lanes
 *     who:       wait for the group;  number = min(lane + turn * L, count - 1)
 *     tell:      found[number] = ..;  next turn, until turn * L >= count;  wait for the group
 *
 * A lane that exited because the launch stops stores no result; then its group exits, too. Exited
 * lanes do not block the group's barrier (module.c). A single thread (gpu.c) does all look-ups in a
 * loop, with an array of its own. Decision D-codegen-12. */
#include "base/bits.h"
#include "codegen/gpu/gpu.h"

/* Bytes of shared memory for look-ups, of the 48 KiB that a block may have; sums take the rest. */
enum { MOST_TOLD = 32 << 10 };

static int64_t row_of(int64_t count) { return (count + 1) / 2 * 2; }

static int64_t rows_bytes(int64_t lanes, int64_t count) {
  return row_of(count) * (GPU_BLOCK / lanes) * (int64_t)sizeof(uint64_t);
}

/* The lanes that share look-ups; 1 if each thread does its own, as when too little shared memory is
 * left. */
static int64_t lanes_of(const Codegen *g, int64_t count) {
  int64_t mates = g->mates ? (int64_t)LLVMConstIntGetZExtValue(g->mates) : 1,
          lanes = min_i64(mates, GPU_LANES);
  return g->told_bytes + rows_bytes(lanes, count) <= MOST_TOLD ? lanes : 1;
}

/* The mask of the group's lanes in their warp. */
static LLVMValueRef group_mask(Codegen *g, int64_t lanes) {
  if (lanes == GPU_LANES) return value_integer(g->i32, -1);
  LLVMValueRef first =
      LLVMBuildAnd(g->builder, gpu_special(g, "laneid"), value_integer(g->i32, -lanes), "");
  return LLVMBuildShl(g->builder, value_integer(g->i32, (1 << lanes) - 1), first, "group");
}

/* The running group's row of `count` pointers in shared memory, padded to an even number. */
static LLVMValueRef shared_row(Codegen *g, int64_t lanes, int64_t count) {
  int64_t row = row_of(count), rows = GPU_BLOCK / lanes;
  g->told_bytes += rows_bytes(lanes, count);
  LLVMValueRef memory = gpu_shared(g, g->pointer, row * rows, "found");
  LLVMValueRef group =
      LLVMBuildUDiv(g->builder, gpu_special(g, "tid.x"), value_integer(g->i32, lanes), "");
  LLVMValueRef first = LLVMBuildNUWMul(g->builder, group, value_integer(g->i32, row), "");
  LLVMValueRef row_at = LLVMBuildInBoundsGEP2(g->builder, g->pointer, memory, &first, 1, "");
  return LLVMBuildAddrSpaceCast(g->builder, row_at, g->pointer, "found");
}

static LLVMValueRef found_at(Codegen *g, LLVMValueRef row, LLVMValueRef number) {
  return LLVMBuildInBoundsGEP2(g->builder, g->pointer, row, &number, 1, "");
}

/* The number of the look-up, by iteration and lane; the last one fills up. */
static LLVMValueRef choose_number(Codegen *g, int64_t lanes, int64_t count) {
  LLVMValueRef width = value_integer(g->i32, lanes), number = g->told.turn;
  number = LLVMBuildNUWMul(g->builder, number, width, "");
  if (lanes > 1)
    number = LLVMBuildAdd(g->builder, number, LLVMBuildURem(g->builder, g->mate, width, ""), "");
  LLVMValueRef args[] = {number, value_integer(g->i32, count - 1)};
  return call_intrinsic(g, "llvm.umin", g->i32, args, 2);
}

void gpu_who(Codegen *g, const IrInst *inst) {
  struct Told *told = &g->told;
  int64_t lanes = lanes_of(g, inst->imm), turns = (inst->imm + lanes - 1) / lanes;
  LLVMTypeRef own = LLVMArrayType2(g->pointer, (uint64_t)inst->imm);
  if (told->head) return codegen_fail(g, inst, "the one before it has not been told");
  *told = (struct Told){.lanes = lanes, .turns = turns, .head = block_new(g, "who")};
  if (lanes > 1) {
    told->mask = group_mask(g, lanes);
    gpu_wait(g, told->mask); /* until all have read the results of the previous WHO */
  }
  told->row = lanes > 1 ? shared_row(g, lanes, inst->imm) : block_variable(g, own, "found");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder);
  LLVMValueRef zero = value_integer(g->i32, 0);
  block_jump(g, told->head);
  block_enter(g, told->head);
  told->turn = LLVMBuildPhi(g->builder, g->i32, "turn");
  LLVMAddIncoming(told->turn, &zero, &before, 1);
  value_set(g, inst, choose_number(g, lanes, inst->imm));
}

/* Waits for all lanes of the group; exits if one of them is gone. */
static void meet(Codegen *g) {
  LLVMBasicBlockRef on = block_new(g, "on");
  gpu_wait(g, g->told.mask);
  LLVMValueRef here = gpu_ballot(g, g->told.mask, value_integer(g->bool_type, 1));
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, here, g->told.mask, ""), on, g->finish);
  block_enter(g, on);
}

void gpu_tell(Codegen *g, const IrInst *inst) {
  struct Told *told = &g->told;
  if (!told->head) return codegen_fail(g, inst, "it is told twice");
  LLVMBasicBlockRef all = block_new(g, "told");
  LLVMBuildStore(g->builder, value_operand(g, inst, 1),
                 found_at(g, told->row, value_operand(g, inst, 0)));
  LLVMValueRef next = LLVMBuildNUWAdd(g->builder, told->turn, value_integer(g->i32, 1), "");
  LLVMBasicBlockRef back = LLVMGetInsertBlock(g->builder);
  LLVMValueRef more =
      LLVMBuildICmp(g->builder, LLVMIntULT, next, value_integer(g->i32, told->turns), "");
  block_branch(g, more, told->head, all);
  LLVMAddIncoming(told->turn, &next, &back, 1);
  block_enter(g, all);
  if (told->lanes > 1) meet(g);
  value_set(g, inst, told->row);
  told->head = NULL;
}

void gpu_told(Codegen *g, const IrInst *inst) {
  LLVMValueRef at = found_at(g, value_operand(g, inst, 0), value_integer(g->i32, inst->imm));
  value_set(g, inst, value_global(g, LLVMBuildLoad2(g->builder, g->pointer, at, "near")));
}
