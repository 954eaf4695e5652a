/* lane_cells.c - loads of adjacent numbers at an address that varies by lane: the components of
 * x[p[i]], the cells around a particle. One vector load per lane, or few, reads the numbers, which
 * are then transposed in registers; gathers would read each number of each lane by itself.
 *
 *     lane 0: |x y z w|   lane 1: |x y z w| ..   ->   |x x x ..| |y y y ..| |z z z ..| |w w w ..|
 *
 * The first load reads for all later ones in the same straight-line code, as long as the same lanes
 * are active and nothing writes the numbers. Only the range from the first number to the last is
 * accessed; inactive lanes read zeros from the stack. Decision D-codegen-03. */
#include "codegen/emit.h"

enum { CHUNK = 16, MOST_NUMBERS = 8 }; /* bytes of a load; numbers of a cell */

typedef struct CellLoads {
  Type type;
  int64_t size, low, high; /* bytes of a number; lowest and highest offset */
  const IrInst *loads[MOST_NUMBERS];
  int count;
} CellLoads;

/* -- which loads ------------------------------------------------------------------------------- */

static bool is_quiet(const IrInst *inst) {
  return ir_effects(inst) & IR_PURE || inst->op == IR_MEM_LOAD || inst->op == IR_GET ||
         inst->op == IR_SET || inst->op == IR_VAR;
}

static bool is_write(const IrInst *inst) {
  return inst->op == IR_MEM_STORE || inst->op == IR_MEM_UPDATE;
}

bool lane_is_plain(const IrInst *inst) { return is_quiet(inst) || is_write(inst); }

bool lane_is_written(const IrInst *load, const IrInst *from) {
  for (const IrInst *at = from; at != load; at = at->next)
    if (is_write(at) && (!at->alias || !load->alias || at->alias == load->alias)) return true;
  return false;
}

static void add(CellLoads *cell, const IrInst *load, int64_t at) {
  int64_t low = at < cell->low ? at : cell->low, high = at > cell->high ? at : cell->high;
  if (high - low >= MOST_NUMBERS * cell->size || cell->count == MOST_NUMBERS) return;
  cell->low = low;
  cell->high = high;
  cell->loads[cell->count++] = load;
}

static int numbers_of(const CellLoads *cell) {
  return (int)((cell->high - cell->low) / cell->size) + 1;
}

/* How many numbers one vector load reads. */
static int chunk_of(const CellLoads *cell) {
  return cell->size == 4 && numbers_of(cell) >= 4 ? 4 : 2;
}

static bool find_cell(const Codegen *g, const IrInst *inst, CellLoads *cell) {
  const IrInst *ptr = inst->operands[0];
  int64_t size = type_size(inst->type);
  if (lane_shape(g, ptr) != LANE_VARYING || ptr->op != IR_OFFSET || (size != 4 && size != 8) ||
      g->width * size < CHUNK)
    return false;
  *cell = (CellLoads){.type = inst->type, .size = size, .low = ptr->imm, .high = ptr->imm};
  add(cell, inst, ptr->imm);
  for (const IrInst *at = inst->next; at && lane_is_plain(at); at = at->next) {
    if (g->lanes[at->id].thins) break;
    const IrInst *other = at->op == IR_MEM_LOAD ? lane_same_container(inst, at) : NULL;
    if (other && type_equal(at->type, inst->type) && !lane_is_written(at, inst))
      add(cell, at, other->imm);
  }
  int numbers = numbers_of(cell), chunk = chunk_of(cell);
  return numbers > 1 && (numbers == 2 || (numbers + chunk - 1) / chunk < cell->count);
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

/* -- the cell ---------------------------------------------------------------------------------- */

/* Zeros on the stack for inactive lanes, as large as the largest cell. */
static LLVMValueRef zeros(Codegen *g) {
  LLVMTypeRef type = LLVMArrayType2(g->i64, MOST_NUMBERS);
  if (g->zeros) return g->zeros;
  g->zeros = block_variable(g, type, "zeros");
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMBuildStore(g->builder, LLVMConstNull(type), g->zeros);
  block_hoist_end(g, back);
  return g->zeros;
}

static LLVMValueRef pointers_of(Codegen *g, const CellLoads *cell, const IrInst *inst) {
  const IrInst *ptr = inst->operands[0];
  LLVMValueRef pointers = value_byte_offset(g, value_of(g, ptr), cell->low - ptr->imm);
  if (!g->mask) return pointers;
  LLVMValueRef none = value_broadcast(g, zeros(g), g->width);
  return LLVMBuildSelect(g->builder, g->mask, pointers, none, "");
}

bool lane_is_fetched(Codegen *g, const IrInst *load) {
  for (int i = 0; i < g->fetched.count; i++)
    if (g->fetched.items[i] == load) {
      g->fetched.items[i] = g->fetched.items[--g->fetched.count];
      return true;
    }
  return false;
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

static void gather_cell(Codegen *g, const CellLoads *cell) {
  const IrInst *ptr = cell->loads[0]->operands[0];
  LLVMValueRef pointers = value_byte_offset(g, value_of(g, ptr), cell->low - ptr->imm);
  LLVMTypeRef one = value_memory_type(g, cell->type);
  for (int first = 0; first < numbers_of(cell); first += 2) {
    bool is_pair = first + 1 < numbers_of(cell);
    LLVMValueRef all = gather(g, is_pair ? g->i64 : one, pointers, first * cell->size, cell->size);
    if (is_pair) all = LLVMBuildBitCast(g->builder, all, value_lanes(one, 2 * g->width), "");
    for (int i = 0; i < cell->count; i++) {
      int number = (int)((cell->loads[i]->operands[0]->imm - cell->low) / cell->size) - first;
      if (number < 0 || number > is_pair) continue;
      LLVMValueRef value = is_pair ? every_second(g, all, number) : all;
      value_set(g, cell->loads[i], value_from_memory(g, value, cell->type));
      if (i) vec_push(g->scratch, &g->fetched, cell->loads[i]);
    }
  }
}

bool lane_load_cell(Codegen *g, const IrInst *inst) {
  CellLoads cell;
  if (!find_cell(g, inst, &cell)) return false;
  if (g->target.has_fast_gathers && cell.size == 4) return gather_cell(g, &cell), true;
  LLVMValueRef pointers = pointers_of(g, &cell, inst), vectors[4];
  int numbers = numbers_of(&cell), done = 0;
  Chunk c = {.numbers = chunk_of(&cell), .elements = (int)(CHUNK / cell.size)};
  c.lanes = c.elements / c.numbers;
  for (int first = 0; done < numbers; first = done) {
    if (first + c.numbers > numbers) first = numbers - c.numbers;
    for (int j = 0; j < c.numbers; j++)
      vectors[j] = load_vector(g, &c, cell.type, pointers, j, first * cell.size);
    for (int i = 0; i < cell.count; i++) {
      int number = (int)((cell.loads[i]->operands[0]->imm - cell.low) / cell.size);
      if (number < done || number >= first + c.numbers) continue;
      LLVMValueRef value = number_of(g, &c, vectors, number - first);
      value_set(g, cell.loads[i], value_from_memory(g, value, cell.type));
      if (cell.loads[i] != inst) vec_push(g->scratch, &g->fetched, cell.loads[i]);
    }
    done = first + c.numbers;
  }
  return true;
}
