/* tuning.c - see tuning.h. A variant is watched from its first launch that is long enough on. An
 * entry has the tuner of one set of extents; its candidates are rows of candidate.def. */
#include "kernel/tuning.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/map.h"
#include "kernel/compile.h"

enum { WORTH_MS = 100, LEAST_TICKS = 20000, MOST_ENTRIES = 64, HALF = -1 };
static const double least_ms = 0.02, share = 0.05;

enum { SHARED = 1, MANY = 2, SUMS = 4, REORDERS = 8 };
typedef struct Candidate {
  const char *word;
  int32_t when;
  DeviceSwitches switches;
} Candidate;

static const Candidate candidates[] = {
#define CANDIDATE(NAME, WORD, WHEN, ...) {WORD, WHEN, {__VA_ARGS__}},
#include "kernel/candidate.def"
#undef CANDIDATE
};
enum { CANDIDATE_COUNT = sizeof candidates / sizeof *candidates };
_Static_assert((int)CANDIDATE_COUNT <= (int)TUNE_MOST, "a tuner has room for all candidates");

typedef struct TuneEntry {
  struct TuneEntry *next;
  uint64_t extents;         /* their anchors, hashed */
  char about[48];           /* the largest of them, for reports */
  Tuner tuner;
  double usual_ticks;       /* of the last launch that ran as is chosen */
  double work;              /* of the last launch */
  bool is_asleep;           /* launches are too short */
  uint32_t differ;          /* candidates that do not what the default does */
} TuneEntry;

/* Of a variant. */
typedef struct Tuning {
  int32_t count;
  uint8_t rows[CANDIDATE_COUNT]; /* of the table: what is tried */
  double ticks;             /* of the launches since it is watched */
  TuneEntry *entries, *last;
  int32_t entry_count;
} Tuning;

void tuning_init(Engine *engine) {
  bool is_always = engine->options.tunes == TUNE_ALWAYS;
  engine->tune_from = engine->options.tunes == TUNE_OFF ? UINT64_MAX : is_always ? 0 : LEAST_TICKS;
  engine->tune_budget.share = is_always ? 0 : share;
}

void tuning_end(Engine *engine) {
  tune_file_close(engine->tune_file);
  engine->tune_file = NULL;
}

static bool is_always(const Kernel *kernel) {
  return kernel->engine->options.tunes == TUNE_ALWAYS;
}

/* -- what can be tried ------------------------------------------------------------------------- */

static bool is_possible(const Kernel *kernel, const Variant *variant, const Candidate *candidate) {
  const Engine *engine = kernel->engine;
  int32_t workers = engine->store->device->worker_count, shared = 0;
  for (int32_t k = 0; k < variant->task_count; k++)
    shared += !variant->tasks[k].is_ordered && variant->tasks[k].kind != DEVICE_SERIAL;
  bool is_one_order = engine->options.deterministic || workers == 1;
  int32_t has = (shared && workers > 1 ? SHARED : 0) | (shared && workers >= 4 ? MANY : 0) |
                (variant->has_sums ? SUMS : 0) |
                (is_one_order && variant->order_shows ? 0 : REORDERS);
  return !(candidate->when & ~has);
}

static Tuning *watch(Kernel *kernel, Variant *variant) {
  Engine *engine = kernel->engine;
  if (variant->tuning) return variant->tuning;
  Tuning *tuning = heap_alloc(engine->store->heap, sizeof *tuning);
  if (!tuning) return NULL;
  engine->tunings++;
  bool may_try = !engine->options.debug && !engine->store->device->processors[RG_TARGET_PTX];
  for (int32_t k = 0; k < CANDIDATE_COUNT; k++)
    if (!k || (may_try && is_possible(kernel, variant, &candidates[k])))
      tuning->rows[tuning->count++] = (uint8_t)k;
  return variant->tuning = tuning;
}

static DeviceSwitches switches_of(const Kernel *kernel, const Candidate *candidate) {
  DeviceSwitches switches = candidate->switches;
  if (switches.workers == HALF) switches.workers = kernel->engine->store->device->worker_count / 2;
  return switches;
}

/* -- extents ----------------------------------------------------------------------------------- */

static void add_extent(uint64_t number, uint64_t *hash, uint64_t *largest) {
  uint64_t anchor = tune_anchor(number);
  *hash = hash_bytes(*hash, &anchor, sizeof anchor);
  if (anchor > *largest) *largest = anchor;
}

/* Of arguments that bounds are made of, and of the lists that tasks go over; these are the
 * device's while launches are queued. */
static uint64_t extents_of(const Kernel *kernel, const Variant *variant, uint64_t *largest) {
  const Device *device = kernel->engine->store->device;
  uint64_t hash = 1;
  *largest = 0;
  for (uint64_t set = variant->extents; set; set &= set - 1) {
    int32_t k = __builtin_ctzll(set);
    int64_t number = (int32_t)variant->frame[k];
    if (type_bits(variant->args[k].type) == 64) number = (int64_t)variant->frame[k];
    add_extent(number < 0 ? 0 : (uint64_t)number, &hash, largest);
  }
  for (int32_t k = 0; !device->queued && k < variant->task_count; k++) {
    const DeviceTask *task = &variant->tasks[k];
    if (task->kind != DEVICE_NODES || task->manager < 0) continue;
    add_extent(variant->trees[task->tree]->managers[task->manager].list_count, &hash, largest);
  }
  return hash;
}

/* -- what is on disk --------------------------------------------------------------------------- */

static TuneFile *file_of(Engine *engine) {
  char path[1300] = "", name[CACHE_NAME_BYTES];
  if (engine->tune_file) return engine->tune_file;
  RgCodegenRequest request = compile_request(engine, NULL, 0);
  if (cache_name(engine->cache, &request, name))
    snprintf(path, sizeof path, "%s/tune-%.16s.txt", cache_folder(engine->cache), name);
  return engine->tune_file = tune_file_open(engine->store->heap, path);
}

bool tuning_key(Engine *engine, const uint8_t *bytes, int64_t length, const void *rest,
                size_t rest_bytes, char key[TUNE_KEY_BYTES]) {
  const Device *device = engine->store->device;
  char name[CACHE_NAME_BYTES];
  RgCodegenRequest request = compile_request(engine, bytes, length);
  if (engine->options.tunes == TUNE_ALWAYS || !cache_name(engine->cache, &request, name))
    return false;
  uint64_t hash = hash_bytes(1, rest, rest_bytes);
  hash = hash_bytes(hash, &device->worker_count, sizeof device->worker_count);
  if (device->name) hash = hash_bytes(hash, device->name, strlen(device->name));
  snprintf(key, TUNE_KEY_BYTES, "%s.%016" PRIx64, name, hash);
  return true;
}

const char *tuning_recall(Engine *engine, const char *key) {
  return engine->options.tunes == TUNE_OFF ? NULL : tune_file_find(file_of(engine), key);
}

void tuning_record(Engine *engine, const char *key, const char *choice, double usual_ms,
                   double kept_ms) {
  if (engine->options.tunes == TUNE_OFF) return;
  tune_file_add(file_of(engine), key, choice, usual_ms, kept_ms);
}

/* Of the code, the extents, and what is tried. */
static bool make_key(Kernel *kernel, const Variant *variant, const TuneEntry *entry,
                     char key[TUNE_KEY_BYTES]) {
  const Tuning *tuning = variant->tuning;
  uint64_t rest = entry->extents;
  for (int32_t k = 0; k < tuning->count; k++) {
    const char *word = candidates[tuning->rows[k]].word;
    rest = hash_bytes(rest, word, strlen(word));
  }
  return tuning_key(kernel->engine, variant->bytes, variant->byte_count, &rest, sizeof rest, key);
}

static void recall(Kernel *kernel, const Variant *variant, TuneEntry *entry) {
  char key[TUNE_KEY_BYTES];
  const Tuning *tuning = variant->tuning;
  if (tuning->count == 1 || !make_key(kernel, variant, entry, key)) return;
  const char *word = tuning_recall(kernel->engine, key);
  for (int32_t k = 0; word && k < tuning->count; k++)
    if (!strcmp(word, candidates[tuning->rows[k]].word)) tuner_recall(&entry->tuner, k);
}

static double row_ms(Engine *engine, const TuneEntry *entry, int32_t k) {
  return engine_ms(engine, (uint64_t)(entry->tuner.rows[k].best * entry->work));
}

static void record(Kernel *kernel, const Variant *variant, const TuneEntry *entry) {
  char key[TUNE_KEY_BYTES];
  Engine *engine = kernel->engine;
  int32_t kept = entry->tuner.kept;
  if (!tuner_is_sure(&entry->tuner) || !make_key(kernel, variant, entry, key)) return;
  tuning_record(engine, key, candidates[variant->tuning->rows[kept]].word,
                row_ms(engine, entry, 0), row_ms(engine, entry, kept));
}

/* -- entries ----------------------------------------------------------------------------------- */

/* Past the most, extents without an entry of their own run by default. */
static TuneEntry *add_entry(Kernel *kernel, Variant *variant, uint64_t extents, uint64_t largest) {
  Engine *engine = kernel->engine;
  Tuning *tuning = variant->tuning;
  if (tuning->entry_count == MOST_ENTRIES) return NULL;
  TuneEntry *entry = heap_alloc(engine->store->heap, sizeof *entry);
  if (!entry) return NULL;
  entry->extents = extents;
  if (largest) snprintf(entry->about, sizeof entry->about, "extents up to %" PRIu64, largest);
  tuner_begin(&entry->tuner, tuning->count);
  if (is_always(kernel)) entry->tuner.turn = (int32_t)(engine->tunings % (uint64_t)tuning->count);
  entry->next = tuning->entries;
  tuning->entries = entry;
  tuning->entry_count++;
  recall(kernel, variant, entry);
  return entry;
}

static TuneEntry *find_entry(Kernel *kernel, Variant *variant) {
  Tuning *tuning = variant->tuning;
  uint64_t largest, extents = extents_of(kernel, variant, &largest);
  if (tuning->last && tuning->last->extents == extents) return tuning->last;
  TuneEntry *entry = tuning->entries;
  while (entry && entry->extents != extents) entry = entry->next;
  if (!entry) entry = add_entry(kernel, variant, extents, largest);
  return tuning->last = entry;
}

/* -- launches ---------------------------------------------------------------------------------- */

/* May this launch be a trial, and of what? */
static int32_t wanted_trial(Kernel *kernel, const Tuning *tuning, const TuneEntry *entry) {
  Engine *engine = kernel->engine;
  int32_t wanted = tuner_next(&entry->tuner);
  if (wanted == TUNE_UNDECIDED || is_always(kernel)) return wanted;
  bool is_worth_it = engine->options.tunes == TUNE_ONLINE && !entry->is_asleep &&
                     !engine->pending && engine_ms(engine, (uint64_t)tuning->ticks) >= WORTH_MS;
  double excess = tuner_excess(&entry->tuner, wanted) * entry->usual_ticks;
  if (!is_worth_it || !budget_allows(&engine->tune_budget, excess, (double)engine->stats.run_ticks))
    return TUNE_UNDECIDED;
  return wanted;
}

DeviceSwitches tuning_pick(Kernel *kernel, TuneTrial *trial) {
  Tuning *tuning = watch(kernel, trial->base);
  TuneEntry *entry = tuning && tuning->count > 1 ? find_entry(kernel, trial->base) : NULL;
  if (!entry) return (DeviceSwitches){0};
  int32_t wanted = wanted_trial(kernel, tuning, entry);
  if (wanted != TUNE_UNDECIDED) {
    tuner_ask(&entry->tuner, wanted);
    trial->entry = entry;
  }
  trial->candidate = wanted != TUNE_UNDECIDED ? wanted : tuner_choice(&entry->tuner);
  return switches_of(kernel, &candidates[tuning->rows[trial->candidate]]);
}

static void note_trial(Kernel *kernel, const TuneTrial *trial, uint64_t ticks, uint64_t work) {
  Engine *engine = kernel->engine;
  TuneEntry *entry = trial->entry;
  Tuner *tuner = &entry->tuner;
  double units = work ? (double)work : 1;
  entry->work = units;
  tuner_note(tuner, trial->candidate, (double)ticks, units);
  double usual = tuner->rows[tuner_choice(tuner)].best * units;
  if (usual > 0) budget_spend(&engine->tune_budget, (double)ticks - usual);
  if (!trial->candidate) entry->usual_ticks = (double)ticks;
  if (!trial->candidate && !is_always(kernel) && engine_ms(engine, ticks) < least_ms)
    entry->is_asleep = true;
  if (tuner->kept != TUNE_UNDECIDED) record(kernel, trial->base, entry);
}

void tuning_note(Kernel *kernel, const TuneTrial *trial, uint64_t ticks, uint64_t work) {
  Engine *engine = kernel->engine;
  if (trial->entry) note_trial(kernel, trial, ticks, work);
  else if (!is_always(kernel) && engine_ms(engine, ticks) < least_ms) return;
  Tuning *tuning = watch(kernel, trial->base);
  if (tuning) tuning->ticks += (double)ticks;
}

void tuning_forget(const TuneTrial *trial) {
  if (trial->entry) tuner_forget(&trial->entry->tuner, trial->candidate);
}

void tuning_drop(Engine *engine, Variant *variant) {
  Heap *heap = engine->store->heap;
  Tuning *tuning = variant->tuning;
  if (!tuning) return;
  for (TuneEntry *entry = tuning->entries, *next; entry; entry = next) {
    next = entry->next;
    heap_free(heap, entry);
  }
  heap_free(heap, tuning);
  variant->tuning = NULL;
}

/* -- trials beside launches -------------------------------------------------------------------- */

int32_t tuning_count(Kernel *kernel, Variant *variant) {
  const Tuning *tuning = watch(kernel, variant);
  return tuning ? tuning->count : 0;
}

DeviceSwitches tuning_switches(const Kernel *kernel, const Variant *variant, int32_t candidate) {
  return switches_of(kernel, &candidates[variant->tuning->rows[candidate]]);
}

void tuning_keep(Kernel *kernel, Variant *variant, const Tuner *tuner, uint32_t differ) {
  const DeviceLaunch *launch = &kernel->engine->launch;
  TuneEntry *entry = find_entry(kernel, variant);
  if (!entry) return;
  entry->tuner = *tuner;
  entry->differ = differ;
  entry->work = launch->work ? (double)launch->work : 1;
  record(kernel, variant, entry);
}

/* -- reports ----------------------------------------------------------------------------------- */

static const char *const state_words[] = {
    [TUNE_TRIED] = "tried", [TUNE_TOO_SLOW] = "slow", [TUNE_FAILED] = "failed"};

void tuning_fill_row(const Tuner *tuner, int32_t k, RgTuneRow *out) {
  out->state = state_words[tuner->rows[k].state];
  out->is_kept = tuner->kept == k;
  out->is_recalled = tuner->is_recalled;
  out->samples = tuner->rows[k].samples;
}

static void fill_row(Engine *engine, const Tuning *tuning, const TuneEntry *entry, int32_t k,
                     RgTuneRow *out) {
  tuning_fill_row(&entry->tuner, k, out);
  if (entry->differ >> k & 1) out->state = "differs";
  out->candidate = candidates[tuning->rows[k]].word;
  out->about = entry->about;
  out->ms = row_ms(engine, entry, k);
}

/* Is there anything to tell of it? */
static bool is_told(const TuneEntry *entry, int32_t count) {
  if (entry->tuner.is_recalled) return true;
  for (int32_t k = 0; k < count; k++)
    if (entry->tuner.rows[k].samples) return true;
  return false;
}

/* *row counts down to the one that is wanted. */
static bool find_row(Engine *engine, const Variant *variant, int32_t *row, RgTuneRow *out) {
  const Tuning *tuning = variant->tuning;
  for (TuneEntry *entry = tuning ? tuning->entries : NULL; entry; entry = entry->next) {
    if (!is_told(entry, tuning->count)) continue;
    if (*row < tuning->count) {
      fill_row(engine, tuning, entry, *row, out);
      return true;
    }
    *row -= tuning->count;
    out->group++;
  }
  return false;
}

bool tuning_row(Kernel *kernel, int32_t row, RgTuneRow *out) {
  *out = (RgTuneRow){0};
  if (row < 0) return false;
  for (const Variant *variant = kernel->variants; variant; variant = variant->next) {
    Constants unused;
    const Variant *special = special_made(variant, &unused);
    if (find_row(kernel->engine, variant, &row, out) ||
        (special != variant && find_row(kernel->engine, special, &row, out)))
      return true;
  }
  return false;
}
