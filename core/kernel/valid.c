/* valid.c - checks the invariants of a kernel's variants between launches: every index that a
 * launch uses (of a frame slot, a value, a tree, another task) is in bounds, and a pattern selects
 * one variant. */
#include <string.h>

#include "kernel/variant.h"

#define EXPECT(condition, sentence) \
  do { \
    if (!(condition)) { \
      *broken = (sentence); \
      return false; \
    } \
  } while (0)

static int32_t value_count(const Variant *variant) { return variant->word_count / PATTERN_WORDS; }

static bool is_slot_range(const Variant *variant, int32_t first, int32_t count) {
  return first >= 0 && count >= 0 && first <= variant->frame_slots - count;
}

static bool args_are_valid(const Variant *variant, const char **broken) {
  int32_t results = 0;
  for (int32_t k = 0; k < variant->arg_count; k++) {
    const VariantArg *arg = &variant->args[k];
    EXPECT(arg->value >= 0 && arg->value < value_count(variant),
           "an argument comes from a value of the launch");
    EXPECT(arg->name && arg->source, "an argument has a name and the text that uses it");
    EXPECT(type_parts(arg->type) == 1, "an argument is one number");
  }
  for (int32_t k = 0; k < variant->limit_count; k++)
    EXPECT(variant->limits[k].arg >= 0 && variant->limits[k].arg < variant->arg_count &&
               variant->limits[k].source,
           "a limit is that of an argument, and has the text that it is of");
  for (int32_t k = 0; k < variant->result_count; k++) results += type_parts(variant->results[k]);
  EXPECT(is_slot_range(variant, variant->arg_count, results),
         "arguments and results fit the frame");
  return true;
}

/* Do the words of a value refer to a tree? See pattern.c. */
static bool is_of_tree(const uint64_t *words) {
  int32_t kind = (int32_t)(uint32_t)words[0];
  bool has_memory = kind == RG_VALUE_FIELD || kind == RG_VALUE_NODE || kind == RG_VALUE_ARRAY;
  return has_memory && (uint32_t)words[1];
}

static bool trees_are_valid(const Variant *variant, const char **broken) {
  for (int32_t k = 0; k < variant->tree_count; k++) {
    int32_t value = variant->tree_values[k];
    EXPECT(value >= 0 && value < value_count(variant), "a tree comes with a value of the launch");
    const uint64_t *words = variant->words + value * PATTERN_WORDS;
    EXPECT(is_of_tree(words), "a value with a tree is a field, a node or an array");
    for (int32_t other = 0; other < k; other++)
      EXPECT((uint32_t)variant->words[variant->tree_values[other] * PATTERN_WORDS + 1] !=
                 (uint32_t)words[1],
             "the trees of a variant are different ones");
  }
  return true;
}

static bool sums_are_valid(const Variant *variant, const DeviceTask *task, const char **broken) {
  for (int32_t k = 0; k < task->sum_count; k++) {
    const DeviceSum *sum = &task->sums[k];
    if (sum->tree < 0) continue;
    EXPECT(sum->tree < variant->tree_count, "what a task sums is in a tree of the variant");
    EXPECT(sum->depth >= 1 && sum->depth <= RT_MAX_LEVELS + 1,
           "what a task sums is a nest of runs");
  }
  return true;
}

static bool task_is_valid(const Variant *variant, const DeviceTask *task, const char **broken) {
  if (task->kind == DEVICE_RANGE) {
    EXPECT(is_slot_range(variant, task->bounds, 2 * task->axis_count),
           "a range has its bounds in the frame");
  } else {
    EXPECT(task->tree >= 0 && task->tree < variant->tree_count && task->manager >= 0,
           "a task over nodes has a tree of the variant");
  }
  EXPECT(task->cost >= 1, "a position costs something");
  EXPECT(!task->may_deactivate || task->may_change_topology,
         "a task that deactivates changes topology");
  EXPECT(!task->sum_count || variant->has_sums,
         "a variant knows whether some of its tasks are privatised");
  if (task->privatised) {
    EXPECT(task->privatised > 0 && task->privatised < variant->task_count &&
               variant->tasks[task->privatised].sum_count > 0,
           "a privatised version is a task that sums private copies");
  }
  return sums_are_valid(variant, task, broken);
}

bool variant_is_valid(const Variant *variant, const char **broken) {
  EXPECT(variant->words && variant->word_count % PATTERN_WORDS == 0, "a pattern is whole values");
  EXPECT(variant->path_count >= 0 && variant->path_count <= value_count(variant),
         "a variant knows as many captures as there are values at most");
  EXPECT(variant->code || variant->making || !variant->task_count, "tasks are those of code");
  if (!args_are_valid(variant, broken) || !trees_are_valid(variant, broken)) return false;
  for (int32_t k = 0; k < variant->task_count; k++)
    if (!task_is_valid(variant, &variant->tasks[k], broken)) return false;
  for (int32_t k = 0; k < variant->message_count; k++)
    EXPECT(variant->messages[k].source &&
               variant->message_axes[k] == variant->messages[k].axis_count,
           "a message has the text it is of, and its axes in the table");
  for (int32_t k = 0; k < variant->site_count; k++)
    EXPECT(variant->sites[k].name && variant->sites[k].shape, "a site has the words for it");
  return true;
}

static bool is_same_pattern(const Variant *a, const Variant *b) {
  return a->word_count == b->word_count &&
         (!a->word_count || !memcmp(a->words, b->words, sizeof *a->words * (size_t)a->word_count));
}

bool variants_are_valid(const Variant *first, const Variant *last, const char **broken) {
  bool has_last = !last;
  for (const Variant *variant = first; variant; variant = variant->next) {
    if (!variant_is_valid(variant, broken)) return false;
    for (const Variant *other = first; other != variant; other = other->next)
      EXPECT(!is_same_pattern(variant, other), "a pattern leads to one variant");
    has_last |= variant == last;
  }
  EXPECT(has_last, "the variant that was found last is one of the kernel's");
  return true;
}
