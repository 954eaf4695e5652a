/* usage.c - memory usage by tree and by SNode.
 * The row of a pointer SNode counts its nodes' bytes: live ones, and all ever created. The row of
 * the root counts its container. The row of a dense or bitmasked SNode counts the bytes of its
 * containers, which are also part of the rows above it. */
#include <stdio.h>

#include "tree/memory/block.h"
#include "tree/tree.h"

static uint64_t live_nodes(const Tree *tree, const SNode *level) {
  return level ? (uint64_t)rt_manager_live(&tree->rt, level->manager) : 1;
}

static uint64_t tree_live_bytes(const Tree *tree) {
  uint64_t live = tree->layout->root_size;
  for (int m = 0; m < tree->layout->manager_count; m++)
    live += live_nodes(tree, tree->layout->managers[m]) * tree->layout->managers[m]->node_size;
  return live;
}

bool store_reach(Store *store, DeviceUse use, Error *err) {
  for (Tree *tree = store->trees; tree; tree = tree->next)
    if (tree->has_storage && !tree->is_peer && !tree_reach(tree, use, err)) return false;
  return true;
}

void store_memory(const Store *store, RgMemory *memory) {
  *memory = (RgMemory){.reserved = store->budget.used, .peak = store->budget.peak};
  for (const Tree *tree = store->trees; tree; tree = tree->next) {
    if (!tree->has_storage || tree->is_peer) continue;
    memory->trees++;
    memory->live += tree_live_bytes(tree);
  }
  for (const Block *block = store->blocks; block; block = block->next) {
    if (!block_is_own(block)) continue;
    memory->live += block->size_bytes;
    memory->arrays++;
  }
  memory->live += __atomic_load_n(&store->counted.live, __ATOMIC_RELAXED);
}

/* The number of headers that arrays and trees hold: every block with memory has one. */
static uint64_t held_headers(const Store *store) {
  uint64_t held = 0;
  for (const Block *block = store->blocks; block; block = block->next)
    held += rt_counted_is_noted(&block->lent.counted) != 0;
  return held;
}

bool store_allocations(Store *store, RgAllocations *allocations, Error *err) {
  const RtAllocations *all = &store->counted.rt->statistics;
  if (!store->counted.rt->counts) {
    error_set(err, RG_ERROR_ARGUMENT, "allocations are not counted");
    return error_hint(err, "rg.allocations(true) begins, or RG_ALLOCATIONS=on");
  }
  char *fault = scratch_alloc(store_text(store), sizeof store->counted.fault);
  *allocations = (RgAllocations){.alloc = all->alloc,
                                 .free = all->free,
                                 .header_alloc = all->header_alloc,
                                 .header_free = all->header_free,
                                 .bytes = all->bytes,
                                 .peak = all->peak,
                                 .held = held_headers(store),
                                 .faults = counted_faults(&store->counted, fault),
                                 .fault = fault,
                                 .acquires = all->acquires,
                                 .releases = all->releases};
  return true;
}

/* The number of containers of `node`, if the pointer SNode above it has `nodes` nodes. */
static uint64_t containers(const SNode *node, uint64_t nodes) {
  for (const SNode *at = node->parent; at && !snode_is_managed(at); at = at->parent)
    nodes *= at->cell_count;
  return nodes;
}

static void fill_row(const Tree *tree, const SNode *node, int32_t tree_number, RgNodeMemory *row) {
  ASSERT(tree_node(tree, node), "each node of a layout has a handle");
  *row = (RgNodeMemory){.tree = tree->layout->name,
                        .name = node->name,
                        .kind = snode_kind_text(node->kind),
                        .tree_number = tree_number,
                        .depth = node->depth,
                        .node = (RgSNode *)tree_node(tree, node)};
  if (!tree->has_storage) return;
  if (snode_is_managed(node)) {
    const RtManager *manager = &tree->rt.managers[node->manager];
    row->cells = snode_has_lists(node) ? (uint64_t)node_count_cells(tree_node(tree, node))
                                       : live_nodes(tree, node);
    row->live = live_nodes(tree, node) * node->node_size;
    row->reserved = manager->chunk_bytes + manager->table.bytes + manager->log_bytes;
    return;
  }
  const SNode *level = snode_node_level(node);
  uint64_t count = containers(node, live_nodes(tree, level));
  uint64_t made = containers(node, level ? tree->rt.managers[level->manager].node_count : 1);
  row->cells = snode_has_bits(node) ? (uint64_t)node_count_cells(tree_node(tree, node))
                                    : count * node->cell_count;
  row->live = count * node->container_size;
  row->reserved = made * node->container_size;
}

bool store_memory_node(Store *store, int32_t row, RgNodeMemory *node) {
  int32_t number = 0;
  for (const Tree *tree = store->trees; tree; tree = tree->next) {
    if (!tree->has_storage || tree->is_peer) continue;
    if (row >= 0 && row < tree->layout->node_count) {
      fill_row(tree, tree->layout->nodes[row], number, node);
      return true;
    }
    row -= tree->layout->node_count;
    number++;
  }
  return false;
}

const char *bytes_text(uint64_t bytes, char buffer[32]) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double amount = (double)bytes;
  int unit = 0;
  while (unit < 4 && amount >= 1024) amount /= 1024, unit++;
  bool is_whole = amount == (double)(uint64_t)amount;
  snprintf(buffer, 32, is_whole ? "%.0f %s" : "%.1f %s", amount, units[unit]);
  return buffer;
}
