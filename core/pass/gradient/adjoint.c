/* adjoint.c - turns a kernel into its adjoint: reverse-mode differentiation of structured IR.
 *
 *     y = f(x)              the adjoint adds the gradient of y, times the derivative of f, to the
 *     x.grad += f'(x) ..    gradient of x, and clears that of y, which the kernel overwrote
 *
 * The adjoint runs after its primal, the original kernel, has computed the elements. Gradients are
 * elements of further fields of the same nodes, which the launch reads and writes like any other
 * field. The reversal of a write clears the element's gradient; that of a read adds to it by an
 * UPDATE, which the passes for atomics and private copies optimise. Parallel loops stay parallel;
 * serial loops run backwards if their iterations depend on each other.
 *
 * Regions are reversed as units (plan.h): first the values that derivatives need are recomputed,
 * then the insts are reversed from the last to the first. The adjoint of a value accumulates while
 * its uses are reversed: as a value if they are all in its own region, otherwise in a variable. The
 * adjoint of a variable is a variable: the reversal of a SET reads it and resets it to 0, and that
 * of a GET adds to it.
 * Decision D-pass-80. A second derivative is the adjoint of a tangent (D-pass-92). */
#include "pass/gradient/adjoint.h"

#include "pass/gradient/derivative.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

static void reverse_region(Adjoint *a, IrBuilder *b, Plan *plan);

/* -- adjoints ---------------------------------------------------------------------------------- */

/* Is the value outside the parallel loop being reversed, so that iterations share its adjoint? */
static bool is_outside_iteration(const Adjoint *a, const IrInst *value) {
  return a->iteration && !ir_is_inside(value, a->iteration);
}

/* The variable, or local array, with the adjoint of a value. */
static IrInst *variable_of(const Adjoint *a, const IrInst *value) {
  IrInst *var = ir_mapped(a->variables, value);
  ASSERT(var, "storage, and values with uses elsewhere, have a variable for their adjoint");
  return var;
}

static void add_to_variable(const Adjoint *a, IrBuilder *b, const IrInst *value, IrInst *adjoint) {
  IrInst *var = variable_of(a, value);
  if (is_outside_iteration(a, value)) ir_reduce(b, IR_UPDATE_ADD, var, adjoint);
  else ir_set(b, var, ir_binary(b, IR_ADD, ir_get(b, var), adjoint));
}

void adjoint_add(Adjoint *a, IrBuilder *b, const IrInst *value, IrInst *adjoint) {
  if (!adjoint || !plan_is_active(&a->plans, value)) return;
  if (ir_mapped(a->variables, value)) return add_to_variable(a, b, value, adjoint);
  IrInst *sum = ir_mapped(a->sums, value);
  ir_map_put(a->sums, value, sum ? ir_binary(b, IR_ADD, sum, adjoint) : adjoint);
}

IrInst *adjoint_of(const Adjoint *a, IrBuilder *b, const IrInst *value) {
  IrInst *var = ir_mapped(a->variables, value);
  return var ? ir_get(b, var) : ir_mapped(a->sums, value);
}

static bool is_used_elsewhere(const IrInst *value) {
  for (const IrUse *use = value->uses; use; use = use->next)
    if (use->user->region != value->region) return true;
  return false;
}

/* A LOCAL_ARRAY is zero only where the function begins, so every iteration clears its own. */
static IrInst *zeroed_array(Adjoint *a, IrBuilder *b, const IrInst *like) {
  IrInst *array = ir_local_array(b, like->type, (int)like->imm);
  IrInst *loop = ir_for(b, ir_i32(b, 0), ir_i32(b, like->imm - 1), ir_i32(b, 1));
  IrBuilder in = rewrite_into(b, loop->regions[0]);
  ir_local_set(&in, array, ir_index(loop), ir_zero(&in, like->type));
  return array;
}

static void declare_adjoint(Adjoint *a, IrBuilder *b, const IrInst *value) {
  IrInst *var = NULL;
  ir_map_put(a->sums, value, NULL);
  if (plan_is_active(&a->plans, value)) {
    if (value->op == IR_LOCAL_ARRAY) {
      var = zeroed_array(a, b, value);
    } else if (value->op == IR_VAR || is_used_elsewhere(value)) {
      var = ir_var(b, value->type);
      ir_set(b, var, ir_zero(b, value->type));
    }
  }
  ir_map_put(a->variables, value, var);
}

/* -- values and variables ---------------------------------------------------------------------- */

static void reverse_smooth(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  IrInst *adjoint = adjoint_of(a, b, inst);
  if (!adjoint) return;
  for (int k = 0; k < inst->operand_count; k++) {
    if (!plan_is_active(&a->plans, inst->operands[k])) continue;
    unsigned needs = derivative_needs(inst->op, k);
    DerivativeOf of = {.op = inst->op, .type = inst->operands[k]->type};
    for (int i = 0; i < inst->operand_count; i++)
      if (needs >> i & 1) of.operands[i] = adjoint_primal(a, b, inst->operands[i]);
    if (needs & DERIVATIVE_NEEDS_RESULT) of.result = adjoint_primal(a, b, inst);
    adjoint_add(a, b, inst->operands[k], derivative_pull(b, &of, k, adjoint));
  }
}

static void reverse_pick(Adjoint *a, IrBuilder *b, const IrInst *pick) {
  IrInst *adjoint = adjoint_of(a, b, pick);
  for (int k = 1; adjoint && k < pick->operand_count; k++) {
    if (!plan_is_active(&a->plans, pick->operands[k])) continue;
    IrInst *index = adjoint_primal(a, b, pick->operands[0]);
    IrInst *is_it = ir_binary_const(b, IR_EQ, index, k - 1);
    adjoint_add(a, b, pick->operands[k], ir_select(b, is_it, adjoint, ir_zero(b, adjoint->type)));
  }
}

static void reverse_get(const Adjoint *a, IrBuilder *b, const IrInst *get) {
  IrInst *adjoint = adjoint_of(a, b, get);
  if (adjoint && !a->plans.is_sum[get->id]) add_to_variable(a, b, get->operands[0], adjoint);
}

static void reverse_set(Adjoint *a, IrBuilder *b, const IrInst *set) {
  IrInst *var = variable_of(a, set->operands[0]);
  ASSERT(!is_outside_iteration(a, set->operands[0]), "only an iteration's own variables are set");
  IrInst *adjoint = ir_get(b, var);
  if (!a->plans.is_sum[set->id]) ir_set(b, var, ir_zero(b, var->type));
  adjoint_add(a, b, set->operands[1], adjoint);
}

static void reverse_local_get(Adjoint *a, IrBuilder *b, const IrInst *get) {
  IrInst *adjoint = adjoint_of(a, b, get), *array = variable_of(a, get->operands[0]);
  if (!adjoint) return;
  IrInst *index = adjoint_primal(a, b, get->operands[1]);
  ir_local_set(b, array, index, ir_binary(b, IR_ADD, ir_local_get(b, array, index), adjoint));
}

static void reverse_local_set(Adjoint *a, IrBuilder *b, const IrInst *set) {
  IrInst *array = variable_of(a, set->operands[0]);
  IrInst *index = adjoint_primal(a, b, set->operands[1]), *adjoint = ir_local_get(b, array, index);
  ir_local_set(b, array, index, ir_zero(b, array->type));
  adjoint_add(a, b, set->operands[2], adjoint);
}

static void reverse_reduce(Adjoint *a, IrBuilder *b, const IrInst *reduce) {
  IrInst *adjoint = ir_get(b, variable_of(a, reduce->operands[0]));
  if (reduce->imm == IR_UPDATE_SUB) adjoint = ir_unary(b, IR_NEG, adjoint);
  adjoint_add(a, b, reduce->operands[1], adjoint);
}

/* -- control ----------------------------------------------------------------------------------- */

void adjoint_reverse_inside(Adjoint *a, const IrBuilder *b, IrRegion *region, const IrInst *inst,
                            int number) {
  Plan *plan = plan_of(&a->plans, inst, number);
  IrBuilder in = rewrite_into(b, region);
  IrInst **outer = adjoint_enter(a, &in, plan);
  reverse_region(a, &in, plan);
  adjoint_leave(a, plan, outer);
}

static void reverse_if(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  IrInst *choice = ir_if(b, adjoint_primal(a, b, inst->operands[0]));
  for (int k = 0; k < 2; k++) adjoint_reverse_inside(a, b, choice->regions[k], inst, k);
}

static void reverse_parallel(Adjoint *a, IrBuilder *b, const IrInst *loop) {
  const IrRegion *outer = a->iteration;
  IrInst *again = adjoint_copy_loop(a, b, loop);
  if (!loop->serial) a->iteration = loop->regions[0];
  adjoint_reverse_inside(a, b, again->regions[0], loop, 0);
  a->iteration = outer;
}

/* The same loop from its last iteration to its first. */
static IrInst *emit_reversed_loop(Adjoint *a, IrBuilder *b, const IrInst *loop) {
  IrInst *begin = adjoint_primal(a, b, loop->operands[0]), *last = adjoint_last(a, b, loop);
  IrInst *step = adjoint_primal(a, b, loop->operands[2]);
  IrInst *steps = ir_binary(b, IR_FLOORDIV, ir_binary(b, IR_SUB, last, begin), step);
  IrInst *from = ir_binary(b, IR_ADD, begin, ir_binary(b, IR_MUL, steps, step));
  return ir_for(b, from, begin, ir_unary(b, IR_NEG, step));
}

static void reverse_for(Adjoint *a, IrBuilder *b, const IrInst *loop) {
  Plan *plan = plan_of(&a->plans, loop, 0);
  if (plan->carried) return adjoint_reverse_carried(a, b, loop, plan);
  bool is_ordered = plan_is_ordered(&a->plans, loop);
  IrInst *again = is_ordered ? emit_reversed_loop(a, b, loop) : adjoint_copy_loop(a, b, loop);
  if (is_ordered) ir_map_put(a->primal, ir_index(loop), ir_index(again));
  adjoint_reverse_inside(a, b, again->regions[0], loop, 0);
}

/* -- a region ---------------------------------------------------------------------------------- */

static void reverse_inst(Adjoint *a, IrBuilder *b, const IrInst *inst) {
  const Plans *plans = &a->plans;
  b->line = inst->line;
  b->column = inst->column;
  if (inst->regions[0]) {
    if (!plans->reversed[inst->id]) return;
    adjoint_read_tape(a, b, inst);
    if (inst->op == IR_IF) reverse_if(a, b, inst);
    else if (inst->op == IR_FOR) reverse_for(a, b, inst);
    else reverse_parallel(a, b, inst);
    return;
  }
  switch (inst->op) {
  case IR_STORE:
    if (plan_has_gradient(plans, inst)) adjoint_reverse_store(a, b, inst);
    return;
  case IR_UPDATE:
  case IR_RMW:
    if (plan_has_gradient(plans, inst)) adjoint_reverse_update(a, b, inst);
    return;
  case IR_SET:
    if (plan_is_active(plans, inst->operands[0])) reverse_set(a, b, inst);
    return;
  case IR_REDUCE:
    if (plan_is_active(plans, inst->operands[0])) reverse_reduce(a, b, inst);
    return;
  case IR_LOCAL_SET:
    if (plan_is_active(plans, inst->operands[0])) reverse_local_set(a, b, inst);
    return;
  case IR_VAR:
  case IR_LOCAL_ARRAY: return;
  default: break;
  }
  if (!plan_is_active(plans, inst)) return;
  switch (inst->op) {
  case IR_LOAD: adjoint_reverse_load(a, b, inst); return;
  case IR_GET: reverse_get(a, b, inst); return;
  case IR_LOCAL_GET: reverse_local_get(a, b, inst); return;
  case IR_PICK: reverse_pick(a, b, inst); return;
  default: reverse_smooth(a, b, inst);
  }
}

static void reverse_region(Adjoint *a, IrBuilder *b, Plan *plan) {
  for (const IrInst *inst = plan->region->first; inst; inst = inst->next)
    declare_adjoint(a, b, inst);
  for (IrInst *inst = plan->region->first; inst; inst = inst->next) {
    if (inst->regions[0] && a->plans.reversed[inst->id]) adjoint_keep_entries(a, b, inst);
    if (plan->needed[inst->id]) adjoint_copy_inst(a, b, inst, plan->needed);
  }
  for (const IrInst *inst = plan->region->last; inst; inst = inst->previous)
    reverse_inst(a, b, inst);
}

static bool remove_detach(void *data, IrInst *inst) {
  if (inst->op != IR_DETACH) return true;
  ir_replace_uses(inst, inst->operands[0]);
  ir_delete(inst);
  return true;
}

/* Once derivatives are emitted, a DETACH (`rg.stop`) is just its operand. */
static void remove_detaches(IrKernel *kernel) { ir_walk_kernel(kernel, remove_detach, NULL); }

static void replace_body(Adjoint *a) {
  IrRegion *body = ir_region_create(a->kernel, NULL), *top = ir_region_create(a->kernel, NULL);
  IrBuilder b = {.kernel = a->kernel, .region = body}, first = {.kernel = a->kernel, .region = top};
  IrInst *guard = a->plans.rerun ? tape_begin(&a->plans.tape, &first) : NULL;
  reverse_region(a, &b, a->plans.host);
  if (guard) {
    ir_emit(&b, IR_RELEASE, TYPE(NONE), 1, &guard);
    rerun_make(&a->plans);
    rewrite_prepend(a->kernel->body, body);
    rewrite_prepend(top, body);
  } else {
    ir_delete_all(a->kernel->body);
  }
  a->kernel->body = body;
}

static bool fold_and_promote(PassContext *ctx, IrKernel *kernel, Error *err) {
  return pass_fold(ctx, kernel, err) && pass_mem2reg(ctx, kernel, err);
}

static bool make_tangent(PassContext *ctx, IrKernel *kernel, Companion companion, Error *err) {
  updates_split(kernel, companion, false);
  return winners_store(kernel, companion, err) && tangent_make(kernel, companion, err) &&
         fold_and_promote(ctx, kernel, err);
}

static bool make_adjoint(PassContext *ctx, IrKernel *kernel, Companion companion, Error *err) {
  Adjoint a = {.kernel = kernel};
  if (!loops_number_serial(kernel, companion, err)) return false;
  updates_split(kernel, companion, true);
  stored_values_forward(kernel);
  int before = kernel->next_id;
  LoopCounts counts = {0};
  const bool *reversed = plans_reversed(kernel, companion);
  loops_number_trips(kernel, reversed, before, &counts);
  if (!plans_make(&a.plans, kernel, companion, &counts, err)) return false;
  a.primal = ir_map(kernel->scratch, kernel);
  a.sums = ir_map(kernel->scratch, kernel);
  a.variables = ir_map(kernel->scratch, kernel);
  replace_body(&a);
  kernel->results.count = 0;
  remove_detaches(kernel);
  return fold_and_promote(ctx, kernel, err) &&
         (!gather_scatters(kernel) || fold_and_promote(ctx, kernel, err));
}

bool pass_adjoint(PassContext *ctx, IrKernel *kernel, Error *err) {
  ASSERT(!ctx->derivative || !kernel->tasks.count, "loops are still in the host region");
  switch (ctx->derivative) {
  case DERIVATIVE_NONE: remove_detaches(kernel); return true;
  case DERIVATIVE_REVERSE: return make_adjoint(ctx, kernel, COMPANION_GRADIENT, err);
  case DERIVATIVE_FORWARD:
    if (!make_tangent(ctx, kernel, COMPANION_ALONG, err)) return false;
    remove_detaches(kernel);
    return fold_and_promote(ctx, kernel, err);
  case DERIVATIVE_SECOND:
    return make_tangent(ctx, kernel, COMPANION_DUAL, err) &&
           make_adjoint(ctx, kernel, COMPANION_SECOND, err);
  }
  return false;
}
