/* versions_test.c - the list of a kernel's versions, as its launches, requests and background
 * compiles change it. */
#include <stdlib.h>
#include <time.h>

#include "runtime.h"
#include "kernel/versions/background.h"
#include "kernel/versions/versions.h"

static RgKernel *handle;
static Kernel *kernel;

static void create(const char *text) {
  handle = NULL;
  if (rg_kernel_create(rg, text, (int64_t)strlen(text), NULL, &handle))
    check_fail(__FILE__, __LINE__, rg_error(rg)->message);
  kernel = (Kernel *)handle;
}

static double launch(double a, double b) {
  RgValue values[] = {number(a), number(b)}, result = {0};
  CHECK(rg_kernel_launch(handle, values, 2, &result) == 0);
  return result.number;
}

static int count(void) {
  int number = 0;
  for (const Version *at = kernel->versions; at; at = at->next) number++;
  return number;
}

static bool is_valid(void) {
  const char *broken = "";
  bool ok = versions_are_valid(kernel->versions, kernel->last, &broken);
  CHECK_TEXT(broken, "");
  return ok;
}

/* A specialised version in which argument `arg` is 5. */
static Version *request(int arg) {
  uint64_t slots[2] = {5, 5};
  Constants constants = {(uint64_t)1 << arg, slots};
  return versions_request(kernel->last, COMPILE_TO_SPECIALISE, &constants, NULL);
}

static void wait_for(Version *version) {
  Error err;
  error_clear(&err);
  background_wait(version, &err);
  CHECK_TEXT(err.message, "");
}

/* Steps until no compile is left, for at most ten minutes. */
static void report_all(Engine *engine) {
  const struct timespec pause = {.tv_nsec = 1000000};
  for (int k = 0; engine->background && k < 600000; k++) {
    background_step(engine);
    nanosleep(&pause, NULL);
  }
  CHECK(!engine->background);
}

static const char text[] = "function(a: i32, b: i32) return a * 3 + b % 7 end";

static void tiers(void) {
  TEST("optimised code replaces baseline code of the same compiled kernel, in the same frame") {
    create("function(a: i32, b: i32) return a * 3 + b % 7, b end");
    CHECK(launch(2, 9) == 8);
    const Version *baseline = kernel->versions;
    CHECK(count() == 1 && baseline->tier == TIER_BASELINE && !baseline->base && is_valid());
    CHECK(launch(3, 9) == 11);
    const Version *general = kernel->last;
    CHECK(count() == 2 && general != baseline && general->tier == TIER_OPTIMISED && is_valid());
    CHECK(baseline->base == general && baseline->compiled == general->compiled &&
          baseline->launch == general->launch && general->compiled->holders == 2);
    RgValue second = {0};
    CHECK(rg_kernel_result(handle, 1, &second) == 0 && second.number == 9);
    rg_kernel_release(handle);
  }
  TEST("a kernel that is compiled in advance has optimised code alone") {
    create(text);
    RgValue values[] = {number(1), number(2)};
    CHECK(rg_kernel_compile(handle, values, 2) == 0);
    CHECK(count() == 1 && kernel->versions->tier == TIER_OPTIMISED && launch(1, 2) == 5);
    rg_kernel_release(handle);
  }
}

static void requests(void) {
  create(text);
  RgValue values[] = {number(1), number(2)};
  CHECK(rg_kernel_compile(handle, values, 2) == 0);
  Engine *engine = kernel->engine;
  TEST("a requested version is in the list until its compile is published") {
    Version *made = request(0);
    CHECK(made && count() == 2 && made->base == kernel->last && made->tier == TIER_SPECIALISED);
    CHECK(made && made->state < VERSION_READY && made->job && !made->code && is_valid());
    wait_for(made);
    CHECK(made->state == VERSION_READY && made->code && !made->job && is_valid());
    CHECK(made->constants.taken == 1 && made->constants.slots[0] == 5);
  }
  TEST("a version that cannot be compiled is dropped") {
    Version *base = kernel->last;
    Constants none = {0, NULL};
    CompileWay usual = {0};
    CHECK(!versions_request(base, COMPILE_TO_TRY, &none, &usual)); /* the same code */
    CHECK(!versions_request(base, COMPILE_TO_SPECIALISE, &none, NULL));
    CHECK(count() == 2);
  }
  TEST("one spare compile runs at a time, and the next starts when it has ended") {
    Version *first = request(0), *second = request(1);
    CHECK(first && second && count() == 4 && is_valid());
    CHECK(first->state != VERSION_QUEUED && background_has_spare(engine));
    report_all(engine);
    CHECK(first->state == VERSION_READY && second->state == VERSION_READY && is_valid());
    CHECK(background_is_idle(engine));
  }
  TEST("a version that is dropped does not wait for its compile") {
    Version *first = request(0), *second = request(1);
    versions_drop(second);
    versions_drop(first);
    CHECK(count() == 4 && is_valid());
    report_all(engine);
  }
  TEST("a base is dropped with what is based on it, and the next launch compiles anew") {
    request(1);
    versions_drop(kernel->last);
    CHECK(count() == 0 && !kernel->last && !kernel->ran);
    CHECK(launch(2, 9) == 8 && count() == 1);
  }
  TEST("a kernel may end while versions of it are compiled, and its runtime too") {
    CHECK(request(0) && request(1));
    rg_kernel_release(handle);
    create(text);
    CHECK(launch(2, 9) == 8 && request(0));
    rg_kernel_release(handle);
  }
}

int main(void) {
  setenv("RG_QUICK", "always", 1);
  setenv("RG_SPECIALISE", "on", 1);
  start(4 << 20, 1);
  tiers();
  requests();
  stop();
  return check_report();
}
