/* client.h - work on streams: buffers are made, written, read and given to kernels, in the order of
 * a stream, and nothing is waited for but by what looks at a result. Streams have numbers, 0 (that
 * of all other launches) to RG_STREAMS - 1; a buffer that two of them use is used in the order
 * of the calls.
 * A buffer is an array (array/array.h) of its own memory. Where the device queues nothing, all of
 * this is done when the call returns. A failure on a stream is reported by the next call that looks
 * at it; until then nothing more runs there, and writes and copies are dropped, as launches are. */
#ifndef RG_CLIENT_CLIENT_H
#define RG_CLIENT_CLIENT_H

#include "array/array.h"
#include "kernel/kernel.h"

/* Zeros; extents may be 0. */
Array *client_empty(Engine *engine, const char *type, const int64_t *shape, int32_t rank,
                    Error *err);
/* All of the buffer's bytes, which may change when the call returns. */
bool client_write(Engine *engine, int32_t stream, Array *array, const void *bytes,
                  int64_t size_bytes, Error *err);
/* When the work that uses it is done; -1 bytes: only waits. */
bool client_read(Engine *engine, int32_t stream, Array *array, void *bytes, int64_t size_bytes,
                 Error *err);
/* What a read would see after the work on the stream so far: a new buffer, whose contents come
 * later. */
Array *client_read_async(Engine *engine, int32_t stream, Array *array, Error *err);
/* Is all work done that uses it? */
bool client_is_done(const Engine *engine, const Array *array);
bool client_execute(Engine *engine, int32_t stream, Kernel *kernel, const RgValue *values,
                    int32_t value_count, RgValue *result, Error *err);
/* Launches by kernel_launch are on this stream from now on. */
bool client_use(Engine *engine, int32_t stream, Error *err);
/* Waits for the stream, -1: for all; tells what failed there. */
bool client_sync(Engine *engine, int32_t stream, Error *err);

#endif
