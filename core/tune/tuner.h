/* tuner.h - finds the fastest of several candidates by timing runs that are needed anyway: nothing
 * runs only for the sake of a measurement.
 *
 *     round: each candidate once, in turn --after some rounds--> the others are too slow, or
 *     the leader has held its place --> chosen
 *
 * Candidate 0 is the default. The tuner compares each candidate's minimum time per unit of work
 * (times.h), since disturbances only add time: on a busy machine the minima of ten interleaved runs
 * of two equal kernels differ by more than 5 % in one trial of a hundred, while the means do in
 * half of them. A candidate leads only if it is 5 % faster than the default and than the previous
 * leader, and is chosen after it has led for three rounds in a row; otherwise the default is
 * chosen. Several runs may be in progress before the first is noted. One thread at a time may call.
 * Decision D-tune-01. */
#ifndef RG_TUNE_TUNER_H
#define RG_TUNE_TUNER_H

#include "tune/times.h"

enum { TUNE_MAX_CANDIDATES = 16, TUNE_UNDECIDED = -1 };

typedef enum TuneState {
  TUNE_TRIED,    /* takes part in every round */
  TUNE_TOO_SLOW, /* dropped after some rounds */
  TUNE_FAILED    /* could not run */
} TuneState;

typedef struct TuneRow { /* a candidate */
  TuneState state;
  bool is_running, is_done; /* in this round: its run is in progress; has ended */
  TuneTimes times;          /* per unit of work */
} TuneRow;

typedef struct Tuner {
  int32_t count;
  TuneRow rows[TUNE_MAX_CANDIDATES];
  int32_t next;           /* the first candidate to consider next */
  int32_t rounds, streak; /* complete rounds; latest rounds with the same leader */
  int32_t leader;
  int32_t chosen;   /* TUNE_UNDECIDED: trials continue */
  bool is_recalled; /* the choice was known: there are no trials */
  int32_t slow;     /* consecutive runs that were much slower than the choice's best */
} Tuner;

/* `count` is at most TUNE_MAX_CANDIDATES. */
void tuner_begin(Tuner *tuner, int32_t count);
/* The choice is known from an earlier process. */
void tuner_recall(Tuner *tuner, int32_t candidate);
/* The next candidate to try; TUNE_UNDECIDED if all left in the round are running, or the choice is
 * made. Does not change the tuner. */
int32_t tuner_next(const Tuner *tuner);
/* The candidate to run outside trials: the chosen one, or the fastest so far. */
int32_t tuner_choice(const Tuner *tuner);
/* A run of the candidate begins, as a trial. Call tuner_note, tuner_forget or tuner_fail when it
 * ends. */
void tuner_begin_trial(Tuner *tuner, int32_t candidate);
void tuner_note(Tuner *tuner, int32_t candidate, double time, double work);
/* Reports a run of the choice that was not a trial. After many consecutive runs that took over 1.5
 * times its best, conditions have changed: trials start over. */
void tuner_watch(Tuner *tuner, double time, double work);
void tuner_forget(Tuner *tuner, int32_t candidate); /* discards its run */
/* The candidate cannot run: excludes it, even if it is the choice. False if none is left. */
bool tuner_fail(Tuner *tuner, int32_t candidate);
/* An estimate of how much longer than the choice a trial will take, in units of the choice's time:
 * 0.5 is half as long again. Without samples, 1 (twice as slow). */
double tuner_excess(const Tuner *tuner, int32_t candidate);
/* Is the choice worth keeping beyond this process? Yes if times were even, or if it is faster by
 * more than they varied: on a busy machine the default's vary most. */
bool tuner_is_sure(const Tuner *tuner);

/* -- the budget: trials may cost a share of the time of all runs, over all tuners -------------- */
typedef struct TuneBudget {
  double share; /* 0.05; 0: no limit */
  double spent; /* time that trials took beyond the choice's time */
} TuneBudget;

/* May a run with the expected excess begin, when all runs took `total` so far? */
bool budget_allows(const TuneBudget *budget, double excess, double total);
void budget_spend(TuneBudget *budget, double time); /* negative times are ignored */

/* `number` rounded up to a power of two, as a size bucket: extents in one bucket share a
 * choice. */
uint64_t tune_size_bucket(uint64_t number);

#endif
