/* lane_run_load.c - loads of runs (lane_runs.c): one vector load per lane, or two if a leaf ends
 * within the run, and a transposition in registers; otherwise each element would be a gather.
 *
 * The first load reads for all, so the operands of their addresses are computed there. Masks
 * restrict the access to the elements themselves. Lanes whose elements do not form runs gather
 * them. */
#include "codegen/emit.h"

enum {
  SHORTEST = 3,
  SHORTEST_FAST = 5, /* on processors with fast gathers */
  SMALLEST_GAIN = 4,
  LONGEST_STRETCH = 1000
};

/* -- which loads ------------------------------------------------------------------------------- */

/* Is an adjacent number of its cell loaded, too? Then lane_cells.c loads both together. */
static bool has_company(const IrInst *load) {
  int64_t size = type_size(load->type);
  for (const IrInst *at = load->region->first; at; at = at->next) {
    const IrInst *other = at->op == IR_MEM_LOAD ? lane_same_container(load, at) : NULL;
    if (!other) continue;
    int64_t apart = other->imm - load->operands[0]->imm;
    if (apart == size || apart == -size) return true;
  }
  return false;
}

/* Marks the insts from `first` on that the address of `load` depends on; false if one of them is
 * not pure. */
static bool mark_address(const IrInst *first, const IrInst *load, bool *needed) {
  needed[load->operands[0]->id] = true;
  for (const IrInst *at = load->previous; at != first; at = at->previous) {
    if (!needed[at->id]) continue;
    if (!(ir_effects(at) & IR_PURE)) return false;
    for (int i = 0; i < at->operand_count; i++) needed[at->operands[i]->id] = true;
  }
  return true;
}

static bool can_be_read(Codegen *g, const IrInst *first, const IrInst *load) {
  bool *needed = scratch_array(g->scratch, bool, g->kernel->next_id);
  return load->op == IR_MEM_LOAD && type_equal(load->type, first->type) &&
         lane_shape(g, load->operands[0]) == LANE_VARYING && !lane_is_written(load, first) &&
         (load == first || mark_address(first, load, needed)) && !has_company(load);
}

static LaneRuns find_runs(Codegen *g, const IrInst *first) {
  VEC(const IrInst *) loads = {0};
  int length = 0;
  for (const IrInst *at = first; at && lane_is_plain(at) && length++ < LONGEST_STRETCH;
       at = at->next) {
    if (g->lanes[at->id].thins) break;
    if (can_be_read(g, first, at)) vec_push(g->scratch, &loads, at);
  }
  return lane_find_runs(g, loads.items, loads.count,
                        g->target.has_fast_gathers ? SHORTEST_FAST : SHORTEST);
}

/* -- reading them ------------------------------------------------------------------------------ */

static void emit_addresses(Codegen *g, const LaneRuns *runs, const IrInst *first) {
  bool *needed = scratch_array(g->scratch, bool, g->kernel->next_id);
  int alias = g->alias, left = 0;
  for (int i = 0; i < runs->items.count; i++)
    for (int k = 0; k < runs->items.items[i].count; k++, left++)
      if (runs->items.items[i].accesses[k] != first)
        mark_address(first, runs->items.items[i].accesses[k], needed);
  for (const IrInst *at = first; left; at = at->next) {
    if (at != first && needed[at->id]) emit_op(g, at);
    left -= lane_is_in_runs(runs, at);
  }
  g->alias = alias;
}

typedef struct Reader {
  LLVMValueRef *numbers; /* by run: an array in memory with the run of each lane */
  LLVMValueRef before;   /* the first part of a run with a gap */
} Reader;

static void read_part(Codegen *g, void *data, const LaneRunPart *part) {
  Reader *r = data;
  LLVMTypeRef type = lane_run_type(g, part->run);
  LLVMValueRef args[] = {part->at, value_integer(g->i32, type_size(part->run->type)), part->mask,
                         part->is_rest ? r->before : LLVMConstNull(type)};
  LLVMValueRef numbers = call_overloaded(g, "llvm.masked.load", type, g->pointer, args, 4);
  LLVMValueRef lane = part->lane;
  r->before = numbers;
  LLVMBuildStore(g->builder, numbers,
                 LLVMBuildGEP2(g->builder, type, r->numbers[part->number], &lane, 1, ""));
}

/* Transposes the lanes' runs to a vector for each number of the run. */
static void load_vectors(Codegen *g, const LaneRun *run, LLVMValueRef numbers) {
  int places = lane_run_places(run);
  LLVMTypeRef type = value_lanes(value_type(g, run->type), g->width);
  LLVMValueRef vectors[LANE_MOST_RUN];
  for (int v = 0; v < places; v++) vectors[v] = lane_load_one(g, type, numbers, value_index(g, v));
  lane_split(g, vectors, places);
  for (int k = 0; k < run->count; k++) value_set(g, run->accesses[k], vectors[k]);
}

typedef LLVMValueRef Numbers[LANE_MOST_RUN];

static void gather_others(Codegen *g, const LaneRuns *runs) {
  LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder), some = block_new(g, "others"),
                    end = block_new(g, "others.end"), back;
  LLVMValueRef mask = g->mask;
  Numbers *blends = scratch_array(g->scratch, Numbers, runs->items.count);
  block_branch(g, lane_any(g, runs->others), some, end);
  block_enter(g, some);
  g->mask = runs->others;
  for (int i = 0; i < runs->items.count; i++)
    for (int k = 0; k < runs->items.items[i].count; k++) {
      const IrInst *load = runs->items.items[i].accesses[k];
      LLVMValueRef each = lane_gather(g, load->type, value_operand(g, load, 0));
      blends[i][k] = LLVMBuildSelect(g->builder, runs->others, each, value_of(g, load), "");
    }
  g->mask = mask;
  back = LLVMGetInsertBlock(g->builder);
  block_jump(g, end);
  block_enter(g, end);
  for (int i = 0; i < runs->items.count; i++)
    for (int k = 0; k < runs->items.items[i].count; k++) {
      const IrInst *load = runs->items.items[i].accesses[k];
      LLVMValueRef one = value_of(g, load), phi = LLVMBuildPhi(g->builder, LLVMTypeOf(one), "");
      LLVMAddIncoming(phi, (LLVMValueRef[]){one, blends[i][k]}, (LLVMBasicBlockRef[]){from, back},
                      2);
      value_set(g, load, phi);
    }
}

static void load_runs(Codegen *g, LaneRuns *runs) {
  Reader r = {.numbers = scratch_array(g->scratch, LLVMValueRef, runs->items.count)};
  for (int i = 0; i < runs->items.count; i++) {
    LLVMTypeRef type = lane_run_type(g, &runs->items.items[i]);
    r.numbers[i] = block_variable(g, LLVMArrayType2(type, (uint64_t)g->width), "runs");
  }
  lane_compare_runs(g, runs);
  lane_walk_runs(g, runs, read_part, &r);
  for (int i = 0; i < runs->items.count; i++) load_vectors(g, &runs->items.items[i], r.numbers[i]);
  gather_others(g, runs);
}

bool lane_load_runs(Codegen *g, const IrInst *inst) {
  if (!lane_has_masks(g, inst->type) || type_is_bool(inst->type) ||
      lane_shape(g, inst->operands[0]) != LANE_VARYING)
    return false;
  LaneRuns runs = find_runs(g, inst);
  if (runs.saved < SMALLEST_GAIN || !lane_is_in_runs(&runs, inst)) return false;
  emit_addresses(g, &runs, inst);
  load_runs(g, &runs);
  for (int i = 0; i < runs.items.count; i++)
    for (int k = 0; k < runs.items.items[i].count; k++)
      if (runs.items.items[i].accesses[k] != inst)
        vec_push(g->scratch, &g->fetched, runs.items.items[i].accesses[k]);
  return true;
}
