/* sha256.h - the hash of FIPS 180-4, by which files that the product wrote are named and checked.
 * Debian's C library has none, and a hash is not worth a dependency. */
#ifndef RG_BASE_SHA256_H
#define RG_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };
void sha256(const void *data, size_t size_bytes, uint8_t sum[SHA256_BYTES]);

#endif
