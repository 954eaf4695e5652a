/* part.c - compiles one part: IrKernel -> module -> object, with diagnostics. If scratch memory
 * runs out, an assertion fails or LLVM has a fatal error, control jumps back to part_compile; the
 * Part refers to everything that must be freed. After a fatal error LLVM's context is leaked, since
 * its state is unknown. */
#include "jit/part.h"

#include <string.h>

#include "base/clock.h"

/* Adds the time since *mark to *sum and resets the mark. */
static void add_time(double *sum, double *mark) {
  double now = clock_ms();
  *sum += now - *mark;
  *mark = now;
}

static bool copy_bytes(Part *part, const char *data, size_t length, char **out, Error *err) {
  *out = heap_alloc(&part->heap, length + 1);
  if (!*out)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for compiled code");
  memcpy(*out, data, length);
  return true;
}

static bool copy_buffer(Part *part, LLVMMemoryBufferRef buffer, char **out, int64_t *length,
                        Error *err) {
  if (!buffer) return false;
  *length = (int64_t)LLVMGetBufferSize(buffer);
  bool ok = copy_bytes(part, LLVMGetBufferStart(buffer), (size_t)*length, out, err);
  LLVMDisposeMemoryBuffer(buffer);
  return ok;
}

/* Emission changes the module, so the assembly text is made from a copy of it. */
static bool emit_texts(Part *part, RgCodegenObject *out, Error *err) {
  bool ok = true;
  if (part->request->want_llvm) {
    char *text = LLVMPrintModuleToString(part->module);
    ok = copy_bytes(part, text, strlen(text), &out->llvm_text, err);
    LLVMDisposeMessage(text);
  }
  if (ok && part->request->want_asm) {
    int64_t length;
    LLVMModuleRef copy = LLVMCloneModule(part->module);
    ok = copy_buffer(part, jit_emit(&part->llvm, copy, &part->target, true, err), &out->asm_text,
                     &length, err);
    LLVMDisposeModule(copy);
  }
  return ok;
}

static bool make_module(Part *part, Error *err) {
  double mark = clock_ms();
  bool ok = codegen_kernel(&part->scratch, part->module, part->builder, part->kernel, part->wanted,
                           part->partition,
                           (CodegenTarget){jit_target_estimates(&part->target),
                                           jit_target_call_bytes(&part->target)},
                           err) &&
            jit_verify(part->module, err);
  add_time(&part->emit_ms, &mark);
  return ok;
}

static bool make_object(Part *part, RgCodegenObject *out, Error *err) {
  double mark = clock_ms();
  if (!jit_link_runtime(&part->llvm, &part->target, part->module, err) ||
      !jit_optimize(&part->llvm, part->module, &part->target, part->request->instrument, err))
    return false;
  add_time(&part->optimize_ms, &mark);
  if (!emit_texts(part, out, err)) return false;
  mark = clock_ms();
  LLVMMemoryBufferRef buffer = jit_emit(&part->llvm, part->module, &part->target, false, err);
  bool ok = copy_buffer(part, buffer, (char **)&out->bytes, &out->length, err);
  add_time(&part->object_ms, &mark);
  return ok;
}

static void release_llvm(Part *part) {
  if (part->builder) LLVMDisposeBuilder(part->builder);
  if (part->module) LLVMDisposeModule(part->module);
  llvm_context_destroy(&part->llvm);
  jit_target_destroy(&part->target);
}

static bool compile(void *data, Error *err) {
  Part *part = data;
  if (!jit_target_create(&part->target, part->kind, part->request->processors[part->kind],
                         part->request->baseline != 0, err))
    return false;
  llvm_context_create(&part->llvm);
  part->module = LLVMModuleCreateWithNameInContext("kernel", part->llvm.context);
  part->builder = LLVMCreateBuilderInContext(part->llvm.context);
  jit_target_apply(&part->target, part->module);
  return make_module(part, err) && make_object(part, &part->object, err);
}

void part_compile(Part *part) {
  bool failed_fatally;
  heap_init(&part->heap, 0);
  part->heap.source = (HeapSource){part->request->resize, part->request->resize_data};
  scratch_init(&part->scratch, &part->heap);
  part->ok = llvm_guard(compile, part, &failed_fatally, &part->err);
  if (!failed_fatally) release_llvm(part);
  scratch_deinit(&part->scratch);
}

void part_free(Part *part) {
  heap_free(&part->heap, part->object.bytes);
  heap_free(&part->heap, part->object.llvm_text);
  heap_free(&part->heap, part->object.asm_text);
  part->object = (RgCodegenObject){0};
}
