/* processor.c - chooses the host CPU that code is compiled for: it runs host regions, and the CPU
 * device's tasks. */
#include "device/processor.h"

#include <cpuid.h>
#include <string.h>

/* Does this machine gather 64 bits per lane faster than by a load per lane? Measured processors of
 * Intel: Sapphire Rapids, Emerald Rapids and Granite Rapids. Decision D-codegen-03. */
static bool has_fast_gathers(void) {
  enum { SAPPHIRE_RAPIDS = 0x8f, EMERALD_RAPIDS = 0xcf, GRANITE_RAPIDS = 0xad, FAMILY = 6 };
  unsigned version = 0, b, c, d;
  if (!__builtin_cpu_is("intel") || !__get_cpuid(1, &version, &b, &c, &d)) return false;
  unsigned family = version >> 8 & 15, model = (version >> 4 & 15) | (version >> 12 & 0xf0);
  return family == FAMILY &&
         (model == SAPPHIRE_RAPIDS || model == EMERALD_RAPIDS || model == GRANITE_RAPIDS);
}

/* Finds the vector width, and checks that this machine has the named level: an unsupported
 * instruction would end the process. */
bool device_choose_processor(Device *device, const char *name, Error *err) {
  __builtin_cpu_init();
  device->processors[RG_TARGET_HOST] = "native";
  device->vector_bytes = __builtin_cpu_supports("avx512f") ? 64
                         : __builtin_cpu_supports("avx2")  ? 32
                                                           : 16;
  device->fast_gathers = has_fast_gathers();
  if (!name || !strcmp(name, "native")) return true;
#define PROCESSOR(NAME, VECTOR_BYTES) \
  if (!strcmp(name, NAME)) { \
    device->processors[RG_TARGET_HOST] = NAME; \
    device->vector_bytes = VECTOR_BYTES; \
    device->fast_gathers = false; \
    if (__builtin_cpu_supports(NAME)) return true; \
    return error_set(err, RG_ERROR_OPTION, \
                     "option 'cpu' is '%s', which this machine does not support", name); \
  }
#include "jit/processor.def"
#undef PROCESSOR
  error_set(err, RG_ERROR_OPTION,
            "option 'cpu' is '%.60s', which is not a processor that kernels can be compiled for",
            name);
  return error_hint(err, "native, x86-64, x86-64-v2, x86-64-v3 and x86-64-v4 are possible");
}
