/* memory.h - elements, slots, calls, tables, arrays of the function, the frame, and ops of
 * lanes. */
#ifndef RG_CODEGEN_MEMORY_H
#define RG_CODEGEN_MEMORY_H

#include "codegen/operator.h"

/* -- memory.c ---------------------------------------------------------------------------------- */
LLVMValueRef access_offset(Codegen *g, const IrInst *inst); /* OFFSET */
void access_private_copy(Codegen *g, const IrInst *inst);   /* PRIVATE_COPY */
void access_emit_load(Codegen *g, const IrInst *inst);      /* MEM_LOAD */
/* What an access loads or stores: a number of this type, only of elements of field `alias` - 1, or
 * of slots; 0: of anything. */
enum { ALIAS_SLOT = -1 };
typedef struct Element {
  Type type;
  int alias;
} Element;
LLVMValueRef access_load(Codegen *g, Element of, LLVMValueRef pointer);
void access_store(Codegen *g, Element of, LLVMValueRef pointer, LLVMValueRef value);
void atomic_emit(Codegen *g, const IrInst *inst); /* MEM_UPDATE, MEM_RMW, MEM_CAS */
/* Marks an access as one of such elements only; returns it. */
LLVMValueRef alias_element(Codegen *g, LLVMValueRef access, int alias);
/* Does it have acquire-release order? */
static inline bool atomic_is_ordered(const IrInst *inst) {
  return (inst->op == IR_MEM_RMW || inst->op == IR_MEM_CAS) && !inst->relaxed && !inst->nonatomic &&
         !inst->single_worker;
}
/* One atomic update of a scalar, relaxed unless it `is_ordered`; returns the old value. */
LLVMValueRef atomic_rmw(Codegen *g, IrUpdate op, Element of, LLVMValueRef pointer,
                        LLVMValueRef value, bool is_ordered);
/* Combines a value for each of the function's shares with the share's slot of the frame. */
void atomic_combine_shares(Codegen *g, const LLVMValueRef *sums);

void item_emit(Codegen *g, const IrInst *inst);   /* ITEM */
void pick_emit(Codegen *g, const IrInst *inst);   /* and PICK */
void local_array(Codegen *g, const IrInst *inst); /* local.c: LOCAL_ARRAY, LOCAL_GET, LOCAL_SET */
void local_stack(Codegen *g, const IrInst *inst); /* STACK */
LLVMValueRef local_zeros(Codegen *g);             /* ZEROS */
void local_get(Codegen *g, const IrInst *inst);
void local_set(Codegen *g, const IrInst *inst);

void frame_get(Codegen *g, const IrInst *inst);  /* FRAME_GET */
void frame_load(Codegen *g, const IrInst *inst); /* FRAME_LOAD, ARG */
/* FRAME_SET; any scalar type is in the low bytes of a slot */
void frame_store(Codegen *g, int64_t slot, const IrInst *value);

/* -- entry.c: CALL, and LANES_CALL, a call for all lanes --------------------------------------- */
void entry_call(Codegen *g, const IrInst *inst);
void entry_call_lanes(Codegen *g, const IrInst *inst);
/* the node of a slot that is live, or of lanes of them */
LLVMValueRef slot_node_at(Codegen *g, int tree, LLVMValueRef handle);

/* -- vector.c: ops of lanes -------------------------------------------------------------------- */
LLVMValueRef vector_shuffle(Codegen *g, const IrInst *inst);  /* SHUFFLE */
LLVMValueRef vector_lane_get(Codegen *g, const IrInst *inst); /* LANE_GET */
void vector_lane_set(Codegen *g, const IrInst *inst);         /* LANE_SET */
LLVMValueRef vector_load(Codegen *g, const IrInst *inst);     /* LANES_LOAD */
void vector_store(Codegen *g, const IrInst *inst);            /* LANES_STORE */
LLVMValueRef vector_offset(Codegen *g, const IrInst *inst);   /* OFFSET of lanes */
LLVMValueRef vector_gather(Codegen *g, Type type, LLVMValueRef pointers, LLVMValueRef mask);

#endif
