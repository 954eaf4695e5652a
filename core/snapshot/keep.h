/* keep.h - copies of the contents of trees, kept in memory while a load replaces them, so that a
 * failed load can restore them. Private to this room. */
#ifndef RG_SNAPSHOT_KEEP_H
#define RG_SNAPSHOT_KEEP_H

#include "snapshot/content.h"

typedef struct KeptTree {
  Tree *tree;
  PackPart content, arrangement;
  bool is_replaced; /* a load has begun to change it */
} KeptTree;

/* Zero-filled: nothing is kept. */
typedef struct Keep {
  Packer *packer; /* until keep_end */
  Unpacker *unpacker;
  KeptTree *trees; /* the caller's; as many as it will add */
  int count;
  Arrangement arrangement;
} Keep;

/* Copies a tree, which must be laid out. */
bool keep_tree(Keep *keep, Tree *tree, Error *err);
/* To be called once all trees are added. */
bool keep_end(Keep *keep, Error *err);
/* From now on keep_restore restores the tree. */
void keep_is_replaced(Keep *keep, const Tree *tree);
/* Restores every replaced tree; err tells why one could not be. Must run below a guard. */
bool keep_restore(Keep *keep, Error *err);
void keep_free(Keep *keep);

#endif
