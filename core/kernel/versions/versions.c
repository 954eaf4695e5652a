/* versions.c - see versions.h. The life of a version:
 *
 *     version_compile: a new pattern       versions_request: better code than that of `base`
 *                  \                         /
 *                   front end, passes: CompiledKernel  ---> none: an error, or the same code
 *                     /                   \
 *     code is on disk,                 a thread compiles (background.c)
 *     or the launch compiles              |
 *             |                        QUEUED --base or kernel ends--> cancelled
 *             |                           |  a thread is free
 *             |                        COMPILING
 *             |                           |  versions_publish
 *             +---------> READY <---------+--------> FAILED: dropped by what requested it
 *                           |
 *                    versions_choose, once a launch; until its base, kernel or runtime ends
 *
 *     why (CompileWhy)            tier         which thread compiles, and which call waits
 *     TO_RUN                      either       the caller's; the launch
 *     IN_ADVANCE                  optimised    the caller's; kernel:compile()
 *     IN_BACKGROUND               optimised    another (SOON); a launch that needs the code
 *     TO_OPTIMISE                 optimised    another (SPARE); only kernel:compile() (NOW)
 *     TO_SPECIALISE               specialised  another (SPARE); no call
 *     TO_TRY                      its base's   another (SPARE); only kernel:tune()
 *
 * A large kernel begins with baseline code. When that has run for some time, optimised code is
 * published, and becomes the general version of the pattern: from then on, launches find it, and
 * the baseline version is based on it. Specialised versions, and candidates of the tuner, are based
 * on a version that launches find, and run in place of it where they fit. Decision D-kernel-13. */
#include "kernel/versions/versions.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/option.h"
#include "kernel/versions/background.h"
#include "kernel/versions/baseline.h"
#include "kernel/compile/compile.h"
#include "kernel/launch/queue.h"
#include "kernel/versions/specialise.h"
#include "kernel/tuning/tuning.h"
#include "kernel/compile/values.h"

/* -- creating and freeing ---------------------------------------------------------------------- */

static int32_t value_of(const Kernel *kernel, SemaArg from) {
  return from.index + (from.is_parameter ? kernel->paths.count : 0);
}

/* Finds the values of arguments and trees among those of a launch. */
static void bind_values(Version *version) {
  const CompiledKernel *compiled = version->compiled;
  for (int32_t k = 0; k < compiled->arg_count; k++)
    version->launch->arg_values[k] = value_of(version->kernel, compiled->args[k].from);
  for (int32_t k = 0; k < compiled->tree_count; k++)
    version->launch->tree_values[k] = value_of(version->kernel, compiled->trees[k]);
}

/* The caller holds counted arrays only until the launch returns, so launches with such arguments
 * are awaited. A device with copies of arrays is an exception: it reports in has_waited if a launch
 * used the arrays themselves. */
static bool is_awaited(const Engine *engine, const CompiledKernel *compiled) {
  bool has_copies = engine->store->device->table->mirror && !compiled->host_changes_arrays;
  return compiled->result_count > 0 || compiled->prints || engine->options.waits ||
         (compiled->takes_arrays && !has_copies);
}

/* One allocation, in order of alignment. */
static VersionLaunch *create_launch(const Engine *engine, const CompiledKernel *compiled) {
  size_t slots = (size_t)compiled->frame_slots, args = (size_t)compiled->arg_count,
         trees = (size_t)compiled->tree_count, arrays = args;
  VersionLaunch *launch =
      heap_alloc(engine->store->heap, sizeof *launch + sizeof *launch->frame * slots +
                                          sizeof *launch->trees * (trees + arrays) +
                                          sizeof *launch->arg_values * (args + trees));
  if (!launch) return NULL;
  launch->frame = (uint64_t *)(launch + 1);
  launch->trees = (RtTree **)(launch->frame + slots);
  launch->arg_values = (int32_t *)(launch->trees + trees + arrays);
  launch->tree_values = launch->arg_values + args;
  launch->is_awaited = is_awaited(engine, compiled);
  return launch;
}

static bool no_memory(Error *err) {
  return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a compiled kernel");
}

Version *version_create(Kernel *kernel, Version *base, CompiledKernel *compiled, CompileWhy why,
                        Error *err) {
  Engine *engine = kernel->engine;
  Version *version = heap_alloc(engine->store->heap, sizeof *version);
  bool is_shared = why == COMPILE_TO_OPTIMISE;
  ASSERT(!is_shared || base->compiled == compiled, "baseline and optimised code share a frame");
  VersionLaunch *launch = is_shared ? base->launch : create_launch(engine, compiled);
  if (!version || !launch) {
    no_memory(err);
    if (!is_shared) heap_free(engine->store->heap, launch);
    heap_free(engine->store->heap, version);
    compiled_release(compiled);
    return NULL;
  }
  *version = (Version){.kernel = kernel,
                       .base = base,
                       .number = base ? base->number : 0,
                       .tier = why == COMPILE_TO_SPECIALISE ? TIER_SPECIALISED
                               : why == COMPILE_TO_TRY      ? base->tier
                                                            : TIER_OPTIMISED,
                       .why = why,
                       .compiled = compiled,
                       .launch = launch,
                       .shares_launch = is_shared,
                       .next = kernel->versions};
  bind_values(version);
  return kernel->versions = version;
}

static void free_version(Version *version) {
  Engine *engine = version_engine(version);
  Store *store = engine->store;
  Heap *heap = store->heap;
  background_cancel(version);
  ASSERT(!version->job && version->compiled->holders > 0, "a version's compile is detached");
  specialise_forget(version);
  tuning_drop(engine, version);
  if (!version->shares_launch) readback_drop(engine, version);
  if (version->code) store->device->table->unload(store->device, version->code);
  if (!version->shares_launch) heap_free(heap, version->launch);
  values_free(heap, version->pattern.given, version->pattern.given_count);
  heap_free(heap, version->pattern.words);
  heap_free(heap, (void *)version->constants.slots);
  compiled_release(version->compiled);
  heap_free(heap, version);
}

/* -- the list ---------------------------------------------------------------------------------- */

static bool are_same(const uint64_t *a, const uint64_t *b, int count) {
  return count <= 0 || !memcmp(a, b, sizeof *a * (size_t)count);
}

/* Compares patterns, except captures added after the version was compiled. */
static inline bool is_same(const Kernel *kernel, const Version *version, int word_count) {
  const Pattern *pattern = &version->pattern;
  int known = pattern->path_count * PATTERN_WORDS, rest = kernel->paths.count * PATTERN_WORDS;
  return pattern->word_count == word_count && are_same(pattern->words, kernel->words, known) &&
         are_same(pattern->words + rest, kernel->words + rest, word_count - rest);
}

Version *versions_find(Kernel *kernel, int word_count) {
  Version *version = kernel->last;
  DEBUG_ASSERT(!version || !version->base, "the version that was found last is a general one");
  if (version && is_same(kernel, version, word_count)) return version;
  version = kernel->versions;
  while (version && (version->base || !is_same(kernel, version, word_count)))
    version = version->next;
  return version;
}

static bool is_based_on(const Version *version, const Version *base) {
  for (version = version->base; version && version != base;) version = version->base;
  return version != NULL;
}

/* Removes all versions from the list before it frees any, as is_based_on reads their bases. */
static void drop_versions(Version *base, bool with_base) {
  Kernel *kernel = base->kernel;
  Version *dropped = NULL;
  for (Version **at = &kernel->versions, *version; (version = *at);) {
    if (!(version == base ? with_base : is_based_on(version, base))) {
      at = &version->next;
      continue;
    }
    *at = version->next;
    version->next = dropped;
    dropped = version;
    if (kernel->last == version) kernel->last = NULL;
    if (kernel->ran == version)
      kernel->ran = version->launch == base->launch && !with_base ? base : NULL;
  }
  for (Version *next; dropped; dropped = next) {
    next = dropped->next;
    free_version(dropped);
  }
}

void versions_drop(Version *version) { drop_versions(version, true); }

void versions_drop_based_on(Version *base) {
  specialise_forget(base);
  tuning_drop(version_engine(base), base);
  drop_versions(base, false);
}

void versions_drop_all(Kernel *kernel) {
  if (kernel->engine->queued) queue_report_all(kernel->engine, NULL);
  for (Version *next; kernel->versions; kernel->versions = next) {
    next = kernel->versions->next;
    free_version(kernel->versions);
  }
  kernel->last = kernel->ran = NULL;
}

/* -- choosing ---------------------------------------------------------------------------------- */

Version *versions_choose(Version *general) {
  ASSERT(!general->base && general->state == VERSION_READY, "a launch has found its version");
  if (general->tier == TIER_BASELINE) general = baseline_choose(general);
  Version *specialised = specialise_find(general);
  return specialised ? specialised : general;
}

const Version *versions_shown(const Kernel *kernel) {
  const Version *specialised = kernel->last ? specialise_current(kernel->last) : NULL;
  return specialised ? specialised : kernel->last;
}

void version_copy_arguments(Version *version, const Version *from) {
  const CompiledKernel *compiled = version->compiled;
  VersionLaunch *launch = version->launch;
  DEBUG_ASSERT(launch != from->launch, "arguments are copied from another frame");
  DEBUG_ASSERT(compiled->arg_count == from->compiled->arg_count,
               "versions of a pattern have the same arguments");
  readback_drop(version_engine(version), version);
  memset(launch->frame, 0, sizeof *launch->frame * (size_t)compiled->frame_slots);
  memcpy(launch->frame, from->launch->frame, sizeof *launch->frame * (size_t)compiled->arg_count);
}

/* -- requests ---------------------------------------------------------------------------------- */

/* The optimised version that is being compiled, or NULL. */
static Version *find_optimised(const Version *baseline) {
  Version *at = baseline->kernel->versions;
  while (at && (at->base != baseline || at->why != COMPILE_TO_OPTIMISE)) at = at->next;
  return at;
}

/* Begins to compile optimised code for baseline code, from the same canonical bytes. */
static Version *begin_optimised(Version *baseline, CompilePriority priority, Error *err) {
  Version *version = version_create(baseline->kernel, baseline, compiled_hold(baseline->compiled),
                                    COMPILE_TO_OPTIMISE, err);
  if (version && background_start(version, priority)) return version;
  baseline->stays_baseline = true;
  if (!version) return NULL;
  no_memory(err);
  versions_publish(version, NULL, NULL, err);
  return NULL;
}

Version *versions_optimise(Version *baseline, bool waits, Error *err) {
  Engine *engine = version_engine(baseline);
  ASSERT(baseline->tier == TIER_BASELINE && !baseline->base, "only baseline code is optimised");
  double begin = clock_ms();
  Version *version = find_optimised(baseline);
  if (!version) version = begin_optimised(baseline, waits ? PRIORITY_NOW : PRIORITY_SPARE, err);
  if (!version) return NULL;
  if (waits) background_wait(version, err);
  else if (!background_poll(version, err)) return NULL;
  if (waits) engine->stats.compile_ms += clock_ms() - begin;
  return baseline->base; /* the published version; a failed one is freed */
}

static bool keep_constants(Version *version, const Constants *constants) {
  if (!constants->taken) return true;
  ASSERT(constants->slots && !version->constants.slots, "constants are kept once, with values");
  Heap *heap = version_engine(version)->store->heap;
  size_t bytes = sizeof *constants->slots * (size_t)version->compiled->arg_count;
  uint64_t *slots = heap_alloc(heap, bytes);
  if (!slots) return false;
  size_t known = sizeof *slots * COMPILE_MOST_CONSTANTS;
  memcpy(slots, constants->slots, bytes < known ? bytes : known);
  version->constants = (Constants){constants->taken, slots};
  return true;
}

/* Makes a version from the result of the front end: READY if its code is on disk. */
static Version *begin_other(Compile *compile, Version *base, CompileWhy why) {
  Error ignored;
  error_clear(&ignored);
  CompiledKernel *compiled = compiled_make(compile, &ignored);
  Version *version = compiled ? version_create(base->kernel, base, compiled, why, &ignored) : NULL;
  if (!version) return NULL;
  version->way = compile->way;
  version->code = compile_find(compile);
  if (!keep_constants(version, &compile->constants)) {
    versions_drop(version);
    return NULL;
  }
  if (version->code) {
    versions_publish(version, NULL, NULL, &ignored);
    return version;
  }
  if (background_start(version, PRIORITY_SPARE)) return version;
  versions_drop(version);
  return NULL;
}

static Version *make_other(Version *base, CompileWhy why, const Constants *constants,
                           const CompileWay *way) {
  static const CompileWay usual;
  const Pattern *pattern = &version_general(base)->pattern;
  Compile compile = {.kernel = base->kernel,
                     .given = pattern->given,
                     .value_count = pattern->given_count,
                     .why = why,
                     .base = base->compiled,
                     .is_specialised =
                         why == COMPILE_TO_SPECIALISE || base->tier == TIER_SPECIALISED,
                     .is_repeated = true,
                     .way = way ? *way : usual,
                     .constants = *constants};
  scratch_init(&compile.scratch, version_engine(base)->store->heap);
  Version *version = compile_other(&compile) ? begin_other(&compile, base, why) : NULL;
  scratch_deinit(&compile.scratch);
  return version;
}

Version *versions_request(Version *base, CompileWhy why, const Constants *constants,
                          const CompileWay *way) {
  if (base->kernel->shipped) return NULL;
  ASSERT(base->state == VERSION_READY, "the base of a version can run");
  ASSERT(why == COMPILE_TO_SPECIALISE || why == COMPILE_TO_TRY,
         "other versions are compiled first");
  return make_other(base, why, constants, way);
}

/* -- publishing -------------------------------------------------------------------------------- */

/* Makes the optimised version the general one, and the base of all versions that were based on the
 * baseline version. A launch may still run the baseline code. */
static void make_general(Version *version) {
  Version *baseline = version->base;
  Kernel *kernel = version->kernel;
  ASSERT(baseline->tier == TIER_BASELINE && !baseline->base, "baseline code is replaced once");
  ASSERT(version->compiled == baseline->compiled && version->launch == baseline->launch,
         "a launch may switch between the two codes at any chunk");
  version->base = NULL;
  for (Version *at = kernel->versions; at; at = at->next)
    if (at->base == baseline) at->base = version;
  baseline->base = version;
  version->shares_launch = false;
  baseline->shares_launch = true;
  version->pattern = baseline->pattern;
  baseline->pattern = (Pattern){0};
  version->profile = baseline->profile;
  baseline->profile = NULL;
  version->tuning = baseline->tuning;
  baseline->tuning = NULL;
  version->is_tuned = baseline->is_tuned;
  version->compile_ms = baseline->compile_ms;
  if (kernel->last == baseline) kernel->last = version;
}

/* RG_TIME=1 shows the outcome of each compile that did not run within a launch. */
static void log_published(const Version *version) {
  static const char *const tiers[] = {[TIER_BASELINE] = "baseline",
                                      [TIER_OPTIMISED] = "optimised",
                                      [TIER_SPECIALISED] = "specialised"};
  static const char *const reasons[] = {[COMPILE_TO_RUN] = "for a launch",
                                        [COMPILE_IN_ADVANCE] = "in advance",
                                        [COMPILE_IN_BACKGROUND] = "in advance",
                                        [COMPILE_TO_OPTIMISE] =
                                            "as its baseline code has run for long",
                                        [COMPILE_TO_SPECIALISE] = "as its arguments stay the same",
                                        [COMPILE_TO_TRY] = "as a candidate of the tuner"};
  if (strcmp(option_text("RG_TIME"), "1") != 0) return;
  log_warning("%s version of '%.200s', %s: %s", tiers[version->tier], version->kernel->name,
              reasons[version->why], version->state == VERSION_READY ? "ready" : "failed");
}

static void publish_optimised(Version *version, const RgCodegenResult *result) {
  Engine *engine = version_engine(version);
  if (result) compile_charge(engine, result);
  if (version->state == VERSION_FAILED) {
    version->base->stays_baseline = true;
    versions_drop(version);
    return;
  }
  engine->stats.improved++;
  make_general(version);
}

void versions_publish(Version *version, const RgCodegenRequest *request,
                      const RgCodegenResult *result, Error *err) {
  Engine *engine = version_engine(version);
  ASSERT(!version->job && version->state < VERSION_READY,
         "a version is published once, when its compile has ended");
  ASSERT(!result || !version->code, "code is loaded for a version that has none");
  if (result) version->code = compile_load(engine, version->compiled, request, result, NULL, err);
  version->state = version->code ? VERSION_READY : VERSION_FAILED;
  log_published(version);
  if (version->why == COMPILE_TO_OPTIMISE) publish_optimised(version, result);
  else if (version->why == COMPILE_TO_SPECIALISE) specialise_publish(version);
  /* a launch waits for others, or the tuner polls them */
}

/* -- a new capture ----------------------------------------------------------------------------- */

static int32_t moved(int32_t at, int32_t value) { return value < at ? value : value + 1; }

/* Renumbers words 1 and 4 of a field, node or array, which are 1 + the number of a value. */
static void move_classes(int32_t at, uint64_t *words) {
  int32_t kind = (int32_t)(uint32_t)words[0];
  if (kind != RG_VALUE_FIELD && kind != RG_VALUE_NODE && kind != RG_VALUE_ARRAY) return;
  if ((uint32_t)words[1] > (uint32_t)at) words[1]++;
  if (words[4] > (uint64_t)at) words[4]++;
}

static bool widen_words(Heap *heap, int32_t at, Pattern *pattern) {
  int before = at * PATTERN_WORDS, count = pattern->word_count + PATTERN_WORDS;
  uint64_t *words = heap_resize(heap, pattern->words, sizeof *words * (size_t)count);
  if (!words) return false;
  uint64_t *rest = words + before + PATTERN_WORDS;
  memmove(rest, words + before, sizeof *words * (size_t)(pattern->word_count - before));
  memset(words + before, 0, sizeof *words * PATTERN_WORDS);
  for (; rest < words + count; rest += PATTERN_WORDS) move_classes(at, rest);
  pattern->words = words;
  pattern->word_count = count;
  return true;
}

static bool widen_given(Heap *heap, int32_t at, Pattern *pattern) {
  int32_t count = pattern->given_count + 1;
  SemaValue *wide = heap_alloc(heap, sizeof *wide * (size_t)count);
  if (!wide) return false;
  wide[at] = (SemaValue){.kind = VALUE_NIL, .name = ""};
  for (int32_t k = 0; k < pattern->given_count; k++) {
    SemaValue *value = &wide[moved(at, k)];
    *value = pattern->given[k];
    if (value->kind == VALUE_ARRAY) value->array.number = moved(at, value->array.number);
  }
  SemaValue *kept = values_keep(heap, wide, count);
  heap_free(heap, wide);
  if (!kept) return false;
  values_free(heap, pattern->given, pattern->given_count);
  pattern->given = kept;
  pattern->given_count = count;
  return true;
}

/* The new value is inserted between the earlier captures and the parameters. General versions
 * ignore it: they were compiled without it, and every value that can change their code is already
 * in their pattern. So only the numbers of parameters change. Decision D-kernel-08. */
void versions_widen(Kernel *kernel) {
  Heap *heap = kernel->engine->store->heap;
  int32_t at = kernel->paths.count - 1;
  ASSERT(at >= 0, "a kernel is widened by a capture that it has");
  if (kernel->engine->queued) queue_report_all(kernel->engine, NULL);
  for (Version *version = kernel->versions; version; version = version->next) {
    if (version->base) continue;
    versions_drop_based_on(version);
    if (widen_words(heap, at, &version->pattern) && widen_given(heap, at, &version->pattern)) {
      bind_values(version);
      continue;
    }
    versions_drop_all(kernel);
    return;
  }
}
