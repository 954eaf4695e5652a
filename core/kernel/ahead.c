/* ahead.c - see ahead.h. Invariant: engine->makings lists the Making of every variant that has one,
 * oldest first; each has a thread until a caller has waited for it. Decision D-kernel-07. */
#include "kernel/ahead.h"

#include "base/clock.h"
#include "kernel/compile.h"
#include "thread/job.h"

typedef struct Making {
  struct Making *next;
  RgCodegenRequest request; /* refers to the variant's own bytes */
  Codegen *codegen;
  RgCodegenResult *result;
  Error err;
  Job *job; /* NULL: the thread has ended */
} Making;

static void work(void *data) {
  Making *making = data;
  making->result = codegen_compile(making->codegen, &making->request, &making->err);
}

/* A forked child has no thread: then this compiles. */
static void wait_for(Making *making) {
  if (!making->job) return;
  bool has_ended = job_join(making->job);
  making->job = NULL;
  if (!has_ended) work(making);
}

static int under_way(Engine *engine) {
  int count = 0;
  for (Making *making = engine->makings; making; making = making->next)
    count += making->job && !job_is_done(making->job);
  return count;
}

static void wait_for_room(Engine *engine, int most) {
  Making *oldest = engine->makings;
  while (under_way(engine) >= most) {
    while (!oldest->job) oldest = oldest->next;
    wait_for(oldest);
  }
}

/* Starts a thread that compiles the code in parts, on up to `processors` processors. */
static bool start(Engine *engine, Variant *variant, int processors) {
  Heap *heap = engine->store->heap;
  Making *making = heap_alloc(heap, sizeof *making);
  if (!making) return false;
  if (!engine->codegen) engine->codegen = codegen_open(heap, &making->err);
  making->codegen = engine->codegen;
  making->request = compile_request(engine, variant->bytes, variant->byte_count);
  making->request.threads = processors;
  making->job = making->codegen ? job_start(heap, work, making) : NULL;
  if (!making->job) {
    heap_free(heap, making);
    return false;
  }
  Making **end = &engine->makings;
  while (*end) end = &(*end)->next;
  *end = making;
  variant->making = making;
  return true;
}

bool ahead_start(Engine *engine, Variant *variant) {
  int workers = engine->store->device->worker_count;
  wait_for_room(engine, workers);
  /* processors that the other compiles leave */
  return start(engine, variant, workers - under_way(engine));
}

bool ahead_start_beside(Engine *engine, Variant *variant) {
  wait_for_room(engine, 1);
  return start(engine, variant, 1);
}

bool ahead_is_idle(Engine *engine) { return !under_way(engine); }

bool ahead_is_done(const Variant *variant) {
  return !variant->making || !variant->making->job || job_is_done(variant->making->job);
}

static Making *take(Engine *engine, Variant *variant) {
  Making *making = variant->making, **at = &engine->makings;
  wait_for(making);
  while (*at != making) at = &(*at)->next;
  *at = making->next;
  variant->making = NULL;
  return making;
}

static void release(Engine *engine, Making *making) {
  codegen_result_free(making->codegen, making->result);
  heap_free(engine->store->heap, making);
}

bool ahead_finish(Engine *engine, Variant *variant, Error *err) {
  double begin = clock_ms();
  Making *making = take(engine, variant);
  Device *device = engine->store->device;
  if (making->result)
    variant->code = device->table->load(device, making->result->objects, variant->task_count, err);
  else *err = making->err;
  if (variant->code) cache_store(engine->cache, &making->request, making->result->objects);
  release(engine, making);
  engine->stats.compile_ms += clock_ms() - begin;
  return variant->code != NULL;
}

void ahead_drop(Engine *engine, Variant *variant) {
  if (variant->making) release(engine, take(engine, variant));
}
