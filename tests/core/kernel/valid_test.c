/* valid_test.c - each invariant of versions is broken on purpose, and its own message must report
 * it. */
#include "check.h"
#include "kernel/versions/versions.h"

enum { VALUES = 3, SLOTS = 10, TASKS = 3 };

/* Three values: a number, and fields of two trees. Task 0 is a range with task 1 as its privatised
 * version, task 2 goes over nodes. `special` is based on `version`; `other` has another pattern. */
typedef struct Fixture {
  Version version, special, other;
  CompiledKernel compiled, special_compiled, nothing;
  VersionLaunch launch, special_launch, other_launch;
  uint64_t words[VALUES * PATTERN_WORDS], other_words[PATTERN_WORDS], slots[1];
  int32_t arg_values[1], tree_values[2];
  CompiledArg args[1];
  SemaArg trees[2];
  SemaLimit limits[1];
  Type results[1];
  DeviceTask tasks[TASKS];
  DeviceSum sum;
  SemaMessage message;
  int32_t axes[1];
  CompiledSite site;
  Source source;
  DeviceCode code;
} Fixture;

static Fixture f;

static void create(void) {
  f = (Fixture){.words = {RG_VALUE_NUMBER, [PATTERN_WORDS] = RG_VALUE_FIELD, 2, 7, 1,
                          [2 * PATTERN_WORDS] = RG_VALUE_FIELD, 3, 7, 1},
                .other_words = {RG_VALUE_NUMBER},
                .tree_values = {1, 2},
                .trees = {{.index = 1}, {.is_parameter = true}},
                .site = {.name = "x", .shape = "8"},
                .sum = {.tree = 1, .depth = 1}};
  f.results[0] = TYPE(F64);
  f.args[0] = (CompiledArg){.type = TYPE(F32), .source = &f.source, .name = "a"};
  f.limits[0] = (SemaLimit){.source = &f.source};
  f.tasks[0] =
      (DeviceTask){.kind = DEVICE_RANGE, .axis_count = 2, .bounds = 4, .cost = 1, .privatised = 1};
  f.tasks[1] = f.tasks[0];
  f.tasks[1].privatised = 0, f.tasks[1].sums = &f.sum, f.tasks[1].sum_count = 1;
  f.tasks[2] = (DeviceTask){.kind = DEVICE_NODES, .tree = 1, .manager = 0, .cost = 9};
  f.message = (SemaMessage){.source = &f.source};
  f.compiled = (CompiledKernel){.holders = 1,
                                .tasks = f.tasks,
                                .task_count = TASKS,
                                .has_sums = true,
                                .args = f.args,
                                .arg_count = 1,
                                .limits = f.limits,
                                .limit_count = 1,
                                .results = f.results,
                                .result_count = 1,
                                .messages = &f.message,
                                .message_count = 1,
                                .message_axes = f.axes,
                                .sites = &f.site,
                                .site_count = 1,
                                .trees = f.trees,
                                .tree_count = 2,
                                .frame_slots = SLOTS};
  f.special_compiled = f.compiled;
  f.nothing = (CompiledKernel){.holders = 1};
  f.launch = (VersionLaunch){.arg_values = f.arg_values, .tree_values = f.tree_values};
  f.special_launch = f.launch;
  f.version = (Version){.pattern = {.words = f.words, .word_count = VALUES * PATTERN_WORDS},
                        .tier = TIER_OPTIMISED,
                        .state = VERSION_READY,
                        .code = &f.code,
                        .compiled = &f.compiled,
                        .launch = &f.launch,
                        .next = &f.other};
  f.special = (Version){.base = &f.version,
                        .tier = TIER_SPECIALISED,
                        .state = VERSION_READY,
                        .constants = {1, f.slots},
                        .code = &f.code,
                        .compiled = &f.special_compiled,
                        .launch = &f.special_launch,
                        .next = &f.version};
  f.other = (Version){.pattern = {.words = f.other_words, .word_count = PATTERN_WORDS},
                      .tier = TIER_OPTIMISED,
                      .state = VERSION_READY,
                      .code = &f.code,
                      .compiled = &f.nothing,
                      .launch = &f.other_launch};
}

static const Version *last;

static void cut_pattern(void) { f.version.pattern.word_count--; }
static void ignore_too_much(void) { f.version.pattern.path_count = VALUES + 1; }
static void lose_pattern(void) { f.other.pattern.words = NULL; }
static void give_pattern(void) { f.special.pattern.words = f.other_words; }
static void lose_code(void) { f.version.code = NULL; }
static void wait_for_nothing(void) { f.version.state = VERSION_COMPILING, f.version.code = NULL; }
static void fail_with_code(void) { f.special.state = VERSION_FAILED; }
static void lose_base(void) {
  f.special.base = NULL;
  f.special.pattern = f.version.pattern, f.version.pattern = f.other.pattern;
  f.other.pattern.words = f.words;
}
static void base_on_stranger(void) {
  static Version stranger;
  stranger = f.version;
  f.special.base = &stranger;
}
static void base_on_failure(void) { f.version.state = VERSION_FAILED, f.version.code = NULL; }
static void take_fewer(void) { f.special_compiled.arg_count = f.special_compiled.limit_count = 0; }
static void share_unsaid(void) { f.special.launch = &f.launch; }
static void share_frame(void) { f.special.launch = &f.launch, f.special.shares_launch = true; }
static void take_no_constant(void) { f.special.constants.taken = 0; }
static void let_go(void) { f.compiled.holders = 0; }
static void take_from_nowhere(void) { f.arg_values[0] = VALUES; }
static void take_from_before(void) { f.args[0].from.index = -1; }
static void lose_name(void) { f.args[0].name = NULL; }
static void take_a_vector(void) { f.args[0].type = type_shaped(TYPE(F32), type_make_shape(3, 1)); }
static void limit_another(void) { f.limits[0].arg = 1; }
static void shrink_frame(void) { f.compiled.frame_slots = 1; }
static void bring_from_nowhere(void) { f.tree_values[1] = -1; }
static void bring_from_before(void) { f.trees[1].index = -1; }
static void bring_a_number(void) { f.tree_values[1] = 0; }
static void bring_twice(void) { f.words[2 * PATTERN_WORDS + 1] = f.words[PATTERN_WORDS + 1]; }
static void add_elsewhere(void) { f.sum.tree = 2; }
static void add_nothing(void) { f.sum.depth = 0; }
static void move_bounds(void) { f.tasks[0].bounds = SLOTS - 3; }
static void lose_tree(void) { f.tasks[2].tree = 2; }
static void cost_nothing(void) { f.tasks[0].cost = 0; }
static void deactivate_unseen(void) { f.tasks[2].may_deactivate = true; }
static void forget_sums(void) { f.compiled.has_sums = f.special_compiled.has_sums = false; }
static void privatise_another(void) { f.tasks[0].privatised = 2; }
static void privatise_nothing(void) { f.tasks[0].privatised = TASKS; }
static void miscount_axes(void) { f.axes[0] = 1; }
static void lose_site(void) { f.site.shape = NULL; }
static void repeat_pattern(void) { f.other = f.version, f.other.next = NULL; }
static void run_another(void) { last = &f.special; }

static const struct {
  void (*break_it)(void);
  const char *sentence;
} cases[] = {
    {cut_pattern, "a pattern is whole values"},
    {ignore_too_much, "a version has at most as many captures as there are values"},
    {lose_pattern, "only a general version has a pattern"},
    {give_pattern, "only a general version has a pattern"},
    {lose_code, "a ready version with tasks has code"},
    {wait_for_nothing, "a version has a background compile until it is ready or has failed"},
    {fail_with_code, "code makes a version ready"},
    {lose_base, "a specialised version is based on a general one"},
    {base_on_stranger, "a version and its base belong to one kernel"},
    {base_on_failure, "the base of a version can run"},
    {take_fewer, "a version takes the arguments of its base"},
    {share_unsaid, "a frame belongs to one version"},
    {share_frame, "versions that share a frame share its layout"},
    {take_no_constant, "a specialised version has constants, or vectorises a long body"},
    {let_go, "a compiled kernel that is in use is held"},
    {take_from_nowhere, "an argument is read from a value of the launch"},
    {take_from_before, "an argument is read from a capture or a parameter"},
    {lose_name, "an argument has a name and a source that uses it"},
    {take_a_vector, "an argument is one number"},
    {limit_another, "a limit has an argument and a source"},
    {shrink_frame, "arguments and results fit the frame"},
    {bring_from_nowhere, "a tree is that of a value of the launch"},
    {bring_from_before, "a tree is that of a capture or a parameter"},
    {bring_a_number, "a value with a tree is a field, a node or an array"},
    {bring_twice, "the trees of a version are distinct"},
    {add_elsewhere, "sums are in a tree of the kernel"},
    {add_nothing, "sums are a nest of runs"},
    {move_bounds, "a range has its bounds in the frame"},
    {lose_tree, "a task over nodes has a tree of the kernel"},
    {cost_nothing, "a position costs something"},
    {deactivate_unseen, "a task that deactivates changes topology"},
    {forget_sums, "has_sums is set if some task has private copies"},
    {privatise_another, "a privatised version is a task with private copies"},
    {privatise_nothing, "a privatised version is a task with private copies"},
    {miscount_axes, "a message has a source, and its axes in the table"},
    {lose_site, "a site has a name and a shape"},
    {repeat_pattern, "a pattern leads to one general version"},
    {run_another, "the version that was found last is a general one of the kernel's"},
};

static const char *broken_of(void) {
  const char *broken = "";
  return versions_are_valid(&f.special, last, &broken) ? "" : broken;
}

int main(void) {
  TEST("intact versions are valid") {
    create();
    CHECK_TEXT(broken_of(), "");
    last = &f.other;
    CHECK_TEXT(broken_of(), "");
  }
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    create();
    last = &f.version;
    TEST(cases[k].sentence) {
      cases[k].break_it();
      CHECK_TEXT(broken_of(), cases[k].sentence);
    }
  }
  return check_report();
}
