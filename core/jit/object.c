/* object.c - creates target machines and emits objects with them.
 * Position-independent code in the small model: the loader places it within reach of the core.
 * Processor names are checked here, since for an unknown one LLVM prints to standard error and uses
 * a useless default. Decision D-infer-04. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/jit.h"

/* Creating a machine, with what LLVM sets up for its first function, takes 3 M instructions, a
 * tenth of the compile of a small kernel. So unused machines are cached for later modules. */
enum { MAX_CACHED = 16, PROCESSOR_BYTES = 64 };
struct JitCachedMachine {
  LLVMTargetMachineRef machine;
  Machine of;
  bool is_ptx, is_baseline;
  char processor[PROCESSOR_BYTES];
};
static _Atomic(JitCachedMachine *) cached[MAX_CACHED];

typedef struct TargetRow {
  const char *name, *cpu, *features;
  Machine machine;
} TargetRow;

static const char *const triples[MACHINE_COUNT] = {
    [MACHINE_X86_64] = "x86_64-unknown-linux-gnu", [MACHINE_AARCH64] = "aarch64-unknown-linux-gnu"};
static const TargetRow host_rows[] = {
#define PROCESSOR(MACHINE, NAME, VECTOR_BYTES, CPU, FEATURES) \
  {NAME, CPU, FEATURES, MACHINE_##MACHINE},
#include "jit/processor.def"
#undef PROCESSOR
};
static const TargetRow ptx_rows[] = {
#define GPU(CAPABILITY, TARGET, ISA) {"sm_" #TARGET, "sm_" #TARGET, "+ptx" #ISA, MACHINE_HERE},
#include "jit/gpu.def"
#undef GPU
};

static const TargetRow *find_row(const TargetRow *rows, size_t count, const char *cpu) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(rows[i].name, cpu)) return &rows[i];
  return NULL;
}

static bool create_machine(JitTarget *target, const char *triple, const char *cpu,
                           const char *features, Error *err) {
  char *why = NULL;
  LLVMTargetRef llvm_target;
  if (LLVMGetTargetFromTriple(triple, &llvm_target, &why)) {
    error_set(err, RG_ERROR_CODEGEN, "no code for %s: %s", triple, why);
    LLVMDisposeMessage(why);
    return false;
  }
  target->machine = LLVMCreateTargetMachine(
      llvm_target, triple, cpu, features,
      target->is_baseline ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault, LLVMRelocPIC,
      target->is_ptx ? LLVMCodeModelDefault : LLVMCodeModelSmall);
  return target->machine || error_set(err, RG_ERROR_CODEGEN, "no code for %s %s", triple, cpu);
}

/* Disables f16 instructions: LLVM before 22 swaps the operands of their masked comparisons without
 * swapping the predicate (llvm-project issue 159723). Computing in f32 gives the same results. */
static bool create_native(JitTarget *target, Error *err) {
  const char *without = MACHINE_HERE == MACHINE_X86_64 ? ",-avx512fp16" : "";
  char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
  size_t length = strlen(features);
  char *chosen = malloc(length + strlen(without) + 1);
  bool ok =
      chosen || error_set(err, RG_ERROR_MEMORY, "the host has no memory left for compiled code");
  if (ok) {
    memcpy(chosen, features, length);
    strcpy(chosen + length, without);
    ok = create_machine(target, triples[MACHINE_HERE], cpu, chosen, err);
  }
  free(chosen);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  return ok;
}

/* Puts the machine into the cache; disposes of it if the cache is full. */
static void cache_machine(JitCachedMachine *one) {
  for (int i = 0; one && i < MAX_CACHED; i++) {
    JitCachedMachine *none = NULL;
    if (atomic_compare_exchange_strong(&cached[i], &none, one)) one = NULL;
  }
  if (one) LLVMDisposeTargetMachine(one->machine);
  free(one);
}

/* Takes a machine for this processor out of the cache; NULL if there is none. */
static JitCachedMachine *take_cached(const JitTarget *target, const char *processor) {
  for (int i = 0; i < MAX_CACHED; i++) {
    JitCachedMachine *one = atomic_exchange(&cached[i], NULL);
    if (one && one->is_ptx == target->is_ptx && one->is_baseline == target->is_baseline &&
        !strcmp(one->processor, processor))
      return one;
    cache_machine(one);
  }
  return NULL;
}

static bool create(JitTarget *target, const char *processor, Error *err) {
  if (!target->is_ptx && !strcmp(processor, "native")) return create_native(target, err);
  const TargetRow *row = target->is_ptx
                             ? find_row(ptx_rows, sizeof ptx_rows / sizeof *ptx_rows, processor)
                             : find_row(host_rows, sizeof host_rows / sizeof *host_rows, processor);
  if (!row) return error_set(err, RG_ERROR_CODEGEN, "'%s' is not a supported processor", processor);
  target->of = row->machine;
  return create_machine(target, target->is_ptx ? "nvptx64-nvidia-cuda" : triples[row->machine],
                        row->cpu, row->features, err);
}

bool jit_target_create(JitTarget *target, RgTarget kind, const char *processor, bool is_baseline,
                       Error *err) {
  *target = (JitTarget){.of = MACHINE_HERE};
  llvm_initialize();
  target->is_ptx = kind == RG_TARGET_PTX;
  target->is_baseline = is_baseline && !target->is_ptx;
  target->cached = take_cached(target, processor);
  if (target->cached) {
    target->machine = target->cached->machine;
    target->of = target->cached->of;
    return true;
  }
  if (!create(target, processor, err)) return false;
  target->cached = strlen(processor) < PROCESSOR_BYTES ? malloc(sizeof *target->cached) : NULL;
  if (!target->cached) return true;
  *target->cached = (JitCachedMachine){.machine = target->machine,
                                       .of = target->of,
                                       .is_ptx = target->is_ptx,
                                       .is_baseline = target->is_baseline};
  snprintf(target->cached->processor, PROCESSOR_BYTES, "%s", processor);
  return true;
}

bool jit_target_estimates(const JitTarget *target) {
  char *cpu = LLVMGetTargetMachineCPU(target->machine),
       *features = LLVMGetTargetMachineFeatureString(target->machine);
  bool found = !target->is_ptx && (!strcmp(cpu, "x86-64-v4") || strstr(features, "+avx512vl"));
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  return found;
}

int jit_target_call_bytes(const JitTarget *target) {
  return target->of == MACHINE_AARCH64 ? 16 : 64;
}

void jit_target_destroy(JitTarget *target) {
  if (target->cached) cache_machine(target->cached);
  else if (target->machine) LLVMDisposeTargetMachine(target->machine);
  target->machine = NULL;
  target->cached = NULL;
}

void jit_target_apply(const JitTarget *target, LLVMModuleRef module) {
  char *triple = LLVMGetTargetMachineTriple(target->machine);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(target->machine);
  LLVMSetTarget(module, triple);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  LLVMDisposeMessage(triple);
}

LLVMMemoryBufferRef jit_emit(LlvmContext *llvm, LLVMModuleRef module, const JitTarget *target,
                             bool as_text, Error *err) {
  char *why = NULL;
  LLVMMemoryBufferRef out = NULL;
  LLVMCodeGenFileType kind = as_text || target->is_ptx ? LLVMAssemblyFile : LLVMObjectFile;
  if (LLVMTargetMachineEmitToMemoryBuffer(target->machine, module, kind, &why, &out)) {
    error_set(err, RG_ERROR_CODEGEN, "LLVM could not emit code: %.300s", why);
    LLVMDisposeMessage(why);
    return NULL;
  }
  if (!llvm->diagnostic[0]) return out;
  error_set(err, RG_ERROR_CODEGEN, "LLVM could not emit code: %s", llvm->diagnostic);
  LLVMDisposeMemoryBuffer(out);
  return NULL;
}
