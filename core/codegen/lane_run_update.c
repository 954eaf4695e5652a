/* lane_run_update.c - updates of runs (lane_runs.c): one vector per lane; otherwise each element
 * would be a load, an op and a store.
 *
 *     x[q] += a; x[q + 1] += b; x[q + 2] += c    =>    each lane: load |x x x|, add |a b c|, store
 *
 * A run with a gap is two vectors. Lanes whose elements do not form runs update them one by one. */
#include "codegen/emit.h"

/* Stores the operands of the updates in memory, one run after the other, by lane. */
static LLVMValueRef store_values(Codegen *g, const LaneRun *run) {
  int places = lane_run_places(run);
  LLVMTypeRef lanes = value_lanes(value_type(g, run->type), g->width);
  LLVMValueRef vectors[IR_MOST_RUN],
      all = block_variable(g, LLVMArrayType2(lanes, (uint64_t)places), "runs");
  for (int k = 0; k < run->count; k++)
    vectors[k] = value_broadcast(g, value_operand(g, run->accesses[k], 1), g->width);
  for (int k = run->count; k < places; k++) vectors[k] = LLVMGetPoison(lanes);
  lane_join(g, vectors, places);
  for (int k = 0; k < places; k++)
    LLVMBuildStore(g->builder, vectors[k],
                   value_byte_offset(g, all, (int64_t)k * g->width * type_size(run->type)));
  return all;
}

static void update_part(Codegen *g, void *data, const LaneRunPart *part) {
  const LaneRun *run = part->run;
  LLVMValueRef *values = data;
  LLVMTypeRef type = lane_run_type(g, run);
  LLVMValueRef by = lane_load_one(g, type, values[part->number], part->lane),
               align = value_integer(g->i32, type_size(run->type)),
               from[] = {part->at, align, part->mask, LLVMConstNull(type)};
  LLVMValueRef old = call_overloaded(g, "llvm.masked.load", type, g->pointer, from, 4);
  IrUpdate op = (IrUpdate)run->accesses[0]->imm;
  LLVMValueRef to[] = {arith_update(g, op, run->type, old, by), part->at, align, part->mask};
  call_overloaded(g, "llvm.masked.store", type, g->pointer, to, 4);
}

/* -- lanes whose elements do not form runs ----------------------------------------------------- */

typedef LLVMValueRef RunPlaces[IR_MOST_RUN];

static void update_each(Codegen *g, const LaneRun *run, LLVMValueRef values, LLVMValueRef *places,
                        LLVMValueRef lane) {
  LLVMValueRef first = LLVMBuildMul(g->builder, lane, value_index(g, lane_run_places(run)), "");
  for (int k = 0; k < run->count; k++) {
    LLVMValueRef number = LLVMBuildAdd(g->builder, first, value_index(g, k), ""),
                 at = lane_load_one(g, g->pointer, places[k], lane);
    atomic_update(g, run->accesses[k], value_byte_offset(g, at, run->apart),
                  lane_load_one(g, value_type(g, run->type), values, number));
  }
}

static void update_others(Codegen *g, const LaneRuns *runs, LLVMValueRef *values) {
  int count = runs->items.count;
  RunPlaces *places = scratch_array(g->scratch, RunPlaces, count);
  LLVMBasicBlockRef some = block_new(g, "others"), end = block_new(g, "others.end");
  block_branch(g, lane_any(g, runs->others), some, end);
  block_enter(g, some);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < runs->items.items[i].count && runs->items.items[i].like == i; k++)
      places[i][k] = lane_store_all(g, value_operand(g, runs->items.items[i].accesses[k], 0));
  SetBits bits = bits_begin(g, lane_bits(g, runs->others));
  for (int i = 0; i < count; i++)
    update_each(g, &runs->items.items[i], values[i], places[runs->items.items[i].like],
                bits.position);
  bits_end(g, &bits);
  block_jump(g, end);
  block_enter(g, end);
}

/* -- all lanes --------------------------------------------------------------------------------- */

void lane_update_runs(Codegen *g, const IrGroup *group) {
  LaneRuns runs = lane_runs_of(g, group);
  if (error_is_set(g->err)) return;
  LLVMValueRef *values = scratch_array(g->scratch, LLVMValueRef, runs.items.count);
  for (int i = 0; i < runs.items.count; i++) values[i] = store_values(g, &runs.items.items[i]);
  lane_compare_runs(g, &runs);
  lane_walk_runs(g, &runs, update_part, values);
  update_others(g, &runs, values);
}
