/* emit_lua.c - the chunk: its arguments, the kernel's parameters, its statements, its result. */
#include "emit_lua/emit.h"

/* A parameter that the kernel assigns is a variable; any other refers to the launch argument. */
static void emit_parameters(Emit *e) {
  Sema *s = e->s;
  for (int i = 0; i < s->parameters.count; i++) {
    Local *parameter = s->parameters.items[i];
    const Local *local = parameter;
    if (local->is_alias || !s->parameter_launch_arg[i]) continue;
    const LaunchArg *launch_arg = &s->launch_args.items[s->parameter_launch_arg[i] - 1];
    emit_format(e, "local %s = ", emit_declare(e, parameter));
    if (!type_is_scalar(local->shape)) emit_text(e, "{");
    for (int k = 0; k < type_parts(local->shape); k++) {
      if (k) emit_text(e, ", ");
      emit_conversion(e, (Shape){0}, number_type(s, launch_arg->type, k),
                      number_type(s, local->type, k));
      emit_format(e, "_rg_a[%d])", launch_arg->arg + k);
    }
    emit_text(e, type_is_scalar(local->shape) ? "; " : "}; ");
  }
}

/* Lua has no addresses, so the type of one is only shown. */
static const char *arg_text(Type type) {
  return type_is(type, TYPE_PTR) ? "address" : type_text(type);
}

/* `f32 header:3 > vec2 bool | 0=x 3=r[1] `: the types of the launch arguments (or the number of a
 * launch value that is an array used as a value) and of the results; then the launch values that
 * are fields, with their names in the text. */
void emit_types(Emit *e) {
  const SemaOutput *output = e->s->output;
  const IrKernel *kernel = output->kernel;
  char name[TYPE_NAME_SIZE];
  for (int i = 0; i < kernel->args.count; i++) {
    SemaArg from = output->args.items[i];
    if (from.kind == ARG_HEADER) emit_format(e, "header:%d ", emit_value_number(e, from));
    else emit_format(e, "%s ", arg_text(kernel->args.items[i].type));
  }
  emit_text(e, ">");
  for (int i = 0; i < output->results.count && kernel->results.count; i++)
    emit_format(e, " %s", type_name_in(e->s->input->types, output->results.items[i], name));
  emit_text(e, " |");
  for (int i = 0; i < output->fields.count; i++)
    emit_format(e, " %d=%s", emit_value_number(e, output->fields.items[i]),
                kernel->fields.items[i].name);
  emit_text(e, " ");
}

/* A kernel that returns a value somewhere returns zero if it falls off its end. */
void emit_end(Emit *e) {
  const SemaOutput *output = e->s->output;
  if (!output->kernel->results.count) return;
  for (int i = 0; i < output->results.count; i++) {
    emit_text(e, i ? ", " : " do return ");
    Type type = output->results.items[i];
    emit_zero(e, type_base(type), type_shape(type));
  }
  if (output->results.count) emit_text(e, " end");
}

const char *emit_lua_kernel(Scratch *scratch, const SemaOutput *typed) {
  Emit *e = scratch_new(scratch, Emit);
  e->scratch = scratch;
  e->s = typed->typed;
  e->line = 1;
  e->names = scratch_array(scratch, const char *, e->s->locals.count + 1);
  strbuf_init(&e->out, scratch);
  strbuf_init(&e->helpers, scratch);
  emit_functions(e);
  emit_random_host(e);
  emit_parameters(e);
  emit_block(e, &e->s->body);
  emit_line(e, e->s->input->ast->function->end);
  emit_end(e);
  const char *kernel = strbuf_end(&e->out);
  strbuf_init(&e->out, scratch);
  emit_text(e, "--[=[");
  emit_types(e);
  emit_text(e, "]=] local _rg, _rg_f, _rg_a, _rg_r = ...; ");
  if (e->s->functions.count) emit_text(e, "local _rg_n, _rg_d = {}, 0; ");
  if (e->helper_count) emit_format(e, "local _rg_h = {}; %s", strbuf_end(&e->helpers));
  emit_text(e, kernel);
  return sema_report(e->s) ? strbuf_end(&e->out) : NULL;
}
