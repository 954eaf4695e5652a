/* address.h - from indices to an address: the walk along a tree's path as insts, every offset and stride in them.
 *
 *   root . pointer 32 (slots) . dense 8 . f32 at index i:
 *     root + 4 * (i / 8) -> slot -> node -> node + 4 * (i % 8)
 *   root . hash . dense 8 . f32:      table (floor(i / 8)) -> node -> node + 4 * (i mod 8)
 *
 * Indices are believed to be inside the shape (of `of`), so an axis' outermost digit needs no modulo, and an index
 * that no level divides further keeps its constant apart: neighbours share one sum and differ in `imm`. */
#ifndef RG_PASS_ADDRESS_H
#define RG_PASS_ADDRESS_H

#include "ir/ir.h"

typedef struct AddressIndex {
  IrInst *value;          /* NULL: 0 */
  int64_t constant;       /* added to it */
} AddressIndex;

typedef struct AddressMask { /* a cell of a bitmasked SNode */
  IrInst *words, *cell;   /* of its container: the address; the cell's number */
} AddressMask;

typedef struct Address {
  IrBuilder *b;
  int tree;               /* kernel->trees */
  const SNode *from;      /* NULL: the walk starts at the root; else at a node of this pointer SNode */
  const SNode *of;        /* the level that the indices are of */
  AddressIndex index[SNODE_MAX_AXES]; /* by position in of->level_axes; of one integer type, wide enough for sums */
  bool own;               /* see address_own */
  bool ensures;           /* cells on the way are activated, else found */
  bool locks;             /* a list on the way is locked, */
  IrInst *list;           /* and this one it is */
  AddressMask masks[SNODE_MAX_DEPTH]; /* activated on the way, the outermost first */
  int mask_count;
  IrInst *at;
  IrInst *node;           /* the last node on the way, or the root's container */
  int64_t pending;        /* bytes to add to `at` */
} Address;

/* A walk from the root for indices of level `of`; constants of sums are taken apart where that is exact. */
Address address_from_root(IrBuilder *b, int tree, const SNode *of, IrInst *const *indices);
/* Said before the walk: it leads to the worker's own copy of the node, or of the root's container where there is none. */
void address_own(Address *a);
/* A walk from a node of `from` to `of` below it; the caller fills `index` with positions in the node. */
Address address_in_node(IrBuilder *b, int tree, const SNode *from, IrInst *node, const SNode *of);
/* The address of an element of the field `component` of `of`. */
IrInst *address_element(Address *a, int component);
/* The address of the slot of `pointer`, an SNode on the path to `of`. */
IrInst *address_slot(Address *a, const SNode *pointer);
/* The operands of an op on a cell of `hash`, an SNode on the path to `of`; returns their count. */
int address_key(Address *a, const SNode *hash, IrInst *operands[1 + SNODE_MAX_AXES]);
/* The list of a dynamic SNode: `indices` are those of its level without its own axis. */
Address address_list(IrBuilder *b, int tree, const SNode *dynamic, IrInst *const *indices, bool ensures);
/* Node and address of element `index` (i32) of a list, which is there. */
IrInst *address_list_node(IrBuilder *b, int tree, const SNode *dynamic, IrInst *list, IrInst *index);
/* The node of element `index` as well, which activates; the list is locked from there on where `locks`. */
IrInst *address_list_ensure(IrBuilder *b, int tree, const SNode *dynamic, IrInst *list,
                            IrInst *index, bool locks);
IrInst *address_list_element(IrBuilder *b, const SNode *dynamic, IrInst *node, IrInst *index, int component);

/* The words and number of the cell of `masked`, a bitmasked SNode on the path to `of`. */
AddressMask address_mask(Address *a, const SNode *masked);

/* Are the indices inside the shape of `node`? NULL: always. */
IrInst *address_inside(IrBuilder *b, const SNode *node, IrInst *const *indices);
IrInst *address_list_inside(IrBuilder *b, const SNode *dynamic, IrInst *const *indices);

/* ptr + index * stride + bytes; index may be NULL. */
IrInst *address_offset(IrBuilder *b, IrInst *ptr, IrInst *index, int64_t stride, int64_t bytes);

#endif
