/* host_test.c - what an embedding program may provide and do: its own job system, control over
 * memory, stopping from any thread; and a runtime leaves the process as it found it. */
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime.h"

static RgKernel *kernel_of(const char *text) {
  RgKernelOptions options = {
      .struct_size = sizeof options, .name = "k", .chunk = "test.c", .first_line = 1};
  RgKernel *kernel = NULL;
  if (rg_kernel_create(rg, text, (int64_t)strlen(text), &options, &kernel))
    check_fail(__FILE__, __LINE__, rg_error(rg)->message);
  return kernel;
}

/* The kernel's free names are `rg.range` and the field x. */
static RgStatus launch(RgKernel *kernel, RgField *x, RgValue *result) {
  RgValue values[8] = {0};
  int count = rg_kernel_path_count(kernel);
  for (int k = 0; k < count; k++) {
    const char *path;
    CHECK(rg_kernel_path(kernel, k, &path, NULL) == 0);
    values[k] = !strcmp(path, "x")
                    ? (RgValue){.kind = RG_VALUE_FIELD, .depth = 1, .field = x}
                    : (RgValue){.kind = RG_VALUE_BUILTIN,
                                .depth = strchr(path, '.') ? 2 : 1,
                                .text = !strcmp(path, "rg.range") ? "rg.range" : "print"};
  }
  return rg_kernel_launch(kernel, values, count, result);
}

static RgField *dense(int64_t size) {
  return place(add(rg_tree_root(new_tree("t")), "dense", "i", size, NULL), "f32", "x");
}

static const char count_up[] =
    "function() for i in rg.range(1000000) do x[i] = x[i] + i end return x[999999] end";

/* -- a job system ------------------------------------------------------------------------------ */

typedef struct Jobs {
  void (*task)(void *data, int32_t worker, int64_t number);
  void *data;
  int64_t count;
  _Atomic int64_t next;
  int calls, first_worker;
  bool forgets;
} Jobs;

typedef struct JobThread {
  Jobs *jobs;
  int worker;
} JobThread;

static void *job_thread(void *argument) {
  JobThread *me = argument;
  for (int64_t k; (k = atomic_fetch_add(&me->jobs->next, 1)) < me->jobs->count;)
    me->jobs->task(me->jobs->data, me->worker, k);
  return NULL;
}

static void run_jobs(void *data, int64_t count, void (*task)(void *, int32_t, int64_t),
                     void *task_data) {
  Jobs *jobs = data;
  JobThread threads[3];
  pthread_t ids[3];
  jobs->task = task, jobs->data = task_data, jobs->count = count - jobs->forgets;
  atomic_store(&jobs->next, 0);
  jobs->calls++;
  for (int w = 0; w < 3; w++) {
    threads[w] = (JobThread){jobs, jobs->first_worker + w};
    pthread_create(&ids[w], NULL, job_thread, &threads[w]);
  }
  for (int w = 0; w < 3; w++) pthread_join(ids[w], NULL);
}

static void start_with(Jobs *jobs, int32_t threads) {
  RgOptions options = {.struct_size = sizeof options,
                       .threads = threads,
                       .memory_bytes = 1 << 28,
                       .no_cache = 1,
                       .run_tasks = run_jobs,
                       .run_tasks_data = jobs};
  RgError error;
  if (rg_runtime_create(&options, &rg, &error)) check_fail(__FILE__, __LINE__, error.message);
}

static void job_systems(void) {
  RgValue result;
  TEST("a host's job system carries the work") {
    Jobs jobs = {0};
    start_with(&jobs, 3);
    CHECK(rg_worker_count(rg) == 3);
    RgField *x = dense(1000000);
    RgKernel *kernel = kernel_of(count_up);
    CHECK(launch(kernel, x, &result) == 0 && result.number == 999999);
    CHECK(launch(kernel, x, &result) == 0 && result.number == 2 * 999999);
    CHECK(jobs.calls >= 2);
    rg_kernel_release(kernel);
    stop();
  }
  TEST(
      "a job system that leaves tasks out, or makes up workers, gets an error, and harms nothing") {
    Jobs jobs = {.forgets = true};
    start_with(&jobs, 3);
    RgField *x = dense(1000000);
    RgKernel *kernel = kernel_of(count_up);
    CHECK_ERROR(launch(kernel, x, &result), "argument.invalid",
                "the host's run_tasks returned before all tasks had run, once each");
    jobs.forgets = false;
    jobs.first_worker = 3;
    static const char begins[] =
        "the host's run_tasks passed a worker or number out of range: worker ";
    CHECK(launch(kernel, x, &result) != 0);
    CHECK(!strncmp(rg_error(rg)->message, begins, sizeof begins - 1));
    jobs.first_worker = 0;
    CHECK(launch(kernel, x, &result) == 0);
    rg_kernel_release(kernel);
    stop();
  }
  TEST("threads of a job system never wait for a compiler in a loop: no baseline code is made") {
    Jobs jobs = {0};
    char text[4000] = "function() for i in rg.range(1000000) do local s = x[i] ";
    for (int k = 0; k < 60; k++) strcat(text, "s = s * 0.5 + 1 / (s + 1) ");
    strcat(text, "x[i] = s - s + i end return x[999999] end");
    setenv("RG_QUICK", "always", 1);
    start_with(&jobs, 3);
    RgField *x = dense(1000000);
    RgKernel *kernel = kernel_of(text);
    for (int turn = 0; turn < 2; turn++)
      CHECK(launch(kernel, x, &result) == 0 && result.number == 999999);
    CHECK(jobs.calls >= 2 && rg_quick(rg, NULL) == 0);
    rg_kernel_release(kernel);
    stop();
    start(1 << 26, 2);
    x = dense(1000000);
    kernel = kernel_of(text);
    CHECK(launch(kernel, x, &result) == 0 && result.number == 999999);
    CHECK(rg_quick(rg, NULL) == 1);
    rg_kernel_release(kernel);
    stop();
    unsetenv("RG_QUICK");
  }
  TEST("a job system states its number of workers") {
    Jobs jobs = {0};
    RgOptions options = {
        .struct_size = sizeof options, .run_tasks = run_jobs, .run_tasks_data = &jobs};
    RgError error;
    CHECK(rg_runtime_create(&options, &rg, &error) != 0);
    CHECK_TEXT(error.message, "run_tasks needs the number of workers: set threads");
  }
}

/* -- memory ------------------------------------------------------------------------------------ */

static uint64_t allow(void *data, uint64_t bytes) {
  uint64_t *most = data;
  return bytes <= *most ? bytes : 0;
}

static void memory(void) {
  TEST("a host's function may raise the budget as far as it likes") {
    uint64_t most = 8 << 20;
    start(1 << 20, 1);
    rg_on_memory(rg, allow, &most);
    RgField *x = place(add(add(rg_tree_root(new_tree("t")), "pointer", "i", 4096, "block"), "dense",
                           "i", 1024, NULL),
                       "f32", "x");
    RgStatus status = 0;
    RgValue one = number(1);
    int64_t made = 0;
    for (; !status && made < 4096; made++)
      status = rg_field_set(x, (int64_t[]){made * 1024}, 1, &one);
    CHECK(status != 0 && made > 1024 && made < 2048);
    CHECK_TEXT(rg_error(rg)->code, "memory.budget");
    RgField *y = place(add(rg_tree_root(new_tree("u")), "dense", "i", 1 << 20, NULL), "f32", "y");
    CHECK(rg_field_settle(y, "here") != 0);
    most = 64 << 20;
    CHECK(rg_field_settle(y, "here") == 0);
    stop();
  }
}

/* -- lines ------------------------------------------------------------------------------------- */

static void join_line(void *data, const char *line, int64_t length) {
  CHECK((int64_t)strlen(line) == length);
  strcat(strcat(data, line), ";");
}

static void lines(void) {
  char text[100] = "";
  RgValue result;
  TEST("output of kernels goes to the host's function") {
    start(1 << 20, 2);
    RgKernel *kernel = kernel_of("function() for i in rg.range(3) do print(i, x[i]) end end");
    RgField *x = dense(4);
    rg_on_print(rg, join_line, text);
    set(x, 1, 0, 1, 2.5);
    CHECK(launch(kernel, x, &result) == 0);
    CHECK_TEXT(text, "0\t0;1\t2.5;2\t0;");
    rg_on_print(rg, NULL, NULL);
    const int32_t *count;
    int64_t length;
    CHECK(rg_keep_lines(rg, &count) == 0 && *count == 0);
    CHECK(launch(kernel, x, &result) == 0 && *count == 3);
    CHECK_TEXT(rg_next_line(rg, &length), "0\t0");
    CHECK(length == 3 && launch(kernel, x, &result) == 0 && *count == 5);
    CHECK_TEXT(rg_next_line(rg, NULL), "1\t2.5");
    for (int k = 0; k < 4; k++) CHECK(rg_next_line(rg, NULL) != NULL);
    CHECK(*count == 0 && rg_next_line(rg, NULL) == NULL);
    rg_kernel_release(kernel);
    stop();
  }
}

/* -- a host's function that calls the runtime that called it ----------------------------------*/

typedef struct Caller {
  RgField *field;
  RgRuntime *ends; /* to be destroyed, too */
  RgStatus status;
  char message[100];
} Caller;

static uint64_t call_again(void *data, uint64_t bytes) {
  Caller *caller = data;
  RgValue value = number(7);
  (void)bytes;
  caller->status = rg_field_get(caller->field, (int64_t[]){0}, 1, &value);
  snprintf(caller->message, sizeof caller->message, "%s", rg_error(rg)->message);
  if (caller->ends) rg_runtime_destroy(caller->ends);
  return 0;
}

static void calling_again(void) {
  Caller caller = {0};
  TEST("a call from within a call is refused, and the outer one keeps its own error") {
    start(1 << 20, 1);
    caller.field = dense(8);
    set(caller.field, 1, 0, 1, 4);
    rg_on_memory(rg, call_again, &caller);
    RgSNode *root = rg_tree_root(new_tree("u"));
    RgField *big = place(add(root, "dense", "i", 1 << 20, NULL), "f32", "y");
    CHECK(rg_field_settle(big, "here") != 0);
    CHECK_TEXT(rg_error(rg)->code, "memory.budget");
    CHECK(caller.status != 0);
    CHECK_TEXT(caller.message, "the runtime is in use by the call that called this function");
    CHECK(get(caller.field, 1, 0, 1) == 4);
  }
  TEST("a runtime destroyed from within a call ends after it") {
    caller.ends = rg;
    RgSNode *root = rg_tree_root(new_tree("v"));
    RgField *big = place(add(root, "dense", "i", 1 << 20, NULL), "f32", "y");
    CHECK(rg_field_settle(big, "here") != 0);
    RgValue value;
    CHECK_ERROR(rg_field_get(caller.field, (int64_t[]){0}, 1, &value), "handle.destroyed",
                "the runtime of this handle has ended");
    stop();
  }
}

/* A job system whose first thread ends the runtime in the middle of a launch: within a task, or
 * before it has one. */
typedef struct EndingJobs {
  Jobs jobs;
  bool within_a_task;
  RgRuntime *ends;
} EndingJobs;

static EndingJobs *ending;

static void end_in_task(void *data, int32_t worker, int64_t number) {
  Jobs *jobs = data;
  if (!number) rg_runtime_destroy(ending->ends);
  jobs->task(jobs->data, worker, number);
}

static void *end_in_thread(void *jobs) {
  EndingJobs *mine = jobs;
  if (!mine->within_a_task) rg_runtime_destroy(mine->ends);
  return NULL;
}

static void run_ending_jobs(void *data, int64_t count, void (*task)(void *, int32_t, int64_t),
                            void *task_data) {
  EndingJobs *mine = ending = data;
  pthread_t thread;
  pthread_create(&thread, NULL, end_in_thread, mine);
  pthread_join(thread, NULL);
  if (!mine->within_a_task) {
    run_jobs(&mine->jobs, count, task, task_data);
    return;
  }
  Jobs inner = {.task = task, .data = task_data};
  run_jobs(&mine->jobs, count, end_in_task, &inner);
}

/* In a thread of ours: on_memory is asked by whichever worker needs more. */
static uint64_t end_when_asked(void *data, uint64_t bytes) {
  (void)bytes;
  rg_runtime_destroy(data);
  return 0;
}

static void ending_within(void) {
  RgValue result;
  for (int within = 0; within < 2; within++)
    TEST("a thread of the host's job system may end the runtime: it ends with the launch") {
      EndingJobs jobs = {.within_a_task = within};
      RgOptions options = {.struct_size = sizeof options,
                           .threads = 3,
                           .memory_bytes = 1 << 28,
                           .no_cache = 1,
                           .run_tasks = run_ending_jobs,
                           .run_tasks_data = &jobs};
      CHECK(rg_runtime_create(&options, &rg, NULL) == 0);
      jobs.ends = rg;
      RgField *x = dense(1000000);
      RgKernel *kernel = kernel_of(count_up);
      CHECK(launch(kernel, x, &result) == 0 && result.number == 999999);
      RgValue value;
      CHECK_ERROR(rg_field_get(x, (int64_t[]){0}, 1, &value), "handle.destroyed",
                  "the runtime of this handle has ended");
      rg_kernel_release(kernel);
      rg = NULL;
      stop();
    }
  TEST("a function that a worker calls may end the runtime") {
    start(4 << 20, 2);
    RgField *x = place(add(add(rg_tree_root(new_tree("t")), "pointer", "i", 4096, "block"), "dense",
                           "i", 1024, NULL),
                       "f32", "x");
    rg_on_memory(rg, end_when_asked, rg);
    RgKernel *kernel = kernel_of("function() for i in rg.range(4194304) do x[i] = i end end");
    CHECK(launch(kernel, x, &result) != 0);
    RgValue value;
    CHECK_ERROR(rg_field_get(x, (int64_t[]){0}, 1, &value), "handle.destroyed",
                "the runtime of this handle has ended");
    rg_kernel_release(kernel);
    rg = NULL;
    stop();
  }
}

/* -- failed assertions ------------------------------------------------------------------------- */

static void assertions(void) {
  static const struct {
    const char *where, *begins;
  } cases[] = {
      {"fail_assert_in_compile", "internal error at core/kernel/compile/compile.c:"},
      {"fail_assert_in_launch", "internal error at core/kernel/launch/launch.c:"},
      {"fail_assert_in_task", "internal error at core/device/cpu_launch.c:"},
      {"fail_assert_in_task", "internal error at core/device/cpu_launch.c:"},
  };
  for (int k = 0; k < 4; k++)
    TEST("a failed assertion is an error of its call, and the runtime stays usable") {
      RgValue result;
      Jobs jobs = {0};
      setenv("RG_STRESS", cases[k].where, 1);
      if (k < 3) start(1 << 28, 3);
      else start_with(&jobs, 3); /* a thread of the host's */
      unsetenv("RG_STRESS");
      RgField *x = dense(1000000);
      RgKernel *kernel = kernel_of(count_up);
      CHECK(launch(kernel, x, &result) != 0);
      CHECK_TEXT(rg_error(rg)->code, "internal");
      const char *said = rg_error(rg)->message;
      if (strncmp(said, cases[k].begins, strlen(cases[k].begins)) != 0)
        CHECK_TEXT(said, cases[k].begins);
      CHECK(strstr(rg_error(rg)->hint, "please report it") != NULL);
      CHECK(rg_stop(rg) == 0);
      RgValue zero = number(0);
      CHECK(rg_field_fill(x, &zero) == 0);
      CHECK(launch(kernel, x, &result) == 0 && result.number == 999999);
      rg_kernel_release(kernel);
      stop();
    }
}

/* -- stopping ---------------------------------------------------------------------------------- */

static atomic_bool is_stopped;

static void *stop_soon(void *runtime) {
  while (!is_stopped) {
    usleep(10000);
    rg_stop(runtime); /* again: the launch may not have begun */
  }
  return NULL;
}

static int stopped; /* what rg_stop returned */

static void stop_when_warned(void *runtime, const char *text) {
  (void)text;
  stopped = rg_stop(runtime);
}

static void stopping(void) {
  TEST("a launch that is stopped while its kernel is compiled fails, and writes nothing") {
    start(1 << 24, 2);
    RgField *x = dense(16);
    rg_on_warning(rg, stop_when_warned, rg); /* of a race, which the compile sees */
    RgKernel *kernel = kernel_of("function() for i in rg.range(15) do x[0] = 7 - x[0] end end");
    RgValue result;
    stopped = -1;
    CHECK_ERROR(launch(kernel, x, &result), "launch.stopped", "a launch of kernel 'k' was stopped");
    CHECK_INT(stopped, 1);
    CHECK(get(x, 0, 0, 1) == 0 && rg_stop(rg) == 0);
    CHECK(launch(kernel, x, &result) == 0 && get(x, 0, 0, 1) > 0);
    rg_kernel_release(kernel);
    stop();
  }
  static const char *const endless[] = {
      "function() local k = 0 while k >= 0 do k = x[0] > 5 ? -1 : 1 end end",
      "function() for i in rg.range(4) do while x[i] < 5 do x[i] = x[i] * 1 end end end"};
  for (int k = 0; k < 2; k++)
    TEST("a launch without an end is stopped from another thread, and the runtime goes on") {
      start(1 << 24, 2);
      RgField *x = dense(16);
      RgKernel *kernel = kernel_of(endless[k]);
      pthread_t thread;
      RgValue result;
      CHECK(rg_stop(rg) == 0); /* nothing runs: nothing happens */
      is_stopped = false;
      pthread_create(&thread, NULL, stop_soon, rg);
      CHECK_ERROR(launch(kernel, x, &result), "launch.stopped",
                  "a launch of kernel 'k' was stopped");
      is_stopped = true;
      pthread_join(thread, NULL);
      for (int64_t i = 0; i < 16; i++) set(x, i, 0, 1, 9);
      CHECK(launch(kernel, x, &result) == 0);
      rg_kernel_release(kernel);
      stop();
    }
}

/* -- the process ------------------------------------------------------------------------------- */

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static bool same_handlers(const struct sigaction before[32]) {
  for (int s = 1; s < 32; s++) {
    struct sigaction now;
    if (!sigaction(s, NULL, &now) && now.sa_handler != before[s].sa_handler) return false;
  }
  return true;
}

static void process(void) {
  RgValue result;
  TEST("a runtime leaves signal handlers, rounding, locale and signal mask as they were, and idles "
       "without work") {
    struct sigaction before[32] = {0};
    sigset_t mask, mask_after;
    for (int s = 1; s < 32; s++) sigaction(s, NULL, &before[s]);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    fesetround(FE_UPWARD);
    start(1 << 24, 4);
    RgKernel *kernel = kernel_of(count_up);
    RgField *x = dense(1000000);
    CHECK(launch(kernel, x, &result) == 0);
    CHECK(fegetround() == FE_UPWARD);
    fesetround(FE_TONEAREST);
    CHECK(same_handlers(before));
    CHECK_TEXT(setlocale(LC_ALL, NULL), "C");
    pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
    for (int s = 1; s < 32; s++) CHECK(sigismember(&mask, s) == sigismember(&mask_after, s));
    double used = 1; /* workers spin for a moment before they sleep */
    for (int k = 0; k < 3000 && used >= 0.02; k++) {
      double before = cpu_seconds();
      usleep(200000);
      used = cpu_seconds() - before;
    }
    CHECK(used < 0.02);
    rg_kernel_release(kernel);
    stop();
  }
  TEST("two runtimes in two threads are independent") {
    start(1 << 24, 2);
    RgRuntime *first = rg;
    RgField *x = dense(8);
    RgRuntime *second = NULL;
    RgOptions options = {
        .struct_size = sizeof options, .threads = 2, .memory_bytes = 1 << 24, .no_cache = 1};
    RgError error;
    CHECK(rg_runtime_create(&options, &second, &error) == 0 && second != first);
    RgTree *tree = NULL;
    RgField *y = NULL;
    CHECK(rg_tree_create(second, "other", &tree) == 0 &&
          rg_field_create(second, "f32", "y", &y) == 0);
    CHECK(rg_snode_place(rg_tree_root(new_tree("mine")), y) != 0);
    set(x, 1, 0, 1, 4);
    CHECK(get(x, 1, 0, 1) == 4);
    rg_field_release(y);
    rg_tree_release(tree);
    rg_runtime_destroy(second);
    stop();
  }
}

int main(void) {
  job_systems();
  memory();
  lines();
  calling_again();
  ending_within();
  assertions();
  stopping();
  process();
  return check_report();
}
