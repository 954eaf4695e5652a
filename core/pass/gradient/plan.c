/* plan.c - activity, and the values that each region needs; see plan.h. */
#include "pass/gradient/plan.h"

#include "pass/gradient/derivative.h"

bool plans_refuse(Plans *p, const IrInst *at, const char *what, const char *hint) {
  if (p->is_refused) return false;
  p->is_refused = true;
  error_set(p->err, RG_ERROR_UNSUPPORTED, "%s", what);
  p->err->line = at->line;
  p->err->column = at->column;
  p->err->width = 1;
  return hint ? error_hint(p->err, "%s", hint) : false;
}

Plan *plan_of(const Plans *p, const IrInst *owner, int region) {
  ASSERT(!owner || owner->id < p->id_count, "plans are of regions of the primal");
  return owner ? p->of[2 * owner->id + region] : p->host;
}

bool plan_has_gradient(const Plans *p, const IrInst *access) {
  const IrInst *place = access->operands[0];
  return place->op == IR_PLACE && companion_component(p->kernel, place->field, p->companion) >= 0;
}

/* -- lists ------------------------------------------------------------------------------------- */

static const SNode *list_of(const Plans *p, const IrInst *inst) {
  return inst->op == IR_APPEND || inst->op == IR_POP ? p->kernel->levels.items[inst->level].node
                                                     : NULL;
}

int plan_list_components(const Plans *p, const IrInst *inst) {
  const SNode *node = list_of(p, inst);
  return node ? node->component_count : 0;
}

IrInst *plan_list_operand(const Plans *p, const IrInst *inst, int k, int *companion) {
  const SNode *node = list_of(p, inst);
  int first = inst->operand_count - node->component_count;
  ASSERT(first >= 0 && k < node->component_count, "an operand for each component is last");
  int component = companion_of(node, k, p->companion);
  *companion = first + component;
  return component >= 0 ? inst->operands[first + k] : NULL;
}

/* Does the inst append or pop a component that has a derivative? */
static bool has_active_element(const Plans *p, const IrInst *inst) {
  for (int k = 0, companion; k < plan_list_components(p, inst); k++) {
    const IrInst *value = plan_list_operand(p, inst, k, &companion);
    if (value && plan_is_active(p, value)) return true;
  }
  return false;
}

static bool refuse_element(Plans *p, const IrInst *inst) {
  return plans_refuse(
      p, inst,
      "appended and popped elements have no gradient: backwards, nothing says which "
      "they were",
      "append constants, or rg.stop(..), and write the elements by x[i][k]");
}

/* -- activity ---------------------------------------------------------------------------------- */

bool plan_is_active(const Plans *p, const IrInst *value) {
  DEBUG_ASSERT(value->id < p->id_count, "activity is asked of values of the primal");
  return p->varied[value->id] && p->useful[value->id];
}

static void mark(Plans *p, bool *marks, const IrInst *inst) {
  if (marks[inst->id]) return;
  marks[inst->id] = p->has_changed = true;
}

static bool is_varied(const Plans *p, const IrInst *inst) {
  switch (inst->op) {
  case IR_LOAD:
  case IR_RMW:
  case IR_CAS: return plan_has_gradient(p, inst);
  case IR_GET:
  case IR_LOCAL_GET: return p->varied[inst->operands[0]->id];
  case IR_PICK: break;
  default:
    if (derivative_class(inst->op) != DERIVATIVE_SMOOTH) return false;
  }
  for (int k = 0; k < inst->operand_count; k++)
    if (p->varied[inst->operands[k]->id]) return true;
  return false;
}

static void mark_varied(Plans *p, const IrInst *inst) {
  for (int k = 0, companion; inst->op == IR_POP && k < plan_list_components(p, inst); k++) {
    const IrInst *var = plan_list_operand(p, inst, k, &companion);
    if (var) mark(p, p->varied, var);
  }
  if (inst->op == IR_SET || inst->op == IR_REDUCE) {
    if (p->varied[inst->operands[1]->id]) mark(p, p->varied, inst->operands[0]);
  } else if (inst->op == IR_LOCAL_SET) {
    if (p->varied[inst->operands[2]->id]) mark(p, p->varied, inst->operands[0]);
  } else if (type_is_float(inst->type) && !plan_is_storage(inst) && is_varied(p, inst)) {
    mark(p, p->varied, inst);
  }
}

static void mark_useful(Plans *p, const IrInst *inst) {
  switch (inst->op) {
  case IR_STORE:
  case IR_UPDATE:
  case IR_RMW:
  case IR_CAS:
    if (plan_has_gradient(p, inst)) mark(p, p->useful, inst->operands[inst->operand_count - 1]);
    return;
  case IR_APPEND:
    for (int k = 0, companion; k < plan_list_components(p, inst); k++) {
      const IrInst *value = plan_list_operand(p, inst, k, &companion);
      if (value) mark(p, p->useful, value);
    }
    return;
  case IR_SET:
  case IR_REDUCE:
    if (p->useful[inst->operands[0]->id]) mark(p, p->useful, inst->operands[1]);
    return;
  case IR_LOCAL_SET:
    if (p->useful[inst->operands[0]->id]) mark(p, p->useful, inst->operands[2]);
    return;
  case IR_GET:
  case IR_LOCAL_GET:
    if (p->useful[inst->id]) mark(p, p->useful, inst->operands[0]);
    return;
  default: break;
  }
  bool is_smooth = derivative_class(inst->op) == DERIVATIVE_SMOOTH || inst->op == IR_PICK;
  for (int k = 0; is_smooth && p->useful[inst->id] && k < inst->operand_count; k++)
    if (type_is_float(inst->operands[k]->type)) mark(p, p->useful, inst->operands[k]);
}

static void propagate(Plans *p, void (*visit)(Plans *p, const IrInst *inst)) {
  const IrRegion *body = p->kernel->body;
  do {
    p->has_changed = false;
    for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) visit(p, inst);
  } while (p->has_changed);
}

/* -- sums ---------------------------------------------------------------------------------------
 *
 *     %g = get %v   %s = add %g, %e   set %v, %s
 *
 * passes the adjoint of %v on unchanged, and to %e too, so any order of reversal is correct. */

static bool is_used_once(const IrInst *value) { return value->uses && !value->uses->next; }

static bool find_sum(const Plans *p, const IrInst *set, const IrInst *value, bool marks) {
  bool is_get = value->op == IR_GET && value->operands[0] == set->operands[0];
  if (value->region != set->region || !is_used_once(value)) return false;
  bool is_sum = is_get ||
                (value->op == IR_ADD && (find_sum(p, set, value->operands[0], marks) ||
                                         find_sum(p, set, value->operands[1], marks))) ||
                (value->op == IR_SUB && find_sum(p, set, value->operands[0], marks));
  if (is_sum && marks) p->is_sum[value->id] = true;
  return is_sum;
}

/* Is the variable set between the GET of the sum and the SET? */
static bool is_set_between(const IrInst *get, const IrInst *set) {
  for (const IrInst *at = get->next; at && at != set; at = at->next) {
    if (at->regions[0]) {
      for (const IrUse *use = set->operands[0]->uses; use; use = use->next)
        for (int k = 0; k < IR_MAX_REGIONS && at->regions[k]; k++)
          if (use->user->op != IR_GET && ir_is_inside(use->user, at->regions[k])) return true;
    } else if (at->op == IR_SET && at->operands[0] == set->operands[0]) {
      return true;
    }
  }
  return false;
}

static const IrInst *find_get(const Plans *p, const IrInst *set, const IrInst *value) {
  if (value->op == IR_GET) return value->operands[0] == set->operands[0] ? value : NULL;
  if (value->op == IR_SUB) return find_get(p, set, value->operands[0]);
  if (value->op != IR_ADD) return NULL;
  int k = find_sum(p, set, value->operands[0], false) ? 0 : 1;
  return find_get(p, set, value->operands[k]);
}

static void mark_sum(Plans *p, const IrInst *set) {
  if (set->op != IR_SET || !type_is_float(set->operands[1]->type)) return;
  if (!find_sum(p, set, set->operands[1], false)) return;
  const IrInst *get = find_get(p, set, set->operands[1]);
  if (!get || is_set_between(get, set)) return;
  p->is_sum[set->id] = true;
  find_sum(p, set, set->operands[1], true);
}

/* -- what is reversed -------------------------------------------------------------------------- */

static bool is_reversed(const Plans *p, const IrInst *inst) {
  switch (inst->op) {
  case IR_STORE:
  case IR_UPDATE:
  case IR_RMW:
  case IR_CAS: return plan_has_gradient(p, inst);
  case IR_APPEND:
  case IR_POP: return has_active_element(p, inst);
  case IR_SET:
  case IR_LOCAL_SET:
  case IR_REDUCE: return plan_is_active(p, inst->operands[0]);
  default: return !inst->regions[0] && !plan_is_storage(inst) && plan_is_active(p, inst);
  }
}

static void mark_reversed(Plans *p, const IrInst *inst) {
  if (!is_reversed(p, inst)) return;
  for (const IrInst *at = inst->region->owner; at && !p->reversed[at->id]; at = at->region->owner)
    p->reversed[at->id] = true;
}

static bool reads_field(const Plans *p, const IrRegion *region, int field) {
  for (const IrInst *inst = region->first; inst; inst = ir_following(inst, region))
    if (inst->op == IR_LOAD && plan_is_active(p, inst) && inst->operands[0]->field == field)
      return true;
  return false;
}

/* Does the loop overwrite elements, or read them between additions to them? */
static bool orders_elements(const Plans *p, const IrRegion *body) {
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    bool is_update = inst->op == IR_UPDATE || inst->op == IR_RMW;
    if ((inst->op != IR_STORE && !is_update) || !plan_has_gradient(p, inst)) continue;
    if (!is_update || reads_field(p, body, inst->operands[0]->field)) return true;
  }
  return false;
}

bool plan_carries_variable(const Plans *p, const IrInst *loop) {
  for (int id = 0; id < p->id_count; id++) {
    const IrInst *inst = p->insts[id];
    bool is_set = inst && (inst->op == IR_SET || inst->op == IR_LOCAL_SET) &&
                  plan_is_active(p, inst->operands[0]);
    if (is_set && !p->is_sum[id] && ir_is_inside(inst, loop->regions[0]) &&
        !ir_is_inside(inst->operands[0], loop->regions[0]))
      return true;
  }
  return false;
}

bool plan_is_ordered(const Plans *p, const IrInst *loop) {
  return orders_elements(p, loop->regions[0]) || plan_carries_variable(p, loop);
}

/* Refuses exits that leave or continue reversed loops, except those that loops.c has numbered. */
static void refuse_exit(Plans *p, const IrInst *inst) {
  if (inst->op != IR_BREAK && inst->op != IR_CONTINUE) return;
  int64_t levels = inst->imm + 1;
  for (const IrInst *at = inst->region->owner; at && levels > 0; at = at->region->owner) {
    if (at->op == IR_IF) continue;
    levels--;
    if (p->reversed[at->id] && !(plan_trips(p, at) && inst->imm == 0))
      plans_refuse(p, inst, "a jump out of several loops at once has no derivative",
                   "leave them one by one");
  }
}

/* -- needed values ----------------------------------------------------------------------------- */

static void require(Plans *p, Plan *plan, IrInst *value);

static void require_around(Plans *p, Plan *plan, const IrInst *inst);

IrInst *plan_trips(const Plans *p, const IrInst *loop) {
  for (int i = 0; i < p->counts->count; i++)
    if (p->counts->items[i].loop == loop) return p->counts->items[i].trips;
  return NULL;
}

/* Requires the number of the iteration that contains a taped inst. */
static void require_iteration_number(Plans *p, Plan *plan, const IrInst *inst) {
  const IrInst *loop = tape_has(&p->tape, inst) ? tape_loop(inst) : NULL;
  if (!loop) return;
  for (int k = 0; k < loop->operand_count; k++) require(p, plan, loop->operands[k]);
  for (int k = 0; k < loop->regions[0]->params.count; k++)
    require(p, plan, loop->regions[0]->params.items[k]);
}

static void require_exits(Plans *p, Plan *plan, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst; inst = ir_following(inst, region)) {
    if (inst->op != IR_BREAK && inst->op != IR_CONTINUE) continue;
    plan->needed[inst->id] = true;
    require_around(p, plan, inst);
  }
}

/* A loop that counts its iterations is recomputed as a loop of that many, without exits. */
static bool require_trips(Plans *p, Plan *plan, const IrInst *loop) {
  IrInst *trips = plan_trips(p, loop);
  if (!trips) return false;
  plans_tape(p, trips);
  require(p, plan, trips);
  return true;
}

/* Requires the ops with regions around `inst`, inside the plan's region; loops with their exits. */
static void require_around(Plans *p, Plan *plan, const IrInst *inst) {
  for (IrInst *at = inst->region->owner; at && ir_is_inside(at, plan->region);
       at = at->region->owner) {
    if (plan->needed[at->id]) return;
    plan->needed[at->id] = true;
    require_iteration_number(p, plan, at);
    for (int k = 0; k < at->operand_count; k++) require(p, plan, at->operands[k]);
    if (at->op != IR_IF && !require_trips(p, plan, at)) require_exits(p, plan, at->regions[0]);
  }
}

static void require_variable(Plans *p, Plan *plan, IrInst *var) {
  ASSERT(plan_is_storage(var), "values are required, not their variables");
  if (plan->needed[var->id]) return;
  plan->needed[var->id] = true;
  if (!ir_is_inside(var, plan->region)) vec_push(p->kernel->scratch, &plan->entered, var);
  for (const IrUse *use = var->uses; use; use = use->next) {
    IrInst *user = use->user;
    bool reads = user->op == IR_GET || user->op == IR_LOCAL_GET;
    if (reads || !ir_is_inside(user, plan->region)) continue;
    if (user->op != IR_SET && user->op != IR_LOCAL_SET && user->op != IR_REDUCE) {
      plans_refuse(p, user,
                   "the derivative needs a value that a call, or a list's pop, leaves behind",
                   NULL);
      continue;
    }
    plan->needed[user->id] = true;
    for (int k = 1; k < user->operand_count; k++) require(p, plan, user->operands[k]);
    require_around(p, plan, user);
  }
}

static void require(Plans *p, Plan *plan, IrInst *value) {
  if (value->op == IR_CONST || value->op == IR_ARG) return; /* they are emitted at each use */
  if (plan_is_storage(value)) return require_variable(p, plan, value);
  if (plan->needed[value->id]) return;
  plan->needed[value->id] = true;
  if (!ir_is_inside(value, plan->region)) return;
  require_around(p, plan, value);
  if (value->op == IR_RANDOM_STREAM) plans_tape(p, value);
  if (tape_has(&p->tape, value)) return require_iteration_number(p, plan, value);
  if (derivative_class(value->op) == DERIVATIVE_UNREPEATABLE) {
    plans_refuse(
        p, value,
        "the derivative needs the result of an operation that cannot be repeated: an old value, "
        "an appended slot or a call",
        NULL);
    return;
  }
  for (int k = 0; value->op != IR_PARAM && k < value->operand_count; k++)
    require(p, plan, value->operands[k]);
}

static void require_indices(Plans *p, Plan *plan, const IrInst *access) {
  const IrInst *place = access->operands[0];
  for (int k = 0; k < place->operand_count; k++) require(p, plan, place->operands[k]);
}

static void require_for_derivative(Plans *p, Plan *plan, IrInst *inst) {
  for (int k = 0; k < inst->operand_count; k++) {
    if (!plan_is_active(p, inst->operands[k])) continue;
    unsigned needs = derivative_needs(inst->op, k);
    for (int i = 0; i < inst->operand_count; i++)
      if (needs >> i & 1) require(p, plan, inst->operands[i]);
    if (needs & DERIVATIVE_NEEDS_RESULT) require(p, plan, inst);
  }
}

UpdateRule plan_update_rule(const Plans *p, const IrInst *update) {
  UpdateRule rule = update_rule(update, plan_is_active(p, update->operands[1]));
  if (update->op == IR_CAS) return UPDATE_LACKS_RULE;
  if (update->op != IR_RMW) return rule;
  return rule == UPDATE_ADDS && !plan_is_active(p, update) ? UPDATE_ADDS : UPDATE_LACKS_RULE;
}

bool plans_refuse_update(Plans *p, const IrInst *update) {
  if (update->op == IR_CAS)
    return plans_refuse(p, update, "compare_exchange has no derivative", NULL);
  if (update->op == IR_RMW)
    return plans_refuse(p, update,
                        "the old value of an element that iterations share depends on their order: "
                        "it has no derivative",
                        "rg.stop(..) around it makes it a constant");
  if (update->op == IR_REDUCE)
    return plans_refuse(p, update,
                        "only sums of a whole loop have a derivative, not products, minima or "
                        "maxima",
                        "compute minima and maxima in an element: m[0] = math.max(m[0], v)");
  return plans_refuse(
      p, update, "a product that iterations share has no derivative",
      "where each iteration has an element of its own: local v = x[i] * y, then x[i] = v");
}

static void require_winner(Plans *p, Plan *plan, IrInst *update) {
  if (tape_has(&p->tape, update->next)) {
    plans_refuse(p, update,
                 "the derivative of a minimum or maximum needs the element as the loop "
                 "leaves it, and the kernel overwrites it later",
                 "write to another field, or divide the kernel in two");
  } else {
    require(p, plan, update->operands[1]);
    require(p, plan, update->next);
  }
}

static void require_for_update(Plans *p, Plan *plan, IrInst *update) {
  if (update->op != IR_REDUCE) require_indices(p, plan, update);
  switch (plan_update_rule(p, update)) {
  case UPDATE_ADDS:
  case UPDATE_KEEPS: return;
  case UPDATE_SCALES: require(p, plan, update->operands[1]); return;
  case UPDATE_CHOOSES: require_winner(p, plan, update); return;
  case UPDATE_LACKS_RULE: plans_refuse_update(p, update);
  }
}

/* Requires the values that the reversal of an inst without regions needs. */
static void require_to_reverse(Plans *p, Plan *plan, IrInst *inst) {
  if (!is_reversed(p, inst)) return;
  switch (inst->op) {
  case IR_UPDATE:
  case IR_RMW:
  case IR_CAS:
  case IR_REDUCE: require_for_update(p, plan, inst); return;
  case IR_APPEND:
  case IR_POP: refuse_element(p, inst); return;
  case IR_LOAD:
  case IR_STORE: require_indices(p, plan, inst); return;
  case IR_PICK: require(p, plan, inst->operands[0]); return;
  case IR_LOCAL_GET:
  case IR_LOCAL_SET: require(p, plan, inst->operands[1]); return;
  default:
    if (derivative_class(inst->op) == DERIVATIVE_SMOOTH) require_for_derivative(p, plan, inst);
  }
}

static Plan *make_plan(Plans *p, IrRegion *region);

void plans_tape(Plans *p, const IrInst *value) {
  if (tape_keep(&p->tape, value)) return;
  plans_refuse(p, value,
               "the derivative needs what this was in each iteration of a loop whose iterations "
               "have no numbers: a while, or the cells of a tree without bounds",
               "write to another field, or divide the kernel in two");
}

/* Requires the values that a region inside the plan's needs from outside. */
static void require_from_outside(Plans *p, Plan *plan, const Plan *child) {
  for (int id = 0; id < p->id_count; id++) {
    IrInst *value = p->insts[id];
    if (child->needed[id] && value && !plan_is_storage(value) &&
        !ir_is_inside(value, child->region))
      require(p, plan, value);
  }
}

/* Plans the loop-carried variables that the reversed iterations need. */
static void plan_carried(Plans *p, Plan *plan, IrInst *loop, Plan *body) {
  Plan carried = {.region = body->region,
                  .needed = scratch_array(p->kernel->scratch, bool, p->id_count)};
  bool is_carried = false;
  for (int k = 0; k < body->entered.count; k++) {
    IrInst *var = body->entered.items[k];
    bool is_set = false;
    for (const IrUse *use = var->uses; use; use = use->next)
      is_set |= (use->user->op == IR_SET || use->user->op == IR_LOCAL_SET) &&
                ir_is_inside(use->user, body->region);
    if (!is_set) continue;
    is_carried = true;
    require_variable(p, &carried, var);
  }
  if (!is_carried) return;
  if (loop->op != IR_FOR)
    plans_refuse(p, loop,
                 "the derivative needs what variables were in earlier iterations of this loop",
                 "a numeric for counts them");
  body->carried = carried.needed;
  require_from_outside(p, plan, &carried);
  /* variables that only the insts in between read */
  for (int k = 0; k < carried.entered.count; k++) {
    IrInst *var = carried.entered.items[k];
    if (body->needed[var->id]) continue;
    body->needed[var->id] = true;
    vec_push(p->kernel->scratch, &body->entered, var);
  }
}

/* Requires the values that the reversal of an op with regions needs. */
static void plan_regions(Plans *p, Plan *plan, IrInst *inst) {
  if (!p->reversed[inst->id]) return;
  require_iteration_number(p, plan, inst);
  require_trips(p, plan, inst);
  for (int k = 0; k < inst->operand_count; k++) require(p, plan, inst->operands[k]);
  for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++) {
    Plan *child = p->of[2 * inst->id + k] = make_plan(p, inst->regions[k]);
    if (inst->op != IR_IF) plan_carried(p, plan, inst, child);
    require_from_outside(p, plan, child);
    for (int i = 0; i < child->entered.count; i++)
      require_variable(p, plan, child->entered.items[i]);
  }
}

static Plan *make_plan(Plans *p, IrRegion *region) {
  Plan *plan = scratch_new(p->kernel->scratch, Plan);
  plan->region = region;
  plan->needed = scratch_array(p->kernel->scratch, bool, p->id_count);
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    if (inst->regions[0]) plan_regions(p, plan, inst);
    else require_to_reverse(p, plan, inst);
  }
  plan->entry_values = scratch_array(p->kernel->scratch, IrInst *, plan->entered.count + 1);
  return plan;
}

/* -- all of it --------------------------------------------------------------------------------- */

static void collect_inst(Plans *p, IrInst *inst) {
  p->insts[inst->id] = inst;
  for (int k = 0; k < IR_MAX_REGIONS && inst->regions[k]; k++)
    for (int i = 0; i < inst->regions[k]->params.count; i++)
      p->insts[inst->regions[k]->params.items[i]->id] = inst->regions[k]->params.items[i];
}

void plans_find_active(Plans *p, IrKernel *kernel, Companion companion, Error *err) {
  int count = kernel->next_id;
  *p = (Plans){.kernel = kernel,
               .companion = companion,
               .err = err,
               .id_count = count,
               .varied = scratch_array(kernel->scratch, bool, count),
               .useful = scratch_array(kernel->scratch, bool, count),
               .is_sum = scratch_array(kernel->scratch, bool, count),
               .reversed = scratch_array(kernel->scratch, bool, count),
               .insts = scratch_array(kernel->scratch, IrInst *, count),
               .of = scratch_array(kernel->scratch, Plan *, 2 * count)};
  const IrRegion *body = kernel->body;
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) collect_inst(p, inst);
  propagate(p, mark_varied);
  propagate(p, mark_useful);
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    mark_reversed(p, inst);
    mark_sum(p, inst);
  }
}

const bool *plans_reversed(IrKernel *kernel, Companion companion) {
  Plans plans;
  plans_find_active(&plans, kernel, companion, NULL);
  return plans.reversed;
}

bool plans_make(Plans *p, IrKernel *kernel, Companion companion, const LoopCounts *counts,
                Error *err) {
  plans_find_active(p, kernel, companion, err);
  ASSERT(kernel->next_id == p->id_count, "nothing is emitted before all plans are made");
  p->counts = counts;
  for (IrInst *inst = kernel->body->first; inst; inst = ir_following(inst, kernel->body))
    refuse_exit(p, inst);
  tape_init(&p->tape, kernel, p->id_count);
  for (int i = 0; i < counts->count; i++)
    p->tape.grows[counts->items[i].loop->id] = !counts->items[i].has_end;
  do { /* a taped value need not be recomputed, but its position on the tape must be */
    p->tape.has_changed = false;
    p->host = make_plan(p, kernel->body);
    uses_tape(p);
  } while (p->tape.has_changed && !p->is_refused);
  if (p->tape.is_used) p->rerun = rerun_find(p);
  if (p->tape.is_used && !tape_lay_out(&p->tape))
    plans_refuse(p, kernel->body->first, "the derivative needs too many values of one loop", NULL);
  uses_find(p);
  return !p->is_refused;
}
