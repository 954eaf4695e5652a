/* arrays.c - counted arrays: construction, elements, methods. An element is laid out as in C. Array
 * and index are evaluated before anything is read or written.
 *
 *     %p = call rt_array_read %a %i     reads zeros if there is no such element
 *     if rt_array_has %a %i { %p = rt_array_at; mem.store } else { rt_array_outside }
 *
 * An element that is an array is acquired when it is read, and exchanged when it is written: the
 * memory has one reference. */
#include "lower/lower.h"

static const TypeTable *types(const Lower *l) { return l->s->input->types; }

static IrInst *call(Lower *l, RtEntry entry, int count, IrInst *const *operands) {
  return ir_call(&l->b, entry, 0, 0, count, operands);
}

static IrInst *number(Lower *l, int64_t value) { return ir_const_int(&l->b, TYPE(I32), value); }

static IrInst *size_of(Lower *l, Type element) {
  return number(l, type_row(types(l), element).size);
}

static Type element_of(const Lower *l, Type array) { return type_row(types(l), array).element; }

/* -- where an element is ----------------------------------------------------------------------- */

static int lower_item_indices(Lower *l, Expr *e, const Expr *array, IrInst **indices) {
  e = sema_strip(e);
  if (e == array) return 0;
  int count = lower_item_indices(l, e->left, array, indices);
  return lower_index_list(l, &e->list, e->list.count, indices, count);
}

void lower_item(Lower *l, Expr *e, Item *item) {
  IrInst *operands[2 + SNODE_MAX_AXES];
  Expr *array = array_of_item(e);
  int count = lower_item_indices(l, e, array, operands + 2);
  item->element = element_of(l, e->entity.item.array);
  item->array = lower_values(l, array)[0];
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++) operands[2 + k] = ir_convert(&l->b, operands[2 + k], TYPE(I64));
  item->index = operands[2];
  if (count == 1) return;
  operands[0] = item->array;
  operands[1] = number(l, count);
  item->index = call(l, RT_ARRAY_INDEX, 2 + count, operands);
}

static IrInst *on_item(Lower *l, RtEntry entry, const Item *item) {
  return call(l, entry, 3, (IrInst *[]){item->array, item->index, size_of(l, item->element)});
}

static IrInst *offset(Lower *l, IrInst *place, int64_t bytes) {
  if (!bytes) return place;
  return ir_offset(&l->b, place, number(l, 0), 1, bytes);
}

IrInst *lower_item_number(Lower *l, const Item *item, IrInst *place, int part) {
  return offset(l, place, type_offset(types(l), item->element, part));
}

static IrInst *load(Lower *l, const Item *item, IrInst *place, int part) {
  IrInst *at = lower_item_number(l, item, place, part);
  Type type = type_number(types(l), item->element, part);
  IrInst *value = ir_mem_load(&l->b, type, at);
  if (!type_number_is_array(types(l), item->element, part)) return value;
  value->acquires = true;
  counted_retain(l, value);
  return value;
}

/* With debug = true, an index out of bounds ends the launch. */
static void check_item(Lower *l, const Expr *at, const Item *item) {
  if (!lower_checks(l, SEMA_DEBUG_INDICES)) return;
  lower_set_pos(l, at->pos);
  IrInst *holds = on_item(l, RT_ARRAY_HAS, item);
  IrInst *length =
      call(l, RT_ARRAY_LENGTH, 2, (IrInst *[]){item->array, size_of(l, item->element)});
  const char *texts[] = {"element ", " is not in an array of length ", NULL};
  lower_fail_unless(l, holds, RG_ERROR_INDEX_RANGE, texts, (IrInst *[]){item->index, length},
                    "indices start at 0");
}

IrInst **lower_item_parts(Lower *l, Expr *e, const int *parts, int count) {
  Item item;
  IrInst **values = lower_array(l, count);
  lower_item(l, e, &item);
  check_item(l, e, &item);
  IrInst *place = on_item(l, RT_ARRAY_READ, &item);
  for (int k = 0; k < count; k++) values[k] = load(l, &item, place, parts[k]);
  return values;
}

/* -- writing ----------------------------------------------------------------------------------- */

IrRegion *lower_item_enter(Lower *l, const Expr *at, const Item *item, IrInst **place) {
  check_item(l, at, item);
  IrInst *branch = ir_if(&l->b, on_item(l, RT_ARRAY_HAS, item));
  IrRegion *back = lower_enter(l, branch->regions[1]);
  call(l, RT_ARRAY_OUTSIDE, 1, (IrInst *[]){number(l, l->b.line > 0 ? l->b.line : 0)});
  lower_leave(l, back);
  back = lower_enter(l, branch->regions[0]);
  *place = on_item(l, RT_ARRAY_AT, item);
  return back;
}

void lower_item_store(Lower *l, const Item *item, IrInst *place, int part, IrInst *value) {
  IrInst *at = lower_item_number(l, item, place, part);
  if (!type_number_is_array(types(l), item->element, part)) {
    ir_mem_store(&l->b, at, value);
    return;
  }
  counted_transfer(l, value);
  IrInst *old = call(l, RT_ARRAY_EXCHANGE, 2, (IrInst *[]){at, value}), *guard = counted_guard(l);
  ir_emit(&l->b, IR_OWN, TYPE(NONE), 2, (IrInst *[]){guard, old});
  counted_release(l, guard);
}

void lower_item_update(Lower *l, const Item *item, IrInst *place, int part, IrUpdate op,
                       IrInst *value) {
  IrInst *at = lower_item_number(l, item, place, part);
  IrInst *inst = ir_emit(&l->b, IR_MEM_UPDATE, TYPE(NONE), 2, (IrInst *[]){at, value});
  inst->imm = op;
  inst->nonatomic = !l->loop;
}

/* -- new ones ---------------------------------------------------------------------------------- */

static IrInst *lower_new(Lower *l, Expr *e) {
  IrInst *extents[SNODE_MAX_AXES], *length = NULL;
  int count = e->list.count - 1;
  Type element = element_of(l, e->call.cast);
  for (int k = 0; k < count; k++) extents[k] = lower_as(l, e->list.items[k + 1], TYPE(I64));
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count; k++)
    length = length ? call(l, RT_ARRAY_TIMES, 2, (IrInst *[]){length, extents[k]}) : extents[k];
  if (!length) length = lower_number(l, TYPE(I64), 0);
  int64_t words = (int64_t)type_array_words(types(l), element);
  IrInst *made = call(l, RT_ARRAY_NEW, 4,
                      (IrInst *[]){length, size_of(l, element), lower_number(l, TYPE(I64), words),
                                   number(l, count > 1 ? count : 0)});
  counted_adopt(l, made);
  for (int k = 0; k < count && count > 1; k++)
    call(l, RT_ARRAY_EXTENT, 3, (IrInst *[]){made, number(l, k), extents[k]});
  return made;
}

/* -- methods ----------------------------------------------------------------------------------- */

static IrInst *lower_append(Lower *l, Expr *e, Type element) {
  int count = type_parts(element);
  Item item = {.element = element};
  IrInst **values = lower_values_as(l, e->list.items[0], type_base(element), count);
  item.array = lower_values(l, e->left)[0];
  lower_set_pos(l, e->pos);
  item.index = call(l, RT_ARRAY_APPEND, 2, (IrInst *[]){item.array, size_of(l, element)});
  IrInst *is_there = ir_binary(&l->b, IR_GE, item.index, lower_number(l, TYPE(I64), 0));
  IrInst *branch = ir_if(&l->b, is_there);
  IrRegion *back = lower_enter(l, branch->regions[0]);
  IrInst *place = on_item(l, RT_ARRAY_AT, &item);
  for (int k = 0; k < count; k++) {
    IrInst *at = lower_item_number(l, &item, place, k);
    if (type_number_is_array(types(l), element, k)) {
      counted_transfer(l, values[k]);
      call(l, RT_ARRAY_EXCHANGE, 2, (IrInst *[]){at, values[k]});
    } else {
      ir_mem_store(&l->b, at, values[k]);
    }
  }
  call(l, RT_ARRAY_UNLOCK, 1, &item.array);
  lower_leave(l, back);
  return ir_convert(&l->b, item.index, TYPE(I32));
}

/* An element that is an array is moved: this function takes over the array's reference. */
static IrInst **lower_pop(Lower *l, Expr *e, IrInst *array, Type element) {
  int count = type_parts(element);
  Item item = {.element = element};
  IrInst **values = lower_array(l, count);
  IrInst *place = call(l, RT_ARRAY_POP, 2, (IrInst *[]){array, size_of(l, element)});
  for (int k = 0; k < count; k++) {
    IrInst *at = lower_item_number(l, &item, place, k);
    values[k] = ir_mem_load(&l->b, type_number(types(l), element, k), at);
    if (type_number_is_array(types(l), element, k)) counted_adopt(l, values[k]);
  }
  call(l, RT_ARRAY_UNLOCK, 1, &array);
  for (int k = 0; k < count; k++)
    values[k] = lower_convert(l, values[k], lower_number_type(l, e->type, k));
  return values;
}

static IrInst *lower_slice(Lower *l, Expr *e, IrInst *array, Type element) {
  IrInst *first = lower_as(l, e->list.items[0], TYPE(I64)),
         *count = lower_as(l, e->list.items[1], TYPE(I64));
  lower_set_pos(l, e->pos);
  IrInst *made = call(l, RT_ARRAY_SLICE, 4, (IrInst *[]){array, first, count, size_of(l, element)});
  counted_adopt(l, made);
  return made;
}

static IrInst *lower_extent(Lower *l, Expr *e, IrInst *array, Type of) {
  TypeRow row = type_row(types(l), of);
  SemaInteger axis = {0};
  bool is_known = sema_integer(e->list.items[0], true, &axis);
  ASSERT(is_known && axis.size < (uint64_t)row.axis_count, "resolve has looked at the axis");
  IrInst *extent =
      row.axis_count == 1
          ? call(l, RT_ARRAY_LENGTH, 2, (IrInst *[]){array, size_of(l, row.element)})
          : call(l, RT_ARRAY_AXIS, 2, (IrInst *[]){array, number(l, (int64_t)axis.size)});
  return ir_convert(&l->b, extent, TYPE(I32));
}

IrInst **lower_array_call(Lower *l, Expr *e, const Builtin *builtin) {
  IrInst **one = lower_array(l, 1);
  bool is_new = builtin->algebra == ARRAY_ZEROS || builtin->algebra == ARRAY_LIST;
  if (is_new) {
    one[0] = lower_new(l, e);
    return one;
  }
  Type of = shape_of(e->left), element = element_of(l, of);
  bool appends = builtin->algebra == ARRAY_APPEND;
  IrInst *array = appends ? NULL : lower_values(l, e->left)[0];
  lower_set_pos(l, e->pos);
  switch (builtin->algebra) {
  case ARRAY_APPEND: one[0] = lower_append(l, e, element); break;
  case ARRAY_POP: return lower_pop(l, e, array, element);
  case ARRAY_SLICE: one[0] = lower_slice(l, e, array, element); break;
  case ARRAY_CLEAR: call(l, RT_ARRAY_CLEAR, 1, &array); return NULL;
  case ARRAY_EXTENT: one[0] = lower_extent(l, e, array, of); break;
  default: {
    IrInst *length = call(l, RT_ARRAY_LENGTH, 2, (IrInst *[]){array, size_of(l, element)});
    one[0] = ir_convert(&l->b, length, TYPE(I32));
  }
  }
  return one;
}
