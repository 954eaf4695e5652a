/* vector_runs.c - runs: accesses to adjacent elements, at another place in each lane, like the
 * cells around a particle. A run may have a gap, where a leaf ends:
 *
 *     x[q] x[q + 1] x[q + 2]      whole: |a b c|      parted: |a b| .. |c|      others: anywhere
 *
 * The emitted code compares the addresses of each lane, so a wrong guess costs only time. Lane by
 * lane, a run is one vector, or two if it has a gap; otherwise each element would be an access:
 *
 *     loads     one masked load per lane, and a transposition in registers
 *     updates   x[q] += a; x[q + 1] += b; x[q + 2] += c    =>    load |x x x|, add |a b c|, store
 *
 * Lanes whose elements do not form runs gather them, or update them one by one. A group of runs is
 * done together: by one comparison, and one loop over the lanes. Decision D-codegen-04. */
#include "base/bits.h"
#include "codegen/vector.h"

/* The length of the vector that holds a run. */
static int places_of(const LaneRun *run) {
  ASSERT(run->count >= 1 && run->count <= IR_MOST_RUN, "adjacent elements");
  return run->count == 1 ? 1 : 2 << log2_floor((uint64_t)run->count - 1);
}

static LLVMTypeRef run_type(Codegen *g, const LaneRun *run) {
  return value_vector(g, run->type, places_of(run));
}

/* -- comparing addresses ----------------------------------------------------------------------- */

static LLVMValueRef is_at(Codegen *g, LLVMValueRef from, int64_t bytes, LLVMValueRef at) {
  return build_icmp(g, LLVMIntEQ, value_byte_offset(g, from, bytes), at);
}

typedef struct Compared { /* masks */
  LLVMValueRef whole, parted;
} Compared;

/* Elements before the gap must be adjacent to the first one, the others to the last one. */
static void compare(Codegen *g, LaneRuns *runs, const LaneRun *run, Compared *c) {
  int size = type_size(run->type), last = run->count - 1;
  LLVMTypeRef bytes = value_lanes(g->i8, value_width(runs->mask));
  LLVMValueRef bits = value_integer(bytes, 1), before = LLVMConstAllOnes(LLVMTypeOf(runs->mask));
  for (int k = 1; k <= last; k++) {
    if (!(run->inst->adjacent >> k & 1)) before = is_at(g, run->at[0], k * size, run->at[k]);
    c->whole = build_and(g, c->whole, before);
    LLVMValueRef after = is_at(g, run->at[last], (k - last) * size, run->at[k]);
    LLVMValueRef either = build_or(g, before, after);
    c->parted = build_and(g, c->parted, either);
    LLVMValueRef bit = build_zext(g, before, bytes);
    bit = build_shl(g, bit, value_integer(bytes, k));
    bits = build_or(g, bits, bit);
  }
  LLVMValueRef *alike = &runs->before[last];
  if (!*alike) *alike = bits;
  LLVMValueRef same = build_icmp(g, LLVMIntEQ, *alike, bits);
  c->parted = build_and(g, c->parted, same);
}

static void compare_runs(Codegen *g, LaneRuns *runs) {
  LLVMValueRef all = LLVMConstAllOnes(LLVMTypeOf(runs->mask));
  Compared c = {all, all};
  for (int i = 0; i < runs->items.count; i++)
    if (runs->items.items[i].like == i) compare(g, runs, &runs->items.items[i], &c);
  LLVMValueRef gaps = build_not(g, c.whole);
  runs->whole = lanes_both(g, runs->mask, c.whole);
  runs->parted = lanes_both(g, runs->mask, build_and(g, c.parted, gaps));
  LLVMValueRef none = build_not(g, c.parted);
  runs->others = lanes_both(g, runs->mask, build_and(g, none, gaps));
}

/* -- lane by lane ------------------------------------------------------------------------------ */

typedef struct RunPart {
  const LaneRun *run;
  LLVMValueRef numbers;  /* in memory, by lane: the run's numbers */
  LLVMValueRef lane;     /* i64 */
  LLVMValueRef at, mask; /* address of the vector, and its valid elements */
  LLVMValueRef before;   /* of the part after a gap: what was read before it; else NULL */
} RunPart;

/* Returns what it has read. */
typedef LLVMValueRef VisitRun(Codegen *g, const RunPart *part);

/* A mask of the elements of a lane's run before the gap, or after it. */
static LLVMValueRef run_mask(Codegen *g, const LaneRun *run, LLVMValueRef before, bool is_after) {
  int places = places_of(run);
  LLVMValueRef numbers = value_integer(g->i8, (1 << run->count) - 1);
  if (is_after) before = build_not(g, before);
  LLVMValueRef bits = build_and(g, before, numbers);
  LLVMTypeRef narrow = LLVMIntTypeInContext(g->context, (unsigned)places);
  return build_bitcast(g, build_trunc(g, bits, narrow), value_lanes(g->bool_type, places));
}

typedef struct Places { /* arrays in memory, by lane */
  LLVMValueRef begins, ends;
} Places;

static Places store_places(Codegen *g, const LaneRun *run) {
  int last = run->count - 1;
  LLVMValueRef end = value_byte_offset(g, run->at[last], -last * type_size(run->type));
  return (Places){lanes_in_memory(g, run->at[0]), lanes_in_memory(g, end)};
}

static LLVMValueRef place(Codegen *g, const LaneRun *run, LLVMValueRef array, LLVMValueRef lane) {
  return value_byte_offset(g, lanes_load_one(g, g->pointer, array, lane), run->inst->distance);
}

static void walk_whole(Codegen *g, const LaneRuns *runs, const Places *places,
                       LLVMValueRef *numbers, VisitRun *visit) {
  SetBits bits = bits_begin(g, lanes_bits(g, runs->whole));
  for (int i = 0; i < runs->items.count; i++) {
    const LaneRun *run = &runs->items.items[i];
    RunPart part = {.run = run, .numbers = numbers[i], .lane = bits.position};
    part.mask = run_mask(g, run, value_integer(g->i8, -1), false);
    part.at = place(g, run, places[run->like].begins, part.lane);
    visit(g, &part);
  }
  bits_end(g, &bits);
}

static void walk_parted(Codegen *g, const LaneRuns *runs, const Places *places,
                        LLVMValueRef *numbers, VisitRun *visit) {
  LLVMValueRef before[IR_MOST_RUN] = {0};
  for (int i = 0; i < IR_MOST_RUN; i++)
    if (runs->before[i]) before[i] = lanes_in_memory(g, runs->before[i]);
  SetBits bits = bits_begin(g, lanes_bits(g, runs->parted));
  for (int i = 0; i < runs->items.count; i++) {
    const LaneRun *run = &runs->items.items[i];
    RunPart part = {.run = run, .numbers = numbers[i], .lane = bits.position};
    LLVMValueRef own = lanes_load_one(g, g->i8, before[run->count - 1], part.lane);
    part.mask = run_mask(g, run, own, false);
    part.at = place(g, run, places[run->like].begins, part.lane);
    part.before = visit(g, &part);
    part.mask = run_mask(g, run, own, true);
    part.at = place(g, run, places[run->like].ends, part.lane);
    visit(g, &part);
  }
  bits_end(g, &bits);
}

/* A loop over the lanes with whole runs, and one over those with a gap; all remaining lanes are
 * then in `others`. `numbers`: by run. */
static void walk_runs(Codegen *g, LaneRuns *runs, LLVMValueRef *numbers, VisitRun *visit) {
  Places *places = scratch_array(g->scratch, Places, runs->items.count);
  compare_runs(g, runs);
  for (int i = 0; i < runs->items.count; i++) {
    const LaneRun *run = &runs->items.items[i];
    if (run->like == i) places[i] = store_places(g, run);
  }
  walk_whole(g, runs, places, numbers, visit);
  if (runs->gaps) walk_parted(g, runs, places, numbers, visit);
  else runs->others = build_or(g, runs->others, runs->parted);
}

typedef struct Others { /* the block for lanes whose elements do not form runs */
  LLVMBasicBlockRef from, end;
} Others;

static Others others_begin(Codegen *g, const LaneRuns *runs) {
  LLVMBasicBlockRef some = block_new(g, "others");
  Others others = {block_here(g), block_new(g, "others.end")};
  block_enter_if(g, lanes_any(g, runs->others), some, others.end);
  return others;
}

/* Returns the last block that had the other lanes. */
static LLVMBasicBlockRef others_end(Codegen *g, const Others *others) {
  LLVMBasicBlockRef last = block_here(g);
  block_follow(g, others->end);
  return last;
}

static LLVMValueRef masked_load(Codegen *g, const RunPart *part, LLVMValueRef otherwise) {
  int64_t size = type_size(part->run->type);
  return lanes_take(g, run_type(g, part->run), part->at, size, part->mask, otherwise);
}

/* -- loads ------------------------------------------------------------------------------------- */

static LLVMValueRef read_part(Codegen *g, const RunPart *part) {
  LLVMValueRef numbers = masked_load(g, part, part->before);
  lanes_store_one(g, part->numbers, part->lane, numbers);
  return numbers;
}

/* Transposes the lanes' runs to a vector for each number of the run. */
static void load_vectors(Codegen *g, const LaneRuns *runs, LaneRun *run, LLVMValueRef numbers) {
  int places = places_of(run);
  LLVMTypeRef type = value_vector(g, run->type, value_width(runs->mask));
  LLVMValueRef vectors[IR_MOST_RUN];
  for (int v = 0; v < places; v++) vectors[v] = lanes_load_one(g, type, numbers, value_index(g, v));
  vector_split(g, vectors, places);
  for (int k = 0; k < run->count; k++) run->values[k] = vectors[k];
}

typedef LLVMValueRef Numbers[IR_MOST_RUN];

static void gather_others(Codegen *g, LaneRuns *runs) {
  Numbers *blends = scratch_array(g->scratch, Numbers, runs->items.count);
  Others others = others_begin(g, runs);
  for (int i = 0; i < runs->items.count; i++)
    for (int k = 0; k < runs->items.items[i].count; k++) {
      LaneRun *run = &runs->items.items[i];
      LLVMValueRef each = vector_gather(g, run->type, run->at[k], runs->others);
      blends[i][k] = build_select(g, runs->others, each, run->values[k]);
    }
  LLVMBasicBlockRef back = others_end(g, &others);
  for (int i = 0; i < runs->items.count; i++)
    for (int k = 0; k < runs->items.items[i].count; k++) {
      LLVMValueRef *value = &runs->items.items[i].values[k];
      *value = build_either(g, *value, others.from, blends[i][k], back);
    }
}

void vector_load_runs(Codegen *g, LaneRuns *runs) {
  ASSERT(runs->items.count > 0, "a group has a run");
  LLVMValueRef *numbers = scratch_array(g->scratch, LLVMValueRef, runs->items.count);
  for (int i = 0; i < runs->items.count; i++) {
    LLVMTypeRef type = run_type(g, &runs->items.items[i]);
    numbers[i] = block_variable(g, LLVMArrayType2(type, (uint64_t)value_width(runs->mask)), "runs");
  }
  walk_runs(g, runs, numbers, read_part);
  for (int i = 0; i < runs->items.count; i++)
    load_vectors(g, runs, &runs->items.items[i], numbers[i]);
  gather_others(g, runs);
}

/* -- updates ----------------------------------------------------------------------------------- */

/* Stores the operands of the updates in memory, one run after the other, by lane. */
static LLVMValueRef store_values(Codegen *g, const LaneRuns *runs, const LaneRun *run) {
  int places = places_of(run), width = value_width(runs->mask);
  LLVMTypeRef lanes = value_vector(g, run->type, width);
  LLVMValueRef vectors[IR_MOST_RUN],
      all = block_variable(g, LLVMArrayType2(lanes, (uint64_t)places), "runs");
  for (int k = 0; k < places; k++)
    vectors[k] = k < run->count ? run->values[k] : LLVMGetPoison(lanes);
  vector_join(g, vectors, places);
  for (int k = 0; k < places; k++)
    build_store(g, vectors[k],
                value_byte_offset(g, all, (int64_t)k * width * type_size(run->type)));
  return all;
}

static LLVMValueRef update_part(Codegen *g, const RunPart *part) {
  const LaneRun *run = part->run;
  LLVMValueRef by = lanes_load_one(g, run_type(g, run), part->numbers, part->lane),
               old = masked_load(g, part, NULL);
  LLVMValueRef updated = arith_update(g, (IrUpdate)run->inst->imm, run->type, old, by);
  lanes_put(g, updated, part->at, type_size(run->type), part->mask);
  return old;
}

static void update_each(Codegen *g, const LaneRun *run, LLVMValueRef values,
                        const LLVMValueRef *places, LLVMValueRef lane) {
  LLVMValueRef first = build_mul(g, lane, value_index(g, places_of(run)));
  for (int k = 0; k < run->count; k++) {
    LLVMValueRef number = build_add(g, first, value_index(g, k)),
                 at = place(g, run, places[k], lane),
                 by = lanes_load_one(g, value_type(g, run->type), values, number);
    const Element of = {run->type, run->inst->alias};
    LLVMValueRef old = access_load(g, of, at);
    access_store(g, of, at, arith_update(g, (IrUpdate)run->inst->imm, run->type, old, by));
  }
}

static void update_others(Codegen *g, const LaneRuns *runs, LLVMValueRef *values) {
  int count = runs->items.count;
  Numbers *places = scratch_array(g->scratch, Numbers, count);
  Others others = others_begin(g, runs);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < runs->items.items[i].count && runs->items.items[i].like == i; k++)
      places[i][k] = lanes_in_memory(g, runs->items.items[i].at[k]);
  SetBits bits = bits_begin(g, lanes_bits(g, runs->others));
  for (int i = 0; i < count; i++)
    update_each(g, &runs->items.items[i], values[i], places[runs->items.items[i].like],
                bits.position);
  bits_end(g, &bits);
  others_end(g, &others);
}

void vector_update_runs(Codegen *g, LaneRuns *runs) {
  LLVMValueRef *values = scratch_array(g->scratch, LLVMValueRef, runs->items.count);
  for (int i = 0; i < runs->items.count; i++)
    values[i] = store_values(g, runs, &runs->items.items[i]);
  walk_runs(g, runs, values, update_part);
  update_others(g, runs, values);
}
