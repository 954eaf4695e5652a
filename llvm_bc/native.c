/* native.c - calls from kernels to functions of extensions in C. Numbers are passed as their bits.
 * A function that fails ends the launch. A GPU cannot call them. */
#include "atomic.h"
#include "node.h"

static int32_t call(RtContext *context, int32_t function, int64_t *values) {
#if defined(__NVPTX__)
  (void)context, (void)function, (void)values;
  return 0;
#else
  return context->native && context->native(context, function, values);
#endif
}

int64_t rt_native(RtContext *context, RtWorker *worker, int32_t function, int64_t a, int64_t b,
                  int64_t c, int64_t d, int64_t e, int64_t f) {
  int64_t values[RT_NATIVE_VALUES] = {a, b, c, d, e, f};
  (void)worker;
  if (call(context, function, values)) return values[0];
  rt_error_set(context, RT_ERROR_NATIVE, 0, function);
  rt_store(&context->stop, 1);
  return 0;
}
