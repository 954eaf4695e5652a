/* contest.c - see contest.h. */
#include "tune/contest.h"

enum { FEW = 3, ENOUGH = 12 /* runs of each */ };
static const double clearly = 0.9, slower = 1.05; /* minima of equal ways differ by less */

static bool is_over(const TuneContest *contest) {
  const double *best = contest->best;
  if (contest->asked >= 2 * ENOUGH) return true;
  return contest->runs[TUNE_OLD] >= FEW && contest->runs[TUNE_NEW] >= FEW &&
         best[TUNE_NEW] < clearly * best[TUNE_OLD];
}

TuneSide contest_next(TuneContest *contest) {
  if (is_over(contest)) return TUNE_NEW;
  return contest->asked++ % 2 ? TUNE_NEW : TUNE_OLD;
}

void contest_note(TuneContest *contest, TuneSide side, double time) {
  double *best = &contest->best[side];
  if (!(time > 0) || contest->runs[side] >= ENOUGH) return;
  if (!contest->runs[side]++ || time < *best) *best = time;
}

bool contest_is_lost(const TuneContest *contest) {
  return contest->runs[TUNE_OLD] >= ENOUGH && contest->runs[TUNE_NEW] >= ENOUGH &&
         contest->best[TUNE_NEW] > slower * contest->best[TUNE_OLD];
}
