/* private_copies.h - each worker's private copy of a tree, for tasks that add: allocates it,
 * decides when it is profitable, and sums the copies. Private to this room. */
#ifndef RG_DEVICE_PRIVATE_COPIES_H
#define RG_DEVICE_PRIVATE_COPIES_H

#include "device/device.h"
#include "thread/pool.h"

/* Makes the copies, if they do not exist, before a launch that can use them. If memory is short,
 * tree->private_copies becomes NULL and tasks use atomic updates. A copy is committed as it is
 * touched; the budget is charged for its largest possible size. */
void copies_prepare(Device *device, RtTree *tree);
void copies_free(Device *device, RtTree *tree);
/* Is the privatised version over `total` positions probably cheaper than atomic updates? In one
 * chunk it always is. False if a tree has no private copies and there are several chunks.
 * is_forced: true wherever it is possible (DeviceSwitches.copies). */
bool copies_are_profitable(const RtContext *context, const DeviceTask *privatised, int64_t total,
                           bool is_one_chunk, bool is_forced);
/* For elements without copies: is one chunk with plain updates cheaper than several with atomic
 * updates? */
bool copies_prefer_one_chunk(const RtContext *context, const DeviceTask *privatised);
/* Adds the copies of the workers that took part to the trees, and zeroes them. No task may be
 * running. */
void copies_sum(Pool *pool, RtContext *context, const DeviceTask *privatised,
                const uint8_t *took_part);

#endif
