/* queue.c - see queue.h. */
#include "server/queue.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "thread/futex.h"

enum { SPINS = 2000 };

static _Thread_local const Queue *queue_of_thread; /* the queue whose record this thread runs */

bool queue_is_running(const Queue *queue) { return queue_of_thread == queue; }

/* -- running ----------------------------------------------------------------------------------- */

static Record *record_at(const Stream *stream, uint64_t cursor) {
  return &stream->records[cursor % QUEUE_RECORDS];
}

static bool may_run(Queue *queue, const Record *record) {
  for (int32_t k = 0; k < MEMORY_STREAMS; k++)
    if (record->wait[k] && !queue_is_done(queue, k, record->wait[k])) return false;
  return true;
}

/* The next record that may run; NULL if there is none now. */
static Record *next_record(Queue *queue, int32_t *number, uint64_t *cursor) {
  for (int32_t k = 0; k < MEMORY_STREAMS; k++) {
    *number = (queue->next_stream + k) % MEMORY_STREAMS;
    Stream *stream = &queue->streams[*number];
    *cursor = atomic_load_explicit(&stream->completed, memory_order_relaxed) + 1;
    if (atomic_load(&stream->submitted) < *cursor) continue;
    Record *record = record_at(stream, *cursor);
    if (may_run(queue, record)) return record;
  }
  return NULL;
}

/* Is any record left? Only the consumer finds out whether it may run. */
static bool has_work(Queue *queue) { return !queue_is_idle(queue); }

typedef struct LaunchCall {
  Queue *queue;
  DeviceLaunch *launch;
} LaunchCall;

static bool run_launch(void *data, Error *err) {
  LaunchCall *call = data;
  return call->queue->inner->launch(call->queue->device, call->launch, err);
}

/* Copies the launch's messages, as the device's buffer is valid only until its next launch. */
static void copy_messages(Queue *queue, Record *record) {
  DeviceLaunch *launch = &record->launch;
  size_t size = sizeof *launch->messages * launch->message_words;
  if (!size) return;
  record->messages = heap_alloc(queue->device->heap, size);
  if (record->messages) memcpy(record->messages, launch->messages, size);
  else launch->message_words = 0;
  launch->messages = record->messages;
}

static void run_launch_record(Queue *queue, Record *record, bool is_stopped) {
  LaunchCall call = {queue, &record->launch};
  RtContext *context = &record->launch.context;
  if (is_stopped) {
    context->error = (RtError){.kind = RT_ERROR_STOPPED};
    record->has_failed = true;
    return;
  }
  atomic_store(&queue->running, context);
  bool ok = guard_run(run_launch, &call, &record->err);
  atomic_store(&queue->running, NULL);
  record->has_failed = !ok || context->error.kind != RT_OK;
  copy_messages(queue, record);
}

static void run_record(Queue *queue, int32_t number, uint64_t cursor, Record *record) {
  Stream *stream = &queue->streams[number];
  record->is_skipped = record->epoch <= atomic_load(&stream->broken);
  if (!record->is_skipped && record->kind == RECORD_COPY)
    memcpy(record->to, record->from, record->size_bytes);
  if (!record->is_skipped && record->kind == RECORD_LAUNCH)
    run_launch_record(queue, record, cursor <= atomic_load(&stream->stopped));
  if (record->has_failed) atomic_store(&stream->broken, record->epoch);
  queue->next_stream = (number + 1) % MEMORY_STREAMS;
  atomic_store(&stream->completed, cursor);
  if (!atomic_load(&queue->waiters)) return;
  atomic_fetch_add(&queue->done, 1);
  futex_wake_all(&queue->done);
}

/* Runs a record as the consumer. False if none may run, or another thread is the consumer. */
static bool run_next(Queue *queue) {
  int32_t stream;
  uint64_t cursor;
  bool has_run = false;
  if (!has_work(queue) || atomic_exchange(&queue->is_taken, true)) return false;
  const Queue *outer = queue_of_thread;
  queue_of_thread = queue;
  Record *record = next_record(queue, &stream, &cursor);
  if (record) {
    run_record(queue, stream, cursor, record);
    has_run = true;
  }
  queue_of_thread = outer;
  atomic_store(&queue->is_taken, false);
  return has_run;
}

/* -- the thread -------------------------------------------------------------------------------- */

static bool has_spun(Queue *queue, uint32_t seen) {
  for (int k = 0; k < SPINS; k++) {
    if (atomic_load_explicit(&queue->work, memory_order_relaxed) != seen) return false;
    pause_briefly();
  }
  return true;
}

static void serve(void *data) {
  Queue *queue = data;
  for (;;) {
    uint32_t seen = atomic_load(&queue->work);
    if (run_next(queue)) continue;
    if (atomic_load(&queue->ends)) return;
    if (!has_spun(queue, seen)) continue;
    atomic_store(&queue->sleeps, true);
    if (atomic_load(&queue->work) == seen) futex_wait(&queue->work, seen);
    atomic_store(&queue->sleeps, false);
  }
}

static void wake_thread(Queue *queue) {
  atomic_fetch_add(&queue->work, 1);
  if (atomic_load(&queue->sleeps)) futex_wake_all(&queue->work);
}

void queue_init(Queue *queue, Device *device, const DeviceTable *inner) {
  *queue = (Queue){.device = device, .inner = inner, .process = getpid()};
  for (int k = 0; k < MEMORY_STREAMS; k++) queue->streams[k].epoch = 1;
}

void queue_deinit(Queue *queue) {
  queue_wait_all(queue);
  if (queue->thread) {
    atomic_store(&queue->ends, true);
    wake_thread(queue);
    job_join(queue->thread);
  }
  for (int k = 0; k < MEMORY_STREAMS; k++)
    heap_free(queue->device->heap, queue->streams[k].records);
  *queue = (Queue){0};
}

/* -- submitting -------------------------------------------------------------------------------- */

void queue_release(Queue *queue, int32_t number) {
  Stream *stream = &queue->streams[number];
  while (queue_is_done(queue, number, stream->released + 1)) {
    Record *record = record_at(stream, stream->released + 1);
    if (!record->is_reported) return;
    heap_free(queue->device->heap, record->messages);
    record->messages = NULL;
    stream->released++;
  }
}

Record *queue_claim(Queue *queue, int32_t number) {
  Stream *stream = &queue->streams[number];
  uint64_t cursor = atomic_load_explicit(&stream->submitted, memory_order_relaxed) + 1;
  if (!stream->records)
    stream->records = heap_alloc(queue->device->heap, sizeof(Record) * QUEUE_RECORDS);
  if (!stream->records) return NULL;
  if (cursor - stream->released > QUEUE_RECORDS - 1) queue_release(queue, number);
  if (cursor - stream->released > QUEUE_RECORDS - 1) return NULL;
  Record *record = record_at(stream, cursor);
  memset(record->wait, 0, sizeof record->wait);
  record->is_reported = record->has_failed = record->is_skipped = false;
  record->messages = NULL;
  if (error_is_set(&record->err)) error_clear(&record->err);
  record->epoch = stream->epoch;
  return record;
}

/* If no thread can be started, work runs when a caller waits for it. */
uint64_t queue_submit(Queue *queue, int32_t number) {
  Stream *stream = &queue->streams[number];
  uint64_t cursor = atomic_load_explicit(&stream->submitted, memory_order_relaxed) + 1;
  if (!queue->thread) queue->thread = job_start(queue->device->heap, serve, queue);
  atomic_store(&stream->submitted, cursor);
  wake_thread(queue);
  return cursor;
}

Record *queue_record(Queue *queue, int32_t stream, uint64_t cursor) {
  return record_at(&queue->streams[stream], cursor);
}

/* -- waiting ----------------------------------------------------------------------------------- */

/* A forked child has no other threads: no consumer is left. */
static void reset_after_fork(Queue *queue) {
  queue->process = getpid();
  atomic_store(&queue->is_taken, false);
}

static void wait_briefly(Queue *queue, int32_t stream, uint64_t cursor) {
  for (int k = 0; k < SPINS; k++) {
    if (queue_is_done(queue, stream, cursor)) return;
    pause_briefly();
  }
  if (queue->process != getpid()) reset_after_fork(queue);
  atomic_fetch_add(&queue->waiters, 1);
  uint32_t seen = atomic_load(&queue->done);
  if (atomic_load(&queue->streams[stream].completed) < cursor && atomic_load(&queue->is_taken))
    futex_wait(&queue->done, seen);
  atomic_fetch_sub(&queue->waiters, 1);
}

void queue_wait(Queue *queue, int32_t stream, uint64_t cursor) {
  if (queue_is_running(queue)) return; /* a record does not wait for itself */
  while (!queue_is_done(queue, stream, cursor))
    if (!run_next(queue)) wait_briefly(queue, stream, cursor);
}

void queue_wait_all(Queue *queue) {
  for (int32_t k = 0; k < MEMORY_STREAMS; k++) queue_wait(queue, k, queue->streams[k].submitted);
}

bool queue_is_idle(Queue *queue) {
  for (int32_t k = 0; k < MEMORY_STREAMS; k++)
    if (!queue_is_done(queue, k, atomic_load(&queue->streams[k].submitted))) return false;
  return true;
}

bool queue_stop(Queue *queue) {
  RtContext *running = atomic_load(&queue->running);
  if (queue_is_idle(queue)) return false;
  for (int32_t k = 0; k < MEMORY_STREAMS; k++)
    atomic_store(&queue->streams[k].stopped, atomic_load(&queue->streams[k].submitted));
  if (running) __atomic_store_n(&running->stop, 1, __ATOMIC_RELAXED);
  return true;
}
