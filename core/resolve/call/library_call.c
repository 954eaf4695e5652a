/* library_call.c - calls of functions that are written in the kernel language (library/library.h),
 * and the resolution of names in their texts. */
#include "library/library.h"
#include "resolve/resolve.h"

Entity library_function(Resolve *r, Str name) {
  Ast *ast = map_find(&r->library, name);
  if (!ast) {
    ast = library_parse(r->scratch, name, r->s->err);
    if (r->s->err->code) sema_poison(r->s);
    if (!ast) return (Entity){0};
    map_put(&r->library, name, ast);
  }
  Entity entity = resolve_function(sema_text(r->s, name), ast->function, ast->source);
  entity.function.number = FUNCTION_LIBRARY;
  return entity;
}

bool library_is_inside(const Resolve *r) {
  return r->s->frame && r->s->frame->number == FUNCTION_LIBRARY;
}

Entity library_name(Resolve *r, Expr *e) {
  StrBuf text;
  int parameter;
  Type type;
  strbuf_init(&text, r->scratch);
  path_of(NULL, e->ast, &text, &parameter);
  const char *name = strbuf_end(&text);
  if (!strncmp(name, "rg.", 3) && type_parse_any(str_of(name + 3), &type))
    return (Entity){
        .kind = ENTITY_TYPE, .name = name, .type = type_element(type), .shape = type_shape(type)};
  if (strchr(name, '.') || !strcmp(name, "ipairs"))
    return (Entity){.kind = ENTITY_BUILTIN, .name = name, .builtin = builtin_find(name)};
  Entity function = library_function(r, str_of(name));
  ASSERT(function.kind == ENTITY_FUNCTION || r->s->failed, "the folder has what it names");
  return function;
}

/* -- calls ------------------------------------------------------------------------------------- */

static bool is_vector_of(Shape shape, int rows) {
  return type_is_vector(shape) && type_rows(shape) == rows;
}

/* Checks an argument against a letter of builtin.def's LIBRARY; returns what is required, or NULL
 * if it fits. */
static const char *refusal(char kind, Shape shape, Shape first) {
  bool is_square = type_is_matrix(shape) && type_rows(shape) == type_cols(shape);
  switch (kind) {
  case 'S': return is_square ? NULL : "a square matrix";
  case 'D': /* larger ones would take seconds to compile */
    return is_square && type_rows(shape) <= 6 ? NULL : "a square matrix of at most 6 x 6";
  case 'M': return type_is_matrix(shape) ? NULL : "a matrix";
  case 'N': return type_is_scalar(shape) ? NULL : "a number";
  case 'A': return type_is_struct(shape) ? "a number, a vector or a matrix" : NULL;
  case '3': return is_vector_of(shape, 3) ? NULL : "a vector of 3";
  case '4': return is_vector_of(shape, 4) ? NULL : "a vector of 4";
  case 'E': return is_square && type_rows(shape) <= 3 ? NULL : "a matrix of 2 x 2 or 3 x 3";
  default:
    return (type_is_vector(shape) || type_is_matrix(shape)) && type_rows(shape) == type_rows(first)
               ? NULL
               : "a vector or a matrix with as many rows as the first";
  }
}

static bool check_arguments(Resolve *r, Exprs arguments, const Builtin *builtin) {
  for (int i = 0; i < arguments.count; i++) {
    Expr *e = arguments.items[i];
    if (!resolve_value(r, e)) return false;
    const char *takes = refusal(builtin->takes[i], shape_of(e), shape_of(arguments.items[0]));
    if (takes)
      return sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, NULL, "'%s' takes %s, but this is %s",
                       builtin->name, takes, shape_text(r->s, shape_of(e)));
  }
  return true;
}

/* `rg.solve(a, b)` of fields and arrays, or rows of them, is another function, which works in
 * place: NULL if the arguments are values. */
static const char *in_place(Resolve *r, const Builtin *builtin, Exprs arguments) {
  static const int axes[] = {2, 1};
  if (strcmp(builtin->name, "rg.solve") != 0 ||
      resolve_expr(r, arguments.items[0]).kind != ENTITY_FIELD)
    return NULL;
  for (int i = 0; i < arguments.count; i++) {
    Entity entity = resolve_expr(r, arguments.items[i]);
    int left =
        entity.kind == ENTITY_FIELD ? field_rank(&entity.field) - entity.field.index_count : 0;
    if (left != axes[i] && !r->s->failed)
      sema_fail(r->s, arguments.items[i], RG_ERROR_INDEX_COUNT,
                "for many at once: rg.solve(a[p], b[p]) with three and two axes",
                "'rg.solve' takes a field or an array of two axes and one of one axis, and this "
                "has %d",
                left);
  }
  return "solve_in_place";
}

/* With more than 4 rows, elimination is used instead of an expansion into minors. */
bool library_is_large(Resolve *r, const Expr *e, const Builtin *builtin) {
  Expr *of = e->kind == AST_METHOD ? e->left : e->list.count ? e->list.items[0] : NULL;
  bool is_such = builtin->form == FORM_ALGEBRA &&
                 (builtin->algebra == ALGEBRA_INVERSE || builtin->algebra == ALGEBRA_DETERMINANT);
  return is_such && of && resolve_value(r, of) && type_is_matrix(shape_of(of)) &&
         type_rows(shape_of(of)) == type_cols(shape_of(of)) && type_rows(shape_of(of)) > 4;
}

/* derivative.lua: what derivatives see of decompositions. NULL: the text that launches run. */
static const char *derived_text_of(const Resolve *r, const Builtin *builtin) {
  static const char *const names[][3] = {
      {"rg.polar", "derivative_of_polar", "second_of_polar"},
      {"rg.svd", "derivative_of_svd", "second_of_svd"},
      {"rg.sym_eig", "derivative_of_sym_eig", "second_of_sym_eig"},
  };
  int order = r->s->input->derivative_order;
  for (int k = 0; order && !library_is_inside(r) && k < 3; k++)
    if (!strcmp(builtin->name, names[k][0])) return names[k][order];
  return NULL;
}

/* The text of a row of builtin.def: those of math are those of rg. */
static const char *text_of(const Resolve *r, const Builtin *builtin) {
  const char *derived = derived_text_of(r, builtin);
  if (derived) return derived;
  if (builtin->algebra == ALGEBRA_INVERSE) return "inverse_by_rows";
  if (builtin->algebra == ALGEBRA_DETERMINANT) return "determinant_by_rows";
  if (!strcmp(builtin->name, "math.ldexp")) return "rg.ldexp";
  if (!strcmp(builtin->name, "math.frexp")) return "rg.frexp";
  return !strcmp(builtin->name, "math.modf") ? "rg.modf" : builtin->name;
}

Entity library_call(Resolve *r, Expr *e, const Builtin *builtin) {
  if (e->inlined) return e->entity; /* already resolved */
  Expr *self = e->kind == AST_METHOD ? e->left : NULL;
  Exprs arguments = {0};
  if (self) vec_push(r->scratch, &arguments, self);
  for (int i = 0; i < e->list.count; i++) vec_push(r->scratch, &arguments, e->list.items[i]);
  if (arguments.count != builtin->least) return resolve_fail_count(r, e, builtin);
  const char *name = in_place(r, builtin, arguments);
  bool is_free = name || !builtin->takes;
  if (r->s->failed || (!is_free && !check_arguments(r, arguments, builtin))) return (Entity){0};
  Entity callee = library_function(r, str_of(name ? name : text_of(r, builtin)));
  callee.name = builtin->name;
  return r->s->failed ? (Entity){0} : resolve_inline_call(r, e, callee, self);
}
