/* launch.h - what launches share whatever the device: how their context begins, and how many
 * positions a range has. For the room alone. */
#ifndef RG_DEVICE_LAUNCH_H
#define RG_DEVICE_LAUNCH_H

#include "device/device.h"

typedef void RunTask(RtContext *context, int32_t number);

/* Fills the launch's context, all but `stop`, and zeroes its counts. */
void launch_begin(const Device *device, DeviceLaunch *launch, RunTask *run);
/* Iterations of a range: the product of its extents, 0 when one is empty, INT64_MAX where it would
 * overflow. */
int64_t launch_count_range(const DeviceLaunch *launch, const DeviceTask *task);

#endif
