/* host.c - prints all that kernels.lua computes, bit by bit: check compares two machines' words. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

static void fail(RgRuntime *runtime) {
  printf("%s: %s\n", rg_error(runtime)->code, rg_error(runtime)->message);
  exit(1);
}

/* Elements in index order, each as its bits. */
static void print_field(RgRuntime *runtime, const char *name, RgField *field) {
  int64_t state = 0, index[8] = {0};
  RgValue value;
  for (int k = 0; !rg_field_next(field, &state, index, &value) && state != -1; k++)
    printf("%s %" PRId64 " %" PRId64 " %" PRIx64 "\n", name, index[0], index[1], value.u64);
  (void)runtime;
}

static void go_back(RgRuntime *runtime, kernels_module *m) {
  double slopes[300], one = 1;
  for (int k = 0; k < 300; k++) slopes[k] = 0.01 * k - 1;
  if (rg_field_write(m->field_slope, slopes, 300) || kernels_curve(m) ||
      rg_field_write(m->field_loss_grad, &one, 1) || kernels_curve_grad(m))
    fail(runtime);
  print_field(runtime, "loss", m->field_loss);
  print_field(runtime, "slope", m->field_slope_grad);
}

int main(int argc, char **argv) {
  RgRuntime *runtime;
  RgOptions options = {.struct_size = sizeof options, .threads = 1, .no_cache = 1};
  kernels_module m;
  float sum = 0;
  int64_t length = 0;
  options.cpu = argc > 2 ? argv[2] : NULL;
  if (rg_runtime_create(&options, &runtime, NULL)) return 2;
#ifdef LINKED
  if (kernels_link(runtime, &m)) fail(runtime);
#else
  if (kernels_open(runtime, argv[1], &m)) fail(runtime);
#endif
  if (kernels_maths(&m) || kernels_integers(&m) || kernels_sparse(&m) || kernels_stencil(&m, &sum))
    fail(runtime);
  printf("sum %a\n", sum);
  if (kernels_shrink(&m)) fail(runtime);
  if (rg_snode_call(m.node_list, "length", NULL, 0, &length)) fail(runtime);
  printf("list %" PRId64 "\n", length);
  print_field(runtime, "x", m.field_x);
  print_field(runtime, "y", m.field_y);
  print_field(runtime, "half", m.field_half);
  print_field(runtime, "whole", m.field_whole);
  print_field(runtime, "wide", m.field_wide);
  print_field(runtime, "small", m.field_small);
  print_field(runtime, "counts", m.field_counts);
  print_field(runtime, "grid", m.field_grid);
  print_field(runtime, "item", m.field_item);
  go_back(runtime, &m);
  printf("%d: ", kernels_outside(&m, 298) != 0);
  printf("%s\n", rg_error(runtime)->message);
  kernels_close(&m);
  rg_runtime_destroy(runtime);
  return 0;
}
