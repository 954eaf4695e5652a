/* squares.c - a loop over a grid whose elements lie along different axes goes square by square.
 *
 *   range a, b, c, d (%i, %j)          =>    range a/16, b/16 + 1, c/16, d/16 + 1 (%I, %J)
 *     y[%i][%j] = x[%j][%i]                    for %i = max(a, 16 %I) .. min(b, 16 %I + 16) - 1
 *                                                for %j = .. : y[%i][%j] = x[%j][%i]
 *
 * Row by row, such a loop reads or writes a cache line for each element; in a square it does so for
 * each sixteenth. Others it would only cut into pieces, so nobody is asked: it is a candidate that
 * launches try (kernel/candidate.def), of loops that have something to gain and whose iterations
 * change nothing but elements of their own, where neither numbers of iterations nor the order of
 * sums show. */
#include "pass/pass.h"
#include "pass/ranges.h"
#include "pass/rewrite.h"

enum { SIDE = 16, LEAST_AXES = 2, MOST_AXES = 3 };

/* -- which loops ------------------------------------------------------------------------------- */

typedef struct Survey {
  const IrKernel *kernel;
  const IrRegion *body;
  bool is_plain;
  bool runs_along, runs_across; /* the last index of some place is the last axis; another one */
} Survey;

static bool is_dense(const IrKernel *kernel, const IrField *field) {
  const SNode *node = field->node;
  if (field->tree < 0 || !node) return field->array >= 0;
  while (node->parent && node->kind == SNODE_DENSE) node = node->parent;
  return !node->parent;
}

static void note_place(Survey *survey, const IrInst *place) {
  const IrRegion *body = survey->body;
  survey->is_plain &= is_dense(survey->kernel, &survey->kernel->fields.items[place->field]);
  if (!place->operand_count) return;
  IndexRange index = ranges_of(place->operands[place->operand_count - 1]);
  int axis = index.known && index.base ? ranges_param(body, index.base) : -1;
  if (axis == body->params.count - 1) survey->runs_along = true;
  else if (axis >= 0) survey->runs_across = true;
}

static bool note(void *data, IrInst *inst) {
  Survey *survey = data;
  switch (inst->op) {
  case IR_PLACE: note_place(survey, inst); break;
  case IR_LOAD: case IR_STORE: case IR_VAR: case IR_GET: case IR_SET: break;
  case IR_IF: case IR_FOR: break;
  case IR_RANDOM: survey->is_plain = false; break;
  default: survey->is_plain &= (ir_op_info[inst->op].flags & IR_PURE) != 0;
  }
  return survey->is_plain;
}

static bool gains(const IrKernel *kernel, IrInst *range) {
  IrRegion *body = range->regions[0];
  Survey survey = {kernel, body, true, false, false};
  if (range->serial || range->block) return false;
  if (body->params.count < LEAST_AXES || body->params.count > MOST_AXES) return false;
  ir_walk(body, note, &survey);
  return survey.is_plain && survey.runs_along && survey.runs_across;
}

typedef struct Search {
  const IrKernel *kernel;
  IrInst *found;
} Search;

static bool visit(void *data, IrInst *inst) {
  Search *search = data;
  if (inst->op == IR_RANGE && gains(search->kernel, inst)) search->found = inst;
  return !search->found;
}

/* -- squares ----------------------------------------------------------------------------------- */

/* Of an axis begin .. end: numbers of squares; none if it is empty. No sum leaves its type. */
static void count_squares(IrBuilder *b, IrInst *begin, IrInst *end, IrInst *out[2]) {
  IrInst *side = ir_const_int(b, begin->type, SIDE), *one = ir_const_int(b, begin->type, 1);
  IrInst *past = ir_binary(b, IR_ADD, ir_binary(b, IR_FLOORDIV, end, side), one);
  out[0] = ir_binary(b, IR_FLOORDIV, begin, side);
  out[1] = ir_select(b, ir_binary(b, IR_LT, begin, end), past, out[0]);
}

/* The loop over one axis of a square; its index. */
static IrInst *open_axis(IrBuilder *b, IrInst *square, IrInst *begin, IrInst *end) {
  Type type = begin->type;
  IrInst *one = ir_const_int(b, type, 1);
  IrInst *low = ir_binary(b, IR_MUL, square, ir_const_int(b, type, SIDE));
  IrInst *first = ir_binary(b, IR_MAX, begin, low);
  IrInst *last = ir_binary(b, IR_MIN, ir_binary(b, IR_SUB, end, one),
                           ir_binary(b, IR_ADD, low, ir_const_int(b, type, SIDE - 1)));
  IrInst *loop = ir_for(b, first, last, one);
  b->region = loop->regions[0];
  return loop->regions[0]->params.items[0];
}

static void go_by_squares(PassContext *ctx, IrKernel *kernel, IrInst *range) {
  IrRegion *body = range->regions[0];
  int axes = body->params.count;
  IrInst *squares[2 * MOST_AXES];
  IrBuilder b = rewrite_before(kernel, range);
  for (int k = 0; k < axes; k++)
    count_squares(&b, range->operands[2 * k], range->operands[2 * k + 1], &squares[2 * k]);
  IrInst *outer = ir_range(&b, axes, squares, body->params.items[0]->type);
  outer->independent = range->independent;
  outer->scalar = range->scalar;
  int known = kernel->next_id;
  IrInst **with = scratch_array(ctx->scratch, IrInst *, known);
  IrBuilder inner = rewrite_inside(kernel, outer->regions[0], range);
  for (int k = 0; k < axes; k++)
    with[body->params.items[k]->id] =
        open_axis(&inner, outer->regions[0]->params.items[k], range->operands[2 * k],
                  range->operands[2 * k + 1]);
  rewrite_move_all(body, inner.region);
  rewrite_operands(inner.region, with, known);
  ir_remove(range);
}

bool pass_squares(PassContext *ctx, IrKernel *kernel, Error *err) {
  (void)err;
  Search search = {.kernel = kernel};
  while (ctx->goes_by_squares && kernel->body && !kernel->failed) {
    search.found = NULL;
    ir_walk(kernel->body, visit, &search);
    if (!search.found) break;
    go_by_squares(ctx, kernel, search.found);
  }
  return true;
}
