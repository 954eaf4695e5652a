/* coder.c - see coder.h. */
#include "base/coder.h"

#include <string.h>

uint8_t coder_get(Coder *coder) {
  coder->is_broken |= coder->at == coder->end;
  return coder->is_broken ? 0 : *coder->at++;
}

void coder_put(Coder *coder, uint8_t byte) { vec_push(coder->scratch, coder->out, byte); }

void coder_number(Coder *coder, int64_t *number) {
  if (!coder->reads) {
    uint64_t remaining = (uint64_t)*number << 1 ^ (uint64_t)(*number >> 63);
    for (; remaining >= 0x80; remaining >>= 7) coder_put(coder, (uint8_t)(remaining | 0x80));
    coder_put(coder, (uint8_t)remaining);
    return;
  }
  uint64_t decoded = 0;
  uint8_t byte = 0x80;
  for (int shift = 0; byte & 0x80; shift += 7) {
    byte = coder_get(coder);
    coder->is_broken |= shift > 63;
    if (coder->is_broken) break;
    decoded |= (uint64_t)(byte & 0x7f) << shift;
  }
  *number = (int64_t)(decoded >> 1 ^ -(decoded & 1));
}

void coder_count(Coder *coder, int32_t *count) {
  CODE(coder, *count);
  if (!coder->reads) return;
  coder->is_broken |= *count < 0 || *count > coder->end - coder->at;
  if (coder->is_broken) *count = 0;
}

void coder_block(Coder *coder, const uint8_t **data, int64_t *length) {
  int64_t size = *data ? *length + 1 : 0;
  coder_number(coder, &size);
  if (!coder->reads) {
    for (int64_t k = 0; k + 1 < size; k++) coder_put(coder, (*data)[k]);
    return;
  }
  coder->is_broken |= size < 0 || size - 1 > coder->end - coder->at;
  *data = NULL;
  *length = 0;
  if (coder->is_broken || !size) return;
  *length = size - 1;
  *data =
      (const uint8_t *)scratch_copy_text(coder->scratch, (const char *)coder->at, (size_t)*length);
  coder->at += *length;
}

void coder_text(Coder *coder, const char **text) {
  const uint8_t *data = (const uint8_t *)*text;
  int64_t length = *text ? (int64_t)strlen(*text) : 0;
  coder_block(coder, &data, &length);
  if (!coder->reads) return;
  *text = (const char *)data;
  if (data) coder->is_broken |= (int64_t)strlen(*text) != length;
}

void coder_str(Coder *coder, Str *str) {
  const uint8_t *data = (const uint8_t *)str->data;
  int64_t length = str->length;
  coder_block(coder, &data, &length);
  coder->is_broken |= length > INT32_MAX;
  if (coder->reads) *str = (Str){(const char *)data, (int)length};
}

void coder_name(Coder *coder, const char **text) {
  coder_text(coder, text);
  coder->is_broken |= !*text;
}

void coder_magic(Coder *coder, const char *magic, int length) {
  for (int k = 0; k < length; k++) {
    uint8_t byte = (uint8_t)magic[k];
    if (coder->reads) coder->is_broken |= coder_get(coder) != byte;
    else coder_put(coder, byte);
  }
}
