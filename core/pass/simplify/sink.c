/* sink.c - code sinking: moves reads of elements at data-dependent indices into the arm of a later
 * `if` if only that arm uses them.
 *
 *     %v: f32 = mem.load %p                     %x: f32 = mem.load (%p + 64)
 *     %x: f32 = mem.load (%p + 64)              %c: bool = lt %x, %r
 *     %c: bool = lt %x, %r              =>      if %c {
 *     if %c {                                     %v: f32 = mem.load %p
 *       .. %v ..                                  .. %v ..
 *     }                                         }
 *
 * Users read a whole record (`local other = grain[order[s]]`) and then test two of its members; the
 * others are in cache lines that most iterations need not touch. A checked read is a VAR that an
 * `if` sets, which moves as one; so this runs before checks are merged. Values computed from moved
 * reads move too. Reads adjacent to one that stays also stay, since they cost nothing, and so do
 * those at the loop's own indices, which lanes read as vectors. Nothing moves into arms of bounds
 * checks, which nearly always run.
 *
 * needs: addresses     keeps: all else
 * Decision D-pass-79. */
#include "ir/access.h"
#include "ir/facts.h"
#include "ir/task.h"
#include "pass/pass.h"

enum { MOST_BEFORE = 400 /* insts examined before a branch */, DEEPEST = 8, NEXT = 16 };

typedef struct Sink {
  Scratch *scratch;
  const IrKernel *kernel;
  IrInst *branch;
  const IrRegion *arm;
  int *marks;               /* by id: 1: only the arm uses it; 2: it moves */
  bool *is_dirty;           /* by id of a VAR: it is set between here and the branch */
  VEC(IrInst *) found;      /* marked insts, the last first */
  VEC(const IrInst *) stay; /* loads that do not move */
  bool is_blocked;          /* memory may change between here and the branch */
} Sink;

/* -- what may move ----------------------------------------------------------------------------- */

static bool is_marked(const Sink *s, const IrInst *inst) { return s->marks[inst->id] > 0; }

static bool is_used_in_arm(const Sink *s, const IrInst *inst) {
  for (const IrUse *use = inst->uses; use; use = use->next) {
    const IrInst *owner = use->user->op == IR_SET ? use->user->region->owner : NULL;
    bool is_own = owner && owner->region == s->branch->region && is_marked(s, owner);
    if (!is_own && !is_marked(s, use->user) && !ir_is_inside(use->user, s->arm)) return false;
  }
  return inst->uses != NULL;
}

/* Does the address depend on an element or variable, so that lanes would gather? */
static bool is_data_dependent(const IrInst *value, int depth) {
  if (value->op == IR_MEM_LOAD || value->op == IR_GET) return true;
  if (depth == DEEPEST || !(ir_effects(value) & IR_PURE)) return false;
  for (int i = 0; i < value->operand_count; i++)
    if (is_data_dependent(value->operands[i], depth + 1)) return true;
  return false;
}

static bool is_plain_load(const IrInst *inst) {
  return inst->op == IR_MEM_LOAD && is_data_dependent(inst->operands[0], 0);
}

/* Is the SET's variable used in the arm and in this `if` alone? */
static bool is_own_set(const Sink *s, const IrInst *check, const IrInst *set) {
  const IrInst *var = set->operands[0];
  if (var->region != s->branch->region || var->owns || s->is_dirty[var->id]) return false;
  for (const IrUse *use = var->uses; use; use = use->next)
    if (!is_marked(s, use->user) && !ir_is_inside(use->user, s->arm) &&
        !ir_is_inside(use->user, check->regions[0]))
      return false;
  return true;
}

/* A checked read: an `if` whose arm only reads at data-dependent addresses and sets variables. */
static bool is_checked_load(const Sink *s, const IrInst *inst) {
  bool reads = false;
  if (inst->op != IR_IF || inst->regions[1]->first) return false;
  for (const IrInst *at = inst->regions[0]->first; at; at = at->next) {
    bool is_load = is_plain_load(at);
    if (!is_load && !(ir_effects(at) & IR_PURE) && (at->op != IR_SET || !is_own_set(s, inst, at)))
      return false;
    reads |= is_load;
  }
  return reads;
}

static bool may_move(const Sink *s, const IrInst *inst) {
  DEBUG_ASSERT(inst->region == s->branch->region, "the inst is before the branch");
  if (inst->op == IR_IF) return !s->is_blocked && is_checked_load(s, inst);
  if (!is_used_in_arm(s, inst)) return false;
  if (inst->op == IR_VAR) return !inst->owns;
  if (inst->op == IR_GET) return !s->is_dirty[inst->operands[0]->id];
  if (inst->op == IR_MEM_LOAD) return !s->is_blocked && is_plain_load(inst);
  return (ir_effects(inst) & IR_PURE) != 0 && inst->op != IR_CONST;
}

/* -- what stays -------------------------------------------------------------------------------- */

static void record_stay(Sink *s, const IrInst *inst) {
  if (inst->op == IR_SET) s->is_dirty[inst->operands[0]->id] = true;
  if (inst->op == IR_MEM_LOAD) vec_push(s->scratch, &s->stay, inst);
  bool is_harmless = (ir_effects(inst) & IR_PURE) || inst->op == IR_MEM_LOAD ||
                     inst->op == IR_VAR || inst->op == IR_GET || inst->op == IR_SET ||
                     inst->op == IR_IF;
  s->is_blocked |= !is_harmless;
  for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
    for (IrInst *at = inst->regions[i]->first; at; at = at->next) record_stay(s, at);
}

static bool is_next_to(const IrInst *load, const IrInst *other) {
  const IrInst *a = load->operands[0], *b = other->operands[0];
  int64_t bytes;
  return a == b || (ir_differ_by_constant(a, b, &bytes) && bytes < NEXT && bytes > -NEXT);
}

static bool is_next_to_staying(const Sink *s, const IrInst *load) {
  for (int i = 0; i < s->stay.count; i++)
    if (is_next_to(load, s->stay.items[i])) return true;
  return false;
}

static bool is_worth_it(const Sink *s, const IrInst *inst) {
  if (inst->op == IR_MEM_LOAD) return !is_next_to_staying(s, inst);
  for (const IrInst *at = inst->regions[0]->first; at; at = at->next)
    if (at->op == IR_MEM_LOAD && is_next_to_staying(s, at)) return false;
  return true;
}

/* -- moving ------------------------------------------------------------------------------------ */

static bool moves(const Sink *s, const IrInst *inst) { return s->marks[inst->id] == 2; }

/* Does every user of the value move too, or is it in the arm already? */
static bool may_follow(const Sink *s, const IrInst *inst) {
  for (const IrUse *use = inst->uses; use; use = use->next)
    if (!moves(s, use->user) && !ir_is_inside(use->user, s->arm)) {
      const IrInst *owner = use->user->region->owner;
      if (!owner || !moves(s, owner)) return false;
    }
  return true;
}

static bool sets_in(const IrInst *check, const IrInst *var) {
  for (const IrUse *use = var->uses; use; use = use->next)
    if (use->user->op == IR_SET && ir_is_inside(use->user, check->regions[0])) return true;
  return false;
}

/* Is it computed from insts that move? */
static bool depends_on_moved(const Sink *s, const IrInst *inst) {
  for (int i = 0; i < inst->operand_count; i++)
    if (moves(s, inst->operands[i])) return true;
  const IrInst *var = inst->op == IR_GET ? inst->operands[0] : inst->op == IR_VAR ? inst : NULL;
  for (int k = 0; var && k < s->found.count; k++)
    if (s->found.items[k]->op == IR_IF && moves(s, s->found.items[k]) &&
        sets_in(s->found.items[k], var))
      return true;
  return false;
}

static void choose_moves(const Sink *s) {
  for (int k = s->found.count - 1; k >= 0; k--) {
    IrInst *inst = s->found.items[k];
    bool is_read = inst->op == IR_MEM_LOAD || inst->op == IR_IF;
    if (is_read && is_worth_it(s, inst)) s->marks[inst->id] = 2;
  }
  for (int k = s->found.count - 1; k >= 0; k--)
    if (depends_on_moved(s, s->found.items[k])) s->marks[s->found.items[k]->id] = 2;
  for (int k = 0; k < s->found.count; k++) /* users first */
    if (moves(s, s->found.items[k]) && !may_follow(s, s->found.items[k]))
      s->marks[s->found.items[k]->id] = 1;
}

static bool move_chosen(const Sink *s) {
  bool has_moved = false;
  ASSERT(s->arm->owner == s->branch, "insts move into an arm of the branch");
  for (int k = 0; k < s->found.count; k++) {
    IrInst *inst = s->found.items[k];
    if (!moves(s, inst)) continue;
    IrRegion *arm = (IrRegion *)s->arm;
    if (arm->first) ir_move_before(arm->first, inst);
    else ir_move_into(arm, inst);
    has_moved = true;
  }
  return has_moved;
}

/* Moves into one arm of the branch. */
static void sink_into(Scratch *scratch, IrKernel *kernel, IrInst *branch, int side) {
  Sink s = {.scratch = scratch,
            .kernel = kernel,
            .branch = branch,
            .arm = branch->regions[side],
            .marks = scratch_array(scratch, int, kernel->next_id),
            .is_dirty = scratch_array(scratch, bool, kernel->next_id)};
  int count = 0;
  for (IrInst *inst = branch->previous; inst && count < MOST_BEFORE; inst = inst->previous) {
    if (may_move(&s, inst)) {
      s.marks[inst->id] = 1;
      vec_push(scratch, &s.found, inst);
    } else {
      record_stay(&s, inst);
    }
    count++;
  }
  choose_moves(&s);
  if (move_chosen(&s))
    ir_note(kernel, branch->line, "elements that only one branch uses are read there");
}

/* -- the pass ---------------------------------------------------------------------------------- */

static bool reads_at_data(const IrRegion *body) {
  for (const IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (is_plain_load(inst)) return true;
  return false;
}

static void visit_region(Scratch *scratch, IrKernel *kernel, IrRegion *region) {
  for (IrInst *inst = region->last; inst; inst = inst->previous)
    for (int side = 0; side < 2 && inst->op == IR_IF; side++)
      if (inst->regions[side]->first && !facts_is_bounds_check(inst->operands[0]))
        sink_into(scratch, kernel, inst, side);
  for (IrInst *inst = region->first; inst; inst = inst->next)
    for (int i = 0; i < IR_MAX_REGIONS && inst->regions[i]; i++)
      visit_region(scratch, kernel, inst->regions[i]);
}

static void visit_body(PassContext *ctx, IrKernel *kernel, IrRegion *body) {
  if (body && reads_at_data(body)) visit_region(ctx->scratch, kernel, body);
}

bool pass_sink(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    visit_body(ctx, kernel, kernel->tasks.items[i]->body);
    visit_body(ctx, kernel, kernel->tasks.items[i]->interior);
  }
  return true;
}
