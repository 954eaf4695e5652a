/* layout.c - computes every size and offset of a tree, from the deepest containers upward.
 *
 * soa: | a0 a1 a2 .. | b0 b1 b2 .. |   one run per component
 * aos: | a0 b0 | a1 b1 | ..            one record per cell
 *
 * A bitmasked container has its mask words after the runs; a dynamic node is laid out like a dense
 * container of `chunk` cells.
 *
 * The alignment of anything of `size` bytes is `size` rounded up to a power of two, at most 64. So
 * contents never need more alignment than their container. The size of a dense container is a
 * multiple of its alignment, so adjacent containers are `size` apart. Nodes are numbered depth
 * first in the order of components: trees of one layout_hash have the same numbers of nodes and
 * managers, so one version of a kernel serves them all. */
#include <string.h>

#include "base/bits.h"
#include "base/map.h"
#include "snode/refuse.h"
#include "snode/path.h"

enum { CACHE_LINE = 64 };
/* sizes saturate here; snode_check_layout refuses far smaller ones */
#define SATURATED_SIZE ((uint64_t)1 << 62)

static uint64_t alignment_of(uint64_t size) {
  if (size >= CACHE_LINE) return CACHE_LINE;
  uint64_t align = 1;
  while (align < size) align *= 2;
  return align;
}

static uint64_t saturating_mul(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) || product > SATURATED_SIZE ? SATURATED_SIZE
                                                                            : product;
}
static uint64_t saturating_add(uint64_t a, uint64_t b) {
  return a + b > SATURATED_SIZE ? SATURATED_SIZE : a + b;
}

static uint64_t element_size(const SNodeComponent *component) {
  if (component->packed) return 0;
  return component->child ? component->child->container_size : (uint64_t)type_size(component->type);
}

/* Lays out a number of a struct that begins at *start, where its first number is. */
static uint64_t layout_number(SNodeComponent *component, uint64_t end, uint64_t *start) {
  if (component->part == 0) *start = align_up(end, component->whole_alignment);
  component->offset = *start + component->within;
  component->stride = 0;
  return saturating_add(*start, component->whole_size);
}

/* Lays out the components of one cell one after another; returns their total size. */
static uint64_t layout_record(SNode *node) {
  uint64_t end = 0, start = 0;
  for (int k = 0; k < node->component_count; k++) {
    SNodeComponent *component = &node->components[k];
    uint64_t size = element_size(component);
    if (component->whole_size) {
      end = layout_number(component, end, &start);
      continue;
    }
    component->offset = align_up(end, alignment_of(size));
    component->stride = 0;
    end = saturating_add(component->offset, size);
  }
  return end;
}

static uint64_t layout_runs(SNode *node, uint64_t cells) {
  uint64_t end = 0;
  for (int k = 0; k < node->component_count; k++) {
    SNodeComponent *component = &node->components[k];
    component->stride = element_size(component);
    uint64_t run = saturating_mul(component->stride, cells);
    component->offset = align_up(end, alignment_of(run));
    end = saturating_add(component->offset, run);
  }
  return end;
}

static uint64_t layout_records(SNode *node, uint64_t cells) {
  uint64_t record = layout_record(node), align = 1;
  for (int k = 0; k < node->component_count; k++) {
    uint64_t needed = alignment_of(element_size(&node->components[k]));
    if (needed > align) align = needed;
  }
  record = align_up(record, align);
  for (int k = 0; k < node->component_count; k++) node->components[k].stride = record;
  return saturating_mul(record, cells);
}

static uint64_t layout_cells(SNode *node, uint64_t cells) {
  return node->aos ? layout_records(node, cells) : layout_runs(node, cells);
}

/* -- interchangeable fields -------------------------------------------------------------------- */

/* Are types, strides, and distances between the numbers of an element equal? */
static bool are_interchangeable(const SNode *node, int a, int b) {
  const SNodeComponent *x = &node->components[a], *y = &node->components[b];
  if (y->child || y->part || y->packed || !type_equal(x->whole, y->whole)) return false;
  for (int k = 0; k < type_parts(x->whole); k++)
    if (x[k].stride != y[k].stride || x[k].offset - x->offset != y[k].offset - y->offset)
      return false;
  return true;
}

/* Fields of lists are never interchangeable, as list operations refer to fields by number. */
static void find_interchangeable(SNode *node) {
  SNodeComponent *components = node->components;
  for (int k = 0; k < node->component_count; k++) components[k].interchangeable_with = -1;
  for (int k = 0; !snode_has_lists(node) && k < node->component_count; k++) {
    if (components[k].child || components[k].part || components[k].interchangeable_with >= 0 ||
        components[k].packed || components[k].packed_bits)
      continue;
    for (int other = k + 1; other < node->component_count; other++)
      if (are_interchangeable(node, k, other))
        components[k].interchangeable_with = components[other].interchangeable_with = k;
  }
}

/* Lays out a row: the list it belongs to, then the numbers of an element, each in 4 or 8 bytes. */
static void layout_row(SNode *list) {
  uint64_t end = SNODE_ROW_NUMBERS, align = SNODE_ROW_NUMBERS;
  for (int k = 0; k < list->component_count; k++) {
    SNodeComponent *component = &list->components[k];
    uint64_t size = element_size(component) <= 4 ? 4 : 8;
    if (component->child) continue; /* lists with children cannot be appended to */
    component->row = (uint32_t)align_up(end, size);
    end = component->row + size;
    if (size > align) align = size;
  }
  list->row_bytes = (uint32_t)align_up(end, align);
}

static uint64_t round_to_lines(uint64_t bytes) {
  return align_up(max_i64((int64_t)bytes, 1), CACHE_LINE);
}

static void layout_mask(SNode *node, uint64_t *size) {
  node->mask_offset = align_up(*size, 8);
  *size = saturating_add(node->mask_offset, saturating_mul(8, (node->cell_count + 63) / 64));
}

/* Lays out a node: one cell, or a list's chunk. */
static void layout_managed(SNode *node) {
  bool has_lists = snode_has_lists(node);
  uint64_t size = has_lists ? layout_cells(node, (uint64_t)node->chunk) : layout_record(node);
  node->node_size = round_to_lines(size);
  if (has_lists) layout_row(node);
}

static uint64_t slots_size(const SNode *node) {
  uint64_t chunk = snode_has_lists(node) ? (uint64_t)node->chunk : 1;
  uint64_t begin = snode_has_lists(node) ? SNODE_DYNAMIC_SLOTS : 0;
  return begin + saturating_mul(sizeof(uint32_t), (node->cell_count + chunk - 1) / chunk);
}

/* Lays out the cells that are in the container. */
static uint64_t container_size(SNode *node) {
  if (snode_has_slots(node)) return slots_size(node);
  if (!snode_has(node, SNODE_CELLS)) return 0;
  uint64_t size = layout_cells(node, node->cell_count);
  if (snode_has_bits(node)) layout_mask(node, &size);
  return size;
}

/* Depth is limited by SNODE_MAX_DEPTH, so this may recurse. */
static void layout_node(SNode *node) {
  for (int k = 0; k < node->component_count; k++)
    if (node->components[k].child) layout_node(node->components[k].child);
  if (snode_is_managed(node)) layout_managed(node);
  uint64_t size = container_size(node);
  node->container_size = align_up(size, alignment_of(size));
  find_interchangeable(node);
}

static void number_node(SNode *node, int *next) {
  SNodeTree *tree = node->tree;
  node->id = (*next)++;
  if (snode_is_managed(node)) {
    node->manager = tree->manager_count;
    tree->managers[tree->manager_count++] = node;
  }
  if (snode_has_bits(node)) node->mask = tree->mask_count++;
  for (int k = 0; k < node->component_count; k++)
    if (node->components[k].child) number_node(node->components[k].child, next);
}

/* Sorts tree->nodes by id: swaps each into its place. */
static void sort_nodes(SNodeTree *tree) {
  for (int k = 0; k < tree->node_count; k++) {
    while (tree->nodes[k]->id != k) {
      SNode *node = tree->nodes[k];
      tree->nodes[k] = tree->nodes[node->id];
      tree->nodes[node->id] = node;
    }
  }
}

static bool make_paths(SNodeTree *tree, Error *err) {
  for (int k = 0; k < tree->node_count; k++) {
    SNode *node = tree->nodes[k];
    heap_free(tree->heap, node->path);
    node->path = snode_path_create(node);
    if (!node->path)
      return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a tree's layout");
  }
  return true;
}

static uint64_t hash_number(uint64_t hash, uint64_t number) {
  return hash_bytes(hash, &number, sizeof number);
}

static uint64_t hash_packed(uint64_t hash, const SNodePacked *packed) {
  char text[PACKED_TEXT];
  const int32_t numbers[7] = {packed->words->id,      packed->word,  packed->shift,
                              packed->exponent_shift, packed->first, packed->count,
                              packed->per_word};
  packed_text(&packed->as, text);
  return hash_bytes(hash_bytes(hash, numbers, sizeof numbers), text, strlen(text));
}

static uint64_t hash_node(uint64_t hash, const SNode *node) {
  hash = hash_number(hash, (uint64_t)node->kind * 2 + node->aos);
  hash = hash_number(hash, (uint64_t)node->chunk);
  hash = hash_number(hash, (uint64_t)node->axis_count);
  for (int k = 0; k < node->axis_count; k++) {
    hash = hash_number(hash, node->axes[k]);
    hash = hash_number(hash, (uint64_t)node->sizes[k]);
  }
  hash = hash_number(hash, (uint64_t)node->component_count);
  for (int k = 0; k < node->component_count; k++) {
    const SNodeComponent *component = &node->components[k];
    /* numbers of structs differ between runtimes: theirs is where the number is in the record */
    bool is_struct = component->whole.number >= TYPE_TABLE_FIRST;
    const uint32_t type[7] = {component->type.number,
                              is_struct ? TYPE_TABLE_FIRST : component->whole.number,
                              component->within,
                              component->whole_size,
                              (uint32_t)component->part,
                              component->child != NULL,
                              (uint32_t)component->gradient};
    hash = hash_bytes(hash, type, sizeof type);
    if (component->dual) hash = hash_number(hash, (uint64_t)component->dual);
    if (component->packed) hash = hash_packed(hash, component->packed);
    if (component->child) hash = hash_node(hash, component->child);
  }
  return hash;
}

bool snode_layout(SNodeTree *tree, const char *fixed_at, Error *err) {
  if (tree->laid_out) return true;
  heap_free(tree->heap, tree->managers);
  tree->manager_count = tree->mask_count = 0;
  tree->managers = heap_alloc(tree->heap, sizeof *tree->managers * (size_t)tree->node_count);
  if (!tree->managers)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a tree's layout");
  int next = 0;
  number_node(snode_root(tree), &next);
  sort_nodes(tree);
  layout_node(snode_root(tree));
  tree->is_sparse = tree->manager_count > 0;
  tree->root_size = align_up(max_i64((int64_t)snode_root(tree)->container_size, 1), CACHE_LINE);
  tree->layout_hash = hash_node(0, snode_root(tree));
  if (!snode_check_layout(tree, err) || !make_paths(tree, err)) return false;
  size_t length = fixed_at ? strlen(fixed_at) : 0;
  if (length >= sizeof tree->fixed_at) length = sizeof tree->fixed_at - 1;
  if (length) memcpy(tree->fixed_at, fixed_at, length);
  tree->laid_out = true;
  return true;
}
