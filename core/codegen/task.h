/* task.h - functions and tasks. */
#ifndef RG_CODEGEN_TASK_H
#define RG_CODEGEN_TASK_H

#include "codegen/memory.h"
#include "codegen/region.h"

/* -- reduce.c ---------------------------------------------------------------------------------- */
void reduce_emit(Codegen *g, const IrInst *inst);
void reduce_finish(Codegen *g); /* combines every partial into its frame slot */
/* Combines the values of all lanes into one. */
LLVMValueRef combine_lanes(Codegen *g, IrUpdate op, Type type, LLVMValueRef value);
/* a task with aggregated atomics; CURSOR */
void claim_range(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end);
void claim_cursor(Codegen *g, const IrInst *inst);

/* -- function.c: functions; INVOKE, RETURN ----------------------------------------------------- */
/* Begins a function of any type: a task's, a called one, or else the host function. */
void function_open(Codegen *g, LLVMValueRef llvm, const IrTask *task, const IrFunction *called);
void function_declare_all(Codegen *g);
void function_emit(Codegen *g, int number);
void function_invoke(Codegen *g, const IrInst *inst);
void function_return(Codegen *g, const IrInst *inst);

/* -- range.c: the indices of a range's positions ----------------------------------------------- */
typedef struct RangeIndices {
  const IrTask *task;
  LLVMTypeRef index;
  bool is_wide;                        /* i64 indices */
  LLVMValueRef begin[SNODE_MAX_AXES];  /* i64, from the frame */
  LLVMValueRef extent[SNODE_MAX_AXES]; /* i64, at least 1 once a position exists */
  /* of the interior, of the index type: constants, or limited by the frame */
  LLVMValueRef inner_begin[SNODE_MAX_AXES], inner_end[SNODE_MAX_AXES];
} RangeIndices;
/* Reads the bounds. */
void range_open(Codegen *g, const IrTask *task, RangeIndices *r);
/* Splits a position into its distances from the start along each axis, i64. */
void range_split(Codegen *g, const RangeIndices *r, LLVMValueRef position, LLVMValueRef digits[]);
LLVMValueRef range_index(Codegen *g, const RangeIndices *r, LLVMValueRef wide); /* in its type */
void range_indices(Codegen *g, const RangeIndices *r, LLVMValueRef position,
                   LLVMValueRef indices[]);
/* Are the first `count` indices in the interior? */
LLVMValueRef range_is_inside(Codegen *g, const RangeIndices *r, const LLVMValueRef indices[],
                             int count);

/* -- vector.c: non-temporal stores ------------------------------------------------------------- */
void stream_open(Codegen *g, const RangeIndices *r); /* at the start of a task of a CPU */
void stream_close(Codegen *g);                       /* at its end */
/* The first index from `low` on, less than a vector away, at which the vectors of a non-temporal
 * store are aligned to their size, if there is one; NULL: the loop has no such store. */
LLVMValueRef stream_begin(Codegen *g, const LaneLoop *loop, LLVMValueRef low);

/* -- range.c, task_list.c ---------------------------------------------------------------------- */
void task_range(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end);
void task_list(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end);
/* Emits one position of the list; `continue` goes to `again`. */
void task_node(Codegen *g, const IrTask *task, LLVMValueRef position, LLVMBasicBlockRef again);

#endif
