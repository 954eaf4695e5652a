/* atomics.c - an update that only one iteration can reach becomes load, op, store (`nonatomic`); an
 * atomic op that returns the old value becomes `relaxed` if no iteration can observe the
 * difference.
 *
 * If no two iterations write one element of a field (dependence.h), its updates need no atomics.
 * The host region, with its serial loops, runs in one thread, so every update there is nonatomic.
 * The same holds if the user promised `:independent()`. Updates in functions stay atomic. Calls
 * that change lists of a dynamic SNode take no locks if no two iterations change the same list.
 * Leaves notes for explain().
 *
 * Iterations may pass elements to each other through a counter: x:add(..), exchange and the like
 * release earlier writes, and acquire those released by other iterations. That costs fences on a
 * GPU, and rules out `aggregate_atomics`; most loops, which count or number something, cannot
 * observe it. They can if they read memory that they write, other than one counter:
 *
 *     out[n:add(0, 1)] = x[i]                                        relaxed
 *     v[i] = x[i]; if n:add(0, 1) == last then s[0] = v[0] end       ordered: v is read, too */
#include "ir/attribute.h"
#include "pass/analysis/dependence.h"
#include "pass/rewrite.h"

/* Notes why the update stays atomic. is_alone: its own place distinguishes all iterations. */
static void note_atomic(IrKernel *kernel, const EffectAccess *update) {
  DEBUG_ASSERT(update->verb == EFFECT_UPDATES && !update->inst->nonatomic, "it stays atomic");
  bool is_alone = dependence_is_own(kernel, update->place);
  const char *name = kernel->fields.items[update->field].name;
  if (ir_is_shared(kernel, update->field)) {
    ir_note(kernel, update->inst->line,
            "'%s' needs atomic updates: its memory can also be "
            "reached by other indices, or through another array of this launch",
            name);
    return;
  }
  ir_note(kernel, update->inst->line, "'%s' needs atomic updates: %s",
          name && name[0] ? name : "a field",
          is_alone ? "the loop also writes it at other indices"
                   : "its indices do not distinguish the iterations, so two may reach one element");
}

/* Makes all updates nonatomic, or all exchanges relaxed. */
static void mark_all(const Effects *effects, EffectVerb verb) {
  for (int i = 0; i < effects->accesses.count; i++) {
    const EffectAccess *access = &effects->accesses.items[i];
    if (access->verb != verb || access->place->is_called) continue;
    access->inst->nonatomic |= verb == EFFECT_UPDATES;
    access->inst->relaxed |= verb == EFFECT_EXCHANGES;
  }
}

static void mark_independent(PassContext *ctx, IrKernel *kernel, const Effects *effects) {
  bool *independent = scratch_array(ctx->scratch, bool, kernel->fields.count);
  for (int f = 0; f < kernel->fields.count; f++)
    if (effects->fields[f].verbs & EFFECT_UPDATES)
      independent[f] = !dependence_may_carry(effects, f, EFFECT_WRITES, EFFECT_WRITES);
  for (int i = 0; i < effects->accesses.count; i++) {
    const EffectAccess *access = &effects->accesses.items[i];
    if (access->verb != EFFECT_UPDATES || access->place->is_called) continue;
    access->inst->nonatomic |= independent[access->field];
    if (!access->inst->nonatomic) note_atomic(kernel, access);
  }
}

static void mark_list_calls(const Effects *effects) {
  for (int i = 0; i < effects->calls.count; i++) {
    const EffectCall *call = &effects->calls.items[i];
    if (call->changes && call->node && snode_has_lists(call->node) &&
        !dependence_may_share_list(effects, call->node))
      call->inst->nonatomic = true;
  }
}

/* -- order ------------------------------------------------------------------------------------- */

typedef struct OtherMemory { /* memory outside fields: counted arrays, shared arrays, lists */
  bool is_read, is_written;
} OtherMemory;

static bool record_other(void *data, IrInst *inst) {
  OtherMemory *other = data;
  if (rewrite_is_access(inst->op) || ir_has_level(inst->op)) return true;
  int effects = ir_effects(inst);
  other->is_read |= (effects & IR_READ) != 0;
  other->is_written |= (effects & (IR_WRITE | IR_UPDATE_EFFECT)) != 0;
  return true;
}

/* Do all exchanges of the field access one element, or does each iteration access only one? Then
 * even relaxed ones have one order that all iterations agree on. */
static bool is_counter(const Effects *effects, const EffectField *field) {
  DEBUG_ASSERT(field->first >= 0, "the field is accessed");
  const EffectAccess *first = &effects->accesses.items[field->first];
  const IrInst *place = first->place->inst;
  if (field->verbs != EFFECT_EXCHANGES || first->place->is_called) return false;
  if (field->first == field->last && !ir_is_repeated(first->inst, NULL)) return true;
  for (int i = field->first; i >= 0; i = effects->accesses.items[i].next)
    if (effects->accesses.items[i].place->inst != place) return false;
  for (int axis = 0; axis < place->operand_count; axis++)
    if (!facts_is_launch_invariant(place->operands[axis])) return false;
  return place->op == IR_PLACE;
}

/* Could an iteration observe whether its atomic ops order the writes of others? */
static bool shows_order(const IrKernel *kernel, const IrTask *task, const Effects *effects) {
  OtherMemory other = {0};
  int counters = 0;
  ir_walk_task(task, record_other, &other);
  for (int f = 0; f < effects->field_count; f++) {
    const EffectField *field = &effects->fields[f];
    const IrField *of = &kernel->fields.items[f];
    bool is_read = field->verbs & (EFFECT_READS | EFFECT_EXCHANGES),
         is_written = field->verbs & EFFECT_WRITES,
         has_lists = of->node && snode_has_lists(of->node) &&
                     effects->trees[of->tree] & (EFFECT_APPENDS | EFFECT_POPS);
    if (ir_is_shared(kernel, f) || has_lists) {
      other.is_read |= is_read;
      other.is_written |= is_written || has_lists;
    }
    if (!is_read || !is_written ||
        !dependence_may_carry(effects, f, EFFECT_WRITES, EFFECT_READS | EFFECT_WRITES))
      continue;
    if (!is_counter(effects, field) || counters++) return true;
  }
  return other.is_read && other.is_written;
}

bool pass_atomics(PassContext *ctx, IrKernel *kernel, Error *err) {
  mark_all(effects_of(ctx, kernel, NULL), EFFECT_UPDATES);
  mark_all(effects_of(ctx, kernel, NULL), EFFECT_EXCHANGES);
  for (int i = 0; i < kernel->tasks.count; i++) {
    const IrTask *task = kernel->tasks.items[i];
    const Effects *effects = effects_of(ctx, kernel, task);
    if (task->kind == TASK_LEAVES && !task->cells) continue;
    if (!shows_order(kernel, task, effects)) mark_all(effects, EFFECT_EXCHANGES);
    mark_list_calls(effects);
    if (task->independent) mark_all(effects, EFFECT_UPDATES);
    else mark_independent(ctx, kernel, effects);
  }
  return true;
}
