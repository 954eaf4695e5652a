/* kind.h - what compiled kernels do to cells of each kind of SNode: a row of functions per kind, in kind_*.c. No other file
 * of the passes knows a kind; they go along a path (snode/path.h), or ask the nearest sparse level, and call these.
 *
 *     descend     from a container to a cell, on the way to an element               address.c
 *     name        what calls on one cell are given: a slot; words and a number; a node and coordinates    places.c, cells.c
 *     find ..     these calls */
#ifndef RG_PASS_KIND_H
#define RG_PASS_KIND_H

#include "pass/address.h"

typedef struct Lower Lower; /* places.h */

typedef struct Kind {
  /* From the container at a->at to the cell that the indices name; activates it where a->ensures. Its number in the
   * container; or 0, and a->at is its node. */
  AddressIndex (*descend)(Address *a, const SNodeStep *step);
  /* At the container; NULL: there are no calls on cells, they are always active, or elements of lists. */
  int (*name)(Address *a, const SNodeStep *step, IrInst **operands);
  RtEntry find, ensure, live, clear; /* on one cell */
  RtEntry count, clear_all;          /* on all cells of the level */
  bool is_safe_to_clear;             /* a cell that is not there; else its slot or bit may lie in the ambient */
  /* An op on cells of the level itself that the calls do not say; false: it is another one. NULL: there is none. */
  bool (*lower)(Lower *l, IrInst *inst);
} Kind;

extern const Kind kind_dense, kind_pointer, kind_bitmasked, kind_dynamic, kind_hash;

const Kind *kind_of(const SNode *node);
const Kind *kind_of_step(const SNodeStep *step);
/* The number that calls on the SNode name: its manager's, or its mask's. */
static inline int kind_number(const SNode *node) { return node->mask >= 0 ? node->mask : node->manager; }
/* The way through a node that the calls find or make. */
AddressIndex kind_descend_to_node(Address *a, const SNodeStep *step);

#endif
