/* lane_cells.c - loads of shape `cells`, of adjacent numbers at an address that varies by lane: the
 * components of x[p[i]]. One vector load per lane, or few, reads the numbers, which are then
 * transposed in registers; gathers would read each number of each lane by itself.
 *
 *     lane 0: |x y z w|   lane 1: |x y z w| ..   ->   |x x x ..| |y y y ..| |z z z ..| |w w w ..|
 *
 * The first load of a group reads for all. Only the range from the first number to the last is
 * accessed; inactive lanes read zeros from the stack. Decision D-codegen-03. */
#include "codegen/emit.h"

enum { CHUNK = 16 /* bytes of a load */ };

/* The address of number 0 of the group's cell, per lane. */
static LLVMValueRef first_number(Codegen *g, const IrInst *load) {
  int size = type_size(load->type);
  return value_byte_offset(g, value_of(g, load->operands[0]), -load->part * size);
}

static void set_number(Codegen *g, const IrInst *load, LLVMValueRef value) {
  value_set(g, load, value_from_memory(g, value, load->type));
}

/* -- one chunk of all lanes -------------------------------------------------------------------- */

LLVMValueRef lane_concatenated(Codegen *g, LLVMValueRef *pieces, int count) {
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
  for (int first = 0; first < g->width; first += c->elements)
    for (int k = 0; k < c->lanes; k++) {
      LLVMValueRef at = value_lane(g, pointers, first + j * c->lanes + k);
      LLVMTypeRef numbers = value_lanes(value_memory_type(g, type), c->numbers);
      LLVMValueRef value =
          LLVMBuildLoad2(g->builder, numbers, value_byte_offset(g, at, offset), "");
      LLVMSetAlignment(value, (unsigned)type_size(type));
      pieces[count++] = value;
    }
  return lane_concatenated(g, pieces, count);
}

/* Shuffles within each 16 bytes: picks below `elements` are from `a`, the others from `b`. */
static LLVMValueRef shuffle(Codegen *g, const Chunk *c, LLVMValueRef a, LLVMValueRef b,
                            const int *picks) {
  LLVMValueRef lanes[IR_MAX_LANES];
  for (int i = 0; i < g->width; i++) {
    int from = picks[i % c->elements], first = i - i % c->elements;
    lanes[i] = value_integer(g->i32, from < c->elements ? first + from
                                                        : g->width + first + from - c->elements);
  }
  return LLVMBuildShuffleVector(g->builder, a, b, LLVMConstVector(lanes, (unsigned)g->width), "");
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

/* -- a vector load per lane -------------------------------------------------------------------- */

/* Zeros on the stack for inactive lanes, as large as the largest cell. */
static LLVMValueRef zeros(Codegen *g) {
  LLVMTypeRef type = LLVMArrayType2(g->i64, IR_MOST_RUN);
  if (g->zeros) return g->zeros;
  g->zeros = block_variable(g, type, "zeros");
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMBuildStore(g->builder, LLVMConstNull(type), g->zeros);
  block_hoist_end(g, back);
  return g->zeros;
}

static void load_cell(Codegen *g, const IrInst *first, const IrGroup *group) {
  LLVMValueRef pointers = first_number(g, first), vectors[4];
  int parts = first->parts, size = type_size(first->type), done = 0;
  Chunk c = {.numbers = size == 4 && parts >= 4 ? 4 : 2, .elements = CHUNK / size};
  c.lanes = c.elements / c.numbers;
  if (g->mask) {
    LLVMValueRef none = value_broadcast(g, zeros(g), g->width);
    pointers = LLVMBuildSelect(g->builder, g->mask, pointers, none, "");
  }
  for (int at = 0; done < parts; at = done) {
    if (at + c.numbers > parts) at = parts - c.numbers;
    for (int j = 0; j < c.numbers; j++)
      vectors[j] = load_vector(g, &c, first->type, pointers, j, at * size);
    for (int i = 0; i < group->count; i++) {
      const IrInst *load = group->items[i];
      if (load->part >= done && load->part < at + c.numbers)
        set_number(g, load, number_of(g, &c, vectors, load->part - at));
    }
    done = at + c.numbers;
  }
}

/* -- gathers of two numbers per lane, on processors where these are faster -------------------- */

static LLVMValueRef gather(Codegen *g, LLVMTypeRef type, LLVMValueRef pointers, int64_t offset,
                           int64_t align) {
  LLVMValueRef at = value_byte_offset(g, pointers, offset);
  LLVMTypeRef lanes = value_lanes(type, g->width);
  LLVMValueRef args[] = {at, value_integer(g->i32, align), lane_mask(g, g->mask),
                         LLVMConstNull(lanes)};
  return call_overloaded(g, "llvm.masked.gather", lanes, LLVMTypeOf(at), args, 4);
}

/* Every second number, from `first` on, of a vector with two per lane. */
static LLVMValueRef every_second(Codegen *g, LLVMValueRef pairs, int first) {
  LLVMValueRef picks[IR_MAX_LANES];
  for (int i = 0; i < g->width; i++) picks[i] = value_integer(g->i32, 2 * i + first);
  return LLVMBuildShuffleVector(g->builder, pairs, LLVMGetPoison(LLVMTypeOf(pairs)),
                                LLVMConstVector(picks, (unsigned)g->width), "");
}

static void gather_cell(Codegen *g, const IrInst *first, const IrGroup *group) {
  LLVMValueRef pointers = first_number(g, first);
  LLVMTypeRef one = value_memory_type(g, first->type);
  int size = type_size(first->type);
  for (int at = 0; at < first->parts; at += 2) {
    bool is_pair = at + 1 < first->parts;
    LLVMValueRef all = gather(g, is_pair ? g->i64 : one, pointers, at * size, size);
    if (is_pair) all = LLVMBuildBitCast(g->builder, all, value_lanes(one, 2 * g->width), "");
    for (int i = 0; i < group->count; i++) {
      int number = group->items[i]->part - at;
      if (number < 0 || number > is_pair) continue;
      set_number(g, group->items[i], is_pair ? every_second(g, all, number) : all);
    }
  }
}

void lane_load_cell(Codegen *g, const IrInst *inst) {
  IrGroup group = ir_group(g->scratch, inst);
  if (group.items[0] != inst) return; /* the first one has read it */
  if (inst->pairs && type_size(inst->type) == 4) gather_cell(g, inst, &group);
  else load_cell(g, inst, &group);
}
