/* times.c - see times.h. */
#include "tune/times.h"

#include <string.h>

/* ratios: of medians that contradict the minima; of minima that are nearly equal; of medians that
 * then decide */
static const double contradicting = 1.25, nearly_equal = 1.1, much_less = 0.8;

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
  double minima = times->best / than->best, medians = times_median(times) / times_median(than);
  return (minima <= gain && medians <= contradicting) ||
         (minima <= nearly_equal && medians <= much_less);
}
