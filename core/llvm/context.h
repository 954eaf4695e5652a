/* context.h - an LLVM context whose diagnostics become our errors, and a guard against LLVM's fatal
 * errors. Knows LLVM's C API and nothing of kernels. */
#ifndef RG_LLVM_CONTEXT_H
#define RG_LLVM_CONTEXT_H

#include <llvm-c/Core.h>

#include "base/error.h"

/* Must not move after llvm_context_create: the handler keeps its address. One thread at a time. */
typedef struct LlvmContext {
  LLVMContextRef context;
  char diagnostic[400]; /* the first diagnostic of severity error; empty: none */
} LlvmContext;

void llvm_context_create(LlvmContext *llvm);
void llvm_context_destroy(LlvmContext *llvm);

/* Registers the targets (X86, AArch64, NVPTX) and our fatal handler, once per process. Any
 * thread. */
void llvm_initialize(void);

/* guard_run(work, data, err). On a fatal error inside LLVM, control returns here: `*is_fatal` is
 * true, err has LLVM's message, and LLVM's objects must not be used any more (they leak: their
 * state is unknown). */
bool llvm_guard(bool (*work)(void *data, Error *err), void *data, bool *is_fatal, Error *err);

#endif
