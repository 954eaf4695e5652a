/* inline.c - a function expanded at its call: arguments bound to parameters, its body, its
 * results. */
#include "lower/lower.h"

static void bind_parameters(Lower *l, Inline *in) {
  IrInst ***values = scratch_array(l->scratch, IrInst **, in->arguments.count + 1);
  for (int i = 0; i < in->arguments.count; i++) {
    const Local *parameter = in->parameters.items[i];
    if (parameter->is_alias)
      lower_keep_view(l, in->parameters.items[i], in->arguments.items[i]);
    else
      values[i] =
          lower_values_as(l, in->arguments.items[i], parameter->type, type_parts(parameter->shape));
  }
  for (int i = 0; i < in->arguments.count; i++)
    if (!in->parameters.items[i]->is_alias) lower_bind(l, in->parameters.items[i], values[i]);
}

/* Zero if a function falls off its end. */
static void make_results(Lower *l, Inline *in) {
  if (in->is_straight) return;
  for (int i = 0; i < in->results.count; i++) {
    Local *local = in->results.items[i];
    int count = type_parts(local->shape);
    held_by(l, local)->values = scratch_array(l->scratch, IrInst *, count);
    for (int k = 0; k < count; k++) {
      Type type = lower_number_type(l, local->type, k);
      held_by(l, local)->values[k] = ir_var(&l->b, type);
      ir_set(&l->b, held_by(l, local)->values[k], lower_number(l, type, 0));
    }
  }
}

/* A return with something after it leaves a loop that runs once. */
static void lower_body(Lower *l, Inline *in) {
  if (!in->returns_early) {
    lower_block(l, &in->body);
    return;
  }
  IrInst *loop = ir_loop(&l->b);
  IrRegion *back = lower_enter(l, loop->regions[0]);
  lower_block(l, &in->body);
  if (!lower_is_closed(l)) ir_break(&l->b, 0);
  lower_leave(l, back);
}

IrInst **lower_inline(Lower *l, Expr *e, Inline *in) {
  const Stmt *repeat = l->repeat;
  int outer_loops = l->outer_loops;
  bind_parameters(l, in);
  l->outer_loops = l->loops;
  l->s->frame = in;
  l->repeat = NULL;
  make_results(l, in);
  lower_body(l, in);
  l->repeat = repeat;
  l->outer_loops = outer_loops;
  l->s->frame = in->outer;
  lower_at(l, e->pos);
  if (!in->results.count) return NULL;
  Local *local = in->results.items[0];
  int count = type_parts(local->shape);
  IrInst **values = scratch_array(l->scratch, IrInst *, count);
  for (int k = 0; k < count; k++) {
    Type type = lower_number_type(l, e->at, k);
    IrInst *value = l->s->failed         ? lower_number(l, type, 0)
                    : in->is_straight ? held_by(l, local)->values[k]
                                      : ir_get(&l->b, held_by(l, local)->values[k]);
    values[k] = lower_convert(l, value, type);
  }
  return values;
}

void lower_inline_return(Lower *l, Stmt *stmt) {
  Inline *in = l->s->frame;
  IrInst ***values = scratch_array(l->scratch, IrInst **, stmt->values.count + 1);
  for (int i = 0; i < stmt->values.count; i++) {
    const Local *local = in->results.items[i];
    values[i] = lower_values_as(l, stmt->values.items[i], local->type, type_parts(local->shape));
  }
  lower_at(l, stmt->pos);
  for (int i = 0; i < stmt->values.count; i++) {
    Local *local = in->results.items[i];
    if (in->is_straight) held_by(l, local)->values = values[i];
    for (int k = 0; k < type_parts(local->shape) && !in->is_straight; k++)
      ir_set(&l->b, held_by(l, local)->values[k], values[i][k]);
  }
  if (in->returns_early) ir_break(&l->b, l->loops - l->outer_loops);
}
