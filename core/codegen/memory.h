/* memory.h - elements, slots, tables, arrays of the function, and the frame. */
#ifndef RG_CODEGEN_MEMORY_H
#define RG_CODEGEN_MEMORY_H

#include "codegen/operator.h"

/* -- access.c, atomic.c, alias.c: memory ------------------------------------------------------- */
LLVMValueRef access_offset(Codegen *g, const IrInst *inst); /* OFFSET */
void access_private_copy(Codegen *g, const IrInst *inst);   /* PRIVATE_COPY */
void access_emit_load(Codegen *g, const IrInst *inst);      /* MEM_LOAD */
/* What an access loads or stores: a number of this type, only of elements of field `alias` - 1; 0:
 * of anything. */
typedef struct Element {
  Type type;
  int alias;
} Element;
LLVMValueRef access_load(Codegen *g, Element of, LLVMValueRef pointer);
void access_store(Codegen *g, Element of, LLVMValueRef pointer, LLVMValueRef value);
void atomic_emit(Codegen *g, const IrInst *inst); /* MEM_UPDATE, MEM_RMW, MEM_CAS */
/* alias.c: mark an access as one of elements of its own field only, or of a slot; both return
 * it. */
LLVMValueRef alias_element(Codegen *g, LLVMValueRef access, int alias);
LLVMValueRef alias_slot(Codegen *g, LLVMValueRef access);
/* Does it have acquire-release order? */
static inline bool atomic_is_ordered(const IrInst *inst) {
  return (inst->op == IR_MEM_RMW || inst->op == IR_MEM_CAS) && !inst->relaxed && !inst->plain &&
         !inst->sole;
}
/* One relaxed atomic update of a scalar; returns the old value. */
LLVMValueRef atomic_rmw(Codegen *g, IrUpdate op, Element of, LLVMValueRef pointer,
                        LLVMValueRef value);
/* Combines a value for each of the function's shares with the share's slot of the frame. */
void atomic_combine_shares(Codegen *g, const LLVMValueRef *sums);

void item_emit(Codegen *g, const IrInst *inst);   /* item.c: ITEM */
void pick_emit(Codegen *g, const IrInst *inst);   /* and PICK */
void local_array(Codegen *g, const IrInst *inst); /* local.c: LOCAL_ARRAY, LOCAL_GET, LOCAL_SET */
void local_stack(Codegen *g, const IrInst *inst); /* STACK */
LLVMValueRef local_zeros(Codegen *g);             /* ZEROS */
void local_get(Codegen *g, const IrInst *inst);
void local_set(Codegen *g, const IrInst *inst);

/* -- slot.c, frame.c --------------------------------------------------------------------------- */
/* slot.c: entries that are expanded inline instead of called */
LLVMValueRef slot_find(Codegen *g, int tree, LLVMValueRef slot);
LLVMValueRef slot_ensure(Codegen *g, const IrInst *inst, LLVMValueRef slot);
LLVMValueRef slot_live(Codegen *g, LLVMValueRef slot);
/* The same of what one slot holds, or several; the node of a slot that is not live is the
 * ambient. */
LLVMValueRef slot_is_live(Codegen *g, LLVMValueRef handles);
/* of a live one, or of lanes of them */
LLVMValueRef slot_node_at(Codegen *g, int tree, LLVMValueRef handle);
LLVMValueRef slot_node(Codegen *g, int tree, LLVMValueRef handles);
void frame_get(Codegen *g, const IrInst *inst);  /* FRAME_GET */
void frame_load(Codegen *g, const IrInst *inst); /* FRAME_LOAD, ARG */
void frame_set(Codegen *g, const IrInst *inst);
void frame_run(Codegen *g, const IrInst *inst);
void frame_return(Codegen *g, const IrInst *inst);

#endif
