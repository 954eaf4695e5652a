/* bitcode.c - links the runtime into a kernel's module. It reads the bitcode lazily, and only the
 * functions that are called. The linker copies linkonce and available_externally definitions on
 * demand, so the linkage set here keeps the other hundred functions out of every compile. The build
 * has removed clang's target attributes (llvm_bc/CMakeLists.txt). */
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stddef.h>

#include "jit/jit.h"
#include "jit/maths.h"

extern const char jit_bitcode_host[], jit_bitcode_host_end[], jit_bitcode_nvptx[],
    jit_bitcode_nvptx_end[], jit_bitcode_maths[], jit_bitcode_maths_end[];

static void prepare(LLVMModuleRef runtime, LLVMLinkage linkage) {
  for (LLVMValueRef f = LLVMGetFirstFunction(runtime); f; f = LLVMGetNextFunction(f)) {
    if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMExternalLinkage) {
      LLVMSetLinkage(f, linkage);
      LLVMSetVisibility(f, LLVMDefaultVisibility);
    }
  }
}

static LLVMModuleRef read_bitcode(LlvmContext *llvm, const char *begin, const char *end,
                                  Error *err) {
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRange(begin, (size_t)(end - begin), "runtime", false);
  LLVMModuleRef runtime = NULL;
  /* on success, `runtime` owns the buffer */
  if (!LLVMGetBitcodeModuleInContext2(llvm->context, buffer, &runtime)) return runtime;
  LLVMDisposeMemoryBuffer(buffer);
  error_set(err, RG_ERROR_CODEGEN, "the runtime's bitcode cannot be read: %s", llvm->diagnostic);
  return NULL;
}

/* `runtime` is NULL if it could not be read; err is set then. */
static bool link_prepared(LlvmContext *llvm, LLVMModuleRef module, LLVMModuleRef runtime,
                          LLVMLinkage linkage, Error *err) {
  if (!runtime) return false;
  prepare(runtime, linkage);
  if (LLVMLinkModules2(module, runtime)) /* consumes `runtime` either way */
    return error_set(err, RG_ERROR_CODEGEN, "the runtime's bitcode cannot be linked: %s",
                     llvm->diagnostic);
  return true;
}

bool jit_link_runtime(LlvmContext *llvm, const JitTarget *target, LLVMModuleRef module,
                      Error *err) {
  if (!target->is_ptx) maths_offer(module);
  const char *begin = target->is_ptx ? jit_bitcode_nvptx : jit_bitcode_host;
  const char *end = target->is_ptx ? jit_bitcode_nvptx_end : jit_bitcode_host_end;
  return link_prepared(llvm, module, read_bitcode(llvm, begin, end, err),
                       target->is_ptx ? LLVMLinkOnceODRLinkage : LLVMAvailableExternallyLinkage,
                       err);
}

bool jit_link_maths(LlvmContext *llvm, LLVMModuleRef module, bool *linked, Error *err) {
  *linked = maths_wanted(module);
  if (!*linked) return true;
  LLVMModuleRef maths = read_bitcode(llvm, jit_bitcode_maths, jit_bitcode_maths_end, err);
  if (!link_prepared(llvm, module, maths, LLVMLinkOnceODRLinkage, err)) return false;
  maths_keep(module);
  return true;
}
