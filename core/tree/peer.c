/* peer.c - a tree of another process, seen through a window: a tree of its own, since a kernel may
 * use both, with the same declaration and handles in the same order. A sparse one is read in place:
 * its slots hold handles, which count from its own base. What that process alone has (which chunks
 * there are, lists of nodes, the tables of hashes) nobody asks for here: see tree_check_own. */
#include <string.h>

#include "tree/tree.h"

typedef struct Copying {
  const TypeTable *types;
  SNode **made;               /* by the original's id */
  Error *err;
} Copying;

static bool copy_below(const Copying *c, SNode *to, const SNode *from);

static bool copy_node(const Copying *c, SNode *to, const SNode *node) {
  char axes[SNODE_MAX_AXES + 1] = "";
  for (int k = 0; k < node->axis_count; k++) axes[k] = (char)('i' + node->axes[k]);
  SNodeOptions options = {.name = node->name, .aos = node->aos, .chunk = node->chunk};
  SNode *made = snode_add(to, node->kind, axes, node->sizes, node->axis_count, &options, c->err);
  return made && copy_below(c, made, node);
}

static bool copy_below(const Copying *c, SNode *to, const SNode *from) {
  c->made[from->id] = to;
  for (int k = 0; k < from->component_count; k++) {
    const SNodeComponent *part = &from->components[k];
    bool ok = part->child ? copy_node(c, to, part->child)
                          : snode_place_part(to, c->types, part->whole, part->part, part->name,
                                             c->err) >= 0;
    if (!ok) return false;
  }
  return true;
}

static bool copy_layout(Tree *tree, const Tree *of, Error *err) {
  const SNodeTree *layout = of->layout;
  Heap *heap = of->store->heap;
  SNode **made = heap_alloc(heap, (size_t)layout->node_count * sizeof *made);
  if (!made) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a tree");
  Copying c = {&of->store->types, made, err};
  tree->layout = snode_tree_create(heap, layout->name, err);
  bool ok = tree->layout && copy_below(&c, snode_root(tree->layout), snode_root(layout)) &&
            snode_layout(tree->layout, layout->fixed_at, err);
  for (int k = 0; ok && k < of->node_count; k++)
    ok = tree_add_handle(tree, made[of->nodes[k]->snode->id], err);
  heap_free(heap, made);
  ASSERT(!ok || tree->layout->layout_hash == layout->layout_hash, "a peer is laid out the same");
  return ok;
}

bool tree_can_be_peer(const Tree *tree, Error *err) {
  char label[100];
  for (int m = 0; m < tree->layout->manager_count; m++)
    if (!snode_has_slots(tree->layout->managers[m]))
      return error_set(err, RG_ERROR_NOT_YET,
                       "%s has a hash, whose cells only its own process finds: it cannot become a "
                       "window yet", tree_label(tree, label));
  return true;
}

Tree *tree_peer(const Tree *of, uint8_t *base, Error *err) {
  Tree *tree = tree_begin(of->store, err);
  if (tree && copy_layout(tree, of, err) && storage_borrow(tree, of, base, err)) return tree;
  if (tree) object_release(&tree->object);
  return NULL;
}

/* The peer's handle of what `node` is a handle of. */
static Node *node_of_peer(const Node *node, const Tree *peer) {
  const Tree *of = node->tree;
  for (int k = 0; k < of->node_count; k++)
    if (of->nodes[k] == node) return peer->nodes[k];
  return NULL;
}

Field *field_peer(const Field *of, Tree *peer, Error *err) {
  Field *field = field_create(of->store, of->type_name, of->name, err);
  if (!field) return NULL;
  object_retain(&peer->object);
  field->node = node_of_peer(of->node, peer);
  field->component = of->component;
  memcpy(field->offset, of->offset, sizeof field->offset);
  field->has_offset = of->has_offset;
  return field;
}
