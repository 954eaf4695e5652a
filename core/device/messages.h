/* messages.h - collects a task's messages from its workers. Private to this room. */
#ifndef RG_DEVICE_MESSAGES_H
#define RG_DEVICE_MESSAGES_H

#include "device/device.h"

typedef struct MessageBuffer { /* records of the messages of a launch */
  Heap *heap;
  uint64_t *words;
  uint64_t used, capacity;
} MessageBuffer;

/* Empties the buffer before a launch. */
void messages_begin(MessageBuffer *buffer);
/* Between tasks: appends the workers' records to the launch's, sorted by the indices of their
 * iterations. Records of one iteration, and of the host region, keep their order. */
void messages_gather(MessageBuffer *buffer, RtWorker *workers, int32_t worker_count,
                     DeviceLaunch *launch);
void messages_free(MessageBuffer *buffer, RtWorker *workers, int32_t worker_count);

#endif
