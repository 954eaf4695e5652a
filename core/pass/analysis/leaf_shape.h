/* leaf_shape.h - how the cells under one node of a pointer SNode are laid out, as the leaf passes
 * see them.
 *
 * The axes of a leaf are those of its cells in storage order: first the axes that only outer dense
 * levels divide, then the cells' own axes as declared, so the last one is the row. */
#ifndef RG_PASS_ANALYSIS_LEAF_SHAPE_H
#define RG_PASS_ANALYSIS_LEAF_SHAPE_H

#include "ir/task.h"

typedef struct LeafShape {
  const SNode *node_level; /* its nodes are the leaves */
  const SNode *cells;      /* the dense level below; its cells are visited */
  int axis_count;
  int index[SNODE_MAX_AXES]; /* of a leaf axis: position among the cells' indices */
  /* of a leaf axis: position among the node's coordinates; -1: it does not divide it */
  int coordinate[SNODE_MAX_AXES];
  int32_t extent[SNODE_MAX_AXES]; /* cells of a leaf along a leaf axis */
} LeafShape;

/* The shape of a task over leaves. */
bool leaf_shape_of_task(const IrKernel *kernel, const IrTask *task, LeafShape *shape);
/* Is there exactly one cell of `node` for each cell of the leaf, at the same indices? */
bool leaf_shape_holds(const LeafShape *shape, const SNode *node);
/* Does another node level, the one that holds `node`, have a counterpart of each leaf: a node whose
 * cells have the same indices as the leaf's? */
bool leaf_shape_has_counterpart(const LeafShape *shape, const SNode *node);
/* Along coordinate `k`, can `level` have a node wherever the node level `own` can? */
bool leaf_shape_is_within(const SNode *own, const SNode *level, int k);
/* Is a row of `node`'s cells contiguous in memory (with the component's stride)? */
bool leaf_shape_has_runs(const LeafShape *shape, const SNode *node);
/* Bytes from a cell to the next along a leaf axis, for a field `component` of `node`; 0 if the
 * distances differ, because the axis is divided more than once below the node level. */
int64_t leaf_shape_step(const LeafShape *shape, const SNode *node, int component, int leaf_axis);

#endif
