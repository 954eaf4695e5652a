/* private_copies.h - workers' own copies of what a task adds to: when they pay, and their sum. For the room alone. */
#ifndef RG_DEVICE_PRIVATE_COPIES_H
#define RG_DEVICE_PRIVATE_COPIES_H

#include "device/device.h"
#include "thread/pool.h"

/* Is running `twin` over `total` positions, in one chunk or many, cheaper than atomic updates? False where a tree has no
 * own copies. */
bool own_pays(const RtContext *context, const DeviceTask *twin, int64_t total, bool is_one_chunk);
/* Adds the copies of the workers that took part to the trees and leaves them zero. No task is running. */
void own_add_up(Pool *pool, RtContext *context, const DeviceTask *twin, const uint8_t *took_part);

#endif
