/* lane_cells.c - accesses to numbers of cells, where each lane accesses its own cell.
 *
 * `strided`: the cells of adjacent lanes are adjacent, as of `aos` fields, so full vectors are
 * read and written, and transposed in registers (shuffles.c):
 *
 *     lanes 0 1 2 3 of cells x y z:   |x y z x|y z x y|z x y z|  <->  |x x x x|y y y y|z z z z|
 *
 * Accesses to one cell say which of its numbers are accessed together (`numbers`): the window, from
 * the first of them to the last; nothing outside is read or written. A store has a value for each
 * of its numbers; a mask omits the others. The hardware prefetcher is too late for large cells, so
 * some accesses have explicit prefetches. Decision D-codegen-02.
 *
 * `cells`: each lane has the address of its cell, as of x[p[i]]. One vector load per lane, or few,
 * reads the numbers, which are then transposed; gathers would read each number of each lane by
 * itself:
 *
 *     lane 0: |x y z w|   lane 1: |x y z w| ..   ->   |x x x ..| |y y y ..| |z z z ..| |w w w ..|
 *
 * Only the range from the first number to the last is accessed; inactive lanes read zeros.
 * Decision D-codegen-03. */
#include "base/bits.h"
#include "pass/rewrite.h"
#include "pass/vector/lane_accesses.h"

enum {
  LINE = 64,            /* bytes */
  SHORTEST_MASKED = 32, /* bytes: under a mask, lanes of shorter vectors are accessed one by one */
  FEW_PARTS = 4
};

/* The type as which lanes of `type` are in memory, where a bool is a byte. */
static Type memory_of(Type type) { return type_is_bool(type) ? TYPE(U8) : type; }

/* -- windows ----------------------------------------------------------------------------------- */

typedef struct Window {
  IrBuilder *b;
  const IrInst *access;
  Type lanes;       /* of a vector of it */
  IrInst *mask;     /* NULL: all lanes are active */
  int width, parts; /* numbers per cell, from one lane to the next */
  int count;        /* numbers in the window */
  int own;          /* the access's number in the window */
  int64_t size;     /* bytes of a number */
  IrInst *base;     /* lane 0's first number in the window */
} Window;

/* The type depends on the size alone, since numbers of one cell may differ in type; floats have the
 * better shuffles. */
static Type slice_type(Type type, int width) {
  int64_t size = type_size(type);
  Type like = size == 4 ? TYPE(F32) : size == 8 ? TYPE(F64) : size == 2 ? TYPE(I16) : TYPE(I8);
  return ir_lanes_type(like, width);
}

static int lowest(const IrInst *access) { return __builtin_ctz((unsigned)access->numbers); }

/* An access to number `part`; `mask` NULL: all lanes are active. */
static Window window_of(LaneAccesses *l, const IrInst *access, Type type, int part, IrInst *mask) {
  int low = lowest(access), high = 31 - __builtin_clz((unsigned)access->numbers);
  const IrInst *lanes = access->operands[access->operand_count - 1];
  Window w = {.b = &l->b, .access = access, .mask = mask, .parts = access->parts};
  w.width = type_rows(lanes->type);
  w.lanes = slice_type(type, w.width);
  w.size = type_size(type);
  w.count = high - low + 1;
  w.own = part - low;
  w.base = lane_moved(w.b, access->operands[0], -w.own * w.size);
  return w;
}

static int length_of(const Window *w) { return (w->width - 1) * w->parts + w->count; }

/* -- slices: vectors that cover the window ----------------------------------------------------- */

/* The number of the window that a slice begins with. The last slice ends with the window, so that
 * it may overlap the one before: a load of what follows would wait for a store that reaches it,
 * even where a mask omits that part. */
static int first_of(const Window *w, int slice) {
  int first = slice * w->width, last = length_of(w) - w->width;
  return first < last ? first : last;
}

static IrInst *slice_address(const Window *w, int first) {
  return lane_moved(w->b, w->base, first * w->size);
}

/* The mask of a slice: numbers of active lanes that are among `numbers` (a bit for each). NULL: no
 * lane has any. */
static IrInst *slice_mask(const Window *w, int first, uint32_t numbers) {
  int picks[IR_MAX_LANES];
  uint64_t bits = 0;
  for (int i = 0; i < w->width; i++) {
    int at = first + i, lane = at / w->parts;
    bool is_in = lane < w->width && numbers >> at % w->parts & 1;
    picks[i] = is_in ? lane : w->width;
    bits |= (uint64_t)is_in << i;
  }
  if (!bits) return NULL;
  if (!w->mask) return lane_mask(w->b, bits, w->width);
  return lane_shuffle(w->b, w->mask, ir_const_int(w->b, w->mask->type, 0), picks, w->width);
}

static IrInst *load_masked(const Window *w, IrInst *at, IrInst *mask, IrInst *otherwise) {
  IrInst *operands[] = {at, otherwise ? otherwise : mask, mask};
  return ir_emit(w->b, IR_LANES_LOAD, w->lanes, otherwise ? 3 : 2, operands);
}

static IrInst *load_slice(const Window *w, int first) {
  if (first >= length_of(w)) return ir_zero(w->b, w->lanes);
  IrInst *at = slice_address(w, first);
  if (!w->mask && first + w->width <= length_of(w)) return lane_load_all(w->b, w->lanes, at);
  return load_masked(w, at, slice_mask(w, first, (1u << w->count) - 1), NULL);
}

static void fetch_ahead(const Window *w, bool writes) {
  if (!w->access->prefetch || w->mask) return;
  for (int64_t at = 0; at < w->parts * w->width * w->size; at += LINE) {
    IrInst *operands[] = {lane_moved(w->b, w->base, IR_AHEAD + at),
                          ir_const_int(w->b, TYPE(I32), writes)};
    ir_call(w->b, RT_FETCH, 0, 0, 2, operands);
  }
}

/* -- strided loads ----------------------------------------------------------------------------- */

static IrInst *load_all(const Window *w) {
  IrInst *vectors[IR_MAX_PARTS];
  for (int slice = 0; slice < w->parts; slice++) vectors[slice] = load_slice(w, slice * w->width);
  lane_split(w->b, vectors, w->parts, w->width);
  return vectors[w->own];
}

/* For an odd number of parts, no two lanes' numbers are in the same place of a vector, so blends
 * combine all vectors into one. */
static IrInst *load_blended(const Window *w) {
  Window own = *w;
  own.base = lane_moved(w->b, w->base, w->own * w->size);
  own.count = w->count - w->own;
  own.own = 0;
  IrInst *all = load_slice(&own, 0);
  for (int first = w->width; first <= (w->width - 1) * w->parts; first += w->width) {
    IrInst *at = slice_address(&own, first), *mask = slice_mask(&own, first, 1);
    if (!mask) continue; /* a slice within the cell of one lane */
    all = first + w->width <= length_of(&own)
              ? ir_select(w->b, mask, lane_load_all(w->b, w->lanes, at), all)
              : load_masked(w, at, mask, all);
  }
  return lane_sorted(w->b, all, w->parts);
}

static IrInst *load_picked(const Window *w) {
  IrInst *sum = NULL;
  int picks[IR_MAX_LANES];
  for (int slice = 0; slice * w->width < length_of(w); slice++) {
    bool any = false;
    int first = first_of(w, slice);
    for (int lane = 0; lane < w->width; lane++) {
      int place = lane * w->parts + w->own - first;
      bool is_in = place >= 0 && place < w->width;
      any |= is_in;
      picks[lane] = is_in ? w->width + place : lane;
    }
    if (!any) continue;
    if (!sum) sum = ir_zero(w->b, w->lanes);
    sum = lane_shuffle(w->b, sum, load_slice(w, first), picks, w->width);
  }
  return sum;
}

/* Accesses the number of each lane separately, at a constant distance from the next lane's. */
static IrInst *spread(const Window *w, int number) {
  IrInst *at = lane_moved(w->b, w->base, number * w->size);
  return ir_step(w->b, at, w->width, w->parts * w->size);
}

static IrInst *load_each(const Window *w) {
  const IrInst *load = w->access;
  IrInst *each = ir_lanes_load(w->b, load->type, spread(w, w->own), w->mask);
  each->alias = load->alias;
  return each;
}

static bool is_each_by_itself(const Window *w) {
  return w->mask && w->width * w->size < SHORTEST_MASKED;
}

/* A cell of few numbers in vectors of a whole line is read by as few loads as hold its numbers;
 * else, if most numbers of the window are read, all are: each load is the same code, of which LLVM
 * keeps one copy. Decision D-codegen-02. */
static IrInst *load_window(const Window *w) {
  const IrInst *load = w->access;
  if (is_each_by_itself(w)) return load_each(w);
  bool is_simple = w->parts <= FEW_PARTS && w->width * w->size >= LINE;
  bool splits = !is_simple && 2 * __builtin_popcount((unsigned)load->numbers) > w->parts;
  fetch_ahead(w, false);
  IrInst *value = splits                                   ? load_all(w)
                  : !is_simple && w->parts % 2 && !w->mask ? load_blended(w)
                                                           : load_picked(w);
  Type memory = ir_lanes_type(memory_of(type_element(load->type)), w->width);
  if (!type_equal(value->type, memory)) value = ir_emit(w->b, IR_BITCAST, memory, 1, &value);
  return ir_convert(w->b, value, load->type);
}

/* -- full vectors and masks ------------------------------------------------------------------- */

/* NULL: that of all lanes. */
static IrInst *mask_of(const IrInst *access) {
  IrInst *mask = access->operands[access->operand_count - 1];
  int64_t is_all;
  return ir_is_const(mask, &is_all) && is_all ? NULL : mask;
}

/* -- strided stores ---------------------------------------------------------------------------- */

static void store_slice(const Window *w, IrInst *const *vectors, int slice) {
  uint32_t numbers = (uint32_t)w->access->numbers >> lowest(w->access);
  if (slice * w->width >= length_of(w)) return;
  int first = first_of(w, slice), picks[IR_MAX_LANES];
  IrInst *at = slice_address(w, first), *mask = slice_mask(w, first, numbers);
  IrInst *value = vectors[slice];
  if (!mask) return;
  for (int i = 0; i < w->width; i++) picks[i] = first - (slice - 1) * w->width + i;
  if (first < slice * w->width)
    value = lane_shuffle(w->b, vectors[slice - 1], value, picks, w->width);
  ir_lanes_store(w->b, at, value, mask);
}

static void store_each(const Window *w, IrInst *const *values) {
  for (int part = 0; part < w->parts; part++) {
    if (!(w->access->numbers >> part & 1)) continue;
    IrInst *at = spread(w, part - lowest(w->access));
    ir_lanes_store(w->b, at, *values++, w->mask)->alias = w->access->alias;
  }
}

static IrInst *to_slice(const Window *w, IrInst *value) {
  Type memory = ir_lanes_type(memory_of(type_element(value->type)), w->width);
  value = ir_convert(w->b, value, memory);
  return type_equal(memory, w->lanes) ? value : ir_emit(w->b, IR_BITCAST, w->lanes, 1, &value);
}

/* All numbers of the cells of all lanes. */
static void store_whole(LaneAccesses *l, const Window *w, IrInst *const *vectors) {
  IrInst *operands[IR_MAX_PARTS + 2] = {w->base};
  const IrInst *store = w->access;
  for (int k = 0; k < w->parts; k++) operands[k + 1] = vectors[k];
  operands[w->parts + 1] = lane_mask_all(w->b, w->width);
  if (!store->nontemporal || !l->streams) fetch_ahead(w, true);
  IrInst *all = ir_emit(w->b, IR_LANES_STORE, TYPE(NONE), w->parts + 2, operands);
  all->nontemporal = store->nontemporal;
  all->aligns = store->aligns;
}

static void store_window(LaneAccesses *l, const IrInst *store, IrInst *mask) {
  IrInst *vectors[IR_MAX_PARTS] = {0}, *const *values = store->operands + 1;
  Type type = type_element(store->operands[1]->type);
  int low = lowest(store);
  const Window w = window_of(l, store, type, low, mask);
  if (is_each_by_itself(&w)) return store_each(&w, values);
  for (int part = low; part < w.parts; part++)
    if (store->numbers >> part & 1) vectors[part - low] = to_slice(&w, *values++);
  lane_join(&l->b, vectors, w.parts, w.width);
  if (!mask && store->numbers == (1 << w.parts) - 1) return store_whole(l, &w, vectors);
  fetch_ahead(&w, true);
  for (int slice = 0; slice < w.parts; slice++) store_slice(&w, vectors, slice);
}

/* -- both ways --------------------------------------------------------------------------------- */

static IrInst *write_way(LaneAccesses *l, const IrInst *access, IrInst *mask) {
  if (access->op == IR_LANES_STORE) return store_window(l, access, mask), NULL;
  const Window w = window_of(l, access, type_element(access->type), access->part, mask);
  return load_window(&w);
}

/* How an access is written depends on whether all lanes are active. If that differs between copies
 * of the body, both ways are written, in the arms of an `if`: arm 0 is for all lanes. */
IrInst *lane_strided(LaneAccesses *l, const IrInst *access) {
  IrInst *mask = mask_of(access);
  if (!mask || mask != l->may_be_all) return write_way(l, access, mask);
  IrInst *variable = access->op == IR_LANES_LOAD ? ir_var(&l->b, access->type) : NULL;
  IrInst *ways = ir_if(&l->b, ir_unary(&l->b, IR_MASK_FULL, mask));
  IrBuilder outside = l->b;
  for (int arm = 0; arm < 2; arm++) {
    l->b = rewrite_inside(l->kernel, ways->regions[arm], access);
    IrInst *value = write_way(l, access, arm ? mask : NULL);
    if (variable) ir_set(&l->b, variable, value);
  }
  l->b = outside;
  return variable ? ir_get(&l->b, variable) : NULL;
}

/* -- cells: a vector load per lane ------------------------------------------------------------- */

enum { CHUNK = 16 /* bytes of a load */ };

typedef struct Cells {
  IrBuilder *b;
  Type type;        /* of a number, in memory */
  int width;        /* lanes */
  int numbers;      /* per lane and load: 2 or 4 */
  int elements;     /* per 16 bytes */
  int lanes;        /* that fill 16 bytes */
  IrInst *pointers; /* to number 0 of each lane's cell */
} Cells;

/* Concatenates `count` vectors, a power of two; overwrites the array. */
static IrInst *concatenated(IrBuilder *b, IrInst **pieces, int count) {
  int picks[IR_MAX_LANES];
  for (int i = 0; i < IR_MAX_LANES; i++) picks[i] = i;
  for (; count > 1; count /= 2)
    for (int i = 0; i < count / 2; i++)
      pieces[i] = lane_shuffle(b, pieces[2 * i], pieces[2 * i + 1], picks,
                               2 * type_rows(pieces[2 * i]->type));
  return pieces[0];
}

/* Vector j: each 16 bytes hold the numbers of `lanes` lanes, chosen so that the later shuffles stay
 * within 16 bytes. */
static IrInst *load_vector(const Cells *c, int j, int64_t offset) {
  IrInst *pieces[IR_MAX_LANES];
  int count = 0;
  for (int first = 0; first < c->width; first += c->elements)
    for (int k = 0; k < c->lanes; k++) {
      IrInst *lane = ir_const_int(c->b, TYPE(U64), first + j * c->lanes + k);
      IrInst *at = ir_lane_get(c->b, c->pointers, lane);
      pieces[count++] =
          lane_load_all(c->b, ir_lanes_type(c->type, c->numbers), lane_moved(c->b, at, offset));
    }
  return concatenated(c->b, pieces, count);
}

/* Shuffles within each 16 bytes: picks below `elements` are from `a`, the others from `z`. */
static IrInst *shuffle(const Cells *c, IrInst *a, IrInst *z, const int *picks) {
  int lanes[IR_MAX_LANES];
  for (int i = 0; i < c->width; i++) {
    int from = picks[i % c->elements], first = i - i % c->elements;
    lanes[i] = from < c->elements ? first + from : c->width + first + from - c->elements;
  }
  return lane_shuffle(c->b, a, z, lanes, c->width);
}

static IrInst *number_of(const Cells *c, IrInst **vectors, int number) {
  if (c->numbers == 2 && c->elements == 4)
    return shuffle(c, vectors[0], vectors[1],
                   (const int[]){number, number + 2, number + 4, number + 6});
  if (c->numbers == 2) return shuffle(c, vectors[0], vectors[1], (const int[]){number, number + 2});
  int low = number & 2, odd = 2 * (number & 1);
  const int pairs[] = {low, low + 4, low + 1, low + 5}, both[] = {odd, odd + 1, odd + 4, odd + 5};
  IrInst *a = shuffle(c, vectors[0], vectors[1], pairs),
         *z = shuffle(c, vectors[2], vectors[3], pairs);
  return shuffle(c, a, z, both);
}

static bool is_loaded(const IrInst *load, int number) { return load->numbers >> number & 1; }

/* Inactive lanes read zeros. */
static void load_lanes(const IrInst *load, Cells *c, IrInst **values) {
  int size = type_size(c->type), done = 0;
  IrInst *vectors[4], *mask = mask_of(load);
  c->numbers = size == 4 && load->parts >= 4 ? 4 : 2;
  c->elements = CHUNK / size;
  c->lanes = c->elements / c->numbers;
  ASSERT(load->parts >= c->numbers && c->lanes > 0,
         "a load has several numbers, and at most 16 bytes");
  if (mask) {
    IrInst *none = ir_splat(c->b, ir_emit(c->b, IR_ZEROS, TYPE(PTR), 0, NULL), c->width);
    c->pointers = ir_select(c->b, mask, c->pointers, none);
  }
  for (int at = 0; done < load->parts; at = done) {
    if (at + c->numbers > load->parts) at = load->parts - c->numbers;
    for (int j = 0; j < c->numbers; j++) vectors[j] = load_vector(c, j, at * size);
    for (int number = done; number < at + c->numbers; number++)
      if (is_loaded(load, number)) values[number] = number_of(c, vectors, number - at);
    done = at + c->numbers;
  }
}

/* -- cells: gathers of two numbers per lane, on processors where these are faster -------------- */

/* Every second number, from `first` on, of a vector with two per lane. */
static IrInst *every_second(IrBuilder *b, IrInst *pairs, int first) {
  int picks[IR_MAX_LANES], width = type_rows(pairs->type) / 2;
  for (int i = 0; i < width; i++) picks[i] = 2 * i + first;
  return lane_shuffle(b, pairs, NULL, picks, width);
}

static void gather_pairs(const IrInst *load, const Cells *c, IrInst **values) {
  for (int number = 0; number < load->parts; number += 2) {
    bool is_pair = number + 1 < load->parts;
    IrInst *at = lane_moved(c->b, c->pointers, number * (int64_t)type_size(c->type));
    IrInst *all = ir_lanes_load(c->b, ir_lanes_type(is_pair ? TYPE(U64) : c->type, c->width), at,
                                load->operands[load->operand_count - 1]);
    all->pairs = is_pair;
    if (is_pair) all = ir_emit(c->b, IR_BITCAST, ir_lanes_type(c->type, 2 * c->width), 1, &all);
    for (int k = 0; k <= is_pair; k++)
      if (is_loaded(load, number + k))
        values[number + k] = is_pair ? every_second(c->b, all, k) : all;
  }
}

void lane_cells(LaneAccesses *l, const IrInst *load) {
  ASSERT(load->parts > 1 && load->parts <= IR_MAX_RUN, "several numbers of a cell");
  _Static_assert(IR_ZERO_BYTES >= IR_MAX_RUN * 8, "zeros for the largest cell");
  Type type = load->operands[1]->type;
  Cells c = {.b = &l->b, .type = memory_of(type_element(type)), .width = type_rows(type)};
  c.pointers = lane_moved(c.b, load->operands[0], -load->part * (int64_t)type_size(c.type));
  IrInst *values[IR_MAX_RUN];
  if (load->pairs && type_size(c.type) == 4) gather_pairs(load, &c, values);
  else load_lanes(load, &c, values);
  for (int number = 0, i = 1; number < load->parts; number++)
    if (is_loaded(load, number))
      ir_set(c.b, load->operands[i++], ir_convert(c.b, values[number], type));
}
