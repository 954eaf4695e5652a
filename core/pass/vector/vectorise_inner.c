/* vectorise_inner.c - loops of scalar bodies whose iterations are lanes: the region of such a loop
 * gets the mask of its lanes as its last parameter, as the body of a range does.
 *
 *     for lanes=8 %0, %n, %1 (%k: i32) {     %p: f32x8 = var;  set %p, -0
 *       ..                                   for lanes=8 %0, %n, %1 (%k: i32, %m: boolx8) {
 *       %x: f32 = mem.load %at                 ..
 *       set %v, (add (get %v), %x)     =>      %x: f32x8 = lanes.load %at, %m
 *     }                                        set %p, (select %m, (add (get %p), %x), (get %p))
 *                                            }
 *                                            set %v, (add (get %v), (lanes.reduce add (get %p)))
 *
 * An outside variable to which the loop adds has a partial sum per lane; if its sum keeps the order
 * of iterations, lanes add to it one by one. How a loop over the set
 * bits of a word, or a row of cells with such a word, runs is chosen at run time: few run one by
 * one, since a vector takes as long for one as for all. Windows into the next leaf's row remain a
 * ROW_LOAD, of lanes, until the pass `cell_loops`. */
#include "ir/task.h"
#include "pass/rewrite.h"
#include "pass/vector/lanes.h"
#include "pass/vector/vectorise.h"

/* -- values from outside the loop -------------------------------------------------------------- */

void vectorise_open_loop(Vectoriser *v, Scratch *scratch, IrKernel *kernel, const LaneBody *body,
                         IrInst *loop) {
  vectorise_open(v, scratch, kernel, body, loop);
  for (const IrInst *inst = v->body->first; inst; inst = ir_following(inst, v->body))
    for (int i = 0; i < inst->operand_count; i++)
      if (!ir_is_inside(inst->operands[i], v->body))
        ir_map_put(v->scalar, inst->operands[i], inst->operands[i]);
}

/* Returns the scalar region, which is no longer in the loop. */
static IrRegion *write_body(Vectoriser *v, IrInst *loop) {
  IrRegion *scalar = loop->regions[0];
  ASSERT(scalar == v->body && !v->to->first, "the opened body is written once");
  vectorise_rest(v, scalar->first);
  rewrite_drop_dead(v->to);
  loop->regions[0] = v->to;
  return scalar;
}

/* -- sums -------------------------------------------------------------------------------------- */

typedef struct Sums {
  Vectoriser *v;
  IrBuilder before;      /* the loop */
  VEC(IrInst *) outside; /* the variables */
} Sums;

static void find_sums(Sums *sums) {
  Vectoriser *v = sums->v;
  for (const IrInst *inst = v->body->first; inst; inst = ir_following(inst, v->body)) {
    IrInst *variable = inst->op == IR_SET ? inst->operands[0] : NULL;
    if (!variable || ir_is_inside(variable, v->body) || ir_mapped(v->lanes, variable)) continue;
    if (ir_lanes_add_in_order(v->kernel, v->body, inst)) continue;
    IrInst *partial = ir_var(&sums->before, ir_lanes_type(variable->type, v->width));
    ir_set(&sums->before, partial, ir_identity(&sums->before, IR_UPDATE_ADD, partial->type));
    ir_map_put(v->lanes, variable, partial);
    vec_push(v->scratch, &sums->outside, variable);
  }
}

static void add_sums(const Sums *sums, IrInst *loop) {
  IrBuilder b = rewrite_after(sums->v->kernel, loop);
  for (int i = 0; i < sums->outside.count; i++) {
    IrInst *variable = sums->outside.items[i];
    IrInst *lanes = ir_get(&b, ir_mapped(sums->v->lanes, variable));
    IrInst *sum = ir_lanes_reduce(&b, IR_UPDATE_ADD, lanes);
    ir_set(&b, variable, ir_binary(&b, IR_ADD, ir_get(&b, variable), sum));
  }
}

/* -- serial loops ------------------------------------------------------------------------------ */

void vectorise_serial(Scratch *scratch, IrKernel *kernel, IrInst *loop) {
  LaneBody body = ir_lanes_of(loop, loop->lanes);
  Vectoriser v;
  Sums sums = {.v = &v, .before = rewrite_before(kernel, loop)};
  vectorise_open_loop(&v, scratch, kernel, &body, loop);
  ASSERT(loop->lanes > 1, "the pass `lanes` chose how many lanes");
  if (loop->reduces) find_sums(&sums);
  ir_delete_all(write_body(&v, loop));
  add_sums(&sums, loop);
}

/* -- bits and rows ----------------------------------------------------------------------------- */

enum { FEW = 2 }; /* if fewer than one bit in so many is set, the scalar loop is faster */

/* Are few bits set, of those up to the highest set one? */
static IrInst *are_few_bits(IrBuilder *b, IrInst *word) {
  IrInst *count = ir_unary(b, IR_POPCNT, word), *above = ir_unary(b, IR_CLZ, word);
  IrInst *reach = ir_binary(b, IR_SUB, ir_const_int(b, word->type, 64), above);
  return ir_binary(b, IR_LT, ir_binary_const(b, IR_MUL, count, FEW), reach);
}

/* Runs the loop with its scalar region if `few` holds. */
static void choose_at_run_time(IrKernel *kernel, IrInst *loop, IrRegion *scalar, IrInst *few) {
  IrBuilder b = rewrite_before(kernel, loop);
  IrInst *choice = ir_if(&b, few), *alone = ir_copy_alone(kernel, loop);
  alone->lanes = 0;
  alone->regions[0] = scalar;
  scalar->owner = alone;
  ir_region_append(choice->regions[0], alone);
  ir_move_into(choice->regions[1], loop);
}

/* Do few of the row's cells have a bit? */
static IrInst *are_few_cells(IrBuilder *b, const IrInst *row) {
  IrInst *word = row->operands[row->operand_count - 1];
  int cells = row->end;
  ASSERT(row->masked && cells > 0 && cells <= 64, "a masked row has a bit per cell in one word");
  if (cells < 64) {
    int64_t low = (int64_t)((UINT64_C(1) << cells) - 1);
    word = ir_binary_const(b, IR_BAND, word, low);
  }
  IrInst *most = ir_const_int(b, word->type, (cells + FEW - 1) / FEW);
  return ir_binary(b, IR_LT, ir_unary(b, IR_POPCNT, word), most);
}

/* A loop over the bits of a word, or a ROW. */
static void write_cells(Scratch *scratch, IrKernel *kernel, IrInst *loop) {
  bool is_row = loop->op == IR_ROW;
  LaneBody body = ir_lanes_of(loop, loop->lanes);
  Vectoriser v;
  vectorise_open_loop(&v, scratch, kernel, &body, loop);
  v.fills_row = is_row && !ir_row_bounds(loop) && loop->end % loop->lanes == 0;
  v.is_whole = is_row && lanes_is_whole_row(v.facts, loop, loop->lanes);
  IrRegion *scalar = write_body(&v, loop);
  if ((is_row && !loop->masked) || v.is_whole || rewrite_count(scalar) > IR_LONGEST_TWICE)
    return ir_delete_all(scalar);
  IrBuilder b = rewrite_before(kernel, loop);
  IrInst *few = is_row ? are_few_cells(&b, loop) : are_few_bits(&b, loop->operands[0]);
  choose_at_run_time(kernel, loop, scalar, few);
}

/* -- all of a region --------------------------------------------------------------------------- */

void vectorise_inner(Scratch *scratch, IrKernel *kernel, IrRegion *region) {
  for (IrInst *inst = region->first, *next; inst; inst = next) {
    bool is_row = inst->op == IR_ROW, is_in_lanes = inst->lanes > 1;
    next = inst->next;
    IrInst *branch = is_in_lanes ? compaction_branch(inst->regions[0]) : NULL;
    if (branch) vectorise_found_serial(scratch, kernel, inst, branch);
    else if (is_in_lanes && inst->op == IR_FOR) vectorise_serial(scratch, kernel, inst);
    if (is_in_lanes && (is_row || inst->op == IR_BITS)) write_cells(scratch, kernel, inst);
    for (int i = 0; i < IR_MAX_REGIONS && !is_in_lanes; i++)
      if (inst->regions[i]) vectorise_inner(scratch, kernel, inst->regions[i]);
  }
}
