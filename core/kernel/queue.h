/* queue.h - launches that the device has queued: they are reported when something looks at what
 * they may have done, or when room is needed, each stream's in their order. The first that failed
 * is the error of whoever looks; those after it on its stream have not run and are counted. For the
 * room, and for the client. */
#ifndef RG_KERNEL_QUEUE_H
#define RG_KERNEL_QUEUE_H

#include "kernel/variant.h"

/* Room for a launch of this variant, after which others may wait for it; what failed meanwhile is
 * kept for whoever looks next. */
void queue_make_room(Engine *engine, const Variant *variant);
/* Room for a copy on the stream. */
void queue_have_room(Engine *engine, int32_t stream);
/* The engine's launch of kernel->ran, which has a ticket. One whose outcome is waited for is
 * reported now, with all before it. */
bool queue_add(Kernel *kernel, const TuneTrial *trial, const RgValue *values, RgValue *result,
               Error *err);
/* Reports all. Without err a failure is kept. */
bool queue_settle(Engine *engine, Error *err);
/* Those of a stream, up to the one with this ticket. */
bool queue_settle_stream(Engine *engine, int32_t stream, uint64_t ticket, Error *err);
/* Reports those that have ended, without waiting; failures are kept. */
void queue_note_ended(Engine *engine);
/* A failure of the stream that was kept, -1: of any: true, and then it is told; without err it
 * stays, and a launch that does not run because of it is counted. */
bool queue_has_failed(Engine *engine, int32_t stream, Error *err);

#endif
