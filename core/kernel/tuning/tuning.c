/* tuning.c - see tuning.h. A version is watched from its first sufficiently long launch. An entry
 * has the tuners for one set of extents, whose candidates are rows of candidate.def: one tuner has
 * the candidates that need no other code, the other those with other code, each combined with the
 * other tuner's choice. A thread compiles other code, one candidate at a time, as far as the budget
 * allows; trials begin when all code is ready. */
#include "kernel/tuning/tuning.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/map.h"
#include "base/option.h"
#include "kernel/versions/background.h"
#include "kernel/compile/compile.h"
#include "kernel/versions/specialise.h"

enum { MOST_SHORT = 64, WORTH_MS = 50, EARLY_MS = 50, CODE_MS = 2000, LEAST_TICKS = 20000 };
enum {
  MOST_ENTRIES = 64,
  HALF = -1,
  USUAL_MS = 50,
  COMPILE_SHARE = 16,
  LAUNCHES_PER_FIRST_RUN = 4
};
static const double least_ms = 0.02, share = 0.05;

enum { SHARED = 1, MANY = 2, SUMS = 4, UPDATES = 8, REORDERS = 16, HOST = 32, GPU = 64 };
enum { CODE = 128, EARLY = 256 };
typedef struct Candidate {
  const char *word;
  int32_t when;
  DeviceSwitches switches;
  CompileWay way;
} Candidate;

static const Candidate candidates[] = {
#define CANDIDATE(NAME, WORD, WHEN, SWITCHES, ...) {WORD, WHEN, SWITCHES, {__VA_ARGS__}},
#include "kernel/candidate.def"
#undef CANDIDATE
};
enum { CANDIDATE_COUNT = sizeof candidates / sizeof *candidates };
#define CANDIDATE(NAME, WORD, WHEN, ...) +(((WHEN) & CODE) != 0)
enum {
  CODE_COUNT =
#include "kernel/candidate.def"
};
#undef CANDIDATE
_Static_assert((int)CANDIDATE_COUNT - (int)CODE_COUNT <= (int)TUNE_MAX_CANDIDATES &&
                   1 + (int)CODE_COUNT <= (int)TUNE_MAX_CANDIDATES,
               "a tuner has room for all candidates that need no other code, or all that do");

typedef struct TuneEntry {
  struct TuneEntry *next;
  uint64_t extents; /* hash of the extents' size buckets */
  char about[48];   /* the largest extent, for reports */
  char about_code[80];
  Tuner tuner;
  Tuner code;         /* for candidates with other code; count 0: not begun, as in validation */
  int32_t known_code; /* row of candidate.def recalled from disk as the best code; -1: none */
  double usual_ticks; /* time of the last launch with the default */
  double work;        /* work of the last launch */
  bool is_asleep;     /* launches are too short to tune */
  uint64_t differ;    /* bits of candidates whose outcome differs */
} TuneEntry;

typedef enum CodeState { CODE_NONE, CODE_MAKING, CODE_MADE } CodeState;

/* Which code is tried: of EARLY rows, which may be several times as fast, those that run on all
 * workers; once the other tuner has decided, those for one worker, too; all rows when the kernel
 * has run for long and its own code is still the best. */
typedef enum CodeStage { STAGE_SHARED, STAGE_EARLY, STAGE_ALL } CodeStage;

/* The tuning state of a version. */
typedef struct Tuning {
  int32_t count;
  uint8_t rows[CANDIDATE_COUNT]; /* rows of candidate.def that are tried */
  double ticks;                  /* total time of long launches since watching began */
  int32_t shorts;                /* consecutive short launches while it is tuned */
  bool is_requested;             /* kernel:tune() requested tuning, even if launches are short */
  CodeState code;
  CodeStage stage;
  int32_t next_row; /* first row of candidate.def not compiled yet */
  int32_t made_count;
  uint8_t made_rows[CANDIDATE_COUNT]; /* rows of candidate.def */
  Version *made[CANDIDATE_COUNT];     /* versions of the kernel that are based on this one */
  TuneEntry *entries, *last;
  int32_t entry_count;
} Tuning;

void tuning_init(Engine *engine) {
  bool is_always = engine->options.tunes == TUNE_ALWAYS, is_off = engine->options.tunes == TUNE_OFF;
  /* to find kernels worth tuning */
  engine->times_some = !is_off && !engine->store->device->times_launches;
  engine->tune_from = is_off ? UINT64_MAX : is_always ? 0 : LEAST_TICKS;
  engine->tune_budget.share = is_always ? 0 : share;
}

void tuning_end(Engine *engine) {
  tune_file_close(engine->tune_file);
  engine->tune_file = NULL;
}

static bool is_always(const Kernel *kernel) { return kernel->engine->options.tunes == TUNE_ALWAYS; }

/* -- candidates -------------------------------------------------------------------------------- */

static bool is_possible(const Kernel *kernel, const Version *version, const Candidate *candidate) {
  const Engine *engine = kernel->engine;
  const Device *device = engine->store->device;
  bool is_gpu = device->processors[RG_TARGET_PTX];
  int32_t workers = device->worker_count, shared = 0;
  for (int32_t k = 0; k < version->compiled->task_count; k++)
    shared +=
        !version->compiled->tasks[k].is_ordered && version->compiled->tasks[k].kind < DEVICE_SERIAL;
  bool is_one_order = engine_has_one_order(engine);
  int32_t has = (shared && workers > 1 ? SHARED : 0) | (shared && workers >= 4 ? MANY : 0) |
                (version->compiled->has_sums && !is_gpu ? SUMS : 0) |
                (is_one_order && version->compiled->order_shows ? 0 : REORDERS) | CODE |
                (is_gpu ? 0 : HOST) | (is_gpu && shared ? GPU : 0) |
                (version->compiled->shares_updates ? UPDATES : 0) | EARLY;
  return !(candidate->when & ~has);
}

static Tuning *watch_version(Kernel *kernel, Version *version) {
  Engine *engine = kernel->engine;
  if (version->tuning) return version->tuning;
  Tuning *tuning = heap_alloc(engine->store->heap, sizeof *tuning);
  if (!tuning) return NULL;
  engine->tunings++;
  bool may_try = !engine->options.debug;
  for (int32_t k = 0; k < CANDIDATE_COUNT; k++)
    if (!k ||
        (may_try && !(candidates[k].when & CODE) && is_possible(kernel, version, &candidates[k])))
      tuning->rows[tuning->count++] = (uint8_t)k;
  return version->tuning = tuning;
}

void tuning_begin(Kernel *kernel, Version *version) {
  if (!kernel->engine->tune_from) version->is_tuned = watch_version(kernel, version) != NULL;
}

static DeviceSwitches switches_of(const Kernel *kernel, const Candidate *candidate) {
  DeviceSwitches switches = candidate->switches;
  if (switches.workers == HALF) switches.workers = kernel->engine->store->device->worker_count / 2;
  return switches;
}

/* -- extents ----------------------------------------------------------------------------------- */

static void add_extent(uint64_t number, uint64_t *hash, uint64_t *largest) {
  uint64_t bucket = tune_size_bucket(number);
  *hash = hash_bytes(*hash, &bucket, sizeof bucket);
  if (bucket > *largest) *largest = bucket;
}

/* Hashes the size buckets of arguments that bounds depend on, and of the lists that tasks visit;
 * the latter belong to the device while launches are queued. */
static uint64_t extents_of(const Kernel *kernel, const Version *version, uint64_t *largest) {
  const Device *device = kernel->engine->store->device;
  uint64_t hash = 1;
  *largest = 0;
  for (uint64_t set = version->compiled->extents; set; set &= set - 1) {
    int32_t k = __builtin_ctzll(set);
    int64_t number = (int32_t)version->launch->frame[k];
    if (type_bits(version->compiled->args[k].type) == 64)
      number = (int64_t)version->launch->frame[k];
    add_extent(number < 0 ? 0 : (uint64_t)number, &hash, largest);
  }
  for (int32_t k = 0; !device->queued && k < version->compiled->task_count; k++) {
    const DeviceTask *task = &version->compiled->tasks[k];
    if (task->kind != DEVICE_NODES || task->manager < 0) continue;
    add_extent(version->launch->trees[task->tree]->managers[task->manager].list_count, &hash,
               largest);
  }
  return hash;
}

/* -- records on disk --------------------------------------------------------------------------- */

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

void tuning_clear(Engine *engine) { tune_file_clear(file_of(engine)); }

/* Makes the key from the code, the extents, and the candidates. */
static bool make_key(Kernel *kernel, const Version *version, const TuneEntry *entry,
                     char key[TUNE_KEY_BYTES]) {
  const Tuning *tuning = version->tuning;
  uint64_t rest = entry->extents;
  for (int32_t k = 0; k < tuning->count; k++) {
    const char *word = candidates[tuning->rows[k]].word;
    rest = hash_bytes(rest, word, strlen(word));
  }
  return tuning_key(kernel->engine, version->compiled->bytes, version->compiled->byte_count, &rest,
                    sizeof rest, key);
}

static int32_t row_of(const char *word, size_t length) {
  for (int32_t k = 0; k < CANDIDATE_COUNT; k++)
    if (strlen(candidates[k].word) == length && !memcmp(candidates[k].word, word, length)) return k;
  return -1;
}

/* Recalls a choice as "threads=1" or, with other code, "threads=1+vectors=half". */
static void recall_choice(Kernel *kernel, const Version *version, TuneEntry *entry) {
  char key[TUNE_KEY_BYTES];
  const Tuning *tuning = version->tuning;
  const char *word =
      make_key(kernel, version, entry, key) ? tuning_recall(kernel->engine, key) : NULL;
  if (!word) return;
  size_t length = strcspn(word, "+");
  int32_t row = row_of(word, length);
  for (int32_t k = 0; k < tuning->count; k++)
    if (tuning->rows[k] == row) tuner_recall(&entry->tuner, k);
  if (word[length]) entry->known_code = row_of(word + length + 1, strlen(word + length + 1));
}

static double row_ms(Engine *engine, const TuneEntry *entry, const Tuner *tuner, int32_t k) {
  return engine_ms(engine, (uint64_t)(tuner->rows[k].times.best * entry->work));
}

static const char *kept_word(const Tuning *tuning, const TuneEntry *entry) {
  return candidates[tuning->rows[tuner_choice(&entry->tuner)]].word;
}

/* The name of candidate k of the second tuner. */
static const char *code_word(const Tuning *tuning, int32_t k) {
  return candidates[k ? tuning->made_rows[k - 1] : 0].word;
}

/* The version whose code the tuner's choice of code runs; NULL: the default's own. */
static Version *chosen_code(const Tuning *tuning, const TuneEntry *entry) {
  int32_t k = entry->code.count ? tuner_choice(&entry->code) : 0;
  return k > 0 && k <= tuning->made_count ? tuning->made[k - 1] : NULL;
}

/* A choice that is half made is not kept on disk, as the next process would not complete it. */
static void record(Kernel *kernel, const Version *version, const TuneEntry *entry) {
  char key[TUNE_KEY_BYTES], choice[TUNE_CHOICE_BYTES];
  Engine *engine = kernel->engine;
  const Tuning *tuning = version->tuning;
  bool has_code = entry->code.count && tuner_is_sure(&entry->code);
  const Tuner *tuner = has_code ? &entry->code : &entry->tuner;
  if (entry->tuner.chosen == TUNE_UNDECIDED) return;
  if (!tuner_is_sure(tuner) || !make_key(kernel, version, entry, key)) return;
  snprintf(choice, sizeof choice, "%s%s%s", kept_word(tuning, entry), has_code ? "+" : "",
           has_code ? code_word(tuning, tuner->chosen) : "");
  tuning_record(engine, key, choice, row_ms(engine, entry, tuner, 0),
                row_ms(engine, entry, tuner, tuner->chosen));
}

/* -- entries ----------------------------------------------------------------------------------- */

/* For tests: starts with a different candidate each time, so that all kinds run early. */
static void vary_first_candidate(const Engine *engine, const Tuning *tuning, TuneEntry *entry) {
  int32_t choice = (int32_t)(engine->tunings % (uint64_t)tuning->count);
  entry->tuner.next = choice;
  if (engine->tunings % 3 == 0) entry->tuner.chosen = choice;
}

/* After MOST_ENTRIES, launches with new extents run with the default. */
static TuneEntry *add_entry(Kernel *kernel, Version *version, uint64_t extents, uint64_t largest) {
  Engine *engine = kernel->engine;
  Tuning *tuning = version->tuning;
  if (tuning->entry_count == MOST_ENTRIES) return NULL;
  TuneEntry *entry = heap_alloc(engine->store->heap, sizeof *entry);
  if (!entry) return NULL;
  entry->extents = extents;
  if (largest) snprintf(entry->about, sizeof entry->about, "extents up to %" PRIu64, largest);
  entry->known_code = -1;
  tuner_begin(&entry->tuner, tuning->count);
  if (is_always(kernel)) vary_first_candidate(engine, tuning, entry);
  entry->next = tuning->entries;
  tuning->entries = entry;
  tuning->entry_count++;
  recall_choice(kernel, version, entry);
  return entry;
}

static TuneEntry *find_entry(Kernel *kernel, Version *version) {
  Tuning *tuning = version->tuning;
  uint64_t largest, extents = extents_of(kernel, version, &largest);
  if (tuning->last && tuning->last->extents == extents) return tuning->last;
  TuneEntry *entry = tuning->entries;
  while (entry && entry->extents != extents) entry = entry->next;
  if (!entry) entry = add_entry(kernel, version, extents, largest);
  return tuning->last = entry;
}

/* -- other code -------------------------------------------------------------------------------- */

/* Should this row's code be compiled? If the best code is known from disk, only that. */
static bool is_wanted(const Kernel *kernel, const Version *version, const TuneEntry *entry,
                      int32_t row) {
  const Tuning *tuning = version->tuning;
  for (int32_t k = 0; k < tuning->made_count; k++)
    if (tuning->made_rows[k] == row) return false;
  const Candidate *candidate = &candidates[row];
  CodeStage stage = !(candidate->when & EARLY)      ? STAGE_ALL
                    : candidate->way.has_one_worker ? STAGE_EARLY
                                                    : STAGE_SHARED;
  return stage <= tuning->stage && candidate->when & CODE &&
         is_possible(kernel, version, candidate) &&
         (entry->known_code < 0 || entry->known_code == row);
}

/* Compiles the next row whose code differs from the base's; false if no row is left. */
static bool make_next(Kernel *kernel, Version *version, const TuneEntry *entry) {
  Tuning *tuning = version->tuning;
  for (int32_t k = tuning->next_row; k < CANDIDATE_COUNT; k++) {
    tuning->next_row = k + 1;
    if (!is_wanted(kernel, version, entry, k)) continue;
    Version *made =
        versions_request(version, COMPILE_TO_TRY, &version->constants, &candidates[k].way);
    if (!made) continue;
    ASSERT(tuning->made_count < (int)CODE_COUNT, "each row of other code is compiled once");
    tuning->made_rows[tuning->made_count] = (uint8_t)k;
    tuning->made[tuning->made_count++] = made;
    return true;
  }
  return false;
}

/* Finishes the last compile; if it failed, its row is no longer a candidate. */
static void take_made(Tuning *tuning) {
  ASSERT(tuning->made_count > 0, "a compile was started");
  Version *made = tuning->made[tuning->made_count - 1];
  Error ignored;
  error_clear(&ignored);
  background_wait(made, &ignored);
  if (made->state == VERSION_READY) return;
  versions_drop(made);
  tuning->made_count--;
}

/* What a compile costs launches, in ticks: a share of the time that the default's compile took,
 * since its thread has a low priority and leaves processors to them. */
static double cost_of_compile(Engine *engine, const Version *version) {
  double ms = version->compile_ms > 0 ? version->compile_ms : USUAL_MS;
  return ms / COMPILE_SHARE / engine_ms(engine, 1000000) * 1e6;
}

static bool may_compile(Engine *engine, const Version *version) {
  return background_is_idle(engine) &&
         budget_allows(&engine->tune_budget, cost_of_compile(engine, version),
                       (double)engine->stats.run_ticks);
}

static void begin_code(const Tuning *tuning, TuneEntry *entry) {
  tuner_begin(&entry->code, 1 + tuning->made_count);
  for (int32_t k = 0; k <= tuning->made_count; k++)
    if (entry->known_code == (k ? tuning->made_rows[k - 1] : 0)) tuner_recall(&entry->code, k);
  int32_t kept = tuner_choice(&entry->tuner);
  snprintf(entry->about_code, sizeof entry->about_code, "%s%scode%s%s", entry->about,
           entry->about[0] ? ", " : "", kept ? " with " : "", kept ? kept_word(tuning, entry) : "");
}

static bool has_one_worker_row(const Kernel *kernel, const Version *version) {
  for (int32_t k = 0; k < CANDIDATE_COUNT; k++)
    if (candidates[k].way.has_one_worker && is_possible(kernel, version, &candidates[k]))
      return true;
  return false;
}

/* The stage that launches with these extents have reached. */
static CodeStage stage_of(const Kernel *kernel, const Version *version, const TuneEntry *entry) {
  double ms = engine_ms(kernel->engine, (uint64_t)version->tuning->ticks);
  if (is_always(kernel) || entry->known_code >= 0) return STAGE_ALL;
  if (entry->tuner.chosen == TUNE_UNDECIDED) return STAGE_SHARED;
  if (ms >= CODE_MS && !(entry->code.count && entry->code.chosen)) return STAGE_ALL;
  return has_one_worker_row(kernel, version) ? STAGE_EARLY : STAGE_SHARED;
}

/* Advances the tuner of code by one step, or, with `waits`, by all: it compiles the rows one after
 * the other, and then begins trials. */
static void advance_code(Kernel *kernel, Version *version, TuneEntry *entry, bool waits) {
  Tuning *tuning = version->tuning;
  Engine *engine = kernel->engine;
  CodeStage stage = waits ? STAGE_ALL : stage_of(kernel, version, entry);
  waits |= is_always(kernel);
  if (stage > tuning->stage) {
    tuning->stage = stage;
    tuning->next_row = 0;
    if (tuning->code == CODE_MADE) tuning->code = CODE_NONE;
  }
  while (tuning->code != CODE_MADE) {
    int32_t last = tuning->made_count - 1;
    if (tuning->code == CODE_MAKING && !waits && tuning->made[last]->state < VERSION_READY) return;
    if (tuning->code == CODE_MAKING) take_made(tuning);
    tuning->code = CODE_NONE;
    bool is_charged = !waits && entry->known_code < 0;
    if (is_charged && !may_compile(engine, version)) return;
    tuning->code = make_next(kernel, version, entry) ? CODE_MAKING : CODE_MADE;
    if (is_charged && tuning->code == CODE_MAKING)
      budget_spend(&engine->tune_budget, cost_of_compile(engine, version));
  }
  begin_code(tuning, entry);
}

static bool may_try_code(const Kernel *kernel) {
  const Engine *engine = kernel->engine;
  bool may_differ = !kernel->fast_math || engine_may_differ(engine);
  return !engine->options.debug && may_differ && !option_text("RG_WITHOUT")[0];
}

/* Is it time to compile other code? */
static bool may_have_code(Kernel *kernel, const Version *version, const TuneEntry *entry) {
  Engine *engine = kernel->engine;
  const Tuning *tuning = version->tuning;
  bool is_begun = entry->code.count, is_decided = entry->code.chosen != TUNE_UNDECIDED;
  if (is_begun && (!is_decided || stage_of(kernel, version, entry) <= tuning->stage)) return false;
  if (entry->is_asleep || !may_try_code(kernel)) return false;
  if (entry->known_code >= 0 || is_always(kernel)) return entry->tuner.chosen != TUNE_UNDECIDED;
  if (specialise_is_due(version)) return false; /* the code would be replaced soon */
  bool is_busy = tuning->code != CODE_MAKING && background_has_spare(engine);
  return engine->options.tunes == TUNE_ONLINE && !is_busy &&
         engine_ms(engine, (uint64_t)tuning->ticks) >= EARLY_MS;
}

/* -- launches ---------------------------------------------------------------------------------- */

/* Other code may be several times as fast, so its first trial comes soon, whatever the budget. */
static bool may_run_once(const Tuning *tuning, const TuneEntry *entry, const Tuner *tuner,
                         int32_t candidate) {
  return tuner == &entry->code && !tuner->rows[candidate].times.count &&
         tuning->ticks >= LAUNCHES_PER_FIRST_RUN * entry->usual_ticks;
}

/* The candidate for which this launch is to be a trial, or TUNE_UNDECIDED. */
static int32_t wanted_trial(Kernel *kernel, const Tuning *tuning, const TuneEntry *entry,
                            const Tuner *tuner) {
  Engine *engine = kernel->engine;
  int32_t wanted = tuner_next(tuner);
  if (wanted == TUNE_UNDECIDED || is_always(kernel)) return wanted;
  bool is_worth_it = engine->options.tunes == TUNE_ONLINE && !entry->is_asleep &&
                     background_is_idle(engine) &&
                     engine_ms(engine, (uint64_t)tuning->ticks) >= WORTH_MS;
  double excess = tuner_excess(tuner, wanted) * entry->usual_ticks;
  bool is_allowed = may_run_once(tuning, entry, tuner, wanted) ||
                    budget_allows(&engine->tune_budget, excess, (double)engine->stats.run_ticks);
  return is_worth_it && is_allowed ? wanted : TUNE_UNDECIDED;
}

/* How candidate k of the tuner runs. */
static DeviceSwitches find_way(const Kernel *kernel, const Tuning *tuning, const TuneEntry *entry,
                               const Tuner *tuner, int32_t k, Version **code) {
  bool is_code = tuner == &entry->code;
  ASSERT(k >= 0 && k < tuner->count, "a tuner chooses among its candidates");
  if (is_code) *code = k ? tuning->made[k - 1] : NULL;
  else *code = chosen_code(tuning, entry);
  ASSERT(!*code || (*code)->state == VERSION_READY, "trials begin when all code is ready");
  int32_t row = is_code ? tuner_choice(&entry->tuner) : k;
  DeviceSwitches switches = switches_of(kernel, &candidates[tuning->rows[row]]);
  if (*code && (*code)->way.has_one_worker) switches.workers = 1;
  return switches;
}

const Version *tuning_shown(const Version *version, const char **candidate) {
  const Tuning *tuning = version->tuning;
  const TuneEntry *entry = tuning ? tuning->last : NULL;
  const Version *code = entry ? chosen_code(tuning, entry) : NULL;
  *candidate = NULL;
  if (!code || code->state != VERSION_READY) return version;
  *candidate = code_word(tuning, tuner_choice(&entry->code));
  return code;
}

const CompileWay *tuning_code_way(const Version *version) {
  const char *ignored;
  const Version *code = tuning_shown(version, &ignored);
  return code == version || code->way.has_one_worker ? NULL : &code->way;
}

/* The tuner whose trials continue: that of code, once its candidates are compiled, and then the
 * other, which runs the code that was chosen. */
static Tuner *current_tuner(TuneEntry *entry) {
  if (!entry->code.count) return &entry->tuner;
  bool is_decided = entry->code.chosen != TUNE_UNDECIDED;
  return is_decided && entry->tuner.chosen == TUNE_UNDECIDED ? &entry->tuner : &entry->code;
}

DeviceSwitches tuning_pick(Kernel *kernel, TuneTrial *trial) {
  Tuning *tuning = trial->base->tuning;
  TuneEntry *entry = find_entry(kernel, trial->base);
  trial->code = NULL;
  if (!entry) return (DeviceSwitches){0};
  if (may_have_code(kernel, trial->base, entry)) advance_code(kernel, trial->base, entry, false);
  Tuner *tuner = current_tuner(entry);
  int32_t wanted = wanted_trial(kernel, tuning, entry, tuner);
  if (wanted != TUNE_UNDECIDED) {
    tuner_begin_trial(tuner, wanted);
    trial->entry = entry;
    trial->tuner = tuner;
  }
  trial->candidate = wanted != TUNE_UNDECIDED ? wanted : tuner_choice(tuner);
  return find_way(kernel, tuning, entry, tuner, trial->candidate, &trial->code);
}

double tuning_work(const TuneTrial *trial, const DeviceLaunch *launch) {
  TuneEntry *entry = trial->entry;
  if (!trial->code || !(entry->work > 0)) entry->work = launch->work ? (double)launch->work : 1;
  return entry->work;
}

static void note_trial(Kernel *kernel, const TuneTrial *trial, const DeviceLaunch *launch) {
  Engine *engine = kernel->engine;
  TuneEntry *entry = trial->entry;
  Tuner *tuner = trial->tuner;
  uint64_t ticks = launch->ticks;
  double units = tuning_work(trial, launch);
  tuner_note(tuner, trial->candidate, (double)ticks, units);
  double usual = tuner->rows[tuner_choice(tuner)].times.best * units;
  if (usual > 0) budget_spend(&engine->tune_budget, (double)ticks - usual);
  if (!trial->candidate) entry->usual_ticks = (double)ticks;
  if (!trial->candidate && !is_always(kernel) && engine_ms(engine, ticks) < least_ms)
    entry->is_asleep = true;
  if (tuner->chosen != TUNE_UNDECIDED) record(kernel, trial->base, entry);
}

/* Is the version worth tuning, or is a choice known from disk? */
static bool is_worth_it(Kernel *kernel, Version *version) {
  Engine *engine = kernel->engine;
  const TuneEntry *entry = find_entry(kernel, version);
  if (entry && entry->tuner.is_recalled) return true;
  return engine->options.tunes == TUNE_ONLINE &&
         engine_ms(engine, (uint64_t)version->tuning->ticks) >= WORTH_MS;
}

/* Stops tuning a version only after many consecutive short launches. */
static void note_short(Version *version) {
  Tuning *tuning = version->tuning;
  if (!version->is_tuned || tuning->is_requested || ++tuning->shorts < MOST_SHORT) return;
  tuning->shorts = 0;
  tuning->ticks = 0;
  version->is_tuned = false;
}

/* Watches the time of a launch that ran by the tuner's choice. */
static void watch_choice(Kernel *kernel, Tuning *tuning, const DeviceLaunch *launch) {
  TuneEntry *entry = tuning->last;
  if (!entry || tuning->is_requested || kernel->engine->options.tunes != TUNE_ONLINE) return;
  if (entry->code.count && entry->code.chosen) return; /* other code measures work differently */
  Tuner *tuner = entry->code.count ? &entry->code : &entry->tuner;
  tuner_watch(tuner, (double)launch->ticks, launch->work ? (double)launch->work : 1);
}

bool tuning_remeasures(const Version *version) {
  const TuneEntry *entry = version->tuning ? version->tuning->last : NULL;
  return entry && (entry->code.count ? &entry->code : &entry->tuner)->slow > 0;
}

void tuning_note_launch(Kernel *kernel, const TuneTrial *trial, const DeviceLaunch *launch,
                        bool ok) {
  Version *version = trial->base;
  if (!ok || !launch->ticks) {
    tuning_forget(trial);
    return;
  }
  if (trial->entry) note_trial(kernel, trial, launch);
  Tuning *tuning = watch_version(kernel, version);
  if (!tuning || is_always(kernel)) return;
  if (engine_ms(kernel->engine, launch->ticks) < least_ms) {
    note_short(version);
    return;
  }
  tuning->shorts = 0;
  tuning->ticks += (double)launch->ticks * trial->represented;
  if (!version->is_tuned) version->is_tuned = is_worth_it(kernel, version);
  else if (!trial->entry) watch_choice(kernel, tuning, launch);
}

void tuning_forget(const TuneTrial *trial) {
  if (trial->entry) tuner_forget(trial->tuner, trial->candidate);
}

void tuning_drop(Engine *engine, Version *version) {
  Heap *heap = engine->store->heap;
  Tuning *tuning = version->tuning;
  if (!tuning) return;
  for (TuneEntry *entry = tuning->entries, *next; entry; entry = next) {
    next = entry->next;
    heap_free(heap, entry);
  }
  heap_free(heap, tuning);
  version->tuning = NULL;
  version->is_tuned = false;
}

/* -- trials outside launches ------------------------------------------------------------------- */

DeviceSwitches tuning_way(const Kernel *kernel, const TuneTrial *trial, int32_t k, Version **code) {
  return find_way(kernel, trial->base->tuning, trial->entry, trial->tuner, k, code);
}

bool tuning_begin_trials(Kernel *kernel, TuneTrial *trial) {
  Tuning *tuning = watch_version(kernel, trial->base);
  if (!trial->entry) {
    trial->entry = tuning ? find_entry(kernel, trial->base) : NULL;
    if (!trial->entry) return false;
    trial->tuner = &trial->entry->tuner;
    trial->entry->differ = 0;
    tuner_begin(trial->tuner, tuning->count);
    trial->entry->code.count = 0;
    return true;
  }
  if (trial->tuner == &trial->entry->code || !may_try_code(kernel)) return false;
  trial->tuner = &trial->entry->code;
  trial->entry->known_code = -1;
  advance_code(kernel, trial->base, trial->entry, true);
  return true;
}

void tuning_differs(const TuneTrial *trial, int32_t candidate) {
  int32_t first = trial->tuner == &trial->entry->code ? TUNE_MAX_CANDIDATES : 0;
  trial->entry->differ |= (uint64_t)1 << (first + candidate);
}

void tuning_keep(Kernel *kernel, const TuneTrial *trial) {
  trial->base->tuning->is_requested = trial->base->is_tuned = true;
  record(kernel, trial->base, trial->entry);
}

/* -- reports ----------------------------------------------------------------------------------- */

static const char *const state_words[] = {
    [TUNE_TRIED] = "tried", [TUNE_TOO_SLOW] = "slow", [TUNE_FAILED] = "failed"};

void tuning_fill_row(const Tuner *tuner, int32_t k, RgTuneRow *out) {
  out->state = state_words[tuner->rows[k].state];
  out->is_kept = tuner->chosen == k;
  out->is_recalled = tuner->is_recalled;
  out->samples = tuner->rows[k].times.count;
}

static void fill_row(Engine *engine, const Tuning *tuning, const TuneEntry *entry,
                     const Tuner *tuner, int32_t k, RgTuneRow *out) {
  bool is_code = tuner == &entry->code;
  tuning_fill_row(tuner, k, out);
  if (entry->differ >> (is_code ? TUNE_MAX_CANDIDATES + k : k) & 1) out->state = "differs";
  out->candidate = is_code ? code_word(tuning, k) : candidates[tuning->rows[k]].word;
  out->about = is_code ? entry->about_code : entry->about;
  out->ms = row_ms(engine, entry, tuner, k);
}

/* Does the tuner have results to report? */
static bool has_report(const Tuner *tuner) {
  if (tuner->count < 2) return false;
  if (tuner->is_recalled) return true;
  for (int32_t k = 0; k < tuner->count; k++)
    if (tuner->rows[k].times.count) return true;
  return false;
}

/* Finds the wanted row, counting *row down to 0. */
static bool find_row(Engine *engine, const Version *version, int32_t *row, RgTuneRow *out) {
  const Tuning *tuning = version->tuning;
  for (TuneEntry *entry = tuning ? tuning->entries : NULL; entry; entry = entry->next) {
    const Tuner *const tuners[] = {&entry->tuner, &entry->code};
    for (int32_t k = 0; k < 2; k++) {
      if (!has_report(tuners[k])) continue;
      if (*row < tuners[k]->count) {
        fill_row(engine, tuning, entry, tuners[k], *row, out);
        return true;
      }
      *row -= tuners[k]->count;
      out->group++;
    }
  }
  return false;
}

bool tuning_row(Kernel *kernel, int32_t row, RgTuneRow *out) {
  *out = (RgTuneRow){0};
  if (row < 0) return false;
  for (const Version *version = kernel->versions; version; version = version->next) {
    const Version *specialised = specialise_current(version);
    if (version->base) continue;
    if (find_row(kernel->engine, version, &row, out) ||
        (specialised && find_row(kernel->engine, specialised, &row, out)))
      return true;
  }
  return false;
}
