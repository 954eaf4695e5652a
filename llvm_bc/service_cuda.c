/* service_cuda.c - the runtime's work between tasks, as entries of a GPU module of their own. They
 * call the functions that the core calls on a CPU, by one thread, or by one block whose threads
 * share the expensive parts. Each is followed by an entry for all threads, which zeroes nodes or
 * fills a list. The first entry leaves the work for the second in the managers, so the host does
 * not handle it. Decision D-device-04. */
#include "node.h"

#define SERVICE __attribute__((nvptx_kernel)) void

enum { LANES = RT_GPU_LANES };

static uint64_t thread_number(void) {
  return (uint64_t)__nvvm_read_ptx_sreg_ctaid_x() * (uint64_t)__nvvm_read_ptx_sreg_ntid_x() +
         (uint64_t)__nvvm_read_ptx_sreg_tid_x();
}
static uint64_t thread_count(void) {
  return (uint64_t)__nvvm_read_ptx_sreg_nctaid_x() * (uint64_t)__nvvm_read_ptx_sreg_ntid_x();
}

/* -- refresh, collect, zero -------------------------------------------------------------------- */

/* If no node is live any more, chunks are reopened: taking a node is then an addition again instead
 * of a pop from a chain. */
static int collect(RtContext *context, RtTree *tree) {
  for (int32_t m = 0; m < tree->manager_count; m++) {
    RtManager *manager = &tree->managers[m];
    manager->zeroing_is_due = manager->recycled || manager->cleared;
    manager->cleared = 0;
  }
  int freed = rt_tree_collect(context, tree);
  for (int32_t m = 0; m < tree->manager_count; m++) {
    RtManager *manager = &tree->managers[m];
    if (!manager->zeroing_is_due || manager->live_count) continue;
    rt_nodes_reopen(tree, manager, context->worker_count);
    manager->list_version = 0; /* nodes past `handed` must lose their list positions */
  }
  return freed;
}

/* Every tree of the context: refreshed, and collected unless `number` is 1. One block. */
SERVICE rg_service_trees(RtGpuService service) {
  RtContext *context = service.context;
  uint64_t freed = 0, thread = thread_number();
  for (int32_t t = 0; t < context->tree_count; t++) {
    if (!context->trees[t]) continue;
    rt_tree_refresh_together(context, context->trees[t], thread, thread_count());
    if (!thread && service.number != 1) freed += collect(context, context->trees[t]) != 0;
  }
  if (freed && service.result) *service.result += freed;
}

typedef uint64_t Pair __attribute__((vector_size(16), may_alias));

/* One warp zeroes a node; its lanes write adjacent memory. */
static void zero_nodes(const RtTree *tree, const RtManager *manager, uint64_t lane, uint64_t warp,
                       uint64_t warps) {
  uint64_t pairs = manager->node_size / sizeof(Pair);
  for (const RtChunk *chunk = chunk_first(tree, manager); chunk; chunk = chunk_next(tree, chunk)) {
    uint64_t first = (warp + warps - chunk->first_number % warps) % warps;
    for (uint64_t i = first; i < chunk->node_count; i += warps) {
      Pair *node = (Pair *)(void *)(chunk->nodes + i * manager->node_size);
      if (chunk->states[i] != RT_NODE_USED) continue;
      for (uint64_t k = lane; k < pairs; k += LANES) node[k] = (Pair){0};
      __nvvm_bar_warp_sync(~0u); /* until all lanes have read the state */
      if (!lane) chunk->states[i] = RT_NODE_FRESH;
    }
  }
}

SERVICE rg_service_zero(RtGpuService service) {
  const RtContext *context = service.context;
  uint64_t thread = thread_number(), warps = thread_count() / LANES;
  for (int32_t t = 0; t < context->tree_count; t++) {
    const RtTree *tree = context->trees[t];
    for (int32_t m = 0; tree && m < tree->manager_count; m++)
      if (tree->managers[m].zeroing_is_due)
        zero_nodes(tree, &tree->managers[m], thread % LANES, thread / LANES, warps);
  }
}

/* -- clear ------------------------------------------------------------------------------------- */

/* Frees every node of manager `number` of tree `tree`, which is refreshed, and all nodes below.
 * Like any task, it does nothing after a failure. */
SERVICE rg_service_clear(RtGpuService service) {
  if (rt_stopped(service.context)) return;
  rt_clear_nodes(service.context->trees[service.tree], service.number, thread_number(),
                 thread_count());
}

SERVICE rg_service_clear_end(RtGpuService service) {
  if (thread_number() || rt_stopped(service.context)) return;
  rt_clear_end(service.context, service.context->trees[service.tree], service.number);
}

/* All cells of mask `number`, below which no node is left. */
SERVICE rg_service_clear_cells(RtGpuService service) {
  if (rt_stopped(service.context)) return;
  rt_mask_zero(service.context->trees[service.tree], service.number, thread_number(),
               thread_count());
}

/* -- accesses by the host to one cell ---------------------------------------------------------- */

SERVICE rg_service_visit(RtGpuService service) {
  if (thread_number()) return;
  RtVisit *visit = (RtVisit *)(void *)service.context->frame;
  rt_visit(service.context, visit);
  if (visit->way != RT_VISIT_CLEAR) rt_tree_refresh(service.context, service.context->trees[0]);
}

/* -- a number of all cells --------------------------------------------------------------------- */

static uint64_t offset_of(const RtGpuCells *cells, const uint64_t *strides, uint64_t cell) {
  uint64_t offset = 0;
  for (int32_t k = cells->depth - 1; k > 0; k--) {
    offset += cell % cells->counts[k] * strides[k];
    cell /= cells->counts[k];
  }
  return offset + cell * strides[0];
}

static uint64_t load_number(const RtGpuSet *set, const uint8_t *at) {
  switch (set->size) {
  case 1: return *at;
  case 2: return *(const uint16_t *)(const void *)at;
  case 4: return *(const uint32_t *)(const void *)at;
  default: return *(const uint64_t *)(const void *)at;
  }
}

/* Sets the number in a cell of `node`, which is NULL in the root's container. */
static void set_number(const RtGpuSet *set, uint8_t *node, uint64_t cell) {
  uint8_t *at = node + set->cells.offset + offset_of(&set->cells, set->cells.strides, cell);
  const uint8_t *from = node + set->from_offset + offset_of(&set->cells, set->from_strides, cell);
  uint64_t bits = set->copies ? load_number(set, from) : set->bits;
  switch (set->size) {
  case 1: *at = (uint8_t)bits; return;
  case 2: *(uint16_t *)(void *)at = (uint16_t)bits; return;
  case 4: *(uint32_t *)(void *)at = (uint32_t)bits; return;
  default: *(uint64_t *)(void *)at = bits;
  }
}

SERVICE rg_service_set(RtGpuSet set) {
  RtGpuShare share = rt_cells_begin(set.tree, &set.cells, thread_number(), thread_count());
  while (rt_cells_next(&share)) set_number(&set, share.node, share.cell);
}

SERVICE rg_service_copy(RtGpuService service) {
  if (rt_stopped(service.context)) return;
  const RtGpuCopy *copy = (const RtGpuCopy *)(const void *)service.context->frame;
  rt_copy_cells(service.context, copy, thread_number(), thread_count());
}

/* -- lists ------------------------------------------------------------------------------------- */

/* The list of active nodes of manager `number` of tree `tree`. */
SERVICE rg_service_list(RtGpuService service) {
  if (thread_number()) return;
  rt_list_begin(service.context, service.context->trees[service.tree], service.number,
                service.in_order, (uint64_t)service.nodes_per_change);
}

SERVICE rg_service_fill(RtGpuService service) {
  rt_list_fill(service.context->trees[service.tree], service.number, thread_number(),
               thread_count(), service.result);
}

SERVICE rg_service_enter(RtGpuService service) {
  rt_list_enter(service.context->trees[service.tree], service.number, thread_number(),
                thread_count(), service.result);
}

/* -- orders ------------------------------------------------------------------------------------ */

static RtTree *tree_of(RtGpuService service) { return service.context->trees[service.tree]; }

SERVICE rg_service_order(RtGpuService service) {
  if (thread_number()) return;
  rt_order_begin(service.context, tree_of(service), service.number, service.depth);
}

SERVICE rg_service_order_look(RtGpuService service) {
  rt_order_look(tree_of(service), service.number, service.depth, thread_number(), thread_count());
}

SERVICE rg_service_order_copy(RtGpuService service) {
  rt_order_copy(tree_of(service), service.number, service.depth, thread_number(), thread_count());
}

SERVICE rg_service_order_merge(RtGpuService service) {
  rt_order_merge(tree_of(service), service.number, service.depth, service.merge, thread_number(),
                 thread_count());
}
