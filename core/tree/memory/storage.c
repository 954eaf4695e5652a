/* storage.c - allocates the memory of a laid-out tree: SNodeTree -> RtTree.
 *
 *     sparse  | 128 | root container | chunks of nodes .. | sinks |  one arena, sized as the budget
 *     dense   | root container |                                     its exact size
 *
 * Pages: a sparse root may be touched sparsely, and a tree of few nodes should stay small, so the
 * first SMALL_PAGES of chunks have small pages. The rest has huge pages, as nodes are allocated
 * from the arena's beginning. A dense container is used as a whole (arena.h).
 * Sinks: one per worker and manager, as large as its nodes; touched only when the budget is
 * exhausted. They are placed so that a private copy of the arena includes them
 * (device/private_copies.c). Sparse trees also have tables (one RtChunk and one owner per segment,
 * in a lazily committed range). Both ranges are the device's memory; tree->rt has their host
 * addresses.
 * The root's container is charged to the budget here, chunks by the runtime. */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "tree/memory/block.h"
#include "tree/access/cell.h"

#define LARGEST_ARENA ((uint64_t)1 << 38)
#define SMALL_PAGES ((uint64_t)8 << 20)

_Static_assert(SNODE_DYNAMIC_SLOTS == RT_LIST_SLOTS * sizeof(uint32_t),
               "the layout has the offset of a list's slots");
_Static_assert(SNODE_ROW_NUMBERS == (int)RT_ROW_NUMBERS, "the layout has the head of a log's row");

void storage_fill_level(RtLevel *level, const SNodeStep *step, const SNodeStep *own,
                        bool is_first) {
  bool has_slots = step == own; /* if not, the path continues with rows */
  level->offset = (is_first ? step->offset : 0) + (has_slots ? step->slots : step[1].offset);
  level->stride = has_slots ? sizeof(uint32_t) : step[1].stride;
  level->cell_count = step->cell_count;
  level->axis_count = step->digit_count;
  for (int k = 0; k < step->digit_count; k++) {
    const SNodeDigit *digit = &step->digits[k];
    level->positions[k] = digit->position;
    level->sizes[k] = digit->size;
    level->weights[k] = digit->weight / own->weight[digit->position];
  }
}

static void fill_manager(RtManager *manager, const SNode *node) {
  ASSERT(snode_is_managed(node) && node->path, "a manager is of a level of nodes, after layout");
  const SNode *above = snode_node_level(node->parent);
  const SNodeStep *own = snode_step(node, node),
                  *step = above ? snode_step(above, node) : node->path->steps;
  manager->node_size = node->node_size;
  manager->chunk = (int32_t)node->chunk;
  manager->parent = above ? above->manager : -1;
  manager->axis_count = node->rank;
  for (int k = 0; k < node->rank; k++) {
    manager->parent_positions[k] = above ? step->coordinate[k] : -1;
    /* the last chunk of a list may be partial */
    bool is_partial = step->weight[k] % own->weight[k];
    manager->parent_weights[k] = step->weight[k] / own->weight[k] + is_partial;
  }
  if (snode_has(node, SNODE_KEYED)) {
    manager->is_hash = 1;
    return;
  }
  ASSERT(own - step <= RT_MAX_LEVELS, "levels between two node levels fit");
  for (bool is_first = true; step++ != own; is_first = false)
    storage_fill_level(&manager->levels[manager->level_count++], step, own, is_first);
}

static size_t numbers_bytes(const SNode *list) {
  return align_up(sizeof(RtNumber) * (size_t)list->component_count, 64);
}
static size_t stage_bytes(const SNode *list) {
  return align_up(sizeof(RtStage) + RT_STAGE_ROWS * (size_t)list->row_bytes, 64);
}

/* Memory for lists besides their managers: a table of an element's numbers, and a stage per
 * worker. */
static size_t lists_bytes(const SNodeTree *layout, int workers) {
  size_t bytes = 0;
  for (int m = 0; m < layout->manager_count; m++)
    if (snode_has_lists(layout->managers[m]))
      bytes +=
          numbers_bytes(layout->managers[m]) + stage_bytes(layout->managers[m]) * (size_t)workers;
  return bytes;
}

static uint8_t *fill_lists(RtManager *manager, const SNode *list, int workers, uint8_t *memory) {
  RtNumber *numbers = (RtNumber *)(void *)memory;
  memory += numbers_bytes(list);
  for (int k = 0; k < list->component_count; k++) {
    const SNodeComponent *part = &list->components[k];
    if (part->child) return memory; /* lists with children cannot be appended to */
    numbers[k] = (RtNumber){part->offset, part->stride, (uint32_t)type_size(part->type), part->row};
  }
  manager->capacity = (int32_t)list->sizes[0];
  manager->numbers = numbers;
  manager->number_count = list->component_count;
  manager->row_bytes = (int32_t)list->row_bytes;
  for (int w = 0; w < workers; w++, memory += stage_bytes(list))
    manager->locals[w].stage = (RtStage *)(void *)memory;
  return memory;
}

/* Allocates one zero-filled heap block: managers, their workers' locals, then the data of lists. */
static bool create_managers(Tree *tree, Error *err) {
  const SNodeTree *layout = tree->layout;
  int workers = tree->store->device->worker_count, count = layout->manager_count;
  size_t managers_bytes = align_up(sizeof(RtManager) * (size_t)count, 64),
         locals_bytes = sizeof(RtLocal) * (size_t)workers;
  uint8_t *memory = heap_alloc(tree->store->heap, managers_bytes + locals_bytes * (size_t)count +
                                                      lists_bytes(layout, workers) + 64);
  if (!memory)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a tree's managers");
  tree->rt.managers = (RtManager *)(void *)memory;
  uint8_t *locals = (uint8_t *)align_up((uint64_t)(memory + managers_bytes), 64),
          *sink = tree->rt.base + tree->rt.reserved, *lists = locals + locals_bytes * (size_t)count;
  for (int m = 0; m < count; m++, locals += locals_bytes) {
    RtManager *manager = &tree->rt.managers[m];
    fill_manager(manager, layout->managers[m]);
    manager->locals = (RtLocal *)(void *)locals;
    for (int w = 0; w < workers; w++, sink += manager->node_size) manager->locals[w].sink = sink;
    if (snode_has_lists(layout->managers[m]))
      lists = fill_lists(manager, layout->managers[m], workers, lists);
  }
  tree->rt.manager_count = count;
  return true;
}

static uint64_t sinks_bytes(const Tree *tree) {
  uint64_t bytes = 0;
  for (int m = 0; m < tree->layout->manager_count; m++)
    bytes += tree->layout->managers[m]->node_size;
  return bytes * (uint64_t)tree->store->device->worker_count;
}

static bool allocate_arena(Tree *tree, uint64_t size_bytes, uint64_t least_bytes, Error *err) {
  Device *device = tree->store->device;
  ASSERT(!tree->arena.base, "a tree has one arena");
  if (!device->table->allocate(device, &tree->arena, size_bytes, least_bytes, err)) return false;
  tree->rt.base = device->table->map(device, &tree->arena);
  return true;
}

/* chunks | owner of each segment | with hashes: the published words | with hashes, if the host only
 * has a mirror: a second copy of chunks and owners, for peers */
static uint64_t table_bytes(const Tree *tree) {
  uint64_t segments = tree->rt.reserved / RT_SEGMENT;
  return align_up(segments * (sizeof(RtChunk) + sizeof(uint32_t)), sizeof(uint64_t));
}

static uint64_t second_at(const Tree *tree) {
  return table_bytes(tree) +
         (uint64_t)(TREE_PUBLISHED_HEAD + tree->layout->manager_count) * sizeof(uint64_t);
}

static bool has_hashes(const SNodeTree *layout) {
  for (int m = 0; m < layout->manager_count; m++)
    if (snode_has(layout->managers[m], SNODE_KEYED)) return true;
  return false;
}

static bool publishes_chunks(const Tree *tree) {
  return has_hashes(tree->layout) && device_symmetric_heap(tree->store->device);
}

static uint64_t tables_bytes(const Tree *tree) {
  return second_at(tree) + (publishes_chunks(tree) ? table_bytes(tree) : 0);
}

static void find_tables(Tree *tree, uint8_t *tables) {
  uint64_t chunks_bytes = tree->rt.reserved / RT_SEGMENT * sizeof(RtChunk);
  uint8_t *first = tables + (publishes_chunks(tree) && tree->rt.foreign ? second_at(tree) : 0);
  tree->rt.chunks = (RtChunk *)(void *)first;
  tree->rt.segment_owner = (uint32_t *)(void *)(first + chunks_bytes);
  if (has_hashes(tree->layout)) tree->published = (uint64_t *)(void *)(tables + table_bytes(tree));
}

void storage_publish_tables(const Tree *tree) {
  const RtTree *rt = &tree->rt;
  if (!publishes_chunks(tree)) return;
  uint8_t *second = (uint8_t *)rt->chunks + second_at(tree);
  ASSERT(rt->top <= rt->reserved && rt->chunk_count <= rt->reserved / RT_SEGMENT,
         "tables are as large as the arena can need");
  memcpy(second, rt->chunks, sizeof(RtChunk) * rt->chunk_count);
  memcpy(second + rt->reserved / RT_SEGMENT * sizeof(RtChunk), rt->segment_owner,
         sizeof(uint32_t) * (rt->top / RT_SEGMENT));
}

static bool reserve_sparse(Tree *tree, Error *err) {
  Device *device = tree->store->device;
  uint64_t head = RT_FIRST_GRANULE * RT_GRANULE, limit = tree->store->budget.limit;
  uint64_t least = min_i64(
      (int64_t)align_up(head + tree->layout->root_size, RT_SEGMENT) + RT_SEGMENT, LARGEST_ARENA);
  bool is_bounded = limit < LARGEST_ARENA / 2 && !tree->store->budget.ask;
  uint64_t wanted = is_bounded ? least + limit : LARGEST_ARENA;
  uint64_t sinks = align_up(sinks_bytes(tree), RT_SEGMENT);
  if (!allocate_arena(tree, (uint64_t)min_i64((int64_t)wanted, LARGEST_ARENA) + sinks,
                      least + sinks, err))
    return false;
  ASSERT(tree->arena.reserved >= least + sinks, "the device reserves at least what it must");
  tree->rt.reserved = (tree->arena.reserved - sinks) / RT_SEGMENT * RT_SEGMENT;
  if (!device->table->allocate(device, &tree->tables, tables_bytes(tree), 0, err)) return false;
  if (tree->rt.reserved > least + SMALL_PAGES)
    device->table->prefer_huge_pages(device, tree->arena.base + least + SMALL_PAGES,
                                     tree->rt.reserved - least - SMALL_PAGES);
  tree->rt.root = tree->rt.base + head;
  find_tables(tree, device->table->map(device, &tree->tables));
  return create_managers(tree, err);
}

static bool reserve(Tree *tree, Error *err) {
  Device *device = tree->store->device;
  const SNodeTree *layout = tree->layout;
  if (layout->is_sparse) return reserve_sparse(tree, err);
  if (!allocate_arena(tree, layout->root_size, layout->root_size, err)) return false;
  device->table->prefault(device, tree->arena.base, layout->root_size);
  tree->rt.root = tree->rt.base;
  return true;
}

static bool charge(Tree *tree, Error *err) {
  char label[100];
  return store_charge(tree->store, tree->layout->root_size, tree_label(tree, label), err);
}

/* The ambient must be as large as the largest node, since it is read in place of inactive nodes. */
static bool grow_ambient(Tree *tree, Error *err) {
  Device *device = tree->store->device;
  DeviceMemory *ambient = &tree->store->ambient, larger;
  uint64_t needed = 0;
  for (int m = 0; m < tree->layout->manager_count; m++)
    needed = max_i64((int64_t)needed, (int64_t)tree->layout->managers[m]->node_size);
  if (needed <= ambient->reserved) return true;
  if (!device->table->allocate_zeros(device, &larger, needed, err)) return false;
  device->table->free(device, ambient);
  *ambient = larger;
  tree->store->zeros = device->table->map(device, ambient);
  return true;
}

static void release_ranges(Tree *tree) {
  Device *device = tree->store->device;
  masks_free(tree);
  heap_free(tree->store->heap, tree->rt.managers);
  tree->rt = (RtTree){0};
  if (tree->arena_block) block_release(tree->arena_block); /* extensions may still hold it */
  else device->table->free(device, &tree->arena);
  tree->arena_block = NULL;
  tree->arena = (DeviceMemory){0};
  device->table->free(device, &tree->tables);
  tree->published = NULL;
}

static bool adopt_arena(Tree *tree, Error *err) {
  tree->arena_block =
      block_adopt(tree->store, tree->arena, tree->rt.root, tree->layout->root_size, err);
  return tree->arena_block;
}

bool storage_create(Tree *tree, Error *err) {
  Store *store = tree->store;
  ASSERT(tree->layout->laid_out && !tree->has_storage, "a tree gets memory once, after layout");
  if (!grow_ambient(tree, err) || !charge(tree, err)) return false;
  if (!reserve(tree, err) || !masks_create(tree, err) || !adopt_arena(tree, err)) {
    store_uncharge(store, tree->layout->root_size);
    release_ranges(tree);
    return false;
  }
  tree->rt.root_size = tree->layout->root_size;
  if (!tree->rt.reserved) tree->rt.reserved = tree->arena.reserved; /* a dense tree */
  tree->rt.number = store->tree_count++;
  tree->rt.budget = &store->budget;
  tree->rt.tiny_chunks = store->tiny_chunks;
  rt_tree_init(&tree->rt, store->device->worker_count);
  tree->has_storage = true;
  return true;
}

static void end_borrowed(Tree *tree) {
  Device *device = tree->store->device;
  device->table->forget(device, &tree->rt);
  masks_free(tree);
  heap_free(tree->store->heap, tree->rt.managers);
  tree->rt = (RtTree){0};
  tree->published = NULL;
  tree->has_storage = false;
}

/* The managers have no nodes: a peer activates no cells and builds no lists. */
bool storage_borrow(Tree *tree, const Tree *of, uint8_t *base, uint8_t *tables, Error *err) {
  ASSERT(of->has_storage, "peers are of trees that are laid out");
  tree->rt.base = base;
  tree->rt.reserved = of->rt.reserved;
  if (!create_managers(tree, err) || !masks_create(tree, err)) {
    masks_free(tree);
    heap_free(tree->store->heap, tree->rt.managers);
    tree->rt = (RtTree){0};
    return false;
  }
  tree->rt.root = base + (of->rt.root - of->rt.base);
  tree->rt.root_size = of->rt.root_size;
  tree->rt.number = tree->store->tree_count++;
  tree->rt.budget = &tree->store->budget;
  tree->rt.foreign = RT_FOREIGN;
  rt_tree_init(&tree->rt, tree->store->device->worker_count);
  if (tables) find_tables(tree, tables);
  tree->has_storage = tree->is_peer = true;
  Device *device = tree->store->device;
  if (device_adopt(device, &tree->rt, err)) return true;
  end_borrowed(tree);
  return false;
}

static void free_orders(Store *store, RtManager *manager) {
  for (uint64_t k = 0; k < manager->order_count; k++) heap_free(store->heap, manager->orders[k]);
  heap_free(store->heap, manager->orders);
}

static void free_logs(Store *store, const RtManager *manager) {
  for (int w = 0; w < store->device->worker_count; w++) {
    RtStage *stage = manager->locals[w].stage;
    for (int k = 0; stage && k < RT_LOG_SLABS; k++) {
      heap_free(store->heap, stage->log.slabs[k]);
      stage->log.slabs[k] = NULL;
    }
  }
}

uint64_t storage_compact(Tree *tree) {
  uint64_t freed = rt_tree_compact(storage_context(tree), &tree->rt);
  for (int32_t m = 0; m < tree->rt.manager_count; m++) {
    RtManager *manager = &tree->rt.managers[m];
    if (!manager->log_bytes) continue;
    free_logs(tree->store, manager);
    store_uncharge(tree->store, manager->log_bytes);
    freed += manager->log_bytes;
    manager->log_bytes = 0;
  }
  return freed;
}

void storage_free(Tree *tree) {
  if (!tree->has_storage) return;
  if (tree->is_peer) {
    end_borrowed(tree);
    return;
  }
  Store *store = tree->store;
  tree_reach(tree, DEVICE_COUNTS, NULL); /* rt_tree_bytes reads the counts */
  store->device->table->forget(store->device, &tree->rt);
  store_uncharge(store, rt_tree_bytes(&tree->rt)); /* block.c frees the root's */
  store_count(&store->stats, tree);
  for (int32_t m = 0; m < tree->rt.manager_count; m++) {
    heap_free(store->heap, tree->rt.managers[m].list);
    heap_free(store->heap, tree->rt.managers[m].direct.handles);
    free_orders(store, &tree->rt.managers[m]);
    free_logs(store, &tree->rt.managers[m]);
  }
  release_ranges(tree);
  tree->has_storage = false;
}

/* Discards the whole pages of unused nodes; adjacent nodes in one call. */
static void trim_chunk(Device *device, const RtManager *manager, const RtChunk *chunk) {
  for (uint32_t begin = 0, end; begin < chunk->node_count; begin = end + 1) {
    for (end = begin; end < chunk->node_count && chunk->states[end] == RT_NODE_USED;) end++;
    DEBUG_ASSERT(end <= chunk->node_count, "unused nodes are in the chunk");
    if (end == begin) continue;
    device->table->discard(device, chunk->nodes + begin * manager->node_size,
                           (end - begin) * manager->node_size);
  }
}

void storage_trim(Tree *tree) {
  Device *device = tree->store->device;
  if (tree->is_window || tree->is_peer) return;
  device->table->forget(device, &tree->rt);
  storage_compact(tree);
  for (int32_t m = 0; m < tree->rt.manager_count; m++) {
    const RtManager *manager = &tree->rt.managers[m];
    for (uint32_t at = manager->first_chunk; at; at = tree->rt.chunks[at - 1].next)
      trim_chunk(device, manager, &tree->rt.chunks[at - 1]);
  }
}

RtContext *storage_context(Tree *tree) {
  Store *store = tree->store;
  store_relieve(store);
  store->host_tree = &tree->rt;
  store->host = store->device->native;
  store->host.trees = &store->host_tree;
  store->host.tree_count = 1;
  store->host.ambient = store->zeros;
  return &store->host;
}

static const SNode *managed_node(const Tree *tree, int32_t manager) {
  return manager >= 0 && manager < tree->layout->manager_count ? tree->layout->managers[manager]
                                                               : NULL;
}

bool storage_full_error(const Tree *tree, int32_t manager, Error *err) {
  const SNode *node = managed_node(tree, manager);
  char label[100], name[80] = "a list";
  if (node && node->name[0]) snprintf(name, sizeof name, "list '%.60s'", node->name);
  error_set(err, RG_ERROR_LIST_FULL, "%s (dynamic) of %s is full: it has at most %lld elements",
            name, tree_label(tree, label), node ? (long long)node->sizes[0] : 0LL);
  return error_hint(err, "the elements that fit were kept; declare a longer list: "
                         ":dynamic(\"k\", n)");
}

/* Did a launch need more memory than the device provided beforehand, although the budget would have
 * allowed it? Only a device with a mirror provides memory before launches. */
static bool has_exceeded_provision(const Tree *tree, const SNode *node) {
  const RtBudget *budget = &tree->store->budget;
  if (device_is_unified(tree->store->device)) return false;
  tree_reach((Tree *)tree, DEVICE_COUNTS, NULL);
  return budget->used + (node ? node->node_size : 0) + RT_SEGMENT <= budget->limit;
}

static bool provision_error(const Tree *tree, const char *name, const SNode *node, Error *err) {
  char limit[32], used[32], label[100];
  const RtBudget *budget = &tree->store->budget;
  error_set(
      err, RG_ERROR_BUDGET,
      "%s (%s) of %s ran out of the memory that this launch had on the GPU: %s of %s are in use",
      name, node ? snode_kind_text(node->kind) : "pointer", tree_label(tree, label),
      bytes_text(budget->used, used), bytes_text(budget->limit, limit));
  return error_hint(err, "launch again, perhaps in smaller steps: each launch is provided with "
                         "three times the memory in use, and a part of the rest of the budget");
}

bool storage_budget_error(const Tree *tree, int32_t manager, Error *err) {
  const RtBudget *budget = &tree->store->budget;
  tree->store->is_short = true;
  const SNode *node = managed_node(tree, manager);
  char limit[32], used[32], more[32], label[100], holders[320], name[80] = "a node";
  if (node && node->name[0]) snprintf(name, sizeof name, "node '%.60s'", node->name);
  if (has_exceeded_provision(tree, node)) return provision_error(tree, name, node, err);
  error_set(err, RG_ERROR_BUDGET,
            "the memory budget of %s is exhausted: %s (%s) of %s cannot grow; %s are in use%s",
            bytes_text(budget->limit, limit), name, node ? snode_kind_text(node->kind) : "pointer",
            tree_label(tree, label), bytes_text(budget->used, used),
            store_holders(tree->store, holders, sizeof holders));
  return error_hint(
      err,
      "deactivate unused cells, or set a larger budget: rg.init{ memory = \"%s\" }, or RG_MEMORY",
      store_more_than(budget->limit, more));
}
