/* messages.h - takes what a task said from its workers. For the room alone. */
#ifndef RG_DEVICE_MESSAGES_H
#define RG_DEVICE_MESSAGES_H

#include "device/cpu.h"

/* Before a launch: nothing is said yet. */
void messages_begin(CpuDevice *cpu);
/* Between tasks: the workers' records go to the end of the launch's, by the indices of their
 * iterations; those of one iteration, and of the host region, keep their order. */
void messages_gather(CpuDevice *cpu, DeviceLaunch *launch);
void messages_free(CpuDevice *cpu);

#endif
