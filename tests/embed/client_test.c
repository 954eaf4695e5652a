/* client_test.c - the compute client from C: four threads of a host, each with a stream of its own
 * and a buffer that all of them use; and who waits for what. */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "regolith.h"

enum { THREADS = 4, ROUNDS = 400, NUMBERS = 257 };

static RgRuntime *runtime;
static RgKernel *add, *slow;
static RgArray *shared;

static RgRuntime *open_runtime(int async) {
  RgRuntime *opened = NULL;
  RgOptions options = {.struct_size = sizeof options, .async = async, .threads = 2};
  CHECK(!rg_runtime_create(&options, &opened, NULL));
  return opened;
}

static RgKernel *kernel_of(const char *text) {
  RgKernel *kernel = NULL;
  CHECK(!rg_kernel_create(runtime, text, (int64_t)strlen(text), NULL, &kernel));
  return kernel;
}

/* Each call, with values for the names that the text takes from outside: rg.range. */
static RgStatus run(int32_t stream, RgKernel *kernel, RgArray *array, double number) {
  RgValue values[8] = {0};
  int32_t count = rg_kernel_path_count(kernel);
  for (int32_t k = 0; k < count; k++) {
    const char *path;
    rg_kernel_path(kernel, k, &path, NULL);
    values[k] = (RgValue){.kind = RG_VALUE_BUILTIN, .depth = 2, .text = path};
  }
  values[count] = (RgValue){.kind = RG_VALUE_ARRAY, .depth = 1, .array = array};
  values[count + 1] = (RgValue){.kind = RG_VALUE_NUMBER, .depth = 1, .number = number};
  return rg_client_execute(runtime, stream, kernel, values, count + 2, NULL);
}

static RgArray *make(int64_t numbers) {
  RgArray *array = NULL;
  CHECK(!rg_client_empty(runtime, "i32", &numbers, 1, &array));
  return array;
}

typedef struct Worker {
  int32_t stream;
  int wrong;
} Worker;

static void *work(void *data) {
  Worker *worker = data;
  RgArray *own = make(NUMBERS);
  int32_t numbers[NUMBERS], state = worker->stream, expected = 0;
  for (int n = 0; n < ROUNDS; n++) {
    state = (int32_t)((uint32_t)state * 1103515245u + 12345u);
    int kind = state >> 16 & 3;
    if (kind == 0) {
      for (int k = 0; k < NUMBERS; k++) numbers[k] = n;
      worker->wrong |= rg_client_write(runtime, worker->stream, own, numbers, sizeof numbers);
      expected = n;
    }
    worker->wrong |= run(worker->stream, add, own, 2);
    worker->wrong |= run(worker->stream, add, shared, 1);
    expected += 2;
    if (kind != 1) continue;
    worker->wrong |= rg_client_read(runtime, worker->stream, own, numbers, sizeof numbers);
    worker->wrong |= numbers[0] != expected || numbers[NUMBERS - 1] != expected;
  }
  worker->wrong |= rg_client_sync(runtime, worker->stream);
  rg_array_release(own);
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[THREADS];
  Worker workers[THREADS];
  int32_t numbers[NUMBERS];
  shared = make(NUMBERS);
  CHECK(!run(0, add, shared, 0)); /* compiled */
  for (int32_t k = 0; k < THREADS; k++) {
    workers[k] = (Worker){.stream = k + 1};
    pthread_create(&threads[k], NULL, work, &workers[k]);
  }
  for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
  for (int k = 0; k < THREADS; k++) CHECK(!workers[k].wrong);
  CHECK(!rg_client_read(runtime, 0, shared, numbers, sizeof numbers));
  for (int k = 0; k < NUMBERS; k++) CHECK_INT(numbers[k], THREADS * ROUNDS);
  rg_array_release(shared);
}

static void test_reuse(void) {
  RgArray *busy = make(NUMBERS), *other;
  RgPoolMemory memory;
  int32_t numbers[NUMBERS], ones[NUMBERS];
  for (int k = 0; k < NUMBERS; k++) ones[k] = 1;
  CHECK(!run(1, slow, busy, 10));
  CHECK(!run(1, slow, busy, 3000000));
  rg_array_release(busy);
  other = make(NUMBERS);
  CHECK(!rg_client_write(runtime, 2, other, ones, sizeof ones));
  CHECK(!rg_client_sync(runtime, -1));
  CHECK(!rg_client_read(runtime, 2, other, numbers, sizeof numbers));
  CHECK(!memcmp(numbers, ones, sizeof ones)); /* nothing of the slow kernel came into it */
  CHECK(!rg_client_memory(runtime, 1, &memory));
  CHECK_INT(memory.waiting, 0);
  CHECK_INT(memory.live, sizeof ones);
  rg_array_release(other);
}

static void test_mistakes(void) {
  int64_t numbers = 4;
  RgArray *array = make(numbers), *none = NULL;
  CHECK(rg_client_write(runtime, 9, array, &numbers, 16));
  CHECK(rg_client_read(runtime, 0, array, &numbers, 3));
  CHECK(rg_client_sync(runtime, -2));
  CHECK(rg_client_empty(runtime, "nope", &numbers, 1, &none) && !none);
  CHECK(rg_client_memory(runtime, 4, &(RgPoolMemory){0}));
  CHECK(rg_client_empty(NULL, "i32", &numbers, 1, &none));
  RgRuntime *other = open_runtime(0);
  CHECK(rg_client_write(other, 0, array, &numbers, 16));
  CHECK_TEXT(rg_error(other)->message, "rg_client_write: the buffer is another runtime's");
  rg_runtime_destroy(other);
  rg_array_release(array);
}

int main(void) {
  for (int async = 0; async < 2; async++) {
    runtime = open_runtime(async);
    add = kernel_of("function(x, n) for i in rg.range(257) do x[i] = x[i] + n end end");
    slow = kernel_of("function(x, n) for i in rg.range(257) do local s = 0.0 for k = 1, n / 257 do "
                     "s = s + math.sin(k * 1.0) end if s < 1e9 then x[i] = 7 end end end");
    TEST(async ? "threads with streams of their own, queued" : "threads with streams of their own")
      test_threads();
    TEST(async ? "memory is not reused under running work, queued"
               : "memory is not reused under running work")
      test_reuse();
    TEST(async ? "mistakes are told, queued" : "mistakes are told") test_mistakes();
    rg_kernel_release(add);
    rg_kernel_release(slow);
    rg_runtime_destroy(runtime);
  }
  return check_report();
}
