/* address.h - which accesses could be to elements side by side: addresses, in bytes, as sums of
 * numbers, after the pass `places`. A guess: a mask that picks the cell of a leaf is looked
 * through, and so is the choice of a node, so elements may be elsewhere where a leaf ends between
 * them. Used to estimate lanes, and to emit them, where addresses are compared. */
#ifndef RG_IR_ADDRESS_H
#define RG_IR_ADDRESS_H

#include "ir/ir.h"

enum { IR_MOST_TERMS = 4 };

typedef struct IrTerm { const IrInst *value; int64_t factor; } IrTerm;

typedef struct IrAddress {
  const IrInst *access;      /* MEM_LOAD, MEM_UPDATE */
  int tree;
  IrTerm terms[IR_MOST_TERMS]; /* by their values' ids */
  int count;
  int64_t bytes;             /* and what is constant in it */
} IrAddress;

/* The type of the element that a MEM_LOAD, MEM_STORE or MEM_UPDATE accesses. */
Type ir_accessed(const IrInst *access);

/* Of a load or an update; false: it is not such a sum, or its elements are short. */
bool ir_address(const IrInst *access, IrAddress *out);

/* 0: accesses of one kind, whose addresses differ by a constant. Else an order. */
int64_t ir_address_compare(const IrAddress *a, const IrAddress *b);

/* `b` is the element after that of `a`. */
bool ir_address_follows(const IrAddress *a, const IrAddress *b);

/* Does it change by little from one iteration to the next? Made of parameters and constants by
 * sums, small factors and quotients. */
bool ir_index_is_even(const IrInst *index);

#endif
