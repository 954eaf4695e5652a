/* cell.c - from an index to memory, step by step; see cell.h. */
#include "program/cell.h"

static void fill_step(CellStep *step, const SNode *at, const SNode *node) {
  const SNodeComponent *component = &at->parent->components[at->component_in_parent];
  step->offset = component->offset;
  step->stride = component->stride;
  step->cell_count = at->cell_count;
  step->manager = at->manager;
  step->digit_count = at->axis_count;
  for (int k = 0; k < at->axis_count; k++)
    step->digits[k] = (CellDigit){.position = snode_axis_position(node, at->axes[k]),
                                  .size = at->sizes[k],
                                  .weight = snode_divisor(at, node, at->axes[k])};
}

static void fill_listed(CellPath *path, const SNode *node) {
  const SNode *listed = snode_listed(node);
  path->listed_step = path->listed_manager = -1;
  if (!listed) return;
  path->listed_step = listed->depth - 1;
  path->listed_manager = listed->manager;
  path->listed_rank = listed->rank;
  for (int k = 0; k < node->rank; k++) {
    path->listed_position[k] = snode_axis_position(listed, node->level_axes[k]);
    path->listed_weight[k] = snode_divisor(listed, node, node->level_axes[k]);
  }
}

CellPath *cell_path_create(Heap *heap, const SNode *node, Error *err) {
  const SNode *nodes[SNODE_MAX_DEPTH];
  int count = snode_path(node, nodes) - 1;
  CellPath *path = heap_alloc(heap, sizeof *path + sizeof path->steps[0] * (size_t)count);
  if (!path) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for the way to a node");
    return NULL;
  }
  path->rank = node->rank;
  path->step_count = count;
  for (int k = 0; k < node->rank; k++) path->shape[k] = node->shape[k];
  for (int k = 0; k < count; k++) fill_step(&path->steps[k], nodes[k + 1], node);
  fill_listed(path, node);
  return path;
}

static uint64_t choose_cell(const CellStep *step, const int64_t *index) {
  uint64_t number = 0;
  for (int k = 0; k < step->digit_count; k++) {
    const CellDigit *digit = &step->digits[k];
    number = number * (uint64_t)digit->size + (uint64_t)(index[digit->position] / digit->weight % digit->size);
  }
  return number;
}

/* The cell of step `last`, with the slot that leads to it where the step has slots (its node is not looked up).
 * False where a node above is inactive; `ensures` makes those. */
static bool reach(RtContext *context, const CellPath *path, int last, const int64_t *index, bool ensures, Cell *cell) {
  *cell = (Cell){.base = context->trees[0]->root};
  for (int k = 0; k <= last; k++) {
    const CellStep *step = &path->steps[k];
    cell->base += step->offset + cell->number * step->stride;
    cell->number = choose_cell(step, index);
    if (step->manager < 0 || k == last) continue;
    uint32_t *slot = (uint32_t *)(void *)cell->base + cell->number;
    if (ensures)
      cell->base = rt_slot_ensure(context, context->workers, 0, step->manager, slot);
    else if (rt_slot_live(slot))
      cell->base = rt_slot_find(context, 0, slot);
    else
      return false;
    cell->number = 0;
  }
  return true;
}

/* From the slot to its node, where the path's own level has slots. */
static bool enter(RtContext *context, const CellPath *path, bool ensures, Cell *cell) {
  int manager = path->step_count ? path->steps[path->step_count - 1].manager : -1;
  if (manager < 0) return true;
  uint32_t *slot = (uint32_t *)(void *)cell->base + cell->number;
  if (!ensures && !rt_slot_live(slot)) return false;
  cell->base = ensures ? rt_slot_ensure(context, context->workers, 0, manager, slot) : rt_slot_find(context, 0, slot);
  cell->number = 0;
  return true;
}

bool cell_find(RtContext *context, const CellPath *path, const int64_t *index, Cell *cell) {
  return reach(context, path, path->step_count - 1, index, false, cell) && enter(context, path, false, cell);
}

Cell cell_ensure(RtContext *context, const CellPath *path, const int64_t *index) {
  Cell cell;
  reach(context, path, path->step_count - 1, index, true, &cell);
  enter(context, path, true, &cell);
  return cell;
}

uint32_t *cell_slot(RtContext *context, const CellPath *path, const int64_t *index) {
  Cell cell;
  if (!reach(context, path, path->step_count - 1, index, false, &cell)) return NULL;
  return (uint32_t *)(void *)cell.base + cell.number;
}

int64_t cell_list(Tree *tree, int manager, Error *err) {
  RtContext *context = storage_context(tree);
  rt_list_update(context, &tree->rt, manager);
  return cell_settle(tree, err) ? (int64_t)tree->rt.managers[manager].list_count : -1;
}

bool cell_settle(Tree *tree, Error *err) {
  Program *program = tree->object.program;
  rt_tree_settle(&tree->rt, program->device->worker_count);
  const RtError *error = &program->host.error;
  if (error->kind == RT_ERROR_BUDGET) return storage_budget_error(tree, error->manager, err);
  if (error->kind == RT_ERROR_MEMORY)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a list of active nodes");
  return true;
}
