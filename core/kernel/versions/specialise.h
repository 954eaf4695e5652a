/* specialise.h - specialised versions, in which arguments that have stayed the same are constants.
 *
 *     general version: launches watched --some numbers stayed the same--> compiled in a thread
 *         --> specialised version: runs while those numbers keep their values
 *
 * A captured number is an argument of each launch, so that changing it compiles nothing; as a
 * constant it unrolls loops and turns divisions into multiplications. Results are the same to the
 * bit (values.c). Private to this room. Decisions D-kernel-11, D-kernel-18. */
#ifndef RG_KERNEL_SPECIALISE_H
#define RG_KERNEL_SPECIALISE_H

#include "kernel/versions/versions.h"

/* The specialised version of `general` whose constants equal the numbers in the frame, if it exists
 * and the comparison selects it (tune/contest.h); the arguments are then copied to its own frame.
 * Otherwise NULL. */
Version *specialise_find(Version *general);
/* Will the launches of `version` probably run a specialised one soon? */
bool specialise_is_due(const Version *version);
/* Do the general and the specialised version still alternate, to compare their times? */
bool specialise_compares(const Version *general);
/* Call this after a launch of `ran`, which is `general` or its specialised version. `ticks` is 0
 * for a queued launch; */
void specialise_note(Version *general, const Version *ran, uint64_t ticks);
/* call this when its time is known. */
void specialise_note_time(Version *ran, uint64_t ticks);
/* The newest specialised version of `general`; NULL if none exists, or it was slower. */
const Version *specialise_current(const Version *general);
/* Call this when the compile of a specialised version has ended: it replaces the previous one, or
 * is dropped if it failed. */
void specialise_publish(Version *version);
/* Prints the constants of a specialised version, as in "n = 64, m = 3". */
void specialise_print(StrBuf *out, const Version *version);
/* Forgets the watched numbers of a general version, and its specialised version. */
void specialise_forget(Version *general);

#endif
