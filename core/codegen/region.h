/* region.h - regions: branches and loops. */
#ifndef RG_CODEGEN_REGION_H
#define RG_CODEGEN_REGION_H

#include "codegen/operator.h"

/* -- control.c: the walk ----------------------------------------------------------------------- */
void region_emit(Codegen *g, const IrRegion *region);
/* Emits the transitive operands of the inst in the region, then the inst. */
void region_emit_value(Codegen *g, const IrInst *inst, const IrRegion *region);

/* -- control.c, loop.c: regions ---------------------------------------------------------------- */
void control_if(Codegen *g, const IrInst *inst);
void control_loop(Codegen *g, const IrInst *inst);
void control_exit(Codegen *g, const IrInst *inst); /* BREAK, CONTINUE */
void control_print(Codegen *g, const IrInst *inst);
void control_fault(Codegen *g, const IrInst *inst);
/* one iteration: `continue` at its level goes to `again` */
void control_body(Codegen *g, const IrRegion *body, LLVMBasicBlockRef again);
/* the same for a loop, which `break` leaves; continues in `again` */
void control_iteration(Codegen *g, const IrRegion *body, LLVMBasicBlockRef leave,
                       LLVMBasicBlockRef again);
/* Branches to `again`; polls the stop word first every so many iterations, counted in `counter`. */
void control_back_edge(Codegen *g, LLVMValueRef counter, LLVMBasicBlockRef again);
void loop_for(Codegen *g, const IrInst *inst);
void bits_emit(Codegen *g, const IrInst *inst); /* bits.c: BITS */

/* -- lane_loop.c: loops whose iterations run in lanes ------------------------------------------ */
/* Emits one vector of iterations, `first` being that of lane 0; `continue` at its level goes to
 * `again`. */
void lane_iterations(Codegen *g, const LaneLoop *loop, LLVMValueRef first, LLVMValueRef mask,
                     LLVMBasicBlockRef again);
/* Ends the vector of iterations at `again`, and stops the loop if a lane has failed. Returns the
 * block in which the next one may begin. */
LLVMBasicBlockRef lane_next(Codegen *g, const LaneLoop *loop, LLVMBasicBlockRef again);
/* Emits the whole vectors of from..to, integers; returns their end. */
LLVMValueRef lane_whole(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to);
/* Emits from..to under a mask throughout. */
void lane_masked(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to);
void lane_loop(Codegen *g, const LaneLoop *loop, LLVMValueRef from, LLVMValueRef to);
/* The iterations from the first lane of a vector to that of the next one. */
int64_t lane_span(const LaneLoop *loop);

/* for (index = from; index < to; index += step): the test is at its head. */
typedef struct TestedLoop {
  LLVMValueRef index, step;
  LLVMValueRef trips; /* a counter of iterations for polling the stop word; NULL: no polling */
  LLVMBasicBlockRef head, again, behind; /* `again`: where the iteration ends */
} TestedLoop;
/* Enters the body. `leave`: where control goes at the end; NULL: behind the loop. */
TestedLoop tested_begin(Codegen *g, LLVMValueRef from, LLVMValueRef to, LLVMValueRef step,
                        LLVMBasicBlockRef leave);
void tested_end(Codegen *g, const TestedLoop *loop); /* continues behind the loop */

/* Asks LLVM not to vectorise the loop of such a branch. */
void loop_stays_scalar(Codegen *g, LLVMValueRef back);

#endif
