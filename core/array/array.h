/* array.h - dense arrays outside of trees: elements of one type in a block of the runtime's memory,
 * or in external memory (a wrap).
 *
 *     created, wrapped, adopted --array_destroy--> destroyed --last release--> freed
 *
 *     element (i, j) is at   data + i * strides[0] + j * strides[1]        strides in bytes
 *
 * The memory is reference-counted (tree/memory/block.h): kernels and extensions may hold it longer
 * than the array. A wrap calls `release(context)` exactly once, when the memory can no longer be
 * accessed through it: at its destruction, or with the last reference to it or to its header.
 * Elements of counted memory (`held`) may move, and their number may change, whenever a kernel or
 * an extension uses it: array_check, the first step of every use, finds their current address.
 * Invariant: every index inside the shape leads to an element between `first` and `past`. */
#ifndef RG_ARRAY_ARRAY_H
#define RG_ARRAY_ARRAY_H

#include "regolith.h"
#include "tree/memory/block.h"
#include "tree/tree.h"

enum { ARRAY_MAX_AXES = SNODE_MAX_AXES };

typedef struct Array Array; /* RgArray */

struct Array {
  Object object;
  Store *store;
  Type type; /* type of an element */
  char *type_name;
  char *name; /* may be "" */
  int rank;
  int64_t shape[ARRAY_MAX_AXES];
  int64_t strides[ARRAY_MAX_AXES];
  int64_t count;    /* number of elements */
  bool is_strided;  /* not contiguous in row-major order */
  bool is_pitched;  /* contiguous except for the stride of axis 0 */
  bool overlaps;    /* its strides let two indices refer to the same byte */
  bool is_constant; /* read-only, as a wrapped string */
  uint8_t *data;    /* address of element 0; NULL: destroyed */
  const uint8_t *first, *past;
  Block *block;      /* its own memory, or external memory */
  RtCounted *held;   /* counted memory with the elements: one reference; NULL: none */
  bool has_extents;  /* extents follow the elements in memory, as in counted arrays */
  bool is_whole;     /* its only axis is as long as `held` */
  bool holds_arrays; /* in its elements: only array_get and array_set may access them */
  Block *before;     /* after array_move: the previous block, without memory; otherwise NULL */
  bool is_moved;     /* array_move was called; at most once */
  /* by is_moved: the elements are still at the address before or after the move, and the array and
   * its runtime exist */
  bool is_alive[2];
  char *destroyed_at; /* "script.lua:40", or NULL */
};

/* Creates an array of zeros. Extents may be 0; `name` may be NULL. */
Array *array_create(Store *store, const char *type, const int64_t *shape, int32_t rank,
                    const char *name, Error *err);
/* See RgWrap. On failure `release` is not called. */
Array *array_wrap(Store *store, const RgWrap *wrap, Error *err);
/* Moves the elements to `to`, which has space for them, is aligned to 64 bytes, and is wrapped
 * memory from then on: `release(context)` is called once. Earlier pointers to elements become
 * stale. The array must have memory of its own, and the device must be the CPU. On failure
 * `release` is not called. */
bool array_move(Array *array, uint8_t *to, void (*release)(void *context), void *context,
                Error *err);
/* Makes an array of counted memory with that many elements, row-major. Takes the caller's
 * reference, unless it fails. Extents may be 0. */
Array *array_adopt(Store *store, RtCounted *counted, const char *type, const int64_t *shape,
                   int32_t rank, Error *err);
/* Takes an array that a kernel or an extension made, whose elements may hold arrays, with the
 * caller's reference, unless it fails. With one axis, its length follows the counted array's. */
Array *array_take(Store *store, RtCounted *counted, const char *type, int32_t rank, Error *err);
/* The header that counts references to its memory; NULL if it was destroyed. */
RtCounted *array_header(const Array *array);
/* Can kernels use it as a counted array, through that header? */
bool array_can_be_value(const Array *array);
/* That header, borrowed; argument.invalid if kernels cannot use it. */
bool array_value(Array *array, RtCounted **counted, Error *err);
/* The header of its memory, borrowed, for code that reads and writes there outside launches. */
bool array_counted(Array *array, RtCounted **counted, Error *err);
/* Releases its memory; later uses report `where`. */
bool array_destroy(Array *array, const char *where, Error *err);
/* Do the array and its runtime still exist? Else handle.destroyed. The first step of every use:
 * after it, `data` is the address of elements in counted memory, and no queued work moves them. */
bool array_check(const Array *array, Error *err);
/* The address of the first element as tasks see it. array_expose also prepares it for code that
 * the device does not know of, such as a library that is given the address. */
bool array_locate(Array *array, uint64_t *address, Error *err);
bool array_expose(Array *array, uint64_t *address, Error *err);
const char *array_label(const Array *array, char buffer[100]); /* "array 'a'" */
bool array_shares_memory(const Array *a, const Array *b);
/* Is an element of the array in these bytes? */
bool array_is_within(const Array *array, const uint8_t *from, uint64_t size_bytes);

/* -- element.c: one element at a time, and all of them ----------------------------------------- */
bool array_get(Array *array, const int64_t *index, int32_t index_count, RgValue *value, Error *err);
bool array_set(Array *array, const int64_t *index, int32_t index_count, const RgValue *value,
               Error *err);
/* Sets *to to the element that the array would have after setting it to *from. */
bool array_convert(const Array *array, const RgValue *from, RgValue *to, Error *err);
bool array_view(Array *array, RgView *view, Error *err); /* see RgView */
/* For code that reads or writes all elements: checks the array, and that its elements hold no
 * arrays. */
bool array_check_plain(const Array *array, Error *err);
bool array_fill(Array *array, const RgValue *value, Error *err);
/* Copies between arrays of one shape, as if all elements were read before any is written. */
bool array_copy(Array *array, Array *from, Error *err);
/* All elements, row-major, the numbers of a vector adjacent. */
bool array_read(Array *array, double *values, int64_t count, Error *err);
bool array_read_i64(Array *array, int64_t *values, int64_t count, Error *err);
bool array_write(Array *array, const double *values, int64_t count, Error *err);
bool array_write_i64(Array *array, const int64_t *values, int64_t count, Error *err);
/* Read and write the elements as they are in memory; they must be one block of this many bytes. */
bool array_check_block(Array *array, int64_t size_bytes, Error *err);
bool array_read_bytes(Array *array, void *bytes, int64_t size_bytes, Error *err);
bool array_write_bytes(Array *array, const void *bytes, int64_t size_bytes, Error *err);
/* array_write_bytes and array_copy, queued on a stream of the device, if it has the newest
 * contents. *is_done is false if the device does not have them or cannot do it: then nothing has
 * happened. */
bool array_put_remote(Array *array, const void *bytes, int64_t size_bytes, int32_t stream,
                      bool *is_done, Error *err);
bool array_move_remote(Array *array, Array *from, int32_t stream, bool *is_done, Error *err);

#endif
