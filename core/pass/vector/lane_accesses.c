/* lane_accesses.c - writes the accesses of lanes that have a shape (ir/access.h), and most calls of
 * the runtime, as what a machine does: loads and stores of vectors, gathers, loops over the lanes,
 * and shuffles.
 *
 *     %x: f32x8 = lanes.load shape=strided          %low: f32x8 = lanes.load %a, %all
 *                   parts=2 numbers=3 %a, %all  =>  %high: f32x8 = lanes.load %a + 32, %all
 *                                                   %x: f32x8 = shuffle %low, %high   0 2 4 .. 14
 *
 * It runs when it is settled which bodies have a copy for full vectors. In a body that runs only
 * in full vectors the mask is a constant; where it differs by copy, an IF over MASK_FULL holds
 * both ways to do an access, of which each copy keeps one. Decision D-pass-99.
 *
 * Calls: bits of cells (rt_mask_active, rt_mask_set): the 32-bit word that holds each lane's bit is
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
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/vector/lane_accesses.h"

/* -- calls ------------------------------------------------------------------------------------- */

typedef struct LaneCall {
  IrBuilder b;
  const IrInst *inst; /* LANES_CALL */
  IrInst *mask;
  int width;
} LaneCall;

static IrInst *in_lanes(LaneCall *c, IrInst *value) {
  return type_is_vector(value->type) ? value : ir_splat(&c->b, value, c->width);
}

/* Enters the first arm of an `if`; returns the `if`. */
static IrInst *enter_if(LaneCall *c, IrInst *condition) {
  IrInst *branch = ir_if(&c->b, condition);
  c->b = rewrite_inside(c->b.kernel, branch->regions[0], branch);
  return branch;
}

/* Calls the entry for each lane of the mask; returns the results, NULL if it has none. */
static IrInst *call_each(LaneCall *c, IrInst *mask) {
  IrInst *operands[IR_ENTRY_PARAMS + SNODE_MAX_AXES], *results = NULL;
  int count = c->inst->operand_count - 1;
  ASSERT(count >= 0 && count <= (int)(sizeof operands / sizeof *operands), "a call's operands");
  if (!type_is_none(c->inst->type)) results = ir_var(&c->b, c->inst->type);
  for (int k = 0; k < count; k++) {
    operands[k] = c->inst->operands[k];
    if (type_is_vector(operands[k]->type)) operands[k] = ir_variable(&c->b, operands[k]);
  }
  IrBuilder outside = c->b;
  IrInst *lane = lane_enter_loop(&c->b, mask);
  for (int k = 0; k < count; k++)
    if (operands[k]->op == IR_VAR) operands[k] = ir_lane_get(&c->b, operands[k], lane);
  IrInst *one =
      ir_call(&c->b, (RtEntry)c->inst->entry, c->inst->tree, (int)c->inst->imm, count, operands);
  if (results) ir_lane_set(&c->b, results, lane, one);
  c->b = outside;
  return results ? ir_get(&c->b, results) : NULL;
}

/* Prefetches for all lanes, since a prefetch is harmless in inactive ones. */
static void fetch(LaneCall *c) {
  for (int lane = 0; lane < c->width; lane++) {
    IrInst *at = in_lanes(c, c->inst->operands[0]);
    at = ir_lane_get(&c->b, at, ir_const_int(&c->b, TYPE(U64), lane));
    ir_call(&c->b, RT_FETCH, 0, 0, 2, (IrInst *[]){at, c->inst->operands[1]});
  }
}

/* -- bits of cells ----------------------------------------------------------------------------- */

/* Is the bit of each lane's cell set? False in inactive lanes. */
static IrInst *gather_bits(LaneCall *c) {
  enum { WORD = 32, LOG_WORD = 5 };
  IrInst *cell = in_lanes(c, c->inst->operands[1]);
  Type words = ir_lanes_type(TYPE(U32), c->width);
  IrInst *word = ir_binary_const(&c->b, IR_SHR, cell, LOG_WORD);
  IrInst *at = ir_offset(&c->b, c->inst->operands[0], word, WORD / 8, 0);
  IrInst *bits = ir_lanes_load(&c->b, words, at, c->mask);
  IrInst *bit = ir_binary_const(&c->b, IR_BAND, ir_convert(&c->b, cell, words), WORD - 1);
  bits = ir_binary_const(&c->b, IR_BAND, ir_binary(&c->b, IR_SHR, bits, bit), 1);
  return ir_binary_const(&c->b, IR_NE, bits, 0);
}

static void set_bits(LaneCall *c) {
  IrInst *clear = ir_unary(&c->b, IR_BNOT, gather_bits(c));
  clear = ir_binary(&c->b, IR_MASK_AND, c->mask, clear);
  enter_if(c, ir_unary(&c->b, IR_MASK_ANY, clear));
  call_each(c, clear);
}

/* -- slots ------------------------------------------------------------------------------------- */

static IrInst *look_at_slots(LaneCall *c, RtEntry entry) {
  Type type = ir_lanes_type(type_scalar(ir_entries[entry].result), c->width);
  IrInst *call =
      ir_emit(&c->b, IR_LANES_CALL, type, 2, (IrInst *[]){c->inst->operands[0], c->mask});
  ir_set_callee(call, entry, c->inst->tree, (int)c->inst->imm);
  return call;
}

static IrInst *ensure_slots(LaneCall *c) {
  IrInst *found = look_at_slots(c, RT_SLOT_FIND), *nodes = ir_variable(&c->b, found);
  IrInst *absent = ir_unary(&c->b, IR_BNOT, look_at_slots(c, RT_SLOT_LIVE));
  absent = ir_binary(&c->b, IR_BAND, absent, c->mask);
  IrBuilder outside = c->b;
  enter_if(c, ir_unary(&c->b, IR_MASK_ANY, absent));
  ir_set(&c->b, nodes, ir_select(&c->b, absent, call_each(c, absent), found));
  c->b = outside;
  return ir_get(&c->b, nodes);
}

/* -- lists ------------------------------------------------------------------------------------- */

/* For each lane, the number of lower lanes whose bit is set in the word. */
static IrInst *ranks(LaneCall *c, IrInst *word) {
  ASSERT(c->width <= 32, "a word has a bit for each lane");
  IrInst *lane = ir_step(&c->b, ir_i32(&c->b, 0), c->width, 1);
  IrInst *below = ir_binary(&c->b, IR_SHL, ir_const_like(&c->b, lane, 1), lane);
  below = ir_binary_const(&c->b, IR_SUB, below, 1);
  IrInst *all = in_lanes(c, ir_convert(&c->b, word, TYPE(I32)));
  return ir_unary(&c->b, IR_POPCNT, ir_binary(&c->b, IR_BAND, all, below));
}

/* Takes elements for the lanes in `word`, which all have this list; returns their slots. */
static IrInst *take(LaneCall *c, IrInst *list, IrInst *word) {
  IrInst *count = ir_convert(&c->b, ir_unary(&c->b, IR_POPCNT, word), TYPE(I32));
  IrInst *before = ir_call(&c->b, RT_DYNAMIC_TAKE, 0, 0, 2, (IrInst *[]){list, count});
  IrInst *last = ir_binary_const(&c->b, IR_SUB, before, 1);
  return ir_binary(&c->b, IR_SUB, in_lanes(c, last), ranks(c, word));
}

/* Serves the first waiting lane, and all others with the same list, until none waits. */
static IrInst *take_by_lists(LaneCall *c, IrInst *lists) {
  IrInst *all = ir_variable(&c->b, lists), *none = ir_const_int(&c->b, c->inst->type, -1);
  IrInst *waiting = ir_variable(&c->b, ir_unary(&c->b, IR_MASK_BITS, c->mask)),
         *slots = ir_variable(&c->b, none);
  IrBuilder outside = c->b;
  IrInst *loop = ir_loop(&c->b);
  c->b = rewrite_inside(c->b.kernel, loop->regions[0], loop);
  IrBuilder inside = c->b;
  IrInst *word = ir_get(&c->b, waiting);
  enter_if(c, ir_binary_const(&c->b, IR_EQ, word, 0));
  ir_break(&c->b, 0);
  c->b = inside;
  IrInst *list = ir_lane_get(&c->b, all, ir_unary(&c->b, IR_CTZ, word));
  IrInst *same = ir_binary(&c->b, IR_EQ, lists, in_lanes(c, list));
  IrInst *own = ir_binary(&c->b, IR_BAND, ir_unary(&c->b, IR_MASK_BITS, same), word);
  IrInst *old = ir_get(&c->b, slots), *taken = take(c, list, own);
  IrInst *lanes = ir_mask_of_bits(&c->b, own, c->width);
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
  IrInst *same = ir_binary(&c->b, IR_EQ, lists, others);
  return ir_unary(&c->b, IR_MASK_ANY, ir_binary(&c->b, IR_MASK_AND, c->mask, same));
}

/* Claims together if adjacent lanes share a list, since lanes that share lists are mostly
 * adjacent. */
static IrInst *pop(LaneCall *c) {
  IrInst *lists = c->inst->operands[0];
  if (!type_is_vector(lists->type)) return take(c, lists, ir_unary(&c->b, IR_MASK_BITS, c->mask));
  IrInst *slots = ir_var(&c->b, c->inst->type), *shared = have_neighbours(c, lists);
  IrBuilder outside = c->b;
  IrInst *branch = enter_if(c, shared);
  ir_set(&c->b, slots, take_by_lists(c, lists));
  c->b = rewrite_inside(c->b.kernel, branch->regions[1], branch);
  ir_set(&c->b, slots, call_each(c, c->mask));
  c->b = outside;
  return ir_get(&c->b, slots);
}

static bool write_call(LaneAccesses *l, IrInst *call) {
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

/* -- accesses ---------------------------------------------------------------------------------- */

static void write_runs(LaneAccesses *l, const IrInst *last) {
  IrGroup group = ir_group(l->scratch, last);
  lane_runs(l, &group);
  for (int i = 0; i + 1 < group.count; i++) ir_delete((IrInst *)group.items[i]);
}

/* False: it has no shape, and stays. */
static bool write_access(LaneAccesses *l, IrInst *access) {
  l->b = rewrite_before(l->kernel, access);
  if (access->op == IR_LANES_CALL) return write_call(l, access);
  switch (access->shape) {
  case IR_SHAPE_RUNS: write_runs(l, access); return true;
  case IR_SHAPE_CELLS: lane_cells(l, access); return true;
  case IR_SHAPE_STRIDED: {
    IrInst *value = lane_strided(l, access);
    if (value) ir_replace_uses(access, value);
    return true;
  }
  default: return false;
  }
}

static void write_region(LaneAccesses *l, IrRegion *region);

static void write_inner(LaneAccesses *l, const IrInst *loop) {
  IrInst *outer = l->may_be_all;
  for (int i = 0; i < IR_MAX_REGIONS && loop->regions[i]; i++) {
    if (loop->lanes > 1)
      l->may_be_all = loop->full_vectors ? ir_lanes_mask(loop->regions[i]) : NULL;
    write_region(l, loop->regions[i]);
    l->may_be_all = outer;
  }
}

static void write_region(LaneAccesses *l, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    write_inner(l, inst);
    bool is_access = inst->op >= IR_LANES_LOAD && inst->op <= IR_LANES_UPDATE;
    if (!is_access && inst->op != IR_LANES_CALL) continue;
    if (inst->deferred || !write_access(l, inst)) continue;
    ir_delete(inst);
    l->has_written = true;
  }
}

/* The mask of a body that runs only in full vectors is a constant. */
static void fix_mask(LaneAccesses *l, IrRegion *body) {
  IrBuilder b = {.kernel = l->kernel, .region = body, .before = body->first};
  IrInst *mask = ir_lanes_mask(body);
  if (ir_is_used(mask)) ir_replace_uses(mask, lane_mask_all(&b, type_rows(mask->type)));
}

void lane_accesses_task(Scratch *scratch, IrKernel *kernel, IrTask *task) {
  IrRegion *bodies[] = {task->interior, task->body};
  bool in_lanes = task->lanes > 1 && task->full_vectors;
  for (int i = 0; i < 2; i++) {
    LaneAccesses l = {.scratch = scratch, .kernel = kernel, .streams = task->traffic > 0};
    if (!bodies[i]) continue;
    if (in_lanes && bodies[i] == task->interior) fix_mask(&l, bodies[i]);
    else if (in_lanes && !task->interior) l.may_be_all = ir_lanes_mask(bodies[i]);
    write_region(&l, bodies[i]);
    if (l.has_written) rewrite_drop_dead(bodies[i]);
  }
  if (task->counts) lane_accesses_task(scratch, kernel, task->counts);
}

bool pass_lane_accesses(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++)
    lane_accesses_task(ctx->scratch, kernel, kernel->tasks.items[i]);
  (void)err;
  return true;
}
