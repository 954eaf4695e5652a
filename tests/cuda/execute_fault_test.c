/* execute_fault_test.c - faults on demand, and races by seed. The environment is read once, so each
 * case is a process of its own, which returns its result as exit status. */
#include "check.h"
#include "gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int in_child(const char *environment, int (*body)(void)) {
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    if (!freopen("/dev/null", "w", stderr)) _exit(254);
    gpu_open(environment);
    exit(body() & 127);
  }
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static const char text[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry count(.param .u64 at)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd0, [at]; ld.global.u32 %r1, [%rd0]; add.s32 %r1, %r1, 1;\n"
    "st.global.u32 [%rd0], %r1; ret;\n}\n"
    ".visible .entry spin()\n{\nagain: bra again;\n}\n"
    ".visible .entry small() .maxntid 64, 1, 1\n{\nret;\n}\n";

/* How many of 64 warps' unguarded steps were not lost. */
static int race(void) {
  uint64_t at;
  int count = 0;
  void *module = gpu_module(text);
  if (gpu.cuMemAlloc_v2(&at, 4) || gpu.cuMemsetD32Async(at, 0, 1, NULL)) return 0;
  if (gpu_run(module, "count", 64, 32, (void *[]){&at})) return 0;
  if (gpu.cuMemcpyDtoH_v2(&count, at, 4)) return 0;
  return count;
}

static int third_allocation(void) {
  uint64_t at;
  if (gpu.cuMemAlloc_v2(&at, 4) || gpu.cuMemAlloc_v2(&at, 4)) return 1;
  if (gpu.cuMemAlloc_v2(&at, 4) != 2) return 2;
  return gpu.cuMemAlloc_v2(&at, 4);
}
static int too_much(void) {
  uint64_t at, more;
  if (gpu.cuMemAlloc_v2(&at, 60 << 20)) return 1;
  if (gpu.cuMemAlloc_v2(&more, 10 << 20) != 2) return 2;
  if (gpu.cuMemFree_v2(at)) return 3;
  return gpu.cuMemAlloc_v2(&more, 10 << 20);
}
static int second_launch(void) {
  uint64_t at;
  void *module = gpu_module(text);
  if (gpu.cuMemAlloc_v2(&at, 4) || gpu.cuMemsetD32Async(at, 0, 1, NULL)) return 1;
  if (gpu_run(module, "count", 1, 1, (void *[]){&at})) return 2;
  if (gpu_run(module, "count", 1, 1, (void *[]){&at}) != 719) return 3;
  return gpu.cuCtxSynchronize() == 719 ? 0 : 4;
}
static int no_ranges(void) {
  uint64_t at;
  int has = 1;
  if (gpu.cuDeviceGetAttribute(&has, 102, 0) || has) return 1;
  return gpu.cuMemAddressReserve(&at, 2 << 20, 0, 0, 0) == 801 ? 0 : 2;
}
static int version(void) {
  int number = 0;
  void *module;
  if (gpu.cuDriverGetVersion(&number) || number != 10020) return 1;
  return gpu.cuModuleLoadDataEx(&module, text, 0, NULL, NULL) == 222 ? 0 : 2;
}
static int target(void) {
  void *module;
  return gpu.cuModuleLoadDataEx(&module, text, 0, NULL, NULL) == 209 ? 0 : 2;
}
static int no_device(void) { return gpu.cuInit(0) == 100 ? 0 : 1; }
static int timeout(void) {
  void *module = gpu_module(text);
  return gpu_run(module, "spin", 1, 32, NULL) == 702 ? 0 : 1;
}
static int module_fails(void) {
  void *module;
  if (gpu.cuModuleLoadDataEx(&module, text, 0, NULL, NULL) != 218) return 1;
  return gpu.cuModuleLoadDataEx(&module, text, 0, NULL, NULL);
}
static int is_lost(void) {
  void *module = gpu_module(text);
  uint64_t nowhere = 16;
  if (gpu_run(module, "count", 1, 1, (void *[]){&nowhere}) != 700) return 1;
  gpu.cuDevicePrimaryCtxReset_v2(0);
  return gpu.cuCtxSynchronize() == 700 ? 0 : 2;
}
static int wrong_launches(void) {
  void *module = gpu_module(text), *small;
  if (gpu.cuModuleGetFunction(&small, module, "small")) return 1;
  if (gpu.cuLaunchKernel(small, 1, 1, 1, 65, 1, 1, 0, NULL, NULL, NULL) != 1) return 2;
  if (gpu.cuLaunchKernel(small, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != 1) return 3;
  if (gpu.cuLaunchKernel(small, 1, 70000, 1, 1, 1, 1, 0, NULL, NULL, NULL) != 1) return 4;
  if (gpu.cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != 400) return 5;
  if (gpu.cuLaunchKernel(small, 1, 1, 1, 64, 1, 1, 0, &module, NULL, NULL) != 400) return 6;
  return gpu.cuModuleGetFunction(&small, module, "large") == 500 ? 0 : 7;
}
static int wrong_text(void) {
  static const struct {
    const char *text, *log;
  } wrongs[] = {
      {"hello", "not understood"},
      {".version 7.0\n.target sm_80\n.visible .entry a()\n{\nfly.b32 ;\n}\n", "line 5"},
      {".version 7.0\n.target sm_80\n.visible .entry a()\n{\nbra b;\n}\n", "'b'"},
      {".version 7.0\n.target sm_80\n.func f();\n.visible .entry a()\n{\ncall f;\n}\n",
       "Unresolved extern function 'f'"},
      {".version 7.0\n.target sm_80\n.visible .entry a()\n{\n.reg .b32 %r<2>; .reg .b64 %d;\n"
       "add.s32 %r1, %r0, %d;\n}\n",
       "mismatch"},
      {".version 7.0\n.target sm_80\n.shared .b8 large[49168];\n.visible .entry a()\n{\n"
       ".reg .b32 %r<2>;\nld.shared.u32 %r1, [large];\n}\n",
       "too much shared data"}};
  for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
    char log[256] = "";
    int names[] = {5, 6};
    void *values[] = {log, (void *)sizeof log}, *module;
    int result = gpu.cuModuleLoadDataEx(&module, wrongs[i].text, 2, names, values);
    if (result != 218 || !strstr(log, wrongs[i].log)) return (int)i + 1;
  }
  return 0;
}
static const char count_text[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry copy(.param .u64 at, .param .u32 step)\n{\n"
    ".reg .b64 %rd<8>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd0, [at]; ld.param.u32 %r0, [step]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd1, %r1, %r0; add.s64 %rd2, %rd0, %rd1; ld.global.u32 %r2, [%rd2];\n"
    "st.global.u32 [%rd2], %r2; ret;\n}\n";

/* Adjacent numbers move in sectors of 32 bytes; distant ones take a sector each. */
static int counted(void) {
  uint64_t at, counts[8];
  void (*count)(uint64_t *) = NULL;
  *(void **)&count = dlsym(gpu.library, "ptxCounts");
  void *module = gpu_module(count_text);
  if (!count || gpu.cuMemAlloc_v2(&at, 4096) || gpu.cuMemsetD32Async(at, 0, 1024, NULL)) return 1;
  if (gpu.cuCtxSynchronize()) return 1;
  count(counts);
  if (counts[0] || counts[6] != 1 || counts[7] != 4096) return 7;
  for (int step = 4; step <= 64; step *= 16) {
    count(counts);
    if (gpu_run(module, "copy", 2, 32, (void *[]){&at, &step})) return 2;
    count(counts);
    uint64_t warps = 2, sectors = step == 4 ? 4 : 32;
    if (counts[0] != 1 || counts[1] != warps * 8 || counts[2] != warps * 8 * 32) return 3;
    if (counts[3] != warps * 128 || counts[4] != warps * 128) return 4;
    if (counts[5] != warps * sectors * 2) return 5;
    if (counts[6] || counts[7]) return 6;
  }
  return 0;
}

static const char deep_text[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".func down(.param .b32 n)\n{\n.local .b8 room[64]; .reg .b32 %r<2>; .reg .pred %p<2>;\n"
    "ld.param.u32 %r0, [n]; setp.eq.s32 %p0, %r0, 0; @%p0 ret; add.s32 %r0, %r0, -1;\n"
    "{ .param .b32 a; st.param.b32 [a], %r0; call.uni down, (a); }\nret;\n}\n"
    ".visible .entry deep(.param .u32 n)\n{\n.reg .b32 %r<2>;\n"
    "ld.param.u32 %r0, [n]; { .param .b32 a; st.param.b32 [a], %r0; call.uni down, (a); }\n"
    "ret;\n}\n";

/* Recursion has the stack that the context's limit gives it. */
static int deep(void) {
  int (*limit)(int, size_t) = NULL;
  *(void **)&limit = dlsym(gpu.library, "cuCtxSetLimit");
  void *module = gpu_module(deep_text);
  int depth = 5;
  if (!limit || gpu_run(module, "deep", 1, 32, (void *[]){&depth})) return 1;
  depth = 50;
  if (limit(0, 16384) || gpu_run(module, "deep", 1, 32, (void *[]){&depth})) return 2;
  return limit(0, 1024) || gpu_run(module, "deep", 1, 32, (void *[]){&depth}) != 714 ? 3 : 0;
}

static int linked(void) {
  void *state, *image, *module;
  size_t size;
  if (gpu.cuLinkCreate_v2(0, NULL, NULL, &state)) return 1;
  if (gpu.cuLinkAddData_v2(state, 1, text, sizeof text, "text", 0, NULL, NULL)) return 2;
  if (gpu.cuLinkComplete(state, &image, &size) || size < sizeof text) return 3;
  char *copy = malloc(size);
  if (!copy) return 4;
  memcpy(copy, image, size);
  if (gpu.cuLinkDestroy(state) || gpu.cuModuleLoadDataEx(&module, copy, 0, NULL, NULL)) return 5;
  return gpu_run(module, "small", 1, 1, NULL);
}

int main(void) {
  TEST("updates that are not atomic get lost, depending on the seed; a seed repeats its run") {
    int most = 0, least = 64;
    for (int seed = 1; seed <= 8; seed++) {
      char environment[64];
      snprintf(environment, sizeof environment, "PTX_SEED=%d PTX_SLICE=3", seed);
      int count = in_child(environment, race);
      CHECK(count > 0 && count < 64);
      CHECK_INT(in_child(environment, race), count);
      if (count > most) most = count;
      if (count < least) least = count;
    }
    CHECK(most > least);
  }
  TEST("the n-th allocation fails") {
    CHECK_INT(in_child("PTX_FAIL_MEMORY=3", third_allocation), 0);
  }
  TEST("a device has as much memory as the test sets") {
    CHECK_INT(in_child("PTX_MEMORY=64", too_much), 0);
  }
  TEST("the n-th launch fails, and its context with it") {
    CHECK_INT(in_child("PTX_FAIL_LAUNCH=2", second_launch), 0);
  }
  TEST("a driver without virtual memory can be simulated") {
    CHECK_INT(in_child("PTX_NO_VMM=1", no_ranges), 0);
  }
  TEST("an old driver knows no new PTX") { CHECK_INT(in_child("PTX_VERSION=10020", version), 0); }
  TEST("PTX for a newer device cannot be used") {
    CHECK_INT(in_child("PTX_CAPABILITY=75", target), 0);
  }
  TEST("a machine without a device can be simulated") {
    CHECK_INT(in_child("PTX_DEVICES=0", no_device), 0);
  }
  TEST("a kernel that does not end is ended") { CHECK_INT(in_child("PTX_LIMIT=1", timeout), 0); }
  TEST("the n-th module does not load") {
    CHECK_INT(in_child("PTX_FAIL_MODULE=1", module_fails), 0);
  }
  TEST("an error may outlive its context") { CHECK_INT(in_child("PTX_LOST=1", is_lost), 0); }
  TEST("invalid launches are refused immediately") { CHECK_INT(in_child("", wrong_launches), 0); }
  TEST("PTX that cannot be read says why in the log") { CHECK_INT(in_child("", wrong_text), 0); }
  TEST("instructions, bytes and sectors are counted") {
    CHECK_INT(in_child("PTX_COUNT=2", counted), 0);
  }
  TEST("recursion may use as much stack as it is given") {
    CHECK_INT(in_child("PTX_STACK=1024", deep), 0);
  }
  TEST("what the linker makes can be loaded") { CHECK_INT(in_child("", linked), 0); }
  return check_report();
}
