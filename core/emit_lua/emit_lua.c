/* emit_lua.c - the chunk: its arguments, the kernel's parameters, its statements, its result. */
#include "emit_lua/emit.h"

/* A parameter that the kernel assigns is a variable; any other stands for what the launch brings. */
static void emit_parameters(Emit *e) {
  Sema *s = e->s;
  for (int i = 0; i < s->function->parameters.count; i++) {
    const AstLocal *parameter = s->function->parameters.items[i];
    const Local *local = local_of(s, parameter);
    if (local->is_alias) continue;
    const Live *live = &s->lives.items[s->parameter_live[i] - 1];
    emit_format(e, "local %s = ", emit_declare(e, parameter));
    emit_conversion(e, live->met, local->type);
    emit_format(e, "_rg_a[%d]); ", live->arg);
  }
}

static void emit_argument_types(Emit *e) {
  const IrKernel *kernel = e->s->output->kernel;
  emit_text(e, "--[[");
  for (int i = 0; i < kernel->args.count; i++) emit_format(e, "%s ", type_text(kernel->args.items[i].type));
  emit_text(e, "]] ");
}

/* A kernel that returns a value somewhere returns zero where it falls off its end. */
static void emit_end(Emit *e) {
  const IrKernel *kernel = e->s->output->kernel;
  for (int i = 0; i < kernel->results.count; i++) {
    emit_text(e, i ? ", " : " do return ");
    emit_zero(e, kernel->results.items[i]);
  }
  if (kernel->results.count) emit_text(e, " end");
}

/* Vectors, matrices and their functions are not emitted yet. */
static bool has_vectors(const Sema *s) {
  for (int i = 0; i < s->ast->local_count; i++)
    if (s->locals[i].is_seen && !shape_is_scalar(s->locals[i].shape)) return true;
  for (int i = 0; i < s->ast->expr_count; i++) {
    const Entity *entity = &s->entities[i];
    bool is_vector_function = entity->builtin && (entity->builtin->form == FORM_SHAPER || entity->builtin->form == FORM_ALGEBRA);
    if (!shape_is_scalar(entity->shape) || entity->kind == ENTITY_PART || is_vector_function) return true;
  }
  return false;
}

const char *emit_lua_kernel(Scratch *scratch, const SemaOutput *typed) {
  Emit *e = scratch_new(scratch, Emit);
  e->scratch = scratch;
  e->s = typed->typed;
  if (has_vectors(e->s)) {
    sema_fail_pos(e->s, e->s->function->pos, (int)strlen("function"), RG_ERROR_NOT_YET, "run it with arch = \"cpu\"",
                  "kernels with vectors do not run with arch = \"lua\" yet");
    return NULL;
  }
  e->line = 1;
  e->names = scratch_array(scratch, const char *, e->s->ast->local_count + 1);
  strbuf_init(&e->out, scratch);
  emit_argument_types(e);
  emit_text(e, "local _rg, _rg_f, _rg_a, _rg_r = ...; ");
  emit_parameters(e);
  AstBlock body = e->s->function->body;
  emit_block(e, &body);
  emit_line(e, e->s->function->end);
  emit_end(e);
  return e->s->failed ? NULL : strbuf_end(&e->out);
}
