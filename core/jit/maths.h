/* maths.h - mathematics in a kernel's module: calls of `rt_sin_f32` and the like, for one lane or
 * more (llvm_bc/maths.def). */
#ifndef RG_JIT_MATHS_H
#define RG_JIT_MATHS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* Tells LLVM's vectoriser of the functions for several lanes, by an attribute of those for one. */
void maths_offer(LLVMModuleRef module);
/* Does anything call one? Removes the declarations of those that nobody calls. */
bool maths_wanted(LLVMModuleRef module);
/* They are linked: from now on private to the module, and pure. */
void maths_keep(LLVMModuleRef module);

#endif
