/* lane_call.c - calls of the runtime that have a form for all lanes (HAS_LANES in entry.def). Slots
 * are in slot.c and cells of a hash in hash.c; here are bits of cells, lists, and prefetches.
 *
 * Bits of cells (rt_mask_active, rt_mask_set): the 32-bit word that holds each lane's bit is
 * gathered. A bit that is set already, as nearly all bits are that a loop sets, is not set again;
 * the others are set lane by lane.
 *
 * Lanes that pop (rt_dynamic_pop, without a lock) from one list claim their elements together:
 *
 *     while lanes wait { list = the first one's; before = take(list, how many have that list)
 *                        slot of the lane of rank r among them = before - 1 - r }
 *
 * so a list that all lanes share is claimed from once. If no two adjacent lanes have the same list,
 * each lane pops by itself. A slot below 0 means that the list was empty. */
#include "codegen/emit.h"

LLVMValueRef call_operand_lanes(Codegen *g, const LaneCall *c, int operand) {
  return value_broadcast(g, c->operands[operand], c->width);
}

/* Prefetches for all lanes, since a prefetch is harmless in inactive ones. */
static void fetch(Codegen *g, const LaneCall *c) {
  LLVMValueRef places = c->operands[0];
  for (int lane = 0; lane < value_width(places); lane++) {
    LLVMValueRef operands[] = {value_lane(g, places, lane), c->operands[1]};
    call_runtime(g, RT_FETCH, (Callee){0}, operands, 2);
  }
}

/* -- bits of cells ----------------------------------------------------------------------------- */

enum { BITS = 32 };

/* Is the bit of each lane's cell set? False in inactive lanes. */
static LLVMValueRef gather_bits(Codegen *g, const LaneCall *c) {
  ASSERT(c->count >= 2, "an array of words, and the number of a cell");
  LLVMTypeRef narrow = value_lanes(g->i32, c->width);
  LLVMValueRef words = call_operand_lanes(g, c, 0), cell = call_operand_lanes(g, c, 1);
  LLVMValueRef shift = value_integer(LLVMTypeOf(cell), 5);
  LLVMValueRef number = LLVMBuildLShr(g->builder, cell, shift, "");
  LLVMValueRef at = LLVMBuildGEP2(g->builder, g->i32, words, &number, 1, "");
  LLVMValueRef bits = vector_gather(g, TYPE(U32), at, c->mask);
  LLVMValueRef bit = LLVMBuildAnd(g->builder, LLVMBuildTrunc(g->builder, cell, narrow, ""),
                                  value_integer(narrow, BITS - 1), "");
  bits = LLVMBuildLShr(g->builder, bits, bit, "");
  return LLVMBuildTrunc(g->builder, bits, LLVMTypeOf(c->mask), "");
}

static void set_bits(Codegen *g, const LaneCall *c) {
  LLVMValueRef is_set = gather_bits(g, c);
  LLVMBasicBlockRef some = block_new(g, "unset"), end = block_new(g, "bits.set");
  LLVMValueRef unset = vector_both(g, c->mask, LLVMBuildNot(g->builder, is_set, ""));
  block_branch(g, vector_any(g, unset), some, end);
  block_enter(g, some);
  call_each(g, c, unset);
  block_jump(g, end);
  block_enter(g, end);
}

/* -- lists ------------------------------------------------------------------------------------- */

static LLVMValueRef count_bits(Codegen *g, LLVMValueRef bits) {
  return call_intrinsic(g, "llvm.ctpop", LLVMTypeOf(bits), &bits, 1);
}

/* For each lane, the number of lower lanes whose bit is set. */
static LLVMValueRef ranks(Codegen *g, LLVMValueRef bits, int width) {
  ASSERT(width <= BITS, "a word has a bit for each lane");
  LLVMValueRef below[IR_MAX_LANES];
  for (int i = 0; i < width; i++) below[i] = value_integer(g->i32, ((int64_t)1 << i) - 1);
  LLVMValueRef all = LLVMBuildTrunc(g->builder, bits, g->i32, "");
  return count_bits(g, LLVMBuildAnd(g->builder, value_broadcast(g, all, width),
                                    LLVMConstVector(below, (unsigned)width), ""));
}

/* Takes elements for the lanes in `bits`, which all have this list; returns their slots. */
static LLVMValueRef take(Codegen *g, LLVMValueRef list, LLVMValueRef bits, int width) {
  LLVMValueRef count = LLVMBuildTrunc(g->builder, count_bits(g, bits), g->i32, "");
  LLVMValueRef operands[] = {list, count};
  LLVMValueRef before = call_runtime(g, RT_DYNAMIC_TAKE, (Callee){0}, operands, 2);
  LLVMValueRef last = LLVMBuildSub(g->builder, before, value_integer(g->i32, 1), "");
  return LLVMBuildSub(g->builder, value_broadcast(g, last, width), ranks(g, bits, width), "");
}

typedef struct Waiting {
  LLVMTypeRef lanes;
  LLVMValueRef lists, all;  /* the lists as a vector, and in memory */
  LLVMValueRef bits, slots; /* variables: lanes without a slot; slots of the others */
  int width;
} Waiting;

/* Serves the first waiting lane, and all others with the same list. */
static void take_first(Codegen *g, const Waiting *w, LLVMValueRef bits) {
  LLVMValueRef args[] = {bits, LLVMConstInt(LLVMInt1TypeInContext(g->context), 1, false)};
  LLVMValueRef lane = call_intrinsic(g, "llvm.cttz", g->i64, args, 2);
  LLVMValueRef list = lane_load_one(g, g->pointer, w->all, lane);
  LLVMValueRef same =
      LLVMBuildICmp(g->builder, LLVMIntEQ, w->lists, value_broadcast(g, list, w->width), "");
  LLVMValueRef own = LLVMBuildAnd(g->builder, vector_bits(g, same), bits, "");
  LLVMValueRef slots = LLVMBuildLoad2(g->builder, w->lanes, w->slots, "");
  slots = LLVMBuildSelect(g->builder, lane_mask_of_bits(g, own, w->width),
                          take(g, list, own, w->width), slots, "");
  LLVMBuildStore(g->builder, slots, w->slots);
  LLVMBuildStore(g->builder, LLVMBuildAnd(g->builder, bits, LLVMBuildNot(g->builder, own, ""), ""),
                 w->bits);
}

static LLVMValueRef take_by_lists(Codegen *g, const LaneCall *c, LLVMValueRef lists) {
  LLVMBasicBlockRef head = block_new(g, "lists"), body = block_new(g, "list"),
                    end = block_new(g, "taken");
  Waiting w = {.lanes = value_lanes(g->i32, c->width), .lists = lists, .width = c->width};
  w.all = lane_store_all(g, lists);
  w.bits = block_variable(g, g->i64, "waiting");
  w.slots = block_variable(g, w.lanes, "slots");
  LLVMBuildStore(g->builder, vector_bits(g, c->mask), w.bits);
  LLVMBuildStore(g->builder, LLVMConstAllOnes(w.lanes), w.slots);
  block_jump(g, head);
  block_enter(g, head);
  LLVMValueRef bits = LLVMBuildLoad2(g->builder, g->i64, w.bits, "");
  LLVMValueRef zero = value_integer(g->i64, 0);
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntNE, bits, zero, ""), body, end);
  block_enter(g, body);
  take_first(g, &w, bits);
  block_jump(g, head);
  block_enter(g, end);
  return LLVMBuildLoad2(g->builder, w.lanes, w.slots, "");
}

/* Do some adjacent lanes have the same list? */
static LLVMValueRef have_neighbours(Codegen *g, const LaneCall *c, LLVMValueRef lists) {
  LLVMValueRef from[IR_MAX_LANES];
  for (int i = 0; i < c->width; i++) from[i] = value_integer(g->i32, i ? i - 1 : 1);
  LLVMValueRef others = LLVMBuildShuffleVector(g->builder, lists, LLVMGetPoison(LLVMTypeOf(lists)),
                                               LLVMConstVector(from, (unsigned)c->width), "");
  LLVMValueRef same = LLVMBuildICmp(g->builder, LLVMIntEQ, lists, others, "");
  return vector_any(g, vector_both(g, c->mask, same));
}

/* Claims together if adjacent lanes share a list, since lanes that share lists are mostly
 * adjacent. */
static LLVMValueRef take_or_each(Codegen *g, const LaneCall *c, LLVMValueRef lists) {
  LLVMBasicBlockRef shared = block_new(g, "shared"), each = block_new(g, "each"),
                    end = block_new(g, "popped");
  LLVMValueRef slots = block_variable(g, value_lanes(g->i32, c->width), "popped");
  block_branch(g, have_neighbours(g, c, lists), shared, each);
  block_enter(g, shared);
  LLVMBuildStore(g->builder, take_by_lists(g, c, lists), slots);
  block_jump(g, end);
  block_enter(g, each);
  LLVMBuildStore(g->builder, call_each(g, c, c->mask), slots);
  block_jump(g, end);
  block_enter(g, end);
  return LLVMBuildLoad2(g->builder, LLVMGetAllocatedType(slots), slots, "");
}

static LLVMValueRef pop(Codegen *g, const LaneCall *c) {
  LLVMValueRef lists = c->operands[0];
  if (value_is_vector(lists)) return take_or_each(g, c, lists);
  return take(g, lists, vector_bits(g, c->mask), c->width);
}

/* -- dispatch ---------------------------------------------------------------------------------- */

/* The result; NULL: none. */
static LLVMValueRef emit(Codegen *g, const LaneCall *c) {
  switch (c->inst->entry) {
  case RT_SLOT_FIND:
  case RT_SLOT_LIVE:
  case RT_SLOT_ENSURE: return slot_lanes(g, c);
  case RT_HASH_FIND:
  case RT_HASH_AHEAD:
  case RT_HASH_LIVE:
  case RT_HASH_ENSURE: return hash_lanes(g, c);
  case RT_HASH_CLEAR: hash_clear_lanes(g, c); return NULL;
  case RT_HASH_FETCH: hash_fetch_lanes(g, c); return NULL;
  case RT_MASK_ACTIVE: return gather_bits(g, c);
  case RT_MASK_SET: set_bits(g, c); return NULL;
  case RT_FETCH: fetch(g, c); return NULL;
  case RT_DYNAMIC_POP: return pop(g, c);
  default: codegen_fail(g, c->inst, "it has no form in lanes"); return NULL;
  }
}

void call_in_lanes(Codegen *g, const IrInst *inst) {
  LaneCall c = {.inst = inst, .count = inst->operand_count - 1};
  const char *refusal = ir_call_refusal(inst, true);
  if (refusal) return codegen_fail(g, inst, refusal);
  for (int k = 0; k < c.count; k++) c.operands[k] = value_operand(g, inst, k);
  c.mask = value_operand(g, inst, c.count);
  c.width = value_width(c.mask);
  ASSERT(c.count >= 0 && c.width > 1, "the last operand is the mask");
  LLVMValueRef result = emit(g, &c);
  if (result) value_set(g, inst, result);
}
