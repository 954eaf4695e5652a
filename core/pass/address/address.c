/* address.c - see address.h. */
#include "pass/address/address.h"

#include "base/bits.h"
#include "ir/lanes.h"
#include "pass/trees/kind.h"
#include "pass/analysis/ranges.h"
#include "pass/rewrite.h"

/* -- sums -------------------------------------------------------------------------------------- */

/* a + b * c. Constants wrap as the insts do, which is harmless: the address of an element outside
 * the shape is never used. */
static int64_t add_product(int64_t a, int64_t b, int64_t c) {
  return (int64_t)((uint64_t)a + (uint64_t)b * (uint64_t)c);
}

static IrInst *add_to(IrBuilder *b, IrInst *a, IrInst *c) {
  return a ? ir_binary(b, IR_ADD, a, c) : c;
}

IrInst *address_divide(IrBuilder *b, IrInst *a, int64_t by, bool may_be_negative) {
  DEBUG_ASSERT(by > 0, "a cell has a size");
  if (by == 1) return a;
  if (may_be_negative) {
    bool is_shift = is_power_of_two((uint64_t)by);
    return ir_binary_const(b, is_shift ? IR_SAR : IR_FLOORDIV, a,
                           is_shift ? log2_floor((uint64_t)by) : by);
  }
  if (is_power_of_two((uint64_t)by)) return ir_binary_const(b, IR_SHR, a, log2_floor((uint64_t)by));
  Type type = a->type, bare = type_bits(type) == 32 ? TYPE(U32) : TYPE(U64);
  /* before the convert: C does not define the order of arguments */
  IrInst *divisor = ir_const_int(b, bare, by);
  return ir_convert(b, ir_binary(b, IR_FLOORDIV, ir_convert(b, a, bare), divisor), type);
}

static IrInst *modulo(IrBuilder *b, IrInst *a, int64_t by, bool may_be_negative) {
  DEBUG_ASSERT(by > 0, "a container has cells");
  if (by == 1) return NULL;
  if (is_power_of_two((uint64_t)by)) return ir_binary_const(b, IR_BAND, a, by - 1);
  if (may_be_negative) return ir_binary_const(b, IR_MOD, a, by);
  Type type = a->type, bare = type_bits(type) == 32 ? TYPE(U32) : TYPE(U64);
  IrInst *divisor = ir_const_int(b, bare, by);
  return ir_convert(b, ir_binary(b, IR_MOD, ir_convert(b, a, bare), divisor), type);
}

IrInst *address_modulo(IrBuilder *b, IrInst *index, int64_t by) {
  return modulo(b, index, by, false);
}

/* -- digits: the part of an index that each level uses ----------------------------------------- */

IrInst *address_sum(Address *a, AddressIndex index) {
  if (!index.value) return ir_i64(a->b, index.constant);
  return ir_plus(a->b, index.value, index.constant);
}

IrInst *address_sum_i32(Address *a, AddressIndex index) {
  if (!index.value) return ir_i32(a->b, index.constant);
  return ir_convert(a->b, address_sum(a, index), TYPE(I32));
}

/* Positions in a node are never negative. */
static bool may_be_negative(const Address *a, const SNodeDigit *digit) {
  return a->from < 0 && snode_is_unbounded(a->of, digit->position);
}

AddressIndex address_coordinate(Address *a, const SNodeDigit *digit) {
  AddressIndex index = a->index[digit->position];
  if (digit->weight == 1) return index;
  if (!index.value) return (AddressIndex){.constant = floor_div(index.constant, digit->weight)};
  return (AddressIndex){.value = address_divide(a->b, address_sum(a, index), digit->weight,
                                                may_be_negative(a, digit))};
}

/* The outermost digit of an axis on the walk needs no modulo, since the index is inside. */
static AddressIndex level_digit(Address *a, const SNodeDigit *digit) {
  AddressIndex at = address_coordinate(a, digit);
  if (digit->above <= a->from) return at;
  if (!at.value) return (AddressIndex){.constant = floor_mod(at.constant, digit->size)};
  return (AddressIndex){
      .value = modulo(a->b, address_sum(a, at), digit->size, may_be_negative(a, digit))};
}

AddressIndex address_cell(Address *a, const SNodeStep *step) {
  AddressIndex cell = {0};
  int64_t weight = 1;
  for (int k = step->digit_count - 1; k >= 0; k--) {
    AddressIndex digit = level_digit(a, &step->digits[k]);
    cell.constant = add_product(cell.constant, digit.constant, weight);
    if (digit.value) cell.value = add_to(a->b, cell.value, ir_times(a->b, digit.value, weight));
    weight *= step->digits[k].size;
  }
  return cell;
}

/* -- the walk ---------------------------------------------------------------------------------- */

void address_add_cells(Address *a, AddressIndex cell, uint64_t stride) {
  a->pending = add_product(a->pending, cell.constant, (int64_t)stride);
  if (!cell.value) return;
  a->at = ir_offset(a->b, a->at, cell.value, (int64_t)stride, a->pending);
  a->pending = 0;
}

IrInst *address_flush(Address *a) {
  a->at = ir_offset(a->b, a->at, NULL, 0, a->pending);
  a->pending = 0;
  return a->at;
}

static void go_to_private_copy(Address *a) {
  a->at = ir_emit(a->b, IR_PRIVATE_COPY, TYPE(PTR), 1, &a->at);
  a->at->imm = a->tree;
}

void address_private(Address *a) {
  DEBUG_ASSERT(a->from < 0 && !a->pending, "the walk has not begun");
  a->is_private = true;
  if (a->of->path->node_step < 0) go_to_private_copy(a);
}

static void enter_container(Address *a, const SNodeStep *step, AddressIndex cell) {
  address_add_cells(a, cell, step->stride);
  a->pending = add_product(a->pending, 1, (int64_t)step->offset);
}

/* Emits the steps before number `end`; returns the cell, in the container or node at a->at. */
static AddressIndex walk(Address *a, int end) {
  ASSERT(end <= a->of->path->step_count, "the walk ends on its path");
  AddressIndex cell = {0};
  for (int s = a->from + 1; s < end; s++) {
    const SNodeStep *step = &a->of->path->steps[s];
    enter_container(a, step, cell);
    cell = kind_of_step(step)->descend(a, step);
    if (a->is_private && s == a->of->path->node_step) go_to_private_copy(a);
  }
  return cell;
}

/* Adds a field offset that is a launch argument (`place`) before the cell, since node + offset is
 * the same for many elements. */
IrInst *address_element(Address *a, const IrField *field, IrInst *place) {
  DEBUG_ASSERT(field->node == a->of, "the indices are those of the field's level");
  const SNodeComponent *into = &a->of->components[field->component], *first = into - into->part;
  AddressIndex cell = walk(a, a->of->path->step_count);
  if (place) a->at = ir_offset(a->b, a->at, place, 1, 0);
  address_add_cells(a, cell, into->stride);
  a->pending = add_product(a->pending, 1, (int64_t)(into->offset - (place ? first->offset : 0)));
  return address_flush(a);
}

IrInst *address_node(Address *a, const SNode *node) {
  walk(a, node->depth + 1);
  return address_flush(a);
}

static const SNodeStep *walk_to(Address *a, const SNode *node) {
  const SNodeStep *step = snode_step(node, a->of);
  enter_container(a, step, walk(a, node->depth));
  return step;
}

/* The address of the container of `node`, an SNode on the path to `of`. */
static IrInst *container_of(Address *a, const SNode *node) {
  walk_to(a, node);
  return address_flush(a);
}

int address_name(Address *a, const SNode *node, IrInst *operands[ADDRESS_MAX_NAME]) {
  ASSERT(kind_of(node)->name, "cells of this kind have names");
  const SNodeStep *step = walk_to(a, node);
  return kind_of_step(step)->name(a, step, operands);
}

/* -- indices ----------------------------------------------------------------------------------- */

/* Widens the base of base + low to 64 bits. The index is only used if it is inside, and then base
 * is at least -low. A base that had wrapped since lane 0 would be close to the least number of its
 * type (IR_LANES_SPAN); so unless low is that large, it has not wrapped in lanes (ir/lanes.h). */
static IrInst *widen(IrBuilder *b, IrInst *base, int64_t low, int64_t size) {
  IrInst *wide = ir_convert(b, base, TYPE(I64));
  if (wide != base && wide->op == IR_CONVERT)
    wide->in_bounds =
        size > 0 && size <= INT32_MAX && low <= (int64_t)INT32_MAX + 1 - IR_LANES_SPAN;
  return wide;
}

/* The range of the index, as one base plus one constant where possible, even if the index as a
 * whole has a constant range (as in a loop that was shortened to stay inside): then elements at a
 * constant distance share the computation of the base. */
static IndexRange range_from_base(const IrInst *index) {
  IndexRange range = ranges_of(index);
  int64_t constant;
  bool is_constant = range.known && range.low == range.high && range.base != index;
  if (is_constant || !type_is_signed(index->type)) return range;
  const IrInst *base = facts_split_constant(index, &constant);
  if (base == index || constant <= -IR_NARROW || constant >= IR_NARROW) return range;
  return (IndexRange){.base = base,
                      .low = constant,
                      .high = constant,
                      .known = true,
                      .bits = type_bits(index->type)};
}

/* Splits an index into base + constant, if nothing can have wrapped for an index inside
 * 0 .. size - 1; as i64. */
static AddressIndex split_constant(IrBuilder *b, IrInst *index, int64_t size) {
  IndexRange range = range_from_base(index);
  if (range.known && range.low == range.high && !range.base)
    return (AddressIndex){.constant = range.low};
  bool is_constant = range.known && range.low == range.high && ranges_hold_below(&range, size);
  if (!is_constant) return (AddressIndex){.value = widen(b, index, 0, size)};
  return (AddressIndex){widen(b, (IrInst *)range.base, range.low, size), range.low};
}

static Address start_at_root(IrBuilder *b, int tree, const SNode *of) {
  Address a = {.b = b, .tree = tree, .of = of, .from = -1};
  ASSERT(tree >= 0 && tree < b->kernel->trees.count, "the tree is the kernel's");
  a.at = a.node = ir_emit(b, IR_TREE_ROOT, TYPE(PTR), 0, NULL);
  a.at->imm = tree;
  return a;
}

Address address_from_root(IrBuilder *b, int tree, const SNode *of, IrInst *const *indices) {
  AddressIndex index[SNODE_MAX_AXES];
  for (int k = 0; k < of->rank; k++) index[k] = split_constant(b, indices[k], snode_extent(of, k));
  Address a = start_at_root(b, tree, of);
  memcpy(a.index, index, sizeof index[0] * (size_t)of->rank);
  return a;
}

/* The position of the list's own axis among those of its level. */
static int own_position(const SNode *dynamic) {
  return snode_axis_position(dynamic, dynamic->axes[0]);
}

Address address_to_list(IrBuilder *b, int tree, const SNode *dynamic, IrInst *const *indices,
                        bool ensures) {
  AddressIndex index[SNODE_MAX_AXES] = {0};
  for (int k = 0, given = 0; k < dynamic->rank; k++)
    if (k != own_position(dynamic))
      index[k] = split_constant(b, indices[given++], snode_extent(dynamic, k));
  Address a = start_at_root(b, tree, dynamic);
  a.ensures = ensures;
  memcpy(a.index, index, sizeof index);
  container_of(&a, dynamic);
  return a;
}

Address address_in_node(IrBuilder *b, int tree, const SNode *from, IrInst *node, const SNode *of) {
  DEBUG_ASSERT(type_is(node->type, TYPE_PTR) && from->depth <= of->depth,
               "the level is in the node");
  return (Address){.b = b, .tree = tree, .from = from->depth, .of = of, .at = node, .node = node};
}

/* 0 <= index < size by one unsigned comparison; NULL if no value of the type is outside. */
static IrInst *axis_inside(IrBuilder *b, IrInst *index, int64_t size) {
  IndexRange range = ranges_of(index);
  if (range.known && !range.base && range.low >= 0 && range.high < size) return NULL;
  if (type_bits(index->type) < 32) index = ir_convert(b, index, TYPE(I32));
  bool is_signed = type_is_signed(index->type), is_narrow = type_bits(index->type) == 32;
  /* the number of non-negative values of the type */
  int64_t values = !is_narrow ? INT64_MAX : is_signed ? (int64_t)1 << 31 : (int64_t)1 << 32;
  if (!is_signed && is_narrow && size >= values) return NULL;
  Type bare = is_narrow ? TYPE(U32) : TYPE(U64);
  IrInst *end = ir_const_int(b, bare, min_i64(size, values));
  return ir_binary(b, IR_LT, ir_convert(b, index, bare), end);
}

/* `indices` has one for each axis except the one at position `skipped` (-1: none is missing). */
static IrInst *axes_inside(IrBuilder *b, const SNode *node, int skipped, IrInst *const *indices) {
  IrInst *inside = NULL;
  for (int k = 0; k < node->rank; k++) {
    if (k == skipped) continue;
    IrInst *index = *indices++;
    if (!snode_is_unbounded(node, k))
      inside = rewrite_both(b, inside, axis_inside(b, index, node->shape[k]));
  }
  return inside;
}

IrInst *address_inside(IrBuilder *b, const SNode *node, IrInst *const *indices) {
  return axes_inside(b, node, -1, indices);
}

IrInst *address_list_inside(IrBuilder *b, const SNode *dynamic, IrInst *const *indices) {
  return axes_inside(b, dynamic, own_position(dynamic), indices);
}

/* -- arrays ------------------------------------------------------------------------------------ */

/* Extents and strides are launch arguments:
 *
 *     a[i][j - 1]     address + ((i * extent 1) + j) * size - size      row-major
 *                     address + i * stride 0 + (j - 1) * stride 1       with strides, in bytes
 *                     address + i * stride 0 + row-major from axis 1 on pitched
 *
 * In a task, an argument is read from its slot of the frame. Sums are i64, since an array has fewer
 * than 2^62 bytes. */
IrInst *address_slot(IrBuilder *b, bool in_task, int slot, Type type) {
  DEBUG_ASSERT(slot >= 0, "an argument has a slot");
  bool is_arg = slot < b->kernel->args.count;
  IrOp op = in_task ? IR_FRAME_GET : is_arg ? IR_ARG : IR_FRAME_LOAD;
  return ir_frame(b, op, type, slot);
}

Type address_extent_type(const IrArray *array) { return array->is_wide ? TYPE(I64) : TYPE(I32); }

IrInst *address_extent(IrBuilder *b, bool in_task, const IrArray *array, int axis) {
  DEBUG_ASSERT(axis >= 0 && axis < array->axis_count, "the array has such an axis");
  return address_slot(b, in_task, array->extents + axis, address_extent_type(array));
}

int64_t address_least(const IrArray *array) { return array->is_empty || array->is_counted ? 0 : 1; }
int64_t address_most(const IrArray *array) { return array->is_wide ? INT64_MAX : IR_NARROW; }

static IrInst *wide_extent(IrBuilder *b, bool in_task, const IrArray *array, int axis) {
  return ir_convert(b, address_extent(b, in_task, array, axis), TYPE(I64));
}

/* The index as one inst; NULL stands for 0. */
static IrInst *whole_index(IrBuilder *b, AddressIndex index) {
  if (!index.constant) return index.value;
  return add_to(b, index.value, ir_i64(b, index.constant));
}

/* The row-major part of the address, from axis `first` on, if there is one. Only the constant along
 * the last axis is added separately, so that neighbours share one sum. */
static IrInst *row_major_from(IrBuilder *b, bool in_task, const IrArray *array, int first,
                              IrInst *address, const AddressIndex *index, int64_t bytes) {
  IrInst *number = NULL;
  int last = array->axis_count - 1;
  if (first > last) return ir_offset(b, address, NULL, 1, bytes);
  for (int k = first; k <= last; k++) {
    if (number) number = ir_binary(b, IR_MUL, number, wide_extent(b, in_task, array, k));
    IrInst *own = k == last ? index[k].value : whole_index(b, index[k]);
    if (own) number = add_to(b, number, own);
  }
  return ir_offset(b, address, number, array->size,
                   bytes + (int64_t)((uint64_t)index[last].constant * (uint64_t)array->size));
}

IrInst *address_in_array(IrBuilder *b, bool in_task, const IrField *field, bool is_private,
                         IrInst *const *indices) {
  const IrArray *array = &b->kernel->arrays.items[field->array];
  DEBUG_ASSERT(field->component >= 0 && field->component < array->size, "a number of an element");
  IrInst *address = address_slot(b, in_task, array->address, TYPE(PTR));
  if (is_private && array->tree >= 0) {
    address = ir_emit(b, IR_PRIVATE_COPY, TYPE(PTR), 1, &address);
    address->imm = array->tree;
  }
  AddressIndex index[SNODE_MAX_AXES];
  for (int k = 0; k < array->axis_count; k++)
    index[k] = split_constant(b, indices[k], address_most(array));
  int strided = array->strides < 0 ? 0 : array->is_pitched ? 1 : array->axis_count;
  for (int k = 0; k < strided; k++) {
    IrInst *own = whole_index(b, index[k]);
    if (!own) continue;
    IrInst *stride = address_slot(b, in_task, array->strides + k, TYPE(I64));
    address = ir_offset(b, address, ir_binary(b, IR_MUL, own, stride), 1, 0);
  }
  return row_major_from(b, in_task, array, strided, address, index, field->component);
}

/* 0 <= index < extent, by one unsigned comparison in the wider of the two types. */
static IrInst *axis_inside_array(IrBuilder *b, IrInst *index, IrInst *extent) {
  bool is_wide = type_bits(index->type) > 32 || type_bits(extent->type) > 32;
  Type type = is_wide ? TYPE(I64) : TYPE(I32), bare = is_wide ? TYPE(U64) : TYPE(U32);
  IrInst *left = ir_convert(b, ir_convert(b, index, type), bare);
  return ir_binary(b, IR_LT, left, ir_convert(b, ir_convert(b, extent, type), bare));
}

IrInst *address_inside_array(IrBuilder *b, bool in_task, const IrArray *array,
                             IrInst *const *indices) {
  IrInst *inside = NULL;
  for (int k = 0; k < array->axis_count; k++) {
    IrInst *axis = axis_inside_array(b, indices[k], address_extent(b, in_task, array, k));
    inside = rewrite_both(b, inside, axis);
  }
  return inside;
}
