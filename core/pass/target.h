/* target.h - the machine that runs a kernel, as far as passes know it: the kind, by which the
 * pipeline chooses passes (pass.def), and capabilities, by which a pass decides (target.def). A
 * pass never asks for the kind. */
#ifndef RG_PASS_TARGET_H
#define RG_PASS_TARGET_H

#include <stdbool.h>

typedef enum TargetKind { TARGET_CPU = 1, TARGET_GPU = 2, TARGET_ALL = 3 } TargetKind; /* a set */

typedef struct Target {
  TargetKind kind; /* CPU or GPU */
#define CAPABILITY(NAME, CPU, GPU, TEXT) bool NAME;
#include "pass/target.def"
#undef CAPABILITY
} Target;

extern const Target target_cpu, target_gpu;

#endif
