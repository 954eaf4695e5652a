/* lane_call.c - calls of the runtime that have a form for all lanes (HAS_LANES in entry.def). Slots
 * are in slot.c and cells of a hash in call_emit.c; here are bits of cells, lists, and prefetches.
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
#include "codegen/vector.h"

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
  LLVMValueRef at = build_at(g, g->i32, words, build_lshr(g, cell, value_like(cell, 5)));
  LLVMValueRef bits = vector_gather(g, TYPE(U32), at, c->mask);
  LLVMValueRef bit = build_and(g, build_trunc(g, cell, narrow), value_integer(narrow, BITS - 1));
  return build_trunc(g, build_lshr(g, bits, bit), LLVMTypeOf(c->mask));
}

static void set_bits(Codegen *g, const LaneCall *c) {
  LLVMValueRef unset = lanes_both(g, c->mask, build_not(g, gather_bits(g, c)));
  LLVMBasicBlockRef end = block_if(g, lanes_any(g, unset), "unset", "bits.set");
  call_each(g, c, unset);
  block_follow(g, end);
}

/* -- slots ------------------------------------------------------------------------------------- */

/* Finds nodes that exist, as nearly all do, in all lanes at once; creates the others lane by
 * lane. */
static LLVMValueRef ensure_slots(Codegen *g, const LaneCall *c, LLVMValueRef handles) {
  ASSERT(value_width(handles) == value_width(c->mask), "a handle for each lane");
  LLVMValueRef found = slot_node(g, c->inst->tree, handles);
  LLVMValueRef absent = build_and(g, build_not(g, slot_is_live(g, handles)), c->mask);
  LLVMBasicBlockRef from = block_here(g),
                    end = block_if(g, lanes_any(g, absent), "absent", "ensured");
  LLVMValueRef all = arith_select(g, absent, call_each(g, c, absent), found);
  LLVMBasicBlockRef back = block_here(g);
  block_follow(g, end);
  return build_either(g, found, from, all, back);
}

static LLVMValueRef slots(Codegen *g, const LaneCall *c) {
  LLVMValueRef slots = call_operand_lanes(g, c, 0);
  LLVMValueRef handles = alias_slot(g, vector_gather(g, TYPE(U32), slots, c->mask));
  switch (c->inst->entry) {
  case RT_SLOT_LIVE: return slot_is_live(g, handles);
  case RT_SLOT_ENSURE: return ensure_slots(g, c, handles);
  default: return slot_node(g, c->inst->tree, handles);
  }
}

/* -- lists ------------------------------------------------------------------------------------- */

static LLVMValueRef count_bits(Codegen *g, LLVMValueRef bits) {
  return call_unary(g, "llvm.ctpop", bits);
}

/* For each lane, the number of lower lanes whose bit is set. */
static LLVMValueRef ranks(Codegen *g, LLVMValueRef bits, int width) {
  ASSERT(width <= BITS, "a word has a bit for each lane");
  LLVMValueRef below[IR_MAX_LANES];
  for (int i = 0; i < width; i++) below[i] = value_i32(g, ((int64_t)1 << i) - 1);
  LLVMValueRef all = build_trunc(g, bits, g->i32);
  return count_bits(
      g, build_and(g, value_broadcast(g, all, width), LLVMConstVector(below, (unsigned)width)));
}

/* Takes elements for the lanes in `bits`, which all have this list; returns their slots. */
static LLVMValueRef take(Codegen *g, LLVMValueRef list, LLVMValueRef bits, int width) {
  LLVMValueRef operands[] = {list, build_trunc(g, count_bits(g, bits), g->i32)};
  LLVMValueRef before = call_runtime(g, RT_DYNAMIC_TAKE, (Callee){0}, operands, 2);
  LLVMValueRef last = build_sub(g, before, value_i32(g, 1));
  return build_sub(g, value_broadcast(g, last, width), ranks(g, bits, width));
}

typedef struct Waiting {
  LLVMTypeRef lanes;
  LLVMValueRef lists, all;  /* the lists as a vector, and in memory */
  LLVMValueRef bits, slots; /* variables: lanes without a slot; slots of the others */
  int width;
} Waiting;

/* Serves the first waiting lane, and all others with the same list. */
static void take_first(Codegen *g, const Waiting *w, LLVMValueRef bits) {
  LLVMValueRef lane = call_binary(g, "llvm.cttz", bits, value_bool(g, true));
  LLVMValueRef list = lanes_load_one(g, g->pointer, w->all, lane);
  LLVMValueRef same = build_icmp(g, LLVMIntEQ, w->lists, value_broadcast(g, list, w->width));
  LLVMValueRef own = build_and(g, lanes_bits(g, same), bits);
  LLVMValueRef slots = build_load(g, w->lanes, w->slots);
  slots = build_select(g, lanes_of_bits(g, own, w->width), take(g, list, own, w->width), slots);
  build_store(g, slots, w->slots);
  build_store(g, build_and(g, bits, build_not(g, own)), w->bits);
}

static LLVMValueRef take_by_lists(Codegen *g, const LaneCall *c, LLVMValueRef lists) {
  LLVMBasicBlockRef head = block_new(g, "lists"), body = block_new(g, "list"),
                    end = block_new(g, "taken");
  Waiting w = {.lanes = value_lanes(g->i32, c->width), .lists = lists, .width = c->width};
  w.all = lanes_in_memory(g, lists);
  w.bits = block_variable_now(g, lanes_bits(g, c->mask), "waiting");
  w.slots = block_variable_now(g, LLVMConstAllOnes(w.lanes), "slots");
  block_follow(g, head);
  LLVMValueRef bits = build_load(g, g->i64, w.bits);
  block_enter_if(g, build_is_some(g, bits), body, end);
  take_first(g, &w, bits);
  block_jump(g, head);
  block_enter(g, end);
  return build_load(g, w.lanes, w.slots);
}

/* Do some adjacent lanes have the same list? */
static LLVMValueRef have_neighbours(Codegen *g, const LaneCall *c, LLVMValueRef lists) {
  int from[IR_MAX_LANES];
  for (int i = 0; i < c->width; i++) from[i] = i ? i - 1 : 1;
  LLVMValueRef others = build_shuffle(g, lists, NULL, from, c->width);
  return lanes_any(g, lanes_both(g, c->mask, build_icmp(g, LLVMIntEQ, lists, others)));
}

/* Claims together if adjacent lanes share a list, since lanes that share lists are mostly
 * adjacent. */
static LLVMValueRef take_or_each(Codegen *g, const LaneCall *c, LLVMValueRef lists) {
  LLVMBasicBlockRef each = block_if(g, have_neighbours(g, c, lists), "shared", "each"),
                    end = block_new(g, "popped");
  LLVMValueRef slots = block_variable(g, value_lanes(g->i32, c->width), "popped");
  build_store(g, take_by_lists(g, c, lists), slots);
  block_jump(g, end);
  block_enter(g, each);
  build_store(g, call_each(g, c, c->mask), slots);
  block_follow(g, end);
  return build_load(g, LLVMGetAllocatedType(slots), slots);
}

static LLVMValueRef pop(Codegen *g, const LaneCall *c) {
  LLVMValueRef lists = c->operands[0];
  if (value_is_vector(lists)) return take_or_each(g, c, lists);
  return take(g, lists, lanes_bits(g, c->mask), c->width);
}

/* -- dispatch ---------------------------------------------------------------------------------- */

/* The result; NULL: none. */
static LLVMValueRef emit(Codegen *g, const LaneCall *c) {
  switch (c->inst->entry) {
  case RT_SLOT_FIND:
  case RT_SLOT_LIVE:
  case RT_SLOT_ENSURE: return slots(g, c);
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
  default: ASSERT(false, "the entry has a form in lanes"); return NULL;
  }
}

void call_in_lanes(Codegen *g, const IrInst *inst) {
  LaneCall c = {.inst = inst, .count = inst->operand_count - 1};
  for (int k = 0; k < c.count; k++) c.operands[k] = value_operand(g, inst, k);
  c.mask = value_operand(g, inst, c.count);
  c.width = value_width(c.mask);
  ASSERT(c.count >= 0 && c.width > 1, "the last operand is the mask");
  LLVMValueRef result = emit(g, &c);
  if (result) value_set(g, inst, result);
}
