/* times.h - the times of one way to do something, and which of two ways is faster: the one rule of
 * `tuner` and `contest`. Minima leave out disturbances, and medians runs that had little to do by
 * chance, so minima decide, but a median may contradict them, or decide where they are alike.
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
/* A time that counts only if it is the least so far. */
void times_lower(TuneTimes *times, double time);
/* The median of the last ones; 0: there are none. */
double times_middle(const TuneTimes *times);
/* Is one way faster than the other? `gain`: its largest minimum, relative to the other's. */
bool times_are_less(const TuneTimes *times, const TuneTimes *than, double gain);

#endif
