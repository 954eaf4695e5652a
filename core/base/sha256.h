/* sha256.h - the hash of FIPS 180-4: names and checks files that the product wrote earlier.
 * Debian's C library offers none, and a hash is no reason for a dependency. */
#ifndef RG_BASE_SHA256_H
#define RG_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };
void sha256(const void *data, size_t size_bytes, uint8_t sum[SHA256_BYTES]);

#endif
