/* loop.c - Lua's numeric `for`, and loops with a test at their head.
 * An integer `for` computes its trip count up front, unsigned, so nothing wraps at the ends of a
 * type. Its back edge must not poll the stop word (LLVM only vectorises loops with one exit), so
 * the loop is strip-mined: an inner loop of at most STRIP iterations, and a poll between two
 * strips. */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/region.h"

enum { STRIP = 4096 };

/* Loop metadata refers to itself in its first operand; a temporary node is the placeholder. `no`:
 * asks that it be not done. */
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
  LLVMBasicBlockRef before = block_here(g), work = block_new(g, "work");
  block_follow(g, loop.head);
  loop.index = build_phi(g, from, before, "index");
  block_enter_if(g, build_icmp(g, LLVMIntSLT, loop.index, to), work, leave);
  return loop;
}

void tested_end(Codegen *g, const TestedLoop *loop) {
  block_follow(g, loop->again);
  LLVMValueRef next = build_nsw_add(g, loop->index, loop->step);
  if (loop->trips) {
    LLVMBasicBlockRef back = block_new(g, "next");
    control_back_edge(g, loop->trips, back);
    block_enter(g, back);
  }
  build_phi_next(loop->index, next, block_here(g));
  block_jump(g, loop->head);
  block_enter(g, loop->behind ? loop->behind : block_new(g, "behind"));
}

/* -- integer for ------------------------------------------------------------------------------- */

typedef struct ForLoop {
  Type type;
  LLVMValueRef begin, last, step;
  LLVMBasicBlockRef body, again, leave;
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
    LLVMValueRef wide = value_extend(g, index, f->type);
    return build_icmp(g, LLVMIntNE, build_nsw_add(g, wide, value_index(g, 1)), wide_past);
  }
  LLVMValueRef past = build_add(g, end, f->step);
  return inst->brief || is_past(g, f, end, past) /* then `index` need not outlive `next` */
             ? build_icmp(g, LLVMIntNE, next, past)
             : build_icmp(g, LLVMIntNE, index, end);
}

/* The inner loop: index, index + step, .. up to and including `end`, or, if that is NULL, below
 * `past`, of 64 bits. Continues after it, in a new block. */
static void emit_strip(Codegen *g, ForLoop *f, const IrInst *inst, LLVMValueRef begin,
                       LLVMValueRef end, LLVMValueRef past) {
  LLVMBasicBlockRef before = block_here(g), behind = block_new(g, "strip.end");
  f->body = block_new(g, "for");
  f->again = block_new(g, "again");
  block_follow(g, f->body);
  LLVMValueRef index = build_phi(g, begin, before, "");
  value_set(g, inst->regions[0]->params.items[0], index);
  control_iteration(g, inst->regions[0], f->leave, f->again);
  /* used only if there is another iteration, and then it cannot wrap */
  LLVMValueRef next =
      type_is_signed(f->type) ? build_nsw_add(g, index, f->step) : build_nuw_add(g, index, f->step);
  build_phi_next(index, next, block_here(g));
  LLVMValueRef branch =
      LLVMBuildCondBr(g->builder, has_more(g, f, inst, index, next, end, past), f->body, behind);
  if (inst->rolled) ask(g, branch, "llvm.loop.unroll.disable", false);
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
  block_follow(g, head);
  LLVMValueRef begin = build_phi(g, f->begin, before, ""), left = build_phi(g, trips, before, "");
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
  LLVMValueRef past = build_nsw_add(g, value_extend(g, f->last, f->type), one);
  LLVMBasicBlockRef before = block_here(g), head = block_new(g, "strip");
  block_follow(g, head);
  LLVMValueRef begin = build_phi(g, f->begin, before, "");
  LLVMValueRef most = build_nsw_add(g, value_extend(g, begin, f->type), value_index(g, STRIP));
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
  if (is_short || inst->brief || type_bits(f->type) <= 8) {
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
  LLVMBasicBlockRef before = block_here(g), head = block_new(g, "test");
  LLVMValueRef counter = block_variable_now(g, value_i32(g, 0), "trips");
  f->body = block_new(g, "for");
  f->again = block_new(g, "again");
  block_follow(g, head);
  LLVMValueRef index = build_phi(g, f->begin, before, "");
  block_enter_if(g, float_goes_on(g, f, index), f->body, f->leave);
  value_set(g, inst->regions[0]->params.items[0], index);
  control_iteration(g, inst->regions[0], f->leave, f->again);
  LLVMValueRef next = build_fadd(g, index, f->step);
  LLVMBasicBlockRef back = block_new(g, "back");
  control_back_edge(g, counter, back);
  block_enter(g, back);
  block_jump(g, head);
  build_phi_next(index, next, back);
  block_enter(g, f->leave);
}

/* -- in lanes ---------------------------------------------------------------------------------- */

/* The bounds become half-open, and i64 unless it is known that this does not wrap. */
static void loop_in_lanes(Codegen *g, const IrInst *inst, LLVMValueRef begin, LLVMValueRef last) {
  Type type = inst->operands[0]->type;
  const IrRegion *body = inst->regions[0];
  LaneLoop loop = {
      .body = body, .index = body->params.items[0], .width = inst->lanes, .whole = inst->whole};
  if (!inst->brief) loop.trips = block_variable_now(g, value_i32(g, 0), "trips");
  if (!inst->brief || !type_is_signed(type)) {
    begin = value_extend(g, begin, type);
    last = value_extend(g, last, type);
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
