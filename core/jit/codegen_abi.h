/* codegen_abi.h - the one function of libregolith-codegen.so, found by dlsym as
 * "regolith_codegen". Canonical task bytes in; an object for each requested target out, or a
 * diagnostic. An object of the host is x86-64 ELF (functions `rg_host` and `rg_task_0..n`) or, of a
 * large kernel, an RgBundle of several; one of a GPU is PTX text with the same names. */
#ifndef RG_JIT_CODEGEN_ABI_H
#define RG_JIT_CODEGEN_ABI_H

#include <stdint.h>

typedef enum RgTarget { RG_TARGET_HOST, RG_TARGET_PTX, RG_TARGET_COUNT } RgTarget;

typedef struct RgCodegenRequest {
  const uint8_t *bytes; /* made by ir_write */
  int64_t length;
  const char *build_id; /* must equal the library's own */
  /* By target; NULL: no object for it. HOST: "native", "x86-64", "x86-64-v3", "x86-64-v4"; PTX:
   * "sm_75" .. */
  const char *processors[RG_TARGET_COUNT];
  int32_t want_llvm;  /* keep the optimised LLVM text */
  int32_t want_asm;   /* keep the assembly text */
  int32_t instrument; /* 0, 1 asan, 2 tsan */
  int32_t threads;    /* that may compile parts in parallel; 0, 1: only the caller's */
  int32_t baseline;   /* 1: baseline code: few optimisations, compiled quickly */
  /* where memory comes from, except LLVM's: as RgAllocator; NULL: the C library */
  void *(*resize)(void *data, void *memory, uint64_t old_bytes, uint64_t new_bytes);
  void *resize_data;
} RgCodegenRequest;

/* The objects follow the lengths, each at a multiple of 8 bytes from the bundle's begin. */
#define RG_BUNDLE_MAGIC UINT64_C(0x31444E5542454752) /* "RGEBUND1" in memory */
typedef struct RgBundle {
  uint64_t magic;
  int64_t count;
  int64_t lengths[];
} RgBundle;

typedef struct RgCodegenObject {
  uint8_t *bytes; /* NULL: not requested */
  int64_t length;
  /* In place of bytes, of a module that was linked into the program: `rg_host`, `rg_task_0` ..;
   * the compiler never sets it. */
  void *const *functions;
  char *llvm_text, *asm_text; /* if requested, else NULL */
} RgCodegenObject;

typedef struct RgCodegenResult {
  int32_t ok;
  char *message; /* if not ok: one sentence */
  int32_t code;  /* if not ok: an ErrorCode */
  RgCodegenObject objects[RG_TARGET_COUNT];
  double parse_ms, emit_ms, optimize_ms, object_ms; /* sums over all parts, which may overlap */
} RgCodegenResult;

/* The caller frees the result by regolith_codegen_free. Any thread; nothing is kept between calls
 * except LLVM's own targets. */
typedef RgCodegenResult *RgCodegenFunction(const RgCodegenRequest *request);
typedef void RgCodegenFreeFunction(RgCodegenResult *result);
RgCodegenResult *regolith_codegen(const RgCodegenRequest *request);
void regolith_codegen_free(RgCodegenResult *result);
const char *regolith_codegen_build_id(void);

#endif
