/* store.h - what all trees of a runtime share: the device that provides their memory, the budget,
 * and the context of native calls into the runtime. One thread at a time is inside its owner
 * (base/owner.h). */
#ifndef RG_TREE_MEMORY_STORE_H
#define RG_TREE_MEMORY_STORE_H

#include "base/owner.h"
#include "counted/heap.h"
#include "base/scratch.h"
#include "device/device.h"
#include "regolith.h"
#include "type/table.h"

typedef struct Tree Tree;   /* tree.h */
typedef struct Block Block; /* block.h */

typedef struct StoreStats { /* of destroyed trees; managers have the counts of other trees */
  uint64_t gcs, activations, deactivations, lists;
} StoreStats;

typedef struct Store {
  Owner *owner;
  Heap *heap;     /* the owner's heap */
  Device *device; /* borrowed; NULL after the runtime's end */
  RtBudget budget;
  RtContext host;       /* for native calls into the runtime: one tree, worker 0 */
  RtTree *host_tree;    /* host.trees */
  DeviceMemory ambient; /* read-only zeros, as large as the largest node of all trees */
  uint8_t *zeros;       /* its host address */
  Tree *trees;          /* linked by next; newest first */
  Block *blocks;        /* blocks with memory, linked likewise */
  CountedHeap counted;  /* counted arrays that kernels and extensions allocate */
  int32_t tree_count;   /* trees ever created: RtTree.number */
  uint32_t changes;     /* incremented when the topology of any tree may have changed */
  bool tiny_chunks;     /* RG_STRESS */
  bool gc_is_stopped;
  bool is_short; /* the budget was exhausted, and nothing has been freed since */
  /* does the address belong to memory of other ranks? NULL without ranks */
  bool (*is_of_ranks)(const void *ranks, const uint8_t *at);
  const void *ranks;
  StoreStats stats;
  TypeTable types; /* struct types of its fields and of launch arguments */
  RgVector vector; /* the vector returned by the last call, if any */
  char vector_type[TYPE_NAME_SIZE];
  Scratch text; /* texts returned by calls; valid until the next store_text */
} Store;

typedef struct StoreOptions {
  uint64_t memory_bytes; /* the budget */
  bool tiny_chunks;
  CountedMode allocations;
} StoreOptions;

/* On failure store_deinit frees what exists. */
bool store_init(Store *store, Owner *owner, Device *device, const StoreOptions *options,
                Error *err);
/* Reads the text of a type for `what` ("fields"). Returns its name, which the caller frees; NULL
 * with err. */
char *store_read_type(Store *store, const char *text, const char *what, Type *type, Error *err);
/* Frees the memory of all trees; their handles stay. */
void store_deinit(Store *store);
/* Empties and returns store->text: for texts that are valid until the next call. */
Scratch *store_text(Store *store);
/* Frees deactivated nodes of `tree`, unless gc is stopped. */
void store_collect(Tree *tree);
/* The same for every tree, even if gc is stopped. `trims`: also returns free pages to the
 * system. */
void store_collect_all(Store *store, bool trims);
/* Charges bytes to the budget for `what`, as in "tree 't'"; if it is exhausted, sets
 * memory.budget. */
bool store_charge(Store *store, uint64_t needed, const char *what, Error *err);
/* The largest users of the budget, as ": tree 'grid' 2 GiB, array 'x' 40 MiB, 3 more 1 MiB"; "" if
 * nothing uses it. */
const char *store_holders(const Store *store, char *text, size_t size);
void store_uncharge(Store *store, uint64_t bytes); /* returns bytes to the budget */
/* The next larger power of two, in the notation of rg.init. */
const char *store_more_than(uint64_t bytes, char buffer[32]);
/* If the budget was exhausted: makes free memory of each tree available to all. Repeats that until
 * some was freed. */
void store_relieve(Store *store);
StoreStats store_stats(const Store *store);
/* False with err if allocations are not counted. */
bool store_allocations(Store *store, RgAllocations *allocations, Error *err);

/* usage.c: memory usage. */
/* Calls device_reach for every tree; call it before any of the following. */
bool store_reach(Store *store, DeviceUse use, Error *err);
void store_memory(const Store *store, RgMemory *memory);
/* False past the last row. */
bool store_memory_node(Store *store, int32_t row, RgNodeMemory *node);
/* "2 MiB" in `buffer`. */
const char *bytes_text(uint64_t bytes, char buffer[32]);

#endif
