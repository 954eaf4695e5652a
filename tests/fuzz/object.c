/* object.c - arbitrary object files: the loader loads those that it understands and refuses the
 * rest. Nothing is called. */
#include "fuzz.h"
#include "loader/loader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Heap heap;
  heap_init(&heap, 0);
  Error err = {0};
  Code *code = object_load(&heap, data, (int64_t)size, &err);
  if (!code && !error_is_set(&err)) fuzz_broken("a refusal has a sentence", "none");
  if (code) {
    code_find(code, "kernel");
    code_destroy(code);
  }
  if (heap.live_bytes) fuzz_broken("nothing is left behind", "memory");
  return 0;
}
