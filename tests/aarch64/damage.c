/* damage.c - objects of aarch64, whole and with bytes changed at random: the loader takes or
 * refuses them, and reads nothing outside. Words: the files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "loader/loader.h"

enum { TRIALS = 400, LARGEST = 1 << 20 };

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static bool loads(Heap *heap, const uint8_t *bytes, int64_t length) {
  Error err;
  error_clear(&err);
  Code *code = object_load(heap, bytes, length, &err);
  bool has_loaded = code != NULL;
  CHECK(has_loaded == !err.code);
  code_destroy(code);
  return has_loaded;
}

static void try_file(Heap *heap, const char *path, uint64_t *seed) {
  uint8_t *whole = malloc(LARGEST);
  FILE *file = fopen(path, "rb");
  CHECK(file);
  if (!file) return;
  size_t length = fread(whole, 1, LARGEST, file);
  fclose(file);
  CHECK(loads(heap, whole, (int64_t)length));
  uint8_t *changed = malloc(length);
  for (int trial = 0; trial < TRIALS; trial++) {
    memcpy(changed, whole, length);
    for (int k = 0; k <= trial % 3; k++)
      changed[next_random(seed) % length] = (uint8_t)next_random(seed);
    int64_t left = trial % 5 ? (int64_t)length : (int64_t)(next_random(seed) % length);
    loads(heap, changed, left);
  }
  free(changed);
  free(whole);
}

int main(int argc, char **argv) {
  Heap heap;
  uint64_t seed = 1;
  heap_init(&heap, 0);
  TEST("objects load, and damaged ones are harmless") {
    for (int k = 1; k < argc; k++) try_file(&heap, argv[k], &seed);
  }
  return check_report();
}
