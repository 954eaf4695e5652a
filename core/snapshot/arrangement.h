/* arrangement.h - where a tree's nodes are, and the order in which they are listed, handed out and
 * freed. The order of later loops depends on these, so restoring them lets a simulation continue as
 * if it had not been interrupted, to the last bit of a sum over cells. Private to this room.
 * Nodes are named by their numbers: their positions in the chunks of their manager. An arrangement
 * belongs to one layout of memory; with any other it is ignored, and nodes are ordered by
 * coordinates.
 * Stored as vectors of 4-byte words, for each manager:
 *
 *     head     node size / 64, flags, drift of the list, workers
 *     chunks   segments, nodes, nodes handed out: of each
 *     live     active nodes by coordinates
 *     list     free    recycled                              in their orders
 *     free     touched                                       of each worker */
#ifndef RG_SNAPSHOT_ARRANGEMENT_H
#define RG_SNAPSHOT_ARRANGEMENT_H

#include "io/pack.h"
#include "tree/access/cell.h"

typedef struct Words {
  uint32_t *at;
  uint32_t count;
} Words;

enum { ARRANGED_HAS_LIST = 1, ARRANGED_IS_CURRENT = 2 };
typedef struct ArrangedHead {
  uint32_t node_granules, flags, drift, workers;
} ArrangedHead;
typedef struct ArrangedChunk {
  uint32_t segments, node_count, handed_out;
} ArrangedChunk;

typedef struct ArrangedManager {
  ArrangedHead head;
  Words chunks, live, list, free, recycled;
  Words *own_free, *touched; /* by worker */
} ArrangedManager;

typedef struct Arrangement {
  Scratch memory;
  ArrangedManager *managers;
  int count;
} Arrangement;

/* Does the tree's device keep nodes in memory that the host sees? */
bool arrangement_is_known(const Tree *tree);
/* The tree must be refreshed; `nodes` are those of each manager, sorted by coordinates. */
void arrangement_write(Tree *tree, const CellNodes *nodes, Packer *packer);
/* False with err. Whether it fits a tree is not checked here. Must run below a guard. */
bool arrangement_read(Arrangement *arrangement, Heap *heap, int manager_count, Unpacker *unpacker,
                      Error *err);
void arrangement_free(Arrangement *arrangement);

/* Prepares an empty tree so that its nodes, activated in the order of coordinates, get their
 * places. False if that is impossible here; the tree is then unchanged. */
bool arrangement_begin(const Arrangement *arrangement, Tree *tree);
/* Does the refreshed tree have as many nodes as the arrangement? */
bool arrangement_fits(const Arrangement *arrangement, const Tree *tree);
/* Restores the lists afterwards. */
bool arrangement_end(const Arrangement *arrangement, Tree *tree, Error *err);

#endif
