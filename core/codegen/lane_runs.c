/* lane_runs.c - runs: accesses to adjacent elements, at another place in each lane, like the cells
 * around a particle. A run may have a gap, where a leaf ends:
 *
 *     x[q] x[q + 1] x[q + 2]      whole: |a b c|      parted: |a b| .. |c|      others: anywhere
 *
 * The emitted code compares the addresses of each lane, so a wrong guess costs only time.
 * Decision D-codegen-04. */
#include "base/bits.h"
#include "codegen/emit.h"

enum { MASKED = 64 /* bytes of a vector on machines that have masks */ };

static bool has_masks(const Codegen *g, Type type) { return g->width * type_size(type) >= MASKED; }

/* Adds an access to its run; false: there can be no such run. */
static bool add_access(LaneRuns *runs, const IrInst *access, int most) {
  if (access->run >= most) return false;
  LaneRun *run = &runs->items.items[access->run];
  if (access->run >= runs->items.count) runs->items.count = access->run + 1;
  run->type = ir_accessed(access);
  run->count = access->parts;
  run->accesses[access->part] = access;
  return true;
}

static bool is_complete(const LaneRun *run) {
  for (int k = 0; k < run->count; k++)
    if (!run->accesses[k]) return false;
  return run->count > 0;
}

LaneRuns lane_runs_of(Codegen *g, const IrGroup *group) {
  LaneRuns runs = {.items.items = scratch_array(g->scratch, LaneRun, group->count)};
  bool is_sound = true;
  for (int i = 0; i < group->count; i++)
    if (group->items[i]->shape == IR_SHAPE_RUNS)
      is_sound &= add_access(&runs, group->items[i], group->count);
  for (int i = 0; i < runs.items.count; i++) is_sound &= is_complete(&runs.items.items[i]);
  if (!is_sound) codegen_fail(g, group->items[0], "its group has incomplete runs");
  return runs;
}

int lane_run_places(const LaneRun *run) {
  return run->count == 1 ? 1 : 2 << log2_floor((uint64_t)run->count - 1);
}

/* -- comparing addresses ----------------------------------------------------------------------- */

static bool is_apart_by_imm(const IrInst *a, const IrInst *b) {
  return a->operands[0] == b->operands[0] && a->operands[1] == b->operands[1];
}

static bool is_like(const LaneRun *run, const LaneRun *other) {
  int k = 0;
  while (k < run->count && k < other->count &&
         is_apart_by_imm(run->accesses[k]->operands[0], other->accesses[k]->operands[0]))
    k++;
  return k == run->count && k == other->count;
}

/* Finds the first run whose addresses differ from those of `run` only by a constant, as runs of
 * several fields do; its comparisons serve for both. */
static void find_like(LaneRuns *runs, LaneRun *run) {
  const LaneRun *other = runs->items.items;
  while (!is_like(run, other)) other++;
  run->like = (int)(other - runs->items.items);
  run->apart = run->accesses[0]->operands[0]->imm - other->accesses[0]->operands[0]->imm;
}

static LLVMValueRef is_at(Codegen *g, LLVMValueRef from, int64_t bytes, LLVMValueRef at) {
  return LLVMBuildICmp(g->builder, LLVMIntEQ, value_byte_offset(g, from, bytes), at, "");
}

typedef struct Compared { /* masks */
  LLVMValueRef whole, parted;
} Compared;

/* Elements before the gap must be adjacent to the first one, the others to the last one. */
static void compare(Codegen *g, LaneRuns *runs, const LaneRun *run, Compared *c) {
  int size = type_size(run->type), last = run->count - 1;
  LLVMTypeRef bytes = value_lanes(g->i8, g->width);
  LLVMValueRef begin = value_of(g, run->accesses[0]->operands[0]),
               end = value_of(g, run->accesses[last]->operands[0]), bits = value_integer(bytes, 1),
               before = LLVMConstAllOnes(lane_mask_type(g));
  for (int k = 1; k <= last; k++) {
    const IrInst *ptr = run->accesses[k]->operands[0];
    if (!is_apart_by_imm(run->accesses[k - 1]->operands[0], ptr))
      before = is_at(g, begin, k * size, value_of(g, ptr));
    c->whole = LLVMBuildAnd(g->builder, c->whole, before, "");
    LLVMValueRef after = is_at(g, end, (k - last) * size, value_of(g, ptr));
    LLVMValueRef either = LLVMBuildOr(g->builder, before, after, "");
    c->parted = LLVMBuildAnd(g->builder, c->parted, either, "");
    LLVMValueRef bit = LLVMBuildZExt(g->builder, before, bytes, "");
    bit = LLVMBuildShl(g->builder, bit, value_integer(bytes, k), "");
    bits = LLVMBuildOr(g->builder, bits, bit, "");
  }
  LLVMValueRef *alike = &runs->before[last];
  if (!*alike) *alike = bits;
  LLVMValueRef same = LLVMBuildICmp(g->builder, LLVMIntEQ, *alike, bits, "");
  c->parted = LLVMBuildAnd(g->builder, c->parted, same, "");
}

void lane_compare_runs(Codegen *g, LaneRuns *runs) {
  LLVMValueRef all = LLVMConstAllOnes(lane_mask_type(g));
  Compared c = {all, all};
  for (int i = 0; i < runs->items.count; i++) {
    find_like(runs, &runs->items.items[i]);
    if (runs->items.items[i].like == i) compare(g, runs, &runs->items.items[i], &c);
  }
  LLVMValueRef gaps = LLVMBuildNot(g->builder, c.whole, "");
  runs->whole = lane_both(g, g->mask, c.whole);
  runs->parted = lane_both(g, g->mask, LLVMBuildAnd(g->builder, c.parted, gaps, ""));
  LLVMValueRef none = LLVMBuildNot(g->builder, c.parted, "");
  runs->others = lane_both(g, g->mask, LLVMBuildAnd(g->builder, none, gaps, ""));
}

/* -- lane by lane ------------------------------------------------------------------------------ */

LLVMValueRef lane_store_all(Codegen *g, LLVMValueRef value) {
  LLVMValueRef variable = block_variable(g, LLVMTypeOf(value), "lanes");
  LLVMBuildStore(g->builder, value, variable);
  return variable;
}

LLVMValueRef lane_load_one(Codegen *g, LLVMTypeRef type, LLVMValueRef array, LLVMValueRef lane) {
  return LLVMBuildLoad2(g->builder, type, LLVMBuildGEP2(g->builder, type, array, &lane, 1, ""), "");
}

LLVMTypeRef lane_run_type(Codegen *g, const LaneRun *run) {
  return value_lanes(value_type(g, run->type), lane_run_places(run));
}

/* A mask of the elements of a lane's run before the gap, or after it. */
static LLVMValueRef run_mask(Codegen *g, const LaneRun *run, LLVMValueRef before, bool is_after) {
  int places = lane_run_places(run);
  LLVMValueRef numbers = value_integer(g->i8, (1 << run->count) - 1);
  if (is_after) before = LLVMBuildNot(g->builder, before, "");
  LLVMValueRef bits = LLVMBuildAnd(g->builder, before, numbers, "");
  LLVMTypeRef narrow = LLVMIntTypeInContext(g->context, (unsigned)places);
  return LLVMBuildBitCast(g->builder, LLVMBuildTrunc(g->builder, bits, narrow, ""),
                          value_lanes(g->bool_type, places), "");
}

typedef struct Places {
  LLVMValueRef begins, ends;
} Places; /* arrays in memory, by lane */

static Places store_places(Codegen *g, const LaneRun *run) {
  int last = run->count - 1;
  LLVMValueRef end = value_operand(g, run->accesses[last], 0);
  end = value_byte_offset(g, end, -last * type_size(run->type));
  return (Places){lane_store_all(g, value_operand(g, run->accesses[0], 0)), lane_store_all(g, end)};
}

static LLVMValueRef place(Codegen *g, const LaneRun *run, LLVMValueRef array, LLVMValueRef lane) {
  return value_byte_offset(g, lane_load_one(g, g->pointer, array, lane), run->apart);
}

static void walk_whole(Codegen *g, const LaneRuns *runs, const Places *places, LaneRunVisit *visit,
                       void *data) {
  SetBits bits = bits_begin(g, lane_bits(g, runs->whole));
  for (int i = 0; i < runs->items.count; i++) {
    const LaneRun *run = &runs->items.items[i];
    LaneRunPart part = {.run = run, .number = i, .lane = bits.position};
    part.mask = run_mask(g, run, value_integer(g->i8, -1), false);
    part.at = place(g, run, places[run->like].begins, part.lane);
    visit(g, data, &part);
  }
  bits_end(g, &bits);
}

static void walk_parted(Codegen *g, const LaneRuns *runs, const Places *places, LaneRunVisit *visit,
                        void *data) {
  LLVMValueRef before[IR_MOST_RUN] = {0};
  for (int i = 0; i < IR_MOST_RUN; i++)
    if (runs->before[i]) before[i] = lane_store_all(g, runs->before[i]);
  SetBits bits = bits_begin(g, lane_bits(g, runs->parted));
  for (int i = 0; i < runs->items.count; i++) {
    const LaneRun *run = &runs->items.items[i];
    LaneRunPart part = {.run = run, .number = i, .lane = bits.position};
    LLVMValueRef own = lane_load_one(g, g->i8, before[run->count - 1], part.lane);
    part.mask = run_mask(g, run, own, false);
    part.at = place(g, run, places[run->like].begins, part.lane);
    visit(g, data, &part);
    part.is_rest = true;
    part.mask = run_mask(g, run, own, true);
    part.at = place(g, run, places[run->like].ends, part.lane);
    visit(g, data, &part);
  }
  bits_end(g, &bits);
}

void lane_walk_runs(Codegen *g, LaneRuns *runs, LaneRunVisit *visit, void *data) {
  Places *places = scratch_array(g->scratch, Places, runs->items.count);
  bool have_masks = true;
  for (int i = 0; i < runs->items.count; i++) {
    const LaneRun *run = &runs->items.items[i];
    have_masks &= has_masks(g, run->type);
    if (run->like == i) places[i] = store_places(g, run);
  }
  walk_whole(g, runs, places, visit, data);
  if (have_masks) walk_parted(g, runs, places, visit, data);
  else runs->others = LLVMBuildOr(g->builder, runs->others, runs->parted, "");
}
