/* race.h - selects the race to report from a table of the race detector (llvm_bc/race.c): the one
 * of the lowest iterations, and among those of the lowest element. Private to this room. */
#ifndef RG_DEVICE_RACE_H
#define RG_DEVICE_RACE_H

#include "device/device.h"

typedef struct Race {
  bool is_found;
  int32_t what;
  uint64_t element;
  RtTouch writer, other;
} Race;

/* Examines a part of the table and updates `first`, which the caller zeroes before the first
 * part. */
void race_look(Race *first, const RtShadow *entries, uint64_t count, uint32_t epoch);
/* Records the race, if there is one, as a FAULT of the launch, as this worker would. */
void race_tell(const Race *race, RtContext *context, RtWorker *worker);

#endif
