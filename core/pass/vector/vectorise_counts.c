/* vectorise_counts.c - tasks that count (pass/tasks/aggregate_atomics.c): the counting body in
 * lanes. Where iterations that count nothing have no effect (`idle`), lanes find those that count,
 * and only these run:
 *
 *     counts body (%i) { reduce add %c .. }        body (%i, %all: boolx8) {
 *                                                    %found: boolx8 = var
 *     body (%i) { .. }                        =>     loop { what counts, with %found |= %c != 0
 *                                                           break }
 *                                                    bits of %found (%lane) { .. at %i + %lane }
 *                                                  }                                            */
#include "pass/rewrite.h"
#include "pass/vector/vectorise.h"

/* The value that is not zero if the iteration counts: of a product with a constant, which may have
 * wrapped to zero, the other factor. */
static const IrInst *tested_factor(const IrInst *count) {
  int64_t factor;
  for (int i = 0; i < 2 && count->op == IR_MUL; i++)
    if (ir_is_const(count->operands[i], &factor) && factor != 0) return count->operands[1 - i];
  return count;
}

void vectorise_count(Vectoriser *v, const IrInst *reduce) {
  const IrInst *count = tested_factor(reduce->operands[1]);
  int64_t number;
  IrInst *mask = v->mask;
  if (!ir_is_const(count, &number) || number == 0) {
    IrInst *lanes = vectorise_lanes(v, count);
    IrInst *operands[] = {lanes, ir_const_int(&v->b, lanes->type, 0)};
    mask = vectorise_and(v, mask, vectorise_emit(v, IR_NE, mask->type, 2, operands));
  }
  vectorise_find(v, mask);
}

void vectorise_find(Vectoriser *v, IrInst *mask) {
  ir_set(&v->b, v->found, ir_binary(&v->b, IR_BOR, ir_get(&v->b, v->found), mask));
}

void vectorise_found(Vectoriser *v, IrRegion *body) {
  IrMap *with = ir_map(v->scratch, v->kernel);
  int last = body->params.count - 1;
  IrInst *found = ir_get(&v->b, v->found);
  IrInst *word = vectorise_mask_bits(v, found);
  IrInst *loop = vectorise_emit(v, IR_BITS, TYPE(NONE), 1, &word);
  Type index = body->params.items[last]->type;
  IrInst *lane = ir_region_param(v->kernel, loop->regions[0], index);
  IrBuilder b = rewrite_inside(v->kernel, loop->regions[0], NULL);
  for (int i = 0; i < last; i++) ir_map_put(with, body->params.items[i], v->to->params.items[i]);
  ir_map_put(with, body->params.items[last],
             ir_binary(&b, IR_ADD, v->to->params.items[last], lane));
  rewrite_operands(body, with);
  rewrite_move_all(body, loop->regions[0]);
}

/* The body of an idle task in lanes. */
static IrRegion *vectorise_idle_body(PassContext *ctx, IrKernel *kernel, const IrTask *counts,
                                     IrRegion *counting, IrRegion *body) {
  LaneBody lanes = {.region = counting, .varying = counts->axis_count - 1, .width = counts->lanes};
  Vectoriser v;
  vectorise_open(&v, ctx->scratch, kernel, &lanes, NULL);
  v.found = ir_var(&v.b, v.mask->type);
  IrInst *loop = ir_loop(&v.b);
  v.b.region = loop->regions[0];
  vectorise_rest(&v, counting->first);
  if (!vectorise_ends_with_exit(loop->regions[0])) ir_break(&v.b, 0);
  v.b.region = v.to;
  vectorise_found(&v, body);
  rewrite_drop_dead(v.to);
  return v.to;
}

void vectorise_idle(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  const IrTask *counts = task->counts;
  IrRegion **body = task->interior ? &task->interior : &task->body;
  IrRegion *counting = task->interior ? counts->interior : counts->body;
  if (!task->idle || counts->lanes <= 1 || task->lanes > 1) return;
  *body = vectorise_idle_body(ctx, kernel, counts, counting, *body);
  task->lanes = counts->lanes;
  task->idle = false; /* its body now skips these iterations */
  task->rim_scalar = task->interior != NULL;
}
