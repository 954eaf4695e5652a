/* snode.h - the declaration of a sparse tree and, once laid out, every size and offset in it.
 *
 * A *container* of an SNode is one instance of it in memory; it has cell_count cells.
 *   root, dense: the container holds, per component (a child SNode or a field), one run:
 *       component of cell c at   container + component.offset + c * component.stride
 *     (layout "soa": a run per component; "aos": stride = record size, offset within the record).
 *   pointer: the container is uint32_t slots[cell_count]: handles. A live slot leads to a *node*,
 *     which holds the components of that ONE cell:
 *       component of a node at   node + component.offset            (stride unused, 0)
 *   bitmasked: like dense, and after the runs a bit per cell: bit c % 64 of the 64-bit word c / 64
 *     at container + mask_offset. An inactive cell's memory is zero.
 *   dynamic: a list along its one axis: uint32_t length, uint32_t lock, then
 *     uint32_t slots[ceil(n / chunk)]. A node holds `chunk` cells in runs or records:
 *       component of element k at   node of slot k / chunk + component.offset
 *                                   + k % chunk * component.stride
 *     Elements from `length` on are zero.
 *   hash: has no container; a table of its manager maps coordinates to a node, which is like a
 *     pointer's. Its axes have no extent: size and shape are 0 there.
 * The SNodes whose cells are in nodes (pointer, dynamic, hash) have a manager number (dense in the
 * tree, 0, 1, ..) and a node_size. The root's container has one cell. Sizes are bytes; offsets are
 * aligned to the component's needs (a dense container and a run of 64 bytes or more are aligned to
 * 64, smaller ones to their size's power of two); node_size is a multiple of 64.
 *
 * Knows neither runtime memory nor kernels. A tree is allocated from the Heap it was created
 * with. */
#ifndef RG_SNODE_SNODE_H
#define RG_SNODE_SNODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"
#include "base/scratch.h"
#include "base/str.h"
#include "type/packed.h"
#include "type/table.h"

enum {
  SNODE_MAX_AXES = 8,
  SNODE_MAX_DEPTH = 16,
  SNODE_DYNAMIC_SLOTS = 8, /* bytes before a list's slots */
  SNODE_ROW_NUMBERS = 4    /* bytes before the numbers in a row of elements */
};

typedef enum SNodeKind {
#define KIND(NAME, WORD, FACTS) SNODE_##NAME,
#include "snode/kind.def"
#undef KIND
  SNODE_KIND_COUNT
} SNodeKind;
/* Properties of kinds: see kind.def. */
enum {
  SNODE_CELLS = 1 << 0,
  SNODE_NODES = 1 << 1,
  SNODE_SLOTS = 1 << 2,
  SNODE_LISTS = 1 << 3,
  SNODE_BITS = 1 << 4,
  SNODE_KEYED = 1 << 5,
  SNODE_UNBOUNDED = 1 << 6,
  SNODE_OWN_AXES = 1 << 7
};

typedef struct SNode SNode;
typedef struct SNodeTree SNodeTree;
typedef struct SNodePath SNodePath; /* path.h */

/* Where a packed number is: in bits of a word, which is another component. */
typedef struct SNodePacked {
  Packed as;
  SNode *words;       /* the SNode that holds the word: its own, or its packed array's */
  int word;           /* the word's component there */
  int shift;          /* the lowest of its bits */
  int exponent_shift; /* of a shared exponent's; otherwise 0 */
  int first, count;   /* parts of the element that share the exponent; otherwise 0, 0 */
  /* 1: the word has the number's indices. More: as many neighbours along the last axis are in one
   * word, each as.bits above the one before, and the word's last index is floor(index / per_word)
   * within its container */
  int per_word;
} SNodePacked;

/* A component of a cell: a child SNode's container, or one element of a field. */
typedef struct SNodeComponent {
  SNode *child; /* NULL: a field */
  Type type;    /* type of the field's element, or of one number of it */
  Type whole;   /* type of the field's element */
  int part;     /* which number of it this component is; 0 begins a field */
  /* for a struct: offset of the number in a record, and the record's size and alignment, as in C */
  uint32_t within, whole_size, whole_alignment; /* bytes; 0, 0, 0: not of a struct */
  char *name;                                   /* name of the field; may be "" */
  uint64_t offset;                              /* bytes, after layout */
  uint64_t stride;                              /* bytes between cells, after layout */
  uint32_t row; /* in a list, after layout: its offset in a row of elements (RtNumber) */
  /* After layout: the first component of the fields that are interchangeable with this one, that
   * is, which have the same type and differ only in `offset`; -1: there are none. Kernels share one
   * version for such fields. */
  int interchangeable_with;
  /* the components of the same node that hold its gradient, and its derivative along a direction,
   * plus 1; 0: it has none */
  int gradient, dual;
  SNodePacked *packed;  /* NULL: it is stored as it is. Else it takes no memory of its own */
  uint64_t packed_bits; /* of a word of packed numbers: the bits that they use; otherwise 0 */
} SNodeComponent;

struct SNode {
  SNodeKind kind;
  SNodeTree *tree;
  SNode *parent; /* NULL for the root */
  int id;        /* index in tree->nodes; the root is 0 */
  int depth;     /* the root is 0 */
  char *name;    /* may be "" */
  bool aos;
  /* axes: letters i..p are 0..7. A node divides some of them. */
  int axis_count;                /* number of axes that this node divides */
  uint8_t axes[SNODE_MAX_AXES];  /* which axes (0..7), in the order given */
  int64_t sizes[SNODE_MAX_AXES]; /* cells along axes[k]; hash: 0 */
  int64_t chunk;                 /* dynamic: cells of one node; otherwise 0 */
  uint32_t row_bytes;            /* dynamic, after layout: bytes of a row of elements */
  SNodeComponent *components;
  int component_count, component_capacity;
  uint32_t component_in_parent; /* this node's row in parent->components */
  /* after layout: */
  /* product of sizes; the root 1; hash: 1, since its cells are not enumerated */
  uint64_t cell_count;
  uint64_t container_size; /* bytes of one container */
  uint64_t mask_offset;    /* bitmasked: offset of the words in the container; otherwise 0 */
  uint64_t node_size;      /* managed: bytes of one node, a multiple of 64; otherwise 0 */
  int manager;             /* managed: its manager number; otherwise -1 */
  int mask;                /* bitmasked: its mask number in the tree; otherwise -1 */
  /* the number of axes in use from the root to here: the indices of a cell */
  int rank;
  uint8_t level_axes[SNODE_MAX_AXES]; /* those axes, ascending */
  /* by position in level_axes: cells of this level over the whole tree; 0: unbounded */
  int64_t shape[SNODE_MAX_AXES];
  SNodePath *path; /* from the root to its cells */
};

struct SNodeTree {
  Heap *heap;
  int references;
  char *name;
  SNode **nodes; /* by id; nodes[0] is the root */
  int node_count, node_capacity;
  bool laid_out;
  char fixed_at[200]; /* "script.lua:12": the use that laid it out, for messages */
  int manager_count;
  SNode **managers;   /* managed nodes by manager number */
  int mask_count;     /* bitmasked nodes */
  uint64_t root_size; /* bytes of the root's container, a multiple of 64 */
  bool is_sparse;     /* has a managed node */
  /* equal for trees of one layout: kinds, axes, sizes, types, order, aos; without names */
  uint64_t layout_hash;
  /* a grid's tree: on each rank its indices are those of the whole simulation
   * (rg_field_set_global) */
  bool is_global;
  bool is_partial; /* its memory may be only partly on this rank: IrKernel.is_bounded */
};

/* NULL with err on failure */
SNodeTree *snode_tree_create(Heap *heap, const char *name, Error *err);
/* A tree and the code compiled for it share the declaration: each has one reference, and create
 * returns the first. The last release frees it. One thread at a time. */
void snode_tree_retain(SNodeTree *tree);
void snode_tree_release(SNodeTree *tree);
static inline SNode *snode_root(const SNodeTree *tree) { return tree->nodes[0]; }

typedef struct SNodeOptions {
  const char *name; /* NULL: none */
  bool aos;
  int64_t chunk; /* dynamic: cells of a chunk; 0: 32, or fewer if there are fewer */
} SNodeOptions;

/* Adds a child. `axes` are letters i..p ("ij"); size_count is 1 (one size for all axes) or one per
 * axis; a hash has no sizes. Errors, each with one sentence: a laid-out tree (naming fixed_at),
 * unknown or repeated letters, sizes below 1, products that no memory can hold, an axis of a
 * dynamic or hash node that is divided above, nodes below a dynamic one. NULL with err on
 * failure. */
SNode *snode_add(SNode *parent, SNodeKind kind, const char *axes, const int64_t *sizes,
                 int size_count, const SNodeOptions *options, Error *err);
/* Places a field; returns its index in node->components, or -1 with err. */
int snode_place(SNode *node, Type type, const char *name, Error *err);
/* Places number `part` of a field whose elements are vectors or structs (of `types`, else NULL);
 * the numbers must be placed in order. */
int snode_place_part(SNode *node, const TypeTable *types, Type whole, int part, const char *name,
                     Error *err);
/* Declares that the component is packed in a word, which has been placed before. Only before
 * layout. */
bool snode_set_packed(SNode *node, int component, const SNodePacked *packed, Error *err);
/* Component `gradient` of the node, which has the same type, holds the gradient of `component`. */
void snode_set_gradient(SNode *node, int component, int gradient);
/* Is the component the gradient, or the dual, of another one? */
bool snode_is_derivative(const SNode *node, int component);
/* Component `dual` holds its derivative along a direction. */
void snode_set_dual(SNode *node, int component, int dual);
/* Computes every size and offset; `fixed_at` is the position in the user's program. Idempotent. */
bool snode_layout(SNodeTree *tree, const char *fixed_at, Error *err);

const char *snode_kind_text(SNodeKind kind);
bool snode_kind_parse(Str text, SNodeKind *kind);
bool snode_kind_has(SNodeKind kind, int facts); /* does it have all of these facts? */
static inline bool snode_has(const SNode *node, int facts) {
  return snode_kind_has(node->kind, facts);
}
/* Are all cells of a container active, and adjacent in memory? */
static inline bool snode_kind_is_dense(SNodeKind kind) {
  return snode_kind_has(kind, SNODE_CELLS) && !snode_kind_has(kind, SNODE_BITS);
}
static inline bool snode_is_dense(const SNode *node) { return snode_kind_is_dense(node->kind); }
static inline bool snode_is_managed(const SNode *node) { return snode_has(node, SNODE_NODES); }
static inline bool snode_has_slots(const SNode *node) { return snode_has(node, SNODE_SLOTS); }
static inline bool snode_has_lists(const SNode *node) { return snode_has(node, SNODE_LISTS); }
static inline bool snode_has_bits(const SNode *node) { return snode_has(node, SNODE_BITS); }
/* Is axis number `position` of the level unbounded? */
static inline bool snode_is_unbounded(const SNode *node, int position) {
  return node->shape[position] == 0;
}
/* The extent of axis number `position` for comparisons: larger than any index if it is
 * unbounded. */
static inline int64_t snode_extent(const SNode *node, int position) {
  return node->shape[position] ? node->shape[position] : INT64_MAX;
}

/* level.c: the nearest node level: the deepest SNode at or above `node` whose cells are in nodes,
 * or NULL. Loops over active cells visit its nodes. */
const SNode *snode_node_level(const SNode *node);
/* The nearest sparse level: the deepest SNode at or above `node` whose cells can be inactive, or
 * NULL. A cell of `node` is active if its cell on the sparse level is. */
const SNode *snode_sparse_level(const SNode *node);
/* Is there a bitmasked SNode at or above `node`, below `above` (NULL: the root)? */
bool snode_is_masked(const SNode *node, const SNode *above);
/* Cells of the level along an axis, over the whole tree; along an unbounded axis, within one cell
 * of the hash. */
int64_t snode_cells_along(const SNode *node, int axis);
/* Position of `axis` in node->level_axes, or -1. */
int snode_axis_position(const SNode *node, int axis);
/* Does the SNode itself divide the axis? */
bool snode_divides(const SNode *node, int axis);
/* After layout: how many cells of the level `below`, along one of its axes, are in one cell of
 * `node`, at or above it; along the axis of a list, in one chunk. An index of `below` divided by
 * that is an index of `node`. */
int64_t snode_divisor(const SNode *node, const SNode *below, int axis);

/* print.c: a drawing, one line per node, with sizes after layout: what `tostring(tree)` shows. */
void snode_print(StrBuf *out, const SNodeTree *tree);
/* The one-line form that IR text uses and snode_read reads back:
 *   root{ pointer "ijk" 64 64 64 block { dense "ijk" 8 8 8 { f32 t, f32 next } } } */
void snode_write_text(StrBuf *out, const SNodeTree *tree);
/* Reads that form from *text and moves *text past it. NULL with err on failure. The result is laid
 * out. */
SNodeTree *snode_read(Heap *heap, const char **text, Error *err);

#endif
