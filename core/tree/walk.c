/* walk.c - all active cells of a field, node by node: what bulk operations do.
 * The innermost SNode's cells come as one run, so that a visitor loops over plain strides. */
#include "base/bits.h"
#include "tree/cell.h"

typedef struct Walk {
  const CellPath *path;
  const SNodeComponent *component;
  CellVisit *visit;
  void *data;
  int64_t elements; /* of a list: how many lie in the node being walked */
  CellRun run; /* its index is that of the place reached so far */
} Walk;

static bool visit_run(Walk *walk, const CellStep *step, Cell cell, int64_t count) {
  walk->run.step = step;
  walk->run.first = cell_element(cell, walk->component);
  walk->run.stride = walk->component->stride;
  walk->run.count = count;
  return walk->visit(walk->data, &walk->run);
}

static void move_index(const CellStep *step, uint64_t number, int64_t sign, int64_t *index) {
  for (int k = step->digit_count - 1; k >= 0; k--) {
    const CellDigit *digit = &step->digits[k];
    index[digit->position] += sign * (int64_t)(number % (uint64_t)digit->size) * digit->weight;
    number /= (uint64_t)digit->size;
  }
}

/* Active cells that stand side by side are one run. */
static bool visit_active_runs(Walk *walk, const CellStep *step, Cell cell) {
  const uint64_t *words = cell_words(step, cell);
  for (uint64_t first = 0, behind; first < step->cell_count; first = behind) {
    behind = first + 1;
    if (!rt_mask_live(words, first)) continue;
    while (behind < step->cell_count && rt_mask_live(words, behind)) behind++;
    cell.number = first;
    move_index(step, first, 1, walk->run.index);
    bool goes_on = visit_run(walk, step, cell, (int64_t)(behind - first));
    move_index(step, first, -1, walk->run.index);
    if (!goes_on) return false;
  }
  return true;
}

/* From step `at` downward no step has slots. Depth is limited by SNODE_MAX_DEPTH. */
static bool walk_steps(Walk *walk, int at, Cell cell) {
  if (at == walk->path->step_count) return visit_run(walk, NULL, cell, 1);
  const CellStep *step = &walk->path->steps[at];
  Cell inner = {.base = cell.base + step->offset + cell.number * step->stride};
  if (at == walk->path->step_count - 1) {
    if (step->mask >= 0) return visit_active_runs(walk, step, inner);
    int64_t count = walk->path->chunk ? walk->elements : (int64_t)step->cell_count;
    return !count || visit_run(walk, step, inner, count);
  }
  for (; inner.number < step->cell_count; inner.number++) {
    if (step->mask >= 0 && !rt_mask_live(cell_words(step, inner), inner.number)) continue;
    move_index(step, inner.number, 1, walk->run.index);
    bool goes_on = walk_steps(walk, at + 1, inner);
    move_index(step, inner.number, -1, walk->run.index);
    if (!goes_on) return false;
  }
  return true;
}

static void begin_at_node(Walk *walk, const int64_t *coordinates) {
  const CellPath *path = walk->path;
  for (int k = 0; k < path->rank; k++)
    walk->run.index[k] =
        path->listed_position[k] < 0 ? 0 : coordinates[path->listed_position[k]] * path->listed_weight[k];
}

static bool walk_listed(Walk *walk, Tree *tree, Error *err) {
  int manager = walk->path->listed_manager;
  int64_t count = cell_list(tree, manager, err);
  RtContext *context = &tree->store->host;
  for (int64_t k = 0; k < count; k++) {
    uint8_t *node = rt_list_node(context, 0, manager, k);
    begin_at_node(walk, rt_list_coordinates(context, 0, manager, k));
    if (walk->path->chunk) walk->elements = rt_dynamic_cells(context, 0, manager, node);
    if (!walk_steps(walk, walk->path->listed_step + 1, (Cell){.base = node})) return false;
  }
  return count >= 0;
}

bool cell_walk(Field *field, int part, CellVisit *visit, void *data, Error *err) {
  Tree *tree = field->node->tree;
  Walk walk = {.path = field->node->path,
               .component = &field->node->snode->components[field->component + part],
               .visit = visit,
               .data = data};
  if (walk.path->listed_step >= 0) return walk_listed(&walk, tree, err);
  return walk_steps(&walk, 0, (Cell){.base = tree->rt.root});
}

void cell_next_in_run(const CellRun *run, int64_t *index) {
  for (int k = run->step->digit_count - 1; k >= 0; k--) {
    const CellDigit *digit = &run->step->digits[k];
    index[digit->position] += digit->weight;
    if (floor_mod(floor_div(index[digit->position], digit->weight), digit->size)) return;
    index[digit->position] -=
        digit->size * digit->weight; /* past its last: back to 0, and the next slower digit moves */
  }
}
