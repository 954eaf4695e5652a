/* baseline.h - baseline code, compiled fast with few optimisations, for the first milliseconds that
 * a large kernel runs; optimised code then replaces it.
 *
 *     first launch --code not on disk, large, no long loop--> baseline code
 *         --it has run for some milliseconds in all--> optimised code, from the next chunk on
 *
 * Both are made from the same canonical bytes and share one compiled kernel, so frames, tasks and
 * messages are the same, and results are the same to the bit (with fast_math, as far as that
 * promises it). Baseline code is not cached on disk; a note there makes the next process begin with
 * optimised code. Private to this room. */
#ifndef RG_KERNEL_BASELINE_H
#define RG_KERNEL_BASELINE_H

#include "kernel/compile/compile.h"

/* May a kernel that is compiled for a launch begin with baseline code, if it is large? */
bool baseline_is_possible(const Compile *compile);
/* Makes baseline code for the version from the compile's canonical bytes, if that is
 * profitable; otherwise false. */
bool baseline_begin(Compile *compile, Version *version);
/* The version to run instead of a baseline version: optimised code if that is due. */
Version *baseline_choose(Version *version);
/* Call this before a launch of the version, which is filled in: lets the device request optimised
 * code during the launch, when it is due. */
void baseline_prepare(Version *version, DeviceLaunch *launch);
/* Call this after a launch. False if its time is not that of optimised code. */
bool baseline_note(Version *version, const DeviceLaunch *launch);
/* The optimised version of a baseline version; other versions are returned as they are. NULL with
 * err on failure; launches then continue with baseline code. */
Version *baseline_end(Version *version, Error *err);

#endif
