/* reach.c - cells of a test tree by their coordinates, slot by slot; and checks of a whole tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forest.h"
#include "valid.h"

uint64_t random_next(Random *random) { /* splitmix64 */
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

int64_t forest_cell_count(const ForestNode *node) {
  int64_t count = 1;
  for (int a = 0; a < node->rank; a++) count *= node->shape[a];
  return count;
}

void forest_cell(const ForestNode *node, int64_t number, int64_t *coordinates) {
  for (int a = node->rank - 1; a >= 0; a--) {
    coordinates[a] = number % node->shape[a];
    number /= node->shape[a];
  }
}

int64_t forest_number(const ForestNode *node, const int64_t *coordinates) {
  int64_t number = 0;
  for (int a = 0; a < node->rank; a++) number = number * node->shape[a] + coordinates[a];
  return number;
}

int64_t forest_above(const ForestTree *tree, int node, int64_t number, int above) {
  const ForestNode *from = &tree->nodes[node], *to = &tree->nodes[above];
  int64_t here[RT_MAX_AXES], there[RT_MAX_AXES];
  forest_cell(from, number, here);
  for (int a = 0; a < to->rank; a++) {
    int position = forest_position(from, to->letters[a]);
    there[a] = here[position] / (from->shape[position] / to->shape[a]);
  }
  return forest_number(to, there);
}

/* The cell's number in its own container: the digits of its coordinates at this node's level. */
static int64_t cell_in_container(const ForestTree *tree, int node, int64_t number) {
  const ForestNode *n = &tree->nodes[node];
  int64_t coordinates[RT_MAX_AXES], cell = 0;
  forest_cell(n, number, coordinates);
  for (int k = 0; k < n->axis_count; k++)
    cell = cell * n->row.sizes[k] +
           coordinates[forest_position(n, n->row.axes[k] - 'i')] % n->row.sizes[k];
  return cell;
}

/* For a cell of a hash: the node above it (or the root's container), and its coordinates as the
 * runtime has them. */
static uint8_t *forest_parent(RtContext *context, ForestTree *trees, int t, int worker, int node,
                              int64_t number, bool ensures, int64_t *coordinates) {
  ForestTree *tree = &trees[t];
  const ForestNode *n = &tree->nodes[node];
  forest_cell(n, number, coordinates);
  for (int a = 0; a < n->rank; a++) coordinates[a] += n->origin[a];
  int up = n->row.parent;
  while (up && tree->nodes[up].manager < 0) up = tree->nodes[up].row.parent;
  if (!up) return rt_tree_root(context, t);
  return forest_node(context, trees, t, worker, up, forest_above(tree, node, number, up), ensures);
}

/* The start of the container of `node` that holds cell `number`. */
static uint8_t *container_of(RtContext *context, ForestTree *trees, int t, int worker, int node,
                             int64_t number, bool ensures) {
  ForestTree *tree = &trees[t];
  if (node == 0) return rt_tree_root(context, t);
  int up = tree->nodes[node].row.parent;
  const ForestNode *parent = &tree->nodes[up];
  int64_t above = forest_above(tree, node, number, up);
  if (parent->manager < 0) {
    uint8_t *container = container_of(context, trees, t, worker, up, above, ensures);
    if (!container) return NULL;
    return container + tree->nodes[node].offset +
           tree->nodes[node].stride * (uint64_t)cell_in_container(tree, up, above);
  }
  uint8_t *memory = forest_node(context, trees, t, worker, up, above, ensures);
  return memory ? memory + tree->nodes[node].offset : NULL;
}

/* By the node above and the coordinates. */
static uint8_t *node_in_table(RtContext *context, ForestTree *trees, int t, int worker, int node,
                              int64_t number, bool ensures) {
  const ForestNode *n = &trees[t].nodes[node];
  int64_t coordinates[RT_MAX_AXES];
  uint8_t *parent = forest_parent(context, trees, t, worker, node, number, ensures, coordinates);
  if (!parent) return NULL;
  if (ensures)
    return rt_hash_ensure(context, &context->workers[worker], t, n->manager, parent, coordinates);
  if (!rt_hash_live(context, t, n->manager, parent, coordinates)) return NULL;
  return rt_hash_find(context, t, n->manager, parent, coordinates);
}

uint8_t *forest_node(RtContext *context, ForestTree *trees, int t, int worker, int node,
                     int64_t number, bool ensures) {
  const ForestNode *n = &trees[t].nodes[node];
  if (n->row.kind == FOREST_HASH)
    return node_in_table(context, trees, t, worker, node, number, ensures);
  uint32_t *slot = forest_slot(context, trees, t, worker, node, number, ensures);
  if (!slot || (!ensures && !rt_slot_live(slot))) return NULL;
  return ensures ? rt_slot_ensure(context, &context->workers[worker], t, n->manager, slot)
                 : rt_slot_find(context, t, slot);
}

uint32_t *forest_slot(RtContext *context, ForestTree *trees, int t, int worker, int node,
                      int64_t number, bool ensures) {
  uint8_t *container = container_of(context, trees, t, worker, node, number, ensures);
  return container ? (uint32_t *)(void *)container + cell_in_container(&trees[t], node, number)
                   : NULL;
}

bool forest_is_active(RtContext *context, ForestTree *trees, int t, int node, int64_t number) {
  return forest_node(context, trees, t, 0, node, number, false) != NULL;
}

void forest_activate(RtContext *context, ForestTree *trees, int t, int worker, int node,
                     int64_t number) {
  forest_node(context, trees, t, worker, node, number, true);
}

void forest_deactivate(RtContext *context, ForestTree *trees, int t, int worker, int node,
                       int64_t number) {
  const ForestNode *n = &trees[t].nodes[node];
  RtWorker *me = &context->workers[worker];
  if (n->row.kind == FOREST_HASH) {
    int64_t coordinates[RT_MAX_AXES];
    uint8_t *parent = forest_parent(context, trees, t, worker, node, number, false, coordinates);
    if (parent) rt_hash_clear(context, me, t, n->manager, parent, coordinates);
    return;
  }
  uint32_t *slot = forest_slot(context, trees, t, worker, node, number, false);
  if (slot) rt_slot_clear(context, me, t, n->manager, slot);
}

uint8_t *forest_payload(RtContext *context, ForestTree *trees, int t, int worker, int node,
                        int64_t number, bool ensures) {
  const ForestNode *n = &trees[t].nodes[node];
  if (n->manager >= 0) {
    uint8_t *memory = forest_node(context, trees, t, worker, node, number, ensures);
    return (memory ? memory : context->ambient) + n->payload_offset;
  }
  uint8_t *container = container_of(context, trees, t, worker, node, number, ensures);
  if (!container) return context->ambient;
  return container + n->payload_offset +
         n->payload_stride * (uint64_t)cell_in_container(&trees[t], node, number);
}

/* -- what must hold ---------------------------------------------------------------------------- */

static char wrong[200];

const char *forest_broken(const ForestTree *tree) {
  RtBroken broken;
  return rt_tree_is_valid(&tree->rt, FOREST_WORKERS, &broken) ? "" : broken.what;
}

static const char *check_list(RtContext *context, ForestTree *trees, int t, int node) {
  ForestTree *tree = &trees[t];
  const ForestNode *n = &tree->nodes[node];
  RtManager *manager = &tree->rt.managers[n->manager];
  if (!rt_list_update(context, &tree->rt, n->manager)) return "the list did not grow";
  uint64_t reachable = 0;
  for (int64_t c = 0, count = forest_cell_count(n); c < count; c++)
    reachable += forest_is_active(context, trees, t, node, c);
  if (reachable != manager->list_count || reachable != manager->live_count) {
    snprintf(wrong, sizeof wrong, "tree %d node %d: %llu reachable, %llu listed, %llu counted", t,
             node, (unsigned long long)reachable, (unsigned long long)manager->list_count,
             (unsigned long long)manager->live_count);
    return wrong;
  }
  for (uint64_t p = 0; p < manager->list_count; p++) {
    const int64_t *coordinates = rt_list_coordinates(context, t, n->manager, (int64_t)p);
    uint8_t *memory = rt_list_node(context, t, n->manager, (int64_t)p);
    int64_t cell[RT_MAX_AXES];
    for (int a = 0; a < n->rank; a++) {
      cell[a] = coordinates[a] - n->origin[a];
      if (cell[a] < 0 || cell[a] >= n->shape[a]) return "coordinates outside the shape";
    }
    if (forest_node(context, trees, t, 0, node, forest_number(n, cell), false) != memory) {
      snprintf(wrong, sizeof wrong, "tree %d node %d: the coordinates at %llu lead elsewhere", t,
               node, (unsigned long long)p);
      return wrong;
    }
    uint64_t segment = (uint64_t)(memory - tree->rt.base) / RT_SEGMENT;
    const RtChunk *chunk = &tree->rt.chunks[tree->rt.segment_owner[segment] - 1];
    if (chunk->positions[(uint64_t)(memory - chunk->nodes) / manager->node_size] != p + 1)
      return "a node is listed twice";
  }
  return "";
}

const char *forest_check(RtContext *context, ForestTree *trees, int t) {
  rt_tree_refresh(context, &trees[t].rt);
  for (int m = 0; m < trees[t].rt.manager_count; m++) {
    const char *bad = check_list(context, trees, t, trees[t].managers[m]);
    if (*bad) return bad;
  }
  return forest_broken(&trees[t]);
}
