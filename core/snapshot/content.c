/* content.c - writes a tree's contents to a stream and reads them: see content.h. One walk does
 * both: at each stop bytes move from memory to the packer, or from the unpacker to memory. */
#include "snapshot/content.h"

#include "tree/access/numbers.h"
#include "valid.h"

enum { ROOM = 1 << 16 };

typedef struct Moving {
  Tree *tree;
  Packer *packer; /* one of the two */
  Unpacker *unpacker;
  CellNodes *nodes;   /* by manager; of the levels reached so far */
  size_t size;        /* bytes that move at each cell */
  uint64_t inside;    /* their offset from where the walk stops */
  const SNode *below; /* the SNode whose mask words or list lengths move; NULL: numbers */
  Error *err;
  uint8_t room[ROOM];
} Moving;

static bool refuse(const Moving *moving, const char *why) {
  return unpack_refuse(moving->unpacker, why, moving->err);
}

static bool move(Moving *moving, void *bytes, size_t size) {
  if (moving->unpacker) return unpack_read(moving->unpacker, bytes, size, moving->err);
  pack_write(moving->packer, bytes, size);
  return true;
}

/* -- by the cells ------------------------------------------------------------------------------ */

/* Strided elements are copied through a buffer. */
static bool move_strided(Moving *moving, uint8_t *first, uint64_t stride, int64_t count) {
  int64_t most = (int64_t)(ROOM / moving->size);
  for (int64_t done = 0; done < count;) {
    int64_t now = count - done < most ? count - done : most;
    uint8_t *at = first + (uint64_t)done * stride;
    size_t bytes = (size_t)now * moving->size;
    if (!moving->unpacker)
      numbers_copy(moving->room, (int64_t)moving->size, at, (int64_t)stride, now,
                   (int)moving->size);
    if (!move(moving, moving->room, bytes)) return false;
    if (moving->unpacker)
      numbers_copy(at, (int64_t)stride, moving->room, (int64_t)moving->size, now,
                   (int)moving->size);
    done += now;
  }
  return true;
}

static bool move_numbers(void *data, const CellRun *run) {
  Moving *moving = data;
  if (run->stride == moving->size || run->count == 1)
    return move(moving, run->first, moving->size * (size_t)run->count);
  return move_strided(moving, run->first, run->stride, run->count);
}

/* The last word is checked before it is stored: no bit past the last cell. */
static bool load_words(const Moving *moving, uint8_t *words) {
  uint64_t past = moving->below->cell_count % 64, last;
  size_t rest = moving->size - sizeof last;
  if (!unpack_read(moving->unpacker, words, rest, moving->err) ||
      !unpack_read(moving->unpacker, &last, sizeof last, moving->err))
    return false;
  if (past && last >> past) return refuse(moving, "has active cells outside a shape");
  memcpy(words + rest, &last, sizeof last);
  return true;
}

/* A length is stored once there is a chunk for each of its elements. */
static bool load_length(const Moving *moving, uint8_t *place) {
  const SNode *list = moving->below;
  uint32_t *words = (uint32_t *)(void *)(place - RT_LIST_LENGTH * sizeof(uint32_t)), length;
  uint64_t chunk = (uint64_t)list->chunk;
  if (!unpack_read(moving->unpacker, &length, sizeof length, moving->err)) return false;
  bool ok = length <= (uint64_t)list->sizes[0];
  for (uint64_t c = 0; ok && c < (length + chunk - 1) / chunk; c++)
    ok = words[RT_LIST_SLOTS + c] > RT_SLOT_BUSY;
  if (!ok) return refuse(moving, "has a list that is longer than its elements");
  words[RT_LIST_LENGTH] = length;
  return true;
}

static bool move_container(void *data, const CellRun *run) {
  Moving *moving = data;
  for (int64_t k = 0; k < run->count; k++) {
    uint8_t *place = run->first + (uint64_t)k * run->stride + moving->inside;
    bool is_list = snode_has_lists(moving->below);
    if (!moving->unpacker) pack_write(moving->packer, place, moving->size);
    else if (!(is_list ? load_length(moving, place) : load_words(moving, place))) return false;
  }
  return true;
}

static bool walk(Moving *moving, const SNode *level, const SNodeComponent *component,
                 CellVisit *visit) {
  const SNode *holder = snode_node_level(level);
  return cell_walk_in_order(moving->tree, level, component,
                            holder ? &moving->nodes[holder->manager] : NULL, visit, moving);
}

static bool move_containers(Moving *moving, const SNode *node) {
  bool is_list = snode_has_lists(node);
  moving->below = node;
  moving->size = is_list ? sizeof(uint32_t) : (node->cell_count + 63) / 64 * sizeof(uint64_t);
  moving->inside = is_list ? RT_LIST_LENGTH * sizeof(uint32_t) : node->mask_offset;
  return walk(moving, node->parent, &node->parent->components[node->component_in_parent],
              move_container);
}

static bool move_fields(Moving *moving, const SNode *node) {
  for (int k = 0; k < node->component_count; k++) {
    const SNodeComponent *component = &node->components[k];
    if (component->child) continue;
    moving->size = (size_t)type_size(component->type);
    if (!walk(moving, node, component, move_numbers)) return false;
  }
  return true;
}

/* -- nodes ------------------------------------------------------------------------------------- */

static bool write_coordinates(Moving *moving, const CellNodes *nodes, int axes) {
  int64_t *row = (int64_t *)(void *)moving->room;
  enum { MOST = ROOM / sizeof(int64_t) };
  for (int axis = 0; axis < axes; axis++)
    for (int64_t k = 0; k < nodes->count;) {
      int64_t now = 0;
      for (; now < MOST && k < nodes->count; k++)
        row[now++] = nodes->rows[k].info->coordinates[axis];
      move(moving, row, sizeof *row * (size_t)now);
    }
  return true;
}

static bool save_nodes(Moving *moving, const SNode *node) {
  CellNodes *nodes = &moving->nodes[node->manager];
  if (!cell_nodes_sort(moving->tree, node->manager, nodes, moving->err)) return false;
  move(moving, &nodes->count, sizeof nodes->count);
  return write_coordinates(moving, nodes, node->rank);
}

/* The first index of a node's cells, from its coordinates. */
static bool index_of(const Moving *moving, const SNode *node, const int64_t *coordinates,
                     int64_t stride, int64_t index[SNODE_MAX_AXES]) {
  const SNodeStep *step = snode_step(node, node);
  for (int k = 0; k < node->rank; k++)
    if (__builtin_mul_overflow(coordinates[step->coordinate[k] * stride], step->weight[k],
                               &index[k]))
      return refuse(moving, "has a cell outside every shape");
  return index_is_inside(node->shape, NULL, node->rank, index, node->rank) ||
         refuse(moving, "has a cell outside its shape");
}

static bool activate(Moving *moving, const SNode *node, const int64_t *coordinates, int64_t count) {
  RtContext *context = storage_context(moving->tree);
  int64_t index[SNODE_MAX_AXES];
  for (int64_t k = 0; k < count && !context->error.kind; k++) {
    if (!index_of(moving, node, coordinates + k, count, index)) return false;
    cell_ensure(context, node, index);
  }
  return cell_refresh(moving->tree, moving->err);
}

/* A level cannot have more nodes than its shape has cells. */
static bool check_count(const Moving *moving, const SNode *node, int64_t count) {
  uint64_t most = UINT64_MAX, budget = moving->tree->rt.reserved / node->node_size;
  if (!snode_has(node, SNODE_UNBOUNDED)) most = 1;
  for (int k = 0; k < node->rank && most != UINT64_MAX; k++)
    if (__builtin_mul_overflow(most, (uint64_t)node->shape[k], &most)) most = UINT64_MAX;
  if (count < 0 || (uint64_t)count > most)
    return refuse(moving, "has more active cells than a shape has");
  return (uint64_t)count <= budget ||
         storage_budget_error(moving->tree, node->manager, moving->err);
}

static bool load_nodes(Moving *moving, const SNode *node) {
  Heap *heap = moving->tree->store->heap;
  int64_t count;
  if (!move(moving, &count, sizeof count) || !check_count(moving, node, count)) return false;
  size_t bytes = sizeof(int64_t) * (size_t)count * (size_t)node->rank;
  int64_t *coordinates = heap_alloc(heap, bytes);
  if (!coordinates)
    return error_set(moving->err, RG_ERROR_MEMORY, "the host has no memory left for active nodes");
  bool ok = move(moving, coordinates, bytes) && activate(moving, node, coordinates, count);
  heap_free(heap, coordinates);
  if (!ok) return false;
  if (rt_manager_live(&moving->tree->rt, node->manager) != count)
    return refuse(moving, "has active cells that contradict each other");
  return cell_nodes_sort(moving->tree, node->manager, &moving->nodes[node->manager], moving->err);
}

/* -- a tree ------------------------------------------------------------------------------------ */

static bool move_level(Moving *moving, const SNode *node) {
  if (snode_is_managed(node) &&
      !(moving->unpacker ? load_nodes(moving, node) : save_nodes(moving, node)))
    return false;
  bool has_containers = snode_has_lists(node) || snode_has_bits(node);
  return (!has_containers || move_containers(moving, node)) && move_fields(moving, node);
}

static bool move_tree(Moving *moving) {
  const SNodeTree *layout = moving->tree->layout;
  bool ok = true;
  for (int id = 0; ok && id < layout->node_count; id++) ok = move_level(moving, layout->nodes[id]);
  return ok;
}

static Moving *begin(Tree *tree, Error *err) {
  Heap *heap = tree->store->heap;
  Moving *moving = heap_alloc(heap, sizeof *moving);
  CellNodes *nodes = heap_alloc(heap, sizeof *nodes * ((size_t)tree->layout->manager_count + 1));
  if (moving && nodes) {
    moving->tree = tree;
    moving->nodes = nodes;
    moving->err = err;
    return moving;
  }
  heap_free(heap, moving);
  heap_free(heap, nodes);
  error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a snapshot");
  return NULL;
}

static void end(Moving *moving) {
  Heap *heap = moving->tree->store->heap;
  for (int m = 0; m < moving->tree->layout->manager_count; m++)
    heap_free(heap, moving->nodes[m].rows);
  heap_free(heap, moving->nodes);
  heap_free(heap, moving);
}

bool content_write(Tree *tree, Packer *packer, PackPart *content, PackPart *arrangement,
                   Error *err) {
  Moving *moving = begin(tree, err);
  if (!moving) return false;
  moving->packer = packer;
  bool ok = move_tree(moving);
  *content = pack_end_part(packer);
  *arrangement = (PackPart){0};
  if (ok && tree->rt.manager_count && arrangement_is_known(tree)) {
    arrangement_write(tree, moving->nodes, packer);
    *arrangement = pack_end_part(packer);
  }
  end(moving);
  return ok;
}

/* Deactivates everything; no node and no chunk remains. */
static void empty(Tree *tree) {
  RtContext *context = storage_context(tree);
  for (int32_t k = 0; k < tree->rt.mask_count; k++)
    if (tree->rt.masks[k].holder < 0) rt_mask_clear_all(context, 0, k);
  for (int32_t m = 0; m < tree->rt.manager_count; m++)
    if (tree->rt.managers[m].parent < 0) rt_tree_clear(context, 0, m);
  if (!tree->rt.manager_count) return;
  tree->store->device->table->forget(tree->store->device, &tree->rt);
  rt_tree_compact(storage_context(tree), &tree->rt);
}

/* Loads a part into an empty tree. */
static bool fill(Moving *moving, const Arrangement *arrangement) {
  Tree *tree = moving->tree;
  bool is_arranged = arrangement && arrangement_begin(arrangement, tree);
  if (!move_tree(moving)) return false;
  if (!unpack_is_at_end(moving->unpacker)) return refuse(moving, "has a part that is too long");
  if (!is_arranged) return true;
  if (!arrangement_fits(arrangement, tree))
    return refuse(moving, "has a different number of nodes than their arrangement");
  return arrangement_end(arrangement, tree, moving->err);
}

static void expect_valid(const Tree *tree) {
  (void)tree;
#ifdef RG_DEBUG
  rt_tree_expect_valid(&tree->rt, tree->store->device->worker_count);
#endif
}

static bool read_content(Tree *tree, Unpacker *unpacker, const Arrangement *arrangement,
                         Error *err) {
  Moving *moving = begin(tree, err);
  if (!moving) return false;
  Store *store = tree->store;
  bool was_stopped = store->gc_is_stopped;
  moving->unpacker = unpacker;
  empty(tree);
  store->gc_is_stopped = true; /* a collection for lack of budget would free arranged chunks */
  bool ok = fill(moving, arrangement);
  store->gc_is_stopped = was_stopped;
  if (!ok) empty(tree);
  expect_valid(tree);
  store->changes++;
  end(moving);
  return ok;
}

bool content_load(Tree *tree, Unpacker *unpacker, PackPart content, PackPart arrangement,
                  Arrangement *memory, Error *err) {
  bool is_arranged = arrangement.size && arrangement_is_known(tree);
  arrangement_free(memory);
  if (!tree_reach(tree, DEVICE_WRITES, err)) return false;
  if (is_arranged &&
      (!unpack_seek(unpacker, arrangement, err) ||
       !arrangement_read(memory, tree->store->heap, tree->layout->manager_count, unpacker, err)))
    return false;
  return unpack_seek(unpacker, content, err) &&
         read_content(tree, unpacker, is_arranged ? memory : NULL, err);
}
