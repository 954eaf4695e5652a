/* access.c - elements and cells: from x[i][j] to `place`, through the kernel's tables. Indices are
 * i32 or i64: narrower ones widen; a u64 of 2^63 or more becomes negative, and so is out of
 * bounds. */
#include "lower/lower.h"

static IrInst *widen_index(Lower *l, IrInst *index) {
  bool is_wide = type_bits(index->type) == 64 || type_is(index->type, TYPE_U32);
  return lower_convert(l, index, is_wide ? TYPE(I64) : TYPE(I32));
}

/* Lowers one index, or all those of an integer vector. */
static int lower_index(Lower *l, Expr *e, IrInst **indices, int so_far) {
  int count = type_parts(shape_of(e));
  bool before = l->may_wrap;
  l->may_wrap = false;
  IrInst **values = lower_values(l, e);
  l->may_wrap = before;
  lower_set_pos(l, e->pos);
  for (int k = 0; k < count && so_far < SNODE_MAX_AXES; k++)
    indices[so_far++] = widen_index(l, values[k]);
  return so_far;
}

int lower_index_list(Lower *l, const Exprs *list, int count, IrInst **indices, int so_far) {
  for (int i = 0; i < count; i++) {
    Expr *e = list->items[i];
    if (e->kind == AST_TABLE)
      so_far = lower_index_list(l, &e->list, e->list.count, indices, so_far);
    else so_far = lower_index(l, e, indices, so_far);
  }
  return so_far;
}

static int copy_view(Lower *l, const Local *local, IrInst **indices) {
  int count = lowered_of(l, local)->indices ? field_of(&local->alias)->index_count : 0;
  for (int i = 0; i < count; i++) indices[i] = lowered_of(l, local)->indices[i];
  return count;
}

/* All indices of a field expression, outermost first; those of a view were computed at its
 * declaration. */
int lower_indices(Lower *l, Expr *e, IrInst **indices) {
  if (e->kind == AST_PAREN) return lower_indices(l, e->left, indices);
  if (e->kind == AST_LOCAL) return copy_view(l, e->local, indices);
  if (e->kind != AST_INDEX || e->is_item) return 0;
  int count = lower_indices(l, e->left, indices);
  return lower_index_list(l, &e->list, e->list.count, indices, count);
}

int lower_level(Lower *l, const SNode *node, const char *name, SemaArg source) {
  int level = ir_add_level(l->output->kernel, node, name);
  if (level == l->output->levels.count) vec_push(l->scratch, &l->output->levels, source);
  return level;
}

/* Subtracts the offset from an index. In 64 bits, unless the difference modulo 2^32 is in bounds
 * only for indices that are. */
static IrInst *from_start(Lower *l, IrInst *index, int64_t offset, int64_t extent) {
  bool is_wide = offset < -INT32_MAX || offset + extent > INT32_MAX || extent > INT32_MAX;
  if (is_wide) index = lower_convert(l, index, TYPE(I64));
  return ir_binary(&l->b, IR_SUB, index, lower_number(l, index->type, offset));
}

IrInst **lower_subtract_offset(Lower *l, const FieldRef *field, int count, IrInst **indices) {
  if (!field->offset) return indices;
  IrInst **moved = lower_array(l, SNODE_MAX_AXES);
  for (int k = 0; k < count; k++) {
    int64_t offset = field->offset[k];
    moved[k] = offset ? from_start(l, indices[k], offset, field->node->shape[k]) : indices[k];
  }
  return moved;
}

/* The launch argument with the place of a movable field's elements, the same for all numbers. */
static int32_t place_argument(Lower *l, const FieldRef *field, const char *name) {
  IrKernel *kernel = l->output->kernel;
  for (int i = 0; i < kernel->fields.count; i++) {
    const IrField *other = &kernel->fields.items[i];
    if (!other->node) continue;
    int first = other->component - other->node->components[other->component].part;
    if (other->place && other->node == field->node && first == field->component)
      return other->place;
  }
  SemaArg source = field->source;
  source.kind = ARG_PLACE;
  vec_push(l->scratch, &l->output->args, source);
  vec_push(l->scratch, &l->output->sources, l->s->input->ast->source);
  vec_push(l->scratch, &l->output->reasons, (SemaReason){0});
  return ir_add_arg(kernel, TYPE(I64), name, 0, 0) + 1;
}

/* The place of an array's element. The field that it adds to the kernel has the array's source. */
static IrInst *place_in_array(Lower *l, const ArrayUse *array, int part, IrInst **indices) {
  const TypeTable *types = l->s->input->types;
  int number = ir_add_array_field(l->output->kernel, array->number,
                                  (int)type_offset(types, array->type, part),
                                  type_number(types, array->type, part));
  if (number == l->output->fields.count) vec_push(l->scratch, &l->output->fields, array->source);
  return ir_place(&l->b, number, indices);
}

IrInst *lower_place_at(Lower *l, const Entity *element, int part, IrInst **indices) {
  const FieldRef *field = field_of(element);
  if (field->array) return place_in_array(l, field->array, part, indices);
  indices = lower_subtract_offset(l, field, field->node->rank, indices);
  int number = ir_add_field(l->output->kernel, field->node, field->component + part, element->name);
  IrField *entry = &l->output->kernel->fields.items[number];
  entry->offset = field->offset;
  if (number == l->output->fields.count) {
    vec_push(l->scratch, &l->output->fields, field->source);
    if (field->is_movable) entry->place = place_argument(l, field, element->name);
  }
  return ir_place(&l->b, number, indices);
}
