/* cell.c - from an index to memory, step by step; see cell.h. */
#include "base/bits.h"
#include "tree/cell.h"

static void fill_step(CellStep *step, const SNode *at, const SNode *node) {
  const SNodeComponent *component = &at->parent->components[at->component_in_parent];
  step->offset = component->offset;
  step->stride = component->stride;
  step->cell_count = at->cell_count;
  step->manager = at->manager;
  step->mask = at->mask;
  step->mask_offset = at->mask_offset;
  step->is_hash = at->kind == SNODE_HASH;
  step->digit_count = step->is_hash ? at->rank : at->axis_count;
  const uint8_t *axes = step->is_hash ? at->level_axes : at->axes;
  for (int k = 0; k < step->digit_count; k++)
    step->digits[k] = (CellDigit){.position = snode_axis_position(node, axes[k]),
                                  .size = step->is_hash ? 0 : at->sizes[k],
                                  .weight = snode_divisor(at, node, axes[k])};
}

/* Along a list the first step finds the chunk, the one behind it the element there. */
static void fill_list_steps(CellStep *list, const SNode *node) {
  CellStep *in_chunk = list + 1;
  *in_chunk = (CellStep){.manager = -1, .mask = -1, .cell_count = (uint64_t)node->chunk, .digit_count = 1};
  in_chunk->digits[0] = (CellDigit){list->digits[0].position, node->chunk, 1};
  list->chunk = node->chunk;
}

static void fill_listed(CellPath *path, const SNode *node) {
  const SNode *listed = snode_listed(node);
  const SNode *decider = snode_decider(node);
  path->decider_step = decider ? decider->depth - 1 : -1;
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
  bool is_list = node->kind == SNODE_DYNAMIC;
  CellPath *path = heap_alloc(heap, sizeof *path + sizeof path->steps[0] * (size_t)(count + is_list));
  if (!path) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for the way to a node");
    return NULL;
  }
  path->rank = node->rank;
  path->step_count = count + is_list;
  path->chunk = node->chunk;
  for (int k = 0; k < node->rank; k++) path->shape[k] = node->shape[k];
  for (int k = 0; k < count; k++) fill_step(&path->steps[k], nodes[k + 1], node);
  if (is_list) fill_list_steps(&path->steps[count - 1], node);
  fill_listed(path, node);
  return path;
}

static uint64_t choose_cell(const CellStep *step, const int64_t *index) {
  uint64_t number = 0;
  for (int k = 0; k < step->digit_count; k++) {
    const CellDigit *digit = &step->digits[k];
    int64_t coordinate = floor_div(index[digit->position], digit->weight);
    number = number * (uint64_t)digit->size + (uint64_t)floor_mod(coordinate, digit->size);
  }
  return number;
}

typedef enum Way { WAY_FIND, WAY_ENSURE, WAY_CLEAR } Way; /* what is done to a cell that comes and goes */

/* On the way: `node` is the last one entered, or the root's container. */
typedef struct Reach {
  Cell cell;
  uint8_t *node;
} Reach;

static uint8_t *take_slot(RtContext *context, const CellStep *step, const Reach *reach, Way way) {
  uint32_t *slot = (uint32_t *)(void *)reach->cell.base + reach->cell.number;
  if (way == WAY_ENSURE) return rt_slot_ensure(context, context->workers, 0, step->manager, slot);
  if (!rt_slot_live(slot)) return NULL;
  if (way == WAY_CLEAR) rt_slot_clear(context, context->workers, 0, step->manager, slot);
  return way == WAY_CLEAR ? NULL : rt_slot_find(context, 0, slot);
}

/* The node of the element of a list that the index names. */
static uint8_t *take_element(RtContext *context, const CellStep *step, const Reach *reach, const int64_t *index, Way way) {
  uint32_t *list = (uint32_t *)(void *)reach->cell.base;
  int64_t element = index[step->digits[0].position];
  if (way == WAY_ENSURE)
    return rt_dynamic_ensure(context, context->workers, 0, step->manager, list, (int32_t)step->chunk, (int32_t)element, 0);
  return element < list[RT_LIST_LENGTH] ? rt_slot_find(context, 0, list + RT_LIST_SLOTS + reach->cell.number) : NULL;
}

static uint8_t *take_key(RtContext *context, const CellStep *step, const Reach *reach, const int64_t *index, Way way) {
  int64_t key[SNODE_MAX_AXES];
  for (int k = 0; k < step->digit_count; k++)
    key[k] = floor_div(index[step->digits[k].position], step->digits[k].weight);
  if (way == WAY_ENSURE) return rt_hash_ensure(context, context->workers, 0, step->manager, reach->node, key);
  if (way == WAY_CLEAR) rt_hash_clear(context, context->workers, 0, step->manager, reach->node, key);
  uint8_t *node = rt_hash_find(context, 0, step->manager, reach->node, key);
  return node == context->ambient ? NULL : node;
}

static bool take_bit(RtContext *context, const CellStep *step, const Reach *reach, Way way) {
  uint64_t *words = cell_words(step, reach->cell);
  if (way == WAY_CLEAR) rt_mask_clear(context, context->workers, 0, step->mask, words, reach->cell.number);
  if (way == WAY_ENSURE) rt_mask_set(words, reach->cell.number);
  return way == WAY_ENSURE || rt_mask_live(words, reach->cell.number);
}

/* One step down the path, into the node where the step's cells are nodes; false where the cell is not active. */
static bool take_step(RtContext *context, const CellStep *step, const int64_t *index, Way way, Reach *reach) {
  Cell *cell = &reach->cell;
  cell->base += step->offset + cell->number * step->stride;
  cell->number = 0;
  if (!step->is_hash) cell->number = choose_cell(step, index);
  if (step->mask >= 0) return take_bit(context, step, reach, way);
  if (step->manager < 0) return true;
  if (step->chunk) reach->node = take_element(context, step, reach, index, way);
  else reach->node = step->is_hash ? take_key(context, step, reach, index, way) : take_slot(context, step, reach, way);
  *cell = (Cell){.base = reach->node};
  return reach->node;
}

static bool reach_cell(RtContext *context, const CellPath *path, const int64_t *index, Way way, Way last_way, Cell *cell) {
  uint8_t *root = context->trees[0]->root;
  Reach reach = {.cell = {.base = root}, .node = root};
  for (int k = 0; k < path->step_count; k++)
    if (!take_step(context, &path->steps[k], index, k + 1 < path->step_count ? way : last_way, &reach)) return false;
  *cell = reach.cell;
  return true;
}

bool cell_find(RtContext *context, const CellPath *path, const int64_t *index, Cell *cell) {
  return reach_cell(context, path, index, WAY_FIND, WAY_FIND, cell);
}

Cell cell_ensure(RtContext *context, const CellPath *path, const int64_t *index) {
  Cell cell;
  reach_cell(context, path, index, WAY_ENSURE, WAY_ENSURE, &cell);
  return cell;
}

uint32_t *cell_find_list(RtContext *context, const CellPath *path, const int64_t *index, bool ensures) {
  uint8_t *root = context->trees[0]->root;
  Reach reach = {.cell = {.base = root}, .node = root};
  int last = path->step_count - 2; /* behind it: the choice in a chunk */
  for (int k = 0; k < last; k++)
    if (!take_step(context, &path->steps[k], index, ensures ? WAY_ENSURE : WAY_FIND, &reach)) return NULL;
  if (context->error.kind) return NULL;
  return (uint32_t *)(void *)(reach.cell.base + path->steps[last].offset + reach.cell.number * path->steps[last].stride);
}

void cell_clear(RtContext *context, const CellPath *path, const int64_t *index) {
  Cell cell;
  reach_cell(context, path, index, WAY_FIND, WAY_CLEAR, &cell);
}

int64_t cell_list(Tree *tree, int manager, Error *err) {
  RtContext *context = storage_context(tree);
  rt_list_update(context, &tree->rt, manager);
  return cell_settle(tree, err) ? (int64_t)tree->rt.managers[manager].list_count : -1;
}

bool cell_settle(Tree *tree, Error *err) {
  Store *store = tree->store;
  rt_tree_settle(&store->host, &tree->rt);
  const RtError *error = &store->host.error;
  if (error->kind == RT_ERROR_BUDGET) return storage_budget_error(tree, error->manager, err);
  if (error->kind == RT_ERROR_FULL) return storage_full_error(tree, error->manager, err);
  if (error->kind == RT_ERROR_MEMORY)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a list of active nodes");
  return true;
}
