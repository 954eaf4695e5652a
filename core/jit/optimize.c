/* optimize.c - the passes of LLVM that a kernel gets, as one line of its new pass manager.
 * It is O2 without what kernels never need (globals, exceptions, calls across modules), in one round: inline the
 * runtime, promote variables, clean, work on loops, vectorise what the pass `rows` left scalar, clean. The GPU's own
 * assembler optimises again, so PTX gets the short line, and unrolled loops. */
#include <llvm-c/Analysis.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>

#include "jit/jit.h"
#include "llvm/attribute.h"

#define CLEAN "sroa,early-cse<memssa>,instcombine,simplifycfg,"
#define LOOPS "loop-mssa(loop-rotate,licm,simple-loop-unswitch),simplifycfg,instcombine," \
              "loop(indvars,loop-deletion,loop-unroll-full),sroa,"
#define SCALARS "gvn,sccp,instcombine,dse,simplifycfg,loop-mssa(licm),adce,"
#define VECTORS "loop-vectorize,instcombine,simplifycfg,slp-vectorizer,vector-combine,instcombine,loop-unroll<O2>," \
                "loop-mssa(licm),early-cse<memssa>,simplifycfg,adce"

static const char cpu_passes[] = "cgscc(inline),function(" CLEAN LOOPS SCALARS VECTORS ")";
static const char ptx_passes[] = "cgscc(inline),function(" CLEAN LOOPS SCALARS "early-cse<memssa>),globaldce";

bool jit_verify(LLVMModuleRef module, Error *err) {
  char *why = NULL;
  bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &why);
  if (broken) error_set(err, RG_ERROR_CODEGEN, "code generation made a malformed module: %.300s", why);
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

bool jit_optimize(LLVMModuleRef module, const JitTarget *target, int instrument, Error *err) {
  static const char *const extra[] = {"", ",asan", ",tsan-module,function(tsan)"};
  int which = instrument >= 0 && instrument <= 2 && !target->is_ptx ? instrument : 0;
  char passes[1024];
  snprintf(passes, sizeof passes, "%s%s", target->is_ptx ? ptx_passes : cpu_passes, extra[which]);
  if (which) instrument_functions(module, which);
  LLVMPassBuilderOptionsRef options = options_create();
  LLVMErrorRef failure = LLVMRunPasses(module, passes, target->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!failure) return true;
  char *why = LLVMGetErrorMessage(failure);
  error_set(err, RG_ERROR_CODEGEN, "LLVM refused to optimise: %.300s", why);
  LLVMDisposeErrorMessage(why);
  return false;
}
