/* sema.c - runs the stages in order. */
#include "sema/sema.h"

#include "infer/infer.h"
#include "lower/lower.h"
#include "resolve/resolve.h"

static Sema *create(Scratch *scratch, const SemaInput *input, SemaOutput *output, Error *err) {
  Sema *s = scratch_new(scratch, Sema);
  SemaInput *kept = scratch_new(scratch, SemaInput);
  *kept = *input;
  *s = (Sema){.scratch = scratch,
              .input = kept,
              .output = output,
              .err = err,
              .default_float = input->default_f64 ? TYPE(F64) : TYPE(F32)};
  return s;
}

/* The host will supply it and start over. */
static bool awaits_host(const Sema *s) {
  const SemaRequests *requests = s->input->requests;
  return requests && (requests->has_function || requests->paths.count || requests->statics.count);
}

/* Anew when a function turned out to call itself: then no call of it is expanded. */
static Sema *resolve(Scratch *scratch, const SemaInput *input, SemaOutput *output, Error *err) {
  Sema *s = create(scratch, input, output, err);
  resolve_kernel(s);
  for (int known = 0; s->recursive.count > known && !awaits_host(s);) {
    Sema *again = create(scratch, input, output, err);
    again->recursive.items = s->recursive.items;
    again->recursive.count = again->recursive.capacity = known = s->recursive.count;
    s = again;
    resolve_kernel(s);
  }
  return s;
}

bool sema_types(Scratch *scratch, const SemaInput *input, SemaOutput *output, Error *err) {
  *output = (SemaOutput){0};
  Sema *s = resolve(scratch, input, output, err);
  if (!awaits_host(s)) infer_kernel(s);
  if (!awaits_host(s)) check_kernel(s);
  if (!sema_report(s) || awaits_host(s)) return false;
  output->typed = s;
  return true;
}

bool sema_lower(SemaOutput *output, Error *err) {
  Sema *s = output->typed;
  IrKernel *kernel = ir_kernel_create(s->scratch, s->input->kernel_name);
  kernel->fast_math = s->input->fast_math;
  kernel->unchecked = s->input->unchecked;
  output->kernel = kernel;
  s->err = err;
  lower_kernel(s);
  return sema_report(s) && ir_finish(kernel, err);
}

static void print_line(StrBuf *out, const char *name, Type type, Shape shape) {
  char text[TYPE_NAME_SIZE];
  if (type_is_none(type)) return;
  strbuf_format(out, "%s: %s\n", name, type_name(type_shaped(type, shape), text));
}

static void print_local(Sema *s, StrBuf *out, const Local *local, bool is_repeated) {
  if (!local->is_declared || local->is_alias || local->is_repeated != is_repeated) return;
  print_line(out, sema_text(s, local->name), local->type, local->shape);
}

/* The kernel's own variables first, then those of its expansions. */
void sema_print_types(StrBuf *out, const SemaOutput *output) {
  Sema *s = output->typed;
  for (int i = 0; i < s->launch_args.count; i++) {
    const LaunchArg *launch_arg = &s->launch_args.items[i];
    if (launch_arg->use && !type_is_none(launch_arg->type))
      print_line(out, launch_arg->name, launch_arg->type, launch_arg->shape);
  }
  for (int i = 0; i < s->locals.count; i++) print_local(s, out, s->locals.items[i], false);
  for (int i = 0; i < s->locals.count; i++) print_local(s, out, s->locals.items[i], true);
}
