/* inline.c - a function expanded at its call: arguments bound to parameters, its body, its
 * results. */
#include "lower/lower.h"

/* `mark`: the first entry of `owned` that belongs to the function. */
static void bind_parameters(Lower *l, Inline *in, int *mark) {
  IrInst ***values = scratch_array(l->scratch, IrInst **, in->arguments.count + 1);
  for (int i = 0; i < in->arguments.count; i++) {
    const Local *parameter = in->parameters.items[i];
    if (parameter->is_alias) lower_bind_view(l, in->parameters.items[i], in->arguments.items[i]);
    else if (!local_share(l, parameter, in->arguments.items[i]))
      values[i] =
          lower_values_as(l, in->arguments.items[i], parameter->type, type_parts(parameter->shape));
  }
  *mark = l->owned.count;
  for (int i = 0; i < in->arguments.count; i++)
    if (values[i]) lower_bind(l, in->parameters.items[i], values[i]);
}

/* Results that are arrays are temporaries of the caller's statement. */
static void make_guards(Lower *l, Inline *in) {
  for (int i = 0; i < in->results.count; i++) {
    Local *local = in->results.items[i];
    int count = type_parts(local->shape);
    lowered_of(l, local)->guards = NULL;
    for (int k = 0; k < count; k++) {
      if (!counted_is(l, local->type, k)) continue;
      if (!lowered_of(l, local)->guards) lowered_of(l, local)->guards = lower_array(l, count);
      lowered_of(l, local)->guards[k] = counted_guard(l);
    }
  }
}

static void keep_results(Lower *l, Inline *in) {
  for (int i = 0; i < in->results.count && !l->s->failed; i++) {
    const Local *local = in->results.items[i];
    LoweredLocal *lowered = lowered_of(l, local);
    for (int k = 0; lowered->guards && k < type_parts(local->shape); k++) {
      if (!lowered->guards[k]) continue;
      IrInst *value =
          in->has_single_return ? lowered->values[k] : ir_get(&l->b, lowered->values[k]);
      counted_track(l, lowered->guards[k], value, false);
    }
  }
}

/* Results start as zero, for a function that falls off its end. */
static void make_results(Lower *l, Inline *in) {
  make_guards(l, in);
  if (in->has_single_return) return;
  for (int i = 0; i < in->results.count; i++) {
    Local *local = in->results.items[i];
    int count = type_parts(local->shape);
    lowered_of(l, local)->values = lower_array(l, count);
    for (int k = 0; k < count; k++) {
      Type type = lower_number_type(l, local->type, k);
      lowered_of(l, local)->values[k] = ir_var(&l->b, type);
      ir_set(&l->b, lowered_of(l, local)->values[k], lower_number(l, type, 0));
    }
  }
}

/* If a return is not the last statement, the body becomes a loop that runs once, which it
 * leaves. */
static void lower_body(Lower *l, Inline *in) {
  in->mark = l->owned.count;
  if (!in->returns_early) {
    lower_block(l, &in->body);
    return;
  }
  IrInst *loop = ir_loop(&l->b);
  IrRegion *back = lower_enter(l, loop->regions[0]);
  in->depth = ++l->loops;
  lower_block(l, &in->body);
  l->loops--;
  if (!lower_is_closed(l)) ir_break(&l->b, 0);
  lower_leave(l, back);
}

/* Selects one row of a table (resolve/value/record_pick.c): after the index, the parameters are
 * rows of as many values as there are results. Zero if out of bounds. */
static void lower_pick(Lower *l, Inline *in) {
  int width = in->results.count, rows = (in->parameters.count - 1) / width;
  IrInst *index = lowered_of(l, in->parameters.items[0])->values[0];
  IrInst **column = lower_array(l, rows + 1);
  for (int i = 0; i < width; i++) {
    const Local *result = in->results.items[i];
    for (int k = 0; k < type_parts(result->shape); k++) {
      Type type = lower_number_type(l, result->type, k);
      column[0] = lower_number(l, type, 0); /* there is no row 0 */
      for (int row = 0; row < rows; row++) {
        const Local *from = in->parameters.items[1 + row * width + i];
        column[row + 1] = lower_convert(l, lowered_of(l, from)->values[k], type);
      }
      ir_set(&l->b, lowered_of(l, result)->values[k],
             ir_pick(&l->b, lower_narrow(index), rows + 1, column));
    }
  }
}

IrInst **lower_inline(Lower *l, Expr *e, Inline *in) {
  const Stmt *repeat = l->repeat;
  int mark;
  bool may_wrap = l->may_wrap;
  l->may_wrap = false;
  bind_parameters(l, in, &mark);
  l->repeat = NULL;
  IrInst **found = lower_lookup(l, in);
  l->s->frame = in;
  if (!found) make_results(l, in);
  if (in->is_pick) lower_pick(l, in);
  else if (!found) lower_body(l, in);
  counted_end_block(l, mark);
  if (!found) keep_results(l, in);
  l->repeat = repeat;
  l->may_wrap = may_wrap;
  l->s->frame = in->outer;
  lower_set_pos(l, e->pos);
  if (!in->results.count) return NULL;
  Local *local = in->results.items[e->result];
  int count = type_parts(local->shape);
  IrInst **values = lower_array(l, count);
  for (int k = 0; k < count; k++) {
    Type type = lower_number_type(l, e->type, k);
    IrInst *value = l->s->failed            ? lower_number(l, type, 0)
                    : found                 ? found[k]
                    : in->has_single_return ? lowered_of(l, local)->values[k]
                                            : ir_get(&l->b, lowered_of(l, local)->values[k]);
    values[k] = lower_convert(l, value, type);
  }
  return values;
}

/* -- recursive functions ----------------------------------------------------------------------- */

/* The message of the fault when calls are nested too deeply; rt_nest passes the depth. */
static int add_fault(Lower *l, const Inline *in) {
  const Recursive *recursive = in->recursive;
  SemaMessage message = {.code = RG_ERROR_DEPTH,
                         .hint = "add a base case: at most 4000 calls can be nested, fewer if "
                                 "the stack is smaller",
                         .source = recursive->source,
                         .pos = recursive->call->pos,
                         .width = recursive->call->width};
  SemaPiece text = {.kind = PIECE_TEXT,
                    .text = str_of(scratch_format(
                        l->scratch, "calls are nested too deeply: %s, and so on, to a depth of ",
                        recursive->cycle))};
  SemaPiece depth = {.kind = PIECE_VALUE, .type = TYPE(I64)};
  vec_push(l->scratch, &message.pieces, text);
  vec_push(l->scratch, &message.pieces, depth);
  vec_push(l->scratch, &l->output->messages, message);
  return l->output->messages.count - 1;
}

enum { DRAWN = 3 }; /* arguments of a function that draws: Random's key, index and trip */

/* The number of indices of a row that is passed. */
static int row_indices(const Local *parameter) {
  bool is_field = parameter->is_alias && parameter->alias.kind == ENTITY_FIELD;
  return is_field ? parameter->alias.field.index_count : 0;
}

void lower_declare_functions(Lower *l) {
  IrKernel *kernel = l->output->kernel;
  for (int i = 0; i < l->s->functions.count; i++) {
    const Inline *in = l->s->functions.items[i];
    IrFunction *function = scratch_new(l->scratch, IrFunction);
    function->name = in->name;
    function->body = ir_region_create(kernel, NULL);
    function->fault = add_fault(l, in);
    function->line = in->line;
    for (int k = 0; k < in->parameters.count; k++) {
      const Local *parameter = in->parameters.items[k];
      for (int n = 0; !parameter->is_alias && n < type_parts(parameter->shape); n++)
        ir_region_param(kernel, function->body, lower_number_type(l, parameter->type, n));
      for (int n = 0; n < row_indices(parameter); n++)
        ir_region_param(kernel, function->body, TYPE(I64));
    }
    for (int k = 0; k < in->axis_count + (in->random.is_used ? DRAWN : 0); k++)
      ir_region_param(kernel, function->body, TYPE(I64));
    for (int k = 0; k < in->results.count; k++)
      for (int n = 0; n < type_parts(in->results.items[k]->shape); n++)
        vec_push(l->scratch, &function->results,
                 lower_number_type(l, in->results.items[k]->type, n));
    if (in->random.is_used) vec_push(l->scratch, &function->results, TYPE(I64));
    vec_push(l->scratch, &kernel->functions, function);
  }
}

/* Returns zeros if the function falls off its end. */
static void lower_end(Lower *l, const Inline *in, const IrFunction *function) {
  if (lower_is_closed(l)) return;
  IrInst **zeros = lower_array(l, function->results.count);
  for (int i = 0; i < function->results.count; i++)
    zeros[i] = lower_number(l, function->results.items[i], 0);
  if (in->random.is_used) zeros[function->results.count - 1] = random_resumed(l);
  ir_emit(&l->b, IR_RETURN, TYPE(NONE), function->results.count, zeros);
}

static void lower_function(Lower *l, Inline *in, const IrFunction *function) {
  l->b.region = function->body;
  l->b.line = function->line;
  l->s->frame = in;
  l->repeat = NULL;
  l->nesting = l->loops = l->index_count = 0;
  l->top = function->body;
  l->owned.count = l->marks.count = l->statement = 0;
  l->loop = in->loop;
  IrInst **params = function->body->params.items;
  for (int i = 0; i < in->parameters.count; i++) {
    Local *parameter = in->parameters.items[i];
    if (row_indices(parameter)) lowered_of(l, parameter)->indices = params;
    params += row_indices(parameter);
    if (parameter->is_alias) continue;
    lower_bind(l, parameter, params);
    params += type_parts(parameter->shape);
  }
  l->indices = params;
  l->index_count = in->axis_count;
  l->is_independent = false;
  lower_pack_iteration(l);
  random_resume(l, in->random.is_used ? params + in->axis_count : NULL);
  lower_block(l, &in->body);
  lower_end(l, in, function);
  l->s->frame = NULL;
}

void lower_functions(Lower *l) {
  for (int i = 0; i < l->s->functions.count && !l->s->failed; i++)
    lower_function(l, l->s->functions.items[i], l->output->kernel->functions.items[i]);
}

/* The caller owns returned arrays before it checks whether the launch continues, so that none
 * leaks. */
static void guard_results(Lower *l, const Inline *of, IrInst **vars) {
  for (int i = 0; i < of->results.count; i++) {
    const Local *local = of->results.items[i];
    for (int k = 0; k < type_parts(local->shape); k++, vars++) {
      if (!counted_is(l, local->type, k)) continue;
      ir_delete(*vars);
      *vars = counted_guard(l);
    }
  }
}

IrInst **lower_invocation(Lower *l, Expr *e, Invocation *call) {
  const IrFunction *function = l->output->kernel->functions.items[call->of->ordinal];
  int params = function->body->params.count, results = function->results.count, count = 0;
  IrInst **operands = lower_array(l, params + results);
  IrInst **values = lower_array(l, results);
  for (int i = 0; i < call->arguments.count; i++) {
    const Local *parameter = call->of->parameters.items[i];
    int parts = type_parts(parameter->shape);
    if (row_indices(parameter)) {
      IrInst *indices[SNODE_MAX_AXES];
      int given = lower_indices(l, call->arguments.items[i], indices);
      for (int k = 0; k < given; k++) operands[count++] = ir_convert(&l->b, indices[k], TYPE(I64));
    }
    if (parameter->is_alias) continue;
    IrInst **given = lower_values_as(l, call->arguments.items[i], parameter->type, parts);
    for (int k = 0; k < parts; k++) operands[count++] = given[k];
  }
  lower_set_pos(l, e->pos);
  for (int k = 0; k < call->of->axis_count; k++)
    operands[count++] = k < l->index_count ? ir_convert(&l->b, l->indices[k], TYPE(I64))
                                           : lower_number(l, TYPE(I64), 0);
  if (call->of->random.is_used) {
    operands[count++] = l->random.key;
    operands[count++] = l->random.index;
    operands[count++] = ir_get(&l->b, l->random.trip);
  }
  for (int i = 0; i < results; i++) operands[count++] = ir_var(&l->b, function->results.items[i]);
  guard_results(l, call->of, operands + params);
  ir_emit(&l->b, IR_INVOKE, TYPE(NONE), count, operands)->imm = call->of->ordinal;
  for (int i = 0; i < results; i++) {
    values[i] = ir_get(&l->b, operands[params + i]);
    if (operands[params + i]->owns) counted_track(l, operands[params + i], values[i], false);
  }
  if (call->of->random.is_used) ir_set(&l->b, l->random.trip, values[results - 1]);
  IrInst **rest = values;
  for (int i = 0; i < call->results.count; i++) {
    lowered_of(l, call->results.items[i])->values = rest;
    rest += type_parts(call->results.items[i]->shape);
  }
  if (!call->results.count) return NULL;
  int parts = type_parts(call->results.items[0]->shape);
  IrInst **first = lower_array(l, parts);
  for (int k = 0; k < parts; k++)
    first[k] =
        l->s->failed ? values[k] : lower_convert(l, values[k], lower_number_type(l, e->type, k));
  return first;
}

static void lower_function_return(Lower *l, Stmt *stmt) {
  const Inline *in = stmt->returns_from;
  const IrFunction *function = l->output->kernel->functions.items[in->ordinal];
  IrInst **operands = lower_array(l, function->results.count);
  int count = 0;
  for (int i = 0; i < stmt->values.count; i++) {
    const Local *local = in->results.items[i];
    int parts = type_parts(local->shape);
    IrInst **values = lower_values_as(l, stmt->values.items[i], local->type, parts);
    for (int k = 0; k < parts; k++) {
      if (counted_is(l, local->type, k)) counted_transfer(l, values[k]);
      operands[count++] = values[k];
    }
  }
  lower_set_pos(l, stmt->pos);
  if (in->random.is_used) operands[count++] = random_resumed(l);
  ir_emit(&l->b, IR_RETURN, TYPE(NONE), count, operands);
}

static void give_results(Lower *l, const Local *local, IrInst **values) {
  const LoweredLocal *lowered = lowered_of(l, local);
  for (int k = 0; lowered->guards && k < type_parts(local->shape); k++)
    if (lowered->guards[k]) counted_move(l, lowered->guards[k], counted_own(l, values[k]));
}

void lower_inline_return(Lower *l, Stmt *stmt) {
  Inline *in = stmt->returns_from;
  if (in->is_called) {
    lower_function_return(l, stmt);
    return;
  }
  IrInst ***values = scratch_array(l->scratch, IrInst **, stmt->values.count + 1);
  for (int i = 0; i < stmt->values.count; i++) {
    const Local *local = in->results.items[i];
    values[i] = lower_values_as(l, stmt->values.items[i], local->type, type_parts(local->shape));
  }
  lower_set_pos(l, stmt->pos);
  for (int i = 0; i < stmt->values.count; i++) {
    Local *local = in->results.items[i];
    give_results(l, local, values[i]);
    if (in->has_single_return) lowered_of(l, local)->values = values[i];
    for (int k = 0; k < type_parts(local->shape) && !in->has_single_return; k++)
      ir_set(&l->b, lowered_of(l, local)->values[k], values[i][k]);
  }
  if (!in->returns_early) return;
  counted_release_from(l, in->mark);
  ir_break(&l->b, l->loops - in->depth);
}
