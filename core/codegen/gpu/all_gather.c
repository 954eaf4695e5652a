/* all_gather.c - the GPU threads of a leaf divide the look-ups of its neighbours: an all-gather.
 * ALL_GATHER gives each lane the number of its look-up, all run the same code, and each stores its
 * result in the block's shared memory, from where GATHERED reads it. Only threads of one warp share
 * look-ups, so that no warp waits for another; a leaf with more threads repeats its look-ups in
 * each warp.
 *
 *     shared:   | results of the block's first group | of the second | ..     a group: L lanes
 *     begin:    wait for the group;  trip = 0
 *     trip:     number = min(lane + trip * L, count - 1);  results[number] = look-up
 *               next trip, while trip * L < count;  wait for the group
 *
 * A lane that exited because the launch stops stores no result; then its group exits, too. Exited
 * lanes do not block the group's barrier (emit.c). A single thread (gpu.c) does all look-ups in a
 * loop, with an array of its own. Decision D-codegen-12. */
#include "base/bits.h"
#include "codegen/gpu/gpu.h"

/* Bytes of shared memory for results, of the 48 KiB that a block may have; sums take the rest. */
enum { MOST_GATHERED = 32 << 10 };

/* The lanes of the group that the running thread is in. */
typedef struct Group {
  int64_t lanes; /* 1: each thread does its own look-ups */
  LLVMValueRef mask;
  LLVMValueRef results; /* of the group */
} Group;

static int64_t row_of(int64_t count) { return (count + 1) / 2 * 2; }

static int64_t rows_bytes(int64_t lanes, int64_t count) {
  return row_of(count) * (GPU_BLOCK / lanes) * (int64_t)sizeof(uint64_t);
}

/* 1 also if too little shared memory is left. */
static int64_t lanes_of(const Codegen *g, int64_t count) {
  ASSERT(count > 0 && count <= IR_MOST_SHARED, "look-ups for the lanes of a warp");
  int64_t lanes = g->f.group.rank ? min_i64(g->f.group.size, GPU_LANES) : 1;
  return g->f.gathered_bytes + rows_bytes(lanes, count) <= MOST_GATHERED ? lanes : 1;
}

/* The mask of the group's lanes in their warp. */
static LLVMValueRef group_mask(Codegen *g, int64_t lanes) {
  if (lanes == GPU_LANES) return value_i32(g, -1);
  LLVMValueRef first = build_and(g, gpu_special(g, "laneid"), value_i32(g, -lanes));
  return LLVMBuildShl(g->builder, value_i32(g, (1 << lanes) - 1), first, "group");
}

/* The running group's row of `count` pointers in shared memory, padded to an even number. */
static LLVMValueRef shared_row(Codegen *g, int64_t lanes, int64_t count) {
  int64_t row = row_of(count), rows = GPU_BLOCK / lanes;
  g->f.gathered_bytes += rows_bytes(lanes, count);
  LLVMValueRef memory = gpu_shared(g, g->pointer, row * rows, "gathered");
  LLVMValueRef group = build_udiv(g, gpu_special(g, "tid.x"), value_i32(g, lanes));
  LLVMValueRef first = build_nuw_mul(g, group, value_i32(g, row));
  LLVMValueRef row_at = build_at_inside(g, g->pointer, memory, first);
  return LLVMBuildAddrSpaceCast(g->builder, row_at, g->pointer, "found");
}

static Group group_of(Codegen *g, int64_t count) {
  Group group = {.lanes = lanes_of(g, count)};
  if (group.lanes == 1) {
    group.results = block_variable(g, LLVMArrayType2(g->pointer, (uint64_t)count), "gathered");
    return group;
  }
  group.mask = group_mask(g, group.lanes);
  group.results = shared_row(g, group.lanes, count);
  return group;
}

static LLVMValueRef result_at(Codegen *g, LLVMValueRef results, LLVMValueRef number) {
  return build_at_inside(g, g->pointer, results, number);
}

/* The number of the look-up, by iteration and lane; the last one fills up. */
static LLVMValueRef choose_number(Codegen *g, const Group *group, LLVMValueRef trip,
                                  int64_t count) {
  LLVMValueRef width = value_i32(g, group->lanes);
  LLVMValueRef number = build_nuw_mul(g, trip, width);
  if (group->lanes > 1) number = build_add(g, number, build_urem(g, g->f.group.rank, width));
  return call_binary(g, "llvm.umin", number, value_i32(g, count - 1));
}

/* Emits the look-up of that number, and stores its result. */
static void look_up(Codegen *g, const IrInst *inst, const Group *group, LLVMValueRef number) {
  const IrRegion *body = inst->regions[0];
  LLVMValueRef variable = value_operand(g, inst, 0);
  value_set(g, body->params.items[0], number);
  region_emit(g, body);
  build_store(g, build_load(g, g->pointer, variable), result_at(g, group->results, number));
}

/* Waits for all lanes of the group; exits if one of them is gone. */
static void meet(Codegen *g, LLVMValueRef mask) {
  LLVMValueRef are_here = call_runtime(g, RT_WARP_MEETS, (Callee){0}, &mask, 1);
  block_enter_if(g, are_here, block_new(g, "on"), g->f.finish);
}

void gpu_all_gather(Codegen *g, const IrInst *inst) {
  ASSERT(inst->regions[0]->params.count == 1 && inst->imm > 0, "a region for each of the look-ups");
  const Group group = group_of(g, inst->imm);
  int64_t trips = (inst->imm + group.lanes - 1) / group.lanes;
  if (group.lanes > 1) /* until all have read what was gathered before */
    call_runtime(g, RT_WARP_WAIT, (Callee){0}, &group.mask, 1);
  LLVMBasicBlockRef before = block_here(g), head = block_new(g, "look.up"),
                    all = block_new(g, "gathered");
  block_follow(g, head);
  LLVMValueRef trip = build_phi(g, value_i32(g, 0), before);
  look_up(g, inst, &group, choose_number(g, &group, trip, inst->imm));
  LLVMValueRef next = build_nuw_add(g, trip, value_i32(g, 1));
  LLVMBasicBlockRef back = block_here(g);
  LLVMValueRef more = build_icmp(g, LLVMIntULT, next, value_i32(g, trips));
  block_branch(g, more, head, all);
  build_phi_next(trip, next, back);
  block_enter(g, all);
  if (group.lanes > 1) meet(g, group.mask);
  value_set(g, inst, group.results);
}

void gpu_gathered(Codegen *g, const IrInst *inst) {
  LLVMValueRef at = result_at(g, value_operand(g, inst, 0), value_i32(g, inst->imm));
  value_set(g, inst, value_global(g, LLVMBuildLoad2(g->builder, g->pointer, at, "near")));
}
