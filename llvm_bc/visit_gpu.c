/* visit_gpu.c - host accesses to one cell of a tree that is on a GPU, done by one thread there. It
 * walks like tree/access/cell.c, along the cell numbers that the host computed from the index. Also
 * copies of all cells of another tree, where each thread computes the numbers of its cells. */
#include "node.h"

typedef struct Place {
  uint8_t *at;     /* of the selected cell: its node, or its container */
  uint64_t number; /* in its container */
  uint8_t *node;   /* the last one entered, or the root's container */
} Place;

static int enter(const RtContext *context, Place *place, uint8_t *node) {
  *place = (Place){.at = node, .node = node};
  return node != context->ambient;
}

static int take_slot(RtContext *context, const RtVisitStep *step, int32_t way, Place *place) {
  uint32_t *slot = (uint32_t *)(void *)place->at + step->cell;
  if (way == RT_VISIT_ENSURE)
    return enter(context, place, rt_slot_ensure(context, context->workers, 0, step->number, slot));
  if (way == RT_VISIT_CLEAR) rt_slot_clear(context, context->workers, 0, step->number, slot);
  return enter(context, place, rt_slot_find(context, 0, slot));
}

static int take_bit(RtContext *context, const RtVisitStep *step, int32_t way, Place *place) {
  uint64_t *words = (uint64_t *)(void *)(place->at + step->words);
  place->number = step->cell;
  if (way == RT_VISIT_ENSURE) rt_mask_set(context, words, step->cell);
  if (way == RT_VISIT_CLEAR)
    rt_mask_clear(context, context->workers, 0, step->number, words, step->cell);
  return rt_mask_active(words, step->cell);
}

static int take_chunk(RtContext *context, const RtVisitStep *step, int32_t way, Place *place) {
  uint32_t *list = (uint32_t *)(void *)place->at;
  if (way == RT_VISIT_ENSURE)
    return enter(context, place,
                 rt_dynamic_ensure(context, context->workers, 0, step->number, list, step->chunk,
                                   (int32_t)step->key[0], 0));
  if (step->key[0] >= list[RT_LIST_LENGTH]) return 0;
  return enter(context, place, rt_slot_find(context, 0, &list[RT_LIST_SLOTS + step->cell]));
}

static int take_key(RtContext *context, const RtVisitStep *step, int32_t way, Place *place) {
  RtWorker *worker = context->workers;
  if (way == RT_VISIT_ENSURE)
    return enter(context, place,
                 rt_hash_ensure(context, worker, 0, step->number, place->node, step->key));
  if (way == RT_VISIT_CLEAR)
    rt_hash_clear(context, worker, 0, step->number, place->node, step->key);
  return enter(context, place, rt_hash_find(context, 0, step->number, place->node, step->key));
}

/* The last step, to the list itself; moves the place to the element that was added or removed. */
static int take_list(RtContext *context, const RtVisitStep *step, RtVisit *visit, Place *place) {
  uint32_t *list = (uint32_t *)(void *)place->at;
  int32_t capacity = (int32_t)step->cell, slot = -1;
  visit->value = list[RT_LIST_LENGTH];
  if (visit->way == RT_VISIT_FIND) return 1;
  if (visit->way == RT_VISIT_CLEAR)
    rt_dynamic_clear(context, context->workers, 0, step->number, list, capacity, 0, 0);
  if (visit->way == RT_VISIT_APPEND)
    slot = rt_dynamic_append(context, context->workers, 0, step->number, list, step->chunk,
                             capacity, RT_LIST_OWN);
  if (visit->way == RT_VISIT_POP) slot = rt_dynamic_pop(context, list, 0);
  visit->value = slot;
  if (slot < 0) return 0;
  enter(context, place, rt_slot_find(context, 0, &list[RT_LIST_SLOTS + slot / step->chunk]));
  place->number = (uint64_t)(slot % step->chunk);
  return 1;
}

/* One step; 0 if the cell does not exist, or does not exist any more. */
static int take(RtContext *context, const RtVisitStep *step, int32_t way, RtVisit *visit,
                Place *place) {
  place->at += step->offset + place->number * step->stride;
  place->number = 0;
  switch (step->kind) {
  case RT_VISIT_DENSE: place->number = step->cell; return 1;
  case RT_VISIT_SLOTS: return take_slot(context, step, way, place);
  case RT_VISIT_BITS: return take_bit(context, step, way, place);
  case RT_VISIT_CHUNKS: return take_chunk(context, step, way, place);
  case RT_VISIT_HASH: return take_key(context, step, way, place);
  default: return take_list(context, step, visit, place);
  }
}

#define MOVE(TYPE) \
  if (visit->reads) part->bits = *(TYPE *)(void *)at; \
  else *(TYPE *)(void *)at = (TYPE)part->bits

static void move_part(const RtVisit *visit, RtVisitPart *part, Place place) {
  uint8_t *at = place.at + part->offset + place.number * part->stride;
  switch (part->size) {
  case 1: MOVE(uint8_t); return;
  case 2: MOVE(uint16_t); return;
  case 4: MOVE(uint32_t); return;
  default: MOVE(uint64_t);
  }
}

/* The way of step k: missing cells on the path are created only if its last cell is. */
static int32_t way_to(const RtVisit *visit, int32_t k) {
  if (k + 1 == visit->step_count) return visit->way;
  int makes = visit->way == RT_VISIT_ENSURE || visit->way == RT_VISIT_APPEND;
  return makes ? RT_VISIT_ENSURE : RT_VISIT_FIND;
}

void rt_visit(RtContext *context, RtVisit *visit) {
  RtVisitStep *steps = (RtVisitStep *)(visit + 1);
  RtVisitPart *parts = (RtVisitPart *)(steps + visit->step_count);
  uint8_t *root = context->trees[0]->root;
  Place place = {.at = root, .node = root};
  int is_there = 1;
  for (int32_t k = 0; is_there && k < visit->step_count; k++)
    is_there = take(context, &steps[k], way_to(visit, k), visit, &place) && !context->error.kind;
  visit->is_there = is_there;
  for (int32_t k = 0; is_there && k < visit->part_count; k++) move_part(visit, &parts[k], place);
}

/* -- copies ------------------------------------------------------------------------------------ */

static int64_t quotient(int64_t a, int64_t b) { /* floor */
  int64_t q = a / b;
  return q - (a % b < 0);
}

/* The index of the share's current cell. */
static void find_index(const RtGpuCopy *copy, const RtGpuDigits *digits, const RtGpuShare *share,
                       int64_t *index) {
  const RtGpuCells *cells = &copy->cells;
  uint64_t cell = share->cell;
  for (int32_t k = 0; k < copy->rank; k++)
    index[k] = copy->positions[k] < 0
                   ? 0
                   : share->info->coordinates[copy->positions[k]] * copy->weights[k];
  for (int32_t k = cells->depth - 1; k >= 0; k--) {
    uint64_t number = k ? cell % cells->counts[k] : cell;
    for (int64_t d = digits[k].count - 1; d >= 0; d--) {
      uint64_t size = (uint64_t)digits[k].sizes[d];
      index[digits[k].positions[d]] += (int64_t)(number % size) * digits[k].weights[d];
      number /= size;
    }
    cell /= cells->counts[k];
  }
}

static RtVisitStep step_to(const RtGpuCopyStep *of, const int64_t *index) {
  RtVisitStep step = of->step;
  const RtGpuDigits *digits = &of->digits;
  for (int64_t k = 0; k < digits->count; k++) {
    int64_t at = quotient(index[digits->positions[k]], digits->weights[k]), size = digits->sizes[k];
    if (step.kind == RT_VISIT_HASH) {
      step.key[k] = at;
      continue;
    }
    if (digits->wraps[k]) at -= quotient(at, size) * size;
    step.cell = step.cell * (uint64_t)size + (uint64_t)at;
  }
  if (step.kind == RT_VISIT_CHUNKS) step.key[0] = index[digits->positions[0]];
  return step;
}

static int ensure(RtContext *context, const RtGpuCopy *copy, const RtGpuCopyStep *steps,
                  const int64_t *index, Place *place) {
  uint8_t *root = context->trees[0]->root;
  *place = (Place){.at = root, .node = root};
  for (int32_t k = 0; k < copy->step_count; k++) {
    RtVisitStep step = step_to(&steps[k], index);
    if (!take(context, &step, RT_VISIT_ENSURE, 0, place)) return 0;
  }
  return 1;
}

static int find_in_table(const RtGpuCopy *copy, const int64_t *index, Place *place) {
  int64_t number = 0;
  for (int32_t k = 0; k < copy->rank; k++) number = number * copy->shape[k] + index[k];
  *place = (Place){.at = copy->table, .number = (uint64_t)(number - copy->first)};
  return number >= copy->first && number - copy->first < copy->count;
}

#define COPY(TYPE) *(TYPE *)(void *)to = *(const TYPE *)(const void *)from

static void copy_part(const RtGpuCopyPart *part, Place from_place, Place to_place) {
  const uint8_t *from = from_place.at + part->from_offset + from_place.number * part->from_stride;
  uint8_t *to = to_place.at + part->to_offset + to_place.number * part->to_stride;
  switch (part->size) {
  case 1: COPY(uint8_t); return;
  case 2: COPY(uint16_t); return;
  case 4: COPY(uint32_t); return;
  default: COPY(uint64_t);
  }
}

static Place place_of(const RtGpuCells *cells, const RtGpuShare *share) {
  Place place = {.at = share->node + cells->offset};
  uint64_t cell = share->cell;
  for (int32_t k = cells->depth - 1; k >= 0; k--) {
    uint64_t digit = k ? cell % cells->counts[k] : cell;
    if (k == cells->depth - 1) place.number = digit;
    else place.at += digit * cells->strides[k];
    cell /= cells->counts[k];
  }
  return place;
}

void rt_copy_cells(RtContext *context, const RtGpuCopy *copy, uint64_t thread, uint64_t threads) {
  const RtGpuDigits *digits = (const RtGpuDigits *)(copy + 1);
  const RtGpuCopyStep *steps = (const RtGpuCopyStep *)(digits + copy->cells.depth);
  const RtGpuCopyPart *parts = (const RtGpuCopyPart *)(steps + copy->step_count);
  RtGpuShare share = rt_cells_begin(copy->from, &copy->cells, thread, threads);
  int64_t index[RT_MAX_AXES];
  while (rt_cells_next(&share)) {
    Place place, from = place_of(&copy->cells, &share);
    find_index(copy, digits, &share, index);
    if (!(copy->table ? find_in_table(copy, index, &place)
                      : ensure(context, copy, steps, index, &place)))
      continue;
    for (int32_t k = 0; k < copy->part_count; k++) copy_part(&parts[k], from, place);
  }
}
