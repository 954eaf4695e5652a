/* emit_access.c - elements: the field of the launch, and the indices. Indices from an integer
 * vector are unpacked by _rg.flat, which returns the numbers of its arguments in order; it is the
 * last argument, so that Lua takes all its results. */
#include "emit_lua/emit.h"

int emit_value_number(const Emit *e, SemaArg source) {
  return source.index + (source.is_parameter ? e->s->input->paths->count : 0);
}

void emit_launch_field(Emit *e, SemaArg source) {
  emit_format(e, "_rg_f[%d]", emit_value_number(e, source));
}

void emit_field_call(Emit *e, SemaArg source, const char *function) {
  emit_launch_field(e, source);
  emit_format(e, ".%s(", function);
  emit_launch_field(e, source);
}

/* -- indices ----------------------------------------------------------------------------------- */

typedef struct Indices {
  int count, max_count; /* 0 for a field without axes: the index of x[0] is not emitted */
  bool has_vector;
} Indices;

static void add_list(Emit *e, const Exprs *list, int count, Indices *indices) {
  for (int i = 0; i < count; i++) {
    Expr *index = list->items[i];
    if (index->kind == AST_TABLE) {
      add_list(e, &index->list, index->list.count, indices);
    } else if (indices->count < indices->max_count) {
      Shape shape = emit_shape(e, index);
      emit_text(e, ", ");
      emit_expr(e, index);
      indices->count += type_parts(shape);
      indices->has_vector |= !type_is_scalar(shape);
    }
  }
}

static void add_indices(Emit *e, Expr *expr, Indices *indices) {
  if (expr->kind == AST_PAREN) {
    add_indices(e, expr->left, indices);
  } else if (expr->kind == AST_LOCAL) { /* a view: {0, i, j} holds the indices of its declaration */
    const Local *local = expr->local;
    int count =
        local->is_alias && local->alias.kind == ENTITY_FIELD ? local->alias.field.index_count : 0;
    for (int i = 0; i < count; i++) emit_format(e, ", %s[%d]", e->names[expr->local->id], i + 2);
    indices->count += count;
  } else if (expr->kind == AST_INDEX && !expr->is_item) {
    add_indices(e, expr->left, indices);
    add_list(e, &expr->list, expr->list.count, indices);
  }
}

void emit_call_indices(Emit *e, Expr *object, const Exprs *list, int count, int max_count) {
  Indices indices = {.max_count = max_count};
  StrBuf before = e->out;
  strbuf_init(&e->out, e->scratch);
  add_indices(e, object, &indices);
  add_list(e, list, count, &indices);
  const char *text = strbuf_end(&e->out);
  e->out = before;
  if (indices.has_vector) emit_format(e, ", _rg.flat(%s)", text + 2);
  else emit_text(e, text);
}

void emit_indices(Emit *e, Expr *expr, int max_count) {
  emit_call_indices(e, expr, &(Exprs){0}, 0, max_count);
}

void emit_element_indices(Emit *e, Expr *root) {
  bool is_checked = emit_index_check(e, root->pos, &root->entity);
  emit_indices(e, root, field_rank(&root->entity.field));
  if (is_checked) emit_text(e, ")");
}

/* `bodies.vel[i]`: some numbers of the element that `get` returns. */
static void emit_member(Emit *e, const Entity *element) {
  int first = element->field.part, count = type_parts(element->shape);
  if (type_is_scalar(element->shape)) {
    emit_format(e, ")[%d]", first);
    return;
  }
  for (int k = 0; k < count; k++) emit_format(e, "%s%d", k ? ", " : ", {", first + k);
  emit_text(e, "})");
}

void emit_element(Emit *e, Expr *expr) {
  const Entity *element = &expr->entity;
  bool is_part = element->field.part > 0;
  emit_conversion(e, element->shape, element->field.type, emit_type(e, expr));
  if (is_part) emit_text(e, type_is_scalar(element->shape) ? "(" : "_rg.pick(");
  emit_field_call(e, element->field.source, "get");
  emit_element_indices(e, expr);
  emit_text(e, ")");
  if (is_part) emit_member(e, element);
  emit_text(e, ")");
}
