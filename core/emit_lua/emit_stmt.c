/* emit_stmt.c - statements, each on its own line of the user's file. An exit ends a Lua block, so it stands in one of
 * its own: `do return x end`. Names that begin with _rg are the chunk's; a user's name that does, or that a block around
 * has already, gets its number behind it. */
#include "emit_lua/emit.h"

/* A function stands where it is called. */
void emit_line(Emit *e, Pos pos) {
  if (e->frame) return;
  for (; e->line < pos.line; e->line++) emit_text(e, "\n");
}

/* -- names ----------------------------------------------------------------------------------------------- */

static bool is_taken(Emit *e, const char *name) {
  if (!strncmp(name, "_rg", 3) || !strcmp(name, "goto")) return true;
  for (int i = 0; i < e->visible.count; i++)
    if (!strcmp(e->visible.items[i], name)) return true;
  return false;
}

const char *emit_declare(Emit *e, const AstLocal *local) {
  const char *name = scratch_copy_text(e->scratch, local->name.data, (size_t)local->name.length);
  if (is_taken(e, name)) name = scratch_format(e->scratch, "%s__%d", name, local->id);
  vec_push(e->scratch, &e->visible, name);
  return e->names[local->id] = name;
}

/* -- declarations ---------------------------------------------------------------------------------------- */

static void emit_view(Emit *e, AstExpr *value, const Local *local) {
  emit_text(e, "{0");
  emit_indices(e, value, local->alias.node->rank);
  emit_text(e, "}");
}

/* Is it a quotient of integers, that math.floor of the local will want? */
static bool is_quotient(Emit *e, const AstLocal *ast, AstExpr *value) {
  const Local *local = local_of(e->s, ast);
  return local->initial == value && !local->is_annotated && infer_quotient(e->s, value) == sema_strip(value);
}

void emit_given(Emit *e, const AstLocal *ast, AstExpr *value) {
  const Local *local = local_of(e->s, ast);
  if (local->is_alias && local->alias.kind == ENTITY_FIELD) {
    emit_view(e, value, local);
  } else if (local->is_alias || type_is_none(local->type)) {
    emit_text(e, "nil");
  } else if (is_quotient(e, ast, value)) {
    Type type = ty_alone(e->s, infer_quotient_type(e->s, sema_strip(value)));
    emit_format(e, "_rg.div_%s(", type_text(local->type));
    emit_conversion(e, type, local->type);
    emit_format(e, "_rg_q%d[1]), ", ast->id);
    emit_conversion(e, type, local->type);
    emit_format(e, "_rg_q%d[2]))", ast->id);
  } else {
    emit_as(e, value, local->type);
  }
}

/* The integers of quotients, computed before anything is bound. */
static void emit_quotients(Emit *e, AstStmt *stmt) {
  for (int i = 0; i < stmt->values.count && i < stmt->locals.count; i++) {
    AstExpr *value = stmt->values.items[i];
    if (!is_quotient(e, stmt->locals.items[i], value)) continue;
    emit_format(e, "local _rg_q%d = {", stmt->locals.items[i]->id);
    emit_quotient(e, value, ty_alone(e->s, infer_quotient_type(e->s, sema_strip(value))));
    emit_text(e, "}; ");
  }
}

static void emit_declaration(Emit *e, AstStmt *stmt) {
  emit_quotients(e, stmt);
  StrBuf before = e->out; /* the values do not see the names, and names stand first */
  strbuf_init(&e->out, e->scratch);
  int count = stmt->locals.count > stmt->values.count ? stmt->locals.count : stmt->values.count;
  for (int i = 0; i < count; i++) {
    if (i) emit_text(e, ", ");
    if (i >= stmt->locals.count) emit_expr(e, stmt->values.items[i]);
    else if (i < stmt->values.count) emit_given(e, stmt->locals.items[i], stmt->values.items[i]);
    else emit_zero(e, local_of(e->s, stmt->locals.items[i])->type);
  }
  StrBuf text = e->out;
  e->out = before;
  for (int i = 0; i < stmt->locals.count; i++)
    emit_format(e, "%s%s", i ? ", " : "local ", emit_declare(e, stmt->locals.items[i]));
  emit_format(e, " = %s", strbuf_end(&text));
}

/* -- updates --------------------------------------------------------------------------------------------- */

static int first_positive(const Update *update) {
  for (int i = 0; i < update->terms.count; i++)
    if (!update->terms.items[i].is_negative) return i;
  return -1;
}

/* All terms in one value, from the first that is not subtracted on; where all are, `- a - b`, it is a + b and the
 * operator becomes SUB. */
static void emit_terms(Emit *e, const Update *update, Type type) {
  int count = update->terms.count, start = first_positive(update), first = start < 0 ? 0 : start;
  const char *name = type_text(type);
  for (int i = count - 1; i >= 0; i--) {
    if (i == first) continue;
    bool subtracts = update->terms.items[i].is_negative && start >= 0;
    emit_format(e, "_rg.%s_%s(", update->op == IR_UPDATE_MUL ? "mul" : subtracts ? "sub" : "add", name);
  }
  emit_as(e, update->terms.items[first].value, type);
  for (int i = 0; i < count; i++) {
    if (i == first) continue;
    emit_text(e, ", ");
    emit_as(e, update->terms.items[i].value, type);
    emit_text(e, ")");
  }
}

static void emit_update(Emit *e, const Update *update) {
  AstExpr *target = update->target;
  bool is_local = target->kind == AST_LOCAL;
  const Entity *entity = entity_of(e->s, target);
  Type type = is_local ? local_of(e->s, target->local)->type : entity->type;
  bool all_negative = update->terms.items[0].is_negative && first_positive(update) < 0;
  const char *op = ir_update_text(all_negative ? IR_UPDATE_SUB : update->op);
  if (is_local) {
    const char *name = e->names[target->local->id];
    emit_format(e, "%s = _rg.%s_%s(%s, ", name, op, type_text(type), name);
  } else {
    emit_on(e, entity->source, "update");
    emit_format(e, ", _rg.%s_%s, ", op, type_text(type));
  }
  emit_terms(e, update, type);
  if (!is_local) emit_indices(e, target, entity->node->rank);
  emit_text(e, ")");
}

/* -- plain assignments ----------------------------------------------------------------------------------- */

static Type target_type(Emit *e, const AstExpr *target) {
  return target->kind == AST_LOCAL ? local_of(e->s, target->local)->type : entity_of(e->s, target)->type;
}

/* `local _rg_t0 = {0, i, j}; `: indices are computed before anything is assigned. */
static void emit_place(Emit *e, AstExpr *target, int number) {
  if (target->kind == AST_LOCAL) return;
  emit_format(e, "local _rg_t%d = {0", number);
  emit_indices(e, target, entity_of(e->s, target)->node->rank);
  emit_text(e, "}; ");
}

static void emit_place_indices(Emit *e, AstExpr *target, int number) {
  for (int k = 0; k < entity_of(e->s, target)->node->rank; k++) emit_format(e, ", _rg_t%d[%d]", number, k + 2);
}

static void emit_set(Emit *e, AstExpr *target, int number, const char *value) {
  if (target->kind == AST_LOCAL) {
    emit_format(e, "%s = %s; ", e->names[target->local->id], value);
    return;
  }
  emit_on(e, entity_of(e->s, target)->source, "set");
  emit_format(e, ", %s", value);
  emit_place_indices(e, target, number);
  emit_text(e, "); ");
}

/* All values, then all places, then the assignments: `a, b = b, a`. */
static void emit_many(Emit *e, AstStmt *stmt) {
  emit_text(e, "do local _rg_v0");
  for (int i = 1; i < stmt->values.count; i++) emit_format(e, ", _rg_v%d", i);
  for (int i = 0; i < stmt->values.count; i++) {
    emit_text(e, i ? ", " : " = ");
    if (i < stmt->targets.count) emit_as(e, stmt->values.items[i], target_type(e, stmt->targets.items[i]));
    else emit_expr(e, stmt->values.items[i]);
  }
  emit_text(e, "; ");
  for (int i = 0; i < stmt->targets.count; i++) emit_place(e, stmt->targets.items[i], i);
  for (int i = 0; i < stmt->targets.count; i++)
    emit_set(e, stmt->targets.items[i], i, scratch_format(e->scratch, "_rg_v%d", i));
  emit_text(e, "end");
}

static void emit_assign(Emit *e, AstStmt *stmt) {
  AstExpr *target = stmt->targets.items[0], *value = stmt->values.items[0];
  if (stmt->targets.count > 1 || stmt->values.count > 1) {
    emit_many(e, stmt);
  } else if (target->kind == AST_LOCAL) {
    emit_format(e, "%s = ", e->names[target->local->id]);
    emit_as(e, value, target_type(e, target));
  } else {
    emit_on(e, entity_of(e->s, target)->source, "set");
    emit_text(e, ", ");
    emit_as(e, value, target_type(e, target));
    emit_indices(e, target, entity_of(e->s, target)->node->rank);
    emit_text(e, ")");
  }
}

/* A compound that is no update: the place, its old value, the operand, in this order. */
static void emit_compound(Emit *e, AstStmt *stmt) {
  AstExpr *target = stmt->targets.items[0];
  Type type = target_type(e, target);
  const char *op = NULL;
  for (IrUpdate k = 0; k < IR_UPDATE_COUNT; k++)
    if (update_operator(k) == stmt->op) op = ir_update_text(k);
  if (target->kind == AST_LOCAL) {
    const char *name = e->names[target->local->id];
    emit_format(e, "%s = _rg.%s_%s(%s, ", name, op, type_text(type), name);
    emit_as(e, stmt->values.items[0], type);
    emit_text(e, ")");
    return;
  }
  emit_text(e, "do ");
  emit_place(e, target, 0);
  emit_format(e, "local _rg_v0 = _rg.%s_%s(", op, type_text(type));
  emit_on(e, entity_of(e->s, target)->source, "get");
  emit_place_indices(e, target, 0);
  emit_text(e, "), ");
  emit_as(e, stmt->values.items[0], type);
  emit_text(e, "); ");
  emit_set(e, target, 0, "_rg_v0");
  emit_text(e, "end");
}

/* -- the rest -------------------------------------------------------------------------------------------- */

static void emit_if(Emit *e, AstStmt *stmt) {
  for (int i = 0; i < stmt->bodies.count; i++) {
    bool has_condition = i < stmt->values.count;
    if (has_condition) {
      emit_line(e, stmt->values.items[i]->pos);
      emit_text(e, i ? " elseif " : "if ");
      emit_expr(e, stmt->values.items[i]);
    }
    emit_text(e, has_condition ? " then" : " else");
    emit_block(e, &stmt->bodies.items[i]);
  }
  emit_text(e, " end");
}

static void emit_return(Emit *e, AstStmt *stmt) {
  if (e->frame) {
    emit_function_return(e, stmt);
    return;
  }
  emit_text(e, "do return ");
  for (int i = 0; i < stmt->values.count; i++) {
    if (i) emit_text(e, ", ");
    emit_as(e, stmt->values.items[i], e->s->output->kernel->results.items[i]);
  }
  emit_text(e, " end");
}

static void emit_kind(Emit *e, AstStmt *stmt) {
  Update *update = update_of(e->s, stmt);
  if (update) {
    emit_update(e, update);
    return;
  }
  switch (stmt->kind) {
  case AST_STMT_LOCAL: emit_declaration(e, stmt); break;
  case AST_STMT_ASSIGN: emit_assign(e, stmt); break;
  case AST_STMT_COMPOUND: emit_compound(e, stmt); break;
  case AST_STMT_CALL:
    emit_text(e, "do local _ = ");
    emit_expr(e, stmt->values.items[0]);
    emit_text(e, " end");
    break;
  case AST_STMT_DO:
    emit_text(e, "do");
    emit_block(e, &stmt->bodies.items[0]);
    emit_text(e, " end");
    break;
  case AST_STMT_WHILE: emit_while(e, stmt); break;
  case AST_STMT_REPEAT: emit_repeat(e, stmt); break;
  case AST_STMT_IF: emit_if(e, stmt); break;
  case AST_STMT_FOR: emit_numeric_for(e, stmt); break;
  case AST_STMT_FOR_IN: emit_for_in(e, stmt); break;
  case AST_STMT_RETURN: emit_return(e, stmt); break;
  case AST_STMT_BREAK: emit_text(e, "do break end"); break;
  case AST_STMT_CONTINUE: emit_continue(e); break;
  default: break; /* refused by resolve */
  }
}

static void emit_stmt(Emit *e, AstStmt *stmt) {
  emit_line(e, stmt->pos);
  emit_text(e, " ");
  emit_kind(e, stmt);
  emit_text(e, ";");
}

/* Nothing behind it runs; resolve may not even have read it. */
static bool is_exit(const AstStmt *stmt) {
  if (stmt->kind == AST_STMT_RETURN || stmt->kind == AST_STMT_BREAK || stmt->kind == AST_STMT_CONTINUE) return true;
  if (stmt->kind != AST_STMT_DO) return false;
  for (int i = 0; i < stmt->bodies.items[0].count; i++)
    if (is_exit(stmt->bodies.items[0].items[i])) return true;
  return false;
}

void emit_block(Emit *e, AstBlock *block) {
  int visible = e->visible.count;
  bool has_ended = false;
  for (int i = 0; i < block->count && !has_ended; i++) {
    emit_stmt(e, block->items[i]);
    has_ended = is_exit(block->items[i]);
  }
  e->visible.count = visible;
}
