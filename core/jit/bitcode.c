/* bitcode.c - links the runtime into a kernel's module. It reads the bitcode lazily, and only the
 * functions that are called. The linker copies linkonce and available_externally definitions on
 * demand, so the linkage set here keeps the other hundred functions out of every compile. The build
 * has removed clang's target attributes (llvm_bc/CMakeLists.txt). */
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stddef.h>

#include "jit/jit.h"
#include "jit/maths.h"

#define EMBEDDED(name) \
  extern const char jit_bitcode_##name[], jit_bitcode_##name##_end[]; \
  static const Embedded name = {jit_bitcode_##name, jit_bitcode_##name##_end};
typedef struct Embedded {
  const char *begin, *end;
} Embedded;
EMBEDDED(nvptx)
EMBEDDED(host)
EMBEDDED(maths)
EMBEDDED(aarch64)
EMBEDDED(aarch64_maths)

static void prepare(LLVMModuleRef runtime, LLVMLinkage linkage) {
  for (LLVMValueRef f = LLVMGetFirstFunction(runtime); f; f = LLVMGetNextFunction(f)) {
    if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMExternalLinkage) {
      LLVMSetLinkage(f, linkage);
      LLVMSetVisibility(f, LLVMDefaultVisibility);
    }
  }
}

static LLVMModuleRef read_bitcode(LlvmContext *llvm, Embedded bitcode, Error *err) {
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
      bitcode.begin, (size_t)(bitcode.end - bitcode.begin), "runtime", false);
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
  if (!target->is_ptx) maths_add_variants(module, jit_target_call_bytes(target));
  Embedded runtime = target->is_ptx ? nvptx : target->of == MACHINE_AARCH64 ? aarch64 : host;
  return link_prepared(llvm, module, read_bitcode(llvm, runtime, err),
                       target->is_ptx ? LLVMLinkOnceODRLinkage : LLVMAvailableExternallyLinkage,
                       err);
}

bool jit_link_maths(LlvmContext *llvm, const JitTarget *target, LLVMModuleRef module, bool *linked,
                    Error *err) {
  *linked = maths_are_used(module);
  if (!*linked) return true;
  LLVMModuleRef functions =
      read_bitcode(llvm, target->of == MACHINE_AARCH64 ? aarch64_maths : maths, err);
  if (!link_prepared(llvm, module, functions, LLVMLinkOnceODRLinkage, err)) return false;
  maths_make_private(module);
  return true;
}
