/* node.c - operations on the cells of a level from outside kernels. */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "tree/kind.h"

bool node_check_index(const Node *node, const int64_t *index, int32_t index_count, const char *what,
                      Error *err) {
  return index_check(node->snode->shape, NULL, node->snode->rank, index, index_count, what, err);
}

bool node_check_index_from(const Node *node, const int64_t *offset, const int64_t *index,
                           int32_t index_count, const char *what, Error *err) {
  return index_check(node->snode->shape, offset, node->snode->rank, index, index_count, what, err);
}

/* The active cells of the nearest sparse level, times the cells of the SNodes below it. */
int64_t node_count_cells(const Node *node) {
  const SNode *sparse = snode_sparse_level(node->snode);
  int64_t cells = sparse ? cell_kinds[sparse->kind].count(storage_context(node->tree), sparse) : 1;
  for (const SNode *at = node->snode; at != sparse; at = at->parent)
    cells *= (int64_t)at->cell_count;
  return cells;
}

const char *node_label(const Node *node, char buffer[100]) {
  if (node->snode->name[0]) snprintf(buffer, 100, "node '%.60s'", node->snode->name);
  else snprintf(buffer, 100, "the %s node", snode_kind_text(node->snode->kind));
  return buffer;
}

/* Lets the device perform the operation, if it has the newest contents. */
static bool visit_remote(Node *node, RtVisitWay way, const int64_t *index, CellRequest *request,
                         Error *err) {
  *request = (CellRequest){.way = way, .index = index, .pages_suffice = way == RT_VISIT_FIND};
  return cell_visit_remote(node->tree, node->snode, request, err);
}

static bool activate(Node *node, RtContext *context, const int64_t *index, Error *err) {
  ASSERT(node->tree->has_storage, "a tree is laid out before its cells change");
  CellRequest request;
  if (!visit_remote(node, RT_VISIT_ENSURE, index, &request, err)) return false;
  if (request.is_done) return true;
  if (!tree_reach(node->tree, DEVICE_WRITES, err)) return false;
  cell_ensure(context, node->snode, index);
  node->tree->store->changes++;
  return cell_refresh(node->tree, err);
}

static bool is_always_active(const Node *node, const char *action, Error *err) {
  const SNode *sparse = snode_sparse_level(node->snode);
  if (sparse == node->snode) return false;
  if (sparse)
    error_set(err, RG_ERROR_ARGUMENT,
              "'%s' needs a %s node: the cells of a dense node are active with those of the %s "
              "node above",
              action, snode_kind_text(sparse->kind), snode_kind_text(sparse->kind));
  else
    error_set(err, RG_ERROR_ARGUMENT,
              "'%s' needs a pointer or bitmasked node: the cells of a dense node are always active",
              action);
  if (sparse && sparse->name[0]) error_hint(err, "use '%.60s'", sparse->name);
  return true;
}

static bool deactivate(Node *node, RtContext *context, const int64_t *index, Error *err) {
  CellRequest request;
  if (is_always_active(node, "deactivate", err) ||
      !visit_remote(node, RT_VISIT_CLEAR, index, &request, err))
    return false;
  if (request.is_done) return true;
  if (!tree_reach(node->tree, DEVICE_WRITES, err)) return false;
  cell_clear(context, node->snode, index);
  node->tree->store->changes++;
  if (!cell_refresh(node->tree, err)) return false;
  store_collect(node->tree);
  return true;
}

static bool clear_remote(Node *node, const SNode *sparse, bool *is_done, Error *err) {
  Store *store = node->tree->store;
  DeviceClear clear = {.gc_is_stopped = store->gc_is_stopped};
  *is_done = false;
  if (!store->device->table->remote || !snode_is_managed(sparse)) return true;
  if (!store->device->table->remote->clear(store->device, &node->tree->rt, sparse->manager, &clear,
                                           err))
    return false;
  *is_done = clear.is_done;
  store->stats.gcs += clear.collections;
  return true;
}

/* For a dense level, clears the nearest sparse level, and thereby its own cells. */
static bool clear(Node *node, RtContext *context, Error *err) {
  const SNode *sparse = snode_sparse_level(node->snode);
  bool is_done;
  if (!sparse) return !is_always_active(node, "clear", err);
  if (!clear_remote(node, sparse, &is_done, err)) return false;
  if (is_done) {
    node->tree->store->changes++;
    return true;
  }
  if (!tree_reach(node->tree, DEVICE_WRITES, err)) return false;
  cell_kinds[sparse->kind].clear(context, sparse);
  node->tree->store->changes++;
  if (!cell_refresh(node->tree, err)) return false;
  store_collect(node->tree);
  return true;
}

/* Performs an action on one cell. */
static bool call_cell(Node *node, NodeAction action, const int64_t *index, int32_t index_count,
                      int64_t *result, Error *err) {
  RtContext *context = storage_context(node->tree);
  char label[100];
  Cell cell;
  if (!node_check_index(node, index, index_count, node_label(node, label), err)) return false;
  if (action == NODE_ACTIVATE) return activate(node, context, index, err);
  if (action == NODE_DEACTIVATE) return deactivate(node, context, index, err);
  bool is_there;
  CellRequest request = {0};
  if ((snode_has(node->snode, SNODE_KEYED) || cell_is_remote(node->tree)) &&
      !visit_remote(node, RT_VISIT_FIND, index, &request, err))
    return false;
  if (request.is_done) {
    *result = request.is_there;
    return true;
  }
  if (!cell_locate(node->tree, node->snode, index, &cell, &is_there, err)) return false;
  *result = is_there;
  return true;
}

static DeviceUse use_of_count(const Node *node) {
  const SNode *sparse = snode_sparse_level(node->snode);
  return !sparse || cell_kinds[sparse->kind].has_count ? DEVICE_COUNTS : DEVICE_READS;
}

/* Announces the access to the tree; an action on one cell or list announces that of its memory
 * later. */
static bool reach_tree(Node *node, NodeAction action, Error *err) {
  if (!tree_lay_out(node->tree, "its first use", err)) return false;
  if (action == NODE_LENGTH || action == NODE_IS_ACTIVE) return true;
  if (!tree_check_own(node->tree, err)) return false;
  if (action == NODE_COUNT) return tree_reach(node->tree, use_of_count(node), err);
  return action != NODE_CLEAR || tree_reach(node->tree, DEVICE_COUNTS, err);
}

bool node_call(Node *node, NodeAction action, const int64_t *index, int32_t index_count,
               int64_t *result, Error *err) {
  *result = 0;
  if (!reach_tree(node, action, err)) return false;
  switch (action) {
  case NODE_COUNT: *result = node_count_cells(node); return true;
  case NODE_CLEAR: return clear(node, storage_context(node->tree), err);
  case NODE_LENGTH:
  case NODE_POP: return node_list_call(node, action, index, index_count, result, err);
  case NODE_DEACTIVATE:
    if (snode_has_lists(node->snode))
      return node_list_call(node, action, index, index_count, result, err);
    break;
  case NODE_ACTIVATE:
  case NODE_IS_ACTIVE: break;
  }
  return call_cell(node, action, index, index_count, result, err);
}

bool node_level(Node *node, RgLevel *level, Error *err) {
  const SNode *snode = node->snode;
  if (!tree_lay_out(node->tree, "its first use", err)) return false;
  *level =
      (RgLevel){.parent = snode->parent ? (RgSNode *)tree_node(node->tree, snode->parent) : NULL,
                .kind = snode_kind_text(snode->kind),
                .axis_count = snode->axis_count,
                .rank = snode->rank,
                .bytes = snode_is_managed(snode) ? snode->node_size : snode->container_size};
  for (int k = 0; k < snode->axis_count; k++) {
    level->axes[k] = snode->axes[k];
    level->sizes[k] = snode->sizes[k];
  }
  for (int k = 0; k < snode->rank; k++) level->level_axes[k] = snode->level_axes[k];
  return true;
}

bool node_rescale(const Node *from, const Node *to, const int64_t *index, int32_t index_count,
                  int64_t *out, Error *err) {
  const SNode *low = from->snode, *high = to->snode;
  char label[100];
  if (!tree_check(from->tree, err)) return false;
  if (from->tree != to->tree)
    return error_set(err, RG_ERROR_ARGUMENT, "rg.rescale takes two levels of one tree, not of two");
  if (index_count != low->rank)
    return error_set(err, RG_ERROR_INDEX_COUNT, "%s takes %d %s, %d given", node_label(from, label),
                     low->rank, low->rank == 1 ? "index" : "indices", index_count);
  for (int k = 0; k < high->rank; k++) {
    int axis = high->level_axes[k], position = snode_axis_position(low, axis);
    int64_t fine = snode_cells_along(low, axis), coarse = snode_cells_along(high, axis);
    if (fine % coarse && coarse % fine)
      return error_set(err, RG_ERROR_ARGUMENT,
                       "rg.rescale takes two levels, one of which divides the cells of the other");
    if (position < 0) out[k] = 0;
    else
      out[k] = fine % coarse == 0
                   ? floor_div(index[position], fine / coarse)
                   : (int64_t)((uint64_t)index[position] * (uint64_t)(coarse / fine));
  }
  return true;
}
