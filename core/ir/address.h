/* address.h - guesses which accesses are to adjacent elements: addresses, in bytes, as sums, after
 * the pass `lower_places`. It is only a guess, since it ignores the mask that selects the cell of a
 * leaf, and the selection of a node: elements are not adjacent if a leaf ends between them. The
 * pass `lanes` uses it for estimates; vectorised code, which compares the addresses, for its
 * layout. Decision D-codegen-04. */
#ifndef RG_IR_ADDRESS_H
#define RG_IR_ADDRESS_H

#include "ir/access.h"

enum { IR_MAX_TERMS = 4 };

typedef struct IrTerm {
  const IrInst *value;
  int64_t factor;
} IrTerm;

typedef struct IrAddress {
  const IrInst *access; /* MEM_LOAD, MEM_UPDATE */
  int tree;
  IrTerm terms[IR_MAX_TERMS]; /* sorted by their values' ids */
  int count;
  int64_t bytes; /* the constant part of the sum */
} IrAddress;

/* The address of a load or an update as a sum; false if it is not one, or if the elements are
 * narrow. */
bool ir_address(const IrInst *access, IrAddress *out);

/* A total order; 0 if the accesses are of one kind and their addresses differ by a constant. */
int64_t ir_address_compare(const IrAddress *a, const IrAddress *b);

/* Is `b` the element after that of `a`? */
bool ir_address_follows(const IrAddress *a, const IrAddress *b);

/* Does the index change by little from one iteration to the next: is it made of parameters and
 * constants by sums, small factors and quotients? */
bool ir_index_is_smooth(const IrInst *index);

#endif
