/* tree.h - trees as their users hold them: handles of trees, nodes and fields, their memory, and
 * all access to their elements outside kernels: single elements, bulk copies, walks, counts. Uses
 * layouts (snode) and the runtime's data (rt.h); independent of kernels. */
#ifndef RG_TREE_TREE_H
#define RG_TREE_TREE_H

#include "regolith.h"
#include "snode/snode.h"
#include "tree/memory/store.h"

typedef struct Node Node;   /* RgSNode: a handle of an SNode */
typedef struct Field Field; /* RgField */

/* -- trees: tree.c, storage.c ------------------------------------------------------------------ */
typedef struct NodeOrder NodeOrder; /* index_order.c */

struct Node {
  Tree *tree;
  SNode *snode;
  NodeOrder *order; /* active nodes in index order, built by a walk; NULL: none */
};

struct Tree {
  Object object;
  Store *store;
  SNodeTree *layout;
  Node **nodes; /* one handle per SNode, in the order they were added */
  int node_count, node_capacity;
  bool has_storage;
  bool is_peer;       /* a tree of another process: tree_peer */
  bool is_window;     /* other processes have it as a peer, so its memory may not move */
  char *destroyed_at; /* "script.lua:40"; NULL: not destroyed */
  RtTree rt;
  DeviceMemory arena, tables; /* storage.c */
  uint64_t *published;        /* with hashes: words in `tables` that peers read; see peer.c */
  int32_t readers;            /* number of windows through which others may read it */
  Block *arena_block;         /* the block that owns the arena, once there is storage */
  Tree *next;
};

Tree *tree_create(Store *store, const char *name, Error *err);
/* peer.c: a laid-out tree of another process. It has the same declaration as `of`, memory at `base`
 * and, if it has hashes, tables at `tables`; both must stay until the peer is destroyed. The
 * elements of a sparse peer, and whether its cells are active, can only be read one by one, as the
 * lists of its nodes are only in its own process. */
Tree *tree_peer(const Tree *of, uint8_t *base, uint8_t *tables, Error *err);
/* Other processes read a tree with hashes between tree_read_begin and tree_read_end, except during
 * tree_publish, which all ranks call in a barrier. After it, tree_refresh_peer makes a peer use the
 * tables that its tree has published. */
static inline bool tree_has_hashes(const Tree *tree) { return tree->published; }
void tree_read_begin(Tree *tree);
bool tree_publish(Tree *tree, Error *err);
void tree_read_end(Tree *tree);
bool tree_refresh_peer(Tree *peer, Error *err);
enum { TREE_PUBLISHED_HEAD = 3 }; /* words of `published` before those of the managers */
/* Is it a sparse tree of another process? */
static inline bool tree_is_view(const Tree *tree) {
  return tree->is_peer && tree->layout->is_sparse;
}
/* False with err if it is a peer's. */
bool tree_check_own(const Tree *tree, Error *err);
/* Frees the tree's memory; later uses of a handle report `where`. */
bool tree_destroy(Tree *tree, const char *where, Error *err);
/* Do the tree and its runtime still exist? Otherwise sets handle.destroyed. */
bool tree_check(const Tree *tree, Error *err);
/* Lays the tree out and allocates its memory, once. */
bool tree_lay_out(Tree *tree, const char *where, Error *err);
/* Call this before a use of a laid-out tree's memory outside kernels: see device_reach. */
bool tree_reach(Tree *tree, DeviceUse use, Error *err);
/* tree_lay_out, then tree_reach. */
bool tree_prepare(Tree *tree, DeviceUse use, Error *err);
/* Private to this room: make a tree without a layout, and the handle of a new SNode; NULL with
 * err. */
Tree *tree_begin(Store *store, Error *err);
Node *tree_add_handle(Tree *tree, SNode *snode, Error *err);
/* The handle of `snode`. */
Node *tree_node(const Tree *tree, const SNode *snode);
/* A drawing of the tree; *text is in the store's text buffer. */
bool tree_text(const Tree *tree, const char **text, Error *err);
/* "tree 't'", or "the tree of field 'x'" if it has no name. */
const char *tree_label(const Tree *tree, char buffer[100]);

/* store.c: adds what the managers of `tree` counted. */
void store_count(StoreStats *stats, const Tree *tree);

bool storage_create(Tree *tree, Error *err);
bool storage_borrow(Tree *tree, const Tree *of, uint8_t *base, uint8_t *tables,
                    Error *err); /* see tree_peer */
void storage_free(Tree *tree);
/* For a tree with hashes, if the host only has a mirror: copies the table of chunks, with host
 * addresses, to where peers read it. */
void storage_publish_tables(const Tree *tree);
/* Returns chunks without a live node, and logs, to the system and the budget; returns how many
 * bytes. */
uint64_t storage_compact(Tree *tree);
/* Returns pages of nodes that are neither live nor recycled to the system. */
void storage_trim(Tree *tree);
/* The store's native context, set up for calls on `tree`, which is tree 0 in it. */
RtContext *storage_context(Tree *tree);
/* Sets memory.budget, naming the level that could not grow. */
bool storage_budget_error(const Tree *tree, int32_t manager, Error *err);
/* Sets list.full, naming the list. */
bool storage_full_error(const Tree *tree, int32_t manager, Error *err);

/* masks.c: builds RtTree.masks from the layout. On failure masks_free frees what exists. */
bool masks_create(Tree *tree, Error *err);
void masks_free(Tree *tree);

/* -- nodes: node.c ----------------------------------------------------------------------------- */
typedef enum NodeAction {
#define ACTION(NAME, WORD) NODE_##NAME,
#include "tree/action.def"
#undef ACTION
} NodeAction;

Node *node_add(Node *parent, SNodeKind kind, const char *axes, const int64_t *sizes,
               int32_t size_count, const SNodeOptions *options, Error *err);
/* See rg_snode_call. */
bool node_call(Node *node, NodeAction action, const int64_t *index, int32_t index_count,
               int64_t *result, Error *err);
/* node_list.c: the same for dynamic nodes, with the indices of the list. action is LENGTH, POP or
 * DEACTIVATE. */
bool node_list_call(Node *node, NodeAction action, const int64_t *index, int32_t index_count,
                    int64_t *result, Error *err);
bool node_append(Node *node, const int64_t *index, int32_t index_count, const RgValue *values,
                 int32_t value_count, int64_t *slot, Error *err);
/* The value in a cell of the node's field `number` (in order of placement); NIL past the last. */
bool node_value(Node *node, int32_t number, const int64_t *index, int32_t index_count,
                RgValue *value, Error *err);
/* The type of that field, such as "vec2"; NULL past the last. Valid until the next call. */
const char *node_field_type(Node *node, int32_t number);
/* See rg_snode_rescale. */
bool node_rescale(const Node *from, const Node *to, const int64_t *index, int32_t index_count,
                  int64_t *out, Error *err);
/* The level's declaration; the tree is laid out. */
bool node_level(Node *node, RgLevel *level, Error *err);
/* The active cell after *state in index order; *state is 0 at first, -1 at the end: see
 * rg_snode_next. */
bool node_next(Node *node, int64_t *state, int64_t *index, Error *err);
/* The first active cell after `index`, or the first of all; *is_there is false if there is none. */
bool node_next_after(Node *node, bool has_begun, int64_t *index, bool *is_there, Error *err);
void node_order_free(Node *node);
const char *node_label(const Node *node, char buffer[100]); /* "node 'x'" */
/* The number of active cells of a laid-out level. */
int64_t node_count_cells(const Node *node);
/* index.c: writes "3, 16": as many of the numbers as fit. */
void numbers_join(char *out, size_t size, const int64_t *numbers, int count, const char *between);
/* The same as index_check, without an error. Without axes there is one element, at index 0. */
bool index_is_inside(const int64_t *shape, const int64_t *offset, int rank, const int64_t *index,
                     int32_t index_count);
/* Checks an index; if it is invalid, sets index.range or index.count. `what` is "field 'x'". An
 * extent of 0 is unbounded. `offset` is the first index; NULL: 0. */
bool index_check(const int64_t *shape, const int64_t *offset, int rank, const int64_t *index,
                 int32_t index_count, const char *what, Error *err);
bool node_check_index(const Node *node, const int64_t *index, int32_t index_count, const char *what,
                      Error *err);
/* The same for indices that start at `offset`. */
bool node_check_index_from(const Node *node, const int64_t *offset, const int64_t *index,
                           int32_t index_count, const char *what, Error *err);

/* -- fields: field.c, bulk.c ------------------------------------------------------------------- */
struct Field {
  Object object;
  Store *store;
  Type type;
  char *name;
  Node *node;                     /* where it is placed; NULL: not placed yet */
  int component;                  /* component of its first number; the others follow */
  int64_t offset[SNODE_MAX_AXES]; /* the first index of each axis */
  bool has_offset;                /* an offset is not 0 */
  bool is_watched;                /* a launch that writes a NaN or an infinity to it fails */
  char *type_name;
  /* held: the fields of its gradient, and of its derivative along a direction, which are placed
   * with it; NULL: none. With both, the gradient has a dual, too */
  Field *gradient, *dual;
  Packed packed;     /* how its numbers are stored; kind NONE: not packed */
  char *packing;     /* packed: the name of its type; type_name is that of the computed type */
  Field **words;     /* packed and placed: by part, the field of the word it is in, held; or NULL */
  uint64_t *decoded; /* packed: the element of the last run, see field_next_run */
};

Field *field_create(Store *store, const char *type, const char *name, Error *err);
bool field_place(Node *node, Field *field, Error *err);
/* packed.c: places packed fields in common words of `word_bits` (8 .. 64; 0: the smallest that is
 * large enough). A single field under a dense node becomes a packed array, in which neighbours
 * along the node's last axis share words, unless `alone`. */
bool field_place_packed(Node *node, Field *const *fields, int count, int word_bits, bool alone,
                        Error *err);
/* Gives a field that is not placed yet a gradient: a field of the same type, which is placed under
 * the same node. Returns it, borrowed; NULL with err. */
Field *field_add_gradient(Field *field, Error *err);
/* The same for its derivative along a direction, of a field that has its gradient already. */
Field *field_add_dual(Field *field, Error *err);
/* peer.c: the same field of a peer of its tree. */
Field *field_peer(const Field *of, Tree *peer, Error *err);
/* `count` is the number of its axes; the node must be dense from the root down, and not laid
 * out. */
bool field_set_offset(Field *field, const int64_t *offset, int32_t count, Error *err);
/* Checks that the field is placed and not destroyed, and lays out its tree: the first step of every
 * use. `where` may be NULL. */
bool field_lay_out(Field *field, const char *where, Error *err);
/* field_lay_out, then tree_reach. */
bool field_prepare(Field *field, DeviceUse use, Error *err);
const char *field_label(const Field *field, char buffer[100]); /* "field 'x'" */
bool field_get(Field *field, const int64_t *index, int32_t index_count, RgValue *value, Error *err);
bool field_set(Field *field, const int64_t *index, int32_t index_count, const RgValue *value,
               Error *err);
/* Sets *to to the element that the field would have after setting it to *from. */
bool field_convert(const Field *field, const RgValue *from, RgValue *to, Error *err);
bool field_fill(Field *field, const RgValue *value, Error *err);
bool field_copy(Field *field, Field *from, Error *err);
bool field_read(Field *field, double *values, int64_t count, Error *err);
bool field_read_i64(Field *field, int64_t *values, int64_t count, Error *err);
bool field_write(Field *field, const double *values, int64_t count, Error *err);
bool field_write_i64(Field *field, const int64_t *values, int64_t count, Error *err);
bool field_pointer(Field *field, void **pointer, Error *err);
/* view.c: see RgView. */
bool field_view(Field *field, RgView *view, Error *err);
bool field_next_run(Field *field, RgRun *run, Error *err); /* see RgRun */
bool field_get_run(Field *field, const int64_t *index, int32_t index_count, RgValue *value,
                   RgRun *run, Error *err);
bool field_next(Field *field, int64_t *state, int64_t *index, RgValue *value, Error *err);

#endif
