/* static_run.c - interprets a function of known values at compile time: rg.static(f(3)).
 *
 * It executes the statements one by one. A name refers to a Local that holds a known value
 * (Local.known), so static_value evaluates each expression. Such Locals are in no list of the
 * kernel. The function may declare, assign, branch, loop and return; anything else is refused.
 * Decision D-resolve-01. */
#include <math.h>

#include "resolve/resolve.h"

enum { MOST_STEPS = 20000, DEEPEST = 100 };

typedef enum Flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_FAILED } Flow;

typedef struct Run {
  Resolve *r;
  Static result;
} Run;

static Flow run_block(Run *run, const AstBlock *block);

static bool evaluate(Run *run, const AstExpr *ast, Static *out, Entity *entity) {
  Expr *e = build_expr(run->r, ast);
  if (!static_value(run->r, e, out)) return false;
  *entity = sema_strip(e)->entity;
  return true;
}

/* -- names ------------------------------------------------------------------------------------- */

static void hold(Resolve *r, Local *local, const Static *value, const Entity *entity) {
  Static *kept = scratch_new(r->scratch, Static);
  *kept = *value;
  bool is_object = value->kind == STATIC_OTHER && !value->text;
  local->known = is_object ? NULL : kept;
  local->is_alias = is_object;
  local->alias = is_object ? *entity : (Entity){0};
  local->shape = value->kind == STATIC_VECTOR ? value->shape : (Shape){0};
}

static void declare(Resolve *r, const AstLocal *ast, const Static *value, const Entity *entity) {
  Local *local = scratch_new(r->scratch, Local);
  *local = (Local){
      .name = ast->name, .pos = ast->pos, .has_shape = true, .is_declared = true, .loop = r->loop};
  hold(r, local, value, entity);
  build_name(r, ast, local);
}

static Flow refuse(Resolve *r, const AstStmt *stmt) {
  sema_fail_pos(r->s, stmt->pos, stmt->width, RG_ERROR_STATIC,
                "it may declare, assign, branch, loop by 'for k = a, b' or 'while', and return",
                "a function that 'rg.static' runs cannot do this");
  return FLOW_FAILED;
}

/* -- statements -------------------------------------------------------------------------------- */

static Flow run_local(Run *run, const AstStmt *stmt) {
  Static values[8] = {0};
  Entity entities[8] = {0};
  int count = stmt->locals.count;
  if (count > 8 || stmt->values.count > count) return refuse(run->r, stmt);
  for (int i = 0; i < stmt->values.count; i++)
    if (!evaluate(run, stmt->values.items[i], &values[i], &entities[i])) return FLOW_FAILED;
  for (int i = 0; i < count; i++) declare(run->r, stmt->locals.items[i], &values[i], &entities[i]);
  return FLOW_NEXT;
}

static Flow run_assign(Run *run, const AstStmt *stmt) {
  Static values[8] = {0};
  Entity entities[8] = {0};
  int count = stmt->targets.count;
  bool fits = count <= 8 && stmt->values.count <= count;
  for (int i = 0; i < count; i++) fits &= stmt->targets.items[i]->kind == AST_LOCAL;
  if (!fits) return refuse(run->r, stmt);
  for (int i = 0; i < stmt->values.count; i++)
    if (!evaluate(run, stmt->values.items[i], &values[i], &entities[i])) return FLOW_FAILED;
  for (int i = 0; i < count; i++) {
    Local *local = build_find(run->r, stmt->targets.items[i]->local);
    if (!local) return refuse(run->r, stmt);
    hold(run->r, local, &values[i], &entities[i]);
  }
  return FLOW_NEXT;
}

static Flow run_compound(Run *run, const AstStmt *stmt) {
  AstExpr *sum = scratch_new(run->r->scratch, AstExpr);
  *sum = (AstExpr){.kind = AST_BINARY,
                   .op = stmt->op,
                   .pos = stmt->pos,
                   .width = stmt->width,
                   .left = stmt->targets.items[0],
                   .right = stmt->values.items[0]};
  AstStmt *plain = scratch_new(run->r->scratch, AstStmt);
  *plain = *stmt;
  plain->values = (AstExprs){0};
  vec_push(run->r->scratch, &plain->values, sum);
  return run_assign(run, plain);
}

/* 0 or 1; -1 on error */
static int condition(Run *run, const AstExpr *ast) {
  Static value;
  Entity entity;
  return evaluate(run, ast, &value, &entity) ? static_is_true(&value) : -1;
}

static Flow run_if(Run *run, const AstStmt *stmt) {
  for (int i = 0; i < stmt->bodies.count; i++) {
    int holds = i < stmt->values.count ? condition(run, stmt->values.items[i]) : 1;
    if (holds < 0) return FLOW_FAILED;
    if (holds) return run_block(run, &stmt->bodies.items[i]);
  }
  return FLOW_NEXT;
}

/* Does the loop continue? */
static bool goes_on(Flow *flow) {
  if (*flow == FLOW_NEXT || *flow == FLOW_CONTINUE) return true;
  if (*flow == FLOW_BREAK) *flow = FLOW_NEXT;
  return false;
}

static Flow run_while(Run *run, const AstStmt *stmt) {
  bool is_repeat = stmt->kind == AST_STMT_REPEAT;
  for (;;) {
    int holds = is_repeat ? 1 : condition(run, stmt->values.items[0]);
    if (holds <= 0) return holds < 0 ? FLOW_FAILED : FLOW_NEXT;
    Flow flow = run_block(run, &stmt->bodies.items[0]);
    if (!goes_on(&flow)) return flow;
    int ends = is_repeat ? condition(run, stmt->values.items[0]) : 0;
    if (ends) return ends < 0 ? FLOW_FAILED : FLOW_NEXT;
  }
}

static Flow run_for(Run *run, const AstStmt *stmt) {
  Static bounds[3] = {{0}, {0}, {.kind = STATIC_NUMBER, .number = 1}};
  Entity entity;
  for (int i = 0; i < stmt->values.count; i++) {
    if (!evaluate(run, stmt->values.items[i], &bounds[i], &entity)) return FLOW_FAILED;
    if (bounds[i].kind != STATIC_NUMBER) return refuse(run->r, stmt);
  }
  double step = bounds[2].number, last = bounds[1].number, at = bounds[0].number;
  while (step > 0 ? at <= last : at >= last) {
    Static value = {.kind = STATIC_NUMBER, .number = at};
    at += step;
    declare(run->r, stmt->locals.items[0], &value, &entity);
    Flow flow = run_block(run, &stmt->bodies.items[0]);
    if (!goes_on(&flow)) return flow;
  }
  return FLOW_NEXT;
}

static Flow run_return(Run *run, const AstStmt *stmt) {
  Entity entity;
  run->result = (Static){0};
  bool ok = !stmt->values.count || evaluate(run, stmt->values.items[0], &run->result, &entity);
  return ok ? FLOW_RETURN : FLOW_FAILED;
}

static Flow run_stmt(Run *run, const AstStmt *stmt) {
  if (++run->r->static_steps > MOST_STEPS) {
    sema_fail_pos(run->r->s, stmt->pos, stmt->width, RG_ERROR_STATIC,
                  "compute it before the kernel",
                  "this takes more than %d steps, the limit of 'rg.static'", MOST_STEPS);
    return FLOW_FAILED;
  }
  switch (stmt->kind) {
  case AST_STMT_LOCAL: return run_local(run, stmt);
  case AST_STMT_ASSIGN: return run_assign(run, stmt);
  case AST_STMT_COMPOUND: return run_compound(run, stmt);
  case AST_STMT_DO: return run_block(run, &stmt->bodies.items[0]);
  case AST_STMT_WHILE:
  case AST_STMT_REPEAT: return run_while(run, stmt);
  case AST_STMT_IF: return run_if(run, stmt);
  case AST_STMT_FOR: return run_for(run, stmt);
  case AST_STMT_RETURN: return run_return(run, stmt);
  case AST_STMT_BREAK: return FLOW_BREAK;
  case AST_STMT_CONTINUE: return FLOW_CONTINUE;
  default: return refuse(run->r, stmt);
  }
}

static Flow run_block(Run *run, const AstBlock *block) {
  for (int i = 0; i < block->count; i++) {
    Flow flow = run_stmt(run, block->items[i]);
    if (flow != FLOW_NEXT) return flow;
  }
  return FLOW_NEXT;
}

/* -- calls ------------------------------------------------------------------------------------- */

/* Evaluates arguments in the caller and binds them to the function's parameters. */
static bool give_arguments(Resolve *r, Expr *e, Inline *in) {
  const AstFunction *function = in->function;
  for (int i = 0; i < function->parameters.count; i++) {
    Static value = {0};
    Entity entity = {0};
    r->s->frame = in->outer;
    if (i < e->list.count && !static_value(r, e->list.items[i], &value)) return false;
    if (i < e->list.count) entity = sema_strip(e->list.items[i])->entity;
    r->s->frame = in;
    declare(r, function->parameters.items[i], &value, &entity);
  }
  r->s->frame = in;
  return true;
}

static bool check_call(Resolve *r, Expr *e, const Entity *callee) {
  const AstFunction *function = callee->function.text;
  int deep = 0;
  for (const Inline *in = r->s->frame; in; in = in->outer) deep++;
  if (function->has_varargs || e->list.count > function->parameters.count)
    return static_fail(r, e, "the function takes fewer arguments, or any number of them");
  return deep < DEEPEST || sema_fail(r->s, e, RG_ERROR_STATIC, "compute it before the kernel",
                                     "'%s' is nested in %d calls here, the limit of 'rg.static'",
                                     callee->name, DEEPEST);
}

bool static_run(Resolve *r, Expr *e, const Entity *callee, Static *out) {
  if (!callee->function.text) return resolve_request_function(r, e, callee);
  if (!check_call(r, e, callee)) return false;
  int expr_count = r->expr_count, steps = r->static_steps;
  Inline *outer = r->s->frame, *in = scratch_new(r->scratch, Inline);
  *in = (Inline){.outer = outer,
                 .function = callee->function.text,
                 .source = callee->function.source_text,
                 .number = callee->function.number,
                 .name = callee->name,
                 .loop = r->loop,
                 .is_static = true,
                 .call = e};
  map_init(&in->names, r->scratch);
  Run run = {.r = r};
  bool ok = give_arguments(r, e, in) && run_block(&run, &in->function->body) != FLOW_FAILED;
  r->s->frame = outer;
  r->expr_count = expr_count;
  if (!outer || !outer->is_static) r->static_steps = steps;
  *out = run.result;
  return ok && !r->s->failed;
}
