/* array.h - dense arrays that are in no tree: elements of one type in a block of memory of the
 * runtime, or in memory that somebody else provides (a wrap).
 *
 *     created, wrapped, taken --array_destroy--> destroyed --last release--> freed
 *
 *     element (i, j) is at   data + i * strides[0] + j * strides[1]        strides in bytes
 *
 * The memory is counted (tree/block.h): kernels and extensions may hold it longer than the array. A
 * wrap calls `release(context)` exactly once, when nothing reaches the memory through it any more:
 * at its destruction, or with its last reference, or that of its header.
 * Elements of counted memory (`held`) may move, and become more or fewer, whenever a kernel or an
 * extension has it: array_check, the first step of every use, looks where they are.
 * Invariant: every index inside the shape leads to an element between `first` and `past`. */
#ifndef RG_ARRAY_ARRAY_H
#define RG_ARRAY_ARRAY_H

#include "regolith.h"
#include "tree/block.h"
#include "tree/tree.h"

enum { ARRAY_MAX_AXES = SNODE_MAX_AXES };

typedef struct Array Array;   /* RgArray */

struct Array {
  Object object;
  Store *store;
  Type type;                  /* of an element */
  char *type_name;
  char *name;                 /* may be "" */
  int rank;
  int64_t shape[ARRAY_MAX_AXES];
  int64_t strides[ARRAY_MAX_AXES];
  int64_t count;              /* of elements */
  bool is_strided;            /* not row-major without gaps, */
  bool is_pitched;            /* but only along axis 0, and has others */
  bool is_folded;             /* two indices may lead to one byte: strides that overlap */
  bool is_constant;           /* may only be read: a wrapped string */
  uint8_t *data;              /* of element 0; NULL: destroyed */
  const uint8_t *first, *past;
  Block *block;               /* its own memory, or somebody else's */
  RtCounted *held;            /* whose elements these are: one reference; NULL: nobody else's */
  bool has_extents;           /* they follow the elements in memory, as counted arrays have them */
  bool is_whole;              /* along its one axis it is as long as `held` */
  bool holds_arrays;          /* so do its elements: array_get and array_set alone reach them */
  Block *before;              /* array_move: where it was, without memory; else NULL */
  bool is_moved;              /* once, at most */
  bool is_alive[2];           /* it is where it was, or is_moved; not destroyed, nor its runtime */
  char *destroyed_at;         /* "script.lua:40", or NULL */
};

/* Elements are zero. */
Array *array_create(Store *store, const char *type, const int64_t *shape, int32_t rank,
                    const char *name, Error *err);
/* The same, without a name; extents may be 0. */
Array *array_create_buffer(Store *store, const char *type, const int64_t *shape, int32_t rank,
                           Error *err);
/* See RgWrap. On failure `release` is not called. */
Array *array_wrap(Store *store, const RgWrap *wrap, Error *err);
/* Its elements move to `to`, which has room for them, is aligned to 64 bytes, and is from then on
 * wrapped memory: `release(context)` is called once. Pointers to where they were are stale. It has
 * memory of its own, and the device is the CPU. On failure `release` is not called. */
bool array_move(Array *array, uint8_t *to, void (*release)(void *context), void *context,
                Error *err);
/* Of counted memory that holds so many elements, row-major: the array takes the caller's reference,
 * unless it fails. Extents may be 0. */
Array *array_adopt(Store *store, RtCounted *counted, const char *type, const int64_t *shape,
                   int32_t rank, Error *err);
/* An array that a kernel or an extension made, whose elements may hold arrays: takes the caller's
 * reference, unless it fails. With one axis it is as long as that is at each use. */
Array *array_take(Store *store, RtCounted *counted, const char *type, int32_t rank, Error *err);
/* The header that counts who holds its memory; NULL: it was destroyed. */
RtCounted *array_header(const Array *array);
/* Can kernels use it as an array of their own, by that header? */
bool array_can_be_value(const Array *array);
/* That header, borrowed; argument.invalid: they cannot. */
bool array_value(Array *array, RtCounted **counted, Error *err);
/* The header of its memory, borrowed, for those who read and write there outside launches. */
bool array_counted(Array *array, RtCounted **counted, Error *err);
/* Gives its memory back; later uses report `where` that was. */
bool array_destroy(Array *array, const char *where, Error *err);
/* Does it, and its runtime, still exist? Else handle.destroyed. The first step of every use: after
 * it elements of counted memory are where `data` says, and nothing that moves them is queued. */
bool array_check(const Array *array, Error *err);
/* Where tasks find its first element; and to let others use that address. */
bool array_locate(Array *array, uint64_t *address, Error *err);
bool array_show(Array *array, uint64_t *address, Error *err);
const char *array_label(const Array *array, char buffer[100]); /* "array 'a'" */
bool array_shares_memory(const Array *a, const Array *b);
/* Does some element of the array lie in these bytes? */
bool array_is_within(const Array *array, const uint8_t *from, uint64_t size_bytes);

/* -- element.c: one element at a time, and all of them ----------------------------------------- */
bool array_get(Array *array, const int64_t *index, int32_t index_count, RgValue *value, Error *err);
bool array_set(Array *array, const int64_t *index, int32_t index_count, const RgValue *value,
               Error *err);
/* *to: the element of the array after setting it to *from. */
bool array_convert(const Array *array, const RgValue *from, RgValue *to, Error *err);
bool array_view(Array *array, RgView *view, Error *err); /* see RgView */
/* For who reads or writes all of them: do the elements hold no arrays? Checks the array, too. */
bool array_check_plain(const Array *array, Error *err);
bool array_fill(Array *array, const RgValue *value, Error *err);
/* Of one shape; as if all were read before any is written. */
bool array_copy(Array *array, Array *from, Error *err);
/* All elements, row-major, the numbers of a vector adjacent. */
bool array_read(Array *array, double *values, int64_t count, Error *err);
bool array_read_i64(Array *array, int64_t *values, int64_t count, Error *err);
bool array_write(Array *array, const double *values, int64_t count, Error *err);
bool array_write_i64(Array *array, const int64_t *values, int64_t count, Error *err);
/* As they are in memory, of elements that are one block, of so many bytes. */
bool array_check_block(Array *array, int64_t size_bytes, Error *err);
bool array_read_bytes(Array *array, void *bytes, int64_t size_bytes, Error *err);
bool array_write_bytes(Array *array, const void *bytes, int64_t size_bytes, Error *err);
/* The same, and a copy of an array, queued on a stream of a device that has the newest contents;
 * not done: it has not, or cannot. */
bool array_put_there(Array *array, const void *bytes, int64_t size_bytes, int32_t stream,
                     bool *is_done, Error *err);
bool array_move_there(Array *array, Array *from, int32_t stream, bool *is_done, Error *err);

#endif
