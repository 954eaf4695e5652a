/* contest.c - see contest.h. */
#include "tune/contest.h"

enum { FEW = 3, ENOUGH = 12 /* runs of each */ };
static const double clearly = 0.9, slower = 1 / 1.05; /* minima of equal ways differ by less */

static bool is_less(const TuneContest *contest, TuneSide side, double gain) {
  return times_are_less(&contest->times[side], &contest->times[1 - side], gain);
}

static bool have_run(const TuneContest *contest, int runs) {
  return contest->times[TUNE_OLD].count >= runs && contest->times[TUNE_NEW].count >= runs;
}

static bool is_over(const TuneContest *contest) {
  return contest->started >= 2 * ENOUGH ||
         (have_run(contest, FEW) && is_less(contest, TUNE_NEW, clearly));
}

bool contest_is_on(const TuneContest *contest) {
  return !is_over(contest) || contest->times[TUNE_NEW].count < ENOUGH;
}

TuneSide contest_next(TuneContest *contest) {
  if (is_over(contest)) return TUNE_NEW;
  return contest->started++ % 2 ? TUNE_NEW : TUNE_OLD;
}

void contest_note(TuneContest *contest, TuneSide side, double time) {
  TuneTimes *times = &contest->times[side];
  if (time > 0 && times->count < ENOUGH) times_note(times, time);
}

bool contest_is_lost(const TuneContest *contest) {
  return have_run(contest, ENOUGH) && is_less(contest, TUNE_OLD, slower);
}
