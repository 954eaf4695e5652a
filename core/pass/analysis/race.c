/* race.c - the race lint: warns of stores that are almost updates. Changes nothing.
 *
 *     for p in rg.range(n) do m[cell[p]] = 0.5 * (m[cell[p]] + 1) end
 *
 * A store whose value was computed from the same element is a read and a write, so another
 * iteration that reaches the element may write it in between. The lint assumes that another one
 * does if an index of the loop does not occur in the place, or only through an op that loses
 * information: a load, a division, a rounding, a mask. Through + and * an index is assumed to
 * number elements: `x[i * n + j]`. So the absence of a warning proves nothing. In kernels where the
 * search costs too much, it is cut off. */
#include "ir/facts.h"
#include "pass/analysis/effects.h"

typedef struct Race {
  IrKernel *kernel;
  const IrTask *task;
  int *seen; /* by id: the last search that visited it */
  int search;
  int steps; /* insts visited so far, in all searches */
  VEC(const IrInst *) todo;
  VEC(IrInst *) sets; /* of variables */
} Race;

static bool note_set(void *data, IrInst *inst) {
  Race *r = data;
  if (inst->op == IR_SET) vec_push(r->kernel->scratch, &r->sets, inst);
  return true;
}

enum { MOST_STEPS = 200000 };
enum { DEEPEST = 8 }; /* expressions may share branches: no walk goes deeper */

static void want(Race *r, const IrInst *value) {
  if (r->seen[value->id] == r->search) return;
  r->seen[value->id] = r->search;
  vec_push(r->kernel->scratch, &r->todo, value);
}

static void want_parts(Race *r, const IrInst *value) {
  for (int i = 0; i < value->operand_count && value->op != IR_GET; i++) want(r, value->operands[i]);
  r->steps += value->op == IR_GET ? r->sets.count : value->operand_count;
  for (int i = 0; i < r->sets.count && value->op == IR_GET; i++)
    if (r->sets.items[i]->operands[0] == value->operands[0]) want(r, r->sets.items[i]->operands[1]);
}

/* Was `value` computed from the element at `place`? */
static bool comes_from(Race *r, const IrInst *value, const IrInst *place) {
  r->search++;
  r->todo.count = 0;
  want(r, value);
  while (r->todo.count && r->steps++ < MOST_STEPS) {
    const IrInst *at = r->todo.items[--r->todo.count];
    if (at->op == IR_LOAD && facts_same_text(at->operands[0], place)) return true;
    if (at->op != IR_LOAD) want_parts(r, at);
  }
  return false;
}

/* Which indices of the loop reach `index` without loss of information: a bit for each. */
static unsigned arriving(const Race *r, const IrInst *index, int depth) {
  int param = ranges_param(r->task->body, index);
  if (param >= 0) return 1u << param;
  if (depth > DEEPEST) return ~0u;
  switch (index->op) {
  case IR_ADD:
  case IR_SUB:
  case IR_MUL:
    return arriving(r, index->operands[0], depth + 1) | arriving(r, index->operands[1], depth + 1);
  case IR_NEG: return arriving(r, index->operands[0], depth + 1);
  case IR_CONVERT:
    return type_is_integer(index->operands[0]->type) ? arriving(r, index->operands[0], depth + 1)
                                                     : 0;
  default: return 0;
  }
}

static bool may_meet(const Race *r, const IrInst *place) {
  unsigned met = 0, all = (1u << r->task->body->params.count) - 1;
  for (int axis = 0; axis < place->operand_count; axis++)
    met |= arriving(r, place->operands[axis], 0);
  return (met & all) != all;
}

static void check_store(Race *r, const EffectAccess *access) {
  const IrInst *inst = access->inst, *place = inst->operands[0];
  if (inst->op != IR_STORE || place->op != IR_PLACE || access->place->is_called ||
      !may_meet(r, place))
    return;
  if (!comes_from(r, inst->operands[1], place)) return;
  const char *name = r->kernel->fields.items[place->field].name;
  ir_warn(r->kernel, inst->line, inst->column,
          "an element of '%s' is read and then written here, and another iteration may do the same "
          "in between; only updates are atomic: x[e] = x[e] + v, with the same index on both "
          "sides, or x:add(e, v)",
          name && name[0] ? name : "a field");
}

bool pass_race(PassContext *ctx, IrKernel *kernel, Error *err) {
  Race r = {.kernel = kernel, .seen = scratch_array(ctx->scratch, int, kernel->next_id + 1)};
  for (int i = 0; i < kernel->tasks.count; i++) {
    r.task = kernel->tasks.items[i];
    if (r.task->independent || (r.task->kind == TASK_LEAVES && !r.task->cells)) continue;
    r.sets.count = 0;
    ir_walk(r.task->body, note_set, &r);
    const Effects *effects = effects_of(ctx, kernel, r.task);
    for (int a = 0; a < effects->accesses.count; a++) check_store(&r, &effects->accesses.items[a]);
  }
  return true;
}
