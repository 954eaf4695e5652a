/* window.c - see window.h. */
#include "pass/window.h"

#include "base/bits.h"
#include "pass/address.h"
#include "pass/ranges.h"
#include "pass/rewrite.h"

enum { MAX_WINDOWS = 8, MAX_OPERANDS = SNODE_MAX_AXES };
static const int64_t widest = 1 << 16; /* of the constant part: a larger one is not a stencil */

/* base + low .. base + high is in 0 .. size - 1; in an array, below its extent, which the launch
 * alone knows. */
typedef struct Window {
  IrInst *base;
  int64_t low, high, size;
  const IrArray *array;
  int axis;
} Window;

typedef struct Windows {
  IrKernel *kernel;
  const IrInst *nest;
  const IrRegion *body;
  bool cells;
  int count;
  Window items[MAX_WINDOWS];
  VEC(IrInst *) places; /* proven inside by the windows */
} Windows;

/* Every value that the nest uses but does not define is defined before it. */
static bool is_from_outside(const Windows *w, const IrInst *base) {
  return !ir_is_inside(base, w->nest->regions[0]);
}

static bool fits_window(const Windows *w, const IndexRange *range, int64_t size) {
  return range->known && range->base && is_from_outside(w, range->base) && range->low >= -widest &&
         range->high <= widest && range->high - range->low < size && ranges_hold_below(range, size);
}

/* How far the place's index may go along an axis; *array: NULL, or what knows it better. */
static int64_t size_of(const Windows *w, const IrInst *place, int axis, const IrArray **array) {
  const IrField *field = &w->kernel->fields.items[place->field];
  *array = field->array < 0 ? NULL : &w->kernel->arrays.items[field->array];
  return *array ? address_most(*array) : field->node->shape[axis];
}

/* Windows of one base and size are merged into their union. */
static bool add_window(Windows *w, const IndexRange *range, const Window *bound) {
  int64_t size = bound->size;
  for (int i = 0; i < w->count; i++) {
    Window *known = &w->items[i];
    if (known->base != range->base || known->size != size || known->array != bound->array ||
        known->axis != bound->axis)
      continue;
    int64_t low = min_i64(known->low, range->low), high = max_i64(known->high, range->high);
    if (high - low >= size) return false;
    known->low = low;
    known->high = high;
    return true;
  }
  if (w->count == MAX_WINDOWS) return false;
  Window *added = &w->items[w->count++];
  *added = *bound;
  added->base = (IrInst *)range->base;
  added->low = range->low;
  added->high = range->high;
  return true;
}

/* Size 0: an unbounded axis. An extent is at least 1. */
static bool is_always_inside(const IndexRange *range, const Window *bound) {
  if (bound->size == 0) return true;
  int64_t size = bound->array ? 1 : bound->size;
  return range->known && !range->base && range->low >= 0 && range->high < size;
}

static bool add_place(void *data, IrInst *place) {
  Windows *w = data;
  if (place->op != IR_PLACE || place->inside) return true;
  IndexRange ranges[MAX_OPERANDS];
  Window bounds[MAX_OPERANDS];
  bool depends_on_data = false;
  for (int k = 0; k < place->operand_count; k++) {
    ranges[k] = ranges_of(place->operands[k]);
    bounds[k] = (Window){.axis = k};
    bounds[k].size = size_of(w, place, k, &bounds[k].array);
    if (!bounds[k].array) bounds[k].axis = 0; /* its size is all that matters */
    if (is_always_inside(&ranges[k], &bounds[k])) continue;
    if (!fits_window(w, &ranges[k], bounds[k].size)) return true;
    depends_on_data |= ranges_param(w->body, ranges[k].base) < 0;
  }
  if (w->cells && !depends_on_data) return true;
  Windows before = *w;
  for (int k = 0; k < place->operand_count; k++) {
    if (is_always_inside(&ranges[k], &bounds[k]) || add_window(w, &ranges[k], &bounds[k])) continue;
    w->count = before.count;
    memcpy(w->items, before.items, sizeof w->items);
    return true;
  }
  vec_push(w->kernel->scratch, &w->places, place);
  return true;
}

/* How many bases there are: none where the extent is smaller than the window. */
static IrInst *count_of(IrBuilder *b, const Window *window, Type type) {
  int64_t span = window->high - window->low;
  if (!window->array) return ir_const_int(b, type, window->size - span);
  Type wide = type_bits(type) > 32 ? TYPE(I64) : TYPE(I32);
  IrInst *extent = ir_convert(b, address_extent(b, true, window->array, window->axis), wide);
  IrInst *left = ir_binary(b, IR_SUB, extent, ir_const_int(b, wide, span)),
         *none = ir_const_int(b, wide, 0);
  return ir_convert(b, ir_binary(b, IR_MAX, left, none), type);
}

/* 0 <= base + low and base + high < size, as one unsigned comparison: if the base is so low that
 * the sum wraps, the result is above every size. That of a u32 could wrap into the window. */
static IrInst *is_in_window(IrBuilder *b, const Window *window) {
  IrInst *base = window->base;
  bool is_wide = type_bits(base->type) > 32 || type_is(base->type, TYPE_U32) ||
                 window->size > 1 << 30;
  if (is_wide || type_bits(base->type) < 32)
    base = ir_convert(b, base, is_wide ? TYPE(I64) : TYPE(I32));
  if (window->low) base = ir_binary(b, IR_ADD, base, ir_const_int(b, base->type, window->low));
  Type bare = is_wide ? TYPE(U64) : TYPE(U32);
  IrInst *end = count_of(b, window, bare);
  return ir_binary(b, IR_LT, ir_convert(b, base, bare), end);
}

IrInst *window_split(IrKernel *kernel, IrInst *nest, const IrRegion *body, bool cells) {
  DEBUG_ASSERT(nest->op == IR_FOR && nest->region, "a nest is a loop that stands somewhere");
  Windows w = {.kernel = kernel, .nest = nest, .body = body, .cells = cells};
  ir_walk(nest->regions[0], add_place, &w);
  if (!w.count) return NULL;
  IrBuilder b = rewrite_before(kernel, nest);
  IrInst *inside = NULL;
  for (int i = 0; i < w.count; i++) {
    IrInst *in = is_in_window(&b, &w.items[i]);
    inside = inside ? ir_binary(&b, IR_BAND, inside, in) : in;
  }
  IrInst *branch = ir_if(&b, inside);
  IrInst **copies = scratch_array(kernel->scratch, IrInst *, kernel->next_id);
  IrInst *copy = ir_copy_inst(kernel, nest, copies);
  for (int i = 0; i < w.places.count; i++) copies[w.places.items[i]->id]->inside = true;
  ir_remove(nest);
  ir_region_append(branch->regions[0], copy);
  ir_region_append(branch->regions[1], nest);
  ir_note(kernel, nest->line, "one check of %d indices serves every access of the loop", w.count);
  return copy;
}
