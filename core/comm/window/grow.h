/* grow.h - windows whose memory grows by pieces: sparse trees of a GPU, which grow in place while
 * peers have them mapped.
 *
 *     this rank's     | piece | piece | piece |  addresses without memory ..
 *     at its peers    | piece | piece |
 *                                     passed
 *
 * In each barrier a rank announces how many of its pieces are not mapped at its peers yet. If any
 * are left, rounds of collective calls follow; in each round a rank passes one piece on, as a file.
 * So peers see a tree's new memory after the barrier. If a round fails, it fails on all ranks, and
 * the next barrier begins again with the missing pieces. Private to this room. */
#ifndef RG_COMM_WINDOW_GROW_H
#define RG_COMM_WINDOW_GROW_H

#include "comm/window/window.h"

typedef struct Growth {
  int32_t passed; /* pieces of this rank that the whole team has mapped */
  int32_t held[]; /* by rank within the team: how many of its pieces are mapped here */
} Growth;

/* NULL if the host is out of memory. */
Growth *growth_create(Comm *comm);
bool windows_can_grow(const Comm *comm);
/* Pieces of this rank that have not been passed on yet. */
uint64_t windows_pending_pieces(const Comm *comm);
/* Together: passes on all pieces that are left on any rank. */
bool windows_grow(Comm *comm, Error *err);

#endif
