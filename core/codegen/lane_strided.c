/* lane_strided.c - strided accesses, as to numbers of `aos` cells: whole vectors are read and
 * written, and transposed in registers.
 *
 *     lanes 0 1 2 3 of cells x y z:   |x y z x|y z x y|z x y z|  <->  |x x x x|y y y y|z z z z|
 *
 * All accesses to one cell in a stretch of straight-line code with the same active lanes share a
 * window, from the first number to the last that they access; nothing outside is read or written.
 * If most numbers are read, all are (lane_transpose.c): each access emits the same code, of which
 * LLVM keeps one copy. If few are, each is picked from the vectors that hold it. Stores are
 * deferred to the last store of their cell in the stretch; a mask omits numbers that are not
 * stored. The hardware prefetcher is too late for large cells, so stores, and the loads of the last
 * row, have explicit prefetches. */
#include "codegen/emit.h"

enum { SMALLEST_MASKED = 32, FEW_PARTS = 4, WIDEST = 64 /* bytes */ };
enum { LINE = 64, AHEAD = 36 * LINE }; /* prefetch distance in bytes: four vectors of 9 numbers */

typedef struct Window {
  int parts;         /* numbers per cell, from one lane to the next */
  int count;         /* numbers in the window */
  int own;           /* the access's number in the window */
  int touched;       /* numbers in the window that have an access */
  LLVMValueRef base; /* lane 0's first number in the window */
} Window;

/* -- the cell of an access --------------------------------------------------------------------- */

static const IrInst *address_of(const IrInst *inst, Type *type) {
  if (inst->op != IR_MEM_LOAD && inst->op != IR_MEM_STORE) return NULL;
  *type = inst->op == IR_MEM_LOAD ? inst->type : inst->operands[1]->type;
  return inst->operands[0];
}

const IrInst *lane_same_container(const IrInst *of, const IrInst *inst) {
  Type type, other;
  const IrInst *a = address_of(of, &type), *b = address_of(inst, &other);
  bool is_one = b && a->op == IR_OFFSET && b->op == IR_OFFSET && a->operands[0] == b->operands[0] &&
                a->operands[1] == b->operands[1] && a->stride == b->stride &&
                type_size(type) == type_size(other) && (a->imm - b->imm) % type_size(type) == 0;
  return is_one ? b : NULL;
}

/* The offset at which cells begin: the lowest number of the container that the region accesses. */
static int64_t origin_of(const IrInst *inst) {
  const IrInst *ptr = inst->operands[0];
  int64_t lowest = ptr->imm;
  for (const IrInst *at = inst->region->first; at; at = at->next) {
    const IrInst *other = lane_same_container(inst, at);
    if (other && other->imm < lowest) lowest = other->imm;
  }
  return lowest;
}

typedef struct Cell { /* the cell of an access */
  int parts;
  int64_t size, origin, from; /* bytes: of a number; offsets of the first cell and of this one */
} Cell;

static Cell cell_of(const IrInst *inst, int64_t step) {
  Type type;
  const IrInst *ptr = address_of(inst, &type);
  Cell cell = {.size = type_size(type)};
  cell.parts = (int)(step / cell.size);
  cell.origin = ptr->op == IR_OFFSET ? origin_of(inst) : 0;
  cell.from = ptr->op == IR_OFFSET ? cell.origin + (ptr->imm - cell.origin) / step * step : 0;
  return cell;
}

/* Which number of the cell that contains `of` does `inst` access? -1 if none. */
static int part_of(const Cell *cell, const IrInst *of, const IrInst *inst) {
  const IrInst *ptr = inst == of ? inst->operands[0] : lane_same_container(of, inst);
  if (!ptr) return -1;
  if (ptr->op != IR_OFFSET) return 0;
  int64_t part = (ptr->imm - cell->from) / cell->size;
  return ptr->imm >= cell->from && part < cell->parts ? (int)part : -1;
}

/* -- the window of an access ------------------------------------------------------------------- */

/* Are the same lanes active before and after the inst? */
static bool keeps_lanes(const Codegen *g, const IrInst *inst) {
  return !g->lanes[inst->id].thins && inst->op != IR_BREAK && inst->op != IR_CONTINUE;
}

static bool is_strided(const Codegen *g, const IrInst *inst) {
  Type type;
  const LaneFact *fact = &g->lanes[address_of(inst, &type)->id];
  int64_t size = type_size(type);
  return fact->shape == LANE_LINEAR && fact->step >= 2 * size && fact->step % size == 0 &&
         fact->step / size <= LANE_MOST_PARTS && (!g->mask || g->width * size >= SMALLEST_MASKED);
}

static Window window_of(Codegen *g, const Cell *cell, const IrInst *inst, uint32_t touched) {
  int low = __builtin_ctz(touched), high = 31 - __builtin_clz(touched);
  int own = part_of(cell, inst, inst);
  LLVMValueRef first =
      value_byte_offset(g, lane_base(g, inst->operands[0]), (low - own) * cell->size);
  return (Window){.parts = cell->parts,
                  .count = high - low + 1,
                  .own = own - low,
                  .touched = __builtin_popcount(touched),
                  .base = first};
}

static Window find_window(Codegen *g, const IrInst *inst) {
  const Cell cell = cell_of(inst, g->lanes[inst->operands[0]->id].step);
  uint32_t touched = 0;
  int part;
  for (const IrInst *at = inst; at && keeps_lanes(g, at); at = at->previous)
    if ((part = part_of(&cell, inst, at)) >= 0) touched |= 1u << part;
  for (const IrInst *at = inst; at && keeps_lanes(g, at); at = at->next)
    if ((part = part_of(&cell, inst, at)) >= 0) touched |= 1u << part;
  return window_of(g, &cell, inst, touched);
}

/* -- slices: vectors that cover the window ----------------------------------------------------- */

static int length_of(const Codegen *g, const Window *w) {
  return (g->width - 1) * w->parts + w->count;
}

static LLVMValueRef slice_address(Codegen *g, const Window *w, Type type, int slice) {
  return value_byte_offset(g, w->base, (int64_t)slice * g->width * type_size(type));
}

/* The mask of a slice: numbers of active lanes that are among `numbers` (a bit for each). */
static LLVMValueRef slice_mask(Codegen *g, const Window *w, int slice, uint32_t numbers) {
  LLVMValueRef picks[IR_MAX_LANES], none = LLVMConstNull(lane_mask_type(g));
  for (int i = 0; i < g->width; i++) {
    int at = slice * g->width + i, lane = at / w->parts;
    bool is_in = lane < g->width && numbers >> at % w->parts & 1;
    picks[i] = value_integer(g->i32, is_in ? lane : g->width);
  }
  return LLVMBuildShuffleVector(g->builder, lane_mask(g, g->mask), none,
                                LLVMConstVector(picks, (unsigned)g->width), "");
}

/* The type depends on the size alone, since numbers of one cell may differ in type; floats have the
 * better shuffles. */
static LLVMTypeRef slice_type(Codegen *g, Type type) {
  int64_t size = type_size(type);
  Type like = size == 4 ? TYPE(F32) : size == 8 ? TYPE(F64) : size == 2 ? TYPE(I16) : TYPE(I8);
  return value_lanes(value_memory_type(g, like), g->width);
}

static LLVMValueRef load_masked(Codegen *g, Type type, LLVMValueRef at, LLVMValueRef mask,
                                LLVMValueRef otherwise) {
  LLVMValueRef args[] = {at, value_integer(g->i32, type_size(type)), mask, otherwise};
  return call_overloaded(g, "llvm.masked.load", slice_type(g, type), g->pointer, args, 4);
}

static LLVMValueRef load_plain(Codegen *g, Type type, LLVMValueRef at) {
  LLVMValueRef value = LLVMBuildLoad2(g->builder, slice_type(g, type), at, "");
  LLVMSetAlignment(value, (unsigned)type_size(type));
  return value;
}

static LLVMValueRef load_slice(Codegen *g, const Window *w, Type type, int slice) {
  LLVMValueRef at = slice_address(g, w, type, slice), none = LLVMConstNull(slice_type(g, type));
  if (slice * g->width >= length_of(g, w)) return none;
  if (!g->mask && (slice + 1) * g->width <= length_of(g, w)) return load_plain(g, type, at);
  return load_masked(g, type, at, slice_mask(g, w, slice, (1u << w->count) - 1), none);
}

static void fetch_ahead(Codegen *g, const Window *w, Type type, bool writes) {
  if (g->mask || w->parts <= FEW_PARTS) return;
  for (int64_t at = 0; at < (int64_t)w->parts * g->width * type_size(type); at += LINE) {
    LLVMValueRef args[] = {value_byte_offset(g, w->base, AHEAD + at), value_integer(g->i32, writes),
                           value_integer(g->i32, 3), value_integer(g->i32, 1)};
    call_intrinsic(g, "llvm.prefetch", g->pointer, args, 4);
  }
}

/* -- loads ------------------------------------------------------------------------------------- */

/* Is the load the last in memory of those at constant distances? Only it is prefetched, since the
 * lines of the others were read before. */
static bool is_farthest(const IrInst *load) {
  for (const IrInst *at = load->region->first; at; at = at->next) {
    const IrInst *other = at->op == IR_MEM_LOAD ? lane_same_container(load, at) : NULL;
    if (other && other->imm > load->operands[0]->imm) return false;
  }
  return load->operands[0]->op == IR_OFFSET;
}

static LLVMValueRef load_all(Codegen *g, const Window *w, Type type) {
  LLVMValueRef vectors[LANE_MOST_PARTS];
  for (int slice = 0; slice < w->parts; slice++) vectors[slice] = load_slice(g, w, type, slice);
  lane_split(g, vectors, w->parts);
  return vectors[w->own];
}

/* For an odd number of parts, no two lanes' numbers are in the same place of a vector, so blends
 * combine all vectors into one. */
static LLVMValueRef load_blended(Codegen *g, const Window *w, Type type) {
  Window own = *w;
  own.base = value_byte_offset(g, w->base, (int64_t)w->own * type_size(type));
  own.count = w->count - w->own;
  own.own = 0;
  LLVMValueRef all = load_slice(g, &own, type, 0);
  for (int slice = 1; slice * g->width <= (g->width - 1) * w->parts; slice++) {
    LLVMValueRef at = slice_address(g, &own, type, slice), mask = slice_mask(g, &own, slice, 1);
    all = (slice + 1) * g->width <= length_of(g, &own)
              ? LLVMBuildSelect(g->builder, mask, load_plain(g, type, at), all, "")
              : load_masked(g, type, at, mask, all);
  }
  return lane_from_places(g, all, w->parts);
}

static LLVMValueRef load_picked(Codegen *g, const Window *w, Type type) {
  LLVMValueRef sum = NULL, picks[IR_MAX_LANES];
  for (int slice = 0; slice * g->width < length_of(g, w); slice++) {
    bool any = false;
    for (int lane = 0; lane < g->width; lane++) {
      int place = lane * w->parts + w->own - slice * g->width;
      bool is_in = place >= 0 && place < g->width;
      any |= is_in;
      picks[lane] = value_integer(g->i32, is_in ? g->width + place : lane);
    }
    if (!any) continue;
    if (!sum) sum = LLVMConstNull(slice_type(g, type));
    sum = LLVMBuildShuffleVector(g->builder, sum, load_slice(g, w, type, slice),
                                 LLVMConstVector(picks, (unsigned)g->width), "");
  }
  return sum;
}

bool lane_load_strided(Codegen *g, const IrInst *inst) {
  if (!is_strided(g, inst)) return false;
  Window w = find_window(g, inst);
  Type type = inst->type;
  if (is_farthest(inst)) fetch_ahead(g, &w, type, false);
  bool is_simple = w.parts <= FEW_PARTS && g->width * type_size(type) >= WIDEST;
  LLVMValueRef value = 2 * w.touched > w.parts && !is_simple   ? load_all(g, &w, type)
                       : w.parts % 2 && !g->mask && !is_simple ? load_blended(g, &w, type)
                                                               : load_picked(g, &w, type);
  LLVMTypeRef lanes = value_lanes(value_memory_type(g, type), g->width);
  value = LLVMBuildBitCast(g->builder, value, lanes, "");
  value_set(g, inst, value_from_memory(g, value, type));
  return true;
}

/* -- stores ------------------------------------------------------------------------------------ */

typedef struct Group { /* stores of one cell that are combined, by number */
  const IrInst *stores[LANE_MOST_PARTS];
  const IrInst *last;
  uint32_t numbers;
} Group;

/* May the inst access an element that the group stores, so that the stores must come before it? */
static bool may_meet(const IrInst *inst, const Group *group, const IrInst *store) {
  if (!group->numbers || ir_effects(inst) & IR_PURE) return false;
  if (inst->op != IR_MEM_LOAD && inst->op != IR_MEM_STORE) return true;
  if (inst->op == IR_MEM_STORE && lane_same_container(store, inst)) return false;
  for (int part = 0; part < LANE_MOST_PARTS; part++)
    if (group->stores[part] && (!inst->alias || group->stores[part]->alias == inst->alias))
      return true;
  return false;
}

/* Finds the stores to the cell around `inst` that can be deferred to the last of them. Each of them
 * finds the same group. */
static void find_group(const Cell *cell, const IrInst *inst, Group *group) {
  *group = (Group){0};
  for (const IrInst *at = inst->region->first; at; at = at->next) {
    int part = at->op == IR_MEM_STORE ? part_of(cell, inst, at) : -1;
    if (may_meet(at, group, inst) || (part >= 0 && group->stores[part])) {
      if (group->stores[part_of(cell, inst, inst)] == inst) return;
      *group = (Group){0};
    }
    if (part < 0) continue;
    group->stores[part] = group->last = at;
    group->numbers |= 1u << part;
  }
}

static LLVMValueRef stored(Codegen *g, const IrInst *store) {
  Type type = store->operands[1]->type;
  LLVMValueRef value = value_broadcast(g, value_operand(g, store, 1), g->width);
  return LLVMBuildBitCast(g->builder, value_to_memory(g, value, type), slice_type(g, type), "");
}

/* Are all numbers of all lanes stored? */
static bool is_whole(const Codegen *g, const Window *w, uint32_t numbers) {
  return !g->mask && numbers == (1u << w->parts) - 1;
}

static void store_slice(Codegen *g, const Window *w, Type type, LLVMValueRef value, int slice,
                        uint32_t numbers) {
  LLVMValueRef at = slice_address(g, w, type, slice);
  LLVMValueRef mask = slice_mask(g, w, slice, numbers);
  if (LLVMIsNull(mask)) return;
  LLVMValueRef args[] = {value, at, value_integer(g->i32, type_size(type)), mask};
  call_overloaded(g, "llvm.masked.store", LLVMTypeOf(value), g->pointer, args, 4);
}

static void store_group(Codegen *g, const Cell *cell, const IrInst *inst, const Group *group) {
  Window w = window_of(g, cell, inst, group->numbers);
  LLVMValueRef vectors[LANE_MOST_PARTS];
  Type type = inst->operands[1]->type;
  int low = __builtin_ctz(group->numbers);
  for (int part = 0; part < w.parts; part++) {
    const IrInst *store = part + low < w.parts ? group->stores[part + low] : NULL;
    vectors[part] = store ? stored(g, store) : LLVMGetPoison(slice_type(g, type));
  }
  lane_join(g, vectors, w.parts);
  if (is_whole(g, &w, group->numbers >> low)) {
    if (!inst->streams || !g->least) fetch_ahead(g, &w, type, true);
    StreamStore store = {.base = w.base, .vectors = vectors, .count = w.parts, .type = type};
    return stream_store(g, &store, inst->streams);
  }
  fetch_ahead(g, &w, type, true);
  for (int slice = 0; slice < w.parts; slice++)
    store_slice(g, &w, type, vectors[slice], slice, group->numbers >> low);
}

bool lane_store_strided(Codegen *g, const IrInst *inst) {
  if (!is_strided(g, inst)) return false;
  const Cell cell = cell_of(inst, g->lanes[inst->operands[0]->id].step);
  Group group;
  find_group(&cell, inst, &group);
  if (group.last == inst) store_group(g, &cell, inst, &group);
  return true;
}
