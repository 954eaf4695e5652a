/* snode.c - declarations: nodes and fields are added below the root until the tree is laid out. */
#include "snode/snode.h"

#include "base/bits.h"
#include "snode/refuse.h"

static const char *const kind_texts[] = {
#define KIND(NAME, WORD, FACTS) #WORD,
#include "snode/kind.def"
#undef KIND
};

const char *snode_kind_text(SNodeKind kind) {
  return (unsigned)kind < SNODE_KIND_COUNT ? kind_texts[kind] : "unknown";
}

static const uint8_t kind_facts[] = {
#define KIND(NAME, WORD, FACTS) FACTS,
#include "snode/kind.def"
#undef KIND
};

bool snode_kind_has(SNodeKind kind, int facts) { return (kind_facts[kind] & facts) == facts; }

bool snode_kind_parse(Str text, SNodeKind *kind) {
  for (int k = 0; k < SNODE_KIND_COUNT; k++) {
    if (!str_is(text, kind_texts[k])) continue;
    *kind = (SNodeKind)k;
    return true;
  }
  return false;
}

static bool no_memory(Error *err) {
  return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a tree's declaration");
}

static void node_free(Heap *heap, SNode *node) {
  if (!node) return;
  for (int k = 0; k < node->component_count; k++) {
    heap_free(heap, node->components[k].name);
    heap_free(heap, node->components[k].packed);
  }
  heap_free(heap, node->components);
  heap_free(heap, node->path);
  heap_free(heap, node->name);
  heap_free(heap, node);
}

/* Creates a node that is not in the tree yet. */
static SNode *node_create(SNodeTree *tree, SNodeKind kind, const char *name) {
  SNode *node = heap_alloc(tree->heap, sizeof *node);
  if (!node) return NULL;
  node->kind = kind;
  node->tree = tree;
  node->manager = node->mask = -1;
  node->cell_count = 1;
  node->name = heap_copy_text(tree->heap, name ? name : "");
  if (node->name) return node;
  node_free(tree->heap, node);
  return NULL;
}

/* Makes room for one more item in a heap array. */
static bool ensure_capacity(Heap *heap, void **items, size_t item_bytes, int count, int *capacity) {
  if (count < *capacity) return true;
  int larger = *capacity ? *capacity * 2 : 4;
  void *grown = heap_resize(heap, *items, item_bytes * (size_t)larger);
  if (!grown) return false;
  *items = grown;
  *capacity = larger;
  return true;
}

static bool tree_add_node(SNodeTree *tree, SNode *node) {
  if (!ensure_capacity(tree->heap, (void **)&tree->nodes, sizeof *tree->nodes, tree->node_count,
                       &tree->node_capacity))
    return false;
  node->id = tree->node_count;
  tree->nodes[tree->node_count++] = node;
  return true;
}

SNodeTree *snode_tree_create(Heap *heap, const char *name, Error *err) {
  SNodeTree *tree = heap_alloc(heap, sizeof *tree);
  if (!tree) {
    no_memory(err);
    return NULL;
  }
  tree->heap = heap;
  tree->references = 1;
  tree->name = heap_copy_text(heap, name ? name : "");
  SNode *root = tree->name ? node_create(tree, SNODE_ROOT, NULL) : NULL;
  if (root && tree_add_node(tree, root)) return tree;
  no_memory(err);
  node_free(heap, root);
  snode_tree_release(tree);
  return NULL;
}

void snode_tree_retain(SNodeTree *tree) { tree->references++; }

void snode_tree_release(SNodeTree *tree) {
  if (!tree || --tree->references > 0) return;
  for (int k = 0; k < tree->node_count; k++) node_free(tree->heap, tree->nodes[k]);
  heap_free(tree->heap, tree->nodes);
  heap_free(tree->heap, tree->managers);
  heap_free(tree->heap, tree->name);
  heap_free(tree->heap, tree);
}

static SNodeComponent *next_component(SNode *node) {
  if (!ensure_capacity(node->tree->heap, (void **)&node->components, sizeof *node->components,
                       node->component_count, &node->component_capacity))
    return NULL;
  return &node->components[node->component_count];
}

/* Rank, axes and shape of a new level: its parent's, multiplied by its own sizes. An axis divided
 * below where it is unbounded is unbounded. */
static void compute_shape(SNode *node) {
  const SNode *parent = node->parent;
  for (int axis = 0; axis < SNODE_MAX_AXES; axis++) {
    int above = snode_axis_position(parent, axis);
    int64_t extent = above < 0 ? 1 : parent->shape[above];
    bool is_divided = above >= 0;
    for (int k = 0; k < node->axis_count; k++) {
      if (node->axes[k] != axis) continue;
      is_divided = true;
      extent *= node->sizes[k];
    }
    if (!is_divided) continue;
    node->level_axes[node->rank] = (uint8_t)axis;
    node->shape[node->rank++] = extent;
  }
}

SNode *snode_add(SNode *parent, SNodeKind kind, const char *axes, const int64_t *sizes,
                 int size_count, const SNodeOptions *options, Error *err) {
  int64_t checked[SNODE_MAX_AXES];
  if (!snode_check_child(parent, kind, axes, sizes, size_count, checked, err)) return NULL;
  int64_t chunk = options ? options->chunk : 0;
  if (!snode_check_chunk(kind, checked[0], &chunk, err)) return NULL;
  SNodeTree *tree = parent->tree;
  SNodeComponent *component = next_component(parent);
  SNode *node = component ? node_create(tree, kind, options ? options->name : NULL) : NULL;
  char *no_name = node ? heap_copy_text(tree->heap, "") : NULL;
  if (!no_name || !tree_add_node(tree, node)) {
    heap_free(tree->heap, no_name);
    node_free(tree->heap, node);
    no_memory(err);
    return NULL;
  }
  node->parent = parent;
  node->depth = parent->depth + 1;
  node->aos = options && options->aos;
  node->chunk = chunk;
  node->axis_count = (int)strlen(axes);
  for (int k = 0; k < node->axis_count; k++) {
    node->axes[k] = (uint8_t)(axes[k] - 'i');
    node->sizes[k] = checked[k];
    node->cell_count *= snode_kind_has(kind, SNODE_UNBOUNDED) ? 1 : (uint64_t)checked[k];
  }
  compute_shape(node);
  node->component_in_parent = (uint32_t)parent->component_count;
  *component = (SNodeComponent){.child = node, .name = no_name};
  parent->component_count++;
  return node;
}

int snode_place(SNode *node, Type type, const char *name, Error *err) {
  return snode_place_part(node, NULL, type, 0, name, err);
}

int snode_place_part(SNode *node, const TypeTable *types, Type whole, int part, const char *name,
                     Error *err) {
  Type type = type_number(types, whole, part);
  if (!snode_check_open(node, err)) return -1;
  if (type_size(type) == 0) {
    error_set(err, RG_ERROR_TREE_DECLARATION, "the elements of a field cannot be of type %s",
              type_text(type));
    return -1;
  }
  SNodeComponent *component = next_component(node);
  char *copy = component ? heap_copy_text(node->tree->heap, name ? name : "") : NULL;
  if (!copy) {
    no_memory(err);
    return -1;
  }
  *component = (SNodeComponent){.type = type, .whole = whole, .part = part, .name = copy};
  if (type_is_struct(whole)) {
    TypeRow row = type_row(types, whole);
    component->within = (uint32_t)row.numbers[part].offset;
    component->whole_size = (uint32_t)row.size;
    component->whole_alignment = (uint32_t)row.alignment;
  }
  return node->component_count++;
}

bool snode_set_packed(SNode *node, int component, const SNodePacked *packed, Error *err) {
  ASSERT(packed->words && packed->word < packed->words->component_count, "the word is placed");
  SNodePacked *copy = heap_alloc(node->tree->heap, sizeof *copy);
  if (!copy) return no_memory(err);
  *copy = *packed;
  node->components[component].packed = copy;
  uint64_t own = packed_mask(&packed->as);
  SNodeComponent *word = &packed->words->components[packed->word];
  for (int k = 0; k < packed->per_word; k++)
    word->packed_bits |= own << (packed->shift + k * packed->as.bits);
  if (packed->count)
    word->packed_bits |= (((uint64_t)1 << packed->as.exponent) - 1) << packed->exponent_shift;
  return true;
}

static void check_derivative(const SNode *node, int component, int derivative) {
  ASSERT(component >= 0 && component < node->component_count && derivative >= 0 &&
             derivative < node->component_count && component != derivative,
         "both are components of the node");
  ASSERT(type_equal(node->components[component].type, node->components[derivative].type),
         "a derivative has the type of its component");
}

bool snode_is_derivative(const SNode *node, int component) {
  for (int k = 0; k < node->component_count; k++)
    if (node->components[k].gradient == component + 1 || node->components[k].dual == component + 1)
      return true;
  return false;
}

void snode_set_gradient(SNode *node, int component, int gradient) {
  check_derivative(node, component, gradient);
  node->components[component].gradient = gradient + 1;
}

void snode_set_dual(SNode *node, int component, int dual) {
  check_derivative(node, component, dual);
  node->components[component].dual = dual + 1;
}
