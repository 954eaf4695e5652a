/* tuner.h - which of several candidates is fastest, found out among real runs: nothing runs twice.
 *
 *     round: each candidate once, in turn --after some rounds--> the others are too slow, or
 *     the leader has held its place --> kept
 *
 * Candidate 0 is the default. Compared are the least times of each, per unit of work, since a
 * disturbance only ever adds: of ten interleaved runs the minima of two equal kernels differ by
 * more than 5 % in one trial of a hundred on a busy machine, while means do in half of them. A
 * candidate leads only once it is 5 % faster than the default and than the leader before it, and is
 * kept after it has led for three rounds in a row; else the default is.
 * Several runs may be under way before the first is noted. One thread at a time. */
#ifndef RG_TUNE_TUNER_H
#define RG_TUNE_TUNER_H

#include <stdbool.h>
#include <stdint.h>

enum { TUNE_MOST = 16, TUNE_RING = 10, TUNE_UNDECIDED = -1 };

typedef enum TuneState {
  TUNE_TRIED,    /* in every round */
  TUNE_TOO_SLOW, /* after some rounds: no more */
  TUNE_FAILED    /* could not run */
} TuneState;

typedef struct TuneRow {    /* a candidate */
  TuneState state;
  bool is_asked, is_done;   /* in this round: runs now; has run */
  int32_t samples;
  double best;              /* least time per unit of work; 0: none yet */
  double ring[TUNE_RING];   /* the last samples */
} TuneRow;

typedef struct Tuner {
  int32_t count;
  TuneRow rows[TUNE_MOST];
  int32_t turn;             /* the candidate that is asked next, or none before it */
  int32_t rounds, streak;   /* complete ones; and how many of them the leader has led */
  int32_t leader;
  int32_t kept;             /* TUNE_UNDECIDED: trials go on */
  bool is_recalled;         /* kept since it was known: no trials */
  int32_t slow;             /* runs in a row that took much longer than what is kept did */
} Tuner;

/* `count` at most TUNE_MOST. */
void tuner_begin(Tuner *tuner, int32_t count);
/* The choice is known, from an earlier run. */
void tuner_recall(Tuner *tuner, int32_t candidate);
/* The candidate whose turn it is; TUNE_UNDECIDED: all that are left in the round are under way, or
 * the choice is made. Asking changes nothing. */
int32_t tuner_next(const Tuner *tuner);
/* What to run where there shall be no trial. */
int32_t tuner_choice(const Tuner *tuner);
/* It is going to run, as a trial; then one of the next two follows. */
void tuner_ask(Tuner *tuner, int32_t candidate);
void tuner_note(Tuner *tuner, int32_t candidate, double time, double work);
/* A run of what is kept, which was no trial. After many in a row that took half as long again as it
 * did at its best, things have changed: trials begin anew. */
void tuner_watch(Tuner *tuner, double time, double work);
void tuner_forget(Tuner *tuner, int32_t candidate); /* its run says nothing */
/* It cannot run: it is out, also where it is what was kept. False: none is left. */
bool tuner_fail(Tuner *tuner, int32_t candidate);
/* How much longer than the choice a trial will take, as far as is known; in units of the choice's
 * own time: 0.5 is half as long again. Without samples it is taken to be twice as slow. */
double tuner_excess(const Tuner *tuner, int32_t candidate);
/* Is the choice worth keeping beyond this process? If times were even, or if it is faster by more
 * than they differed: on a busy machine the default's are uneven, whatever lies between the two. */
bool tuner_is_sure(const Tuner *tuner);

/* -- the budget: trials may cost a share of all that is run, over all tuners ------------------- */
typedef struct TuneBudget {
  double share;             /* 0.05; 0: no limit */
  double spent;             /* time that trials took beyond what the choice would have */
} TuneBudget;

/* May a run begin that is expected to cost `excess`, when all runs took `total` so far? */
bool budget_allows(const TuneBudget *budget, double excess, double total);
void budget_spend(TuneBudget *budget, double time); /* below 0: nothing */

/* `number` rounded to the nearest power of two above: extents with equal anchors share a choice. */
uint64_t tune_anchor(uint64_t number);

#endif
