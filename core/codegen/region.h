/* region.h - regions: branches and loops. */
#ifndef RG_CODEGEN_REGION_H
#define RG_CODEGEN_REGION_H

#include "codegen/operator.h"

/* -- control.c: regions ------------------------------------------------------------------------ */
void region_emit(Codegen *g, const IrRegion *region);
/* Emits the transitive operands of the inst in the region, then the inst. */
void region_emit_value(Codegen *g, const IrInst *inst, const IrRegion *region);
void control_if(Codegen *g, const IrInst *inst);
void control_loop(Codegen *g, const IrInst *inst);
void control_exit(Codegen *g, const IrInst *inst);  /* BREAK, CONTINUE */
void control_print(Codegen *g, const IrInst *inst); /* FAULT too */
/* one iteration: `continue` at its level goes to `again` */
void control_body(Codegen *g, const IrRegion *body, LLVMBasicBlockRef again);
/* The same for a loop, which `break` leaves; continues where `continue` goes. */
void control_iteration(Codegen *g, const IrRegion *body, LLVMBasicBlockRef leave);
/* Polls the stop word every so many iterations, which a variable counts. */
void control_poll_sometimes(Codegen *g, LLVMValueRef counter);

/* -- loop.c: loops, also those whose iterations run in lanes ----------------------------------- */
void loop_for(Codegen *g, const IrInst *inst);
void loop_bits(Codegen *g, const IrInst *inst);
/* The number of an iteration, of the index's type or an i64. */
void loop_set_index(Codegen *g, const IrInst *index, LLVMValueRef number);
/* Emits the full vectors of from..to, integers; returns their end. */
LLVMValueRef lane_full_vectors(Codegen *g, const LaneLoop *loop, LLVMValueRef from,
                               LLVMValueRef to);
/* Emits from..to under a mask throughout. The first vector begins `ahead` iterations before, which
 * no lane runs; NULL: 0. */
void lane_masked(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to,
                 LLVMValueRef ahead);
void lane_loop(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to);
/* The iterations from the first lane of a vector to that of the next one. */
int64_t lane_span(const LaneLoop *loop);

/* for (index = from; index < to; index += step): the test is at its head. */
typedef struct TestedLoop {
  LLVMValueRef index, step;
  LLVMValueRef trips; /* a counter of iterations for polling the stop word; NULL: no polling */
  LLVMBasicBlockRef head, again, behind; /* `again`: where the iteration ends */
} TestedLoop;
/* Enters the body. `leave`: where control goes at the end; NULL: after the loop. */
TestedLoop tested_begin(Codegen *g, LLVMValueRef from, LLVMValueRef to, LLVMValueRef step,
                        LLVMBasicBlockRef leave);
void tested_end(Codegen *g, const TestedLoop *loop); /* continues after the loop */

/* Asks LLVM not to vectorise the loop of such a branch. */
void loop_stays_scalar(Codegen *g, LLVMValueRef back);

#endif
