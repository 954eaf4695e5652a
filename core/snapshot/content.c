/* content.c - writes a tree's contents to a stream and reads them: see content.h. One walk does
 * both: at each stop bytes move from memory to the packer, or from the unpacker to memory. */
#include "snapshot/content.h"

#include "tree/access/numbers.h"
#include "valid.h"

enum { BUFFER_BYTES = 1 << 16 };

typedef struct Transfer {
  Tree *tree;
  Packer *packer; /* one of the two */
  Unpacker *unpacker;
  CellNodes *nodes;        /* by manager; of the levels reached so far */
  size_t size;             /* bytes that are transferred at each cell */
  uint64_t offset_in_cell; /* their offset from where the walk stops */
  const SNode *below;      /* the SNode whose mask words or list lengths move; NULL: numbers */
  Error *err;
  uint8_t buffer[BUFFER_BYTES];
} Transfer;

static bool refuse(const Transfer *transfer, const char *why) {
  return unpack_refuse(transfer->unpacker, why, transfer->err);
}

static bool transfer_bytes(Transfer *transfer, void *bytes, size_t size) {
  if (transfer->unpacker) return unpack_read(transfer->unpacker, bytes, size, transfer->err);
  pack_write(transfer->packer, bytes, size);
  return true;
}

/* -- by the cells ------------------------------------------------------------------------------ */

/* Strided elements are copied through a buffer. */
static bool transfer_strided(Transfer *transfer, uint8_t *first, uint64_t stride, int64_t count) {
  int64_t max_count = (int64_t)(BUFFER_BYTES / transfer->size);
  for (int64_t done = 0; done < count;) {
    int64_t now = count - done < max_count ? count - done : max_count;
    uint8_t *at = first + (uint64_t)done * stride;
    size_t bytes = (size_t)now * transfer->size;
    if (!transfer->unpacker)
      numbers_copy(transfer->buffer, (int64_t)transfer->size, at, (int64_t)stride, now,
                   (int)transfer->size);
    if (!transfer_bytes(transfer, transfer->buffer, bytes)) return false;
    if (transfer->unpacker)
      numbers_copy(at, (int64_t)stride, transfer->buffer, (int64_t)transfer->size, now,
                   (int)transfer->size);
    done += now;
  }
  return true;
}

static bool transfer_numbers(void *data, const CellRun *run) {
  Transfer *transfer = data;
  if (run->stride == transfer->size || run->count == 1)
    return transfer_bytes(transfer, run->first, transfer->size * (size_t)run->count);
  return transfer_strided(transfer, run->first, run->stride, run->count);
}

/* The last word is checked before it is stored: no bit past the last cell. */
static bool load_words(const Transfer *transfer, uint8_t *words) {
  uint64_t past = transfer->below->cell_count % 64, last;
  size_t rest_bytes = transfer->size - sizeof last;
  if (!unpack_read(transfer->unpacker, words, rest_bytes, transfer->err) ||
      !unpack_read(transfer->unpacker, &last, sizeof last, transfer->err))
    return false;
  if (past && last >> past) return refuse(transfer, "has active cells outside a shape");
  memcpy(words + rest_bytes, &last, sizeof last);
  return true;
}

/* A length is stored once there is a chunk for each of its elements. */
static bool load_length(const Transfer *transfer, uint8_t *place) {
  const SNode *list = transfer->below;
  uint32_t *words = (uint32_t *)(void *)(place - RT_LIST_LENGTH * sizeof(uint32_t)), length;
  uint64_t chunk = (uint64_t)list->chunk;
  if (!unpack_read(transfer->unpacker, &length, sizeof length, transfer->err)) return false;
  bool ok = length <= (uint64_t)list->sizes[0];
  for (uint64_t c = 0; ok && c < (length + chunk - 1) / chunk; c++)
    ok = words[RT_LIST_SLOTS + c] > RT_SLOT_BUSY;
  if (!ok) return refuse(transfer, "has a list that is longer than its elements");
  words[RT_LIST_LENGTH] = length;
  return true;
}

static bool transfer_container(void *data, const CellRun *run) {
  Transfer *transfer = data;
  for (int64_t k = 0; k < run->count; k++) {
    uint8_t *place = run->first + (uint64_t)k * run->stride + transfer->offset_in_cell;
    bool is_list = snode_has_lists(transfer->below);
    if (!transfer->unpacker) pack_write(transfer->packer, place, transfer->size);
    else if (!(is_list ? load_length(transfer, place) : load_words(transfer, place))) return false;
  }
  return true;
}

static bool walk(Transfer *transfer, const SNode *level, const SNodeComponent *component,
                 CellVisit *visit) {
  const SNode *holder = snode_node_level(level);
  return cell_walk_in_order(transfer->tree, level, component,
                            holder ? &transfer->nodes[holder->manager] : NULL, visit, transfer);
}

static bool transfer_containers(Transfer *transfer, const SNode *node) {
  bool is_list = snode_has_lists(node);
  transfer->below = node;
  transfer->size = is_list ? sizeof(uint32_t) : (node->cell_count + 63) / 64 * sizeof(uint64_t);
  transfer->offset_in_cell = is_list ? RT_LIST_LENGTH * sizeof(uint32_t) : node->mask_offset;
  return walk(transfer, node->parent, &node->parent->components[node->component_in_parent],
              transfer_container);
}

static bool transfer_fields(Transfer *transfer, const SNode *node) {
  for (int k = 0; k < node->component_count; k++) {
    const SNodeComponent *component = &node->components[k];
    if (component->child) continue;
    transfer->size = (size_t)type_size(component->type);
    if (!walk(transfer, node, component, transfer_numbers)) return false;
  }
  return true;
}

/* -- nodes ------------------------------------------------------------------------------------- */

static bool write_coordinates(Transfer *transfer, const CellNodes *nodes, int axes) {
  int64_t *row = (int64_t *)(void *)transfer->buffer;
  enum { MAX_NUMBERS = BUFFER_BYTES / sizeof(int64_t) };
  for (int axis = 0; axis < axes; axis++)
    for (int64_t k = 0; k < nodes->count;) {
      int64_t now = 0;
      for (; now < MAX_NUMBERS && k < nodes->count; k++)
        row[now++] = nodes->rows[k].info->coordinates[axis];
      transfer_bytes(transfer, row, sizeof *row * (size_t)now);
    }
  return true;
}

static bool save_nodes(Transfer *transfer, const SNode *node) {
  CellNodes *nodes = &transfer->nodes[node->manager];
  if (!cell_nodes_sort(transfer->tree, node->manager, nodes, transfer->err)) return false;
  transfer_bytes(transfer, &nodes->count, sizeof nodes->count);
  return write_coordinates(transfer, nodes, node->rank);
}

/* The first index of a node's cells, from its coordinates. */
static bool index_of(const Transfer *transfer, const SNode *node, const int64_t *coordinates,
                     int64_t stride, int64_t index[SNODE_MAX_AXES]) {
  const SNodeStep *step = snode_step(node, node);
  for (int k = 0; k < node->rank; k++)
    if (__builtin_mul_overflow(coordinates[step->coordinate[k] * stride], step->weight[k],
                               &index[k]))
      return refuse(transfer, "has a cell outside every shape");
  return index_is_inside(node->shape, NULL, node->rank, index, node->rank) ||
         refuse(transfer, "has a cell outside its shape");
}

static bool activate(Transfer *transfer, const SNode *node, const int64_t *coordinates,
                     int64_t count) {
  RtContext *context = storage_context(transfer->tree);
  int64_t index[SNODE_MAX_AXES];
  for (int64_t k = 0; k < count && !context->error.kind; k++) {
    if (!index_of(transfer, node, coordinates + k, count, index)) return false;
    cell_ensure(context, node, index);
  }
  return cell_refresh(transfer->tree, transfer->err);
}

/* A level cannot have more nodes than its shape has cells. */
static bool check_count(const Transfer *transfer, const SNode *node, int64_t count) {
  uint64_t max_count = UINT64_MAX, budget = transfer->tree->rt.reserved / node->node_size;
  if (!snode_has(node, SNODE_UNBOUNDED)) max_count = 1;
  for (int k = 0; k < node->rank && max_count != UINT64_MAX; k++)
    if (__builtin_mul_overflow(max_count, (uint64_t)node->shape[k], &max_count))
      max_count = UINT64_MAX;
  if (count < 0 || (uint64_t)count > max_count)
    return refuse(transfer, "has more active cells than a shape has");
  return (uint64_t)count <= budget ||
         storage_budget_error(transfer->tree, node->manager, transfer->err);
}

static bool load_nodes(Transfer *transfer, const SNode *node) {
  Heap *heap = transfer->tree->store->heap;
  int64_t count;
  if (!transfer_bytes(transfer, &count, sizeof count) || !check_count(transfer, node, count))
    return false;
  size_t bytes = sizeof(int64_t) * (size_t)count * (size_t)node->rank;
  int64_t *coordinates = heap_alloc(heap, bytes);
  if (!coordinates)
    return error_set(transfer->err, RG_ERROR_MEMORY,
                     "the host has no memory left for active nodes");
  bool ok =
      transfer_bytes(transfer, coordinates, bytes) && activate(transfer, node, coordinates, count);
  heap_free(heap, coordinates);
  if (!ok) return false;
  if (rt_manager_live(&transfer->tree->rt, node->manager) != count)
    return refuse(transfer, "has active cells that contradict each other");
  return cell_nodes_sort(transfer->tree, node->manager, &transfer->nodes[node->manager],
                         transfer->err);
}

/* -- a tree ------------------------------------------------------------------------------------ */

static bool transfer_level(Transfer *transfer, const SNode *node) {
  if (snode_is_managed(node) &&
      !(transfer->unpacker ? load_nodes(transfer, node) : save_nodes(transfer, node)))
    return false;
  bool has_containers = snode_has_lists(node) || snode_has_bits(node);
  return (!has_containers || transfer_containers(transfer, node)) &&
         transfer_fields(transfer, node);
}

static bool transfer_tree(Transfer *transfer) {
  const SNodeTree *layout = transfer->tree->layout;
  bool ok = true;
  for (int id = 0; ok && id < layout->node_count; id++)
    ok = transfer_level(transfer, layout->nodes[id]);
  return ok;
}

static Transfer *begin_transfer(Tree *tree, Error *err) {
  Heap *heap = tree->store->heap;
  Transfer *transfer = heap_alloc(heap, sizeof *transfer);
  CellNodes *nodes = heap_alloc(heap, sizeof *nodes * ((size_t)tree->layout->manager_count + 1));
  if (transfer && nodes) {
    transfer->tree = tree;
    transfer->nodes = nodes;
    transfer->err = err;
    return transfer;
  }
  heap_free(heap, transfer);
  heap_free(heap, nodes);
  error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a snapshot");
  return NULL;
}

static void end_transfer(Transfer *transfer) {
  Heap *heap = transfer->tree->store->heap;
  for (int m = 0; m < transfer->tree->layout->manager_count; m++)
    heap_free(heap, transfer->nodes[m].rows);
  heap_free(heap, transfer->nodes);
  heap_free(heap, transfer);
}

bool content_write(Tree *tree, Packer *packer, PackPart *content, PackPart *arrangement,
                   Error *err) {
  Transfer *transfer = begin_transfer(tree, err);
  if (!transfer) return false;
  transfer->packer = packer;
  bool ok = transfer_tree(transfer);
  *content = pack_end_part(packer);
  *arrangement = (PackPart){0};
  if (ok && tree->rt.manager_count && arrangement_is_known(tree)) {
    arrangement_write(tree, transfer->nodes, packer);
    *arrangement = pack_end_part(packer);
  }
  end_transfer(transfer);
  return ok;
}

/* Deactivates everything; no node and no chunk remains. */
static void clear_tree(Tree *tree) {
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
static bool load_contents(Transfer *transfer, const Arrangement *arrangement) {
  Tree *tree = transfer->tree;
  bool is_arranged = arrangement && arrangement_begin(arrangement, tree);
  if (!transfer_tree(transfer)) return false;
  if (!unpack_is_at_end(transfer->unpacker)) return refuse(transfer, "has a part that is too long");
  if (!is_arranged) return true;
  if (!arrangement_fits(arrangement, tree))
    return refuse(transfer, "has a different number of nodes than their arrangement");
  return arrangement_end(arrangement, tree, transfer->err);
}

static void expect_valid(const Tree *tree) {
  (void)tree;
#ifdef RG_DEBUG
  rt_tree_expect_valid(&tree->rt, tree->store->device->worker_count);
#endif
}

static bool read_content(Tree *tree, Unpacker *unpacker, const Arrangement *arrangement,
                         Error *err) {
  Transfer *transfer = begin_transfer(tree, err);
  if (!transfer) return false;
  Store *store = tree->store;
  bool was_stopped = store->gc_is_stopped;
  transfer->unpacker = unpacker;
  clear_tree(tree);
  store->gc_is_stopped = true; /* a collection for lack of budget would free arranged chunks */
  bool ok = load_contents(transfer, arrangement);
  store->gc_is_stopped = was_stopped;
  if (!ok) clear_tree(tree);
  expect_valid(tree);
  store->changes++;
  end_transfer(transfer);
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
