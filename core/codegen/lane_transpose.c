/* lane_transpose.c - cells of `count` numbers that follow each other in memory, to a vector per
 * number and back: `count` vectors of as many cells as there are lanes.
 *
 *     |x y z x|y z x y|z x y z|   <=>   |x x x x|y y y y|z z z z|
 *
 * An even count is halved: pairs of neighbours become units of twice the size, and the lower and
 * the upper half of the cells are transposed each by itself. For an odd count, number q of lane l,
 * which is at count * l + q, is in a place within its vector that no other lane's q has; so each
 * vector is permuted once, and then what is in place i moves on by r(i) vectors, the same for all
 * of them: a blend per vector and bit of r, with few masks. After Catanzaro et al., A decomposition
 * for in-place matrix transposition, 2014. */
#include "codegen/emit.h"

typedef struct Units {
  int count;               /* numbers of a cell, in units */
  int size;                /* lanes of a vector that are one unit */
  int across;              /* units of a vector */
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

/* Units of lower and upper halves: 0, 2, 4 .. of both, or 1, 3, 5 .. */
static LLVMValueRef every_second(Codegen *g, const Units *u, LLVMValueRef lower, LLVMValueRef upper,
                                 int first) {
  int picks[IR_MAX_LANES];
  for (int i = 0; i < u->across; i++) picks[i] = 2 * i + first;
  return pick_units(g, u, lower, upper, picks);
}

/* Units of two vectors in turn: the first halves of both, or the second. */
static LLVMValueRef in_turn(Codegen *g, const Units *u, LLVMValueRef a, LLVMValueRef b, int first) {
  int picks[IR_MAX_LANES];
  for (int i = 0; i < u->across; i++) picks[i] = (i & 1) * u->across + first + i / 2;
  return pick_units(g, u, a, b, picks);
}

/* -- odd counts -------------------------------------------------------------------------------- */

/* The number whose product with `a` is 1 modulo `m`; they have no common factor. */
static int inverse(int a, int m) {
  for (int x = 1; x < m; x++)
    if (a * x % m == 1) return x;
  return 0;
}

/* By how many vectors the unit in place `i` moves; which vector number `i` is in after that. */
static int turn_of(const Units *u, int i) { return i * inverse(u->across, u->count) % u->count; }

static LLVMValueRef bit_mask(Codegen *g, const Units *u, int bit) {
  LLVMValueRef lanes[IR_MAX_LANES];
  for (int i = 0; i < g->width; i++)
    lanes[i] = LLVMConstInt(g->bool_type, (unsigned)turn_of(u, i / u->size) >> bit & 1, false);
  return LLVMConstVector(lanes, (unsigned)g->width);
}

/* In place i, vector k becomes what k + r(i) was, or where `back` what k - r(i) was. */
static void turn(Codegen *g, const Units *u, LLVMValueRef *vectors, bool back) {
  LLVMValueRef before[LANE_MOST_PARTS];
  for (int bit = 0; 1 << bit < u->count; bit++) {
    LLVMValueRef mask = bit_mask(g, u, bit);
    int by = back ? u->count - (1 << bit) : 1 << bit;
    for (int k = 0; k < u->count; k++) before[k] = vectors[k];
    for (int k = 0; k < u->count; k++)
      vectors[k] = LLVMBuildSelect(g->builder, mask, before[(k + by) % u->count], before[k], "");
  }
}

/* Where lane l's number is within its vector, and which lane's is in a place. */
static LLVMValueRef to_lanes(Codegen *g, const Units *u, LLVMValueRef vector, int number) {
  int picks[IR_MAX_LANES];
  for (int lane = 0; lane < u->across; lane++)
    picks[lane] = (u->count * lane + number) % u->across;
  return pick_units(g, u, vector, NULL, picks);
}

static LLVMValueRef to_places(Codegen *g, const Units *u, LLVMValueRef vector, int number) {
  int picks[IR_MAX_LANES];
  for (int lane = 0; lane < u->across; lane++)
    picks[(u->count * lane + number) % u->across] = lane;
  return pick_units(g, u, vector, NULL, picks);
}

/* -- both ways --------------------------------------------------------------------------------- */

static void split(Codegen *g, const Units *u, LLVMValueRef *vectors) {
  LLVMValueRef before[LANE_MOST_PARTS];
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
  LLVMValueRef before[LANE_MOST_PARTS];
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
