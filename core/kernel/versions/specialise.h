/* specialise.h - specialised versions, in which arguments that have stayed the same are constants.
 *
 *     general version: launches watched --some numbers stayed the same--> compiled in a thread
 *         --> specialised version, run while those numbers keep their values; otherwise the general
 * one
 *
 * A captured number is an argument of each launch, so that changing it compiles nothing; as a
 * constant it unrolls loops and turns divisions into multiplications. Results are the same to the
 * bit (values.c). Private to this room. Decisions D-kernel-11, D-kernel-18. */
#ifndef RG_KERNEL_SPECIALISE_H
#define RG_KERNEL_SPECIALISE_H

#include "kernel/versions/versions.h"

/* The specialised version of `general` if there is one whose constants equal the numbers in the
 * general's frame, and the comparison selects it (tune/contest.h); it then has the arguments in its
 * own frame. Otherwise NULL. */
Version *specialise_find(Version *general);
/* Will the launches of `version` probably run a specialised one soon? */
bool specialise_is_due(const Version *version);
/* Do the two still alternate, so that launches are compared by their time? */
bool specialise_compares(const Version *general);
/* Call this after a launch of `ran`, the general version or its specialised one: it took `ticks`,
 * or, if 0, is queued; */
void specialise_note(Version *general, const Version *ran, uint64_t ticks);
/* .. and this when the time of a queued launch is known. */
void specialise_took(Version *ran, uint64_t ticks);
/* The newest specialised version of `general`; NULL: none, or it was slower. */
const Version *specialise_made(const Version *general);
/* The compile of a specialised version has ended: it replaces the previous one, or is dropped. */
void specialise_publish(Version *version);
/* Prints the constants of a specialised version, as in "n = 64, m = 3". */
void specialise_print(StrBuf *out, const Version *version);
/* Forgets what was watched of a general version, and which specialised one it has. */
void specialise_forget(Version *general);

#endif
