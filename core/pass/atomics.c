/* atomics.c - an update that only one iteration can reach becomes load, op, store (`plain`).
 *
 * Where the writes of a field are apart (effects_are_apart), no two iterations reach the same
 * element. In the host region, serial loops included, one thread runs: every update there is
 * plain. The same holds if the user promised `:independent()`. Those of functions stay atomic.
 * Calls that change lists of a dynamic SNode are plain where no two iterations change the same list
 * (effects_own_lists). Leaves notes for explain(). */
#include "pass/effects.h"

/* Why it stays atomic: would this place alone distinguish iterations? */
static void note_atomic(IrKernel *kernel, const IrTask *task, const EffectAccess *update) {
  bool is_alone = effects_params(update->place) == (1u << task->body->params.count) - 1;
  const IrField *field = &kernel->fields.items[update->field];
  const char *name = field->name;
  if (field->array >= 0 && kernel->arrays.items[field->array].is_shared) {
    ir_note(kernel, update->inst->line, "'%s' cannot be updated plainly: its memory can also be "
            "reached by other indices, or through another array of this launch", name);
    return;
  }
  ir_note(kernel, update->inst->line, "'%s' cannot be updated plainly: %s",
          name && name[0] ? name : "a field",
          is_alone
              ? "the loop also writes it at other indices"
              : "its indices do not distinguish the iterations, so two may reach one element");
}

static void mark_all(const Effects *effects) {
  for (int i = 0; i < effects->accesses.count; i++)
    if (effects->accesses.items[i].verb == EFFECT_UPDATES &&
        !effects->accesses.items[i].place->is_called)
      effects->accesses.items[i].inst->plain = true;
}

static void mark_apart(PassContext *ctx, IrKernel *kernel, const IrTask *task,
                       const Effects *effects) {
  bool *apart = scratch_array(ctx->scratch, bool, kernel->fields.count);
  for (int f = 0; f < kernel->fields.count; f++)
    if (effects->fields[f].verbs & EFFECT_UPDATES)
      apart[f] = effects_are_apart(effects, f, EFFECT_WRITES);
  for (int i = 0; i < effects->accesses.count; i++) {
    const EffectAccess *access = &effects->accesses.items[i];
    if (access->verb != EFFECT_UPDATES || access->place->is_called) continue;
    access->inst->plain |= apart[access->field];
    if (!access->inst->plain) note_atomic(kernel, task, access);
  }
}

static void mark_lists(const Effects *effects) {
  for (int i = 0; i < effects->calls.count; i++) {
    const EffectCall *call = &effects->calls.items[i];
    if (call->changes && call->node && snode_has_lists(call->node) &&
        effects_own_lists(effects, call->node))
      call->inst->plain = true;
  }
}

bool pass_atomics(PassContext *ctx, IrKernel *kernel, Error *err) {
  mark_all(effects_of(ctx, kernel, NULL));
  for (int i = 0; i < kernel->tasks.count; i++) {
    const IrTask *task = kernel->tasks.items[i];
    const Effects *effects = effects_of(ctx, kernel, task);
    if (task->kind == TASK_LEAVES && !task->cells) continue;
    mark_lists(effects);
    if (task->independent) mark_all(effects);
    else mark_apart(ctx, kernel, task, effects);
  }
  return true;
}
