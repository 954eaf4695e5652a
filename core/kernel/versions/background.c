/* background.c - see background.h.
 *
 * Invariants: engine->background lists all compiles, oldest first. A compile has a thread from its
 * start until a caller has joined it, and holds the compiled kernel whose bytes the thread reads,
 * so that the version may be freed meanwhile. `version->job` and `compile->version` refer to each
 * other, or are both NULL. */
#include "kernel/versions/background.h"

#include "base/clock.h"
#include "kernel/compile/compile.h"
#include "thread/job.h"

typedef struct BackgroundCompile {
  struct BackgroundCompile *next;
  Engine *engine;
  Version *version; /* NULL: cancelled */
  CompilePriority priority;
  CompiledKernel *compiled; /* held: the request refers to its bytes */
  RgCodegenRequest request;
  Codegen *codegen; /* the engine's, or the thread's own */
  bool owns_codegen;
  RgCodegenResult *result;
  Error err;
  bool has_started;
  Job *job; /* NULL: there is no thread yet, or it has ended */
} BackgroundCompile;

/* -- threads ----------------------------------------------------------------------------------- */

/* Opening the library takes some time, so a SPARE compile does it in its thread. */
static void run_compile(void *data) {
  BackgroundCompile *compile = data;
  error_clear(&compile->err);
  if (compile->priority == PRIORITY_SPARE) job_defer_to_others(); /* kernels come first */
  if (!compile->codegen) {
    compile->codegen = codegen_open(compile->engine->store->heap, &compile->err);
    compile->owns_codegen = compile->codegen != NULL;
  }
  if (compile->codegen)
    compile->result = codegen_compile(compile->codegen, &compile->request, &compile->err);
}

static bool is_running(const BackgroundCompile *compile) {
  return compile->job && !job_is_done(compile->job);
}

static int running_count(const Engine *engine) {
  int count = 0;
  for (const BackgroundCompile *at = engine->background; at; at = at->next) count += is_running(at);
  return count;
}

static void start_compile(BackgroundCompile *compile, int threads) {
  Engine *engine = compile->engine;
  ASSERT(!compile->has_started, "a compile starts once");
  compile->request.threads = threads;
  if (!compile->codegen) compile->codegen = engine->codegen;
  compile->has_started = true;
  if (compile->version) compile->version->state = VERSION_COMPILING;
  compile->job = job_start(engine->store->heap, run_compile, compile);
  if (!compile->job && compile->priority != PRIORITY_SPARE) run_compile(compile);
}

/* The thread does not exist in a forked child: there, a compile that a caller needs runs now, and
 * others have no result. */
static void join_thread(BackgroundCompile *compile) {
  Job *job = compile->job;
  ASSERT(compile->has_started, "only a compile that has started can be joined");
  compile->job = NULL;
  if (!job || job_join(job)) return;
  if (compile->priority != PRIORITY_SPARE) run_compile(compile);
}

static void wait_for_room(Engine *engine, int most) {
  BackgroundCompile *oldest = engine->background;
  while (running_count(engine) >= most) {
    ASSERT(oldest, "running compiles are in the list");
    join_thread(oldest);
    oldest = oldest->next;
  }
}

/* -- the queue --------------------------------------------------------------------------------- */

static void add_compile(Engine *engine, BackgroundCompile *compile) {
  BackgroundCompile **end = &engine->background;
  while (*end) end = &(*end)->next;
  *end = compile;
}

static void unlink_compile(BackgroundCompile *compile) {
  BackgroundCompile **at = &compile->engine->background;
  while (*at != compile) {
    ASSERT(*at, "a compile is in its engine's list");
    at = &(*at)->next;
  }
  *at = compile->next;
}

/* If the engine has not opened the codegen library, it takes over the one that a thread opened. */
static void discard_compile(BackgroundCompile *compile) {
  Engine *engine = compile->engine;
  ASSERT(!compile->job && !compile->version, "a discarded compile has no user");
  if (compile->codegen) codegen_result_free(compile->codegen, compile->result);
  if (compile->owns_codegen && engine->codegen) codegen_close(compile->codegen);
  else if (compile->owns_codegen) engine->codegen = compile->codegen;
  compiled_release(compile->compiled);
  heap_free(engine->store->heap, compile);
}

static void detach_from_version(BackgroundCompile *compile) {
  if (compile->version) compile->version->job = NULL;
  compile->version = NULL;
}

bool background_start(Version *version, CompilePriority priority) {
  Engine *engine = version_engine(version);
  Heap *heap = engine->store->heap;
  int workers = engine->store->device->worker_count;
  Error ignored;
  error_clear(&ignored);
  ASSERT(!version->job && !version->code, "a version is compiled once");
  if (priority != PRIORITY_SPARE && !engine->codegen)
    engine->codegen = codegen_open(heap, &ignored);
  if (priority != PRIORITY_SPARE && !engine->codegen) return false;
  BackgroundCompile *compile = heap_alloc(heap, sizeof *compile);
  if (!compile) return false;
  const CompiledKernel *compiled = version->compiled;
  ASSERT(compiled->bytes, "a kernel that is compiled has canonical bytes");
  *compile = (BackgroundCompile){
      .engine = engine,
      .version = version,
      .priority = priority,
      .compiled = compiled_hold(version->compiled),
      .request = compile_request(engine, compiled->bytes, compiled->byte_count)};
  if (priority == PRIORITY_SOON) wait_for_room(engine, workers);
  int others = running_count(engine);
  version->job = compile;
  version->state = VERSION_QUEUED;
  add_compile(engine, compile);
  if (priority == PRIORITY_NOW) start_compile(compile, workers);
  else if (priority == PRIORITY_SOON)
    start_compile(compile, workers - others); /* threads that other compiles do not use */
  else if (!others) start_compile(compile, 1);
  return true;
}

/* Publishes a compile that has ended. */
static void publish_compile(BackgroundCompile *compile, Error *err) {
  Version *version = compile->version;
  ASSERT(compile->has_started && !compile->job, "a compile that is published has ended");
  unlink_compile(compile);
  detach_from_version(compile);
  if (!compile->result) *err = compile->err;
  if (version) versions_publish(version, &compile->request, compile->result, err);
  discard_compile(compile);
}

void background_wait(Version *version, Error *err) {
  BackgroundCompile *compile = version->job;
  if (!compile) return;
  double begin = clock_ms();
  Engine *engine = compile->engine;
  bool is_counted = compile->priority == PRIORITY_SOON;
  if (!compile->has_started) {
    wait_for_room(engine, 1);
    start_compile(compile, 1);
  }
  join_thread(compile);
  publish_compile(compile, err);
  if (is_counted) engine->stats.compile_ms += clock_ms() - begin;
}

/* The first compile that a step can publish: it has ended, and no caller will wait for it. */
static BackgroundCompile *find_ended(const Engine *engine) {
  BackgroundCompile *at = engine->background;
  while (at &&
         (!at->has_started || is_running(at) || (at->version && at->priority != PRIORITY_SPARE)))
    at = at->next;
  return at;
}

bool background_poll(Version *version, Error *err) {
  BackgroundCompile *compile = version->job;
  ASSERT(compile && compile->priority == PRIORITY_SPARE,
         "no launch waits for a compile that is polled");
  if (!compile->has_started && !running_count(compile->engine)) start_compile(compile, 1);
  if (!compile->has_started || is_running(compile)) return false;
  join_thread(compile);
  publish_compile(compile, err);
  return true;
}

void background_step(Engine *engine) {
  for (BackgroundCompile *ended; (ended = find_ended(engine));) {
    Error ignored;
    error_clear(&ignored);
    join_thread(ended);
    publish_compile(ended, &ignored);
  }
  BackgroundCompile *queued = engine->background;
  while (queued && queued->has_started) queued = queued->next;
  if (queued && !running_count(engine)) start_compile(queued, 1);
}

void background_cancel(Version *version) {
  BackgroundCompile *compile = version->job;
  if (!compile) return;
  ASSERT(compile->version == version, "a version and its compile refer to each other");
  detach_from_version(compile);
  if (compile->has_started) return; /* LLVM cannot be stopped: background_step discards it */
  unlink_compile(compile);
  discard_compile(compile);
}

bool background_is_idle(const Engine *engine) {
  for (const BackgroundCompile *at = engine->background; at; at = at->next)
    if (!at->has_started || is_running(at)) return false;
  return true;
}

bool background_has_spare(const Engine *engine) {
  for (const BackgroundCompile *at = engine->background; at; at = at->next)
    if (at->priority == PRIORITY_SPARE) return true;
  return false;
}

void background_end(Engine *engine) {
  for (BackgroundCompile *compile; (compile = engine->background);) {
    if (compile->job) (void)job_join(compile->job);
    compile->job = NULL;
    unlink_compile(compile);
    detach_from_version(compile);
    discard_compile(compile);
  }
}
