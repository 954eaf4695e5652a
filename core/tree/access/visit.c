/* visit.c - performs an operation on one cell on the device, if it has the tree's newest contents:
 * encodes the cell's path as the steps of an RtVisit (rt.h), which the device runs as a launch of
 * one thread. The host computes cell numbers, as tree/access/cell.c does, and copies nothing else.
 * Decision D-device-03. */
#include <string.h>

#include "tree/kind.h"

typedef struct Words { /* the launch's words */
  RtVisit visit;
  RtVisitStep steps[];
} Words;

RtVisitStep visit_step(const SNodeStep *step) {
  return (RtVisitStep){.offset = step->offset,
                       .stride = step->stride,
                       .words = step->mask_offset,
                       .kind = (int32_t)cell_kinds[step->kind].visit,
                       .number = step->mask >= 0 ? step->mask : step->manager,
                       .chunk = (int32_t)step->node->chunk};
}

static void fill_step(const SNodeStep *step, const int64_t *index, RtVisitStep *to) {
  *to = visit_step(step);
  if (to->kind == RT_VISIT_HASH) kind_hash_key(step, index, to->key);
  else to->cell = kind_cell_number(step, index);
  if (to->kind == RT_VISIT_CHUNKS) to->key[0] = index[step->digits[0].position];
}

/* Fills the steps of the path; a path to a list has one step fewer than a path to its elements. */
static void fill_steps(const SNode *level, const CellRequest *request, RtVisitStep *steps) {
  int count = request->is_list ? level->depth + 1 : level->path->step_count;
  ASSERT(!request->is_list || snode_has_lists(level), "a visit of a list is at a level of lists");
  for (int k = 0; k < count; k++) fill_step(&level->path->steps[k], request->index, &steps[k]);
  if (!request->is_list) return;
  steps[count - 1].kind = RT_VISIT_LIST;
  steps[count - 1].cell = (uint64_t)level->sizes[0];
}

static void fill_parts(const CellRequest *request, RtVisitPart *parts) {
  for (int k = 0; k < request->component_count; k++)
    parts[k] = (RtVisitPart){.offset = request->components[k].offset,
                             .stride = request->components[k].stride,
                             .size = (uint64_t)type_size(request->components[k].type),
                             .bits = request->reads || !request->bits ? 0 : request->bits[k]};
}

bool cell_check_remote(Tree *tree, const RtError *error, const char *message, Error *err) {
  if (error->kind == RT_OK) return true;
  if (error->kind == RT_ERROR_FULL) return storage_full_error(tree, error->manager, err);
  return error_set(err, RG_ERROR_MEMORY, "%s", message);
}

static bool run(Tree *tree, CellRequest *request, Words *words, int32_t word_count, Error *err) {
  Store *store = tree->store;
  RtVisitPart *parts = (RtVisitPart *)(void *)&words->steps[words->visit.step_count];
  DeviceVisit visit = {.words = (uint64_t *)(void *)words,
                       .word_count = word_count,
                       .pages_suffice = request->pages_suffice,
                       .gc_is_stopped = store->gc_is_stopped};
  if (!store->device->table->remote->visit(store->device, &tree->rt, &visit, err)) return false;
  request->is_done = visit.is_done;
  if (!visit.is_done) return true;
  if (request->way != RT_VISIT_FIND) store->changes++;
  store->stats.gcs += visit.collections;
  request->is_there = words->visit.is_there;
  request->value = words->visit.value;
  for (int k = 0; request->reads && k < request->component_count; k++)
    request->bits[k] = parts[k].bits;
  return cell_check_remote(tree, &visit.error, "a cell could not be accessed on the GPU", err);
}

bool cell_visit_remote(Tree *tree, const SNode *level, CellRequest *request, Error *err) {
  Store *store = tree->store;
  ASSERT(!request->reads || request->bits, "a visit that reads has a buffer");
  request->is_done = false;
  if (!store->device->table->remote || !tree->rt.device || !tree->layout->is_sparse) return true;
  int step_count = request->is_list ? level->depth + 1 : level->path->step_count;
  size_t size_bytes = sizeof(Words) + sizeof(RtVisitStep) * (size_t)step_count +
                      sizeof(RtVisitPart) * (size_t)request->component_count;
  Words *words = heap_alloc(store->heap, size_bytes);
  if (!words) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for an element");
  words->visit = (RtVisit){.way = (int32_t)request->way,
                           .step_count = step_count,
                           .part_count = request->component_count,
                           .reads = request->reads};
  fill_steps(level, request, words->steps);
  fill_parts(request, (RtVisitPart *)(void *)&words->steps[step_count]);
  bool ok = run(tree, request, words, (int32_t)(size_bytes / sizeof(uint64_t)), err);
  heap_free(store->heap, words);
  return ok;
}

bool cell_is_remote(const Tree *tree) {
  return tree_is_view(tree) && device_symmetric_heap(tree->store->device);
}
