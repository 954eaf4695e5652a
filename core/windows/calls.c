/* calls.c - the C library's functions that kernels call (loader/symbols.def), by the calling
 * convention of kernels. */
#include <math.h>
#include <string.h>

#include "rt.h"

#define CALL __attribute__((used)) RT_CALL

CALL void *kernel_memcpy(void *to, const void *from, size_t size_bytes) {
  return memcpy(to, from, size_bytes);
}
CALL void *kernel_memmove(void *to, const void *from, size_t size_bytes) {
  return memmove(to, from, size_bytes);
}
CALL void *kernel_memset(void *to, int byte, size_t size_bytes) {
  return memset(to, byte, size_bytes);
}

CALL double kernel_fma(double x, double y, double z) { return fma(x, y, z); }
CALL float kernel_fmaf(float x, float y, float z) { return fmaf(x, y, z); }

/* Half precision is in the registers of f32 in both conventions (half.c). */
#define HALF(name, TO, FROM) \
  TO windows_##name(FROM x) __asm__("__" #name); \
  CALL TO kernel___##name(FROM x) { return windows_##name(x); }
HALF(extendhfsf2, float, _Float16)
HALF(truncsfhf2, _Float16, float)
HALF(truncdfhf2, _Float16, double)

/* clang-format off */
#define ONE(name) \
  CALL double kernel_##name(double x) { return name(x); } \
  CALL float kernel_##name##f(float x) { return name##f(x); }
#define TWO(name) \
  CALL double kernel_##name(double x, double y) { return name(x, y); } \
  CALL float kernel_##name##f(float x, float y) { return name##f(x, y); }
ONE(floor) ONE(ceil) ONE(trunc) ONE(round) ONE(rint) ONE(sqrt) ONE(fabs) ONE(sin)
TWO(fmod) TWO(fmin) TWO(fmax) TWO(pow)
