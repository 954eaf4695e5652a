/* peer.c - a tree of another process, accessed through a window. It is a separate tree, since a
 * kernel may use both, with the same declaration and its handles in the same order. A sparse one is
 * read in place: its slots contain handles, which are relative to its own base. The lists of its
 * active nodes are only available in its own process: see tree_check_own.
 *
 * Hashes have no slots. Their entries are in the arena, and so are the keys of nodes, which are
 * found through the table of chunks, a separate window. After that table, the owning process
 * publishes which table of entries is the current one:
 *
 *     published: base | bytes in use | chunks | per manager the current table of a hash, or 0
 *
 * and on a GPU, where the host's mirror may change at any time, a copy of the chunks. It publishes
 * while all ranks are in a barrier, and only then moves entries that others may look up.
 * Decision D-comm-09. */
#include <stdatomic.h>
#include <string.h>

#include "tree/tree.h"

typedef struct Copying {
  const TypeTable *types;
  SNode **made; /* by id of the original */
  Error *err;
} Copying;

static bool copy_below(const Copying *c, SNode *to, const SNode *from);

static bool copy_node(const Copying *c, SNode *to, const SNode *node) {
  char axes[SNODE_MAX_AXES + 1] = "";
  for (int k = 0; k < node->axis_count; k++) axes[k] = (char)('i' + node->axes[k]);
  SNodeOptions options = {.name = node->name, .aos = node->aos, .chunk = node->chunk};
  int sizes = snode_has(node, SNODE_UNBOUNDED) ? 0 : node->axis_count;
  SNode *made = snode_add(to, node->kind, axes, node->sizes, sizes, &options, c->err);
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
  if (ok) tree->layout->is_partial = device_symmetric_heap(of->store->device) && layout->is_sparse;
  ASSERT(!ok || tree->layout->layout_hash == layout->layout_hash, "a peer is laid out the same");
  return ok;
}

Tree *tree_peer(const Tree *of, uint8_t *base, uint8_t *tables, Error *err) {
  Tree *tree = tree_begin(of->store, err);
  if (tree && copy_layout(tree, of, err) && storage_borrow(tree, of, base, tables, err) &&
      tree_refresh_peer(tree, err))
    return tree;
  if (tree) object_release(&tree->object);
  return NULL;
}

/* -- hashes ------------------------------------------------------------------------------------ */

static _Atomic uint64_t *published_at(const Tree *tree, int k) {
  return (_Atomic uint64_t *)&tree->published[k];
}

static void publish_words(const Tree *tree) {
  const RtTree *rt = &tree->rt;
  ASSERT(tree->published, "only trees with hashes publish words to their peers");
  uint64_t head[TREE_PUBLISHED_HEAD] = {(uint64_t)rt->base, rt->top, rt->chunk_count};
  for (int k = 0; k < TREE_PUBLISHED_HEAD; k++)
    atomic_store_explicit(published_at(tree, k), head[k], memory_order_relaxed);
  for (int32_t m = 0; m < rt->manager_count; m++)
    atomic_store_explicit(published_at(tree, TREE_PUBLISHED_HEAD + m),
                          rt->managers[m].table.current, memory_order_relaxed);
  storage_publish_tables(tree);
}

void tree_read_begin(Tree *tree) {
  object_retain(&tree->object);
  tree->readers++;
}

void tree_read_end(Tree *tree) {
  ASSERT(tree->readers > 0, "reading ends as often as it begins");
  tree->rt.is_read = --tree->readers > 0;
  object_release(&tree->object);
}

static bool has_tombstones(const RtTree *tree) {
  for (int32_t m = 0; m < tree->manager_count; m++)
    if (tree->managers[m].table.tombstones) return true;
  return false;
}

static bool publish_remote(Tree *tree, Error *err) {
  if (!tree_reach(tree, DEVICE_COUNTS, err)) return false;
  Device *device = tree->store->device;
  return device->table->sharing->publish(device, &tree->rt, has_tombstones(&tree->rt), err);
}

bool tree_publish(Tree *tree, Error *err) {
  ASSERT(!tree->is_peer, "a tree's own process publishes its tables");
  if (!tree->has_storage) return true;
  if (tree->store->device->table->sharing) {
    if (!publish_remote(tree, err)) return false;
  } else {
    tree->rt.is_read = 0;
    tree->rt.changed = 1; /* an earlier refresh may have deferred work */
    rt_tree_refresh(storage_context(tree), &tree->rt);
    tree->rt.is_read = 1;
  }
  publish_words(tree);
  return true;
}

static uint64_t published_by(const Tree *peer, int k) {
  return atomic_load_explicit(published_at(peer, k), memory_order_relaxed);
}

bool tree_refresh_peer(Tree *peer, Error *err) {
  Device *device = peer->store->device;
  if (!peer->has_storage || !peer->published) return true;
  peer->rt.away = (int64_t)peer->rt.base - (int64_t)published_by(peer, 0);
  for (int32_t m = 0; m < peer->rt.manager_count; m++)
    peer->rt.managers[m].table.current = published_by(peer, TREE_PUBLISHED_HEAD + m);
  if (!device->table->sharing) return true;
  peer->rt.top = published_by(peer, 1);
  peer->rt.chunk_count = (uint32_t)published_by(peer, 2);
  return device_adopt(device, &peer->rt, err);
}

/* -- handles ----------------------------------------------------------------------------------- */

/* The peer's handle that corresponds to `node`. */
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
