/* loop.c - loops: Lua's numeric `for`, loops over the set bits of a word, loops with a test at
 * their head, and vectorised ones. An integer `for` computes its trip count up front, unsigned, so
 * nothing wraps at the limits of a type. Its back edge must not poll the stop word (LLVM only
 * vectorises loops with one exit), so the loop is strip-mined: an inner loop of at most STRIP
 * iterations, and a poll between two strips. */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/region.h"

/* -- vectorised loops -------------------------------------------------------------------------- */

void loop_set_index(Codegen *g, const IrInst *index, LLVMValueRef first) {
  Type type = index->type;
  if (LLVMTypeOf(first) != value_type(g, type)) first = arith_convert(g, TYPE(I64), type, first);
  value_set(g, index, first);
}

/* Emits one vector of iterations, `first` being that of lane 0; NULL: all lanes are active. Stops
 * the loop if a lane has failed. Continues after `again`; returns the block in which the next
 * vector may begin. */
static LLVMBasicBlockRef lane_iterations(Codegen *g, const LaneLoop *loop, LLVMValueRef first,
                                         LLVMValueRef active, LLVMBasicBlockRef again) {
  const IrInst *mask = ir_lanes_mask(loop->body);
  ASSERT(mask && type_rows(mask->type) == loop->width, "a mask for the lanes of its loop");
  if (!active) active = LLVMConstAllOnes(value_type(g, mask->type));
  if (loop->nodes) loop->set_params(g, loop->nodes, first, active);
  else loop_set_index(g, loop->index, first);
  value_set(g, mask, active);
  control_body(g, loop->body, again);
  block_follow(g, again);
  if (ir_has_op(loop->body, IR_FAULT)) context_poll_stop(g);
  if (loop->trips) control_poll_sometimes(g, loop->trips);
  return block_here(g);
}

static int apart(const LaneLoop *loop) { return ir_lanes_alternate(loop->body) ? 2 : 1; }

int64_t lane_span(const LaneLoop *loop) { return (int64_t)loop->width * apart(loop); }

/* Does the operand of ALTERNATE hold at the iteration? */
static LLVMValueRef acts_at(Codegen *g, const LaneLoop *loop, const IrInst *acts,
                            LLVMValueRef iteration) {
  loop_set_index(g, loop->index, iteration);
  region_emit_value(g, acts, loop->body);
  return value_of(g, acts);
}

/* The first iteration of from..to that lanes run: one of the first two, or none. An empty range,
 * which may end before it begins, begins at `from`: the caller continues there. */
static LLVMValueRef first_of(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to) {
  const IrInst *alternate = ir_lanes_alternate(loop->body);
  if (!alternate) return from;
  const IrInst *acts = alternate->operands[0];
  LLVMValueRef some = build_icmp(g, LLVMIntSLT, from, to);
  LLVMValueRef next = build_add(g, from, build_zext(g, some, LLVMTypeOf(from)));
  LLVMValueRef here = acts_at(g, loop, acts, from), there = acts_at(g, loop, acts, next);
  LLVMValueRef none = build_select(g, some, to, from);
  return build_select(g, here, from, build_select(g, there, next, none));
}

LLVMValueRef lane_full_vectors(Codegen *g, const LaneLoop *loop, LLVMValueRef from,
                               LLVMValueRef to) {
  int64_t span = lane_span(loop);
  from = first_of(g, loop, from, to);
  LLVMValueRef some = build_icmp(g, LLVMIntSLT, from, to);
  LLVMValueRef count = build_select(g, some, build_sub(g, to, from), value_like(from, 0));
  LLVMValueRef whole = build_and(g, count, value_like(from, -span));
  LLVMValueRef end = build_add(g, from, whole);
  LLVMBasicBlockRef before = block_here(g), body = block_new(g, "lanes"),
                    again = block_new(g, "again"), leave = block_new(g, "lanes.end");
  block_enter_unless(g, build_is_zero(g, whole), body, leave);
  LLVMValueRef index = build_phi(g, from, before);
  LLVMBasicBlockRef back = lane_iterations(g, loop, index, NULL, again);
  LLVMValueRef next = build_add(g, index, value_like(from, span));
  build_phi_next(index, next, back);
  block_enter_if(g, build_icmp(g, LLVMIntEQ, next, end), leave, body);
  return end;
}

/* A mask of the lanes that run one of the next `count` (unsigned) iterations. */
static LLVMValueRef lane_first(Codegen *g, const LaneLoop *loop, LLVMValueRef count) {
  LLVMValueRef most = call_binary(g, "llvm.umin", count, value_like(count, lane_span(loop)));
  if (LLVMTypeOf(count) == g->i64) most = build_trunc(g, most, g->i32);
  return build_icmp(g, LLVMIntULT, value_staircase(g->i32, loop->width, apart(loop)),
                    value_broadcast(g, most, loop->width));
}

void lane_masked(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to,
                 LLVMValueRef ahead) {
  LLVMValueRef first = from = first_of(g, loop, from, to);
  LLVMValueRef some = build_icmp(g, LLVMIntSLT, from, to);
  if (ahead) from = build_sub(g, from, ahead);
  LLVMBasicBlockRef body = block_new(g, "masked"), again = block_new(g, "again"),
                    leave = block_new(g, "masked.end"), before = block_here(g);
  block_enter_if(g, some, body, leave);
  LLVMValueRef index = build_phi(g, from, before);
  LLVMValueRef left = build_sub(g, to, index), span = value_like(from, lane_span(loop));
  LLVMValueRef active = lane_first(g, loop, left);
  if (ahead) {
    LLVMValueRef early = build_sub(g, first, index), none = value_like(from, 0);
    early = lane_first(g, loop, call_binary(g, "llvm.smax", early, none));
    active = build_and(g, active, LLVMBuildNot(g->builder, early, ""));
  }
  LLVMBasicBlockRef back = lane_iterations(g, loop, index, active, again);
  build_phi_next(index, build_add(g, index, span), back);
  block_enter_unless(g, build_icmp(g, LLVMIntUGT, left, span), leave, body);
}

void lane_loop(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to) {
  if (loop->full_vectors) from = lane_full_vectors(g, loop, from, to);
  lane_masked(g, loop, from, to, NULL);
}

/* -- loop metadata ----------------------------------------------------------------------------- */

/* Loop metadata refers to itself in its first operand; a temporary node is the placeholder. `no`:
 * asks LLVM not to do it. */
static void ask(Codegen *g, LLVMValueRef branch, const char *wish, bool no) {
  LLVMMetadataRef words[] = {LLVMMDStringInContext2(g->context, wish, strlen(wish)),
                             LLVMValueAsMetadata(LLVMConstNull(value_type(g, TYPE(BOOL))))};
  LLVMMetadataRef asked = LLVMMDNodeInContext2(g->context, words, no ? 2 : 1);
  LLVMMetadataRef self = LLVMTemporaryMDNode(g->context, NULL, 0);
  LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, (LLVMMetadataRef[]){self, asked}, 2);
  LLVMMetadataReplaceAllUsesWith(self, node);
  value_mark(g, branch, "llvm.loop", node);
}

void loop_stays_scalar(Codegen *g, LLVMValueRef back) {
  ask(g, back, "llvm.loop.vectorize.enable", true);
}

/* -- loops with a test at their head ----------------------------------------------------------- */

TestedLoop tested_begin(Codegen *g, LLVMValueRef from, LLVMValueRef to, LLVMValueRef step,
                        LLVMBasicBlockRef leave) {
  TestedLoop loop = {.step = step, .head = block_new(g, "test"), .again = block_new(g, "again")};
  if (!leave) leave = loop.behind = block_new(g, "test.end");
  LLVMBasicBlockRef work = block_new(g, "work");
  loop.index = block_loop(g, loop.head, from);
  block_enter_if(g, build_icmp(g, LLVMIntSLT, loop.index, to), work, leave);
  return loop;
}

void tested_end(Codegen *g, const TestedLoop *loop) {
  block_follow(g, loop->again);
  LLVMValueRef next = build_nsw_add(g, loop->index, loop->step);
  if (loop->trips) control_poll_sometimes(g, loop->trips);
  build_phi_next(loop->index, next, block_here(g));
  block_jump(g, loop->head);
  block_enter(g, loop->behind ? loop->behind : block_new(g, "behind"));
}

/* -- integer for ------------------------------------------------------------------------------- */

enum { STRIP = 4096 };

typedef struct ForLoop {
  Type type;
  LLVMValueRef begin, last, step;
  LLVMBasicBlockRef leave;
} ForLoop;

static LLVMValueRef number(const ForLoop *f, int64_t n) { return value_like(f->begin, n); }

static LLVMValueRef at_most(Codegen *g, const ForLoop *f, LLVMValueRef a, LLVMValueRef b) {
  return build_icmp(g, type_is_signed(f->type) ? LLVMIntSLE : LLVMIntULE, a, b);
}

/* step > 0; true for every unsigned step except 0 */
static LLVMValueRef goes_up(Codegen *g, const ForLoop *f) {
  return build_icmp(g, type_is_signed(f->type) ? LLVMIntSGT : LLVMIntUGT, f->step, number(f, 0));
}

static LLVMValueRef runs_at_all(Codegen *g, const ForLoop *f) {
  LLVMValueRef up = goes_up(g, f);
  LLVMValueRef any =
      build_select(g, up, at_most(g, f, f->begin, f->last), at_most(g, f, f->last, f->begin));
  return build_and(g, any, build_is_some(g, f->step));
}

/* Iterations after the first one, unsigned: distance / |step|. */
static LLVMValueRef trips_after_first(Codegen *g, const ForLoop *f) {
  LLVMValueRef up = goes_up(g, f);
  LLVMValueRef distance =
      build_select(g, up, build_sub(g, f->last, f->begin), build_sub(g, f->begin, f->last));
  LLVMValueRef size = build_select(g, up, f->step, build_neg(g, f->step));
  LLVMValueRef zero = build_is_zero(g, size);
  return build_udiv(g, distance, build_select(g, zero, number(f, 1), size));
}

/* Is it known that the loop counts up, and that the index after `end` does not wrap? */
static bool is_past(Codegen *g, const ForLoop *f, LLVMValueRef end, LLVMValueRef past) {
  LLVMValueRef up = goes_up(g, f), wraps = at_most(g, f, past, end);
  if (!LLVMIsAConstantInt(up) || !LLVMIsAConstantInt(wraps)) return false;
  return LLVMConstIntGetZExtValue(up) && !LLVMConstIntGetZExtValue(wraps);
}

/* Does the inner loop have another iteration after that of `index`? */
static LLVMValueRef has_more(Codegen *g, const ForLoop *f, const IrInst *inst, LLVMValueRef index,
                             LLVMValueRef next, LLVMValueRef end, LLVMValueRef wide_past) {
  if (wide_past) {
    LLVMValueRef wide = arith_convert(g, f->type, TYPE(I64), index);
    return build_icmp(g, LLVMIntNE, build_nsw_add(g, wide, value_index(g, 1)), wide_past);
  }
  LLVMValueRef past = build_add(g, end, f->step);
  return inst->short_trip || is_past(g, f, end, past) /* then `index` need not outlive `next` */
             ? build_icmp(g, LLVMIntNE, next, past)
             : build_icmp(g, LLVMIntNE, index, end);
}

/* The inner loop: index, index + step, .. up to and including `end`, or, if that is NULL, below
 * `past`, of 64 bits. Continues after it, in a new block. */
static void emit_strip(Codegen *g, ForLoop *f, const IrInst *inst, LLVMValueRef begin,
                       LLVMValueRef end, LLVMValueRef past) {
  LLVMBasicBlockRef behind = block_new(g, "strip.end"), body = block_new(g, "for");
  LLVMValueRef index = block_loop(g, body, begin);
  value_set(g, ir_index(inst), index);
  control_iteration(g, inst->regions[0], f->leave);
  /* used only if there is another iteration, and then it cannot wrap */
  LLVMValueRef next =
      type_is_signed(f->type) ? build_nsw_add(g, index, f->step) : build_nuw_add(g, index, f->step);
  build_phi_next(index, next, block_here(g));
  LLVMValueRef more = has_more(g, f, inst, index, next, end, past),
               branch = block_branch(g, more, body, behind);
  if (inst->no_unroll) ask(g, branch, "llvm.loop.unroll.disable", false);
  if (inst->unrolled) ask(g, branch, "llvm.loop.unroll.full", false);
  block_enter(g, behind);
}

/* Between two strips. */
static void enter_next_strip(Codegen *g, const ForLoop *f, LLVMValueRef was_last) {
  LLVMBasicBlockRef more = block_new(g, "strip.next");
  block_branch_mostly(g, was_last, f->leave, more);
  block_enter(g, more);
  context_poll_stop(g);
}

static void emit_strips(Codegen *g, ForLoop *f, const IrInst *inst) {
  LLVMValueRef trips = trips_after_first(g, f);
  LLVMBasicBlockRef before = block_here(g), head = block_new(g, "strip");
  LLVMValueRef begin = block_loop(g, head, f->begin), left = build_phi(g, trips, before);
  LLVMValueRef here = call_binary(g, "llvm.umin", left, number(f, STRIP - 1));
  LLVMValueRef end = build_add(g, begin, build_mul(g, here, f->step));
  emit_strip(g, f, inst, begin, end, NULL);
  enter_next_strip(g, f, build_icmp(g, LLVMIntEQ, left, here));
  LLVMValueRef next = build_add(g, end, f->step);
  LLVMValueRef rest = build_sub(g, build_sub(g, left, here), number(f, 1));
  build_phi_next(begin, next, block_here(g));
  build_phi_next(left, rest, block_here(g));
  block_jump(g, head);
}

/* The same for a narrow index that counts up by 1. Its end is computed in 64 bits, where the index
 * after the last one cannot wrap: a loop of few iterations, such as a row of a sparse matrix, takes
 * fewer instructions around it, and its index need not outlive the next one. */
static void emit_narrow_strips(Codegen *g, ForLoop *f, const IrInst *inst) {
  LLVMValueRef one = value_index(g, 1);
  LLVMValueRef past = build_nsw_add(g, arith_convert(g, f->type, TYPE(I64), f->last), one);
  LLVMBasicBlockRef head = block_new(g, "strip");
  LLVMValueRef begin = block_loop(g, head, f->begin);
  LLVMValueRef most =
      build_nsw_add(g, arith_convert(g, f->type, TYPE(I64), begin), value_index(g, STRIP));
  LLVMValueRef end = call_binary(g, "llvm.smin", past, most);
  emit_strip(g, f, inst, begin, NULL, end);
  enter_next_strip(g, f, build_icmp(g, LLVMIntEQ, end, past));
  build_phi_next(begin, build_add(g, begin, number(f, STRIP)), block_here(g));
  block_jump(g, head);
}

/* A GPU computes 64 bits by two instructions. */
static bool has_narrow_strips(const Codegen *g, const ForLoop *f) {
  return g->part != CODEGEN_GPU_TASKS && type_bits(f->type) < 64 && LLVMIsAConstantInt(f->step) &&
         LLVMConstIntGetSExtValue(f->step) == 1;
}

static void for_integers(Codegen *g, ForLoop *f, const IrInst *inst) {
  LLVMBasicBlockRef start = block_new(g, "start");
  block_enter_if(g, runs_at_all(g, f), start, f->leave);
  LLVMValueRef trips = trips_after_first(g, f);
  bool is_short = LLVMIsAConstantInt(trips) && LLVMConstIntGetZExtValue(trips) < STRIP;
  if (is_short || inst->short_trip || type_bits(f->type) <= 8) {
    LLVMValueRef end = build_add(g, f->begin, build_mul(g, trips, f->step));
    emit_strip(g, f, inst, f->begin, end, NULL);
    block_jump(g, f->leave);
  } else if (has_narrow_strips(g, f)) {
    emit_narrow_strips(g, f, inst);
  } else {
    emit_strips(g, f, inst);
  }
  block_enter(g, f->leave);
}

/* -- float for: index = index + step as Lua does, NaN ends it ---------------------------------- */

static LLVMValueRef float_goes_on(Codegen *g, const ForLoop *f, LLVMValueRef index) {
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(f->step));
  LLVMValueRef up = build_and(g, build_fcmp(g, LLVMRealOGT, f->step, zero),
                              build_fcmp(g, LLVMRealOLE, index, f->last));
  LLVMValueRef down = build_and(g, build_fcmp(g, LLVMRealOLT, f->step, zero),
                                build_fcmp(g, LLVMRealOGE, index, f->last));
  return build_or(g, up, down);
}

static void for_floats(Codegen *g, ForLoop *f, const IrInst *inst) {
  ASSERT(type_is_float(f->type) && !inst->lanes, "only loops over integers are in lanes");
  LLVMBasicBlockRef head = block_new(g, "test"), body = block_new(g, "for");
  LLVMValueRef counter = block_variable_now(g, value_i32(g, 0), "trips");
  LLVMValueRef index = block_loop(g, head, f->begin);
  block_enter_if(g, float_goes_on(g, f, index), body, f->leave);
  value_set(g, ir_index(inst), index);
  control_iteration(g, inst->regions[0], f->leave);
  LLVMValueRef next = build_fadd(g, index, f->step);
  control_poll_sometimes(g, counter);
  build_phi_next(index, next, block_here(g));
  block_jump(g, head);
  block_enter(g, f->leave);
}

/* -- in lanes ---------------------------------------------------------------------------------- */

/* The bounds become half-open, and i64 unless it is known that this does not wrap. */
static void loop_in_lanes(Codegen *g, const IrInst *inst, LLVMValueRef begin, LLVMValueRef last) {
  Type type = inst->operands[0]->type;
  LaneLoop loop = {.body = inst->regions[0],
                   .index = ir_index(inst),
                   .width = inst->lanes,
                   .full_vectors = inst->full_vectors};
  if (!inst->short_trip) loop.trips = block_variable_now(g, value_i32(g, 0), "trips");
  if (!inst->short_trip || !type_is_signed(type)) {
    begin = arith_convert(g, type, TYPE(I64), begin);
    last = arith_convert(g, type, TYPE(I64), last);
  }
  lane_loop(g, &loop, begin, build_add(g, last, value_like(last, 1)));
}

void loop_for(Codegen *g, const IrInst *inst) {
  ForLoop f = {.begin = value_operand(g, inst, 0),
               .last = value_operand(g, inst, 1),
               .step = value_operand(g, inst, 2),
               .type = inst->operands[0]->type};
  if (inst->lanes > 1) return loop_in_lanes(g, inst, f.begin, f.last);
  f.leave = block_new(g, "leave");
  if (type_is_float(f.type)) for_floats(g, &f, inst);
  else for_integers(g, &f, inst);
}

/* -- the set bits of a word -------------------------------------------------------------------- */

static void bits_alone(Codegen *g, const IrInst *inst, LLVMValueRef word) {
  LLVMBasicBlockRef some = block_new(g, "bit"), head = block_new(g, "bits"),
                    leave = block_new(g, "leave");
  LLVMValueRef rest = block_loop(g, head, word);
  block_enter_if(g, build_is_some(g, rest), some, leave);
  LLVMValueRef position = call_binary(g, "llvm.cttz", rest, value_bool(g, true));
  loop_set_index(g, ir_index(inst), position);
  control_iteration(g, inst->regions[0], leave);
  LLVMValueRef less = build_sub(g, rest, value_index(g, 1));
  build_phi_next(rest, build_and(g, rest, less), block_here(g));
  block_jump(g, head);
  block_enter(g, leave);
}

/* The vectorised loop: all positions of the word from 0 on, masked by its bits. */
static void bits_in_lanes(Codegen *g, const LaneLoop *loop, LLVMValueRef word) {
  ASSERT(loop->width > 1 && loop->width <= 32, "a shift by the width leaves bits");
  LLVMTypeRef narrow = LLVMIntTypeInContext(g->context, (unsigned)loop->width);
  LLVMBasicBlockRef before = block_here(g), body = block_new(g, "bits"),
                    some = block_new(g, "some"), next = block_new(g, "next"),
                    leave = block_new(g, "bits.end");
  LLVMValueRef width = value_index(g, loop->width);
  block_enter_unless(g, build_is_zero(g, word), body, leave);
  LLVMValueRef rest = build_phi(g, word, before),
               position = build_phi(g, value_index(g, 0), before);
  block_enter_if(g, build_is_some(g, build_trunc(g, rest, narrow)), some, next);
  LLVMValueRef mask = lanes_of_bits(g, rest, loop->width);
  LLVMBasicBlockRef back = lane_iterations(g, loop, position, mask, next);
  LLVMValueRef left = build_lshr(g, rest, width);
  build_phi_next(rest, left, back);
  build_phi_next(position, build_add(g, position, width), back);
  block_enter_if(g, build_is_zero(g, left), leave, body);
}

/* A constant word: an iteration per bit, without a loop. */
static void bits_unrolled(Codegen *g, const IrInst *inst, uint64_t word) {
  for (; word; word &= word - 1) {
    loop_set_index(g, ir_index(inst), value_index(g, __builtin_ctzll(word)));
    region_emit(g, inst->regions[0]);
  }
}

void loop_bits(Codegen *g, const IrInst *inst) {
  LLVMValueRef word = value_operand(g, inst, 0);
  if (inst->unrolled && LLVMIsAConstantInt(word))
    return bits_unrolled(g, inst, LLVMConstIntGetZExtValue(word));
  if (inst->lanes <= 1) return bits_alone(g, inst, word);
  LaneLoop loop = {.body = inst->regions[0], .index = ir_index(inst), .width = inst->lanes};
  bits_in_lanes(g, &loop, word);
}
