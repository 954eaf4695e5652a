/* contest_test.c - whether a new candidate stays, with times that the test chooses. */
#include "check.h"
#include "tune/contest.h"

/* How many of so many runs the old way had; run k of a way takes its time * (1 + k * growth). */
static int run(TuneContest *contest, int runs, double old_time, double new_time, double growth) {
  int olds = 0;
  for (int k = 0; k < runs; k++) {
    TuneSide side = contest_next(contest);
    olds += side == TUNE_OLD;
    contest_note(contest, side, (side == TUNE_OLD ? old_time : new_time) * (1 + k * growth));
  }
  return olds;
}

int main(void) {
  TEST("the old candidate runs first, then both in turn") {
    TuneContest contest = {0};
    for (int k = 0; k < 8; k++) CHECK_INT(k % 2 ? TUNE_NEW : TUNE_OLD, contest_next(&contest));
  }
  TEST("a new candidate that is slower loses") {
    TuneContest contest = {0};
    run(&contest, 23, 10, 12, 0);
    CHECK(!contest_is_lost(&contest));
    run(&contest, 1, 10, 12, 0);
    CHECK(contest_is_lost(&contest));
  }
  TEST("a new candidate that is clearly faster stays after a few runs of the old one") {
    TuneContest contest = {0};
    CHECK_INT(3, run(&contest, 100, 10, 5, 0));
    CHECK(!contest_is_lost(&contest));
  }
  TEST("the contest lasts until the new candidate has run often enough") {
    TuneContest contest = {0};
    run(&contest, 6, 10, 5, 0);
    CHECK(contest_is_on(&contest));
    run(&contest, 9, 10, 5, 0);
    CHECK(!contest_is_on(&contest));
  }
  TEST("a new candidate that is equally fast stays") {
    TuneContest contest = {0};
    CHECK_INT(12, run(&contest, 100, 10, 10.2, 0));
    CHECK(!contest_is_lost(&contest));
  }
  TEST("both are compared while the work grows, as in a simulation that spreads") {
    TuneContest contest = {0};
    run(&contest, 100, 10, 9.5, 0.02);
    CHECK(!contest_is_lost(&contest));
  }
  TEST("a new candidate that was disturbed as often as the old one stays") {
    TuneContest contest = {0};
    for (int k = 0; k < 24; k++)
      contest_note(&contest, contest_next(&contest), k % 12 < 2 ? 10 : 30);
    CHECK(!contest_is_lost(&contest));
  }
  TEST("one run that had little to do does not save a new candidate that is slower") {
    TuneContest contest = {0};
    for (int k = 0; k < 24; k++) {
      TuneSide side = contest_next(&contest);
      contest_note(&contest, side, side == TUNE_OLD || k == 5 ? 10 : 30);
    }
    CHECK(contest_is_lost(&contest));
  }
  TEST("one run that had little to do does not favour a new candidate during the contest") {
    TuneContest contest = {0};
    for (int k = 0; k < 12; k++) {
      TuneSide side = contest_next(&contest);
      contest_note(&contest, side, side == TUNE_OLD ? 10 : k == 5 ? 5 : 14);
    }
    CHECK_INT(TUNE_OLD, contest_next(&contest));
  }
  TEST("without times the new candidate runs after as many launches, and stays") {
    TuneContest contest = {0};
    CHECK_INT(12, run(&contest, 100, 0, 0, 0));
    CHECK(!contest_is_lost(&contest));
  }
  return check_report();
}
