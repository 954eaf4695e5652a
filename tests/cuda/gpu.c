/* gpu.c - see gpu.h. */
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Gpu gpu;

static void must(int result, const char *what) {
  if (!result) return;
  const char *name = "?";
  if (gpu.cuGetErrorName) gpu.cuGetErrorName(result, &name);
  printf("not ok: %s answers %s\n1 failed\n", what, name);
  exit(1);
}

void gpu_open(const char *environment) {
  char text[512], *rest = text;
  snprintf(text, sizeof text, "%s", environment);
  for (char *word; (word = strtok_r(rest, " ", &rest));) putenv(strdup(word));
  gpu.library = dlopen(RG_EXECUTING_DRIVER, RTLD_NOW | RTLD_LOCAL);
  if (!gpu.library) {
    printf("not ok: %s\n0 passed, 1 failed\n", dlerror());
    exit(1);
  }
#define CALL(NAME, PARAMETERS) \
  *(void **)&gpu.NAME = dlsym(gpu.library, #NAME); \
  must(!gpu.NAME, #NAME);
  GPU_CALLS(CALL)
#undef CALL
  if (gpu.cuInit(0)) return; /* a test of that */
  must(gpu.cuDevicePrimaryCtxRetain(&gpu.context, 0), "cuDevicePrimaryCtxRetain");
  must(gpu.cuCtxPushCurrent_v2(gpu.context), "cuCtxPushCurrent");
}

void *gpu_module(const char *ptx) {
  char log[1024] = "";
  int names[] = {5, 6};
  void *values[] = {log, (void *)sizeof log}, *module = NULL;
  int result = gpu.cuModuleLoadDataEx(&module, ptx, 2, names, values);
  if (result) printf("%s\n%s\n", ptx, log);
  must(result, "cuModuleLoadDataEx");
  return module;
}

int gpu_run(void *module, const char *kernel, unsigned blocks, unsigned threads, void **params) {
  void *function;
  int result = gpu.cuModuleGetFunction(&function, module, kernel);
  if (!result)
    result = gpu.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
  return result ? result : gpu.cuCtxSynchronize();
}

int gpu_lines(const char *lines, uint64_t out[32]) {
  static char text[16384];
  snprintf(text, sizeof text,
           ".version 7.0\n.target sm_80\n.address_size 64\n"
           ".visible .entry lines(.param .u64 out)\n{\n"
           ".reg .pred %%p<32>; .reg .b16 %%rs<32>; .reg .b32 %%r<32>; .reg .b64 %%rd<32>;\n"
           ".reg .f32 %%f<32>; .reg .f64 %%fd<32>;\n"
           "mov.u32 %%r0, %%tid.x; ld.param.u64 %%rd0, [out];\n"
           "mul.wide.u32 %%rd1, %%r0, 8; add.s64 %%rd0, %%rd0, %%rd1;\n"
           "%s\nret;\n}\n",
           lines);
  void *module = gpu_module(text);
  uint64_t address;
  must(gpu.cuMemAlloc_v2(&address, 256), "cuMemAlloc");
  must(gpu.cuMemsetD8Async(address, 0, 256, NULL), "cuMemsetD8Async");
  int result = gpu_run(module, "lines", 1, 32, (void *[]){&address});
  if (result) return result;
  must(gpu.cuMemcpyDtoH_v2(out, address, 256), "cuMemcpyDtoH");
  must(gpu.cuMemFree_v2(address), "cuMemFree");
  must(gpu.cuModuleUnload(module), "cuModuleUnload");
  return 0;
}
