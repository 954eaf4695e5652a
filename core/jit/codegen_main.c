/* codegen_main.c - the border: bytes -> IrKernel -> module -> object for each target, and the
 * diagnostics on the way. A compile owns one Job. Running out of scratch memory, a failed assertion
 * and a fatal error of LLVM jump back to regolith_codegen, which finds everything that must be
 * freed in the Job. After a fatal error LLVM's context is leaked, since its
 * state is unknown. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/heap.h"
#include "base/scratch.h"
#include "build_id.h"
#include "codegen/codegen.h"
#include "ir/task.h"
#include "jit/codegen_border.h"
#include "jit/jit.h"

#define EXPORT __attribute__((visibility("default")))

/* The result comes first: its address is what the caller frees. */
typedef struct Job {
  RgCodegenResult result;
  Heap heap; /* of result's parts and the scratch */
  Scratch scratch;
  LlvmContext llvm;
  JitTarget target;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  const RgCodegenRequest *request;
} Job;

_Static_assert(offsetof(Job, result) == 0, "regolith_codegen_free gets the Job by its result");

/* Adds the time since *mark to *sum and resets the mark. */
static void charge(double *sum, double *mark) {
  double now = clock_ms();
  *sum += now - *mark;
  *mark = now;
}

static bool keep_bytes(Job *job, const char *data, size_t length, char **out, Error *err) {
  *out = heap_alloc(&job->heap, length + 1);
  if (!*out)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for compiled code");
  memcpy(*out, data, length);
  return true;
}

static bool keep_buffer(Job *job, LLVMMemoryBufferRef buffer, char **out, int64_t *length,
                        Error *err) {
  if (!buffer) return false;
  *length = (int64_t)LLVMGetBufferSize(buffer);
  bool ok = keep_bytes(job, LLVMGetBufferStart(buffer), (size_t)*length, out, err);
  LLVMDisposeMemoryBuffer(buffer);
  return ok;
}

/* Emission changes the module, so the assembly text is made from a copy of it. */
static bool keep_texts(Job *job, RgCodegenObject *out, Error *err) {
  bool ok = true;
  if (job->request->want_llvm) {
    char *text = LLVMPrintModuleToString(job->module);
    ok = keep_bytes(job, text, strlen(text), &out->llvm_text, err);
    LLVMDisposeMessage(text);
  }
  if (ok && job->request->want_asm) {
    int64_t length;
    LLVMModuleRef copy = LLVMCloneModule(job->module);
    ok = keep_buffer(job, jit_emit(&job->llvm, copy, &job->target, true, err), &out->asm_text,
                     &length, err);
    LLVMDisposeModule(copy);
  }
  return ok;
}

/* A kernel for a GPU was written for that processor (ir_write): the host has its host region. */
static CodegenPart part_of(const Job *job, const char *written_for) {
  if (job->target.is_ptx) return CODEGEN_GPU_TASKS;
  return strncmp(written_for, "sm_", 3) ? CODEGEN_ALL : CODEGEN_HOST_REGION;
}

/* Bytes to module; the kernel is freed with the scratch. */
static bool make_module(Job *job, Error *err) {
  double mark = clock_ms();
  const char *written_for;
  IrKernel *kernel =
      ir_read_bytes(&job->scratch, job->request->bytes, job->request->length, &written_for, err);
  bool ok = kernel != NULL;
  charge(&job->result.parse_ms, &mark);
  ok = ok && codegen_kernel(&job->scratch, job->module, job->builder, kernel,
                            part_of(job, written_for), err) &&
       jit_verify(job->module, err);
  charge(&job->result.emit_ms, &mark);
  return ok;
}

static bool make_object(Job *job, RgCodegenObject *out, Error *err) {
  double mark = clock_ms();
  if (!jit_link_runtime(&job->llvm, &job->target, job->module, err) ||
      !jit_optimize(&job->llvm, job->module, &job->target, job->request->instrument, err))
    return false;
  charge(&job->result.optimize_ms, &mark);
  if (!keep_texts(job, out, err)) return false;
  mark = clock_ms();
  LLVMMemoryBufferRef buffer = jit_emit(&job->llvm, job->module, &job->target, false, err);
  bool ok = keep_buffer(job, buffer, (char **)&out->bytes, &out->length, err);
  charge(&job->result.object_ms, &mark);
  return ok;
}

static void release_llvm(Job *job) {
  if (job->builder) LLVMDisposeBuilder(job->builder);
  if (job->module) LLVMDisposeModule(job->module);
  llvm_context_destroy(&job->llvm);
  jit_target_destroy(&job->target);
  job->builder = NULL;
  job->module = NULL;
}

/* In its own context and module, so that an object does not depend on what else is requested. */
static bool compile_for(Job *job, RgTarget target, Error *err) {
  if (!jit_target_create(&job->target, target, job->request->processors[target], err)) return false;
  llvm_context_create(&job->llvm);
  job->module = LLVMModuleCreateWithNameInContext("kernel", job->llvm.context);
  job->builder = LLVMCreateBuilderInContext(job->llvm.context);
  jit_target_apply(&job->target, job->module);
  return make_module(job, err) && make_object(job, &job->result.objects[target], err);
}

static bool compile(void *data, Error *err) {
  Job *job = data;
  for (int t = 0; t < RG_TARGET_COUNT; t++) {
    if (!job->request->processors[t]) continue;
    if (!compile_for(job, (RgTarget)t, err)) return false; /* the job's owner frees what it has */
    release_llvm(job);
  }
  return true;
}

static void free_parts(Job *job) {
  for (int t = 0; t < RG_TARGET_COUNT; t++) {
    RgCodegenObject *object = &job->result.objects[t];
    heap_free(&job->heap, object->bytes);
    heap_free(&job->heap, object->llvm_text);
    heap_free(&job->heap, object->asm_text);
    *object = (RgCodegenObject){0};
  }
}

/* Only the message of a failed compile is kept. */
static void report(Job *job, const Error *err) {
  free_parts(job);
  job->result.code = (int32_t)err->code;
  job->result.message = heap_copy_text(&job->heap, err->message);
}

EXPORT const char *regolith_codegen_build_id(void) { return RG_BUILD_ID; }

EXPORT RgCodegenResult *regolith_codegen(const RgCodegenRequest *request) {
  Heap heap;
  heap_init(&heap, 0);
  heap.source = (HeapSource){request->resize, request->resize_data};
  Job *job = heap_alloc(&heap, sizeof *job);
  if (!job) return NULL;
  Error err;
  error_clear(&err);
  heap_init(&job->heap, 0);
  job->heap.source = heap.source;
  scratch_init(&job->scratch, &job->heap);
  job->request = request;
  if (!request->build_id || strcmp(request->build_id, RG_BUILD_ID)) {
    error_set(&err, RG_ERROR_VERSION,
              "libregolith and libregolith-codegen come from different builds");
  } else {
    bool died;
    job->result.ok = llvm_guard(compile, job, &died, &err);
    if (!died) release_llvm(job);
  }
  scratch_deinit(&job->scratch);
  job->request = NULL;
  if (!job->result.ok) report(job, &err);
  return &job->result;
}

EXPORT void regolith_codegen_free(RgCodegenResult *result) {
  if (!result) return;
  Job *job = (Job *)(void *)result;
  Heap heap;
  heap_init(&heap, 0);
  heap.source = job->heap.source;
  free_parts(job);
  heap_free(&job->heap, result->message);
  heap_free(&heap, job);
}
