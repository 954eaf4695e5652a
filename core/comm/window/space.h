/* space.h - allocates places in a range of addresses, by first fit: every rank makes the same
 * requests in the same order, and so gets the same places without communication.
 *
 *     0      cuts[0]       cuts[1]    cuts[2]           cuts[3]            size
 *     | free  |    taken    |  free    |      taken      |      free        |
 *
 * Cuts are strictly increasing; the space after an even number of cuts is free. The search is
 * linear, as there are some hundreds of windows, not a million. One thread at a time. */
#ifndef RG_COMM_WINDOW_SPACE_H
#define RG_COMM_WINDOW_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"

typedef struct Space {
  Heap *heap;
  uint64_t size;
  uint64_t *cuts;
  int count, capacity;
} Space;

#define SPACE_NONE UINT64_MAX

void space_init(Space *space, Heap *heap, uint64_t size);
void space_deinit(Space *space);
/* Allocates the lowest free place at a multiple of `align` (a power of two); size_bytes is not 0.
 * SPACE_NONE if no place is large enough, or the host is out of memory. */
uint64_t space_allocate(Space *space, uint64_t size_bytes, uint64_t align);
/* Frees a place. False, without any effect, if a part of it is free, or the host is out of
 * memory. */
bool space_free(Space *space, uint64_t at, uint64_t size_bytes);

#endif
