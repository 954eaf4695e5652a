/* random.c - the keys of streams of random numbers. A key is a hash of the runtime's seed and of
 * the stream's number since the seed was set, so all streams of a seed differ. The numbers
 * themselves are computed in kernels: core/pass/simplify/expand.c. */
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

/* Rank 0 has the same streams as a process without ranks. */
static uint64_t seed_of_rank(const RtRandom *random) {
  return random->rank ? random->seed ^ mix(random->rank) : random->seed;
}

uint64_t rt_random_next_key(RtRandom *random, uint32_t is_global) {
  const uint64_t salt = 0xd6e8feb86659fd93u;
  if (is_global) return rt_random_key(random->seed ^ salt, random->global_streams++);
  return rt_random_key(seed_of_rank(random), random->streams++);
}

uint64_t rt_random_own_key(const RtRandom *random) {
  return rt_random_key(seed_of_rank(random), UINT64_MAX);
}

int64_t rt_random_stream(RtContext *context, int32_t is_global) {
  return (int64_t)rt_random_next_key(context->random, is_global != 0);
}
