/* refuse.c - checks a declaration, in the order in which a user makes it. */
#include "snode/refuse.h"

#include <stdio.h>

const char *snode_quoted(const char *name, char buffer[80]) {
  if (!name || !name[0]) return "";
  snprintf(buffer, 80, " '%.70s'", name);
  return buffer;
}

bool snode_check_open(const SNode *node, Error *err) {
  if (!node->tree->laid_out) return true;
  char name[80], tree[80];
  error_set(err, RG_ERROR_TREE_FIXED,
            "nothing can be added below the %s node%s: its tree%s has been laid out since %s",
            snode_kind_text(node->kind), snode_quoted(node->name, name),
            snode_quoted(node->tree->name, tree),
            node->tree->fixed_at[0] ? node->tree->fixed_at : "its first use");
  return error_hint(err, "declare the whole tree before the first use of any of its fields");
}

static bool check_letters(const char *axes, Error *err) {
  unsigned seen = 0;
  if (!axes[0])
    return error_set(err, RG_ERROR_TREE_DECLARATION,
                     "a node divides at least one axis: letters from 'i' to 'p'");
  for (const char *letter = axes; *letter; letter++) {
    if (*letter < 'i' || *letter > 'p')
      return error_set(err, RG_ERROR_TREE_DECLARATION,
                       "'%c' is not an axis: axes are letters from 'i' to 'p'",
                       *letter >= ' ' && *letter < 127 ? *letter : '?');
    if (seen >> (*letter - 'i') & 1)
      return error_set(err, RG_ERROR_TREE_DECLARATION, "axis '%c' occurs twice in \"%.16s\"",
                       *letter, axes);
    seen |= 1u << (*letter - 'i');
  }
  return true;
}

static bool too_large(int64_t size, uint64_t *cells) {
  return __builtin_mul_overflow(*cells, (uint64_t)size, cells) || *cells > SNODE_MAX_CELLS;
}

static bool check_extent(const SNode *parent, char letter, int64_t size, Error *err) {
  int at = snode_axis_position(parent, letter - 'i');
  int64_t product;
  if (at < 0 ||
      (!__builtin_mul_overflow(parent->shape[at], size, &product) && product <= INT64_MAX / 2))
    return true;
  return error_set(err, RG_ERROR_TREE_TOO_LARGE, "axis '%c' would have more than 2^62 cells",
                   letter);
}

/* A list's and a hash's axes cannot be divided by other levels above: a list has no cells to
 * divide, and an unbounded axis no extent. */
static bool check_own_axes(const SNode *parent, SNodeKind kind, const char *axes, Error *err) {
  if (snode_has_lists(parent)) {
    error_set(err, RG_ERROR_TREE_DECLARATION,
              "a %s node holds fields only: nothing can be declared below it",
              snode_kind_text(parent->kind));
    return error_hint(err, "put the %s node below: each cell of the other then has a list",
                      snode_kind_text(parent->kind));
  }
  if (!snode_kind_has(kind, SNODE_OWN_AXES)) return true;
  if (snode_kind_has(kind, SNODE_LISTS) && axes[1])
    return error_set(err, RG_ERROR_TREE_DECLARATION,
                     "a %s node is a list along one axis, not along \"%.16s\"",
                     snode_kind_text(kind), axes);
  for (const char *letter = axes; *letter; letter++)
    if (snode_axis_position(parent, *letter - 'i') >= 0)
      return error_set(err, RG_ERROR_TREE_DECLARATION,
                       "axis '%c' of a %s node is already divided above it: it needs its own",
                       *letter, snode_kind_text(kind));
  return true;
}

bool snode_check_chunk(SNodeKind kind, int64_t n, int64_t *chunk, Error *err) {
  enum { DEFAULT_CHUNK = 32 };
  if (!snode_kind_has(kind, SNODE_LISTS)) {
    if (!*chunk) return true;
    return error_set(err, RG_ERROR_TREE_DECLARATION, "only a dynamic node has chunks, not a %s one",
                     snode_kind_text(kind));
  }
  if (n > INT32_MAX)
    return error_set(err, RG_ERROR_TREE_TOO_LARGE,
                     "a list of a dynamic node has at most 2147483647 elements, not %lld",
                     (long long)n);
  if (*chunk < 0)
    return error_set(err, RG_ERROR_TREE_DECLARATION, "a chunk has at least 1 element, not %lld",
                     (long long)*chunk);
  if (!*chunk) *chunk = DEFAULT_CHUNK;
  if (*chunk > n) *chunk = n;
  return true;
}

/* "dense, bitmasked, .. or hash" */
static const char *list_kinds(char text[80]) {
  int length = 0;
  for (int k = SNODE_ROOT + 1; k < SNODE_KIND_COUNT; k++) {
    const char *before = k == SNODE_ROOT + 1 ? "" : k == SNODE_KIND_COUNT - 1 ? " or " : ", ";
    length +=
        snprintf(text + length, 80 - (size_t)length, "%s%s", before, snode_kind_text((SNodeKind)k));
    ASSERT(length < 80, "the names of all kinds fit");
  }
  return text;
}

bool snode_check_child(const SNode *parent, SNodeKind kind, const char *axes, const int64_t *sizes,
                       int size_count, int64_t sizes_out[SNODE_MAX_AXES], Error *err) {
  char kinds[80];
  if (kind <= SNODE_ROOT || kind >= SNODE_KIND_COUNT)
    return error_set(err, RG_ERROR_TREE_DECLARATION, "a child node is %s", list_kinds(kinds));
  if (!snode_check_open(parent, err) || !check_letters(axes, err)) return false;
  if (parent->depth + 1 >= SNODE_MAX_DEPTH)
    return error_set(err, RG_ERROR_TREE_DECLARATION, "a tree has at most %d levels below its root",
                     SNODE_MAX_DEPTH - 1);
  if (!check_own_axes(parent, kind, axes, err)) return false;
  int axis_count = (int)strlen(axes);
  if (snode_kind_has(kind, SNODE_UNBOUNDED)) {
    if (size_count)
      return error_set(err, RG_ERROR_TREE_DECLARATION,
                       "a %s node has no sizes: its axes are unbounded", snode_kind_text(kind));
    for (int k = 0; k < axis_count; k++) sizes_out[k] = 0;
    return true;
  }
  if (size_count != 1 && size_count != axis_count)
    return error_set(err, RG_ERROR_TREE_DECLARATION, "\"%s\" takes one size, or %d: %d given", axes,
                     axis_count, size_count);
  uint64_t cells = 1;
  for (int k = 0; k < axis_count; k++) {
    sizes_out[k] = sizes[size_count == 1 ? 0 : k];
    if (sizes_out[k] < 1)
      return error_set(err, RG_ERROR_TREE_DECLARATION,
                       "the size of axis '%c' must be at least 1, got %lld", axes[k],
                       (long long)sizes_out[k]);
    if (too_large(sizes_out[k], &cells))
      return error_set(err, RG_ERROR_TREE_TOO_LARGE,
                       "a node of more than 2^46 cells does not fit in any memory");
    if (!check_extent(parent, axes[k], sizes_out[k], err)) return false;
  }
  return true;
}

/* Bytes from the start of the block that holds `node`'s container to the end of its last
 * container. */
static uint64_t last_byte_in_block(const SNode *node) {
  uint64_t end = node->container_size;
  for (const SNode *at = node; at->parent; at = at->parent) {
    const SNodeComponent *component = &at->parent->components[at->component_in_parent];
    end += component->offset;
    if (snode_is_managed(at->parent)) break;
    end += (at->parent->cell_count - 1) * component->stride;
  }
  return end;
}

bool snode_check_layout(const SNodeTree *tree, Error *err) {
  char name[80];
  uint64_t limit = tree->is_sparse ? SNODE_MAX_ARENA - 4096 : SNODE_MAX_DENSE;
  if (tree->root_size > limit)
    return error_set(err, RG_ERROR_TREE_TOO_LARGE, "tree%s needs %.0f GiB at once, more than %s",
                     snode_quoted(tree->name, name), (double)tree->root_size / (1 << 30),
                     tree->is_sparse ? "the 256 GiB of a sparse tree" : "any memory");
  for (int k = 0; k < tree->manager_count; k++) {
    const SNode *node = tree->managers[k];
    if (node->node_size > limit)
      return error_set(
          err, RG_ERROR_TREE_TOO_LARGE,
          "each node of%s%s (%s) needs %.0f GiB, more than the 256 GiB of a sparse tree",
          node->name[0] ? "" : " a", snode_quoted(node->name, name), snode_kind_text(node->kind),
          (double)node->node_size / (1 << 30));
    if (snode_has_slots(node) && last_byte_in_block(node) > SNODE_MAX_SLOT_BYTES)
      return error_set(err, RG_ERROR_TREE_TOO_LARGE,
                       "the slots of %s node%s reach past 16 GiB in one block",
                       snode_kind_text(node->kind), snode_quoted(node->name, name));
  }
  return true;
}
