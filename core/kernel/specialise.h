/* specialise.h - variants in which numbers that stay the same are constants.
 *
 *     general variant: launches watched --some numbers stayed the same--> compiled in a thread
 *         --> special variant, run while those numbers are what they were; else the general one
 *
 * A captured number is an argument of each launch, so that changing it compiles nothing; as a
 * constant it unrolls loops and turns divisions into multiplications. Results are the same to the
 * bit (constants.c). For the room alone. */
#ifndef RG_KERNEL_SPECIALISE_H
#define RG_KERNEL_SPECIALISE_H

#include "kernel/variant.h"

/* -- constants.c: `slots` are a frame's; a set of the first 64 arguments has a bit for each ---- */
/* The arguments that can be constants without changing a result. */
uint64_t constants_possible(IrKernel *kernel);
void constants_take(IrKernel *kernel, uint64_t taken, const uint64_t *slots);

/* -- specialise.c ------------------------------------------------------------------------------ */
/* What a special variant was compiled with, or shall be. */
typedef struct Constants {
  uint64_t taken;
  const uint64_t *slots;
  const Variant *general;
} Constants;

/* The special variant of a general one if there is one whose numbers are those in `frame`, which is
 * the general's; then it has them in its own frame. Else NULL. */
Variant *special_find(Kernel *kernel, Variant *general);
/* After a launch of `ran`, the general variant or its special one: it took `ticks`, or, with 0, is
 * queued: */
void special_note(Kernel *kernel, Variant *general, const Variant *ran, uint64_t ticks);
/* .. and took `ticks`, as is known now. */
void special_took(Variant *ran, uint64_t ticks);
/* What runs instead of the variant, if something does; and what that was made with. */
const Variant *special_made(const Variant *general, Constants *constants);
/* "n = 64, m = 3" into `out`. */
void special_print(StrBuf *out, const Variant *general);
/* The general variant ends, or counts its values anew. */
void special_drop(Engine *engine, Variant *general);
/* The engine ends: waits for a compile that is under way. */
void special_end(Engine *engine);

#endif
