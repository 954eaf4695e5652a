/* saved_trees.c - see saved_trees.h. The copy is compressed, in an unnamed file in memory. It
 * includes the arrangement, so a restored tree has every node where it was. */
#include "snapshot/saved_trees.h"

#include "snapshot/directory.h"

bool saved_trees_add(SavedTrees *saved, Tree *tree, Error *err) {
  SavedTree *saved_tree = &saved->trees[saved->count];
  if (!saved->packer) saved->packer = pack_create_unnamed(tree->store->heap, &snapshot_format, err);
  if (!saved->packer || !tree_reach(tree, DEVICE_READS, err)) return false;
  rt_tree_refresh(storage_context(tree), &tree->rt);
  saved_tree->tree = tree;
  saved->count++;
  return content_write(tree, saved->packer, &saved_tree->content, &saved_tree->arrangement, err);
}

bool saved_trees_end(SavedTrees *saved, Error *err) {
  Packer *packer = saved->packer;
  if (!packer) return true;
  saved->packer = NULL;
  saved->unpacker = pack_reopen(packer, err);
  return saved->unpacker;
}

void saved_trees_note_replaced(SavedTrees *saved, const Tree *tree) {
  for (int k = 0; k < saved->count; k++)
    saved->trees[k].is_replaced |= saved->trees[k].tree == tree;
}

bool saved_trees_restore(SavedTrees *saved, Error *err) {
  bool ok = true;
  for (int k = 0; k < saved->count; k++) {
    SavedTree *saved_tree = &saved->trees[k];
    if (!saved_tree->is_replaced) continue;
    saved_tree->is_replaced = false;
    ok &= content_load(saved_tree->tree, saved->unpacker, saved_tree->content,
                       saved_tree->arrangement, &saved->arrangement, err);
  }
  return ok;
}

void saved_trees_free(SavedTrees *saved) {
  pack_abandon(saved->packer);
  unpack_close(saved->unpacker);
  arrangement_free(&saved->arrangement);
}
