/* maths.h - mathematical functions in a kernel's module: calls of `rt_sin_f32` and the like, for
 * one lane or more (llvm_bc/maths.def). */
#ifndef RG_JIT_MATHS_H
#define RG_JIT_MATHS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* Declares the vector variants of scalar functions, with vectors of up to `call_bytes`, to LLVM's
 * vectoriser, by function attributes. */
void maths_add_variants(LLVMModuleRef module, int call_bytes);
/* Does the module call any of them? Removes the declarations of unused ones. */
bool maths_are_used(LLVMModuleRef module);
/* After linking: makes them private to the module, and pure. */
void maths_make_private(LLVMModuleRef module);

#endif
