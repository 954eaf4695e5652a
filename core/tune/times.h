/* times.h - the times of one way to do something, and the rule that says which of two ways is
 * faster; `tuner` and `contest` use it. Minima ignore disturbances, which only add time. Medians
 * ignore runs that had little to do by chance. So minima decide, but medians may contradict them,
 * and decide where the minima are nearly equal.
 * Decision D-tune-01. */
#ifndef RG_TUNE_TIMES_H
#define RG_TUNE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

enum { TUNE_RING = 10 };

typedef struct TuneTimes { /* all zeros: none yet */
  int32_t count;
  double best;            /* the least */
  double ring[TUNE_RING]; /* the last ones */
} TuneTimes;

void times_note(TuneTimes *times, double time);
/* Notes a time that matters only if it is the least so far: it does not enter the median. */
void times_lower(TuneTimes *times, double time);
/* The median of the last ones; 0: there are none. */
double times_median(const TuneTimes *times);
/* Is one way faster than the other? `gain`: its largest minimum, relative to the other's. */
bool times_are_less(const TuneTimes *times, const TuneTimes *than, double gain);

#endif
