/* stmt.c - statements: what may be declared, assigned, left and returned, and where.
 * A local of the host region that a parallel loop assigns is a reduction there. Such locals are marked before the
 * loop's body is read, so that a use above the assignment is found too. */
#include "resolve/resolve.h"

static const char *name_of(Sema *s, Local *local) { return sema_text(s, local->name); }

/* -- declarations ---------------------------------------------------------------------------------------- */

void resolve_declare(Sema *s, Local *local) {
  local->loop = s->loop;
  local->is_seen = true;
  if (!local->annotation) return;
  local->is_annotated = local->has_shape = true;
  local->type = resolve_type(s, local->annotation, &local->shape);
}

static bool may_be_alias(const Entity *entity) {
  switch (entity->kind) {
  case ENTITY_FIELD: case ENTITY_NODE: case ENTITY_SHAPE: case ENTITY_TYPE: case ENTITY_BUILTIN:
  case ENTITY_FUNCTION: case ENTITY_TABLE: return true;
  default: return false;
  }
}

static void declare_alias(Sema *s, Local *local, Expr *value, Entity entity) {
  if (local->annotation) {
    sema_fail(s, value, RG_ERROR_TYPE_MISMATCH, NULL, "'%s' is declared %s, but this is no number", name_of(s, local),
              sema_written(s, local->annotation));
    return;
  }
  if (local->is_assigned) {
    sema_fail(s, value, RG_ERROR_UNSUPPORTED, "declare another local for the other one",
              "'%s' stands for a part of a field or for a name, so it cannot be assigned again", name_of(s, local));
    return;
  }
  local->is_alias = true;
  local->alias = entity;
}

/* The first value that a variable is given settles its shape. */
bool resolve_give_shape(Sema *s, Local *local, Expr *value) {
  if (s->failed) return false;
  if (local->has_shape)
    return shape_check_given(s, value, local->shape, scratch_format(s->scratch, "'%s'", name_of(s, local)));
  local->has_shape = true;
  local->shape = shape_of(value);
  return true;
}

/* A local that changes, or whose type is written, holds what it is given: `local n = x.shape`. */
static bool is_number(Sema *s, Local *ast) { return local_is_variable(ast) || ast->annotation; }

/* Values come first: they do not see the new names. */
void resolve_declaration(Sema *s, Stmt *stmt) {
  VEC(Entity) entities = {0};
  for (int i = 0; i < stmt->values.count && !s->failed; i++) {
    Entity entity = resolve_expr(s, stmt->values.items[i]);
    if (entity.kind == ENTITY_SHAPE && i < stmt->locals.count && is_number(s, stmt->locals.items[i]) && resolve_value(s, stmt->values.items[i]))
      entity = stmt->values.items[i]->entity;
    bool is_alias = may_be_alias(&entity) && i < stmt->locals.count;
    if (!is_alias) resolve_value(s, stmt->values.items[i]);
    vec_push(s->scratch, &entities, entity);
  }
  resolve_spread(s, &stmt->values, stmt->locals.count);
  for (int i = entities.count; i < stmt->values.count; i++) vec_push(s->scratch, &entities, stmt->values.items[i]->entity);
  for (int i = 0; i < stmt->locals.count && !s->failed; i++) {
    Local *ast = stmt->locals.items[i];
    resolve_declare(s, ast);
    if (i >= entities.count) continue;
    if (may_be_alias(&entities.items[i])) declare_alias(s, ast, stmt->values.items[i], entities.items[i]);
    else if (resolve_give_shape(s, ast, stmt->values.items[i]) && !local_is_variable(ast))
      ast->initial = stmt->values.items[i];
  }
}

/* -- assignments ----------------------------------------------------------------------------------------- */

static bool is_reduction(Sema *s, const Expr *target) {
  return s->loop && target->kind == AST_LOCAL && target->local && target->local->loop == 0;
}

static bool may_reduce(IrUpdate op) {
  switch (op) {
  case IR_UPDATE_ADD:
  case IR_UPDATE_SUB:
  case IR_UPDATE_MUL:
  case IR_UPDATE_MIN:
  case IR_UPDATE_MAX:
  case IR_UPDATE_BAND:
  case IR_UPDATE_BOR: case IR_UPDATE_BXOR:
    return true;
  default: return false;
  }
}

/* A number meets every number of the target. Products with matrices have an order, so nothing can be gathered by them.
 */
static bool check_term_shape(Sema *s, const Update *update, const Expr *term) {
  Shape to = shape_of(update->target), from = shape_of(term);
  if (update->op == IR_UPDATE_MUL && (type_is_matrix(to) || type_is_matrix(from)) &&
      !type_is_scalar(from))
    return sema_fail(s, term, RG_ERROR_REDUCTION, NULL,
                     "products of matrices depend on their order, and iterations have none");
  return type_is_scalar(from) ||
         shape_check_given(s, term, to, scratch_format(s->scratch, "'%s'", sema_source(s, update->target)));
}

static void resolve_reduction(Sema *s, Stmt *stmt) {
  Expr *target = stmt->targets.items[0];
  Local *local = target->local;
  if (local->is_poisoned) sema_poison(s);
  const char *name = name_of(s, target->local);
  Update *update = stmt->targets.count == 1 && !local->is_alias ? update_match(s, stmt) : NULL;
  if (!update) {
    sema_fail(s, target, RG_ERROR_REDUCTION,
              scratch_format(s->scratch, "write %s = %s + .., or math.max(%s, ..), or declare a local inside the loop",
                             name, name, name),
              "'%s' belongs to the whole kernel: a parallel loop can only gather into it", name);
    sema_note(s, NULL, target->local->pos, target->local->name.length, "it is declared here, outside the loop");
    return;
  }
  if (!may_reduce(update->op)) {
    sema_fail(s, target, RG_ERROR_REDUCTION, "reductions are + - * math.min math.max & | ~",
              "iterations have no order, so '%s' cannot gather by '%s'", name,
              ast_op_text(update_operator(update->op)));
    return;
  }
  IrUpdate op = update->op == IR_UPDATE_SUB ? IR_UPDATE_ADD : update->op;
  if (local->reduced_by != IR_UPDATE_COUNT && local->reduced_by != op) {
    sema_fail(s, target, RG_ERROR_REDUCTION, "use two locals", "'%s' is gathered by two operators in one loop", name);
    return;
  }
  local->reduced_by = op;
  target->entity.shape = local->shape;
  for (int i = 0; i < update->terms.count; i++)
    if (!resolve_value(s, update->terms.items[i].value) || !check_term_shape(s, update, update->terms.items[i].value))
      return;
}

static void fail_captured(Sema *s, Expr *target) {
  Entity entity = target->kind == AST_GLOBAL ? resolve_expr(s, target) : (Entity){0};
  if (entity.kind == ENTITY_FIELD)
    sema_fail(s, target, RG_ERROR_NAME_ASSIGN, scratch_format(s->scratch, "an element is written as %s[i] = ..", entity.name),
              "'%s' is a field, which cannot be assigned as a whole", entity.name);
  sema_fail(s, target, RG_ERROR_NAME_ASSIGN, "return the value, or keep it in a field of shape {}: x[0] = ..",
            "'%s' is captured, and kernels cannot assign what they capture", sema_source(s, target));
}

static void fail_alias(Sema *s, Expr *target) {
  sema_fail(s, target, RG_ERROR_NAME_ASSIGN, NULL, "'%s' is not a number here, so it cannot be assigned",
            sema_text(s, target->text));
}

/* Numbers of an element or of a variable; each once. */
static void resolve_part_target(Sema *s, Expr *target, const Entity *part) {
  const Expr *root = shape_root(target);
  EntityKind kind = root->entity.kind;
  bool is_loop_variable = root->kind == AST_LOCAL && root->local->is_loop_variable;
  if (kind != ENTITY_ELEMENT && root->kind != AST_LOCAL) {
    sema_fail(s, target, RG_ERROR_NAME_ASSIGN, "assign to a local or to an element of a field",
              "'%s' cannot be assigned", sema_source(s, target));
  } else if (is_loop_variable || (root->kind == AST_LOCAL && root->local->is_const)) {
    sema_fail(s, target, RG_ERROR_NAME_ASSIGN, "declare a local for the new value", "'%s' does not change",
              name_of(s, root->local));
  } else if (root->kind == AST_LOCAL && s->loop && root->local->loop == 0) {
    sema_fail(s, target, RG_ERROR_REDUCTION,
              scratch_format(s->scratch, "gather whole values: %s = %s + ..", name_of(s, root->local),
                             name_of(s, root->local)),
              "'%s' belongs to the whole kernel: a parallel loop can only gather into it", name_of(s, root->local));
  }
  for (int i = 0; i < part->parts.count; i++)
    for (int k = 0; k < i; k++)
      if (part->parts.at[i] == part->parts.at[k])
        sema_fail(s, target, RG_ERROR_NAME_ASSIGN, NULL, "'%s' names a component twice", sema_source(s, target));
}

static void resolve_target(Sema *s, Expr *target) {
  bool is_field = target->kind == AST_FIELD && sema_strip(target->left)->kind != AST_GLOBAL &&
                  resolve_expr(s, target).kind == ENTITY_PART;
  if (target->kind == AST_GLOBAL || (target->kind == AST_FIELD && !is_field)) {
    fail_captured(s, target);
  } else if (target->kind == AST_LOCAL) {
    const Local *local = target->local;
    if (local && local->is_poisoned) sema_poison(s);
    if (!local || local->is_alias) fail_alias(s, target);
    else target->entity = (Entity){.kind = ENTITY_VALUE, .shape = local->shape};
  } else {
    Entity entity = resolve_expr(s, target);
    if (entity.kind == ENTITY_CONSTANT)
      sema_fail(s, target, RG_ERROR_NAME_ASSIGN, NULL, "a shape cannot be assigned");
    else if (entity.kind == ENTITY_PART)
      resolve_part_target(s, target, &entity);
    else if (entity.kind != ENTITY_ELEMENT && resolve_value(s, target))
      fail_captured(s, target);
  }
}

/* `m *= a` of a matrix, which is no product number by number, becomes `m = m * a`. */
static void write_product(Sema *s, Stmt *stmt) {
  Expr *target = stmt->targets.items[0], *value = stmt->values.items[0];
  if (!sema_is_same(target, target)) {
    sema_fail(s, target, RG_ERROR_UNSUPPORTED, "keep the index in a local first",
              "what '*=' multiplies by a matrix is read and written, and this calls a function");
    return;
  }
  Expr *product = scratch_new(s->scratch, Expr);
  *product = (Expr){.kind = AST_BINARY, .op = AST_MUL, .pos = target->pos, .width = target->width, .ast = target->ast,
                    .left = build_expr(s, target->ast), .right = value};
  stmt->kind = AST_STMT_ASSIGN;
  stmt->values.items[0] = product;
  resolve_value(s, product);
}

static bool is_matrix_product(Sema *s, const Stmt *stmt) {
  Shape to = shape_of(stmt->targets.items[0]), from = shape_of(stmt->values.items[0]);
  return stmt->kind == AST_STMT_COMPOUND && stmt->op == AST_MUL && !type_is_scalar(from) &&
         (type_is_matrix(to) || type_is_matrix(from));
}

/* What a compound gives is `target op value`: one number meets all. */
static void resolve_given(Sema *s, Stmt *stmt, int k) {
  if (is_matrix_product(s, stmt)) write_product(s, stmt);
  Expr *target = stmt->targets.items[k], *value = stmt->values.items[k];
  Shape to = shape_of(target), from = shape_of(value);
  if (stmt->kind == AST_STMT_COMPOUND)
    (void)(type_is_scalar(from) ||
           shape_check_given(s, value, to, scratch_format(s->scratch, "'%s'", sema_source(s, target))));
  else if (target->kind == AST_LOCAL)
    resolve_give_shape(s, target->local, value);
  else
    shape_check_given(s, value, to, scratch_format(s->scratch, "'%s'", sema_source(s, target)));
}

static void resolve_assignment(Sema *s, Stmt *stmt) {
  for (int i = 0; i < stmt->targets.count; i++) {
    if (!is_reduction(s, stmt->targets.items[i])) continue;
    if (i == 0) resolve_reduction(s, stmt);
    else
      sema_fail(s, stmt->targets.items[i], RG_ERROR_REDUCTION, "give it a statement of its own",
                "'%s' belongs to the whole kernel: a parallel loop can only gather into it",
                name_of(s, stmt->targets.items[i]->local));
    return;
  }
  for (int i = 0; i < stmt->targets.count; i++) resolve_target(s, stmt->targets.items[i]);
  for (int i = 0; i < stmt->values.count; i++) resolve_value(s, stmt->values.items[i]);
  resolve_spread(s, &stmt->values, stmt->targets.count);
  for (int i = 0; i < stmt->values.count && i < stmt->targets.count && !s->failed; i++) resolve_given(s, stmt, i);
  if (stmt->targets.count > stmt->values.count)
    sema_fail(s, stmt->targets.items[stmt->values.count], RG_ERROR_CALL_COUNT, NULL, "there is no value for '%s'",
              sema_source(s, stmt->targets.items[stmt->values.count]));
  if (!s->failed && s->loop && shape_root(stmt->targets.items[0])->entity.kind == ENTITY_ELEMENT)
    update_match(s, stmt);
}

/* -- loops ----------------------------------------------------------------------------------------------- */

static void mark_reductions(Sema *s, const AstBlock *block, int loop) {
  for (int i = 0; i < block->count; i++) {
    const AstStmt *stmt = block->items[i];
    for (int k = 0; k < stmt->targets.count; k++) {
      const AstExpr *target = stmt->targets.items[k];
      Local *local = target->kind == AST_LOCAL ? build_find(s, target->local) : NULL;
      if (!local || !local->is_seen || local->loop != 0 || local->is_alias) continue;
      local->reduced_in = loop;
      local->reduced_by = IR_UPDATE_COUNT;
    }
    for (int k = 0; k < stmt->bodies.count; k++) mark_reductions(s, &stmt->bodies.items[k], loop);
  }
}

static void resolve_body(Sema *s, const AstStmt *ast, Stmt *stmt, bool is_parallel) {
  bool outer = s->breaks_parallel;
  int levels = s->break_levels;
  s->breaks_parallel = is_parallel;
  s->break_levels = 0;
  for (int i = 0; i < stmt->locals.count; i++) resolve_declare(s, stmt->locals.items[i]);
  resolve_block(s, &ast->bodies.items[0], &stmt->bodies.items[0]);
  s->break_levels = levels;
  s->breaks_parallel = outer;
}

static void resolve_for_in(Sema *s, const AstStmt *ast, Stmt *stmt) {
  if (unroll_loop(s, ast, stmt) && !s->failed) return;
  if (!s->failed) resolve_head(s, stmt);
  if (sema_recover_head(s, stmt) || !stmt->head->is_parallel) {
    resolve_body(s, ast, stmt, false);
    return;
  }
  s->loop = stmt->head->number = ++s->loop_count;
  mark_reductions(s, &ast->bodies.items[0], s->loop);
  resolve_body(s, ast, stmt, true);
  s->loop = 0;
}

static void resolve_numeric_for(Sema *s, const AstStmt *ast, Stmt *stmt) {
  for (int i = 0; i < stmt->values.count; i++) resolve_scalar(s, stmt->values.items[i]);
  double step;
  if (stmt->values.count == 3 && sema_is_constant(stmt->values.items[2], &step) && step == 0)
    sema_fail(s, stmt->values.items[2], RG_ERROR_LOOP, NULL, "the step of this loop is 0");
  sema_recover_head(s, stmt);
  resolve_body(s, ast, stmt, false);
}

/* -- ways out -------------------------------------------------------------------------------------------- */

enum { MOST_RESULTS = 200 }; /* a Lua function has 255 registers */

static const char *count_text(Sema *s, int count) {
  return count == 0 ? "no value" : count == 1 ? "one value" : scratch_format(s->scratch, "%d values", count);
}

/* As many everywhere as the first has, or the declaration says. */
static void check_result_count(Sema *s, Stmt *stmt) {
  int given = stmt->values.count, count = s->results.count;
  if (given == count || s->failed) return;
  if (s->has_result_types)
    sema_fail_pos(s, stmt->pos, stmt->width, RG_ERROR_RETURN, NULL,
                  "this 'return' has %s, and the kernel is declared to return %s", count_text(s, given),
                  count_text(s, count));
  if (!s->has_result_types) {
    sema_fail_pos(s, stmt->pos, stmt->width, RG_ERROR_RETURN, "return as many values everywhere, or none anywhere",
                  "this 'return' has %s, and that of line %d has %s", count_text(s, given),
                  s->first_return->pos.line, count_text(s, count));
    sema_note(s, NULL, s->first_return->pos, s->first_return->width, "it is here");
  }
}

static void resolve_return(Sema *s, Stmt *stmt) {
  if (s->frame) {
    resolve_inline_return(s, stmt);
    return;
  }
  if (s->loop) {
    sema_fail_pos(s, stmt->pos, stmt->width, RG_ERROR_RETURN, "'continue' ends one iteration",
                  "a parallel loop cannot be left by 'return'");
    return;
  }
  for (int i = 0; i < stmt->values.count; i++) resolve_value(s, stmt->values.items[i]);
  if (s->failed) return;
  resolve_spread(s, &stmt->values, INT32_MAX);
  if (stmt->values.count > MOST_RESULTS)
    sema_fail(s, stmt->values.items[MOST_RESULTS], RG_ERROR_UNSUPPORTED, "keep the others in a field",
              "a kernel returns %d values at most", MOST_RESULTS);
  if (!s->first_return && !s->has_result_types)
    for (int i = 0; i < stmt->values.count && !s->failed; i++)
      vec_push(s->scratch, &s->results, (Result){.shape = shape_of(stmt->values.items[i])});
  if (!s->first_return) s->first_return = stmt;
  check_result_count(s, stmt);
  for (int i = 0; i < stmt->values.count && !s->failed; i++)
    shape_check_given(s, stmt->values.items[i], s->results.items[i].shape, "the kernel's result");
}

static void resolve_break(Sema *s, Stmt *stmt) {
  stmt->levels = s->break_levels;
  if (s->breaks_parallel)
    sema_fail_pos(s, stmt->pos, stmt->width, RG_ERROR_LOOP,
                  "'continue' ends one iteration; ':serial()' behind the range makes a loop that can be left",
                  "a parallel loop cannot be left by 'break'");
}

/* -- statements ------------------------------------------------------------------------------------------ */

static void resolve_call_statement(Sema *s, Expr *call) {
  Entity entity = resolve_expr(s, call);
  if (entity.kind != ENTITY_VOID && entity.kind != ENTITY_NONE) resolve_value(s, call);
}

static void resolve_if(Sema *s, const AstStmt *ast, Stmt *stmt) {
  Arms arms = {0};
  for (int i = 0; i < ast->bodies.count; i++) vec_push(s->scratch, &arms, &ast->bodies.items[i]);
  static_arms(s, stmt, &arms);
  stmt->bodies.count = arms.count;
  for (int i = 0; i < arms.count; i++) {
    if (i < stmt->values.count) resolve_scalar(s, stmt->values.items[i]);
    sema_recover_head(s, stmt);
    resolve_block(s, arms.items[i], &stmt->bodies.items[i]);
  }
}

static void refuse(Sema *s, Stmt *stmt, const char *hint, const char *sentence) {
  sema_fail_pos(s, stmt->pos, stmt->width, RG_ERROR_UNSUPPORTED, hint, "%s", sentence);
}

static void resolve_stmt(Sema *s, const AstStmt *ast, Stmt *stmt) {
  switch (stmt->kind) {
  case AST_STMT_LOCAL: resolve_declaration(s, stmt); break;
  case AST_STMT_ASSIGN: case AST_STMT_COMPOUND: resolve_assignment(s, stmt); break;
  case AST_STMT_CALL: resolve_call_statement(s, stmt->values.items[0]); break;
  case AST_STMT_DO: resolve_block(s, &ast->bodies.items[0], &stmt->bodies.items[0]); break;
  case AST_STMT_WHILE:
    resolve_scalar(s, stmt->values.items[0]);
    sema_recover_head(s, stmt);
    resolve_body(s, ast, stmt, false);
    break;
  case AST_STMT_REPEAT:
    resolve_body(s, ast, stmt, false);
    vec_push(s->scratch, &stmt->values, build_expr(s, ast->values.items[0]));
    resolve_scalar(s, stmt->values.items[0]);
    sema_recover_head(s, stmt);
    break;
  case AST_STMT_IF: resolve_if(s, ast, stmt); break;
  case AST_STMT_FOR: resolve_numeric_for(s, ast, stmt); break;
  case AST_STMT_FOR_IN: resolve_for_in(s, ast, stmt); break;
  case AST_STMT_RETURN: resolve_return(s, stmt); break;
  case AST_STMT_BREAK: resolve_break(s, stmt); break;
  case AST_STMT_CONTINUE: break;
  case AST_STMT_FUNCTION: case AST_STMT_LOCAL_FUNCTION:
    refuse(s, stmt, "declare it before the kernel, and call it", "functions cannot be made inside a kernel");
    break;
  case AST_STMT_GOTO: case AST_STMT_LABEL:
    refuse(s, stmt, "use 'while', 'break' and 'continue'", "kernels have no goto");
    break;
  }
}

void resolve_block(Sema *s, const AstBlock *from, Block *to) {
  for (int i = 0; i < from->count; i++) {
    Stmt *stmt = build_stmt(s, from->items[i]);
    vec_push(s->scratch, to, stmt);
    resolve_stmt(s, from->items[i], stmt);
    sema_recover(s, stmt);
  }
}

static void resolve_results(Sema *s, const AstFunction *function) {
  s->has_result_types = function->results.count > 0;
  for (int i = 0; i < function->results.count && !s->failed; i++) {
    Result result = {0};
    result.ty = ty_of(resolve_type(s, function->results.items[i], &result.shape));
    vec_push(s->scratch, &s->results, result);
  }
}

static void prepare(Sema *s, const AstFunction *function) {
  s->path_live = scratch_array(s->scratch, int, s->input->paths->count + 1);
  s->parameter_live = scratch_array(s->scratch, int, function->parameters.count + 1);
  map_init(&s->wanted, s->scratch);
  map_init(&s->names, s->scratch);
  path_number_all(s);
  for (int i = 0; i < function->parameters.count; i++)
    vec_push(s->scratch, &s->parameters, build_local(s, function->parameters.items[i]));
}

void resolve_kernel(Sema *s) {
  const AstFunction *function = s->input->ast->function;
  prepare(s, function);
  if (function->has_varargs)
    sema_fail_pos(s, function->pos, 8, RG_ERROR_UNSUPPORTED, "name each parameter",
                  "kernels take no variable arguments");
  sema_recover_apart(s);
  for (int i = 0; i < function->parameters.count; i++) {
    resolve_parameter(s, i);
    if (sema_recover_apart(s)) s->parameters.items[i]->is_poisoned = true;
  }
  resolve_results(s, function);
  if (sema_recover_apart(s)) {
    s->has_result_types = false;
    s->results.count = 0;
  }
  resolve_block(s, &function->body, &s->body);
}
