/* limits_test.c - running out of memory: of the budget, and of the host at every allocation. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime.h"

static void budgets(void) {
  TEST("an exhausted budget names the node, and leaves the runtime usable") {
    start(2 << 20, 1);
    RgTree *tree = new_tree("t");
    RgSNode *block = add(rg_tree_root(tree), "pointer", "i", 1024, "block");
    RgField *x = place(add(block, "dense", "i", 4096, NULL), "f32", "x");
    RgStatus status = 0;
    int64_t k = 0;
    RgValue one = number(1);
    for (; !status && k < 1024; k++) status = rg_field_set(x, (int64_t[]){k * 4096}, 1, &one);
    CHECK(status != 0 && k > 64);
    CHECK_TEXT(rg_error(rg)->code, "memory.budget");
    static const char begins[] =
        "the memory budget of 2 MiB is exhausted: node 'block' (pointer) of tree 't' cannot grow; ";
    CHECK(!strncmp(rg_error(rg)->message, begins, sizeof begins - 1));
    CHECK(get(x, (k - 1) * 4096, 0, 1) == 0 && get(x, 0, 0, 1) == 1);
    call(block, "deactivate", 0, 0, 1);
    set(x, (k - 1) * 4096, 0, 1, 5);
    CHECK(get(x, (k - 1) * 4096, 0, 1) == 5 && get(x, 0, 0, 1) == 0);
    stop();
  }
  TEST("a tree that does not fit the budget is refused, and fits when another is gone") {
    start(2 << 20, 1);
    RgTree *small = new_tree("small"), *large = new_tree("large");
    RgField *x = place(add(rg_tree_root(small), "dense", "i", 1 << 18, NULL), "f32", "x");
    RgField *y = place(add(rg_tree_root(large), "dense", "i", 1 << 18, NULL), "f64", "y");
    CHECK(rg_field_settle(x, "a.lua:1") == 0);
    CHECK_ERROR(
        rg_field_settle(y, "a.lua:2"), "memory.budget",
        "the memory budget of 2 MiB is exhausted: tree 'large' needs 2 MiB, 1 MiB are in use: "
        "tree 'small' 1 MiB");
    CHECK(rg_tree_destroy(small, "a.lua:3") == 0);
    set(y, 9, 0, 1, 1);
    CHECK(get(y, 9, 0, 1) == 1);
    stop();
  }
}

/* All calls of a host without a kernel; each may fail, and none may do harm. */
static RgStatus scenario(void) {
  RgTree *tree = NULL;
  RgSNode *block = NULL, *leaf = NULL;
  RgField *x = NULL, *y = NULL;
  int64_t four = 4, index[2] = {5, 6}, state = 0;
  double values[256] = {1, 2, 3};
  const char *text;
  RgValue value = number(2);
  RgStatus status = rg_tree_create(rg, "t", &tree);
  if (!status)
    status = rg_snode_add(rg_tree_root(tree), "pointer", "ij", &four, 1, "block", 0, 0, &block);
  if (!status) status = rg_snode_add(block, "dense", "ij", &four, 1, NULL, 1, 0, &leaf);
  if (!status) status = rg_field_create(rg, "f32", "x", &x);
  if (!status) status = rg_snode_place(leaf, x);
  if (!status) status = rg_field_create(rg, "i16", "y", &y);
  if (!status) status = rg_snode_place(leaf, y);
  if (!status) status = rg_field_set(x, index, 2, &value);
  if (!status) status = rg_field_write(y, values, 256);
  if (!status) status = rg_field_copy(x, y);
  if (!status) status = rg_field_next(x, &state, index, &value);
  if (!status) status = rg_tree_text(tree, &text);
  if (!status) status = rg_gc(rg, "trim", NULL);
  if (!status) status = rg_tree_destroy(tree, "here");
  rg_field_release(x);
  rg_field_release(y);
  rg_snode_release(leaf);
  rg_snode_release(block);
  rg_tree_release(tree);
  return status;
}

static void allocations(void) {
  TEST("any allocation may fail: the call says memory.host, and the next try works") {
    bool done = false;
    for (int fail = 1; !done && fail < 500; fail++) {
      char words[64];
      RgError error;
      RgOptions options = {.struct_size = sizeof options, .threads = 2, .memory_bytes = 32 << 20};
      snprintf(words, sizeof words, "fail_alloc:%d", fail);
      setenv("RG_STRESS", words, 1);
      if (rg_runtime_create(&options, &rg, &error)) {
        CHECK_TEXT(error.code, "memory.host");
        continue;
      }
      RgStatus status = scenario();
      if (status) CHECK_TEXT(rg_error(rg)->code, "memory.host");
      done = scenario() == 0 && status == 0;
      CHECK(done || status || !strcmp(rg_error(rg)->code, "memory.host"));
      if (status) CHECK(scenario() == 0);
      stop();
    }
    CHECK(done);
    unsetenv("RG_STRESS");
  }
}

static void options(void) {
  TEST("impossible options are refused") {
    RgError error;
    RgOptions given = {.struct_size = sizeof given, .threads = -1};
    RgRuntime *runtime = NULL;
    CHECK(rg_runtime_create(&given, &runtime, &error) != 0 && !runtime);
    CHECK_TEXT(error.message, "threads must be 0 (all cores) to 4096, got -1");
    setenv("RG_THREADS", "two", 1);
    given.threads = 0;
    CHECK(rg_runtime_create(&given, &runtime, &error) != 0);
    CHECK_TEXT(error.message, "RG_THREADS must be a whole number, got 'two'");
    setenv("RG_THREADS", "3", 1);
    setenv("RG_MEMORY", "3MiB", 1);
    CHECK(rg_runtime_create(&given, &runtime, &error) == 0);
    RgInfo info;
    CHECK(rg_worker_count(runtime) == 3 && rg_info(runtime, &info) == 0 &&
          info.memory_bytes == 3 << 20);
    rg_runtime_destroy(runtime);
    setenv("RG_MEMORY", "lots", 1);
    CHECK(rg_runtime_create(NULL, &runtime, &error) != 0);
    CHECK_TEXT(error.code, "option.invalid");
    unsetenv("RG_THREADS");
    unsetenv("RG_MEMORY");
  }
}

int main(void) {
  budgets();
  allocations();
  options();
  return check_report();
}
