/* keep.c - see keep.h. The copy is compressed, in an unnamed file in memory. It includes the
 * arrangement, so a restored tree has every node where it was. */
#include "snapshot/keep.h"

#include "snapshot/directory.h"

bool keep_tree(Keep *keep, Tree *tree, Error *err) {
  KeptTree *kept = &keep->trees[keep->count];
  if (!keep->packer) keep->packer = pack_create_unnamed(tree->store->heap, &snapshot_format, err);
  if (!keep->packer || !tree_reach(tree, DEVICE_READS, err)) return false;
  rt_tree_refresh(storage_context(tree), &tree->rt);
  kept->tree = tree;
  keep->count++;
  return content_write(tree, keep->packer, &kept->content, &kept->arrangement, err);
}

bool keep_end(Keep *keep, Error *err) {
  Packer *packer = keep->packer;
  if (!packer) return true;
  keep->packer = NULL;
  keep->unpacker = pack_reopen(packer, err);
  return keep->unpacker;
}

void keep_is_replaced(Keep *keep, const Tree *tree) {
  for (int k = 0; k < keep->count; k++) keep->trees[k].is_replaced |= keep->trees[k].tree == tree;
}

bool keep_restore(Keep *keep, Error *err) {
  bool ok = true;
  for (int k = 0; k < keep->count; k++) {
    KeptTree *kept = &keep->trees[k];
    if (!kept->is_replaced) continue;
    kept->is_replaced = false;
    ok &= content_load(kept->tree, keep->unpacker, kept->content, kept->arrangement,
                       &keep->arrangement, err);
  }
  return ok;
}

void keep_free(Keep *keep) {
  pack_abandon(keep->packer);
  unpack_close(keep->unpacker);
  arrangement_free(&keep->arrangement);
}
