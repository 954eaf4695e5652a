/* allocator_test.c - a host that provides the allocator: memory is freed with its size, and any
 * failed allocation is an error of its call. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime.h"

typedef struct Counter {
  pthread_mutex_t lock;
  int64_t taken, live_bytes, live_blocks;
  int64_t fail_at, fail_count; /* from the allocation of this number on, as many fail */
  bool is_wrong;               /* a size that is not the block's, or memory that is not ours */
} Counter;

enum { HEADER = 16 };

static void *resize_locked(Counter *counter, char *memory, uint64_t old_bytes, uint64_t new_bytes) {
  uint64_t *block = memory ? (uint64_t *)(void *)(memory - HEADER) : NULL;
  if ((block ? *block : 0) != old_bytes) counter->is_wrong = true;
  if (new_bytes > old_bytes && ++counter->taken >= counter->fail_at && counter->fail_at &&
      counter->taken < counter->fail_at + counter->fail_count)
    return NULL;
  counter->live_bytes += (int64_t)(new_bytes - old_bytes);
  counter->live_blocks += (new_bytes > 0) - (memory != NULL);
  if (!new_bytes) {
    free(block);
    return NULL;
  }
  block = realloc(block, new_bytes + HEADER);
  *block = new_bytes;
  return (char *)block + HEADER;
}

static void *resize(void *data, void *memory, uint64_t old_bytes, uint64_t new_bytes) {
  Counter *counter = data;
  pthread_mutex_lock(&counter->lock);
  void *resized = resize_locked(counter, memory, old_bytes, new_bytes);
  pthread_mutex_unlock(&counter->lock);
  return resized;
}

static RgStatus begin(Counter *counter, RgError *error) {
  RgAllocator allocator = {.struct_size = sizeof allocator, .resize = resize, .data = counter};
  RgOptions options = {.struct_size = sizeof options,
                       .threads = 2,
                       .memory_bytes = 32 << 20,
                       .no_cache = 1,
                       .allocator = &allocator};
  return rg_runtime_create(&options, &rg, error);
}

/* Compiles and launches a kernel over a tree that grows, and reads its results. */
static RgStatus work(double *sum) {
  static const char text[] = "function() for i in rg.range(1000) do x[i] = i end\n"
                             "local s = 0.0 for i in x:active() do s += x[i] end return s end";
  int64_t blocks = 64, cells = 32;
  RgTree *tree = NULL;
  RgSNode *block = NULL, *leaf = NULL;
  RgField *x = NULL;
  RgKernel *kernel = NULL;
  RgKernelOptions options = {.struct_size = sizeof options, .name = "k"};
  RgValue values[4] = {0}, result = {0};
  RgStatus status = rg_tree_create(rg, "t", &tree);
  if (!status)
    status = rg_snode_add(rg_tree_root(tree), "pointer", "i", &blocks, 1, NULL, 0, 0, &block);
  if (!status) status = rg_snode_add(block, "dense", "i", &cells, 1, NULL, 0, 0, &leaf);
  if (!status) status = rg_field_create(rg, "f32", "x", &x);
  if (!status) status = rg_snode_place(leaf, x);
  if (!status) status = rg_kernel_create(rg, text, (int64_t)strlen(text), &options, &kernel);
  for (int k = 0; !status && k < rg_kernel_path_count(kernel); k++) {
    const char *path;
    rg_kernel_path(kernel, k, &path, NULL);
    values[k] = !strcmp(path, "x")
                    ? (RgValue){.kind = RG_VALUE_FIELD, .depth = 1, .field = x}
                    : (RgValue){.kind = RG_VALUE_BUILTIN, .depth = 2, .text = "rg.range"};
  }
  if (!status) status = rg_kernel_launch(kernel, values, rg_kernel_path_count(kernel), &result);
  *sum = result.number;
  rg_kernel_release(kernel);
  rg_field_release(x);
  rg_snode_release(leaf);
  rg_snode_release(block);
  rg_tree_release(tree);
  return status;
}

static void counts(void) {
  TEST("a host's allocator gets all memory back, with its size") {
    Counter counter = {.lock = PTHREAD_MUTEX_INITIALIZER};
    double sum = 0;
    CHECK(begin(&counter, NULL) == 0 && work(&sum) == 0 && sum == 499500);
    CHECK(counter.taken > 50 && counter.live_bytes > 0);
    rg_runtime_destroy(rg);
    CHECK(!counter.is_wrong && counter.live_bytes == 0 && counter.live_blocks == 0);
  }
  TEST("an allocator without a function, or a struct without its size, is refused") {
    RgAllocator allocator = {.struct_size = sizeof allocator};
    RgOptions options = {.struct_size = sizeof options, .allocator = &allocator};
    RgError error;
    CHECK(rg_runtime_create(&options, &rg, &error) != 0);
    CHECK_TEXT(error.message, "allocator->resize is NULL");
    allocator.struct_size = 0;
    CHECK(rg_runtime_create(&options, &rg, &error) != 0);
    CHECK_TEXT(error.message, "allocator->struct_size is not set");
  }
}

/* Everything from the creation of a runtime to its end, with one failure; then, while the runtime
 * still exists, all of it once more. False if nothing failed. */
static bool fail_once(int64_t fail_at, int64_t fail_count) {
  Counter counter = {
      .lock = PTHREAD_MUTEX_INITIALIZER, .fail_at = fail_at, .fail_count = fail_count};
  RgError error;
  double sum = 0;
  if (begin(&counter, &error)) {
    CHECK_TEXT(error.code, "memory.host");
  } else {
    RgStatus status = work(&sum);
    if (status) CHECK_TEXT(rg_error(rg)->code, "memory.host");
    else CHECK(sum == 499500);
    counter.fail_at = 0;
    CHECK(work(&sum) == 0 && sum == 499500);
    rg_runtime_destroy(rg);
  }
  CHECK(!counter.is_wrong && counter.live_bytes == 0 && counter.live_blocks == 0);
  return counter.taken >= fail_at;
}

static void failures(void) {
  TEST("any allocation may fail, once or from then on: the call says memory.host, nothing leaks") {
    int64_t last = 1; /* about as many as there are */
    while (last < 4000 && fail_once(last, 1)) last += 1 + last / 8;
    CHECK(last > 50 && last < 4000);
    for (int64_t n = 1; n < last; n += n < 40 ? 1 : 3) fail_once(n, n % 2 ? 1 : INT32_MAX);
  }
}

int main(void) {
  counts();
  failures();
  return check_report();
}
