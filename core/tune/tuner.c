/* tuner.c - see tuner.h. Invariant: while trials continue, `next` is below `count`, and the leader
 * is a candidate that is still tried. */
#include "tune/tuner.h"

#include "base/error.h"

enum { SLOW_RUNS = 32 };
enum { DROP_ROUNDS = 3, KEEP_ROUNDS = 3, LEAD_ROUNDS = 5, MAX_ROUNDS = 10, MIN_TRIED = 2 };
enum { MIN_SAMPLES = 2 };
static const double gain = 0.95, too_slow = 1.5, steady = 1.3;

void tuner_begin(Tuner *tuner, int32_t count) {
  ASSERT(count > 0 && count <= TUNE_MAX_CANDIDATES,
         "a tuner has a default, and room for its candidates");
  *tuner = (Tuner){.count = count, .chosen = count == 1 ? 0 : TUNE_UNDECIDED};
}

void tuner_recall(Tuner *tuner, int32_t candidate) {
  tuner->chosen = tuner->leader = candidate;
  tuner->is_recalled = true;
}

static bool is_due(const TuneRow *row) {
  return row->state == TUNE_TRIED && !row->is_running && !row->is_done;
}

int32_t tuner_next(const Tuner *tuner) {
  if (tuner->chosen != TUNE_UNDECIDED) return TUNE_UNDECIDED;
  for (int32_t k = 0; k < tuner->count; k++) {
    int32_t candidate = (tuner->next + k) % tuner->count;
    if (is_due(&tuner->rows[candidate])) return candidate;
  }
  return TUNE_UNDECIDED;
}

static int32_t first_usable(const Tuner *tuner) {
  for (int32_t k = 0; k < tuner->count; k++)
    if (tuner->rows[k].state != TUNE_FAILED) return k;
  return TUNE_UNDECIDED;
}

void tuner_begin_trial(Tuner *tuner, int32_t candidate) {
  tuner->rows[candidate].is_running = true;
  tuner->next = (candidate + 1) % tuner->count;
}

/* -- rounds ------------------------------------------------------------------------------------ */

static bool is_tried(const Tuner *tuner, int32_t k) { return tuner->rows[k].state == TUNE_TRIED; }

static int32_t count_tried(const Tuner *tuner) {
  int32_t count = 0;
  for (int32_t k = 0; k < tuner->count; k++) count += is_tried(tuner, k);
  return count;
}

static const TuneTimes *times_of(const Tuner *tuner, int32_t k) { return &tuner->rows[k].times; }

static bool is_faster(const Tuner *tuner, int32_t candidate, int32_t than) {
  return times_are_less(times_of(tuner, candidate), times_of(tuner, than), gain);
}

static bool is_ahead(const Tuner *tuner, int32_t candidate, int32_t than) {
  bool has_less = times_of(tuner, candidate)->best < times_of(tuner, than)->best;
  return is_faster(tuner, candidate, than) || (has_less && !is_faster(tuner, than, candidate));
}

static int32_t find_fastest(const Tuner *tuner) {
  int32_t fastest = first_usable(tuner);
  for (int32_t k = 0; k < tuner->count; k++)
    if (is_tried(tuner, k) && is_ahead(tuner, k, fastest)) fastest = k;
  return fastest;
}

/* Until the choice is made, runs take the fastest candidate so far: rounds may last long if a slow
 * candidate waits for its share of the time. */
int32_t tuner_choice(const Tuner *tuner) {
  if (tuner->chosen != TUNE_UNDECIDED) return tuner->chosen;
  int32_t choice = first_usable(tuner);
  if (choice == TUNE_UNDECIDED) return 0;
  for (int32_t k = 0; k < tuner->count; k++)
    if (is_tried(tuner, k) && times_of(tuner, k)->count >= MIN_SAMPLES &&
        times_of(tuner, choice)->count && is_faster(tuner, k, choice))
      choice = k;
  return choice;
}

/* A leader must be faster than the default or, if that failed, than the first candidate left. */
static void find_leader(Tuner *tuner) {
  int32_t before = tuner->leader, base = first_usable(tuner), fastest = find_fastest(tuner);
  if (!is_tried(tuner, before) || (before != base && !is_faster(tuner, before, base)))
    tuner->leader = base;
  if (is_faster(tuner, fastest, tuner->leader)) tuner->leader = fastest;
  tuner->streak = tuner->leader == before ? tuner->streak + 1 : 1;
}

static void drop_slow(Tuner *tuner) {
  double best = times_of(tuner, find_fastest(tuner))->best;
  for (int32_t k = 1; k < tuner->count; k++) {
    TuneRow *row = &tuner->rows[k];
    if (row->state == TUNE_TRIED && k != tuner->leader && row->times.best > too_slow * best &&
        count_tried(tuner) > MIN_TRIED)
      row->state = TUNE_TOO_SLOW;
  }
}

static void end_round(Tuner *tuner) {
  tuner->rounds++;
  find_leader(tuner);
  if (tuner->rounds >= DROP_ROUNDS) drop_slow(tuner);
  for (int32_t k = 0; k < tuner->count; k++) tuner->rows[k].is_done = false;
  bool is_default = tuner->leader == first_usable(tuner);
  int32_t min_rounds = is_default ? KEEP_ROUNDS : LEAD_ROUNDS;
  if (tuner->rounds >= min_rounds && tuner->streak >= KEEP_ROUNDS) tuner->chosen = tuner->leader;
  else if (tuner->rounds >= MAX_ROUNDS) tuner->chosen = first_usable(tuner);
}

static void end_complete_round(Tuner *tuner) {
  if (tuner->chosen != TUNE_UNDECIDED || !count_tried(tuner)) return;
  for (int32_t k = 0; k < tuner->count; k++)
    if (is_tried(tuner, k) && !tuner->rows[k].is_done) return;
  end_round(tuner);
}

void tuner_note(Tuner *tuner, int32_t candidate, double time, double work) {
  TuneRow *row = &tuner->rows[candidate];
  row->is_running = false;
  if (tuner->chosen != TUNE_UNDECIDED || row->state != TUNE_TRIED) return;
  times_note(&row->times, work > 0 ? time / work : time);
  row->is_done = true;
  end_complete_round(tuner);
}

static void restart_trials(Tuner *tuner) {
  Tuner before = *tuner;
  tuner_begin(tuner, before.count);
  for (int32_t k = 0; k < before.count; k++)
    if (before.rows[k].state == TUNE_FAILED) tuner_fail(tuner, k);
}

void tuner_watch(Tuner *tuner, double time, double work) {
  if (tuner->chosen == TUNE_UNDECIDED || tuner->count == 1) return;
  TuneRow *row = &tuner->rows[tuner->chosen];
  double cost = work > 0 ? time / work : time;
  times_lower(&row->times, cost);
  tuner->slow = cost > too_slow * row->times.best ? tuner->slow + 1 : 0;
  if (tuner->slow >= SLOW_RUNS) restart_trials(tuner);
}

void tuner_forget(Tuner *tuner, int32_t candidate) { tuner->rows[candidate].is_running = false; }

bool tuner_fail(Tuner *tuner, int32_t candidate) {
  TuneRow *row = &tuner->rows[candidate];
  row->is_running = false;
  row->state = TUNE_FAILED;
  int32_t left = first_usable(tuner);
  if (left == TUNE_UNDECIDED) {
    tuner->chosen = 0;
    return false;
  }
  if (tuner->chosen == candidate) tuner->chosen = left;
  if (tuner->leader == candidate) tuner->leader = left, tuner->streak = 0;
  if (tuner->chosen == TUNE_UNDECIDED && count_tried(tuner) == 1) tuner->chosen = left;
  end_complete_round(tuner);
  return true;
}

/* -- costs, and certainty ---------------------------------------------------------------------- */

double tuner_excess(const Tuner *tuner, int32_t candidate) {
  double best_of_choice = times_of(tuner, tuner_choice(tuner))->best,
         own = times_of(tuner, candidate)->best;
  if (candidate == tuner_choice(tuner)) return 0;
  if (!(best_of_choice > 0) || !(own > 0)) return 1;
  return own > best_of_choice ? own / best_of_choice - 1 : 0;
}

static bool is_steady(const TuneTimes *times) {
  return times->count && times_median(times) <= steady * times->best;
}

/* Was the median of the choice's times, disturbances included, less than the best of every
 * other? */
static bool wins_disturbed(const Tuner *tuner, int32_t chosen) {
  const TuneTimes *times = times_of(tuner, chosen);
  int32_t others = 0;
  for (int32_t k = 0; k < tuner->count; k++) {
    const TuneRow *other = &tuner->rows[k];
    if (k == chosen || other->state == TUNE_FAILED) continue;
    if (!other->times.count || times_median(times) >= other->times.best * gain) return false;
    others++;
  }
  return times->count && others;
}

bool tuner_is_sure(const Tuner *tuner) {
  int32_t chosen = tuner->chosen, base = first_usable(tuner);
  if (chosen == TUNE_UNDECIDED || base == TUNE_UNDECIDED) return false;
  return (is_steady(times_of(tuner, chosen)) && is_steady(times_of(tuner, base))) ||
         wins_disturbed(tuner, chosen);
}

bool budget_allows(const TuneBudget *budget, double excess, double total) {
  return !(budget->share > 0) || excess <= 0 || budget->spent + excess <= budget->share * total;
}

void budget_spend(TuneBudget *budget, double time) {
  if (time > 0) budget->spent += time;
}

uint64_t tune_size_bucket(uint64_t number) {
  uint64_t bucket = 1;
  if (number == 0) return 0;
  while (bucket < number && bucket < (uint64_t)1 << 63) bucket <<= 1;
  return bucket;
}
