/* path.h - the table of a path, which maps the indices of a level, step by step from the root, to
 * the memory of a cell. The layout fills one per SNode. The runtime's levels, host access and the
 * pass that lowers addresses read it; nothing else divides indices or adds offsets.
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
 * first goes through the list's slots to a chunk, the second, of the same SNode, to the element in
 * it. The step of an SNode on the path is steps[its depth]. An element is at
 *     place + component.offset + number * component.stride */
#ifndef RG_SNODE_PATH_H
#define RG_SNODE_PATH_H

#include "snode/snode.h"

typedef struct SNodeDigit {
  uint8_t axis;     /* 0..7 */
  uint8_t position; /* of the axis among the path's indices */
  /* the nearest step above that also divides the axis; -1: none, and the digit needs no modulo */
  int8_t above;
  int64_t size;   /* 0: no modulo; the digit is a coordinate of a hash */
  int64_t weight; /* the path's cells along the axis per cell of this step */
} SNodeDigit;

typedef struct SNodeStep {
  const SNode *node;
  SNodeKind kind;          /* the node's kind; DENSE in the second step of a list */
  uint64_t offset, stride; /* bytes */
  uint64_t cell_count;     /* cells of a container; of a list: chunks */
  uint64_t slots;          /* bytes into the container, if it has slots */
  uint64_t mask_offset;    /* bytes into the container, if it has mask bits */
  int manager;             /* the manager whose node this step enters, else -1 */
  int mask;                /* the mask that tells whether its cells are active, else -1 */
  int digit_count;
  SNodeDigit digits[SNODE_MAX_AXES];
  /* by position of an axis among the path's indices: */
  int8_t coordinate[SNODE_MAX_AXES]; /* among those of the step's level; -1: not an axis of it */
  int64_t weight[SNODE_MAX_AXES];    /* the path's cells along the axis per cell of this step */
} SNodeStep;

struct SNodePath {
  const SNode *node; /* the level at the path's end */
  int step_count;
  int node_step; /* step of the nearest node level, the last that enters a node; -1: none */
  /* step of the nearest sparse level, the last whose cells can be inactive; -1: none */
  int sparse_step;
  SNodeStep steps[];
};

/* Called by the layout, once offsets are known. NULL if out of memory. Free it with heap_free. */
SNodePath *snode_path_create(const SNode *node);

/* Do two steps divide indices in the same way? */
bool snode_has_same_digits(const SNodeStep *a, const SNodeStep *b);

/* The step of `node`, an SNode on the path to `below`. */
static inline const SNodeStep *snode_step(const SNode *node, const SNode *below) {
  return &below->path->steps[node->depth];
}
static inline const SNodeStep *snode_last_step(const SNode *node) {
  return &node->path->steps[node->path->step_count - 1];
}

#endif
