/* checksum.c - see checksum.h. Assumes a little-endian processor, as we support no others. */
#include "io/checksum.h"

#include <string.h>

#define P1 0x9E3779B185EBCA87u
#define P2 0xC2B2AE3D27D4EB4Fu
#define P3 0x165667B19E3779F9u
#define P4 0x85EBCA77C2B2AE63u
#define P5 0x27D4EB2F165667C5u

enum { STRIPE = 32 };

static uint64_t rotate_left(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static uint64_t word_at(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

static uint64_t mix(uint64_t lane, uint64_t word) { return rotate_left(lane + word * P2, 31) * P1; }

static void add_stripe(uint64_t lanes[4], const uint8_t *bytes) {
  for (int k = 0; k < 4; k++) lanes[k] = mix(lanes[k], word_at(bytes + 8 * k));
}

void checksum_init(Checksum *checksum) { *checksum = (Checksum){.lanes = {P1 + P2, P2, 0, -P1}}; }

void checksum_add(Checksum *checksum, const void *bytes, size_t size) {
  const uint8_t *at = bytes;
  size_t buffered = checksum->length % STRIPE;
  checksum->length += size;
  if (buffered) {
    size_t missing = STRIPE - buffered, copied = size < missing ? size : missing;
    memcpy(checksum->tail + buffered, at, copied);
    at += copied;
    size -= copied;
    if (copied < missing) return;
    add_stripe(checksum->lanes, checksum->tail);
  }
  for (; size >= STRIPE; at += STRIPE, size -= STRIPE) add_stripe(checksum->lanes, at);
  memcpy(checksum->tail, at, size);
}

/* Adds the rest after the last whole stripe: words, half a word, bytes. */
static uint64_t add_tail(uint64_t hash, const uint8_t *at, size_t size) {
  for (; size >= 8; at += 8, size -= 8)
    hash = rotate_left(hash ^ mix(0, word_at(at)), 27) * P1 + P4;
  if (size >= 4) {
    uint32_t half;
    memcpy(&half, at, sizeof half);
    hash = rotate_left(hash ^ half * P1, 23) * P2 + P3;
    at += 4;
    size -= 4;
  }
  for (; size; at++, size--) hash = rotate_left(hash ^ *at * P5, 11) * P1;
  return hash;
}

uint64_t checksum_end(const Checksum *checksum) {
  const uint64_t *lanes = checksum->lanes;
  uint64_t hash = P5;
  if (checksum->length >= STRIPE) {
    hash = rotate_left(lanes[0], 1) + rotate_left(lanes[1], 7) + rotate_left(lanes[2], 12) +
           rotate_left(lanes[3], 18);
    for (int k = 0; k < 4; k++) hash = (hash ^ mix(0, lanes[k])) * P1 + P4;
  }
  hash = add_tail(hash + checksum->length, checksum->tail, checksum->length % STRIPE);
  hash = (hash ^ hash >> 33) * P2;
  hash = (hash ^ hash >> 29) * P3;
  return hash ^ hash >> 32;
}
