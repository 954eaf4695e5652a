/* aggregate_atomics.c - aggregated atomics (count, then fetch-and-add): iterations that increment
 * one element and use its old value first count their increments.
 *
 *     if %hit {                              counts: if %hit { reduce add .., 1 }
 *       %at = mem.rmw add %counter, 1   =>   claim:  %first = mem.rmw add %counter, %total
 *       mem.store .. %at ..                  body:   if %hit {
 *     }                                                  %at = mem.rmw add nonatomic cursor, 1
 *                                                        mem.store .. %at .. }
 *
 * A chunk of a range first executes only the code that determines its number of increments, claims
 * that many numbers at once, and then runs the body, which updates a local variable instead: one
 * atomic update serves thousands of iterations. The result is that of one of the legal orders of
 * iterations, and every number is taken once.
 * The update must be `relaxed`, since an iteration may get the last number before others have
 * written.
 * Counting reads only elements that the task does not write, so the body repeats it exactly; and it
 * must be cheap compared with the body. A counter is an integer at a launch-invariant place that
 * the task accesses in no other way. Runs on addresses, after all passes that rewrite bodies.
 * If all effects of an iteration come after a count, the task is `idle`: vectorised counting finds
 * the iterations that count anything, and the pass `vectorise` skips the others. Decision
 * D-pass-25. */
#include "ir/facts.h"
#include "pass/simplify/simplify.h"
#include "pass/pass.h"
#include "pass/rewrite.h"
#include "pass/tasks/staged_numbers.h"

/* Counting pays if it has few insts, or few compared with the body, in percent: it reads what the
 * body then finds in the cache. */
enum { MOST_COUNTING_INSTS = 40, MOST_COUNTING_SHARE = 60 };

typedef struct Claims {
  PassContext *ctx;
  IrKernel *kernel;
  IrInst *counter; /* the first update; NULL: none */
  bool *written;   /* by alias */
  bool is_good;
  int slot; /* the frame slot that identifies the sum */
  VEC(IrInst *) updates;
} Claims;

/* -- what the task does ------------------------------------------------------------------------ */

bool claim_is_count(const IrInst *inst) {
  return inst->op == IR_MEM_RMW && inst->imm == IR_UPDATE_ADD && inst->alias && !inst->nonatomic &&
         type_is_integer(inst->type) && type_bits(inst->type) >= 32 &&
         facts_is_launch_invariant(inst->operands[0]);
}

static bool is_count(const IrInst *inst) { return claim_is_count(inst) && inst->relaxed; }

static bool record_writes(void *data, IrInst *inst) {
  Claims *c = data;
  if (inst->op == IR_MEM_RMW && !c->counter && is_count(inst)) c->counter = inst;
  if (ir_is_write(inst->op)) c->written[inst->alias] = true;
  return true;
}

static bool check_access(void *data, IrInst *inst) {
  Claims *c = data;
  bool is_counter = inst->alias == c->counter->alias;
  switch (inst->op) {
  case IR_MEM_LOAD: c->is_good &= !is_counter; break;
  case IR_MEM_STORE:
  case IR_MEM_UPDATE: c->is_good &= inst->alias && !is_counter; break;
  case IR_MEM_RMW:
    c->is_good &= is_count(inst) && is_counter &&
                  facts_same_value(inst->operands[0], c->counter->operands[0]);
    vec_push(c->ctx->scratch, &c->updates, inst);
    break;
  case IR_CALL:
    c->is_good &= inst->entry == RT_OUTSIDE || !(ir_effects(inst) & ~(IR_PURE | IR_READ));
    break;
  case IR_MEM_CAS:
  case IR_INVOKE: c->is_good = false; break;
  default: break;
  }
  return c->is_good;
}

/* -- counting ---------------------------------------------------------------------------------- */

/* Is it an observable effect, other than the counted updates? */
static bool is_effect(const IrInst *inst) {
  return ir_is_write(inst->op) || inst->op == IR_PRINT || inst->op == IR_FAULT ||
         inst->op == IR_REDUCE || ir_is_call(inst, RT_OUTSIDE) ||
         ir_is_call(inst, RT_ARRAY_OUTSIDE);
}

/* Reduces a copy of the body to counting: removes all other effects, including the loop's own
 * reductions, and turns each update into a REDUCE. Uses of an update's result must be removed, too;
 * until then a CURSOR takes its place. */
static bool reduce_inst(void *data, IrInst *inst) {
  const Claims *c = data;
  if (is_effect(inst)) ir_delete(inst);
  if (inst->op != IR_MEM_RMW) return true;
  IrBuilder b = rewrite_before(c->kernel, inst);
  IrInst *sum = ir_frame(&b, IR_FRAME_GET, inst->type, c->slot);
  ir_reduce(&b, (IrUpdate)inst->imm, sum, inst->operands[1]);
  rewrite_become(c->kernel, inst, IR_CHUNK_CURSOR, 0, NULL);
  return true;
}

/* for begin, last, 1 { reduce add v }  =>  reduce add v * max(last - begin + 1, 0) */
static bool sum_loop(void *data, IrInst *loop) {
  const Claims *c = data;
  IrInst *sum = facts_step(loop) == 1 ? loop->regions[0]->last : NULL;
  if (!sum || sum->op != IR_REDUCE || !type_is(loop->operands[0]->type, TYPE_I32)) return true;
  for (IrInst *inst = loop->regions[0]->first; inst != sum; inst = inst->next)
    if (inst->op != IR_CONST && inst->op != IR_FRAME_GET) return true;
  IrBuilder b = rewrite_before(c->kernel, loop);
  while (loop->regions[0]->first) {
    IrInst *inst = loop->regions[0]->first;
    ir_remove(inst);
    if (inst != sum) ir_insert_before(loop, inst);
  }
  IrInst *begin = ir_convert(&b, loop->operands[0], TYPE(I64)),
         *last = ir_convert(&b, loop->operands[1], TYPE(I64));
  IrInst *trips = ir_plus(&b, ir_binary(&b, IR_SUB, last, begin), 1);
  trips = ir_binary_const(&b, IR_MAX, trips, 0);
  trips = ir_convert(&b, trips, sum->operands[1]->type);
  ir_set_operand(sum, 1, ir_binary(&b, IR_MUL, sum->operands[1], trips));
  ir_insert_before(loop, sum);
  ir_delete(loop);
  return true;
}

static bool is_cheap(IrOp op) { return !(ir_op_info[op].flags & IR_SLOW) && op != IR_RANDOM; }

/* Can the inst be executed twice: without side effects, with the same result, and at low cost? */
static bool is_countable(const Claims *c, const IrInst *inst) {
  switch (inst->op) {
  case IR_MEM_LOAD: return inst->alias && !c->written[inst->alias];
  case IR_VAR:
  case IR_GET:
  case IR_SET:
  case IR_LOCAL_ARRAY:
  case IR_LOCAL_GET:
  case IR_LOCAL_SET:
  case IR_IF:
  case IR_FOR:
  case IR_REDUCE:
  case IR_BREAK:
  case IR_CONTINUE: return true;
  case IR_CHUNK_CURSOR: return false;
  default: return (ir_effects(inst) & IR_PURE) && is_cheap(inst->op);
  }
}

static IrRegion *make_counting(Claims *c, const IrRegion *body) {
  IrRegion *counts = ir_copy_region(c->kernel, body, NULL, NULL);
  ir_walk(counts, reduce_inst, c);
  fold_alone(c->ctx, c->kernel, counts);
  ir_walk(counts, sum_loop, c);
  fold_alone(c->ctx, c->kernel, counts);
  for (IrInst *inst = counts->first; inst; inst = ir_following(inst, counts))
    c->is_good &= is_countable(c, inst);
  int own = rewrite_count(counts), whole = rewrite_count(body);
  c->is_good &= own <= MOST_COUNTING_INSTS || own * 100 <= whole * MOST_COUNTING_SHARE;
  return counts;
}

/* Do all effects of the region come after a nonzero count? */
static bool acts_after_counting(const IrRegion *region, bool counted) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    int64_t value;
    if (inst->op == IR_MEM_RMW) {
      if (!ir_is_const(inst->operands[1], &value) || value == 0) return false;
      counted = true;
    }
    if (is_effect(inst) && !counted) return false;
    for (int i = 0; i < IR_MAX_REGIONS; i++)
      if (inst->regions[i] && !acts_after_counting(inst->regions[i], counted)) return false;
  }
  return true;
}

/* -- claiming ---------------------------------------------------------------------------------- */

IrInst *claim_numbers(IrBuilder *b, const IrInst *counter, IrInst *total) {
  IrMap *map = ir_map(b->kernel->scratch, b->kernel);
  IrInst *address = rewrite_recompute(b, counter->operands[0], ir_outermost(counter->region), map);
  IrInst *update = ir_emit(b, IR_MEM_RMW, total->type, 2, (IrInst *[]){address, total});
  update->imm = IR_UPDATE_ADD;
  update->alias = counter->alias;
  update->relaxed = true;
  return update;
}

static IrRegion *make_claim(Claims *c) {
  IrRegion *claim = ir_region_create(c->kernel, NULL);
  IrInst *total = ir_region_param(c->kernel, claim, c->counter->type);
  IrBuilder b = rewrite_inside(c->kernel, claim, c->counter);
  claim_numbers(&b, c->counter, total);
  return claim;
}

static void update_cursor(Claims *c) {
  for (int i = 0; i < c->updates.count; i++) {
    IrInst *update = c->updates.items[i];
    DEBUG_ASSERT(update->op == IR_MEM_RMW && !update->nonatomic,
                 "check_access has found the updates");
    IrBuilder b = rewrite_before(c->kernel, update);
    ir_set_operand(update, 0, ir_emit(&b, IR_CHUNK_CURSOR, TYPE(PTR), 0, NULL));
    update->nonatomic = true;
    update->alias = 0;
  }
}

static bool count_first(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  Claims c = {.ctx = ctx, .kernel = kernel, .is_good = true};
  c.written = scratch_array(ctx->scratch, bool, kernel->fields.count + 1);
  ir_walk_task(task, record_writes, &c);
  if (!c.counter) return false;
  ir_walk_task(task, check_access, &c);
  if (!c.is_good || c.written[0]) return false;
  c.slot = kernel->frame_slots;
  DEBUG_ASSERT(c.updates.count && !task->counts, "a task is counted once");
  IrTask *counts = scratch_new(ctx->scratch, IrTask);
  *counts = *task;
  counts->line = 0;
  counts->body = make_counting(&c, task->body);
  if (task->interior) counts->interior = make_counting(&c, task->interior);
  if (!c.is_good) return false;
  kernel->frame_slots++;
  task->claim = make_claim(&c);
  task->counts = counts;
  task->idle = acts_after_counting(task->body, false) &&
               (!task->interior || acts_after_counting(task->interior, false));
  update_cursor(&c);
  ir_note(kernel, c.counter->line,
          "aggregated atomics: a chunk of iterations counts first, then updates the counter once");
  return true;
}

bool pass_aggregate_atomics(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count; i++) {
    IrTask *task = kernel->tasks.items[i];
    if (task->kind != TASK_RANGE || task->privatised || task->private_fields.count) continue;
    if (!count_first(ctx, kernel, task)) stage_numbers(ctx, kernel, task);
  }
  return true;
}
