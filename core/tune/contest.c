/* contest.c - see contest.h. */
#include "tune/contest.h"

enum { MIN_RUNS = 3, MAX_RUNS = 12 }; /* of each way */
/* ratios of minima: so much less time decides at once; so much more is a loss, since the minima of
 * equal ways differ by less */
static const double clear_gain = 0.9, loss = 1 / 1.05;

static bool is_less(const TuneContest *contest, TuneSide side, double gain) {
  return times_are_less(&contest->times[side], &contest->times[1 - side], gain);
}

static bool have_run(const TuneContest *contest, int runs) {
  return contest->times[TUNE_OLD].count >= runs && contest->times[TUNE_NEW].count >= runs;
}

static bool has_ended(const TuneContest *contest) {
  return contest->started >= 2 * MAX_RUNS ||
         (have_run(contest, MIN_RUNS) && is_less(contest, TUNE_NEW, clear_gain));
}

bool contest_is_on(const TuneContest *contest) {
  return !has_ended(contest) || contest->times[TUNE_NEW].count < MAX_RUNS;
}

TuneSide contest_next(TuneContest *contest) {
  if (has_ended(contest)) return TUNE_NEW;
  return contest->started++ % 2 ? TUNE_NEW : TUNE_OLD;
}

void contest_note(TuneContest *contest, TuneSide side, double time) {
  TuneTimes *times = &contest->times[side];
  if (time > 0 && times->count < MAX_RUNS) times_note(times, time);
}

bool contest_is_lost(const TuneContest *contest) {
  return have_run(contest, MAX_RUNS) && is_less(contest, TUNE_OLD, loss);
}
