/* valid.c - checks the invariants of a kernel's versions between launches: every index that a
 * launch uses (of a frame slot, a value, a tree, another task) is in bounds, a pattern selects one
 * general version, and every other version has a base, whose arguments it takes. */
#include <string.h>

#include "kernel/versions/versions.h"

#define EXPECT(condition, sentence) \
  do { \
    if (!(condition)) { \
      *broken = (sentence); \
      return false; \
    } \
  } while (0)

/* -- compiled kernels -------------------------------------------------------------------------- */

static bool is_slot_range(const CompiledKernel *compiled, int32_t first, int32_t count) {
  return first >= 0 && count >= 0 && first <= compiled->frame_slots - count;
}

static bool args_are_valid(const CompiledKernel *compiled, const char **broken) {
  int32_t results = 0;
  for (int32_t k = 0; k < compiled->arg_count; k++) {
    const CompiledArg *arg = &compiled->args[k];
    EXPECT(arg->from.index >= 0, "an argument is read from a capture or a parameter");
    EXPECT(arg->name && arg->source, "an argument has a name and a source that uses it");
    EXPECT(type_parts(arg->type) == 1, "an argument is one number");
  }
  for (int32_t k = 0; k < compiled->limit_count; k++)
    EXPECT(compiled->limits[k].arg >= 0 && compiled->limits[k].arg < compiled->arg_count &&
               compiled->limits[k].source,
           "a limit has an argument and a source");
  for (int32_t k = 0; k < compiled->result_count; k++) results += type_parts(compiled->results[k]);
  EXPECT(is_slot_range(compiled, compiled->arg_count, results),
         "arguments and results fit the frame");
  return true;
}

static bool sums_are_valid(const CompiledKernel *compiled, const DeviceTask *task,
                           const char **broken) {
  for (int32_t k = 0; k < task->sum_count; k++) {
    const DeviceSum *sum = &task->sums[k];
    if (sum->tree < 0) continue;
    EXPECT(sum->tree < compiled->tree_count, "sums are in a tree of the kernel");
    EXPECT(sum->depth >= 1 && sum->depth <= RT_MAX_LEVELS + 1, "sums are a nest of runs");
  }
  return true;
}

static bool task_is_valid(const CompiledKernel *compiled, const DeviceTask *task,
                          const char **broken) {
  if (task->kind == DEVICE_RANGE) {
    EXPECT(is_slot_range(compiled, task->bounds, 2 * task->axis_count),
           "a range has its bounds in the frame");
  } else if (task->kind == DEVICE_NODES) {
    EXPECT(task->tree >= 0 && task->tree < compiled->tree_count && task->manager >= 0,
           "a task over nodes has a tree of the kernel");
  }
  EXPECT(task->cost >= 1, "a position costs something");
  EXPECT(!task->may_deactivate || task->may_change_topology,
         "a task that deactivates changes topology");
  EXPECT(!task->sum_count || compiled->has_sums, "has_sums is set if some task has private copies");
  if (task->privatised) {
    EXPECT(task->privatised > 0 && task->privatised < compiled->task_count &&
               compiled->tasks[task->privatised].sum_count > 0,
           "a privatised version is a task with private copies");
  }
  return sums_are_valid(compiled, task, broken);
}

bool compiled_is_valid(const CompiledKernel *compiled, const char **broken) {
  EXPECT(compiled->holders > 0, "a compiled kernel that is in use is held");
  if (!args_are_valid(compiled, broken)) return false;
  for (int32_t k = 0; k < compiled->tree_count; k++)
    EXPECT(compiled->trees[k].index >= 0, "a tree is that of a capture or a parameter");
  for (int32_t k = 0; k < compiled->task_count; k++)
    if (!task_is_valid(compiled, &compiled->tasks[k], broken)) return false;
  for (int32_t k = 0; k < compiled->message_count; k++)
    EXPECT(compiled->messages[k].source &&
               compiled->message_axes[k] == compiled->messages[k].axis_count,
           "a message has a source, and its axes in the table");
  for (int32_t k = 0; k < compiled->site_count; k++)
    EXPECT(compiled->sites[k].name && compiled->sites[k].shape, "a site has a name and a shape");
  return true;
}

/* -- versions ---------------------------------------------------------------------------------- */

static int32_t value_count(const Version *version) {
  return version_general(version)->pattern.word_count / PATTERN_WORDS;
}

/* Do the words of a value refer to a tree? See pattern.c. */
static bool is_of_tree(const uint64_t *words) {
  int32_t kind = (int32_t)(uint32_t)words[0];
  bool has_memory = kind == RG_VALUE_FIELD || kind == RG_VALUE_NODE || kind == RG_VALUE_ARRAY;
  return has_memory && (uint32_t)words[1];
}

static bool launch_is_valid(const Version *version, const char **broken) {
  const CompiledKernel *compiled = version->compiled;
  const VersionLaunch *launch = version->launch;
  const uint64_t *words = version_general(version)->pattern.words;
  for (int32_t k = 0; k < compiled->arg_count; k++)
    EXPECT(launch->arg_values[k] >= 0 && launch->arg_values[k] < value_count(version),
           "an argument is read from a value of the launch");
  for (int32_t k = 0; k < compiled->tree_count; k++) {
    int32_t value = launch->tree_values[k];
    EXPECT(value >= 0 && value < value_count(version), "a tree is that of a value of the launch");
    const uint64_t *of = words + value * PATTERN_WORDS;
    EXPECT(is_of_tree(of), "a value with a tree is a field, a node or an array");
    for (int32_t other = 0; other < k; other++)
      EXPECT((uint32_t)words[launch->tree_values[other] * PATTERN_WORDS + 1] != (uint32_t)of[1],
             "the trees of a version are distinct");
  }
  return true;
}

static bool pattern_is_valid(const Version *version, const char **broken) {
  const Pattern *pattern = &version->pattern;
  EXPECT(!version->base == (pattern->words != NULL), "only a general version has a pattern");
  if (version->base) return true;
  EXPECT(pattern->word_count % PATTERN_WORDS == 0, "a pattern is whole values");
  EXPECT(pattern->path_count >= 0 && pattern->path_count <= value_count(version),
         "a version has at most as many captures as there are values");
  EXPECT(version->tier != TIER_SPECIALISED, "a specialised version is based on a general one");
  return true;
}

static bool state_is_valid(const Version *version, const char **broken) {
  bool has_job = version->state == VERSION_QUEUED || version->state == VERSION_COMPILING;
  EXPECT(has_job == (version->job != NULL),
         "a version has a background compile until it is ready or has failed");
  EXPECT(version->state != VERSION_READY || version->code || !version->compiled->task_count,
         "a ready version with tasks has code");
  EXPECT(version->state == VERSION_READY || !version->code, "code makes a version ready");
  return true;
}

static bool base_is_valid(const Version *first, const Version *version, const char **broken) {
  const Version *base = version->base, *at = first;
  if (!base) return true;
  while (at && at != base) at = at->next;
  EXPECT(at, "a version and its base belong to one kernel");
  EXPECT(base->state == VERSION_READY, "the base of a version can run");
  EXPECT(version->compiled->arg_count == base->compiled->arg_count &&
             version->compiled->tree_count == base->compiled->tree_count,
         "a version takes the arguments of its base");
  EXPECT(version->shares_launch == (version->launch == base->launch),
         "a frame belongs to one version");
  EXPECT(!version->shares_launch || version->compiled == base->compiled,
         "versions that share a frame share its layout");
  EXPECT(version->tier != TIER_SPECIALISED || version->constants.taken || base->compiled->is_long ||
             base->tier == TIER_SPECIALISED,
         "a specialised version has constants, or vectorises a long body");
  return true;
}

/* Checks each version alone, and then together with its base. */
static bool all_are_valid(const Version *first, const char **broken) {
  for (const Version *at = first; at; at = at->next)
    if (!compiled_is_valid(at->compiled, broken) || !pattern_is_valid(at, broken) ||
        !state_is_valid(at, broken))
      return false;
  for (const Version *at = first; at; at = at->next)
    if (!base_is_valid(first, at, broken) || !launch_is_valid(at, broken)) return false;
  return true;
}

static bool is_same_pattern(const Pattern *a, const Pattern *b) {
  return a->word_count == b->word_count &&
         (!a->word_count || !memcmp(a->words, b->words, sizeof *a->words * (size_t)a->word_count));
}

bool versions_are_valid(const Version *first, const Version *last, const char **broken) {
  bool has_last = !last;
  if (!all_are_valid(first, broken)) return false;
  for (const Version *version = first; version; version = version->next) {
    for (const Version *other = first; other != version; other = other->next)
      EXPECT(version->base || other->base || !is_same_pattern(&version->pattern, &other->pattern),
             "a pattern leads to one general version");
    has_last |= version == last && !version->base;
  }
  EXPECT(has_last, "the version that was found last is a general one of the kernel's");
  return true;
}
