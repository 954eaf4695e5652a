/* saved_trees.h - copies of the contents of trees, kept in memory while a load replaces them, so
 * that a failed load can restore them. Private to this room. */
#ifndef RG_SNAPSHOT_SAVED_TREES_H
#define RG_SNAPSHOT_SAVED_TREES_H

#include "snapshot/content.h"

typedef struct SavedTree {
  Tree *tree;
  PackPart content, arrangement;
  bool is_replaced; /* a load has begun to change it */
} SavedTree;

/* Zero-filled: there are no copies. */
typedef struct SavedTrees {
  Packer *packer; /* until saved_trees_end */
  Unpacker *unpacker;
  SavedTree *trees; /* the caller's; as many as it will add */
  int count;
  Arrangement arrangement;
} SavedTrees;

/* Copies a tree, which must be laid out. */
bool saved_trees_add(SavedTrees *saved, Tree *tree, Error *err);
/* Call this once all trees are added. */
bool saved_trees_end(SavedTrees *saved, Error *err);
/* From now on saved_trees_restore restores the tree. */
void saved_trees_note_replaced(SavedTrees *saved, const Tree *tree);
/* Restores every replaced tree; err has the reason if one could not be. Must run below a guard. */
bool saved_trees_restore(SavedTrees *saved, Error *err);
void saved_trees_free(SavedTrees *saved);

#endif
