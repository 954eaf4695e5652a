/* expr.c - determines what each expression denotes. This room reports every error that does not
 * depend on types: names, constructs, counts of indices and arguments, loops and exits,
 * reductions. */
#include "resolve/resolve.h"

static Entity value_entity(void) { return (Entity){.kind = ENTITY_VALUE}; }

/* -- values ------------------------------------------------------------------------------------ */

static bool fail_other(Resolve *r, Expr *e, const Entity *entity) {
  const char *name = entity->name ? entity->name : sema_source(r->s, e);
  if (entity->kind == ENTITY_TABLE) {
    const SemaArg *source = &entity->table;
    const char *what = source->is_parameter ? r->input->parameters[source->index].name
                                            : r->input->captures[source->index].name;
    const char *hint =
        scratch_format(r->scratch, "name what is in it by its path, such as %s.x", name);
    if (what && *what && strcmp(what, "a table"))
      return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
                       "its operators work outside kernels; in a kernel, call its methods and "
                       "read its members",
                       "'%s' is %s and cannot be used as a value in a kernel", name, what);
    if (entity->table.is_parameter) /* S:step() passes S */
      hint = scratch_format(r->scratch,
                            "%s; a call with a colon, t:f(..), passes t as the first "
                            "argument",
                            hint);
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, hint,
                     "'%s' is a table and cannot be used as a value in a kernel", name);
  }
  if (entity->kind == ENTITY_LIST && sema_strip(e)->kind == AST_TABLE)
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
                     "use locals, one per value, or a vector: rg.vec2(a, b)",
                     "a number or a vector is needed here, but this is a table");
  if (entity->kind == ENTITY_RECORD)
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
                     record_length(entity->record) ? "take a value of it: t[1]"
                                                   : "take a value of it, by its name",
                     "a number or a vector is needed here, but this is %s",
                     record_text(r, entity->record));
  if (entity->kind == ENTITY_LIST)
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "index it: t[i], t[i][j]",
                     "'%s' is a table and cannot be used as a value in a kernel", name);
  if (entity->kind == ENTITY_FUNCTION)
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, NULL,
                     "'%s' is a function and cannot be used as a value in a kernel", name);
  switch (entity->other.value) {
  case VALUE_NIL:
    if (entity->other.is_missing)
      return sema_fail(
          r->s, e, RG_ERROR_NAME_NIL,
          scratch_format(r->scratch, "pass it, or begin with a default: %s = %s or ..", name, name),
          "this call does not pass '%s', so it is nil", name);
    if (entity->other.source.is_parameter)
      return sema_fail(r->s, e, RG_ERROR_NAME_NIL, "pass it at the launch",
                       "the argument '%s' is nil", name);
    return sema_fail(r->s, e, RG_ERROR_NAME_NIL, "it must have a value when the kernel is launched",
                     "'%s' is nil", name);
  case VALUE_STRING:
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
                     "the values of a kernel are numbers and booleans",
                     "'%s' is a string, and strings do not exist in kernels", name);
  default:
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, NULL,
                     "'%s' is %s and cannot be used as a value in a kernel", name,
                     entity->other.what);
  }
}

/* `x[i][j]` */
static const char *element_text(Resolve *r, const Entity *field) {
  StrBuf text;
  strbuf_init(&text, r->scratch);
  strbuf_text(&text, field->name);
  for (int axis = 0; axis < field_rank(&field->field); axis++)
    strbuf_format(&text, "[%c]", "ijklmnop"[axis % 8]);
  return strbuf_end(&text);
}

static bool fail_no_value(Resolve *r, Expr *e, const Entity *entity) {
  switch (entity->kind) {
  case ENTITY_FIELD:
    if (!field_rank(&entity->field))
      return sema_fail(r->s, e, RG_ERROR_INDEX_COUNT,
                       scratch_format(r->scratch, "write %s[0]", entity->name),
                       "'%s' has no axes and one element", entity->name);
    return sema_fail(r->s, e, RG_ERROR_INDEX_COUNT,
                     scratch_format(r->scratch, "an element is %s", element_text(r, entity)),
                     "'%s' has %d %s: an element needs %d %s, %d given", entity->name,
                     field_rank(&entity->field), field_rank(&entity->field) == 1 ? "axis" : "axes",
                     field_rank(&entity->field),
                     field_rank(&entity->field) == 1 ? "index" : "indices",
                     entity->field.index_count);
  case ENTITY_NODE:
    return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, "the elements are in its fields",
                     "'%s' is an SNode, not a number", entity->name);
  case ENTITY_TYPE:
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "call it to convert a number: rg.i32(x)",
                     "'%s' is a type, not a number", entity->name);
  case ENTITY_BUILTIN:
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, NULL, "'%s' is a function, not a number",
                     entity->name);
  case ENTITY_LOOP:
    return sema_fail(r->s, e, RG_ERROR_LOOP, "write for i in .. do",
                     "a range can only be used in the head of a loop");
  case ENTITY_VOID:
    return sema_fail(r->s, e, RG_ERROR_CALL, NULL, "'%s' returns no value",
                     e->kind == AST_METHOD ? sema_text(r->s, e->text) : sema_source(r->s, e->left));
  case ENTITY_ITEM_ROW: return array_fail_row(r, e);
  default: return fail_other(r, e, entity);
  }
}

bool resolve_value(Resolve *r, Expr *e) {
  resolve_expr(r, e);
  return resolve_is_value(r, e);
}

bool resolve_is_value(Resolve *r, Expr *e) {
  Entity entity = e->entity;
  if (entity.kind == ENTITY_SHAPE) {
    entity = extent_vector(r, e, &entity);
    e->entity = entity; /* the table may have moved */
  }
  if (entity_is_value(&entity)) return true;
  if (entity.kind == ENTITY_NONE || r->s->failed) return false;
  return array_is_whole(&entity) ? array_to_value(r, e) : fail_no_value(r, e, &entity);
}

bool resolve_scalar(Resolve *r, Expr *e) {
  return resolve_value(r, e) && resolve_check_scalar(r, e);
}

bool resolve_check_scalar(Resolve *r, Expr *e) {
  return type_is_scalar(shape_of(e)) ||
         sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH,
                   type_is_array(shape_of(e))    ? "take an element, a[i], or how many: #a"
                   : type_is_struct(shape_of(e)) ? "take a member of it: p.mass"
                                                 : "take one number of it: v.x",
                   "a number is needed here, but this is %s", shape_text(r->s, shape_of(e)));
}

bool resolve_condition(Resolve *r, Expr *e) {
  maybe_condition(r, e);
  if (!resolve_value(r, e)) return false;
  return type_is_scalar(shape_of(e)) || type_is_struct(shape_of(e)) ? resolve_check_scalar(r, e)
                                                                    : shape_fail_condition(r->s, e);
}

static Entity shaped_entity(Shape shape) { return (Entity){.kind = ENTITY_VALUE, .shape = shape}; }

static Entity resolve_unary(Resolve *r, Expr *e) {
  int known = e->op == AST_NOT ? nil_test(r, e) : -1;
  if (known >= 0) {
    *e = *literal_static(r, e->ast, &(Static){.kind = STATIC_BOOL, .number = known});
    return e->entity;
  }
  Shape shape;
  const char *who = scratch_format(r->scratch, "'%s'", ast_op_text(e->op));
  if (e->op == AST_NOT) maybe_condition(r, e->left);
  if (!resolve_value(r, e->left) || !shape_join(r, e, shape_of(e->left), (Shape){0}, who, &shape))
    return (Entity){0};
  return shaped_entity(shape);
}

/* -- names ------------------------------------------------------------------------------------- */

static Entity fail_reduced(Resolve *r, Expr *e) {
  const char *name = sema_text(r->s, e->local->name);
  sema_fail(r->s, e, RG_ERROR_REDUCTION,
            "read it after the loop, or keep the iteration's own value in another local",
            "'%s' is reduced by this parallel loop and has no value inside it", name);
  return (Entity){0};
}

/* The helper's function, which a separate `local` may have declared before. */
static const AstFunction *find_helper(const Ast *ast, const AstLocal *name) {
  const AstFunction *text = NULL;
  for (int i = 0; i < ast->helpers.count; i++)
    if (ast->helpers.items[i]->locals.items[0] == name) text = ast->helpers.items[i]->function;
  return text;
}

/* A helper declared before the kernel, or before another function of a called text; it shares that
 * function's captures. */
static Entity resolve_helper(Resolve *r, Expr *e) {
  const Ast *ast = r->input->ast;
  const AstFunction *text = find_helper(ast, e->ast->local);
  int number = 0;
  while (!text && number < r->input->function_count) {
    ast = r->input->functions[number++];
    text = find_helper(ast, e->ast->local);
  }
  if (!text) {
    sema_fail(r->s, e, RG_ERROR_NAME_NIL,
              scratch_format(r->scratch, "write function %s(..) .. end before the kernel",
                             sema_text(r->s, e->text)),
              "'%s' is declared but is not a function", sema_text(r->s, e->text));
    return (Entity){0};
  }
  Entity entity = resolve_function(sema_text(r->s, e->text), text, ast->source);
  entity.function.number = number;
  return entity;
}

static Entity resolve_local(Resolve *r, Expr *e) {
  Local *local = e->local;
  if (!local && e->ast->local && build_is_lost(r, e->ast->local)) {
    sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "pass it to the function",
              "'%s' is declared around a function that calls itself, which cannot read it",
              sema_text(r->s, e->text));
    return (Entity){0};
  }
  if (!local) return resolve_helper(r, e);
  if (local->is_poisoned) sema_poison(r->s);
  if (local->is_alias) return local->alias;
  if (r->loop && local->loop == 0 && local->reduced_in == r->loop) return fail_reduced(r, e);
  local->read_in = r->loop;
  return shaped_entity(local->shape);
}

/* The axes that a row has left. */
static Parts axes_left(const FieldRef *field) {
  Parts axes = {0};
  if (!field->index_count) return axes;
  for (int k = field->index_count; k < field_rank(field); k++) axes.at[axes.count++] = (uint8_t)k;
  return axes;
}

static Entity resolve_shape_of(Resolve *r, Expr *e, Entity object, Str name) {
  if (str_is(name, "shape") || (str_is(name, "offset") && object.field.node)) {
    ShapeRef extent = {.node = object.field.node,
                       .array = object.field.array,
                       .offset = object.field.offset,
                       .is_offset = str_is(name, "offset"),
                       .axes = axes_left(&object.field)};
    return (Entity){.kind = ENTITY_SHAPE, .name = object.name, .extent = extent};
  }
  const char *text = sema_text(r->s, name);
  sema_fail(r->s, e, RG_ERROR_NAME_UNKNOWN, suggest_field_member(r, name, object.name),
            "'%s' has no '%s'", object.name, text);
  return (Entity){0};
}

/* A row in a tree or an array of few axes; `offset` arrays do not have. */
static bool has_row_shape(const Entity *object, Str name) {
  const FieldRef *field = &object->field;
  int left = field_rank(field) - field->index_count;
  return object->kind == ENTITY_FIELD && !field->peers && left <= 4 &&
         (str_is(name, "shape") || (str_is(name, "offset") && field->node));
}

Entity resolve_member(Resolve *r, Expr *e, Entity object, Str name) {
  const char *text = sema_text(r->s, name);
  Entity member;
  switch (object.kind) {
  case ENTITY_NONE: return object;
  case ENTITY_FIELD:
  case ENTITY_NODE:
    if (str_is(name, "type") && object.kind == ENTITY_FIELD) /* of an element */
      return (Entity){.kind = ENTITY_TYPE,
                      .name = object.name,
                      .type = object.field.type,
                      .shape = object.shape};
    member = struct_member_field(r, &object, name);
    if (member.kind != ENTITY_NONE) return member;
    if (object.field.index_count == 0 || has_row_shape(&object, name))
      return resolve_shape_of(r, e, object, name);
    sema_fail(r->s, e, RG_ERROR_INDEX_COUNT,
              scratch_format(r->scratch, "an element has %d indices", field_rank(&object.field)),
              "'%s' is a row of '%s', and has no '%s'", sema_source(r->s, e->left), object.name,
              text);
    return (Entity){0};
  case ENTITY_VALUE:
  case ENTITY_ARGUMENT:
  case ENTITY_CONSTANT:
  case ENTITY_ELEMENT:
  case ENTITY_ITEM:
  case ENTITY_PART: return shape_named_part(r, e, &object, name);
  case ENTITY_SHAPE: return extent_member(r, e, &object, name);
  case ENTITY_TABLE: return table_member(r, e, &object, name);
  case ENTITY_RECORD: return record_member(r, e, &object, name);
  default: break;
  }
  sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
            object.kind == ENTITY_LIST
                ? "a list that is indexed at run time holds numbers or vectors: keep each member "
                  "in a list of its own, or use an array of rg.struct"
                : "name captured values by their full path: self.grid.dt",
            "kernels cannot look up '%s' here", text);
  return (Entity){0};
}

/* An assigned parameter is a variable, so no path continues from it. */
static bool is_behind_variable(Resolve *r, const Expr *e) {
  while (e->kind == AST_FIELD) e = e->left;
  return e->kind == AST_LOCAL && !(e->local && e->local->is_alias);
}

static Entity resolve_field(Resolve *r, Expr *e) {
  StrBuf name;
  int parameter;
  strbuf_init(&name, r->scratch);
  if (!is_behind_variable(r, e) &&
      path_of(r->s->frame ? NULL : r->input->ast, e->ast, &name, &parameter))
    return resolve_capture(r, e);
  Entity object = resolve_expr(r, e->left);
  return resolve_member(r, e, object, e->text);
}

/* -- indices ----------------------------------------------------------------------------------- */

static bool has_keys(const AstExpr *table) {
  for (int i = 0; i < table->keys.count; i++)
    if (table->keys.items[i]) return true;
  return false;
}

bool resolve_indices(Resolve *r, Exprs *list, int *count) {
  *count = 0;
  for (int i = 0; i < list->count && !r->s->failed; i++) {
    Expr *index = list->items[i];
    if (index->kind != AST_TABLE) {
      if (!resolve_value(r, index)) return false;
      if (!type_is_scalar(shape_of(index)) && !type_is_vector(shape_of(index)))
        return sema_fail(r->s, index, RG_ERROR_TYPE_MISMATCH, NULL, "%s cannot be an index",
                         type_is_matrix(shape_of(index)) ? "a matrix"
                                                         : shape_text(r->s, shape_of(index)));
      *count += type_parts(shape_of(index));
      continue;
    }
    if (has_keys(index->ast))
      return sema_fail(r->s, index, RG_ERROR_UNSUPPORTED, "write x[{i, j}]",
                       "indices cannot have names");
    for (int k = 0; k < index->list.count; k++) resolve_scalar(r, index->list.items[k]);
    *count += index->list.count;
  }
  return !r->s->failed;
}

/* A field without axes has one element, `x[0]`. */
static Entity resolve_only_element(Resolve *r, Expr *e, Entity field, int count) {
  double index;
  if (count == 1 && e->list.items[0]->kind != AST_TABLE &&
      sema_is_constant(e->list.items[0], &index) && index == 0) {
    field.kind = ENTITY_ELEMENT;
    return field;
  }
  sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, scratch_format(r->scratch, "write %s[0]", field.name),
            "'%s' has no axes and one element", field.name);
  return (Entity){0};
}

static Entity resolve_element(Resolve *r, Expr *e, Entity field) {
  int count;
  if (!resolve_indices(r, &e->list, &count)) return (Entity){0};
  int rank = field_rank(&field.field);
  if (rank == 0) return resolve_only_element(r, e, field, count);
  field.field.index_count += count;
  if (field.field.index_count > rank) {
    sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, NULL, "'%s' has %d %s, %d indices given", field.name,
              rank, rank == 1 ? "axis" : "axes", field.field.index_count);
    return (Entity){0};
  }
  if (field.field.index_count == rank) field.kind = ENTITY_ELEMENT;
  return field;
}

static Entity resolve_index(Resolve *r, Expr *e) {
  if (peer_is(e)) return e->entity;
  Entity object = resolve_expr(r, e->left);
  const char *name = object.name ? object.name : sema_source(r->s, e->left);
  if (type_is_array(object.shape) && object.kind != ENTITY_TYPE)
    return array_indexed(r, e, &object);
  if (object.kind != ENTITY_FIELD && object.kind != ENTITY_TYPE && !type_is_scalar(object.shape))
    return shape_indexed_part(r, e, &object);
  switch (object.kind) {
  case ENTITY_NONE: return object;
  case ENTITY_FIELD: return resolve_element(r, e, object);
  case ENTITY_SHAPE: return extent_indexed(r, e, &object);
  case ENTITY_ELEMENT:
    sema_fail(r->s, e, RG_ERROR_INDEX_COUNT, NULL, "'%s' has %d %s, more indices given", name,
              field_rank(&object.field), field_rank(&object.field) == 1 ? "axis" : "axes");
    break;
  case ENTITY_NODE:
    sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, "the elements are in its fields",
              "'%s' is an SNode and has no elements", name);
    break;
  case ENTITY_TABLE: return table_item(r, e, &object);
  case ENTITY_LIST: return list_indexed(r, e, &object);
  case ENTITY_RECORD: return record_indexed(r, e, &object);
  case ENTITY_FUNCTION:
  case ENTITY_OTHER: fail_other(r, e->left, &object); break;
  default:
    sema_fail(
        r->s, e, RG_ERROR_TYPE_MISMATCH,
        object.kind == ENTITY_PART
            ? scratch_format(
                  r->scratch,
                  "it is already a number (a matrix of one column or row is a vector): write %s",
                  name)
            : NULL,
        "'%s' is not a field, so it cannot be indexed", name);
    break;
  }
  return (Entity){0};
}

/* -- operators --------------------------------------------------------------------------------- */

/* Does the field have all its indices except the one into the list? */
static bool is_list(const FieldRef *field) {
  const SNode *node = field->node;
  return !field->array && snode_has_lists(node) && !field->peers &&
         field->index_count == field_rank(field) - 1 &&
         snode_axis_position(node, node->axes[0]) == field->index_count;
}

/* `#x[i]` of a list becomes x:length(i); else the extent of the first axis. */
static Entity length_of_field(Resolve *r, Expr *e, const Entity *object) {
  const FieldRef *field = field_of(object);
  const SNode *node = field->node;
  int axis = field->index_count - (field->peers != NULL);
  if (field->index_count >= field_rank(field)) {
    sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, NULL,
              "'#' takes a field, an array, an SNode with axes, a vector, a matrix or a table");
    return (Entity){0};
  }
  if (is_list(field)) {
    e->kind = AST_METHOD;
    e->text = STR("length");
    return resolve_method(r, e);
  }
  if (field->array) return extent_of_array(field->array, axis);
  if (!snode_is_unbounded(node, axis)) return extent_constant(node->shape[axis]);
  sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, "loop over its active cells, or count() them",
            "'#' is undefined: axis '%c' of '%s' belongs to a hash and is unbounded",
            'i' + node->level_axes[axis], object->name);
  return (Entity){0};
}

static Entity resolve_length(Resolve *r, Expr *e) {
  int64_t length;
  Entity object = resolve_expr(r, e->left);
  switch (object.kind) {
  case ENTITY_FIELD:
  case ENTITY_NODE: return length_of_field(r, e, &object);
  case ENTITY_SHAPE: return extent_constant(extent_count(&object));
  case ENTITY_TABLE:
    return table_length(r, e->left, &object, &length) ? extent_constant(length) : (Entity){0};
  case ENTITY_LIST: return list_length(r, e, &object);
  case ENTITY_RECORD: return extent_constant(record_length(object.record));
  case ENTITY_FUNCTION:
  case ENTITY_OTHER: fail_other(r, e->left, &object); break;
  case ENTITY_NONE: break;
  default:
    if (type_is_array(object.shape) && resolve_is_value(r, e->left)) return array_length(r, e);
    if (!type_is_struct(object.shape) &&
        (type_is_vector(object.shape) || type_is_matrix(object.shape)))
      return extent_constant(type_rows(object.shape));
    sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, NULL,
              "'#' takes a field, an array, an SNode with axes, a vector, a matrix or a table");
    break;
  }
  return (Entity){0};
}

static bool check_condition_shape(Resolve *r, Expr *e) {
  return type_is_scalar(shape_of(e)) || resolve_condition(r, e);
}

/* Is it certainly a number, before types are known? */
static bool is_surely_number(Expr *e) {
  e = sema_strip(e);
  return e->kind == AST_NUMBER || e->entity.kind == ENTITY_CONSTANT ||
         (e->kind == AST_UNARY && e->op == AST_NEG) || (e->kind == AST_BINARY && e->op <= AST_POW);
}

/* Vectors of booleans combine elementwise, and a single boolean with each of them. check_expr.c
 * checks that they are booleans, once types are known. */
static bool shape_logic(const Expr *a, Expr *b, Shape *shape) {
  Shape left = shape_of(a), right = shape_of(b);
  if (type_is_struct(left) || type_is_struct(right) ||
      (!type_is_scalar(left) && is_surely_number(b)))
    return false;
  *shape = type_is_scalar(left) ? right : left;
  return type_is_scalar(left) || type_is_scalar(right) || type_equal(left, right);
}

/* The shape of `c and a or b` and `c ? a : b`: conditions are bools, arms have one shape. */
static bool shape_choice(Resolve *r, Expr *e, Shape *shape) {
  Expr *a = e->kind == AST_TERNARY ? e->right : e->left,
       *b = e->kind == AST_TERNARY ? e->third : e->right;
  if (e->kind != AST_TERNARY && shape_logic(a, b, shape)) return true;
  *shape = shape_of(b);
  if (e->kind == AST_TERNARY && !check_condition_shape(r, e->left)) return false;
  if (e->kind == AST_AND && !is_surely_number(b) && !type_is_struct(*shape) &&
      !type_is_struct(shape_of(a)))
    return shape_join(r, e, shape_of(a), *shape, "'and'", shape);
  if (e->kind == AST_AND) return check_condition_shape(r, a);
  return type_equal(shape_of(a), *shape) ||
         sema_fail(r->s, b, RG_ERROR_TYPE_MISMATCH, NULL,
                   "one side of this choice is %s, the other %s", shape_text(r->s, shape_of(a)),
                   shape_text(r->s, *shape));
}

/* In Lua, `a == b` compares the identity of fields, which kernels do not support. */
static bool check_fields_apart(Resolve *r, Expr *e) {
  if (e->kind != AST_BINARY || (e->op != AST_EQ && e->op != AST_NE)) return true;
  Entity a = resolve_expr(r, e->left), b = resolve_expr(r, e->right);
  if (a.kind != ENTITY_FIELD || b.kind != ENTITY_FIELD || a.field.index_count ||
      b.field.index_count)
    return true;
  if (array_is_whole(&a) && array_is_whole(&b)) return true; /* values */
  return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH,
                   scratch_format(r->scratch,
                                  "compare elements: %s[%s] %s %s[%s]; whether they are one "
                                  "field is rg.static(%s)",
                                  a.name, field_rank(&a.field) ? "i" : "0", ast_op_text(e->op),
                                  b.name, field_rank(&b.field) ? "i" : "0", sema_source(r->s, e)),
                   "'%s' and '%s' are fields, which kernels do not compare as a whole", a.name,
                   b.name);
}

static bool is_table(Expr *e, const Entity *entity) {
  AstExprKind kind = sema_strip(e)->kind;
  return record_is(entity) ||
         (entity->kind == ENTITY_LIST && (kind == AST_TABLE || kind == AST_AND || kind == AST_OR));
}

/* In `c and 1 or nil`, `h or g`, the result may be nil, too. */
static bool gives_nil(Resolve *r, Expr *e, Expr *operand) {
  Expr *inner = sema_strip(operand);
  if (operand != e->right || inner->kind != AST_LOCAL || !inner->local) return false;
  return inner->local->presence != NULL && sema_strip(e->left)->kind == AST_AND;
}

/* In Lua, `==` compares the identity of tables, which kernels do not support. */
static bool check_no_tables(Resolve *r, Expr *e) {
  if (e->kind != AST_BINARY || (e->op != AST_EQ && e->op != AST_NE)) return true;
  Entity a = resolve_expr(r, e->left), b = resolve_expr(r, e->right);
  if (!record_is(&a) && !record_is(&b)) return !r->s->failed;
  return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, "compare their members: p.x == q.x",
                   "a table in a kernel is a value without identity, so '%s' cannot be evaluated",
                   sema_source(r->s, e));
}

static bool is_text(Resolve *r, Expr *e) {
  if (sema_strip(e)->kind == AST_STRING) return true;
  if (sema_strip(e)->kind == AST_NIL) return false;
  Entity entity = resolve_expr(r, e);
  return entity.kind == ENTITY_OTHER && entity.other.value == VALUE_STRING;
}

/* `mode == "fast"` */
static bool check_texts_compared(Resolve *r, Expr *e) {
  if (e->kind != AST_BINARY || (e->op != AST_EQ && e->op != AST_NE)) return true;
  if (!is_text(r, e->left) || !is_text(r, e->right)) return !r->s->failed;
  return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
                   scratch_format(r->scratch,
                                  "compare them when the kernel is compiled: "
                                  "rg.static(%s)",
                                  sema_source(r->s, e)),
                   "kernels do not compare strings");
}

static Entity resolve_operands(Resolve *r, Expr *e) {
  if (e->op == AST_CONCAT) {
    sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "the values of a kernel are numbers and booleans",
              "strings exist in kernels only as arguments of print, assert and error");
    return (Entity){0};
  }
  Entity chosen;
  if (nil_choose(r, e, &chosen)) return chosen;
  if (r->s->failed || !check_texts_compared(r, e)) return (Entity){0};
  if (maybe_operator(r, e, &chosen)) return chosen;
  if (r->s->failed || !check_fields_apart(r, e) || !check_no_tables(r, e)) return (Entity){0};
  Expr *operands[] = {e->left, e->right, e->third};
  for (int i = 0; i < 3; i++) {
    if (!operands[i]) continue;
    if (e->kind == AST_OR && (nil_is_expr(r, operands[i]) || gives_nil(r, e, operands[i])))
      return record_choice(r, e, &e->entity);
    Entity operand = resolve_expr(r, operands[i]);
    bool is_chosen = e->kind != AST_BINARY && (e->kind == AST_OR || i > 0);
    if (is_chosen && is_table(operands[i], &operand)) return record_choice(r, e, &operand);
    if (!resolve_is_value(r, operands[i])) return (Entity){0};
  }
  Shape shape;
  bool ok = e->kind == AST_BINARY ? shape_binary(r, e, &shape) : shape_choice(r, e, &shape);
  return ok ? shaped_entity(shape) : (Entity){0};
}

static Entity refuse(Resolve *r, Expr *e, const char *hint, const char *sentence) {
  sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, hint, "%s", sentence);
  return (Entity){0};
}

static Entity resolve_new(Resolve *r, Expr *e) {
  if (e->inlined && e->kind == AST_CALL) return e->entity; /* already resolved */
  switch (e->kind) {
  case AST_TRUE:
  case AST_FALSE:
  case AST_NUMBER: return value_entity();
  case AST_LOCAL: return resolve_local(r, e);
  case AST_GLOBAL: return resolve_capture(r, e);
  case AST_FIELD: return resolve_field(r, e);
  case AST_INDEX: return resolve_index(r, e);
  case AST_CALL: return resolve_call(r, e);
  case AST_METHOD: return resolve_method(r, e);
  case AST_UNARY: return e->op == AST_LEN ? resolve_length(r, e) : resolve_unary(r, e);
  case AST_BINARY:
  case AST_AND:
  case AST_OR:
  case AST_TERNARY: return resolve_operands(r, e);
  case AST_PAREN: return resolve_expr(r, e->left);
  case AST_NIL:
    return refuse(r, e, "numbers and booleans always have a value",
                  "nil does not exist in kernels");
  case AST_STRING:
    return refuse(r, e, "the values of a kernel are numbers and booleans",
                  "strings exist in kernels only as arguments of print, assert and error");
  case AST_VARARG: return refuse(r, e, "name each parameter", "kernels take no variable arguments");
  case AST_FUNCTION:
    if (e->entity.kind == ENTITY_FUNCTION) return e->entity; /* a loop's body: iterator.c */
    return resolve_inner_function(r, "function", e->ast->function);
  case AST_TABLE: return record_is_runtime(r, e) ? record_literal(r, e) : list_literal(r, e);
  }
  return (Entity){0};
}

Entity resolve_expr(Resolve *r, Expr *e) {
  if (r->s->failed) return (Entity){0};
  Entity entity = resolve_new(r, e);
  return *&e->entity = r->s->failed ? (Entity){0} : entity;
}

/* -- types ------------------------------------------------------------------------------------- */

static Type fail_type(Resolve *r, Expr *annotation, const char *name) {
  sema_fail(r->s, annotation, RG_ERROR_TYPE_UNKNOWN, suggest_type(r, name), "'%s' is not a type",
            name);
  return TYPE(NONE);
}

/* `vec(5, f64)`, `rg.mat(3, 2, f32)`: the last name decides, since nothing else can be called
 * here. */
static Type resolve_shaped(Resolve *r, Expr *annotation) {
  Entity made = resolve_type_call(r, annotation, annotation->left->text);
  return made.kind == ENTITY_TYPE ? type_shaped(made.type, made.shape) : TYPE(NONE);
}

static Type find_type(Resolve *r, Expr *annotation) {
  Type type;
  if (annotation->kind == AST_GLOBAL && type_parse_any(annotation->text, &type)) return type;
  if (annotation->kind == AST_CALL) return resolve_shaped(r, annotation);
  StrBuf name;
  int parameter;
  strbuf_init(&name, r->scratch);
  path_of(r->s->frame ? NULL : r->input->ast, annotation->ast, &name, &parameter);
  SemaPath path = {.name = str_of(strbuf_end(&name)),
                   .function = r->s->frame ? r->s->frame->number : 0};
  int number = path_find(r, &path);
  bool is_type = number >= 0 && r->input->captures[number].kind == VALUE_TYPE;
  if (!is_type) return fail_type(r, annotation, strbuf_end(&name));
  return type_find(r->s, r->input->captures[number].name, &type) ? type : TYPE(NONE);
}

/* A type's name, or a name that refers to a type: type_base and shape of it. */
Type resolve_type(Resolve *r, const AstExpr *annotation, Shape *shape) {
  Type type = find_type(r, build_expr(r, annotation));
  *shape = type_shape(type);
  return type_base(type);
}
