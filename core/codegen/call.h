/* call.h - calls of LLVM's intrinsics and of the runtime, and what a function reads of its
 * context. */
#ifndef RG_CODEGEN_CALL_H
#define RG_CODEGEN_CALL_H

#include "codegen/value.h"

/* -- LLVM's intrinsics and the runtime's entry points ------------------------------------------ */
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

/* -- values of the context, and guards --------------------------------------------------------- */
/* The result of an entry without operands, which is constant while a function runs: it is called
 * once, in the entry block. RT_TREE_BASE is unlike the runtime's own look-up (rt_slot_find), which
 * loads it every time; RT_TREE_LARGE may change, but its value at the start of a task is good
 * enough. Lists are those of the function's task. */
LLVMValueRef context_of(Codegen *g, RtEntry entry, int tree);
/* Where it is kept; NULL until it is used. */
LLVMValueRef *context_kept(Codegen *g, RtEntry entry, int tree);
LLVMValueRef context_slot(Codegen *g, int64_t slot); /* the slot's address in the frame */
/* Returns from the function if the launch was stopped; continues in a new block. */
void context_poll_stop(Codegen *g);
void guard_emit(Codegen *g, const IrInst *inst);   /* a VAR that owns an array */
void guard_change(Codegen *g, const IrInst *inst); /* OWN, ACQUIRE, MOVE, RELEASE, DISOWN */
void guards_release(Codegen *g); /* releases all guards, at the end of the function */

#endif
