/* address.h - from indices to an address: the walk along a tree's path as insts, with all offsets
 * and strides.
 *
 *   root . pointer 32 (slots) . dense 8 . f32 at index i:
 *     root + 4 * (i / 8) -> slot -> node -> node + 4 * (i % 8)
 *   root . hash . dense 8 . f32:      table (floor(i / 8)) -> node -> node + 4 * (i mod 8)
 * Indices are assumed to be inside the shape (of `of`), so an axis's outermost digit needs no
 * modulo, and an index that no level divides further keeps its constant separate: neighbours share
 * one sum and differ in `imm`. */
#ifndef RG_PASS_ADDRESS_H
#define RG_PASS_ADDRESS_H

#include "ir/ir.h"
#include "snode/path.h"

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
  const SNode *of;        /* the level of the indices: the walk goes along its path */
  int from;               /* the step in whose node the walk starts; -1: at the root */
  AddressIndex index[SNODE_MAX_AXES]; /* by position in of->level_axes; of one integer type, wide
                                       * enough for sums */
  bool is_private;        /* see address_private */
  bool ensures;           /* cells on the way are activated, else found */
  bool locks;             /* a list on the way is locked, */
  IrInst *list;           /* namely this one */
  AddressMask masks[SNODE_MAX_DEPTH]; /* activated on the way, outermost first */
  int mask_count;
  IrInst *at;
  IrInst *node;           /* the last node on the way, or the root's container */
  int64_t pending;        /* bytes to add to `at` */
} Address;

/* A walk from the root for indices of level `of`; constants of sums are split off where that is
 * exact. */
Address address_from_root(IrBuilder *b, int tree, const SNode *of, IrInst *const *indices);
/* The same to a list: `indices` are those of the level of a dynamic SNode without its own axis. */
Address address_to_list(IrBuilder *b, int tree, const SNode *dynamic, IrInst *const *indices,
                        bool ensures);
/* Said before the walk: it leads to the worker's private copy of the node, or of the root's
 * container where there is none. */
void address_private(Address *a);
/* A walk from a node of `from` to `of` below it; the caller fills `index` with positions in the
 * node. */
Address address_in_node(IrBuilder *b, int tree, const SNode *from, IrInst *node, const SNode *of);
/* The address of an element of a field of `of`. `place`: its field's offset, where a launch says
 * that (IrField), else NULL. */
IrInst *address_element(Address *a, const IrField *field, IrInst *place);
/* The address of the container of `node`, an SNode on the path to `of`. */
IrInst *address_container(Address *a, const SNode *node);
/* The node of `node`, a node level on the path to `of`; in the private copy if that was said. */
IrInst *address_node(Address *a, const SNode *node);
/* The operands of the runtime's functions on cells of the SNode (kind.h); returns how many. */
enum { ADDRESS_MAX_NAME = 1 + SNODE_MAX_AXES };
int address_name(Address *a, const SNode *node, IrInst *operands[ADDRESS_MAX_NAME]);

/* Are the indices inside the shape of `node`? NULL: always. */
IrInst *address_inside(IrBuilder *b, const SNode *node, IrInst *const *indices);
IrInst *address_list_inside(IrBuilder *b, const SNode *dynamic, IrInst *const *indices);

/* array.c: the address of an element of an array, and are the indices inside its shape? In a task,
 * or in the host region. is_private: in the running worker's private copy. */
IrInst *address_in_array(IrBuilder *b, bool in_task, const IrField *field, bool is_private,
                         IrInst *const *indices);
/* A launch argument, or what the host region has set: of a counted one address and extents. */
IrInst *address_slot(IrBuilder *b, bool in_task, int slot, Type type);
IrInst *address_extent(IrBuilder *b, bool in_task, const IrArray *array, int axis); /* i32, i64 */
Type address_extent_type(const IrArray *array);
int64_t address_least(const IrArray *array); /* what every extent of it has at least, */
int64_t address_most(const IrArray *array);  /* and what none exceeds */
IrInst *address_inside_array(IrBuilder *b, bool in_task, const IrArray *array,
                             IrInst *const *indices);

/* base + constant, if nothing can have wrapped for an index inside 0 .. size - 1; as i64. */
AddressIndex address_take_apart(IrBuilder *b, IrInst *index, int64_t size);

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
/* ptr + index * stride + bytes; index may be NULL. */
IrInst *address_offset(IrBuilder *b, IrInst *ptr, IrInst *index, int64_t stride, int64_t bytes);
/* Quotient and remainder of a non-negative index; a remainder by 1 is NULL: 0. */
IrInst *address_divide(IrBuilder *b, IrInst *index, int64_t by);
IrInst *address_modulo(IrBuilder *b, IrInst *index, int64_t by);

#endif
