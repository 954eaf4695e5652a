/* signature.h - signatures by ed25519, with libsodium, which is opened when the first is made or
 * checked. Keys are texts as openssl writes them (PEM). */
#ifndef RG_IO_SIGNATURE_H
#define RG_IO_SIGNATURE_H

#include <stdint.h>

#include "base/error.h"

enum { SIGNATURE_BYTES = 64, SIGNATURE_KEY_BYTES = 32 };

/* From "-----BEGIN PUBLIC KEY-----", or PRIVATE: false with argument.invalid for anything else. */
bool signature_public_key(const char *pem, uint8_t key[SIGNATURE_KEY_BYTES], Error *err);
bool signature_private_key(const char *pem, uint8_t key[SIGNATURE_KEY_BYTES], Error *err);

bool signature_make(const uint8_t private_key[SIGNATURE_KEY_BYTES], const void *bytes,
                    int64_t length, uint8_t signature[SIGNATURE_BYTES], Error *err);
/* *is_valid: was the signature made of these bytes with the private key that belongs to the public
 * one? False with err if that could not be checked. */
bool signature_check(const uint8_t public_key[SIGNATURE_KEY_BYTES], const void *bytes,
                     int64_t length, const uint8_t signature[SIGNATURE_BYTES], bool *is_valid,
                     Error *err);

#endif
