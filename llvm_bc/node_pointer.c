/* node_pointer.c - the `pointer` SNode: cells created when written. The part inlined into kernels.
 * A container is an array of slots, one per cell:
 *
 *     EMPTY --claim--> BUSY --publish--> LIVE --deactivate--> EMPTY
 *
 * Invariant: a LIVE slot holds the handle of a node of this SNode, zero-filled before publish.
 * Readers take no lock and read EMPTY and BUSY alike as the ambient. Activation and deactivation
 * are in node_activate.c: calls, since they cost a hundred times more. */
#include "atomic.h"
#include "node.h"

uint8_t *rt_slot_find(RtContext *context, int32_t tree, const uint32_t *slot) {
  uint32_t handle = rt_load_leading(slot);
  int is_here = handle_is_live(handle) && handle_is_mapped(context->trees[tree], handle);
  return is_here ? node_address(context->trees[tree], handle) : context->ambient;
}

uint8_t *rt_slot_ensure(RtContext *context, RtWorker *worker, int32_t tree, int32_t manager,
                        uint32_t *slot) {
  uint32_t handle = rt_load_leading(slot);
  if (__builtin_expect(handle_is_live(handle), 1))
    return node_address(context->trees[tree], handle);
  return rt_slot_activate(context, worker, tree, manager, slot);
}

int32_t rt_slot_live(const uint32_t *slot) { return handle_is_live(rt_load_leading(slot)); }
