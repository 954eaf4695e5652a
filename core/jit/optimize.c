/* optimize.c - LLVM's pass pipeline for kernels, as one line for its new pass manager. One round of
 * the passes that kernels need: inline the runtime, promote variables, clean up, shape loops, merge
 * loads, vectorise code that the pass `rows` left scalar. It takes a third of the time of O2 (a
 * stencil: 6 ms instead of 19) for equally fast code; the omitted expensive passes, SLP
 * vectorisation and run-time unrolling, found nothing in scalar kernels. The GPU's assembler
 * optimises again, so PTX gets the same passes without vectorisation. */
#include <llvm-c/Analysis.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stddef.h>

#include "jit/jit.h"
#include "llvm/function_attribute.h"

/* By default instcombine verifies that one iteration reached a fixpoint and aborts if not, which is
 * meant for LLVM's own tests. */
#define COMBINE "instcombine<no-verify-fixpoint>"
#define SCALARS \
  "cgscc(inline),function(sroa,early-cse<memssa>," COMBINE ",simplifycfg," \
  "loop-mssa(loop-rotate,licm),loop(indvars,loop-deletion,loop-unroll-full)," \
  "sroa,gvn," COMBINE ",adce,"
#define LAST "loop-mssa(licm)," COMBINE ",simplifycfg)"

/* A serial sweep reads the element that its previous iteration wrote: loop-load-elim keeps it in a
 * register. */
static const char cpu_passes[] = SCALARS "loop-vectorize,loop-load-elim," LAST;
static const char ptx_passes[] = SCALARS LAST ",function(infer-alignment),globaldce";
/* only promotes the variables of code generation; instruction selection takes most of the time */
static const char baseline_passes[] = "cgscc(inline),function(sroa,early-cse,simplifycfg)";
static const char baseline_maths_passes[] = "cgscc(inline),globaldce";
/* after linking mathematical functions: inlines those that are called from one place */
static const char maths_passes[] = "cgscc(inline),globaldce,function(early-cse," LAST;
static const char *const instruments[] = {"", "asan", "tsan-module,function(tsan)"};

bool jit_verify(LLVMModuleRef module, Error *err) {
  char *why = NULL;
  bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &why);
  if (broken)
    error_set(err, RG_ERROR_CODEGEN, "code generation produced an invalid module: %.300s", why);
  LLVMDisposeMessage(why);
  return !broken;
}

static void instrument_functions(LLVMModuleRef module, int instrument) {
  const char *attribute = instrument == 1 ? "sanitize_address" : "sanitize_thread";
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) llvm_function_attribute(f, attribute, 0);
}

static LLVMPassBuilderOptionsRef options_create(void) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopInterleaving(options, true);
  LLVMPassBuilderOptionsSetLoopVectorization(options, true);
  LLVMPassBuilderOptionsSetSLPVectorization(options, true);
  LLVMPassBuilderOptionsSetLoopUnrolling(options, true);
  LLVMPassBuilderOptionsSetVerifyEach(options, false);
  return options;
}

static bool run_passes(LLVMModuleRef module, const JitTarget *target, const char *passes,
                       Error *err) {
  LLVMPassBuilderOptionsRef options = options_create();
  LLVMErrorRef failure = LLVMRunPasses(module, passes, target->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!failure) return true;
  char *why = LLVMGetErrorMessage(failure);
  error_set(err, RG_ERROR_CODEGEN, "LLVM refused to optimise: %.300s", why);
  LLVMDisposeErrorMessage(why);
  return false;
}

static bool optimize_maths(LlvmContext *llvm, LLVMModuleRef module, const JitTarget *target,
                           Error *err) {
  bool linked;
  if (!jit_link_maths(llvm, target, module, &linked, err)) return false;
  return !linked || run_passes(module, target,
                               target->is_baseline ? baseline_maths_passes : maths_passes, err);
}

bool jit_optimize(LlvmContext *llvm, LLVMModuleRef module, const JitTarget *target, int instrument,
                  Error *err) {
  const char *passes = target->is_ptx        ? ptx_passes
                       : target->is_baseline ? baseline_passes
                                             : cpu_passes;
  if (!run_passes(module, target, passes, err)) return false;
  if (target->is_ptx) return true;
  if (!optimize_maths(llvm, module, target, err)) return false;
  if (instrument < 1 || instrument > 2) return true;
  instrument_functions(module, instrument);
  return run_passes(module, target, instruments[instrument], err);
}
