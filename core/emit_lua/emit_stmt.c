/* emit_stmt.c - statements, each on its own line of the user's file. An exit must end a Lua block,
 * so it gets its own: `do return x end`. Names that begin with _rg are the chunk's; a user's name
 * that does, or that an enclosing block has already, gets its number appended. */
#include "emit_lua/emit.h"

#include <ctype.h>

/* A function is emitted where it is called. */
void emit_line(Emit *e, Pos pos) {
  if (e->frame) return;
  for (; e->line < pos.line; e->line++) emit_text(e, "\n");
}

/* -- names ------------------------------------------------------------------------------------- */

static bool is_used(Emit *e, const char *name) {
  if (!strncmp(name, "_rg", 3) || !strcmp(name, "goto")) return true;
  for (int i = 0; i < e->visible.count; i++)
    if (!strcmp(e->visible.items[i], name)) return true;
  return false;
}

/* If a function has as many locals as Lua allows, further ones go into a table. */
static bool has_free_locals(const Emit *e, int more) {
  enum { MAX_LOCALS = 150 }; /* of 200: loops have hidden ones */
  return e->visible.count + more <= MAX_LOCALS;
}

static void declare_in_table(Emit *e, Local *local) {
  vec_push(e->scratch, &e->visible, "");
  e->names[local->id] = scratch_format(e->scratch, "_rg_r[%d]", local->id);
}

const char *emit_declare(Emit *e, Local *local) {
  char *name = scratch_copy_text(e->scratch, local->name.data, (size_t)local->name.length);
  bool is_plain = true; /* not "p.pos", a value in a table */
  for (char *at = name; *at; at++) {
    if (isalnum((unsigned char)*at) || *at == '_') continue;
    *at = '_';
    is_plain = false;
  }
  if (!is_plain || is_used(e, name)) name = scratch_format(e->scratch, "%s__%d", name, local->id);
  vec_push(e->scratch, &e->visible, name);
  return e->names[local->id] = name;
}

/* -- declarations ------------------------------------------------------------------------------ */

static void emit_view(Emit *e, Expr *value, const Local *local) {
  emit_text(e, "{0");
  emit_indices(e, value, field_rank(&local->alias.field));
  emit_text(e, "}");
}

/* Is it a quotient of integers whose operands math.floor of the local will need? */
static bool is_quotient(Emit *e, Local *local, Expr *value) {
  return local->initial == value && !local->is_annotated &&
         typed_quotient(e->s, value) == sema_strip(value);
}

void emit_initial(Emit *e, Local *local, Expr *value) {
  if (local->is_alias && local->alias.kind == ENTITY_FIELD) {
    emit_view(e, value, local);
  } else if (local->is_alias || type_is_none(local->type)) {
    emit_text(e, "nil");
  } else if (is_quotient(e, local, value)) {
    Type type = ty_default_type(e->s, typed_quotient_type(e->s, sema_strip(value)));
    Expr *quotient = sema_strip(value);
    emit_operation(e, local->shape, "div", local->type);
    emit_conversion(e, emit_shape(e, quotient->left), type, local->type);
    emit_format(e, "_rg_q%d[1]), ", local->id);
    emit_conversion(e, emit_shape(e, quotient->right), type, local->type);
    emit_format(e, "_rg_q%d[2]))", local->id);
  } else {
    emit_broadcast(e, value, local->type, local->shape);
  }
}

/* The operands of quotients, computed before anything is bound. */
static void emit_quotients(Emit *e, Stmt *stmt) {
  for (int i = 0; i < stmt->values.count && i < stmt->locals.count; i++) {
    Expr *value = stmt->values.items[i];
    if (!is_quotient(e, stmt->locals.items[i], value)) continue;
    vec_push(e->scratch, &e->visible, ""); /* counts as a local, too */
    emit_format(e, "local _rg_q%d = {", stmt->locals.items[i]->id);
    emit_quotient(e, value, ty_default_type(e->s, typed_quotient_type(e->s, sema_strip(value))));
    emit_text(e, "}; ");
  }
}

static void emit_declaration(Emit *e, Stmt *stmt) {
  if (!stmt->locals.count && !stmt->values.count) { /* a table of fields alone */
    emit_text(e, "do end");
    return;
  }
  emit_quotients(e, stmt);
  StrBuf before = e->out; /* values are outside the scope of the names before them */
  strbuf_init(&e->out, e->scratch);
  int count = stmt->locals.count > stmt->values.count ? stmt->locals.count : stmt->values.count;
  for (int i = 0; i < count; i++) {
    if (i) emit_text(e, ", ");
    if (i >= stmt->locals.count) emit_expr(e, stmt->values.items[i]);
    else if (i < stmt->values.count) emit_initial(e, stmt->locals.items[i], stmt->values.items[i]);
    else emit_zero(e, stmt->locals.items[i]->type, stmt->locals.items[i]->shape);
  }
  StrBuf text = e->out;
  e->out = before;
  bool fits = has_free_locals(e, stmt->locals.count);
  if (fits) emit_text(e, "local ");
  for (int i = 0; i < stmt->locals.count; i++) {
    if (fits) emit_declare(e, stmt->locals.items[i]);
    else declare_in_table(e, stmt->locals.items[i]);
    emit_format(e, "%s%s", i ? ", " : "", e->names[stmt->locals.items[i]->id]);
  }
  emit_format(e, " = %s", strbuf_end(&text));
  for (int i = 0; i < stmt->locals.count; i++)
    emit_mark_assigned(e, stmt->locals.items[i], i < stmt->values.count);
}

/* -- other statements -------------------------------------------------------------------------- */

static void emit_if(Emit *e, Stmt *stmt) {
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

static void emit_return(Emit *e, Stmt *stmt) {
  if (stmt->returns_from) {
    emit_function_return(e, stmt);
    return;
  }
  emit_text(e, "do return ");
  for (int i = 0; i < stmt->values.count; i++) {
    if (i) emit_text(e, ", ");
    Type type = e->s->output->results.items[i];
    emit_broadcast(e, stmt->values.items[i], type_base(type), type_shape(type));
  }
  emit_text(e, " end");
}

static void emit_call_statement(Emit *e, Expr *call) {
  Inline *in = call->inlined;
  if (in &&
      (in->has_nonlocal_return || (in->is_statement && has_free_locals(e, in->parameters.count)))) {
    emit_block_call(e, in);
    return;
  }
  emit_text(e, "do local _ = ");
  emit_expr(e, call);
  emit_text(e, " end");
}

static void emit_statement(Emit *e, Stmt *stmt) {
  Update *update = stmt->update;
  if (update) {
    emit_update(e, stmt->pos, update);
    return;
  }
  switch (stmt->kind) {
  case AST_STMT_LOCAL: emit_declaration(e, stmt); break;
  case AST_STMT_ASSIGN: emit_assign(e, stmt); break;
  case AST_STMT_COMPOUND: emit_compound(e, stmt); break;
  case AST_STMT_CALL: emit_call_statement(e, stmt->values.items[0]); break;
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
  case AST_STMT_BREAK: emit_break(e, stmt); break;
  case AST_STMT_CONTINUE: emit_continue(e); break;
  default: break; /* refused by resolve */
  }
}

static void emit_stmt(Emit *e, Stmt *stmt) {
  emit_line(e, stmt->pos);
  emit_text(e, " ");
  emit_statement(e, stmt);
  emit_text(e, ";");
}

/* Does it leave the block? Statements after it never run, and resolve may not have visited them. */
static bool is_exit(const Stmt *stmt) {
  if (stmt->kind == AST_STMT_RETURN || stmt->kind == AST_STMT_BREAK ||
      stmt->kind == AST_STMT_CONTINUE)
    return true;
  if (stmt->kind != AST_STMT_DO) return false;
  for (int i = 0; i < stmt->bodies.items[0].count; i++)
    if (is_exit(stmt->bodies.items[0].items[i])) return true;
  return false;
}

void emit_block(Emit *e, Block *block) {
  int visible = e->visible.count;
  bool has_ended = false;
  for (int i = 0; i < block->count && !has_ended; i++) {
    emit_stmt(e, block->items[i]);
    has_ended = is_exit(block->items[i]);
  }
  e->visible.count = visible;
}
