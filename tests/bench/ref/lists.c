/* lists.c - lists.lua in hand-written C: an array of 1024 places per list and a counter each. A
 * variant "append" claims places by an atomic addition; "iterate" sums list by list.
 * usage: lists append|iterate [lists] [elements] [repetitions]. One JSON line. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 1024, MOST_REPS = 99 };

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

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  const char *phase = argc > 1 ? argv[1] : "append";
  int is_append = !strcmp(phase, "append"), reps = argc > 4 ? atoi(argv[4]) : 9;
  double rates[MOST_REPS];
  int32_t sum = 0;
  lists = argc > 2 ? atoi(argv[2]) : 4096;
  count = argc > 3 ? atoi(argv[3]) : 1048576;
  if (reps > MOST_REPS) reps = MOST_REPS;
  places = calloc((size_t)lists * PLACES, sizeof *places);
  lengths = calloc((size_t)lists, sizeof *lengths);
  if (!places || !lengths) return 1;
  append();
  for (int rep = 0; rep < reps; rep++) {
    if (is_append) memset(lengths, 0, (size_t)lists * sizeof *lengths);
    double begin = omp_get_wtime();
    if (is_append) append();
    else sum += iterate();
    rates[rep] = count / (omp_get_wtime() - begin) / 1e6;
  }
  qsort(rates, (size_t)reps, sizeof *rates, ascending);
  printf("{\"bench\":\"lists\",\"variant\":\"%s\",\"threads\":%d,\"median_rate\":%.3f,\"checksum\":"
         "%d}\n",
         phase, omp_get_max_threads(), rates[(reps + 1) / 2 - 1], iterate() + 0 * sum);
  return 0;
}
