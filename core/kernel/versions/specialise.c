/* specialise.c - decides when specialised versions are made; see specialise.h.
 *
 * A kernel must be worth it: it has run for some time, and its numbers were the same for several
 * launches. A kernel whose long loops are not vectorised yet (is_long) then gets vector code,
 * with constants or without. The front end runs between two launches, since it allocates from
 * the runtime (about a millisecond, once); LLVM runs in a thread, unless the code is on disk.
 * There is one compile at a time. A failed compile is only counted: the general version stays in
 * use. The two versions alternate for some launches: one that is slower than the general one is
 * not used any more, and no other is made. When the numbers change, the general version runs;
 * when they are stable again, another specialised version replaces the first. A number that
 * changed several times never becomes a constant again. Decision D-kernel-11.
 *
 * Under fast_math a specialised version may differ in the last bits. If the user requested equal
 * runs, it is therefore requested and used at fixed numbers of launches, whatever time they took,
 * and is not compared (Decision D-kernel-17). */
#include "kernel/versions/specialise.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/option.h"
#include "kernel/versions/background.h"
#include "kernel/compile/compile.h"
#include "kernel/tuning/tuning.h"
#include "tree/access/cell.h"
#include "tune/contest.h"

enum { SAME_LAUNCHES = 8, WORTH_MS = 50, LONG_LAUNCHES = 2, LONG_MS = 100 /* if is_long */ };
enum { MANY_LAUNCHES = 1024 }; /* enough launches to be worth it if none is timed */
/* Equal runs: launches from the request of a specialised version to its first use, and the factor
 * by which each further request is later. */
enum { EQUAL_LAUNCHES = 120, EQUAL_LATER = 4 };
enum { MOST_CHANGES = 3, MOST_TRIES = 4, MOST_ARGS = COMPILE_MOST_CONSTANTS };

/* Statistics of a general version's launches. */
typedef struct Profile {
  int32_t arg_count;          /* at most 64 */
  uint64_t numbers;           /* arguments that may become constants, by kind and type */
  uint64_t unstable;          /* arguments that changed too often, or cannot be constants */
  int32_t same[MOST_ARGS];    /* launches since the last change */
  int32_t changes[MOST_ARGS]; /* changes of the number while there was a specialised version */
  uint64_t seen[MOST_ARGS];
  uint64_t ticks; /* time in the general version since the last try */
  int32_t launches, tries;
  bool has_ended;      /* no other specialised version will be made */
  Version *made;       /* the newest specialised version that is ready; NULL: none is used */
  TuneContest contest; /* of the general version with it */
  bool runs_general;   /* this launch runs the general version, to compare it with `made` */
  /* equal runs: the version that was requested, and in how many launches it is first used */
  Version *awaited;
  int32_t delay;
} Profile;

typedef enum Mode { NEVER, WHEN_WORTH_IT, ALWAYS } Mode;

/* RG_SPECIALISE=always, for tests: the first launch makes the specialised version, and waits. */
static Mode mode_of(const Kernel *kernel) {
  const EngineOptions *options = &kernel->engine->options;
  if (!options->specialises || options->runs_in_lua || options->debug || kernel->shipped)
    return NEVER;
  return options->always_specialises ? ALWAYS : WHEN_WORTH_IT;
}

/* May a specialised version differ from the general one in its last bits, though the user requested
 * equal runs? */
static bool runs_are_equal(const Kernel *kernel) {
  return kernel->fast_math && !engine_may_differ(kernel->engine);
}

/* -- watching ---------------------------------------------------------------------------------- */

static Profile *profile_of(Version *general) {
  const Kernel *kernel = general->kernel;
  if (general->profile) return general->profile;
  Profile *profile = heap_alloc(kernel->engine->store->heap, sizeof *profile);
  if (!profile) return NULL;
  profile->arg_count =
      general->compiled->arg_count < MOST_ARGS ? general->compiled->arg_count : MOST_ARGS;
  for (int32_t k = 0; k < profile->arg_count; k++) {
    const CompiledArg *arg = &general->compiled->args[k];
    bool is_float = type_is_float(arg->type); /* fast_math needs no constant to divide faster */
    if (arg->from.kind == ARG_NUMBER && !arg->is_array && !(is_float && kernel->fast_math))
      profile->numbers |= (uint64_t)1 << k;
  }
  profile->has_ended = !profile->numbers && !general->compiled->is_long;
  return general->profile = profile;
}

static bool is_in(uint64_t set, int32_t k) { return set >> k & 1; }

static void note_arguments(Profile *profile, const uint64_t *frame) {
  for (int32_t k = 0; k < profile->arg_count; k++) {
    if (!is_in(profile->numbers, k)) continue;
    profile->same[k] = frame[k] == profile->seen[k] ? profile->same[k] + 1 : 0;
    profile->seen[k] = frame[k];
  }
}

static int32_t launches_of(const Version *general) {
  return general->compiled->is_long ? LONG_LAUNCHES : SAME_LAUNCHES;
}

/* May the argument's last value be a constant? */
static bool is_candidate(const Version *general, int32_t k) {
  Type type = general->compiled->args[k].type;
  return !type_is_float(type) || constants_is_power(type, &general->profile->seen[k]);
}

static uint64_t stable_arguments(const Version *general, Mode mode) {
  const Profile *profile = general->profile;
  uint64_t set = 0;
  for (int32_t k = 0; k < profile->arg_count; k++)
    if (is_in(profile->numbers & ~profile->unstable, k) && is_candidate(general, k) &&
        (mode == ALWAYS || profile->same[k] >= launches_of(general) - 1))
      set |= (uint64_t)1 << k;
  return set;
}

/* -- making ------------------------------------------------------------------------------------ */

/* Restarts watching, or ends it after MOST_TRIES. */
static void count_try(Profile *profile) {
  profile->ticks = 0;
  profile->launches = 0;
  if (++profile->tries >= MOST_TRIES) profile->has_ended = true;
}

static void request_specialised(Version *general, uint64_t taken, Mode mode) {
  Profile *profile = general->profile;
  ASSERT(!general->base && profile, "a general version that is watched is specialised");
  Constants constants = {taken, profile->seen};
  Error ignored;
  error_clear(&ignored);
  count_try(profile);
  const CompileWay *way = tuning_code_way(general);
  bool is_late = mode != ALWAYS && runs_are_equal(general->kernel);
  if (is_late) profile->made = NULL;
  Version *made = versions_request(general, COMPILE_TO_SPECIALISE, &constants, way);
  if (!made) profile->unstable |= taken;
  else if (mode == ALWAYS) background_wait(made, &ignored);
  else if (is_late) {
    profile->awaited = made;
    profile->delay = EQUAL_LAUNCHES;
  }
}

void specialise_publish(Version *version) {
  Engine *engine = version_engine(version);
  ASSERT(version->base && version->tier == TIER_SPECIALISED, "it is specialised from another");
  Profile *profile = version->base->profile;
  if (version->state == VERSION_READY) {
    engine->stats.specialised++;
    tuning_begin(version->kernel, version);
    if (!profile) return;
    profile->made = version; /* the host may still read results of the previous one */
    profile->contest = (TuneContest){0};
    return;
  }
  engine->stats.unspecialised++;
  if (profile) profile->has_ended = true;
  if (profile && profile->awaited == version) profile->awaited = NULL;
  versions_drop(version);
}

/* -- called for launches and kernels ----------------------------------------------------------- */

static bool is_worth_it(Engine *engine, const Version *general) {
  const Profile *profile = general->profile;
  if (runs_are_equal(general->kernel)) {
    int64_t wanted = SAME_LAUNCHES;
    for (int32_t k = 0; k < profile->tries; k++) wanted *= EQUAL_LATER;
    return profile->launches >= wanted;
  }
  if (!engine->times_some && !engine->store->device->times_launches)
    return profile->launches >= MANY_LAUNCHES;
  return profile->launches >= launches_of(general) &&
         engine_ms(engine, profile->ticks) >= (general->compiled->is_long ? LONG_MS : WORTH_MS);
}

/* Are the specialised version's constants the numbers in the frame? */
static bool matches(Profile *profile, const uint64_t *frame) {
  const Constants *constants = &profile->made->constants;
  for (uint64_t set = constants->taken; set; set &= set - 1) {
    int32_t k = __builtin_ctzll(set);
    if (frame[k] == constants->slots[k]) continue;
    bool is_new = frame[k] != profile->seen[k];
    if (is_new && ++profile->changes[k] >= MOST_CHANGES) profile->unstable |= (uint64_t)1 << k;
    return false;
  }
  return true;
}

static void specialise_now(Version *general) {
  Profile *profile = profile_of(general);
  if (!profile || profile->has_ended) return;
  note_arguments(profile, general->launch->frame);
  uint64_t taken = stable_arguments(general, ALWAYS);
  if (taken || general->compiled->is_long) request_specialised(general, taken, ALWAYS);
}

/* Equal runs: the launch from which on the version is used waits until it is compiled. */
static void wait_for_compile(Profile *profile) {
  Version *awaited = profile->awaited;
  if (!awaited || profile->delay) return;
  Error ignored;
  error_clear(&ignored);
  profile->awaited = NULL;
  background_wait(awaited, &ignored);
}

/* Is there a specialised version for the numbers in the frame? */
static bool has_same_constants(const Version *general) {
  Profile *profile = general->profile;
  if (!profile) return false;
  wait_for_compile(profile);
  return specialise_current(general) && matches(profile, general->launch->frame);
}

/* Only specialised versions vectorise long bodies, and a device that queues launches times
 * only some. */
static bool is_compared(const Version *general) {
  return mode_of(general->kernel) == WHEN_WORTH_IT && !general->compiled->is_long &&
         version_engine(general)->store->device->times_launches && !runs_are_equal(general->kernel);
}

static bool choose_general(Version *general) {
  Profile *profile = general->profile;
  return profile->runs_general =
             is_compared(general) && contest_next(&profile->contest) == TUNE_OLD;
}

Version *specialise_find(Version *general) {
  if (!has_same_constants(general)) {
    if (mode_of(general->kernel) != ALWAYS) return NULL;
    specialise_now(general);
    if (!has_same_constants(general)) return NULL;
  }
  Version *made = general->profile->made;
  if (choose_general(general)) return NULL;
  version_copy_arguments(made, general);
  return made;
}

bool specialise_is_due(const Version *version) {
  const Profile *profile = version->profile;
  if (version->base || mode_of(version->kernel) != WHEN_WORTH_IT || !profile || profile->has_ended)
    return false;
  if (profile->made) return specialise_compares(version);
  return !profile->tries && profile->launches < 2 * launches_of(version);
}

/* Notes the time of a launch while the general and the specialised version alternate. */
static void note_contest(Profile *profile, const Version *general, const Version *ran,
                         uint64_t ticks) {
  bool is_old = profile->runs_general && ran == general;
  profile->runs_general = false;
  if (!is_old && ran != profile->made) return;
  contest_note(&profile->contest, is_old ? TUNE_OLD : TUNE_NEW, (double)ticks);
  if (!contest_is_lost(&profile->contest)) return;
  profile->made = NULL;
  profile->has_ended = true;
  if (!strcmp(option_text("RG_TIME"), "1"))
    log_warning("specialised version of '%.200s': not used, as it is slower",
                general->kernel->name);
}

bool specialise_compares(const Version *general) {
  const Profile *profile = general->profile;
  return profile && profile->made && is_compared(general) && contest_is_on(&profile->contest);
}

void specialise_note(Version *general, const Version *ran, uint64_t ticks) {
  Engine *engine = version_engine(general);
  if (engine->background) background_step(engine);
  Profile *profile = general->profile;
  bool runs_general = profile && profile->runs_general;
  if (profile && profile->delay) {
    profile->delay--;
    return;
  }
  if (profile && profile->made) note_contest(profile, general, ran, ticks);
  if (ran != general || runs_general || (profile && profile->has_ended)) return;
  Mode mode = mode_of(general->kernel);
  if (mode != WHEN_WORTH_IT || !(profile = profile_of(general)) || profile->has_ended) return;
  note_arguments(profile, general->launch->frame);
  profile->ticks += ticks;
  profile->launches++;
  bool is_busy = background_has_spare(engine) && !runs_are_equal(general->kernel);
  if (is_busy || !is_worth_it(engine, general)) return;
  uint64_t taken = stable_arguments(general, mode);
  if (taken || general->compiled->is_long) request_specialised(general, taken, mode);
  else count_try(profile);
}

void specialise_note_time(Version *ran, uint64_t ticks) {
  if (ran->profile) ran->profile->ticks += ticks; /* a specialised version itself has none */
}

const Version *specialise_current(const Version *general) {
  const Profile *profile = general->profile;
  return profile && !profile->delay && !profile->awaited ? profile->made : NULL;
}

static void print_number(StrBuf *out, Type type, uint64_t slot) {
  if (type_is_float(type)) strbuf_format(out, "%.9g", value_number(type, &slot));
  else if (type_is_bool(type)) strbuf_text(out, slot ? "true" : "false");
  else strbuf_format(out, "%" PRId64, value_integer(type, &slot));
}

void specialise_print(StrBuf *out, const Version *version) {
  ASSERT(version->tier == TIER_SPECIALISED, "only specialised versions have constants");
  const CompiledKernel *general = version->base->compiled;
  const char *between = "";
  for (uint64_t set = version->constants.taken; set; set &= set - 1) {
    int32_t k = __builtin_ctzll(set);
    strbuf_format(out, "%s%s = ", between, general->args[k].name);
    print_number(out, general->args[k].type, version->constants.slots[k]);
    between = ", ";
  }
}

void specialise_forget(Version *general) {
  heap_free(version_engine(general)->store->heap, general->profile);
  general->profile = NULL;
}
