/* lane_run_load.c - loads of runs (lane_runs.c): one vector load per lane, or two if a leaf ends
 * within the run, and a transposition in registers; otherwise each element would be a gather.
 *
 * The first load of a group reads for all. Masks restrict the access to the elements themselves.
 * Lanes whose elements do not form runs gather them. */
#include "codegen/emit.h"

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
  LLVMValueRef vectors[IR_MOST_RUN];
  for (int v = 0; v < places; v++) vectors[v] = lane_load_one(g, type, numbers, value_index(g, v));
  lane_split(g, vectors, places);
  for (int k = 0; k < run->count; k++) value_set(g, run->accesses[k], vectors[k]);
}

typedef LLVMValueRef Numbers[IR_MOST_RUN];

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

void lane_load_runs(Codegen *g, const IrInst *inst) {
  IrGroup group = ir_group(g->scratch, inst);
  if (group.items[0] != inst) return; /* the first one has read it */
  LaneRuns runs = lane_runs_of(g, &group);
  if (!error_is_set(g->err)) load_runs(g, &runs);
}
