/* lane_runs.c - runs: accesses to adjacent elements, at a different place in each lane, like the
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
#include "pass/rewrite.h"
#include "pass/vector/lane_accesses.h"

typedef struct Run {
  const IrInst *op;        /* LANES_LOAD, LANES_UPDATE */
  Type type;               /* of an element */
  int count;               /* of elements */
  IrInst *at[IR_MAX_RUN];  /* lanes of addresses */
  IrInst *own[IR_MAX_RUN]; /* what is added, or a variable for what is read */
  uint32_t adjacent; /* a bit for each address that is known to be adjacent to the previous one */
  /* the first run of the group whose addresses differ from these by a constant number of bytes, as
   * with runs of several fields: one comparison serves both */
  int like;
  int64_t distance;
  IrInst *begins, *ends; /* variables: addresses of the first number, if the last one is adjacent */
  IrInst *numbers;       /* memory: each lane's run, one after the other */
} Run;

typedef struct Runs {
  IrBuilder b;
  Run *items;
  int count, width;
  bool loads;
  bool gaps; /* of a run that has a gap, both parts are vectors */
  IrInst *mask;
  /* the active lanes in which no run has a gap; in which all have the same gap; in which some run
   * is not contiguous in another way */
  IrInst *whole, *parted, *others;
  /* by the number of a run's last element, a u8 per lane: bit k is set if element k is before the
   * gap */
  IrInst *before[IR_MAX_RUN];
} Runs;

/* The length of the vector that holds a run. */
static int places_of(const Run *run) {
  ASSERT(run->count > 1 && run->count <= IR_MAX_RUN, "adjacent elements");
  return 2 << log2_floor((uint64_t)run->count - 1);
}

static Type vector_of(const Run *run) { return ir_lanes_type(run->type, places_of(run)); }

/* -- comparing addresses ----------------------------------------------------------------------- */

static IrInst *is_at(Runs *r, IrInst *from, int64_t bytes, IrInst *at) {
  return ir_binary(&r->b, IR_EQ, lane_moved(&r->b, from, bytes), at);
}

static IrInst *active(Runs *r, IrInst *condition) {
  return ir_binary(&r->b, IR_MASK_AND, r->mask, condition);
}

/* Elements before the gap must be adjacent to the first one, the others to the last one. `whole`
 * and `parted`: the lanes of which all runs so far are; NULL: there was none. */
static void compare(Runs *r, const Run *run, IrInst **whole, IrInst **parted) {
  IrBuilder *b = &r->b;
  int size = type_size(run->type), last = run->count - 1;
  Type bytes = ir_lanes_type(TYPE(U8), r->width);
  IrInst *bits = ir_const_int(b, bytes, 1), *before = lane_mask_all(b, r->width);
  for (int k = 1; k <= last; k++) {
    if (!(run->adjacent >> k & 1)) before = is_at(r, run->at[0], k * size, run->at[k]);
    *whole = rewrite_both(b, *whole, before);
    IrInst *after = is_at(r, run->at[last], (k - last) * size, run->at[k]);
    *parted = rewrite_both(b, *parted, ir_binary(b, IR_BOR, before, after));
    IrInst *bit = ir_binary(b, IR_SHL, ir_convert(b, before, bytes), ir_const_int(b, bytes, k));
    bits = ir_binary(b, IR_BOR, bits, bit);
  }
  IrInst **alike = &r->before[last];
  if (*alike) *parted = rewrite_both(b, *parted, ir_binary(b, IR_EQ, *alike, bits));
  else *alike = bits;
}

static void compare_all(Runs *r) {
  IrBuilder *b = &r->b;
  IrInst *whole = NULL, *parted = NULL;
  for (int i = 0; i < r->count; i++)
    if (r->items[i].like == i) compare(r, &r->items[i], &whole, &parted);
  IrInst *gaps = ir_unary(b, IR_BNOT, whole);
  r->whole = active(r, whole);
  r->parted = active(r, ir_binary(b, IR_BAND, parted, gaps));
  IrInst *none = ir_unary(b, IR_BNOT, parted);
  r->others = active(r, ir_binary(b, IR_BAND, none, gaps));
  if (!r->gaps) r->others = ir_binary(b, IR_BOR, r->others, r->parted);
}

/* -- lane by lane ------------------------------------------------------------------------------ */

/* The place of the lane's run in `numbers`. */
static IrInst *own_place(IrBuilder *b, const Run *run, IrInst *lane) {
  return ir_offset(b, run->numbers, lane, type_size(vector_of(run)), 0);
}

/* Loads or updates a part of a lane's run: the elements of the mask, of the vector at `at`.
 * `before`: the values of the other elements; NULL: none. Returns the values that it has loaded. */
static IrInst *visit(Runs *r, const Run *run, IrInst *lane, IrInst *at, IrInst *elements,
                     IrInst *before) {
  IrBuilder *b = &r->b;
  Type type = vector_of(run);
  IrInst *own = own_place(b, run, lane);
  if (r->loads) {
    IrInst *operands[] = {at, before ? before : elements, elements};
    IrInst *read = ir_emit(b, IR_LANES_LOAD, type, before ? 3 : 2, operands);
    lane_store_all(b, own, read);
    return read;
  }
  IrInst *by = lane_load_all(b, type, own);
  IrInst *old = ir_lanes_load(b, type, at, elements);
  IrInst *updated = rewrite_update_value(b, (IrUpdate)run->op->imm, old, by);
  ir_lanes_store(b, at, updated, elements);
  return old;
}

static IrInst *place_of(Runs *r, const Run *run, bool is_end, IrInst *lane) {
  const Run *like = &r->items[run->like];
  return lane_moved(&r->b, ir_lane_get(&r->b, is_end ? like->ends : like->begins, lane),
                    run->distance);
}

static uint64_t all_elements(const Run *run) { return (UINT64_C(1) << run->count) - 1; }

static void walk_whole(Runs *r) {
  IrBuilder outside = r->b;
  IrInst *lane = lane_enter_loop(&r->b, r->whole);
  for (int i = 0; i < r->count; i++) {
    const Run *run = &r->items[i];
    IrInst *elements = lane_mask(&r->b, all_elements(run), places_of(run));
    visit(r, run, lane, place_of(r, run, false, lane), elements, NULL);
  }
  r->b = outside;
}

/* A mask of the elements of a lane's run before the gap, or after it. */
static IrInst *elements_of(IrBuilder *b, const Run *run, IrInst *before, bool is_after) {
  if (is_after) before = ir_unary(b, IR_BNOT, before);
  IrInst *numbers = ir_const_int(b, TYPE(U8), (int64_t)all_elements(run));
  return ir_mask_of_bits(b, ir_binary(b, IR_BAND, before, numbers), places_of(run));
}

static void walk_parted(Runs *r) {
  IrInst *before[IR_MAX_RUN] = {0};
  for (int i = 0; i < IR_MAX_RUN; i++)
    if (r->before[i]) before[i] = ir_variable(&r->b, r->before[i]);
  IrBuilder outside = r->b;
  IrInst *lane = lane_enter_loop(&r->b, r->parted);
  for (int i = 0; i < r->count; i++) {
    const Run *run = &r->items[i];
    IrInst *own = ir_lane_get(&r->b, before[run->count - 1], lane);
    IrInst *elements = elements_of(&r->b, run, own, false);
    IrInst *read = visit(r, run, lane, place_of(r, run, false, lane), elements, NULL);
    elements = elements_of(&r->b, run, own, true);
    visit(r, run, lane, place_of(r, run, true, lane), elements, read);
  }
  r->b = outside;
}

/* A loop over the lanes with whole runs, and one over those with a gap; all remaining lanes are
 * then in `others`. */
static void walk(Runs *r) {
  compare_all(r);
  for (int i = 0; i < r->count; i++) {
    Run *run = &r->items[i];
    int last = run->count - 1;
    if (run->like != i) continue;
    run->begins = ir_variable(&r->b, run->at[0]);
    run->ends = ir_variable(&r->b, lane_moved(&r->b, run->at[last], -last * type_size(run->type)));
  }
  walk_whole(r);
  if (r->gaps) walk_parted(r);
}

/* Enters an `if` for the lanes whose elements do not form runs. */
static void enter_others(Runs *r) {
  IrInst *any = ir_if(&r->b, ir_unary(&r->b, IR_MASK_ANY, r->others));
  r->b = rewrite_inside(r->b.kernel, any->regions[0], any);
}

/* -- loads ------------------------------------------------------------------------------------- */

/* Transposes the lanes' runs to a vector for each number of the run. */
static void load_vectors(Runs *r, const Run *run) {
  int places = places_of(run);
  Type type = ir_lanes_type(run->type, r->width);
  IrInst *vectors[IR_MAX_RUN];
  for (int k = 0; k < places; k++)
    vectors[k] = lane_load_all(&r->b, type, lane_moved(&r->b, run->numbers, k * type_size(type)));
  lane_split(&r->b, vectors, places, r->width);
  for (int k = 0; k < run->count; k++) ir_set(&r->b, run->own[k], vectors[k]);
}

static void gather_others(Runs *r) {
  IrBuilder outside = r->b;
  enter_others(r);
  for (int i = 0; i < r->count; i++)
    for (int k = 0; k < r->items[i].count; k++) {
      IrInst *own = r->items[i].own[k];
      IrInst *each = ir_lanes_load(&r->b, own->type, r->items[i].at[k], r->others);
      ir_set(&r->b, own, ir_select(&r->b, r->others, each, ir_get(&r->b, own)));
    }
  r->b = outside;
}

static IrInst *numbers_of(Runs *r, const Run *run) {
  IrInst *memory = ir_emit(&r->b, IR_STACK, TYPE(PTR), 0, NULL);
  memory->imm = (int64_t)r->width * type_size(vector_of(run));
  return memory;
}

static void load_runs(Runs *r) {
  for (int i = 0; i < r->count; i++) r->items[i].numbers = numbers_of(r, &r->items[i]);
  walk(r);
  for (int i = 0; i < r->count; i++) load_vectors(r, &r->items[i]);
  gather_others(r);
}

/* -- updates ----------------------------------------------------------------------------------- */

/* Stores the operands of the updates in memory, one run after the other, by lane. */
static void store_values(Runs *r, Run *run) {
  int places = places_of(run);
  IrInst *vectors[IR_MAX_RUN] = {0};
  for (int k = 0; k < run->count; k++) vectors[k] = run->own[k];
  lane_join(&r->b, vectors, places, r->width);
  run->numbers = numbers_of(r, run);
  int64_t bytes = type_size(ir_lanes_type(run->type, r->width));
  for (int k = 0; k < places; k++)
    if (vectors[k]) lane_store_all(&r->b, lane_moved(&r->b, run->numbers, k * bytes), vectors[k]);
}

static void update_each(Runs *r, const Run *run, IrInst *const *places, IrInst *lane) {
  IrBuilder *b = &r->b;
  IrInst *own = own_place(b, run, lane);
  for (int k = 0; k < run->count; k++) {
    IrInst *from = lane_moved(b, own, k * type_size(run->type));
    IrInst *at = lane_moved(b, ir_lane_get(b, places[k], lane), run->distance);
    IrInst *by = ir_mem_load(b, run->type, from);
    IrInst *update = ir_emit(b, IR_MEM_UPDATE, TYPE(NONE), 2, (IrInst *[]){at, by});
    update->imm = run->op->imm;
    update->nonatomic = true;
  }
}

static void update_others(Scratch *scratch, Runs *r) {
  typedef IrInst *Variables[IR_MAX_RUN];
  Variables *places = scratch_array(scratch, Variables, r->count);
  IrBuilder outside = r->b;
  enter_others(r);
  for (int i = 0; i < r->count; i++)
    for (int k = 0; k < r->items[i].count && r->items[i].like == i; k++)
      places[i][k] = ir_variable(&r->b, r->items[i].at[k]);
  IrInst *lane = lane_enter_loop(&r->b, r->others);
  for (int i = 0; i < r->count; i++) update_each(r, &r->items[i], places[r->items[i].like], lane);
  r->b = outside;
}

static void update_runs(Scratch *scratch, Runs *r) {
  for (int i = 0; i < r->count; i++) store_values(r, &r->items[i]);
  walk(r);
  update_others(scratch, r);
}

/* -- groups ------------------------------------------------------------------------------------ */

/* Which addresses of the run are adjacent in every lane, and which run has addresses like its. */
static void find_distances(const Runs *r, int number) {
  Run *run = &r->items[number];
  int64_t bytes, size = type_size(run->type);
  run->like = number;
  for (int k = 1; k < run->count; k++)
    if (ir_differ_by_constant(run->at[k - 1], run->at[k], &bytes) && bytes == size)
      run->adjacent |= 1u << k;
  for (int other = 0; other < number && run->like == number; other++) {
    const Run *first = &r->items[other];
    int64_t distance = 0;
    bool is_like = first->like == other && first->count == run->count &&
                   ir_differ_by_constant(first->at[0], run->at[0], &distance);
    for (int k = 1; is_like && k < run->count; k++)
      is_like = ir_differ_by_constant(first->at[k], run->at[k], &bytes) && bytes == distance;
    if (!is_like) continue;
    run->like = other;
    run->distance = distance;
  }
}

void lane_runs(LaneAccesses *l, const IrGroup *group) {
  const IrInst *last = vec_last(group);
  Runs r = {.b = l->b,
            .items = scratch_array(l->scratch, Run, group->count),
            .count = group->count,
            .loads = last->op == IR_LANES_LOAD,
            .gaps = true,
            .mask = last->operands[last->operand_count - 1]};
  r.width = type_rows(r.mask->type);
  for (int i = 0; i < r.count; i++) {
    Run *run = &r.items[i];
    run->op = group->items[i];
    run->count = run->op->parts;
    run->type = type_element(run->op->operands[run->count]->type);
    r.gaps &= r.width * type_size(run->type) >= IR_MASKED_BYTES;
    for (int k = 0; k < run->count; k++) {
      run->at[k] = run->op->operands[k];
      run->own[k] = run->op->operands[run->count + k];
    }
    find_distances(&r, i);
  }
  if (r.loads) load_runs(&r);
  else update_runs(l->scratch, &r);
}
