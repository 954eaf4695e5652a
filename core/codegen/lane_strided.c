/* lane_strided.c - elements at a constant distance, as numbers of `aos` cells have: whole vectors
 * are read and lanes picked from them.
 *
 *     lanes 0 1 2 3 of y in cells x y z:   |x y z x|y z x y|z x y z|  ->  |y y y y|
 *
 * All accesses of one cell in a stretch of code, in which the same lanes run, share a window, from
 * the first number to the last that they touch: so their reads are the same and LLVM keeps one.
 * Nothing outside the window is read. Where all numbers are written, whole vectors are written too,
 * at the last of the stores; a part is written by masked stores. */
#include "codegen/emit.h"

enum { MOST_PARTS = 16, SMALLEST_MASKED = 32 };

typedef struct Window {
  int parts;             /* numbers from one lane's to the next's */
  int count;             /* of them in the window */
  int own;               /* which of them the access is */
  LLVMValueRef base;     /* lane 0's first number in the window */
} Window;

/* -- the window of an access ------------------------------------------------------------------- */

static const IrInst *address_of(const IrInst *inst, Type *type) {
  if (inst->op != IR_MEM_LOAD && inst->op != IR_MEM_STORE) return NULL;
  *type = inst->op == IR_MEM_LOAD ? inst->type : inst->operands[1]->type;
  return inst->operands[0];
}

/* `b` is the address of a number of the same cells as `a`. */
static bool shares_cells(const IrInst *a, Type type, const IrInst *b, Type other) {
  return b->op == IR_OFFSET && a->operands[0] == b->operands[0] &&
         a->operands[1] == b->operands[1] && a->stride == b->stride &&
         type_size(type) == type_size(other) && (a->imm - b->imm) % type_size(type) == 0;
}

static void widen(const IrInst *inst, const IrInst *ptr, Type type, int64_t *low, int64_t *high,
                  int64_t step) {
  Type other;
  const IrInst *at = address_of(inst, &other);
  if (!at || !shares_cells(ptr, type, at, other)) return;
  int64_t new_low = at->imm < *low ? at->imm : *low, new_high = at->imm > *high ? at->imm : *high;
  if (new_high - new_low < step) *low = new_low, *high = new_high;
}

/* The same lanes run before and after it. */
static bool keeps_lanes(const Codegen *g, const IrInst *inst) {
  return !g->lanes[inst->id].thins && inst->op != IR_BREAK && inst->op != IR_CONTINUE;
}

static bool find_window(Codegen *g, const IrInst *inst, Window *window) {
  Type type;
  const IrInst *ptr = address_of(inst, &type);
  const LaneFact *fact = &g->lanes[ptr->id];
  int64_t size = type_size(type);
  if (fact->shape != LANE_LINEAR || fact->step < 2 * size || fact->step % size ||
      fact->step / size > MOST_PARTS || (g->mask && g->width * size < SMALLEST_MASKED))
    return false;
  *window = (Window){.parts = (int)(fact->step / size), .count = 1, .base = lane_base(g, ptr)};
  if (ptr->op != IR_OFFSET) return true;
  int64_t low = ptr->imm, high = ptr->imm;
  for (const IrInst *at = inst; at && keeps_lanes(g, at); at = at->previous)
    widen(at, ptr, type, &low, &high, fact->step);
  for (const IrInst *at = inst; at && keeps_lanes(g, at); at = at->next)
    widen(at, ptr, type, &low, &high, fact->step);
  window->own = (int)((ptr->imm - low) / size);
  window->count = (int)((high - low) / size) + 1;
  window->base = value_byte_offset(g, window->base, low - ptr->imm);
  return true;
}

/* -- slices: vectors that cover the window ----------------------------------------------------- */

static int length_of(const Codegen *g, const Window *w) {
  return (g->width - 1) * w->parts + w->count;
}

static int slices_of(const Codegen *g, const Window *w) {
  return (length_of(g, w) + g->width - 1) / g->width;
}

/* The number at which a slice begins; the last one ends with the window, unless a mask says what it
 * touches. */
static int begin_of(const Codegen *g, const Window *w, int slice, bool is_masked) {
  bool is_last = slice == slices_of(g, w) - 1;
  return is_last && !is_masked ? length_of(g, w) - g->width : slice * g->width;
}

static LLVMValueRef slice_address(Codegen *g, const Window *w, Type type, int begin) {
  return value_byte_offset(g, w->base, (int64_t)begin * type_size(type));
}

/* Which numbers of a slice belong to lanes that run: of those from `first` on, `count` per lane. */
static LLVMValueRef slice_mask(Codegen *g, const Window *w, int begin, int first, int count) {
  LLVMValueRef picks[IR_MAX_LANES], none = LLVMConstNull(lane_mask_type(g));
  for (int i = 0; i < g->width; i++) {
    int lane = (begin + i) / w->parts, part = (begin + i) % w->parts;
    bool is_in = part >= first && part < first + count && lane < g->width;
    picks[i] = value_integer(g->i32, is_in ? lane : g->width);
  }
  return LLVMBuildShuffleVector(g->builder, lane_mask(g, g->mask), none,
                                LLVMConstVector(picks, (unsigned)g->width), "");
}

static LLVMValueRef load_slice(Codegen *g, const Window *w, Type type, int begin) {
  LLVMTypeRef lanes = value_lanes(value_memory_type(g, type), g->width);
  LLVMValueRef at = slice_address(g, w, type, begin);
  if (g->mask) {
    LLVMValueRef args[] = {at, value_integer(g->i32, type_size(type)),
                           slice_mask(g, w, begin, 0, w->count), LLVMConstNull(lanes)};
    return call_overloaded(g, "llvm.masked.load", lanes, g->pointer, args, 4);
  }
  LLVMValueRef value = LLVMBuildLoad2(g->builder, lanes, at, "");
  LLVMSetAlignment(value, (unsigned)type_size(type));
  return value;
}

/* `sum` with the lanes whose number is in this slice, which earlier slices do not have. */
static LLVMValueRef pick(Codegen *g, const Window *w, LLVMValueRef sum, LLVMValueRef slice,
                         int begin, int *taken) {
  LLVMValueRef picks[IR_MAX_LANES];
  for (int lane = 0; lane < g->width; lane++) {
    int place = lane * w->parts + w->own - begin;
    bool is_in = lane >= *taken && place >= 0 && place < g->width;
    picks[lane] = value_integer(g->i32, is_in ? g->width + place : lane);
  }
  while (*taken < g->width && *taken * w->parts + w->own - begin < g->width) ++*taken;
  return LLVMBuildShuffleVector(g->builder, sum, slice, LLVMConstVector(picks, (unsigned)g->width),
                                "");
}

bool lane_load_strided(Codegen *g, const IrInst *inst) {
  Window w;
  if (!find_window(g, inst, &w)) return false;
  LLVMTypeRef lanes = value_lanes(value_memory_type(g, inst->type), g->width);
  LLVMValueRef sum = LLVMConstNull(lanes);
  for (int slice = 0, taken = 0; slice < slices_of(g, &w); slice++) {
    int begin = begin_of(g, &w, slice, g->mask != NULL);
    sum = pick(g, &w, sum, load_slice(g, &w, inst->type, begin), begin, &taken);
  }
  value_set(g, inst, value_from_memory(g, sum, inst->type));
  return true;
}

/* -- stores ------------------------------------------------------------------------------------ */

/* The numbers of one slice from the vectors of the parts; parts without one are not written. */
static LLVMValueRef compose(Codegen *g, const Window *w, LLVMValueRef *values, int begin) {
  LLVMValueRef sum = NULL, picks[IR_MAX_LANES];
  for (int part = 0; part < w->parts; part++) {
    if (!values[part]) continue;
    if (!sum) sum = LLVMConstNull(LLVMTypeOf(values[part]));
    for (int i = 0; i < g->width; i++) {
      int lane = (begin + i) / w->parts;
      bool is_in = (begin + i) % w->parts == part && lane < g->width;
      picks[i] = value_integer(g->i32, is_in ? g->width + lane : i);
    }
    sum = LLVMBuildShuffleVector(g->builder, sum, values[part],
                                 LLVMConstVector(picks, (unsigned)g->width), "");
  }
  return sum;
}

static void store_slices(Codegen *g, const Window *w, Type type, LLVMValueRef *values, int first,
                         int count) {
  bool is_whole = count == w->parts && !g->mask;
  for (int slice = 0; slice < slices_of(g, w); slice++) {
    int begin = slice * g->width;
    LLVMValueRef value = compose(g, w, values, begin), at = slice_address(g, w, type, begin);
    if (is_whole) {
      LLVMSetAlignment(LLVMBuildStore(g->builder, value, at), (unsigned)type_size(type));
      continue;
    }
    LLVMValueRef args[] = {value, at, value_integer(g->i32, type_size(type)),
                           slice_mask(g, w, begin, first, count)};
    call_overloaded(g, "llvm.masked.store", LLVMTypeOf(value), g->pointer, args, 4);
  }
}

static LLVMValueRef stored(Codegen *g, const IrInst *store) {
  Type type = store->operands[1]->type;
  return value_to_memory(g, value_broadcast(g, value_operand(g, store, 1), g->width), type);
}

/* Where the stretch of stores around `inst` begins that has only values computed between them. */
static const IrInst *first_store(const IrInst *inst) {
  const IrInst *first = inst;
  for (const IrInst *at = inst; at; at = at->previous) {
    if (at->op == IR_MEM_STORE) first = at;
    else if (!(ir_effects(at) & IR_PURE)) break;
  }
  return first;
}

/* The stretch stores each number of a cell once: then the window is that cell. All of its stores
 * find the same group. */
static bool find_group(const IrInst *inst, Window *w, LLVMValueRef own_base, Codegen *g,
                       const IrInst **group) {
  const IrInst *ptr = inst->operands[0], *found[MOST_PARTS];
  Type type = inst->operands[1]->type;
  int64_t size = type_size(type), low = ptr->imm;
  int count = 0;
  if (ptr->op != IR_OFFSET) return false;
  for (const IrInst *at = first_store(inst); at; at = at->next) {
    if (at->op != IR_MEM_STORE && !(ir_effects(at) & IR_PURE)) break;
    if (at->op != IR_MEM_STORE ||
        !shares_cells(ptr, type, at->operands[0], at->operands[1]->type))
      continue;
    if (count == w->parts) return false;
    found[count++] = at;
    low = at->operands[0]->imm < low ? at->operands[0]->imm : low;
  }
  for (int i = 0; i < count; i++) {
    int64_t part = (found[i]->operands[0]->imm - low) / size;
    if (part >= w->parts || group[part]) return false;
    group[part] = found[i];
  }
  w->base = value_byte_offset(g, own_base, low - ptr->imm);
  w->own = (int)((ptr->imm - low) / size);
  w->count = w->parts;
  return count == w->parts;
}

static bool comes_after(const IrInst *a, const IrInst *b) {
  while (b && b != a) b = b->next;
  return b != NULL;
}

static void store_alone(Codegen *g, const IrInst *inst, const Window *w) {
  LLVMValueRef values[MOST_PARTS] = {0};
  values[w->own] = stored(g, inst);
  store_slices(g, w, inst->operands[1]->type, values, w->own, 1);
}

bool lane_store_strided(Codegen *g, const IrInst *inst) {
  Window window, whole;
  LLVMValueRef values[MOST_PARTS] = {0};
  const IrInst *group[MOST_PARTS] = {0};
  if (!find_window(g, inst, &window)) return false;
  whole = window;
  if (!find_group(inst, &whole, lane_base(g, inst->operands[0]), g, group)) {
    store_alone(g, inst, &window);
    return true;
  }
  for (int part = 0; part < whole.parts; part++)
    if (group[part] != inst && comes_after(group[part], inst)) return true; /* with the last one */
  for (int part = 0; part < whole.parts; part++) values[part] = stored(g, group[part]);
  store_slices(g, &whole, inst->operands[1]->type, values, 0, whole.parts);
  return true;
}
