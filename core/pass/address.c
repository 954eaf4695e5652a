/* address.c - see address.h. */
#include "pass/address.h"

#include "base/bits.h"
#include "pass/ranges.h"

/* -- small sums ----------------------------------------------------------------------------------------------------- */

static IrInst *add(IrBuilder *b, IrInst *a, IrInst *c) { return a ? ir_binary(b, IR_ADD, a, c) : c; }

static IrInst *add_constant(IrBuilder *b, IrInst *a, int64_t constant) {
  return constant ? ir_binary(b, IR_ADD, a, ir_const_int(b, a->type, constant)) : a;
}

static IrInst *times(IrBuilder *b, IrInst *a, int64_t factor) {
  return factor == 1 ? a : ir_binary(b, IR_MUL, a, ir_const_int(b, a->type, factor));
}

/* Rounded down where the index may be negative. Else by unsigned arithmetic, which knows that it is not. */
static IrInst *divide(IrBuilder *b, IrInst *a, int64_t by, bool may_be_negative) {
  if (by == 1) return a;
  if (may_be_negative) {
    bool is_shift = is_power_of_two((uint64_t)by);
    return ir_binary(b, is_shift ? IR_SAR : IR_FLOORDIV, a, ir_const_int(b, a->type, is_shift ? log2_floor((uint64_t)by) : by));
  }
  if (is_power_of_two((uint64_t)by)) return ir_binary(b, IR_SHR, a, ir_const_int(b, a->type, log2_floor((uint64_t)by)));
  Type type = a->type, bare = type_bits(type) == 32 ? TYPE(U32) : TYPE(U64);
  IrInst *divisor = ir_const_int(b, bare, by); /* before the convert: C leaves the order of arguments open */
  return ir_convert(b, ir_binary(b, IR_FLOORDIV, ir_convert(b, a, bare), divisor), type);
}

static IrInst *modulo(IrBuilder *b, IrInst *a, int64_t by, bool may_be_negative) {
  if (by == 1) return NULL;
  if (is_power_of_two((uint64_t)by)) return ir_binary(b, IR_BAND, a, ir_const_int(b, a->type, by - 1));
  if (may_be_negative) return ir_binary(b, IR_MOD, a, ir_const_int(b, a->type, by));
  Type type = a->type, bare = type_bits(type) == 32 ? TYPE(U32) : TYPE(U64);
  IrInst *divisor = ir_const_int(b, bare, by);
  return ir_convert(b, ir_binary(b, IR_MOD, ir_convert(b, a, bare), divisor), type);
}

IrInst *address_offset(IrBuilder *b, IrInst *ptr, IrInst *index, int64_t stride, int64_t bytes) {
  if (!index && !bytes) return ptr;
  if (!index) index = ir_const_int(b, TYPE(I32), 0), stride = 1;
  if (stride > INT32_MAX) index = times(b, ir_convert(b, index, TYPE(I64)), stride), stride = 1;
  IrInst *inst = ir_emit(b, IR_OFFSET, TYPE(PTR), 2, (IrInst *[]){ptr, index});
  inst->stride = (int32_t)stride;
  inst->imm = bytes;
  return inst;
}

/* -- digits ------------------------------------------------------------------------------------------------------------ */

static bool divides(const SNode *node, int axis) {
  for (int k = 0; k < node->axis_count; k++)
    if (node->axes[k] == axis) return true;
  return false;
}

/* No level of the walk above `node` divides the axis. */
static bool is_outermost(const Address *a, const SNode *node, int axis) {
  for (const SNode *above = node->parent; above && above != a->from; above = above->parent)
    if (divides(above, axis)) return false;
  return true;
}

/* The coordinate along an axis at the level of `node`. In a node indices are positions, and never negative. */
static AddressIndex coordinate_of(Address *a, const SNode *node, int axis, bool *may_be_negative) {
  int position = snode_axis_position(a->of, axis);
  AddressIndex index = a->index[position];
  int64_t divisor = snode_divisor(node, a->of, axis);
  *may_be_negative = !a->from && snode_is_unbounded(a->of, position);
  if (divisor == 1) return index;
  if (!index.value) return (AddressIndex){.constant = floor_div(index.constant, divisor)};
  return (AddressIndex){.value = divide(a->b, add_constant(a->b, index.value, index.constant), divisor, *may_be_negative)};
}

static AddressIndex digit_of(Address *a, const SNode *node, int k) {
  bool may_be_negative;
  AddressIndex at = coordinate_of(a, node, node->axes[k], &may_be_negative);
  if (is_outermost(a, node, node->axes[k])) return at;
  if (!at.value) return (AddressIndex){.constant = floor_mod(at.constant, node->sizes[k])};
  return (AddressIndex){.value = modulo(a->b, add_constant(a->b, at.value, at.constant), node->sizes[k], may_be_negative)};
}

/* The number of the cell of `node`'s container that the indices name. */
static AddressIndex cell_of(Address *a, const SNode *node) {
  AddressIndex cell = {0};
  int64_t weight = 1;
  for (int k = node->axis_count - 1; k >= 0; k--) {
    AddressIndex digit = digit_of(a, node, k);
    cell.constant += digit.constant * weight;
    if (digit.value) cell.value = add(a->b, cell.value, times(a->b, digit.value, weight));
    weight *= node->sizes[k];
  }
  return cell;
}

/* `at` + so many cells, `stride` bytes each. */
static void add_cells(Address *a, AddressIndex cell, uint64_t stride) {
  a->pending += cell.constant * (int64_t)stride;
  if (!cell.value) return;
  a->at = address_offset(a->b, a->at, cell.value, (int64_t)stride, a->pending);
  a->pending = 0;
}

/* -- the walk ------------------------------------------------------------------------------------------------------------ */

static IrInst *settle(Address *a) {
  a->at = address_offset(a->b, a->at, NULL, 0, a->pending);
  a->pending = 0;
  return a->at;
}

static void go_to_own(Address *a) {
  a->at = ir_emit(a->b, IR_OWN, TYPE(PTR), 1, &a->at);
  a->at->imm = a->tree;
}

static void go_through_slot(Address *a, const SNode *pointer) {
  add_cells(a, cell_of(a, pointer), 4);
  IrInst *slot = settle(a);
  a->at = a->ensures ? ir_call(a->b, RT_SLOT_ENSURE, a->tree, pointer->manager, 1, &slot)
                     : ir_call(a->b, RT_SLOT_FIND, a->tree, 0, 1, &slot);
  a->node = a->at;
  if (a->own && pointer == snode_listed(a->of)) go_to_own(a);
}

/* What the table is asked with. The way since the node above led nowhere: a hash lies in its table alone. */
static int make_key(Address *a, const SNode *hash, IrInst **operands) {
  bool may_be_negative;
  a->pending = 0;
  operands[0] = a->node;
  for (int k = 0; k < hash->rank; k++) {
    AddressIndex at = coordinate_of(a, hash, hash->level_axes[k], &may_be_negative);
    operands[1 + k] = at.value ? add_constant(a->b, at.value, at.constant) : ir_const_int(a->b, TYPE(I64), at.constant);
  }
  return 1 + hash->rank;
}

static void go_through_table(Address *a, const SNode *hash) {
  IrInst *operands[1 + SNODE_MAX_AXES];
  int count = make_key(a, hash, operands);
  RtEntry entry = a->ensures ? RT_HASH_ENSURE : RT_HASH_FIND;
  a->at = ir_call(a->b, entry, a->tree, hash->manager, count, operands);
  a->node = a->at;
}

/* -- lists ----------------------------------------------------------------------------------------------------------------- */

static IrInst *as_i32(IrBuilder *b, AddressIndex index) {
  if (!index.value) return ir_const_int(b, TYPE(I32), index.constant);
  return ir_convert(b, add_constant(b, index.value, index.constant), TYPE(I32));
}

IrInst *address_list_node(IrBuilder *b, int tree, const SNode *dynamic, IrInst *list, IrInst *index) {
  IrInst *slot = address_offset(b, list, divide(b, index, dynamic->chunk, false), 4, SNODE_DYNAMIC_SLOTS);
  return ir_call(b, RT_SLOT_FIND, tree, 0, 1, &slot);
}

IrInst *address_list_ensure(IrBuilder *b, int tree, const SNode *dynamic, IrInst *list,
                            IrInst *index, bool locks) {
  IrInst *chunk = ir_const_int(b, TYPE(I32), (int64_t)dynamic->chunk);
  IrInst *lock = ir_const_int(b, TYPE(I32), locks);
  return ir_call(b, RT_DYNAMIC_ENSURE, tree, dynamic->manager, 4,
                 (IrInst *[]){list, chunk, index, lock});
}

IrInst *address_list_element(IrBuilder *b, const SNode *dynamic, IrInst *node, IrInst *index, int component) {
  const SNodeComponent *into = &dynamic->components[component];
  return address_offset(b, node, modulo(b, index, dynamic->chunk, false), (int64_t)into->stride, (int64_t)into->offset);
}

static void enter_list(Address *a, const SNode *node, int component) {
  IrInst *list = settle(a), *index = as_i32(a->b, a->index[snode_axis_position(a->of, node->axes[0])]), *in;
  if (a->ensures) {
    in = address_list_ensure(a->b, a->tree, node, list, index, a->locks);
    a->list = list;
  } else {
    in = address_list_node(a->b, a->tree, node, list, index);
  }
  a->at = address_list_element(a->b, node, in, index, component);
}

/* In a node of the list. */
static void enter_chunk(Address *a, const SNode *node, const SNodeComponent *into) {
  AddressIndex index = a->index[snode_axis_position(a->of, node->axes[0])];
  a->pending += (int64_t)into->offset + index.constant * (int64_t)into->stride;
  if (!index.value) return;
  a->at = address_offset(a->b, a->at, index.value, (int64_t)into->stride, a->pending);
  a->pending = 0;
}

static AddressMask mask_of(Address *a, const SNode *masked, AddressIndex cell) {
  IrInst *words = address_offset(a->b, settle(a), NULL, 0, (int64_t)masked->mask_offset);
  if (!cell.value) return (AddressMask){words, ir_const_int(a->b, TYPE(I64), cell.constant)};
  return (AddressMask){words, add_constant(a->b, cell.value, cell.constant)};
}

/* Reads need not look: an inactive cell is zero. */
static void go_past_bit(Address *a, const SNode *masked, uint64_t stride) {
  AddressIndex cell = cell_of(a, masked);
  if (a->ensures) {
    AddressMask mask = mask_of(a, masked, cell);
    ir_call(a->b, RT_MASK_SET, 0, 0, 2, (IrInst *[]){mask.words, mask.cell});
    a->masks[a->mask_count++] = mask;
  }
  add_cells(a, cell, stride);
}

/* From the container of `node` to a component of the cell that the indices name. */
static void enter(Address *a, const SNode *node, uint32_t component) {
  const SNodeComponent *into = &node->components[component];
  if (node->kind == SNODE_DYNAMIC) {
    enter_list(a, node, (int)component);
    return;
  }
  if (node->kind == SNODE_HASH) go_through_table(a, node);
  else if (snode_has_slots(node)) go_through_slot(a, node);
  else if (node->kind == SNODE_BITMASKED) go_past_bit(a, node, into->stride);
  else if (node->axis_count) add_cells(a, cell_of(a, node), into->stride);
  a->pending += (int64_t)into->offset;
}

/* To the container of `node`, which is below where the walk starts. */
static void walk_to(Address *a, const SNode *node) {
  const SNode *path[SNODE_MAX_DEPTH];
  int count = snode_path(node, path), first = 0;
  while (a->from && path[first] != a->from) first++;
  if (a->from) { /* in a node: its one cell's components lie at their offsets */
    a->pending += path[first] == node ? 0 : (int64_t)path[first]->components[path[first + 1]->component_in_parent].offset;
    first++;
  }
  for (int i = first; i < count - 1; i++) enter(a, path[i], path[i + 1]->component_in_parent);
}

void address_own(Address *a) {
  a->own = true;
  if (!snode_listed(a->of)) go_to_own(a);
}

IrInst *address_element(Address *a, int component) {
  walk_to(a, a->of);
  if (a->of == a->from && a->of->kind == SNODE_DYNAMIC) enter_chunk(a, a->of, &a->of->components[component]);
  else if (a->of == a->from) a->pending += (int64_t)a->of->components[component].offset;
  else enter(a, a->of, (uint32_t)component);
  return settle(a);
}

IrInst *address_slot(Address *a, const SNode *pointer) {
  walk_to(a, pointer);
  add_cells(a, cell_of(a, pointer), 4);
  return settle(a);
}

AddressMask address_mask(Address *a, const SNode *masked) {
  walk_to(a, masked);
  return mask_of(a, masked, cell_of(a, masked));
}

int address_key(Address *a, const SNode *hash, IrInst *operands[1 + SNODE_MAX_AXES]) {
  walk_to(a, hash);
  return make_key(a, hash, operands);
}

/* -- indices ---------------------------------------------------------------------------------------------------------------- */

/* base + constant, where nothing can have wrapped for an index inside the shape. */
static AddressIndex take_apart(IrBuilder *b, IrInst *index, int64_t size) {
  IndexRange range = ranges_of(index);
  if (range.known && range.low == range.high && !range.base) return (AddressIndex){.constant = range.low};
  bool apart = range.known && range.low == range.high && ranges_hold_below(&range, size);
  if (!apart) return (AddressIndex){.value = ir_convert(b, index, TYPE(I64))};
  return (AddressIndex){ir_convert(b, (IrInst *)range.base, TYPE(I64)), range.low};
}

Address address_from_root(IrBuilder *b, int tree, const SNode *of, IrInst *const *indices) {
  Address a = {.b = b, .tree = tree, .of = of};
  for (int k = 0; k < of->rank; k++) a.index[k] = take_apart(b, indices[k], snode_extent(of, k));
  a.at = a.node = ir_emit(b, IR_TREE_ROOT, TYPE(PTR), 0, NULL);
  a.at->imm = tree;
  return a;
}

/* The place of the list's own axis among those of its level. */
static int own_position(const SNode *dynamic) { return snode_axis_position(dynamic, dynamic->axes[0]); }

Address address_list(IrBuilder *b, int tree, const SNode *dynamic, IrInst *const *indices, bool ensures) {
  Address a = {.b = b, .tree = tree, .of = dynamic, .ensures = ensures};
  for (int k = 0, given = 0; k < dynamic->rank; k++)
    if (k != own_position(dynamic)) a.index[k] = take_apart(b, indices[given++], snode_extent(dynamic, k));
  a.at = a.node = ir_emit(b, IR_TREE_ROOT, TYPE(PTR), 0, NULL);
  a.at->imm = tree;
  walk_to(&a, dynamic);
  settle(&a);
  return a;
}

Address address_in_node(IrBuilder *b, int tree, const SNode *from, IrInst *node, const SNode *of) {
  return (Address){.b = b, .tree = tree, .from = from, .of = of, .at = node, .node = node};
}

/* One unsigned comparison says 0 <= index < size; NULL: the type has no index outside. */
static IrInst *axis_inside(IrBuilder *b, IrInst *index, int64_t size) {
  IndexRange range = ranges_of(index);
  if (range.known && !range.base && range.low >= 0 && range.high < size) return NULL;
  if (type_bits(index->type) < 32) index = ir_convert(b, index, TYPE(I32));
  bool is_signed = type_is_signed(index->type), is_narrow = type_bits(index->type) == 32;
  int64_t values = !is_narrow ? INT64_MAX : is_signed ? (int64_t)1 << 31 : (int64_t)1 << 32; /* above 0 that there are */
  if (!is_signed && is_narrow && size >= values) return NULL;
  Type bare = is_narrow ? TYPE(U32) : TYPE(U64);
  IrInst *end = ir_const_int(b, bare, min_i64(size, values));
  return ir_binary(b, IR_LT, ir_convert(b, index, bare), end);
}

IrInst *address_inside(IrBuilder *b, const SNode *node, IrInst *const *indices) {
  IrInst *inside = NULL;
  for (int k = 0; k < node->rank; k++) {
    IrInst *axis = snode_is_unbounded(node, k) ? NULL : axis_inside(b, indices[k], node->shape[k]);
    if (axis) inside = inside ? ir_binary(b, IR_BAND, inside, axis) : axis;
  }
  return inside;
}

IrInst *address_list_inside(IrBuilder *b, const SNode *dynamic, IrInst *const *indices) {
  IrInst *inside = NULL;
  for (int k = 0, given = 0; k < dynamic->rank; k++) {
    if (k == own_position(dynamic)) continue;
    IrInst *index = indices[given++], *axis = snode_is_unbounded(dynamic, k) ? NULL : axis_inside(b, index, dynamic->shape[k]);
    if (axis) inside = inside ? ir_binary(b, IR_BAND, inside, axis) : axis;
  }
  return inside;
}
