/* kernel_test.c - a C host compiles and launches kernel text: versions, arguments, faults and
 * results. */
#include <stdio.h>

#include "runtime.h"

static RgKernel *kernel_of(const char *name, const char *text) {
  RgKernelOptions options = {
      .struct_size = sizeof options, .name = name, .chunk = "test.c", .first_line = 10};
  RgKernel *kernel = NULL;
  if (rg_kernel_create(rg, text, (int64_t)strlen(text), &options, &kernel))
    check_fail(__FILE__, __LINE__, rg_error(rg)->message);
  return kernel;
}

typedef struct Given {
  const char *name; /* of a captured path; parameters follow those, in order */
  RgValue value;
} Given;

static RgValue field(RgField *f) {
  return (RgValue){.kind = RG_VALUE_FIELD, .depth = 1, .field = f};
}
static RgValue node(RgSNode *n) { return (RgValue){.kind = RG_VALUE_NODE, .depth = 1, .node = n}; }

/* Provides a value for each path of the kernel: `rg.range` is the builtin, others are looked up in
 * `given`. */
static int fill(RgKernel *kernel, const Given *given, int given_count, const RgValue *parameters,
                int parameter_count, RgValue values[32]) {
  memset(values, 0, 32 * sizeof *values);
  int count = rg_kernel_path_count(kernel);
  for (int k = 0; k < count; k++) {
    const char *path;
    CHECK(rg_kernel_path(kernel, k, &path, NULL) == 0);
    if (!strcmp(path, "rg.range"))
      values[k] = (RgValue){.kind = RG_VALUE_BUILTIN, .depth = 2, .text = "rg.range"};
    for (int g = 0; g < given_count; g++)
      if (!strncmp(path, given[g].name, strlen(given[g].name))) values[k] = given[g].value;
  }
  for (int k = 0; k < parameter_count; k++) values[count + k] = parameters[k];
  return count + parameter_count;
}

static RgStatus launch(RgKernel *kernel, const Given *given, int given_count,
                       const RgValue *parameters, int parameter_count, RgValue *result) {
  RgValue values[32];
  int count = fill(kernel, given, given_count, parameters, parameter_count, values);
  return rg_kernel_launch(kernel, values, count, result);
}

static RgStatus compile(RgKernel *kernel, const Given *given, int given_count,
                        const RgValue *parameters, int parameter_count) {
  RgValue values[32];
  int count = fill(kernel, given, given_count, parameters, parameter_count, values);
  return rg_kernel_compile(kernel, values, count);
}

static RgField *dense(const char *name, const char *type, int64_t size) {
  return place(add(rg_tree_root(new_tree(name)), "dense", "i", size, NULL), type, name);
}

static uint64_t compiles(void) {
  RgStats stats;
  rg_stats(rg, &stats);
  return stats.compiles;
}

static void patterns(void) {
  RgKernel *kernel = kernel_of(
      "add",
      "function(a)\n  for i in rg.range(8) do x[i] = y[i] + a * 2.0 end\n  return x[3]\nend");
  RgField *x = dense("x", "f32", 8), *y = dense("y", "f32", 8), *z = dense("z", "f64", 8);
  Given given[2] = {{"x", field(x)}, {"y", field(y)}};
  RgValue a = number(1.5), result;
  TEST("a launch computes and returns its result") {
    CHECK(launch(kernel, given, 2, &a, 1, &result) == 0 && result.kind == RG_VALUE_NUMBER &&
          result.number == 3);
    CHECK(get(x, 7, 0, 1) == 3 && compiles() == 1);
  }
  TEST("another number, and two trees of one layout swapped, need no compile") {
    a = number(4);
    given[0].value = field(y), given[1].value = field(x);
    CHECK(launch(kernel, given, 2, &a, 1, &result) == 0 && result.number == 11 && compiles() == 1);
    CHECK(get(x, 7, 0, 1) == 3 && get(y, 7, 0, 1) == 11);
  }
  TEST("two adjacent fields of one node, swapped, need no compile") {
    RgSNode *cells = add(rg_tree_root(new_tree("twins")), "dense", "i", 8, NULL);
    RgField *one = place(cells, "f32", "a"), *two = place(cells, "f32", "b");
    Given twins[2] = {{"x", field(one)}, {"y", field(two)}};
    CHECK(launch(kernel, twins, 2, &a, 1, &result) == 0 && result.number == 8);
    uint64_t before = compiles();
    Given swapped[2] = {{"x", twins[1].value}, {"y", twins[0].value}};
    CHECK(launch(kernel, swapped, 2, &a, 1, &result) == 0 && result.number == 16);
    CHECK(compiles() == before);
    swapped[1] = swapped[0], swapped[1].name = "y";
    CHECK(launch(kernel, swapped, 2, &a, 1, &result) == 0 && result.number == 24);
    CHECK(compiles() == before + 1);
  }
  TEST("one field for both parameters is another pattern, and so is another type") {
    given[0].value = field(x);
    CHECK(launch(kernel, given, 2, &a, 1, &result) == 0 && result.number == 11 && compiles() == 4);
    given[1].value = field(z);
    CHECK(launch(kernel, given, 2, &a, 1, &result) == 0 && result.number == 8 && compiles() == 5);
    given[1].value = field(y);
    CHECK(launch(kernel, given, 2, &a, 1, &result) == 0 && result.number == 19 && compiles() == 5);
  }
  TEST("a value that does not fit names the argument and the line of its use") {
    RgValue yes = {.kind = RG_VALUE_BOOL, .i64 = 1}, none = {.kind = RG_VALUE_NIL};
    CHECK(launch(kernel, given, 2, &yes, 1, &result) != 0);
    CHECK(rg_error(rg)->line >= 10 && rg_error(rg)->message[0]);
    CHECK(launch(kernel, given, 2, &none, 1, &result) != 0);
    CHECK(launch(kernel, given, 2, &a, 1, &result) == 0);
    CHECK_ERROR(rg_kernel_launch(kernel, &a, 1, &result), "launch.arguments",
                "a launch of kernel 'add' needs a value for each of 3 captured names, 1 given");
  }
  TEST("compiling ahead launches nothing, and the launch compiles nothing") {
    RgField *w = dense("w", "i32", 8);
    RgStats before, after;
    rg_stats(rg, &before);
    given[1].value = field(w);
    CHECK(compile(kernel, given, 2, &a, 1) == 0);
    rg_stats(rg, &after);
    CHECK(after.compiles == before.compiles + 1 && after.launches == before.launches);
    CHECK(rg_kernel_result(kernel, 0, &result) == 0 && result.number == 19);
    CHECK(launch(kernel, given, 2, &a, 1, &result) == 0 && result.number == 8);
    CHECK(compiles() == after.compiles);
    RgValue yes = {.kind = RG_VALUE_BOOL, .i64 = 1};
    CHECK(compile(kernel, given, 2, &yes, 1) != 0 && rg_error(rg)->line == 11);
    CHECK_ERROR(rg_kernel_compile(kernel, NULL, 3), "argument.invalid",
                "rg_kernel_compile: values and value_count do not agree");
    CHECK_ERROR(rg_kernel_compile_ahead(kernel, NULL, 3), "argument.invalid",
                "rg_kernel_compile_ahead: values and value_count do not agree");
    given[1].value = field(y);
    CHECK(launch(kernel, given, 2, &a, 1, &result) == 0);
  }
  TEST("a launch that needs the code of a background compile waits for it") {
    RgKernel *other = NULL;
    RgValue result;
    const char *text = "function(a) return a * 3 end";
    CHECK(rg_kernel_create(rg, text, (int64_t)strlen(text), NULL, &other) == 0);
    RgValue three = {.kind = RG_VALUE_NUMBER, .number = 3};
    uint64_t before = compiles();
    CHECK(rg_kernel_compile_ahead(other, &three, 1) == 0);
    CHECK(rg_kernel_compile_ahead(other, &three, 1) == 0);
    CHECK(rg_kernel_launch(other, &three, 1, &result) == 0 && result.number == 9);
    CHECK(compiles() == before + 1);
    rg_kernel_release(other);
    CHECK(rg_kernel_create(rg, text, (int64_t)strlen(text), NULL, &other) == 0);
    CHECK(rg_kernel_compile_ahead(other, &three, 1) == 0);
    rg_kernel_release(other); /* while its code is made */
  }
  TEST("a kernel's texts can be read") {
    static const char *const words[] = {"source", "ast",     "infer", "ir",
                                        "tasks",  "explain", "llvm",  "asm"};
    const char *text;
    for (int k = 0; k < 8; k++)
      CHECK(rg_kernel_text(kernel, words[k], &text) == 0 && (text[0] || k == 5));
    CHECK(rg_kernel_text(kernel, "source", &text) == 0 && !strncmp(text, "function(a)", 11) &&
          !strcmp(text + strlen(text) - 3, "end"));
    CHECK(rg_kernel_text(kernel, "poem", &text) != 0);
    CHECK_TEXT(rg_error(rg)->message, "'poem' is not a text of a kernel: source, ast, infer, ir, "
                                      "tasks, explain, lua, llvm, asm and ptx are");
  }
  TEST("a kernel that runs here can be read as a GPU would run it") {
    const char *text;
    uint64_t before = compiles();
    CHECK(rg_kernel_ptx(kernel, NULL, &text) == 0 && strstr(text, ".target sm_80") &&
          strstr(text, ".visible .entry rg_task_0("));
    CHECK(rg_kernel_text(kernel, "ptx", &text) == 0 && strstr(text, ".target sm_80"));
    CHECK(rg_kernel_ptx(kernel, "sm_75", &text) == 0 && strstr(text, ".target sm_75"));
    CHECK_ERROR(rg_kernel_ptx(kernel, "sm_20", &text), "argument.invalid",
                "'sm_20' is not a GPU that kernels can be compiled for");
    CHECK(compiles() == before && launch(kernel, given, 2, &a, 1, &result) == 0);
  }
  TEST("a kernel's texts are those of its last compile, also when one of its trees is gone") {
    static const char *const words[] = {"infer", "ir", "tasks", "explain"};
    RgField *gone = dense("gone", "f32", 8);
    RgTree *tree = kept_trees[--kept_tree_count];
    kept_field_count--;
    char first[4][4096];
    const char *text;
    given[1].value = field(gone);
    CHECK(launch(kernel, given, 2, &a, 1, &result) == 0);
    uint64_t before = compiles();
    for (int k = 0; k < 4; k++) {
      CHECK(rg_kernel_text(kernel, words[k], &text) == 0);
      snprintf(first[k], sizeof first[k], "%s", text);
    }
    CHECK(strstr(first[0], "a: f32\n") && strstr(first[3], "test.c:11:"));
    CHECK(rg_tree_destroy(tree, "here") == 0);
    rg_field_release(gone);
    rg_tree_release(tree);
    for (int k = 0; k < 4; k++)
      CHECK(rg_kernel_text(kernel, words[k], &text) == 0 && !strcmp(text, first[k]));
    CHECK(compiles() == before);
    given[1].value = field(y);
  }
  TEST("a destroyed tree, a NULL and another runtime's field are refused") {
    CHECK(rg_tree_destroy(rg_snode_tree(rg_field_node(y)), "here") == 0);
    CHECK(launch(kernel, given, 2, &a, 1, &result) != 0);
    CHECK_TEXT(rg_error(rg)->message, "tree 'y' was destroyed at here");
    given[1].value = field(NULL);
    CHECK(launch(kernel, given, 2, &a, 1, &result) != 0);
    CHECK_TEXT(rg_error(rg)->code, "argument.invalid");
    RgRuntime *own = rg, *other = NULL;
    RgField *stray = NULL;
    CHECK(rg_runtime_create(NULL, &other, NULL) == 0 &&
          rg_field_create(other, "f32", "stray", &stray) == 0);
    given[1].value = field(stray);
    CHECK(launch(kernel, given, 2, &a, 1, &result) != 0);
    CHECK_TEXT(rg_error(own)->code, "runtime.mixed");
    rg_field_release(stray);
    rg_runtime_destroy(other);
  }
  rg_kernel_release(kernel);
}

static void arguments(void) {
  RgKernel *kernel = kernel_of(
      "count",
      "function(n)\n  local s = 0\n  for i in rg.range(n) do s = s + i end\n  return s\nend");
  RgValue n = number(10), result;
  TEST("an integer argument accepts only whole numbers of its range") {
    CHECK(launch(kernel, NULL, 0, &n, 1, &result) == 0 && result.number == 45);
    n = number(2.5);
    CHECK(launch(kernel, NULL, 0, &n, 1, &result) != 0);
    CHECK_TEXT(rg_error(rg)->code, "value.fit");
    CHECK_TEXT(rg_error(rg)->message,
               "argument 'n', which bounds a range, cannot hold 2.5: its type is i32");
    CHECK_INT(rg_error(rg)->line, 12);
    CHECK_TEXT(rg_error(rg)->file, "test.c");
    CHECK_TEXT(rg_error(rg)->source, "  for i in rg.range(n) do s = s + i end");
    n = number(3e9);
    CHECK(launch(kernel, NULL, 0, &n, 1, &result) != 0);
    n = (RgValue){.kind = RG_VALUE_NUMBER, .number = 0};
    CHECK(launch(kernel, NULL, 0, &n, 1, &result) == 0 && result.number == 0);
  }
  rg_kernel_release(kernel);
}

static void faults(void) {
  RgStats stats;
  RgValue result, n = number(4096);
  TEST("writes outside a shape do nothing and are counted") {
    RgField *x = dense("x", "i32", 8);
    RgKernel *kernel = kernel_of("outside", "function() for i in rg.range(12) do x[i] = 1 end end");
    Given given = {"x", field(x)};
    CHECK(launch(kernel, &given, 1, NULL, 0, &result) == 0 && result.kind == RG_VALUE_NIL);
    rg_stats(rg, &stats);
    CHECK(stats.out_of_range == 4 && get(x, 7, 0, 1) == 1);
    rg_kernel_release(kernel);
  }
  TEST("a launch that exhausts the budget says which node cannot grow, and the next one works") {
    RgSNode *block = add(rg_tree_root(new_tree("t")), "pointer", "i", 4096, "block");
    RgField *x = place(add(block, "dense", "i", 1024, NULL), "f32", "x");
    RgKernel *kernel =
        kernel_of("grow", "function(n) for i in rg.range(n) do x[i * 1024] = 1.0 end end");
    Given given = {"x", field(x)};
    static const char begins[] =
        "the memory budget of 4 MiB is exhausted: node 'block' (pointer) of tree 't' cannot grow; ";
    CHECK(launch(kernel, &given, 1, &n, 1, &result) != 0);
    CHECK_TEXT(rg_error(rg)->code, "memory.budget");
    CHECK(!strncmp(rg_error(rg)->message, begins, sizeof begins - 1));
    call(block, "clear", 0, 0, 0);
    n = number(16); /* of the nodes that are there already */
    CHECK(launch(kernel, &given, 1, &n, 1, &result) == 0 && call(block, "count", 0, 0, 0) == 16);
    CHECK(rg_tree_destroy(rg_snode_tree(block), NULL) == 0);
    rg_kernel_release(kernel);
  }
  TEST("what a kernel deactivates is collected, unless gc is stopped") {
    RgSNode *block = add(rg_tree_root(new_tree("d")), "pointer", "i", 64, "block");
    RgField *x = place(add(block, "dense", "i", 16, NULL), "f32", "x");
    RgKernel *kernel = kernel_of("drop", "function() for i in block:active() do if i ~= 3 then "
                                         "block:deactivate(i) end end end");
    Given given = {"block", node(block)};
    for (int i = 0; i < 64; i++) set(x, i * 16, 0, 1, 1);
    rg_stats(rg, &stats);
    uint64_t before = stats.gcs;
    CHECK(launch(kernel, &given, 1, NULL, 0, &result) == 0 && call(block, "count", 0, 0, 0) == 1);
    rg_stats(rg, &stats);
    CHECK(stats.gcs == before + 1 && stats.deactivations >= 63);
    rg_kernel_release(kernel);
  }
}

typedef struct Heard {
  int count;
  char text[400];
} Heard;

static void hear(void *data, const char *text) {
  Heard *heard = data;
  heard->count++;
  snprintf(heard->text, sizeof heard->text, "%s", text);
}

static void said(void) {
  RgField *x = dense("x", "f32", 8);
  Given given[] = {{"x", field(x)}};
  RgKernel *kernel = NULL;
  int32_t unsaid = -1;
  TEST("a failed parse reports all of its errors, each with its notes") {
    const char *text = "function()\n  const a = 1\n  a = 2\n  x[0] = = 3\nend";
    CHECK(rg_kernel_create(rg, text, (int64_t)strlen(text), NULL, &kernel) != 0);
    CHECK_TEXT(rg_error_row(rg, 0, &unsaid)->message, "'a' is const and cannot be assigned");
    CHECK_TEXT(rg_error_row(rg, 1, NULL)->code, "note");
    CHECK_INT(rg_error_row(rg, 1, NULL)->line, 2);
    CHECK_TEXT(rg_error_row(rg, 2, NULL)->code, "syntax");
    CHECK_INT(rg_error_row(rg, 2, NULL)->line, 4);
    CHECK(rg_error_row(rg, 3, NULL) == NULL && rg_error_row(rg, -1, NULL) == NULL);
    CHECK_INT(unsaid, 0);
  }
  TEST("the errors of a failed parse do not appear in the next call") {
    CHECK(rg_sync(rg) == 0);
    CHECK(rg_error_row(rg, 1, NULL) == NULL);
  }
  TEST("a host's function is told of a race once") {
    Heard heard = {0};
    kernel = kernel_of("race", "function()\n  for i in rg.range(8) do x[0] = 1 - x[0] end\nend");
    rg_on_warning(rg, hear, &heard);
    CHECK(launch(kernel, given, 1, NULL, 0, NULL) == 0 &&
          launch(kernel, given, 1, NULL, 0, NULL) == 0);
    rg_on_warning(rg, NULL, NULL);
    CHECK_INT(heard.count, 1);
    CHECK(strstr(heard.text, "test.c:11:") && strstr(heard.text, "'x'"));
    rg_kernel_release(kernel);
  }
  TEST("a host's function is told once of writes out of bounds: field, line and one index") {
    Heard heard = {0};
    kernel = kernel_of("stray", "function(n)\n  for i in rg.range(n) do x[0] = 1 end\n"
                                "  for i in rg.range(n) do\n    x[7 + i] = 1 end\nend");
    RgValue n = number(4);
    rg_on_warning(rg, hear, &heard);
    CHECK(launch(kernel, given, 1, &n, 1, NULL) == 0 && launch(kernel, given, 1, &n, 1, NULL) == 0);
    rg_on_warning(rg, NULL, NULL);
    CHECK_INT(heard.count, 1);
    CHECK_TEXT(heard.text,
               "test.c:13: a write to 'x' at 8 is outside its shape, 8; kernel 'stray' made 3 "
               "such writes in this launch: they are ignored and counted in "
               "rg.stats().out_of_range (reported once per kernel)");
    rg_kernel_release(kernel);
  }
}

/* A kernel without a name from around it. */
static const char *const alone =
    "function(n) local s = 0 for i in rg.range(4) do s += n end return s end";

static void texts(void) {
  const char *text;
  TEST("before its first launch a kernel has the texts that need none") {
    RgKernel *kernel = kernel_of("fresh", alone);
    CHECK(rg_kernel_text(kernel, "source", &text) == 0 && !strcmp(text, alone));
    CHECK(rg_kernel_text(kernel, "ast", &text) == 0 && text[0]);
    CHECK_ERROR(rg_kernel_text(kernel, "ir", &text), "argument.invalid",
                "kernel 'fresh' has not run yet: only its source and ast can be shown");
    CHECK_ERROR(rg_kernel_text(kernel, "lua", &text), "argument.invalid",
                "a kernel of arch \"cpu\" has no text 'lua'");
    rg_kernel_release(kernel);
  }
  TEST("a kernel of arch \"lua\" has its Lua text, and none that only code has") {
    RgRuntime *own = rg;
    RgOptions options = {.struct_size = sizeof options, .arch = "lua", .seed = 1, .no_cache = 1};
    CHECK(rg_runtime_create(&options, &rg, NULL) == 0);
    RgKernel *kernel = kernel_of("alone", alone);
    RgValue values[2] = {{.kind = RG_VALUE_BUILTIN, .depth = 2, .text = "rg.range"}, number(2)};
    RgEmission emission;
    CHECK(rg_kernel_emit(kernel, values, 2, &emission) == 0 && emission.arg_count == 1);
    CHECK(rg_kernel_text(kernel, "lua", &text) == 0 && !strcmp(text, emission.text));
    CHECK(rg_kernel_text(kernel, "infer", &text) == 0 && strstr(text, "n: f32\n"));
    CHECK(rg_kernel_text(kernel, "tasks", &text) == 0 && !text[0]);
    CHECK(rg_kernel_text(kernel, "explain", &text) == 0 && strstr(text, "compiles nothing"));
    CHECK_ERROR(rg_kernel_text(kernel, "asm", &text), "argument.invalid",
                "a kernel of arch \"lua\" has no text 'asm'");
    rg_kernel_release(kernel);
    rg_runtime_destroy(rg);
    rg = own;
  }
}

/* A struct's text is its declaration; its numbers are passed like a vector's. */
static void structs(void) {
  static const char type[] = "struct{pos:vec2,on:bool,n:i64}";
  TEST("a host declares a struct by its text, and passes and reads values of it") {
    int64_t index = 1;
    RgField *x = dense("x", type, 4);
    RgVector given = {.type = type, .count = 4};
    given.numbers[0].f64 = 1.5;
    given.numbers[2].u64 = 1;
    given.numbers[3].i64 = -7;
    RgValue value = {.kind = RG_VALUE_VECTOR, .depth = 1, .vector = &given}, result, read;
    CHECK_TEXT(rg_field_type(x), type);
    RgKernel *kernel =
        kernel_of("k", "function(p) x[1] = p x[1].pos.y = 2 x[1].n = x[1].n * 2 return x[1] end");
    Given names[] = {{"x", field(x)}};
    CHECK(launch(kernel, names, 1, &value, 1, &result) == 0 && result.kind == RG_VALUE_VECTOR);
    CHECK_TEXT(result.vector->type, type);
    CHECK(result.vector->count == 4 && result.vector->numbers[0].f64 == 1.5 &&
          result.vector->numbers[1].f64 == 2 && result.vector->numbers[2].u64 == 1 &&
          result.vector->numbers[3].i64 == -14);
    CHECK(rg_field_get(x, &index, 1, &read) == 0 && read.vector->numbers[3].i64 == -14);
    given.type = "struct{pos:vec2,on:bool,m:i64}";
    CHECK(rg_field_set(x, &index, 1, &value) != 0);
    CHECK_TEXT(rg_error(rg)->hint, "pass a table of its members, or a struct");
    given.type = "struct{pos:vec2";
    CHECK(rg_field_set(x, &index, 1, &value) != 0 &&
          launch(kernel, names, 1, &value, 1, &result) != 0);
    rg_kernel_release(kernel);
    rg_field_release(x);
  }
}

int main(void) {
  start(4 << 20, 2);
  patterns();
  arguments();
  faults();
  said();
  texts();
  structs();
  stop();
  return check_report();
}
