/* call.h - calls of LLVM's intrinsics and of the runtime, and what a function reads of its
 * context. */
#ifndef RG_CODEGEN_CALL_H
#define RG_CODEGEN_CALL_H

#include "codegen/value.h"

/* -- call.c: LLVM's intrinsics and the runtime's entry points ---------------------------------- */
LLVMValueRef call_intrinsic(Codegen *g, const char *name, LLVMTypeRef overload, LLVMValueRef *args,
                            int count);
LLVMValueRef call_plain(Codegen *g, const char *name, LLVMValueRef *args, int count); /* no types */
LLVMValueRef call_unary(Codegen *g, const char *name, LLVMValueRef a); /* of the type of a */
LLVMValueRef call_binary(Codegen *g, const char *name, LLVMValueRef a, LLVMValueRef b);
/* A function without effects of the runtime that is no entry, as its types are those of lanes. */
LLVMValueRef call_function(Codegen *g, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                           int count);
/* The same as call_intrinsic for one with two overloaded types. */
LLVMValueRef call_overloaded(Codegen *g, const char *name, LLVMTypeRef a, LLVMTypeRef b,
                             LLVMValueRef *args, int count);
/* index into kernel->trees; number of the manager or mask */
typedef struct Callee {
  int tree;
  int64_t number;
} Callee;
/* Calls the entry with a value per operand of its row; returns its result (a bool as i1). */
LLVMValueRef call_runtime(Codegen *g, RtEntry which, Callee callee, const LLVMValueRef *operands,
                          int count);

/* -- task_context.c: values of the context, hoisted, except the last two ----------------------- */
LLVMValueRef context_ambient(Codegen *g);
LLVMValueRef context_root(Codegen *g, int tree);
LLVMValueRef context_base(Codegen *g, int tree);
LLVMValueRef context_reserved(Codegen *g, int tree); /* bytes, from the base on */
LLVMValueRef context_large(Codegen *g, int tree);    /* RT_TREE_LARGE */
LLVMValueRef context_private_copy(Codegen *g, int tree);
ContextList context_list(Codegen *g, int tree, int manager); /* of its active nodes */
LLVMValueRef context_slot(Codegen *g, int64_t slot);         /* the slot's address in the frame */
/* Returns from the function if the launch was stopped; continues in a new block. */
void context_poll_stop(Codegen *g);

/* -- guard.c ----------------------------------------------------------------------------------- */
void guard_emit(Codegen *g, const IrInst *inst);   /* a VAR that owns an array */
void guard_change(Codegen *g, const IrInst *inst); /* OWN, ACQUIRE, MOVE, RELEASE, DISOWN */
void guards_release(Codegen *g); /* releases all guards, at the end of the function */

#endif
