/* block.c - see block.h.
 * Invariant: a block is in store->blocks as long as it has memory. Any thread may release the
 * header last, which retires `memory_object`; the thread inside the owner then frees the memory. */
#include "tree/memory/block.h"

#include <stddef.h>
#include <stdio.h>

/* -- freeing ----------------------------------------------------------------------------------- */

static void free_memory(Block *block) {
  Store *store = block->store;
  const DeviceTable *table = store->device->table;
  if (block->is_adopted) {
    table->free(store->device, &block->own.range);
  } else if (block->own.base && table->blocks) {
    table->blocks->free(store->device, &block->own, &block->rt);
  } else {
    table->forget(store->device, &block->rt);
    table->free(store->device, &block->own.range);
  }
}

void block_free(Block *block) {
  Store *store = block->store;
  if (!block->memory) return;
  *(block->previous ? &block->previous->next : &store->blocks) = block->next;
  if (block->next) block->next->previous = block->previous;
  if (block->own.base) store_uncharge(store, block->size_bytes);
  free_memory(block);
  block->memory = NULL;
  block->rt = (RtTree){0};
  if (block->is_alive) *block->is_alive = false;
  rt_counted_unlend(&block->lent);
  if (block->release) block->release(block->context);
}

static void end_memory(Object *memory_object) {
  Block *block = (Block *)(void *)((uint8_t *)memory_object - offsetof(Block, memory_object));
  block_free(block);
  object_release(&block->object);
}

static void RT_CALL header_end(void *data, uint64_t size_bytes, void *block) {
  (void)data;
  (void)size_bytes;
  object_release(&((Block *)block)->memory_object);
}

/* -- creating ---------------------------------------------------------------------------------- */

static Block *begin(Store *store, uint64_t size_bytes, Error *err) {
  Block *block = object_create(store->owner, object_free, sizeof *block, err);
  if (!block) return NULL;
  block->memory_object = (Object){.owner = store->owner, .count = 1, .end = end_memory};
  block->store = store;
  block->size_bytes = size_bytes;
  return block;
}

/* Links a block that has memory into the store. The object's one reference passes to
 * `memory_object`, which the header holds. */
static void link(Block *block, bool is_own) {
  Store *store = block->store;
  ASSERT(block->memory && !block->next && !block->previous, "a block is linked once it has memory");
  block->next = store->blocks;
  if (store->blocks) store->blocks->previous = block;
  store->blocks = block;
  rt_counted_lend(&block->lent, store->counted.rt, block->memory, block->size_bytes, is_own,
                  header_end, block);
}

/* The tree's base is aligned like an arena's. */
static void begin_tree(Block *block) {
  Store *store = block->store;
  uint8_t *base = block->memory - (uint64_t)block->memory % RT_SEGMENT;
  block->rt = (RtTree){.base = base,
                       .root = block->memory,
                       .root_size = block->size_bytes,
                       .reserved = (uint64_t)(block->memory - base) + block->size_bytes,
                       .number = store->tree_count++,
                       .budget = &store->budget};
  rt_tree_init(&block->rt, store->device->worker_count);
}

Block *block_wrap(Store *store, const BlockExternal *shown, Error *err) {
  Block *block = begin(store, shown->size_bytes, err);
  if (!block) return NULL;
  block->memory = (uint8_t *)shown->memory;
  begin_tree(block);
  block->rt.foreign = shown->is_constant ? RT_FOREIGN_CONSTANT : RT_FOREIGN;
  link(block, false);
  if (device_adopt(store->device, &block->rt, err)) {
    block->release = shown->release;
    block->context = shown->context;
    return block;
  }
  block_release(block);
  return NULL;
}

static bool allocate(Block *block, uint64_t size_bytes, Error *err) {
  Device *device = block->store->device;
  const DeviceTable *table = device->table;
  if (table->blocks) {
    if (!table->blocks->allocate(device, &block->own, size_bytes, err)) return false;
  } else {
    DeviceMemory *range = &block->own.range;
    if (!table->allocate(device, range, size_bytes, size_bytes, err)) return false;
    block->own.base = table->map(device, range);
  }
  block->memory = block->own.base;
  return true;
}

Block *block_allocate(Store *store, uint64_t size_bytes, uint64_t more_bytes, const char *what,
                      Error *err) {
  if (!store_charge(store, size_bytes, what, err)) return NULL;
  Block *block = begin(store, size_bytes, err);
  if (block) snprintf(block->what, sizeof block->what, "%s", what);
  if (!block || !allocate(block, size_bytes + more_bytes, err)) {
    store_uncharge(store, size_bytes);
    if (block) object_release(&block->object);
    return NULL;
  }
  begin_tree(block);
  link(block, true);
  return block;
}

Block *block_adopt(Store *store, DeviceMemory range, uint8_t *root, uint64_t root_bytes,
                   Error *err) {
  Block *block = begin(store, root_bytes, err);
  if (!block) return NULL;
  block->is_adopted = true;
  block->memory = block->own.base = root;
  block->own.range = range;
  link(block, true);
  return block;
}
