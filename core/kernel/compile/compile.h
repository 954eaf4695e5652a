/* compile.h - the state of one compile, shared by compile.c, which runs it, compiled.c, which keeps
 * its result, and texts.c, which repeats some of its stages when a user requests a text. */
#ifndef RG_KERNEL_COMPILE_H
#define RG_KERNEL_COMPILE_H

#include "kernel/compile/values.h"
#include "kernel/versions/versions.h"

/* The stages of a compile; the comments name what each leaves. */
typedef enum CompileStage {
  STAGE_NONE,
  STAGE_TYPES, /* sema.typed */
  STAGE_IR,    /* sema.kernel */
  STAGE_LAST   /* its tasks, or `lua` */
} CompileStage;

typedef struct Compile {
  Kernel *kernel;
  const RgValue *values;
  const SemaValue *given; /* the same values, as sema reads them */
  int32_t value_count;
  bool is_repeated; /* for a text or for other code: nothing is dumped */
  CompileWhy why;
  bool explains; /* record notes about accesses */
  CompileWay way;
  const char *gpu; /* for a text or a module: compile for this GPU; NULL: for the device */
  /* for a module: compile for this processor, with vectors of this width */
  const char *host;
  int32_t host_vector_bytes;
  /* the compiled kernel whose trees, arguments and chunks this one must have, as its code is an
   * alternative to that; NULL: none */
  const CompiledKernel *base;
  bool is_specialised; /* long bodies are vectorised, too */
  Constants constants; /* arguments that become constants */
  Scratch scratch;
  SemaOutput sema;
  SemaRequests requests;
  IrBytes bytes;
  IrTask **scalar_tasks; /* by number: the task of baseline code; NULL: the kernel's own */
  const char *lua;       /* arch "lua": the code to run */
  double step_ms[STEP_COUNT];
  bool is_from_cache; /* the code came from the cache on disk */
} Compile;

/* The canonical bytes of baseline code, after the last stage of a compile for a launch that may
 * begin with it (baseline_is_possible). */
IrBytes compile_scalar_bytes(Compile *compile);

/* Runs the stages up to `last`, starting from `given`, in the compile's scratch. */
bool compile_run(Compile *compile, CompileStage last, Error *err);
/* After STAGE_IR: replaces the kernel by the derivative that is to be compiled. */
bool compile_derive(Compile *compile, Error *err);

/* Compiles the tasks for `gpu` to PTX, after the last stage; NULL with err. */
RgCodegenResult *compile_for_gpu(Compile *compile, Error *err);

/* Compiles `compile->base` once more, for `compile->host` or `compile->gpu`. *bytes, as
 * compiled_write makes them, are in `scratch`. */
bool compile_to_ship(Compile *compile, Scratch *scratch, CompiledBytes *bytes, Error *err);

/* texts.c: prints a compile that has reached the text's stage, in its scratch. */
const char *text_name(TextKind text);
const char *text_print(Compile *compile, TextKind text);

/* texts.c: the text of kernel:explain(), and its warnings, which are shown once per kernel. */
void explain_print(StrBuf *out, const Source *source, const IrKernel *kernel);
/* Adds notes on what the device's own compiler made of the version's tasks, which are the
 * compile's. */
void explain_code(const Compile *compile, const Version *version);
void explain_warn(Kernel *kernel, const IrKernel *ir);

/* values.c: which of the wanted arguments can become constants without changing a result, and are
 * worth it. Sets have a bit for each of the first COMPILE_MOST_CONSTANTS arguments; `slots` is a
 * frame. */
enum { COMPILE_MOST_CONSTANTS = 64 };
uint64_t constants_possible(IrKernel *kernel, uint64_t wanted, const uint64_t *slots);
/* Is it a float that is a power of two? Others are never constants. */
bool constants_is_power(Type type, const uint64_t *slot);
void constants_take(IrKernel *kernel, uint64_t taken, const uint64_t *slots);

/* peers.c: checks that the kernel does not write read-only memory of other ranks. */
bool compile_check_peers(const Compile *compile, Error *err);
/* Should each step be checked? A debug build always does so, others with RG_VERIFY=1. */
bool compile_verifies(void);
/* compiled.c: the result of a compile; NULL with err. */
CompiledKernel *compiled_make(Compile *compile, Error *err);
/* tasks.c: its tasks and effects; below a guard. */
void compiled_fill_tasks(const Compile *compile, CompiledKernel *compiled);
/* The index of the value that an argument is read from. */
static inline int32_t compile_value(const Compile *compile, SemaArg from) {
  return from.index + (from.is_parameter ? compile->kernel->paths.count : 0);
}

/* A general version for the pattern in kernel->words; NULL with err. With COMPILE_IN_BACKGROUND a
 * thread may still be making its code. */
Version *version_compile(Kernel *kernel, const RgValue *values, int32_t value_count, int word_count,
                         CompileWhy why, Error *err);
/* Compiles another version of `base` up to canonical bytes. False if it cannot be made: to
 * specialise it, as no constant is possible and it is not is_long either, or as a fixed order is
 * promised and this code's order would differ; to try it, as the code would be the same. */
bool compile_other(Compile *compile);
RgCodegenRequest compile_request(const Engine *engine, const uint8_t *bytes, int64_t length);
/* Compiles canonical bytes; opens the codegen library if necessary. NULL with err. */
RgCodegenResult *compile_bytes(Engine *engine, const uint8_t *bytes, int64_t length,
                               bool wants_texts, Error *err);
/* Makes baseline code (baseline.h); NULL on failure. */
RgCodegenResult *compile_baseline(Compile *compile, const RgCodegenRequest *request);
/* Loads what codegen made, and stores it on disk. NULL with err if it cannot be loaded. The times
 * are added to `step_ms`, which may be NULL. */
DeviceCode *compile_load(Engine *engine, const CompiledKernel *compiled,
                         const RgCodegenRequest *request, const RgCodegenResult *result,
                         double *step_ms, Error *err);
DeviceCode *compile_find(Compile *compile); /* looks for the code on disk; NULL: not there */
/* Adds the times of codegen's steps to the engine's. */
void compile_charge(Engine *engine, const RgCodegenResult *result);

#endif
