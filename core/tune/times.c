/* times.c - see times.h. */
#include "tune/times.h"

#include <string.h>

static const double opposes = 1.25, alike = 1.1, typical = 0.8; /* ratios of medians, and minima */

void times_lower(TuneTimes *times, double time) {
  if (!(times->best > 0) || time < times->best) times->best = time;
}

void times_note(TuneTimes *times, double time) {
  times->ring[times->count++ % TUNE_RING] = time;
  times_lower(times, time);
}

double times_median(const TuneTimes *times) {
  double sorted[TUNE_RING];
  int32_t count = times->count < TUNE_RING ? times->count : TUNE_RING;
  memcpy(sorted, times->ring, sizeof sorted);
  for (int32_t k = 1; k < count; k++)
    for (int32_t i = k; i > 0 && sorted[i] < sorted[i - 1]; i--) {
      double other = sorted[i];
      sorted[i] = sorted[i - 1];
      sorted[i - 1] = other;
    }
  return count ? sorted[count / 2] : 0;
}

bool times_are_less(const TuneTimes *times, const TuneTimes *than, double gain) {
  double least = times->best / than->best, usual = times_median(times) / times_median(than);
  return (least <= gain && usual <= opposes) || (least <= alike && usual <= typical);
}
