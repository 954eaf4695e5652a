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

/* -- the window of an access ------------------------------------------------------------------- */

/* Masked accesses of short vectors are gathers. */
static bool is_strided(const Codegen *g, const IrInst *inst) {
  int bytes = g->width * type_size(ir_accessed(inst));
  return inst->shape == IR_SHAPE_STRIDED && (!g->mask || bytes >= SMALLEST_MASKED);
}

/* The window of the numbers `touched`, a bit each. */
static Window window_of(Codegen *g, const IrInst *inst, uint32_t touched) {
  int low = __builtin_ctz(touched), high = 31 - __builtin_clz(touched);
  int64_t size = type_size(ir_accessed(inst));
  return (Window){
      .parts = inst->parts,
      .count = high - low + 1,
      .own = inst->part - low,
      .touched = __builtin_popcount(touched),
      .base = value_byte_offset(g, lane_base(g, inst->operands[0]), (low - inst->part) * size)};
}

static Window group_window(Codegen *g, const IrInst *inst) {
  IrGroup group = ir_group(g->scratch, inst);
  uint32_t touched = 0;
  for (int i = 0; i < group.count; i++) touched |= 1u << group.items[i]->part;
  return window_of(g, inst, touched);
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
  if (g->mask) return;
  for (int64_t at = 0; at < (int64_t)w->parts * g->width * type_size(type); at += LINE) {
    LLVMValueRef args[] = {value_byte_offset(g, w->base, AHEAD + at), value_integer(g->i32, writes),
                           value_integer(g->i32, 3), value_integer(g->i32, 1)};
    call_intrinsic(g, "llvm.prefetch", g->pointer, args, 4);
  }
}

/* -- loads ------------------------------------------------------------------------------------- */

static LLVMValueRef load_all(Codegen *g, const Window *w, Type type) {
  LLVMValueRef vectors[IR_MOST_PARTS];
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
  Window w = group_window(g, inst);
  Type type = inst->type;
  if (inst->prefetch) fetch_ahead(g, &w, type, false);
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

typedef struct Stores { /* of one cell, by number */
  const IrInst *items[IR_MOST_PARTS];
  uint32_t numbers;
} Stores;

/* The stores that `inst` does: itself, and those of its group that were deferred to it. */
static Stores stores_of(Codegen *g, const IrInst *inst) {
  IrGroup group = ir_group(g->scratch, inst);
  Stores stores = {0};
  for (int i = 0; i < group.count; i++) {
    const IrInst *at = group.items[i];
    if (at->op != IR_MEM_STORE) continue;
    stores.items[at->part] = at;
    stores.numbers |= 1u << at->part;
    if (at == inst) break;
    if (!at->deferred) stores = (Stores){0};
  }
  return stores;
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

bool lane_store_strided(Codegen *g, const IrInst *inst) {
  if (!is_strided(g, inst)) return false;
  if (inst->deferred) return true;
  Stores stores = stores_of(g, inst);
  Window w = window_of(g, inst, stores.numbers);
  LLVMValueRef vectors[IR_MOST_PARTS];
  Type type = inst->operands[1]->type;
  int low = __builtin_ctz(stores.numbers);
  for (int part = 0; part < w.parts; part++) {
    const IrInst *store = part + low < w.parts ? stores.items[part + low] : NULL;
    vectors[part] = store ? stored(g, store) : LLVMGetPoison(slice_type(g, type));
  }
  lane_join(g, vectors, w.parts);
  bool is_all = is_whole(g, &w, stores.numbers >> low);
  if (inst->prefetch && !(is_all && inst->streams && g->least)) fetch_ahead(g, &w, type, true);
  StreamStore store = {.base = w.base, .vectors = vectors, .count = w.parts, .type = type};
  if (is_all) stream_store(g, &store, inst->streams);
  for (int slice = 0; slice < w.parts && !is_all; slice++)
    store_slice(g, &w, type, vectors[slice], slice, stores.numbers >> low);
  return true;
}
