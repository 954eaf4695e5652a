/* lower.c - lowers the typed tree to IR: arguments, variables, blocks. A local that is assigned
 * again is a VAR with GET and SET, every other is the value itself. A region ends at its first
 * exit: source after it is not lowered. */
#include "lower/lower.h"

enum { DEEPEST = 150 }; /* regions; the IR's limit is 200, and passes add some */

/* Sets the position; in a function from another file, the position of its call. */
void lower_set_pos(Lower *l, Pos pos) {
  l->expr_pos = pos;
  if (l->s->frame && l->s->frame->source != l->s->input->ast->source) return;
  l->b.line = pos.line;
  l->b.column = pos.column;
}

void lower_fault(Lower *l, const Expr *at, IrInst *value, ErrorCode code, const char *hint,
                 const char *sentence) {
  SemaMessage message = {.code = code, .hint = hint};
  Operands operands = {0};
  SemaPiece piece = {.kind = PIECE_TEXT,
                     .text = str_of(scratch_format(l->scratch, "%s ", sentence))};
  vec_push(l->scratch, &message.pieces, piece);
  message_add_value(l, &message, &operands, &value, (Shape){0}, NULL);
  message_emit(l, &message, &operands, at->pos, at->width);
}

bool lower_is_closed(const Lower *l) {
  const IrInst *last = l->b.region->last;
  return last && (ir_effects(last) & IR_EXIT);
}

IrRegion *lower_enter(Lower *l, IrRegion *region) {
  IrRegion *back = l->b.region;
  l->b.region = region;
  if (++l->nesting > DEEPEST)
    sema_fail_pos(l->s, l->stmt_pos, 1, RG_ERROR_UNSUPPORTED,
                  "break up the chain of 'elseif', or compute a part in a separate loop",
                  "more than %d loops and branches are nested here", DEEPEST);
  return back;
}

void lower_leave(Lower *l, IrRegion *back) {
  l->nesting--;
  l->b.region = back;
}

/* A parameter that is never assigned borrows the caller's reference. */
static void own_array(Lower *l, const Local *local, int number, IrInst *value) {
  LoweredLocal *lowered = lowered_of(l, local);
  if (!counted_is(l, local->type, number)) return;
  if (local->is_parameter && !local_is_variable(local)) return;
  if (!lowered->guards) lowered->guards = lower_array(l, type_parts(local->shape));
  IrInst *guard = lowered->guards[number] = counted_own(l, value);
  counted_track(l, guard, value, true);
}

void lower_bind(Lower *l, Local *local, IrInst **values) {
  int count = type_parts(local->shape);
  lowered_of(l, local)->array = NULL;
  if (local_has_array(l, local)) {
    local_bind(l, local, values);
    return;
  }
  lowered_of(l, local)->values = lower_array(l, count);
  for (int k = 0; k < count; k++) {
    Type type = lower_number_type(l, local->type, k);
    IrInst *value = lower_convert(l, values[k], type);
    lowered_of(l, local)->values[k] = value;
    own_array(l, local, k, value);
    if (!local_is_variable(local)) continue;
    lowered_of(l, local)->values[k] = ir_var(&l->b, type);
    ir_set(&l->b, lowered_of(l, local)->values[k], value);
  }
}

/* -- arguments and parameters ------------------------------------------------------------------ */

static SemaReason reason_of(Lower *l, const LaunchArg *launch_arg) {
  const Reason *reason = &launch_arg->reason;
  if (!reason->clause || !reason->at) return (SemaReason){0};
  const char *clause = reason->clause;
  if (reason->name) clause = scratch_format(l->scratch, clause, reason->name);
  return (SemaReason){clause, reason->source, reason->at->pos, reason->at->width};
}

/* In the order of the launch_args: by first use in the source. */
static void add_arguments(Lower *l) {
  for (int i = 0; i < l->s->launch_args.count; i++) {
    LaunchArg *launch_arg = &l->s->launch_args.items[i];
    if (!launch_arg->use) continue;
    for (int k = 0; k < type_parts(launch_arg->shape); k++) {
      int arg =
          ir_add_arg(l->output->kernel, lower_number_type(l, launch_arg->type, k), launch_arg->name,
                     launch_arg->use->pos.line, launch_arg->use->pos.column);
      SemaArg source = launch_arg->source;
      source.part = k;
      if (k == 0) launch_arg->arg = arg;
      vec_push(l->scratch, &l->output->args, source);
      vec_push(l->scratch, &l->output->sources, launch_arg->source_text);
      vec_push(l->scratch, &l->output->reasons, reason_of(l, launch_arg));
    }
  }
}

/* Adds the limits that the argument's own type does not imply. */
static void add_limits(Lower *l) {
  for (int i = 0; i < l->s->limits.count; i++) {
    const Limit *limit = &l->s->limits.items[i];
    const LaunchArg *launch_arg = &l->s->launch_args.items[limit->launch_arg];
    bool is_implied = !limit->is_negated && type_equal(launch_arg->type, limit->type);
    if (!launch_arg->use || launch_arg->is_compared || is_implied) continue;
    SemaLimit out = {.arg = launch_arg->arg,
                     .type = limit->type,
                     .is_negated = limit->is_negated,
                     .source = limit->source,
                     .pos = limit->at->pos,
                     .width = limit->at->width};
    vec_push(l->scratch, &l->output->limits, out);
  }
}

static int add_array_arg(Lower *l, const ArrayUse *array, SemaArgKind kind, int part) {
  SemaArg source = array->source;
  source.kind = kind;
  source.part = part;
  vec_push(l->scratch, &l->output->args, source);
  vec_push(l->scratch, &l->output->sources, sema_text_source(l->s));
  vec_push(l->scratch, &l->output->reasons, (SemaReason){0});
  return ir_add_arg(l->output->kernel, kind == ARG_ADDRESS ? TYPE(PTR) : TYPE(I64), array->name, 0,
                    0);
}

/* Arrays come after the numbers, which include their extents. */
static void add_arrays(Lower *l) {
  for (int i = 0; i < l->s->arrays.count; i++) {
    ArrayUse *array = l->s->arrays.items[i];
    IrArray out = {.axis_count = array->of.axis_count,
                   .address = add_array_arg(l, array, ARG_ADDRESS, 0),
                   .extents = l->s->launch_args.items[array->extents].arg,
                   .strides = -1,
                   .is_pitched = array->of.is_pitched,
                   .size = (int32_t)type_row(l->s->input->types, array->type).size,
                   .is_wide = array->of.is_wide,
                   .is_shared = array->of.is_shared,
                   .is_empty = array->of.is_empty,
                   .name = array->name};
    int strides = !array->of.is_strided ? 0 : out.is_pitched ? 1 : out.axis_count;
    for (int k = 0; k < strides; k++) {
      int stride = add_array_arg(l, array, ARG_STRIDE, k);
      if (k == 0) out.strides = stride;
    }
    array->number = ir_add_array(l->output->kernel, &out);
  }
}

static void bind_parameters(Lower *l) {
  for (int i = 0; i < l->s->parameters.count; i++) {
    Local *parameter = l->s->parameters.items[i];
    if (parameter->is_alias || !l->s->parameter_launch_arg[i]) continue;
    lower_set_pos(l, parameter->pos);
    const LaunchArg *launch_arg = &l->s->launch_args.items[l->s->parameter_launch_arg[i] - 1];
    IrInst *values[TYPE_MAX_NUMBERS];
    for (int k = 0; k < type_parts(launch_arg->shape); k++)
      values[k] = ir_arg(&l->b, launch_arg->arg + k);
    lower_bind(l, parameter, values);
  }
}

/* -- statements -------------------------------------------------------------------------------- */

void lower_bind_view(Lower *l, Local *local, Expr *value) {
  if (local->alias.kind != ENTITY_FIELD || !local->alias.field.index_count) return;
  lowered_of(l, local)->indices = lower_array(l, SNODE_MAX_AXES);
  lower_indices(l, value, lowered_of(l, local)->indices);
}

/* A quotient of integers keeps its operands: math.floor of the local is an integer division. */
static IrInst **lower_initial(Lower *l, Local *local, Expr *value) {
  int count = type_parts(local->shape);
  bool is_quotient = local->initial == value && typed_quotient(l->s, value) == sema_strip(value);
  if (!is_quotient || local->is_annotated) return lower_values_as(l, value, local->type, count);
  IrInst **values = lower_array(l, count);
  lower_quotient(l, value, &lowered_of(l, local)->dividend, &lowered_of(l, local)->divisor);
  for (int k = 0; k < count; k++) {
    IrInst *a = lower_convert(l, lowered_of(l, local)->dividend[k], local->type);
    values[k] = ir_binary(&l->b, IR_DIV, a,
                          lower_convert(l, lowered_of(l, local)->divisor[k], local->type));
  }
  return values;
}

static void lower_declaration(Lower *l, Stmt *stmt) {
  IrInst ***values = scratch_array(l->scratch, IrInst **, stmt->values.count + 1);
  for (int i = 0; i < stmt->values.count; i++) {
    Expr *value = stmt->values.items[i];
    Local *ast = i < stmt->locals.count ? stmt->locals.items[i] : NULL;
    if (!ast) lower_values(l, value);
    else if (ast->is_alias) lower_bind_view(l, ast, value);
    else values[i] = lower_initial(l, ast, value);
  }
  for (int i = 0; i < stmt->locals.count; i++) {
    const Local *local = stmt->locals.items[i];
    if (local->is_alias || type_is_none(local->type)) continue;
    lower_set_pos(l, stmt->locals.items[i]->pos);
    bool has_value = i < stmt->values.count;
    lower_bind(l, stmt->locals.items[i],
               has_value ? values[i] : lower_zero(l, local->type, local->shape));
    if (!has_value) lower_track_unset(l, local);
  }
}

static void lower_branch(Lower *l, IrInst *branch, int arm, Block *block) {
  IrRegion *back = lower_enter(l, branch->regions[arm]);
  lower_block(l, block);
  lower_leave(l, back);
}

/* elseif: an `if` in the other arm. Iterates, so that long chains need no stack. */
static void lower_if(Lower *l, Stmt *stmt) {
  IrRegion *back = l->b.region;
  int nesting = l->nesting;
  for (int i = 0; i < stmt->values.count && !l->s->failed; i++) {
    IrInst *condition = lower_as(l, stmt->values.items[i], TYPE(BOOL));
    lower_set_pos(l, stmt->values.items[i]->pos);
    counted_end_statement(l, l->statement);
    IrInst *branch = ir_if(&l->b, condition);
    lower_branch(l, branch, 0, &stmt->bodies.items[i]);
    if (i + 1 < stmt->bodies.count) lower_enter(l, branch->regions[1]);
  }
  if (stmt->bodies.count > stmt->values.count) lower_block(l, &vec_last(&stmt->bodies));
  l->nesting = nesting;
  l->b.region = back;
}

static void lower_return(Lower *l, Stmt *stmt) {
  if (stmt->returns_from) {
    lower_inline_return(l, stmt);
    return;
  }
  const IrKernel *kernel = l->output->kernel;
  IrInst **operands = lower_array(l, ir_result_slots(kernel));
  int count = 0;
  for (int i = 0; i < stmt->values.count; i++) {
    Type type = l->output->results.items[i];
    IrInst **values = lower_values_as(l, stmt->values.items[i], type_base(type), type_parts(type));
    for (int k = 0; k < type_parts(type); k++) {
      if (counted_is(l, type, k)) counted_transfer(l, values[k]);
      operands[count++] = values[k];
    }
  }
  lower_set_pos(l, stmt->pos);
  ir_emit(&l->b, IR_RETURN, TYPE(NONE), count, operands);
}

static void lower_break(Lower *l, const Stmt *stmt) {
  counted_release_from(l, l->marks.items[l->marks.count - 1 - stmt->levels]);
  ir_break(&l->b, stmt->levels);
}

static void lower_kind_of_stmt(Lower *l, Stmt *stmt) {
  lower_set_pos(l, stmt->pos);
  l->stmt_pos = stmt->pos;
  switch (stmt->kind) {
  case AST_STMT_LOCAL: lower_declaration(l, stmt); break;
  case AST_STMT_ASSIGN: lower_assign(l, stmt); break;
  case AST_STMT_COMPOUND: lower_compound(l, stmt); break;
  case AST_STMT_CALL: lower_values(l, stmt->values.items[0]); break;
  case AST_STMT_DO: lower_block(l, &stmt->bodies.items[0]); break;
  case AST_STMT_WHILE: lower_while(l, stmt); break;
  case AST_STMT_REPEAT: lower_repeat(l, stmt); break;
  case AST_STMT_IF: lower_if(l, stmt); break;
  case AST_STMT_FOR: lower_numeric_for(l, stmt); break;
  case AST_STMT_FOR_IN: lower_for_in(l, stmt); break;
  case AST_STMT_RETURN: lower_return(l, stmt); break;
  case AST_STMT_BREAK: lower_break(l, stmt); break;
  case AST_STMT_CONTINUE: lower_continue(l); break;
  default: break; /* refused by resolve */
  }
}

static void lower_stmt(Lower *l, Stmt *stmt) {
  int outer = l->statement, mark = l->statement = l->owned.count;
  lower_kind_of_stmt(l, stmt);
  counted_end_statement(l, mark);
  l->statement = outer;
}

void lower_statements(Lower *l, Block *block) {
  for (int i = 0; i < block->count && !l->s->failed && !lower_is_closed(l); i++)
    lower_stmt(l, block->items[i]);
}

void lower_block(Lower *l, Block *block) {
  int mark = l->owned.count;
  lower_statements(l, block);
  counted_end_block(l, mark);
}

/* A kernel that returns a value somewhere returns zero if it falls off its end. */
static void lower_end(Lower *l) {
  const IrKernel *kernel = l->output->kernel;
  if (!kernel->results.count || lower_is_closed(l)) return;
  lower_set_pos(l, l->s->input->ast->function->end);
  IrInst **zeros = lower_array(l, ir_result_slots(kernel));
  int count = 0;
  for (int i = 0; i < l->output->results.count; i++) {
    Type type = l->output->results.items[i];
    IrInst **own = lower_zero(l, type_base(type), type_shape(type));
    for (int k = 0; k < type_parts(type); k++) zeros[count++] = own[k];
  }
  ir_emit(&l->b, IR_RETURN, TYPE(NONE), count, zeros);
}

static void add_results(Lower *l) {
  for (int i = 0; i < l->s->results.count; i++) {
    const Result *result = &l->s->results.items[i];
    Type type = type_shaped(ty_default_type(l->s, result->ty), result->shape);
    vec_push(l->scratch, &l->output->results, type);
    if (!type_is_struct(type)) vec_push(l->scratch, &l->output->kernel->results, type);
    for (int k = 0; type_is_struct(type) && k < type_parts(type); k++)
      vec_push(l->scratch, &l->output->kernel->results, lower_number_type(l, type, k));
  }
}

void lower_kernel(Sema *s) {
  IrKernel *kernel = s->output->kernel;
  Lower lower = {.s = s,
                 .scratch = s->scratch,
                 .output = s->output,
                 .b = {.kernel = kernel, .region = kernel->body},
                 .locals = scratch_array(s->scratch, LoweredLocal, s->locals.count + 1),
                 .top = kernel->body};
  Lower *l = &lower;
  add_results(l);
  add_arguments(l);
  add_limits(l);
  add_arrays(l);
  bind_parameters(l);
  lower_declare_functions(l);
  random_begin(l, &s->random, random_stream(l, &s->random, false), NULL, 0);
  lower_block(l, &s->body);
  lower_end(l);
  lower_functions(l);
}
