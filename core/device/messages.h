/* messages.h - collects a task's messages from its workers. Private to this room. */
#ifndef RG_DEVICE_MESSAGES_H
#define RG_DEVICE_MESSAGES_H

#include "device/device.h"

typedef struct Said { /* messages of the running launch */
  Heap *heap;
  uint64_t *words;
  uint64_t used, capacity;
} Said;

/* Empties the buffer before a launch. */
void messages_begin(Said *said);
/* Between tasks: appends the workers' records to the launch's, sorted by the indices of their
 * iterations. Records of one iteration, and of the host region, keep their order. */
void messages_gather(Said *said, RtWorker *workers, int32_t worker_count, DeviceLaunch *launch);
void messages_free(Said *said, RtWorker *workers, int32_t worker_count);

#endif
