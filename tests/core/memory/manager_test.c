/* manager_test.c - blocks that are freed before the work that uses them is done. */
#include "check.h"
#include "fake_source.h"
#include "memory/manager.h"

static Heap heap;
static FakeSource fake;
static MemoryManager memory;

static void open_manager(uint64_t limit) {
  const MemoryConfig config = {0};
  fake = (FakeSource){.limit = limit};
  MemorySource sources[MEMORY_KINDS];
  for (int k = 0; k < MEMORY_KINDS; k++) {
    sources[k] = fake_source(&fake);
    sources[k].size_bytes /= MEMORY_KINDS + 1;
    sources[k].base += (uint64_t)k * sources[k].size_bytes;
  }
  CHECK(memory_init(&memory, &heap, sources, &config));
}

static MemoryBlock *take(uint64_t size_bytes) {
  return memory_allocate_block(&memory, MEMORY_TRANSIENT, size_bytes);
}

static void give(MemoryBlock *block, int32_t stream, uint64_t cursor) {
  memory_free_block(&memory, MEMORY_TRANSIENT, block, stream, cursor);
}

int main(void) {
  heap_init(&heap, 0);
  TEST("a block is not reused before its stream is past its last use") {
    open_manager(0);
    MemoryBlock *block = take(1000);
    uint64_t at = block->at;
    give(block, 1, 7);
    CHECK_INT(memory.waiting_bytes, 1000);
    MemoryBlock *other = take(1000);
    CHECK(other->at != at);
    memory_complete(&memory, 1, 6);
    memory_complete(&memory, 2, 100); /* another stream's cursor does not count */
    CHECK(take(1000)->at != at);
    memory_complete(&memory, 1, 7);
    CHECK_INT(memory.waiting_bytes, 0);
    CHECK_INT(take(1000)->at, at);
    memory_deinit(&memory);
  }
  TEST("a block whose work is done, or that had none, is free at once") {
    open_manager(0);
    memory_complete(&memory, 0, 10);
    MemoryBlock *block = take(1000);
    uint64_t at = block->at;
    give(block, 0, 10);
    CHECK_INT(take(1000)->at, at);
    memory_deinit(&memory);
  }
  TEST("a block that is freed late, with an older cursor, waits as long as those before it") {
    open_manager(0);
    MemoryBlock *first = take(1000), *second = take(1000);
    uint64_t at = second->at;
    give(first, 3, 9);
    give(second, 3, 4);
    memory_complete(&memory, 3, 8);
    CHECK(take(1000)->at != at);
    memory_complete(&memory, 3, 9);
    CHECK_INT(memory_pool_usage(memory.pools[MEMORY_TRANSIENT]).blocks, 1);
    memory_deinit(&memory);
  }
  TEST("waiting memory counts as used: there may be none until its work is done") {
    open_manager(8 << 20);
    MemoryBlock *block = take(6 << 20);
    give(block, 0, 1);
    CHECK(!take(6 << 20));
    memory_complete(&memory, 0, 1);
    CHECK(take(6 << 20));
    memory_deinit(&memory);
  }
  TEST("staging memory has its own addresses, and is freed completely") {
    open_manager(0);
    MemoryBlock *here = take(100), *there = memory_allocate_block(&memory, MEMORY_STAGING, 100);
    CHECK(there->at - here->at >= (uint64_t)1 << 38);
    give(here, 0, 0);
    memory_free_block(&memory, MEMORY_STAGING, there, 0, 0);
    memory_trim(&memory);
    CHECK_INT(fake.bytes, 0);
    memory_deinit(&memory);
  }
  TEST("all of the host's memory is freed") CHECK_INT(heap.live_bytes, 0);
  return check_report();
}
