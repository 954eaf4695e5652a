// lists.c - ../ours/lists.lua by hand: an array of 1024 places per list and a counter each, which
// appending raises by an atomic addition.
#include "bench.h"

enum { PLACES = 1024 };
static int is_append;
static int32_t sum;

static int32_t *places, *lengths;
static int lists, count;

static void append(void) {
#pragma omp parallel for schedule(static)
  for (int k = 0; k < count; k++) {
    int list = (int)((uint64_t)k * 2654435761u % (uint64_t)lists);
    int slot = __atomic_fetch_add(&lengths[list], 1, __ATOMIC_RELAXED);
    if (slot < PLACES) places[(int64_t)list * PLACES + slot] = k;
  }
}

static int32_t iterate(void) {
  uint32_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < lists; i++)
    for (int j = 0; j < lengths[i]; j++) sum += (uint32_t)places[(int64_t)i * PLACES + j];
  return (int32_t)sum;
}

static void setup(int argc, char **argv) {
  is_append = argc < 2 || !strcmp(argv[1], "append");
  lists = (int)argument(argc, argv, 2, 4096);
  count = (int)argument(argc, argv, 3, 1048576);
  places = pages((size_t)lists * PLACES * 4);
  lengths = pages((size_t)lists * 4);
  append();
}

static void start(void) {
  if (is_append) memset(lengths, 0, (size_t)lists * sizeof *lengths);
}

static void step(void) {
  if (is_append) append();
  else sum = iterate();
}

static double checksum(void) { return iterate(); }
