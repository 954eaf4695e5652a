/* hash_wide.h - look-up of exact keys of eight lanes at a time, for processors with vectors of 64
 * bytes, one of which holds all eight entries of a line. It takes a dozen instructions a lane, so
 * that the processor overlaps the look-ups of many lanes with the kernel's work on their cells.
 * Decision D-pass-13. */
#ifndef RG_RT_HASH_WIDE_H
#define RG_RT_HASH_WIDE_H

#include "hash.h"

#if defined(__x86_64__) && !defined(RT_IS_WATCHED)
#define RT_HASH_WIDE
#include <immintrin.h>

#define WIDE __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,bmi")))

enum { EIGHT = 8, GRANULE_LOG2 = 6, TAGS = 0xaaaa /* of 16 words */ };
_Static_assert(1 << GRANULE_LOG2 == RT_GRANULE, "a handle counts granules");

typedef struct Wide {    /* eight lanes */
  uint64_t lines[EIGHT]; /* addresses: where their searches begin */
  uint32_t tags[EIGHT];
  uint32_t exact; /* the lanes with exact tags */
} Wide;

static inline int wide_is_there(void) {
  return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq");
}

/* permute_even */
WIDE static inline __m256i permute_wide(__m256i bits) {
  const __m256i even = _mm256_set1_epi32(~1);
  bits = _mm256_mullo_epi32(bits, _mm256_set1_epi32((int)0x9e3779b1u));
  bits = _mm256_xor_si256(bits, _mm256_and_si256(_mm256_srli_epi32(bits, 16), even));
  bits = _mm256_mullo_epi32(bits, _mm256_set1_epi32((int)0x85ebca6bu));
  bits = _mm256_xor_si256(bits, _mm256_and_si256(_mm256_srli_epi32(bits, 15), even));
  return _mm256_mullo_epi32(bits, _mm256_set1_epi32((int)0xc2b2ae35u));
}

/* Computes the exact tags of the lanes from `first` on, and prefetches their lines. */
WIDE static inline void wide_fetch(Wide *w, const RtTree *tree, const RtManager *manager,
                                   uint64_t table, const int64_t *coordinates, int32_t first,
                                   int32_t width) {
  __mmask8 running = (__mmask8)(0xff >> (width - first < EIGHT ? EIGHT - (width - first) : 0));
  __m128i bits = _mm_cvtsi32_si128((int)manager->exact_bits);
  __m512i half = _mm512_set1_epi64((long long)((uint64_t)1 << manager->exact_bits >> 1));
  __m512i packed = _mm512_setzero_si512(), rest = packed;
  for (int32_t a = 0; a < manager->axis_count; a++) {
    __m512i at = _mm512_maskz_loadu_epi64(running, coordinates + a * width + first);
    at = _mm512_add_epi64(at, half);
    packed = _mm512_or_si512(_mm512_sll_epi64(packed, bits), at);
    rest = _mm512_or_si512(rest, at);
  }
  rest = _mm512_srl_epi64(rest, bits);
  __m256i even = permute_wide(_mm256_slli_epi32(_mm512_cvtepi64_epi32(packed), 1));
  __m256i tags = _mm256_or_si256(even, _mm256_set1_epi32(1));
  __m256i homes = _mm256_srl_epi32(tags, _mm_cvtsi32_si128((int)(32 - table_log2(table))));
  __m512i lines = _mm512_cvtepu32_epi64(_mm256_andnot_si256(_mm256_set1_epi32(RT_LINE - 1), homes));
  lines = _mm512_add_epi64(_mm512_slli_epi64(lines, 3),
                           _mm512_set1_epi64((long long)(uint64_t)table_entries(tree, table)));
  w->exact = _mm512_testn_epi64_mask(rest, rest) & running;
  _mm512_storeu_si512(w->lines, lines);
  _mm256_storeu_si256((__m256i *)(void *)w->tags, tags);
#pragma GCC unroll 8
  for (int k = 0; k < EIGHT; k++) __builtin_prefetch((const void *)w->lines[k]);
}

/* The handle; 0: the tag is not in its first line. The entry is read again, since other threads may
 * have changed it. */
WIDE static inline int wide_handle(const Wide *w, int k) {
  const __m512i *line = (const __m512i *)w->lines[k];
  __m512i tag = _mm512_set1_epi32((int)w->tags[k]);
  uint64_t found = _mm512_mask_cmpeq_epi32_mask(TAGS, tag, _mm512_load_si512(line));
  if (__builtin_expect(!found, 0)) return 0;
  /* a tag is the upper half of its entry */
  const uint32_t *half = (const uint32_t *)(const void *)line + __builtin_ctzll(found) - 1;
  uint64_t entry = rt_load_acquire_long((const uint64_t *)(const void *)half);
  return entry >> 32 == w->tags[k] ? (int)entry : 0;
}

/* Sets the nodes of lanes with exact tags, and returns those that have one. */
WIDE __attribute__((noinline)) static uint32_t wide_find(const Wide *w, const RtTree *tree,
                                                         uint8_t **nodes) {
  __m256i handles =
      _mm256_setr_epi32(wide_handle(w, 0), wide_handle(w, 1), wide_handle(w, 2), wide_handle(w, 3),
                        wide_handle(w, 4), wide_handle(w, 5), wide_handle(w, 6), wide_handle(w, 7));
  __m512i bytes = _mm512_slli_epi64(_mm512_cvtepu32_epi64(handles), GRANULE_LOG2);
  __m512i base = _mm512_set1_epi64((long long)(uint64_t)tree->base);
  __mmask8 found = (__mmask8)(_mm256_test_epi32_mask(handles, handles) & w->exact);
  _mm512_mask_storeu_epi64(nodes, found, _mm512_add_epi64(bytes, base));
  return found;
}
#endif
#endif
