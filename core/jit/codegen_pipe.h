/* codegen_pipe.h - the framing of a request and its answer in the pipes of the program
 * `regolith-codegen`: a fixed head with lengths, then the parts, concatenated without padding or
 * NUL.
 *
 *     caller -> stdin:    RgPipeRequest   bytes  build_id  a processor per target
 *     stdout -> caller:   RgPipeResult    message  per target: object  llvm_text  asm_text
 *
 * A length of -1 means NULL. Both ends are of one build on one machine: numbers are in native byte
 * order. A truncated answer means that the helper crashed in LLVM. */
#ifndef RG_JIT_CODEGEN_PIPE_H
#define RG_JIT_CODEGEN_PIPE_H

#include <stdint.h>

#include "jit/codegen_abi.h"

#define RG_PIPE_MAGIC UINT64_C(0x3445504950474552) /* "REGPIPE4" in memory */

typedef struct RgPipeRequest {
  uint64_t magic;
  int64_t bytes_length;
  int64_t build_id_length;
  int64_t processor_lengths[RG_TARGET_COUNT];
  int32_t want_llvm, want_asm;
  int32_t instrument;
  int32_t threads;
  int32_t baseline, padding;
} RgPipeRequest;

typedef struct RgPipeResult {
  uint64_t magic;
  int64_t message_length;
  int64_t object_lengths[RG_TARGET_COUNT], llvm_lengths[RG_TARGET_COUNT],
      asm_lengths[RG_TARGET_COUNT];
  double parse_ms, emit_ms, optimize_ms, object_ms;
  int32_t ok;
  int32_t code;
} RgPipeResult;

#endif
