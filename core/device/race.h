/* race.h - selects the race to report from a table of the race detector (llvm_bc/race.c): the one
 * with the lowest iterations and, among those, the lowest element. Private to this room. */
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
void race_scan(Race *first, const RtShadow *entries, uint64_t count, uint32_t epoch);
/* Records the race, if `race` has one, as a FAULT of the launch, in the same way as this worker
 * would. */
void race_report(const Race *race, RtContext *context, RtWorker *worker);

#endif
