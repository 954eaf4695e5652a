/* item.h - creates, reads and writes the counted arrays of kernels (llvm_bc/array.c) on the host.
 * Their elements may hold arrays, each with one reference. Such an array does not record the type
 * of its elements: the caller passes it as `type`, and must be right. No launch may use the array
 * meanwhile. */
#ifndef RG_ARRAY_ITEM_H
#define RG_ARRAY_ITEM_H

#include "regolith.h"
#include "tree/memory/store.h"

/* Creates an array of zeros, whose nested arrays are absent; with one axis it can grow. NULL with
 * err. */
RtCounted *item_create(Store *store, const char *type, const int64_t *extents, int32_t rank,
                       Error *err);
/* Reads element number `index`, row-major. The caller owns a reference to each array in the
 * value. */
bool item_get(Store *store, RtCounted *counted, const char *type, int64_t index, RgValue *value,
              Error *err);
/* Stores a value: takes new references to its arrays, and releases the references it replaces. */
bool item_set(Store *store, RtCounted *counted, const char *type, int64_t index,
              const RgValue *value, Error *err);
/* A slice of its elements, in the same memory, which may not move from then on; shorter if there
 * are fewer elements. NULL with err. */
RtCounted *item_slice(Store *store, RtCounted *counted, const char *type, int64_t first,
                      int64_t count, Error *err);
/* Sets list.full, for an array of fixed length. */
bool item_fail_length(Error *err);
/* Sets the number of elements; new ones are zero. */
bool item_resize(Store *store, RtCounted *counted, const char *type, int64_t count, Error *err);

#endif
