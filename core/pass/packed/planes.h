/* planes.h - bit-sliced numbers: the numbers of many elements as planes of bits. Plane k is a word
 * with bit k of each element's number.
 *
 *     numbers 3, 0, 2, 1 of elements 0 to 3      plane 0: 1001   plane 1: 1010   (element 0 first)
 *
 * Sums are ripple-carry adders; comparisons and choices are logic. A number has as many planes as
 * its largest value needs, so nothing wraps. A single bit that was added last is kept as the
 * carry-in of the next sum, which makes a sum of bits half as long. */
#ifndef RG_PASS_PACKED_PLANES_H
#define RG_PASS_PACKED_PLANES_H

#include "ir/ir.h"

enum { PLANES_MOST = 12, PLANES_MOST_INDEX = 6 };

/* A number per element, from `least` to `most`; if `least` is negative, the last plane is the sign.
 * Without a plane the number was not computed. */
typedef struct Sliced {
  int count;
  int64_t least, most;
  IrInst *planes[PLANES_MOST];
  IrInst *carry; /* a pending bit, to be added; NULL: none */
} Sliced;

typedef struct Planes {
  IrBuilder b;          /* where insts are added */
  IrInst *zero, *ones;  /* the words of all bits 0, and all 1 */
  const char *obstacle; /* why slicing fails; NULL: so far it does not */
} Planes;

/* Words are u32; emits the constants 0 and all ones. */
void planes_init(Planes *p, IrBuilder b);
/* Keeps the first obstacle; returns false. */
bool planes_fail(Planes *p, const char *obstacle);

/* -- logic, with constants folded -------------------------------------------------------------- */

IrInst *planes_and(Planes *p, IrInst *x, IrInst *y);
IrInst *planes_or(Planes *p, IrInst *x, IrInst *y);
IrInst *planes_xor(Planes *p, IrInst *x, IrInst *y);
IrInst *planes_not(Planes *p, IrInst *x);
/* The bits of `yes` where `which` is 1, else those of `no`. */
IrInst *planes_choose(Planes *p, IrInst *which, IrInst *yes, IrInst *no);

/* -- numbers; false: they are too large, which is the obstacle --------------------------------- */

Sliced planes_of_bit(IrInst *plane);
bool planes_of_constant(Planes *p, int64_t value, Sliced *out);
/* Adds a pending carry, since the planes are needed. */
void planes_add_pending(Planes *p, Sliced *x);

bool planes_add(Planes *p, Sliced *x, Sliced *y, Sliced *out);
bool planes_subtract(Planes *p, Sliced *x, Sliced *y, Sliced *out);
/* `by` is BAND, BOR or BXOR. */
bool planes_combine(Planes *p, IrOp by, Sliced *x, Sliced *y, Sliced *out);
/* values[n - x->least] for the number n, which has at most PLANES_MOST_INDEX planes. */
bool planes_look_up(Planes *p, const Sliced *x, const int64_t *values, Sliced *out);
bool planes_choose_number(Planes *p, IrInst *which, Sliced *yes, Sliced *no, Sliced *out);

/* -- words of bits, one per element ------------------------------------------------------------ */

IrInst *planes_is_less(Planes *p, Sliced *x, Sliced *y);
IrInst *planes_are_equal(Planes *p, Sliced *x, Sliced *y);
/* Which numbers are not 0, and which are positive. */
IrInst *planes_is_any(Planes *p, Sliced *x);
IrInst *planes_is_positive(Planes *p, Sliced *x);

#endif
