/* lane_transpose.c - transposes consecutive cells of `count` numbers to one vector per number, and
 * back: `count` vectors hold as many cells as there are lanes.
 *
 *     |x y z x|y z x y|z x y z|   <=>   |x x x x|y y y y|z z z z|
 *
 * An even count is halved: pairs of neighbours become units of twice the size, and the lower and
 * the upper half of the cells are transposed separately. For an odd count, number q of lane l, at
 * count * l + q, has a place within its vector that it shares with no other lane's q; so each
 * vector is permuted once, and then place i is rotated by r(i) vectors, which is the same for all
 * vectors: one blend per vector and bit of r, with few masks. After Catanzaro et al., A
 * decomposition for in-place matrix transposition, 2014. Decision D-codegen-02. */
#include "codegen/emit.h"

typedef struct Units {
  int count;  /* numbers of a cell, in units */
  int size;   /* lanes per unit */
  int across; /* units per vector */
} Units;

/* -- one step ---------------------------------------------------------------------------------- */

/* Unit i of the result is unit picks[i] of `a`, or past its end of `b`. */
static LLVMValueRef pick_units(Codegen *g, const Units *u, LLVMValueRef a, LLVMValueRef b,
                               const int *picks) {
  LLVMValueRef lanes[IR_MAX_LANES];
  for (int i = 0; i < g->width; i++)
    lanes[i] = value_integer(g->i32, (int64_t)picks[i / u->size] * u->size + i % u->size);
  return LLVMBuildShuffleVector(g->builder, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)),
                                LLVMConstVector(lanes, (unsigned)g->width), "");
}

/* Units 0, 2, 4 .. (or 1, 3, 5 ..) of the concatenated vectors. */
static LLVMValueRef every_second(Codegen *g, const Units *u, LLVMValueRef lower, LLVMValueRef upper,
                                 int first) {
  int picks[IR_MAX_LANES];
  for (int i = 0; i < u->across; i++) picks[i] = 2 * i + first;
  return pick_units(g, u, lower, upper, picks);
}

/* Interleaves the units of two vectors: of their first halves, or of their second. */
static LLVMValueRef in_turn(Codegen *g, const Units *u, LLVMValueRef a, LLVMValueRef b, int first) {
  int picks[IR_MAX_LANES];
  for (int i = 0; i < u->across; i++) picks[i] = (i & 1) * u->across + first + i / 2;
  return pick_units(g, u, a, b, picks);
}

/* -- odd counts -------------------------------------------------------------------------------- */

/* The inverse of `a` modulo `m`; they must have no common factor. */
static int inverse(int a, int m) {
  for (int x = 1; x < m; x++)
    if (a * x % m == 1) return x;
  return 0;
}

/* r(i), the number of vectors by which place `i` is rotated; also the vector that number `i` is in
 * afterwards. */
static int turn_of(const Units *u, int i) { return i * inverse(u->across, u->count) % u->count; }

static LLVMValueRef bit_mask(Codegen *g, const Units *u, int bit) {
  LLVMValueRef lanes[IR_MAX_LANES];
  for (int i = 0; i < g->width; i++)
    lanes[i] = LLVMConstInt(g->bool_type, (unsigned)turn_of(u, i / u->size) >> bit & 1, false);
  return LLVMConstVector(lanes, (unsigned)g->width);
}

/* Rotates place i of all vectors: vector k gets that of vector k + r(i), or of k - r(i) if
 * `back`. */
static void turn(Codegen *g, const Units *u, LLVMValueRef *vectors, bool back) {
  LLVMValueRef before[IR_MOST_PARTS];
  for (int bit = 0; 1 << bit < u->count; bit++) {
    LLVMValueRef mask = bit_mask(g, u, bit);
    int by = back ? u->count - (1 << bit) : 1 << bit;
    for (int k = 0; k < u->count; k++) before[k] = vectors[k];
    for (int k = 0; k < u->count; k++)
      vectors[k] = LLVMBuildSelect(g->builder, mask, before[(k + by) % u->count], before[k], "");
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

/* -- both ways --------------------------------------------------------------------------------- */

static void split(Codegen *g, const Units *u, LLVMValueRef *vectors) {
  LLVMValueRef before[IR_MOST_PARTS];
  if (u->count == 1 || u->across == 1) return;
  if (u->count % 2) {
    turn(g, u, vectors, true);
    for (int k = 0; k < u->count; k++) before[k] = vectors[k];
    for (int number = 0; number < u->count; number++)
      vectors[number] = to_lanes(g, u, before[turn_of(u, number)], number);
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
      vectors[turn_of(u, number)] = to_places(g, u, before[number], number);
    turn(g, u, vectors, false);
    return;
  }
  int half = u->count / 2;
  const Units pairs = {half, 2 * u->size, u->across / 2};
  for (int k = 0; k < half; k++) {
    vectors[k] = in_turn(g, u, before[2 * k], before[2 * k + 1], 0);
    vectors[k + half] = in_turn(g, u, before[2 * k], before[2 * k + 1], u->across / 2);
  }
  join(g, &pairs, vectors);
  join(g, &pairs, vectors + half);
}

void lane_split(Codegen *g, LLVMValueRef *vectors, int count) {
  const Units units = {count, 1, g->width};
  split(g, &units, vectors);
}

LLVMValueRef lane_from_places(Codegen *g, LLVMValueRef vector, int count) {
  const Units units = {count, 1, g->width};
  return to_lanes(g, &units, vector, 0);
}

void lane_join(Codegen *g, LLVMValueRef *vectors, int count) {
  const Units units = {count, 1, g->width};
  join(g, &units, vectors);
}
