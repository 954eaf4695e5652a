/* lane_list.c - lists in lanes. Lanes that pop (rt_dynamic_pop, without a lock) from one list claim
 * their elements together:
 *
 *     while lanes wait { list = the first one's; before = take(list, how many have that list)
 *                        slot of the lane of rank r among them = before - 1 - r }
 *
 * so a list that all lanes share is claimed from once. If no two adjacent lanes have the same list,
 * each lane pops by itself. A slot below 0 means that the list was empty. */
#include "codegen/emit.h"

static LLVMValueRef count_bits(Codegen *g, LLVMValueRef bits) {
  return call_intrinsic(g, "llvm.ctpop", LLVMTypeOf(bits), &bits, 1);
}

/* For each lane, the number of lower lanes whose bit is set. */
static LLVMValueRef ranks(Codegen *g, LLVMValueRef bits) {
  LLVMValueRef below[IR_MAX_LANES];
  for (int i = 0; i < g->width; i++) below[i] = value_integer(g->i32, ((int64_t)1 << i) - 1);
  LLVMValueRef all = LLVMBuildTrunc(g->builder, bits, g->i32, "");
  return count_bits(g, LLVMBuildAnd(g->builder, value_broadcast(g, all, g->width),
                                    LLVMConstVector(below, (unsigned)g->width), ""));
}

/* Takes elements for the lanes in `bits`, which all have this list; returns their slots. */
static LLVMValueRef take(Codegen *g, LLVMValueRef list, LLVMValueRef bits) {
  LLVMValueRef count = LLVMBuildTrunc(g->builder, count_bits(g, bits), g->i32, "");
  LLVMValueRef operands[] = {list, count};
  LLVMValueRef before = call_runtime(g, RT_DYNAMIC_TAKE, (Callee){0}, operands, 2);
  LLVMValueRef last = LLVMBuildSub(g->builder, before, value_integer(g->i32, 1), "");
  return LLVMBuildSub(g->builder, value_broadcast(g, last, g->width), ranks(g, bits), "");
}

/* -- lists that differ by lane ----------------------------------------------------------------- */

typedef struct Waiting {
  LLVMTypeRef lanes;
  LLVMValueRef lists, all;  /* the lists as a vector, and in memory */
  LLVMValueRef bits, slots; /* variables: lanes without a slot; slots of the others */
} Waiting;

/* Serves the first waiting lane, and all others with the same list. */
static void take_first(Codegen *g, const Waiting *w, LLVMValueRef bits) {
  LLVMValueRef args[] = {bits, LLVMConstInt(LLVMInt1TypeInContext(g->context), 1, false)};
  LLVMValueRef lane = call_intrinsic(g, "llvm.cttz", g->i64, args, 2);
  LLVMValueRef list = lane_load_one(g, g->pointer, w->all, lane);
  LLVMValueRef same =
      LLVMBuildICmp(g->builder, LLVMIntEQ, w->lists, value_broadcast(g, list, g->width), "");
  LLVMValueRef own = LLVMBuildAnd(g->builder, lane_bits(g, same), bits, "");
  LLVMValueRef slots = LLVMBuildLoad2(g->builder, w->lanes, w->slots, "");
  slots = LLVMBuildSelect(g->builder, lane_mask_of_bits(g, own, g->width), take(g, list, own),
                          slots, "");
  LLVMBuildStore(g->builder, slots, w->slots);
  LLVMBuildStore(g->builder, LLVMBuildAnd(g->builder, bits, LLVMBuildNot(g->builder, own, ""), ""),
                 w->bits);
}

static LLVMValueRef take_by_lists(Codegen *g, LLVMValueRef lists) {
  LLVMBasicBlockRef head = block_new(g, "lists"), turn = block_new(g, "list"),
                    end = block_new(g, "taken");
  Waiting w = {.lanes = value_lanes(g->i32, g->width), .lists = lists};
  w.all = lane_store_all(g, lists);
  w.bits = block_variable(g, g->i64, "waiting");
  w.slots = block_variable(g, w.lanes, "slots");
  LLVMBuildStore(g->builder, lane_bits(g, g->mask), w.bits);
  LLVMBuildStore(g->builder, LLVMConstAllOnes(w.lanes), w.slots);
  block_jump(g, head);
  block_enter(g, head);
  LLVMValueRef bits = LLVMBuildLoad2(g->builder, g->i64, w.bits, "");
  LLVMValueRef zero = value_integer(g->i64, 0);
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntNE, bits, zero, ""), turn, end);
  block_enter(g, turn);
  take_first(g, &w, bits);
  block_jump(g, head);
  block_enter(g, end);
  return LLVMBuildLoad2(g->builder, w.lanes, w.slots, "");
}

/* Do some adjacent lanes have the same list? */
static LLVMValueRef have_neighbours(Codegen *g, LLVMValueRef lists) {
  LLVMValueRef from[IR_MAX_LANES];
  for (int i = 0; i < g->width; i++) from[i] = value_integer(g->i32, i ? i - 1 : 1);
  LLVMValueRef others = LLVMBuildShuffleVector(g->builder, lists, LLVMGetPoison(LLVMTypeOf(lists)),
                                               LLVMConstVector(from, (unsigned)g->width), "");
  LLVMValueRef same = LLVMBuildICmp(g->builder, LLVMIntEQ, lists, others, "");
  return lane_any(g, lane_both(g, g->mask, same));
}

/* Claims together if adjacent lanes share a list, since lanes that share lists are mostly
 * adjacent. */
static void take_or_each(Codegen *g, const IrInst *inst, LLVMValueRef lists) {
  LLVMBasicBlockRef shared = block_new(g, "shared"), each = block_new(g, "each"),
                    end = block_new(g, "popped");
  LLVMValueRef slots = block_variable(g, value_lanes(g->i32, g->width), "popped");
  block_branch(g, have_neighbours(g, lists), shared, each);
  block_enter(g, shared);
  LLVMBuildStore(g->builder, take_by_lists(g, lists), slots);
  block_jump(g, end);
  block_enter(g, each);
  lane_each(g, inst);
  LLVMBuildStore(g->builder, value_of(g, inst), slots);
  block_jump(g, end);
  block_enter(g, end);
  value_set(g, inst, LLVMBuildLoad2(g->builder, LLVMGetAllocatedType(slots), slots, ""));
}

bool lane_pop(Codegen *g, const IrInst *inst) {
  LLVMValueRef lists = value_operand(g, inst, 0);
  if (lane_shape(g, inst->operands[0]) == LANE_UNIFORM)
    value_set(g, inst, take(g, lists, lane_bits(g, g->mask)));
  else take_or_each(g, inst, lists);
  return true;
}

/* -- emptying ---------------------------------------------------------------------------------- */

/* Empties a list that all lanes share once. */
bool lane_clear_list(Codegen *g, const IrInst *inst) {
  if (lane_shape(g, inst->operands[0]) != LANE_UNIFORM) return false;
  LLVMBasicBlockRef some = block_new(g, "some"), end = block_new(g, "emptied");
  LLVMValueRef operands[] = {value_operand(g, inst, 0), value_operand(g, inst, 1),
                             value_operand(g, inst, 2), value_operand(g, inst, 3)};
  block_branch(g, lane_any(g, g->mask), some, end);
  block_enter(g, some);
  call_runtime(g, RT_DYNAMIC_CLEAR, (Callee){inst->tree, inst->imm}, operands, 4);
  block_jump(g, end);
  block_enter(g, end);
  return true;
}
