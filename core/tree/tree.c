/* tree.c - a tree's life, from its declaration to its destruction, and its handles.
 *
 *     declared --tree_lay_out--> laid out, with memory --tree_destroy--> destroyed
 *
 * A Node exists as long as its Tree: retaining one retains the tree. */
#include <stdio.h>
#include <string.h>

#include "tree/access/cell.h"
#include "tree/tree.h"

/* The name of the first field below `node`, or "". */
static const char *some_field_name(const SNode *node) {
  for (int k = 0; k < node->component_count; k++) {
    const SNodeComponent *component = &node->components[k];
    const char *name = component->child ? some_field_name(component->child) : component->name;
    if (name[0]) return name;
  }
  return "";
}

const char *tree_label(const Tree *tree, char buffer[100]) {
  const char *field = some_field_name(snode_root(tree->layout));
  if (tree->layout->name[0]) snprintf(buffer, 100, "tree '%.60s'", tree->layout->name);
  else if (field[0]) snprintf(buffer, 100, "the tree of field '%.60s'", field);
  else snprintf(buffer, 100, "a tree");
  return buffer;
}

/* The handle of a new SNode. On failure the SNode has no handle, and the caller must fail. */
Node *tree_add_handle(Tree *tree, SNode *snode, Error *err) {
  Heap *heap = tree->store->heap;
  Node *node = heap_alloc(heap, sizeof *node);
  if (node && tree->node_count == tree->node_capacity) {
    int larger = tree->node_capacity ? tree->node_capacity * 2 : 4;
    Node **grown = heap_resize(heap, tree->nodes, sizeof *grown * (size_t)larger);
    if (grown) {
      tree->nodes = grown;
      tree->node_capacity = larger;
    }
  }
  if (!node || tree->node_count == tree->node_capacity) {
    heap_free(heap, node);
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a node's handle");
    return NULL;
  }
  node->tree = tree;
  node->snode = snode;
  tree->nodes[tree->node_count++] = node;
  return node;
}

static void unlink_tree(Tree *tree) {
  Tree **at = &tree->store->trees;
  while (*at && *at != tree) at = &(*at)->next;
  if (*at) *at = tree->next;
}

static void tree_end(Object *object) {
  Tree *tree = (Tree *)object;
  ASSERT(tree->store, "a tree ends in the store that it was made in");
  Heap *heap = tree->store->heap;
  storage_free(tree);
  unlink_tree(tree);
  for (int k = 0; k < tree->node_count; k++) {
    node_order_free(tree->nodes[k]);
    heap_free(heap, tree->nodes[k]);
  }
  heap_free(heap, tree->nodes);
  heap_free(heap, tree->destroyed_at);
  snode_tree_release(tree->layout);
  object_free(&tree->object);
}

Tree *tree_begin(Store *store, Error *err) {
  Tree *tree = object_create(store->owner, tree_end, sizeof *tree, err);
  if (!tree) return NULL;
  tree->store = store;
  tree->next = store->trees;
  return store->trees = tree;
}

Tree *tree_create(Store *store, const char *name, Error *err) {
  Tree *tree = tree_begin(store, err);
  if (!tree) return NULL;
  tree->layout = snode_tree_create(store->heap, name, err);
  if (tree->layout && tree_add_handle(tree, snode_root(tree->layout), err)) return tree;
  object_release(&tree->object);
  return NULL;
}

bool tree_check(const Tree *tree, Error *err) {
  char name[100];
  if (!owner_check(tree->object.owner, err)) return false;
  if (!tree->destroyed_at) return true;
  return error_set(err, RG_ERROR_HANDLE, "%s was destroyed%s%s", tree_label(tree, name),
                   tree->destroyed_at[0] ? " at " : "", tree->destroyed_at);
}

bool tree_destroy(Tree *tree, const char *where, Error *err) {
  if (!tree_check(tree, err)) return false;
  tree->destroyed_at = heap_copy_text(tree->store->heap, where ? where : "");
  if (!tree->destroyed_at)
    return error_set(err, RG_ERROR_MEMORY,
                     "the host has no memory left to record where a tree was destroyed");
  storage_free(tree);
  for (int k = 0; k < tree->node_count; k++) node_order_free(tree->nodes[k]);
  return true;
}

bool tree_lay_out(Tree *tree, const char *where, Error *err) {
  if (!tree_check(tree, err)) return false;
  if (tree->has_storage) return true;
  return snode_layout(tree->layout, where, err) && storage_create(tree, err);
}

bool tree_check_own(const Tree *tree, Error *err) {
  char label[100];
  if (!tree_is_view(tree)) return true;
  error_set(err, RG_ERROR_ARGUMENT,
            "%s is a sparse tree of another rank: its elements can only be read, one by one",
            tree_label(tree, label));
  return error_hint(err, "x[i], node:is_active(i), also in kernels; only the owning rank can do "
                         "more");
}

bool tree_reach(Tree *tree, DeviceUse use, Error *err) {
  if (use != DEVICE_READS && !tree_check_own(tree, err)) return false;
  return device_reach(tree->store->device, &tree->rt, NULL, 0, use, err);
}

bool tree_prepare(Tree *tree, DeviceUse use, Error *err) {
  return tree_lay_out(tree, "its first use", err) && tree_reach(tree, use, err);
}

Node *tree_node(const Tree *tree, const SNode *snode) {
  for (int k = 0; k < tree->node_count; k++)
    if (tree->nodes[k]->snode == snode) return tree->nodes[k];
  return NULL;
}

Node *node_add(Node *parent, SNodeKind kind, const char *axes, const int64_t *sizes,
               int32_t size_count, const SNodeOptions *options, Error *err) {
  Tree *tree = parent->tree;
  if (!tree_check(tree, err)) return NULL;
  SNode *snode = snode_add(parent->snode, kind, axes, sizes, size_count, options, err);
  Node *node = snode ? tree_add_handle(tree, snode, err) : NULL;
  if (node) object_retain(&tree->object);
  return node;
}

/* -- the drawing ------------------------------------------------------------------------------- */

typedef struct Drawing {
  const Tree *tree;
  const char *text;
} Drawing;

static bool draw(void *data, Error *err) {
  Drawing *drawing = data;
  StrBuf out;
  strbuf_init(&out, store_text(drawing->tree->store));
  snode_print(&out, drawing->tree->layout);
  drawing->text = strbuf_end(&out);
  return true;
}

bool tree_text(const Tree *tree, const char **text, Error *err) {
  Drawing drawing = {tree, NULL};
  bool ok = tree_check(tree, err) && guard_run(draw, &drawing, err);
  *text = drawing.text;
  return ok;
}
