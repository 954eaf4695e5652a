/* tuner_test.c - the choice among candidates, with times that the test chooses. */
#include <stdlib.h>

#include "check.h"
#include "tune/tuner.h"

static uint64_t state;
static double noise(void) { /* 0 .. 1 */
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 40) / (double)(1 << 24);
}

/* A run on a busy machine: one in eight is delayed. */
static double time_of(double own) {
  double held = noise() < 0.125 ? 0.5 * noise() : 0;
  return own * (1 + 0.02 * noise() + held);
}

/* Runs until a choice is made, with these times; returns the number of runs, 1000 at most. */
static int run_trials(Tuner *tuner, const double *times) {
  int runs = 0;
  for (; tuner->chosen == TUNE_UNDECIDED && runs < 1000; runs++) {
    int32_t candidate = tuner_next(tuner);
    tuner_begin_trial(tuner, candidate);
    tuner_note(tuner, candidate, time_of(times[candidate]), 1);
  }
  return runs;
}

static void choosing(void) {
  TEST("a candidate three times as fast is kept in 20 of 20 trials") {
    for (uint64_t seed = 1; seed <= 20; seed++) {
      Tuner tuner;
      state = seed * 977;
      tuner_begin(&tuner, 4);
      double times[] = {3, 3.1, 1, 6};
      CHECK(run_trials(&tuner, times) < 40);
      CHECK_INT(2, tuner.chosen);
      CHECK_INT(TUNE_TOO_SLOW, tuner.rows[3].state);
    }
  }
  TEST("of equal candidates the default is kept in at least 19 of 20 trials") {
    int kept = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
      Tuner tuner;
      double times[] = {1, 1, 1, 1};
      state = seed * 1313;
      tuner_begin(&tuner, 4);
      run_trials(&tuner, times);
      kept += tuner.chosen == 0;
    }
    CHECK(kept >= 19);
  }
  TEST("a candidate that is usually faster is kept, although some runs had little to do") {
    const double usual[] = {5.9, 2.2, 5.8, 5.7, 2.1, 5.8, 5.9, 5.8, 5.9, 5.8};
    const double other[] = {2.5, 2.1, 2.6, 2.5, 2.4, 2.5, 2.6, 2.5, 2.5, 2.4};
    const double *first[] = {usual, other}, *second[] = {other, usual};
    for (int side = 0; side < 2; side++) {
      Tuner tuner;
      tuner_begin(&tuner, 2);
      for (int k = 0; k < 10 && tuner.chosen == TUNE_UNDECIDED; k++)
        for (int32_t candidate = 0; candidate < 2; candidate++)
          tuner_note(&tuner, candidate, (side ? second : first)[candidate][k], 1);
      CHECK_INT(side ? 0 : 1, tuner.chosen);
    }
  }
  TEST("runs take the candidate that is ahead after two samples, before the choice is made") {
    Tuner tuner;
    tuner_begin(&tuner, 3);
    tuner_note(&tuner, 0, 100, 1);
    tuner_note(&tuner, 1, 50, 1);
    CHECK_INT(0, tuner_choice(&tuner)); /* one sample may be luck */
    tuner_note(&tuner, 1, 51, 1);
    CHECK_INT(1, tuner_choice(&tuner));
    CHECK_INT(TUNE_UNDECIDED, tuner.chosen);
  }
  TEST("less than five percent does not move the default") {
    Tuner tuner;
    tuner_begin(&tuner, 2);
    for (int k = 0; k < 3; k++) {
      tuner_note(&tuner, 0, 100, 1);
      tuner_note(&tuner, 1, 96, 1);
    }
    CHECK_INT(0, tuner.chosen);
  }
  TEST("a candidate must lead for three rounds in a row") {
    Tuner tuner;
    tuner_begin(&tuner, 2);
    for (int k = 0; k < 4; k++) {
      CHECK_INT(TUNE_UNDECIDED, tuner.chosen);
      tuner_note(&tuner, 0, 100, 1);
      tuner_note(&tuner, 1, k < 2 ? 100 : 50, 1); /* leads from the third round on */
    }
    CHECK_INT(TUNE_UNDECIDED, tuner.chosen);
    CHECK_INT(2, tuner.streak);
    tuner_note(&tuner, 0, 100, 1);
    tuner_note(&tuner, 1, 50, 1);
    CHECK_INT(1, tuner.chosen);
  }
  TEST("candidates take turns, the slow ones less often") {
    Tuner tuner;
    tuner_begin(&tuner, 3);
    double times[] = {1, 1, 9};
    int asked[3] = {0};
    for (int k = 0; k < 9; k++) {
      int32_t candidate = tuner_next(&tuner);
      CHECK_INT(k % 3, candidate);
      asked[candidate]++;
      tuner_begin_trial(&tuner, candidate);
      tuner_note(&tuner, candidate, times[candidate], 1);
    }
    CHECK_INT(3, asked[2]);
    CHECK_INT(0, tuner.chosen);
  }
}

static void running(void) {
  TEST("several runs may be in progress") {
    Tuner tuner;
    tuner_begin(&tuner, 3);
    for (int k = 0; k < 3; k++) {
      CHECK_INT(k, tuner_next(&tuner));
      tuner_begin_trial(&tuner, k);
    }
    CHECK_INT(TUNE_UNDECIDED, tuner_next(&tuner));
    tuner_note(&tuner, 1, 1, 1);
    CHECK_INT(TUNE_UNDECIDED, tuner_next(&tuner));
    tuner_forget(&tuner, 2); /* it did not run */
    CHECK_INT(2, tuner_next(&tuner));
    tuner_note(&tuner, 2, 1, 1);
    CHECK_INT(0, tuner.rounds);
    tuner_note(&tuner, 0, 1, 1);
    CHECK_INT(1, tuner.rounds);
  }
  TEST("times are per unit of work, so a growing simulation does not matter") {
    Tuner tuner;
    tuner_begin(&tuner, 2);
    double work = 1000;
    for (int k = 0; k < 5; k++, work *= 1.1) {
      tuner_note(&tuner, 0, 2 * work, work);
      work *= 1.1;
      tuner_note(&tuner, 1, work, work);
    }
    CHECK_INT(1, tuner.chosen);
  }
  TEST("a candidate that fails is removed, and the last remaining one is kept") {
    Tuner tuner;
    tuner_begin(&tuner, 3);
    CHECK(tuner_fail(&tuner, 0));
    CHECK_INT(1, tuner_choice(&tuner));
    CHECK_INT(1, tuner_next(&tuner));
    CHECK(tuner_fail(&tuner, 1));
    CHECK_INT(2, tuner.chosen);
    CHECK(!tuner_fail(&tuner, 2));
    CHECK_INT(0, tuner.chosen);
  }
  TEST("a chosen candidate that fails is replaced by another") {
    Tuner tuner;
    tuner_begin(&tuner, 2);
    tuner_recall(&tuner, 1);
    CHECK_INT(1, tuner_choice(&tuner));
    CHECK(tuner_fail(&tuner, 1));
    CHECK_INT(0, tuner_choice(&tuner));
  }
  TEST("trials start again once the choice takes 1.5 times as long for many runs in a row") {
    Tuner tuner;
    double times[] = {3, 1, 9};
    tuner_begin(&tuner, 3);
    tuner_fail(&tuner, 2);
    run_trials(&tuner, times);
    CHECK_INT(1, tuner.chosen);
    for (int k = 0; k < 100; k++) tuner_watch(&tuner, k % 20 ? 1.7 : 1.1, 1); /* now and then */
    CHECK_INT(1, tuner.chosen);
    for (int k = 0; k < 32; k++) tuner_watch(&tuner, 40, 10); /* four per unit of work */
    CHECK_INT(TUNE_UNDECIDED, tuner.chosen);
    CHECK_INT(TUNE_FAILED, tuner.rows[2].state);
    times[1] = 4;
    run_trials(&tuner, times);
    CHECK_INT(0, tuner.chosen);
    tuner_recall(&tuner, 1);
    for (int k = 0; k < 3; k++) tuner_watch(&tuner, 2, 1); /* its best is learned */
    for (int k = 0; k < 32; k++) tuner_watch(&tuner, 4, 1);
    CHECK_INT(TUNE_UNDECIDED, tuner.chosen);
  }
  TEST("a known choice needs no samples") {
    Tuner tuner;
    tuner_begin(&tuner, 3);
    tuner_recall(&tuner, 2);
    CHECK_INT(2, tuner_choice(&tuner));
    CHECK_INT(TUNE_UNDECIDED, tuner_next(&tuner));
    CHECK_INT(0, tuner.rows[2].times.count);
  }
}

static void bounds(void) {
  TEST("trials take no more than their share of the time") {
    TuneBudget budget = {.share = 0.05};
    Tuner tuner;
    double total = 0, lost = 0, times[] = {1, 3, 5};
    int runs = 0;
    tuner_begin(&tuner, 3);
    for (; runs < 5000 && tuner.chosen == TUNE_UNDECIDED; runs++) {
      int32_t wanted = tuner_next(&tuner);
      double excess = tuner_excess(&tuner, wanted);
      bool may = budget_allows(&budget, excess, total);
      int32_t candidate = may ? wanted : tuner_choice(&tuner);
      if (may) tuner_begin_trial(&tuner, candidate);
      total += times[candidate];
      lost += times[candidate] - 1;
      if (!may) continue;
      tuner_note(&tuner, candidate, times[candidate], 1);
      budget_spend(&budget, times[candidate] - 1);
      /* a first trial may be worse than was expected: then others wait */
      CHECK(lost <= 0.05 * total + 4);
    }
    CHECK_INT(0, tuner.chosen);
    CHECK(runs > 100);
  }
  TEST("a choice among noisy times is not certain") {
    Tuner tuner;
    tuner_begin(&tuner, 2);
    for (int k = 0; k < 3; k++) {
      tuner_note(&tuner, 0, k ? 100 : 50, 1);
      tuner_note(&tuner, 1, 100, 1);
    }
    CHECK_INT(0, tuner.chosen);
    CHECK(!tuner_is_sure(&tuner));
    tuner_begin(&tuner, 2);
    for (int k = 0; k < 6; k++) tuner_note(&tuner, k % 2, 100 + k, 1);
    CHECK(tuner_is_sure(&tuner));
  }
  TEST("a choice is certain if the gap is wider than the noise") {
    Tuner tuner;
    static const double disturbed[] = {1, 3, 1, 2, 3, 2, 1, 3}; /* up to three times as long */
    tuner_begin(&tuner, 2);
    for (int k = 0; k < 8 && tuner.chosen == TUNE_UNDECIDED; k++) {
      tuner_note(&tuner, 0, 700 * disturbed[k], 1);
      tuner_note(&tuner, 1, disturbed[7 - k], 1);
    }
    CHECK_INT(1, tuner.chosen);
    CHECK(tuner_is_sure(&tuner));
    tuner_begin(&tuner, 2); /* twice as fast is less than that */
    for (int k = 0; k < 8 && tuner.chosen == TUNE_UNDECIDED; k++) {
      tuner_note(&tuner, 0, 2 * disturbed[k], 1);
      tuner_note(&tuner, 1, disturbed[7 - k], 1);
    }
    CHECK(!tuner_is_sure(&tuner));
  }
  TEST("a size bucket is the next power of two") {
    CHECK_INT(0, (int64_t)tune_size_bucket(0));
    CHECK_INT(1, (int64_t)tune_size_bucket(1));
    CHECK_INT(1024, (int64_t)tune_size_bucket(1000));
    CHECK_INT(1024, (int64_t)tune_size_bucket(1024));
    CHECK_INT(2048, (int64_t)tune_size_bucket(1025));
  }
}

int main(void) {
  choosing();
  running();
  bounds();
  return check_report();
}
