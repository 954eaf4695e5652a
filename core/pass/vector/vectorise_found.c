/* vectorise_found.c - bodies whose lanes only find the iterations that have an effect, which then
 * run one by one: those that take a branch (compaction.c), or that count
 * (pass/tasks/aggregate_atomics.c), if the others have no effect (`idle`).
 *
 *     body (%i) {                             body (%i, %all: boolx8) {
 *       %x = mem.load %at                       %found: boolx8 = var
 *       if compacts (lt %x, %limit) {     =>    %x: f32x8 = lanes.load %at, %all
 *         ..                                    set %found, (mask.and %all, (lt %x, %limit))
 *       }                                       bits (mask.bits %found) (%lane) {
 *     }                                           .. the scalar body at %i + %lane
 *                                               }
 *                                             }
 *
 *     counts body (%i) { reduce add %c .. }        body (%i, %all: boolx8) {
 *                                                    %found: boolx8 = var
 *     body (%i) { .. }                        =>     loop { what counts, with %found |= %c != 0
 *                                                           break }
 *                                                    bits of %found (%lane) { .. at %i + %lane }
 *                                                  }                                            */
#include "pass/rewrite.h"
#include "pass/vector/vectorise.h"

static void find(Vectoriser *v, IrInst *mask) {
  ASSERT(v->found, "lanes are found in a body that compacts, or counts");
  ir_set(&v->b, v->found, ir_binary(&v->b, IR_BOR, ir_get(&v->b, v->found), mask));
}

void vectorise_find(Vectoriser *v, const IrInst *branch) {
  find(v, ir_binary(&v->b, IR_MASK_AND, v->mask, vectorise_lanes(v, branch->operands[0])));
}

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
    IrInst *counts = ir_binary_const(&v->b, IR_NE, vectorise_lanes(v, count), 0);
    mask = ir_binary(&v->b, IR_MASK_AND, mask, counts);
  }
  find(v, mask);
}

/* Writes the code that finds the lanes. In a counting body, which iterations may leave, it is in a
 * loop. */
static void write_search(Vectoriser *v, const IrRegion *region, bool counts) {
  v->found = ir_var(&v->b, v->mask->type);
  if (counts) v->b.region = ir_loop(&v->b)->regions[0];
  vectorise_rest(v, region->first);
  if (counts && !vectorise_ends_with_exit(v->b.region)) ir_break(&v->b, 0);
  v->b.region = v->to;
}

/* Moves the scalar body into a loop over the lanes that were found. */
static void write_iterations(Vectoriser *v, IrRegion *body) {
  IrMap *with = ir_map(v->scratch, v->kernel);
  int last = body->params.count - 1;
  IrInst *word = ir_unary(&v->b, IR_MASK_BITS, ir_get(&v->b, v->found));
  IrInst *loop = ir_bits(&v->b, word, body->params.items[last]->type);
  IrBuilder b = rewrite_inside(v->kernel, loop->regions[0], NULL);
  for (int i = 0; i < last; i++) ir_map_put(with, body->params.items[i], v->to->params.items[i]);
  ir_map_put(with, body->params.items[last],
             ir_binary(&b, IR_ADD, v->to->params.items[last], ir_index(loop)));
  for (IrInst *inst = body->first; inst; inst = ir_following(inst, body))
    if (inst->op == IR_MEM_LOAD) vectorise_forget_shape(inst);
  rewrite_operands(body, with);
  rewrite_move_all(body, loop->regions[0]);
}

IrRegion *vectorise_found(Scratch *scratch, IrKernel *kernel, const LaneBody *body,
                          IrInst *branch) {
  IrRegion *scalar = (IrRegion *)body->region;
  Vectoriser v;
  vectorise_open(&v, scratch, kernel, body, NULL);
  write_search(&v, scalar, false);
  branch->compacts = false;
  vectorise_inner(scratch, kernel, branch->regions[0]);
  write_iterations(&v, scalar);
  rewrite_drop_dead(v.to);
  return v.to;
}

/* Does the condition depend on the best number so far, which the arm changes? */
static bool depends_on_arm(const IrInst *branch) {
  const IrInst *at = branch->region->first;
  while (at->op != IR_GET && at != branch) at = at->next;
  return at != branch;
}

/* Iterations of a serial loop do not change their conditions, so these are computed once; or they
 * only make them harder to meet, and the scalar body tests them again. */
void vectorise_found_serial(Scratch *scratch, IrKernel *kernel, IrInst *loop, IrInst *branch) {
  LaneBody lanes = ir_lanes_of(loop, loop->lanes);
  IrRegion *body = loop->regions[0], *arm = ir_region_create(kernel, NULL);
  bool tests_again = depends_on_arm(branch);
  Vectoriser v;
  rewrite_move_all(branch->regions[0], arm); /* what it sets is the same for all lanes */
  vectorise_open_loop(&v, scratch, kernel, &lanes, loop);
  write_search(&v, body, false);
  rewrite_move_all(arm, branch->regions[0]);
  branch->compacts = false;
  write_iterations(&v, body);
  if (!tests_again) {
    rewrite_move_all(branch->regions[0], branch->region);
    ir_delete(branch);
  }
  rewrite_drop_dead(v.to);
  loop->regions[0] = v.to;
}

void vectorise_idle(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  const IrTask *counts = task->counts;
  IrRegion **body = task->interior ? &task->interior : &task->body;
  IrRegion *counting = task->interior ? counts->interior : counts->body;
  if (!task->idle || counts->lanes <= 1 || task->lanes > 1) return;
  LaneBody lanes = ir_lanes_of_task(counts, counting, counts->lanes);
  Vectoriser v;
  vectorise_open(&v, ctx->scratch, kernel, &lanes, NULL);
  write_search(&v, counting, true);
  write_iterations(&v, *body);
  rewrite_drop_dead(v.to);
  *body = v.to;
  task->lanes = counts->lanes;
  task->idle = false; /* its body now skips these iterations */
  task->scalar_border = task->interior != NULL;
}
