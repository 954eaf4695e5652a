/* specialise.h - specialised ("special") variants, in which arguments that have stayed the same are
 * constants.
 *
 *     general variant: launches watched --some numbers stayed the same--> compiled in a thread
 *         --> special variant, run while those numbers keep their values; else the general one
 *
 * A captured number is an argument of each launch, so that changing it compiles nothing; as a
 * constant it unrolls loops and turns divisions into multiplications. Results are the same to the
 * bit (constants.c). Private to this room. Decision D-pass-09. */
#ifndef RG_KERNEL_SPECIALISE_H
#define RG_KERNEL_SPECIALISE_H

#include "kernel/variant.h"

/* -- constants.c: a set has a bit for each of the first 64 arguments; `redundant_slots` is a frame
 * ------- */
/* The set of arguments that can become constants without changing a result. */
uint64_t constants_possible(IrKernel *kernel);
void constants_take(IrKernel *kernel, uint64_t taken, const uint64_t *slots);

/* -- specialise.c ------------------------------------------------------------------------------ */
/* What a special variant is compiled with. */
typedef struct Constants {
  uint64_t taken;
  const uint64_t *slots;
  const Variant *general;
} Constants;

/* The special variant of `general` if there is one whose constants equal the numbers in the
 * general's frame; it then has the arguments in its own frame. Else NULL. */
Variant *special_find(Kernel *kernel, Variant *general);
/* Call this after a launch of `ran`, the general variant or its special one: it took `ticks`, or,
 * if 0, is queued; */
void special_note(Kernel *kernel, Variant *general, const Variant *ran, uint64_t ticks);
/* .. and this when the time of a queued launch is known. */
void special_took(Variant *ran, uint64_t ticks);
/* The variant that runs instead of `general`, if there is one, and its constants. */
const Variant *special_made(const Variant *general, Constants *constants);
/* Prints the constants, as in "n = 64, m = 3". */
void special_print(StrBuf *out, const Variant *general);
/* The general variant is freed, or watches its values again from the start. */
void special_drop(Engine *engine, Variant *general);
/* When the engine ends: waits for a running compile. */
void special_end(Engine *engine);

#endif
