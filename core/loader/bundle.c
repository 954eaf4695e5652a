/* bundle.c - loads compiled code: one ELF object, or an RgBundle of several, whose functions are
 * those of all its objects. Bytes with the magic number that are not a well-formed bundle are
 * object.invalid. */
#include "loader/code.h"
#include "loader/loader.h"

enum { MOST_OBJECTS = 64, HEAD_WORDS = 2 };

static bool is_bundle(const uint8_t *bytes, int64_t length) {
  return length >= (int64_t)sizeof(RgBundle) && (uintptr_t)bytes % 8 == 0 &&
         ((const RgBundle *)(const void *)bytes)->magic == RG_BUNDLE_MAGIC;
}

static Code *cut_off(Code *code, Error *err) {
  code_destroy(code);
  error_set(err, RG_ERROR_OBJECT, "compiled code is invalid: its objects are truncated");
  return NULL;
}

static Code *load_bundle(Heap *heap, const uint8_t *bytes, int64_t length, Error *err) {
  const RgBundle *bundle = (const RgBundle *)(const void *)bytes;
  Code *code = NULL;
  if (bundle->count < 1 || bundle->count > MOST_OBJECTS ||
      length < 8 * (HEAD_WORDS + bundle->count))
    return cut_off(NULL, err);
  int64_t begin = 8 * (HEAD_WORDS + bundle->count);
  for (int64_t i = 0; i < bundle->count; i++) {
    int64_t size = bundle->lengths[i];
    if (begin > length || size < 0 || size > length - begin) return cut_off(code, err);
    Code *next = object_load_elf(heap, bytes + begin, size, err);
    if (!next) {
      code_destroy(code);
      return NULL;
    }
    code = code_join(next, code);
    begin += (size + 7) / 8 * 8;
  }
  return code;
}

Code *object_load(Heap *heap, const uint8_t *object, int64_t length, Error *err) {
  return is_bundle(object, length) ? load_bundle(heap, object, length, err)
                                   : object_load_elf(heap, object, length, err);
}
