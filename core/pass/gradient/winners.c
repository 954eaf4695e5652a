/* winners.c - tangents of minima and maxima that iterations share:
 *
 *     range %i {                        range %i { .. update max %p, %v .. }
 *       .. update max %p, %v ..    =>   range %i { .. if %v == load %p { store %p, %v } }
 *     }
 *
 * The second loop recomputes the values and leaves the element unchanged, but its tangent gives the
 * element the derivative of the winning value. Of equal values, one iteration's derivative remains.
 * Decision D-pass-93. */
#include "pass/gradient/winners.h"

#include "pass/gradient/plan.h"
#include "pass/gradient/slice.h"
#include "pass/gradient/split_updates.h"
#include "pass/rewrite.h"

typedef struct Winners {
  IrKernel *kernel;
  Scratch *scratch;
  Companion companion;
  Plans plans; /* only for refusals */
  /* of the current loop */
  Slice slice; /* of the values that may win */
  VEC(IrInst *) updates;
} Winners;

static void refuse(Winners *w, const IrInst *update) {
  plans_refuse(&w->plans, update,
               "the derivative of a minimum or maximum that iterations share needs its values a "
               "second time, and the loop changes what they are computed from",
               "write them to a field first, and compare them in a loop of its own");
}

static bool keep_winner(void *data, IrInst *inst) {
  Winners *w = data;
  if (!update_is_shared_winner(w->kernel, inst, w->companion)) return true;
  if (w->companion == COMPANION_DUAL)
    plans_refuse(&w->plans, inst,
                 "minima and maxima that iterations share have no second derivative", NULL);
  vec_push(w->scratch, &w->updates, inst);
  slice_add(&w->slice, inst);
  if (w->slice.unrepeatable || w->slice.is_overwritten) refuse(w, inst);
  return true;
}

/* -- the second loop --------------------------------------------------------------------------- */

static void store_winner(IrKernel *kernel, IrInst *update) {
  IrBuilder b = rewrite_before(kernel, update);
  IrInst *place = update->operands[0], *won = ir_load(&b, place);
  IrInst *value = ir_convert(&b, update->operands[1], won->type);
  IrBuilder in = rewrite_into(&b, ir_if(&b, ir_binary(&b, IR_EQ, value, won))->regions[0]);
  ir_store(&in, place, value)->further = true;
  ir_delete(update);
}

static void add_loop(Winners *w, IrInst *loop) {
  IrMap *map = ir_map(w->scratch, w->kernel);
  IrInst *own = rewrite_copy_kept(w->scratch, w->kernel, loop, w->slice.kept, map);
  ir_insert_after(loop, own);
  for (int k = 0; k < w->updates.count; k++)
    store_winner(w->kernel, ir_mapped(map, w->updates.items[k]));
}

static void add_loops(Winners *w, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    bool is_parallel = ir_is_unordered(inst);
    next = inst->next;
    for (int k = 0; !is_parallel && k < IR_MAX_REGIONS && inst->regions[k]; k++)
      add_loops(w, inst->regions[k]);
    if (!is_parallel) continue;
    w->updates.count = 0;
    w->slice = slice_of(w->scratch, w->kernel, inst->regions[0]);
    ir_walk(inst->regions[0], keep_winner, w);
    if (w->updates.count) add_loop(w, inst);
  }
}

bool winners_store(Scratch *scratch, IrKernel *kernel, Companion companion, Error *err) {
  Winners winners = {
      .kernel = kernel, .scratch = scratch, .companion = companion, .plans = {.err = err}};
  add_loops(&winners, kernel->body);
  return !winners.plans.is_refused;
}
