/* arrangement.c - writes and reads arrangements; see arrangement.h. */
#include "snapshot/arrangement.h"

bool arrangement_is_known(const Tree *tree) { return device_is_unified(tree->store->device); }

/* -- the numbers of nodes ---------------------------------------------------------------------- */

static uint32_t number_of(const RtTree *tree, const RtManager *manager, uint32_t handle) {
  uint64_t offset = (uint64_t)RT_GRANULE * handle;
  const RtChunk *chunk = &tree->chunks[tree->segment_owner[offset / RT_SEGMENT] - 1];
  uint64_t in_chunk = offset - (uint64_t)(chunk->nodes - tree->base);
  return chunk->first_number + (uint32_t)(in_chunk / manager->node_size);
}

static const RtNodeInfo *info_of(const RtTree *tree, const RtManager *manager, uint32_t handle) {
  uint64_t offset = (uint64_t)RT_GRANULE * handle;
  const RtChunk *chunk = &tree->chunks[tree->segment_owner[offset / RT_SEGMENT] - 1];
  uint32_t index = number_of(tree, manager, handle) - chunk->first_number;
  return (const RtNodeInfo *)(const void *)(chunk->infos + index * manager->info_stride);
}

static uint32_t touched_after(const RtTree *tree, const RtManager *manager, uint32_t handle) {
  uint64_t offset = (uint64_t)RT_GRANULE * handle;
  const RtChunk *chunk = &tree->chunks[tree->segment_owner[offset / RT_SEGMENT] - 1];
  return chunk->touched[number_of(tree, manager, handle) - chunk->first_number];
}

/* -- writing ----------------------------------------------------------------------------------- */

typedef struct Writing {
  const RtTree *tree;
  const RtManager *manager;
  Packer *packer;
} Writing;

static void put(const Writing *w, uint32_t word) { pack_write(w->packer, &word, sizeof word); }

static void put_node(const Writing *w, uint32_t handle) {
  put(w, number_of(w->tree, w->manager, handle));
}

/* Writes a chain of nodes, which are linked by RtNodeInfo.next. */
static void put_chain(const Writing *w, uint32_t first) {
  uint32_t count = 0;
  for (uint32_t h = first; h; h = info_of(w->tree, w->manager, h)->next) count++;
  put(w, count);
  for (uint32_t h = first; h; h = info_of(w->tree, w->manager, h)->next) put_node(w, h);
}

static void put_touched(const Writing *w, const RtLocal *local) {
  uint32_t count = 0;
  for (uint32_t h = local->touched; h > RT_TOUCHED_END; h = touched_after(w->tree, w->manager, h))
    count++;
  put(w, count);
  for (uint32_t h = local->touched; h > RT_TOUCHED_END; h = touched_after(w->tree, w->manager, h))
    put_node(w, h);
}

static void put_head(const Writing *w, uint32_t workers) {
  const RtManager *manager = w->manager;
  bool has_list = manager->list_version != 0;
  uint32_t drift = manager->list_drift < UINT32_MAX ? (uint32_t)manager->list_drift : UINT32_MAX;
  put(w, sizeof(ArrangedHead) / sizeof(uint32_t));
  put(w, (uint32_t)(manager->node_size / RT_GRANULE));
  put(w, (has_list ? ARRANGED_HAS_LIST : 0) |
             (manager->list_version == manager->version ? ARRANGED_IS_CURRENT : 0));
  put(w, drift);
  put(w, workers);
}

static void put_chunks(const Writing *w) {
  put(w, 3 * w->manager->chunk_count);
  for (uint32_t at = w->manager->first_chunk; at; at = w->tree->chunks[at - 1].next) {
    const RtChunk *chunk = &w->tree->chunks[at - 1];
    put(w, chunk->segments);
    put(w, chunk->node_count);
    put(w, chunk->handed);
  }
}

static void put_list(const Writing *w) {
  const RtManager *manager = w->manager;
  uint32_t count = manager->list_version ? (uint32_t)manager->list_count : 0;
  put(w, count);
  for (uint32_t k = 0; k < count; k++) put_node(w, manager->list[k].handle);
}

static void put_live(const Writing *w, const CellNodes *nodes) {
  put(w, (uint32_t)nodes->count);
  for (int64_t k = 0; k < nodes->count; k++) put(w, nodes->rows[k].number);
}

void arrangement_write(Tree *tree, const CellNodes *nodes, Packer *packer) {
  int32_t workers = tree->store->device->worker_count;
  for (int32_t m = 0; m < tree->rt.manager_count; m++) {
    const RtManager *manager = &tree->rt.managers[m];
    Writing w = {&tree->rt, manager, packer};
    put_head(&w, (uint32_t)workers);
    put_chunks(&w);
    put_live(&w, &nodes[m]);
    put_list(&w);
    put_chain(&w, manager->free);
    put_chain(&w, manager->recycled);
    for (int32_t k = 0; k < workers; k++) put_chain(&w, manager->locals[k].free);
    for (int32_t k = 0; k < workers; k++) put_touched(&w, &manager->locals[k]);
  }
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Reads in pieces, so that a false count cannot make it allocate all memory. */
static bool read_words(Scratch *memory, Unpacker *unpacker, Words *words, Error *err) {
  enum { PIECE = 1 << 22 };
  uint32_t count, capacity = 0;
  if (!unpack_read(unpacker, &count, sizeof count, err)) return false;
  *words = (Words){0};
  while (words->count < count) {
    uint32_t left = count - words->count, piece = left < PIECE ? left : PIECE;
    if (words->count + piece > capacity) {
      uint32_t *old = words->at;
      capacity = words->count + piece > 2 * capacity ? words->count + piece : 2 * capacity;
      words->at = scratch_array(memory, uint32_t, capacity);
      if (old) memcpy(words->at, old, sizeof *old * words->count);
    }
    if (!unpack_read(unpacker, words->at + words->count, sizeof(uint32_t) * piece, err))
      return false;
    words->count += piece;
  }
  return true;
}

static bool read_head(Scratch *memory, Unpacker *unpacker, ArrangedHead *head, Error *err) {
  enum { MAX_WORKERS = 1 << 16 };
  Words words;
  if (!read_words(memory, unpacker, &words, err)) return false;
  if (words.count * sizeof(uint32_t) != sizeof *head)
    return unpack_refuse(unpacker, "has an invalid arrangement", err);
  memcpy(head, words.at, sizeof *head);
  return head->workers <= MAX_WORKERS || unpack_refuse(unpacker, "has an invalid arrangement", err);
}

static bool read_manager(Scratch *memory, Unpacker *unpacker, ArrangedManager *manager,
                         Error *err) {
  if (!read_head(memory, unpacker, &manager->head, err)) return false;
  Words *parts[] = {&manager->chunks, &manager->live, &manager->list, &manager->free,
                    &manager->recycled};
  for (int k = 0; k < 5; k++)
    if (!read_words(memory, unpacker, parts[k], err)) return false;
  uint32_t workers = manager->head.workers;
  manager->own_free = scratch_array(memory, Words, 2 * workers);
  manager->touched = manager->own_free + workers;
  for (uint32_t k = 0; k < 2 * workers; k++)
    if (!read_words(memory, unpacker, &manager->own_free[k], err)) return false;
  return manager->chunks.count % 3 == 0 ||
         unpack_refuse(unpacker, "has an invalid arrangement", err);
}

bool arrangement_read(Arrangement *arrangement, Heap *heap, int manager_count, Unpacker *unpacker,
                      Error *err) {
  scratch_init(&arrangement->memory, heap);
  arrangement->managers = scratch_array(&arrangement->memory, ArrangedManager, manager_count);
  arrangement->count = manager_count;
  for (int m = 0; m < manager_count; m++)
    if (!read_manager(&arrangement->memory, unpacker, &arrangement->managers[m], err)) return false;
  return true;
}

void arrangement_free(Arrangement *arrangement) {
  if (arrangement->memory.heap) scratch_deinit(&arrangement->memory);
  *arrangement = (Arrangement){0};
}
