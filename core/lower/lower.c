/* lower.c - the typed Ast becomes IR: arguments, variables, blocks.
 * A local that is assigned again is a VAR with GET and SET, every other is the value itself. A region ends at its first
 * exit: what stands behind it in the text is not lowered. */
#include "lower/lower.h"

enum { DEEPEST = 150 }; /* regions; the IR ends at 200, and passes add some */

/* Of a function in another file, the place where it is called. */
void lower_at(Sema *s, Pos pos) {
  if (s->frame && s->frame->source != s->input->ast->source) return;
  s->b.line = pos.line;
  s->b.column = pos.column;
}

void lower_fault(Sema *s, const Expr *at, IrInst *value, ErrorCode code, const char *hint, const char *sentence) {
  SemaFault fault = {.code = code, .sentence = sentence, .hint = hint, .source = sema_text_source(s), .pos = at->pos, .width = at->width};
  ir_emit(&s->b, IR_FAULT, TYPE(NONE), 1, &value)->imm = s->output->faults.count;
  vec_push(s->scratch, &s->output->faults, fault);
}

bool lower_is_closed(const Sema *s) {
  const IrInst *last = s->b.region->last;
  return last && (ir_effects(last) & IR_EXIT);
}

IrRegion *lower_enter(Sema *s, IrRegion *region) {
  IrRegion *back = s->b.region;
  s->b.region = region;
  if (++s->nesting > DEEPEST)
    sema_fail_pos(s, s->here, 1, RG_ERROR_UNSUPPORTED,
                  "break the chain of 'elseif', or compute a part in a loop of its own",
                  "more than %d loops and branches stand inside each other here", DEEPEST);
  return back;
}

void lower_leave(Sema *s, IrRegion *back) {
  s->nesting--;
  s->b.region = back;
}

void lower_bind(Sema *s, Local *local, IrInst **values) {
  int count = type_parts(local->shape);
  local->values = scratch_array(s->scratch, IrInst *, count);
  for (int k = 0; k < count; k++) {
    IrInst *value = lower_convert(s, values[k], local->type);
    local->values[k] = value;
    if (!local_is_variable(local)) continue;
    local->values[k] = ir_var(&s->b, local->type);
    ir_set(&s->b, local->values[k], value);
  }
}

/* -- arguments and parameters ---------------------------------------------------------------------------- */

static SemaWhy why_of(Sema *s, const Live *live) {
  const Why *why = &live->why;
  if (!why->clause || !why->at) return (SemaWhy){0};
  const char *clause = why->clause;
  if (why->name) clause = scratch_format(s->scratch, clause, why->name);
  return (SemaWhy){clause, why->source, why->at->pos, why->at->width};
}

/* In the order of the lives: the first use in the text. */
static void add_arguments(Sema *s) {
  for (int i = 0; i < s->lives.count; i++) {
    Live *live = &s->lives.items[i];
    if (!live->use) continue;
    for (int k = 0; k < type_parts(live->shape); k++) {
      int arg = ir_add_arg(s->output->kernel, live->met, live->name, live->use->pos.line, live->use->pos.column);
      SemaArg source = live->source;
      source.part = k;
      if (k == 0) live->arg = arg;
      vec_push(s->scratch, &s->output->args, source);
      vec_push(s->scratch, &s->output->sources, live->source_text);
      vec_push(s->scratch, &s->output->whys, why_of(s, live));
    }
  }
}

static void bind_parameters(Sema *s) {
  for (int i = 0; i < s->parameters.count; i++) {
    Local *parameter = s->parameters.items[i];
    if (parameter->is_alias) continue;
    lower_at(s, parameter->pos);
    const Live *live = &s->lives.items[s->parameter_live[i] - 1];
    IrInst *values[TYPE_MAX_PARTS];
    for (int k = 0; k < type_parts(live->shape); k++) values[k] = ir_arg(&s->b, live->arg + k);
    lower_bind(s, parameter, values);
  }
}

/* -- statements ------------------------------------------------------------------------------------------ */

void lower_keep_view(Sema *s, Local *local, Expr *value) {
  if (local->alias.kind != ENTITY_FIELD || !local->alias.field.indexed) return;
  local->indices = scratch_array(s->scratch, IrInst *, SNODE_MAX_AXES);
  lower_indices(s, value, local->indices);
}

/* A quotient of integers keeps them: math.floor of the local is an integer division. */
static IrInst **lower_initial(Sema *s, Local *local, Expr *value) {
  int count = type_parts(local->shape);
  bool is_quotient = local->initial == value && typed_quotient(s, value) == sema_strip(value);
  if (!is_quotient || local->is_annotated) return lower_values_as(s, value, local->type, count);
  IrInst **values = scratch_array(s->scratch, IrInst *, count);
  lower_quotient(s, value, &local->dividend, &local->divisor);
  for (int k = 0; k < count; k++) {
    IrInst *a = lower_convert(s, local->dividend[k], local->type);
    values[k] = ir_binary(&s->b, IR_DIV, a, lower_convert(s, local->divisor[k], local->type));
  }
  return values;
}

static IrInst **lower_zeros(Sema *s, const Local *local) {
  int count = type_parts(local->shape);
  IrInst **zeros = scratch_array(s->scratch, IrInst *, count);
  for (int k = 0; k < count; k++) zeros[k] = lower_number(s, local->type, 0);
  return zeros;
}

static void lower_declaration(Sema *s, Stmt *stmt) {
  IrInst ***values = scratch_array(s->scratch, IrInst **, stmt->values.count + 1);
  for (int i = 0; i < stmt->values.count; i++) {
    Expr *value = stmt->values.items[i];
    Local *ast = i < stmt->locals.count ? stmt->locals.items[i] : NULL;
    if (!ast)
      lower_values(s, value);
    else if (ast->is_alias) lower_keep_view(s, ast, value);
    else values[i] = lower_initial(s, ast, value);
  }
  for (int i = 0; i < stmt->locals.count; i++) {
    const Local *local = stmt->locals.items[i];
    if (local->is_alias || type_is_none(local->type)) continue;
    lower_at(s, stmt->locals.items[i]->pos);
    bool has_value = i < stmt->values.count;
    lower_bind(s, stmt->locals.items[i], has_value ? values[i] : lower_zeros(s, local));
  }
}

static void lower_branch(Sema *s, IrInst *branch, int arm, Block *block) {
  IrRegion *back = lower_enter(s, branch->regions[arm]);
  lower_block(s, block);
  lower_leave(s, back);
}

/* elseif: an `if` in the other arm. Iterates, so that long chains need no stack. */
static void lower_if(Sema *s, Stmt *stmt) {
  IrRegion *back = s->b.region;
  int nesting = s->nesting;
  for (int i = 0; i < stmt->values.count && !s->failed; i++) {
    IrInst *condition = lower_as(s, stmt->values.items[i], TYPE(BOOL));
    lower_at(s, stmt->values.items[i]->pos);
    IrInst *branch = ir_if(&s->b, condition);
    lower_branch(s, branch, 0, &stmt->bodies.items[i]);
    if (i + 1 < stmt->bodies.count) lower_enter(s, branch->regions[1]);
  }
  if (stmt->bodies.count > stmt->values.count) lower_block(s, &vec_last(&stmt->bodies));
  s->nesting = nesting;
  s->b.region = back;
}

static void lower_return(Sema *s, Stmt *stmt) {
  if (s->frame) {
    lower_inline_return(s, stmt);
    return;
  }
  const IrKernel *kernel = s->output->kernel;
  IrInst **operands = scratch_array(s->scratch, IrInst *, ir_result_slots(kernel));
  int count = 0;
  for (int i = 0; i < stmt->values.count; i++) {
    Type type = kernel->results.items[i];
    IrInst **values = lower_values_as(s, stmt->values.items[i], type_element(type), type_parts(type));
    for (int k = 0; k < type_parts(type); k++) operands[count++] = values[k];
  }
  lower_at(s, stmt->pos);
  ir_emit(&s->b, IR_RETURN, TYPE(NONE), count, operands);
}

static void lower_stmt(Sema *s, Stmt *stmt) {
  lower_at(s, stmt->pos);
  s->here = stmt->pos;
  switch (stmt->kind) {
  case AST_STMT_LOCAL: lower_declaration(s, stmt); break;
  case AST_STMT_ASSIGN: lower_assign(s, stmt); break;
  case AST_STMT_COMPOUND: lower_compound(s, stmt); break;
  case AST_STMT_CALL: lower_values(s, stmt->values.items[0]); break;
  case AST_STMT_DO: lower_block(s, &stmt->bodies.items[0]); break;
  case AST_STMT_WHILE: lower_while(s, stmt); break;
  case AST_STMT_REPEAT: lower_repeat(s, stmt); break;
  case AST_STMT_IF: lower_if(s, stmt); break;
  case AST_STMT_FOR: lower_numeric_for(s, stmt); break;
  case AST_STMT_FOR_IN: lower_for_in(s, stmt); break;
  case AST_STMT_RETURN: lower_return(s, stmt); break;
  case AST_STMT_BREAK: ir_break(&s->b, stmt->levels); break;
  case AST_STMT_CONTINUE: lower_continue(s); break;
  default: break; /* refused by resolve */
  }
}

void lower_block(Sema *s, Block *block) {
  for (int i = 0; i < block->count && !s->failed && !lower_is_closed(s); i++) lower_stmt(s, block->items[i]);
}

/* A kernel that returns a value somewhere returns zero where it falls off its end. */
static void lower_end(Sema *s) {
  const IrKernel *kernel = s->output->kernel;
  if (!kernel->results.count || lower_is_closed(s)) return;
  lower_at(s, s->input->ast->function->end);
  IrInst **zeros = scratch_array(s->scratch, IrInst *, ir_result_slots(kernel));
  int count = 0;
  for (int i = 0; i < kernel->results.count; i++)
    for (int k = 0; k < type_parts(kernel->results.items[i]); k++)
      zeros[count++] = lower_number(s, type_element(kernel->results.items[i]), 0);
  ir_emit(&s->b, IR_RETURN, TYPE(NONE), count, zeros);
}

static void add_results(Sema *s) {
  for (int i = 0; i < s->results.count; i++) {
    const Result *result = &s->results.items[i];
    Type type = ty_alone(s, result->ty);
    vec_push(s->scratch, &s->output->kernel->results, type_shaped(type, result->shape));
  }
}

void lower_kernel(Sema *s) {
  IrKernel *kernel = s->output->kernel;
  s->b = (IrBuilder){.kernel = kernel, .region = kernel->body};
  add_results(s);
  add_arguments(s);
  bind_parameters(s);
  lower_block(s, &s->body);
  lower_end(s);
}
