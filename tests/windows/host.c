/* host.c - runs the module that was built from kernels.lua, and prints what it computes: the same
 * on Linux and on Windows, and for every number of threads. */
#include <stdio.h>
#include <stdlib.h>

#include "kernels.h"

static RgRuntime *runtime;

static void say(RgStatus status, const char *what) {
  if (status) printf("%s: %s: %s\n", what, rg_error(runtime)->code, rg_error(runtime)->message);
}

/* The adjoint of `bend`. */
static void go_back(kernels_module *module) {
  double angles[64], one = 1, sum = 0, slopes = 0;
  for (int i = 0; i < 64; i++) angles[i] = 0.05 * i;
  say(rg_field_write(module->field_angle, angles, 64), "write");
  say(kernels_bend(module), "bend");
  say(rg_field_read(module->field_sum, &sum, 1), "read");
  say(rg_field_write(module->field_sum_grad, &one, 1), "write");
  say(kernels_bend_grad(module), "bend backwards");
  say(rg_field_read(module->field_angle_grad, angles, 64), "read");
  for (int i = 0; i < 64; i++) slopes += angles[i] * (i + 1);
  printf("%.6e %.9e\n", sum, slopes);
}

static void run(const char *path, int threads) {
  RgOptions options = {
      .struct_size = sizeof options, .threads = threads, .seed = 7, .memory_bytes = 256 << 20};
  RgError error;
  kernels_module module;
  double sum = 0, draw = 0, deep = 0;
  int64_t count = 0, active = 0;
  if (rg_runtime_create(&options, &runtime, &error)) {
    printf("no runtime: %s\n", error.message);
    exit(1);
  }
  say(kernels_open(runtime, path, &module), "open");
  for (int round = 0; round < 2; round++) {
    say(kernels_spread(&module, 512), "spread");
    say(kernels_smooth(&module), "smooth");
    say(kernels_total(&module, &sum), "total");
    rg_snode_call(module.node_block, "count", NULL, 0, &active);
    printf("%.6e %lld", sum, (long long)active);
    say(kernels_clear(&module), "clear");
    rg_snode_call(module.node_block, "count", NULL, 0, &active);
    printf(" %lld\n", (long long)active);
  }
  say(kernels_fill(&module, 20000), "fill");
  say(kernels_count(&module, &count), "count");
  say(kernels_deep(&module, 300, &deep), "deep");
  say(kernels_draw(&module, &draw), "draw");
  printf("%lld %g %.9f\n", (long long)count, deep, draw);
  say(kernels_check(&module, 50), "check");
  say(kernels_check(&module, 500), "check");
  go_back(&module);
  kernels_close(&module);
  rg_runtime_destroy(runtime);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  setvbuf(stdout, NULL, _IONBF, 0);
  run(argv[1], 1);
  run(argv[1], 2);
  return 0;
}
