/* memory_test.c - memory of a device through its server. */
#include "check.h"
#include "server/server.h"

static Heap heap;
static Error err;
static RtTree tree; /* of blocks that no launch uses */

static Device *open_device(const ServerOptions *options) {
  Device *device = device_cpu_create(&heap, &(DeviceOptions){.threads = 2}, &err);
  CHECK(device && server_attach(device, options, &err));
  return device;
}

static DeviceBlock take(Device *device, uint64_t size_bytes) {
  DeviceBlock block;
  CHECK(device->table->blocks->allocate(device, &block, size_bytes, &err));
  return block;
}

static void give(Device *device, DeviceBlock *block) {
  device->table->blocks->free(device, block, &tree);
}

static bool is_zero(const DeviceBlock *block, uint64_t size_bytes) {
  for (uint64_t k = 0; k < size_bytes; k++)
    if (block->base[k]) return false;
  return true;
}

int main(void) {
  const ServerOptions options = {.memory_bytes = (uint64_t)1 << 30};
  heap_init(&heap, 0);
  TEST("a block is zero, writable, and zero again when it is reused") {
    static const uint64_t sizes[] = {0, 1, 1000, 40000, 5 << 20};
    Device *device = open_device(&options);
    for (int k = 0; k < 5; k++) {
      DeviceBlock block = take(device, sizes[k]);
      uint8_t *at = block.base;
      CHECK((uintptr_t)at % 64 == 0 && is_zero(&block, sizes[k]));
      memset(at, 7, sizes[k]);
      give(device, &block);
      CHECK(!block.base);
      block = take(device, sizes[k]);
      CHECK(block.base == at && is_zero(&block, sizes[k]));
      give(device, &block);
    }
    device->table->destroy(device);
  }
  TEST("every strategy works, and blocks that are held at the end are freed") {
    static const MemoryStrategy strategies[] = {MEMORY_EXPANDABLE, MEMORY_SIMPLE, MEMORY_CACHING};
    for (int k = 0; k < 3; k++) {
      ServerOptions other = options;
      other.transient.strategy = strategies[k];
      Device *device = open_device(&other);
      DeviceBlock a = take(device, 100000), b = take(device, 100000);
      memset(a.base, 1, 100000);
      memset(b.base, 2, 100000);
      CHECK_INT(a.base[99999], 1);
      ServerMemory memory = server_memory(server_of(device));
      CHECK_INT(memory.transient.live, 200000);
      CHECK_INT(memory.transient.blocks, 2);
      give(device, &a);
      server_trim(server_of(device));
      CHECK_INT(b.base[50000], 2);
      device->table->destroy(device);
    }
  }
  TEST("memory of trees is counted as addresses") {
    Device *device = open_device(&options);
    DeviceMemory range;
    CHECK(device->table->allocate(device, &range, 1 << 20, 1 << 20, &err));
    CHECK_INT(server_memory(server_of(device)).persistent.reserved, range.reserved);
    CHECK_INT(server_memory(server_of(device)).persistent.blocks, 1);
    device->table->free(device, &range);
    CHECK_INT(server_memory(server_of(device)).persistent.reserved, 0);
    device->table->destroy(device);
  }
  TEST("all kinds have parts of one range; a tree's memory is zero, and inaccessible after it") {
    Device *device = open_device(&options);
    const DeviceTable *table = device->table;
    DeviceMemory range;
    DeviceBlock block = take(device, 1000);
    for (int round = 0; round < 2; round++) {
      CHECK(table->allocate(device, &range, 5 << 20, 5 << 20, &err));
      ServerMemory memory = server_memory(server_of(device));
      CHECK_INT(memory.parts, 3);
      CHECK((uint64_t)(block.base - range.base) < memory.addresses);
      CHECK(!range.base[0] && !range.base[(5 << 20) - 1]);
      memset(range.base, 1, 5 << 20);
      table->free(device, &range);
    }
    give(device, &block);
    table->destroy(device);
  }
  TEST("a block that exceeds the pool's addresses has its own range") {
    Device *device = open_device(&(ServerOptions){.memory_bytes = 1 << 20});
    DeviceBlock block = take(device, 64 << 20);
    CHECK(!block.block && is_zero(&block, 1 << 20));
    give(device, &block);
    device->table->destroy(device);
  }
  TEST("all of the host's memory is freed") CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
