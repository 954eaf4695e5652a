/* api_context.c - contexts, and which one is current. An error of a kernel is sticky: every later
 * call in its context returns that error, until the context is destroyed (PTX_LOST: for ever). */
#include "api.h"

#include <stdlib.h>

enum { DEPTH = 16 };
static Context primary = {.is_primary = true};
static _Thread_local Context *stack[DEPTH];
static _Thread_local int depth;
static int lost;

Context *api_context(void) { return depth ? stack[depth - 1] : NULL; }

int api_ready(void) {
  if (!api_is_open()) return CUDA_ERROR_NOT_INITIALIZED;
  Context *context = api_context();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  if (!context->is_live) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return lost ? lost : context->result;
}

int api_lose(int result) {
  Context *context = api_context();
  if (context && !context->result) context->result = result;
  if (options.lost) lost = result;
  return result;
}

static int check(int device) {
  if (!api_is_open()) return CUDA_ERROR_NOT_INITIALIZED;
  return device < 0 || device >= options.devices ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

EXPORT int cuDevicePrimaryCtxRetain(Context **context, int device) {
  ENTER("retain the primary context");
  int result = check(device);
  if (result) return result;
  if (lost) return lost;
  if (!primary.retained++) primary.is_live = true, primary.result = 0;
  memory.device = device;
  *context = &primary;
  return CUDA_SUCCESS;
}

/* Streams, memory and modules are destroyed with their context. (Of modules, only frames and
 * variables would matter: addresses are never reused.) */
static void end(Context *context) {
  if (!context->result) stream_drain_all();
  stream_end_all();
  memory_free_all();
  api_forget_shown();
  context->is_live = false;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER("release the primary context");
  int result = check(device);
  if (result) return result;
  if (!primary.retained) return CUDA_ERROR_INVALID_CONTEXT;
  if (!--primary.retained) end(&primary);
  return CUDA_SUCCESS;
}
EXPORT int cuDevicePrimaryCtxReset_v2(int device) {
  ENTER("reset the primary context");
  int result = check(device);
  if (result) return result;
  end(&primary);
  primary.is_live = primary.retained;
  primary.result = 0;
  return CUDA_SUCCESS;
}
EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
  ENTER("state of the primary context");
  int result = check(device);
  if (result) return result;
  *flags = 0;
  *active = primary.is_live;
  return CUDA_SUCCESS;
}
EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) { return check(device); }

EXPORT int cuCtxCreate_v2(Context **context, unsigned flags, int device) {
  ENTER("create a context");
  int result = check(device);
  if (result) return result;
  if (depth == DEPTH) return CUDA_ERROR_INVALID_VALUE;
  *context = calloc(1, sizeof **context);
  if (!*context) return CUDA_ERROR_OUT_OF_MEMORY;
  (*context)->is_live = true;
  memory.device = device;
  stack[depth++] = *context;
  return CUDA_SUCCESS;
}
EXPORT int cuCtxDestroy_v2(Context *context) {
  ENTER("destroy a context");
  if (!context || context->is_primary || !context->is_live) return CUDA_ERROR_INVALID_CONTEXT;
  end(context); /* the struct stays: other threads may have it on their stacks */
  if (api_context() == context) depth--;
  return CUDA_SUCCESS;
}
EXPORT int cuCtxPushCurrent_v2(Context *context) {
  if (!api_is_open()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!context || depth == DEPTH) return CUDA_ERROR_INVALID_VALUE;
  stack[depth++] = context;
  return CUDA_SUCCESS;
}
EXPORT int cuCtxPopCurrent_v2(Context **context) {
  if (!api_is_open()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
  depth--;
  if (context) *context = stack[depth];
  return CUDA_SUCCESS;
}
EXPORT int cuCtxSetCurrent(Context *context) {
  if (!api_is_open()) return CUDA_ERROR_NOT_INITIALIZED;
  if (depth) depth--;
  if (context) stack[depth++] = context;
  return CUDA_SUCCESS;
}
EXPORT int cuCtxGetCurrent(Context **context) {
  if (!api_is_open()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = api_context();
  return CUDA_SUCCESS;
}
EXPORT int cuCtxGetDevice(int *device) {
  READY();
  *device = memory.device;
  return CUDA_SUCCESS;
}
EXPORT int cuCtxSynchronize(void) {
  ENTER("wait for the context");
  READY();
  if (stream_is_capturing()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return stream_drain_all();
}
/* The stack of a thread is the only limit that this device enforces. */
enum { LIMIT_STACK_SIZE = 0, USUAL_STACK = 1024 };
EXPORT int cuCtxSetLimit(int limit, size_t value) {
  ENTER("limit %d is %zu", limit, value);
  READY();
  if (limit != LIMIT_STACK_SIZE) return CUDA_ERROR_NOT_SUPPORTED;
  if (value > STACK_BYTES) return CUDA_ERROR_INVALID_VALUE;
  if ((long)value > options.stack && api_memory_fails()) return CUDA_ERROR_OUT_OF_MEMORY;
  options.stack = (long)value;
  return CUDA_SUCCESS;
}
EXPORT int cuCtxGetLimit(size_t *value, int limit) {
  ENTER("limit %d?", limit);
  READY();
  if (limit != LIMIT_STACK_SIZE) return CUDA_ERROR_NOT_SUPPORTED;
  *value = (size_t)(options.stack ? options.stack : USUAL_STACK);
  return CUDA_SUCCESS;
}
