/* service_cuda.c - what the device asks of the runtime between tasks, as entries of a GPU module of
 * their own: the same functions that the core calls on a CPU, run by one thread. Each returns at
 * once when there is nothing to do. */
#include "node.h"

#define SERVICE __attribute__((nvptx_kernel)) void

static int is_first(void) {
  return __nvvm_read_ptx_sreg_tid_x() == 0 && __nvvm_read_ptx_sreg_ctaid_x() == 0;
}

/* Every tree of the context: refreshed, and collected unless `number` is 1. */
SERVICE rg_service_trees(RtGpuService service) {
  RtContext *context = service.context;
  uint64_t freed = 0;
  if (!is_first()) return;
  for (int32_t t = 0; t < context->tree_count; t++) {
    rt_tree_refresh(context, context->trees[t]);
    if (service.number != 1) freed += rt_tree_collect(context, context->trees[t]) != 0;
  }
  if (freed && service.result) *service.result += freed;
}

/* The list of active nodes of manager `number` of tree `tree`. */
SERVICE rg_service_list(RtGpuService service) {
  if (is_first())
    rt_list_update(service.context, service.context->trees[service.tree], service.number);
}
