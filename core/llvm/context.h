/* context.h - an LLVM context whose diagnostics become our errors, and a fence around what LLVM calls fatal.
 * Knows LLVM's C API and nothing of kernels. */
#ifndef RG_LLVM_CONTEXT_H
#define RG_LLVM_CONTEXT_H

#include <llvm-c/Core.h>

#include "base/error.h"

/* Stays where it is after llvm_context_create: the handler keeps its address. One thread at a time. */
typedef struct LlvmContext {
  LLVMContextRef context;
  char diagnostic[400]; /* the first of severity error; empty: none */
} LlvmContext;

void llvm_context_create(LlvmContext *llvm);
void llvm_context_destroy(LlvmContext *llvm);

/* Registers the X86 and NVPTX targets and our fatal handler, once per process. Any thread. */
void llvm_initialize(void);

/* Calls `work(data, err)`. When LLVM meets what it calls a fatal error inside, control leaves it here: `*died` is
 * true, err holds LLVM's words, and whatever LLVM held must be left alone (it leaks: its state is unknown). */
bool llvm_guard(bool (*work)(void *data, Error *err), void *data, bool *died, Error *err);

#endif
