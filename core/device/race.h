/* race.h - of the races in a table of the race detector (llvm_bc/race.c) the one that is told: that
 * of the lowest iterations, of these the lowest element's. For the room alone. */
#ifndef RG_DEVICE_RACE_H
#define RG_DEVICE_RACE_H

#include "device/device.h"

typedef struct Race {
  bool is_found;
  int32_t what;
  uint64_t element;
  RtTouch writer, other;
} Race;

/* Looks at a part of the table; `first` begins as zeros. */
void race_look(Race *first, const RtShadow *entries, uint64_t count, uint32_t epoch);
/* Makes it a FAULT of the launch, as this worker would record it; none: nothing. */
void race_tell(const Race *race, RtContext *context, RtWorker *worker);

#endif
