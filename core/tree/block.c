/* block.c - see block.h. */
#include "tree/block.h"

#include "base/bits.h"

enum {
  ALIGNMENT = 64,
  SMALL = 1 << 15 /* bytes; a range costs system calls and at least a page */
};

static bool allocate(Block *block, Error *err) {
  Device *device = block->store->device;
  if (block->size_bytes >= SMALL || device->guard_pages) {
    if (!device->table->allocate(device, &block->range, block->size_bytes, block->size_bytes, err))
      return false;
    device->table->settle(device, block->range.base, block->size_bytes);
    block->memory = device->table->map(device, &block->range);
    return true;
  }
  block->piece = heap_alloc(block->store->heap, block->size_bytes + ALIGNMENT);
  block->memory = (uint8_t *)align_up((uint64_t)block->piece, ALIGNMENT);
  return block->piece ||
         error_set(err, RG_ERROR_MEMORY, "the host has no memory left for an array");
}

/* The base is aligned as that of an arena. */
static void link(Store *store, Block *block) {
  uint8_t *base = block->memory - (uint64_t)block->memory % RT_SEGMENT;
  block->rt = (RtTree){.base = base,
                       .root = block->memory,
                       .root_size = block->size_bytes,
                       .reserved = (uint64_t)(block->memory - base) + block->size_bytes,
                       .number = store->tree_count++,
                       .budget = &store->budget};
  rt_tree_init(&block->rt, store->device->worker_count);
  if (store->blocks) store->blocks->previous = block;
  store->blocks = block;
  block->is_held = true;
}

bool block_show(Store *store, Block *block, const uint8_t *memory, uint64_t size_bytes,
                bool is_constant, Error *err) {
  const DeviceTable *table = store->device->table;
  *block = (Block){.store = store,
                   .memory = (uint8_t *)memory,
                   .size_bytes = size_bytes,
                   .next = store->blocks};
  link(store, block);
  block->rt.foreign = is_constant ? RT_FOREIGN_CONSTANT : RT_FOREIGN;
  if (!table->adopt || table->adopt(store->device, &block->rt, err)) return true;
  block_give(block);
  return false;
}

bool block_take(Store *store, Block *block, uint64_t size_bytes, const char *what, Error *err) {
  if (!store_charge(store, size_bytes, what, err)) return false;
  *block = (Block){.store = store, .size_bytes = size_bytes, .next = store->blocks};
  if (!allocate(block, err)) {
    store->budget.used -= size_bytes;
    *block = (Block){0};
    return false;
  }
  link(store, block);
  return true;
}

void block_give(Block *block) {
  Store *store = block->store;
  if (!store) return;
  *(block->previous ? &block->previous->next : &store->blocks) = block->next;
  if (block->next) block->next->previous = block->previous;
  store->device->table->forget(store->device, &block->rt);
  if (block_is_own(block)) store->budget.used -= block->size_bytes;
  store->device->table->free(store->device, &block->range);
  heap_free(store->heap, block->piece);
  *block = (Block){0};
}
