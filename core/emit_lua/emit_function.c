/* emit_function.c - calls of user functions. Sema has expanded each for its call; here it becomes a
 * Lua function called at once, so that its `return` is Lua's:
 *
 *   (function() local x = ARGUMENT; BODY; do return RESULT end end)()
 *
 * A call that is a statement is a block, and a return from it jumps to its end. So a loop over an
 * iterator, whose statements may leave several calls, needs no functions:
 *
 *   do do local x = ARGUMENT; BODY end ::_rg_end1:: end
 *
 * The results after the first are passed in _rg_r, by the number of their local; if one of them is
 * the value of the call, that is _rg.result(_rg_r, NUMBER, (function() .. end)()).
 *
 * Lua limits nesting. So a call inside many others is `_rg_h[3](a, b)`: the function is defined
 * before the kernel, and its parameters are the surrounding locals that its text names.
 *
 * A recursive function is a Lua function of the chunk; _rg_d is the depth of the calls around it:
 *
 *   _rg_n[1] = function(_rg_d, x) _rg.nest(_rg_d, ..); local _rg_r = _rg.own(_rg_r); BODY;
 *     do return ZERO end end
 *   _rg_n[1](_rg_d + 1, ARGUMENT) */
#include "emit_lua/emit.h"

#include <ctype.h>
#include <string.h>

static void emit_arguments(Emit *e, Inline *in) {
  StrBuf before = e->out; /* arguments do not see the parameters, whose names come first */
  int count = in->arguments.count;
  if (!count) return;
  strbuf_init(&e->out, e->scratch);
  for (int i = 0; i < count; i++) {
    if (i) emit_text(e, ", ");
    emit_initial(e, in->parameters.items[i], in->arguments.items[i]);
  }
  StrBuf text = e->out;
  e->out = before;
  for (int i = 0; i < count; i++)
    emit_format(e, "%s%s", i ? ", " : "local ", emit_declare(e, in->parameters.items[i]));
  emit_format(e, " = %s; ", strbuf_end(&text));
}

static void emit_local_zero(Emit *e, Local *result) { emit_zero(e, result->type, result->shape); }

/* Returns zeros if a function falls off its end. */
static void emit_result_zeros(Emit *e, Inline *in) {
  for (int i = !in->keeps_first; i < in->results.count; i++) {
    e->names[in->results.items[i]->id] =
        scratch_format(e->scratch, "_rg_r[%d]", in->results.items[i]->id);
    emit_format(e, "_rg_r[%d] = ", in->results.items[i]->id);
    emit_local_zero(e, in->results.items[i]);
    emit_text(e, "; ");
  }
}

static void emit_body(Emit *e, Inline *in) {
  int visible = e->visible.count;
  Stmt *repeat = e->repeat;
  emit_arguments(e, in);
  emit_result_zeros(e, in);
  in->outer = e->frame;
  e->frame = in;
  e->repeat = NULL;
  emit_block(e, &in->body);
  e->frame = in->outer;
  e->repeat = repeat;
  if (in->results.count && !in->label) {
    emit_text(e, " do return ");
    emit_local_zero(e, in->results.items[0]);
    emit_text(e, " end");
  }
  e->visible.count = visible;
}

void emit_block_call(Emit *e, Inline *in) {
  in->label = ++e->label_count;
  emit_text(e, "do do ");
  emit_body(e, in);
  emit_format(e, " end ::_rg_end%d:: end", in->label);
}

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool mentions(const char *text, const char *name) {
  size_t length = strlen(name);
  for (const char *at = text; length && (at = strstr(at, name)); at++)
    if ((at == text || !is_name_byte(at[-1])) && !is_name_byte(at[length])) return true;
  return false;
}

/* The visible locals that a text names, as a list. */
static const char *mentioned_locals(Emit *e, const char *text) {
  StrBuf list;
  strbuf_init(&list, e->scratch);
  for (int i = 0; i < e->visible.count; i++)
    if (mentions(text, e->visible.items[i]))
      strbuf_format(&list, "%s%s", list.length ? ", " : "", e->visible.items[i]);
  return strbuf_end(&list);
}

static void emit_helper(Emit *e, Inline *in) {
  StrBuf out = e->out;
  int depth = e->depth, number = ++e->helper_count;
  strbuf_init(&e->out, e->scratch);
  e->depth = 0;
  emit_body(e, in);
  const char *body = strbuf_end(&e->out), *names = mentioned_locals(e, body);
  e->out = out;
  e->depth = depth;
  strbuf_format(&e->helpers, "_rg_h[%d] = function(%s) ", number, names);
  strbuf_text(&e->helpers, body);
  strbuf_text(&e->helpers, " end; ");
  emit_format(e, "_rg_h[%d](%s)", number, names);
}

void emit_function_call(Emit *e, Expr *call, Inline *in) {
  enum { MAX_DEPTH = 10 };
  const Local *result = in->results.count ? in->results.items[call->result] : NULL;
  if (result) emit_conversion(e, result->shape, result->type, emit_type(e, call));
  if (call->result) emit_format(e, "_rg.result(_rg_r, %d, ", result->id);
  if (e->depth == MAX_DEPTH) {
    emit_helper(e, in);
  } else {
    e->depth++;
    emit_text(e, "(function() ");
    emit_body(e, in);
    emit_text(e, " end)()");
    e->depth--;
  }
  if (result) emit_text(e, call->result ? "))" : ")");
}

/* -- recursive functions ----------------------------------------------------------------------- */

static void emit_values(Emit *e, const Exprs *values, const Locals *locals) {
  for (int i = 0; i < values->count; i++) {
    if (i) emit_text(e, ", ");
    emit_broadcast(e, values->items[i], locals->items[i]->type, locals->items[i]->shape);
  }
}

/* Emits the check of the call depth. */
static void emit_depth_check(Emit *e, const Inline *in) {
  emit_text(e, "_rg.nest(_rg_d, ");
  emit_quoted(e, str_of(in->recursive->cycle));
  emit_text(e, ", ");
  emit_quoted(e, str_of(in->recursive->source->name));
  emit_format(e, ", %d, %d); ", in->recursive->call->pos.line, in->recursive->call->pos.column);
}

/* Is it passed at run time, as a value or as the indices of a view? */
static bool is_passed(const Local *parameter) {
  return !parameter->is_alias ||
         (parameter->alias.kind == ENTITY_FIELD && parameter->alias.field.index_count);
}

/* `do return`, after restoring the caller's state of random numbers. */
static const char *return_text(const Inline *in) {
  return in->random.is_used ? "do return _rg.drawn(_rg_g" : "do return ";
}

static void emit_recursive_function(Emit *e, Inline *in) {
  int visible = e->visible.count;
  StrBuf parameters;
  strbuf_init(&parameters, e->scratch);
  for (int i = 0; i < in->parameters.count; i++)
    if (is_passed(in->parameters.items[i]))
      strbuf_format(&parameters, ", %s", emit_declare(e, in->parameters.items[i]));
  if (in->axis_count) strbuf_text(&parameters, ", _rg_i");
  if (in->random.is_used) strbuf_text(&parameters, ", _rg_g");
  emit_format(e, "_rg_n[%d] = function(_rg_d%s) ", in->ordinal + 1, strbuf_end(&parameters));
  emit_depth_check(e, in);
  emit_text(e, "local _rg_r = _rg.own(_rg_r); ");
  vec_push(e->scratch, &e->visible, "_rg_r"); /* its own, also for functions outside the kernel */
  vec_push(e->scratch, &e->visible, "_rg_d");
  vec_push(e->scratch, &e->visible, "_rg_i");
  vec_push(e->scratch, &e->visible, "_rg_g");
  if (in->random.is_used) emit_text(e, "_rg_g.trip = _rg_g.trip + 1; ");
  e->frame = in;
  e->recursive_function = in;
  emit_block(e, &in->body);
  e->frame = NULL;
  e->recursive_function = NULL;
  emit_format(e, " %s", return_text(in));
  for (int i = 0; i < in->results.count; i++) {
    if (i || in->random.is_used) emit_text(e, ", ");
    emit_local_zero(e, in->results.items[i]);
  }
  emit_text(e, in->random.is_used ? ") end end; " : " end end; ");
  e->visible.count = visible;
}

void emit_functions(Emit *e) {
  for (int i = 0; i < e->s->functions.count; i++)
    emit_recursive_function(e, e->s->functions.items[i]);
}

/* The results after the first go into _rg_r by _rg.spread, which gives the first. */
void emit_invocation(Emit *e, Expr *expr, Invocation *call) {
  const Local *result = call->results.count ? call->results.items[0] : NULL;
  if (result) emit_conversion(e, result->shape, result->type, emit_type(e, expr));
  if (call->results.count > 1) {
    emit_text(e, "_rg.spread(_rg_r, {");
    for (int i = 1; i < call->results.count; i++) {
      int id = call->results.items[i]->id;
      e->names[id] = scratch_format(e->scratch, "_rg_r[%d]", id);
      emit_format(e, "%s%d", i > 1 ? ", " : "", id);
    }
    emit_text(e, "}, ");
  }
  emit_format(e, "_rg_n[%d](_rg_d + 1", call->of->ordinal + 1);
  for (int i = 0; i < call->arguments.count; i++) {
    const Local *parameter = call->of->parameters.items[i];
    if (!is_passed(parameter)) continue;
    emit_text(e, ", ");
    if (parameter->is_alias)
      emit_initial(e, call->of->parameters.items[i], call->arguments.items[i]);
    else emit_broadcast(e, call->arguments.items[i], parameter->type, parameter->shape);
  }
  if (call->of->axis_count) {
    emit_text(e, ", ");
    emit_iteration(e);
  }
  emit_random_resume(e, call->of);
  emit_text(e, call->results.count > 1 ? "))" : ")");
  if (result) emit_text(e, ")");
}

void emit_function_return(Emit *e, Stmt *stmt) {
  const Inline *in = stmt->returns_from;
  int count = stmt->values.count;
  if (in->is_called) {
    emit_text(e, return_text(in));
    if (in->random.is_used && stmt->values.count) emit_text(e, ", ");
    emit_values(e, &stmt->values, &in->results);
    emit_text(e, in->random.is_used ? ") end" : " end");
    return;
  }
  if (!count && !in->label) {
    emit_text(e, "do return end");
    return;
  }
  if (!count) {
    emit_format(e, "do goto _rg_end%d end", in->label);
    return;
  }
  emit_text(e, "do local _rg_v0");
  for (int i = 1; i < count; i++) emit_format(e, ", _rg_v%d", i);
  for (int i = 0; i < count; i++) {
    emit_text(e, i ? ", " : " = ");
    emit_broadcast(e, stmt->values.items[i], in->results.items[i]->type,
                   in->results.items[i]->shape);
  }
  for (int i = !in->keeps_first; i < count; i++)
    emit_format(e, "; _rg_r[%d] = _rg_v%d", in->results.items[i]->id, i);
  if (in->label) emit_format(e, "; goto _rg_end%d end", in->label);
  else emit_text(e, "; return _rg_v0 end");
}
