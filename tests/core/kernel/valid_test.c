/* valid_test.c - each invariant of variants is broken on purpose, and its own sentence says so. */
#include "check.h"
#include "kernel/variant.h"

enum { VALUES = 3, SLOTS = 10, TASKS = 3 };

/* Three values: a number, and fields of two trees. Task 0 is a range with task 1 as its privatised
 * version, task 2 goes over nodes. */
typedef struct Fixture {
  Variant variant, other;
  uint64_t words[VALUES * PATTERN_WORDS], other_words[PATTERN_WORDS];
  VariantArg args[1];
  Type results[1];
  int32_t tree_values[2];
  DeviceTask tasks[TASKS];
  DeviceSum sum;
  SemaMessage message;
  int32_t axes[1];
  Source source;
  DeviceCode code;
} Fixture;

static Fixture f;

static void create(void) {
  f = (Fixture){.words = {RG_VALUE_NUMBER, [PATTERN_WORDS] = RG_VALUE_FIELD, 2, 7, 1,
                          [2 * PATTERN_WORDS] = RG_VALUE_FIELD, 3, 7, 1},
                .other_words = {RG_VALUE_NUMBER},
                .tree_values = {1, 2},
                .sum = {.tree = 1, .depth = 1}};
  f.results[0] = TYPE(F64);
  f.args[0] = (VariantArg){.type = TYPE(F32), .value = 0, .source = &f.source, .name = "a"};
  f.tasks[0] =
      (DeviceTask){.kind = DEVICE_RANGE, .axis_count = 2, .bounds = 4, .cost = 1, .privatised = 1};
  f.tasks[1] = f.tasks[0];
  f.tasks[1].privatised = 0, f.tasks[1].sums = &f.sum, f.tasks[1].sum_count = 1;
  f.tasks[2] = (DeviceTask){.kind = DEVICE_NODES, .tree = 1, .manager = 0, .cost = 9};
  f.message = (SemaMessage){.source = &f.source};
  f.variant = (Variant){.words = f.words,
                        .word_count = VALUES * PATTERN_WORDS,
                        .code = &f.code,
                        .tasks = f.tasks,
                        .task_count = TASKS,
                        .has_sums = true,
                        .args = f.args,
                        .arg_count = 1,
                        .results = f.results,
                        .result_count = 1,
                        .messages = &f.message,
                        .message_count = 1,
                        .message_axes = f.axes,
                        .tree_values = f.tree_values,
                        .tree_count = 2,
                        .frame_slots = SLOTS};
  f.other = (Variant){.words = f.other_words, .word_count = PATTERN_WORDS, .code = &f.code};
  f.variant.next = &f.other;
}

static const Variant *last;

static void cut_pattern(void) { f.variant.word_count--; }
static void ignore_too_much(void) { f.variant.path_count = VALUES + 1; }
static void lose_code(void) { f.variant.code = NULL; }
static void take_from_nowhere(void) { f.args[0].value = VALUES; }
static void lose_name(void) { f.args[0].name = NULL; }
static void take_a_vector(void) { f.args[0].type = type_shaped(TYPE(F32), type_make_shape(3, 1)); }
static void shrink_frame(void) { f.variant.frame_slots = 1; }
static void bring_from_nowhere(void) { f.tree_values[1] = -1; }
static void bring_a_number(void) { f.tree_values[1] = 0; }
static void bring_twice(void) { f.words[2 * PATTERN_WORDS + 1] = f.words[PATTERN_WORDS + 1]; }
static void add_elsewhere(void) { f.sum.tree = 2; }
static void add_nothing(void) { f.sum.depth = 0; }
static void move_bounds(void) { f.tasks[0].bounds = SLOTS - 3; }
static void lose_tree(void) { f.tasks[2].tree = 2; }
static void cost_nothing(void) { f.tasks[0].cost = 0; }
static void deactivate_unseen(void) { f.tasks[2].may_deactivate = true; }
static void forget_sums(void) { f.variant.has_sums = false; }
static void privatise_another(void) { f.tasks[0].privatised = 2; }
static void privatise_nothing(void) { f.tasks[0].privatised = TASKS; }
static void miscount_axes(void) { f.axes[0] = 1; }
static void repeat_pattern(void) { f.other = f.variant, f.other.next = NULL; }
static void run_another(void) {
  static Variant another;
  last = &another;
}

static const struct {
  void (*break_it)(void);
  const char *sentence;
} cases[] = {
    {cut_pattern, "a pattern is whole values"},
    {ignore_too_much, "a variant knows as many captures as there are values at most"},
    {lose_code, "tasks are those of code"},
    {take_from_nowhere, "an argument comes from a value of the launch"},
    {lose_name, "an argument has a name and the text that uses it"},
    {take_a_vector, "an argument is one number"},
    {shrink_frame, "arguments and results fit the frame"},
    {bring_from_nowhere, "a tree comes with a value of the launch"},
    {bring_a_number, "a value with a tree is a field, a node or an array"},
    {bring_twice, "the trees of a variant are different ones"},
    {add_elsewhere, "what a task sums is in a tree of the variant"},
    {add_nothing, "what a task sums is a nest of runs"},
    {move_bounds, "a range has its bounds in the frame"},
    {lose_tree, "a task over nodes has a tree of the variant"},
    {cost_nothing, "a position costs something"},
    {deactivate_unseen, "a task that deactivates changes topology"},
    {forget_sums, "a variant knows whether some of its tasks are privatised"},
    {privatise_another, "a privatised version is a task that sums private copies"},
    {privatise_nothing, "a privatised version is a task that sums private copies"},
    {miscount_axes, "a message has the text it is of, and its axes in the table"},
    {repeat_pattern, "a pattern leads to one variant"},
    {run_another, "the variant that was found last is one of the kernel's"},
};

static const char *broken_of(void) {
  const char *broken = "";
  return variants_are_valid(&f.variant, last, &broken) ? "" : broken;
}

int main(void) {
  TEST("variants that nobody broke are valid") {
    create();
    CHECK_TEXT(broken_of(), "");
    last = &f.other;
    CHECK_TEXT(broken_of(), "");
  }
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    create();
    last = &f.variant;
    TEST(cases[k].sentence) {
      cases[k].break_it();
      CHECK_TEXT(broken_of(), cases[k].sentence);
    }
  }
  return check_report();
}
