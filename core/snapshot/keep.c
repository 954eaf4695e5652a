/* keep.c - see keep.h. The copy is compressed, in an unnamed file in memory. It includes the
 * arrangement, so a restored tree has every node where it was. */
#include "snapshot/keep.h"

#include "snapshot/directory.h"

bool saved_trees_add(SavedTrees *keep, Tree *tree, Error *err) {
  SavedTree *kept = &keep->trees[keep->count];
  if (!keep->packer) keep->packer = pack_create_unnamed(tree->store->heap, &snapshot_format, err);
  if (!keep->packer || !tree_reach(tree, DEVICE_READS, err)) return false;
  rt_tree_refresh(storage_context(tree), &tree->rt);
  kept->tree = tree;
  keep->count++;
  return content_write(tree, keep->packer, &kept->content, &kept->arrangement, err);
}

bool saved_trees_end(SavedTrees *keep, Error *err) {
  Packer *packer = keep->packer;
  if (!packer) return true;
  keep->packer = NULL;
  keep->unpacker = pack_reopen(packer, err);
  return keep->unpacker;
}

void saved_trees_note_replaced(SavedTrees *keep, const Tree *tree) {
  for (int k = 0; k < keep->count; k++) keep->trees[k].is_replaced |= keep->trees[k].tree == tree;
}

bool saved_trees_restore(SavedTrees *keep, Error *err) {
  bool ok = true;
  for (int k = 0; k < keep->count; k++) {
    SavedTree *kept = &keep->trees[k];
    if (!kept->is_replaced) continue;
    kept->is_replaced = false;
    ok &= content_load(kept->tree, keep->unpacker, kept->content, kept->arrangement,
                       &keep->arrangement, err);
  }
  return ok;
}

void saved_trees_free(SavedTrees *keep) {
  pack_abandon(keep->packer);
  unpack_close(keep->unpacker);
  arrangement_free(&keep->arrangement);
}
