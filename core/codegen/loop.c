/* loop.c - Lua's numeric `for`, and the counted loops of leaves and ranges.
 * An integer `for` computes its trip count up front, unsigned, so nothing wraps at the ends of a
 * type. Its back edge must not poll the stop word (LLVM only vectorises loops with one exit), so
 * the loop is strip-mined: an inner loop of at most STRIP iterations, and a poll between two
 * strips. */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/emit.h"

enum { STRIP = 4096 };

/* -- counted loops ----------------------------------------------------------------------------- */

Counted counted_begin(Codegen *g, LLVMValueRef begin, LLVMValueRef end, const char *name) {
  Counted loop = {block_new(g, name), block_new(g, "again"), block_new(g, "leave"), NULL, end};
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder);
  block_jump(g, loop.body);
  block_enter(g, loop.body);
  loop.index = LLVMBuildPhi(g->builder, LLVMTypeOf(begin), "");
  LLVMAddIncoming(loop.index, &begin, &before, 1);
  return loop;
}

void counted_end(Codegen *g, Counted *loop) {
  block_jump(g, loop->again);
  block_enter(g, loop->again);
  LLVMValueRef next =
      LLVMBuildNSWAdd(g->builder, loop->index, value_integer(LLVMTypeOf(loop->index), 1), "");
  LLVMValueRef more = LLVMBuildICmp(g->builder, LLVMIntSLT, next, loop->end, "");
  LLVMBuildCondBr(g->builder, more, loop->body, loop->leave);
  LLVMAddIncoming(loop->index, &next, &loop->again, 1);
  block_enter(g, loop->leave);
}

/* -- integer for ------------------------------------------------------------------------------- */

/* Loop metadata refers to itself in its first operand; a temporary node is the placeholder. */
static void ask(Codegen *g, LLVMValueRef branch, const char *wish) {
  LLVMMetadataRef name = LLVMMDStringInContext2(g->context, wish, strlen(wish));
  LLVMMetadataRef asked = LLVMMDNodeInContext2(g->context, &name, 1);
  LLVMMetadataRef self = LLVMTemporaryMDNode(g->context, NULL, 0);
  LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, (LLVMMetadataRef[]){self, asked}, 2);
  LLVMMetadataReplaceAllUsesWith(self, node);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(g->context, "llvm.loop", strlen("llvm.loop")),
                  LLVMMetadataAsValue(g->context, node));
}

typedef struct ForLoop {
  Type type;
  LLVMValueRef begin, last, step;
  LLVMBasicBlockRef body, again, leave;
} ForLoop;

static LLVMValueRef number(const ForLoop *f, int64_t n) {
  return value_integer(LLVMTypeOf(f->begin), n);
}

static LLVMValueRef at_most(Codegen *g, const ForLoop *f, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildICmp(g->builder, type_is_signed(f->type) ? LLVMIntSLE : LLVMIntULE, a, b, "");
}

/* step > 0; true for every unsigned step except 0 */
static LLVMValueRef goes_up(Codegen *g, const ForLoop *f) {
  return LLVMBuildICmp(g->builder, type_is_signed(f->type) ? LLVMIntSGT : LLVMIntUGT, f->step,
                       number(f, 0), "");
}

static LLVMValueRef runs_at_all(Codegen *g, const ForLoop *f) {
  LLVMValueRef up = goes_up(g, f);
  LLVMValueRef any = LLVMBuildSelect(g->builder, up, at_most(g, f, f->begin, f->last),
                                     at_most(g, f, f->last, f->begin), "");
  LLVMValueRef moves = LLVMBuildICmp(g->builder, LLVMIntNE, f->step, number(f, 0), "");
  return LLVMBuildAnd(g->builder, any, moves, "");
}

/* Iterations after the first one, unsigned: distance / |step|. */
static LLVMValueRef trips_after_first(Codegen *g, const ForLoop *f) {
  LLVMValueRef up = goes_up(g, f);
  LLVMValueRef distance =
      LLVMBuildSelect(g->builder, up, LLVMBuildSub(g->builder, f->last, f->begin, ""),
                      LLVMBuildSub(g->builder, f->begin, f->last, ""), "");
  LLVMValueRef size =
      LLVMBuildSelect(g->builder, up, f->step, LLVMBuildNeg(g->builder, f->step, ""), "");
  LLVMValueRef zero = LLVMBuildICmp(g->builder, LLVMIntEQ, size, number(f, 0), "");
  return LLVMBuildUDiv(g->builder, distance,
                       LLVMBuildSelect(g->builder, zero, number(f, 1), size, ""), "");
}

/* Is it known that the loop counts up, and that the index after `end` does not wrap? */
static bool is_past(Codegen *g, const ForLoop *f, LLVMValueRef end, LLVMValueRef past) {
  LLVMValueRef up = goes_up(g, f), wraps = at_most(g, f, past, end);
  if (!LLVMIsAConstantInt(up) || !LLVMIsAConstantInt(wraps)) return false;
  return LLVMConstIntGetZExtValue(up) && !LLVMConstIntGetZExtValue(wraps);
}

/* The inner loop: index, index + step, .. up to and including `end`. Continues after it, in a new
 * block. */
static void emit_strip(Codegen *g, ForLoop *f, const IrInst *inst, LLVMValueRef begin,
                       LLVMValueRef end) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), behind = block_new(g, "strip.end");
  f->body = block_new(g, "for");
  f->again = block_new(g, "again");
  block_jump(g, f->body);
  block_enter(g, f->body);
  LLVMValueRef index = LLVMBuildPhi(g->builder, LLVMTypeOf(begin), "");
  value_set(g, inst->regions[0]->params.items[0], index);
  control_iteration(g, inst->regions[0], f->leave, f->again);
  LLVMBasicBlockRef back = LLVMGetInsertBlock(g->builder);
  /* used only if index has not reached `end`, and then it cannot wrap */
  LLVMValueRef next = type_is_signed(f->type) ? LLVMBuildNSWAdd(g->builder, index, f->step, "")
                                              : LLVMBuildNUWAdd(g->builder, index, f->step, "");
  LLVMValueRef past = LLVMBuildAdd(g->builder, end, f->step, "");
  LLVMValueRef more =
      inst->brief || is_past(g, f, end, past) /* then `index` need not outlive `next` */
          ? LLVMBuildICmp(g->builder, LLVMIntNE, next, past, "")
          : LLVMBuildICmp(g->builder, LLVMIntNE, index, end, "");
  LLVMValueRef branch = LLVMBuildCondBr(g->builder, more, f->body, behind);
  if (inst->rolled) ask(g, branch, "llvm.loop.unroll.disable");
  if (inst->unrolled) ask(g, branch, "llvm.loop.unroll.full");
  LLVMAddIncoming(index, (LLVMValueRef[]){begin, next}, (LLVMBasicBlockRef[]){before, back}, 2);
  block_enter(g, behind);
}

static void emit_strips(Codegen *g, ForLoop *f, const IrInst *inst, LLVMValueRef trips) {
  LLVMTypeRef type = LLVMTypeOf(f->begin);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), head = block_new(g, "strip"),
                    more = block_new(g, "strip.next");
  block_jump(g, head);
  block_enter(g, head);
  LLVMValueRef begin = LLVMBuildPhi(g->builder, type, ""),
               left = LLVMBuildPhi(g->builder, type, "");
  LLVMValueRef args[] = {left, number(f, STRIP - 1)};
  LLVMValueRef here = call_intrinsic(g, "llvm.umin", type, args, 2);
  LLVMValueRef end =
      LLVMBuildAdd(g->builder, begin, LLVMBuildMul(g->builder, here, f->step, ""), "");
  emit_strip(g, f, inst, begin, end);
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, left, here, ""), f->leave, more);
  block_enter(g, more);
  context_poll_stop(g);
  LLVMValueRef next = LLVMBuildAdd(g->builder, end, f->step, "");
  LLVMValueRef rest =
      LLVMBuildSub(g->builder, LLVMBuildSub(g->builder, left, here, ""), number(f, 1), "");
  LLVMBasicBlockRef from = LLVMGetInsertBlock(g->builder);
  block_jump(g, head);
  LLVMAddIncoming(begin, (LLVMValueRef[]){f->begin, next}, (LLVMBasicBlockRef[]){before, from}, 2);
  LLVMAddIncoming(left, (LLVMValueRef[]){trips, rest}, (LLVMBasicBlockRef[]){before, from}, 2);
}

static void for_integers(Codegen *g, ForLoop *f, const IrInst *inst) {
  LLVMBasicBlockRef start = block_new(g, "start");
  block_branch(g, runs_at_all(g, f), start, f->leave);
  block_enter(g, start);
  LLVMValueRef trips = trips_after_first(g, f);
  bool is_short = LLVMIsAConstantInt(trips) && LLVMConstIntGetZExtValue(trips) < STRIP;
  if (is_short || inst->brief || type_bits(f->type) <= 8) {
    LLVMValueRef end =
        LLVMBuildAdd(g->builder, f->begin, LLVMBuildMul(g->builder, trips, f->step, ""), "");
    emit_strip(g, f, inst, f->begin, end);
    block_jump(g, f->leave);
  } else {
    emit_strips(g, f, inst, trips);
  }
  block_enter(g, f->leave);
}

/* -- float for: index = index + step as Lua does, NaN ends it ---------------------------------- */

static LLVMValueRef float_goes_on(Codegen *g, const ForLoop *f, LLVMValueRef index) {
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(f->step));
  LLVMValueRef up =
      LLVMBuildAnd(g->builder, LLVMBuildFCmp(g->builder, LLVMRealOGT, f->step, zero, ""),
                   LLVMBuildFCmp(g->builder, LLVMRealOLE, index, f->last, ""), "");
  LLVMValueRef down =
      LLVMBuildAnd(g->builder, LLVMBuildFCmp(g->builder, LLVMRealOLT, f->step, zero, ""),
                   LLVMBuildFCmp(g->builder, LLVMRealOGE, index, f->last, ""), "");
  return LLVMBuildOr(g->builder, up, down, "");
}

static void for_floats(Codegen *g, ForLoop *f, const IrInst *inst) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), head = block_new(g, "test");
  LLVMValueRef counter = block_variable(g, g->i32, "trips");
  LLVMBuildStore(g->builder, value_integer(g->i32, 0), counter);
  f->body = block_new(g, "for");
  f->again = block_new(g, "again");
  block_jump(g, head);
  block_enter(g, head);
  LLVMValueRef index = LLVMBuildPhi(g->builder, LLVMTypeOf(f->begin), "");
  block_branch(g, float_goes_on(g, f, index), f->body, f->leave);
  block_enter(g, f->body);
  value_set(g, inst->regions[0]->params.items[0], index);
  control_iteration(g, inst->regions[0], f->leave, f->again);
  LLVMValueRef next = LLVMBuildFAdd(g->builder, index, f->step, "");
  LLVMBasicBlockRef back = block_new(g, "back");
  control_back_edge(g, counter, back);
  block_enter(g, back);
  block_jump(g, head);
  LLVMAddIncoming(index, (LLVMValueRef[]){f->begin, next}, (LLVMBasicBlockRef[]){before, back}, 2);
  block_enter(g, f->leave);
}

/* -- in lanes ---------------------------------------------------------------------------------- */

/* The bounds become half-open, and i64 unless it is known that this does not wrap. */
static void loop_in_lanes(Codegen *g, const IrInst *inst, LLVMValueRef begin, LLVMValueRef last) {
  Type type = inst->operands[0]->type;
  const IrRegion *body = inst->regions[0];
  LaneLoop loop = {.body = body, .index = body->params.items[0], .width = inst->lanes};
  if (!inst->brief) {
    loop.trips = block_variable(g, g->i32, "trips");
    LLVMBuildStore(g->builder, value_integer(g->i32, 0), loop.trips);
  }
  if (!inst->brief || !type_is_signed(type)) {
    begin = value_extend(g, begin, type);
    last = value_extend(g, last, type);
  }
  LLVMValueRef end = LLVMBuildAdd(g->builder, last, value_integer(LLVMTypeOf(last), 1), "");
  lane_loop(g, &loop, begin, end);
}

/* Only the vectoriser makes such loops, but bytes may be wrong. */
static bool is_in_lanes(Codegen *g, const IrInst *inst, const ForLoop *f) {
  if (inst->lanes <= 1) return false;
  bool is_sound = lane_is_sound(inst->regions[0], inst->lanes) && type_is_integer(f->type) &&
                  LLVMIsAConstantInt(f->step) && LLVMConstIntGetSExtValue(f->step) == 1;
  if (!is_sound) codegen_fail(g, inst, "its iterations cannot be lanes");
  return is_sound;
}

void loop_for(Codegen *g, const IrInst *inst) {
  ForLoop f = {.begin = value_operand(g, inst, 0),
               .last = value_operand(g, inst, 1),
               .step = value_operand(g, inst, 2)};
  if (inst->operand_count < 3 || !inst->regions[0] || inst->regions[0]->params.count < 1)
    return codegen_fail(g, inst, "an operand or its index is missing");
  f.type = inst->operands[0]->type;
  if (value_is_vector(f.begin) || value_is_vector(f.last) || value_is_vector(f.step))
    return codegen_fail(g, inst, "its bounds differ by lane");
  if (is_in_lanes(g, inst, &f)) return loop_in_lanes(g, inst, f.begin, f.last);
  f.leave = block_new(g, "leave");
  if (type_is_float(f.type)) for_floats(g, &f, inst);
  else for_integers(g, &f, inst);
}
