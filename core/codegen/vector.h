/* vector.h - calls, those of lanes too, and accesses in lanes. */
#ifndef RG_CODEGEN_VECTOR_H
#define RG_CODEGEN_VECTOR_H

#include "codegen/memory.h"
#include "codegen/region.h"

/* -- call_emit.c, lane_call.c: calls ----------------------------------------------------------- */
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
/* Calls the entry for each lane of `mask`; returns the results, NULL if it has none. */
LLVMValueRef call_each(Codegen *g, const LaneCall *c, LLVMValueRef mask);
void call_in_lanes(Codegen *g, const IrInst *inst); /* LANES_CALL */
LLVMValueRef hash_lanes(Codegen *g, const LaneCall *c);
void hash_clear_lanes(Codegen *g, const LaneCall *c);
void hash_fetch_lanes(Codegen *g, const LaneCall *c);

/* -- vector.c: ops of lanes; vector_memory.c, vector_strided.c, vector_runs.c: accesses -------- */
LLVMValueRef vector_splice(Codegen *g, const IrInst *inst);   /* SPLICE */
LLVMValueRef vector_lane_get(Codegen *g, const IrInst *inst); /* LANE_GET */
void vector_lane_set(Codegen *g, const IrInst *inst);         /* LANE_SET */
void vector_emit_load(Codegen *g, const IrInst *inst);        /* LANES_LOAD */
void vector_emit_store(Codegen *g, const IrInst *inst);       /* LANES_STORE */
void vector_emit_runs(Codegen *g, const IrInst *inst);        /* LANES_UPDATE */
LLVMValueRef vector_offset(Codegen *g, const IrInst *inst);   /* OFFSET of lanes */

/* An access to elements in lanes: what an inst says of it (ir/access.h), and its values. */
typedef struct LaneAccess {
  const IrInst *inst; /* without parts: adjacent elements, or any */
  Type type;          /* of an element */
  LLVMValueRef at;    /* an address per lane; a scalar: lane 0's, of adjacent elements or cells */
  LLVMValueRef mask;
  int part; /* the number of the cell at `at` */
} LaneAccess;
static inline uint32_t access_numbers(const LaneAccess *a) { return (uint32_t)a->inst->numbers; }
LLVMValueRef vector_load(Codegen *g, const LaneAccess *a);
/* `values`, as in memory: one, or that of each of the numbers. */
void vector_store(Codegen *g, const LaneAccess *a, const LLVMValueRef *values);
LLVMValueRef vector_gather(Codegen *g, Type type, LLVMValueRef pointers, LLVMValueRef mask);
/* Reads numbers of a cell at an address per lane into `values`, by number. */
void vector_load_cells(Codegen *g, const LaneAccess *a, LLVMValueRef *values);
/* Accesses to adjacent cells. */
LLVMValueRef strided_load(Codegen *g, const LaneAccess *a); /* as in memory */
void strided_store(Codegen *g, const LaneAccess *a, const LLVMValueRef *values);
/* vector_split transposes `count` vectors of whole cells, in place, to a vector for each number of
 * a cell; vector_join is the inverse. */
void vector_split(Codegen *g, LLVMValueRef *vectors, int count);
void vector_join(Codegen *g, LLVMValueRef *vectors, int count);

/* A run of adjacent elements, at another place in each lane. */
typedef struct LaneRun {
  const IrInst *inst;
  Type type; /* of an element */
  int count;
  int like; /* the first run with its addresses, except for inst->distance bytes */
  LLVMValueRef at[IR_MOST_RUN];
  LLVMValueRef values[IR_MOST_RUN]; /* operands of updates; what was loaded */
} LaneRun;
typedef struct LaneRuns {
  VEC(LaneRun) items;
  LLVMValueRef mask;
  bool gaps; /* of a run that has a gap, both parts are vectors */
  /* once compared: the active lanes in which no run has a gap; in which all have the same gap; in
   * which some run is not contiguous in another way */
  LLVMValueRef whole, parted, others;
  /* by the number of a run's last element, an i8 per lane: bit k is set if element k is before the
   * gap */
  LLVMValueRef before[IR_MOST_RUN];
} LaneRuns;
void vector_load_runs(Codegen *g, LaneRuns *runs);
void vector_update_runs(Codegen *g, LaneRuns *runs); /* plain ones */

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
