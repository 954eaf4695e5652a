/* value.h - values and basic blocks. */
#ifndef RG_CODEGEN_VALUE_H
#define RG_CODEGEN_VALUE_H

#include "codegen/build.h"

/* -- value.c: types, constants, values by inst, functions -------------------------------------- */
void codegen_fail(Codegen *g, const IrInst *inst, const char *what);
LLVMTypeRef value_type(Codegen *g, Type type);        /* bool: i1; of lanes: a vector */
LLVMTypeRef value_memory_type(Codegen *g, Type type); /* bool: i8; of lanes: a vector */
LLVMTypeRef value_lanes(LLVMTypeRef type, int width); /* the type itself when width is 1 */
static inline LLVMTypeRef value_vector(Codegen *g, Type type, int width) {
  return value_lanes(value_type(g, type), width);
}
bool value_is_vector(LLVMValueRef value);
int value_width(LLVMValueRef value);
/* a constant of an integer type, or of a vector of one: the same in all lanes */
LLVMValueRef value_integer(LLVMTypeRef type, int64_t number);
static inline LLVMValueRef value_like(LLVMValueRef like, int64_t number) { /* of its type */
  return value_integer(LLVMTypeOf(like), number);
}
static inline LLVMValueRef value_bool(Codegen *g, bool is_true) {
  return value_integer(g->bool_type, is_true);
}
LLVMValueRef value_real(LLVMTypeRef type, double number);
/* the number with these bits, as a CONST of type `of` has them, in its LLVM type or a wider one */
LLVMValueRef value_number(LLVMTypeRef type, Type of, int64_t imm);
static inline LLVMValueRef value_i32(Codegen *g, int64_t number) {
  return value_integer(g->i32, number);
}
static inline LLVMValueRef value_index(Codegen *g, int64_t number) { /* i64 */
  return value_integer(g->i64, number);
}
LLVMValueRef value_staircase(LLVMTypeRef type, int width, int64_t step); /* 0, step, 2 * step .. */
LLVMValueRef value_of(Codegen *g, const IrInst *inst); /* the value emitted for it */
LLVMValueRef value_operand(Codegen *g, const IrInst *inst, int operand);
void value_set(Codegen *g, const IrInst *inst, LLVMValueRef value);
LLVMValueRef value_constant(LLVMValueRef value); /* that all its lanes have; NULL: none */
LLVMValueRef value_broadcast(Codegen *g, LLVMValueRef value, int width);
bool value_is_all(LLVMValueRef mask); /* is it the constant mask of all lanes? */
void value_match(Codegen *g, LLVMValueRef *a, LLVMValueRef *b); /* makes both per lane if one is */
LLVMValueRef value_lane(Codegen *g, LLVMValueRef value, int lane);
LLVMValueRef value_from_memory(Codegen *g, LLVMValueRef value, Type type);
LLVMValueRef value_to_memory(Codegen *g, LLVMValueRef value, Type type);
/* A GPU has several memories; a generic access must find out at run time which one it is to, and a
 * generic atomic needs code for each. Addresses that kernels read are in global memory.
 * value_global tells LLVM so by a conversion through an integer, since it would fold a pair of
 * address space casts away. */
enum { GPU_GLOBAL_MEMORY = 1 }; /* LLVM's address space */
LLVMValueRef value_global(Codegen *g, LLVMValueRef pointer);
/* Tells LLVM that the address of a node or of a tree's root is aligned to a granule, so that it may
 * combine neighbouring accesses. */
LLVMValueRef value_node(Codegen *g, LLVMValueRef pointer);
LLVMValueRef value_byte_offset(Codegen *g, LLVMValueRef pointer, int64_t bytes);

/* Metadata of this kind; returns the instruction. */
LLVMValueRef value_mark(Codegen *g, LLVMValueRef inst, const char *kind, LLVMMetadataRef node);

LLVMBasicBlockRef block_new(Codegen *g, const char *name);
static inline LLVMBasicBlockRef block_here(Codegen *g) { return LLVMGetInsertBlock(g->builder); }
static inline void block_enter(Codegen *g, LLVMBasicBlockRef block) { /* goes to its end */
  LLVMPositionBuilderAtEnd(g->builder, block);
}
static inline void block_jump(Codegen *g, LLVMBasicBlockRef to) { LLVMBuildBr(g->builder, to); }
static inline LLVMValueRef block_branch(Codegen *g, LLVMValueRef condition, LLVMBasicBlockRef yes,
                                        LLVMBasicBlockRef no) {
  return LLVMBuildCondBr(g->builder, condition, yes, no);
}
/* The branch to `yes` is likely, so LLVM keeps the other path out of line. */
LLVMValueRef block_branch_mostly(Codegen *g, LLVMValueRef condition, LLVMBasicBlockRef yes,
                                 LLVMBasicBlockRef no);
/* Jumps; what follows is emitted into a new block without predecessors. */
void block_leave(Codegen *g, LLVMBasicBlockRef to, const char *behind);
/* Branches to `block`, which it enters, or to `other`. */
void block_enter_if(Codegen *g, LLVMValueRef condition, LLVMBasicBlockRef block,
                    LLVMBasicBlockRef other);
void block_enter_unless(Codegen *g, LLVMValueRef condition, LLVMBasicBlockRef block,
                        LLVMBasicBlockRef other);
void block_follow(Codegen *g, LLVMBasicBlockRef next); /* jumps to it, and enters it */
/* The same for the head of a loop: a value that is `first` at first (build_phi_next). */
LLVMValueRef block_loop(Codegen *g, LLVMBasicBlockRef head, LLVMValueRef first);
/* Enters a new block that runs if the condition holds; returns the one that follows it. */
LLVMBasicBlockRef block_if(Codegen *g, LLVMValueRef condition, const char *then, const char *after);
/* Between these two calls the builder is in the entry block: code emitted there runs once per call
 * of the function. */
LLVMBasicBlockRef block_hoist_begin(Codegen *g);
void block_hoist_end(Codegen *g, LLVMBasicBlockRef back);
/* an alloca of the entry block */
LLVMValueRef block_variable(Codegen *g, LLVMTypeRef type, const char *name);
/* one that has this value at the start of the function */
LLVMValueRef block_variable_of(Codegen *g, LLVMValueRef first, const char *name);
/* one that becomes this value here, whenever control comes here */
LLVMValueRef block_variable_now(Codegen *g, LLVMValueRef value, const char *name);

#endif
