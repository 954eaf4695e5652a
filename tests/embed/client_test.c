/* client_test.c - the compute client from C: four threads of a host, each with a stream of its own,
 * and a buffer that all of them use; and which calls wait for which work. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "regolith.h"

enum { THREADS = 4, ROUNDS = 25000, NUMBERS = 257 };

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
  CHECK(!memcmp(numbers, ones, sizeof ones)); /* no result of the slow kernel is in it */
  CHECK(!rg_client_memory(runtime, 1, &memory));
  CHECK_INT(memory.waiting, 0);
  CHECK_INT(memory.live, sizeof ones);
  rg_array_release(other);
}

/* -- sets of candidates ------------------------------------------------------------------------ */

enum { TUNE_ROUNDS = 150, CANDIDATES = 3 };
static RgTuner *tuner;
static RgKernel *ways[CANDIDATES];

/* The set's call, with values as run's. */
static RgStatus run_set(int32_t stream, RgArray *array) {
  RgValue values[CANDIDATES][8] = {0};
  RgTunerLaunch launches[CANDIDATES];
  for (int32_t k = 0; k < CANDIDATES; k++) {
    int32_t count = rg_kernel_path_count(ways[k]);
    for (int32_t i = 0; i < count; i++) {
      const char *path;
      rg_kernel_path(ways[k], i, &path, NULL);
      values[k][i] = (RgValue){.kind = RG_VALUE_BUILTIN, .depth = 2, .text = path};
    }
    values[k][count] = (RgValue){.kind = RG_VALUE_ARRAY, .depth = 1, .array = array};
    values[k][count + 1] = (RgValue){.kind = RG_VALUE_NUMBER, .depth = 1, .number = 1};
    launches[k] = (RgTunerLaunch){ways[k], values[k], count + 2};
  }
  return rg_client_execute_autotune(runtime, stream, tuner, "i32 257", launches, CANDIDATES, NULL);
}

/* Other threads read, wait, query and free memory meanwhile. */
static void *disturb(void *data) {
  Worker *worker = data;
  int32_t numbers[NUMBERS], done;
  RgTuneRow row;
  for (int n = 0; n < TUNE_ROUNDS; n++) {
    RgArray *own = make(NUMBERS), *copy = NULL;
    worker->wrong |= run(worker->stream, add, own, 3);
    worker->wrong |= rg_client_read_async(runtime, worker->stream, own, &copy);
    worker->wrong |= rg_client_is_done(runtime, copy, &done);
    rg_array_release(own);
    worker->wrong |= rg_client_read(runtime, worker->stream, copy, numbers, sizeof numbers);
    worker->wrong |= numbers[5] != 3;
    rg_array_release(copy);
    if (n % 10 == 0) worker->wrong |= rg_client_sync(runtime, n % 20 ? -1 : worker->stream);
    if (n % 25 == 0) worker->wrong |= rg_client_cleanup(runtime);
    rg_tuner_row(tuner, n % 8, &row); /* or the runtime is busy */
  }
  return NULL;
}

static void *tune(void *data) {
  Worker *worker = data;
  for (int n = 0; n < TUNE_ROUNDS; n++) worker->wrong |= run_set(worker->stream, shared);
  worker->wrong |= rg_client_sync(runtime, worker->stream);
  return NULL;
}

static void test_tuner(void) {
  pthread_t threads[THREADS];
  Worker workers[THREADS] = {0};
  int32_t numbers[NUMBERS], samples = 0;
  const char *names[] = {"one", "two", "three"};
  RgTuneRow row;
  shared = make(NUMBERS);
  for (int k = 0; k < CANDIDATES; k++) {
    ways[k] = kernel_of("function(x, n) for i in rg.range(257) do x[i] = x[i] + n end end");
    CHECK(!run(0, ways[k], shared, 0)); /* compiled */
  }
  CHECK(!rg_tuner_create(runtime, "client_test", names, CANDIDATES, 1, &tuner));
  alarm(1800); /* a deadlock ends the test */
  for (int32_t k = 0; k < THREADS; k++) {
    workers[k].stream = k + 1;
    pthread_create(&threads[k], NULL, k % 2 ? disturb : tune, &workers[k]);
  }
  for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
  alarm(0);
  for (int k = 0; k < THREADS; k++) CHECK(!workers[k].wrong);
  CHECK(!rg_client_read(runtime, 0, shared, numbers, sizeof numbers));
  for (int k = 0; k < NUMBERS; k++) CHECK_INT(numbers[k], THREADS / 2 * TUNE_ROUNDS);
  for (int k = 0; !rg_tuner_row(tuner, k, &row); k++) samples += row.samples;
  CHECK(samples >= 3 * CANDIDATES);
  CHECK_TEXT(row.candidate ? row.candidate : "", "");
  rg_tuner_release(tuner);
  for (int k = 0; k < CANDIDATES; k++) rg_kernel_release(ways[k]);
  rg_array_release(shared);
}

static void test_tuner_mistakes(void) {
  const char *names[] = {"one", "one", NULL};
  RgTuner *none = NULL;
  int32_t candidate;
  CHECK(rg_tuner_create(runtime, "a", names, 2, 0, &none) && !none);
  CHECK_TEXT(rg_error(runtime)->message, "two candidates are called 'one'");
  CHECK(rg_tuner_create(runtime, "a", names, 0, 0, &none) && !none);
  CHECK(rg_tuner_create(runtime, "a", names, 17, 0, &none) && !none);
  CHECK(!rg_tuner_create(runtime, "a", names, 1, 0, &none));
  CHECK(rg_tuner_end(none, 0, NULL)); /* nothing has begun */
  CHECK(rg_tuner_end(none, 3, NULL));
  CHECK(rg_client_execute_autotune(runtime, 0, none, "", &(RgTunerLaunch){0}, 1, NULL));
  CHECK(rg_client_execute_autotune(runtime, 0, none, "", &(RgTunerLaunch){0}, 2, NULL));
  CHECK(!rg_tuner_begin(none, "x", &candidate));
  CHECK_INT(candidate, 0);
  CHECK(!rg_tuner_end(none, 1, &candidate)); /* the only one cannot run */
  CHECK_INT(candidate, -1);
  rg_tuner_release(none);
}

static void take_warning(void *data, const char *text) { snprintf(data, 300, "%s", text); }

/* A failure that no call has reported is a warning when the runtime ends, once. */
static void test_unseen(int async) {
  for (int looks = 0; looks < 2; looks++) {
    char said[300] = "";
    RgRuntime *before = runtime;
    runtime = open_runtime(async);
    rg_on_warning(runtime, take_warning, said);
    RgKernel *fails = kernel_of("function(x, n) for i in rg.range(4) do assert(i < n) end end");
    RgArray *array = make(4);
    RgStatus status = run(3, fails, array, 2);
    CHECK(async ? !status : status);
    if (looks) CHECK(rg_sync(runtime) || !async);
    rg_kernel_release(fails);
    rg_array_release(array);
    rg_runtime_destroy(runtime);
    runtime = before;
    bool is_said = strstr(said, "assertion failed") && strstr(said, "before any call reported it");
    CHECK(is_said == (async && !looks));
  }
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
  CHECK_TEXT(rg_error(other)->message, "rg_client_write: the buffer belongs to another runtime");
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
    TEST(async ? "threads that tune, read, wait and free, queued"
               : "threads that tune, read, wait and free")
    test_tuner();
    TEST(async ? "mistakes are told, queued" : "mistakes are told") {
      test_mistakes();
      test_tuner_mistakes();
    }
    TEST(async ? "failures that no call reported are warnings at the end, queued"
               : "failures that no call reported are warnings at the end")
    test_unseen(async);
    rg_kernel_release(add);
    rg_kernel_release(slow);
    rg_runtime_destroy(runtime);
  }
  return check_report();
}
