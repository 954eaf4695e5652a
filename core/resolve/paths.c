/* paths.c - lists the free names that a kernel uses, with the dots after them: "dt",
 * "self.grid.dt", "rg.range". */
#include "resolve/resolve.h"

int path_parameter(const Ast *ast, const AstLocal *local) {
  if (!ast || !local->is_parameter || local->owner != ast->function) return -1;
  for (int i = 0; i < ast->function->parameters.count; i++)
    if (ast->function->parameters.items[i] == local) return i;
  return -1;
}

/* A captured name, or names after dots; a bare parameter is not a path. */
bool path_of(const Ast *ast, const AstExpr *e, StrBuf *name, int *parameter) {
  if (e->kind == AST_GLOBAL) {
    *parameter = -1;
  } else if (e->kind == AST_FIELD && e->left->kind == AST_LOCAL) {
    *parameter = path_parameter(ast, e->left->local);
    if (*parameter < 0) return false;
    strbuf_add(name, e->left->text.data, e->left->text.length);
    strbuf_char(name, '.');
  } else if (e->kind == AST_FIELD) {
    if (!path_of(ast, e->left, name, parameter)) return false;
    strbuf_char(name, '.');
  } else {
    return false;
  }
  strbuf_add(name, e->text.data, e->text.length);
  return true;
}

typedef struct Collector {
  Scratch *scratch;
  const Ast *ast; /* whose parameters are roots of paths; NULL: none */
  int function;
  SemaPaths paths;
  Map met; /* by name, with "=" before a parameter's */
} Collector;

static void collect_block(Collector *c, const AstBlock *block);
static void collect_function(Collector *c, const AstFunction *function);

static bool add_path(Collector *c, const AstExpr *e) {
  StrBuf key;
  int parameter;
  strbuf_init(&key, c->scratch);
  strbuf_char(&key, '=');
  if (!path_of(c->ast, e, &key, &parameter)) return false;
  Str marked = str_of(strbuf_end(&key)), name = {marked.data + 1, marked.length - 1};
  if (parameter < 0) marked = name;
  if (map_find(&c->met, marked)) return true;
  SemaPath path = {.name = name,
                   .pos = e->pos,
                   .is_parameter_path = parameter >= 0,
                   .parameter = parameter,
                   .function = c->function};
  vec_push(c->scratch, &c->paths, path);
  map_put(&c->met, marked, c);
  return true;
}

static void collect_expr(Collector *c, const AstExpr *e);

static void collect_list(Collector *c, const AstExprs *list) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i]) collect_expr(c, list->items[i]);
}

static void collect_expr(Collector *c, const AstExpr *e) {
  if (add_path(c, e)) return;
  if (e->kind == AST_FUNCTION) collect_function(c, e->function);
  if (e->left) collect_expr(c, e->left);
  if (e->right) collect_expr(c, e->right);
  if (e->third) collect_expr(c, e->third);
  collect_list(c, &e->keys);
  collect_list(c, &e->list);
}

/* Scalar types need not be captured: their names are known. */
static void collect_type(Collector *c, const AstExpr *annotation) {
  Type type;
  if (!annotation || (annotation->kind == AST_GLOBAL && type_parse_any(annotation->text, &type)))
    return;
  if (annotation->kind == AST_CALL) {
    collect_type(c, annotation->left);
    for (int i = 0; i < annotation->list.count; i++) collect_type(c, annotation->list.items[i]);
  } else {
    collect_expr(c, annotation);
  }
}

static void collect_stmt(Collector *c, const AstStmt *stmt) {
  if (stmt->kind == AST_STMT_FUNCTION) return;
  if (stmt->kind == AST_STMT_LOCAL_FUNCTION) collect_function(c, stmt->function);
  for (int i = 0; i < stmt->locals.count; i++) collect_type(c, stmt->locals.items[i]->annotation);
  collect_list(c, &stmt->targets);
  if (stmt->kind != AST_STMT_IF) {
    if (stmt->kind != AST_STMT_REPEAT) collect_list(c, &stmt->values);
    for (int i = 0; i < stmt->bodies.count; i++) collect_block(c, &stmt->bodies.items[i]);
    if (stmt->kind == AST_STMT_REPEAT) collect_list(c, &stmt->values);
    return;
  }
  for (int i = 0; i < stmt->bodies.count; i++) {
    if (i < stmt->values.count) collect_expr(c, stmt->values.items[i]);
    collect_block(c, &stmt->bodies.items[i]);
  }
}

static void collect_block(Collector *c, const AstBlock *block) {
  for (int i = 0; i < block->count; i++) collect_stmt(c, block->items[i]);
}

static void collect_function(Collector *c, const AstFunction *function) {
  for (int i = 0; i < function->parameters.count; i++)
    collect_type(c, function->parameters.items[i]->annotation);
  for (int i = 0; i < function->results.count; i++) collect_type(c, function->results.items[i]);
  collect_block(c, &function->body);
}

static void collect_text(Collector *c, const Ast *ast) {
  collect_function(c, ast->function);
  for (int i = 0; i < ast->helpers.count; i++)
    if (ast->helpers.items[i]->function) collect_function(c, ast->helpers.items[i]->function);
}

SemaPaths sema_paths(Scratch *scratch, const Ast *ast) {
  Collector c = {.scratch = scratch, .ast = ast};
  map_init(&c.met, scratch);
  collect_text(&c, ast);
  return c.paths;
}

SemaPaths sema_function_paths(Scratch *scratch, const Ast *ast, int function) {
  Collector c = {.scratch = scratch, .function = function};
  map_init(&c.met, scratch);
  collect_text(&c, ast);
  return c.paths;
}

/* -- those of this launch ---------------------------------------------------------------------- */

static Str path_key(Resolve *r, const SemaPath *path) {
  const char *mark = path->is_parameter_path ? "="
                     : path->function        ? scratch_format(r->scratch, "%d:", path->function)
                                             : "";
  return str_of(scratch_format(r->scratch, "%s%.*s", mark, path->name.length, path->name.data));
}

int path_find(Resolve *r, const SemaPath *path) {
  return (int)(uintptr_t)map_find(&r->path_number, path_key(r, path)) - 1;
}

void path_request(Resolve *r, SemaPath path) {
  if (!r->input->requests || r->s->failed || map_find(&r->wanted, path_key(r, &path))) return;
  map_put(&r->wanted, path_key(r, &path), r);
  vec_push(r->scratch, &r->input->requests->paths, path);
}

void path_number_all(Resolve *r) {
  map_init(&r->path_number, r->scratch);
  for (int i = 0; i < r->input->paths->count; i++) {
    Str key = path_key(r, &r->input->paths->items[i]);
    map_put(&r->path_number, key, (void *)(uintptr_t)(i + 1));
  }
}
