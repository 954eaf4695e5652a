/* sema.c - the stages in their order. */
#include "sema/sema.h"

#include "infer/infer.h"
#include "lower/lower.h"
#include "resolve/resolve.h"

static Sema *create(Scratch *scratch, const SemaInput *input, SemaOutput *output, Error *err) {
  Sema *s = scratch_new(scratch, Sema);
  SemaInput *own = scratch_new(scratch, SemaInput);
  Ast *ast;
  *s = (Sema){.scratch = scratch, .input = own, .output = output, .err = err};
  *own = *input;
  own->ast = ast = clone_ast(s, input->ast);
  *s = (Sema){.scratch = scratch, .input = own, .output = output, .function = ast->function, .err = err, .ast = ast,
              .expr_capacity = ast->expr_count, .local_capacity = ast->local_count,
              .default_float = input->default_f64 ? TYPE(F64) : TYPE(F32),
              .entities = scratch_array(scratch, Entity, ast->expr_count + 1),
              .types = scratch_array(scratch, Ty, ast->expr_count + 1),
              .at = scratch_array(scratch, Type, ast->expr_count + 1),
              .locals = scratch_array(scratch, Local, ast->local_count + 1),
              .path_live = scratch_array(scratch, int, input->paths->count + 1),
              .parameter_live = scratch_array(scratch, int, ast->function->parameters.count + 1)};
  map_init(&s->inlines, scratch);
  map_init(&s->pops, scratch);
  map_init(&s->heads, scratch);
  map_init(&s->updates, scratch);
  map_init(&s->wanted, scratch);
  map_init(&s->broken, scratch);
  map_init(&s->broken_heads, scratch);
  path_number_all(s);
  return s;
}

/* The host will bring it and begin anew. */
static bool lacks_something(const Sema *s) {
  const SemaWants *wants = s->input->wants;
  return wants && (wants->has_function || wants->paths.count || wants->statics.count);
}

static bool run_types(Sema *s) {
  void (*const steps[])(Sema *) = {resolve_kernel, infer_kernel, check_kernel};
  for (int i = 0; i < 3 && !lacks_something(s); i++) steps[i](s);
  return sema_report(s) && !lacks_something(s);
}

bool sema_run(Scratch *scratch, const SemaInput *input, SemaOutput *output, Error *err) {
  *output = (SemaOutput){0};
  Sema *s = create(scratch, input, output, err);
  if (!run_types(s)) return false;
  IrKernel *kernel = ir_kernel_create(scratch, input->kernel_name);
  kernel->fast_math = input->fast_math;
  kernel->unchecked = input->unchecked;
  output->kernel = kernel;
  output->typed = s;
  lower_kernel(s);
  return sema_report(s) && ir_finish(kernel, err);
}

static void print_line(StrBuf *out, const char *name, Type type, Shape shape) {
  char text[TYPE_NAME_SIZE];
  if (type_is_none(type)) return;
  strbuf_format(out, "%s: %s\n", name, type_name(type_shaped(type, shape), text));
}

bool sema_print_types(Scratch *scratch, const SemaInput *input, StrBuf *out, Error *err) {
  SemaOutput output = {0};
  Sema *s = create(scratch, input, &output, err);
  if (!run_types(s)) return false;
  for (int i = 0; i < s->lives.count; i++) {
    const Live *live = &s->lives.items[i];
    if (live->use && !type_is_none(live->met)) print_line(out, live->name, live->met, live->shape);
  }
  for (int i = 0; i < s->ast->local_count; i++) {
    const Local *local = &s->locals[i];
    if (local->is_seen && !local->is_alias) print_line(out, sema_text(s, local->ast->name), local->type, local->shape);
  }
  return true;
}
