/* view.c - descriptions of memory by which the host accesses elements without a call: RgView and
 * RgRun.
 * A field has a view if no cell can be inactive and each index is a digit of one step: then an
 * element's offset is a sum of one multiple per axis. It has no view if a dense node below another
 * splits an axis. */
#include <string.h>

#include "base/bits.h"
#include "tree/access/cell.h"
#include "tree/packed.h"

/* Adds the strides, in bytes, of the axes that step `at` divides; false if two steps divide an
 * axis. */
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

/* Finds the distance in bytes between consecutive numbers of an element; false if it varies. */
static bool find_step(const Field *field, const SNodeComponent *first, RgView *view) {
  int count = type_parts(field->type);
  view->step = count > 1 ? (int64_t)(first[1].offset - first[0].offset) : 0;
  for (int k = 1; k < count; k++)
    if ((int64_t)(first[k].offset - first[k - 1].offset) != view->step ||
        first[k].stride != first->stride)
      return false;
  return true;
}

static const uint8_t *alive(const Field *field) {
  const Tree *tree = field->node->tree;
  return device_alive(field->store->device, &tree->rt, &tree->has_storage);
}

bool field_view(Field *field, RgView *view, Error *err) {
  *view = (RgView){0};
  if (!field_lay_out(field, NULL, err)) return false;
  const SNode *level = field->node->snode;
  const SNodePath *path = level->path;
  const SNodeComponent *first = &level->components[field->component];
  view->alive = alive(field);
  if (field->words || path->sparse_step >= 0 || type_is_struct(field->type) ||
      !find_step(field, first, view))
    return true;
  uint64_t offset = first->offset;
  for (int k = 0; k < path->step_count; k++) {
    bool is_last = k + 1 == path->step_count;
    offset += path->steps[k].offset;
    if (!add_strides(path, k, is_last ? first->stride : path->steps[k + 1].stride, view))
      return true;
  }
  view->rank = level->rank;
  memcpy(view->start, field->offset, sizeof view->start);
  memcpy(view->extent, level->shape, sizeof(int64_t) * (size_t)level->rank);
  if (!view->alive) return true; /* then the host must call device_reach before each access */
  if (!tree_reach(field->node->tree, DEVICE_READS, err)) return false;
  view->first = field->node->tree->rt.root + offset;
  return true;
}

/* -- runs -------------------------------------------------------------------------------------- */

/* Is a cell of the level active or not by a mask bit below the nearest node level? */
static bool has_bits(const SNode *level) {
  return level->path->sparse_step != level->path->node_step;
}

/* The digit that numbers cells in a row along the last axis. NULL if neighbours need not be
 * adjacent in memory, or if launches may run before the next access. */
static const SNodeDigit *row_digit(const Field *field) {
  const SNode *level = field->node->snode;
  const SNodeStep *last = snode_last_step(level);
  if (!alive(field) || last->kind != level->kind || !last->digit_count ||
      !snode_has(level, SNODE_CELLS))
    return NULL;
  const SNodeDigit *digit = &last->digits[last->digit_count - 1];
  return digit->position == level->rank - 1 && digit->weight == 1 ? digit : NULL;
}

/* How many cells next to this active one are active, too: at most `most`, in direction `way` (1 or
 * -1). */
static int64_t count_active(const Field *field, const Cell *cell, int64_t most, int way) {
  const SNode *level = field->node->snode;
  if (snode_is_dense(level)) return most;
  uint64_t offset = snode_last_step(level)->mask_offset;
  const uint64_t *words = (const uint64_t *)(const void *)(cell->base + offset);
  int64_t count = 0, number = (int64_t)cell->number;
  while (count < most && rt_mask_active(words, (uint64_t)(number + way * (count + 1)))) count++;
  return count;
}

/* The number of consecutive active cells along the last axis, from this one on. */
static int64_t count_neighbours(const Field *field, const int64_t *index, const Cell *cell) {
  const SNodeDigit *digit = row_digit(field);
  if (!digit) return 1;
  int64_t at = index[digit->position], extent = field->node->snode->shape[digit->position];
  int64_t left = digit->size - floor_mod(at, digit->size);
  if (extent && extent - at < left) left = extent - at;
  return 1 + count_active(field, cell, left - 1, 1);
}

/* The number of consecutive active cells before it. */
static int64_t count_before(const Field *field, const int64_t *index, const Cell *cell) {
  const SNodeDigit *digit = row_digit(field);
  if (!digit) return 0;
  return count_active(field, cell, floor_mod(index[digit->position], digit->size), -1);
}

/* A version number that changes before a cell of the run does: that of the level's nodes, or the
 * store's count of all changes. */
static const uint32_t *version_of(const Field *field) {
  const SNode *level = field->node->snode;
  Tree *tree = field->node->tree;
  if (has_bits(level)) return &field->store->changes;
  if (level->path->node_step < 0) return NULL;
  int manager = level->path->steps[level->path->node_step].manager;
  return (const uint32_t *)&tree->rt.managers[manager].version;
}

/* Sets the index to the last visited cell, counted from 0, as the start of the next call. */
static void step_back(const Field *field, RgRun *run) {
  int last = field->node->snode->rank - 1;
  for (int k = 0; k <= last; k++) run->index[k] -= field->offset[k];
  if (last >= 0) run->index[last] += run->used - 1;
}

/* Describes the run from the cell at run->index on, which is at `cell`. */
static void describe(Field *field, RgRun *run, Cell cell) {
  const SNode *level = field->node->snode;
  const SNodeComponent *first = &level->components[field->component];
  Tree *tree = field->node->tree;
  RgView view;
  run->count = count_neighbours(field, run->index, &cell);
  run->first = cell_element(cell, first);
  run->stride = (int64_t)first->stride;
  run->step = find_step(field, first, &view) ? view.step : 0;
  run->alive = alive(field);
  if (!run->alive) run->alive = (const uint8_t *)&tree->has_storage; /* a run of one cell */
  run->version = version_of(field);
  run->seen = run->version ? *run->version : 0;
  for (int k = 0; k < level->rank; k++) run->index[k] += field->offset[k];
}

bool field_next_run(Field *field, RgRun *run, Error *err) {
  bool is_there = false, has_begun = run->has_begun;
  if (!field_lay_out(field, NULL, err)) return false;
  if (has_begun && !run->count) return true;
  if (has_begun) step_back(field, run);
  run->has_begun = 1;
  run->count = 0;
  if (!node_next_after(field->node, has_begun, run->index, &is_there, err)) return false;
  if (!is_there) return true;
  if (field->words) return packed_run(field, alive(field), run, err);
  Cell cell;
  is_there = cell_find(storage_context(field->node->tree), field->node->snode, run->index, &cell);
  ASSERT(is_there, "a cell that a walk visits is active");
  describe(field, run, cell);
  return true;
}

bool field_get_run(Field *field, const int64_t *index, int32_t index_count, RgValue *value,
                   RgRun *run, Error *err) {
  Cell cell;
  *run = (RgRun){0};
  if (!field_get(field, index, index_count, value, err)) return false;
  const SNode *level = field->node->snode;
  if (!level->rank || field->words || tree_is_view(field->node->tree)) return true;
  for (int k = 0; k < level->rank; k++) run->index[k] = index[k] - field->offset[k];
  if (!row_digit(field) || !cell_find(storage_context(field->node->tree), level, run->index, &cell))
    return true;
  int64_t before = count_before(field, run->index, &cell);
  run->index[level->rank - 1] -= before;
  cell.number -= (uint64_t)before;
  describe(field, run, cell);
  return true;
}
