/* race_test.c - the race detector (llvm_bc/race.c) compared with a plain model: threads access
 * elements at random, and whatever their order, each element's entry names the pair of accesses
 * that the model finds by examining all of them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rt.h"

enum {
  THREADS = 4,
  TOUCHES = 3000,
  FIELDS = 2,
  ELEMENTS = 150,
  ITERATIONS = 40,
  CAPACITY = 1 << 14
};

typedef struct Access {
  int32_t site, what, writes;
  int64_t iteration, element;
} Access;

static RtShadow entries[CAPACITY];
static RtRaces races;
static RtContext context;
static Access accesses[THREADS][TOUCHES];

static void begin(uint64_t capacity) {
  races = (RtRaces){.entries = entries, .capacity = capacity, .epoch = races.epoch + 2};
  context = (RtContext){.races = &races};
}

static void touch(Access a) {
  rt_touch(&context, a.site, a.what, a.writes, a.iteration, a.element);
}

/* The entry of this loop; NULL: none was touched. */
static const RtShadow *find(int32_t what, int64_t element) {
  for (int k = 0; k < CAPACITY; k++)
    if (entries[k].state == races.epoch && entries[k].what == what &&
        entries[k].element == (uint64_t)element)
      return &entries[k];
  return NULL;
}

/* "3 writes, 5 reads": iterations of the race of an element, or "none". */
static const char *found(int32_t what, int64_t element) {
  static char text[80];
  RtTouch writer, other;
  const RtShadow *entry = find(what, element);
  if (!entry || !rt_race_of(entry, &writer, &other)) return "none";
  snprintf(text, sizeof text, "%lld at %d, %lld at %d", (long long)writer.iteration, writer.site,
           (long long)other.iteration, other.site);
  return text;
}

/* -- the model --------------------------------------------------------------------------------- */

/* The lowest iteration above `past` that wrote, or did not: its first site. */
static bool lowest(int32_t what, int64_t element, int32_t writes, int64_t past, RtTouch *out) {
  bool is_any = false;
  for (int t = 0; t < THREADS; t++)
    for (int k = 0; k < TOUCHES; k++) {
      const Access *a = &accesses[t][k];
      if (a->what != what || a->element != element || a->writes != writes || a->iteration <= past)
        continue;
      if (is_any && (a->iteration > out->iteration ||
                     (a->iteration == out->iteration && a->site > out->site)))
        continue;
      *out = (RtTouch){a->iteration, a->site};
      is_any = true;
    }
  return is_any;
}

/* The first writer and a reader of another iteration; else a second writer. */
static const char *expected(int32_t what, int64_t element) {
  static char text[80];
  RtTouch writer, other;
  if (!lowest(what, element, 1, -1, &writer)) return "none";
  bool has_other = lowest(what, element, 0, -1, &other);
  if (has_other && other.iteration == writer.iteration)
    has_other = lowest(what, element, 0, other.iteration, &other);
  if (!has_other && !lowest(what, element, 1, writer.iteration, &other)) return "none";
  snprintf(text, sizeof text, "%lld at %d, %lld at %d", (long long)writer.iteration, writer.site,
           (long long)other.iteration, other.site);
  return text;
}

/* -- threads ----------------------------------------------------------------------------------- */

static void make_accesses(unsigned seed) {
  srand(seed);
  for (int t = 0; t < THREADS; t++)
    for (int k = 0; k < TOUCHES; k++)
      accesses[t][k] = (Access){.site = rand() % 5,
                                .what = rand() % FIELDS,
                                .writes = rand() % 40 == 0,
                                .iteration = rand() % ITERATIONS,
                                .element = rand() % ELEMENTS - ELEMENTS / 2};
}

static void *run(void *data) {
  const Access *own = data;
  for (int k = 0; k < TOUCHES; k++) touch(own[k]);
  return NULL;
}

static bool agrees(unsigned seed) {
  pthread_t threads[THREADS];
  bool has_race = false;
  make_accesses(seed);
  begin(CAPACITY);
  for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, run, accesses[t]);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  for (int32_t what = 0; what < FIELDS; what++)
    for (int64_t element = -ELEMENTS / 2; element < ELEMENTS - ELEMENTS / 2; element++) {
      const char *model = expected(what, element);
      has_race |= strcmp(model, "none") != 0;
      if (strcmp(model, found(what, element))) {
        printf("  seed %u, field %d, element %lld: %s, not %s\n", seed, what, (long long)element,
               found(what, element), model);
        return false;
      }
    }
  return races.found == has_race && !races.lost;
}

int main(void) {
  TEST("a write and an access of another iteration are a race, whichever comes first") {
    begin(1024);
    touch((Access){.site = 1, .writes = 1, .iteration = 5});
    CHECK_TEXT(found(0, 0), "none");
    CHECK(!races.found);
    touch((Access){.site = 2, .iteration = 3});
    CHECK_TEXT(found(0, 0), "5 at 1, 3 at 2");
    CHECK(races.found);
    touch((Access){.site = 3, .iteration = 7, .element = 9});
    touch((Access){.site = 4, .writes = 1, .iteration = 6, .element = 9});
    CHECK_TEXT(found(0, 9), "6 at 4, 7 at 3");
  }
  TEST("an iteration's own accesses are no race, nor are two reads, other fields, other elements") {
    begin(1024);
    for (int k = 0; k < 3; k++) touch((Access){.site = k, .writes = k == 1, .iteration = 2});
    touch((Access){.site = 5, .iteration = 4, .what = 1});
    touch((Access){.site = 5, .iteration = 5, .what = 1});
    touch((Access){.site = 6, .iteration = 4, .element = 64});
    CHECK_TEXT(found(0, 0), "none");
    CHECK_TEXT(found(1, 0), "none");
    CHECK(!races.found);
  }
  TEST("accesses of an earlier loop are forgotten") {
    begin(1024);
    touch((Access){.writes = 1, .iteration = 1});
    begin(1024);
    touch((Access){.iteration = 2});
    CHECK_TEXT(found(0, 0), "none");
    CHECK(!races.found);
  }
  TEST("elements without a place in the table are counted, and races of the others found") {
    begin(64);
    for (int64_t k = 0; k < 1000; k++) touch((Access){.iteration = k, .element = k});
    CHECK_INT(races.lost, 1000 - 64);
    for (int64_t k = 0; k < 1000; k++) touch((Access){.iteration = -1, .writes = 1, .element = k});
    CHECK_INT(races.lost, 2 * (1000 - 64));
    CHECK(races.found);
  }
  TEST("without a detector an access has no effect") {
    context.races = NULL;
    touch((Access){.writes = 1});
  }
  TEST("random threads leave the state that a model finds") {
    for (unsigned seed = 1; seed <= 20; seed++) CHECK(agrees(seed));
  }
  return check_report();
}
