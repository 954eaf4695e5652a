/* coder.h - numbers, texts and arrays as bytes, by functions that describe a struct once for both
 * directions: `CODE(coder, row->width)` writes the member, or reads it. So reader and writer cannot
 * differ.
 *
 * Numbers are LEB128, signed ones zigzag; texts and blocks of bytes are preceded by 1 + their
 * length, and 0 stands for none. A reader checks every count against the bytes
 * that are left. Malformed input sets is_broken; from then on numbers are read as 0, and the
 * caller checks once, at the end, or before it uses a number as an index. Callers run below a guard
 * (guard.h), as reading and writing allocate from scratch memory. */
#ifndef RG_BASE_CODER_H
#define RG_BASE_CODER_H

#include <stdint.h>

#include "base/scratch.h"
#include "base/str.h"
#include "base/vec.h"

typedef VEC(uint8_t) CoderBytes;

typedef struct Coder {
  bool reads, is_broken;
  const uint8_t *at, *end; /* reading: the bytes that are left */
  CoderBytes *out;         /* writing: the bytes so far */
  Scratch *scratch;        /* owns `out`, and whatever is read */
  void *data;              /* for the functions that describe the structs */
} Coder;

/* One byte. */
uint8_t coder_get(Coder *coder);
void coder_put(Coder *coder, uint8_t byte);
void coder_number(Coder *coder, int64_t *number);
/* A count of items that take at least one byte each: one larger than the number of bytes that are
 * left is malformed. */
void coder_count(Coder *coder, int32_t *count);
/* A block of bytes, or none (*data NULL). A block that was read has a NUL after its last byte. */
void coder_block(Coder *coder, const uint8_t **data, int64_t *length);
void coder_text(Coder *coder, const char **text);
void coder_str(Coder *coder, Str *str);
/* A text that may not be NULL. */
void coder_name(Coder *coder, const char **text);
/* The fixed bytes that a format begins with. */
void coder_magic(Coder *coder, const char *magic, int length);

/* A member that is a number or a bool, of any width. */
#define CODE(coder, member) \
  do { \
    int64_t number_ = (int64_t)(member); \
    coder_number(coder, &number_); \
    if ((coder)->reads) { \
      (member) = (__typeof__(member))number_; \
      (coder)->is_broken |= (int64_t)(member) != number_; \
    } \
  } while (0)

/* An enum, or an index, that is below `past`. */
#define CODE_BELOW(coder, member, past) \
  do { \
    CODE(coder, member); \
    (coder)->is_broken |= (int64_t)(member) < 0 || (int64_t)(member) >= (int64_t)(past); \
  } while (0)

/* The count of an array. A reader also allocates the items, which follow. */
#define CODE_ARRAY(coder, items, count) \
  do { \
    coder_count(coder, &(count)); \
    if ((coder)->reads) \
      (items) = scratch_alloc((coder)->scratch, sizeof *(items) * (size_t)(count)); \
  } while (0)

#endif
