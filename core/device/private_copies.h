/* private_copies.h - each worker's private copy of a tree, for tasks that add: its memory, when it
 * pays, and the sum. For the room alone. */
#ifndef RG_DEVICE_PRIVATE_COPIES_H
#define RG_DEVICE_PRIVATE_COPIES_H

#include "device/device.h"
#include "thread/pool.h"

/* Makes the copies if necessary, before a launch that can use them. Without room
 * tree->private_copies becomes NULL and tasks do without. A copy is committed as it is touched; the
 * budget is charged for its possible size. */
void copies_prepare(Device *device, RtTree *tree);
void copies_free(Device *device, RtTree *tree);
/* Is running the privatised version over `total` positions, for sure or perhaps, cheaper than
 * atomic updates? In one chunk it is. False if a tree has no private copies, and where there are
 * none for several chunks. */
bool copies_pay(const RtContext *context, const DeviceTask *privatised, int64_t total,
                bool is_one_chunk, bool is_sure);
/* Elements without copies: is one chunk, with plain updates, cheaper than several with atomic
 * ones? */
bool copies_want_one(const RtContext *context, const DeviceTask *privatised);
/* Adds the copies of the workers that took part to the trees and leaves them zero. No task is
 * running. */
void copies_add_up(Pool *pool, RtContext *context, const DeviceTask *privatised,
                   const uint8_t *took_part);

#endif
