/* grow.h - windows whose memory comes by pieces: sparse trees of a GPU, which grow where they are
 * while peers have them mapped.
 *
 *     this rank's     | piece | piece | piece |  addresses without memory ..
 *     at its peers    | piece | piece |
 *                                     passed
 *
 * In each barrier a rank shows how many of its pieces its peers do not have. If any rank has some,
 * all meet in rounds, in each of which a rank passes one of them on, as a file, until none is left.
 * So what a tree grew by is there after the barrier. Where a round fails it fails on all ranks, and
 * the next barrier begins again with what not all of them have. For the room alone. */
#ifndef RG_COMM_GROW_H
#define RG_COMM_GROW_H

#include "comm/window.h"

typedef struct Growth {
  int32_t passed;             /* pieces of this rank that all of the team have */
  int32_t held[];             /* of the team's ranks, by place: pieces that are mapped here */
} Growth;

/* NULL: the host has no memory left. */
Growth *growth_create(Comm *comm);
bool windows_can_grow(const Comm *comm);
/* Pieces of this rank that are to be passed on. */
uint64_t windows_left(const Comm *comm);
/* Together: all of what all ranks have left. */
bool windows_grow(Comm *comm, Error *err);

#endif
