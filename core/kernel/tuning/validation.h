/* validation.h - kernel:tune() by validation runs: runs all candidates of a kernel, one after the
 * other, on the same state. Everything that the kernel writes is saved first and restored after
 * each run. The best candidate is kept as in any tuning. Each run's outcome is compared with the
 * default's, so this also validates candidates: one whose outcome differs is excluded. Private to
 * this room. */
#ifndef RG_KERNEL_VALIDATION_H
#define RG_KERNEL_VALIDATION_H

#include "kernel/versions/versions.h"

/* The engine's launch must be filled for the version. Runs behave as launches, except that they
 * print nothing; the first failure is the error. */
bool validation_tune(Kernel *kernel, Version *version, const RgValue *values, Error *err);

#endif
