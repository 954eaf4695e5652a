/* prefetch_rows.c - prefetches what later iterations read in short serial loops, where the loops of
 * neighbouring iterations follow each other in memory: rows of a sparse matrix in compressed form.
 *
 *   for i in rg.range(n) do
 *     for k = starts[i], starts[i + 1] - 1 do        before the loop over k, if the row has at most
 *       sum = sum + values[k] * x[columns[k]]    =>  8 elements: prefetch values[starts[i] + 256]
 *     end                                            and columns[starts[i] + 256]
 *   end
 *
 * A row costs a processor so many instructions that its window holds few of them, and too few cache
 * misses are on their way at a time. In a long row the hardware's own prefetches suffice, and more
 * of them would only take slots. Addresses past the end of an array do no harm. Decision
 * D-pass-97. */
#include "ir/facts.h"
#include "pass/address/address.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

enum {
  DISTANCE = 256,  /* elements */
  MOST_ROW = 8,    /* elements of a row that is short */
  LEAST_BYTES = 4, /* of an element */
  MOST_BYTES = 8,
  MOST_STREAMS = 4,
  DEEPEST = 8 /* operands between a condition and its parts */
};

typedef struct Stream {
  IrInst *base; /* address of element 0 */
  int32_t stride;
} Stream;

typedef struct Rows {
  IrKernel *kernel;
  IrRegion *body;               /* of a task over one axis */
  Stream streams[MOST_STREAMS]; /* of the current loop */
  int count;
} Rows;

static const IrInst *without_conversions(const IrInst *value) {
  while (value->op == IR_CONVERT && type_is_integer(value->operands[0]->type))
    value = value->operands[0];
  return value;
}

/* Is it the load of an element whose index is `index`? */
static bool loads_at(const IrInst *load, const IrInst *index) {
  return load->op == IR_MEM_LOAD && load->operands[0]->op == IR_OFFSET &&
         without_conversions(load->operands[0]->operands[1]) == index;
}

/* Does the loop begin at the element of this iteration, and end before that of the next one? */
static bool is_row(const Rows *r, const IrInst *loop) {
  const IrInst *own = vec_last(&r->body->params);
  int64_t less = 0;
  const IrInst *begin = without_conversions(loop->operands[0]),
               *end = without_conversions(facts_split_constant(loop->operands[1], &less));
  if (less != -1 || !loads_at(begin, own) || !loads_at(end, own)) return false;
  const IrInst *from = begin->operands[0], *to = end->operands[0];
  return facts_same_value(from->operands[0], to->operands[0]) && from->stride == to->stride &&
         to->imm - from->imm == from->stride;
}

/* Is the value computed without data, except that of the array `starts`? */
static bool is_of_starts(const IrInst *value, const IrInst *starts, int depth) {
  if (value->op == IR_MEM_LOAD && value->operands[0]->op == IR_OFFSET)
    return facts_same_value(value->operands[0]->operands[0], starts);
  if (depth == DEEPEST || !(ir_effects(value) & IR_PURE)) return false;
  for (int k = 0; k < value->operand_count; k++)
    if (!is_of_starts(value->operands[k], starts, depth + 1)) return false;
  return true;
}

/* Does nearly each iteration of the body run the row's loop? Checks of indices depend on the array
 * of starts alone. Under other branches, the rows that follow in memory are seldom those that run
 * next. */
static bool runs_mostly(const Rows *r, const IrInst *loop) {
  const IrInst *starts = without_conversions(loop->operands[0])->operands[0]->operands[0];
  for (const IrRegion *in = loop->region; in != r->body; in = in->owner->region)
    if (in->owner->op == IR_IF && !is_of_starts(in->owner->operands[0], starts, 0)) return false;
  return true;
}

/* Is the base known before the loop? */
static bool is_base(const IrInst *base, const IrRegion *loop) {
  return facts_is_invariant(base, loop) && (base->region != loop || !base->operand_count);
}

static void note_stream(Rows *r, const IrInst *load, const IrRegion *loop) {
  const IrInst *place = load->operands[0];
  if (!loads_at(load, vec_last(&loop->params)) || place->stride < LEAST_BYTES ||
      place->stride > MOST_BYTES || !is_base(place->operands[0], loop))
    return;
  for (int i = 0; i < r->count; i++)
    if (facts_same_value(r->streams[i].base, place->operands[0])) return;
  if (r->count < MOST_STREAMS) r->streams[r->count++] = (Stream){place->operands[0], place->stride};
}

static void prefetch_stream(IrBuilder *b, const Stream *stream, IrInst *begin) {
  IrInst *base = stream->base;
  if (base->region != b->region->owner->region && !base->operand_count)
    base = rewrite_again(b, base, NULL);
  IrInst *index = ir_convert(b, begin, TYPE(I64));
  IrInst *address = ir_offset(b, base, index, stream->stride, (int64_t)DISTANCE * stream->stride);
  ir_call(b, RT_FETCH, 0, 0, 2, (IrInst *[]){address, ir_const_int(b, TYPE(I32), 0)});
}

/* A short row has a loop of its own, which need not poll, after its prefetches. */
static void divide(Rows *r, IrInst *loop) {
  IrBuilder b = rewrite_before(r->kernel, loop);
  IrInst *begin = loop->operands[0];
  Type bare = type_size(begin->type) == 8 ? TYPE(U64) : TYPE(U32);
  IrInst *width = ir_convert(&b, ir_binary(&b, IR_SUB, loop->operands[1], begin), bare);
  IrInst *is_short = ir_binary_const(&b, IR_LT, width, MOST_ROW);
  IrInst *branch = ir_if(&b, is_short);
  IrBuilder inside = rewrite_inside(r->kernel, branch->regions[0], loop);
  for (int i = 0; i < r->count; i++) prefetch_stream(&inside, &r->streams[i], begin);
  ir_copy_to(&inside, loop, loop->next, NULL);
  branch->regions[0]->last->short_trip = true;
  IrBuilder otherwise = rewrite_inside(r->kernel, branch->regions[1], loop);
  ir_copy_to(&otherwise, loop, loop->next, NULL);
  ir_note(r->kernel, loop->line, "short rows are prefetched %d elements ahead", DISTANCE);
  ir_delete(loop);
}

static void prefetch_rows(Rows *r) {
  VEC(IrInst *) loops = {0};
  for (IrInst *inst = r->body->first; inst; inst = ir_following(inst, r->body))
    if (inst->op == IR_FOR && inst->lanes <= 1 && facts_step(inst) == 1 && is_row(r, inst) &&
        runs_mostly(r, inst))
      vec_push(r->kernel->scratch, &loops, inst);
  for (int i = 0; i < loops.count; i++) {
    IrInst *loop = loops.items[i];
    r->count = 0;
    for (IrInst *inst = loop->regions[0]->first; inst; inst = inst->next)
      if (inst->op == IR_MEM_LOAD) note_stream(r, inst, loop->regions[0]);
    if (r->count) divide(r, loop);
  }
}

bool pass_prefetch_rows(PassContext *ctx, IrKernel *kernel, Error *err) {
  for (int i = 0; i < kernel->tasks.count && ctx->target.prefetches; i++) {
    const IrTask *task = kernel->tasks.items[i];
    if (task->kind != TASK_RANGE || task->axis_count != 1 || task->lanes > 1) continue;
    Rows body = {.kernel = kernel, .body = task->body};
    Rows interior = {.kernel = kernel, .body = task->interior};
    prefetch_rows(&body);
    if (interior.body) prefetch_rows(&interior);
  }
  return true;
}
