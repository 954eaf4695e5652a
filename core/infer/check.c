/* check.c - statements: conditions are booleans, values fit what they are assigned to; locals and
 * arguments get types. */
#include "infer/infer.h"

/* -- assignments ------------------------------------------------------------------------------- */

void check_assigned(Sema *s, Local *local, Expr *value) {
  if (local->is_alias) check_object(s, value);
  else
    check_store(s, value, local->type, NULL,
                scratch_format(s->scratch, "'%s'", sema_text(s, local->name)));
}

static void check_declaration(Sema *s, Stmt *stmt) {
  for (int i = 0; i < stmt->values.count; i++) {
    if (i < stmt->locals.count) check_assigned(s, stmt->locals.items[i], stmt->values.items[i]);
    else check_expr(s, stmt->values.items[i], TYPE(NONE));
  }
}

/* The name of an assigned element or local in a message. */
static const char *target_name(Sema *s, Expr *target) {
  const Expr *root = shape_root(target);
  bool is_of_struct = type_is_struct(shape_of(root)) && root != sema_strip(target);
  if (is_of_struct) return scratch_format(s->scratch, "'%s'", sema_source(s, target));
  if (root->entity.kind == ENTITY_ITEM)
    return scratch_format(s->scratch, "an element of '%s'",
                          sema_source(s, array_of_item((Expr *)root)));
  return root->kind == AST_LOCAL
             ? scratch_format(s->scratch, "'%s'", sema_text(s, root->local->name))
             : scratch_format(s->scratch, "an element of '%s'", root->entity.name);
}

static void check_assign(Sema *s, Stmt *stmt) {
  for (int i = 0; i < stmt->targets.count; i++) {
    Expr *target = stmt->targets.items[i];
    if (target->kind != AST_LOCAL) check_expr(s, target, TYPE(NONE));
    check_store(s, stmt->values.items[i], shape_base(target), &shape_root(target)->entity,
                target_name(s, target));
  }
  for (int i = stmt->targets.count; i < stmt->values.count; i++)
    check_expr(s, stmt->values.items[i], TYPE(NONE));
}

/* A compound that is not an update: target = target op value. By inference the local's type holds
 * the result. */
static void check_compound(Sema *s, Stmt *stmt) {
  Expr *target = stmt->targets.items[0];
  Update update = {.target = target};
  check_expr(s, target, TYPE(NONE));
  for (IrUpdate op = 0; op < IR_UPDATE_COUNT; op++)
    if (update_operator(op) == stmt->op) update.op = op;
  vec_push(s->scratch, &update.terms, ((UpdateTerm){stmt->values.items[0], false}));
  check_update(s, &update, shape_base(target));
}

static void check_assignment(Sema *s, Stmt *stmt) {
  Update *update = stmt->update;
  if (!update) {
    if (stmt->kind == AST_STMT_COMPOUND) check_compound(s, stmt);
    else check_assign(s, stmt);
    return;
  }
  if (update->target->kind != AST_LOCAL) check_expr(s, update->target, TYPE(NONE));
  check_update(s, update, shape_base(update->target));
}

/* -- loops ------------------------------------------------------------------------------------- */

static void check_numeric_for(Sema *s, Stmt *stmt) {
  Exprs *values = &stmt->values;
  PartialType ty = ty_of_for(s, stmt);
  for (int i = 0; i < values->count; i++) {
    if (!check_number(s, values->items[i], "a loop")) break;
    Type type = i == 2 ? ty_of_step(ty) : ty.type;
    check_expr(s, values->items[i],
               ty_is_float(values->items[i]->ty) && ty.kind == TY_INT ? TYPE(NONE) : type);
  }
  sema_recover(s, stmt);
  check_block(s, &stmt->bodies.items[0]);
}

/* A whole number written as a float is accepted; others are tested at run time. */
static bool check_bound(Sema *s, Expr *bound, Type index) {
  double value;
  if (!check_number(s, bound, "a range")) return false;
  if (!ty_is_float(bound->ty)) return check_expr(s, bound, index);
  if (!sema_is_constant(bound, &value)) return check_expr(s, bound, TYPE(NONE));
  return type_holds_number(index, value) ||
         sema_fail(s, bound, RG_ERROR_VALUE_FIT, NULL,
                   "a bound of a range must be an integer, but this is %s", sema_source(s, bound));
}

static void check_for_in(Sema *s, Stmt *stmt) {
  LoopHead *head = stmt->head;
  for (int i = 0; i < head->bounds.count && !s->failed; i++)
    if (head->bounds.items[i]) check_bound(s, head->bounds.items[i], head->index);
  if (head->items && !s->failed) check_method(s, head->items);
  for (int i = 0; i < (head->items ? 1 : stmt->locals.count) && !s->failed; i++) {
    Local *ast = stmt->locals.items[i];
    if (type_is_bool(ast->type))
      sema_fail_pos(s, ast->pos, ast->name.length, RG_ERROR_TYPE_MISMATCH, NULL,
                    "'%s' is a loop index, so it cannot be a bool", sema_text(s, ast->name));
  }
  sema_recover(s, stmt);
  check_block(s, &stmt->bodies.items[0]);
}

/* -- statements -------------------------------------------------------------------------------- */

static void check_return(Sema *s, Stmt *stmt) {
  if (stmt->returns_from) {
    check_inline_return(s, stmt);
    return;
  }
  for (int i = 0; i < stmt->values.count; i++)
    check_store(s, stmt->values.items[i], ty_default_type(s, s->results.items[i].ty), NULL,
                "the kernel's result");
}

static void check_conditional(Sema *s, Block *block) {
  s->conditions++;
  check_block(s, block);
  s->conditions--;
}

static void check_if(Sema *s, Stmt *stmt) {
  for (int i = 0; i < stmt->bodies.count; i++) {
    if (i < stmt->values.count) check_condition(s, stmt->values.items[i]);
    sema_recover(s, stmt);
    check_conditional(s, &stmt->bodies.items[i]);
  }
}

static void check_bodies(Sema *s, Stmt *stmt) {
  for (int i = 0; i < stmt->bodies.count; i++) check_block(s, &stmt->bodies.items[i]);
}

static void check_stmt(Sema *s, Stmt *stmt) {
  bool leaves = stmt->kind == AST_STMT_RETURN || stmt->kind == AST_STMT_BREAK ||
                stmt->kind == AST_STMT_CONTINUE || stmt->kind == AST_STMT_GOTO;
  s->may_skip |= leaves && s->conditions > 0;
  switch (stmt->kind) {
  case AST_STMT_LOCAL: check_declaration(s, stmt); break;
  case AST_STMT_ASSIGN:
  case AST_STMT_COMPOUND: check_assignment(s, stmt); break;
  case AST_STMT_CALL: check_expr(s, stmt->values.items[0], TYPE(NONE)); break;
  case AST_STMT_DO: check_block(s, &stmt->bodies.items[0]); break;
  case AST_STMT_WHILE:
    check_condition(s, stmt->values.items[0]);
    sema_recover(s, stmt);
    check_conditional(s, &stmt->bodies.items[0]);
    break;
  case AST_STMT_REPEAT:
    check_block(s, &stmt->bodies.items[0]);
    check_condition(s, stmt->values.items[0]);
    break;
  case AST_STMT_IF: check_if(s, stmt); break;
  case AST_STMT_FOR: check_numeric_for(s, stmt); break;
  case AST_STMT_FOR_IN: check_for_in(s, stmt); break;
  case AST_STMT_RETURN: check_return(s, stmt); break;
  default: break;
  }
}

void check_block(Sema *s, Block *block) {
  for (int i = 0; i < block->count; i++) {
    Stmt *stmt = block->items[i];
    if (stmt->is_head_broken) check_bodies(s, stmt);
    if (stmt->is_broken) continue;
    check_stmt(s, stmt);
    sema_recover(s, stmt);
  }
}

/* -- the kernel -------------------------------------------------------------------------------- */

static void complete_locals(Sema *s) {
  for (int i = 0; i < s->locals.count; i++) {
    Local *local = s->locals.items[i];
    if (!local->is_annotated) local->type = ty_default_type(s, local->ty);
  }
}

/* An assigned parameter has one use, of the variable's type. */
static void note_parameters(Sema *s) {
  for (int i = 0; i < s->parameters.count; i++) {
    const Local *local = s->parameters.items[i];
    if (s->parameter_launch_arg[i] && !local->is_alias && type_is_float(local->type))
      s->launch_args.items[s->parameter_launch_arg[i] - 1].type = local->type;
  }
}

static void complete_arguments(Sema *s) {
  for (int i = 0; i < s->launch_args.count; i++) {
    LaunchArg *launch_arg = &s->launch_args.items[i];
    if (launch_arg->ty.kind == TY_INT && launch_arg->reason.is_guess)
      vec_push(s->scratch, &s->output->guesses, launch_arg->source);
    bool is_stored = launch_arg->stores.count && launch_arg->stores.count == launch_arg->use_count;
    for (int k = 0; is_stored && k < launch_arg->stores.count; k++)
      launch_arg->stores.items[k]->type = launch_arg->stored;
    if (is_stored) launch_arg->type = launch_arg->stored;
    else if (launch_arg->ty.kind != TY_FLEXIBLE) launch_arg->type = launch_arg->ty.type;
    else if (type_is_none(launch_arg->type)) launch_arg->type = s->default_float;
  }
}

void check_kernel(Sema *s) {
  complete_locals(s);
  note_parameters(s);
  check_block(s, &s->body);
  check_functions(s);
  complete_arguments(s);
}
