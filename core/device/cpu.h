/* cpu.h - the parts of the CPU device. Private to this room. */
#ifndef RG_DEVICE_CPU_H
#define RG_DEVICE_CPU_H

#include "device/device.h"
#include "device/messages.h"
#include "memory/arena.h"
#include "thread/pool.h"

typedef struct PendingPrefault PendingPrefault;

typedef struct CpuDevice {
  Device device;
  Pool *pool;
  RtWorker *workers;
  uint8_t *took_part;     /* by worker: has it run a chunk of the task? */
  DeviceLaunch *launch;   /* the running launch */
  MessageBuffer messages; /* its messages so far */
  Arena shadow;           /* memory of the race detector's table */
  RtRaces races;
  PendingPrefault *pending; /* prefault.h */
  int32_t pending_count;
} CpuDevice;

/* cpu_code.c */
DeviceCode *cpu_load(Device *device, const RgCodegenObject objects[RG_TARGET_COUNT],
                     int32_t task_count, Error *err);
void cpu_unload(Device *device, DeviceCode *code);

/* cpu_launch.c */
bool cpu_launch(Device *device, DeviceLaunch *launch, Error *err);
/* RtContext.parallel for contexts whose host is the device */
void RT_CALL cpu_share(RtContext *context, int64_t count, RtPart *part, void *data);

#endif
