/* module_test.c - modules from C: a host without a compiler runs kernels that were compiled ahead
 * of time, also those of modules that an earlier release may have built (modules/abi_1.rgm, and
 * gradients_1.rgm). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "modules/abi_1.h"
#include "modules/gradients_1.h"
#include "regolith.h"

#if defined(_WIN32)
#define setenv(name, value, replaces) _putenv_s(name, value)
#define NOT_A_FILE "Permission denied" /* a folder cannot be opened there */
#else
#define NOT_A_FILE "not a file"
#endif

static RgRuntime *open_runtime(const char *cpu) {
  RgRuntime *runtime = NULL;
  RgOptions options = {.struct_size = sizeof options, .threads = 2, .no_cache = 1, .cpu = cpu};
  CHECK(!rg_runtime_create(&options, &runtime, NULL));
  return runtime;
}

static bool says(RgRuntime *runtime, const char *code, const char *part) {
  const RgError *error = rg_error(runtime);
  if (!strcmp(error->code, code) && strstr(error->message, part)) return true;
  fprintf(stderr, "%s: %s\n", error->code, error->message);
  return false;
}

/* -- the module of version 1 ------------------------------------------------------------------- */

static void test_old_version(void) {
  TEST("a module of version 1 runs without a compiler, by its wrappers") {
    RgRuntime *runtime = open_runtime(NULL);
    abi_module module;
    float total = 0;
    int64_t count = 0, length[] = {0}, list = 0;
    RgStats stats;
    CHECK(!setenv("RG_COMPILER", "/no/compiler.so", 1));
    CHECK(rg_module_abi() == 1);
    CHECK(!abi_open(runtime, MODULES "/abi_1.rgm", &module));
    CHECK(!abi_total(&module, &total) && total == 0);
    CHECK(!abi_fall(&module, 0.5f, 4));
    CHECK(!abi_total(&module, &total));
    CHECK(total == 2 * 1366); /* cells, each 0.25 * 4 and 1 */
    CHECK(!rg_snode_call(module.node_block, "count", NULL, 0, &count) && count == 64);
    CHECK(!rg_snode_call(module.node_list, "length", length, 0, &list) && list == 4);
    rg_stats(runtime, &stats);
    CHECK(stats.compiles == 0 && stats.cache_hits == 0 && stats.launches == 3);
    abi_close(&module);
    rg_runtime_destroy(runtime);
  }
}

static void test_arrays(void) {
  TEST("arrays are the host's, and fields keep their offsets and strides") {
    RgRuntime *runtime = open_runtime(NULL);
    abi_module module;
    int64_t three = 3, corner[] = {-2, -2}, shape[] = ABI_TABLE_SHAPE, found[2];
    int64_t strides[] = ABI_TABLE_STRIDES;
    RgArray *array = NULL;
    RgValue value = {0};
    RgView view;
    CHECK(!abi_open(runtime, MODULES "/abi_1.rgm", &module));
    CHECK(!rg_array_create(runtime, "f64", &three, 1, "a", &array));
    CHECK(!abi_fill(&module, array, 2.5));
    int64_t last = 2;
    CHECK(!rg_array_get(array, &last, 1, &value) && value.number == 2.5);
    CHECK(!rg_field_get(module.field_table, corner, 2, &value) && value.number == 2.5);
    CHECK(!rg_field_shape(module.field_table, found) && found[0] == shape[0] &&
          found[1] == shape[1]);
    CHECK(!rg_field_view(module.field_table, &view) && view.stride[0] == strides[0] &&
          view.stride[1] == strides[1]);
    rg_array_release(array);
    abi_close(&module);
    rg_runtime_destroy(runtime);
  }
}

static char *read_all(const char *path, long *size) {
  FILE *file = fopen(path, "rb");
  CHECK(file);
  fseek(file, 0, SEEK_END);
  *size = ftell(file);
  rewind(file);
  char *bytes = calloc(1, (size_t)*size + 1);
  CHECK(fread(bytes, 1, (size_t)*size, file) == (size_t)*size);
  fclose(file);
  return bytes;
}

#if !defined(_WIN32) /* whose library has no compiler, and writes no headers */
static void squeeze(char *text) {
  char *to = text;
  for (; *text; text++)
    if (!strchr(" \n", *text)) *to++ = *text;
  *to = 0;
}

static void check_header(const char *path, const char *prefix, const char *header) {
  RgRuntime *runtime = open_runtime(NULL);
  RgModule *module = NULL;
  const char *text = NULL;
  long size;
  char *known = read_all(header, &size);
  CHECK(!rg_module_open(runtime, path, &module));
  CHECK(!rg_module_header(module, prefix, &text));
  char *made = strdup(text);
  squeeze(made);
  squeeze(known);
  CHECK(!strcmp(made, known));
  free(made);
  free(known);
  rg_module_release(module);
  rg_runtime_destroy(runtime);
}

static void test_header(void) {
  TEST("a module's header is the one that this test was compiled with") {
    check_header(MODULES "/abi_1.rgm", "abi", MODULES "/abi_1.h");
    check_header(MODULES "/gradients_1.rgm", "gradients", MODULES "/gradients_1.h");
  }
}
#endif

/* -- gradients --------------------------------------------------------------------------------- */

enum { CELLS = 16 };
static const double dt = 0.25, pull = 0.5; /* of modules/gradients.lua */

/* x = 0.1 i, v = 0 */
static void place(gradients_module *module) {
  double x[CELLS], v[CELLS] = {0};
  for (int i = 0; i < CELLS; i++) x[i] = 0.1 * i + 0.05;
  CHECK(!rg_field_write(module->field_x, x, CELLS) && !rg_field_write(module->field_v, v, CELLS));
}

static bool is_near(double a, double b) { return a - b < 1e-12 && b - a < 1e-12; }

static void test_adjoints(void) {
  TEST("adjoints of a module run without a compiler, by their wrappers") {
    RgRuntime *runtime = open_runtime(NULL);
    gradients_module module;
    double before[CELLS], after[CELLS], gradient[CELLS], one = 1, loss = 0;
    RgStats stats;
    CHECK(!gradients_open(runtime, MODULES "/gradients_1.rgm", &module));
    place(&module);
    CHECK(!rg_field_read(module.field_x, before, CELLS));
    CHECK(!gradients_step(&module, dt) && !gradients_measure(&module));
    CHECK(!rg_field_read(module.field_x, after, CELLS));
    CHECK(!rg_field_read(module.field_loss, &loss, 1) && loss > 0);
    CHECK(!rg_field_write(module.field_loss_grad, &one, 1));
    CHECK(!gradients_measure_grad(&module));
    CHECK(!rg_field_write(module.field_x, before, CELLS));
    CHECK(!gradients_step_grad(&module, dt));
    CHECK(!rg_field_read(module.field_x_grad, gradient, CELLS));
    for (int i = 0; i < CELLS; i++)
      CHECK(is_near(gradient[i], 2 * after[i] * (1 - 2 * dt * dt * pull * before[i])));
    rg_stats(runtime, &stats);
    CHECK(stats.compiles == 0 && stats.launches == 4);
    gradients_close(&module);
    rg_runtime_destroy(runtime);
  }
}

static void test_tangents(void) {
  TEST("tangents of a module compute duals") {
    RgRuntime *runtime = open_runtime(NULL);
    gradients_module module;
    double x[CELLS], dual[CELLS], zero[CELLS] = {0};
    CHECK(!gradients_open(runtime, MODULES "/gradients_1.rgm", &module));
    place(&module);
    CHECK(!rg_field_read(module.field_x, x, CELLS));
    for (int i = 0; i < CELLS; i++) dual[i] = i;
    CHECK(!rg_field_write(module.field_x_dual, dual, CELLS) &&
          !rg_field_write(module.field_v_dual, zero, CELLS));
    CHECK(!gradients_step_tangent(&module, dt));
    CHECK(!rg_field_read(module.field_x_dual, dual, CELLS));
    for (int i = 0; i < CELLS; i++) CHECK(is_near(dual[i], i * (1 - 2 * dt * dt * pull * x[i])));
    gradients_close(&module);
    rg_runtime_destroy(runtime);
  }
}

static void test_derivative_names(void) {
  TEST("gradients of a field, and derivatives of a kernel, are found by their names") {
    RgRuntime *runtime = open_runtime(NULL);
    gradients_module module;
    RgField *found = NULL;
    CHECK(!gradients_open(runtime, MODULES "/gradients_1.rgm", &module));
    CHECK(!rg_field_gradient(module.field_x, &found) && found && found == module.field_x_grad);
    rg_field_release(found);
    CHECK(!rg_field_dual(module.field_x_grad, &found) && found == module.field_x_grad_dual);
    rg_field_release(found);
    CHECK(module.field_x_dual && module.field_x_dual != module.field_x_grad_dual);
    CHECK(!rg_module_field(module.module, "x.grad.grad") && !rg_module_field(module.module, "x."));
    CHECK(!rg_module_field(module.module, ".grad") && !rg_module_field(module.module, "y.grad"));
    CHECK(module.kernel_step_second && !rg_module_kernel(module.module, "measure.tangent"));
    CHECK(!rg_module_kernel(module.module, "x.grad") && !rg_module_node(module.module, "x.grad"));
    gradients_close(&module);
    rg_runtime_destroy(runtime);
  }
}

/* -- values ------------------------------------------------------------------------------------ */

static void test_values(void) {
  TEST("a captured number is a value by its name, which launches read") {
    RgRuntime *runtime = open_runtime(NULL);
    abi_module module;
    float total = 0;
    const char *name = NULL;
    RgValue value = {.kind = RG_VALUE_NUMBER, .number = 1};
    CHECK(!abi_open(runtime, MODULES "/abi_1.rgm", &module));
    bool is_known = false;
    for (int32_t k = 0; !rg_module_value(module.module, k, &name, &value) && name; k++)
      if (!strcmp(name, "weight")) is_known = value.kind == RG_VALUE_NUMBER && value.number == 0.5;
    CHECK(is_known);
    value = (RgValue){.kind = RG_VALUE_NUMBER, .number = 1};
    CHECK(!rg_module_set(module.module, "weight", &value));
    CHECK(!abi_fall(&module, 0.5f, 4) && !abi_total(&module, &total));
    CHECK(total == 3 * 1366);
    CHECK(rg_module_set(module.module, "wait", &value) && says(runtime, "name.unknown", "'wait'"));
    abi_close(&module);
    rg_runtime_destroy(runtime);
  }
}

static void test_missing(void) {
  TEST("a launch that the module has no code for names its arguments, and those that it has") {
    RgRuntime *runtime = open_runtime(NULL);
    abi_module module;
    RgValue wrong[2] = {{.kind = RG_VALUE_BOOL, .i64 = 1}, {.kind = RG_VALUE_NUMBER, .number = 1}};
    RgValue other = {.kind = RG_VALUE_BOOL, .i64 = 1};
    CHECK(!abi_open(runtime, MODULES "/abi_1.rgm", &module));
    CHECK(rg_module_launch(module.module, module.kernel_fall, wrong, 2, NULL));
    CHECK(says(runtime, "module.missing",
               "for (dt: a boolean, steps: a number); it was built for "
               "(dt: a number, steps: a number)"));
    CHECK(rg_module_launch(module.module, module.kernel_fall, wrong, 1, NULL));
    CHECK(says(runtime, "launch.arguments", "takes 2 arguments; 1 was given"));
    CHECK(!rg_module_set(module.module, "weight", &other));
    CHECK(abi_fall(&module, 0.5f, 4));
    CHECK(says(runtime, "module.missing", "for this 'weight'"));
    const char *text = NULL;
    CHECK(rg_kernel_text(module.kernel_fall, "ir", &text));
    CHECK(says(runtime, "argument.invalid", "contains code but no texts"));
    abi_close(&module);
    rg_runtime_destroy(runtime);
  }
}

static void test_reload(void) {
  TEST("a module that is reloaded keeps its handles, its contents, and the values that were set") {
    RgRuntime *runtime = open_runtime(NULL);
    abi_module module;
    float total = 0;
    RgValue value = {.kind = RG_VALUE_NUMBER, .number = 1};
    CHECK(!abi_open(runtime, MODULES "/abi_1.rgm", &module));
    CHECK(!rg_module_set(module.module, "weight", &value));
    CHECK(!abi_fall(&module, 0.5f, 4));
    CHECK(!rg_module_reload(module.module, NULL));
    CHECK(rg_module_kernel(module.module, "fall") == module.kernel_fall);
    CHECK(rg_module_field(module.module, "height") == module.field_height);
    CHECK(!abi_total(&module, &total) && total == 3 * 1366);
    CHECK(!abi_fall(&module, 0.5f, 4) && !abi_total(&module, &total) && total == 6 * 1366);
    CHECK(rg_module_reload(module.module, MODULES "/abi.lua") &&
          says(runtime, "module.invalid", "is not a module"));
    CHECK(!abi_total(&module, &total) && total == 6 * 1366);
    abi_close(&module);
    rg_runtime_destroy(runtime);
  }
}

static void test_lifetimes(void) {
  TEST("a kernel outlives its module, and a module its runtime") {
    RgRuntime *runtime = open_runtime(NULL);
    RgModule *module = NULL;
    CHECK(!rg_module_open(runtime, MODULES "/abi_1.rgm", &module));
    RgKernel *fall = rg_module_kernel(module, "fall");
    CHECK(fall && !rg_module_kernel(module, "height") && !rg_module_field(module, "fall"));
    CHECK(!strcmp(rg_kernel_name(fall), "fall"));
    rg_runtime_destroy(runtime);
    CHECK(rg_module_launch(module, fall, NULL, 0, NULL));
    rg_module_release(module);
  }
}

/* -- what does not fit ------------------------------------------------------------------------- */

static RgStatus read_changed(RgRuntime *runtime, int64_t at, int change, int64_t cut) {
  long size;
  RgModule *module = NULL;
  char *bytes = read_all(MODULES "/abi_1.rgm", &size);
  if (at >= 0) bytes[at] = (char)(bytes[at] + change);
  RgStatus status = rg_module_read(runtime, bytes, size - cut, "changed", &module);
  CHECK((status != 0) == !module);
  rg_module_release(module);
  free(bytes);
  return status;
}

static void test_misfits(void) {
  TEST("a module that does not match is refused with one sentence") {
    RgRuntime *runtime = open_runtime(NULL);
    RgModule *module = NULL;
    CHECK(!read_changed(runtime, -1, 0, 0));
    CHECK(read_changed(runtime, 0, 1, 0) && says(runtime, "module.invalid", "is not a module"));
    CHECK(read_changed(runtime, 8, 2, 0) && says(runtime, "module.invalid", "has version 3"));
    CHECK(read_changed(runtime, 8, 1, 0) && says(runtime, "module.invalid", "is damaged"));
    CHECK(read_changed(runtime, 12, 6, 0) &&
          says(runtime, "module.invalid", "was built for version 7 of the interface of kernels"));
    CHECK(read_changed(runtime, -1, 0, 100) && says(runtime, "module.invalid", "is truncated"));
    CHECK(read_changed(runtime, -1, 0, 14400) && says(runtime, "module.invalid", "is truncated"));
    CHECK(read_changed(runtime, 200, 1, 0) && says(runtime, "module.invalid", "its checksum"));
    CHECK(rg_module_open(runtime, MODULES "/no.rgm", &module) &&
          says(runtime, "io.failed", "No such"));
    CHECK(rg_module_open(runtime, MODULES, &module) && says(runtime, "io.failed", NOT_A_FILE));
    CHECK(rg_module_open(runtime, MODULES "/abi.lua", &module) &&
          says(runtime, "module.invalid", "is not a module"));
    rg_runtime_destroy(runtime);
    runtime = open_runtime("x86-64");
    CHECK(rg_module_open(runtime, MODULES "/abi_1.rgm", &module) &&
          says(runtime, "module.invalid", "was built for x86-64-v2, and this runtime's processor"));
    rg_runtime_destroy(runtime);
  }
}

static void test_linked(void) {
  TEST("a table of functions that does not match its module is refused") {
    RgRuntime *runtime = open_runtime(NULL);
    RgModule *module = NULL;
    long size;
    void *none = NULL;
    char *bytes = read_all(MODULES "/abi_1.rgm", &size);
    RgLinkedModule linked = {bytes, size, &none, 1};
    CHECK(!rg_module_link(runtime, &linked, "linked", &module));
    CHECK(rg_module_launch(module, rg_module_kernel(module, "total"), NULL, 0, NULL));
    CHECK(says(runtime, "module.invalid", "it has no function"));
    rg_module_release(module);
    linked.length = size - 8;
    CHECK(rg_module_link(runtime, &linked, "linked", &module) && !module &&
          says(runtime, "module.invalid", "is truncated"));
    linked.functions = NULL;
    CHECK(rg_module_link(runtime, &linked, "linked", &module));
    free(bytes);
    rg_runtime_destroy(runtime);
  }
#if !defined(_WIN32) /* whose library has no compiler */
  TEST("an archive takes a name of C, and is written whole or not at all") {
    RgRuntime *runtime = open_runtime(NULL);
    RgModule *module = NULL;
    CHECK(!rg_module_open(runtime, MODULES "/abi_1.rgm", &module));
    CHECK(rg_module_archive(module, "2 words", "/dev/null") &&
          says(runtime, "argument.invalid", "'2 words'"));
    CHECK(rg_module_archive(module, "abi", "/no/where.a") && says(runtime, "io.failed", "where.a"));
    rg_runtime_destroy(runtime);
    CHECK(rg_module_archive(module, "abi", "/dev/null") &&
          says(runtime, "handle.destroyed", "has ended"));
    rg_module_release(module);
  }
#endif
}

int main(void) {
  test_old_version();
  test_arrays();
#if !defined(_WIN32)
  test_header();
#endif
  test_adjoints();
  test_tangents();
  test_derivative_names();
  test_values();
  test_missing();
  test_reload();
  test_lifetimes();
  test_misfits();
  test_linked();
  return check_report();
}
