/* lane_runs.c - runs: accesses to adjacent elements, at another place in each lane, like the cells
 * around a particle. Candidates are guessed (ir/address.h); a run may have a gap, where a leaf
 * ends:
 *
 *     x[q] x[q + 1] x[q + 2]      whole: |a b c|      parted: |a b| .. |c|      others: anywhere
 *
 * The emitted code compares the addresses of each lane, so a wrong guess costs only time.
 * Decision D-codegen-04. */
#include <stdlib.h>

#include "base/bits.h"
#include "codegen/emit.h"
#include "ir/address.h"

enum { MOST_BYTES = 32 /* of a run */, MASKED = 64 };

/* -- finding runs ------------------------------------------------------------------------------ */

static int by_address(const void *a, const void *b) {
  const IrAddress *left = a, *right = b;
  int64_t order = ir_address_compare(left, right);
  if (!order) order = left->bytes - right->bytes;
  if (!order) order = left->access->id - right->access->id;
  return (order > 0) - (order < 0);
}

bool lane_has_masks(const Codegen *g, Type type) { return g->width * type_size(type) >= MASKED; }

static int run_length(const Codegen *g, const IrAddress *first, int left) {
  Type type = ir_accessed(first->access);
  int most = (int)min_i64(LANE_MOST_RUN, MOST_BYTES / type_size(type)), count = 1;
  while (count < left && count < most && ir_address_follows(&first[count - 1], &first[count]))
    count++;
  return lane_has_masks(g, type) ? count : 1 << log2_floor((uint64_t)count);
}

LaneRuns lane_find_runs(Codegen *g, const IrInst *const *accesses, int count, int shortest) {
  LaneRuns runs = {0};
  IrAddress *addresses = scratch_array(g->scratch, IrAddress, count);
  int known = 0;
  for (int i = 0; i < count; i++)
    if (lane_shape(g, accesses[i]->operands[0]) == LANE_VARYING)
      known += ir_address(accesses[i], &addresses[known]);
  qsort(addresses, (size_t)known, sizeof *addresses, by_address);
  for (int i = 0, length; i < known; i += length) {
    LaneRun run = {.type = ir_accessed(addresses[i].access)};
    run.count = length = run_length(g, &addresses[i], known - i);
    if (length < shortest) continue;
    for (int k = 0; k < length; k++) run.accesses[k] = addresses[i + k].access;
    vec_push(g->scratch, &runs.items, run);
    runs.saved += length - 1;
  }
  return runs;
}

bool lane_is_in_runs(const LaneRuns *runs, const IrInst *access) {
  for (int i = 0; i < runs->items.count; i++)
    for (int k = 0; k < runs->items.items[i].count; k++)
      if (runs->items.items[i].accesses[k] == access) return true;
  return false;
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
  LLVMValueRef before[LANE_MOST_RUN] = {0};
  for (int i = 0; i < LANE_MOST_RUN; i++)
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
    have_masks &= lane_has_masks(g, run->type);
    if (run->like == i) places[i] = store_places(g, run);
  }
  walk_whole(g, runs, places, visit, data);
  if (have_masks) walk_parted(g, runs, places, visit, data);
  else runs->others = LLVMBuildOr(g->builder, runs->others, runs->parted, "");
}
