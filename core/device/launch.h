/* launch.h - what launches share on every device: setting up their context, and counting the
 * positions of a range. Private to this room. */
#ifndef RG_DEVICE_LAUNCH_H
#define RG_DEVICE_LAUNCH_H

#include "device/device.h"

typedef void RT_CALL RunTask(RtContext *context, int32_t number);

/* Fills the launch's context, except `stop`, and zeroes its counts. */
void launch_begin(const Device *device, DeviceLaunch *launch, RunTask *run);
/* Iterations of a range: the product of its extents, 0 if one is empty, INT64_MAX on overflow. */
int64_t launch_count_range(const DeviceLaunch *launch, const DeviceTask *task);

#endif
