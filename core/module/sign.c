/* sign.c - signed modules: a file's last bytes are a ModuleSignature of all bytes before it. A
 * runtime with trusted keys opens no other modules, except those that are linked into the program,
 * which are trusted as a part of it. Decision D-module-03. */
#include <string.h>

#include "io/signature.h"
#include "module/module.h"

static const char magic[8] = {'R', 'G', 'S', 'I', 'G', 'N', 'E', 'D'};

typedef struct ModuleSignature {
  char magic[8];
  uint8_t signature[SIGNATURE_BYTES];
} ModuleSignature;
_Static_assert(sizeof(ModuleSignature) == MODULE_SIGNATURE_BYTES,
               "its size is a constant of module.h");

static bool find_signature(const uint8_t *bytes, int64_t length, ModuleSignature *block) {
  if (length < (int64_t)sizeof *block) return false;
  memcpy(block, bytes + length - sizeof *block, sizeof *block);
  return !memcmp(block->magic, magic, sizeof magic);
}

bool module_has_signature(const uint8_t *bytes, int64_t length) {
  ModuleSignature block;
  return find_signature(bytes, length, &block);
}

ModuleBytes module_sign(ModuleBytes bytes, const char *private_key, Scratch *scratch, Error *err) {
  ModuleBytes signed_bytes = {.length = bytes.length + (int64_t)sizeof(ModuleSignature)};
  uint8_t *data = scratch_alloc(scratch, (size_t)signed_bytes.length), key[SIGNATURE_KEY_BYTES];
  ModuleSignature block;
  memcpy(block.magic, magic, sizeof magic);
  if (!signature_private_key(private_key, key, err) ||
      !signature_make(key, bytes.data, bytes.length, block.signature, err))
    return (ModuleBytes){0};
  memcpy(data, bytes.data, (size_t)bytes.length);
  memcpy(data + bytes.length, &block, sizeof block);
  signed_bytes.data = data;
  return signed_bytes;
}

bool module_trust(Engine *engine, const char *public_key, Error *err) {
  Heap *heap = engine->store->heap;
  uint8_t key[SIGNATURE_KEY_BYTES];
  if (!signature_public_key(public_key, key, err)) return false;
  size_t used = SIGNATURE_KEY_BYTES * (size_t)engine->trusted_count;
  uint8_t *keys = heap_resize(heap, engine->trusted, used + SIGNATURE_KEY_BYTES);
  if (!keys) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a key");
  memcpy(keys + used, key, SIGNATURE_KEY_BYTES);
  engine->trusted = keys;
  engine->trusted_count++;
  return true;
}

bool module_check_signature(const Engine *engine, const uint8_t *bytes, int64_t length,
                            const char *name, Error *err) {
  ModuleSignature block;
  bool fits = !engine->trusted_count;
  if (!fits && !find_signature(bytes, length, &block))
    return error_set(err, RG_ERROR_MODULE_UNTRUSTED,
                     "module '%.200s' is not signed, and this runtime only opens signed modules",
                     name);
  for (int32_t k = 0; k < engine->trusted_count && !fits; k++)
    if (!signature_check(engine->trusted + k * SIGNATURE_KEY_BYTES, bytes,
                         length - (int64_t)sizeof block, block.signature, &fits, err))
      return false;
  return fits || error_set(err, RG_ERROR_MODULE_UNTRUSTED,
                           "module '%.200s' was changed after it was signed, or was signed with a "
                           "key that this runtime does not trust",
                           name);
}
