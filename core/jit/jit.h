/* jit.h - compiles a kernel's module to machine code: links the runtime's bitcode, optimises,
 * emits. Knows LLVM, targets and the runtime as bitcode, and nothing about kernels. The interface
 * to the core is codegen_abi.h.
 *
 *     CPU:  runtime definitions are `available_externally`: fast paths are inlined, others call the
 *           native copy in libregolith (entry.def, loader/symbols.def)
 *     PTX:  used functions are linked in as internal */
#ifndef RG_JIT_JIT_H
#define RG_JIT_JIT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "base/machine.h"
#include "jit/codegen_abi.h"
#include "llvm/context.h"

typedef struct JitCachedMachine JitCachedMachine;
typedef struct JitTarget {
  LLVMTargetMachineRef machine; /* NULL: not available */
  Machine of;                   /* the processor's; of a GPU: this one */
  bool is_ptx, is_baseline;
  JitCachedMachine
      *cached; /* its entry in the cache of machines (object.c); NULL: it is not cached */
} JitTarget;

/* `processor` as in RgCodegenRequest; `is_baseline`: for baseline code. False with codegen.failed
 * for an unknown name. */
bool jit_target_create(JitTarget *target, RgTarget kind, const char *processor, bool is_baseline,
                       Error *err);
void jit_target_destroy(JitTarget *target);
/* Does it estimate 1 / sqrt(x) to 14 bits, in vectors of 128 to 512 bits? */
bool jit_target_estimates(const JitTarget *target);
/* The widest vectors, in bytes, that functions of the runtime take: wider ones than those in which
 * a machine passes vectors would be passed by their addresses. */
int jit_target_call_bytes(const JitTarget *target);
/* Sets the module's triple and data layout, before anything is emitted into it. */
void jit_target_apply(const JitTarget *target, LLVMModuleRef module);

bool jit_link_runtime(LlvmContext *llvm, const JitTarget *target, LLVMModuleRef module, Error *err);
/* Links the mathematical functions that the module calls (llvm_bc/maths.def); *linked: it calls
 * any. Runs after vectorisation, which replaces calls by those of functions for several lanes. */
bool jit_link_maths(LlvmContext *llvm, const JitTarget *target, LLVMModuleRef module, bool *linked,
                    Error *err);
/* Is the module well-formed? If not, err has LLVM's message. */
bool jit_verify(LLVMModuleRef module, Error *err);
/* instrument: as in RgCodegenRequest. */
bool jit_optimize(LlvmContext *llvm, LLVMModuleRef module, const JitTarget *target, int instrument,
                  Error *err);
/* Returns an object or PTX, or assembly if `as_text`, in a buffer that the caller owns; NULL with
 * err. */
LLVMMemoryBufferRef jit_emit(LlvmContext *llvm, LLVMModuleRef module, const JitTarget *target,
                             bool as_text, Error *err);

#endif
