/* host_names_test.c - a host whose functions have the names of the libraries' internal functions,
 * all of them (host_names.sh). The libraries must call their own. */
#include <stdlib.h>

#include "runtime.h"

void host_was_called(void) {
  printf(
      "not ok: a library called a function of its host in place of its own\n0 passed, 1 failed\n");
  exit(1);
}

typedef struct Name {
  const char *path;
  RgValue value;
} Name;

/* Compiles a text, launches it once, and gives the number it returns. */
static double run(const char *text, const Name *names, int name_count) {
  RgKernelOptions options = {.struct_size = sizeof options, .chunk = "kernel", .first_line = 1};
  RgKernel *kernel = NULL;
  RgValue values[16], result = {0};
  bool ok = !rg_kernel_create(rg, text, (int64_t)strlen(text), &options, &kernel);
  int count = ok ? rg_kernel_path_count(kernel) : 0;
  for (int i = 0; ok && i < count; i++) {
    const char *path;
    int32_t parameter;
    ok = !rg_kernel_path(kernel, i, &path, &parameter);
    for (int n = 0; n < name_count; n++) {
      if (!strncmp(path, names[n].path, strlen(names[n].path))) values[i] = names[n].value;
    }
    values[i].depth = strchr(path, '.') ? 2 : 1;
  }
  if (!ok || rg_kernel_launch(kernel, values, count, &result))
    check_fail(__FILE__, __LINE__, rg_error(rg)->message);
  rg_kernel_release(kernel);
  return result.kind == RG_VALUE_I64 ? (double)result.i64 : result.number;
}

static Name field(const char *path, RgField *field) {
  return (Name){path, {.kind = RG_VALUE_FIELD, .field = field}};
}
static Name node(const char *path, RgSNode *node) {
  return (Name){path, {.kind = RG_VALUE_NODE, .node = node}};
}
static const Name range = {"rg.range", {.kind = RG_VALUE_BUILTIN, .text = "rg.range"}};

static void test_kind(const char *kind) {
  RgSNode *block =
      add(rg_tree_root(new_tree(kind)), kind, "i", strcmp(kind, "hash") ? 64 : 0, "block");
  RgField *x = place(add(block, "dense", "i", 16, "leaf"), "i32", "x");
  Name names[] = {field("x", x), node("block", block), range};
  CHECK_INT(
      run("function() for i in rg.range(160) do x[i] = i end return block:count() end", names, 3),
      10);
  CHECK_INT(
      run("function() local s = 0 for i in x:active() do s += x[i] end return s end", names, 3),
      12720);
  run("function() for i in block:active() do if i < 4 then block:deactivate(i) end end end", names,
      3);
  CHECK_INT(call(block, "count", 0, 0, 0), 6);
  run("function() block:clear() end", names, 3);
  CHECK_INT(call(block, "count", 0, 0, 0), 0);
  CHECK(rg_gc(rg, "collect", NULL) == 0);
}

int main(void) {
  start(0, 2);
  TEST("a pointer tree uses no function of the host with the name of one of ours")
  test_kind("pointer");
  TEST("a bitmasked tree uses no function of the host") test_kind("bitmasked");
  TEST("a hash uses no function of the host") {
    RgSNode *block = NULL;
    if (rg_snode_add(rg_tree_root(new_tree("hash")), "hash", "i", NULL, 0, "block", 0, 0, &block))
      check_fail(__FILE__, __LINE__, rg_error(rg)->message);
    RgField *x = place(add(block, "dense", "i", 16, "leaf"), "i32", "x");
    Name names[] = {field("x", x), node("block", block), range};
    CHECK_INT(
        run("function() for i in rg.range(160) do x[i] = 1 end return block:count() end", names, 3),
        10);
    CHECK_INT(run("function() block:clear() return block:count() end", names, 3), 0);
    rg_snode_release(block);
  }
  TEST("lists use no function of the host") {
    RgSNode *list = add(add(rg_tree_root(new_tree("lists")), "dense", "i", 8, "row"), "dynamic",
                        "j", 1000, "list");
    RgField *x = place(list, "i32", "x");
    Name names[] = {field("x", x), range};
    run("function() for i in rg.range(8) do for k = 1, 100 do x:append(i, k) end x:pop(i) end end",
        names, 2);
    CHECK_INT(call(list, "length", 3, 0, 1), 99);
    CHECK_INT(run("function() local s = 0 for i, j in x:active() do s += x[i, j] end return s end",
                  names, 2),
              8 * 4950);
  }
  TEST("mathematics is the C library's") {
    RgField *x =
        place(add(rg_tree_root(new_tree("numbers")), "dense", "i", 64, "cells"), "f32", "x");
    Name names[] = {field("x", x),
                    range,
                    {"math.sin", {.kind = RG_VALUE_BUILTIN, .text = "math.sin"}},
                    {"math.log", {.kind = RG_VALUE_BUILTIN, .text = "math.log"}}};
    double sum = run("function() local s = 0.0 for i in rg.range(64) do x[i] = math.sin(x[i]) + "
                     "math.log(x[i] + 1) s += x[i] end\n"
                     "return s end",
                     names, 4);
    CHECK(sum == 0 && get(x, 5, 0, 1) == 0);
  }
  TEST("memory and statistics use no function of the host") {
    RgMemory memory;
    RgStats stats;
    CHECK(rg_memory(rg, &memory) == 0 && memory.trees == 5);
    rg_stats(rg, &stats);
    CHECK(stats.compiles > 8 && stats.launches > 8);
    CHECK(rg_gc(rg, "trim", NULL) == 0);
  }
  stop();
  return check_report();
}
