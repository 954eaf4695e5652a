/* quick.h - code made in a hurry, for the first milliseconds that a large kernel runs.
 *
 *     first launch --not on disk, large, no long loop--> quick code
 *         --it has run for some milliseconds in all--> full code, from the next chunk on
 *
 * Both are made from the same canonical bytes, so frames, tasks and messages are the same, and
 * results are the same to the bit; with fast_math as far as that promises. Quick code is not on
 * disk: the kernel's second process finds a note there, and makes full code at once. For the room
 * alone. */
#ifndef RG_KERNEL_QUICK_H
#define RG_KERNEL_QUICK_H

#include "kernel/compile.h"

/* Makes quick code for the variant of a compile, whose canonical bytes are there, if that pays.
 * False: it has no code. */
bool quick_begin(Compile *compile, Variant *variant);
/* Before a launch of the variant, whose launch is filled in: full code, if it is time for that;
 * else the device asks for it when it is. */
void quick_prepare(Engine *engine, Variant *variant, DeviceLaunch *launch);
/* After it. False: its time is not that of full code. */
bool quick_note(Variant *variant, const DeviceLaunch *launch);
/* Full code, at once. False: it cannot be made, and quick code still serves launches. */
bool quick_end(Variant *variant, Error *err);
void quick_drop(Engine *engine, Variant *variant);

#endif
