/* redundancy.c - removes redundancy that `lower_places` leaves, since it lowers each access by
 * itself: repeated look-ups of a node (pass `redundant_slots`), repeated branches on a condition
 * (`merge_branches`), repeated loads of an element, and writes that both arms of a branch make
 * (`redundant_loads`). */
#include "ir/facts.h"
#include "pass/analysis/effects.h"
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/simplify/simplify.h"

static void replace_by(IrInst *inst, IrInst *known) {
  ir_replace_uses(inst, known);
  ir_delete(inst);
}

/* -- look-ups of nodes ------------------------------------------------------------------------- */

/* Removes repeated look-ups that ensure a node: once per iteration suffices.
 *
 *   %n = call rt_slot_ensure %s      %n = call rt_slot_ensure %s
 *   mem.store %n + 0                 mem.store %n + 0
 *   %m = call rt_slot_ensure %s  =>
 *   mem.store %m + 4                 mem.store %n + 4
 *
 * If the body deactivates nothing in the tree, an ensured node exists for the rest of the
 * iteration, so a later look-up finds the same node. Look-ups that only find are left to LLVM,
 * which knows when nothing in between can change the slot. A result is available in its region,
 * from its position on, and in nested regions. Equal slots are one inst, thanks to `fold`. Cells of
 * a hash are identified by the parent node and the coordinates. A table look-up is too opaque for
 * LLVM to merge, so if the body activates nothing in the tree, a found cell is not looked up again
 * either. */

enum { MOST_FOUND = 64 }; /* cells of hashes that are compared with each new one */

typedef struct Slots {
  IrKernel *kernel;
  const unsigned *trees;       /* the body's effects on each tree */
  IrMap *ensured;              /* of a slot's address: the visible inst that ensured it */
  VEC(const IrInst *) entered; /* addresses in `ensured`, to be removed when their region ends */
  VEC(IrInst *) found;         /* cells of hashes, likewise */
} Slots;

static void visit_slot(Slots *s, IrInst *inst) {
  const IrInst *address = inst->operands[0];
  IrInst *known = ir_mapped(s->ensured, address);
  if (known && known->tree == inst->tree) {
    replace_by(inst, known);
  } else if (ir_is_call(inst, RT_SLOT_ENSURE) && !known) {
    ir_map_put(s->ensured, address, inst);
    vec_push(s->kernel->scratch, &s->entered, address);
  }
}

static bool is_same_cell(const IrInst *a, const IrInst *b) {
  if (a->tree != b->tree || a->imm != b->imm || a->operand_count != b->operand_count) return false;
  for (int i = 0; i < a->operand_count; i++)
    if (a->operands[i] != b->operands[i]) return false;
  return true;
}

static void visit_key(Slots *s, IrInst *inst) {
  for (int i = s->found.count - 1; i >= 0; i--)
    if (is_same_cell(s->found.items[i], inst)) return replace_by(inst, s->found.items[i]);
  if (s->found.count < MOST_FOUND &&
      (ir_is_call(inst, RT_HASH_ENSURE) || !(s->trees[inst->tree] & EFFECT_ACTIVATES)))
    vec_push(s->kernel->scratch, &s->found, inst);
}

/* Does the node that it returns exist until the iteration ends? */
static bool node_stays(const Slots *s, const IrInst *inst) {
  return !(s->trees[inst->tree] & EFFECT_DEACTIVATES);
}

static void visit_slots(Slots *s, IrRegion *region) {
  int before = s->entered.count, found = s->found.count;
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    bool is_slot = ir_is_call(inst, RT_SLOT_ENSURE) || ir_is_call(inst, RT_SLOT_FIND);
    bool is_key = ir_is_call(inst, RT_HASH_ENSURE) || ir_is_call(inst, RT_HASH_FIND);
    if (is_slot && node_stays(s, inst)) visit_slot(s, inst);
    if (is_key && node_stays(s, inst)) visit_key(s, inst);
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) visit_slots(s, inst->regions[i]);
  }
  DEBUG_ASSERT(s->entered.count >= before && s->found.count >= found, "regions only add");
  while (s->entered.count > before)
    ir_map_put(s->ensured, s->entered.items[--s->entered.count], NULL);
  s->found.count = found;
}

bool pass_redundant_slots(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    Slots s = {.kernel = kernel,
               .trees = effects_of(ctx, kernel, task)->trees,
               .ensured = ir_map(ctx->scratch, kernel)};
    visit_slots(&s, task->body);
    if (task->interior) visit_slots(&s, task->interior);
  }
  return true;
}

/* -- loads ------------------------------------------------------------------------------------- */

/* Redundant load elimination: an iteration does not read an element again that
 * it has read and not written since.
 *
 *   %a = mem.load alias=1 %p          %a = mem.load alias=1 %p
 *   mem.update alias=2 add %q, %a     mem.update alias=2 add %q, %a
 *   %b = mem.load alias=1 %p     =>
 *   mem.update alias=2 add %r, %b     mem.update alias=2 add %r, %a
 *
 * It is unspecified when writes of other iterations become visible, so the second read may return
 * the old value; but not across an atomic op with a result, which may be a lock. A load is
 * available in its region, from its position on, and in nested regions; a loop first invalidates
 * the loads that its body may change. LLVM does the same for scalar code, but not for masked
 * accesses in lanes, where removing loads also makes updates adjacent. Applies to ranges only;
 * thanks to `fold`, equal addresses are one inst. */

/* Loads that are remembered at once; each new one is compared with all of them. */
enum { MOST_KNOWN = 64 };

typedef struct Loads {
  IrInst *known[MOST_KNOWN];
  int count;
} Loads;

/* May `inst` change what the load reads? */
static bool may_change(const IrInst *inst, const IrInst *load) {
  int effects = ir_effects(inst);
  if (ir_is_write(inst->op)) return ir_may_alias(inst, load);
  if (effects & (IR_WRITE | IR_UPDATE_EFFECT | IR_DEACTIVATES)) return true;
  return effects & IR_ACTIVATES && !load->alias;
}

static void forget_changed(Loads *loads, const IrInst *inst) {
  int kept = 0;
  for (int i = 0; i < loads->count; i++)
    if (!may_change(inst, loads->known[i])) loads->known[kept++] = loads->known[i];
  loads->count = kept;
}

static void forget_changed_inside(Loads *loads, const IrInst *inst) {
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
    for (IrInst *at = inst->regions[i]->first; at; at = ir_following(at, inst->regions[i]))
      forget_changed(loads, at);
}

static void visit_load(Loads *loads, IrInst *inst) {
  DEBUG_ASSERT(!inst->shape && !inst->group, "`access_shapes`, which groups loads, runs later");
  for (int i = 0; i < loads->count; i++)
    if (loads->known[i]->operands[0] == inst->operands[0] &&
        facts_same_operation(loads->known[i], inst))
      return replace_by(inst, loads->known[i]);
  if (loads->count < MOST_KNOWN) loads->known[loads->count++] = inst;
}

static void visit_loads(Loads *loads, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (inst->op == IR_MEM_LOAD) visit_load(loads, inst);
    else forget_changed(loads, inst);
    if (inst->op != IR_IF) forget_changed_inside(loads, inst);
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++) {
      Loads inside = *loads;
      visit_loads(&inside, inst->regions[i]);
    }
    forget_changed_inside(loads, inst);
  }
}

/* -- loads of what the iteration before has stored --------------------------------------------- */

/* Scalar replacement: a serial loop keeps in a variable what its next iteration reads.
 *
 *   for %a, %b, %one (%k) {             %v = var
 *     %x = mem.load p(%k - 1)           if le %a, %b { set %v, (mem.load p(%a - 1)) }
 *     ..                                for %a, %b, %one (%k) {
 *     mem.store p(%k), %y        =>       %x = get %v
 *   }                                     ..
 *                                         mem.store p(%k), %y
 *                                         set %v, %y
 *                                       }
 *
 * A load waits for the store before it, several times as long as for an addition; and lanes would
 * gather what they have just scattered. LLVM finds few such loads, since it must prove that an i32
 * index does not wrap. Load and store are directly in the body, and nothing else in it changes the
 * element. D-pass-109. */

/* Can the value be computed outside the region, from its parameter and values from outside? */
static bool is_recomputable(const IrInst *value, const IrRegion *body) {
  if (!ir_is_inside(value, body) || value->op == IR_PARAM) return true;
  if (value->op == IR_GET || value->regions[0] || !(ir_effects(value) & IR_PURE)) return false;
  for (int i = 0; i < value->operand_count; i++)
    if (!is_recomputable(value->operands[i], body)) return false;
  return true;
}

/* Does the index of the address move with the loop alone? */
static bool moves_with_loop(const IrInst *address, const IrRegion *body) {
  Affine index;
  if (address->op != IR_OFFSET || !facts_is_invariant(address->operands[0], body)) return false;
  if (!facts_affine(address->operands[1], body, &index)) return false;
  for (int i = 0; i < index.count; i++)
    if (index.values[i] != body->params.items[0] && !facts_is_invariant(index.values[i], body))
      return false;
  return true;
}

static bool is_followed_by(const IrInst *first, const IrInst *second) {
  while (first && first != second) first = first->next;
  return first != NULL;
}

/* The store of the loop's body that writes what the load before it reads in the next iteration, or
 * NULL. */
static const IrInst *store_before(IrInst *loop, const IrInst *load) {
  const IrRegion *body = loop->regions[0];
  if (!load->alias || !moves_with_loop(load->operands[0], body)) return NULL;
  for (const IrInst *store = body->last; store; store = store->previous) {
    int64_t iterations;
    bool never;
    if (store->op != IR_MEM_STORE || store->alias != load->alias) continue;
    if (!type_equal(store->operands[1]->type, load->type) || !is_followed_by(load, store) ||
        !moves_with_loop(store->operands[0], body) ||
        !facts_reads_after(load, store, &iterations, &never) || never || iterations != 1)
      return NULL;
    for (const IrInst *at = body->first; at; at = ir_following(at, body))
      if (at != store && may_change(at, load)) return NULL;
    return is_recomputable(load->operands[0], body) ? store : NULL;
  }
  return NULL;
}

static void carry_load(IrKernel *kernel, IrInst *loop, IrInst *load, const IrInst *store) {
  IrRegion *body = loop->regions[0];
  IrMap *first = ir_map(kernel->scratch, kernel);
  IrBuilder b = rewrite_before(kernel, loop);
  IrInst *var = ir_var(&b, load->type);
  IrOp runs = facts_step(loop) > 0 ? IR_LE : IR_GE;
  IrInst *guard = ir_if(&b, ir_binary(&b, runs, loop->operands[0], loop->operands[1]));
  IrBuilder inside = rewrite_into(&b, guard->regions[0]);
  ir_map_put(first, body->params.items[0], loop->operands[0]);
  rewrite_recompute(&inside, load->operands[0], body, first);
  IrInst *start = ir_copy_inst(kernel, load, first);
  ir_region_append(guard->regions[0], start);
  ir_set(&inside, var, start);
  IrBuilder top = rewrite_first(kernel, body, load), after = rewrite_after(kernel, store);
  ir_set(&after, var, store->operands[1]);
  ir_replace_uses(load, ir_get(&top, var));
  ir_delete(load);
}

static void carry_loads_of_loop(IrKernel *kernel, IrInst *loop) {
  int64_t step = facts_step(loop);
  if (!step || step == INT64_MIN || loop->no_unroll || loop->independent) return;
  if (!type_is_integer(loop->operands[0]->type)) return;
  for (IrInst *inst = loop->regions[0]->first; inst; inst = inst->next)
    if (ir_has_exit(inst)) return;
  for (IrInst *load = loop->regions[0]->first, *next; load; load = next) {
    next = load->next;
    const IrInst *store = load->op == IR_MEM_LOAD ? store_before(loop, load) : NULL;
    if (store) carry_load(kernel, loop, load, store);
  }
}

/* -- writes that both arms make ---------------------------------------------------------------- */

/* Sinking of common stores: a write of one element in both arms of an `if` moves after the `if`.
 *
 *   if %c { mem.store %p, %a }        %s = select %c, %a, %b
 *   else { mem.store %p, %b }    =>   mem.store %p, %s
 *
 * In lanes, one store under the mask of the loop replaces two under the masks of the arms, and an
 * `if` without writes and loads often becomes selects. D-pass-114. */

/* Can the write follow its arm: does nothing after it access the element, order other writes, or
 * leave the arm? */
static bool can_follow_arm(const IrInst *write, const IrRegion *arm) {
  for (IrInst *at = write->next; at; at = ir_following(at, arm)) {
    bool is_plain = at->op == IR_MEM_LOAD || ir_is_write(at->op);
    bool is_local = at->op == IR_VAR || at->op == IR_GET || at->op == IR_SET || at->op == IR_IF;
    if (is_plain ? ir_may_alias(at, write) : !is_local && !(ir_effects(at) & IR_PURE)) return false;
  }
  return true;
}

/* The write of the other arm that reaches the same element in the same way, or NULL. */
static IrInst *find_same_write(const IrRegion *arm, const IrInst *write) {
  for (IrInst *at = arm->last; at; at = at->previous)
    if (ir_is_write(at->op) && facts_same_operation(at, write) &&
        type_equal(at->operands[1]->type, write->operands[1]->type) &&
        facts_same_value(at->operands[0], write->operands[0]))
      return can_follow_arm(at, arm) ? at : NULL;
  return NULL;
}

static void sink_write(IrKernel *kernel, IrInst *branch, IrInst *write, IrInst *other) {
  IrBuilder before = rewrite_before(kernel, branch), after = rewrite_after(kernel, branch);
  IrInst *var = ir_var(&before, write->operands[1]->type), *arms[] = {write, other};
  for (int i = 0; i < 2; i++) {
    IrBuilder at = rewrite_before(kernel, arms[i]);
    ir_set(&at, var, arms[i]->operands[1]);
  }
  ir_set_operand(write, 0,
                 rewrite_recompute(&after, write->operands[0], branch->regions[0],
                                   ir_map(kernel->scratch, kernel)));
  ir_set_operand(write, 1, ir_get(&after, var));
  ir_remove(write);
  ir_insert(&after, write);
  ir_delete(other);
}

/* Inner branches first, since the write that follows one may be in an arm of an outer one. */
static bool sink_writes(IrKernel *kernel, IrRegion *region) {
  bool has_sunk = false;
  for (IrInst *inst = region->first; inst; inst = inst->next) {
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      has_sunk |= sink_writes(kernel, inst->regions[i]);
    if (inst->op != IR_IF || ir_has_exit(inst)) continue;
    const IrRegion *arm = inst->regions[0];
    for (IrInst *write = arm->last, *previous; write; write = previous) {
      previous = write->previous;
      if (!ir_is_write(write->op) || !can_follow_arm(write, arm)) continue;
      IrInst *other = find_same_write(inst->regions[1], write);
      if (!other || !is_recomputable(write->operands[0], arm)) continue;
      sink_write(kernel, inst, write, other);
      has_sunk = true;
    }
  }
  return has_sunk;
}

static void visit_loads_of_body(PassContext *ctx, IrKernel *kernel, IrRegion *body) {
  visit_loads(&(Loads){0}, body);
  if (sink_writes(kernel, body)) mem2reg_alone(ctx, kernel, body);
  for (IrInst *loop = body->first; loop; loop = ir_following(loop, body))
    carry_loads_of_loop(kernel, loop);
}

bool pass_redundant_loads(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->kind != TASK_RANGE) continue;
    visit_loads_of_body(ctx, kernel, task->body);
    if (task->interior) visit_loads_of_body(ctx, kernel, task->interior);
  }
  return true;
}

/* -- branches ---------------------------------------------------------------------------------- */

/* Branch merging: joins neighbouring `if`s with the same condition.
 *
 *   if %c { set %x, %a }              if %c { set %x, %a
 *   if %c { set %y, %b }      =>              set %y, %b }
 *
 * `lower_places` emits a bounds check for each number of a vector, and each of these is such an
 * `if`. Only pure insts may be between the two; those that the second `if` needs move before the
 * first, unless they depend on it. Lanes then have one mask for a full vector, and load or store
 * its numbers together. Applies to ranges only. */

typedef struct Arms {
  int *stamps;  /* by id: id + 1 of the preceding `if`, if only pure insts are between */
  int *read;    /* by id of a VAR: the same for its last GET */
  IrInst *open; /* that `if`; NULL: none */
  bool has_joined;
} Arms;

static bool comes_after(const Arms *arms, const IrInst *inst) {
  return arms->stamps[inst->id] == arms->open->id + 1;
}

/* Can the inst move before the open `if`? */
static bool can_hoist(const Arms *arms, const IrInst *inst) {
  if (!comes_after(arms, inst)) return true;
  if (inst->op != IR_VAR && !(ir_effects(inst) & IR_PURE)) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (!can_hoist(arms, inst->operands[i])) return false;
  return true;
}

static void hoist(const Arms *arms, IrInst *inst) {
  DEBUG_ASSERT(arms->open->region == inst->region || !comes_after(arms, inst),
               "insts after the branch are in its region");
  if (!comes_after(arms, inst)) return;
  for (int i = 0; i < inst->operand_count; i++) hoist(arms, inst->operands[i]);
  arms->stamps[inst->id] = 0;
  ir_move_before(arms->open, inst);
}

static bool may_merge(const Arms *arms, const IrInst *inst) {
  if (ir_effects(inst) & IR_EXIT) return false;
  if (inst->op == IR_SET && arms->read[inst->operands[0]->id] == arms->open->id + 1) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (!can_hoist(arms, inst->operands[i])) return false;
  return true;
}

static bool merge_into_open(Arms *arms, IrInst *inst) {
  IrInst *open = arms->open;
  DEBUG_ASSERT(inst->op == IR_IF && (!open || open->op == IR_IF), "branches are joined");
  if (!open || open->operands[0] != inst->operands[0]) return false;
  if (ir_has_exit(open)) return false;
  for (int i = 0; i < 2; i++)
    for (IrInst *at = inst->regions[i]->first; at; at = ir_following(at, inst->regions[i]))
      if (!may_merge(arms, at)) return false;
  for (int i = 0; i < 2; i++) {
    for (IrInst *at = inst->regions[i]->first; at; at = ir_following(at, inst->regions[i]))
      for (int k = 0; k < at->operand_count; k++) hoist(arms, at->operands[k]);
    rewrite_move_all(inst->regions[i], open->regions[i]);
  }
  ir_delete(inst);
  return true;
}

static void track_inst(Arms *arms, const IrInst *inst) {
  if (!arms->open) return;
  arms->stamps[inst->id] = arms->open->id + 1;
  if (inst->op == IR_GET) arms->read[inst->operands[0]->id] = arms->open->id + 1;
  else if (inst->op != IR_VAR && !(ir_effects(inst) & IR_PURE)) arms->open = NULL;
}

static void merge_region(Arms *arms, IrRegion *region) {
  arms->open = NULL;
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    next = inst->next;
    if (inst->op == IR_IF) {
      if (merge_into_open(arms, inst)) arms->has_joined = true;
      else arms->open = inst;
    } else {
      track_inst(arms, inst);
    }
  }
  for (IrInst *inst = region->first; inst; inst = inst->next)
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      merge_region(arms, inst->regions[i]);
}

static void merge_body(PassContext *ctx, IrKernel *kernel, Arms *arms, IrRegion *body) {
  if (!body) return;
  arms->has_joined = false;
  merge_region(arms, body);
  if (arms->has_joined) fold_alone(ctx, kernel, body);
}

bool pass_merge_branches(PassContext *ctx, IrKernel *kernel, Error *err) {
  Arms arms = {.stamps = scratch_array(ctx->scratch, int, kernel->next_id),
               .read = scratch_array(ctx->scratch, int, kernel->next_id)};
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->kind != TASK_RANGE) continue;
    merge_body(ctx, kernel, &arms, task->body);
    merge_body(ctx, kernel, &arms, task->interior);
  }
  return true;
}
