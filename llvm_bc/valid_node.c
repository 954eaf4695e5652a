/* valid_node.c - checks that every node that a manager has handed out is either live, in its slot
 * and counted, or on exactly one list. */
#include "valid_check.h"

/* A fingerprint of a set of handles, by which two sets are compared without memory. */
typedef struct Tally {
  uint64_t count, sum;
} Tally;

static void tally_add(Tally *tally, uint32_t handle) {
  uint64_t mixed = handle * 0x9e3779b97f4a7c15u;
  tally->count++;
  tally->sum += mixed ^ mixed >> 29;
}

static int is_zero(const uint8_t *memory, uint64_t bytes) {
  for (uint64_t k = 0; k < bytes; k += sizeof(uint64_t))
    if (*(const uint64_t *)(const void *)(memory + k)) return 0;
  return 1;
}

/* -- chunks ------------------------------------------------------------------------------------ */

static int chunks_are_valid(const Check *c) {
  const RtManager *manager = c->manager;
  uint32_t count = 0, nodes = 0, last = 0;
  uint64_t bytes = 0;
  int is_open = 0;
  for (uint32_t record = manager->first_chunk; record; record = c->tree->chunks[record - 1].next) {
    const RtChunk *chunk = &c->tree->chunks[record - 1];
    is_open |= record == manager->open_chunk;
    EXPECT(record <= c->tree->chunk_count && chunk->manager == c->number &&
               count < c->tree->chunk_count,
           0, "a manager's chunks are its own, each once");
    EXPECT(chunk->first_number == nodes, 0, "chunks number their nodes without gaps");
    EXPECT(chunk->handed <= chunk->node_count, 0, "a chunk hands out no more nodes than it has");
    EXPECT(is_open || chunk->handed == chunk->node_count, 0,
           "chunks before the open one are handed out");
    count++, nodes += chunk->node_count, bytes += (uint64_t)chunk->segments * RT_SEGMENT,
        last = record;
  }
  EXPECT(is_open || !manager->open_chunk, 0, "the open chunk is one of the manager's");
  EXPECT(manager->last_chunk == last, 0, "the last chunk is the end of the chain");
  EXPECT(manager->chunk_count == count && manager->node_count == nodes &&
             manager->chunk_bytes == bytes,
         0, "a manager counts its chunks, their nodes and bytes");
  return 1;
}

/* -- a node, and its slot ---------------------------------------------------------------------- */

/* A cell must lie in its parent's cell; below the root, inside the shape. */
static int coordinates_are_valid(const RtManager *manager, const RtNodeInfo *info,
                                 const RtNodeInfo *parent) {
  for (int32_t a = 0; a < manager->axis_count; a++) {
    int32_t position = manager->parent_positions[a];
    int64_t first =
        parent && position >= 0 ? parent->coordinates[position] * manager->parent_weights[a] : 0;
    if (info->coordinates[a] < first || info->coordinates[a] - first >= manager->parent_weights[a])
      return 0;
  }
  return 1;
}

static int live_node_is_valid(const Check *c, const RtNodeInfo *info, uint32_t handle) {
  const RtManager *manager = c->manager;
  RtNode parent = {0};
  if (manager->parent < 0) {
    EXPECT(!info->parent, handle, "a node in the root's container has no parent");
  } else {
    EXPECT(find_node(c->tree, manager->parent, info->parent, &parent), handle,
           "a node's parent is a node");
    EXPECT(!c->is_refreshed || *parent.state == RT_NODE_LIVE, handle,
           "a live node's parent is live");
  }
  if (manager->is_hash) return 1;
  const uint8_t *slot = c->tree->base + info->slot,
                *start = parent.memory ? parent.memory : c->tree->root;
  uint64_t size = parent.memory ? c->tree->managers[manager->parent].node_size : c->tree->root_size;
  EXPECT(slot >= start && (uint64_t)(slot - start) < size, handle,
         "a node's slot is in its parent");
  EXPECT(*(const uint32_t *)(const void *)slot == handle, handle,
         "a live node's slot holds its handle");
  EXPECT(coordinates_are_valid(manager, info, parent.info), handle,
         "a node's coordinates are inside its parent's cell");
  return 1;
}

/* -- all nodes --------------------------------------------------------------------------------- */

/* Adds the nodes on the list to `idle`. */
static int idle_list_is_valid(const Check *c, uint32_t first, int is_recycled, uint32_t last,
                              Tally *idle) {
  uint32_t end = 0;
  for (uint32_t handle = first; handle;) {
    RtNode node;
    EXPECT(find_node(c->tree, c->number, handle, &node) && was_handed_out(c->tree, node) &&
               idle->count < c->manager->node_count,
           handle, "free and recycled lists hold nodes that were handed out");
    EXPECT(*node.state != RT_NODE_LIVE, handle, "no live node is on a free or recycled list");
    EXPECT(!is_recycled || *node.state == RT_NODE_USED, handle,
           "a recycled node is one that was used");
    EXPECT(is_recycled || handle != first || *node.state != RT_NODE_FRESH ||
               is_zero(node.memory, c->manager->node_size),
           handle, "a fresh node's memory is zero");
    tally_add(idle, handle);
    end = handle;
    handle = node.info->next;
  }
  EXPECT(!is_recycled || !first || end == last, last,
         "a recycled list ends at its recorded last node");
  return 1;
}

static int idle_lists_are_valid(const Check *c, Tally *idle) {
  const RtManager *manager = c->manager;
  if (!idle_list_is_valid(c, manager->free, 0, 0, idle)) return 0;
  if (!idle_list_is_valid(c, manager->recycled, 1, manager->recycled_last, idle)) return 0;
  for (int32_t w = 0; w < c->worker_count; w++) {
    const RtLocal *local = &manager->locals[w];
    EXPECT(!c->is_refreshed || !local->recycled, local->recycled,
           "after refresh no worker has recycled nodes");
    EXPECT(!c->is_refreshed || !local->stage ||
               (!local->stage->count && !local->stage->log.block_count),
           0, "after refresh no worker has elements that are not appended");
    EXPECT(!c->is_refreshed || (!local->activations && !local->deactivations), 0,
           "after refresh no worker has changes that are not counted");
    if (!idle_list_is_valid(c, local->free, 0, 0, idle)) return 0;
    if (!idle_list_is_valid(c, local->recycled, 1, local->recycled_last, idle)) return 0;
  }
  return 1;
}

/* Counts the live ones, and collects the others. */
static int nodes_are_valid(const Check *c, uint64_t *live, Tally *others) {
  for (const RtChunk *chunk = chunk_first(c->tree, c->manager); chunk;
       chunk = chunk_next(c->tree, chunk))
    for (uint32_t i = 0; i < chunk->node_count; i++) {
      RtNode node = node_in_chunk(c->manager, chunk, i);
      uint32_t handle = node_handle(c->tree, node.memory);
      if (i >= chunk->handed) {
        EXPECT(*node.state != RT_NODE_LIVE, handle, "a live node was handed out");
      } else if (*node.state != RT_NODE_LIVE) {
        tally_add(others, handle);
      } else {
        if (!live_node_is_valid(c, node.info, handle)) return 0;
        ++*live;
      }
    }
  return 1;
}

static uint64_t pending(const Check *c) {
  uint64_t count = 0;
  for (int32_t w = 0; w < c->worker_count; w++)
    count += c->manager->locals[w].activations - c->manager->locals[w].deactivations;
  return count;
}

/* -- slots ------------------------------------------------------------------------------------- */

static int visit_runs(const Check *c, const uint8_t *parent, SlotsVisit *visit, void *data) {
  uint64_t runs = rt_run_count(c->manager), length = rt_run_length(c->manager);
  for (uint64_t run = 0; run < runs; run++)
    if (!visit(c, rt_slot_run(c->manager, parent, run), length, data)) return 0;
  return 1;
}

int rt_visit_slots(const Check *c, SlotsVisit *visit, void *data) {
  if (c->manager->parent < 0) return visit_runs(c, c->tree->root, visit, data);
  const RtManager *above = &c->tree->managers[c->manager->parent];
  for (const RtChunk *chunk = chunk_first(c->tree, above); chunk;
       chunk = chunk_next(c->tree, chunk))
    for (uint32_t i = 0; i < chunk->handed; i++) {
      RtNode node = node_in_chunk(above, chunk, i);
      if (*node.state == RT_NODE_LIVE && !visit_runs(c, node.memory, visit, data)) return 0;
    }
  return 1;
}

static int count_slots(const Check *c, const uint32_t *slots, uint64_t count, void *data) {
  uint64_t *taken = data;
  for (uint64_t s = 0; s < count; s++) *taken += slots[s] != RT_SLOT_EMPTY;
  return 1;
}

int rt_manager_is_valid(const RtTree *tree, int32_t number, int32_t worker_count,
                        RtBroken *broken) {
  const Check check = check_of(tree, number, worker_count, broken), *c = &check;
  Tally idle = {0}, others = {0};
  uint64_t live = 0, taken = 0;
  EXPECT(!c->manager->lock && !c->manager->table.lock, 0, "a manager is unlocked between tasks");
  if (!chunks_are_valid(c) || !idle_lists_are_valid(c, &idle) ||
      !nodes_are_valid(c, &live, &others))
    return 0;
  EXPECT(idle.count == others.count && idle.sum == others.sum, 0,
         "every node that was handed out is live, or on one free or recycled list");
  EXPECT(live == c->manager->live_count + pending(c), 0, "live nodes are counted");
  if (c->manager->is_hash || !c->is_refreshed) return 1;
  rt_visit_slots(c, count_slots, &taken);
  EXPECT(taken == live, 0, "slots hold live nodes, each its own");
  return 1;
}
