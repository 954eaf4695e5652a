/* cell.c - from an index to memory, step by step; see cell.h. */
#include "tree/kind.h"

/* Takes one step down the path, into the node if the step's cells are nodes; false if the cell is
 * inactive. */
static bool take_step(RtContext *context, const SNodeStep *step, const int64_t *index,
                      CellAction way, CellReach *reach) {
  reach->cell = (Cell){.base = reach->cell.base + step->offset + reach->cell.number * step->stride};
  return cell_kinds[step->kind].take(context, step, index, way, reach);
}

static CellReach at_root(const RtContext *context) {
  uint8_t *root = context->trees[0]->root;
  ASSERT(root, "a tree has memory before its cells are reached");
  return (CellReach){.cell = {.base = root}, .node = root};
}

/* Follows the path; the operation at the last step may differ from that at the others. */
static bool reach_cell(RtContext *context, const SNodePath *path, const int64_t *index,
                       CellAction way, CellAction last_way, Cell *cell) {
  CellReach reach = at_root(context);
  for (int k = 0; k < path->step_count; k++)
    if (!take_step(context, &path->steps[k], index, k + 1 < path->step_count ? way : last_way,
                   &reach))
      return false;
  *cell = reach.cell;
  return true;
}

bool cell_find(RtContext *context, const SNode *level, const int64_t *index, Cell *cell) {
  return reach_cell(context, level->path, index, CELL_FIND, CELL_FIND, cell);
}

static uint8_t *container_of(const SNodeStep *step, Cell cell) {
  return cell.base + step->offset + cell.number * step->stride;
}

static bool fetch_step(Tree *tree, const SNodeStep *step, const int64_t *index, Cell cell,
                       Error *err) {
  const CellKind *kind = &cell_kinds[step->kind];
  if (!tree->store->device->table->access || !kind->fetch) return true;
  return kind->fetch(tree, step, index, container_of(step, cell), err);
}

/* Follows the first `step_count` steps, and first copies to the host what each of them reads. */
static bool locate(Tree *tree, const SNodePath *path, int step_count, const int64_t *index,
                   Cell *cell, bool *is_there, Error *err) {
  RtContext *context = storage_context(tree);
  CellReach reach = at_root(context);
  bool fetches = tree->store->device->table->access;
  *is_there = false;
  for (int k = 0; k < step_count; k++) {
    if (fetches && !fetch_step(tree, &path->steps[k], index, reach.cell, err)) return false;
    if (!take_step(context, &path->steps[k], index, CELL_FIND, &reach)) return true;
  }
  *cell = reach.cell;
  return *is_there = true;
}

bool cell_locate(Tree *tree, const SNode *level, const int64_t *index, Cell *cell, bool *is_there,
                 Error *err) {
  return locate(tree, level->path, level->path->step_count, index, cell, is_there, err);
}

bool cell_reach(Tree *tree, Cell cell, const SNodeComponent *component, int count, DeviceUse use,
                Error *err) {
  Device *device = tree->store->device;
  bool ok = true;
  DEBUG_ASSERT(cell.base, "a cell is found before its elements are announced");
  for (int k = 0; ok && device->table->access && k < count; k++)
    ok = device_reach(device, &tree->rt, cell_element(cell, &component[k]),
                      (uint64_t)type_size(component[k].type), use, err);
  return ok;
}

bool cell_locate_list(Tree *tree, const SNode *level, const int64_t *index, uint32_t **list,
                      Error *err) {
  Cell cell;
  bool is_there;
  const SNodeStep *step = &level->path->steps[level->depth];
  ASSERT(snode_has_lists(level), "only lists are looked up as lists");
  *list = NULL;
  if (!locate(tree, level->path, level->depth, index, &cell, &is_there, err)) return false;
  if (is_there && !fetch_step(tree, step, index, cell, err)) return false;
  if (is_there) *list = (uint32_t *)(void *)container_of(step, cell);
  return true;
}

Cell cell_ensure(RtContext *context, const SNode *level, const int64_t *index) {
  Cell cell;
  reach_cell(context, level->path, index, CELL_ENSURE, CELL_ENSURE, &cell);
  return cell;
}

uint32_t *cell_find_list(RtContext *context, const SNode *level, const int64_t *index,
                         bool ensures) {
  CellReach reach = at_root(context);
  const SNodeStep *steps = level->path->steps, *list = &steps[level->depth];
  ASSERT(snode_has_lists(level), "only lists are found as lists");
  for (int k = 0; k < level->depth; k++)
    if (!take_step(context, &steps[k], index, ensures ? CELL_ENSURE : CELL_FIND, &reach))
      return NULL;
  if (context->error.kind) return NULL;
  return (uint32_t *)(void *)container_of(list, reach.cell);
}

void cell_clear(RtContext *context, const SNode *level, const int64_t *index) {
  Cell cell;
  reach_cell(context, level->path, index, CELL_FIND, CELL_CLEAR, &cell);
}

int64_t cell_list(Tree *tree, int manager, Error *err) {
  if (!tree_check_own(tree, err)) return -1;
  RtContext *context = storage_context(tree);
  ASSERT(manager >= 0 && manager < tree->rt.manager_count, "only nodes of managers are listed");
  rt_list_update(context, &tree->rt, manager);
  return cell_refresh(tree, err) ? (int64_t)tree->rt.managers[manager].list_count : -1;
}

bool cell_refresh(Tree *tree, Error *err) {
  Store *store = tree->store;
  if (tree->rt.changed) store->changes++;
  rt_tree_refresh(&store->host, &tree->rt);
  const RtError *error = &store->host.error;
  if (error->kind == RT_ERROR_BUDGET) return storage_budget_error(tree, error->manager, err);
  if (error->kind == RT_ERROR_FULL) return storage_full_error(tree, error->manager, err);
  if (error->kind == RT_ERROR_MEMORY)
    return error_set(err, RG_ERROR_MEMORY,
                     "the host has no memory left for a list of active nodes");
  return true;
}
