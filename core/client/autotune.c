/* autotune.c - see autotune.h. */
#include "client/autotune.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "kernel/launch/queue.h"
#include "kernel/tuning/tuning.h"

enum { MAX_ENTRIES = 256, LABEL_BYTES = 80 };
static const double min_trial_ms = 0.02, default_share = 0.05;

typedef struct AutotuneEntry {
  struct AutotuneEntry *next;
  uint64_t about;
  char words[LABEL_BYTES];
  Tuner tuner;
  double chosen_ticks; /* duration of the chosen candidate's last trial */
  bool is_too_short;   /* calls take so little time that trials would cost too much */
} AutotuneEntry;

struct Autotune {
  Object object;
  Engine *engine;
  uint64_t key; /* of key and names */
  char *names[TUNE_MAX_CANDIDATES];
  int32_t count, entry_count;
  TuneBudget budget;
  AutotuneEntry *entries;
  /* the call in progress: */
  AutotuneEntry *running; /* NULL: there is none, or it is not tuned */
  int32_t depth, candidate;
  bool is_trial;
  uint32_t unable; /* a bit per candidate: it could not run this call */
  uint64_t begin_ticks;
};

static void end(Object *object) {
  Autotune *set = (Autotune *)object;
  Heap *heap = &object->owner->heap;
  for (int32_t k = 0; k < set->count; k++) heap_free(heap, set->names[k]);
  for (AutotuneEntry *entry = set->entries, *next; entry; entry = next) {
    next = entry->next;
    heap_free(heap, entry);
  }
  object_free(object);
}

static bool no_memory(Error *err) {
  return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a set of candidates");
}

static bool add_name(Autotune *set, const char *name, Error *err) {
  for (int32_t k = 0; k < set->count; k++)
    if (!strcmp(set->names[k], name))
      return error_set(err, RG_ERROR_ARGUMENT, "two candidates are called '%.80s'", name);
  char *copy = heap_copy_text(&set->object.owner->heap, name);
  if (!copy) return no_memory(err);
  set->names[set->count++] = copy;
  set->key = hash_bytes(set->key, name, strlen(name) + 1);
  return true;
}

Autotune *autotune_create(Engine *engine, const char *key, const char *const *names, int32_t count,
                          double share, Error *err) {
  if (!owner_check(engine->store->owner, err)) return NULL;
  if (count < 1 || count > TUNE_MAX_CANDIDATES) {
    error_set(err, RG_ERROR_ARGUMENT, "a set has 1 to %d candidates, not %d", TUNE_MAX_CANDIDATES,
              count);
    return NULL;
  }
  Autotune *set = object_create(engine->store->owner, end, sizeof *set, err);
  if (!set) return NULL;
  set->engine = engine;
  set->key = hash_bytes(0, key, strlen(key) + 1);
  set->budget.share = share > 0 ? share : default_share;
  if (share >= 1) set->budget.share = 0;
  bool ok = true;
  for (int32_t k = 0; ok && k < count; k++) ok = add_name(set, names[k], err);
  if (ok) return set;
  object_release(&set->object);
  return NULL;
}

/* -- entries ----------------------------------------------------------------------------------- */

static bool make_key(const Autotune *set, const AutotuneEntry *entry, char key[TUNE_KEY_BYTES]) {
  uint64_t parts[] = {set->key, entry->about};
  return tuning_key(set->engine, NULL, 0, parts, sizeof parts, key);
}

/* Choices are recorded by number, since names may be any text; the key contains the names. */
static void recall(const Autotune *set, AutotuneEntry *entry) {
  char key[TUNE_KEY_BYTES];
  int candidate;
  if (!make_key(set, entry, key)) return;
  const char *word = tuning_recall(set->engine, key);
  if (word && sscanf(word, "candidate=%d", &candidate) == 1 && candidate >= 0 &&
      candidate < set->count)
    tuner_recall(&entry->tuner, candidate);
}

static double row_ms(const Autotune *set, const AutotuneEntry *entry, int32_t k) {
  return engine_ms(set->engine, (uint64_t)entry->tuner.rows[k].times.best);
}

static void record(const Autotune *set, const AutotuneEntry *entry) {
  char key[TUNE_KEY_BYTES], word[40];
  if (!tuner_is_sure(&entry->tuner) || !make_key(set, entry, key)) return;
  snprintf(word, sizeof word, "candidate=%d", entry->tuner.chosen);
  tuning_record(set->engine, key, word, row_ms(set, entry, 0),
                row_ms(set, entry, entry->tuner.chosen));
}

static AutotuneEntry *find_entry(Autotune *set, const char *about) {
  uint64_t hash = hash_bytes(1, about, strlen(about));
  AutotuneEntry *entry = set->entries;
  while (entry && entry->about != hash) entry = entry->next;
  if (entry || set->entry_count == MAX_ENTRIES) return entry;
  entry = heap_alloc(&set->object.owner->heap, sizeof *entry);
  if (!entry) return NULL;
  entry->about = hash;
  snprintf(entry->words, sizeof entry->words, "%s", about);
  tuner_begin(&entry->tuner, set->count);
  entry->next = set->entries;
  set->entries = entry;
  set->entry_count++;
  recall(set, entry);
  return entry;
}

/* -- calls ------------------------------------------------------------------------------------- */

static int32_t next_trial(const Autotune *set, const AutotuneEntry *entry) {
  const Engine *engine = set->engine;
  int32_t wanted = tuner_next(&entry->tuner);
  double total = (double)(clock_ticks() - engine->begin_ticks);
  double excess = tuner_excess(&entry->tuner, wanted < 0 ? 0 : wanted) * entry->chosen_ticks;
  if (wanted == TUNE_UNDECIDED || engine->options.tunes == TUNE_ALWAYS) return wanted;
  return engine->options.tunes == TUNE_ONLINE && !entry->is_too_short &&
                 budget_allows(&set->budget, excess, total)
             ? wanted
             : TUNE_UNDECIDED;
}

static void start_candidate(Autotune *set, int32_t candidate, bool is_trial) {
  set->candidate = candidate;
  set->is_trial = is_trial;
  if (!is_trial) return;
  tuner_begin_trial(&set->running->tuner, candidate);
  queue_report_all(set->engine, NULL);
  set->begin_ticks = clock_ticks();
}

bool autotune_begin(Autotune *set, const char *about, int32_t *candidate, Error *err) {
  *candidate = 0;
  if (!owner_check(set->object.owner, err)) return false;
  AutotuneEntry *entry = find_entry(set, about);
  if (entry) *candidate = tuner_choice(&entry->tuner);
  if (set->depth++) return true;
  set->running = entry;
  set->unable = 0;
  set->candidate = 0;
  set->is_trial = false;
  if (!entry || set->engine->options.tunes == TUNE_OFF) return true;
  int32_t wanted = next_trial(set, entry);
  if (wanted != TUNE_UNDECIDED) *candidate = wanted;
  start_candidate(set, *candidate, wanted != TUNE_UNDECIDED);
  return true;
}

static void record_trial(Autotune *set) {
  Engine *engine = set->engine;
  AutotuneEntry *entry = set->running;
  Tuner *tuner = &entry->tuner;
  queue_report_all(engine, NULL);
  double ticks = (double)(clock_ticks() - set->begin_ticks);
  tuner_note(tuner, set->candidate, ticks, 1);
  double chosen = tuner->rows[tuner_choice(tuner)].times.best;
  if (chosen > 0) budget_spend(&set->budget, ticks - chosen);
  if (set->candidate == tuner_choice(tuner)) entry->chosen_ticks = ticks;
  bool is_short = engine_ms(engine, (uint64_t)ticks) < min_trial_ms;
  entry->is_too_short |= is_short && !set->candidate && set->budget.share > 0;
  if (tuner->chosen != TUNE_UNDECIDED) record(set, entry);
}

/* Excludes the candidates that could not run, since another one could. */
static void exclude_unable(Autotune *set) {
  for (int32_t k = 0; set->running && k < set->count; k++)
    if (set->unable >> k & 1) tuner_fail(&set->running->tuner, k);
}

static int32_t next_candidate(const Autotune *set) {
  for (int32_t k = 0; k < set->count; k++) {
    bool is_excluded = set->running && set->running->tuner.rows[k].state == TUNE_FAILED;
    if (!is_excluded && !(set->unable >> k & 1)) return k;
  }
  return -1;
}

bool autotune_end(Autotune *set, AutotuneOutcome outcome, int32_t *candidate, Error *err) {
  *candidate = -1;
  if (!owner_check(set->object.owner, err)) return false;
  if (!set->depth)
    return error_set(err, RG_ERROR_ARGUMENT, "the set has no call in progress that could end");
  if (set->depth > 1 || !set->running) {
    set->depth--;
    return true;
  }
  if (outcome == AUTOTUNE_CANNOT) {
    set->unable |= (uint32_t)1 << set->candidate;
    if (set->is_trial) tuner_forget(&set->running->tuner, set->candidate);
    *candidate = next_candidate(set);
    if (*candidate >= 0) {
      start_candidate(set, *candidate, false);
      return true;
    }
  } else if (outcome == AUTOTUNE_RAN) {
    if (set->is_trial) record_trial(set);
    exclude_unable(set);
  } else if (set->is_trial) {
    tuner_forget(&set->running->tuner, set->candidate);
  }
  set->running = NULL;
  set->depth = 0;
  return true;
}

int32_t autotune_count(const Autotune *set) { return set->count; }

bool autotune_row(const Autotune *set, int32_t row, RgTuneRow *out) {
  *out = (RgTuneRow){0};
  for (const AutotuneEntry *entry = set->entries; entry && row >= 0; entry = entry->next) {
    if (row < set->count) {
      tuning_fill_row(&entry->tuner, row, out);
      out->candidate = set->names[row];
      out->about = entry->words;
      out->ms = row_ms(set, entry, row);
      return true;
    }
    row -= set->count;
    out->group++;
  }
  return false;
}

/* -- a set of launches ------------------------------------------------------------------------- */

bool client_execute_autotune(Engine *engine, int32_t stream, Autotune *set, const char *about,
                             const AutotuneLaunch *launches, RgValue *result, Error *err) {
  int32_t candidate;
  bool ok = false;
  if (!autotune_begin(set, about, &candidate, err)) return false;
  Error first;
  error_clear(&first);
  while (candidate >= 0) {
    Error failure;
    error_clear(&failure);
    const AutotuneLaunch *launch = &launches[candidate];
    uint64_t before = engine->stats.launches;
    ok = client_execute(engine, stream, launch->kernel, launch->values, launch->value_count, result,
                        &failure);
    bool has_run = engine->stats.launches != before;
    if (!ok && !error_is_set(&first)) first = failure;
    if (!ok && has_run) first = failure;
    AutotuneOutcome outcome = ok ? AUTOTUNE_RAN : has_run ? AUTOTUNE_FAILED : AUTOTUNE_CANNOT;
    if (!autotune_end(set, outcome, &candidate, err)) return false;
  }
  if (!ok) error_add(err, &first);
  return ok;
}
