/* leaf.h - shared by the files of the pass `leaf`, which turns a task over cells into one over
 * leaves. */
#ifndef RG_PASS_TREES_LEAF_H
#define RG_PASS_TREES_LEAF_H

#include "pass/analysis/effects.h"
#include "pass/analysis/leaf_shape.h"

enum { LEAF_CROSSED_AXES = 4, LEAF_NEARS = 96 };

typedef struct LeafAccess { /* a PLACE of the body */
  const EffectPlace *at;
  IrInst *place;    /* its inst */
  bool is_relative; /* its indices are the loop's plus `offset`, by leaf axis */
  bool reads;
  bool in_counterpart; /* below another level, in the counterpart of the visited leaf */
  bool reaches; /* in_counterpart, and written in each visited cell: the leaf is created first */
  int32_t offset[SNODE_MAX_AXES];
  int32_t periodic; /* as of NEIGHBOUR */
} LeafAccess;

typedef struct Leaf {
  IrKernel *kernel;
  IrTask *task;
  int number; /* of the task */
  LeafShape shape;
  IrRegion *body;         /* of one cell, as `tasks` left it */
  const Effects *effects; /* of that body */
  VEC(LeafAccess) accesses;
  bool *written_elsewhere; /* by field: written at cells other than the loop's own */
  const SNode *masked;     /* the level of the cells if it is bitmasked, so that bits select them */
  bool deactivates;        /* deactivates cells, or changes a list, in the tree of the leaves */
  bool caches; /* uses cursors; false under RG_WITHOUT=leaf, so every place is looked up */
  /* the output */
  IrRegion *leaves;
  IrInst *cursor, *grid, *row;
  IrInst *cells; /* the grid or the row; insts that run once per leaf go before it */
  VEC(IrInst *) nears;
  IrMap *with; /* the replacement of an inst from before the pass */
} Leaf;

/* Are these indices of level `node` those of the loop plus constants no larger than a leaf, or the
 * remainders of such sums by the extent of the loop's cells? If so, sets `offset`, by leaf axis,
 * and in which coordinates it is `periodic`. */
bool leaf_find_offset(const Leaf *l, const SNode *node, IrInst *const *indices, int32_t *offset,
                      int32_t *periodic);
/* Can cursors find the cells at that offset: does it reach few leaves, each in a direction that the
 * node level divides? */
bool leaf_may_look_near(const Leaf *l, const int32_t *offset);
/* Those of the `periodic` coordinates along which the leaf at this distance is another one. */
int32_t leaf_crossed(const int32_t nodes[SNODE_MAX_AXES], int32_t periodic);
/* The cursor of the leaf at this distance in nodes along each of the node's coordinates, some of
 * which may be periodic. `level`: the task's, or one with a counterpart of each leaf
 * (leaf_shape_has_counterpart). */
IrInst *leaf_cursor_at(Leaf *l, int level, const int32_t nodes[SNODE_MAX_AXES], int32_t periodic);
/* The visited cell's position in its leaf. */
IrInst *leaf_position(const Leaf *l, int leaf_axis);

/* The bits of a row of cells of a masked level, in the leaf of the cursor, whose other axes are at
 * these positions. */
IrInst *leaf_row_bits(const Leaf *l, IrBuilder *b, const SNode *masked, IrInst *cursor,
                      IrInst *const *positions);

/* leaf_active.c: replaces `is_active` at constant offsets by tests of bits. */
void leaf_query_words(Leaf *l);

#endif
