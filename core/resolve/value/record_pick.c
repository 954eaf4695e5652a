/* record_pick.c - a table of values that is indexed at run time, and choices of tables.
 *
 *     w[k]                      a generated function; zero out of bounds:
 *                                 function(index: i64, a1, a2)
 *                                   if index == 1 then return a1 elseif .. end
 *                                 end
 *                               which lower turns into one selection (Inline.is_pick)
 *     c and {..} or f(x)        a function made here, since its arms are computed one at a time:
 *                                 function() if c then return {..} else return f(x) end end
 */
#include "front/parser.h"
#include "resolve/resolve.h"

enum { MOST_PICKED = 64 };

static Ast *write_pick(Resolve *r, int count) {
  StrBuf out;
  Error err;
  strbuf_init(&out, r->scratch);
  strbuf_format(&out, "function(index: i64");
  for (int k = 1; k <= count; k++) strbuf_format(&out, ", value%d", k);
  strbuf_format(&out, ") if ");
  for (int k = 1; k <= count; k++)
    strbuf_format(&out, "%sindex == %d then return value%d ", k > 1 ? "elseif " : "", k, k);
  strbuf_format(&out, "end end");
  error_clear(&err);
  return parse_kernel_text(source_create(r->scratch, str_of(strbuf_end(&out)), "table", 1), &err);
}

bool record_check_list(Resolve *r, Expr *e, const Entity *object) {
  const char *name = object->name ? object->name : sema_source(r->s, e->left);
  int count = record_length(object->record);
  if (count != object->record->count)
    return sema_fail(r->s, e, RG_ERROR_UNSUPPORTED, "write its name: p.pos",
                     "'%s' is %s: values with names can only be accessed by name", name,
                     record_text(r, object->record));
  return (count && count <= MOST_PICKED) ||
         sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
                   count ? "for many numbers, use an array: rg.zeros(rg.f32, n)"
                         : "a table in a kernel keeps the keys that it starts with, {0, 0}; for "
                           "many numbers, use an array: rg.zeros(rg.f32, n)",
                   "'%s' is %s: an index known only at run time needs a table of 1 to %d values",
                   name, record_text(r, object->record), MOST_PICKED);
}

/* Refuses fields, functions and types, which must be known at compile time. */
static bool check_picked(Resolve *r, Expr *e, const char *name, const Entity *item) {
  return item->kind <= ENTITY_ITEM || item->kind == ENTITY_SHAPE || record_is(item) ||
         sema_fail(r->s, e, RG_ERROR_UNSUPPORTED,
                   scratch_format(r->scratch, "loop over it: for k, v in ipairs(%s)", name),
                   "'%s' holds more than numbers, vectors and tables of these, so its index must "
                   "be known when the kernel is compiled",
                   name);
}

Entity record_pick(Resolve *r, Expr *e, const Entity *object) {
  Expr *of = sema_strip(e->left), *index = e->list.items[0];
  int count = record_length(object->record);
  const char *name = object->name ? object->name : sema_source(r->s, e->left);
  const Inline *called = NULL;
  Exprs arguments = {0};
  if (!record_check_list(r, e, object) || !resolve_scalar(r, index)) return (Entity){0};
  vec_push(r->scratch, &arguments, index);
  for (int k = 0; k < count; k++) {
    Expr *item = record_take(r, of, k, &called);
    if (!check_picked(r, e, name, &item->entity)) return (Entity){0};
    const Expr *first = k ? arguments.items[1] : item;
    if (!type_equal(shape_of(item), shape_of(first)) ||
        record_is(&item->entity) != record_is(&first->entity)) {
      sema_fail(r->s, e, RG_ERROR_TYPE_MISMATCH, "use constant indices or ipairs",
                "'%s' holds values of several kinds, so its index must be known", name);
      return (Entity){0};
    }
    vec_push(r->scratch, &arguments, item);
  }
  Ast *ast = write_pick(r, count);
  e->kind = AST_CALL;
  e->list = arguments;
  r->makes_pick = true;
  return resolve_inline_call(r, e, resolve_function(name, ast->function, ast->source), NULL);
}

/* -- choices ----------------------------------------------------------------------------------- */

static AstStmt *new_return(Resolve *r, AstExpr *value) {
  AstStmt *stmt = scratch_new(r->scratch, AstStmt);
  *stmt =
      (AstStmt){.kind = AST_STMT_RETURN, .op = AST_NO_OP, .pos = value->pos, .width = value->width};
  vec_push(r->scratch, &stmt->values, value);
  return stmt;
}

static void add_arm(Resolve *r, AstStmt *branch, AstExpr *condition, AstExpr *value) {
  AstBlock body = {0};
  vec_push(r->scratch, &body, new_return(r, value));
  if (condition) vec_push(r->scratch, &branch->values, condition);
  vec_push(r->scratch, &branch->bodies, body);
}

/* Adds the arms of `c and a or d and b or e`; true if one arm is taken whatever the conditions. */
static bool add_arms(Resolve *r, AstStmt *branch, AstExpr *e, bool is_last) {
  while (e->kind == AST_PAREN) e = e->left;
  if (e->kind == AST_OR)
    return add_arms(r, branch, e->left, false) || add_arms(r, branch, e->right, is_last);
  if (e->kind == AST_TERNARY) {
    add_arm(r, branch, e->left, e->right);
    return add_arms(r, branch, e->third, is_last);
  }
  if (e->kind == AST_AND && !is_last) add_arm(r, branch, e->left, e->right);
  else add_arm(r, branch, NULL, e);
  return e->kind != AST_AND || is_last;
}

Entity record_choice(Resolve *r, Expr *e, const Entity *arm) {
  const Expr *last = sema_strip(e->right);
  /* false without the `or` around it, which takes it */
  if (e->kind == AST_AND || last->kind == AST_AND) return *arm;
  AstFunction *function = scratch_new(r->scratch, AstFunction);
  AstStmt *branch = scratch_new(r->scratch, AstStmt);
  Pos end = e->ast->pos;
  end.offset++;
  *branch =
      (AstStmt){.kind = AST_STMT_IF, .op = AST_NO_OP, .pos = e->ast->pos, .width = e->ast->width};
  *function = (AstFunction){.pos = e->ast->pos, .end = end, .height = e->ast->height + 3};
  add_arms(r, branch, (AstExpr *)e->ast, true);
  vec_push(r->scratch, &function->body, branch);
  e->kind = AST_CALL;
  e->left = e->right = e->third = NULL;
  return resolve_inline_call(r, e, resolve_inner_function(r, "choice", function), NULL);
}
