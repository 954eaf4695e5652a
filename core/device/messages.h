/* messages.h - takes what a task said from its workers. For the room alone. */
#ifndef RG_DEVICE_MESSAGES_H
#define RG_DEVICE_MESSAGES_H

#include "device/device.h"

typedef struct Said { /* by the running launch */
  Heap *heap;
  uint64_t *words;
  uint64_t used, capacity;
} Said;

/* Before a launch: nothing is said yet. */
void messages_begin(Said *said);
/* Between tasks: the workers' records go to the end of the launch's, by the indices of their
 * iterations; those of one iteration, and of the host region, keep their order. */
void messages_gather(Said *said, RtWorker *workers, int32_t worker_count, DeviceLaunch *launch);
void messages_free(Said *said, RtWorker *workers, int32_t worker_count);

#endif
