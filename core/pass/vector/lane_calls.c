/* lane_calls.c - calls of the runtime in all lanes that are written as other ops.
 *
 * Bits of cells (rt_mask_active, rt_mask_set): the 32-bit word that holds each lane's bit is
 * gathered. A bit that is set already, as nearly all bits are that a loop sets, is not set again;
 * the others are set lane by lane. Likewise, nodes that exist are found in all lanes at once, and
 * the others created lane by lane (rt_slot_ensure).
 *
 * Lanes that pop (rt_dynamic_pop, without a lock) from one list claim their elements together:
 *
 *     while lanes wait { list = the first one's; before = take(list, how many have that list)
 *                        slot of the lane of rank r among them = before - 1 - r }
 *
 * so a list that all lanes share is claimed from once. If no two adjacent lanes have the same list,
 * each lane pops by itself. A slot below 0 means that the list was empty. */
#include "pass/rewrite.h"
#include "pass/vector/lane_accesses.h"

typedef struct LaneCall {
  IrBuilder b;
  const IrInst *inst; /* LANES_CALL */
  IrInst *mask;
  int width;
} LaneCall;

static Type lanes_of(const LaneCall *c, Type type) { return ir_lanes_type(type, c->width); }

static IrInst *unary(LaneCall *c, IrOp op, Type type, IrInst *a) {
  return ir_emit(&c->b, op, type, 1, &a);
}

static IrInst *binary(LaneCall *c, IrOp op, Type type, IrInst *a, IrInst *z) {
  return ir_emit(&c->b, op, type, 2, (IrInst *[]){a, z});
}

static IrInst *in_lanes(LaneCall *c, IrInst *value) {
  if (type_is_vector(value->type)) return value;
  return unary(c, IR_SPLAT, lanes_of(c, value->type), value);
}

static IrInst *number(LaneCall *c, Type type, int64_t value) {
  return ir_const_int(&c->b, type, value);
}

/* Enters the first arm of an `if`; returns the `if`. */
static IrInst *enter_if(LaneCall *c, IrInst *condition) {
  IrInst *branch = ir_if(&c->b, condition);
  c->b = rewrite_inside(c->b.kernel, branch->regions[0], branch);
  return branch;
}

static IrInst *enter_if_any(LaneCall *c, IrInst *mask) {
  return enter_if(c, unary(c, IR_MASK_ANY, TYPE(BOOL), mask));
}

/* Calls the entry for each lane of the mask; returns the results, NULL if it has none. */
static IrInst *call_each(LaneCall *c, IrInst *mask) {
  IrInst *operands[IR_ENTRY_PARAMS + SNODE_MAX_AXES], *results = NULL;
  int count = c->inst->operand_count - 1;
  ASSERT(count >= 0 && count <= (int)(sizeof operands / sizeof *operands), "a call's operands");
  if (!type_is_none(c->inst->type)) results = ir_var(&c->b, c->inst->type);
  for (int k = 0; k < count; k++) {
    operands[k] = c->inst->operands[k];
    if (type_is_vector(operands[k]->type)) operands[k] = lane_variable(&c->b, operands[k]);
  }
  IrBuilder outside = c->b;
  IrInst *lane = lane_enter_loop(&c->b, mask);
  for (int k = 0; k < count; k++)
    if (operands[k]->op == IR_VAR) operands[k] = lane_one(&c->b, operands[k], lane);
  IrInst *one =
      ir_call(&c->b, (RtEntry)c->inst->entry, c->inst->tree, (int)c->inst->imm, count, operands);
  if (results) ir_emit(&c->b, IR_LANE_SET, TYPE(NONE), 3, (IrInst *[]){results, lane, one});
  c->b = outside;
  return results ? ir_get(&c->b, results) : NULL;
}

/* Prefetches for all lanes, since a prefetch is harmless in inactive ones. */
static void fetch(LaneCall *c) {
  for (int lane = 0; lane < c->width; lane++) {
    IrInst *at = in_lanes(c, c->inst->operands[0]);
    at = binary(c, IR_LANE_GET, TYPE(PTR), at, number(c, TYPE(U64), lane));
    ir_call(&c->b, RT_FETCH, 0, 0, 2, (IrInst *[]){at, c->inst->operands[1]});
  }
}

/* -- bits of cells ----------------------------------------------------------------------------- */

/* Is the bit of each lane's cell set? False in inactive lanes. */
static IrInst *gather_bits(LaneCall *c) {
  enum { WORD = 32, LOG_WORD = 5 };
  IrInst *cell = in_lanes(c, c->inst->operands[1]);
  Type words = lanes_of(c, TYPE(U32));
  IrInst *word = binary(c, IR_SHR, cell->type, cell, number(c, cell->type, LOG_WORD));
  IrInst *at = binary(c, IR_OFFSET, lanes_of(c, TYPE(PTR)), c->inst->operands[0], word);
  at->stride = WORD / 8;
  IrInst *bits = binary(c, IR_LANES_LOAD, words, at, c->mask);
  IrInst *bit = ir_convert(&c->b, cell, words);
  bit = binary(c, IR_BAND, words, bit, number(c, words, WORD - 1));
  bits = binary(c, IR_BAND, words, binary(c, IR_SHR, words, bits, bit), number(c, words, 1));
  return binary(c, IR_NE, c->mask->type, bits, number(c, words, 0));
}

static void set_bits(LaneCall *c) {
  IrInst *clear = ir_unary(&c->b, IR_BNOT, gather_bits(c));
  clear = binary(c, IR_MASK_AND, c->mask->type, c->mask, clear);
  enter_if_any(c, clear);
  call_each(c, clear);
}

/* -- slots ------------------------------------------------------------------------------------- */

static IrInst *look_at_slots(LaneCall *c, RtEntry entry) {
  Type type = lanes_of(c, type_scalar(ir_entries[entry].result));
  IrInst *call = binary(c, IR_LANES_CALL, type, c->inst->operands[0], c->mask);
  ir_call_name(call, entry, c->inst->tree, (int)c->inst->imm);
  return call;
}

static IrInst *ensure_slots(LaneCall *c) {
  IrInst *found = look_at_slots(c, RT_SLOT_FIND), *nodes = lane_variable(&c->b, found);
  IrInst *absent = ir_unary(&c->b, IR_BNOT, look_at_slots(c, RT_SLOT_LIVE));
  absent = ir_binary(&c->b, IR_BAND, absent, c->mask);
  IrBuilder outside = c->b;
  enter_if_any(c, absent);
  ir_set(&c->b, nodes, ir_select(&c->b, absent, call_each(c, absent), found));
  c->b = outside;
  return ir_get(&c->b, nodes);
}

/* -- lists ------------------------------------------------------------------------------------- */

/* For each lane, the number of lower lanes whose bit is set in the word. */
static IrInst *ranks(LaneCall *c, IrInst *word) {
  Type type = lanes_of(c, TYPE(I32));
  ASSERT(c->width <= 32, "a word has a bit for each lane");
  IrInst *lane = unary(c, IR_STEP, type, number(c, TYPE(I32), 0));
  lane->imm = 1;
  IrInst *below = binary(c, IR_SHL, type, number(c, type, 1), lane);
  below = binary(c, IR_SUB, type, below, number(c, type, 1));
  IrInst *all = in_lanes(c, ir_convert(&c->b, word, TYPE(I32)));
  return ir_unary(&c->b, IR_POPCNT, binary(c, IR_BAND, type, all, below));
}

/* Takes elements for the lanes in `word`, which all have this list; returns their slots. */
static IrInst *take(LaneCall *c, IrInst *list, IrInst *word) {
  IrInst *count = ir_convert(&c->b, ir_unary(&c->b, IR_POPCNT, word), TYPE(I32));
  IrInst *before = ir_call(&c->b, RT_DYNAMIC_TAKE, 0, 0, 2, (IrInst *[]){list, count});
  IrInst *last = ir_binary(&c->b, IR_SUB, before, number(c, TYPE(I32), 1));
  return ir_binary(&c->b, IR_SUB, in_lanes(c, last), ranks(c, word));
}

/* Serves the first waiting lane, and all others with the same list, until none waits. */
static IrInst *take_by_lists(LaneCall *c, IrInst *lists) {
  IrInst *all = lane_variable(&c->b, lists), *none = number(c, c->inst->type, -1);
  IrInst *waiting = lane_variable(&c->b, unary(c, IR_MASK_BITS, TYPE(U64), c->mask)),
         *slots = lane_variable(&c->b, none);
  IrBuilder outside = c->b;
  IrInst *loop = ir_loop(&c->b);
  c->b = rewrite_inside(c->b.kernel, loop->regions[0], loop);
  IrBuilder inside = c->b;
  IrInst *word = ir_get(&c->b, waiting);
  enter_if(c, binary(c, IR_EQ, TYPE(BOOL), word, number(c, TYPE(U64), 0)));
  ir_break(&c->b, 0);
  c->b = inside;
  IrInst *list = lane_one(&c->b, all, ir_unary(&c->b, IR_CTZ, word));
  IrInst *same = binary(c, IR_EQ, c->mask->type, lists, in_lanes(c, list));
  IrInst *own = ir_binary(&c->b, IR_BAND, unary(c, IR_MASK_BITS, TYPE(U64), same), word);
  IrInst *old = ir_get(&c->b, slots), *taken = take(c, list, own);
  IrInst *lanes = unary(c, IR_MASK_OF_BITS, c->mask->type, own);
  ir_set(&c->b, slots, ir_select(&c->b, lanes, taken, old));
  ir_set(&c->b, waiting, ir_binary(&c->b, IR_BAND, word, ir_unary(&c->b, IR_BNOT, own)));
  c->b = outside;
  return ir_get(&c->b, slots);
}

/* Do some adjacent lanes have the same list? */
static IrInst *have_neighbours(LaneCall *c, IrInst *lists) {
  int from[IR_MAX_LANES];
  for (int i = 0; i < c->width; i++) from[i] = i ? i - 1 : 1;
  IrInst *others = lane_shuffle(&c->b, lists, NULL, from, c->width);
  IrInst *same = binary(c, IR_EQ, c->mask->type, lists, others);
  return unary(c, IR_MASK_ANY, TYPE(BOOL), binary(c, IR_MASK_AND, same->type, c->mask, same));
}

/* Claims together if adjacent lanes share a list, since lanes that share lists are mostly
 * adjacent. */
static IrInst *pop(LaneCall *c) {
  IrInst *lists = c->inst->operands[0];
  if (!type_is_vector(lists->type))
    return take(c, lists, unary(c, IR_MASK_BITS, TYPE(U64), c->mask));
  IrInst *slots = ir_var(&c->b, c->inst->type), *shared = have_neighbours(c, lists);
  IrBuilder outside = c->b;
  IrInst *branch = enter_if(c, shared);
  ir_set(&c->b, slots, take_by_lists(c, lists));
  c->b = rewrite_inside(c->b.kernel, branch->regions[1], branch);
  ir_set(&c->b, slots, call_each(c, c->mask));
  c->b = outside;
  return ir_get(&c->b, slots);
}

bool lane_call(LaneAccesses *l, IrInst *call) {
  LaneCall c = {.b = l->b, .inst = call, .mask = call->operands[call->operand_count - 1]};
  c.width = type_rows(c.mask->type);
  switch (call->entry) {
  case RT_SLOT_ENSURE: ir_replace_uses(call, ensure_slots(&c)); return true;
  case RT_MASK_ACTIVE: ir_replace_uses(call, gather_bits(&c)); return true;
  case RT_MASK_SET: set_bits(&c); return true;
  case RT_FETCH: fetch(&c); return true;
  case RT_DYNAMIC_POP: ir_replace_uses(call, pop(&c)); return true;
  default: return false;
  }
}
