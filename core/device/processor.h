/* processor.h - chooses the host CPU that code is compiled for. Private to this room. */
#ifndef RG_DEVICE_PROCESSOR_H
#define RG_DEVICE_PROCESSOR_H

#include "device/device.h"

/* Fills processors[RG_TARGET_HOST] and vector_bytes; `name` NULL: this machine's CPU. */
bool device_choose_processor(Device *device, const char *name, Error *err);

#endif
