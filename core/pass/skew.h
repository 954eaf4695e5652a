/* skew.h - a serial nest in which each cell waits for the one before it runs several rows at once.
 *
 *     for i { for j {                           row i      . . . . . 4 5
 *       x[i][j] = f(x[i][j - 1], ..)    =>      row i + 1  . . . 3 4 5      the same number: the
 *     } }                                       row i + 2  . 2 3 4 5        same turn
 *
 * The processor does not wait for a row while it can go on in another. A row follows the one before
 * at a distance of cells (the skew) at which it reads what it would have read: so elements that the
 * nest writes are read and written at i + constant and j + constant alone, and all results are the
 * same to the bit. */
#ifndef RG_PASS_SKEW_H
#define RG_PASS_SKEW_H

#include "pass/window.h"

/* Rewrites the nest of two numeric FORs, if it is one that waits. What it leaves needs no further
 * checks. */
bool skew_nest(const WindowPlace *at, IrInst *outer);

#endif
