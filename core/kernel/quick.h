/* quick.h - baseline ("quick") code, compiled fast with few optimisations, for the first
 * milliseconds that a large kernel runs; optimised ("full") code then replaces it.
 *
 *     first launch --not on disk, large, no long loop--> baseline code
 *         --it has run for some milliseconds in all--> optimised code, from the next chunk on
 *
 * Both are made from the same canonical bytes, so frames, tasks and messages are the same, and
 * results are the same to the bit (with fast_math, as far as that promises it). Baseline code is
 * not cached on disk; a note there makes the next process compile optimised code at once. Private
 * to this room. */
#ifndef RG_KERNEL_QUICK_H
#define RG_KERNEL_QUICK_H

#include "kernel/compile.h"

/* Makes baseline code for the variant from the compile's canonical bytes, if that pays; false if
 * not. */
bool quick_begin(Compile *compile, Variant *variant);
/* Before a launch of the variant, which is filled in: switches to optimised code if it is due; else
 * the device requests it when it is. */
void quick_prepare(Engine *engine, Variant *variant, DeviceLaunch *launch);
/* After a launch. False if its time is not that of optimised code. */
bool quick_note(Variant *variant, const DeviceLaunch *launch);
/* Makes optimised code at once. False with err on failure; launches then continue with baseline
 * code. */
bool quick_end(Variant *variant, Error *err);
void quick_drop(Engine *engine, Variant *variant);

#endif
