/* tasks.c - outlines the body of each parallel loop as a task; the host region keeps control flow.
 *
 *   range %a, %b (%i: i32) { .. %x .. }     frame.set 1 %a; frame.set 2 %b; frame.set 3 %x; run 0
 *                                           task 0 = range bounds=1 { body (%i: i32) { %x =
 *                                           frame.get 3 .. } }
 *
 * One walk in program order sees definitions before uses. A body's captures are defined at its top:
 * constants and places are recomputed there, arguments are frame slots already, other values are
 * stored to slots before RUN. A variable of the host region has its value from the loop's start;
 * REDUCE returns it through a slot. Slots: the arguments, the result, then those of each task:
 * bounds, captures, reductions, in order of appearance.
 *
 * Serial loops, and all loops inside bodies and functions, become FORs (nest.c). For exits a
 * RANGE or ACTIVE counts as one level; after this pass each FOR of its nest does.
 * A loop that only deactivates the cells that it visits becomes CLEAR, which costs one byte and one
 * slot per node. Keeps the order of insts. */
#include "pass/tasks/tasks.h"

#include "base/bits.h"
#include "base/map.h"
#include "ir/facts.h"
#include "pass/pass.h"
#include "pass/trees/kind.h"
#include "pass/rewrite.h"

typedef struct Tasker {
  IrKernel *kernel;
  Scratch *scratch;
  VEC(int) home;   /* by id: where the inst is: 0 the host region, else task number + 1 */
  VEC(int) levels; /* of the enclosing loops, innermost last: how many FORs each became */
  int walks;       /* enclosing loops, in the host region, that walk a snapshot of nodes */
  Error *err;
  /* the task being made; NULL in the host region */
  IrTask *task;
  bool is_called;             /* the walk is in a function */
  bool has_quick_clears;      /* of the target */
  IrInst *loop;               /* its RANGE or ACTIVE, before which host code is inserted */
  IrRegion *top;              /* the start of its body */
  Map inside;                 /* id of a value outside -> its value inside */
  Map reduced;                /* id of a host variable -> row of task->reductions + 1 */
  VEC(IrInst *) reduced_vars; /* by row */
} Tasker;

static bool visit_region(Tasker *t, IrRegion *region);

static int function_of(const Tasker *t) { return t->task ? t->kernel->tasks.count + 1 : 0; }

/* Insts made since the last call belong to the current task, or to the host region. */
static void assign_home(Tasker *t) {
  while (t->home.count < t->kernel->next_id) vec_push(t->scratch, &t->home, function_of(t));
}

static bool is_outside(const Tasker *t, const IrInst *inst) {
  return t->task && t->home.items[inst->id] != function_of(t);
}

static void move_home(Tasker *t, const IrInst *inst) { t->home.items[inst->id] = function_of(t); }

static int new_slots(Tasker *t, int count) {
  DEBUG_ASSERT(count >= 0 && t->kernel->frame_slots >= t->kernel->args.count,
               "arguments come first");
  int first = t->kernel->frame_slots;
  t->kernel->frame_slots += count;
  return first;
}

static IrBuilder host_builder(Tasker *t) { return rewrite_before(t->kernel, t->loop); }

static IrBuilder top_builder(Tasker *t) { return rewrite_inside(t->kernel, t->top, t->loop); }

/* -- what an iteration costs ------------------------------------------------------------------- */

/* The rough cost of one iteration, in additions: the scheduler's first guess at chunk sizes. A loop
 * has its constant trip count, or GUESSED_TRIPS; of an `if`, the costlier arm counts. */

/* Guesses for what depends on data: the trip count of a loop, and the cost of a recursive call. */
enum { GUESSED_TRIPS = 8, GUESSED_CALL = 400 };
enum { MOST_COST = 1 << 24 }; /* additions; larger costs would overflow in nests of loops */

static int64_t cost_of_op(IrOp op) {
  switch (op) {
  case IR_CONST:
  case IR_PARAM:
  case IR_ARG:
  case IR_FRAME_GET:
  case IR_VAR:
  case IR_GET:
  case IR_SET:
  case IR_PLACE: return 0;
  case IR_LOAD:
  case IR_STORE:
  case IR_IS_ACTIVE:
  case IR_LENGTH: return 4;
  case IR_DIV:
  case IR_FLOORDIV:
  case IR_MOD:
  case IR_SQRT:
  case IR_UPDATE: return 8;
  case IR_RMW:
  case IR_CAS:
  case IR_ACTIVATE:
  case IR_DEACTIVATE:
  case IR_APPEND:
  case IR_POP:
  case IR_PRINT: return 20;
  case IR_POW:
  case IR_RANDOM: return 40;
  case IR_INVOKE: return GUESSED_CALL;
  default: return ir_op_info[op].flags & IR_SLOW ? 20 : 1;
  }
}

static int64_t guess_trips(const IrInst *loop) {
  int64_t trips = facts_trip_count(loop);
  return trips < 0 ? GUESSED_TRIPS : min_i64(trips, MOST_COST);
}

static int64_t cost_of_region(const IrRegion *region) {
  int64_t cost = 0;
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    cost += cost_of_op(inst->op);
    if (inst->op == IR_IF)
      cost += max_i64(cost_of_region(inst->regions[0]), cost_of_region(inst->regions[1]));
    else if (inst->regions[0]) cost += guess_trips(inst) * cost_of_region(inst->regions[0]);
    cost = min_i64(cost, MOST_COST);
  }
  return cost;
}

int32_t tasks_cost(const IrRegion *body) {
  int64_t cost = cost_of_region(body);
  DEBUG_ASSERT(cost >= 0 && cost <= MOST_COST, "a cost fits into 32 bits");
  return (int32_t)cost;
}

/* -- captures ---------------------------------------------------------------------------------- */

static bool refuse(Tasker *t, const IrInst *inst, const char *why) {
  return error_set(t->err, RG_ERROR_INTERNAL, "'%s' in a %s: %s", ir_op_info[inst->op].text,
                   t->is_called ? "function" : "parallel loop", why);
}

static IrInst *pass_value(Tasker *t, IrInst *value) {
  DEBUG_ASSERT(!type_is(value->type, TYPE_PLACE), "the frame holds numbers and addresses");
  IrBuilder host = host_builder(t), top = top_builder(t);
  int slot = new_slots(t, 1);
  ir_frame_set(&host, slot, value);
  return ir_frame(&top, IR_FRAME_GET, value->type, slot);
}

static IrInst *capture(Tasker *t, IrInst *outer);

static IrInst *recompute(Tasker *t, const IrInst *outer) {
  IrBuilder top = top_builder(t);
  IrInst **operands = scratch_array(t->scratch, IrInst *, outer->operand_count);
  for (int i = 0; i < outer->operand_count; i++) operands[i] = capture(t, outer->operands[i]);
  return rewrite_again(&top, outer, operands);
}

/* The value inside the body that corresponds to an outside definition. Places cannot be passed in
 * the frame, constants need not be. */
static IrInst *capture(Tasker *t, IrInst *outer) {
  DEBUG_ASSERT(t->task && is_outside(t, outer), "a task captures what the host region defines");
  IrInst *inside = map_find_int(&t->inside, (uint64_t)outer->id);
  if (inside) return inside;
  IrBuilder top = top_builder(t), host = host_builder(t);
  if (outer->op == IR_CONST || outer->op == IR_PLACE) inside = recompute(t, outer);
  else if (outer->op == IR_ARG) inside = ir_frame(&top, IR_FRAME_GET, outer->type, (int)outer->imm);
  else inside = pass_value(t, outer->op == IR_VAR ? ir_get(&host, outer) : outer);
  assign_home(t);
  map_put_int(&t->inside, (uint64_t)outer->id, inside);
  return inside;
}

static void resolve_operands(Tasker *t, IrInst *inst) {
  bool has_var = inst->op == IR_GET || inst->op == IR_SET || inst->op == IR_REDUCE;
  for (int i = 0; i < inst->operand_count; i++) {
    IrInst *operand = inst->operands[i];
    if (is_outside(t, operand) && !(has_var && i == 0)) operand = capture(t, operand);
    ir_set_operand(inst, i, operand);
  }
}

/* -- reductions -------------------------------------------------------------------------------- */

/* Turns a SUB reduction into an ADD of negated values, so that partial results can be added. */
static void subtract_by_adding(Tasker *t, IrInst *reduce) {
  IrBuilder b = rewrite_before(t->kernel, reduce);
  ir_set_operand(reduce, 1, ir_unary(&b, IR_NEG, reduce->operands[1]));
  reduce->imm = IR_UPDATE_ADD;
  assign_home(t);
}

static int find_reduction(Tasker *t, IrInst *var, IrUpdate op) {
  DEBUG_ASSERT(var->op == IR_VAR && op != IR_UPDATE_SUB, "differences are sums by now");
  int row = (int)(intptr_t)map_find_int(&t->reduced, (uint64_t)var->id) - 1;
  if (row >= 0) return row;
  IrReduction reduction = {.op = op, .type = var->type, .slot = new_slots(t, 1)};
  vec_push(t->scratch, &t->task->reductions, reduction);
  vec_push(t->scratch, &t->reduced_vars, var);
  row = t->task->reductions.count - 1;
  map_put_int(&t->reduced, (uint64_t)var->id, (void *)(intptr_t)(row + 1));
  IrBuilder host = host_builder(t);
  ir_frame_set(&host, reduction.slot, ir_get(&host, var));
  assign_home(t);
  return row;
}

static bool visit_reduce(Tasker *t, IrInst *reduce) {
  IrInst *var = reduce->operands[0];
  if (!t->task || !is_outside(t, var))
    return refuse(t, reduce, "its variable belongs to the host region");
  if (reduce->imm == IR_UPDATE_SUB) subtract_by_adding(t, reduce);
  int row = find_reduction(t, var, (IrUpdate)reduce->imm);
  const IrReduction *reduction = &t->task->reductions.items[row];
  if (reduction->op != (IrUpdate)reduce->imm)
    return refuse(t, reduce, "one variable is reduced by two operators");
  IrBuilder b = rewrite_before(t->kernel, reduce);
  ir_set_operand(reduce, 0, ir_frame(&b, IR_FRAME_GET, reduction->type, reduction->slot));
  assign_home(t);
  return true;
}

static void return_reductions(Tasker *t) {
  IrBuilder host = host_builder(t);
  for (int row = 0; row < t->task->reductions.count; row++) {
    const IrReduction *reduction = &t->task->reductions.items[row];
    ir_set(&host, t->reduced_vars.items[row],
           ir_frame(&host, IR_FRAME_LOAD, reduction->type, reduction->slot));
  }
}

/* -- tasks ------------------------------------------------------------------------------------- */

/* Bounds are i64 in the frame, whatever the type of the indices is. */
static void set_bounds(Tasker *t, int axis_count, IrInst *const *begin_end) {
  IrBuilder host = host_builder(t);
  t->task->bounds = new_slots(t, 2 * axis_count);
  for (int i = 0; i < 2 * axis_count; i++)
    ir_frame_set(&host, t->task->bounds + i, ir_convert(&host, begin_end[i], TYPE(I64)));
}

static void note_parallel(Tasker *t, const char *over) {
  const IrTask *task = t->task;
  ir_note(t->kernel, t->loop->line, "parallel over %s%s", over,
          task->independent ? ", promised to be independent" : "");
}

static void set_bounds_of_active(Tasker *t, const ActivePlan *plan) {
  IrInst *begin_end[2 * SNODE_MAX_AXES];
  IrBuilder host = host_builder(t);
  for (int k = 0; k < plan->axis_count; k++) {
    begin_end[2 * k] = ir_i64(&host, 0);
    begin_end[2 * k + 1] = ir_i64(&host, plan->counts[k]);
  }
  set_bounds(t, plan->axis_count, begin_end);
}

static void describe_active(Tasker *t) {
  const SNode *cells = t->kernel->levels.items[t->loop->level].node;
  ActivePlan plan = kind_of_active(cells)->plan(snode_sparse_level(cells), cells);
  t->task->kind = plan.kind;
  t->task->cells = plan.has_cells;
  if (plan.level) t->task->level = ir_add_level(t->kernel, plan.level, plan.level->name);
  if (plan.has_cells) t->task->cells_level = t->loop->level;
  if (plan.axis_count) set_bounds_of_active(t, &plan);
  note_parallel(t, plan.over);
}

static IrTask *describe_task(Tasker *t, IrInst *loop) {
  ASSERT(!t->task && !t->is_called, "tasks are not nested");
  IrTask *task = scratch_new(t->scratch, IrTask);
  t->task = task;
  t->loop = loop;
  t->top = ir_region_create(t->kernel, NULL);
  map_init(&t->inside, t->scratch);
  map_init(&t->reduced, t->scratch);
  t->reduced_vars.count = 0;
  task->body = loop->regions[0];
  task->body->owner = NULL;
  if (!task->body->params.count) ir_region_param(t->kernel, task->body, TYPE(I32));
  task->axis_count = task->body->params.count;
  task->index = task->body->params.items[0]->type;
  task->line = loop->line;
  task->block = loop->block;
  task->independent = loop->independent;
  task->scalar = loop->scalar;
  if (loop->op == IR_ACTIVE) {
    describe_active(t);
  } else {
    set_bounds(t, loop->axis_count, loop->operands);
    note_parallel(t, "its positions");
  }
  return task;
}

/* Saves the set of active cells before the loop if iterations may change it: the loop visits the
 * cells that are active at its start. */
static void remember_cells(Tasker *t, IrBuilder *host, const Effects *effects) {
  if (!t->task->cells) return;
  const SNode *cells = t->kernel->levels.items[t->task->cells_level].node,
              *sparse = snode_sparse_level(cells);
  const Kind *kind = kind_of(sparse);
  if (!kind->may_change || !kind->may_change(effects, t->task)) return;
  ir_emit(host, IR_SAVE_MASKS, TYPE(NONE), 0, NULL)->level =
      ir_add_level(t->kernel, sparse, sparse->name);
  t->task->saves_masks = true;
}

static bool make_task(Tasker *t, IrInst *loop) {
  IrTask *task = describe_task(t, loop);
  assign_home(t);
  if (!visit_region(t, task->body)) return false;
  rewrite_prepend(t->top, task->body);
  task->cost = tasks_cost(task->body);
  const Effects *effects = effects_collect(t->scratch, t->kernel, task->body, NULL);
  task->may_deactivate = effects->changes & EFFECT_DEACTIVATES;
  IrBuilder host = host_builder(t);
  remember_cells(t, &host, effects);
  ir_run(&host, t->kernel->tasks.count);
  return_reductions(t);
  loop->regions[0] = NULL; /* the task owns it now */
  ir_delete(loop);
  vec_push(t->scratch, &t->kernel->tasks, task);
  t->task = NULL;
  assign_home(t);
  return true;
}

/* -- loops and exits --------------------------------------------------------------------------- */

static bool visit_inside(Tasker *t, IrRegion *region, int levels) {
  vec_push(t->scratch, &t->levels, levels);
  bool ok = visit_region(t, region);
  t->levels.count--;
  return ok;
}

/* The snapshot of nodes for a serial loop, if it needs one. Inside a task it is taken before the
 * task starts. */
static IrInst *take_snapshot(Tasker *t, IrInst *loop) {
  if (loop->op != IR_ACTIVE) return NULL;
  const IrLevel *level = &t->kernel->levels.items[loop->level];
  if (!order_is_needed(level->node)) return NULL;
  IrBuilder host = t->task ? host_builder(t) : rewrite_before(t->kernel, loop);
  IrInst *order = order_make(&host, level, t->walks);
  if (t->task) order = pass_value(t, order);
  assign_home(t);
  return order;
}

static bool make_nest(Tasker *t, IrInst *loop) {
  if (t->is_called && loop->op == IR_ACTIVE &&
      order_is_needed(t->kernel->levels.items[loop->level].node))
    return refuse(t, loop, "a function cannot walk an unbounded tree");
  IrInst *indices[SNODE_MAX_AXES], *order = take_snapshot(t, loop);
  int levels;
  IrRegion *body = loop->regions[0],
           *inner = nest_of_loop(t->kernel, loop, order, indices, &levels);
  assign_home(t);
  for (int i = 0; i < body->params.count; i++) ir_replace_uses(body->params.items[i], indices[i]);
  bool is_empty = !body->first;
  rewrite_move_all(body, inner);
  ir_delete(loop);
  if (is_empty) return true;
  bool is_walk = order && !t->task;
  t->walks += is_walk;
  bool ok = visit_inside(t, inner, levels);
  t->walks -= is_walk;
  return ok;
}

/* for i, j in block:active() do block:deactivate(i, j) end */
static bool is_clearing(const IrKernel *kernel, const IrInst *loop) {
  const IrRegion *body = loop->regions[0];
  const IrInst *only = body->first;
  const SNode *node = loop->op == IR_ACTIVE ? kernel->levels.items[loop->level].node : NULL;
  if (!node || !snode_is_managed(node) || snode_has_lists(node)) return false;
  if (!only || only->next || only->op != IR_DEACTIVATE || only->level != loop->level) return false;
  for (int k = 0; k < only->operand_count; k++)
    if (only->operands[k] != body->params.items[k]) return false;
  return true;
}

static bool has_nodes_below(const SNode *node) {
  for (int m = 0; m < node->tree->manager_count; m++)
    for (const SNode *above = node->tree->managers[m]->parent; above; above = above->parent)
      if (above == node) return true;
  return false;
}

/* Is CLEAR faster than the loop? On a GPU one thread executes it, and many a loop; but a loop
 * clears hashes cell by cell under a lock, and frees nodes below the cells in one thread. */
static bool pays_clearing(const Tasker *t, const IrInst *loop) {
  const SNode *node = t->kernel->levels.items[loop->level].node;
  return t->has_quick_clears || snode_has(node, SNODE_KEYED) || has_nodes_below(node);
}

static bool make_clear(Tasker *t, IrInst *loop) {
  DEBUG_ASSERT(loop->op == IR_ACTIVE && !t->task, "the host region clears levels");
  int32_t level = loop->level;
  ir_note(t->kernel, loop->line, "the loop only deactivates the cells that it visits");
  rewrite_become(t->kernel, loop, IR_CLEAR, 0, NULL);
  loop->level = level;
  return true;
}

static bool visit_regions(Tasker *t, IrInst *inst) {
  bool is_host = !t->task && !t->is_called;
  switch (inst->op) {
  case IR_RANGE:
  case IR_ACTIVE:
    if (is_host && is_clearing(t->kernel, inst) && pays_clearing(t, inst))
      return make_clear(t, inst);
    return !is_host || inst->serial ? make_nest(t, inst) : make_task(t, inst);
  case IR_IF: return visit_region(t, inst->regions[0]) && visit_region(t, inst->regions[1]);
  default: return visit_inside(t, inst->regions[0], 1);
  }
}

static bool visit_inst(Tasker *t, IrInst *inst) {
  resolve_operands(t, inst);
  move_home(t, inst);
  switch (inst->op) {
  case IR_ARG:
    if (t->task || t->is_called) inst->op = IR_FRAME_GET; /* argument k is slot k */
    return true;
  case IR_GET:
    if (!is_outside(t, inst->operands[0])) return true;
    ir_replace_uses(inst, capture(t, inst->operands[0]));
    ir_delete(inst);
    return true;
  case IR_SET:
    return !is_outside(t, inst->operands[0]) ||
           refuse(t, inst, "assigns a variable of the host region");
  case IR_REDUCE: return visit_reduce(t, inst);
  case IR_BREAK:
  case IR_CONTINUE: nest_renumber_exit(inst, t->levels.items, t->levels.count); return true;
  default: return !inst->regions[0] || visit_regions(t, inst);
  }
}

static bool visit_region(Tasker *t, IrRegion *region) {
  for (int i = 0; i < region->params.count; i++) move_home(t, region->params.items[i]);
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (!visit_inst(t, inst)) return false;
  }
  return true;
}

/* Functions refer to nothing outside except arguments. */
static bool visit_functions(Tasker *t) {
  bool ok = t->is_called = true;
  for (int i = 0; ok && i < t->kernel->functions.count; i++)
    ok = visit_region(t, t->kernel->functions.items[i]->body);
  return ok;
}

bool pass_tasks(PassContext *ctx, IrKernel *kernel, Error *err) {
  Tasker t = {.kernel = kernel,
              .scratch = ctx->scratch,
              .has_quick_clears = ctx->target.quick_clears,
              .err = err};
  kernel->frame_slots = kernel->args.count + ir_result_slots(kernel);
  assign_home(&t);
  if (!visit_region(&t, kernel->body) || !visit_functions(&t)) return false;
  ASSERT(!t.levels.count && !t.walks, "every loop was left");
  return true;
}
