/* bundle.c - the parts of compiled code: one ELF object, or the objects of an RgBundle. Bytes with
 * the magic number that are not a well-formed bundle have none. */
#include "loader/loader.h"

enum { HEAD_WORDS = 2 };

static bool is_bundle(const uint8_t *bytes, int64_t length) {
  return length >= (int64_t)sizeof(RgBundle) && (uintptr_t)bytes % 8 == 0 &&
         ((const RgBundle *)(const void *)bytes)->magic == RG_BUNDLE_MAGIC;
}

int object_parts(const uint8_t *bytes, int64_t length, ObjectPart parts[OBJECT_MAX_PARTS]) {
  const RgBundle *bundle = (const RgBundle *)(const void *)bytes;
  if (!is_bundle(bytes, length)) {
    parts[0] = (ObjectPart){bytes, length};
    return 1;
  }
  if (bundle->count < 1 || bundle->count > OBJECT_MAX_PARTS ||
      length < 8 * (HEAD_WORDS + bundle->count))
    return 0;
  int64_t begin = 8 * (HEAD_WORDS + bundle->count);
  for (int64_t i = 0; i < bundle->count; i++) {
    int64_t size = bundle->lengths[i];
    if (begin > length || size < 0 || size > length - begin) return 0;
    parts[i] = (ObjectPart){bytes + begin, size};
    begin += (size + 7) / 8 * 8;
  }
  return (int)bundle->count;
}
