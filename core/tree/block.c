/* block.c - see block.h. */
#include "tree/block.h"

#include <stdio.h>

static bool allocate(Block *block, Error *err) {
  Device *device = block->store->device;
  const DeviceTable *table = device->table;
  if (table->take) {
    if (!table->take(device, &block->own, block->size_bytes, err)) return false;
  } else {
    DeviceMemory *range = &block->own.range;
    if (!table->allocate(device, range, block->size_bytes, block->size_bytes, err)) return false;
    block->own.base = table->map(device, range);
  }
  block->memory = block->own.base;
  return true;
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
}

bool block_show(Store *store, Block *block, const uint8_t *memory, uint64_t size_bytes,
                bool is_constant, Error *err) {
  const DeviceTable *table = store->device->table;
  *block = (Block){.store = store,
                   .memory = (uint8_t *)memory,
                   .size_bytes = size_bytes,
                   .next = store->blocks};
  link(store, block);
  block->is_shown = true;
  block->rt.foreign = is_constant ? RT_FOREIGN_CONSTANT : RT_FOREIGN;
  if (!table->adopt || table->adopt(store->device, &block->rt, err)) return true;
  block_give(block);
  return false;
}

bool block_take(Store *store, Block *block, uint64_t size_bytes, const char *what, Error *err) {
  if (!store_charge(store, size_bytes, what, err)) return false;
  *block = (Block){.store = store, .size_bytes = size_bytes, .next = store->blocks};
  snprintf(block->what, sizeof block->what, "%s", what);
  if (!allocate(block, err)) {
    store_give_back(store, size_bytes);
    *block = (Block){0};
    return false;
  }
  link(store, block);
  block->is_held = true;
  return true;
}

void block_give(Block *block) {
  Store *store = block->store;
  if (!store) return;
  *(block->previous ? &block->previous->next : &store->blocks) = block->next;
  if (block->next) block->next->previous = block->previous;
  const DeviceTable *table = store->device->table;
  if (block_is_own(block)) store_give_back(store, block->size_bytes);
  if (block->own.base && table->give) {
    table->give(store->device, &block->own, &block->rt);
  } else {
    table->forget(store->device, &block->rt);
    table->free(store->device, &block->own.range);
  }
  *block = (Block){0};
}
