/* queue.h - launches that the device has queued: they are reported when something looks at what
 * they may have done, in their order. The first that failed is the error of whoever looks; those
 * after it have not run and are counted. For the room alone. */
#ifndef RG_KERNEL_QUEUE_H
#define RG_KERNEL_QUEUE_H

#include "kernel/variant.h"

/* Room for a launch of this variant, after which others may wait for it; what failed meanwhile is
 * kept for whoever looks next. */
void queue_make_room(Engine *engine, const Variant *variant);
/* The engine's launch, which has a ticket. One whose outcome is waited for is reported now, with
 * all before it. */
bool queue_add(Kernel *kernel, Variant *variant, const RgValue *values, RgValue *result,
               Error *err);
/* Reports all. Without err a failure is kept. */
bool queue_settle(Engine *engine, Error *err);
/* A failure that was kept: true, and then it is told; without err it stays, and a launch that does
 * not run because of it is counted. */
bool queue_has_failed(Engine *engine, Error *err);

#endif
