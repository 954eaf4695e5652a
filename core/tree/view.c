/* view.c - dense elements as the host finds them without asking: RgView.
 * There is one where no cell can be inactive and each index is a digit of one step: then an
 * element's place is a sum of one multiple per axis. A dense node below another splits an axis, and
 * has none. */
#include <string.h>

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
