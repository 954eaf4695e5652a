/* stream.c - the GPU's streams: work on one stream runs in order, and concurrently with other
 * streams. All work is queued on the current stream: that of the running launch, else the one whose
 * work the host examines, else 0.
 *
 *     tree's last use (stream 2, launch 7) --cuda_join, on stream 1--> event after all of stream 2
 *                                                          so far, for which stream 1 waits
 *
 * So shared data is used in the order of the calls, and other work never waits. For each other
 * stream, a stream records the last launch that it already waits for, and never waits twice. Memory
 * is freed, and code unloaded, when all streams are idle; a copy (copies.c) is freed when the
 * stream of its last use is idle, as each use waits for the previous one. */
#include "device/cuda/cuda.h"

enum { NON_BLOCKING = 1, WITHOUT_TIME = 2 };

static bool is_open(const CudaStream *stream) { return stream->handle; }

static void switch_to(CudaDevice *cuda, int32_t number) {
  cuda->number = number;
  cuda->now = &cuda->streams[number];
  cuda->stream = cuda->now->handle;
}

/* Waits for all work so far, so that the new stream need not join it. */
static bool open_stream(CudaDevice *cuda, int32_t number, Error *err) {
  const Driver *driver = &cuda->driver;
  CudaStream *stream = &cuda->streams[number];
  if (cuda->open_streams && !cuda_wait_all(cuda, err)) return false;
  if (!cuda_check(cuda, driver->cuStreamCreate(&stream->handle, NON_BLOCKING), "queue work", err))
    return false;
  if (!cuda_check(cuda, driver->cuEventCreate(&stream->event, WITHOUT_TIME), "queue work", err)) {
    driver->cuStreamDestroy_v2(stream->handle);
    stream->handle = NULL; /* it is not open: the next use tries again */
    return false;
  }
  ASSERT(cuda->open_streams < CUDA_STREAMS, "each stream is opened once");
  stream->last = -1;
  cuda->open_streams++;
  return true;
}

bool cuda_select(CudaDevice *cuda, int32_t number, Error *err) {
  ASSERT(number >= 0 && number < CUDA_STREAMS, "the API has checked the stream's number");
  if (cuda->number != number && !cuda_repeat_end(cuda, err)) return false;
  if (!is_open(&cuda->streams[number]) && !open_stream(cuda, number, err)) return false;
  switch_to(cuda, number);
  return true;
}

CudaUse cuda_use_now(const CudaDevice *cuda) {
  ASSERT(cuda->now, "a stream is selected before work is queued");
  return (CudaUse){cuda->number, cuda->now->launched + 1};
}

bool cuda_join(CudaDevice *cuda, CudaUse use, Error *err) {
  const Driver *driver = &cuda->driver;
  CudaStream *now = cuda->now, *other = &cuda->streams[use.stream];
  ASSERT(use.stream >= 0 && use.stream < CUDA_STREAMS, "work is queued on one of our streams");
  if (use.stream == cuda->number || use.launch <= other->finished ||
      use.launch <= now->joined[use.stream])
    return true;
  if (!cuda_repeat_end(cuda, err)) return false;
  now->joined[use.stream] = other->launched; /* the event covers everything queued there so far */
  return cuda_check(cuda, driver->cuEventRecord(other->event, other->handle), "queue work", err) &&
         cuda_check(cuda, driver->cuStreamWaitEvent(now->handle, other->event, 0), "queue work",
                    err);
}

/* -- waiting ----------------------------------------------------------------------------------- */

static bool wait(CudaDevice *cuda, CudaStream *stream, Error *err) {
  if (stream == cuda->now && !cuda_repeat_pause(cuda, err)) return false;
  ASSERT(stream->handle, "only open streams have work");
  int result = cuda->driver.cuStreamSynchronize(stream->handle);
  cuda_staging_reset(cuda, &stream->staging);
  stream->finished = stream->launched;
  return cuda_check(cuda, result, "finish its work", err);
}

bool cuda_wait(CudaDevice *cuda, Error *err) { return wait(cuda, cuda->now, err); }

bool cuda_wait_for(CudaDevice *cuda, CudaUse use, Error *err) {
  CudaStream *stream = &cuda->streams[use.stream];
  return !is_open(stream) || use.launch <= stream->finished || wait(cuda, stream, err);
}

bool cuda_wait_all(CudaDevice *cuda, Error *err) {
  bool ok = true;
  for (int32_t k = 0; k < CUDA_STREAMS; k++)
    if (is_open(&cuda->streams[k])) ok &= wait(cuda, &cuda->streams[k], ok ? err : NULL);
  return ok;
}

bool cuda_is_idle(CudaDevice *cuda, int32_t number) {
  CudaStream *stream = &cuda->streams[number];
  if (stream->finished == stream->launched || cuda_is_lost(cuda)) return true;
  if (cuda->driver.cuStreamQuery(stream->handle) == DRIVER_NOT_READY) return false;
  stream->finished = stream->launched; /* a failure is reported by the next wait */
  cuda_staging_reset(cuda, &stream->staging);
  return true;
}

void cuda_streams_free(CudaDevice *cuda) {
  for (int32_t k = 0; k < CUDA_STREAMS; k++) {
    CudaStream *stream = &cuda->streams[k];
    if (!is_open(stream)) continue;
    cuda_free(cuda, &stream->messages);
    cuda_repeat_free(cuda, stream);
    cuda_staging_free(cuda, &stream->staging);
    if (cuda_is_lost(cuda)) continue;
    if (stream->event) cuda->driver.cuEventDestroy_v2(stream->event);
    cuda->driver.cuStreamDestroy_v2(stream->handle);
    stream->handle = NULL;
  }
}
