/* shadow.h - kernel:tune(): all candidates of a kernel, one after the other, on the same state:
 * what it writes is copied first, and put back after each run. What is then kept is a choice as any
 * other. Each run's outcome is compared with the default's, so that this is a check of the
 * candidates, too: one whose outcome differs is out. For the room alone. */
#ifndef RG_KERNEL_SHADOW_H
#define RG_KERNEL_SHADOW_H

#include "kernel/variant.h"

/* The engine's launch is filled for the variant. Runs end as they would in a launch, but for what
 * they say; the first that fails is the error. */
bool shadow_tune(Kernel *kernel, Variant *variant, const RgValue *values, Error *err);

#endif
