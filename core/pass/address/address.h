/* address.h - turns indices into an address: emits the walk along a tree's path, with all offsets
 * and strides.
 *
 *   root . pointer 32 (slots) . dense 8 . f32 at index i:
 *     root + 4 * (i / 8) -> slot -> node -> node + 4 * (i % 8)
 *   root . hash . dense 8 . f32:      table (floor(i / 8)) -> node -> node + 4 * (i mod 8)
 * Indices are assumed to be inside the shape (of `of`), so an axis's outermost digit needs no
 * modulo, and an index that no level divides further keeps its constant separate: neighbours share
 * one sum and differ in `imm`. */
#ifndef RG_PASS_ADDRESS_ADDRESS_H
#define RG_PASS_ADDRESS_ADDRESS_H

#include "ir/ir.h"
#include "snode/path.h"

typedef struct AddressIndex {
  IrInst *value;    /* NULL: 0 */
  int64_t constant; /* added to it */
} AddressIndex;

typedef struct AddressMask { /* a cell of a bitmasked SNode */
  IrInst *words, *cell;      /* of its container: the address; the cell's number */
} AddressMask;

typedef struct Address {
  IrBuilder *b;
  int tree;        /* kernel->trees */
  const SNode *of; /* the level of the indices: the walk goes along its path */
  int from;        /* the step in whose node the walk starts; -1: at the root */
  /* by position in of->level_axes; of one integer type, wide enough for sums */
  AddressIndex index[SNODE_MAX_AXES];
  bool is_private; /* see address_private */
  bool ensures;    /* activates the cells on the way; if false, only finds them */
  bool locks;      /* locks the list on the way, */
  IrInst *list;    /* namely this one */
  AddressMask masks[SNODE_MAX_DEPTH]; /* activated on the way, outermost first */
  int mask_count;
  IrInst *at;
  IrInst *node;    /* the last node on the way, or the root's container */
  int64_t pending; /* bytes to add to `at` */
} Address;

/* Begins a walk from the root for indices of level `of`; splits constants off sums where that is
 * exact. */
Address address_from_root(IrBuilder *b, int tree, const SNode *of, IrInst *const *indices);
/* Same, to a list: `indices` are those of a dynamic SNode's level without its own axis. */
Address address_to_list(IrBuilder *b, int tree, const SNode *dynamic, IrInst *const *indices,
                        bool ensures);
/* Redirects the walk to the worker's private copy of the node (or of the root's container, if there
 * is no node). Call it before the walk begins. */
void address_private(Address *a);
/* Begins a walk from a node of `from` to `of` below it; the caller fills `index` with positions in
 * the node. */
Address address_in_node(IrBuilder *b, int tree, const SNode *from, IrInst *node, const SNode *of);
/* The address of an element of a field of `of`. `place`: the field's offset if it is a launch
 * argument (IrField), else NULL. */
IrInst *address_element(Address *a, const IrField *field, IrInst *place);
/* The node of `node`, a node level on the path to `of`; in the private copy after
 * address_private. */
IrInst *address_node(Address *a, const SNode *node);
/* The operands of the runtime's functions on cells of the SNode (kind.h); returns how many. */
enum { ADDRESS_MAX_NAME = 1 + SNODE_MAX_AXES };
int address_name(Address *a, const SNode *node, IrInst *operands[ADDRESS_MAX_NAME]);

/* Are the indices inside the shape of `node`? NULL if they always are. */
IrInst *address_inside(IrBuilder *b, const SNode *node, IrInst *const *indices);
IrInst *address_list_inside(IrBuilder *b, const SNode *dynamic, IrInst *const *indices);

/* The address of an element of an array, and whether the indices are inside its shape.
 * `in_task`: false in the host region. `is_private`: in the running worker's private copy. */
IrInst *address_in_array(IrBuilder *b, bool in_task, const IrField *field, bool is_private,
                         IrInst *const *indices);
/* The value of a launch argument, or of a slot that the host region has set (a counted array's
 * address and extents). */
IrInst *address_slot(IrBuilder *b, bool in_task, int slot, Type type);
IrInst *address_extent(IrBuilder *b, bool in_task, const IrArray *array, int axis); /* i32, i64 */
Type address_extent_type(const IrArray *array);
int64_t address_least(const IrArray *array); /* a lower bound of every extent, */
int64_t address_most(const IrArray *array);  /* and an upper bound */
IrInst *address_inside_array(IrBuilder *b, bool in_task, const IrArray *array,
                             IrInst *const *indices);

/* -- steps of a walk, for kinds ---------------------------------------------------------------- */

/* The number of the indices' cell in a step's container. */
AddressIndex address_cell(Address *a, const SNodeStep *step);
/* The coordinate of a digit, before its modulo. */
AddressIndex address_coordinate(Address *a, const SNodeDigit *digit);
/* One inst for the sum, in its type or in 32 bits. */
IrInst *address_sum(Address *a, AddressIndex index);
IrInst *address_sum_i32(Address *a, AddressIndex index);
/* `at` + a number of cells of `stride` bytes each. */
void address_add_cells(Address *a, AddressIndex cell, uint64_t stride);
/* `at` as one inst. */
IrInst *address_flush(Address *a);
/* The quotient, rounded down; unsigned arithmetic suffices for an index that is never negative. */
IrInst *address_divide(IrBuilder *b, IrInst *index, int64_t by, bool may_be_negative);
/* The remainder of a non-negative index; NULL for a remainder by 1, which is 0. */
IrInst *address_modulo(IrBuilder *b, IrInst *index, int64_t by);

#endif
