/* image.c - copies a tree's tables to the GPU and back, and translates their pointers; no
 * other file does that.
 *
 *     image   | RtTree | managers | their locals | numbers | masks | their runs, hashes | sinks |
 *     chunks  | RtChunk .. |       owners  | of each segment |      lists  | RtListEntry .. |
 *
 * A table keeps its layout. A pointer
 *
 *     into the tree's memory (chunks' nodes, lists' coordinates)   moves by the sides' distance
 *     into the image (managers, locals, ..)                        is that of the image's part
 *     to data of one side only (orders, saved masks, lists)        stays
 *
 * On the GPU no table can grow while a task runs: each has room for as many nodes as fit in the
 * mapped memory. */
#include <stddef.h>
#include <string.h>

#include "base/bits.h"
#include "device/cuda/cuda.h"

/* Offsets of the parts, in bytes from the image's beginning. */
typedef struct Parts {
  uint64_t managers, locals, numbers, masks, runs, hashes, sinks, size_bytes;
} Parts;

static uint64_t add_part(Parts *parts, uint64_t size_bytes) {
  uint64_t at = parts->size_bytes;
  ASSERT(at % RT_GRANULE == 0, "parts are aligned like nodes");
  parts->size_bytes += align_up(size_bytes, RT_GRANULE);
  return at;
}

static Parts find_parts(const RtTree *tree) {
  Parts parts = {0};
  uint64_t managers = (uint64_t)tree->manager_count, masks = (uint64_t)tree->mask_count;
  uint64_t numbers = 0, runs = 0, hashes = 0, sinks = 0;
  for (uint64_t m = 0; m < managers; m++) {
    numbers += (uint64_t)tree->managers[m].number_count;
    sinks += tree->managers[m].node_size;
  }
  for (uint64_t m = 0; m < masks; m++) {
    runs += (uint64_t)tree->masks[m].run_count;
    hashes += (uint64_t)tree->masks[m].hash_count;
  }
  add_part(&parts, sizeof(RtTree));
  parts.managers = add_part(&parts, sizeof(RtManager) * managers);
  parts.locals = add_part(&parts, sizeof(RtLocal) * managers);
  parts.numbers = add_part(&parts, sizeof(RtNumber) * numbers);
  parts.masks = add_part(&parts, sizeof(RtMask) * masks);
  parts.runs = add_part(&parts, sizeof(RtRun) * runs);
  parts.hashes = add_part(&parts, sizeof(RtInCell) * hashes);
  parts.sinks = add_part(&parts, sinks);
  return parts;
}

uint64_t cuda_tree_address(const CudaTree *tree) { return tree->image.at; }

/* What to add to host addresses in the tree's memory to get GPU addresses. */
static uint64_t address_distance(const CudaTree *tree) {
  return tree->memory.at - (uint64_t)tree->first;
}

static void move_pointer(void *pointer, uint64_t by) { /* the address of any pointer; NULL stays */
  uint64_t address;
  memcpy(&address, pointer, sizeof address);
  if (address) address += by;
  memcpy(pointer, &address, sizeof address);
}

static void *pointer_to(uint64_t address) { return (void *)(uintptr_t)address; }

static void move_chunk(RtChunk *chunk, uint64_t by) {
  if (chunk->manager < 0) return;
  move_pointer(&chunk->nodes, by);
  move_pointer(&chunk->infos, by);
  move_pointer(&chunk->positions, by);
  move_pointer(&chunk->touched, by);
  move_pointer(&chunk->states, by);
}

/* -- building the GPU's tables ----------------------------------------------------------------- */

static void fill_managers(const CudaTree *cuda_tree, const Parts *parts, uint8_t *image) {
  const RtTree *tree = cuda_tree->tree;
  uint64_t at = cuda_tree->image.at, sink = at + parts->sinks, number = 0;
  ASSERT(at, "the image has an address before its pointers are made");
  for (int32_t m = 0; m < tree->manager_count; m++) {
    RtManager *manager = &((RtManager *)(void *)(image + parts->managers))[m];
    RtLocal *local = &((RtLocal *)(void *)(image + parts->locals))[m];
    const RtManager *host = &tree->managers[m];
    const CudaRange *list = &cuda_tree->lists[m].memory;
    *manager = *host;
    *local = host->locals[0];
    local->sink = pointer_to(sink);
    local->stage = NULL;
    sink += host->node_size;
    manager->locals = pointer_to(at + parts->locals + sizeof(RtLocal) * (uint64_t)m);
    memcpy(image + parts->numbers + sizeof(RtNumber) * number, host->numbers,
           host->numbers ? sizeof(RtNumber) * (size_t)host->number_count : 0);
    manager->numbers = pointer_to(at + parts->numbers + sizeof(RtNumber) * number);
    number += (uint64_t)host->number_count;
    manager->list = pointer_to(list->at);
    manager->list_capacity = list->mapped / sizeof(RtListEntry);
    manager->orders = cuda_tree->lists[m].orders;
    manager->order_count = cuda_tree->lists[m].order_count;
  }
}

static void fill_masks(const CudaTree *cuda_tree, const Parts *parts, uint8_t *image) {
  const RtTree *tree = cuda_tree->tree;
  uint64_t at = cuda_tree->image.at, runs = parts->runs, hashes = parts->hashes;
  for (int32_t m = 0; m < tree->mask_count; m++) {
    RtMask *mask = &((RtMask *)(void *)(image + parts->masks))[m];
    const RtMask *host = &tree->masks[m];
    size_t run_bytes = sizeof(RtRun) * (size_t)host->run_count,
           hash_bytes = sizeof(RtInCell) * (size_t)host->hash_count;
    *mask = *host;
    memcpy(image + runs, host->runs, run_bytes);
    if (hash_bytes) memcpy(image + hashes, host->hashes, hash_bytes);
    mask->runs = pointer_to(at + runs);
    mask->hashes = pointer_to(at + hashes);
    mask->was = pointer_to(cuda_tree->was ? cuda_tree->was[m].at : 0);
    mask->was_capacity = cuda_tree->was ? cuda_tree->was[m].mapped / sizeof(uint64_t) : 0;
    mask->was_count = 0;
    runs += run_bytes;
    hashes += hash_bytes;
  }
}

/* A task may use the whole mapped range; at its end, the task is out of memory. */
static uint64_t usable_bytes(const CudaTree *tree) {
  uint64_t usable = cuda_usable_bytes(tree, tree->memory.mapped) / RT_SEGMENT * RT_SEGMENT;
  return tree->tree->manager_count && usable < tree->tree->reserved ? usable : tree->tree->reserved;
}

static void fill_image(CudaDevice *cuda, const CudaTree *cuda_tree, const Parts *parts,
                       uint8_t *image) {
  uint64_t at = cuda_tree->image.at;
  RtTree *tree = (RtTree *)(void *)image;
  *tree = *cuda_tree->tree;
  move_pointer(&tree->base, address_distance(cuda_tree));
  move_pointer(&tree->root, address_distance(cuda_tree));
  tree->reserved = usable_bytes(cuda_tree);
  tree->managers = pointer_to(at + parts->managers);
  tree->masks = pointer_to(at + parts->masks);
  tree->chunks = pointer_to(cuda_tree->chunks.at);
  tree->segment_owner = pointer_to(cuda_tree->owners.at);
  tree->budget = pointer_to(cuda->budget.at);
  tree->private_copies = NULL;
  tree->device = NULL;
  ASSERT(parts->size_bytes <= cuda_tree->image.mapped, "the image fits where it is copied to");
  tree->away = 0; /* push_chunks has translated the chunks */
  fill_managers(cuda_tree, parts, image);
  fill_masks(cuda_tree, parts, image);
}

/* -- copying to the GPU ------------------------------------------------------------------------ */

/* As many nodes as fit in the tree's memory. */
static uint64_t max_nodes(const CudaTree *cuda_tree, int32_t m) {
  const RtManager *manager = &cuda_tree->tree->managers[m];
  ASSERT(manager->node_size, "nodes have a size");
  return usable_bytes(cuda_tree) / (manager->node_size + manager->info_stride);
}

static uint64_t max_mask_words(const CudaTree *cuda_tree, const RtMask *mask) {
  uint64_t words = (mask->cell_count + 63) / 64;
  for (int32_t k = 0; k < mask->containers.depth; k++) words *= mask->containers.counts[k];
  return mask->holder < 0 ? words : words * max_nodes(cuda_tree, mask->holder);
}

static bool ensure_tables(CudaDevice *cuda, CudaTree *cuda_tree, bool keeps, Error *err) {
  const RtTree *tree = cuda_tree->tree;
  uint64_t segments = tree->manager_count ? usable_bytes(cuda_tree) / RT_SEGMENT : 0;
  if (cuda_is_view(tree) && !tree->chunks) return true; /* no task looks up nodes there */
  if (!cuda_enlarge(cuda, &cuda_tree->chunks, sizeof(RtChunk) * segments, keeps, err) ||
      !cuda_enlarge(cuda, &cuda_tree->owners, sizeof(uint32_t) * segments, keeps, err))
    return false;
  if (cuda_is_view(tree)) return true; /* nothing is activated there */
  for (int32_t m = 0; m < tree->manager_count; m++)
    if (!cuda_enlarge(cuda, &cuda_tree->lists[m].memory,
                      sizeof(RtListEntry) * max_nodes(cuda_tree, m), keeps, err))
      return false;
  /* if memory is short, a loop that saves masks fails later */
  for (int32_t m = 0; m < tree->mask_count; m++)
    cuda_enlarge(cuda, &cuda_tree->was[m],
                 sizeof(uint64_t) * max_mask_words(cuda_tree, &tree->masks[m]), keeps, NULL);
  return true;
}

static bool push_chunks(CudaDevice *cuda, CudaTree *cuda_tree, Error *err) {
  const RtTree *tree = cuda_tree->tree;
  for (uint64_t k = 0; k < tree->chunk_count; k++) {
    RtChunk chunk = tree->chunks[k];
    move_chunk(&chunk, address_distance(cuda_tree) + (uint64_t)tree->away);
    if (!cuda_write(cuda, cuda_tree->chunks.at + k * sizeof chunk, &chunk, sizeof chunk, err))
      return false;
  }
  return cuda_write(cuda, cuda_tree->owners.at, tree->segment_owner,
                    sizeof(uint32_t) * (tree->top / RT_SEGMENT), err);
}

static bool push_list(CudaDevice *cuda, CudaTree *cuda_tree, int32_t m, Error *err) {
  const RtManager *manager = &cuda_tree->tree->managers[m];
  CudaRange *list = &cuda_tree->lists[m].memory;
  enum { AT_ONCE = 256 };
  RtListEntry entries[AT_ONCE];
  cuda_tree->lists[m].is_current = manager->list_version == manager->version;
  cuda_tree->lists[m].orders_are_current = 0;
  for (uint64_t done = 0, count; done < manager->list_count; done += count) {
    count = manager->list_count - done;
    if (count > AT_ONCE) count = AT_ONCE;
    for (uint64_t k = 0; k < count; k++) {
      entries[k] = manager->list[done + k];
      move_pointer(&entries[k].coordinates, address_distance(cuda_tree));
    }
    if (!cuda_write(cuda, list->at + sizeof(RtListEntry) * done, entries,
                    sizeof(RtListEntry) * count, err))
      return false;
  }
  return true;
}

bool cuda_push_image(CudaDevice *cuda, CudaTree *cuda_tree, Error *err) {
  const RtTree *tree = cuda_tree->tree;
  Parts parts = find_parts(tree);
  if (!cuda_enlarge(cuda, &cuda_tree->image, parts.size_bytes, false, err)) return false;
  if (!ensure_tables(cuda, cuda_tree, false, err)) return false;
  if (tree->manager_count && tree->chunks && !push_chunks(cuda, cuda_tree, err)) return false;
  for (int32_t m = 0; m < tree->manager_count; m++)
    if (!push_list(cuda, cuda_tree, m, err)) return false;
  uint8_t *image = heap_alloc(cuda->device.heap, parts.size_bytes);
  if (!image) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a tree");
  fill_image(cuda, cuda_tree, &parts, image);
  bool ok = cuda_write(cuda, cuda_tree->image.at, image, parts.size_bytes, err);
  heap_free(cuda->device.heap, image);
  return ok;
}

static bool write_word(CudaDevice *cuda, uint64_t to, uint64_t word, Error *err) {
  return cuda_write(cuda, to, &word, sizeof word, err);
}

bool cuda_grow_image(CudaDevice *cuda, CudaTree *cuda_tree, Error *err) {
  const RtTree *tree = cuda_tree->tree;
  Parts parts = find_parts(tree);
  uint64_t at = cuda_tree->image.at, managers = at + parts.managers, masks = at + parts.masks;
  if (!ensure_tables(cuda, cuda_tree, true, err)) return false;
  bool ok = write_word(cuda, at + offsetof(RtTree, reserved), usable_bytes(cuda_tree), err) &&
            write_word(cuda, at + offsetof(RtTree, chunks), cuda_tree->chunks.at, err) &&
            write_word(cuda, at + offsetof(RtTree, segment_owner), cuda_tree->owners.at, err);
  for (int32_t m = 0; ok && m < tree->manager_count; m++, managers += sizeof(RtManager)) {
    const CudaRange *list = &cuda_tree->lists[m].memory;
    ok = write_word(cuda, managers + offsetof(RtManager, list), list->at, err) &&
         write_word(cuda, managers + offsetof(RtManager, list_capacity),
                    list->mapped / sizeof(RtListEntry), err);
  }
  for (int32_t m = 0; ok && m < tree->mask_count; m++, masks += sizeof(RtMask)) {
    const CudaRange *was = &cuda_tree->was[m];
    ok = write_word(cuda, masks + offsetof(RtMask, was), was->at, err) &&
         write_word(cuda, masks + offsetof(RtMask, was_capacity), was->mapped / sizeof(uint64_t),
                    err);
  }
  return ok;
}

/* -- copying to the host ----------------------------------------------------------------------- */

static void copy_manager(RtManager *host, const RtManager *manager, const RtLocal *local) {
  RtManager was = *host;
  ASSERT(was.locals && manager->node_size == was.node_size, "both sides have the same managers");
  RtLocal *own = &was.locals[0];
  uint8_t *sink = own->sink;
  RtStage *stage = own->stage;
  *host = *manager;
  host->numbers = was.numbers;
  host->locals = was.locals;
  host->list = was.list;
  host->list_capacity = was.list_capacity;
  host->orders = was.orders;
  host->order_count = was.order_count;
  *own = *local;
  own->sink = sink;
  own->stage = stage;
}

/* Copies what the runtime maintains in the tree itself. */
static void copy_tree_state(RtTree *host, const RtTree *tree) {
  ASSERT(tree->top <= host->reserved, "a tree grows inside its arena");
  host->changed = tree->changed;
  host->top = tree->top;
  host->bottom = tree->bottom;
  host->vacant = tree->vacant;
  host->lock = tree->lock;
  host->chunk_count = tree->chunk_count;
  host->free_record = tree->free_record;
}

bool cuda_pull_counts(CudaDevice *cuda, CudaTree *cuda_tree, Error *err) {
  RtTree *tree = cuda_tree->tree;
  Parts parts = find_parts(tree);
  uint8_t *image = heap_alloc(cuda->device.heap, parts.numbers);
  if (!image) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a tree");
  bool ok = cuda_read(cuda, image, cuda_tree->image.at, parts.numbers, err);
  for (int32_t m = 0; ok && m < tree->manager_count; m++) {
    const RtManager *manager = &((RtManager *)(void *)(image + parts.managers))[m];
    cuda_tree->lists[m].orders = manager->orders;
    cuda_tree->lists[m].order_count = manager->order_count;
    copy_manager(&tree->managers[m], manager, &((RtLocal *)(void *)(image + parts.locals))[m]);
  }
  if (ok) copy_tree_state(tree, (RtTree *)(void *)image);
  cuda_tree->counts_are_read = ok;
  heap_free(cuda->device.heap, image);
  return ok;
}

static bool pull_list(CudaDevice *cuda, CudaTree *cuda_tree, RtManager *manager, int32_t m,
                      Error *err) {
  uint64_t count = manager->list_count;
  if (count > manager->list_capacity) {
    RtListEntry *list = heap_resize(cuda->device.heap, manager->list, sizeof *list * (size_t)count);
    if (!list)
      return error_set(err, RG_ERROR_MEMORY,
                       "the host has no memory left for a list of active nodes");
    manager->list = list;
    manager->list_capacity = count;
  }
  if (!cuda_read(cuda, manager->list, cuda_tree->lists[m].memory.at, sizeof(RtListEntry) * count,
                 err))
    return false;
  for (uint64_t k = 0; k < count; k++)
    move_pointer(&manager->list[k].coordinates, -address_distance(cuda_tree));
  return true;
}

bool cuda_pull_chunks(CudaDevice *cuda, CudaTree *cuda_tree, Error *err) {
  RtTree *tree = cuda_tree->tree;
  if (!cuda_pull_counts(cuda, cuda_tree, err)) return false;
  if (!tree->manager_count) return true;
  if (!cuda_read(cuda, tree->chunks, cuda_tree->chunks.at, sizeof(RtChunk) * tree->chunk_count,
                 err) ||
      !cuda_read(cuda, tree->segment_owner, cuda_tree->owners.at,
                 sizeof(uint32_t) * (tree->top / RT_SEGMENT), err))
    return false;
  for (uint64_t k = 0; k < tree->chunk_count; k++)
    move_chunk(&tree->chunks[k], -address_distance(cuda_tree));
  return cuda_tree->chunks_are_read = true;
}

bool cuda_pull_tables(CudaDevice *cuda, CudaTree *cuda_tree, Error *err) {
  RtTree *tree = cuda_tree->tree;
  if (!cuda_pull_chunks(cuda, cuda_tree, err)) return false;
  for (int32_t m = 0; m < tree->manager_count; m++)
    if (!pull_list(cuda, cuda_tree, &tree->managers[m], m, err)) return false;
  return true;
}
