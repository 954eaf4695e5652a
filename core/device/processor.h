/* processor.h - for which processor of the host code is made. For the room alone. */
#ifndef RG_DEVICE_PROCESSOR_H
#define RG_DEVICE_PROCESSOR_H

#include "device/device.h"

/* Fills processors[RG_TARGET_HOST] and vector_bytes; NULL: this machine's. */
bool device_choose_processor(Device *device, const char *name, Error *err);

#endif
