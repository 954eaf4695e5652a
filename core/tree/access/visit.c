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
static void fill_steps(const SNode *level, const CellAsk *ask, RtVisitStep *steps) {
  int count = ask->is_list ? level->depth + 1 : level->path->step_count;
  ASSERT(!ask->is_list || snode_has_lists(level), "a visit of a list is at a level of lists");
  for (int k = 0; k < count; k++) fill_step(&level->path->steps[k], ask->index, &steps[k]);
  if (!ask->is_list) return;
  steps[count - 1].kind = RT_VISIT_LIST;
  steps[count - 1].cell = (uint64_t)level->sizes[0];
}

static void fill_parts(const CellAsk *ask, RtVisitPart *parts) {
  for (int k = 0; k < ask->component_count; k++)
    parts[k] = (RtVisitPart){.offset = ask->components[k].offset,
                             .stride = ask->components[k].stride,
                             .size = (uint64_t)type_size(ask->components[k].type),
                             .bits = ask->reads || !ask->bits ? 0 : ask->bits[k]};
}

static bool take_error(Tree *tree, const RtError *error, Error *err) {
  if (error->kind == RT_OK) return true;
  if (error->kind == RT_ERROR_FULL) return storage_full_error(tree, error->manager, err);
  return error_set(err, RG_ERROR_MEMORY, "a cell could not be reached on the GPU");
}

static bool run(Tree *tree, CellAsk *ask, Words *words, int32_t word_count, Error *err) {
  Store *store = tree->store;
  RtVisitPart *parts = (RtVisitPart *)(void *)&words->steps[words->visit.step_count];
  DeviceVisit visit = {.words = (uint64_t *)(void *)words,
                       .word_count = word_count,
                       .could_look = ask->could_look,
                       .gc_is_stopped = store->gc_is_stopped};
  if (!store->device->table->remote->visit(store->device, &tree->rt, &visit, err)) return false;
  ask->is_done = visit.is_done;
  if (!visit.is_done) return true;
  if (ask->way != RT_VISIT_FIND) store->changes++;
  store->stats.gcs += visit.collections;
  ask->is_there = words->visit.is_there;
  ask->value = words->visit.value;
  for (int k = 0; ask->reads && k < ask->component_count; k++) ask->bits[k] = parts[k].bits;
  return take_error(tree, &visit.error, err);
}

bool cell_ask(Tree *tree, const SNode *level, CellAsk *ask, Error *err) {
  Store *store = tree->store;
  ASSERT(!ask->reads || ask->bits, "what a visit reads has a place");
  ask->is_done = false;
  if (!store->device->table->remote || !tree->rt.device || !tree->layout->is_sparse) return true;
  int step_count = ask->is_list ? level->depth + 1 : level->path->step_count;
  size_t size_bytes = sizeof(Words) + sizeof(RtVisitStep) * (size_t)step_count +
                      sizeof(RtVisitPart) * (size_t)ask->component_count;
  Words *words = heap_alloc(store->heap, size_bytes);
  if (!words) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for an element");
  words->visit = (RtVisit){.way = (int32_t)ask->way,
                           .step_count = step_count,
                           .part_count = ask->component_count,
                           .reads = ask->reads};
  fill_steps(level, ask, words->steps);
  fill_parts(ask, (RtVisitPart *)(void *)&words->steps[step_count]);
  bool ok = run(tree, ask, words, (int32_t)(size_bytes / sizeof(uint64_t)), err);
  heap_free(store->heap, words);
  return ok;
}

bool cell_is_away(const Tree *tree) {
  return tree_is_view(tree) && device_symmetric_heap(tree->store->device);
}
