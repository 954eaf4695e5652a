/* cell_walk.c - visits all active cells of a field, node by node, for bulk operations.
 * The innermost SNode's cells are visited as one run, so that a visitor loops over plain
 * strides. */
#include "base/bits.h"
#include "tree/kind.h"

typedef struct Walk {
  const SNodePath *path;
  const SNodeComponent *component;
  CellVisit *visit;
  void *data;
  uint64_t limit; /* cells in the visited node: fewer than fit in the last one of a list */
  CellRun run;    /* its index is the current position */
} Walk;

static bool visit_run(Walk *walk, const SNodeStep *step, Cell cell, int64_t count) {
  DEBUG_ASSERT(count > 0, "a run has cells");
  walk->run.step = step;
  walk->run.first = cell_element(cell, walk->component);
  walk->run.stride = walk->component->stride;
  walk->run.count = count;
  return walk->visit(walk->data, &walk->run);
}

static void move_index(const SNodeStep *step, uint64_t number, int64_t sign, int64_t *index) {
  for (int k = step->digit_count - 1; k >= 0; k--) {
    const SNodeDigit *digit = &step->digits[k];
    DEBUG_ASSERT(digit->size > 0, "cells of a container are numbered");
    index[digit->position] += sign * (int64_t)(number % (uint64_t)digit->size) * digit->weight;
    number /= (uint64_t)digit->size;
  }
}

/* Visits the active cells of a container: in runs at the innermost step, one by one at others. From
 * step `at` downward no cells are nodes. Depth is limited by SNODE_MAX_DEPTH. */
static bool walk_steps(Walk *walk, int at, Cell cell) {
  if (at == walk->path->step_count) return visit_run(walk, NULL, cell, 1);
  const SNodeStep *step = &walk->path->steps[at];
  bool is_last = at == walk->path->step_count - 1, goes_on = true;
  ASSERT(cell_kinds[step->kind].next_run, "below the last node level, containers hold cells");
  Cell inner = {.base = cell.base + step->offset + cell.number * step->stride};
  for (uint64_t first, end = 0;
       goes_on && cell_kinds[step->kind].next_run(step, inner.base, &first, &end);) {
    if (end > walk->limit) end = walk->limit;
    for (inner.number = first; goes_on && inner.number < end;
         inner.number = is_last ? end : inner.number + 1) {
      uint64_t number = inner.number;
      move_index(step, number, 1, walk->run.index);
      goes_on = is_last ? visit_run(walk, step, inner, (int64_t)(end - number))
                        : walk_steps(walk, at + 1, inner);
      move_index(step, number, -1, walk->run.index);
    }
    if (end == walk->limit) break;
  }
  return goes_on;
}

static void begin_at_node(Walk *walk, const SNodeStep *step, const int64_t *coordinates) {
  for (int k = 0; k < walk->path->node->rank; k++)
    walk->run.index[k] =
        step->coordinate[k] < 0 ? 0 : coordinates[step->coordinate[k]] * step->weight[k];
}

static bool walk_node(Walk *walk, RtContext *context, uint8_t *node, const int64_t *coordinates) {
  const SNodeStep *step = &walk->path->steps[walk->path->node_step];
  const CellKind *kind = &cell_kinds[step->kind];
  ASSERT(node, "a listed node has memory");
  begin_at_node(walk, step, coordinates);
  if (kind->cells_in_node)
    walk->limit = (uint64_t)kind->cells_in_node(context, step->manager, node);
  return walk_steps(walk, walk->path->node_step + 1, (Cell){.base = node});
}

static bool walk_nodes(Walk *walk, Tree *tree, Error *err) {
  int manager = walk->path->steps[walk->path->node_step].manager;
  int64_t count = cell_list(tree, manager, err);
  RtContext *context = &tree->store->host;
  for (int64_t k = 0; k < count; k++)
    if (!walk_node(walk, context, rt_list_node(context, 0, manager, k),
                   rt_list_coordinates(context, 0, manager, k)))
      return false;
  return count >= 0;
}

bool cell_walk(Field *field, int part, CellVisit *visit, void *data, Error *err) {
  Tree *tree = field->node->tree;
  Walk walk = {.path = field->node->snode->path,
               .limit = UINT64_MAX,
               .component = &field->node->snode->components[field->component + part],
               .visit = visit,
               .data = data};
  if (walk.path->node_step >= 0) return walk_nodes(&walk, tree, err);
  return walk_steps(&walk, 0, (Cell){.base = tree->rt.root});
}

bool cell_walk_in_order(Tree *tree, const SNode *level, const SNodeComponent *component,
                        const CellNodes *nodes, CellVisit *visit, void *data) {
  Walk walk = {.path = level->path,
               .limit = UINT64_MAX,
               .component = component,
               .visit = visit,
               .data = data};
  RtContext *context = storage_context(tree);
  if (walk.path->node_step < 0) return walk_steps(&walk, 0, (Cell){.base = tree->rt.root});
  for (int64_t k = 0; k < nodes->count; k++)
    if (!walk_node(&walk, context, nodes->rows[k].memory, nodes->rows[k].info->coordinates))
      return false;
  return true;
}

void cell_next_in_run(const CellRun *run, int64_t *index) {
  ASSERT(run->step, "a node that is one cell has no next one");
  for (int k = run->step->digit_count - 1; k >= 0; k--) {
    const SNodeDigit *digit = &run->step->digits[k];
    index[digit->position] += digit->weight;
    if (floor_mod(floor_div(index[digit->position], digit->weight), digit->size)) return;
    index[digit->position] -=
        /* past its last: it wraps to 0, and the next slower digit advances */
        digit->size * digit->weight;
  }
}
