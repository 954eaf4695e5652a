/* fake_source.c - see fake_source.h. */
#include "fake_source.h"

#include "base/bits.h"

static bool commit(void *data, uint64_t at, uint64_t size_bytes) {
  FakeSource *fake = data;
  (void)at;
  if (fake->limit && fake->bytes + size_bytes > fake->limit) return false;
  fake->bytes += size_bytes;
  fake->calls++;
  return true;
}

static void decommit(void *data, uint64_t at, uint64_t size_bytes) {
  FakeSource *fake = data;
  (void)at;
  fake->bytes -= size_bytes;
  fake->returns++;
}

static uint64_t allocate(void *data, uint64_t size_bytes) {
  FakeSource *fake = data;
  if (!commit(data, 0, size_bytes)) return 0;
  uint64_t at = fake->next;
  fake->next = align_up(at + size_bytes, 256);
  return at;
}

static int64_t now_ns(void *data) { return ((FakeSource *)data)->now_ns; }

MemorySource fake_source(FakeSource *fake) {
  fake->next = (uint64_t)1 << 44;
  return (MemorySource){.data = fake,
                        .base = (uint64_t)1 << 40,
                        .size_bytes = (uint64_t)1 << 40,
                        .commit = commit,
                        .decommit = decommit,
                        .allocate = allocate,
                        .free = decommit,
                        .now_ns = now_ns};
}
