/* shape.c - the number of numbers of a value, and the whole that a part belongs to. */
#include "typed/typed.h"

/* "struct{pos:vec3,mass:f32}" as messages have it: a struct {pos: vec3, mass: f32}. */
static const char *struct_text(Sema *s, Type type) {
  enum { LONGEST = 100 };
  StrBuf out;
  strbuf_init(&out, s->scratch);
  if (type_is_array(type))
    return scratch_format(s->scratch, "an %s", type_row(s->input->types, type).name);
  strbuf_text(&out, "a ");
  for (const char *at = type_row(s->input->types, type).name; *at; at++) {
    if (*at == '#')
      while (at[1] >= '0' && at[1] <= '9') at++;
    else if (*at == ':' || *at == ',') strbuf_format(&out, "%c ", *at);
    else if (*at == '{') strbuf_text(&out, " {");
    else strbuf_char(&out, *at);
    if (out.length < LONGEST) continue;
    strbuf_text(&out, "..}");
    break;
  }
  return strbuf_end(&out);
}

const char *shape_text(Sema *s, Shape shape) {
  if (type_is_struct(shape)) return struct_text(s, shape);
  if (type_is_scalar(shape)) return "a number";
  if (type_is_matrix(shape))
    return scratch_format(s->scratch, "a matrix of %d x %d", type_rows(shape), type_cols(shape));
  return scratch_format(s->scratch, "a vector of %d", type_rows(shape));
}

int shape_constant_index(const Expr *e) {
  double value;
  return sema_is_constant(e->list.items[0], &value) ? (int)value : -1;
}

Expr *array_of_item(Expr *e) {
  do e = sema_strip(e->left);
  while (e->entity.kind == ENTITY_ITEM_ROW);
  return e;
}

Type shape_base(Expr *e) {
  for (e = sema_strip(e); e->entity.kind == ENTITY_PART; e = sema_strip(e->left))
    if (!type_is_none(e->entity.parts.type)) return e->entity.parts.type;
  if (e->entity.kind == ENTITY_ITEM) return e->entity.item.type;
  return e->entity.kind == ENTITY_ELEMENT ? e->entity.field.type : e->local->type;
}

Type number_type(const Sema *s, Type base, int part) {
  return type_is_struct(base) ? type_number(s->input->types, base, part) : base;
}

bool type_find(const Sema *s, const char *name, Type *type) {
  Error unused = {0};
  if (type_parse_any(str_of(name), type)) return true;
  return s->input->types && type_read(s->input->types, str_of(name), type, &unused);
}

Expr *shape_root(Expr *e) {
  e = sema_strip(e);
  while (e->entity.kind == ENTITY_PART) e = sema_strip(e->left);
  return e;
}

bool shape_fail_condition(Sema *s, const Expr *e) {
  const char *text = sema_source(s, e);
  return sema_fail(s, e, RG_ERROR_TYPE_CONDITION,
                   scratch_format(s->scratch, "rg.any(%s) or rg.all(%s) makes it one", text, text),
                   "a condition is one boolean, but this is %s", shape_text(s, shape_of(e)));
}
