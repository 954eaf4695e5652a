/* vector.h - calls, those of lanes too, and accesses in lanes. */
#ifndef RG_CODEGEN_VECTOR_H
#define RG_CODEGEN_VECTOR_H

#include "codegen/memory.h"
#include "codegen/region.h"

/* -- call_emit.c: calls ------------------------------------------------------------------------ */
void call_emit(Codegen *g, const IrInst *inst); /* CALL */
typedef struct LaneCall {                       /* a call for all lanes */
  const IrInst *inst;
  LLVMValueRef operands[IR_ENTRY_PARAMS + SNODE_MAX_AXES]; /* scalars, or vectors */
  int count, width;
  LLVMValueRef mask;
} LaneCall;
static inline LLVMValueRef call_operand_lanes(Codegen *g, const LaneCall *c, int operand) {
  return value_broadcast(g, c->operands[operand], c->width);
}
void call_in_lanes(Codegen *g, const IrInst *inst); /* LANES_CALL */

/* -- vector.c: ops of lanes -------------------------------------------------------------------- */
LLVMValueRef vector_shuffle(Codegen *g, const IrInst *inst);  /* SHUFFLE */
LLVMValueRef vector_lane_get(Codegen *g, const IrInst *inst); /* LANE_GET */
void vector_lane_set(Codegen *g, const IrInst *inst);         /* LANE_SET */
LLVMValueRef vector_load(Codegen *g, const IrInst *inst);     /* LANES_LOAD */
void vector_store(Codegen *g, const IrInst *inst);            /* LANES_STORE */
LLVMValueRef vector_offset(Codegen *g, const IrInst *inst);   /* OFFSET of lanes */
LLVMValueRef vector_gather(Codegen *g, Type type, LLVMValueRef pointers, LLVMValueRef mask);

/* -- stream.c -------------------------------------------------------------------------- */
typedef struct StreamStore { /* vectors of the lanes, contiguous in memory */
  LLVMValueRef base, *vectors;
  int count;
  Type type; /* of an element, */
  int alias; /* as in Element */
} StreamStore;
/* at its end */
void stream_store(Codegen *g, const StreamStore *s, bool streams);

#endif
