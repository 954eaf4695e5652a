/* cells_gpu.c - divides all active cells of a level among the threads of a GPU. Consecutive cells
 * of a chunk's nodes go to consecutive threads, so that a warp accesses adjacent memory. */
#include "node.h"

RtGpuShare rt_cells_begin(const RtTree *tree, const RtGpuCells *cells, uint64_t thread,
                          uint64_t threads) {
  RtGpuShare share = {.tree = tree,
                      .cells = cells,
                      .first = thread,
                      .at = thread,
                      .threads = threads,
                      .per_node = 1};
  for (int32_t k = 0; k < cells->depth; k++) share.per_node *= cells->counts[k];
  if (cells->manager >= 0) share.chunk = chunk_first(tree, &tree->managers[cells->manager]);
  return share;
}

/* A set bit implies that all above it are set. */
static int has_bit(const RtGpuCells *cells, const uint8_t *node, uint64_t cell) {
  uint64_t words = (uint64_t)node + cells->mask_offset, number = 0;
  for (int32_t k = cells->depth - 1; k >= 0; k--) {
    uint64_t digit = k ? cell % cells->counts[k] : cell;
    if (k == cells->masked) number = digit;
    if (k < cells->masked) words += digit * cells->strides[k];
    cell /= cells->counts[k];
  }
  return rt_mask_active((const uint64_t *)words, number);
}

static int next_in_root(RtGpuShare *share) {
  for (; share->at < share->per_node; share->at += share->threads) {
    if (share->cells->masked >= 0 && !has_bit(share->cells, 0, share->at)) continue;
    share->cell = share->at;
    share->at += share->threads;
    return 1;
  }
  return 0;
}

static int take(RtGpuShare *share, const RtManager *manager, uint64_t index, uint64_t cell) {
  RtNode node = node_in_chunk(manager, share->chunk, index);
  if (*node.state != RT_NODE_LIVE) return 0;
  if (share->cells->masked >= 0 && !has_bit(share->cells, node.memory, cell)) return 0;
  if (share->cells->is_list && cell >= (uint64_t)dynamic_cells(share->tree, manager, node.info))
    return 0;
  share->node = node.memory;
  share->info = node.info;
  share->cell = cell;
  return 1;
}

int rt_cells_next(RtGpuShare *share) {
  if (share->cells->manager < 0) return next_in_root(share);
  const RtManager *manager = &share->tree->managers[share->cells->manager];
  while (share->chunk) {
    while (share->at < share->chunk->handed * share->per_node) {
      uint64_t at = share->at;
      share->at += share->threads;
      if (take(share, manager, at / share->per_node, at % share->per_node)) return 1;
    }
    share->chunk = chunk_next(share->tree, share->chunk);
    share->at = share->first;
  }
  return 0;
}
