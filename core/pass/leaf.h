/* leaf.h - what the files of the pass `leaf` share: a task over cells that becomes one over
 * leaves. */
#ifndef RG_PASS_LEAF_H
#define RG_PASS_LEAF_H

#include "pass/effects.h"
#include "pass/leaf_shape.h"

enum { LEAF_CROSSED_AXES = 4, LEAF_NEARS = 96 };

typedef struct LeafAccess { /* a PLACE of the body */
  const EffectPlace *at;
  IrInst *place;        /* its inst */
  bool is_relative;     /* the loop's indices plus `offset`, by leaf axis */
  bool reads;
  bool in_twin;         /* below another level, whose leaves are as these */
  bool reaches;         /* and it is written in each cell that is visited */
  int32_t offset[SNODE_MAX_AXES];
} LeafAccess;

typedef struct Leaf {
  IrKernel *kernel;
  IrTask *task;
  LeafShape shape;
  IrRegion *body;       /* of one cell, as `tasks` left it */
  const Effects *effects; /* of that body */
  VEC(LeafAccess) accesses;
  bool *written_afar;   /* by field: written at other cells than the loop's own */
  IrInst *run;          /* the task's, in the host region; NULL until searched */
  const SNode *masked;  /* the cells, if bits say which are visited; else NULL */
  bool deactivates;     /* in the tree of the leaves, or changes a list there */
  bool caches;          /* not RG_WITHOUT=leaf: then every place is looked up */
  /* the output */
  IrRegion *leaves;
  IrInst *cursor, *grid, *row;
  IrInst *cells;        /* before it is what is done once per leaf: the grid, or the row */
  VEC(IrInst *) nears;
  IrInst **with;        /* by id: the replacement of an inst, */
  int id_count;         /* of insts from before the pass */
} Leaf;

/* Are indices of level `node`, by its axes, those of the loop plus constants no larger than a leaf?
 * Then `offset` by leaf axis. */
bool leaf_find_offset(const Leaf *l, const SNode *node, const IndexRange *index, int32_t *offset);
/* Can what lies at that offset be found through cursors: few leaves, each in a direction that the
 * node level divides? */
bool leaf_may_look_near(const Leaf *l, const int32_t *offset);
/* The cursor of the leaf at this distance in nodes along each of the node's coordinates. `level`:
 * the task's, or one whose nodes are twins of the leaves. */
IrInst *leaf_cursor_at(Leaf *l, int level, const int32_t nodes[SNODE_MAX_AXES]);
/* The visited cell's position in its leaf. */
IrInst *leaf_position(const Leaf *l, int leaf_axis);

/* leaf_active.c: is_active at constant offsets becomes bits of words. */
void leaf_ask_words(Leaf *l);

#endif
