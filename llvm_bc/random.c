/* random.c - the keys of streams of random numbers: a hash of the runtime's seed and of how many
 * streams were begun since it was set, so no two of a seed are alike. The numbers themselves are
 * computed in kernels: core/codegen/random.c. */
#include "rt.h"

/* Mixes all bits of a number (splitmix64's finalizer); different numbers stay different. */
static uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

uint64_t rt_random_key(uint64_t seed, uint64_t number) {
  const uint64_t step = 0x9e3779b97f4a7c15u;
  return mix(mix(seed + step) + number * step);
}

int64_t rt_random_stream(RtContext *context) {
  RtRandom *random = context->random;
  return (int64_t)rt_random_key(random->seed, random->streams++);
}
