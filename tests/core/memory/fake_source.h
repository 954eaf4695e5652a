/* fake_source.h - a simulated memory of a device: only counted, with a limit, and with a clock that
 * stands still. Pieces have addresses that were never given out before. */
#ifndef RG_TESTS_FAKE_SOURCE_H
#define RG_TESTS_FAKE_SOURCE_H

#include "memory/source.h"

typedef struct FakeSource {
  uint64_t limit; /* bytes; 0: none */
  uint64_t bytes; /* that are given out now */
  uint64_t next;  /* address of the next piece */
  int64_t now_ns, calls;
  int64_t returns; /* of memory, pages or pieces */
} FakeSource;

MemorySource fake_source(FakeSource *fake);

#endif
