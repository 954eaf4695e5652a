/* races.h - the table of the race detector (llvm_bc/race.c) beside the CPU device: a part of a
 * launch each time a task runs. For the room alone. */
#ifndef RG_DEVICE_RACES_H
#define RG_DEVICE_RACES_H

#include "device/cpu.h"

bool races_create(CpuDevice *cpu, Error *err);
void races_destroy(CpuDevice *cpu);
/* Around a task; a race becomes a FAULT of the launch, as worker 0 would record it. */
void races_begin(CpuDevice *cpu);
void races_end(CpuDevice *cpu, DeviceLaunch *launch);

#endif
