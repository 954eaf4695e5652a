/* keep.h - what trees hold, kept aside in memory while a load replaces it, so that a load that
 * fails can put it back. For this room alone. */
#ifndef RG_SNAPSHOT_KEEP_H
#define RG_SNAPSHOT_KEEP_H

#include "snapshot/content.h"

typedef struct KeptTree {
  Tree *tree;
  PackPart content, arrangement;
  bool is_replaced;    /* a load has begun to change it */
} KeptTree;

/* Zero-filled: nothing is kept. */
typedef struct Keep {
  Packer *packer;      /* until keep_end */
  Unpacker *unpacker;
  KeptTree *trees;     /* the caller's; as many as it will add */
  int count;
  Arrangement arrangement;
} Keep;

/* Adds a tree, which is laid out. */
bool keep_tree(Keep *keep, Tree *tree, Error *err);
/* All trees are added. */
bool keep_end(Keep *keep, Error *err);
/* From now on keep_restore puts the tree back. */
void keep_is_replaced(Keep *keep, const Tree *tree);
/* Every replaced tree holds again what it held; of one that cannot, err says why. Below a guard. */
bool keep_restore(Keep *keep, Error *err);
void keep_free(Keep *keep);

#endif
