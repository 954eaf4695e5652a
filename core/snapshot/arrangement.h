/* arrangement.h - where a tree's nodes are, and in which order they are listed, handed out and
 * freed: all on which the order of later loops depends, so that a simulation goes on as if it had
 * not been interrupted, to the last bit of a sum over cells. For this room alone.
 * Nodes are named by their numbers: their places in the chunks of their manager. It belongs to one
 * layout of memory; where there is another, it is left out, and nodes come by coordinates.
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
#include "tree/cell.h"

typedef struct Words {
  uint32_t *at;
  uint32_t count;
} Words;

enum { ARRANGED_HAS_LIST = 1, ARRANGED_IS_CURRENT = 2 };
typedef struct ArrangedHead {
  uint32_t node_granules, flags, drift, workers;
} ArrangedHead;
typedef struct ArrangedChunk {
  uint32_t segments, node_count, handed;
} ArrangedChunk;

typedef struct ArrangedManager {
  ArrangedHead head;
  Words chunks, live, list, free, recycled;
  Words *own_free, *touched;   /* by worker */
} ArrangedManager;

typedef struct Arrangement {
  Scratch memory;
  ArrangedManager *managers;
  int count;
} Arrangement;

/* Does the tree's device keep nodes where and as the host sees them? */
bool arrangement_is_known(const Tree *tree);
/* The tree is refreshed; `nodes` of each manager by coordinates. */
void arrangement_write(Tree *tree, const CellNodes *nodes, Packer *packer);
/* NULL with err. It fits no tree yet. Below a guard. */
bool arrangement_read(Arrangement *arrangement, Heap *heap, int manager_count, Unpacker *unpacker,
                      Error *err);
void arrangement_free(Arrangement *arrangement);

/* Prepares an empty tree, so that its nodes, activated by coordinates, come to their places. False:
 * it cannot be so here, and the tree is as before. */
bool arrangement_begin(const Arrangement *arrangement, Tree *tree);
/* Has the refreshed tree as many nodes as it is for? */
bool arrangement_fits(const Arrangement *arrangement, const Tree *tree);
/* Then lists become what they were. */
bool arrangement_end(const Arrangement *arrangement, Tree *tree, Error *err);

#endif
