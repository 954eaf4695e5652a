/* array.c - places in arrays: addresses and checks from extents that are launch arguments.
 *
 *     a[i][j - 1]     address + ((i * extent 1) + j) * size - size      row-major
 *                     address + i * stride 0 + (j - 1) * stride 1       with strides, in bytes
 *                     address + i * stride 0 + row-major from axis 1 on pitched
 *
 * In a task, an argument is read from its slot of the frame. Sums are i64, since an array has fewer
 * than 2^62 bytes. */
#include "pass/address/address.h"
#include "pass/analysis/ranges.h"
#include "pass/rewrite.h"

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

/* Splits an index into base + constant. In a narrow array, an index of at most 32 bits that is
 * inside cannot have wrapped. */
static AddressIndex split_index(IrBuilder *b, const IrArray *array, IrInst *index) {
  return address_split_constant(b, index, address_most(array));
}

static IrInst *add_to(IrBuilder *b, IrInst *a, IrInst *c) {
  return a ? ir_binary(b, IR_ADD, a, c) : c;
}

/* The index as one inst; NULL stands for 0. */
static IrInst *whole_index(IrBuilder *b, AddressIndex index) {
  if (!index.constant) return index.value;
  return add_to(b, index.value, ir_i64(b, index.constant));
}

/* The row-major part of the address, from axis `first` on. Only the constant along the last axis is
 * added separately, so that neighbours share one sum. */
static IrInst *row_major_from(IrBuilder *b, bool in_task, const IrArray *array, int first,
                              IrInst *address, const AddressIndex *index, int64_t bytes) {
  IrInst *number = NULL;
  int last = array->axis_count - 1;
  for (int k = first; k <= last; k++) {
    if (number) number = ir_binary(b, IR_MUL, number, wide_extent(b, in_task, array, k));
    IrInst *own = k == last ? index[k].value : whole_index(b, index[k]);
    if (own) number = add_to(b, number, own);
  }
  return address_offset(b, address, number, array->size,
                        bytes + (int64_t)((uint64_t)index[last].constant * (uint64_t)array->size));
}

static IrInst *row_major_address(IrBuilder *b, bool in_task, const IrArray *array, IrInst *address,
                                 const AddressIndex *index, int64_t bytes) {
  return row_major_from(b, in_task, array, 0, address, index, bytes);
}

static IrInst *pitched_address(IrBuilder *b, bool in_task, const IrArray *array, IrInst *address,
                               const AddressIndex *index, int64_t bytes) {
  IrInst *own = whole_index(b, index[0]);
  if (own) {
    IrInst *stride = address_slot(b, in_task, array->strides, TYPE(I64));
    own = ir_binary(b, IR_MUL, ir_convert(b, own, TYPE(I64)), stride);
    address = address_offset(b, address, own, 1, 0);
  }
  return row_major_from(b, in_task, array, 1, address, index, bytes);
}

static IrInst *strided_address(IrBuilder *b, bool in_task, const IrArray *array, IrInst *address,
                               const AddressIndex *index, int64_t bytes) {
  for (int k = 0; k < array->axis_count; k++) {
    IrInst *own = whole_index(b, index[k]);
    if (!own) continue;
    IrInst *stride = address_slot(b, in_task, array->strides + k, TYPE(I64));
    address = address_offset(b, address, ir_binary(b, IR_MUL, own, stride), 1, 0);
  }
  return address_offset(b, address, NULL, 1, bytes);
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
  for (int k = 0; k < array->axis_count; k++) index[k] = split_index(b, array, indices[k]);
  return (array->strides < 0 ? row_major_address
          : array->is_pitched
              ? pitched_address
              : strided_address)(b, in_task, array, address, index, field->component);
}

/* 0 <= index < extent, by one unsigned comparison in the wider of the two types. */
static IrInst *axis_inside(IrBuilder *b, IrInst *index, IrInst *extent) {
  bool is_wide = type_bits(index->type) > 32 || type_bits(extent->type) > 32;
  Type type = is_wide ? TYPE(I64) : TYPE(I32), bare = is_wide ? TYPE(U64) : TYPE(U32);
  IrInst *left = ir_convert(b, ir_convert(b, index, type), bare);
  return ir_binary(b, IR_LT, left, ir_convert(b, ir_convert(b, extent, type), bare));
}

IrInst *address_inside_array(IrBuilder *b, bool in_task, const IrArray *array,
                             IrInst *const *indices) {
  IrInst *inside = NULL;
  for (int k = 0; k < array->axis_count; k++) {
    IrInst *axis = axis_inside(b, indices[k], address_extent(b, in_task, array, k));
    inside = rewrite_both(b, inside, axis);
  }
  return inside;
}
