/* contest.h - decides whether a new way to compute the same replaces the old one. Real runs
 * alternate, the old way first, until the new one is clearly faster or both have run often enough.
 * Their times are compared by the rule of times.h. One thread at a time may call. */
#ifndef RG_TUNE_CONTEST_H
#define RG_TUNE_CONTEST_H

#include "tune/times.h"

typedef enum TuneSide { TUNE_OLD, TUNE_NEW } TuneSide;

typedef struct TuneContest { /* all zeros: begins */
  int32_t started;           /* runs that were chosen */
  TuneTimes times[2];        /* of the runs of known time */
} TuneContest;

/* The way to run next. */
TuneSide contest_next(TuneContest *contest);
void contest_note(TuneContest *contest, TuneSide side, double time);
/* Do both ways still run? */
bool contest_is_on(const TuneContest *contest);
/* Has the new way turned out to be slower? Once true, it stays true. */
bool contest_is_lost(const TuneContest *contest);

#endif
