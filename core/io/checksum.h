/* checksum.h - XXH64, with seed 0 (Collet, xxHash specification 0.1.1): a 64-bit checksum of data
 * that may come in pieces. It detects accidents, not forgeries. */
#ifndef RG_IO_CHECKSUM_H
#define RG_IO_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct Checksum {
  uint64_t lanes[4];
  uint64_t length;  /* bytes so far */
  uint8_t tail[32]; /* the last length % 32 bytes, not yet added */
} Checksum;

void checksum_init(Checksum *checksum);
void checksum_add(Checksum *checksum, const void *bytes, size_t size);
uint64_t checksum_end(const Checksum *checksum);

#endif
