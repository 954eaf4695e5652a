/* queue.h - launches that the device has queued. They are reported, in the order of each stream,
 * when code accesses what they may have changed, or when the queue is full. The first failure
 * becomes the error of the accessing call; later launches on its stream have not run and are
 * counted. For this room and for the client. */
#ifndef RG_KERNEL_QUEUE_H
#define RG_KERNEL_QUEUE_H

#include "kernel/versions/versions.h"

/* Makes room for a launch of this version. If launches that it reports have failed, the failures
 * are kept for the next call that accesses results. */
void queue_make_room_for_launch(Engine *engine, const Version *version);
/* Makes room for a copy on the stream. */
void queue_make_room_for_copy(Engine *engine, int32_t stream);
/* Adds the engine's launch of kernel->ran, which has a ticket. If the caller needs its outcome,
 * reports it now, with all launches before it. */
bool queue_add(Kernel *kernel, const TuneTrial *trial, const RgValue *values, RgValue *result,
               Error *err);
/* Reports all launches. Without err a failure is kept. */
bool queue_report_all(Engine *engine, Error *err);
/* Reports the launches of a stream up to this ticket. */
bool queue_report_stream(Engine *engine, int32_t stream, uint64_t ticket, Error *err);
/* Reports the launches that have ended, without waiting; failures are kept. */
void queue_report_ended(Engine *engine);
/* Is a failure kept for the stream (-1: for any)? With err, reports and forgets it. Without err,
 * keeps it, and counts one more launch that does not run because of it. */
bool queue_has_failed(Engine *engine, int32_t stream, Error *err);

#endif
