/* context.c - diagnostics and fatal errors of LLVM; see context.h.
 * Without a handler LLVM ends the process on an error diagnostic. Successful compiles send remarks
 * and warnings through the same handler, so only severity error counts.
 * A fatal error ("Cannot select") comes from deep inside LLVM's own frames: LLVM is built without
 * exceptions and never expects to get control back, so jumping over those frames is the only way to
 * keep the process. */
#include "llvm/context.h"

#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guard.h"

typedef struct Fatal {
  jmp_buf leave;
  char reason[400];
} Fatal;

static _Thread_local Fatal *fatal_of_thread; /* NULL: this thread is not compiling */

static void copy_line(char *out, size_t size, const char *text) {
  snprintf(out, size, "%s", text);
  for (char *c = out; *c; c++)
    if (*c == '\n') *c = ' ';
}

static void record_diagnostic(LLVMDiagnosticInfoRef info, void *data) {
  LlvmContext *llvm = data;
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || llvm->diagnostic[0]) return;
  char *text = LLVMGetDiagInfoDescription(info);
  copy_line(llvm->diagnostic, sizeof llvm->diagnostic, text);
  LLVMDisposeMessage(text);
}

void llvm_context_create(LlvmContext *llvm) {
  memset(llvm, 0, sizeof *llvm);
  llvm->context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(llvm->context, record_diagnostic, llvm);
}

void llvm_context_destroy(LlvmContext *llvm) {
  if (llvm->context) LLVMContextDispose(llvm->context);
  llvm->context = NULL;
}

static void on_fatal(const char *reason) {
  Fatal *fatal = fatal_of_thread;
  if (!fatal) return; /* not our compile: LLVM ends the process as usual */
  copy_line(fatal->reason, sizeof fatal->reason, reason);
  longjmp(fatal->leave, 1);
}

/* Loop strength reduction takes up to two thirds of the time to emit a vectorised stencil (24 ms
 * instead of 9), and gains nothing since addressing modes have an index and a scale. The scheduler
 * after register allocation takes time quadratic in the length of a block (half of the time for a
 * vectorised body), for processors that reorder instructions themselves. Promotion of elements to
 * registers across a loop compares every pair of its accesses: a tenth of the pipeline's time for a
 * body with hundreds, in which none can be promoted. LLVM has only these global switches for
 * them. */
static const char *const switches[] = {"regolith", "-disable-lsr", "-post-RA-scheduler=false",
                                       "-licm-mssa-max-acc-promotion=60"};

static void initialize(void) {
  LLVMInstallFatalErrorHandler(on_fatal);
  LLVMParseCommandLineOptions(sizeof switches / sizeof *switches, switches, NULL);
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

void llvm_initialize(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, initialize);
}

bool llvm_guard(bool (*work)(void *data, Error *err), void *data, bool *is_fatal, Error *err) {
  Fatal fatal;
  Fatal *outer = fatal_of_thread;
  Guard *innermost = guard_innermost(); /* those opened by `work` end with it */
  fatal.reason[0] = 0;
  *is_fatal = false;
  if (setjmp(fatal.leave)) {
    fatal_of_thread = outer;
    guard_restore(innermost);
    *is_fatal = true;
    return error_set(err, RG_ERROR_CODEGEN, "LLVM gave up: %s", fatal.reason);
  }
  fatal_of_thread = &fatal;
  bool ok = guard_run(work, data, err);
  fatal_of_thread = outer;
  return ok;
}
