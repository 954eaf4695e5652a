/* vector_memory.c - memory access in lanes: adjacent elements are one vector, others are gathered
 * and scattered; inactive lanes access nothing. Under the constant mask of all lanes, an access to
 * adjacent elements is an ordinary one.
 *
 * Loads of shape `cells` read adjacent numbers at an address that varies by lane, as the components
 * of x[p[i]]. One vector load per lane, or few, reads the numbers, which are then transposed in
 * registers; gathers would read each number of each lane by itself.
 *
 *     lane 0: |x y z w|   lane 1: |x y z w| ..   ->   |x x x ..| |y y y ..| |z z z ..| |w w w ..|
 *
 * Only the range from the first number to the last is accessed; inactive lanes read zeros from the
 * stack. Decision D-codegen-03. */
#include "codegen/vector.h"

/* -- adjacent elements, and those at an address per lane --------------------------------------- */

LLVMValueRef vector_gather(Codegen *g, Type type, LLVMValueRef pointers, LLVMValueRef mask) {
  LLVMTypeRef lanes = value_lanes(value_memory_type(g, type), value_width(pointers));
  return lanes_take(g, lanes, pointers, type_size(type), mask, NULL);
}

static LLVMValueRef load_run(Codegen *g, const LaneAccess *a) {
  LLVMTypeRef lanes = value_lanes(value_memory_type(g, a->type), value_width(a->mask));
  if (!value_is_all(a->mask)) return lanes_take(g, lanes, a->at, type_size(a->type), a->mask, NULL);
  LLVMValueRef value = build_load(g, lanes, a->at);
  LLVMSetAlignment(value, (unsigned)type_size(a->type));
  return value;
}

/* The lanes' addresses, of cells at a constant distance. */
static LLVMValueRef spread(Codegen *g, const LaneAccess *a, int part) {
  int64_t size = type_size(a->type);
  ASSERT(a->inst->parts > 0 && part >= 0 && part < a->inst->parts, "a number of the cell");
  LLVMValueRef steps = value_staircase(g->i64, value_width(a->mask), a->inst->parts * size),
               at = value_byte_offset(g, a->at, (part - a->part) * size);
  return build_at(g, g->i8, at, steps);
}

static bool is_strided(const LaneAccess *a) { return value_is_all(a->mask) || !a->inst->each; }

LLVMValueRef vector_load(Codegen *g, const LaneAccess *a) {
  LLVMValueRef value;
  if (value_is_vector(a->at)) value = vector_gather(g, a->type, a->at, a->mask);
  else if (!a->inst->parts) value = load_run(g, a);
  else if (is_strided(a)) return value_from_memory(g, strided_load(g, a), a->type);
  else value = vector_gather(g, a->type, spread(g, a, a->part), a->mask);
  return value_from_memory(g, alias_element(g, value, a->inst->alias), a->type);
}

/* Under the mask, to adjacent places or to one per lane. */
static void store_masked(Codegen *g, const LaneAccess *a, LLVMValueRef at, LLVMValueRef value) {
  alias_element(g, lanes_put(g, value, at, type_size(a->type), a->mask), a->inst->alias);
}

static void store_run(Codegen *g, const LaneAccess *a, LLVMValueRef value) {
  if (!value_is_all(a->mask)) return store_masked(g, a, a->at, value);
  StreamStore store = {
      .base = a->at, .vectors = &value, .count = 1, .type = a->type, .alias = a->inst->alias};
  stream_store(g, &store, a->inst->streams);
}

void vector_store(Codegen *g, const LaneAccess *a, const LLVMValueRef *values) {
  if (value_is_vector(a->at)) return store_masked(g, a, a->at, values[0]);
  if (!a->inst->parts) return store_run(g, a, values[0]);
  if (is_strided(a)) return strided_store(g, a, values);
  for (int part = 0; part < a->inst->parts; part++)
    if (access_numbers(a) >> part & 1) store_masked(g, a, spread(g, a, part), *values++);
}

/* Emits addresses as a scalar base plus a vector of indices with a scale that the machine has: the
 * addressing mode of gathers. */
LLVMValueRef vector_offset(Codegen *g, const IrInst *inst) {
  const IrInst *base = inst->operands[0], *index = inst->operands[1];
  LLVMValueRef wide = value_extend(g, value_of(g, index), index->type);
  int stride = inst->stride, scale = stride == 2 || stride == 4 || stride == 8 ? stride : 1;
  LLVMValueRef pointer = value_byte_offset(g, value_of(g, base), inst->imm);
  if (scale != stride) {
    LLVMValueRef factor = value_like(wide, stride);
    wide =
        type_bits(index->type) <= 32 ? build_nsw_mul(g, wide, factor) : build_mul(g, wide, factor);
  }
  LLVMTypeRef unit = scale == 1 ? g->i8 : LLVMArrayType2(g->i8, (uint64_t)scale);
  return build_at(g, unit, pointer, wide);
}

/* -- cells: one chunk of all lanes ------------------------------------------------------------- */

enum { CHUNK = 16 /* bytes of a load */ };

/* Concatenates `count` vectors, a power of two; overwrites the array. */
static LLVMValueRef concatenated(Codegen *g, LLVMValueRef *pieces, int count) {
  int picks[IR_MAX_LANES];
  for (int i = 0; i < IR_MAX_LANES; i++) picks[i] = i;
  for (; count > 1; count /= 2)
    for (int i = 0; i < count / 2; i++)
      pieces[i] =
          build_shuffle(g, pieces[2 * i], pieces[2 * i + 1], picks, 2 * value_width(pieces[2 * i]));
  return pieces[0];
}

typedef struct Chunk {
  int width;
  int numbers;  /* per lane: 2 or 4 */
  int elements; /* per 16 bytes */
  int lanes;    /* that fill 16 bytes */
} Chunk;

/* Vector j: each 16 bytes hold the numbers of `lanes` lanes, chosen so that the later shuffles stay
 * within 16 bytes. */
static LLVMValueRef load_vector(Codegen *g, const Chunk *c, Type type, LLVMValueRef pointers, int j,
                                int64_t offset) {
  LLVMValueRef pieces[IR_MAX_LANES];
  int count = 0;
  for (int first = 0; first < c->width; first += c->elements)
    for (int k = 0; k < c->lanes; k++) {
      LLVMValueRef at = value_lane(g, pointers, first + j * c->lanes + k);
      LLVMTypeRef numbers = value_lanes(value_memory_type(g, type), c->numbers);
      LLVMValueRef value = build_load(g, numbers, value_byte_offset(g, at, offset));
      LLVMSetAlignment(value, (unsigned)type_size(type));
      pieces[count++] = value;
    }
  return concatenated(g, pieces, count);
}

/* Shuffles within each 16 bytes: picks below `elements` are from `a`, the others from `b`. */
static LLVMValueRef shuffle(Codegen *g, const Chunk *c, LLVMValueRef a, LLVMValueRef b,
                            const int *picks) {
  int lanes[IR_MAX_LANES];
  for (int i = 0; i < c->width; i++) {
    int from = picks[i % c->elements], first = i - i % c->elements;
    lanes[i] = from < c->elements ? first + from : c->width + first + from - c->elements;
  }
  return build_shuffle(g, a, b, lanes, c->width);
}

static LLVMValueRef number_of(Codegen *g, const Chunk *c, LLVMValueRef *vectors, int number) {
  if (c->numbers == 2 && c->elements == 4)
    return shuffle(g, c, vectors[0], vectors[1],
                   (const int[]){number, number + 2, number + 4, number + 6});
  if (c->numbers == 2)
    return shuffle(g, c, vectors[0], vectors[1], (const int[]){number, number + 2});
  int low = number & 2, odd = 2 * (number & 1);
  const int pairs[] = {low, low + 4, low + 1, low + 5}, both[] = {odd, odd + 1, odd + 4, odd + 5};
  LLVMValueRef a = shuffle(g, c, vectors[0], vectors[1], pairs),
               b = shuffle(g, c, vectors[2], vectors[3], pairs);
  return shuffle(g, c, a, b, both);
}

/* -- cells: a vector load per lane ------------------------------------------------------------- */

/* Zeros on the stack for inactive lanes, as large as the largest cell. */
static LLVMValueRef zeros(Codegen *g) {
  LLVMTypeRef type = LLVMArrayType2(g->i64, IR_MOST_RUN);
  if (g->f.zeros) return g->f.zeros;
  g->f.zeros = block_variable(g, type, "zeros");
  LLVMBasicBlockRef back = block_hoist_begin(g);
  build_store(g, LLVMConstNull(type), g->f.zeros);
  block_hoist_end(g, back);
  return g->f.zeros;
}

static bool is_loaded(const LaneAccess *a, int number) { return access_numbers(a) >> number & 1; }

/* `pointers`: to number 0. */
static void load_each(Codegen *g, const LaneAccess *a, LLVMValueRef pointers,
                      LLVMValueRef *values) {
  int size = type_size(a->type), done = 0;
  LLVMValueRef vectors[4];
  Chunk c = {.width = value_width(a->mask), .numbers = size == 4 && a->inst->parts >= 4 ? 4 : 2};
  c.elements = CHUNK / size;
  c.lanes = c.elements / c.numbers;
  ASSERT(a->inst->parts >= c.numbers && c.lanes > 0,
         "a load has several numbers, and at most 16 bytes");
  if (!value_is_all(a->mask)) {
    LLVMValueRef none = value_broadcast(g, zeros(g), c.width);
    pointers = build_select(g, a->mask, pointers, none);
  }
  for (int at = 0; done < a->inst->parts; at = done) {
    if (at + c.numbers > a->inst->parts) at = a->inst->parts - c.numbers;
    for (int j = 0; j < c.numbers; j++)
      vectors[j] = load_vector(g, &c, a->type, pointers, j, at * size);
    for (int number = done; number < at + c.numbers; number++)
      if (is_loaded(a, number)) values[number] = number_of(g, &c, vectors, number - at);
    done = at + c.numbers;
  }
}

/* -- cells: gathers of two numbers per lane, on processors where these are faster -------------- */

/* Every second number, from `first` on, of a vector with two per lane. */
static LLVMValueRef every_second(Codegen *g, LLVMValueRef pairs, int first) {
  int picks[IR_MAX_LANES], width = value_width(pairs) / 2;
  for (int i = 0; i < width; i++) picks[i] = 2 * i + first;
  return build_shuffle(g, pairs, NULL, picks, width);
}

static void gather_pairs(Codegen *g, const LaneAccess *a, LLVMValueRef pointers,
                         LLVMValueRef *values) {
  LLVMTypeRef one = value_memory_type(g, a->type);
  int width = value_width(a->mask);
  for (int number = 0; number < a->inst->parts; number += 2) {
    bool is_pair = number + 1 < a->inst->parts;
    LLVMValueRef at = value_byte_offset(g, pointers, number * (int64_t)type_size(a->type)),
                 all = lanes_take(g, value_lanes(is_pair ? g->i64 : one, width), at,
                                  type_size(a->type), a->mask, NULL);
    if (is_pair) all = build_bitcast(g, all, value_lanes(one, 2 * width));
    for (int k = 0; k <= is_pair; k++)
      if (is_loaded(a, number + k)) values[number + k] = is_pair ? every_second(g, all, k) : all;
  }
}

void vector_load_cells(Codegen *g, const LaneAccess *a, LLVMValueRef *values) {
  ASSERT(a->inst->parts > 1 && a->inst->parts <= IR_MOST_RUN, "several numbers of a cell");
  LLVMValueRef pointers = value_byte_offset(g, a->at, -a->part * (int64_t)type_size(a->type));
  if (a->inst->pairs && type_size(a->type) == 4) gather_pairs(g, a, pointers, values);
  else load_each(g, a, pointers, values);
  for (int number = 0; number < a->inst->parts; number++)
    if (is_loaded(a, number)) values[number] = value_from_memory(g, values[number], a->type);
}
