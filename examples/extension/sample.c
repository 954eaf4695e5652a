/* sample.c - an extension in C: functions that scripts call, with arrays that they share.
 *
 *     cc -shared -fPIC -I/usr/include sample.c -o sample.so
 *
 *     local sample = rg.extension "./sample.so"
 *     local h = sample.histogram(samples, 16)          -- a new array, counted like any other
 *     print(sample.hypotenuse(3, 4))                   --> 5
 *
 * It links with no library: all that it needs of the runtime is in the table that it receives. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "regolith.h"

/* f64(f64, f64) */
static int32_t hypotenuse(const RgExtensionApi *api, RgExtensionValue *values) {
  (void)api;
  double a = values[0].f64, b = values[1].f64;
  values[0].f64 = sqrt(a * a + b * b);
  return 0;
}

/* array(i32)(array(f32), i32): counts the numbers of 0..1 in each of this many bins */
static int32_t histogram(const RgExtensionApi *api, RgExtensionValue *values) {
  const float *from = api->data(api, values[0].counted);
  uint64_t count = api->size(api, values[0].counted) / sizeof *from;
  int64_t bins = values[1].i64;
  if (bins < 1) {
    api->error(api, "a histogram has at least one bin");
    return 1;
  }
  RgCounted *result = api->allocate(api, (uint64_t)bins * sizeof(int32_t));
  if (!result) return 1; /* the table has reported why */
  int32_t *to = api->data(api, result);
  memset(to, 0, (size_t)bins * sizeof *to);
  for (uint64_t k = 0; k < count; k++) {
    int64_t bin = (int64_t)((double)from[k] * (double)bins);
    if (bin >= 0 && bin < bins) to[bin]++;
  }
  values[0].counted = result;
  return 0;
}

/* ()(array(f32), f32): in place */
static int32_t scale(const RgExtensionApi *api, RgExtensionValue *values) {
  float *at = api->data(api, values[0].counted), by = (float)values[1].f64;
  uint64_t count = api->size(api, values[0].counted) / sizeof *at;
  for (uint64_t k = 0; k < count; k++) at[k] *= by;
  return 0;
}

/* -- memory of its own, which the runtime shares and gives back ------------------------------- */

static atomic_int live; /* kernels call functions from several threads at once */

static void on_last_release(void *data, uint64_t size_bytes, void *context) {
  (void)size_bytes;
  --*(atomic_int *)context;
  free(data);
}

/* array(f64)(i32): 0, 1, 2 .. in memory from malloc */
static int32_t ramp(const RgExtensionApi *api, RgExtensionValue *values) {
  int64_t count = values[0].i64 > 0 ? values[0].i64 : 1;
  double *data = malloc((size_t)count * sizeof *data);
  if (!data) {
    api->error(api, "malloc has no memory for a ramp");
    return 1;
  }
  for (int64_t k = 0; k < count; k++) data[k] = (double)k;
  live++;
  values[0].counted =
      api->manage(api, data, (uint64_t)count * sizeof *data, on_last_release, &live);
  if (!values[0].counted) on_last_release(data, 0, &live);
  return values[0].counted == NULL;
}

/* i32(): how many ramps exist */
static int32_t ramps(const RgExtensionApi *api, RgExtensionValue *values) {
  (void)api;
  values[0].i64 = live;
  return 0;
}

/* -- what is kept between calls ---------------------------------------------------------------- */

static RgCounted *kept;

/* ()(array(f32)): holds it, and releases the previous one */
static int32_t keep(const RgExtensionApi *api, RgExtensionValue *values) {
  api->acquire(api, values[0].counted);
  api->release(api, kept);
  kept = values[0].counted;
  return 0;
}

/* f64(): the sum of what is kept */
static int32_t kept_sum(const RgExtensionApi *api, RgExtensionValue *values) {
  if (!kept) {
    api->error(api, "nothing is kept");
    return 1;
  }
  const float *at = api->data(api, kept);
  uint64_t count = api->size(api, kept) / sizeof *at;
  double sum = 0;
  for (uint64_t k = 0; k < count; k++) sum += (double)at[k];
  values[0].f64 = sum;
  return 0;
}

/* (): releases it */
static int32_t drop(const RgExtensionApi *api, RgExtensionValue *values) {
  (void)values;
  api->release(api, kept);
  kept = NULL;
  return 0;
}

/* u64(): where its table is */
static int32_t table(const RgExtensionApi *api, RgExtensionValue *values) {
  values[0].u64 = (uint64_t)(uintptr_t)api;
  return 0;
}

static void end(const RgExtensionApi *api) { drop(api, NULL); }

static const RgExtensionFunction functions[] = {
    {"hypotenuse", "f64(f64, f64)", hypotenuse},
    {"histogram", "array(i32)(array(f32), i32)", histogram},
    {"scale", "()(array(f32), f32)", scale},
    {"ramp", "array(f64)(i32)", ramp},
    {"ramps", "i32()", ramps},
    {"keep", "()(array(f32))", keep},
    {"kept_sum", "f64()", kept_sum},
    {"drop", "()()", drop},
    {"table", "u64()", table},
};

const RgExtension *regolith_extension(const RgExtensionApi *api);

const RgExtension *regolith_extension(const RgExtensionApi *api) {
  static const RgExtension extension = {.struct_size = sizeof extension,
                                        .version = RG_EXTENSION_VERSION,
                                        .name = "sample",
                                        .functions = functions,
                                        .function_count = sizeof functions / sizeof functions[0],
                                        .end = end};
  if (api->version != RG_EXTENSION_VERSION || api->struct_size < sizeof *api) {
    api->error(api, "sample was compiled for a newer table than this library has");
    return NULL;
  }
  return &extension;
}
