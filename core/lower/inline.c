/* inline.c - a function that is written out at its call: arguments bound to parameters, its body, its results. */
#include "lower/lower.h"

static Local *parameter_of(Sema *s, const Inline *in, int i) { return in->parameters.items[i]; }

static void bind_parameters(Sema *s, Inline *in) {
  IrInst ***values = scratch_array(s->scratch, IrInst **, in->arguments.count + 1);
  for (int i = 0; i < in->arguments.count; i++) {
    const Local *parameter = parameter_of(s, in, i);
    if (parameter->is_alias)
      lower_keep_view(s, in->parameters.items[i], in->arguments.items[i]);
    else
      values[i] =
          lower_values_as(s, in->arguments.items[i], parameter->type, type_parts(parameter->shape));
  }
  for (int i = 0; i < in->arguments.count; i++)
    if (!parameter_of(s, in, i)->is_alias) lower_bind(s, in->parameters.items[i], values[i]);
}

/* Zero where a function falls off its end. */
static void make_results(Sema *s, Inline *in) {
  if (in->is_straight) return;
  for (int i = 0; i < in->results.count; i++) {
    Local *local = in->results.items[i];
    int count = type_parts(local->shape);
    local->values = scratch_array(s->scratch, IrInst *, count);
    for (int k = 0; k < count; k++) {
      local->values[k] = ir_var(&s->b, local->type);
      ir_set(&s->b, local->values[k], lower_number(s, local->type, 0));
    }
  }
}

/* A return with something behind it leaves a loop that turns once. */
static void lower_body(Sema *s, Inline *in) {
  in->loops = s->loops;
  if (!in->returns_early) {
    lower_block(s, &in->body);
    return;
  }
  IrInst *loop = ir_loop(&s->b);
  IrRegion *back = lower_enter(s, loop->regions[0]);
  lower_block(s, &in->body);
  if (!lower_is_closed(s)) ir_break(&s->b, 0);
  lower_leave(s, back);
}

IrInst **lower_inline(Sema *s, Expr *e, Inline *in) {
  const Stmt *repeat = s->repeat;
  bind_parameters(s, in);
  s->frame = in;
  s->repeat = NULL;
  make_results(s, in);
  lower_body(s, in);
  s->repeat = repeat;
  s->frame = in->outer;
  lower_at(s, e->pos);
  if (!in->results.count) return NULL;
  Local *local = in->results.items[0];
  int count = type_parts(local->shape);
  IrInst **values = scratch_array(s->scratch, IrInst *, count);
  for (int k = 0; k < count; k++) {
    IrInst *value = s->failed         ? lower_number(s, e->at, 0)
                    : in->is_straight ? local->values[k]
                                      : ir_get(&s->b, local->values[k]);
    values[k] = lower_convert(s, value, e->at);
  }
  return values;
}

void lower_inline_return(Sema *s, Stmt *stmt) {
  Inline *in = s->frame;
  IrInst ***values = scratch_array(s->scratch, IrInst **, stmt->values.count + 1);
  for (int i = 0; i < stmt->values.count; i++) {
    const Local *local = in->results.items[i];
    values[i] = lower_values_as(s, stmt->values.items[i], local->type, type_parts(local->shape));
  }
  lower_at(s, stmt->pos);
  for (int i = 0; i < stmt->values.count; i++) {
    Local *local = in->results.items[i];
    if (in->is_straight) local->values = values[i];
    for (int k = 0; k < type_parts(local->shape) && !in->is_straight; k++)
      ir_set(&s->b, local->values[k], values[i][k]);
  }
  if (in->returns_early) ir_break(&s->b, s->loops - in->loops);
}
