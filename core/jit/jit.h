/* jit.h - from a kernel's module to machine code: the runtime's bitcode linked in, optimised,
 * emitted. Knows LLVM, targets and the runtime as bitcode; nothing of kernels. The interface to the
 * core is codegen_border.h.
 *
 *     CPU:  runtime definitions are `available_externally`: fast paths are inlined, others call the
 *           native copy in libregolith (entry.def, loader/symbols.def)
 *     PTX:  used functions are linked in as internal */
#ifndef RG_JIT_JIT_H
#define RG_JIT_JIT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "jit/codegen_border.h"
#include "llvm/context.h"

typedef struct JitKept JitKept;
typedef struct JitTarget {
  LLVMTargetMachineRef machine; /* NULL: not available */
  bool is_ptx, is_quick;
  JitKept *kept;                /* by which it is kept for the next module; NULL: it is not */
} JitTarget;

/* `processor` as in RgCodegenRequest; `is_quick`: for code that is made in a hurry. False with
 * codegen.failed for a name that is not known. */
bool jit_target_create(JitTarget *target, RgTarget kind, const char *processor, bool is_quick,
                       Error *err);
void jit_target_destroy(JitTarget *target);
/* Has the processor fast gathers of 64 bits a lane? Measured ones alone. */
bool jit_target_gathers(const JitTarget *target);
/* Has it estimates of 1 / sqrt(x) to 14 bits, in vectors of 128 to 512 bits? */
bool jit_target_estimates(const JitTarget *target);
/* Sets the module's triple and data layout, before anything is emitted into it. */
void jit_target_apply(const JitTarget *target, LLVMModuleRef module);

bool jit_link_runtime(LlvmContext *llvm, const JitTarget *target, LLVMModuleRef module, Error *err);
/* The mathematics that the module calls (llvm_bc/maths.def); *linked: it calls any. After
 * vectorising: until then they are names, which LLVM replaces by those for several lanes. */
bool jit_link_maths(LlvmContext *llvm, LLVMModuleRef module, bool *linked, Error *err);
/* Is it well-formed? Else LLVM's message is in err. */
bool jit_verify(LLVMModuleRef module, Error *err);
/* instrument: as in RgCodegenRequest. */
bool jit_optimize(LlvmContext *llvm, LLVMModuleRef module, const JitTarget *target, int instrument,
                  Error *err);
/* An object or PTX, or with `as_text` assembly, in a buffer owned by the caller; NULL with err. */
LLVMMemoryBufferRef jit_emit(LlvmContext *llvm, LLVMModuleRef module, const JitTarget *target,
                             bool as_text, Error *err);

#endif
