/* vector_strided.c - accesses to adjacent cells, each lane's to a number of its own, as of `aos`
 * fields: whole vectors are read and written, and transposed in registers.
 *
 *     lanes 0 1 2 3 of cells x y z:   |x y z x|y z x y|z x y z|  <->  |x x x x|y y y y|z z z z|
 *
 * Loads of one cell say which of its numbers are accessed together (`numbers`): the window, from
 * the first of them to the last; nothing outside is read or written. A store has a value for each
 * of its numbers; a mask omits the others.
 * The hardware prefetcher is too late for large cells, so some accesses have explicit prefetches.
 *
 * Transposition: `count` vectors hold as many cells of `count` numbers as there are lanes. An even
 * count is halved: pairs of neighbours become units of twice the size, and the lower and the upper
 * half of the cells are transposed separately. For an odd count, number q of lane l, at count * l +
 * q, has a place within its vector that it shares with no other lane's q; so each vector is
 * permuted once, and then place i is rotated by r(i) vectors, which is the same for all vectors:
 * one blend per vector and bit of r, with few masks. After Catanzaro et al., A decomposition for
 * in-place matrix transposition, 2014. Decision D-codegen-02. */
#include "codegen/vector.h"

enum { LINE = 64, AHEAD = 36 * LINE }; /* prefetch distance in bytes: four vectors of 9 numbers */

/* -- transposition ----------------------------------------------------------------------------- */

typedef struct Units {
  int count;  /* numbers of a cell, in units */
  int size;   /* lanes per unit */
  int across; /* units per vector */
} Units;

/* Unit i of the result is unit picks[i] of `a`, or past its end of `b`. */
static LLVMValueRef pick_units(Codegen *g, const Units *u, LLVMValueRef a, LLVMValueRef b,
                               const int *picks) {
  int lanes[IR_MAX_LANES], width = u->across * u->size;
  ASSERT(width <= IR_MAX_LANES, "units fill a vector");
  for (int i = 0; i < width; i++) lanes[i] = picks[i / u->size] * u->size + i % u->size;
  return build_shuffle(g, a, b, lanes, width);
}

/* Units 0, 2, 4 .. (or 1, 3, 5 ..) of the concatenated vectors. */
static LLVMValueRef every_second(Codegen *g, const Units *u, LLVMValueRef lower, LLVMValueRef upper,
                                 int first) {
  int picks[IR_MAX_LANES];
  for (int i = 0; i < u->across; i++) picks[i] = 2 * i + first;
  return pick_units(g, u, lower, upper, picks);
}

/* Interleaves the units of two vectors: of their first halves, or of their second. */
static LLVMValueRef interleaved(Codegen *g, const Units *u, LLVMValueRef a, LLVMValueRef b,
                                int first) {
  int picks[IR_MAX_LANES];
  for (int i = 0; i < u->across; i++) picks[i] = (i & 1) * u->across + first + i / 2;
  return pick_units(g, u, a, b, picks);
}

/* The inverse of `a` modulo `m`; they must have no common factor. */
static int inverse(int a, int m) {
  for (int x = 1; x < m; x++)
    if (a * x % m == 1) return x;
  return 0;
}

/* r(i), the number of vectors by which place `i` is rotated; also the vector that number `i` is in
 * afterwards. */
static int rotation_of(const Units *u, int i) {
  return i * inverse(u->across, u->count) % u->count;
}

static LLVMValueRef bit_mask(Codegen *g, const Units *u, int bit) {
  LLVMValueRef lanes[IR_MAX_LANES];
  int width = u->across * u->size;
  for (int i = 0; i < width; i++)
    lanes[i] = LLVMConstInt(g->bool_type, (unsigned)rotation_of(u, i / u->size) >> bit & 1, false);
  return LLVMConstVector(lanes, (unsigned)width);
}

/* Rotates place i of all vectors: vector k gets that of vector k + r(i), or of k - r(i) if
 * `back`. */
static void rotate(Codegen *g, const Units *u, LLVMValueRef *vectors, bool back) {
  LLVMValueRef before[IR_MOST_PARTS];
  for (int bit = 0; 1 << bit < u->count; bit++) {
    LLVMValueRef mask = bit_mask(g, u, bit);
    int by = back ? u->count - (1 << bit) : 1 << bit;
    for (int k = 0; k < u->count; k++) before[k] = vectors[k];
    for (int k = 0; k < u->count; k++)
      vectors[k] = build_select(g, mask, before[(k + by) % u->count], before[k]);
  }
}

/* Permutes a vector from places to lanes (to_lanes), or from lanes to places. */
static LLVMValueRef to_lanes(Codegen *g, const Units *u, LLVMValueRef vector, int number) {
  int picks[IR_MAX_LANES];
  for (int lane = 0; lane < u->across; lane++) picks[lane] = (u->count * lane + number) % u->across;
  return pick_units(g, u, vector, NULL, picks);
}

static LLVMValueRef to_places(Codegen *g, const Units *u, LLVMValueRef vector, int number) {
  int picks[IR_MAX_LANES];
  for (int lane = 0; lane < u->across; lane++) picks[(u->count * lane + number) % u->across] = lane;
  return pick_units(g, u, vector, NULL, picks);
}

static void split(Codegen *g, const Units *u, LLVMValueRef *vectors) {
  LLVMValueRef before[IR_MOST_PARTS];
  if (u->count == 1 || u->across == 1) return;
  if (u->count % 2) {
    rotate(g, u, vectors, true);
    for (int k = 0; k < u->count; k++) before[k] = vectors[k];
    for (int number = 0; number < u->count; number++)
      vectors[number] = to_lanes(g, u, before[rotation_of(u, number)], number);
    return;
  }
  int half = u->count / 2;
  const Units pairs = {half, 2 * u->size, u->across / 2};
  split(g, &pairs, vectors);
  split(g, &pairs, vectors + half);
  for (int k = 0; k < u->count; k++) before[k] = vectors[k];
  for (int number = 0; number < u->count; number++)
    vectors[number] = every_second(g, u, before[number / 2], before[number / 2 + half], number % 2);
}

static void join(Codegen *g, const Units *u, LLVMValueRef *vectors) {
  LLVMValueRef before[IR_MOST_PARTS];
  if (u->count == 1 || u->across == 1) return;
  for (int k = 0; k < u->count; k++) before[k] = vectors[k];
  if (u->count % 2) {
    for (int number = 0; number < u->count; number++)
      vectors[rotation_of(u, number)] = to_places(g, u, before[number], number);
    rotate(g, u, vectors, false);
    return;
  }
  int half = u->count / 2;
  const Units pairs = {half, 2 * u->size, u->across / 2};
  for (int k = 0; k < half; k++) {
    vectors[k] = interleaved(g, u, before[2 * k], before[2 * k + 1], 0);
    vectors[k + half] = interleaved(g, u, before[2 * k], before[2 * k + 1], u->across / 2);
  }
  join(g, &pairs, vectors);
  join(g, &pairs, vectors + half);
}

static Units units_of(LLVMValueRef vector, int count) {
  ASSERT(count >= 1 && count <= IR_MOST_PARTS, "numbers of a cell");
  return (Units){count, 1, value_width(vector)};
}

void vector_split(Codegen *g, LLVMValueRef *vectors, int count) {
  const Units units = units_of(vectors[0], count);
  split(g, &units, vectors);
}

void vector_join(Codegen *g, LLVMValueRef *vectors, int count) {
  const Units units = units_of(vectors[0], count);
  join(g, &units, vectors);
}

/* -- windows ----------------------------------------------------------------------------------- */

typedef struct Window {
  const LaneAccess *access;
  LLVMTypeRef lanes; /* of a vector of it */
  LLVMValueRef mask;
  int width, parts;  /* numbers per cell, from one lane to the next */
  int count;         /* numbers in the window */
  int own;           /* the access's number in the window */
  int64_t size;      /* bytes of a number */
  LLVMValueRef base; /* lane 0's first number in the window */
} Window;

/* The type depends on the size alone, since numbers of one cell may differ in type; floats have the
 * better shuffles. */
static LLVMTypeRef slice_type(Codegen *g, Type type, int width) {
  int64_t size = type_size(type);
  Type like = size == 4 ? TYPE(F32) : size == 8 ? TYPE(F64) : size == 2 ? TYPE(I16) : TYPE(I8);
  return value_lanes(value_memory_type(g, like), width);
}

static Window window_of(Codegen *g, const LaneAccess *a) {
  ASSERT(access_numbers(a) && !(access_numbers(a) >> (a->inst->parts - 1) >> 1),
         "numbers of the cell");
  int low = __builtin_ctz(access_numbers(a)), high = 31 - __builtin_clz(access_numbers(a));
  Window w = {.access = a, .mask = a->mask, .width = value_width(a->mask), .parts = a->inst->parts};
  w.lanes = slice_type(g, a->type, w.width);
  w.size = type_size(a->type);
  w.count = high - low + 1;
  w.own = a->part - low;
  w.base = value_byte_offset(g, a->at, -w.own * w.size);
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

static LLVMValueRef slice_address(Codegen *g, const Window *w, int first) {
  return value_byte_offset(g, w->base, first * w->size);
}

/* The mask of a slice: numbers of active lanes that are among `numbers` (a bit for each). */
static LLVMValueRef slice_mask(Codegen *g, const Window *w, int first, uint32_t numbers) {
  int picks[IR_MAX_LANES];
  for (int i = 0; i < w->width; i++) {
    int at = first + i, lane = at / w->parts;
    bool is_in = lane < w->width && numbers >> at % w->parts & 1;
    picks[i] = is_in ? lane : w->width;
  }
  return build_shuffle(g, w->mask, value_like(w->mask, 0), picks, w->width);
}

static LLVMValueRef load_plain(Codegen *g, const Window *w, LLVMValueRef at) {
  LLVMValueRef value = build_load(g, w->lanes, at);
  LLVMSetAlignment(value, (unsigned)w->size);
  return value;
}

static LLVMValueRef load_slice(Codegen *g, const Window *w, int first) {
  LLVMValueRef at = slice_address(g, w, first), none = LLVMConstNull(w->lanes);
  if (first >= length_of(w)) return none;
  if (value_is_all(w->mask) && first + w->width <= length_of(w)) return load_plain(g, w, at);
  return lanes_take(g, w->lanes, at, w->size, slice_mask(g, w, first, (1u << w->count) - 1), none);
}

static void fetch_ahead(Codegen *g, const Window *w, bool writes) {
  if (!w->access->inst->prefetch || !value_is_all(w->mask)) return;
  for (int64_t at = 0; at < w->parts * w->width * w->size; at += LINE) {
    LLVMValueRef args[] = {value_byte_offset(g, w->base, AHEAD + at), value_i32(g, writes),
                           value_i32(g, 3), value_i32(g, 1)};
    call_intrinsic(g, "llvm.prefetch", g->pointer, args, 4);
  }
}

/* -- loads ------------------------------------------------------------------------------------- */

static LLVMValueRef load_all(Codegen *g, const Window *w) {
  LLVMValueRef vectors[IR_MOST_PARTS];
  for (int slice = 0; slice < w->parts; slice++)
    vectors[slice] = load_slice(g, w, slice * w->width);
  vector_split(g, vectors, w->parts);
  return vectors[w->own];
}

/* For an odd number of parts, no two lanes' numbers are in the same place of a vector, so blends
 * combine all vectors into one. */
static LLVMValueRef load_blended(Codegen *g, const Window *w) {
  Window own = *w;
  own.base = value_byte_offset(g, w->base, w->own * w->size);
  own.count = w->count - w->own;
  own.own = 0;
  LLVMValueRef all = load_slice(g, &own, 0);
  for (int first = w->width; first <= (w->width - 1) * w->parts; first += w->width) {
    LLVMValueRef at = slice_address(g, &own, first), mask = slice_mask(g, &own, first, 1);
    all = first + w->width <= length_of(&own) ? build_select(g, mask, load_plain(g, w, at), all)
                                              : lanes_take(g, w->lanes, at, w->size, mask, all);
  }
  const Units units = units_of(all, w->parts);
  return to_lanes(g, &units, all, 0);
}

static LLVMValueRef load_picked(Codegen *g, const Window *w) {
  LLVMValueRef sum = NULL;
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
    if (!sum) sum = LLVMConstNull(w->lanes);
    sum = build_shuffle(g, sum, load_slice(g, w, first), picks, w->width);
  }
  return sum;
}

LLVMValueRef strided_load(Codegen *g, const LaneAccess *a) {
  const Window w = window_of(g, a);
  fetch_ahead(g, &w, false);
  LLVMValueRef value = a->inst->splits                           ? load_all(g, &w)
                       : a->inst->blends && value_is_all(w.mask) ? load_blended(g, &w)
                                                                 : load_picked(g, &w);
  return build_bitcast(g, value, value_lanes(value_memory_type(g, a->type), w.width));
}

/* -- stores ------------------------------------------------------------------------------------ */

static void store_slice(Codegen *g, const Window *w, const LLVMValueRef *vectors, int slice) {
  uint32_t numbers = access_numbers(w->access) >> __builtin_ctz(access_numbers(w->access));
  if (slice * w->width >= length_of(w)) return;
  int first = first_of(w, slice), picks[IR_MAX_LANES];
  LLVMValueRef at = slice_address(g, w, first), mask = slice_mask(g, w, first, numbers);
  LLVMValueRef value = vectors[slice];
  if (LLVMIsNull(mask)) return;
  for (int i = 0; i < w->width; i++) picks[i] = first - (slice - 1) * w->width + i;
  if (first < slice * w->width)
    value = build_shuffle(g, vectors[slice - 1], value, picks, w->width);
  lanes_put(g, value, at, w->size, mask);
}

void strided_store(Codegen *g, const LaneAccess *a, const LLVMValueRef *values) {
  const Window w = window_of(g, a);
  LLVMValueRef vectors[IR_MOST_PARTS];
  bool is_whole = value_is_all(a->mask) && access_numbers(a) == (1u << a->inst->parts) - 1;
  for (int part = 0, low = a->part; part < w.parts; part++) {
    bool is_stored = part + low < w.parts && access_numbers(a) >> (part + low) & 1;
    vectors[part] = is_stored ? build_bitcast(g, *values++, w.lanes) : LLVMGetPoison(w.lanes);
  }
  vector_join(g, vectors, w.parts);
  if (!(is_whole && a->inst->streams && g->f.least)) fetch_ahead(g, &w, true);
  StreamStore store = {.base = w.base, .vectors = vectors, .count = w.parts, .type = a->type};
  if (is_whole) return stream_store(g, &store, a->inst->streams);
  for (int slice = 0; slice < w.parts; slice++) store_slice(g, &w, vectors, slice);
}
