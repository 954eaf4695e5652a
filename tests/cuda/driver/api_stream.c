/* api_stream.c - streams are queues: work is executed when a call waits for it, and some of it
 * earlier, depending on the seed. So a host that does not wait where it must sees old bytes, and
 * one that changes a pinned buffer too early sends wrong ones. */
#include "api.h"

#include <stdlib.h>

static struct {
  Stream **at;
  uint32_t count, room;
} streams;
static Stream null_stream = {.is_open = true, .is_blocking = true};
static uint64_t random_state;

bool stream_is_known(void *handle) {
  if ((uintptr_t)handle <= 2) return true; /* the default ones: legacy, per thread */
  for (uint32_t i = 0; i < streams.count; i++)
    if (streams.at[i] == handle && streams.at[i]->is_open) return true;
  return false;
}
Stream *stream_of(void *handle) { return (uintptr_t)handle <= 2 ? &null_stream : handle; }

bool stream_is_capturing(void) {
  for (uint32_t i = 0; i < streams.count; i++)
    if (streams.at[i]->capture) return true;
  return false;
}

static int run_next(Stream *stream) {
  Work work = stream->queue.at[stream->done++];
  int result = work_run(&work);
  work_free(&work);
  if (stream->done == stream->queue.count) {
    stream->passed += stream->done;
    stream->done = stream->queue.count = 0;
  }
  return result ? api_lose(result) : CUDA_SUCCESS;
}

int stream_wait(Stream *stream, uint64_t end) {
  Context *context = api_context();
  while (stream->queue.count > stream->done && stream->passed + stream->done < end) {
    int result = run_next(stream);
    if (result) return result;
  }
  return context ? context->result : CUDA_SUCCESS;
}

int stream_drain(Stream *stream) { return stream_wait(stream, UINT64_MAX); }

int stream_drain_all(void) {
  int result = stream_drain(&null_stream);
  for (uint32_t i = 0; i < streams.count && !result; i++) result = stream_drain(streams.at[i]);
  return result;
}

uint64_t stream_length(const Stream *stream) { return stream->passed + stream->queue.count; }

void stream_end_capture(const Graph *graph) {
  for (uint32_t i = 0; i < streams.count; i++)
    if (streams.at[i]->capture == graph) streams.at[i]->capture = NULL;
}

static void forget_queue(Stream *stream) {
  while (stream->done < stream->queue.count) work_free(&stream->queue.at[stream->done++]);
  stream->passed += stream->done;
  stream->done = stream->queue.count = 0;
}

void stream_end_all(void) {
  forget_queue(&null_stream);
  for (uint32_t i = 0; i < streams.count; i++) {
    forget_queue(streams.at[i]);
    streams.at[i]->is_open = false;
  }
}

static int drain_blocking(void) {
  int result = CUDA_SUCCESS;
  for (uint32_t i = 0; i < streams.count && !result; i++)
    if (streams.at[i]->is_blocking) result = stream_drain(streams.at[i]);
  return result;
}

int stream_add(void *handle, Work work) {
  if (!stream_is_known(handle)) {
    work_free(&work);
    return CUDA_ERROR_INVALID_HANDLE;
  }
  Stream *stream = stream_of(handle);
  if (stream->capture) {
    PUSH(stream->capture->works, work);
    return CUDA_SUCCESS;
  }
  if (stream == &null_stream) {
    for (uint32_t i = 0; i < streams.count; i++)
      if (streams.at[i]->capture && streams.at[i]->is_blocking) {
        work_free(&work);
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
      }
    int result = drain_blocking();
    if (result) return result;
  }
  PUSH(stream->queue, work);
  if (options.eager || stream == &null_stream) return stream_drain(stream);
  if (!random_state) random_state = (uint64_t)options.seed * 77;
  if (random_next(&random_state) % 4) return CUDA_SUCCESS;
  uint32_t other = (uint32_t)(random_next(&random_state) % streams.count);
  if (streams.at[other]->queue.count > streams.at[other]->done) run_next(streams.at[other]);
  return CUDA_SUCCESS; /* an error is reported by the next call that waits */
}

EXPORT int cuStreamCreate(Stream **stream, unsigned flags) {
  ENTER("create a stream");
  READY();
  if (!stream || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  *stream = calloc(1, sizeof **stream);
  if (!*stream) return CUDA_ERROR_OUT_OF_MEMORY;
  (*stream)->is_open = true;
  (*stream)->is_blocking = !flags;
  PUSH(streams, *stream);
  return CUDA_SUCCESS;
}
EXPORT int cuStreamCreateWithPriority(Stream **stream, unsigned flags, int priority) {
  return cuStreamCreate(stream, flags);
}
/* Queued work is still executed. */
EXPORT int cuStreamDestroy_v2(Stream *stream) {
  ENTER("destroy a stream");
  if ((uintptr_t)stream <= 2 || !stream_is_known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  Context *context = api_context();
  if (context && !context->result) stream_drain(stream);
  stream->is_open = false;
  return CUDA_SUCCESS;
}
EXPORT int cuStreamSynchronize(void *handle) {
  ENTER("wait for a stream");
  READY();
  if (!stream_is_known(handle)) return CUDA_ERROR_INVALID_HANDLE;
  if (stream_of(handle)->capture) {
    stream_of(handle)->capture->is_broken = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (stream_of(handle) == &null_stream) {
    int result = drain_blocking();
    if (result) return result;
  }
  return stream_drain(stream_of(handle));
}
EXPORT int cuStreamQuery(void *handle) {
  ENTER("ask a stream");
  READY();
  if (!stream_is_known(handle)) return CUDA_ERROR_INVALID_HANDLE;
  Stream *stream = stream_of(handle);
  if (stream->queue.count > stream->done) { /* polling makes progress */
    int result = run_next(stream);
    return result ? result : CUDA_ERROR_NOT_READY;
  }
  return CUDA_SUCCESS;
}
