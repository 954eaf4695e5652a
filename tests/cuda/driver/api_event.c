/* api_event.c - events: a position in a stream, reached when all work before it has finished. Time
 * advances with the instructions of launches. */
#include "api.h"

#include <stdlib.h>

typedef struct Event {
  Stream *stream;   /* of the last record */
  uint64_t at;      /* the length of the stream then, with this record */
  uint64_t reached; /* the time */
  struct Graph *capture;
  bool is_open, is_recorded;
} Event;

static uint64_t time_so_far = 1;
void event_time_passes(uint64_t instructions) { time_so_far += instructions; }

/* Work that runs at the event's position. The struct outlives its destruction: it may be queued. */
static void reach(void *event) { ((Event *)event)->reached = time_so_far; }

static bool is_reached(const Event *event) {
  return !event->is_recorded || event->stream->passed + event->stream->done >= event->at;
}

EXPORT int cuEventCreate(Event **event, unsigned flags) {
  ENTER("create an event");
  READY();
  if (!event) return CUDA_ERROR_INVALID_VALUE;
  *event = calloc(1, sizeof **event);
  if (!*event) return CUDA_ERROR_OUT_OF_MEMORY;
  (*event)->is_open = true;
  return CUDA_SUCCESS;
}
EXPORT int cuEventDestroy_v2(Event *event) {
  ENTER("destroy an event");
  if (!event || !event->is_open) return CUDA_ERROR_INVALID_HANDLE;
  event->is_open = false;
  return CUDA_SUCCESS;
}
EXPORT int cuEventRecord(Event *event, void *stream) {
  ENTER("record an event");
  READY();
  if (!event || !event->is_open || !stream_is_known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  Stream *of = stream_of(stream);
  event->capture = of->capture;
  event->stream = of;
  int result = stream_add(stream, (Work){.kind = WORK_HOST, .to = (uintptr_t)event, .call = reach});
  if (result || of->capture) return result;
  event->at = stream_length(of);
  event->is_recorded = true;
  return CUDA_SUCCESS;
}
EXPORT int cuEventQuery(Event *event) {
  ENTER("ask an event");
  READY();
  if (!event || !event->is_open) return CUDA_ERROR_INVALID_HANDLE;
  if (is_reached(event)) return CUDA_SUCCESS;
  int result = stream_wait(event->stream, event->stream->passed + event->stream->done + 1);
  return result ? result : CUDA_ERROR_NOT_READY; /* polling makes progress */
}
EXPORT int cuEventSynchronize(Event *event) {
  ENTER("wait for an event");
  READY();
  if (!event || !event->is_open) return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return event->is_recorded ? stream_wait(event->stream, event->at) : CUDA_SUCCESS;
}
EXPORT int cuEventElapsedTime(float *milliseconds, Event *from, Event *to) {
  ENTER("time between events");
  READY();
  if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
  if (!from || !to || !from->is_recorded || !to->is_recorded) return CUDA_ERROR_INVALID_HANDLE;
  if (!is_reached(from) || !is_reached(to)) return CUDA_ERROR_NOT_READY;
  *milliseconds = (float)((double)(to->reached - from->reached) * 1e-6);
  return CUDA_SUCCESS;
}
/* A stream that waits for a captured stream is captured, too. */
EXPORT int cuStreamWaitEvent(void *stream, Event *event, unsigned flags) {
  ENTER("a stream waits for an event");
  READY();
  if (!event || !event->is_open || !stream_is_known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture) {
    if (stream_of(stream)->capture && stream_of(stream)->capture != event->capture)
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    stream_of(stream)->capture = event->capture;
    return CUDA_SUCCESS;
  }
  if (!event->is_recorded || event->stream == stream_of(stream)) return CUDA_SUCCESS;
  return stream_add(stream, (Work){.kind = WORK_WAIT, .stream = event->stream, .size = event->at});
}
EXPORT int cuLaunchHostFunc(void *stream, void (*call)(void *), void *data) {
  ENTER("queue a call of the host");
  READY();
  if (!call) return CUDA_ERROR_INVALID_VALUE;
  return stream_add(stream, (Work){.kind = WORK_HOST, .to = (uintptr_t)data, .call = call});
}
