/* repeat.c - queues recurring steps of a host region as a CUDA graph: one driver call instead
 * of one per task.
 *
 *     step --equals the graph's next--> held --all steps are held--> the graph is launched
 *       |                                |
 *       +--any other step, operation or wait--> held steps are queued one by one, then the other
 *
 * A step is a kernel, or new contents of the frame. When the latest steps have recurred in the same
 * order, often enough that a graph is profitable, they become the graph. So a loop's first
 * iterations are queued step by step, and a loop that ends early only delays the steps held at that
 * moment. A loop that waits in each iteration works, too: its graph ends before the wait. Steps
 * refer to a launch's block by offsets: a later launch has another block, for which the graph is
 * updated. Frames differ between iterations: those of a graph are copied together to a buffer, from
 * which the graph takes one after the other.
 * Without graphs (an old driver, RG_GRAPHS=off, or a graph that cannot be made) each step is queued
 * by itself. Decision D-device-08. */
#include <string.h>

#include "base/option.h"
#include "device/cuda/cuda.h"

enum {
  HISTORY = 128,  /* how many steps are remembered */
  MAX_STEPS = 32, /* in a graph */
  RELAXED = 2     /* CU_STREAM_CAPTURE_MODE_RELAXED */
};

struct CudaRepeat {
  CudaStep steps[HISTORY]; /* steps queued one by one since any other operation */
  int32_t count;
  CudaStep graph[MAX_STEPS]; /* length 0: there is no graph */
  int32_t length, held;      /* the first `held` steps are requested, but not yet queued */
  void *exec;                /* the driver's CUgraphExec */
  uint64_t block;            /* the block for which it was made */
  int32_t rounds;            /* how often the running launch requested all steps */
  CudaRange frames;          /* the buffer from which the graph takes frames */
  uint8_t *held_frames;
  bool is_busy; /* the graph, or steps that it held, are being queued */
};

static bool is_frame(const CudaStep *step) { return step->kind == CUDA_STEP_FRAME; }
static bool is_wait(const CudaStep *step) { return step->kind == CUDA_STEP_WAIT; }

static bool steps_are_equal(const CudaStep *a, const CudaStep *b) {
  return !memcmp(a, b, sizeof *a);
}

/* -- queueing one by one ----------------------------------------------------------------------- */

static bool queue_kernel(CudaDevice *cuda, const CudaStep *step, Error *err) {
  uint64_t words[CUDA_STEP_WORDS];
  void *parameters[] = {words};
  for (int32_t k = 0; k < CUDA_STEP_WORDS; k++)
    words[k] = step->words[k] + (step->from_block >> k & 1 ? cuda->block_now : 0);
  int result = cuda->driver.cuLaunchKernel(step->function, step->blocks, 1, 1, step->threads, 1, 1,
                                           0, cuda->stream, parameters, NULL);
  return cuda_check(cuda, result, "start a kernel", err);
}

static bool queue_one(CudaDevice *cuda, const CudaStep *step, const void *frame, Error *err) {
  if (!is_frame(step)) return queue_kernel(cuda, step, err);
  return cuda_put_frame(cuda, cuda->block_now + step->words[0], frame, step->words[1], err);
}

static void record_step(CudaRepeat *repeat, const CudaStep *step) {
  enum { HALF = HISTORY / 2 };
  ASSERT(repeat->count >= 0 && repeat->count <= HISTORY, "the history is a buffer of steps");
  if (repeat->count == HISTORY) {
    memmove(repeat->steps, repeat->steps + HALF, sizeof *step * HALF);
    repeat->count = HALF;
  }
  repeat->steps[repeat->count++] = *step;
}

/* -- the graph --------------------------------------------------------------------------------- */

static bool queue_captured(CudaDevice *cuda, const CudaRepeat *repeat, Error *err) {
  uint64_t frame = repeat->frames.at;
  for (int32_t k = 0; k < repeat->length; k++) {
    const CudaStep *step = &repeat->graph[k];
    if (!is_frame(step)) {
      if (!queue_kernel(cuda, step, err)) return false;
      continue;
    }
    int result = cuda->driver.cuMemcpyDtoDAsync_v2(cuda->block_now + step->words[0], frame,
                                                   step->words[1], cuda->stream);
    if (!cuda_check(cuda, result, "queue a frame", err)) return false;
    frame += step->words[1];
  }
  return true;
}

static void drop_exec(CudaDevice *cuda, CudaRepeat *repeat) {
  if (repeat->exec && !cuda_is_lost(cuda)) cuda->driver.cuGraphExecDestroy(repeat->exec);
  repeat->exec = NULL;
}

static bool make_exec(CudaDevice *cuda, CudaRepeat *repeat, void *graph) {
  const Driver *driver = &cuda->driver;
  void *node;
  int how;
  if (repeat->exec && driver->cuGraphExecUpdate &&
      driver->cuGraphExecUpdate(repeat->exec, graph, &node, &how) == DRIVER_OK)
    return true;
  drop_exec(cuda, repeat);
  return driver->cuGraphInstantiateWithFlags(&repeat->exec, graph, 0) == DRIVER_OK;
}

/* A failure is not an error: the device then stops using graphs. */
static bool capture(CudaDevice *cuda, CudaRepeat *repeat) {
  const Driver *driver = &cuda->driver;
  void *graph = NULL;
  if (driver->cuStreamBeginCapture_v2(cuda->stream, RELAXED) != DRIVER_OK) return false;
  bool ok = queue_captured(cuda, repeat, NULL);
  ok &= driver->cuStreamEndCapture(cuda->stream, &graph) == DRIVER_OK;
  ok = ok && make_exec(cuda, repeat, graph);
  if (graph) driver->cuGraphDestroy(graph);
  repeat->block = cuda->block_now;
  return ok;
}

static bool make_graph(CudaDevice *cuda, CudaRepeat *repeat) {
  if (capture(cuda, repeat)) return true;
  drop_exec(cuda, repeat);
  cuda->has_graphs = false;
  return false;
}

/* -- finding a graph --------------------------------------------------------------------------- */

/* Have the last `period` steps recurred, for at least max(period, min_repeats) steps? */
static bool has_period(const CudaRepeat *repeat, int32_t period, int32_t min_repeats) {
  int32_t repeats = period > min_repeats ? period : min_repeats;
  const CudaStep *end = repeat->steps + repeat->count;
  if (period + repeats > repeat->count) return false;
  for (int32_t k = 1; k <= repeats; k++)
    if (!steps_are_equal(end - k, end - k - period)) return false;
  return true;
}

static int32_t count_waits(const CudaStep *steps, int32_t count) {
  int32_t waits = 0;
  for (int32_t k = 0; k < count; k++) waits += is_wait(&steps[k]);
  return waits;
}

/* A period with waits is usable only if its last step is the single wait: the graph excludes it. */
static bool is_usable(const CudaStep *steps, int32_t period) {
  int32_t waits = count_waits(steps, period);
  return !waits || (waits == 1 && is_wait(&steps[period - 1]) && period > 2);
}

/* Takes several iterations of a short loop. */
static void choose_graph(CudaRepeat *repeat, int32_t period, int32_t min_repeats) {
  const CudaStep *steps = repeat->steps + repeat->count - period;
  bool waits = is_wait(&steps[period - 1]);
  int32_t most = min_repeats < MAX_STEPS ? min_repeats : MAX_STEPS;
  int32_t periods = waits || period > most ? 1 : most / period;
  ASSERT(periods > 0 && periods * period <= MAX_STEPS, "a graph holds whole periods");
  repeat->length = 0;
  for (int32_t k = 0; k < periods; k++) {
    memcpy(repeat->graph + repeat->length, steps, sizeof *steps * (size_t)period);
    repeat->length += period;
  }
  repeat->length -= waits;
}

static uint64_t frames_of(const CudaRepeat *repeat) {
  uint64_t size_bytes = 0;
  for (int32_t k = 0; k < repeat->length; k++)
    if (is_frame(&repeat->graph[k])) size_bytes += repeat->graph[k].words[1];
  return size_bytes;
}

static bool ensure_frames(CudaDevice *cuda, CudaRepeat *repeat) {
  uint64_t size_bytes = frames_of(repeat);
  if (!size_bytes) return true;
  uint8_t *frames = heap_resize(cuda->device.heap, repeat->held_frames, size_bytes);
  if (!frames) return false;
  repeat->held_frames = frames;
  return cuda_enlarge(cuda, &repeat->frames, size_bytes, false, NULL);
}

static void find_graph(CudaDevice *cuda, CudaRepeat *repeat) {
  int32_t min_repeats = (int32_t)cuda->guesses[CUDA_GUESS_repeats];
  for (int32_t period = 1; period <= MAX_STEPS; period++) {
    if (!has_period(repeat, period, min_repeats)) continue;
    if (!is_usable(repeat->steps + repeat->count - period, period)) return;
    choose_graph(repeat, period, min_repeats);
    repeat->count = 0;
    if (!ensure_frames(cuda, repeat) || !make_graph(cuda, repeat)) repeat->length = 0;
    return;
  }
}

/* -- queueing ---------------------------------------------------------------------------------- */

/* Offset in held_frames of the next frame. */
static uint64_t held_bytes(const CudaRepeat *repeat) {
  uint64_t size_bytes = 0;
  for (int32_t k = 0; k < repeat->held; k++)
    if (is_frame(&repeat->graph[k])) size_bytes += repeat->graph[k].words[1];
  return size_bytes;
}

static bool launch_graph(CudaDevice *cuda, CudaRepeat *repeat, Error *err) {
  uint64_t size_bytes = frames_of(repeat);
  ASSERT(repeat->exec && repeat->held == repeat->length, "all steps of the graph were requested");
  repeat->held = repeat->count = 0;
  repeat->is_busy = true;
  bool ok =
      !size_bytes || cuda_copy_in(cuda, repeat->frames.at, repeat->held_frames, size_bytes, err);
  repeat->is_busy = false;
  return ok && cuda_check(cuda, cuda->driver.cuGraphLaunch(repeat->exec, cuda->stream),
                          "start a loop's tasks", err);
}

/* Queues the held steps one by one. */
static bool queue_held(CudaDevice *cuda, CudaRepeat *repeat, Error *err) {
  int32_t held = repeat->held;
  ASSERT(!repeat->is_busy && held <= MAX_STEPS, "held steps are the first ones of the graph");
  const uint8_t *frame = repeat->held_frames;
  bool ok = true;
  repeat->held = 0;
  repeat->is_busy = true;
  for (int32_t k = 0; k < held && ok; k++) {
    const CudaStep *step = &repeat->graph[k];
    ok = queue_one(cuda, step, frame, err);
    if (is_frame(step)) frame += step->words[1];
    record_step(repeat, step);
  }
  repeat->is_busy = false;
  return ok;
}

/* For a single round with a new launch's block, queueing steps is as cheap as updating the
 * graph. */
static bool finish_round(CudaDevice *cuda, CudaRepeat *repeat, Error *err) {
  bool is_of_block = repeat->block == cuda->block_now;
  if (!is_of_block && repeat->rounds) is_of_block = make_graph(cuda, repeat);
  repeat->rounds++;
  return is_of_block ? launch_graph(cuda, repeat, err) : queue_held(cuda, repeat, err);
}

/* Holds the step if it equals the graph's next one; otherwise returns false. */
static bool try_hold(CudaRepeat *repeat, const CudaStep *step, const void *frame) {
  if (repeat->held >= repeat->length || !steps_are_equal(&repeat->graph[repeat->held], step))
    return false;
  if (is_frame(step)) memcpy(repeat->held_frames + held_bytes(repeat), frame, step->words[1]);
  repeat->held++;
  return true;
}

static CudaRepeat *repeat_of(CudaDevice *cuda) {
  if (!cuda->now->repeat && cuda->has_graphs) {
    cuda->now->repeat = heap_alloc(cuda->device.heap, sizeof *cuda->now->repeat);
    cuda->has_graphs = cuda->now->repeat;
  }
  return cuda->has_graphs ? cuda->now->repeat : NULL;
}

bool cuda_queue(CudaDevice *cuda, const CudaStep *step, const void *frame, Error *err) {
  CudaRepeat *repeat = repeat_of(cuda);
  if (!repeat) return queue_one(cuda, step, frame, err);
  if (!try_hold(repeat, step, frame)) {
    if (!queue_held(cuda, repeat, err)) return false;
    if (!try_hold(repeat, step, frame)) {
      if (!queue_one(cuda, step, frame, err)) return false;
      record_step(repeat, step);
      find_graph(cuda, repeat);
      return true;
    }
  }
  return repeat->held < repeat->length || finish_round(cuda, repeat, err);
}

bool cuda_repeat_pause(CudaDevice *cuda, Error *err) {
  static const CudaStep wait = {.kind = CUDA_STEP_WAIT};
  CudaRepeat *repeat = cuda->now->repeat;
  if (!repeat || !cuda->has_graphs || repeat->is_busy) return true;
  if (!queue_held(cuda, repeat, err)) return false;
  if (!repeat->count || is_wait(&repeat->steps[repeat->count - 1])) return true;
  record_step(repeat, &wait);
  find_graph(cuda, repeat);
  return true;
}

bool cuda_repeat_end(CudaDevice *cuda, Error *err) {
  CudaRepeat *repeat = cuda->now ? cuda->now->repeat : NULL;
  if (!repeat || repeat->is_busy) return true;
  bool ok = queue_held(cuda, repeat, err);
  repeat->count = 0;
  return ok;
}

void cuda_repeat_begin(CudaDevice *cuda) {
  if (cuda->now->repeat) cuda->now->repeat->rounds = cuda->now->repeat->count = 0;
}

void cuda_repeat_forget(CudaDevice *cuda) {
  for (int32_t k = 0; k < CUDA_STREAMS; k++)
    if (cuda->streams[k].repeat) cuda->streams[k].repeat->length = 0;
}

void cuda_repeat_free(CudaDevice *cuda, CudaStream *stream) {
  if (!stream->repeat) return;
  drop_exec(cuda, stream->repeat);
  cuda_free(cuda, &stream->repeat->frames);
  heap_free(cuda->device.heap, stream->repeat->held_frames);
  heap_free(cuda->device.heap, stream->repeat);
  stream->repeat = NULL;
}

bool cuda_can_repeat(const Driver *driver) {
  return strcmp(option_text("RG_GRAPHS"), "off") && driver->cuStreamBeginCapture_v2 &&
         driver->cuStreamEndCapture && driver->cuGraphInstantiateWithFlags &&
         driver->cuGraphLaunch && driver->cuGraphExecDestroy && driver->cuGraphDestroy;
}
