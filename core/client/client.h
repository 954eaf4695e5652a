/* client.h - work on streams: buffers are created, written, read and passed to kernels. Operations
 * on one stream run in the order of the calls, and only calls that need a result wait. Streams have
 * numbers from 0 (used by all other launches) to RG_STREAMS - 1. If two streams use one buffer,
 * they use it in the order of the calls.
 * A buffer is an array (array/array.h) with memory of its own. On a device that queues nothing, an
 * operation is complete when the call returns. A failure on a stream is reported by the next call
 * that checks the stream; until then launches, writes and copies on it are dropped. */
#ifndef RG_CLIENT_CLIENT_H
#define RG_CLIENT_CLIENT_H

#include "array/array.h"
#include "kernel/kernel.h"

/* Creates a buffer of zeros; extents may be 0. */
Array *client_empty(Engine *engine, const char *type, const int64_t *shape, int32_t rank,
                    Error *err);
/* Writes all of the buffer. The caller may change `bytes` as soon as the call returns. */
bool client_write(Engine *engine, int32_t stream, Array *array, const void *bytes,
                  int64_t size_bytes, Error *err);
/* Waits for the work that uses the buffer, then reads all of it; size_bytes -1: only waits. */
bool client_read(Engine *engine, int32_t stream, Array *array, void *bytes, int64_t size_bytes,
                 Error *err);
/* Returns a new buffer that receives the contents as they are after the work queued on the stream
 * so far. Does not wait. */
Array *client_read_async(Engine *engine, int32_t stream, Array *array, Error *err);
/* Is all work that uses the buffer done? */
bool client_is_done(const Engine *engine, const Array *array);
bool client_execute(Engine *engine, int32_t stream, Kernel *kernel, const RgValue *values,
                    int32_t value_count, RgValue *result, Error *err);
/* Sets the stream on which kernel_launch queues from now on. */
bool client_use(Engine *engine, int32_t stream, Error *err);
/* Waits for the stream, or for all with -1, and reports its failure. */
bool client_sync(Engine *engine, int32_t stream, Error *err);

#endif
