/* path.h - the table of a path: how the indices of a level lead from the root to the memory of a
 * cell. The layout fills one per SNode. The runtime's levels, host access and the pass that makes
 * addresses read it; nothing else divides indices or adds offsets.
 *
 *     root{ pointer "i" 32 { f32, dense "i" 8 { f32 } } }     to the dense cells, i in 0..255:
 *
 *     step  kind      offset  stride  cells  digits
 *      0    root         0       0      1    -
 *      1    pointer      0       0     32    i / 8              -> node
 *      2    dense       32       0      8    i mod 8
 *
 * A step goes from the cell selected by the step above into this SNode's container, and selects a
 * cell of it:
 *     container = place of the cell above + offset + number of the cell above * stride
 *     number    = the digits combined, the last fastest; digit = floor(index / weight) mod size
 * If cells are in nodes, their place is the node and their number 0. A list takes two steps: the
 * first leads by the list's slots to a chunk, the second, of the same SNode, to the element in it.
 * Steps count by depth: that of an SNode on the path is steps[its depth]. An element is at
 *     place + component.offset + number * component.stride */
#ifndef RG_SNODE_PATH_H
#define RG_SNODE_PATH_H

#include "snode/snode.h"

typedef struct SNodeDigit {
  uint8_t axis;         /* 0..7 */
  uint8_t position;     /* of the axis among the path's indices */
  int8_t above;         /* the nearest step above that divides the axis too; -1: none, and then the
                         * digit needs no modulo */
  int64_t size;         /* 0: no modulo at all, the digit is a coordinate (of a hash) */
  int64_t weight;       /* the path's cells along the axis per cell of this step */
} SNodeDigit;

typedef struct SNodeStep {
  const SNode *node;
  SNodeKind kind;       /* the node's; the second step of a list goes through a dense container */
  uint64_t offset, stride; /* bytes */
  uint64_t cell_count;  /* cells of a container; of a list: chunks */
  uint64_t slots;       /* bytes into the container, where there are slots */
  uint64_t mask_offset; /* bytes into the container, where there are bits */
  int manager;          /* that this step leads into a node of, else -1 */
  int mask;             /* number of the bits that say whether its cells are active, else -1 */
  int digit_count;
  SNodeDigit digits[SNODE_MAX_AXES];
  /* by position of an axis among the path's indices: */
  int8_t coordinate[SNODE_MAX_AXES]; /* among those of the step's level; -1: the level lacks it */
  int64_t weight[SNODE_MAX_AXES];    /* the path's cells along the axis per cell of this step */
} SNodeStep;

struct SNodePath {
  const SNode *node;    /* the level that it leads to */
  int step_count;
  int node_step;        /* of the nearest node level, the last that leads into a node; -1: none */
  int sparse_step;      /* of the nearest sparse level, the last whose cells can be inactive; or
                         * -1 */
  SNodeStep steps[];
};

/* For the layout, once offsets are known. NULL: the heap has no memory. Free with heap_free. */
SNodePath *snode_path_create(const SNode *node);

/* Do two steps divide indices alike? */
bool snode_has_same_digits(const SNodeStep *a, const SNodeStep *b);

/* The step of `node`, an SNode on the path to `below`. */
static inline const SNodeStep *snode_step(const SNode *node, const SNode *below) {
  return &below->path->steps[node->depth];
}
static inline const SNodeStep *snode_last_step(const SNode *node) {
  return &node->path->steps[node->path->step_count - 1];
}

#endif
