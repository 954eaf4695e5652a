/* node_order.c - sorts active nodes by their coordinates, independent of their order in memory and
 * in the lists of tasks. It builds no list of active nodes, so that it cannot change the order in
 * which later loops visit them. */
#include <stdlib.h>

#include "tree/access/cell.h"

static int compare(const void *a, const void *b, void *data) {
  const int64_t *x = ((const CellNode *)a)->info->coordinates,
                *y = ((const CellNode *)b)->info->coordinates;
  for (int k = 0; k < *(const int32_t *)data; k++)
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
  return 0;
}

static void add_chunk(const RtManager *manager, const RtChunk *chunk, CellNodes *nodes) {
  for (uint32_t i = 0; i < chunk->handed; i++)
    if (chunk->states[i] == RT_NODE_LIVE)
      nodes->rows[nodes->count++] = (CellNode){
          chunk->nodes + i * manager->node_size,
          (RtNodeInfo *)(void *)(chunk->infos + i * manager->info_stride), chunk->first_number + i};
}

bool cell_nodes_sort(Tree *tree, int number, CellNodes *nodes, Error *err) {
  RtManager *manager = &tree->rt.managers[number];
  size_t count = (size_t)rt_manager_live(&tree->rt, number);
  *nodes = (CellNodes){.rows = heap_alloc(tree->store->heap, sizeof *nodes->rows * count)};
  if (!nodes->rows)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left to sort active nodes");
  for (uint32_t at = manager->first_chunk; at; at = tree->rt.chunks[at - 1].next)
    add_chunk(manager, &tree->rt.chunks[at - 1], nodes);
  ASSERT(nodes->count == (int64_t)count, "the live nodes are those that are counted");
  qsort_r(nodes->rows, count, sizeof *nodes->rows, compare, &manager->axis_count);
  return true;
}
