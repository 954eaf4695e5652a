/* sha256.c - FIPS 180-4, one call per message: about 200 MB/s, so a compiled kernel takes 50 us.
 * The message is followed by a bit 1, zeros, and its length in bits, big-endian, up to a whole
 * block of 64 bytes. */
#include "base/sha256.h"

#include <string.h>

enum { BLOCK_BYTES = 64 };

static const uint32_t rounds[64] = {/* the first bits of the cube roots of the first 64 primes */
                                    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
                                    0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
                                    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7,
                                    0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
                                    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152,
                                    0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
                                    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
                                    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
                                    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
                                    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
                                    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
                                    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
                                    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

static uint32_t read_word(const uint8_t *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void hash_block(uint32_t state[8], const uint8_t *block) {
  uint32_t w[64], v[8];
  for (int k = 0; k < 16; k++) w[k] = read_word(block + 4 * k);
  for (int k = 16; k < 64; k++) {
    uint32_t small_0 = rotate(w[k - 15], 7) ^ rotate(w[k - 15], 18) ^ w[k - 15] >> 3;
    uint32_t small_1 = rotate(w[k - 2], 17) ^ rotate(w[k - 2], 19) ^ w[k - 2] >> 10;
    w[k] = w[k - 16] + small_0 + w[k - 7] + small_1;
  }
  memcpy(v, state, sizeof v);
  for (int k = 0; k < 64; k++) {
    uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]),
             majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    uint32_t one =
        v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + choice + rounds[k] + w[k];
    uint32_t two = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + majority;
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += one;
    v[0] = one + two;
  }
  for (int k = 0; k < 8; k++) state[k] += v[k];
}

void sha256(const void *data, size_t size_bytes, uint8_t digest[SHA256_BYTES]) {
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint8_t *bytes = data;
  size_t whole = size_bytes / BLOCK_BYTES * BLOCK_BYTES, remainder = size_bytes - whole;
  uint8_t tail[2 * BLOCK_BYTES] = {0};
  size_t tail_bytes = remainder < BLOCK_BYTES - 8 ? BLOCK_BYTES : 2 * BLOCK_BYTES;
  if (remainder) memcpy(tail, bytes + whole, remainder);
  tail[remainder] = 0x80;
  for (int k = 0; k < 8; k++)
    tail[tail_bytes - 1 - (size_t)k] = (uint8_t)((uint64_t)size_bytes * 8 >> 8 * k);
  for (size_t at = 0; at < whole; at += BLOCK_BYTES) hash_block(state, bytes + at);
  for (size_t at = 0; at < tail_bytes; at += BLOCK_BYTES) hash_block(state, tail + at);
  for (int k = 0; k < SHA256_BYTES; k++) digest[k] = (uint8_t)(state[k / 4] >> (24 - k % 4 * 8));
}
