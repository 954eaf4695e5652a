/* api_launch.c - a launch is checked as the driver checks it, then queued on its stream. */
#include "api.h"

#include <stdlib.h>

/* Parameters from an array of pointers, or from a buffer: CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE. */
static char *take_params(const Function *function, void **params, void **extra) {
  char *bytes = calloc(1, function->param_bytes + 1);
  if (!bytes) abort();
  if (params) {
    for (uint32_t i = 0; i < function->param_count; i++)
      memcpy(bytes + function->params[i].offset, params[i], function->params[i].size);
    return bytes;
  }
  const void *buffer = NULL;
  size_t size = 0;
  for (; extra && extra[0]; extra += 2) {
    if ((uintptr_t)extra[0] == 1) buffer = extra[1];
    if ((uintptr_t)extra[0] == 2) size = *(const size_t *)extra[1];
  }
  if (function->param_bytes && (!buffer || size < function->param_bytes)) {
    free(bytes);
    return NULL;
  }
  if (buffer) memcpy(bytes, buffer, function->param_bytes);
  return bytes;
}

static int check(const Function *function, const Grid *grid) {
  const uint32_t *b = grid->blocks, *t = grid->threads;
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (!b[0] || !b[1] || !b[2] || !t[0] || !t[1] || !t[2]) return CUDA_ERROR_INVALID_VALUE;
  if (b[0] > 0x7fffffff || b[1] > 65535 || b[2] > 65535) return CUDA_ERROR_INVALID_VALUE;
  if (t[0] > 1024 || t[1] > 1024 || t[2] > 64) return CUDA_ERROR_INVALID_VALUE;
  uint32_t threads = t[0] * t[1] * t[2];
  if (threads > BLOCK_THREADS || grid->shared_bytes > 166912) return CUDA_ERROR_INVALID_VALUE;
  if (function->max_threads && threads > function->max_threads) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

static int launch(Function *function, Grid grid, void *stream, void **params, void **extra) {
  READY();
  static long asked;
  if (++asked == options.refuse_launch) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  uint32_t dynamic = grid.dynamic_bytes;
  if (function) grid.shared_bytes = dynamic + ((function->module->shared_bytes + 15) & ~15u);
  grid.function = function;
  int result = check(function, &grid);
  if (result) return result;
  char *bytes = take_params(function, params, extra);
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  return stream_add(stream, (Work){.kind = WORK_LAUNCH, .grid = grid, .bytes = bytes});
}

EXPORT int cuLaunchKernel(Function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, void *stream, void **params, void **extra) {
  ENTER("launch %.*s <<<%u, %u>>>", function ? (int)function->name.length : 0,
        function ? function->name.at : "", grid_x * grid_y * grid_z, block_x * block_y * block_z);
  Grid grid = {.blocks = {grid_x, grid_y, grid_z},
               .threads = {block_x, block_y, block_z},
               .dynamic_bytes = shared_bytes};
  return launch(function, grid, stream, params, extra);
}

static int blocks_per_processor(uint32_t threads) {
  uint32_t blocks = threads ? 2048 / ((threads + LANES - 1) / LANES * LANES) : 0;
  return (int)(blocks > 32 ? 32 : blocks);
}

EXPORT int cuLaunchCooperativeKernel(Function *function, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared_bytes, void *stream,
                                     void **params) {
  uint64_t most =
      (uint64_t)blocks_per_processor(block_x * block_y * block_z) * (uint64_t)options.processors;
  if ((uint64_t)grid_x * grid_y * grid_z > most) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                        stream, params, NULL);
}
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const Function *function,
                                                       int threads, size_t shared_bytes) {
  READY();
  if (!blocks || threads <= 0 || threads > BLOCK_THREADS) return CUDA_ERROR_INVALID_VALUE;
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  *blocks = blocks_per_processor((uint32_t)threads);
  return CUDA_SUCCESS;
}
EXPORT int cuOccupancyMaxPotentialBlockSize(int *blocks, int *threads, const Function *function,
                                            void *shared_bytes_of, size_t shared_bytes, int limit) {
  READY();
  if (!blocks || !threads) return CUDA_ERROR_INVALID_VALUE;
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  int most = (int)(function->max_threads ? function->max_threads : BLOCK_THREADS);
  *threads = limit && limit < most ? limit : most;
  *blocks = blocks_per_processor((uint32_t)*threads) * (int)options.processors;
  return CUDA_SUCCESS;
}
