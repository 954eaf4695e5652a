/* races.h - the CPU device's table for the race detector (llvm_bc/race.c), and its checks around
 * each task of a launch. Private to this room. */
#ifndef RG_DEVICE_RACES_H
#define RG_DEVICE_RACES_H

#include "device/cpu.h"

bool races_create(CpuDevice *cpu, Error *err);
void races_destroy(CpuDevice *cpu);
/* Call these around a task; a race becomes a FAULT of the launch, as worker 0 would record it. */
void races_begin(CpuDevice *cpu);
void races_end(CpuDevice *cpu, DeviceLaunch *launch);

#endif
