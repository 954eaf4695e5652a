/* shuffles.c - shuffles, and the transposition of cells in vectors by them. `count` vectors hold as
 * many cells of `count` numbers as there are lanes; as many vectors hold a number of each cell:
 *
 *     lanes 0 1 2 3 of cells x y z:   |x y z x|y z x y|z x y z|  <->  |x x x x|y y y y|z z z z|
 *
 * An even count is halved: pairs of neighbours become units of twice the size, and the lower and
 * the upper half of the cells are transposed separately. For an odd count, number q of lane l, at
 * count * l + q, has a place within its vector that it shares with no other lane's q; so each
 * vector is permuted once, and then place i is rotated by r(i) vectors, which is the same for all
 * vectors: one blend per vector and bit of r, with few masks. After Catanzaro et al., A
 * decomposition for in-place matrix transposition, 2014. Decision D-codegen-02. */
#include "pass/rewrite.h"
#include "pass/vector/lane_accesses.h"

IrInst *lane_shuffle(IrBuilder *b, IrInst *first, IrInst *second, const int *picks, int count) {
  IrInst *operands[] = {first ? first : second, first ? second : NULL};
  if (!operands[0]) return NULL;
  int64_t numbers[IR_MAX_LANES];
  int width = type_rows(operands[0]->type);
  bool is_same = count == width;
  for (int i = 0; i < count; i++) {
    ASSERT(picks[i] < 2 * width, "a lane of two vectors");
    bool has_lane = picks[i] >= 0 && (picks[i] < width ? first : second);
    numbers[i] = !has_lane ? -1 : first ? picks[i] : picks[i] - width;
    is_same &= numbers[i] == i;
  }
  if (is_same) return operands[0];
  Type type = ir_lanes_type(type_element(operands[0]->type), count);
  IrInst *shuffle = ir_emit(b, IR_SHUFFLE, type, operands[1] ? 2 : 1, operands);
  shuffle->imm = ir_add_table(b->kernel, TYPE(I8), count, numbers);
  return shuffle;
}

IrInst *lane_mask_all(IrBuilder *b, int width) {
  return ir_const_int(b, ir_lanes_type(TYPE(BOOL), width), 1);
}

IrInst *lane_mask(IrBuilder *b, uint64_t bits, int width) {
  if (bits == UINT64_MAX >> (64 - width)) return lane_mask_all(b, width);
  return ir_mask_of_bits(b, ir_const_int(b, TYPE(U64), (int64_t)bits), width);
}

IrInst *lane_moved(IrBuilder *b, IrInst *at, int64_t bytes) {
  return bytes ? ir_offset(b, at, ir_i64(b, 0), 1, bytes) : at;
}

IrInst *lane_load_all(IrBuilder *b, Type lanes, IrInst *at) {
  return ir_lanes_load(b, lanes, at, lane_mask_all(b, type_rows(lanes)));
}

void lane_store_all(IrBuilder *b, IrInst *at, IrInst *lanes) {
  ir_lanes_store(b, at, lanes, lane_mask_all(b, type_rows(lanes->type)));
}

IrInst *lane_enter_loop(IrBuilder *b, IrInst *mask) {
  IrInst *loop = ir_bits(b, ir_unary(b, IR_MASK_BITS, mask), TYPE(U64));
  *b = rewrite_into(b, loop->regions[0]);
  return ir_index(loop);
}

/* -- transposition ----------------------------------------------------------------------------- */

typedef struct Units {
  IrBuilder *b;
  int count;  /* numbers of a cell, in units */
  int size;   /* lanes per unit */
  int across; /* units per vector */
} Units;

/* Unit i of the result is unit picks[i] of `a`, or past its end of `c`. */
static IrInst *pick_units(const Units *u, IrInst *a, IrInst *c, const int *picks) {
  int lanes[IR_MAX_LANES], width = u->across * u->size;
  ASSERT(width <= IR_MAX_LANES, "units fill a vector");
  for (int i = 0; i < width; i++) lanes[i] = picks[i / u->size] * u->size + i % u->size;
  return lane_shuffle(u->b, a, c, lanes, width);
}

/* Units 0, 2, 4 .. (or 1, 3, 5 ..) of the concatenated vectors. */
static IrInst *every_second(const Units *u, IrInst *lower, IrInst *upper, int first) {
  int picks[IR_MAX_LANES];
  for (int i = 0; i < u->across; i++) picks[i] = 2 * i + first;
  return pick_units(u, lower, upper, picks);
}

/* Interleaves the units of two vectors: of their first halves, or of their second. */
static IrInst *interleaved(const Units *u, IrInst *a, IrInst *c, int first) {
  int picks[IR_MAX_LANES];
  for (int i = 0; i < u->across; i++) picks[i] = (i & 1) * u->across + first + i / 2;
  return pick_units(u, a, c, picks);
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

/* The places whose rotation has this bit. */
static IrInst *places_with(const Units *u, int bit) {
  uint64_t places = 0;
  int width = u->across * u->size;
  for (int i = 0; i < width; i++) places |= (uint64_t)(rotation_of(u, i / u->size) >> bit & 1) << i;
  return lane_mask(u->b, places, width);
}

/* Rotates place i of all vectors: vector k gets that of vector k + r(i), or of k - r(i) if
 * `back`. */
static void rotate(const Units *u, IrInst **vectors, bool back) {
  IrInst *before[IR_MAX_PARTS];
  for (int bit = 0; 1 << bit < u->count; bit++) {
    IrInst *mask = places_with(u, bit);
    int by = back ? u->count - (1 << bit) : 1 << bit;
    for (int k = 0; k < u->count; k++) before[k] = vectors[k];
    for (int k = 0; k < u->count; k++) {
      IrInst *far = before[(k + by) % u->count], *own = before[k];
      vectors[k] = far && own ? ir_select(u->b, mask, far, own) : far ? far : own;
    }
  }
}

/* Permutes a vector from places to lanes, or (`back`) from lanes to places. */
static IrInst *to_lanes(const Units *u, IrInst *vector, int number, bool back) {
  int picks[IR_MAX_LANES];
  for (int lane = 0; lane < u->across; lane++) {
    int place = (u->count * lane + number) % u->across;
    picks[back ? place : lane] = back ? lane : place;
  }
  return pick_units(u, vector, NULL, picks);
}

static void split(const Units *u, IrInst **vectors) {
  IrInst *before[IR_MAX_PARTS];
  if (u->count == 1 || u->across == 1) return;
  if (u->count % 2) {
    rotate(u, vectors, true);
    for (int k = 0; k < u->count; k++) before[k] = vectors[k];
    for (int number = 0; number < u->count; number++)
      vectors[number] = to_lanes(u, before[rotation_of(u, number)], number, false);
    return;
  }
  int half = u->count / 2;
  const Units pairs = {u->b, half, 2 * u->size, u->across / 2};
  split(&pairs, vectors);
  split(&pairs, vectors + half);
  for (int k = 0; k < u->count; k++) before[k] = vectors[k];
  for (int number = 0; number < u->count; number++)
    vectors[number] = every_second(u, before[number / 2], before[number / 2 + half], number % 2);
}

static void join(const Units *u, IrInst **vectors) {
  IrInst *before[IR_MAX_PARTS];
  if (u->count == 1 || u->across == 1) return;
  for (int k = 0; k < u->count; k++) before[k] = vectors[k];
  if (u->count % 2) {
    for (int number = 0; number < u->count; number++)
      vectors[rotation_of(u, number)] = to_lanes(u, before[number], number, true);
    rotate(u, vectors, false);
    return;
  }
  int half = u->count / 2;
  const Units pairs = {u->b, half, 2 * u->size, u->across / 2};
  for (int k = 0; k < half; k++) {
    vectors[k] = interleaved(u, before[2 * k], before[2 * k + 1], 0);
    vectors[k + half] = interleaved(u, before[2 * k], before[2 * k + 1], u->across / 2);
  }
  join(&pairs, vectors);
  join(&pairs, vectors + half);
}

void lane_split(IrBuilder *b, IrInst **vectors, int count, int width) {
  ASSERT(count >= 1 && count <= IR_MAX_PARTS, "numbers of a cell");
  split(&(Units){b, count, 1, width}, vectors);
}

void lane_join(IrBuilder *b, IrInst **vectors, int count, int width) {
  ASSERT(count >= 1 && count <= IR_MAX_PARTS, "numbers of a cell");
  join(&(Units){b, count, 1, width}, vectors);
}

IrInst *lane_sorted(IrBuilder *b, IrInst *vector, int count) {
  ASSERT(count % 2, "no two lanes' numbers have one place");
  return to_lanes(&(Units){b, count, 1, type_rows(vector->type)}, vector, 0, false);
}
