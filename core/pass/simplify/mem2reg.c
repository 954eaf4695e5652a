/* mem2reg.c - promotes variables to values, and removes those that are no longer used.
 *
 *   set %v, %a                          %s = select %c, %b, %a
 *   if %c { set %v, %b }          =>    store %p, %s
 *   store %p, get %v
 *
 * A forward walk tracks each variable's value wherever all paths agree on one, and replaces GETs by
 * it. If the arms of an `if` differ, the value is a SELECT if both arms only set variables and
 * compute little (can_select), and the `if` goes. A SET never moves, so the variable always holds
 * its value, and code that the walk cannot follow stays correct. A backward walk removes SETs that
 * no GET can see any more, and variables without uses.
 *
 * Loop-carried variables stay VARs, as do those set in arms that have effects or compute much, and
 * those that calls store results in: decision D-pass-60. All others are values before the first
 * pass that needs them, so no other pass searches for the last SET. Variables that own an array
 * (OWN ..) are left alone. A local array whose indices are constant, with few exceptions, becomes
 * variables first; one that is never read is removed. Loops that run once, as copies of a loop with
 * a `break` do, become straight-line code if they compute little (flatten.c), or arms. */
#include "pass/arrays/local_arrays.h"
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/simplify/simplify.h"

/* What an `if` that becomes SELECTs may compute in addition: about the cost of a branch that is
 * mispredicted half of the time. */
enum { MOST_COMPUTED = 4, MOST_SELECTS = 4 };
/* What the copies of a loop with a `break` may compute to become straight-line code. */
enum { MOST_FLATTENED = 128 };
enum { MOST_ROUNDS = 3 }; /* folding decides conditions, after which more variables have values */

typedef struct VarValue { /* a variable, by number, and its value */
  int var;
  IrInst *value;
} VarValue;
typedef VEC(VarValue) VarValues;

typedef struct Promotion {
  IrKernel *kernel;
  Scratch *scratch;
  int id_count;
  int *numbers; /* by id of a VAR: its number plus 1; 0: it stays as it is */
  VEC(IrInst *) vars;
  IrInst **now;      /* by number: the value here; the VAR itself: zero; NULL: not known */
  VarValues undo;    /* the values before each change, to restore them */
  uint64_t *at_exit; /* the variables that may be read after a BREAK or CONTINUE; NULL: none */
  bool has_changed;
} Promotion;

/* -- values of variables ----------------------------------------------------------------------- */

static int number_of(const Promotion *p, const IrInst *inst) {
  return inst->op == IR_VAR && inst->id < p->id_count ? p->numbers[inst->id] - 1 : -1;
}

static void set_value(Promotion *p, int var, IrInst *value) {
  DEBUG_ASSERT(var >= 0 && var < p->vars.count, "the variable has a number");
  if (p->now[var] == value) return;
  vec_push(p->scratch, &p->undo, ((VarValue){var, p->now[var]}));
  p->now[var] = value;
}

static void undo_to(Promotion *p, int count) {
  DEBUG_ASSERT(count <= p->undo.count, "changes are undone up to an earlier one");
  while (p->undo.count > count) {
    const VarValue *last = &p->undo.items[--p->undo.count];
    p->now[last->var] = last->value;
  }
}

/* The value as an inst: variables that are not set yet are zero. */
static IrInst *as_inst(Promotion *p, IrInst *value) {
  if (value->op != IR_VAR) return value;
  IrBuilder b = rewrite_before(p->kernel, value);
  return ir_zero(&b, value->type);
}

/* Forgets variables that the inst may change, other than by a SET: calls store results in them. */
static void forget_changed(Promotion *p, const IrInst *inst) {
  for (int i = 0; inst->op != IR_GET && i < inst->operand_count; i++) {
    int var = number_of(p, inst->operands[i]);
    if (var >= 0) set_value(p, var, NULL);
  }
}

/* -- the arms of an `if` ----------------------------------------------------------------------- */

static bool is_cheap(const IrInst *inst) {
  switch (inst->op) {
  case IR_DIV:
  case IR_DIV_ROOT:
  case IR_DIV_CUBE:
  case IR_FLOORDIV:
  case IR_MOD:
  case IR_SQRT:
  case IR_RANDOM:
  case IR_TABLE_GET:
  case IR_PICK:
  case IR_PLACE:
  case IR_CELL: return false;
  default: return (ir_effects(inst) & IR_PURE) && !(ir_op_info[inst->op].flags & IR_SLOW);
  }
}

/* Does the arm only set variables, and compute little? */
static bool is_cheap_arm(const Promotion *p, const IrRegion *arm, int *computed) {
  for (const IrInst *inst = arm->first; inst; inst = inst->next) {
    if (number_of(p, inst->op == IR_SET ? inst->operands[0] : inst) >= 0) continue;
    if (!is_cheap(inst)) return false;
    *computed += inst->op != IR_CONST;
  }
  return *computed <= MOST_COMPUTED;
}

typedef struct Merge { /* of one variable that an arm sets */
  int var;
  IrInst *values[2]; /* at the end of each arm; NULL: not known */
} Merge;
typedef VEC(Merge) Merges;

/* Is one side the variable's own loop-carried value? A SELECT would not remove the variable, and
 * would hide that it is a sum. */
static bool is_carried(const Promotion *p, const Merge *merge, int side) {
  const IrInst *value = merge->values[side];
  return value->op == IR_GET && value->operands[0] == p->vars.items[merge->var];
}

static bool can_select(const Promotion *p, const IrInst *branch, const Merges *merges) {
  int computed = 0;
  if (merges->count > MOST_SELECTS || !is_cheap_arm(p, branch->regions[0], &computed) ||
      !is_cheap_arm(p, branch->regions[1], &computed))
    return false;
  for (int i = 0; i < merges->count; i++) {
    const Merge *merge = &merges->items[i];
    if (type_is(p->vars.items[merge->var]->type, TYPE_PTR)) return false;
    for (int side = 0; side < 2; side++)
      if (!merge->values[side] || is_carried(p, merge, side)) return false;
  }
  return true;
}

/* Replaces the `if` by what its arms compute, and a SELECT and a SET for each variable. */
static void select_values(Promotion *p, IrInst *branch, const Merges *merges) {
  DEBUG_ASSERT(branch->op == IR_IF && merges->count <= MOST_SELECTS, "can_select has agreed");
  for (int r = 0; r < 2; r++)
    for (IrInst *inst = branch->regions[r]->first, *next; inst; inst = next) {
      next = inst->next;
      if (inst->op == IR_SET || inst->op == IR_VAR) continue;
      ir_move_before(branch, inst);
    }
  IrBuilder b = rewrite_before(p->kernel, branch);
  for (int i = 0; i < merges->count; i++) {
    const Merge *merge = &merges->items[i];
    IrInst *yes = as_inst(p, merge->values[0]), *no = as_inst(p, merge->values[1]);
    IrInst *value = yes == no ? yes : ir_select(&b, branch->operands[0], yes, no);
    ir_set(&b, p->vars.items[merge->var], value);
    set_value(p, merge->var, value);
  }
  ir_delete(branch);
  p->has_changed = true;
}

/* After an `if` that stays: a value is known if the arms that continue agree on one from outside.
 * */
static void join_values(Promotion *p, const IrInst *branch, const Merges *merges) {
  bool exits[2] = {ir_ends_in_exit(branch->regions[0]), ir_ends_in_exit(branch->regions[1])};
  for (int i = 0; i < merges->count; i++) {
    IrInst *const *values = merges->items[i].values;
    IrInst *value = exits[0] ? values[1] : values[0];
    bool agree = exits[0] || exits[1] || values[0] == values[1];
    bool is_visible = value && !ir_is_inside(value, branch->regions[0]) &&
                      !ir_is_inside(value, branch->regions[1]);
    set_value(p, merges->items[i].var, agree && is_visible ? value : NULL);
  }
}

static void promote_region(Promotion *p, IrRegion *region);

static Merge *find_merge(Promotion *p, Merges *merges, int var) {
  for (int i = 0; i < merges->count; i++)
    if (merges->items[i].var == var) return &merges->items[i];
  vec_push(p->scratch, merges, ((Merge){var, {p->now[var], p->now[var]}}));
  return &merges->items[merges->count - 1];
}

static void promote_if(Promotion *p, IrInst *branch) {
  Merges merges = {0};
  VarValues ends[2] = {{0}, {0}};
  int outer = p->undo.count;
  for (int side = 0; side < 2; side++) {
    promote_region(p, branch->regions[side]);
    for (int k = outer; k < p->undo.count; k++) {
      int var = p->undo.items[k].var;
      if (ir_is_inside(p->vars.items[var], branch->regions[side])) continue; /* it ends here */
      vec_push(p->scratch, &ends[side], ((VarValue){var, p->now[var]}));
    }
    undo_to(p, outer);
  }
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < ends[side].count; k++)
      find_merge(p, &merges, ends[side].items[k].var)->values[side] = ends[side].items[k].value;
  if (can_select(p, branch, &merges)) select_values(p, branch, &merges);
  else join_values(p, branch, &merges);
}

/* -- forwards ---------------------------------------------------------------------------------- */

/* Variables that iterations set are unknown at the beginning of each iteration, and after the loop.
 * */
static void promote_loop(Promotion *p, IrInst *loop) {
  for (int i = 0; i < ir_region_count(loop->op); i++)
    for (IrInst *inst = loop->regions[i]->first; inst; inst = ir_following(inst, loop->regions[i]))
      forget_changed(p, inst);
  int outer = p->undo.count;
  for (int i = 0; i < ir_region_count(loop->op); i++) {
    promote_region(p, loop->regions[i]);
    undo_to(p, outer);
  }
}

static void promote_get(Promotion *p, IrInst *get, int var) {
  if (!p->now[var]) return set_value(p, var, get);
  ir_replace_uses(get, as_inst(p, p->now[var]));
  ir_delete(get);
  p->has_changed = true;
}

static void promote_set(Promotion *p, IrInst *set, int var) {
  bool is_idle = p->now[var] == set->operands[1];
  set_value(p, var, set->operands[1]);
  if (!is_idle) return;
  ir_delete(set);
  p->has_changed = true;
}

static void promote_inst(Promotion *p, IrInst *inst) {
  int own = number_of(p, inst), var = inst->operand_count ? number_of(p, inst->operands[0]) : -1;
  if (own >= 0) set_value(p, own, type_is(inst->type, TYPE_PTR) ? NULL : inst); /* no ptr is 0 */
  else if (inst->op == IR_GET && var >= 0) promote_get(p, inst, var);
  else if (inst->op == IR_SET && var >= 0) promote_set(p, inst, var);
  else if (inst->op == IR_IF) promote_if(p, inst);
  else if (inst->regions[0]) promote_loop(p, inst);
  else forget_changed(p, inst);
}

static void promote_region(Promotion *p, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    promote_inst(p, inst);
  }
}

/* -- backwards --------------------------------------------------------------------------------- */

static size_t words_of_set(const Promotion *p) { return (size_t)p->vars.count / 64 + 1; }

static uint64_t *copy_set(const Promotion *p, const uint64_t *set) {
  uint64_t *copy = scratch_array(p->scratch, uint64_t, (int)words_of_set(p));
  if (set) memcpy(copy, set, words_of_set(p) * sizeof *set);
  return copy;
}

static void add_set(const Promotion *p, uint64_t *set, const uint64_t *with) {
  for (size_t k = 0; k < words_of_set(p); k++) set[k] |= with[k];
}

static bool is_in(const uint64_t *set, int var) { return set[var / 64] >> var % 64 & 1; }
static void add_to_set(uint64_t *set, int var) { set[var / 64] |= (uint64_t)1 << var % 64; }
static void remove_from_set(uint64_t *set, int var) { set[var / 64] &= ~((uint64_t)1 << var % 64); }

/* Adds the variables that the inst reads, or may set, as a call does. */
static void add_reads(const Promotion *p, uint64_t *live, const IrInst *inst) {
  for (int i = inst->op == IR_SET; i < inst->operand_count; i++) {
    int var = number_of(p, inst->operands[i]);
    if (var >= 0) add_to_set(live, var);
  }
}

/* Adds the variables from outside that the loop reads: the previous iteration may have set them. */
static void add_carried(const Promotion *p, IrInst *loop, uint64_t *live) {
  uint64_t *reads = copy_set(p, NULL), *declared = copy_set(p, NULL);
  for (int i = 0; i < ir_region_count(loop->op); i++)
    for (IrInst *inst = loop->regions[i]->first; inst;
         inst = ir_following(inst, loop->regions[i])) {
      add_reads(p, reads, inst);
      if (number_of(p, inst) >= 0) add_to_set(declared, number_of(p, inst));
    }
  for (size_t k = 0; k < words_of_set(p); k++) live[k] |= reads[k] & ~declared[k];
}

static void sweep_region(Promotion *p, IrRegion *region, uint64_t *live);

static void sweep_if(Promotion *p, IrInst *branch, uint64_t *live) {
  uint64_t *other = copy_set(p, live);
  sweep_region(p, branch->regions[0], live);
  sweep_region(p, branch->regions[1], other);
  add_set(p, live, other);
}

/* An exit may leave any of the loops around it. */
static void sweep_loop(Promotion *p, IrInst *loop, uint64_t *live) {
  uint64_t *outer = p->at_exit;
  add_carried(p, loop, live);
  p->at_exit = copy_set(p, outer);
  add_set(p, p->at_exit, live);
  for (int i = 0; i < ir_region_count(loop->op); i++)
    sweep_region(p, loop->regions[i], copy_set(p, live));
  p->at_exit = outer;
}

static void sweep_exit(const Promotion *p, const IrInst *inst, uint64_t *live) {
  bool ends_function = inst->op == IR_RETURN || !p->at_exit;
  if (ends_function) memset(live, 0, words_of_set(p) * sizeof *live);
  else memcpy(live, p->at_exit, words_of_set(p) * sizeof *live);
}

static void delete_inst(Promotion *p, IrInst *inst) {
  ir_delete(inst);
  p->has_changed = true;
}

/* `live`, in and out: the variables that may be read after the inst, and before it. */
static void sweep_inst(Promotion *p, IrInst *inst, uint64_t *live) {
  int own = number_of(p, inst), set = inst->op == IR_SET ? number_of(p, inst->operands[0]) : -1;
  if (own >= 0 && !ir_is_used(inst)) return delete_inst(p, inst);
  if (own >= 0) return remove_from_set(live, own);
  if (set >= 0 && !is_in(live, set)) return delete_inst(p, inst);
  if (set >= 0) remove_from_set(live, set);
  if (inst->op == IR_GET && !ir_is_used(inst)) return delete_inst(p, inst);
  if (inst->op == IR_IF) sweep_if(p, inst, live);
  else if (inst->regions[0]) sweep_loop(p, inst, live);
  else if (ir_effects(inst) & IR_EXIT) sweep_exit(p, inst, live);
  add_reads(p, live, inst);
}

static void sweep_region(Promotion *p, IrRegion *region, uint64_t *live) {
  for (IrInst *inst = region->last, *previous; inst; inst = previous) {
    previous = inst->previous;
    sweep_inst(p, inst, live);
  }
}

/* -- the pass ---------------------------------------------------------------------------------- */

static void number_vars(Promotion *p, const IrRegion *body) {
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body)) {
    if (inst->op != IR_VAR || inst->owns || inst->persists) continue;
    vec_push(p->scratch, &p->vars, inst);
    p->numbers[inst->id] = p->vars.count;
  }
}

static bool promote(PassContext *ctx, IrKernel *kernel, IrRegion *body) {
  Promotion p = {.kernel = kernel,
                 .scratch = ctx->scratch,
                 .id_count = kernel->next_id,
                 .numbers = scratch_array(ctx->scratch, int, kernel->next_id)};
  number_vars(&p, body);
  if (!p.vars.count) return false;
  p.now = scratch_array(ctx->scratch, IrInst *, p.vars.count);
  promote_region(&p, body);
  sweep_region(&p, body, copy_set(&p, NULL));
  ASSERT(!p.at_exit, "every loop was left");
  return p.has_changed;
}

/* -- loops that run once ----------------------------------------------------------------------- */

/* Does the region only compute a little and set variables, until it leaves the loop? */
static bool only_computes(const IrRegion *region, int *computed) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    bool is_variable = inst->op == IR_VAR ? !inst->owns && !inst->persists
                                          : inst->op == IR_GET || inst->op == IR_SET;
    bool leaves = inst->op == IR_BREAK && inst->imm == 0;
    if (!is_variable && !leaves && inst->op != IR_IF && !is_cheap(inst)) return false;
    *computed += inst->op != IR_CONST && inst->op != IR_GET;
    for (int i = 0; i < ir_region_count(inst->op); i++)
      if (!only_computes(inst->regions[i], computed)) return false;
  }
  return *computed <= MOST_FLATTENED;
}

/* Replaces the loops that run once by straight-line code, or by arms. */
static bool straighten(IrKernel *kernel, IrRegion *body) {
  bool has_changed = false;
  for (IrInst *inst = body->first, *next; inst; inst = next) {
    int computed = 0;
    next = ir_following(inst, body);
    if (inst->op != IR_LOOP || !inst->regions[0]->last) continue;
    const IrInst *last = inst->regions[0]->last;
    if (last->op != IR_BREAK || last->imm != 0) continue;
    IrInst *before = inst->previous;
    IrRegion *region = inst->region;
    if (only_computes(inst->regions[0], &computed)) flatten_loop(kernel, inst);
    else if (!exits_dissolve(inst)) continue;
    has_changed = true;
    next = before ? before : region->first;
  }
  return has_changed;
}

static void promote_all(PassContext *ctx, IrKernel *kernel, IrRegion *body) {
  for (int round = 0; round < MOST_ROUNDS && promote(ctx, kernel, body); round++)
    fold_alone(ctx, kernel, body);
}

void mem2reg_alone(PassContext *ctx, IrKernel *kernel, IrRegion *body) {
  if (local_arrays_split(ctx->scratch, kernel, body)) fold_alone(ctx, kernel, body);
  promote_all(ctx, kernel, body);
  if (!straighten(kernel, body)) return;
  fold_alone(ctx, kernel, body);
  promote_all(ctx, kernel, body);
}

bool pass_mem2reg(PassContext *ctx, IrKernel *kernel, Error *err) {
  mem2reg_alone(ctx, kernel, kernel->body);
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    mem2reg_alone(ctx, kernel, task->body);
    if (task->interior) mem2reg_alone(ctx, kernel, task->interior);
  }
  for (int i = 0; i < kernel->functions.count; i++)
    mem2reg_alone(ctx, kernel, kernel->functions.items[i]->body);
  return true;
}
