/* signature.c - see signature.h. */
#include "io/signature.h"

#include <stdio.h>
#include <string.h>

#include "io/library.h"

/* The functions of libsodium that we call, declared as in its manual, since its header may not be
 * installed. Its secret key of 64 bytes is our private key, followed by the public key. */
enum { SECRET_BYTES = 64 };
typedef struct Sodium {
  void *handle;
  int (*init)(void);
  int (*make_keys)(uint8_t *public_key, uint8_t *secret, const uint8_t *seed);
  int (*sign)(uint8_t *signature, unsigned long long *signature_bytes, const uint8_t *bytes,
              unsigned long long length, const uint8_t *secret);
  int (*verify)(const uint8_t *signature, const uint8_t *bytes, unsigned long long length,
                const uint8_t *public_key);
} Sodium;

static bool open_sodium(Sodium *sodium, Error *err) {
  static const LibraryEntry entries[] = {
      {"sodium_init", offsetof(Sodium, init)},
      {"crypto_sign_ed25519_seed_keypair", offsetof(Sodium, make_keys)},
      {"crypto_sign_ed25519_detached", offsetof(Sodium, sign)},
      {"crypto_sign_ed25519_verify_detached", offsetof(Sodium, verify)}};
  const LibraryUse use = {"libsodium.so.23", "libsodium, which signs,",
                          "libsodium23",     NULL,
                          entries,           (int)(sizeof entries / sizeof *entries)};
  if (!library_open(&use, sodium, err)) return false;
  if (sodium->init() >= 0) return true;
  library_close(sodium);
  return error_set(err, RG_ERROR_LIBRARY, "libsodium.so.23 does not start");
}

/* -- keys -------------------------------------------------------------------------------------- */

static int sextet(char c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

/* Decodes base64 until another character, or until `max_bytes` are decoded; returns how many
 * were. */
static int decode(const char *text, uint8_t *out, int max_bytes) {
  unsigned bits = 0;
  int count = 0, bit_count = 0;
  for (; sextet(*text) >= 0 && count < max_bytes; text++) {
    bits = bits << 6 | (unsigned)sextet(*text);
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    out[count++] = (uint8_t)(bits >> bit_count);
  }
  return count;
}

/* The key follows `head`, which identifies it as a key of ed25519. */
static bool read_key(const char *pem, const char *kind, const uint8_t *head, int head_bytes,
                     uint8_t key[SIGNATURE_KEY_BYTES], Error *err) {
  char begin[60];
  uint8_t bytes[64];
  snprintf(begin, sizeof begin, "-----BEGIN %s KEY-----\n", kind);
  const char *at = strstr(pem, begin);
  int wanted = head_bytes + SIGNATURE_KEY_BYTES;
  if (at && decode(at + strlen(begin), bytes, (int)sizeof bytes) == wanted &&
      !memcmp(bytes, head, (size_t)head_bytes)) {
    memcpy(key, bytes + head_bytes, SIGNATURE_KEY_BYTES);
    return true;
  }
  bool is_private = kind[1] == 'R';
  error_set(err, RG_ERROR_ARGUMENT,
            "the text that is given as the %s key is not a %s key of ed25519",
            is_private ? "private" : "public", is_private ? "private" : "public");
  return error_hint(err, is_private ? "openssl genpkey -algorithm ed25519 -out key.pem"
                                    : "openssl pkey -in key.pem -pubout -out key.pub");
}

bool signature_public_key(const char *pem, uint8_t key[SIGNATURE_KEY_BYTES], Error *err) {
  static const uint8_t head[] = {0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0};
  return read_key(pem, "PUBLIC", head, sizeof head, key, err);
}

bool signature_private_key(const char *pem, uint8_t key[SIGNATURE_KEY_BYTES], Error *err) {
  static const uint8_t head[] = {0x30, 0x2e, 2,    1,    0, 0x30, 5, 6,
                                 3,    0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20};
  return read_key(pem, "PRIVATE", head, sizeof head, key, err);
}

/* -- signatures -------------------------------------------------------------------------------- */

bool signature_make(const uint8_t private_key[SIGNATURE_KEY_BYTES], const void *bytes,
                    int64_t length, uint8_t signature[SIGNATURE_BYTES], Error *err) {
  Sodium sodium;
  uint8_t public_key[SIGNATURE_KEY_BYTES], secret[SECRET_BYTES];
  if (!open_sodium(&sodium, err)) return false;
  bool ok = !sodium.make_keys(public_key, secret, private_key) &&
            !sodium.sign(signature, NULL, bytes, (unsigned long long)length, secret);
  memset(secret, 0, sizeof secret);
  __asm__ volatile(
      ""
      :
      : "r"(secret)
      : "memory"); /* keeps the compiler from removing the memset: no secret stays on the stack */
  library_close(&sodium);
  return ok || error_set(err, RG_ERROR_LIBRARY, "libsodium refuses to sign");
}

bool signature_check(const uint8_t public_key[SIGNATURE_KEY_BYTES], const void *bytes,
                     int64_t length, const uint8_t signature[SIGNATURE_BYTES], bool *is_valid,
                     Error *err) {
  Sodium sodium;
  if (!open_sodium(&sodium, err)) return false;
  *is_valid = !sodium.verify(signature, bytes, (unsigned long long)length, public_key);
  library_close(&sodium);
  return true;
}
