/* tiling.c - loop tiling: runs a loop over a grid tile by tile if its accesses are contiguous
 * along different axes.
 *
 *   range a, b, c, d (%i, %j)          =>    range a/16, b/16 + 1, c/16, d/16 + 1 (%I, %J)
 *     y[%i][%j] = x[%j][%i]                    for %i = max(a, 16 %I) .. min(b, 16 %I + 16) - 1
 *                                                for %j = .. : y[%i][%j] = x[%j][%i]
 *
 * Row by row, such a loop touches a new cache line for each element; in a tile, only for every
 * sixteenth. Whether tiling pays is usually unknown, so it is a candidate that tuning tries
 * (kernel/candidate.def). The loop must access dense fields along both axes, and neither the
 * numbers of its iterations nor the order of sums may be observable. On a CPU it is tiled without
 * trials if the lines of a column cannot stay in the cache until the next column uses them, because
 * they share few cache sets, or are on more pages than the TLB holds. */
#include "pass/pass.h"
#include "pass/analysis/ranges.h"
#include "pass/rewrite.h"

/* Iterations along each axis of a tile: 16 numbers of 4 bytes are one cache line. */
enum { SIDE = 16 };
enum { MOST_AXES = 3 }; /* of a tiled loop */
/* Bytes per way and ways of most machines' second-level cache; bytes per page, and pages in their
 * TLB. */
enum { WAY = 128 << 10, WAYS = 16, PAGE = 4 << 10, PAGES = 1536 };
/* Places of a body that is tiled without trials: with more of them, their tiles compete for the
 * cache. */
enum { MOST_SURE_PLACES = 6 };

/* -- which loops ------------------------------------------------------------------------------- */

typedef struct Survey {
  const IrKernel *kernel;
  const IrRegion *body;
  bool is_plain;
  /* some place's last index follows the loop's last axis; some place's follows another axis */
  bool runs_along, runs_across;
  bool leaves_caches; /* the columns of a place across are too long for the caches */
  bool has_loop;
  int places;
} Survey;

static bool is_dense(const IrKernel *kernel, const IrField *field) {
  const SNode *node = field->node;
  if (field->tree < 0 || !node) return field->array >= 0;
  while (node->parent && snode_is_dense(node)) node = node->parent;
  return !node->parent;
}

/* The loop's axis that the index follows, forwards or backwards; -1: none. */
static int axis_of(const Survey *survey, const IrInst *index) {
  IndexRange range = ranges_of(index);
  IndexLine line;
  bool is_line = ranges_line(&range, survey->body->params.count, survey->body->params.items, &line);
  return ranges_param(survey->body, is_line ? line.index : range.base);
}

/* Do `lines` cache lines at this stride, in bytes, evict each other? */
static bool is_too_long(uint64_t lines, uint64_t stride) {
  DEBUG_ASSERT(stride > 0, "adjacent lines differ");
  uint64_t even = stride & -stride, sets_ways = (uint64_t)WAY / (even < WAY ? even : WAY) * WAYS;
  return lines > sets_ways || (stride >= PAGE && lines > PAGES);
}

/* Does the loop's last index run along a column of the place, and are such columns too long? */
static bool has_long_columns(const Survey *survey, const IrInst *place) {
  const IrField *field = &survey->kernel->fields.items[place->field];
  const SNode *node = field->node;
  int last = survey->body->params.count - 1;
  if (field->tree < 0 || !node || !node->parent || node->parent->parent) return false;
  uint64_t stride = (uint64_t)type_size(field->type);
  for (int k = place->operand_count - 1; k >= 0; k--) {
    uint64_t extent = (uint64_t)node->shape[k];
    if (axis_of(survey, place->operands[k]) == last) return is_too_long(extent, stride);
    stride *= extent;
  }
  return false;
}

static void survey_place(Survey *survey, const IrInst *place) {
  const IrRegion *body = survey->body;
  survey->places++;
  survey->is_plain &= is_dense(survey->kernel, &survey->kernel->fields.items[place->field]);
  if (!place->operand_count) return;
  int axis = axis_of(survey, place->operands[place->operand_count - 1]);
  if (axis == body->params.count - 1) survey->runs_along = true;
  if (axis < 0 || axis == body->params.count - 1) return;
  survey->runs_across = true;
  survey->leaves_caches |= has_long_columns(survey, place);
}

static void survey_inst(Survey *survey, const IrInst *inst) {
  switch (inst->op) {
  case IR_PLACE: survey_place(survey, inst); break;
  case IR_LOAD:
  case IR_STORE:
  case IR_VAR:
  case IR_GET:
  case IR_SET:
  case IR_IF: break;
  case IR_FOR: survey->has_loop = true; break;
  case IR_RANDOM: survey->is_plain = false; break;
  default: survey->is_plain &= (ir_op_info[inst->op].flags & IR_PURE) != 0;
  }
}

static bool is_candidate(const PassContext *ctx, const IrKernel *kernel, const IrInst *range) {
  const IrRegion *body = range->regions[0];
  Survey survey = {.kernel = kernel, .body = body, .is_plain = true};
  if (range->serial || range->block) return false;
  if (body->params.count < 2 || body->params.count > MOST_AXES) return false;
  for (IrInst *inst = body->first; inst && survey.is_plain; inst = ir_following(inst, body))
    survey_inst(&survey, inst);
  if (!survey.is_plain || !survey.runs_along || !survey.runs_across) return false;
  bool is_sure = survey.leaves_caches && !survey.has_loop && survey.places <= MOST_SURE_PLACES;
  return ctx->tiles_loops || (is_sure && ctx->target.own_caches);
}

static IrInst *find_candidate(const PassContext *ctx, const IrKernel *kernel) {
  IrInst *inst = kernel->body ? kernel->body->first : NULL;
  while (inst && (inst->op != IR_RANGE || !is_candidate(ctx, kernel, inst)))
    inst = ir_following(inst, kernel->body);
  return inst;
}

/* -- tiles ------------------------------------------------------------------------------------- */

/* The range of tiles for an axis begin .. end, empty if the axis is. No sum overflows. */
static void count_tiles(IrBuilder *b, IrInst *begin, IrInst *end, IrInst *out[2]) {
  IrInst *side = ir_const_int(b, begin->type, SIDE), *one = ir_const_int(b, begin->type, 1);
  IrInst *past = ir_binary(b, IR_ADD, ir_binary(b, IR_FLOORDIV, end, side), one);
  out[0] = ir_binary(b, IR_FLOORDIV, begin, side);
  out[1] = ir_select(b, ir_binary(b, IR_LT, begin, end), past, out[0]);
}

/* Opens the loop over one axis of a tile; returns its index. */
static IrInst *open_axis(IrBuilder *b, IrInst *tile, IrInst *begin, IrInst *end) {
  Type type = begin->type;
  IrInst *one = ir_const_int(b, type, 1);
  IrInst *low = ir_binary_const(b, IR_MUL, tile, SIDE);
  IrInst *first = ir_binary(b, IR_MAX, begin, low);
  IrInst *last = ir_binary(b, IR_MIN, ir_binary(b, IR_SUB, end, one),
                           ir_binary_const(b, IR_ADD, low, SIDE - 1));
  return rewrite_open_for(b, first, last, 1);
}

static void tile_loop(IrKernel *kernel, IrInst *range) {
  DEBUG_ASSERT(range->op == IR_RANGE && range->axis_count <= MOST_AXES, "is_candidate has agreed");
  IrRegion *body = range->regions[0];
  int axes = body->params.count;
  ir_note(kernel, range->line, "tiled, as elements are strided along the inner loop");
  IrInst *tiles[2 * MOST_AXES];
  IrBuilder b = rewrite_before(kernel, range);
  for (int k = 0; k < axes; k++)
    count_tiles(&b, range->operands[2 * k], range->operands[2 * k + 1], &tiles[2 * k]);
  IrInst *outer = ir_range(&b, axes, tiles, body->params.items[0]->type);
  outer->independent = range->independent;
  outer->scalar = range->scalar;
  IrBuilder inner = rewrite_inside(kernel, outer->regions[0], range);
  for (int k = 0; k < axes; k++)
    ir_replace_uses(body->params.items[k],
                    open_axis(&inner, outer->regions[0]->params.items[k], range->operands[2 * k],
                              range->operands[2 * k + 1]));
  rewrite_move_all(body, inner.region);
  ir_delete(range);
}

bool pass_tiling(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (IrInst *range; (range = find_candidate(ctx, kernel)) && !kernel->failed;)
    tile_loop(kernel, range);
  return true;
}
