/* view.c - elements as the host finds them without asking: RgView and RgRun.
 * There is one where no cell can be inactive and each index is a digit of one step: then an
 * element's place is a sum of one multiple per axis. A dense node below another splits an axis, and
 * has none. */
#include <string.h>

#include "base/bits.h"
#include "tree/cell.h"

/* The bytes per cell of each axis that the step at `at` divides; false where two steps do. */
static bool add_strides(const SNodePath *path, int at, uint64_t stride, RgView *view) {
  const SNodeStep *step = &path->steps[at];
  for (int k = step->digit_count - 1; k >= 0; k--) {
    const SNodeDigit *digit = &step->digits[k];
    if (digit->weight != 1 || digit->above >= 0) return false;
    view->stride[digit->position] = (int64_t)stride;
    stride *= (uint64_t)digit->size;
  }
  return true;
}

/* The bytes from one number of an element to the next; false: they differ. */
static bool find_step(const Field *field, const SNodeComponent *first, RgView *view) {
  int count = type_parts(field->type);
  view->step = count > 1 ? (int64_t)(first[1].offset - first[0].offset) : 0;
  for (int k = 1; k < count; k++)
    if ((int64_t)(first[k].offset - first[k - 1].offset) != view->step ||
        first[k].stride != first->stride)
      return false;
  return true;
}

bool field_view(Field *field, RgView *view, Error *err) {
  *view = (RgView){0};
  if (!field_settle(field, NULL, err)) return false;
  const SNode *level = field->node->snode;
  const SNodePath *path = level->path;
  const SNodeComponent *first = &level->components[field->component];
  if (field->store->device->table->reach) return true; /* the host has to say when it looks */
  if (path->sparse_step >= 0 || type_is_struct(field->type) || !find_step(field, first, view))
    return true;
  uint64_t offset = first->offset;
  for (int k = 0; k < path->step_count; k++) {
    bool is_last = k + 1 == path->step_count;
    offset += path->steps[k].offset;
    if (!add_strides(path, k, is_last ? first->stride : path->steps[k + 1].stride, view))
      return true;
  }
  view->rank = level->rank;
  view->alive = (const uint8_t *)&field->node->tree->has_storage;
  memcpy(view->start, field->offset, sizeof view->start);
  memcpy(view->extent, level->shape, sizeof(int64_t) * (size_t)level->rank);
  view->first = field->node->tree->rt.root + offset;
  return true;
}

/* -- runs -------------------------------------------------------------------------------------- */

/* Does a bit, below the nearest node level, say whether a cell of the level is active? */
static bool has_bits(const SNode *level) {
  return level->path->sparse_step != level->path->node_step;
}

/* How many cells, at most `most`, are active from this one on, which is. */
static int64_t count_active(const SNodeStep *step, const Cell *cell, int64_t most) {
  const uint64_t *words = (const uint64_t *)(const void *)(cell->base + step->mask_offset);
  int64_t count = 1;
  while (count < most && rt_mask_active(words, cell->number + (uint64_t)count)) count++;
  return count;
}

/* How many cells from this one on follow each other along the last axis, all of them active. */
static int64_t count_neighbours(const Field *field, const int64_t *index, const Cell *cell) {
  const SNode *level = field->node->snode;
  const SNodeStep *last = snode_last_step(level);
  if (field->store->device->table->reach) return 1; /* who knows what is launched before the next */
  if (last->kind != level->kind || !last->digit_count ||
      (level->kind != SNODE_DENSE && level->kind != SNODE_BITMASKED))
    return 1;
  const SNodeDigit *digit = &last->digits[last->digit_count - 1];
  if (digit->position != level->rank - 1 || digit->weight != 1) return 1;
  int64_t left = digit->size - floor_mod(index[digit->position], digit->size);
  int64_t most = level->shape[digit->position] - index[digit->position];
  int64_t count = left < most || !level->shape[digit->position] ? left : most;
  return level->kind == SNODE_DENSE ? count : count_active(last, cell, count);
}

/* What changes before a cell of the run does: the nodes of the level, or anything at all. */
static const uint32_t *version_of(const Field *field) {
  const SNode *level = field->node->snode;
  Tree *tree = field->node->tree;
  if (has_bits(level)) return &field->store->changes;
  if (level->path->node_step < 0) return NULL;
  int manager = level->path->steps[level->path->node_step].manager;
  return (const uint32_t *)&tree->rt.managers[manager].version;
}

/* Before the next call: the last cell that was visited, counted from 0. */
static void step_back(const Field *field, RgRun *run) {
  int last = field->node->snode->rank - 1;
  for (int k = 0; k <= last; k++) run->index[k] -= field->offset[k];
  if (last >= 0) run->index[last] += run->used - 1;
}

static void describe(Field *field, RgRun *run) {
  const SNode *level = field->node->snode;
  const SNodeComponent *first = &level->components[field->component];
  Tree *tree = field->node->tree;
  RgView view;
  Cell cell;
  bool is_there = cell_find(storage_context(tree), level, run->index, &cell);
  ASSERT(is_there, "a cell that a walk visits is active");
  run->count = count_neighbours(field, run->index, &cell);
  run->first = cell_element(cell, first);
  run->stride = (int64_t)first->stride;
  run->step = find_step(field, first, &view) ? view.step : 0;
  run->alive = (const uint8_t *)&tree->has_storage;
  run->version = version_of(field);
  run->seen = run->version ? *run->version : 0;
  for (int k = 0; k < level->rank; k++) run->index[k] += field->offset[k];
}

bool field_next_run(Field *field, RgRun *run, Error *err) {
  bool is_there = false, has_begun = run->has_begun;
  if (!field_settle(field, NULL, err)) return false;
  if (has_begun && !run->count) return true;
  if (has_begun) step_back(field, run);
  run->has_begun = 1;
  run->count = 0;
  if (!node_next_after(field->node, has_begun, run->index, &is_there, err)) return false;
  if (is_there) describe(field, run);
  return true;
}
