/* store.h - what all trees of a runtime share: the device whose memory they take, the budget, and the context of native
 * calls into the runtime. Inside its owner one thread works at a time (base/owner.h). */
#ifndef RG_TREE_STORE_H
#define RG_TREE_STORE_H

#include "base/owner.h"
#include "base/scratch.h"
#include "device/device.h"
#include "regolith.h"
#include "type/type.h"

typedef struct Tree Tree;     /* tree.h */

typedef struct StoreStats {   /* of trees that are gone; the others count in their managers */
  uint64_t gcs, activations, deactivations, lists;
} StoreStats;

typedef struct Store {
  Owner *owner;
  Heap *heap;                 /* the owner's */
  Device *device;             /* borrowed; NULL after the runtime's end */
  RtBudget budget;
  RtContext host;             /* what native calls into the runtime bring: one tree, worker 0 */
  RtTree *host_tree;          /* host.trees */
  DeviceMemory ambient;       /* read-only zeros, as large as the largest node of all trees */
  uint8_t *zeros;             /* where the host sees them */
  Tree *trees;                /* linked by next; newest first */
  int32_t tree_count;         /* ever made: RtTree.number */
  bool tiny_chunks;           /* RG_STRESS */
  bool gc_is_stopped;
  bool is_short;              /* the budget was exhausted since the last store_relieve */
  StoreStats stats;
  RgVector vector;            /* what the last call gave back, where that is a vector */
  char vector_type[TYPE_NAME_SIZE];
  Scratch text;               /* what text calls gave back; until the next call of store_text */
} Store;

typedef struct StoreOptions {
  uint64_t memory_bytes;      /* the budget */
  bool tiny_chunks;
} StoreOptions;

/* On failure store_deinit gives back what there is. */
bool store_init(Store *store, Owner *owner, Device *device, const StoreOptions *options, Error *err);
/* Gives all memory of all trees back; their handles stay. */
void store_deinit(Store *store);
/* Empties store->text and gives it back: for texts that live until the next call. */
Scratch *store_text(Store *store);
/* Frees deactivated nodes of `tree` unless gc was stopped. */
void store_collect(Tree *tree);
/* Of every tree, whether gc was stopped or not. trims: free pages leave the process. */
void store_collect_all(Store *store, bool trims);
/* Once after the budget was exhausted: what is free in any tree can be used by all. */
void store_relieve(Store *store);
StoreStats store_stats(const Store *store);

/* usage.c: what memory there is. */
void store_memory(const Store *store, RgMemory *memory);
/* False where there is no such row. */
bool store_memory_node(Store *store, int32_t row, RgNodeMemory *node);
/* "2 MiB" in `buffer`. */
const char *bytes_text(uint64_t bytes, char buffer[32]);

#endif
