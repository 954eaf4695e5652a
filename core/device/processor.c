/* processor.c - chooses the host CPU that code is compiled for: it runs host regions, and the CPU
 * device's tasks. */
#include "device/processor.h"

#include <stdio.h>
#include <string.h>

#include "base/machine.h"

/* -- capabilities of this processor ------------------------------------------------------------ */

/* On Windows a kernel that touches a page for the first time is interrupted until the page is
 * committed (windows/memory.c); Wine, which the tests use, then only restores vectors of up to 256
 * bits. */
#if defined(_WIN32)
enum { MAX_VECTOR_BYTES = 32 };
#else
enum { MAX_VECTOR_BYTES = 64 };
#endif

#if defined(__x86_64__)
#include <cpuid.h>

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

static int32_t own_vector_bytes(void) {
  return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
}

static void detect_processor(void) { __builtin_cpu_init(); }
#define SUPPORTS_X86_64(NAME) __builtin_cpu_supports(NAME)
#define SUPPORTS_AARCH64(NAME) false
#else
#include <sys/auxv.h>

static bool has_fast_gathers(void) { return false; }
static int32_t own_vector_bytes(void) { return 16; }
static void detect_processor(void) {}
static bool supports(const char *name) {
  enum { ATOMICS = 1 << 8 }; /* HWCAP_ATOMICS: the instructions of LSE */
  return strcmp(name, "aarch64-lse") != 0 || (getauxval(AT_HWCAP) & ATOMICS);
}
#define SUPPORTS_X86_64(NAME) false
#define SUPPORTS_AARCH64(NAME) supports(NAME)
#endif

/* -- the processor to compile for -------------------------------------------------------------- */

/* Finds the vector width, and checks that this machine has the named level: an unsupported
 * instruction would end the process. */
bool device_choose_processor(Device *device, const char *name, Error *err) {
  detect_processor();
  device->processors[RG_TARGET_HOST] = "native";
  device->vector_bytes = own_vector_bytes();
  device->fast_gathers = has_fast_gathers();
  if (!name || !strcmp(name, "native")) return true;
#define PROCESSOR(MACHINE, NAME, VECTOR_BYTES, CPU, FEATURES) \
  if (!strcmp(name, NAME)) { \
    device->processors[RG_TARGET_HOST] = NAME; \
    device->vector_bytes = VECTOR_BYTES; \
    device->fast_gathers = false; \
    if (SUPPORTS_##MACHINE(NAME) && VECTOR_BYTES <= MAX_VECTOR_BYTES) return true; \
    return error_set(err, RG_ERROR_OPTION, \
                     "option 'cpu' is '%s', which this machine does not support", name); \
  }
#include "jit/processor.def"
#undef PROCESSOR
  error_set(err, RG_ERROR_OPTION,
            "option 'cpu' is '%.60s', which is not a processor that kernels can be compiled for",
            name);
  return error_hint(err, MACHINE_HERE == MACHINE_X86_64
                             ? "native, x86-64, x86-64-v2, x86-64-v3 and x86-64-v4 are possible"
                             : "native, aarch64 and aarch64-lse are possible");
}

static int rank_on_gpu(const char *own, const char *processor) {
  int known = 0, wanted = 0;
  bool ok = sscanf(own, "sm_%d", &known) == 1 && sscanf(processor, "sm_%d", &wanted) == 1;
  return ok && wanted <= known ? wanted : -1;
}

int device_rank_of(const Device *device, RgTarget target, const char *processor) {
  const char *own = device->processors[RG_TARGET_HOST];
  const char *gpu = device->processors[RG_TARGET_PTX];
  if (target == RG_TARGET_PTX) return gpu ? rank_on_gpu(gpu, processor) : -1;
  if (gpu) return -1;
  /* a named processor runs levels up to its own; "native" runs those that the machine supports */
  int rank = -1, at = 0, found = -1;
  bool is_named = strcmp(own, "native") != 0, is_past = false;
  detect_processor();
#define PROCESSOR(MACHINE, NAME, VECTOR_BYTES, CPU, FEATURES) \
  rank = at++; \
  if (!strcmp(processor, NAME) && !is_past && SUPPORTS_##MACHINE(NAME) && \
      VECTOR_BYTES <= MAX_VECTOR_BYTES) \
    found = rank; \
  is_past |= is_named && !strcmp(own, NAME);
#include "jit/processor.def"
#undef PROCESSOR
  return found;
}
