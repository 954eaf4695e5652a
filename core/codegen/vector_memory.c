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
#include "codegen/emit.h"

static LLVMValueRef alignment(Codegen *g, Type type) {
  return value_integer(g->i32, type_size(type));
}

static LLVMTypeRef memory_lanes(Codegen *g, const LaneAccess *a) {
  return value_lanes(value_memory_type(g, a->type), value_width(a->mask));
}

/* -- adjacent elements, and those at an address per lane --------------------------------------- */

LLVMValueRef vector_gather(Codegen *g, Type type, LLVMValueRef pointers, LLVMValueRef mask) {
  LLVMTypeRef lanes = value_lanes(value_memory_type(g, type), value_width(pointers));
  ASSERT(value_width(mask) == value_width(pointers), "a bit of the mask for each address");
  LLVMValueRef args[] = {pointers, alignment(g, type), mask, LLVMConstNull(lanes)};
  return call_overloaded(g, "llvm.masked.gather", lanes, LLVMTypeOf(pointers), args, 4);
}

static LLVMValueRef load_run(Codegen *g, const LaneAccess *a) {
  LLVMTypeRef lanes = memory_lanes(g, a);
  if (!value_is_all(a->mask)) {
    LLVMValueRef args[] = {a->at, alignment(g, a->type), a->mask, LLVMConstNull(lanes)};
    return call_overloaded(g, "llvm.masked.load", lanes, g->pointer, args, 4);
  }
  LLVMValueRef value = LLVMBuildLoad2(g->builder, lanes, a->at, "");
  LLVMSetAlignment(value, (unsigned)type_size(a->type));
  return value;
}

/* The lanes' addresses, of cells at a constant distance. */
static LLVMValueRef spread(Codegen *g, const LaneAccess *a, int part) {
  int64_t size = type_size(a->type);
  ASSERT(a->parts > 0 && part >= 0 && part < a->parts, "a number of the cell");
  LLVMValueRef steps = value_staircase(g->i64, value_width(a->mask), a->parts * size),
               at = value_byte_offset(g, a->at, (part - a->part) * size);
  return LLVMBuildGEP2(g->builder, g->i8, at, &steps, 1, "");
}

LLVMValueRef vector_load(Codegen *g, const LaneAccess *a) {
  LLVMValueRef value;
  if (value_is_vector(a->at)) value = vector_gather(g, a->type, a->at, a->mask);
  else if (!a->parts) value = load_run(g, a);
  else if (strided_serves(a)) return value_from_memory(g, strided_load(g, a), a->type);
  else value = vector_gather(g, a->type, spread(g, a, a->part), a->mask);
  return value_from_memory(g, alias_element(g, value, a->alias), a->type);
}

static void scatter(Codegen *g, const LaneAccess *a, LLVMValueRef pointers, LLVMValueRef value) {
  LLVMValueRef args[] = {value, pointers, alignment(g, a->type), a->mask};
  alias_element(
      g,
      call_overloaded(g, "llvm.masked.scatter", LLVMTypeOf(value), LLVMTypeOf(pointers), args, 4),
      a->alias);
}

static void store_run(Codegen *g, const LaneAccess *a, LLVMValueRef value) {
  if (!value_is_all(a->mask)) {
    LLVMValueRef args[] = {value, a->at, alignment(g, a->type), a->mask};
    alias_element(g,
                  call_overloaded(g, "llvm.masked.store", LLVMTypeOf(value), g->pointer, args, 4),
                  a->alias);
    return;
  }
  StreamStore store = {
      .base = a->at, .vectors = &value, .count = 1, .type = a->type, .alias = a->alias};
  stream_store(g, &store, a->streams);
}

void vector_store(Codegen *g, const LaneAccess *a, const LLVMValueRef *values) {
  if (value_is_vector(a->at)) return scatter(g, a, a->at, values[0]);
  if (!a->parts) return store_run(g, a, values[0]);
  if (strided_serves(a)) return strided_store(g, a, values);
  for (int part = 0; part < a->parts; part++)
    if (a->numbers >> part & 1) scatter(g, a, spread(g, a, part), *values++);
}

/* Emits addresses as a scalar base plus a vector of indices with a scale that the machine has: the
 * addressing mode of gathers. */
void vector_offset(Codegen *g, const IrInst *inst) {
  const IrInst *base = inst->operands[0], *index = inst->operands[1];
  LLVMValueRef wide = value_extend(g, value_of(g, index), index->type);
  int stride = inst->stride, scale = stride == 2 || stride == 4 || stride == 8 ? stride : 1;
  LLVMValueRef pointer = value_byte_offset(g, value_of(g, base), inst->imm);
  if (scale != stride) {
    LLVMValueRef factor = value_integer(LLVMTypeOf(wide), stride);
    wide = type_bits(index->type) <= 32 ? LLVMBuildNSWMul(g->builder, wide, factor, "")
                                        : LLVMBuildMul(g->builder, wide, factor, "");
  }
  LLVMTypeRef unit = scale == 1 ? g->i8 : LLVMArrayType2(g->i8, (uint64_t)scale);
  value_set(g, inst, LLVMBuildGEP2(g->builder, unit, pointer, &wide, 1, ""));
}

/* -- cells: one chunk of all lanes ------------------------------------------------------------- */

enum { CHUNK = 16 /* bytes of a load */ };

/* Concatenates `count` vectors, a power of two; overwrites the array. */
static LLVMValueRef concatenated(Codegen *g, LLVMValueRef *pieces, int count) {
  LLVMValueRef picks[IR_MAX_LANES];
  for (; count > 1; count /= 2) {
    int length = 2 * value_width(pieces[0]);
    for (int i = 0; i < length; i++) picks[i] = value_integer(g->i32, i);
    LLVMValueRef all = LLVMConstVector(picks, (unsigned)length);
    for (int i = 0; i < count / 2; i++)
      pieces[i] = LLVMBuildShuffleVector(g->builder, pieces[2 * i], pieces[2 * i + 1], all, "");
  }
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
      LLVMValueRef value =
          LLVMBuildLoad2(g->builder, numbers, value_byte_offset(g, at, offset), "");
      LLVMSetAlignment(value, (unsigned)type_size(type));
      pieces[count++] = value;
    }
  return concatenated(g, pieces, count);
}

/* Shuffles within each 16 bytes: picks below `elements` are from `a`, the others from `b`. */
static LLVMValueRef shuffle(Codegen *g, const Chunk *c, LLVMValueRef a, LLVMValueRef b,
                            const int *picks) {
  LLVMValueRef lanes[IR_MAX_LANES];
  for (int i = 0; i < c->width; i++) {
    int from = picks[i % c->elements], first = i - i % c->elements;
    lanes[i] = value_integer(g->i32, from < c->elements ? first + from
                                                        : c->width + first + from - c->elements);
  }
  return LLVMBuildShuffleVector(g->builder, a, b, LLVMConstVector(lanes, (unsigned)c->width), "");
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
  LLVMBuildStore(g->builder, LLVMConstNull(type), g->f.zeros);
  block_hoist_end(g, back);
  return g->f.zeros;
}

static bool is_loaded(const LaneAccess *a, int number) { return a->numbers >> number & 1; }

/* `pointers`: to number 0. */
static void load_each(Codegen *g, const LaneAccess *a, LLVMValueRef pointers,
                      LLVMValueRef *values) {
  int size = type_size(a->type), done = 0;
  LLVMValueRef vectors[4];
  Chunk c = {.width = value_width(a->mask), .numbers = size == 4 && a->parts >= 4 ? 4 : 2};
  c.elements = CHUNK / size;
  c.lanes = c.elements / c.numbers;
  ASSERT(a->parts >= c.numbers && c.lanes > 0, "a load has several numbers, and at most 16 bytes");
  if (!value_is_all(a->mask)) {
    LLVMValueRef none = value_broadcast(g, zeros(g), c.width);
    pointers = LLVMBuildSelect(g->builder, a->mask, pointers, none, "");
  }
  for (int at = 0; done < a->parts; at = done) {
    if (at + c.numbers > a->parts) at = a->parts - c.numbers;
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
  LLVMValueRef picks[IR_MAX_LANES];
  int width = value_width(pairs) / 2;
  for (int i = 0; i < width; i++) picks[i] = value_integer(g->i32, 2 * i + first);
  return LLVMBuildShuffleVector(g->builder, pairs, LLVMGetPoison(LLVMTypeOf(pairs)),
                                LLVMConstVector(picks, (unsigned)width), "");
}

static LLVMValueRef gather(Codegen *g, LLVMTypeRef type, const LaneAccess *a, LLVMValueRef at) {
  LLVMTypeRef lanes = value_lanes(type, value_width(a->mask));
  LLVMValueRef args[] = {at, alignment(g, a->type), a->mask, LLVMConstNull(lanes)};
  return call_overloaded(g, "llvm.masked.gather", lanes, LLVMTypeOf(at), args, 4);
}

static void gather_pairs(Codegen *g, const LaneAccess *a, LLVMValueRef pointers,
                         LLVMValueRef *values) {
  LLVMTypeRef one = value_memory_type(g, a->type);
  int width = value_width(a->mask);
  for (int number = 0; number < a->parts; number += 2) {
    bool is_pair = number + 1 < a->parts;
    LLVMValueRef at = value_byte_offset(g, pointers, number * (int64_t)type_size(a->type)),
                 all = gather(g, is_pair ? g->i64 : one, a, at);
    if (is_pair) all = LLVMBuildBitCast(g->builder, all, value_lanes(one, 2 * width), "");
    for (int k = 0; k <= is_pair; k++)
      if (is_loaded(a, number + k)) values[number + k] = is_pair ? every_second(g, all, k) : all;
  }
}

void vector_load_cells(Codegen *g, const LaneAccess *a, LLVMValueRef *values) {
  ASSERT(a->parts > 1 && a->parts <= IR_MOST_RUN, "several numbers of a cell");
  LLVMValueRef pointers = value_byte_offset(g, a->at, -a->part * (int64_t)type_size(a->type));
  if (a->pairs && type_size(a->type) == 4) gather_pairs(g, a, pointers, values);
  else load_each(g, a, pointers, values);
  for (int number = 0; number < a->parts; number++)
    if (is_loaded(a, number)) values[number] = value_from_memory(g, values[number], a->type);
}
